/* Draws one person's report from the description of a device, `device.json`, as client.py does: equal bytes, equal
   reports. Needs nothing else: for browsers, phones and Node (18 or later).

     import "./client.js";       or load it as a script, paste it into one, or require it in Node
     const device = new LDP.Device(await (await fetch("device.json")).json());
     device.report({ age: 42 });                // "2 0 1 1 0"

     node client.js device.json 17 3            the reports of two people, of types 17 and 3
     node client.js device.json '{"age": 42}'   of a person of 42 years (beside a package.json of "type": "module",
                                                name a copy client.cjs)

   Every call draws a new report, and every report spends privacy: send one, and keep it. A report is a line of whole
   numbers. client.py explains the description, all kinds of samplers and how values are read. Numbers stay below 2^53,
   where they are exact in JavaScript; hash functions have 64 bits, as BigInt. */
(function () {
  "use strict";

  const FORMAT = "ldp-device/1";
  const ONE = 2 ** 53;
  const common = typeof module === "object" && module ? module : {}; // what CommonJS gives, in Node and bundlers

  /** What draws the reports of people. Error, one sentence, for a description that is damaged or was altered. */
  class Device {
    constructor(description) {
      const { format, design, domain } = fields(description, "format", "design", "domain", "epsilon", "sampler");
      if (format !== FORMAT) throw new Error(`This is no device of the format ${FORMAT}: export the design again.`);
      if (design !== designId(description)) {
        throw new Error(
          "The sampler or epsilon of this device was altered: its design id does not match. Export it again.",
        );
      }
      if (has(description, "domain_id") && description.domain_id !== domainId(domain)) {
        throw new Error("The domain of this device was altered: its id does not match. Export it again.");
      }
      this.design = design;
      this.sizes = fields(description.sampler, "sizes").sizes;
      this.attributes = domain ? fields(domain, "attributes").attributes : [];
      this.draw = sampler(description.sampler);
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

  /** A source of random bytes for one report: those of Web Crypto, which Node 18 keeps in a module. */
  function secure() {
    const crypto = globalThis.crypto || (common.require && common.require("node:crypto").webcrypto);
    if (!crypto) throw new Error("There are no secure random numbers here: crypto.getRandomValues is needed.");
    let [pool, used] = [new Uint8Array(0), 0]; // asking for every few bytes takes long
    return (count) => {
      if (used + count > pool.length) [pool, used] = [crypto.getRandomValues(new Uint8Array(256)), 0];
      return pool.subarray(used, (used += count));
    };
  }

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

  // --- samplers: functions of what the description says, which give what draws a report: (value, draw) -> numbers ----

  function sampler(told) {
    const { kind } = fields(told, "kind");
    if (typeof kind !== "string" || !has(KINDS, kind)) {
      throw new Error(`This client does not know samplers of the kind ${shown(kind)}: get the client of the same kit.`);
    }
    const [make, ...names] = KINDS[kind];
    return make(fields(told, ...names));
  }

  function chance(number) {
    if (!Number.isInteger(number) || number < 0 || number > ONE) {
      throw new Error(`A chance must be a whole number from 0 to 2^53; the device has ${number}.`);
    }
    return number;
  }

  /** Draws a place by a list of chances. */
  function choice(chances) {
    let left = ONE; // what is left is exact where a sum above 2^53 would not be
    const sums = Float64Array.from(chances, (number) => ONE - (left -= chance(number)));
    if (left !== 0) {
      const off = (left < 0 ? "+" : "") + -left;
      throw new Error(`The chances in a column of the device sum to 2^53 ${off} and not to 2^53: export it again.`);
    }
    return (draw) => {
      const drawn = draw(ONE);
      return firstAbove(sums.length, (i) => sums[i], drawn);
    };
  }

  function table({ columns }) {
    const choices = columns.map(choice);
    return ([u], draw) => [choices[u](draw)];
  }

  function response({ n, truth }) {
    chance(truth);
    return ([u], draw) => [draw(ONE) < truth ? u : draw(n)];
  }

  function bits({ n, own, other }) {
    chance(own), chance(other);
    return ([u], draw) => Array.from({ length: n }, (_, j) => (draw(ONE) < (j === u ? own : other) ? 1 : 0));
  }

  function subset({ n, size, inside }) {
    chance(inside);
    return ([u], draw) => {
      const own = draw(ONE) < inside ? 1 : 0;
      const others = new Set();
      for (let j = n - 1 - (size - own); j < n - 1; j++) {
        const t = draw(j + 1);
        others.add(others.has(t) ? j : t);
      }
      const report = Array.from(others, (t) => (t >= u ? t + 1 : t));
      return (own ? [...report, u] : report).sort((a, b) => a - b);
    };
  }

  function hash({ buckets, digits, keep }) {
    chance(keep);
    return ([u], draw) => {
      const key = (BigInt(draw(2 ** 32)) << 32n) | BigInt(draw(2 ** 32)); // the bytes of below(2^64)
      const coefficients = Array.from({ length: digits }, () => draw(buckets));
      const offset = draw(buckets);
      let bucket = Number(mix(key + BigInt(u) * 0x9e3779b97f4a7c15n) % BigInt(buckets)) + offset;
      coefficients.forEach((a, i) => (bucket += Math.floor(u / 2 ** i) % 2 ? a : 0));
      if (draw(ONE) >= keep) bucket += 1 + draw(buckets - 1);
      return [key, ...coefficients, offset, bucket % buckets];
    };
  }

  /** SplitMix64 (Steele et al. 2014). */
  function mix(z) {
    z = BigInt.asUintN(64, z);
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  function sign({ first, count, flip }) {
    chance(flip);
    return ([u], draw) => {
      const i = draw(count);
      let minus = 0;
      for (let common = (first + i) & u; common; common &= common - 1) minus ^= 1;
      return [2 * i + (draw(ONE) < flip ? 1 - minus : minus)];
    };
  }

  /** Draws a cell: one of those inside, with its chance, or one of those outside. */
  function place({ cells, inside }) {
    chance(inside);
    const [zeros, ones] = ["0", "1"].map((wanted) => [...cells].flatMap((digit, i) => (digit === wanted ? [i] : [])));
    if (!ones.length || !zeros.length || ones.length + zeros.length !== cells.length) {
      throw new Error("The cells of a sampler must be digits 1 and 0, and both be there: export the design again.");
    }
    return (draw) => {
      const chosen = draw(ONE) < inside ? ones : zeros;
      return chosen[draw(chosen.length)];
    };
  }

  function moved(told) {
    const cell = place(told);
    return ([u], draw) => [cell(draw) ^ u];
  }

  function rotated(told) {
    const cell = place(told);
    const n = told.cells.length;
    return ([u], draw) => [(cell(draw) - u + n) % n];
  }

  function pattern(told) {
    const cell = place(told);
    return ([u], draw) => {
      const from = apart(cell(draw), told.sizes);
      const to = apart(u, told.sizes);
      return told.sizes.flatMap((size, axis) => {
        const permutation = Array.from({ length: size }, (_, k) => k).filter((k) => k !== to[axis]);
        for (let i = size - 2; i > 0; i--) {
          const j = draw(i + 1);
          [permutation[i], permutation[j]] = [permutation[j], permutation[i]];
        }
        permutation.splice(from[axis], 0, to[axis]);
        return permutation;
      });
    };
  }

  /** What draws the report of each part, its own value read from the person's. */
  function parts(told) {
    const draws = told.draws.map(sampler);
    return told.parts.map(({ draw: which, value: terms }) => {
      if (!terms) return draws[which];
      const read = (value) =>
        terms.reduce((sum, [i, modulo, divide, times]) => sum + times * Math.floor((value[i] % modulo) / divide), 0);
      return (value, draw) => draws[which]([read(value)], draw);
    });
  }

  function oneOf(told) {
    const among = parts(told);
    const chosen = has(told, "shares") ? choice(told.shares) : (draw) => draw(among.length);
    return (value, draw) => {
      const number = chosen(draw);
      const report = [number, ...among[number](value, draw)];
      while (report.length < told.width) report.push(told.fill);
      return report;
    };
  }

  function each(told) {
    const all = parts(told);
    return (value, draw) => all.flatMap((part) => part(value, draw));
  }

  const KINDS = {
    table: [table, "columns"],
    response: [response, "n", "truth"],
    subset: [subset, "n", "size", "inside"],
    bits: [bits, "n", "own", "other"],
    hash: [hash, "buckets", "digits", "keep"],
    sign: [sign, "first", "count", "flip"],
    moved: [moved, "cells", "inside"],
    rotated: [rotated, "cells", "inside"],
    pattern: [pattern, "sizes", "cells", "inside"],
    one_of: [oneOf, "draws", "parts", "width", "fill"],
    each: [each, "draws", "parts"],
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
  const MONTHS = "january february march april may june july august september october november december".split(" ");

  /** A number for each attribute of a person. Error for a value outside, missing or absent that has none. */
  function encode(attributes, values) {
    const absent = attributes.find(({ name }) => !has(values, name));
    if (absent) throw new Error(`A value is needed for ${absent.name}.`);
    if (!attributes.length) throw new Error("This device has no domain: give numbers.");
    return attributes.map((attribute) => encoded(attribute, values[attribute.name]));
  }

  function encoded(attribute, value) {
    const { name, kind, ordinary, words, missing, other } = attribute;
    const text = textOf(value);
    const named = `The value ${shown(value)} of ${name}`;
    const isMissing = MISSING_WORDS.includes(text.toLowerCase());
    const found = isMissing || kind === "categories" ? null : placeOf(attribute, text);
    if (found !== null && ((found >= 0 && found < ordinary) || attribute.clamp)) {
      return Math.min(Math.max(found, 0), ordinary - 1);
    }
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

  /** A value as text, blank where there is none: no outer blanks, which are Python's here. */
  function textOf(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const text = typeof value === "string" ? value : shown(value);
    return text.replace(/^(?:[^\S\ufeff]|[\x1c-\x1f\x85])+|(?:[^\S\ufeff]|[\x1c-\x1f\x85])+$/g, "");
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

  // --- the id of a design ------------------------------------------------------------------------------------------

  /** 16 hexadecimal digits that tell apart all that decides about reports. */
  function designId({ epsilon, format, sampler }) {
    const ordered = (_, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value;
    return sha256(JSON.stringify({ epsilon, format, sampler }, ordered)).slice(0, 16);
  }

  /** 16 hexadecimal digits that tell apart all that decides which value a person's words stand for. */
  function domainId(domain) {
    return sha256(canonical(domain)).slice(0, 16);
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
    const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return JSON.stringify(told).replace(/[\u007f-\uffff]/g, escaped);
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
  function main([path, ...values]) {
    if (!values.length) {
      console.error("Usage: node client.js device.json VALUE...   (a type's number, or JSON)");
      return 2;
    }
    try {
      const device = new Device(JSON.parse(common.require("node:fs").readFileSync(path, "utf8")));
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

  globalThis.LDP = { Device, encode, designId };
  if (typeof module === "object" && module) module.exports = globalThis.LDP;
  if (typeof process === "object" && process.mainModule === common) process.exitCode = main(process.argv.slice(2));
})();
