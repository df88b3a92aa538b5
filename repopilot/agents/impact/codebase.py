"""What an impact question needs from an index, computed once per index: the code graph and the similarity of files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from repopilot.agents.impact.change import Change
from repopilot.code.graph.centrality import page_rank
from repopilot.code.graph.graph import Graph
from repopilot.code.languages import file_kind
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.lexical import LexicalIndex
from repopilot.index.store import Index
from repopilot.index.tokens import NAME_PART, expand, words

_LONGEST_TEXT = 200_000


@dataclass(frozen=True)
class Codebase:
    """`paths[n]` is file n of the graph; the arrays of `similarity`, `path_words` and `sizes` follow this order."""

    index: Index
    graph: Graph
    paths: Sequence[str]
    sizes: np.ndarray
    similarity: TextSimilarity
    path_words: Sequence[frozenset[str]]
    path_rarity: dict[str, float]

    @cached_property
    def centrality(self) -> np.ndarray:
        """The PageRank of every node, with a mean of 1."""
        return page_rank(self.graph)


def codebase_of(index: Index) -> Codebase:
    """The codebase of an index, loaded or built on first use and cached as long as the index."""
    return index.derived(_build)


def changed_nodes(base: Codebase, change: Change) -> list[int]:
    """The nodes that a change touches: the named definitions with those inside them, or the file and all inside it."""
    number = base.graph.by_path.get(change.path)
    if number is None:
        return []
    inside = base.graph.inside(number)
    if change.whole:
        return [number, *inside]
    names = set(change.symbols)
    levels = ((n, accumulate(base.graph.nodes.name(n).split("."), "{}.{}".format)) for n in inside)
    return [n for n, outer in levels if not names.isdisjoint(outer)]


@dataclass(frozen=True)
class TextSimilarity:
    """Files as tf-idf vectors of their words (identifiers and their parts), stored in columns ordered by file: file n
    has the rows `starts[n]:starts[n + 1]` of `tokens`, `files` and `weights`. `lengths` are the vectors' norms."""

    numbers: dict[str, int]
    words: Sequence[str]
    rarity: np.ndarray
    starts: np.ndarray
    tokens: np.ndarray
    files: np.ndarray
    weights: np.ndarray
    lengths: np.ndarray

    def of_file(self, number: int) -> np.ndarray:
        """Cosine of every file with one file, float (files,)."""
        mine = self._span(number)
        return self._cosines(self.tokens[mine], self.weights[mine])

    def of_text(self, text: str) -> np.ndarray:
        """Cosine of every file with a text, float (files,)."""
        counts = Counter(self.numbers[t] for w in words(text[:_LONGEST_TEXT]) for t in expand(w) if t in self.numbers)
        tokens = np.fromiter(counts.keys(), np.int64, len(counts))
        amounts = np.fromiter(counts.values(), np.float64, len(counts))
        return self._cosines(tokens, (1 + np.log(np.maximum(amounts, 1))) * self.rarity[tokens])

    def shared(self, one: int, other: int, limit: int = 4) -> list[str]:
        """The words that make two files similar.

        Args:
            one: the number of a file.
            other: the number of the other.
            limit: the most words.

        Returns:
            The words, the most distinctive first.
        """
        query = np.zeros(len(self.rarity))
        query[self.tokens[self._span(one)]] = self.weights[self._span(one)]
        theirs = self.tokens[self._span(other)]
        products = query[theirs] * self.weights[self._span(other)]
        best = np.argsort(-products, kind="stable")[:limit]
        return [self.words[theirs[at]] for at in best.tolist() if products[at] > 0]

    def _span(self, number: int) -> slice:
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def _cosines(self, tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
        query = np.zeros(len(self.rarity))
        query[tokens] = weights
        length = float(np.sqrt((weights**2).sum())) or 1.0
        dots = np.bincount(self.files, self.weights * query[self.tokens], minlength=len(self.lengths))
        return dots / (self.lengths * length)


def _build(index: Index) -> Codebase:
    graph = graph_of(index)
    paths = graph.nodes.paths
    sizes = np.array([math.log1p(index.files[p].lines) if file_kind(p) == "code" else 0.0 for p in paths])
    path_words = [frozenset(w.lower() for w in NAME_PART.findall(p.rsplit(".", 1)[0])) for p in paths]
    occurs = Counter(word for found in path_words for word in found)
    rarity = {word: math.log((len(paths) + 1) / count) for word, count in occurs.items()}
    return Codebase(index, graph, paths, sizes, _similarity(index.lexical, graph), path_words, rarity)


def _similarity(lexical: LexicalIndex, graph: Graph) -> TextSimilarity:
    body = lexical.fields["body"]
    size = len(graph.by_path)
    tokens = np.repeat(np.arange(len(lexical.tokens)), np.diff(body.starts))
    number_of = np.array([graph.by_path.get(path, -1) for path in lexical.files], np.int64)
    files = number_of[lexical.file_of[body.rows]] if len(lexical.files) else np.empty(0, np.int64)
    files, tokens, amounts = _by_file(files, tokens, np.asarray(body.counts))
    in_files = np.bincount(tokens, minlength=len(lexical.tokens))
    # A word that occurs in a single file can't make two files similar.
    rarity = np.where(in_files > 1, np.log((size + 1) / np.maximum(in_files, 1)), 0.0)
    weights = (1 + np.log(np.maximum(amounts, 1))) * rarity[tokens]
    lengths = np.sqrt(np.bincount(files, weights**2, minlength=size))
    starts = np.searchsorted(files, np.arange(size + 1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    return TextSimilarity(lexical.tokens, list(lexical.tokens), rarity, starts, tokens, files, weights, lengths)


def _by_file(files: np.ndarray, tokens: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum the counts of a token in a file: (files, tokens, amounts), ordered by file, then token.

    `tokens` ascend, and so do the `files` (-1 for none) of each token, since chunks are in the order of their files. So
    no sorting by pairs is needed.
    """
    known = files >= 0
    files = files[known]
    tokens = tokens[known]
    counts = counts[known]
    first = np.ones(len(files), bool)
    first[1:] = (np.diff(files) != 0) | (np.diff(tokens) != 0)
    begins = np.flatnonzero(first)
    amounts = np.add.reduceat(counts.astype(np.int64), begins) if len(begins) else np.empty(0, np.int64)
    order = np.argsort(files[begins], kind="stable")
    return files[begins][order], tokens[begins][order], amounts[order]
