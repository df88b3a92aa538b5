"""Makes the query sets of `bench.train_ranking` and of the final measurement anew, from bare clones.

    python -m bench.datasets MIRROR_DIR OUT_DIR [--names FILE] [--only NAME …] [--questions DIR]

MIRROR_DIR/OWNER+NAME/repo is the bare clone of OWNER/NAME with its whole history. FILE (the default is
repositories.txt beside this file) lists the repositories with the set they belong to. DIR/NAME.jsonl are the questions
of SWE-QA-Bench with their reference answers, and DIR/FOLDER the unpacked releases that take the place of a commit which
no clone has. Into OUT_DIR/NAME go `tree/` and the query sets, which the docstring of each module describes. Everything
is the same on each run.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.datasets import commits
from bench.datasets.docstrings import docstrings
from bench.datasets.questions import named_places
from bench.datasets.repository import changes, files_below, lay_out
from bench.datasets.tracebacks import tracebacks

NAMES = Path(__file__).with_name("repositories.txt")


@dataclass(frozen=True, slots=True)
class Source:
    """A repository to make query sets of. `pinned` is the commit its questions were asked at, or ''."""

    group: str
    owner: str
    name: str
    pinned: str

    def clone(self, mirror: Path) -> Path:
        """Where its bare clone is."""
        return mirror / f"{self.owner}+{self.name}" / "repo"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--names", type=Path, default=NAMES)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--questions", type=Path)
    arguments = parser.parse_args()
    for source in read_names(arguments.names.read_text("utf-8")):
        if arguments.only and source.name not in arguments.only:
            continue
        began = time.perf_counter()
        counts = make(source, source.clone(arguments.mirror), arguments.out / source.name, arguments.questions)
        print(
            source.name,
            " ".join(f"{key}={n}" for key, n in counts.items()),
            f"{time.perf_counter() - began:.0f} s",
            flush=True,
        )


def read_names(text: str) -> list[Source]:
    """The repositories of a list; `#` begins a comment."""
    rows = [line.split("#")[0].split() for line in text.splitlines()]
    return [Source(row[0], *row[1].split("/"), row[2].strip("-")) for row in rows if row]


def make(source: Source, clone: Path, folder: Path, questions: Path | None) -> dict[str, int]:
    """Make all query sets of one repository, none where there is neither clone nor release. Returns how many rows each
    has."""
    shutil.rmtree(folder, ignore_errors=True)
    release = source.pinned.partition("release:")[2]
    if release and questions:
        shutil.copytree(questions / release, folder / "tree", symlinks=True)
    counts = make_tasks(clone, "" if release else source.pinned, folder) if clone.exists() else {}
    if not (folder / "tree").exists():
        return counts
    if questions and (questions / f"{source.name}.jsonl").exists():
        rows = make_questions(questions / f"{source.name}.jsonl", folder / "tree")
        counts["questions"] = write(folder / "questions.jsonl", rows)
    counts["docstrings"] = write(folder / "docstrings.jsonl", docstrings(folder / "tree", folder / "tree-nodoc"))
    return counts | {"tracebacks": write(folder / "tracebacks.jsonl", tracebacks(folder / "tree"))}


def make_tasks(clone: Path, pinned: str, folder: Path) -> dict[str, int]:
    """The tree, unless a release is there, its history, and the tasks: of an older `tree-tasks/` where few follow."""
    base = commits.base(clone, pinned)
    separate = (folder / "tree").exists() or pinned not in ("", base)
    counts = {}
    for suffix, commit in {"-tasks": base, "": pinned or "HEAD"}.items() if separate else [("", base)]:
        if not (folder / f"tree{suffix}").exists():
            lay_out(clone, commit, folder / f"tree{suffix}")
        past = commits.history(changes(clone, commit, commits.HISTORY))
        counts[f"history{suffix}"] = write(folder / f"history{suffix}.jsonl", past)
    rows = commits.tasks(clone, base, folder / ("tree-tasks" if separate else "tree"))
    return counts | {"tasks": write(folder / "tasks.jsonl", rows)}


def make_questions(answers: Path, tree: Path) -> list[dict]:
    """The questions of a repository, with the places that their answers name."""
    files = files_below(tree)

    @functools.cache
    def read(path: str) -> tuple[str, ...]:
        return tuple((tree / path).read_bytes().decode("utf-8", "replace").split("\n"))

    rows = []
    for line in answers.read_text("utf-8").splitlines():
        pair = json.loads(line)
        gold, named = named_places(pair["answer"], files, read)
        rows.append({"query": pair["question"], "gold": gold, "files": named})
    return rows


def write(target: Path, rows: Iterable[dict]) -> int:
    """Write JSON lines; returns their number."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    target.write_text("".join(lines), "utf-8")
    return len(lines)


if __name__ == "__main__":
    main()
