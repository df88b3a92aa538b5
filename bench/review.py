"""Defects found and false alarms of the review.

    python -m bench.review [--model [--anyway]] [--every N] [--questions] [--defects FILE] [--clean FILE]
                           [--languages FILE]

60 defects, 20 a domain, half of them outside the rules of ruff, bandit and radon, are planted one at a time into files
of installed packages, as a change that adds the faulty function. 60 clean changes add back a function of the package.
A defect counts as found when a finding of its domain is within two lines of it. Every other finding on added lines of
a clean change is a false alarm.

Other sets in the same form: `--defects FILE`, `--clean FILE` (cases headed `=== clean NAME`); `--languages FILE` adds
defects in JavaScript, TypeScript, Go and Java (`=== LANGUAGE DOMAIN NAME`), each a new file. `review_held_out.txt`,
`review_clean.txt` and `review_languages.txt` in bench/data were written by somebody who didn't know the rules, and no
rule was written with them in view; `review_more.txt` was used to write rules. `--questions` prints, for every question
the model was asked, how well its odds of "yes" tell the defects of the question's domain from clean changes (area under
the ROC curve, .5 is chance).
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
from dataclasses import dataclass, replace
from pathlib import Path

from bench.instant_index import instant_index_of
from repopilot import trace
from repopilot.llm.choice.choose import choose
from repopilot.llm.resources import ModelResources
from repopilot.repo.local import open_folder
from repopilot.review.agent import review_changes
from repopilot.review.findings import DOMAINS
from repopilot.review.suspects import KINDS
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
        for node in ast.walk(ast.parse(text))
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
    """A change with what the review found in it, and the model's odds of "yes" by question."""

    case: Planted
    findings: list[Finding]
    odds: dict[str, float]


async def _reviewed(planted: Planted, workspace: Workspace) -> Reviewed:
    """The review of one change, against an index that holds the file as it was before."""
    events: list[trace.Event] = []
    known = _Known(workspace.index, {planted.path: planted.before})
    space = Workspace(workspace.snapshot, known, workspace.settings, workspace.model, workspace.reviewer)  # type: ignore[arg-type]
    async with trace.root(events.append, "review") as step:
        report = await review_changes(space, step, [_change(planted)])
    return Reviewed(planted, list(report.findings), _odds(events))


def _odds(events: Sequence[trace.Event]) -> dict[str, float]:
    """The highest odds by question; those about single lines are called `… line`."""
    names = {e.id: e.name for e in events if isinstance(e, trace.Started)}
    found: dict[str, float] = {}
    for event in events:
        if isinstance(event, trace.Finished) and "odds" in event.data and names[event.id].startswith("model-"):
            rule, _, line = names[event.id].partition(" ")
            rule = f"{rule} line" if line else rule
            found[rule] = max(found.get(rule, 0.0), float(str(event.data["odds"])))
    return found


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
        workspace = await _workspace(Path(home), arguments.model, arguments.anyway)
        began = time.perf_counter()
        caught = [await _reviewed(case, workspace) for case in planted]
        alarms = [await _reviewed(case, workspace) for case in changes]
        seconds = time.perf_counter() - began
    print(f"model: {workspace.model.name if workspace.model else 'none, tools only'}; {seconds:.0f} s in all")
    _print_recall(caught)
    _print_alarms(alarms)
    if arguments.questions:
        _print_questions(caught, alarms)


async def _workspace(home: Path, with_model: bool, anyway: bool = False) -> Workspace:
    """A nearly empty index: the changes bring their own code."""
    options = Settings(home=home, dense=False, history_commits=0, workers=1)
    (home / "code").mkdir()
    (home / "code" / "a.py").write_text("A = 1\n")
    snapshot = open_folder(Source("code", path=home / "code"))
    model = await choose(Settings(), ModelResources()) if with_model else None
    if model is not None and anyway:  # a name without a size counts as large
        model = replace(model, name=re.sub(r"[\d.]+b", "", model.name))
    index = instant_index_of(snapshot, options)
    return Workspace(snapshot, index, options, model=model)


def _hits(reviewed: Reviewed) -> list[Finding]:
    case = reviewed.case
    return [f for f in reviewed.findings if f.domain == case.domain and abs(f.line - case.line) <= _NEAR]


def _print_recall(caught: Sequence[Reviewed]) -> None:
    for domain in DOMAINS:
        parts = []
        for beyond, label in ((False, "in the tools' rules"), (True, "beyond them")):
            some = [bool(_hits(r)) for r in caught if r.case.domain == domain and r.case.beyond is beyond]
            parts.append(f"{sum(some)}/{len(some)} {label}")
        print(f"{domain:12s} found {', '.join(parts)}")
    by_model = [r.case.name for r in caught if (found := _hits(r)) and all(f.source == "model" for f in found)]
    print(
        f"recall {sum(bool(_hits(r)) for r in caught) / len(caught):.2f} of {len(caught)}; by the model alone: "
        f"{', '.join(by_model) or 'none'}; missed: "
        + ", ".join(f"{r.case.domain}/{r.case.name}" for r in caught if not _hits(r))
    )


def _print_alarms(alarms: Sequence[Reviewed]) -> None:
    lines = sum(r.case.added for r in alarms)
    false = [finding for r in alarms for finding in r.findings]
    rate = 100 * len(false) / lines
    print(f"false alarms {rate:.2f} per 100 changed lines ({len(false)} in {lines} lines of {len(alarms)} changes)")
    for finding in false:
        print(
            f"  {finding.path}:{finding.line} {finding.severity} {finding.rule} {finding.source} | {finding.quote[:80]}"
        )


def _print_questions(caught: Sequence[Reviewed], alarms: Sequence[Reviewed]) -> None:
    for rule in sorted({rule for r in (*caught, *alarms) for rule in r.odds}):
        domain = next(kind.domain for kind in KINDS if kind.rule == rule.split()[0])
        faulty = sorted((r.odds[rule], r.case.name) for r in caught if r.case.domain == domain and rule in r.odds)
        right = sorted(r.odds[rule] for r in alarms if rule in r.odds)
        wins = [(bad > good) + 0.5 * (bad == good) for bad, _ in faulty for good in right]
        surest = ", ".join(f"{name} {odds:.2f}" for odds, name in faulty[:-9:-1])
        print(
            f"{rule:22s} AUC {sum(wins) / max(1, len(wins)):.2f}; surest: {surest}; clean up to "
            + ", ".join(f"{odds:.2f}" for odds in right[:-6:-1])
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="store_true", help="ask the model that is there as well")
    parser.add_argument("--anyway", action="store_true", help="ask it although it is too small to be asked")
    parser.add_argument("--every", type=int, default=1, help="only every Nth case: the model takes its time")
    parser.add_argument("--defects", type=Path, default=_DEFECTS)
    parser.add_argument("--clean", type=Path)
    parser.add_argument("--languages", type=Path)
    parser.add_argument("--questions", action="store_true")
    asyncio.run(run(parser.parse_args()))
