"""Resolves what a query names exactly (paths, symbols, phrases) and its filters to rows of the index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from repopilot.index.lexical import LexicalIndex
from repopilot.index.tokens import expand, words
from repopilot.repo.paths.path_globs import WILDCARD, matches
from repopilot.retrieval.query.parse import Filters, Query
from repopilot.types import Chunk

MOST_DEFINITIONS = 1000
MOST_COMPARED = 20
MOST_VERIFIED = 100
ALIASES = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "node": "javascript",
    "golang": "go",
    "rs": "rust",
    "rb": "ruby",
    "c++": "cpp",
    "cc": "cpp",
    "c#": "csharp",
    "cs": "csharp",
    "c_sharp": "csharp",
    "kt": "kotlin",
    "md": "markdown",
    "yml": "yaml",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
}
"""Other names of languages that the filter `lang:` takes."""


def allowed(filters: Filters, lexical: LexicalIndex, chunks: Sequence[Chunk]) -> np.ndarray:
    """Which rows satisfy every filter.

    Args:
        filters: the filters of a query.
        lexical: the lexical index.
        chunks: its chunks; chunk n is row n.

    Returns:
        bool (rows,).
    """
    result = np.ones(len(lexical), bool)
    if filters.files:
        files = np.array([any(_matches(path, wanted) for wanted in filters.files) for path in lexical.files], bool)
        result &= files[lexical.file_of]
    if filters.languages:
        names = {*filters.languages, *(ALIASES.get(name, name) for name in filters.languages)}
        result &= np.isin(lexical.language_of, [n for n, name in enumerate(lexical.languages) if name.lower() in names])
    if filters.kinds:
        result &= np.isin(lexical.kind_of, [n for n, kind in enumerate(lexical.kinds) if kind in filters.kinds])
    if filters.symbols:
        defining = np.zeros(len(lexical), bool)
        for name in filters.symbols:
            defining[_defining(name, lexical, chunks)] = True
        result &= defining
    return result


def _matches(path: str, wanted: str) -> bool:
    """Match a pattern with wildcards against the path; one without, against any part of it."""
    path = path.lower()
    wanted = wanted.lower().removeprefix("./")
    return wanted in path or (bool(WILDCARD.search(wanted)) and matches(path, wanted))


def _defining(name: str, lexical: LexicalIndex, chunks: Sequence[Chunk]) -> list[int]:
    """Rows that define a name; for a qualified one those inside the class it names, if there are any."""
    parts = name.replace("::", ".").split(".")
    rows = lexical.rows_defining(parts[-1])[:MOST_DEFINITIONS].tolist()
    if len(parts) == 1 or len(rows) > MOST_VERIFIED:
        return rows
    inside = [row for row in rows if _inside(chunks[row], parts[-2])]
    return inside or rows


def _inside(chunk: Chunk, scope: str) -> bool:
    qualified = chunk.symbol.replace("::", ".").lower().split(".")
    module = chunk.path.rpartition("/")[2].partition(".")[0].lower()
    return scope.lower() in (*qualified[:-1], module)


def named_rows(query: Query, lexical: LexicalIndex, chunks: Sequence[Chunk]) -> dict[int, float]:
    """Rows that define a name of the query.

    Args:
        query: the parsed query.
        lexical: the lexical index.
        chunks: the chunks of its rows.

    Returns:
        Scores by row: 1 for the exact spelling, ½ for another case. The spelling of names with more than MOST_COMPARED
        definitions is not compared.
    """
    found: dict[int, float] = {}
    for name in query.names:
        exact = name.replace("::", ".").rpartition(".")[2]
        rows = _defining(name, lexical, chunks)
        for row in rows:
            same_spelling = len(rows) > MOST_COMPARED or exact in chunks[row].text
            found[row] = max(found.get(row, 0.0), 1.0 if same_spelling else 0.5)
    return found


def named_files(query: Query, lexical: LexicalIndex) -> np.ndarray:
    """float32 (files,): 1 if the query names the file's path or its end, ½ if it names a folder above the file."""
    result = np.zeros(len(lexical.files), np.float32)
    wanted = [path.lower().removeprefix("./").rstrip("/") for path in query.paths]
    for number, path in enumerate(lexical.files if wanted else ()):
        lower = path.lower()
        if any(lower == want or lower.endswith(f"/{want}") for want in wanted):
            result[number] = 1.0
        elif any(
            "/" in want and (f"/{lower}/".find(f"/{want}/") >= 0 or f"/{want}/" in f"/{lower}") for want in wanted
        ):
            result[number] = 0.5
    return result


def phrase_rows(phrase: str, lexical: LexicalIndex, chunks: Sequence[Chunk]) -> list[int]:
    """Rows whose text contains a phrase, in any case and spacing.

    Args:
        phrase: the phrase.
        lexical: the lexical index.
        chunks: the chunks of its rows; only MOST_VERIFIED candidates are read.
    """
    tokens = [lexical.tokens.get(token) for word in words(phrase) for token in expand(word)]
    known = [token for token in tokens if token is not None]
    if not known or len(known) < len(tokens):
        return []
    containing = [np.union1d(*(lexical.fields[name].of(token)[0] for name in ("body", "symbols"))) for token in known]
    candidates = containing[0]
    for rows in containing[1:]:
        candidates = np.intersect1d(candidates, rows, assume_unique=True)
    wanted = " ".join(phrase.lower().split())
    return [row for row in candidates[:MOST_VERIFIED].tolist() if wanted in " ".join(chunks[row].text.lower().split())]
