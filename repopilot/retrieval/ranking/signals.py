"""The signals of a query over the passages and files of an index, unweighted. Pure over arrays.

Every signal has a name, by which its weight is learned (bench/train_ranking.py) and shown beside a hit. Most are
between 0 and 1. Words are scored by BM25F over path, defined symbols and body, per passage and per file read as one
document; see bm25.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.file_roles import ROLES
from repopilot.index.ragged import parts
from repopilot.index.tokens import tokens_of
from repopilot.retrieval.query import exact_matches
from repopilot.retrieval.query.parse import Query
from repopilot.retrieval.ranking.bm25 import BM25F, TokenFrequencies, idf, saturated
from repopilot.retrieval.ranking.sorting import places_in_groups

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

FURTHER = 8
"""How many passages of a file, after its best, contribute to its score."""
MOST_NAMED = 300
"""A name with more definitions than this counts for none of them."""
ROLE_FACTORS: Mapping[str, float] = {"test": 0.3, "example": 0.5, "doc": 0.5, "generated": 0.3, "vendored": 0.3}
"""Factors on the term scores of a file whose role the query does not ask for."""
KINDS = ("function", "class", "module", "doc")
"""Kinds of passages that are signals of their own."""
_NAME = re.compile(r"(?<!^)(?<![.?!:]\s)\b[A-Z]\w+\b")


@dataclass(frozen=True, slots=True)
class Signals:
    """Unweighted signals by name: `passages` float (rows,) and `files` float (files,)."""

    passages: Mapping[str, np.ndarray]
    files: Mapping[str, np.ndarray]


def signals(lexical: LexicalIndex, query: Query) -> Signals:
    """The signals of a query.

    Args:
        lexical: the lexical index.
        query: the parsed query.

    Returns:
        The signals; those of its words are missing when no passage has any of them.
    """
    wanted = wanted_roles(query)
    named = named_rows(lexical, query)
    passages = {f"kind {kind}": _is_kind(lexical, kind) for kind in KINDS} | {"named": named}
    files = {role: lexical.role(role).astype(np.float32) for role in ROLES if role not in wanted}
    files |= {"named": file_best(lexical, named)} | _named_files(lexical, query)
    tokens = [token for token in query.terms if token in lexical.tokens]
    if not tokens or not len(lexical):
        return Signals(passages, files)
    weights = np.array([query.terms[token] for token in tokens], np.float32)
    frequencies = TokenFrequencies(lexical, [lexical.tokens[token] for token in tokens])
    factors = role_factors(lexical, wanted)
    passages |= _word_signals(lexical, tokens, weights, frequencies, factors)
    files |= _file_signals(lexical, frequencies, weights, passages)
    rarity = idf(np.count_nonzero(frequencies.files, axis=1), len(lexical.files))
    files["whole file"] = _scaled(saturated(frequencies.files, weights * rarity, BM25F.k1) * factors)
    return Signals(passages, files)


def wanted_roles(query: Query) -> set[str]:
    """The roles of files that a query asks for: these roles don't lower the files' scores."""
    roles = {"test"} if query.wants_tests else set()
    if query.wants_docs:
        roles |= {"doc"}
    if query.filters.files or query.kind in ("path", "traceback"):
        roles |= set(ROLES)
    roles |= {"config", "doc"} & set(query.filters.kinds)
    if query.filters.languages:
        roles |= {"doc", "config"}
    return roles


def role_factors(lexical: LexicalIndex, wanted: Collection[str] = ()) -> np.ndarray:
    """float32 (files,): factors on term scores, below 1 for tests, examples, … whose role is not `wanted`."""
    result = np.ones(len(lexical.files), np.float32)
    for role, factor in ROLE_FACTORS.items():
        if role not in wanted:
            result[lexical.role(role)] *= factor
    return result


def named_rows(lexical: LexicalIndex, query: Query) -> np.ndarray:
    """float32 (rows,): how many identifiers written in the query each row defines; one of many namesakes counts less.

    Capitalised words inside a sentence count as identifiers, too.
    """
    result = np.zeros(len(lexical), np.float32)
    written = [*query.names, *_NAME.findall(query.text[:2000])]
    for name in {name.replace("::", ".").rpartition(".")[2].lower() for name in written}:
        rows = lexical.rows_defining(name)
        if 0 < len(rows) <= MOST_NAMED:
            result[rows] += 1 / (1 + np.log(len(rows)))
    return result


def _named_files(lexical: LexicalIndex, query: Query) -> dict[str, np.ndarray]:
    """Files that the query names by path or by the scope of a conventional commit."""
    found: dict[str, np.ndarray] = {}
    if query.paths:
        found["path named"] = exact_matches.named_files(query, lexical) * (5 if query.kind == "path" else 1)
    if query.scope:
        scope = tokens_of(query.scope)
        inside = np.zeros(len(lexical.files), np.float32)
        for token in scope & lexical.tokens.keys():
            inside[lexical.file_of[lexical.fields["path"].of(lexical.tokens[token])[0]]] = 1
        found["scope"] = inside
    return found


def _word_signals(
    lexical: LexicalIndex,
    tokens: Sequence[str],
    weights: np.ndarray,
    frequencies: TokenFrequencies,
    factors: np.ndarray,
) -> dict[str, np.ndarray]:
    by_row = factors[lexical.file_of]
    rarity = weights * idf(frequencies.matching, len(lexical))
    scored = _scaled(saturated(frequencies.rows, rarity, BM25F.k1) * by_row)
    match, share = symbol_match(lexical, tokens, weights)
    coverage = rarity @ frequencies.found / max(float(rarity.sum()), 1e-9)
    return {
        "words": scored,
        "symbol name": match * by_row,
        "whole name": share * by_row,
        "coverage": coverage,
        "length": np.log1p(lexical.fields["body"].lengths) / 8,
        "definition words": _definition_words(lexical, frequencies, weights) * by_row,
        "body words": _body_bm25(lexical, frequencies, weights) * by_row,
        "outer words": _outer(lexical, scored),
        "outer coverage": _outer(lexical, coverage),
        "neighbours": _neighbours(lexical, scored),
    }


def _is_kind(lexical: LexicalIndex, kind: str) -> np.ndarray:
    number = lexical.kinds.index(kind) if kind in lexical.kinds else -1
    return (lexical.kind_of == number).astype(np.float32)


def _scaled(scores: np.ndarray) -> np.ndarray:
    """Scores divided by the largest."""
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _definition_words(lexical: LexicalIndex, frequencies: TokenFrequencies, weights: np.ndarray) -> np.ndarray:
    """float32 (rows,): the share of the query, by weight and rarity, that occurs in the symbols defined."""
    factors = weights * lexical.rarity[frequencies.tokens]
    found = frequencies.postings["symbols"]
    mass = np.bincount(found.rows, factors[found.positions], minlength=len(lexical))
    return (mass / max(float(factors.sum()), 1e-9)).astype(np.float32)


def _body_bm25(lexical: LexicalIndex, frequencies: TokenFrequencies, weights: np.ndarray) -> np.ndarray:
    """float32 (rows,): Okapi BM25 over the bodies alone, divided by the largest."""
    lengths = lexical.fields["body"].lengths
    found = frequencies.postings["body"]
    norm = 1.2 * (0.25 + 0.75 * lengths / max(float(lengths.mean()), 1e-9))
    factors = weights * lexical.rarity[frequencies.tokens] * 2.2
    values = factors[found.positions] * found.counts / (found.counts + norm[found.rows])
    return _scaled(np.bincount(found.rows, values, minlength=len(lexical)).astype(np.float32))


def _outer(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """float (rows,): the largest of the values of the rows of the same class or other outermost definition."""
    groups = lexical.group_of
    best = np.zeros(int(groups.max(initial=-1)) + 1, values.dtype)
    np.maximum.at(best, groups, values)
    return best[groups]


def _neighbours(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """float (rows,): the mean of the values of the rows before and after, in the same file."""
    result = np.zeros_like(values)
    same = lexical.file_of[1:] == lexical.file_of[:-1]
    result[1:] += values[:-1] * same
    result[:-1] += values[1:] * same
    return result / 2


def symbol_match(lexical: LexicalIndex, tokens: Sequence[str], weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How well the name of a symbol matches the query.

    Args:
        lexical: the lexical index.
        tokens: n tokens of the query, all of them in the index.
        weights: float (n,), their weights.

    Returns:
        Two float32 (rows,): of the symbols defined in a row, the best F-measure, weighted by rarity, between the words
        of the query and those of the symbol's name; and the best share of a name that the query has.
    """
    numbers = [lexical.tokens[token] for token in tokens]
    asked = np.minimum(weights, 1) * lexical.rarity[numbers]
    shared = np.zeros(len(lexical.names), np.float32)
    for number, weight in zip(numbers, asked, strict=True):
        shared[lexical.name_tokens.of(number)[0]] += weight
    found = np.flatnonzero(shared)
    shared = shared[found]
    mass = lexical.name_mass[found]
    match = 2 * shared / np.maximum(mass + asked.sum(), 1e-9)
    # A short name may be covered by chance.
    share = shared / np.maximum(np.maximum(mass, lexical.median_rarity), 1e-9)
    places, sizes = parts(lexical.name_rows.starts, found)
    rows = lexical.name_rows.rows[places]
    results = np.zeros((2, len(lexical)), np.float32)
    for result, values in zip(results, (match, share), strict=True):
        np.maximum.at(result, rows, np.repeat(values, sizes))
    return results[0], results[1]


def _file_signals(
    lexical: LexicalIndex, frequencies: TokenFrequencies, weights: np.ndarray, passages: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    rarity = weights * idf(frequencies.matching, len(lexical))
    return {
        "more passages": _further_passages(lexical, passages["words"]),
        "path words": rarity @ frequencies.in_path / max(float(rarity.sum()), 1e-9),
        "file name": _file_name(lexical, frequencies.tokens),
        "coverage": file_best(lexical, passages["coverage"]),
        "size": np.log1p(lexical.file_lengths["body"]) / 10,
    }


def _file_name(lexical: LexicalIndex, tokens: Sequence[int]) -> np.ndarray:
    """float (files,): the share of the words of the file's name that the query has."""
    found = np.zeros(len(lexical.files), np.float32)
    for token in tokens:
        files, counts = lexical.file_words.of(token)
        found[files] += counts
    return found / np.maximum(lexical.file_words.lengths, 1)


def file_best(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """float (files,): the largest of the values, float (rows,), of each file's rows."""
    starts, rows = lexical.file_rows
    return np.maximum.reduceat(values[rows], starts[:-1]) if len(rows) else np.zeros(0, values.dtype)


def _further_passages(lexical: LexicalIndex, scores: np.ndarray) -> np.ndarray:
    """float (files,): the mean score of the FURTHER passages after the best; missing ones count as zero."""
    rows = np.flatnonzero(scores > 0)
    files = lexical.file_of[rows]
    found = scores[rows]
    # By file, and in each from the best score to the worst, which are at most 1.
    order = np.argsort(2.0 * files - found)
    files = files[order]
    found = found[order]
    place = places_in_groups(files)
    further = (place >= 1) & (place <= FURTHER)
    return np.bincount(files[further], found[further], minlength=len(lexical.files)) / FURTHER
