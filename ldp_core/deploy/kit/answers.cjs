/* Reports of people whose answers are known by name, as CSV: node answers.cjs '{"age": 42}' '{"age": 17}' > reports.csv
   Runs as it stands beside client.js and device.json, in Node 18 or later. */
"use strict";
const { randomBytes } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

// client.js is loaded as a script, so that a package.json of "type": "module" above this folder does not matter.
require("node:vm").runInThisContext(readFileSync(join(__dirname, "client.js"), "utf-8"));
const device = new LDP.Device(JSON.parse(readFileSync(join(__dirname, "device.json"), "utf-8")));
console.log("id,design,report");
for (const person of process.argv.slice(2)) {
  console.log([randomBytes(16).toString("hex"), device.design, device.report(JSON.parse(person))].join(","));
}
