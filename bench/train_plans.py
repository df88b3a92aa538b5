"""Fits the weights of agents/planning/touched_files.py on features of real histories, never those of bench/data/plans.

    python -m bench.train_plans MIRRORS_DIR --home DIR --repos OWNER+NAME … [--each N]

Features are commits of a subject like "Add …" or "Support …" that touch 3 to 10 files. Prints two tables of
weights.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from pathlib import Path

import numpy as np

from bench.plans import Case, read_case
from repopilot.agents.wishes.likely_places import evidence_of
from repopilot.agents.wishes.touched_files import FileEvidence, features
from repopilot.errors import RepoPilotError
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.settings import Settings

_FEATURE = re.compile(
    r"(?i)(?:feat\S*:? ?)?(?:add|support|allow|implement|introduce|provide|expose|make|accept|enable)\b"
)
_CASES = Path(__file__).parent / "data" / "plans" / "features.jsonl"
_L2 = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--repos", nargs="+", required=True)
    parser.add_argument("--each", type=int, default=12)
    arguments = parser.parse_args()
    left_out = {json.loads(line)["commit"] for line in _CASES.read_text("utf-8").splitlines()}
    settings = Settings(home=arguments.home).model_copy(update={"ollama_url": "", "llm_url": ""})
    samples: list[tuple[list[FileEvidence], frozenset[str]]] = []
    with Runtime(settings) as runtime:
        for repo in arguments.repos:
            mirror = arguments.mirrors / repo / "repo"
            for commit in mined(mirror, left_out)[: arguments.each]:
                try:
                    case = read_case(mirror, {"repo": repo, "commit": commit, "split": ""}, arguments.home / "trees")
                    if case.gold:
                        samples.append((_evidence(case, runtime), case.gold))
                except (RepoPilotError, subprocess.CalledProcessError) as error:
                    print(repo, commit, error)
    print(len(samples), "features")
    for table, roles in (("FIRST", ("source", "exports")), ("SECOND", None)):
        print(table, json.dumps(fitted(samples, roles, table == "FIRST"), indent=4))


def mined(mirror: Path, left_out: set[str]) -> list[str]:
    """Commits that look like features, in a fixed random order."""
    log = subprocess.run(
        [
            "git",
            "-C",
            mirror,
            "log",
            "--first-parent",
            "-m",
            "--name-only",
            "--format=%x1e%h%x1f%s%x1f",
            "--since=2015-01-01",
        ],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")
    found = []
    for record in log.split("\x1e")[1:]:
        commit, subject, files = record.split("\x1f")
        count = len([f for f in files.split("\n") if f.strip()])
        if 3 <= count <= 10 and _FEATURE.match(subject) and not any(o.startswith(commit[:7]) for o in left_out):
            found.append(commit)
    random.Random(7).shuffle(found)
    return found


def _evidence(case: Case, runtime: Runtime) -> list[FileEvidence]:
    snapshot = open_source(parse_source(str(case.root)), runtime.settings)
    index = open_index(snapshot, runtime, lambda _: None, wait=True)
    return evidence_of(case.text, index).files


def fitted(
    samples: list[tuple[list[FileEvidence], frozenset[str]]], roles: tuple[str, ...] | None, first: bool
) -> dict[str, float]:
    """Logistic regression with a penalty on the weights' squares."""
    rows, gold = [], []
    for files, touched in samples:
        for evidence in files:
            if roles is None or evidence.role in roles:
                values = features(evidence)
                if first:
                    values = {k: v for k, v in values.items() if "rate" not in k and k not in ("tests main", "linked")}
                rows.append(values)
                gold.append(evidence.path in touched)
    names = sorted({name for row in rows for name in row})
    x = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    y = np.array(gold, float)
    w = np.zeros(len(names))
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (p - y) + _L2 * w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + _L2 * np.eye(len(names))
        w -= np.linalg.solve(hessian, gradient)
    return {name: round(float(v), 2) for name, v in zip(names, w, strict=True) if abs(v) >= 0.05}


if __name__ == "__main__":
    main()
