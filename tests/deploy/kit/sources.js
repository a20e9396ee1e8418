// What the client in JavaScript makes of sources of random bytes that are none, as the mocks of test set-ups are: run as
// node sources.js client.js device.json, or in a page. A fresh client gives five reports with each source, or refuses them
// as soon as the source is none: how many sources were tried, and those with which it did otherwise.
function withSources(load, description) {
  const crypto = globalThis.crypto ?? require("node:crypto").webcrypto;
  const random = (many) => crypto.getRandomValues(new Uint8Array(many));
  const filled = (array, at) => array.set(Array.from(array, (_, i) => at(i))) ?? array;
  const draw = crypto.getRandomValues.bind(crypto);
  const [one, other] = [random(256), random(256)];
  const sources = {
    sound: draw,
    "nothing filled": (array) => array,
    "always 255": (array) => array.fill(255),
    "the same 256 bytes": (array) => filled(array, (i) => one[i]),
    "a counter": (array, call) => filled(array, (i) => 256 * call + i),
    "the first bytes alone": (array) => filled(array, (i) => (i < 16 ? draw(new Uint8Array(1))[0] : 0)),
    "ten different bytes": (array) => filled(array, () => draw(new Uint8Array(1))[0] % 10),
    "one byte, another each time": (array, call) => array.fill(call),
    "no answer": (array) => void draw(array),
    "another array": () => draw(new Uint8Array(256)),
    "a shorter array": (array) => draw(array).subarray(0, 16),
    "a list": (array) => Array.from(draw(array)),
    "other numbers": () => draw(new Uint16Array(256)),
    "a promise": async (array) => draw(array),
    "an error": () => {
      throw new TypeError("Illegal invocation");
    },
    "no function": 4,
    "constant after a while": (array, call) => (call < 3 ? draw(array) : array.fill(7)),
    "the last bytes again": (array, call) => (call < 3 ? draw(array) : filled(array, (i) => one[i])),
    "two in turn": (array, call) => filled(array, (i) => (call % 2 ? one : other)[i]),
  };
  const good = { sound: 5, "constant after a while": 2, "the last bytes again": 3, "two in turn": 1 }; // first reports
  const refused = "There are no secure random numbers here: crypto.getRandomValues is needed.";
  const otherwise = {};
  for (const [name, source] of Object.entries(sources)) {
    let calls = 0;
    const value = typeof source === "function" ? (array) => source(array, calls++) : source;
    Object.defineProperty(crypto, "getRandomValues", { value, configurable: true });
    const device = new (load().Device)(description);
    const said = [1, 2, 3, 4, 5].map((type) => {
      try {
        return device.report(type % 5).replace(/^\d+$/, "a report");
      } catch (error) {
        return error.message;
      }
    });
    if (said.some((one, i) => one !== (i < (good[name] ?? 0) ? "a report" : refused))) otherwise[name] = said;
    delete crypto.getRandomValues;
  }
  return [Object.keys(sources).length, otherwise];
}

if (typeof require === "function") {
  const [client, file] = process.argv.slice(2);
  const load = () => {
    delete require.cache[client];
    return require(client);
  };
  const description = JSON.parse(require("node:fs").readFileSync(file, "utf8"));
  process.stdout.write(JSON.stringify(withSources(load, description)));
}
