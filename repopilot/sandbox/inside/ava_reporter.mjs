// Runs AVA on each test file by itself, since its TAP names files only by a part of their paths, and writes what it
// reports as lines of JSON, as node_reporter.mjs does. Arguments: AVA's folder, the report, the test files.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, report, ...files] = process.argv.slice(2);
const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const program = join(folder, bin.ava ?? bin);
const LONGEST = 8000;
const AT_ONCE = 2;
const LINE = /^(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO)\b.*)?$/;
const OF_FILE = /exited with a non-zero exit code: |^No tests found in /;
const UNSELECTED = "AVA runs no test of this file: its configuration leaves it out.";

const write = (event) => appendFileSync(report, JSON.stringify(event) + "\n");

function tested(file, [, result, name, left], block) {
  const text = block.map((line) => line.replace(/^ {4}/, "")).join("\n").slice(0, LONGEST);
  const outcome = left ? "skipped" : result === "ok" ? "passed" : "failed";
  return { file, name, outcome, message: text || name, stack: text };
}

async function run(file) {
  const ava = spawn(process.execPath, [program, "--tap", ...(file ? [`./${file}`] : [])], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => ava.on("close", resolve));
  let said = "";
  ava.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-LONGEST);
    process.stderr.write(chunk);
  });
  const found = [];
  let block = null;
  for await (const line of createInterface({ input: ava.stdout })) {
    const test = LINE.exec(line);
    if (test) found.push([test, (block = [])]);
    else if (/^ {2}/.test(line)) block?.push(...(/^ {2}(?:---|\.\.\.)$/.test(line) ? [] : [line]));
  }
  const status = await ended;
  const events = found.map(([test, lines]) => tested(file, test, lines));
  const problems = events.filter((event) => event.outcome === "failed" && OF_FILE.test(event.name));
  const tests = events.filter((event) => !problems.includes(event));
  if (problems.length && !tests.some((event) => event.outcome === "passed")) {
    // The file can't be loaded, or has no tests.
    const message = events.map((event) => event.message).join("\n");
    write({ file, name: "", outcome: "failed", message, stack: message });
  } else {
    tests.forEach(write);
    if (status && !tests.some((event) => event.outcome === "failed")) {
      write({ file, name: "", outcome: "failed", message: problems[0]?.name || said || UNSELECTED, stack: said });
    }
  }
  return status;
}

const left = files.length ? files : [""];
let failed = 0;
const worker = async () => {
  while (left.length) failed = (await run(left.shift())) || failed;
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
write({ end: true });
process.exitCode = failed ? 1 : 0;
