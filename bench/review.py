"""What the review finds and what it invents: `python -m bench.review [--model] [--every N]`.

60 defects, 20 a domain, half of them outside the rules of ruff, bandit and radon, are planted one at a time into files
of installed packages, as a change that adds the faulty function. 60 clean changes add a function back that the package
really has. A defect counts as found when a finding of its domain lies within two lines of it. Every other finding on
added lines of a clean change is a false alarm.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib.util
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot import trace
from repopilot.agents.review import review_changes
from repopilot.index.build import build
from repopilot.llm.choose import choose
from repopilot.repo.local import open_folder
from repopilot.review.findings import DOMAINS
from repopilot.settings import Settings, settings
from repopilot.types import FileChange, Finding, Source
from repopilot.workspace import Workspace

PACKAGES = ("click", "httpx", "starlette", "jinja2", "pathspec", "tenacity", "filelock", "git")
_DEFECTS = Path(__file__).parent / "data" / "review_defects.txt"
_NEAR = 2
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


def defects(files: Sequence[tuple[str, str]]) -> Iterator[Planted]:
    """Every defect at the end of a real file, together with what it imports (which counts as there before)."""
    for number, case in enumerate(_DEFECTS.read_text("utf-8").split("=== ")[1:]):
        head, _, body = case.partition("\n")
        domain, where, name = head.split()
        path, text = files[number % len(files)]
        before = text.rstrip("\n") + "\n\n\n" + _IMPORTS
        line = before.count("\n") + 3 + body[: body.index("§")].count("\n")
        code = "\n".join(row.replace("§", "").rstrip() for row in body.rstrip("\n").split("\n"))
        yield Planted(
            path, before, f"{before}\n\n{code}\n", code.count("\n") + 1, line, domain, name, where == "beyond"
        )


def clean(files: Sequence[tuple[str, str]], count: int = 60, seed: int = 5) -> Iterator[Planted]:
    """Real functions of 5 to 40 lines that the change adds back to the file they are from."""
    rng = random.Random(seed)
    found = [(path, text, node) for path, text in files for node in ast.walk(ast.parse(text))
             if isinstance(node, ast.FunctionDef) and 5 <= (node.end_lineno or 0) - node.lineno < 40]  # fmt: skip
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


async def _findings(planted: Planted, workspace: Workspace) -> list[Finding]:
    """The review of one change, against an index that holds the file as it was before."""
    known = _Known(workspace.index, {planted.path: planted.before})
    space = Workspace(workspace.snapshot, known, workspace.settings, workspace.model, workspace.reviewer)  # type: ignore[arg-type]
    async with trace.root(lambda _: None, "review") as step:
        report = await review_changes(space, step, [_change(planted)])
    return list(report.findings)


class _Known:
    """An index in which some files have another text."""

    def __init__(self, index: object, texts: dict[str, str]) -> None:
        self._index, self._texts = index, texts

    def text(self, path: str) -> str | None:
        return self._texts.get(path)

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)


async def run(with_model: bool, every: int) -> None:
    files = _sources()
    planted, changes = list(defects(files))[::every], list(clean(files))[::every]
    with tempfile.TemporaryDirectory() as home:
        workspace = await _workspace(Path(home), with_model)
        began = time.perf_counter()
        caught = [(case, [f for f in await _findings(case, workspace) if _hits(f, case)]) for case in planted]
        alarms = [(case, await _findings(case, workspace)) for case in changes]
        seconds = time.perf_counter() - began
    _print(caught, alarms, workspace, seconds)


async def _workspace(home: Path, with_model: bool) -> Workspace:
    """An index of nothing much: changes bring their own code."""
    options = Settings(home=home, dense=False, history_commits=0, workers=1)
    (home / "code").mkdir()
    (home / "code" / "a.py").write_text("A = 1\n")
    snapshot = open_folder(Source("code", path=home / "code"), options)
    model = await choose(settings()) if with_model else None
    return Workspace(snapshot, build(snapshot, options, None), options, model=model)


def _hits(finding: Finding, case: Planted) -> bool:
    return finding.domain == case.domain and abs(finding.line - case.line) <= _NEAR


def _print(caught: list, alarms: list, workspace: Workspace, seconds: float) -> None:
    print(f"model: {workspace.model.name if workspace.model else 'none, tools only'}; {seconds:.0f} s in all")
    for domain in DOMAINS:
        parts = []
        for beyond, label in ((False, "in the tools' rules"), (True, "beyond them")):
            some = [bool(found) for case, found in caught if case.domain == domain and case.beyond is beyond]
            parts.append(f"{sum(some)}/{len(some)} {label}")
        print(f"{domain:12s} found {', '.join(parts)}")
    print(f"recall {sum(bool(f) for _, f in caught) / len(caught):.2f} of {len(caught)}; missed: "
          + ", ".join(f"{c.domain}/{c.name}" for c, f in caught if not f))  # fmt: skip
    lines = sum(case.added for case, _ in alarms)
    false = [finding for _, found in alarms for finding in found]
    rate = 100 * len(false) / lines
    print(f"false alarms {rate:.2f} per 100 changed lines ({len(false)} in {lines} lines of {len(alarms)} changes)")
    for finding in false:
        print(
            f"  {finding.path}:{finding.line} {finding.severity} {finding.rule} {finding.source} | {finding.quote[:80]}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="store_true", help="ask the model that is there as well")
    parser.add_argument("--every", type=int, default=1, help="only every Nth case: the model takes its time")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.model, arguments.every))
