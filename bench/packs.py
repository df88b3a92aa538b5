"""Context packs: how many of the files that a change touched are in a pack of a given size.

    python -m bench.packs CORPORA_DIR SETS_DIR [--tokens N] [--repomix] [--plain HOME] [--only NAME …]

CORPORA_DIR/NAME is a repository, SETS_DIR/NAME.jsonl its queries: {"query", "gold": [paths]}. Compared, in one run:
the pack of `repopilot context`, and the best chunks of the same search as they are; with `--plain` the best chunks of
LlamaIndex's CodeSplitter, by vectors (MiniLM, whose weights are in HOME) and by BM25; with `--repomix` the beginning
of Repomix's compressed output (`npx repomix`). A file counts when lines of it are in the pack.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.instant_index import instant_index
from bench.peers.programs import Search, Tools, Tree, bm25s, llama_index
from repopilot.index.embed import Embedders
from repopilot.index.store import Index
from repopilot.retrieval.context_pack import context_pack, empty_pack, real_tokenizer
from repopilot.retrieval.search import search
from repopilot.settings import Settings

Way = Callable[[str], set[str]]
_FILE = re.compile(r'^<file path="([^"]+)">', re.MULTILINE)


def ours(index: Index, query: str, tokens: int) -> set[str]:
    """The files of the pack."""
    found = search(index, query, 30).hits
    empty = empty_pack(index, query, tokens, real_tokenizer())
    return {each.path for each in context_pack(index, found, empty, real_tokenizer()).excerpts}


def chunks(index: Index, query: str, tokens: int) -> set[str]:
    """The files of the best chunks."""
    count, left, paths = real_tokenizer(), tokens, set()
    for hit in search(index, query, 30).hits:
        left -= count(f"{hit.chunk.path}\n{hit.chunk.text}\n")
        if left < 0:
            break
        paths.add(hit.chunk.path)
    return paths


def plain(index: Index, search_of: Search, query: str, tokens: int) -> set[str]:
    """The files of the best chunks of another program."""
    count, left, paths = real_tokenizer(), tokens, set()
    for path, start, end in search_of(query, 30).places:
        left -= count(f"{path}\n{index.lines(path, start, end) or ''}\n")
        if left < 0:
            break
        paths.add(path)
    return paths


def plain_ways(index: Index, folder: Path, home: Path, scratch: Path, tokens: int) -> dict[str, Way]:
    """Plain retrieval: LlamaIndex with vectors, and BM25, over the same chunks."""
    embedder = Embedders().choose(Settings(_env_file=None, home=home))  # type: ignore[call-arg]
    tree, tools = Tree(index.name, folder, scratch / "none"), Tools(embedder, scratch / "chroma")
    made = {"vectors": llama_index(tree, tools)[0], "bm25": bm25s(tree, tools)[0]}
    return {name: partial(plain, index, found, tokens=tokens) for name, found in made.items()}


def repomix(folder: Path, tokens: int) -> set[str]:
    """The files at the beginning of Repomix's compressed output, the same for every query."""
    with tempfile.TemporaryDirectory() as out:
        target = Path(out, "pack.xml")
        command = ["npx", "--yes", "repomix", "--compress", "--style", "xml", "-o", str(target), str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        text = target.read_text("utf-8", "replace")
    count, found, spent = real_tokenizer(), set(), 0
    for part in re.split(r"(?=^<file path=)", text, flags=re.MULTILINE)[1:]:
        spent += count(part)
        if spent > tokens:
            break
        found.update(_FILE.findall(part))
    return found


def main() -> None:
    """Measure, and print a line for each repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--repomix", action="store_true")
    parser.add_argument("--plain", type=Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    totals: dict[str, list[float]] = {}
    for file in sorted(options.sets.glob("*.jsonl")):
        folder = options.corpora / file.stem
        if not folder.is_dir() or (options.only and file.stem not in options.only):
            continue
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        with tempfile.TemporaryDirectory() as home:
            index = instant_index(file.stem, folder, Settings(home=Path(home), dense=False))
            ways: dict[str, Way] = {
                "pack": lambda query, index=index: ours(index, query, options.tokens),
                "chunks": lambda query, index=index: chunks(index, query, options.tokens),
            }
            if options.plain:
                ways |= plain_ways(index, folder, options.plain, Path(home), options.tokens)
            if options.repomix:
                fixed = repomix(folder, options.tokens)
                ways["repomix"] = lambda query, fixed=fixed: fixed
            for name, way in ways.items():
                shares = [len(way(row["query"]) & set(row["gold"])) / len(row["gold"]) for row in rows]
                totals.setdefault(name, []).extend(shares)
                print(f"{file.stem:10} {name:8} {sum(shares) / len(shares):.3f}", flush=True)
    for name, shares in totals.items():
        print(f"{'all':10} {name:8} {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    main()
