"""Impact of wishes in words: how many of the files that a real commit touched its subject's impact report names.

    python -m bench.wishes MIRRORS_DIR --home DIR --repos OWNER+NAME … [--each N] [--show]

MIRRORS_DIR/REPO/repo is a bare clone. The wish is the subject of a commit like "Add …", the gold the code it touched
that exists before it; the index is of the parent commit. `targets` are the
places that the wish is understood as, `first` the first of them, counted apart where search and past commits agree on
it; `report` they and the files ranked behind them, ten in all; `search` the two best files of a search, `of search`
their report.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.plans import Case, read_case
from bench.train_plans import mined
from repopilot import i18n
from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import changes_of_targets
from repopilot.agents.impact.codebase import codebase_of
from repopilot.agents.impact.question import ImpactRequest, read_request
from repopilot.agents.wishes.touched_files import role_of
from repopilot.errors import RepoPilotError, UsageError
from repopilot.index.store import Index
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.retrieval.search import search
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.workspace import Workspace

_K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--repos", nargs="+", required=True)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    settings = Settings(home=arguments.home).model_copy(update={"ollama_url": "", "llm_url": ""})
    rows: list[dict[str, tuple[float, float]]] = []
    firsts: list[tuple[bool, bool]] = []
    with Runtime(settings) as runtime:
        for repo in arguments.repos:
            mirror = arguments.mirrors / repo / "repo"
            for commit in mined(mirror, set())[: arguments.each]:
                try:
                    entry = {"repo": repo, "commit": commit, "split": ""}
                    case = read_case(mirror, entry, arguments.home / "trees")
                    rows += _measured(case, runtime, arguments.show, firsts)
                except (RepoPilotError, subprocess.CalledProcessError) as error:
                    print(repo, commit, error)
    print(f"{len(rows)} wishes: recall, precision")
    for name in rows[0] if rows else ():
        recall, precision = (sum(row[name][i] for row in rows) / len(rows) for i in (0, 1))
        print(f"  {name:8} {recall:.3f} {precision:.3f}")
    for agreed in (True, False):
        right = [hit for said, hit in firsts if said is agreed]
        print(f"  first right where search and history {'agree' if agreed else 'differ'}: {sum(right)} of {len(right)}")


def _measured(
    case: Case, runtime: Runtime, show: bool, firsts: list[tuple[bool, bool]]
) -> list[dict[str, tuple[float, float]]]:
    """(recall, precision) by method; none where the commit touched no code. To `firsts` goes whether the sources agree
    on the first place of a wish, and whether it is right."""
    gold = {path for path in case.gold if role_of(path) in ("source", "exports")}
    wish = case.text.splitlines()[0]
    if not gold:
        return []
    snapshot = open_source(parse_source(str(case.root)), runtime.settings)
    index = open_index(snapshot, runtime, lambda _: None, wait=True)
    graph = codebase_of(index).graph
    try:
        request = read_request(wish, Workspace(snapshot, index, runtime.settings))
    except UsageError:
        request = ImpactRequest()
    wanted = request.targets
    if isinstance(request.note, i18n.Message):
        firsts.append((request.note.key == "impact.wished.agreed", wanted[0].partition(":")[0] in gold))
    targets = [change.path for change in changes_of_targets(wanted, index, graph)]
    found = [hit.chunk.path for hit in search(index, wish, _K).hits if hit.chunk.kind not in ("doc", "config")]
    if show:
        print(f"== {case.name}: {wish}\n   gold {sorted(gold)}\n   {wanted}", flush=True)
    best = list(dict.fromkeys(found))[:2]
    files = {"targets": targets, "report": _report(wanted, index), "search": best, "of search": _report(best, index)}
    return [{name: _scores(named, gold) for name, named in files.items()}]


def _report(targets: Sequence[str], index: Index) -> list[str]:
    """The files of a report: those of its targets, then those ranked behind them."""
    changes = changes_of_targets(targets, index, codebase_of(index).graph)
    ranked = (file.path for file in assess(index, changes, index.commits).ranked) if changes else ()
    return [*(change.path for change in changes), *ranked][:_K]


def _scores(files: Sequence[str], gold: set[str]) -> tuple[float, float]:
    right = len(gold & set(files))
    return right / len(gold), right / max(1, len(set(files)))


if __name__ == "__main__":
    main()
