// A reporter of `node --test`: every finished test as a line of JSON, tests around others left out, the end as a line.
const LONGEST = 8000;

const cut = (text) => String(text ?? "").slice(0, LONGEST);

export default async function* report(source) {
  const names = [];
  const said = new Map();
  const told = new Set();
  let inner = -1;
  for await (const { type, data } of source) {
    if (type === "test:start") {
      names.length = data.nesting;
      names[data.nesting] = data.name;
    } else if (type === "test:stderr") {
      said.set(data.file, ((said.get(data.file) ?? "") + data.message).slice(-LONGEST));
    } else if (type === "test:pass" || type === "test:fail") {
      const around = inner > data.nesting || data.details?.type === "suite";
      inner = data.nesting;
      const error = data.details?.error;
      const ofFile = data.nesting === 0 && data.name === data.file;
      if (around && (type === "test:pass" || error?.failureType === "subtestsFailed")) continue;
      // A file passes by itself only as a program of tests; else it may have ended before its tests began.
      if (ofFile && type === "test:pass" && (!process.env.TEST_PROGRAMS || told.has(data.file))) continue;
      told.add(data.file);
      yield JSON.stringify({
        file: cut(data.file),
        name: ofFile ? (process.env.TEST_PROGRAMS ? "program" : "") : cut([...names.slice(0, data.nesting), data.name].join(" > ")),
        outcome: type === "test:fail" ? "failed" : data.skip !== undefined || data.todo !== undefined ? "skipped" : "passed",
        seconds: (data.details?.duration_ms ?? 0) / 1000,
        message: cut(ofFile ? said.get(data.file) : (error?.cause?.message ?? error?.cause ?? error?.message)),
        stack: cut(error?.cause?.stack),
      }) + "\n";
    }
  }
  yield '{"end": true}\n';
}
