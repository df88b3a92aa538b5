// Lets Node run a test against a repository's sources outside its own test configuration: TypeScript and JSX, compiled
// by the TypeScript, esbuild or Babel among its packages, ES modules in any .js file, imports without an ending or by the
// paths of tsconfig.json; and the global names that tests of Jest, Mocha and Vitest use.
import { existsSync, readFileSync, statSync } from "node:fs";
import * as modules from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

const top = process.cwd();
const requireHere = modules.createRequire(join(top, "package.json"));
const COMPILED = /\.(?:[cm]?tsx?|jsx)$/;
const MODULE = /^\s*(?:import\s*[\w*{"']|export\s+(?:default|const|let|var|function|async|class|type|interface|enum|\*|\{))/m;
const ENDINGS = ["", ".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
const GLOBALS = /^(?:@jest\/globals|vitest)$/;

function optional(name) {
  try {
    return requireHere(name);
  } catch {
    return undefined;
  }
}

const isOwn = (url) => url.startsWith("file:") && !url.includes("/node_modules/");
const isFile = (path) => existsSync(path) && statSync(path).isFile();

let loaded;
function compiler() {
  if (loaded) return loaded;
  const typescript = optional("typescript");
  const ts = typescript?.transpileModule ? typescript : undefined; // the native one has no such function
  const found = ts?.findConfigFile(top, ts.sys.fileExists);
  const own = found ? ts.parseJsonConfigFileContent(ts.readConfigFile(found, ts.sys.readFile).config, ts.sys, top).options : {};
  const esbuild = ts ? undefined : optional("esbuild");
  loaded = { ts, own, esbuild, babel: ts || esbuild ? undefined : optional("@babel/core") };
  return loaded;
}

// Only CommonJS may name what a module lacks, such as a type that is exported again.
function isCommon(path) {
  if (/\.m[jt]s$/.test(path)) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (isFile(manifest)) return JSON.parse(readFileSync(manifest, "utf8")).type !== "module";
    if (folder === dirname(folder)) return true;
  }
}

function compiled(path, text, common) {
  const { ts, own, esbuild, babel } = compiler();
  if (ts) {
    const { jsx, jsxImportSource, jsxFactory, experimentalDecorators, emitDecoratorMetadata, useDefineForClassFields } = own;
    const kept = { jsxImportSource, jsxFactory, experimentalDecorators, emitDecoratorMetadata, useDefineForClassFields };
    const module = common ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext;
    const form = { module, esModuleInterop: true, target: ts.ScriptTarget.ES2022, inlineSourceMap: true };
    const ofJsx = jsx === undefined || jsx === ts.JsxEmit.Preserve ? ts.JsxEmit.React : jsx;
    return ts.transpileModule(text, { fileName: path, compilerOptions: { ...kept, ...form, jsx: ofJsx } }).outputText;
  }
  const loader = /x$/.test(path) ? "tsx" : "ts";
  if (esbuild) return esbuild.transformSync(text, { loader, format: common ? "cjs" : "esm", sourcemap: "inline", sourcefile: path }).code;
  const caller = { name: "node", supportsStaticESM: true };
  if (babel) return babel.transformSync(text, { filename: path, cwd: top, sourceMaps: "inline", caller }).code;
  return modules.stripTypeScriptTypes?.(text, { mode: "transform", sourceMap: true }) ?? text;
}

function place(specifier, parent) {
  const { ts, own } = compiler();
  if (ts && !specifier.startsWith(".")) {
    const options = { ...own, moduleResolution: ts.ModuleResolutionKind.Node10 ?? 2 };
    const found = ts.resolveModuleName(specifier, parent, options, ts.sys).resolvedModule?.resolvedFileName;
    return found && !/\.d\.[cm]?ts$/.test(found) && !found.includes("/node_modules/") ? found : undefined;
  }
  const start = join(dirname(parent), specifier);
  const written = start.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const each = [written, `${written}x`, ...ENDINGS.map((end) => start + end), ...ENDINGS.slice(1).map((end) => join(start, `index${end}`))];
  return each.find(isFile);
}

export async function resolve(specifier, context, next) {
  if (GLOBALS.test(specifier)) return { url: `data:text/javascript,${encodeURIComponent(NAMED)}`, shortCircuit: true };
  try {
    return await next(specifier, context);
  } catch (error) {
    const found = isOwn(context.parentURL ?? "") && place(specifier, fileURLToPath(context.parentURL));
    if (!found) throw error;
    return { url: pathToFileURL(found).href, shortCircuit: true };
  }
}

export async function load(url, context, next) {
  const path = isOwn(url) ? fileURLToPath(url) : "";
  if (path.endsWith(".json")) {
    return { format: "commonjs", source: `module.exports = ${readFileSync(path, "utf8")}`, shortCircuit: true };
  }
  if (!/\.(?:[cm]?[jt]sx?)$/.test(path)) return next(url, context);
  const text = readFileSync(path, "utf8");
  const { ts, esbuild } = compiler();
  const common = Boolean(ts || esbuild) && isCommon(path);
  if (COMPILED.test(path) || (common && MODULE.test(text))) {
    return { format: common ? "commonjs" : "module", source: compiled(path, text, common), shortCircuit: true };
  }
  return MODULE.test(text) ? { format: "module", source: text, shortCircuit: true } : next(url, context);
}

const NAMES = ["describe", "it", "test", "before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll", "expect"];
const NAMED = NAMES.map((name) => `export const ${name} = globalThis.${name};`).join("\n");

if (isMainThread) {
  const tests = await import("node:test");
  const ofJest = optional("expect");
  const expect = ofJest?.expect ?? ofJest?.default ?? ofJest ?? optional("chai")?.expect;
  const given = { ...tests, beforeAll: tests.before, afterAll: tests.after, expect };
  for (const name of NAMES) globalThis[name] ??= given[name];
  modules.register(import.meta.url);
  const ofNode = modules.Module._resolveFilename;
  modules.Module._resolveFilename = function (specifier, parent, ...more) {
    try {
      return ofNode.call(this, specifier, parent, ...more);
    } catch (error) {
      const own = parent?.filename && isOwn(pathToFileURL(parent.filename).href);
      const found = own && parent.filename !== join(top, "package.json") && place(specifier, parent.filename);
      if (!found) throw error;
      return found;
    }
  };
}
