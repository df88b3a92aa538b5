// A reporter for Mocha of any version: every finished test as a line of JSON, the end as a line, as node_reporter.mjs.
const { appendFileSync } = require("node:fs");

const LONGEST = 8000;
const cut = (text) => String(text ?? "").slice(0, LONGEST);

module.exports = function (runner, options) {
  const report = options.reporterOptions?.output ?? options.reporterOption?.output;
  const write = (event) => appendFileSync(report, JSON.stringify(event) + "\n");
  const told = (outcome) => (test, error) =>
    write({
      file: cut(test.file ?? test.parent?.file),
      name: cut(test.fullTitle()),
      outcome,
      seconds: (test.duration ?? 0) / 1000,
      message: cut(error?.message ?? error),
      stack: cut(error?.stack),
    });
  runner.on("pass", told("passed"));
  runner.on("pending", told("skipped"));
  runner.on("fail", told("failed"));
  runner.on("end", () => write({ end: true }));
};
