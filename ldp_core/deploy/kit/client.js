/* Draws one person's report from the description of a device, `device.json`, as client.py does: equal bytes, equal
   reports. Needs nothing else: for browsers, phones and Node (18 or later).

     import "./client.js";       or load it as a script, paste it into one, or require it in Node
     const device = new LDP.Device(await (await fetch("device.json")).json());
     device.report({ age: 42 });                // "2 0 1 1 0"
     await LDP.Device.signed(description, KEY)  // only if it was signed with the private key to KEY


     node client.js device.json 17 3            the reports of two people, of types 17 and 3
     node client.js device.json '{"age": 42}'   of a person of 42 years (beside a package.json of "type": "module",
                                                name a copy client.cjs)

   Every call draws a new report, and every report spends privacy: send one, and keep it. A report is a line of whole
   numbers. client.py explains the description, all kinds of samplers and how values are read. Numbers stay below 2^53,
   where they are exact in JavaScript; hash functions have 64 bits, as BigInt. */
(function () {
  "use strict";

  const [FORMAT, LATER] = ["ldp-device/2", "ldp-device/3"]; // the latter with several numbers beside one in the clear, or open values
  const ONE = 2 ** 53;
  const MOST = 2 ** 31; // types, buckets, coefficients and such
  const [LONGEST, MOST_TOGETHER, DEEPEST] = [2 ** 24, 2 ** 10, 20]; // numbers in a report, reports in one, samplers
  const MOST_EPSILON = 100n;
  const common = typeof module === "object" && module ? module : {}; // what CommonJS gives, in Node and bundlers

  /** What draws the reports of people. Error, one sentence, for a description that is damaged, was altered, or breaks
      its promise. */
  class Device {
    constructor(description) {
      try {
        this.load(description);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        throw new Error(`This is no whole description of a device (${error.message}): export the design again.`);
      }
    }

    /** The device, if its signature was made with the private key to `publicKey`, 64 hexadecimal digits; else Error. */
    static async signed(description, publicKey) {
      const device = new Device(description);
      await checkSignature(description, publicKey);
      return device;
    }

    load(description) {
      const { format, design, domain, epsilon } = fields(description, "format", "design", "domain", "epsilon", "sampler");
      const told = description.sampler;
      const secret = secretValues(told);
      const sizes = list(fields(told, "kind", "sizes").sizes).map((size) => whole(size, "A size", 1, MOST));
      const wanted = secret !== null || (told.kind === "known" && sizes.length > 2) ? LATER : FORMAT;
      if (format !== wanted) {
        throw new Error(`This is no device of the format ${wanted}: export the design again.`);
      }
      checkIds(description);
      const made = sampler(told, sizes);
      if (!within(made.ratio, epsilon)) {
        throw new Error(
          `This device breaks its promise: a report can be more than e^${epsilon} times as ` +
            "likely for one person as for another. Do not use it.",
        );
      }
      this.attributes = attributesOf(domain, sizes, told.kind === "known");
      if (this.attributes.length && !same(secretCombinations(this.attributes, secret), secret)) {
        throw new Error("The secret values of the attributes are not those of the sampler: export the design again.");
      }
      this.design = design;
      this.clear = this.attributes.filter((attribute) => attribute.known).map(({ name }) => name); // sent as they are
      this.sizes = this.clear.length ? this.attributes.map((attribute) => attribute.size) : sizes;
      this.joins = sizes.length === 2;
      this.draw = made.draw;
    }

    /** One report of a person with `value`: their type, a number for each attribute, or {attribute: value} in people's
        words. Error where it is outside the domain. `source(count)` gives random bytes: others than those of Web Crypto
        are for tests. */
    report(value, source = secure()) {
      return this.draw(this.numbers(value), (n) => below(n, source)).join(" ");
    }

    /** The value that the sampler takes. */
    numbers(value) {
      const named = typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
      if (named) value = encode(this.attributes, value);
      const numbers = typeof value === "object" && value !== null ? Array.from(value) : [value];
      const sizes = this.attributes.map((attribute) => attribute.size);
      if (this.clear.length) {
        const whole = checked(numbers, sizes);
        const some = (list, known) => list.filter((_, i) => Boolean(this.attributes[i].known) === known);
        const [z, secret] = [joined(some(whole, true), some(sizes, true)), some(whole, false)];
        return this.joins ? [z, joined(secret, some(sizes, false))] : [z, ...secret];
      }
      if (this.sizes.length === 1 && sizes.length > 1 && numbers.length === sizes.length) {
        return checked([joined(checked(numbers, sizes), sizes)], this.sizes);
      }
      return checked(numbers, this.sizes);
    }
  }

  /** A whole number from 0 to n - 1, evenly, for n up to 2^53. */
  function below(n, source) {
    const high = Math.floor((n - 1) / 2 ** 32); // Math.clz32 sees 32 bits
    const bits = high ? 64 - Math.clz32(high) : 32 - Math.clz32(n - 1);
    while (bits > 0) {
      const bytes = source(Math.ceil(bits / 8));
      let drawn = bytes[0] % 2 ** (((bits - 1) % 8) + 1);
      for (let i = 1; i < bytes.length; i++) drawn = drawn * 256 + bytes[i];
      if (drawn < n) return drawn;
    }
    return 0;
  }

  /** A source of random bytes for one report. */
  function secure() {
    let [pool, used] = [new Uint8Array(0), 0]; // asking for every few bytes takes long
    return (count) => {
      if (used + count > pool.length) [pool, used] = [fresh(), 0];
      return pool.subarray(used, (used += count));
    };
  }

  let pools = []; // the SHA-256 of the last pools of all devices

  /** 256 bytes of Web Crypto, which Node 18 keeps in a module. Error where they cannot be random, as the mocks of test
      set-ups are not: nothing or another array, few different bytes (256 random ones have 162 or so), or a pool that came
      before. The first pool is only compared with. */
  function fresh() {
    const pool = new Uint8Array(256);
    let filled = null;
    try {
      filled = webCrypto().getRandomValues(pool);
    } catch {
      // there is none, or none that works
    }
    const digest = sha256(pool.join());
    if (filled !== pool || new Set(pool).size < 64 || pools.includes(digest)) {
      throw new Error("There are no secure random numbers here: crypto.getRandomValues is needed.");
    }
    pools = [...pools, digest].slice(-16);
    return pools.length > 1 ? pool : fresh();
  }

  const webCrypto = () => globalThis.crypto || (common.require && common.require("node:crypto").webcrypto);

  const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

  /** `told`, when it has all these fields. */
  function fields(told, ...names) {
    for (const name of names) {
      if (typeof told !== "object" || told === null || !has(told, name)) {
        throw new Error(`This is no whole description of a device (${name} is missing): export the design again.`);
      }
    }
    return told;
  }

  function checked(numbers, sizes) {
    if (numbers.length !== sizes.length) {
      const wanted = sizes.length === 1 ? "one whole number" : `${sizes.length} whole numbers`;
      throw new Error(`A value is ${wanted}; there ${numbers.length === 1 ? "is" : "are"} ${numbers.length}.`);
    }
    numbers.forEach((number, i) => {
      if (!Number.isInteger(number) || number < 0 || number >= sizes[i]) {
        throw new Error(
          `The value ${shown(number)} is outside the domain: it must be a whole number from 0 to ${sizes[i] - 1}.`,
        );
      }
    });
    return numbers;
  }

  /** The number of a combination, the last one fastest. */
  const joined = (numbers, sizes) => numbers.reduce((found, number, i) => found * sizes[i] + number, 0);

  /** The inverse of `joined`. */
  function apart(number, sizes) {
    const found = [];
    for (const size of [...sizes].reverse()) {
      found.unshift(number % size);
      number = Math.floor(number / size);
    }
    return found;
  }

  /** The first i from 0 on with at(i) > x, for increasing `at`; `count` where there is none below it. */
  function firstAbove(count, at, x) {
    let low = 0;
    while (low < count) {
      const middle = Math.floor((low + count) / 2);
      if (at(middle) > x) count = middle;
      else low = middle + 1;
    }
    return low;
  }

  // --- samplers: functions of what the description says, and of the sizes of the values that they are given -----------

  /** What draws a report, (value, draw) -> numbers; how many they are; the largest ratio of the likelihoods of one report,
      as two BigInts; and how many reports are sent as one. */
  function sampler(told, sizes, depth = 0) {
    const { kind } = fields(told, "kind");
    if (typeof kind !== "string" || !has(KINDS, kind)) {
      throw new Error(`This client does not know samplers of the kind ${shown(kind)}: get the client of the same kit.`);
    }
    if (depth > DEEPEST) {
      throw new Error(`The device has samplers within samplers, more than ${DEEPEST} deep: export it again.`);
    }
    if (has(told, "secret") && kind !== "table") checkAllSecret([told]);
    const [make, ...names] = KINDS[kind];
    const made = { length: 1, together: 1, ...make(fields(told, ...names), sizes, depth) };
    whole(made.length, "The length of a report", 1, LONGEST);
    return made;
  }

  function whole(number, what, least, most) {
    if (!Number.isInteger(number) || number < least || number > most) {
      const seen = (Number.isInteger(number) ? String(number) : shown(number)).slice(0, 40);
      throw new Error(`${what} must be a whole number from ${least} to ${most}; the device has ${seen}.`);
    }
    return number;
  }

  function list(told) {
    if (!Array.isArray(told) || !told.length) {
      throw new Error("A list in the device is empty or no list: export the design again.");
    }
    return told;
  }

  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const chance = (number) => whole(number, "A chance", 0, ONE);

  /** Two likelihoods, or numbers in proportion to them, as a ratio of at least 1: 1 to 0 where it has no bound. */
  function over(one, other) {
    if (!one || !other) return [1n, 0n];
    return one > other ? [one, other] : [other, one];
  }

  /** The ratio where `size` of `n` equally likely places are inside, and drawn with the chance `inside`. */
  function twoCells(inside, size, n) {
    if (size < 1 || size >= n) {
      throw new Error(`A sampler needs places inside and outside; it has ${size} of ${n} inside.`);
    }
    return over(BigInt(inside) * BigInt(n - size), BigInt(ONE - inside) * BigInt(size));
  }

  const larger = (one, other) => (other[0] * one[1] > one[0] * other[1] ? other : one);

  /** The number of types of a sampler that is given values of `sizes`. */
  function types(n, sizes, least = 2) {
    whole(n, "The number of types", least, MOST);
    if (sizes.length !== 1 || sizes[0] > n) {
      throw new Error(`A sampler for ${n} values is given values of sizes [${sizes.join(", ")}].`);
    }
    return n;
  }

  function checkLeft(left) {
    if (left === 0) return;
    const off = (left < 0 ? "+" : "") + -left;
    throw new Error(`The chances in a column of the device sum to 2^53 ${off} and not to 2^53: export it again.`);
  }

  /** Draws a place by a list of chances. */
  function choice(chances) {
    let left = ONE; // what is left is exact where a sum above 2^53 would not be
    const sums = Float64Array.from(list(chances), (number) => ONE - (left -= chance(number)));
    checkLeft(left);
    return (draw) => {
      const drawn = draw(ONE);
      return firstAbove(sums.length, (i) => sums[i], drawn);
    };
  }

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  /** The values that the sampler keeps secret, the same in all groups in the clear; null where it keeps all. */
  function secretValues(told) {
    const tables = fields(told, "kind").kind === "known" ? list(fields(told, "draws").draws) : [told];
    const every = tables.map((one) => (has(one, "secret") ? one.secret : null));
    if (!every.every((one) => same(one, every[0]))) {
      throw new Error("Groups have different secret values: export the design again.");
    }
    return every[0] === null ? null : list(every[0]).map((u) => whole(u, "A secret value", 0, MOST - 1));
  }

  /** The combinations that are secret by what is said of each attribute, where `secret` says that not all are. */
  function secretCombinations(attributes, secret) {
    const hidden = attributes.filter((one) => !one.known);
    if (secret === null) return hidden.some((one) => has(one, "secret")) ? [] : null;
    if (hidden.reduce((product, { size }) => product * size, 1) > LONGEST) {
      throw new Error("The attributes of the device have too many values: export it again.");
    }
    let flags = [false];
    for (const one of hidden) {
      const own = new Set(fields(one, "secret").secret.map((k) => whole(k, "A secret value", 0, one.size - 1)));
      flags = flags.flatMap((flag) => Array.from({ length: one.size }, (_, k) => flag || own.has(k)));
    }
    return flags.flatMap((flag, u) => (flag ? [u] : []));
  }

  /** What is drawn within another sampler keeps every value secret. */
  function checkAllSecret(draws) {
    if (draws.some((one) => has(one, "secret"))) {
      throw new Error("Only tables by themselves have values that are not secret: export the design again.");
    }
  }

  function table(told, sizes) {
    const { columns } = told;
    types(list(columns).length, sizes, 1);
    const secret = has(told, "secret") ? list(told.secret).map((u) => whole(u, "A secret value", 0, columns.length - 1)) : null;
    if (secret !== null && secret.some((u, i) => i > 0 && u <= secret[i - 1])) {
      throw new Error("Secret values are named once, in order: export the design again.");
    }
    const choices = columns.map(choice);
    if (columns.some((column) => column.length !== columns[0].length)) {
      throw new Error("The columns of the device have different numbers of chances: export it again.");
    }
    let ratio = [1n, 1n];
    for (let y = 0; y < columns[0].length; y++) {
      if (secret !== null && !secret.some((u) => columns[u][y])) {
        if (columns.filter((column) => column[y]).length === 1) continue;
        throw new Error(
          "This device breaks its promise: a report that no secret value can send must be that of one open value alone. Do not use it.",
        );
      }
      let [most, least] = [0, ONE];
      for (const column of columns) {
        if (column[y] > most) most = column[y];
        if (column[y] < least) least = column[y];
      }
      ratio = larger(ratio, [BigInt(most), BigInt(least)]);
    }
    return { ratio, draw: ([u], draw) => [choices[u](draw)] };
  }

  function twoValued({ low, high, cells, rest }, sizes) {
    const digits = 2 * Math.ceil(list(low).length / 8);
    types(list(cells).length, sizes, 1);
    const whole = cells.every((text) => typeof text === "string" && text.length === digits && !/[^0-9a-f]/.test(text));
    if (!whole || list(high).length !== low.length || list(rest).length !== cells.length) {
      throw new Error("The columns of the device have different numbers of chances: export it again.");
    }
    const sums = (u) => {
      let left = ONE;
      const found = new Float64Array(low.length);
      for (let y = 0; y < low.length; y++) {
        const code = cells[u].charCodeAt(y >> 2); // of a digit, 0 to 9 or a to f
        left -= ((code < 58 ? code - 48 : code - 87) >> (3 - (y % 4))) & 1 ? high[y] : low[y];
        found[y] = ONE - left;
      }
      checkLeft(left - rest[u]);
      return found;
    };
    [...low, ...high, ...rest].forEach(chance);
    cells.forEach((_, u) => sums(u));
    const last = over(Math.max(...rest), Math.min(...rest)).map(BigInt);
    const ratio = low.map((l, y) => over(BigInt(l), BigInt(high[y]))).reduce(larger, last);
    const draws = ([u], draw) => {
      const [found, drawn] = [sums(u), draw(ONE)];
      return [firstAbove(found.length, (y) => found[y], drawn)];
    };
    return { ratio, draw: draws };
  }

  function response({ n, truth }, sizes) {
    const rest = BigInt(ONE - chance(truth));
    const draws = ([u], draw) => {
      const own = draw(ONE) < truth;
      const other = draw(n);
      return [own ? u : other];
    };
    return { ratio: over(BigInt(types(n, sizes)) * BigInt(truth) + rest, rest), draw: draws };
  }

  function bits({ n, own, other }, sizes) {
    const [p, q, all] = [BigInt(chance(own)), BigInt(chance(other)), BigInt(ONE)];
    const draws = ([u], draw) => Array.from({ length: n }, (_, j) => (draw(ONE) < (j === u ? own : other) ? 1 : 0));
    return { ratio: over(p * (all - q), q * (all - p)), length: types(n, sizes), draw: draws };
  }

  function subset({ n, size, inside }, sizes) {
    whole(size, "The size of sets", 1, types(n, sizes));
    const ratio = twoCells(chance(inside), size, n);
    const draws = ([u], draw) => {
      const own = draw(ONE) < inside;
      const others = new Set();
      for (let j = n - 1 - size; j < n - 1; j++) {
        const needed = !own || j > n - 1 - size; // one less of the others where u is in the set
        const t = draw(j + 1); // drawn all the same, so that the number of bytes says nothing about the value
        if (needed) others.add(others.has(t) ? j : t);
      }
      const report = Array.from(others, (t) => (t >= u ? t + 1 : t));
      return (own ? [...report, u] : report).sort((a, b) => a - b);
    };
    return { ratio, length: size, draw: draws };
  }

  function hash({ n, buckets, digits, keep }, sizes) {
    types(n, sizes), whole(digits, "The number of binary digits", 1, 64), chance(keep);
    whole(buckets, "The number of buckets", 2, MOST);
    if (n > 2 ** digits) throw new Error(`${n} types do not have numbers of ${digits} binary digits.`);
    const draws = ([u], draw) => {
      const key = (BigInt(draw(2 ** 32)) << 32n) | BigInt(draw(2 ** 32)); // the bytes of below(2^64)
      const coefficients = Array.from({ length: digits }, () => draw(buckets));
      const offset = draw(buckets);
      let bucket = Number(mix(key + BigInt(u) * 0x9e3779b97f4a7c15n) % BigInt(buckets)) + offset;
      coefficients.forEach((a, i) => (bucket += Math.floor(u / 2 ** i) % 2 ? a : 0));
      const kept = draw(ONE) < keep;
      const further = 1 + draw(buckets - 1);
      return [key, ...coefficients, offset, (kept ? bucket : bucket + further) % buckets];
    };
    return { ratio: twoCells(keep, 1, buckets), length: digits + 3, draw: draws };
  }

  /** SplitMix64 (Steele et al. 2014). */
  function mix(z) {
    z = BigInt.asUintN(64, z);
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  function sign({ n, first, count, flip }, sizes) {
    types(n, sizes), chance(flip);
    whole(count, "The number of coefficients", 1, MOST - whole(first, "The first coefficient", 0, MOST));
    const draws = ([u], draw) => {
      const i = draw(count);
      let minus = 0;
      for (let common = (first + i) & u; common; common &= common - 1) minus ^= 1;
      return [2 * i + (draw(ONE) < flip ? 1 - minus : minus)];
    };
    return { ratio: over(BigInt(ONE - flip), BigInt(flip)), draw: draws };
  }

  /** Draws a cell of `n`: one of those inside, with its chance, or one of those outside. And the ratio. */
  function places({ cells, inside }, n) {
    chance(inside);
    if (typeof cells !== "string" || cells.length !== n || /[^01]/.test(cells)) {
      throw new Error(`The cells of a sampler must be a text of ${n} digits 0 and 1.`);
    }
    const [zeros, ones] = [[], []];
    for (let i = 0; i < n; i++) (cells[i] === "1" ? ones : zeros).push(i);
    const cell = (draw) => {
      const chosen = draw(ONE) < inside;
      const [i, j] = [draw(ones.length), draw(zeros.length)];
      return chosen ? ones[i] : zeros[j];
    };
    return { cell, ratio: twoCells(inside, ones.length, n) };
  }

  function pattern(told, sizes) {
    whole(list(told.sizes).length, "The number of attributes", 1, MOST_TOGETHER);
    const axes = told.sizes.map((size) => whole(size, "The size of an attribute", 1, MOST));
    const { cell, ratio } = places(told, types(told.cells.length, sizes));
    if (axes.reduce((product, size) => product * size, 1) !== told.cells.length) {
      throw new Error("A pattern must have as many cells as there are combinations of its attributes.");
    }
    const draws = ([u], draw) => {
      const from = apart(cell(draw), axes);
      const to = apart(u, axes);
      return axes.flatMap((size, axis) => {
        const permutation = Array.from({ length: size }, (_, k) => k).filter((k) => k !== to[axis]);
        for (let i = size - 2; i > 0; i--) {
          const j = draw(i + 1);
          [permutation[i], permutation[j]] = [permutation[j], permutation[i]];
        }
        permutation.splice(from[axis], 0, to[axis]);
        return permutation;
      });
    };
    return { ratio, length: sum(axes), draw: draws };
  }

  /** The sampler of each part, which reads its own value from the person's. Each of "draws" is made once, for the largest
      values that a part gives it. */
  function parts(told, sizes, depth) {
    const [draws, given] = [list(told.draws), new Map()];
    checkAllSecret(draws);
    list(told.parts).forEach((part) => {
      const { draw: k, value: terms } = fields(part, "draw", "value");
      whole(k, "The number of a sampler", 0, draws.length - 1);
      const values = terms === null ? sizes : [reach(terms, sizes)];
      const before = given.get(k) || values;
      if (before.length !== values.length) {
        throw new Error("A sampler is given values of different lengths: export the design again.");
      }
      given.set(k, before.map((size, i) => Math.max(size, values[i])));
    });
    const made = new Map([...given].map(([k, values]) => [k, sampler(draws[k], values, depth + 1)]));
    return told.parts.map(({ draw: k, value: terms }) => {
      if (terms === null) return made.get(k);
      const read = (value) =>
        sum(terms.map(([i, modulo, divide, times]) => times * Math.floor((value[i] % modulo) / divide)));
      return { ...made.get(k), draw: (value, draw) => made.get(k).draw([read(value)], draw) };
    });
  }

  /** How many values the sum of terms can have: one more than its largest. */
  function reach(terms, sizes) {
    let largest = 0n;
    for (const [i, modulo, divide, times, ...more] of list(terms)) {
      if (more.length) throw new TypeError("too many numbers");
      whole(i, "The place of a number", 0, sizes.length - 1);
      for (const [number, least] of [[modulo, 1], [divide, 1], [times, 0]]) {
        whole(number, "A number that values are read with", least, MOST);
      }
      largest += BigInt(times) * BigInt(Math.floor((Math.min(sizes[i], modulo) - 1) / divide));
    }
    return whole(Number(largest + 1n), "The number of values", 1, MOST);
  }

  function oneOf(told, sizes, depth) {
    const among = parts(told, sizes, depth);
    const fill = whole(told.fill, "What fills reports up", -1, 0);
    const width = whole(told.width, "The width of reports", 1, LONGEST);
    const chosen = told.shares === null ? (draw) => draw(among.length) : choice(told.shares);
    const longest = (name) => among.reduce((most, part) => Math.max(most, part[name]), 0);
    if (width !== 1 + longest("length")) {
      throw new Error("The width of reports is not that of the longest part: export the design again.");
    }
    if (told.shares !== null && (told.shares.length !== among.length || told.shares.includes(0))) {
      throw new Error(`The ${among.length} parts of a sampler need as many shares, none of them 0.`);
    }
    const draws = (value, draw) => {
      const number = chosen(draw);
      const report = [number, ...among[number].draw(value, draw)];
      while (report.length < width) report.push(fill);
      return report;
    };
    const ratio = among.map((part) => part.ratio).reduce(larger);
    return { ratio, length: width, together: longest("together"), draw: draws };
  }

  function each(told, sizes, depth) {
    const all = parts(told, sizes, depth);
    const together = sum(all.map((part) => part.together));
    whole(together, "The number of reports sent as one", 1, MOST_TOGETHER); // before very long numbers
    const ratio = [0, 1].map((end) => all.reduce((product, part) => product * part.ratio[end], 1n));
    const draws = (value, draw) => all.flatMap((part) => part.draw(value, draw));
    return { ratio, length: sum(all.map((part) => part.length)), together, draw: draws };
  }

  function classes(told, sizes, depth) {
    const numbers = list(told.classes).map((one) => whole(one, "A class", 0, MOST - 1));
    types(numbers.length, sizes, 1);
    checkAllSecret([told.draw]);
    const made = sampler(told.draw, [numbers.reduce((most, one) => Math.max(most, one)) + 1], depth + 1);
    return { ...made, draw: (value, draw) => made.draw([numbers[value[0]]], draw) };
  }

  function known(told, sizes, depth) {
    if (depth || sizes.length < 2) {
      throw new Error("What is sent in the clear comes first, and beside other numbers: export the design again.");
    }
    const draws = list(told.draws).map((draw) => sampler(draw, sizes.slice(1), 1));
    const which = list(told.which).map((k) => draws[whole(k, "The number of a sampler", 0, draws.length - 1)]);
    const width = whole(told.width, "The width of reports", 1, LONGEST);
    const longest = (name) => which.reduce((most, made) => Math.max(most, made[name]), 0);
    if (which.length !== sizes[0] || width !== 1 + longest("length")) {
      throw new Error("The groups in the clear are not those of the samplers: export the design again.");
    }
    const draw = ([z, ...others], draw) => {
      const report = [z, ...which[z].draw(others, draw)];
      while (report.length < width) report.push(0);
      return report;
    };
    const ratio = which.map((made) => made.ratio).reduce(larger);
    return { ratio, length: width, together: longest("together"), draw };
  }

  const KINDS = {
    table: [table, "columns"],
    two_valued: [twoValued, "low", "high", "cells", "rest"],
    response: [response, "n", "truth"],
    subset: [subset, "n", "size", "inside"],
    bits: [bits, "n", "own", "other"],
    hash: [hash, "n", "buckets", "digits", "keep"],
    sign: [sign, "n", "first", "count", "flip"],
    pattern: [pattern, "sizes", "cells", "inside"],
    one_of: [oneOf, "draws", "parts", "shares", "width", "fill"],
    each: [each, "draws", "parts"],
    classes: [classes, "classes", "draw"],
    known: [known, "draws", "which", "width"],
  };

  // --- values as people say them -------------------------------------------------------------------------------------

  const MISSING_WORDS = ["", "na", "n/a", "nan", "null", "none", "?"];
  const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)$/i;
  const DATES = [
    String.raw`(?<y>\d{4})(?<s>[-/.])(?<m>\d{1,2})\k<s>(?<d>\d{1,2})`,
    String.raw`(?<a>\d{1,2})(?<s>[-/.])(?<b>\d{1,2})\k<s>(?<y>\d{4})`,
    String.raw`(?<d>\d{1,2})[ -](?<name>[A-Za-z]{3,9})\.?[ -](?<y>\d{4})`,
    String.raw`(?<name>[A-Za-z]{3,9})\.? (?<d>\d{1,2}),?[ -](?<y>\d{4})`,
  ].map((date) => new RegExp(String.raw`^${date}(?:[T ]+\d{1,2}:\d\d[^\n]*)?$`));
  DATES.push(/^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)$/);
  const LABELS = {
    week: /^(\d{4})-W(\d\d)$/,
    month: /^(\d{4})-(\d\d)$/,
    quarter: /^(\d{4})-Q([1-4])$/,
    year: /^(\d{4})$/,
  };
  /** A value on several days. */
  const RUN = /^(.*[^ ]) *[x\u00d7] *([0-9]{1,3})$/su;
  const MONTHS = "january february march april may june july august september october november december".split(" ");

  /** A number for each attribute of a person. Error for a value outside, missing or absent that has none. */
  function encode(attributes, values) {
    const absent = attributes.find(({ name }) => !has(values, name));
    if (absent) throw new Error(`A value is needed for ${absent.name}.`);
    if (!attributes.length) throw new Error("This device has no domain: give numbers.");
    return attributes.map((attribute) => encoded(attribute, values[attribute.name]));
  }

  function encoded(attribute, said) {
    const value = has(attribute, "holds") ? combination(attribute, said) : said;
    const { name, kind, ordinary, words, missing, other } = attribute;
    const written = textOf(value);
    const text = plain(written);
    const named = `The value ${shown(value)} of ${name}`;
    const isMissing = MISSING_WORDS.includes(text.toLowerCase());
    if (kind !== "categories" && NUMBER.test(text) && (attribute.no_answer || []).includes(Number(text))) {
      if (missing === null) throw new Error(`${named} is a code for no answer, and people without one send no report.`);
      return missing;
    }
    const found = isMissing || kind === "categories" ? null : placeOf(attribute, text);
    if (found !== null && ((found >= 0 && found < ordinary) || attribute.clamp)) {
      return Math.min(Math.max(found, 0), ordinary - 1);
    }
    if (found === null && has(words, written)) return words[written];
    if (found === null && has(words, text)) return words[text];
    const unread = !isMissing && found === null && kind !== "categories";
    if (isMissing || (unread && attribute.unread)) {
      if (missing === null) throw new Error(`${named} is missing, and people without one send no report.`);
      return missing;
    }
    if (unread) throw new Error(`${named} is not a ${kind === "dates" ? "date" : "number"}.`);
    if (other === null) throw new Error(`${named} is outside the domain.`);
    return other;
  }

  /** The category of the parts that a list or a text holds; the value itself where they make none. */
  function combination({ parts, holds, sign, between, words }, value) {
    const said = Array.isArray(value) ? value : textOf(value).split(sign);
    let names = said.map((one) => plain(textOf(one))).filter((name) => name);
    if (holds === "set" && names.every((name) => parts.includes(name))) {
      names = names.length ? parts.filter((part) => names.includes(part)) : ["(none)"];
    } else if (holds === "days") {
      const runs = [];
      for (const name of names) {
        const run = parts.includes(name) ? null : name.match(RUN);
        const [day, times] = run ? [run[1], Number(run[2])] : [name, 1];
        if (times === 0) continue;
        if (runs.length && runs[runs.length - 1][0] === day) runs[runs.length - 1][1] += times;
        else runs.push([day, times]);
      }
      names = runs.map(([day, times]) => `${day} x${times}`);
    }
    const text = names.join(between);
    return has(words, text) || Array.isArray(value) ? text : value;
  }

  /** A value as text, blank where there is none: no outer blanks, which are Python's here. */
  function textOf(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const text = typeof value === "string" ? value : shown(value);
    return trimmed(text);
  }

  function trimmed(text) {
    return text.replace(/^(?:[^\S\ufeff]|[\x1c-\x1f\x85])+|(?:[^\S\ufeff]|[\x1c-\x1f\x85])+$/g, "");
  }

  /** What looks the same is the same: normal form C, all blanks as spaces, no signs without a width. */
  function plain(text) {
    const visible = text.replace(/[\u00ad\u200b\u200e\u200f\u2060\ufeff]/g, "");
    return trimmed(visible.replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ").normalize("NFC"));
  }

  /** A value as Python writes it, so that both clients compare and say the same. */
  function shown(value) {
    if (typeof value === "boolean") return value ? "True" : "False";
    if (value === null || value === undefined) return "None";
    if (typeof value === "number") {
      if (Number.isInteger(value) && Math.abs(value) < ONE) return String(value);
      if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf").replace("NaN", "nan");
      const [digits, exponent] = value.toExponential().split("e");
      if (exponent < -4 || exponent > 15) return `${digits}e${exponent.replace(/^(.)(\d)$/, "$10$2")}`;
      return Number.isInteger(value) ? `${value}.0` : String(value);
    }
    if (typeof value !== "string") return String(value);
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value.replace(/[\\\p{C}\p{Z}]/gu, (sign) => {
      const code = sign.codePointAt(0);
      const short = { " ": " ", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }[sign];
      const [letter, width] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
      return short || `\\${letter}${code.toString(16).padStart(width, "0")}`;
    });
    return quote + (quote === "'" ? escaped.replace(/'/g, "\\'") : escaped) + quote;
  }

  /** The bin or period of a text, below 0 or past the last one outside; null where it is no number or date. */
  function placeOf(attribute, text) {
    const { kind, ordinary, edges } = attribute;
    if (kind === "dates") {
      const period = periodOf(text, attribute.unit, attribute.day_first);
      return period === null ? null : period - attribute.first;
    }
    if (!NUMBER.test(text)) return null;
    const number = Number(text.replace(/inf(inity)?$/i, "Infinity"));
    const at = kind === "range" ? (i) => edge(attribute, i) : (i) => edges[i];
    return number === at(ordinary) ? ordinary - 1 : firstAbove(ordinary + 1, at, number) - 1;
  }

  /** The i-th edge of bins of one width. */
  function edge({ low, high, bins, integer }, i) {
    if (integer) return Math.min(low - 0.5 + Math.ceil((high - low + 1) / bins) * i, high + 0.5);
    return i === bins ? high : i * ((high - low) / bins) + low;
  }

  /** The number of the day, week, ... (`unit`) that a text names or whose date it holds, null where it holds none. */
  function periodOf(text, unit, dayFirst) {
    let day = firstDay(text, unit);
    if (!day && (unit === "quarter" || unit === "year")) day = firstDay(text, "month");
    for (const date of DATES) day = day || dayOf(date.exec(text), dayFirst);
    if (!day) return null;
    const months = day.year * 12 + day.month - 1;
    const week = Math.floor((day.ordinal - 1) / 7); // 1 January of year 1 was a Monday
    return { day: day.ordinal, week, month: months, quarter: Math.floor(months / 3), year: day.year }[unit];
  }

  /** Of the week, month, quarter or year with this label, such as 2026-W05, 2026-01, 2026-Q1 and 2026. */
  function firstDay(text, unit) {
    const match = has(LABELS, unit) && LABELS[unit].exec(text);
    const [year, number] = match ? [Number(match[1]), Number(match[2] || 1)] : [0, 0];
    if (year < 1 || year > 9998) return null;
    if (unit !== "week") return calendar(year, unit === "quarter" ? 3 * number - 2 : number, 1);
    const monday = (day) => day.ordinal - ((day.ordinal - 1) % 7);
    // 4 January is always in the first week, and 28 December in the last one.
    const ordinal = monday(calendar(year, 1, 4)) + 7 * (number - 1);
    return number >= 1 && ordinal <= calendar(year, 12, 28).ordinal ? { year, month: 1, ordinal } : null;
  }

  function dayOf(match, dayFirst) {
    if (!match) return null;
    const { y, m, d, a, b, s, name } = match.groups;
    if (a === undefined) {
      const known = (full) => [full, full.slice(0, 3), full.slice(0, 4)].includes(name.toLowerCase());
      return calendar(Number(y), name ? MONTHS.findIndex(known) + 1 : Number(m), Number(d));
    }
    // 31.1.2026 has the day first; 31/1/2026 and 1/31/2026 where that is stated or clear.
    if (s === "." || dayFirst || (dayFirst === null && (a > 12 || Number(a) === Number(b)))) {
      return calendar(Number(y), Number(b), Number(a));
    }
    return dayFirst === null && b <= 12 ? null : calendar(Number(y), Number(a), Number(b));
  }

  /** A day and its number, 1 January of year 1 being 1; null where there is none. */
  function calendar(year, month, day) {
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    if (year < 1 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
    return { year, month, ordinal: date.getTime() / 86400000 + 719163 };
  }

  // --- what is refused: altered, damaged and broken descriptions ------------------------------------------------------

  /** Accidents are refused here. An attacker can write matching ids, which only a signature stops. */
  function checkIds(description) {
    const { domain_id, signature } = fields(description, "domain_id", "mechanism", "signature");
    if (domain_id !== domainId(description.domain)) {
      throw new Error("The domain of this device was altered: its id does not match. Export it again.");
    }
    if (description.design !== designId(description)) {
      throw new Error(
        "The sampler or epsilon of this device was altered: its design id does not match. Export it again.",
      );
    }
    if (signature !== null && !(typeof signature === "string" && /^[0-9a-f]{128}$/.test(signature))) {
      throw new Error("A signature must have 128 hexadecimal digits, or be null: export the design again.");
    }
  }

  /** 64 hexadecimal digits that stand for everything in a description. */
  function designId({ epsilon, format, sampler, domain_id, mechanism }) {
    const ordered = (_, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value;
    return sha256(ascii(JSON.stringify({ epsilon, format, sampler, domain_id, mechanism }, ordered)));
  }

  /** 64 hexadecimal digits that stand for everything that decides which value a person's words have. */
  const domainId = (domain) => sha256(canonical(domain));

  /** Error, one sentence, unless the signature of the description fits `publicKey`. */
  async function checkSignature({ format, design, signature }, publicKey) {
    if (typeof publicKey !== "string" || !/^[0-9a-f]{64}$/i.test(publicKey)) {
      throw new Error("A public key has 64 hexadecimal digits.");
    }
    if (typeof signature !== "string") throw new Error("This device is not signed, and a key was given: do not use it.");
    const { subtle } = webCrypto() || {};
    const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
    let fits = false;
    try {
      const key = await subtle.importKey("raw", bytes(publicKey), { name: "Ed25519" }, false, ["verify"]);
      const text = new TextEncoder().encode(`${format} ${design}`);
      fits = await subtle.verify({ name: "Ed25519" }, key, bytes(signature), text);
    } catch {
      throw new Error("Ed25519 signatures cannot be checked here, or the key is none: use https and a newer browser.");
    }
    if (!fits) throw new Error("The signature of this device does not fit the key: do not use it.");
  }

  /** Whether a ratio is at most the sum of the first terms of 1 + x + x^2/2 + ..., x being epsilon: less than e^epsilon by
      less than 2^-80 of it. All terms are positive, and the next ones more than halve. */
  function within([high, low], epsilon) {
    const number = /^(?=.{1,60}$)\+?(?:(\d+)\/(0*[1-9]\d*)|(?:(\d+)\.?(\d*)|\.(\d+))(?:e([+-]?)0*(\d{1,3}))?)$/i;
    const match = typeof epsilon === "string" && number.exec(epsilon);
    const [, top = "0", below = "1", before = "", after = "", alone = "", minus = "", power = "0"] = match || [];
    let [p, q] = [BigInt(top), BigInt(below)];
    if (match && match[1] === undefined) {
      p = BigInt(before + after + alone) * 10n ** (minus === "-" ? 0n : BigInt(power));
      q = 10n ** (BigInt((after + alone).length) + (minus === "-" ? BigInt(power) : 0n));
    }
    if (p <= 0n || p > MOST_EPSILON * q) {
      throw new Error(`Epsilon must be a number in quotation marks, above 0 and at most ${MOST_EPSILON}.`);
    }
    let [total, term, over, k] = [1n, 1n, 1n, 0n]; // the sum, and its last term, are total and term divided by over
    while (k * q < 2n * p || term << 80n > total) {
      k += 1n;
      term *= p;
      over *= q * k;
      total = total * q * k + term;
    }
    return low > 0n && high * over <= low * total;
  }

  /** The attributes of people, whose values must be those that the sampler takes. */
  function attributesOf(domain, sizes, clear) {
    const attributes = domain === null ? [] : list(fields(domain, "attributes").attributes);
    whole(attributes.length, "The number of attributes", 0, MOST_TOGETHER);
    const own = attributes.map((one) => whole(fields(one, "size").size, "The size of an attribute", 1, MOST));
    const flags = attributes.map((one) => (has(one, "known") ? one.known : false));
    const all = (known) => own.reduce((product, size, i) => (known === null || flags[i] === known ? product * size : product), 1);
    const secret = own.filter((_, i) => flags[i] === false);
    const equal = (wanted) => wanted.length === sizes.length && wanted.every((size, i) => size === sizes[i]);
    const fits = clear
      ? flags.every((flag) => typeof flag === "boolean") && flags.some(Boolean) && (equal([all(true), all(false)]) || equal([all(true), ...secret]))
      : !flags.some(Boolean) && (equal(own) || equal([all(null)]));
    if (own.length && !fits) {
      throw new Error("The attributes of the device have other values than its sampler takes: export it again.");
    }
    for (const one of attributes) {
      if (!readable(one)) throw new Error("The values of an attribute of the device cannot be read: export it again.");
    }
    if (new Set(attributes.map(({ name }) => looks(name))).size < attributes.length) {
      throw new Error(
        "Two attributes of the device have names that look the same, so that one could be taken for the other: rename one, " +
          "and export the design again.",
      );
    }
    return attributes;
  }

  /** A name without what cannot be seen: normal form KC, blanks as one space, no signs that show nothing. */
  function looks(name) {
    const unseen = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;
    const seen = name.replace(unseen, "").normalize("NFKC").replace(/(?![\t-\r\x1c-\x1f\x85])[\p{Cc}\p{Cf}]/gu, "");
    return trimmed(seen.replace(/[\s\x1c-\x1f\x85]+/g, " "));
  }

  /** Whether `encode` finds a number below "size" for what people may say. */
  function readable(one) {
    fields(one, "other", "missing", "clamp");
    const { name, kind, size, ordinary, words } = fields(one, "name", "kind", "ordinary", "words");
    whole(ordinary, "The number of bins", 1, size);
    const special = [one.other, one.missing].filter((place) => place !== null);
    if (typeof words !== "object" || words === null || Array.isArray(words)) return false;
    for (const place of [...Object.values(words), ...special]) whole(place, "The number of a value", 0, size - 1);
    let [numbers, flags, sound] = [[], [one.clamp], typeof name === "string"];
    if (kind === "numbers") {
      numbers = list(fields(one, "edges", "unread").edges);
      sound &&= numbers.length === ordinary + 1 && numbers.every((edge, i) => i === 0 || edge > numbers[i - 1]);
    } else if (kind === "range") {
      const { low, high, bins, integer } = fields(one, "low", "high", "bins", "integer", "unread");
      numbers = [low, high, high - low];
      flags.push(integer);
      sound &&= high - low >= 0 && bins === ordinary;
    } else if (kind === "dates") {
      const { unit, first, day_first } = fields(one, "unit", "first", "day_first", "unread");
      numbers = [first];
      flags.push(day_first === null ? false : day_first);
      sound &&= (unit === "day" || has(LABELS, unit)) && Number.isInteger(first);
    } else {
      sound &&= kind === "categories";
    }
    if (has(one, "holds")) {
      const { holds, parts, sign, between } = fields(one, "parts", "sign", "between");
      sound &&= ["set", "ranking", "days"].includes(holds);
      sound &&= [...list(parts), sign, between].every((text) => typeof text === "string" && text !== "");
    }
    if (kind !== "categories") flags.push(one.unread);
    if (has(one, "no_answer")) numbers = [...numbers, ...one.no_answer];
    return sound && numbers.every(Number.isFinite) && flags.every((flag) => typeof flag === "boolean");
  }

  /** JSON that comes out the same in every language: ASCII, pairs in order, each number as the 64 bits of its double. */
  function canonical(told) {
    if (Array.isArray(told)) return `[${told.map(canonical).join(",")}]`;
    if (typeof told === "number") {
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, told);
      return view.getBigUint64(0).toString(16).padStart(16, "0");
    }
    if (typeof told === "object" && told !== null) {
      const pairs = Object.entries(told).map(([key, value]) => `${canonical(key)}:${canonical(value)}`);
      return `{${pairs.sort().join(",")}}`;
    }
    return ascii(JSON.stringify(told));
  }

  /** JSON without letters that other languages write otherwise. */
  function ascii(text) {
    return text.replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }

  /** SHA-256 (FIPS 180-4) in hexadecimal digits: that of Web Crypto is missing in pages without https. */
  function sha256(text) {
    const primes = [];
    for (let p = 2; primes.length < 64; p++) if (primes.every((q) => p % q)) primes.push(p);
    const fraction = (root) => Math.floor((root % 1) * 2 ** 32);
    const constants = primes.map((p) => fraction(Math.cbrt(p)));
    const state = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));
    const message = new TextEncoder().encode(text);
    const bytes = new Uint8Array(64 * Math.ceil((message.length + 9) / 64));
    bytes.set(message);
    bytes[message.length] = 128;
    const view = new DataView(bytes.buffer);
    view.setBigUint64(bytes.length - 8, BigInt(8 * message.length));
    const turned = (x, by) => (x >>> by) | (x << (32 - by));
    const words = new Int32Array(64);
    for (let start = 0; start < bytes.length; start += 64) {
      for (let i = 0; i < 16; i++) words[i] = view.getInt32(start + 4 * i);
      for (let i = 16; i < 64; i++) {
        const [x, y] = [words[i - 15], words[i - 2]];
        const [s, t] = [turned(x, 7) ^ turned(x, 18) ^ (x >>> 3), turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)];
        words[i] = words[i - 16] + s + words[i - 7] + t;
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let i = 0; i < 64; i++) {
        const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + words[i];
        const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((x, i) => (state[i] += x));
    }
    return Array.from(state, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  }

  // --- where it runs -----------------------------------------------------------------------------------------------

  /** Prints a report for each value: a type's number, or JSON. */
  async function main(given) {
    const key = given[0] === "--key" ? given[1] : null;
    const [path, ...values] = key === null ? given : given.slice(2);
    if (!values.length) {
      console.error("Usage: node client.js [--key KEY] device.json VALUE...   (a type's number, or JSON)");
      return 2;
    }
    try {
      const description = JSON.parse(common.require("node:fs").readFileSync(path, "utf8"));
      const device = key === null ? new Device(description) : await Device.signed(description, key);
      for (const value of values) console.log(device.report(readValue(value)));
    } catch (error) {
      console.error(error.message);
      return 1;
    }
    return 0;
  }

  function readValue(text) {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${shown(text)} is not a type's number, or JSON such as {"age": 42}.`);
    }
  }

  globalThis.LDP = { Device, encode, designId, domainId };
  if (typeof module === "object" && module) module.exports = globalThis.LDP;
  if (typeof process === "object" && process.mainModule === common) {
    main(process.argv.slice(2)).then((code) => (process.exitCode = code));
  }
})();
