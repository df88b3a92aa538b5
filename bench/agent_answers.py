"""Answers of agent models: how many true sentences code checks, and how many false ones it lets pass without a mark.

    python -m bench.agent_answers TREES_DIR [--half open|closed] [--list]

bench/data/agent_answers/HALF/NAME.jsonl holds sentences written by hand, TREES_DIR/NAME the repository at the commit
of repositories.tsv. Each row: `question`, `read` (places that the tools showed), `searched`, `sentence`, `true`, and of
a false one its `kind`. `--list` prints the true sentences that aren't checked and the false ones that are. Tune on
`open`; look at the rows of `closed` only when the work is done.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot import i18n
from repopilot.agents.explain.answer_check import CheckedPart, check_answer
from repopilot.agents.explain.cited_prose import parts_of
from repopilot.agents.explain.known_names import known_names
from repopilot.agents.explain.lines_read import lines_read
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.workspace import Workspace

DATA = Path(__file__).parent / "data" / "agent_answers"


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence of the data with what the check says of it."""

    repository: str
    sentence: str
    true: bool
    kind: str
    parts: tuple[CheckedPart, ...]

    @property
    def shown(self) -> bool:
        """Whether it is a sentence of the answer."""
        return bool(self.parts)

    @property
    def checked(self) -> bool:
        """Whether it stands there without a mark."""
        return self.shown and all(part.status == "checked" for part in self.parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--half", choices=("open", "closed"), default="open")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    with Runtime(Settings()) as runtime:
        judged = [row for file in sorted((DATA / given.half).glob("*.jsonl")) for row in _judged(file, given, runtime)]
    print_figures(judged)
    if given.list:
        print_misses(judged)


def _judged(file: Path, given: argparse.Namespace, runtime: Runtime) -> Iterator[Judged]:
    snapshot = open_source(parse_source(str(given.trees / file.stem)), runtime.settings)
    workspace = Workspace(snapshot, open_index(snapshot, runtime, lambda progress: None), runtime.settings)
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        known = known_names(_read(row, workspace), row["question"], workspace)
        parts = tuple(part for part in check_answer(parts_of(row["sentence"]), known) if part.status is not None)
        yield Judged(file.stem, row["sentence"], row["true"], row.get("kind", ""), parts)


def _read(row: dict, workspace: Workspace):
    places = [place.rpartition(":") for place in row["read"]]
    shown = [(path, *map(int, lines.split("-"))) for path, _, lines in places]
    return lines_read(workspace.index, shown, row["searched"])


def print_figures(judged: Sequence[Judged]) -> None:
    """Shares of the true sentences, numbers of the false ones by kind."""
    for name in (*dict.fromkeys(row.repository for row in judged), "all"):
        rows = [row for row in judged if name in ("all", row.repository)]
        true = [row for row in rows if row.true]
        false = [row for row in rows if not row.true]
        shown, checked = (sum(values) / len(true) for values in zip(*((r.shown, r.checked) for r in true), strict=True))
        unmarked = sum(row.checked for row in false)
        print(f"{name:12} true {len(true):3} shown {shown:.3f} checked {checked:.3f}", end="   ")
        print(f"false {len(false):3} unmarked {unmarked}")
    counted = Counter(row.kind for row in judged if not row.true)
    unmarked_kinds = Counter(row.kind for row in judged if not row.true and row.checked)
    print("false, unmarked by kind:", ", ".join(f"{k} {unmarked_kinds[k]} of {n}" for k, n in sorted(counted.items())))


def print_misses(judged: Sequence[Judged]) -> None:
    """The true sentences with a mark, and why; the false ones without."""
    for row in judged:
        if row.true == row.checked:
            continue
        why = "; ".join(f"{part.status}: {i18n.translated(part.why, 'en')}" for part in row.parts if part.why)
        print(f"\n{row.repository} {'true' if row.true else row.kind}: {row.sentence}\n    {why or 'unmarked'}")


if __name__ == "__main__":
    main()
