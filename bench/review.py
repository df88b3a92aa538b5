"""Defects found and false alarms of the review.

    python -m bench.review [--every N] [--defects FILE] [--clean FILE] [--languages FILE]

60 defects, 20 a domain, half of them outside the rules of ruff, bandit and radon, are planted one at a time into files
of installed packages, as a change that adds the faulty function. 60 clean changes add back a function of the package.
A defect counts as found when a finding of its domain is within two lines of it. Every other finding on added lines of
a clean change is a false alarm.

Other sets in the same form: `--defects FILE`, `--clean FILE` (cases headed `=== clean NAME`); `--languages FILE` adds
defects in JavaScript, TypeScript, Go and Java (`=== LANGUAGE DOMAIN NAME`), each a new file. `review_held_out.txt`,
`review_clean.txt` and `review_languages.txt` in bench/data were written by somebody who didn't know the rules, and no
rule was written with them in view; `review_more.txt` was used to write rules.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib.util
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.instant_index import instant_index_of
from repopilot import trace
from repopilot.agents.review.agent import review_changes
from repopilot.agents.review.findings import DOMAINS
from repopilot.code.python_ast import parse_python
from repopilot.repo.local import open_folder
from repopilot.settings import Settings
from repopilot.types import FileChange, Finding, Source
from repopilot.workspace import Workspace

PACKAGES = ("click", "httpx", "starlette", "jinja2", "pathspec", "tenacity", "filelock", "git")
_DEFECTS = Path(__file__).parent / "data" / "review_defects.txt"
_NEAR = 2
_ENDINGS = {"javascript": "js", "typescript": "ts", "go": "go", "java": "java"}
_FRAMES = {"go": ("package main\n\n", ""), "java": ("class Holder {\n", "}\n")}
_IMPORTS = (
    "import gzip, hashlib, hmac, json, logging, os, pickle, random, re, string, subprocess, tarfile, tempfile\n"
    "import database, jwt, requests, yaml\nfrom app import Customer, Document, User, authenticate, emit, redirect\n"
    "logger = logging.getLogger(__name__)\n"
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A change: a file before and after, the line of its defect (0: clean), and what kind of defect it is."""

    path: str
    before: str
    after: str
    added: int
    line: int = 0
    domain: str = ""
    name: str = ""
    beyond: bool = False


def defects(files: Sequence[tuple[str, str]], cases: Path = _DEFECTS) -> Iterator[Planted]:
    """Every defect at the end of a real file, together with its imports (which count as existing before)."""
    for head, before, body, path in _cases(cases, files):
        domain, where, name = head
        line = before.count("\n") + 3 + body[: body.index("§")].count("\n")
        code = "\n".join(row.replace("§", "").rstrip() for row in body.rstrip("\n").split("\n"))
        yield Planted(
            path, before, f"{before}\n\n{code}\n", code.count("\n") + 1, line, domain, name, where == "beyond"
        )


def written(files: Sequence[tuple[str, str]], cases: Path) -> Iterator[Planted]:
    """Clean functions from a file, added in the same way."""
    for head, before, body, path in _cases(cases, files):
        code = body.rstrip("\n")
        yield Planted(path, before, f"{before}\n\n{code}\n", code.count("\n") + 1, name=head[1])


def in_languages(cases: Path) -> Iterator[Planted]:
    """Defects in other languages, each as a file of its own."""
    for number, case in enumerate(re.split(r"(?m)^=== ", cases.read_text("utf-8"))[1:]):
        head, _, body = case.partition("\n")
        language, domain, name = head.split()
        before, after = _FRAMES.get(language, ("", ""))
        line = before.count("\n") + 1 + body[: body.index("§")].count("\n")
        code = "\n".join(row.replace("§", "").rstrip() for row in body.rstrip("\n").split("\n"))
        text = f"{before}{code}\n{after}"
        path = f"src/case{number}.{_ENDINGS[language]}"
        yield Planted(path, "", text, text.count("\n"), line, domain, f"{language}:{name}", True)


def _cases(cases: Path, files: Sequence[tuple[str, str]]) -> Iterator[tuple[list[str], str, str, str]]:
    """(words of the head, text before the change, added text, path) of every case of a file."""
    for number, case in enumerate(re.split(r"(?m)^=== ", cases.read_text("utf-8"))[1:]):
        head, _, body = case.partition("\n")
        path, text = files[number % len(files)]
        yield head.split(), text.rstrip("\n") + "\n\n\n" + _IMPORTS, body, path


def clean(files: Sequence[tuple[str, str]], count: int = 60, seed: int = 5) -> Iterator[Planted]:
    """Real functions of 5 to 40 lines that the change adds back to the file they are from."""
    rng = random.Random(seed)
    found = [
        (path, text, node)
        for path, text in files
        for node in ast.walk(parse_python(text))
        if isinstance(node, ast.FunctionDef) and 5 <= (node.end_lineno or 0) - node.lineno < 40
    ]
    for path, text, node in rng.sample(found, min(count, len(found))):
        lines = text.split("\n")
        start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
        end = node.end_lineno or start
        hole = [" " * node.col_offset + "..."] if node.col_offset else []
        yield Planted(path, "\n".join([*lines[:start], *hole, *lines[end:]]), text, end - start)


def _sources() -> list[tuple[str, str]]:
    """Middle-sized files of the packages, in a fixed order."""
    found = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        folder = next(iter(spec.submodule_search_locations or ()), None) if spec else None
        for file in sorted(Path(folder).rglob("*.py")) if folder else ():
            text = file.read_text("utf-8")
            if 60 <= text.count("\n") <= 900 and "test" not in str(file.relative_to(folder)):
                found.append((f"{package}/{file.relative_to(folder)}", text))
    return found


def _change(planted: Planted) -> FileChange:
    import difflib

    before, after = planted.before.splitlines(keepends=True), planted.after.splitlines(keepends=True)
    diff = difflib.unified_diff(before, after, f"a/{planted.path}", f"b/{planted.path}")
    text = "".join(row if row.endswith("\n") else row + "\n" for row in diff)
    return FileChange(planted.path, "modified", text, planted.after)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A change with what the review found in it, and what else it folded away."""

    case: Planted
    findings: list[Finding]
    folded: list[Finding]


async def _reviewed(planted: Planted, workspace: Workspace) -> Reviewed:
    """The review of one change, against an index that holds the file as it was before."""
    known = _Known(workspace.index, {planted.path: planted.before})
    space = Workspace(workspace.snapshot, known, workspace.settings)  # type: ignore[arg-type]
    async with trace.root(lambda event: None, "review") as step:
        report = await review_changes(space, step, [_change(planted)])
    return Reviewed(planted, list(report.findings), list(report.folded))


class _Known:
    """An index in which some files have another text."""

    def __init__(self, index: object, texts: dict[str, str]) -> None:
        self._index, self._texts = index, texts

    def text(self, path: str) -> str | None:
        return self._texts.get(path)

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)


async def run(arguments: argparse.Namespace) -> None:
    files, every = _sources(), arguments.every
    planted = list(defects(files, arguments.defects))[::every]
    planted += list(in_languages(arguments.languages))[::every] if arguments.languages else []
    changes = list(written(files, arguments.clean) if arguments.clean else clean(files))[::every]
    with tempfile.TemporaryDirectory() as home:
        workspace = _workspace(Path(home))
        began = time.perf_counter()
        caught = [await _reviewed(case, workspace) for case in planted]
        alarms = [await _reviewed(case, workspace) for case in changes]
        seconds = time.perf_counter() - began
    print(f"{seconds:.0f} s in all")
    _print_recall(caught)
    _print_alarms(alarms)


def _workspace(home: Path) -> Workspace:
    """A nearly empty index: the changes bring their own code."""
    options = Settings(home=home, dense=False, history_commits=0, workers=1)
    (home / "code").mkdir()
    (home / "code" / "a.py").write_text("A = 1\n")
    snapshot = open_folder(Source("code", path=home / "code"))
    index = instant_index_of(snapshot, options)
    return Workspace(snapshot, index, options)


def _hits(reviewed: Reviewed) -> list[Finding]:
    case = reviewed.case
    found = (*reviewed.findings, *reviewed.folded)
    return [f for f in found if f.domain == case.domain and abs(f.line - case.line) <= _NEAR]


def _print_recall(caught: Sequence[Reviewed]) -> None:
    for domain in DOMAINS:
        parts = []
        for beyond, label in ((False, "in the tools' rules"), (True, "beyond them")):
            some = [bool(_hits(r)) for r in caught if r.case.domain == domain and r.case.beyond is beyond]
            parts.append(f"{sum(some)}/{len(some)} {label}")
        print(f"{domain:12s} found {', '.join(parts)}")
    print(
        f"recall {sum(bool(_hits(r)) for r in caught) / len(caught):.2f} of {len(caught)}; missed: "
        + ", ".join(f"{r.case.domain}/{r.case.name}" for r in caught if not _hits(r))
    )


def _print_alarms(alarms: Sequence[Reviewed]) -> None:
    lines = sum(r.case.added for r in alarms)
    false = [finding for r in alarms for finding in r.findings]
    rate = 100 * len(false) / lines
    print(f"false alarms {rate:.2f} per 100 changed lines ({len(false)} in {lines} lines of {len(alarms)} changes)")
    print(f"folded away there: {sum(len(r.folded) for r in alarms)}")
    for finding in false:
        print(
            f"  {finding.path}:{finding.line} {finding.severity} {finding.rule} {finding.source} | {finding.quote[:80]}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="only every Nth case")
    parser.add_argument("--defects", type=Path, default=_DEFECTS)
    parser.add_argument("--clean", type=Path)
    parser.add_argument("--languages", type=Path)
    asyncio.run(run(parser.parse_args()))
