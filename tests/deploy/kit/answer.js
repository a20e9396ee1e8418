// What the client in JavaScript makes of many cases at once, for the tests: run as  node --require client.js answer.js
// with the request on its input, or in a page beside the client. Each answer is {answer} or {error}.
function answer({ devices = [], reports = [], domains = [], encodings = [], secure = [] }) {
  const tried = (work) => {
    try {
      return { answer: work() };
    } catch (error) {
      return { error: error.message };
    }
  };
  const made = devices.map((description) => tried(() => new LDP.Device(description)));
  // The bytes that client.py took, and how many of them are left.
  const given = (hex) => {
    let at = 0;
    const source = (count) => Uint8Array.from({ length: count }, () => parseInt(hex.slice(2 * at, 2 * ++at), 16));
    return { source, left: () => hex.length / 2 - at };
  };
  return {
    devices: made.map(({ error }) => error ?? "made"),
    reports: reports.map(([device, value, hex]) => {
      const { source, left } = given(hex);
      return tried(() => [made[device].answer.report(value, source), left()]);
    }),
    ids: domains.map(LDP.domainId),
    encodings: encodings.map(([domain, values]) => tried(() => LDP.encode(domains[domain], values))),
    secure: secure.map(([device, values]) => tried(() => values.map((value) => made[device].answer.report(value)))),
  };
}

if (typeof require === "function") {
  const request = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify(answer(request)));
}
