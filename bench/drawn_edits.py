"""Edits drawn by lot: renames, moves and signatures over real repositories, each judged by compiler or type checker.

    python -m bench.drawn_edits REPOSITORY… [--python PYTHON] [--count 15] [--seed 1] [--json OUT]
                                [--language NAME] [--tsc PROGRAM] [--tests COMMAND]

REPOSITORY is a clone; the work is done on a copy, with the packages of its `node_modules`. PYTHON is the interpreter of
the installation that is tried. Half of the definitions drawn are methods whose name several classes have. Before the
first edit and after each one the checker of the language runs (ty, tsc, cargo check, gcc or g++, javac with the jars of
CLASSPATH); what it says is compared without line numbers, the new name read as the old one. Where it says nothing new,
COMMAND, which runs the tests, has to succeed as before. A server of TypeScript is used where the PATH has one; the
checker PROGRAM is apart from it.

equal: the edit was made, and the checker says nothing new; listed: it says something new, or not everything was
changed, and the reply named places that it left; refused: nothing was written; silent: it says something new, and the
reply called the edit done; failed: the command ended otherwise, or wrote something and failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.reports.kit import PRODUCT, Done, sh
from repopilot.code.formats.data_formats import from_jsonc
from repopilot.code.languages import is_example_path, is_test_path, language_of
from repopilot.code.split import analyse
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import Snapshot, Symbol

MOST_FILES = 3000
_KINDS = frozenset({"function", "method", "class", "struct", "interface", "trait", "enum", "type"})
_MOVED = frozenset({"function", "class"})
TSC = ["tsc"]
_LINE = re.compile(r":\d+(?::\d+)?|\(\d+,\d+\)|\bline \d+")
_SHOWN = 300
_SPECIAL = re.compile(r".*[^\w$#]|__\w+__$|main$|toString$|hashCode$|equals$|constructor$|test|[A-Z_]+$|.{0,2}$")


class Edit(NamedTuple):
    """An edit to try: the tool, its arguments, and the old and the new name."""

    tool: str
    arguments: dict[str, Any]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Checker:
    """How a language is checked: `command` of the files, and what a line of it that tells of a fault looks like."""

    suffixes: tuple[str, ...]
    command: Callable[[Path, Sequence[str]], Sequence[str]]
    fault: re.Pattern[str]


def _headers(root: Path) -> list[str]:
    folders = {file.parent for file in root.rglob("*.h*") if file.suffix in (".h", ".hpp", ".hh")}
    return [f"-I{folder}" for folder in sorted({*folders, root, root / "include"})]


def _ty(_root: Path, _files: Sequence[str]) -> Sequence[str]:
    return (str(Path(PRODUCT.python).parent / "ty"), "check", "--output-format", "concise", "--exit-zero", ".")


def _c(compiler: str) -> Callable[[Path, Sequence[str]], Sequence[str]]:
    def command(root: Path, files: Sequence[str]) -> Sequence[str]:
        sources = [file for file in files if not file.endswith((".h", ".hpp", ".hh"))]
        strict = () if compiler == "g++" else ("-Werror=implicit-function-declaration", "-Werror=int-conversion")
        return (compiler, "-fsyntax-only", "-fno-diagnostics-show-caret", *strict, *_headers(root), *sources)

    return command


def _typescript(root: Path, _files: Sequence[str]) -> Sequence[str]:
    """The project; one that has no files of its own, but references, with those."""
    settings = from_jsonc((root / "tsconfig.json").read_text("utf-8"))
    whole = isinstance(settings, dict) and settings.get("files") == [] and settings.get("references")
    return (*TSC, "--build", "--force") if whole else (*TSC, "--noEmit", "-p", ".")


def _javascript(root: Path, files: Sequence[str]) -> Sequence[str]:
    """The project as it describes itself, else its files; in both, what is JavaScript is checked as well."""
    checked = (*TSC, "--noEmit", "--allowJs", "--checkJs", "--skipLibCheck")
    if (root / "tsconfig.json").is_file():
        return (*checked, "-p", ".")
    product = [file for file in files if not is_test_path(file)]
    return (*checked, "--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler", *product)


def _javac(root: Path, files: Sequence[str]) -> Sequence[str]:
    """All files at once; also those of which others can't be read are looked through."""
    sources = [file for file in files if not file.endswith("-info.java")]
    options = ("-proc:none", "-nowarn", "-Xmaxerrs", "9999", "-XDshould-stop.ifError=FLOW")
    return ("javac", *options, "-d", f"{root}/../classes", *sources)


_ERROR = re.compile(r"error")
_C_ERROR = re.compile(r": (?:fatal )?error: ")
_CARGO = ("check", "--tests", "--offline", "--message-format", "short")
CHECKERS = {
    "python": Checker((".py", ".pyi"), _ty, re.compile(r": (?:error|warning)\[")),
    "typescript": Checker((".ts", ".tsx"), _typescript, _ERROR),
    "javascript": Checker((".js", ".mjs", ".cjs", ".jsx"), _javascript, _ERROR),
    "rust": Checker((".rs",), lambda _r, _f: ("cargo", *_CARGO), _ERROR),
    "c": Checker((".c", ".h"), _c("gcc"), _C_ERROR),
    "cpp": Checker((".cpp", ".cc", ".hpp", ".hh"), _c("g++"), _C_ERROR),
    "java": Checker((".java",), _javac, re.compile(r"error:")),
}


def faults(root: Path, language: str, edit: Edit | None = None) -> Counter[str]:
    """What the checker says of a tree, each message without its line; the new name of an edit is read as the old."""
    checker = CHECKERS[language]
    files = [path for path in _paths(root) if path.endswith(checker.suffixes)]
    done = sh(checker.command(root, files), root)
    lines = [line for line in f"{done.out}\n{done.error}".splitlines() if checker.fault.search(line)]
    told = [_LINE.sub("", line) for line in lines]
    return Counter(re.sub(rf"\b{re.escape(edit.new)}\b", edit.old, line) for line in told) if edit else Counter(told)


def drawn(root: Path, language: str, count: int, lot: random.Random) -> Iterator[Edit]:
    """Edits of the code that is read: of five, three rename, one moves, one changes a signature where it is Python."""
    read, _ = walk(Snapshot("drawn", root.name, "", root=root), Settings())
    product = sorted(file.path for file in read if _is_product(file.path, language))
    found = [symbol for path in product for symbol in _symbols(root, path)]
    usual = [symbol for symbol in found if symbol.kind in _KINDS and not _SPECIAL.match(symbol.name)]
    owners = Counter(symbol.name for symbol in usual if symbol.kind == "method")
    shared = [symbol for symbol in usual if symbol.kind == "method" and owners[symbol.name] > 1]
    lot.shuffle(usual)
    lot.shuffle(shared)
    for number in range(count):
        tool = ("rename", "rename", "rename", "move", "signature")[number % 5] if language == "python" else "rename"
        pool = shared if tool != "move" and number % 2 and shared else usual
        wanted = [symbol for symbol in pool if _suits(symbol, tool)]
        if wanted:
            pool.remove(wanted[0])
            yield _edit(tool, wanted[0], number)


def _suits(symbol: Symbol, tool: str) -> bool:
    if tool == "move":
        return symbol.kind in _MOVED and "." not in symbol.qualified
    return tool == "rename" or (symbol.kind in ("function", "method") and _parameter(symbol) != "")


def _parameter(symbol: Symbol) -> str:
    """The last plain parameter of a Python function, '' where it has none."""
    inside = symbol.signature.partition("(")[2].rpartition(")")[0]
    names = re.findall(r"(?:^|,)\s*([a-z_]\w*)\s*(?=[:=,]|$)", inside)
    return next((name for name in reversed(names) if name not in ("self", "cls")), "")


def _edit(tool: str, symbol: Symbol, number: int) -> Edit:
    place = {"name": symbol.qualified, "path": symbol.path}
    if tool == "rename":
        new = f"{symbol.name}Drawn{number}" if symbol.name[:1].isupper() else f"{symbol.name}_drawn{number}"
        return Edit("rename_symbol", {**place, "new_name": new}, symbol.name, new)
    if tool == "move":
        target = f"{symbol.path.rpartition('/')[0]}/drawn{number}.py".lstrip("/")
        return Edit("move_symbol", {**place, "to_path": target}, symbol.name, symbol.name)
    old = _parameter(symbol)
    return Edit("change_signature", {**place, "rename": {old: f"{old}_drawn"}}, old, f"{old}_drawn")


def tried(root: Path, language: str, edit: Edit, before: Counter[str], tests: Sequence[str]) -> dict[str, Any]:
    """Make an edit, judge it, and put the tree back."""
    words = [f"--{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in edit.arguments.items()]
    started = time.perf_counter()
    done = PRODUCT.command("tool", str(root), edit.tool, "--apply", "--json", *words)
    seconds = round(time.perf_counter() - started, 2)
    changed = sh(("git", "status", "--porcelain"), root).out.strip()
    new = _added(before, faults(root, language, edit), edit) if changed else Counter[str]()
    if changed and not new and tests and (failed := sh(tests, root)).status:
        new[f"tests: {failed.out[-_SHOWN:]}"] += 1
    outcome = _outcome(done, bool(changed), bool(new))
    diff = sh(("git", "diff", "-U0"), root).out if outcome == "silent" else ""
    _put_back(root)
    said = "" if outcome == "equal" else done.said
    return {
        "edit": edit._asdict(),
        "outcome": outcome,
        "new": sorted(new)[:5],
        "said": said,
        "seconds": seconds,
        "diff": diff,
    }


def _put_back(root: Path) -> None:
    sh(("git", "checkout", "-q", "."), root)
    sh(("git", "clean", "-qfd"), root)


def clone(source: Path, root: Path) -> None:
    """Copy a repository, with its packages as hard links."""
    sh(("git", "clone", "-q", "--local", str(source), str(root)), root.parent)
    packages = source / "node_modules"
    if packages.is_dir():
        shutil.copytree(packages, root / packages.name, symlinks=True, copy_function=os.link)
        (root / ".git" / "info" / "exclude").write_text(f"{packages.name}\n")


def _added(before: Counter[str], after: Counter[str], edit: Edit) -> Counter[str]:
    """The messages that are new; those of a definition that moves come along to its new file."""
    if edit.tool != "move_symbol":
        return after - before
    counted = [Counter[str](), Counter[str]()]
    for found, into in zip((before, after), counted, strict=True):
        for line, times in found.items():
            into[line.partition(": ")[2]] += times
    return counted[1] - counted[0]


def _outcome(done: Done, changed: bool, worse: bool) -> str:
    if done.status:
        return "failed" if changed or "Traceback" in done.error else "refused"
    try:
        data = json.loads(done.out)
    except ValueError:
        return "failed"
    data = data.get("data", data)
    if data.get("left") or data.get("done") is False:
        return "listed"
    return "silent" if worse else "equal"


def _paths(root: Path) -> list[str]:
    listed = subprocess.run(("git", "ls-files", "-co", "--exclude-standard"), cwd=root, capture_output=True, text=True)
    return [path for path in listed.stdout.splitlines() if (root / path).is_file()][:MOST_FILES]


def _is_product(path: str, language: str) -> bool:
    return path.endswith(CHECKERS[language].suffixes) and not is_test_path(path) and not is_example_path(path)


def _symbols(root: Path, path: str) -> Sequence[Symbol]:
    text = (root / path).read_text("utf-8", "replace")
    return analyse(path, text, language_of(path) or "", "code").symbols


def _main_language(root: Path) -> str:
    counts = Counter(name for name, each in CHECKERS.items() for p in _paths(root) if p.endswith(each.suffixes))
    return counts.most_common(1)[0][0]


def main() -> None:
    """Draw, try and count."""
    parser = argparse.ArgumentParser(prog="python -m bench.drawn_edits", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--language", choices=CHECKERS)
    parser.add_argument("--tsc", default="tsc")
    parser.add_argument("--tests", default="")
    arguments = parser.parse_args()
    TSC[:], tests = shlex.split(arguments.tsc), shlex.split(arguments.tests)
    PRODUCT.python = str(Path(arguments.python).absolute())
    total: Counter[str] = Counter()
    rows = []
    with tempfile.TemporaryDirectory(prefix="drawn-") as scratch:
        PRODUCT.home = f"{scratch}/home"
        for source in arguments.repositories:
            root = Path(scratch) / source.name
            clone(source, root)
            language = arguments.language or _main_language(root)
            before = faults(root, language)
            _put_back(root)
            counts: Counter[str] = Counter()
            for edit in drawn(root, language, arguments.count, random.Random(arguments.seed)):
                row = {"repository": source.name, **tried(root, language, edit, before, tests)}
                rows.append(row)
                counts[row["outcome"]] += 1
                if row["outcome"] in ("silent", "failed"):
                    print(json.dumps(row), flush=True)
            print(f"{source.name} ({language}, {sum(before.values())} faults before): {dict(counts)}", flush=True)
            total += counts
            shutil.rmtree(root)
    taken = sorted(row["seconds"] for row in rows)
    p90 = taken[len(taken) * 9 // 10] if taken else 0
    print(f"all: {dict(total)}; seconds: median {statistics.median(taken or [0])}, p90 {p90}")
    if arguments.json:
        arguments.json.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
