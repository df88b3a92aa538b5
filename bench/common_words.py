"""Makes the list of common English words that a query's spelling is never corrected from.

    python -m bench.common_words DATA [--least N]

DATA/train.txt names the repositories, one a line; DATA/repos/NAME/{docstrings,tasks,questions}.jsonl ("query") and the
Markdown and reStructuredText files below DATA/repos/NAME/tree are their prose. A stem in the prose of N of them is
common.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from repopilot.index.tokens import expand

OUTPUT = Path(__file__).parents[1] / "repopilot" / "retrieval" / "query" / "common_words.txt"
MOST_FILES, MOST_CHARACTERS = 400, 60_000
_WORD = re.compile(r"(?<![\w`./-])[A-Za-z]?[a-z]{3,15}(?![\w`(/-]|\.\w)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--least", type=int, default=4)
    arguments = parser.parse_args()
    repositories = [
        line.split()[0] for line in (arguments.data / "train.txt").read_text("utf-8").splitlines() if line.strip()
    ]
    found = Counter(stem for name in repositories for stem in stems(arguments.data / "repos" / name))
    common = sorted(stem for stem, count in found.items() if count >= arguments.least and len(stem) > 3)
    OUTPUT.write_text(textwrap.fill(" ".join(common), 120) + "\n", "utf-8")
    print(f"{len(common)} stems from {len(repositories)} repositories in {OUTPUT}")


def stems(folder: Path) -> set[str]:
    """The stems of all words in the prose of a repository."""
    return {expand(word.lower())[0] for text in prose(folder) for word in _WORD.findall(text)}


def prose(folder: Path) -> Iterator[str]:
    for kind in ("docstrings", "tasks", "questions"):
        file = folder / f"{kind}.jsonl"
        if file.exists():
            yield from (json.loads(line)["query"] for line in file.read_text("utf-8").splitlines() if line.strip())
    tree = folder / "tree"
    for file in sorted([*tree.glob("**/*.md"), *tree.glob("**/*.rst")])[:MOST_FILES]:
        yield file.read_text("utf-8", errors="replace")[:MOST_CHARACTERS]


if __name__ == "__main__":
    main()
