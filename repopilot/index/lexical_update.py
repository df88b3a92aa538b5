"""Brings a lexical index up to date after a few chunks have changed, without the terms of those that have not.

The postings of the chunks that stay are renumbered, those of the added chunks are inserted: a few passes over flat
arrays instead of a rebuild. The result answers exactly like `LexicalIndex.build` over the same chunks; only the numbers
of tokens, names, kinds and languages may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Any

import numpy as np

from repopilot.index.lexical import FIELDS, FILE_ARRAYS, LABELS, ROW_ARRAYS, TABLES, ChunkTerms, LexicalIndex, Postings


@dataclass(frozen=True, slots=True)
class _Numbers:
    """New numbers of rows, files, names or tokens.

    `old[n]` is the new number of what had number n in the old index, -1 where it is gone; `added[n]` likewise of what
    has number n among the added chunks, -1 where the old index has it too. `size` is how many there are.
    """

    old: np.ndarray
    added: np.ndarray
    size: int

    def values(self, old: np.ndarray, added: np.ndarray) -> np.ndarray:
        """The values of two arrays by the new numbers."""
        result = np.empty((self.size, *old.shape[1:]), old.dtype)
        for numbers, values in ((self.old, old), (self.added, added)):
            known = numbers >= 0
            result[numbers[known]] = values[known]
        return result


def updated(old: LexicalIndex, origin: np.ndarray, added: Iterable[ChunkTerms]) -> LexicalIndex:
    """The lexical index after some chunks were removed and others added.

    Args:
        old: the index before.
        origin: int (n,), for each of the n rows of the new index its row in `old`, -1 for an added chunk. Of a file
            whose rows are kept, no row is added.
        added: the terms of the added chunks, in the order of their rows.

    Returns:
        The new index.
    """
    new = LexicalIndex.build(added)
    rows = _rows(old, origin)
    labels = {column: _labels(old, new, column, rows) for column in LABELS}
    numbers = {"rows": rows, **{LABELS[column]: found for column, (found, _) in labels.items()}}
    tokens = _joined(old.tokens, new.tokens)
    names = _joined(old.name_numbers, new.names)
    name_rows = _merged(old.name_rows, new.name_rows, names, rows)
    named = _occurring(name_rows)
    numbers["names"] = _renumbered(names, named)
    fields = {name: _merged(old.fields[name], new.fields[name], tokens, rows) for name in FIELDS}
    tables = {
        table: _merged(getattr(old, table), getattr(new, table), tokens, numbers[values])
        for table, (keys, values) in TABLES.items()
        if keys == "tokens"
    }
    used = np.logical_or.reduce([_occurring(postings) for postings in (*fields.values(), *tables.values())])
    parts: dict[str, Any] = {
        "names": tuple(compress(_texts(old.names, new.names, names), named.tolist())),
        "name_rows": _only(name_rows, named),
        **{table: _only(postings, used) for table, postings in tables.items()},
        **{LABELS[column]: _kept_texts(old, new, column, found) for column, (found, _) in labels.items()},
        **{column: values for column, (_, values) in labels.items()},
        **{name: numbers["files"].values(getattr(old, name), getattr(new, name)) for name in FILE_ARRAYS},
        **{name: rows.values(getattr(old, name), getattr(new, name)) for name in ROW_ARRAYS},
    }
    return LexicalIndex(
        tokens=_numbered(_texts(old.tokens, new.tokens, tokens), used),
        fields={name: _only(postings, used) for name, postings in fields.items()},
        **parts,
    )


def _rows(old: LexicalIndex, origin: np.ndarray) -> _Numbers:
    kept = np.nonzero(origin >= 0)[0].astype(np.int32)
    moved = np.full(len(old), -1, np.int32)
    moved[origin[kept]] = kept
    return _Numbers(moved, np.nonzero(origin < 0)[0].astype(np.int32), len(origin))


def _labels(old: LexicalIndex, new: LexicalIndex, column: str, rows: _Numbers) -> tuple[_Numbers, np.ndarray]:
    """New numbers for files, kinds or languages in the order of their first rows, and those of the rows."""
    labels = LABELS[column]
    before, more = len(getattr(old, labels)), len(getattr(new, labels))
    known = {text: number for number, text in enumerate(getattr(old, labels))} if labels != "files" else {}
    place = np.array([known.get(text, before + n) for n, text in enumerate(getattr(new, labels))], np.int64)
    provisional = rows.values(getattr(old, column).astype(np.int64), place[getattr(new, column)])
    found, first, inverse = np.unique(provisional, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(found), np.int64)
    rank[order] = np.arange(len(found))
    moved = np.full(before + more, -1, np.int32)
    moved[found] = rank
    added = np.where(place < before, -1, moved[place])
    return _Numbers(moved[:before], added, len(found)), rank[inverse].astype(getattr(old, column).dtype)


def _kept_texts(old: LexicalIndex, new: LexicalIndex, column: str, numbers: _Numbers) -> tuple[str, ...]:
    result = [""] * numbers.size
    for index, moved in ((old, numbers.old), (new, numbers.added)):
        for number, text in zip(moved.tolist(), getattr(index, LABELS[column]), strict=True):
            if number >= 0:
                result[number] = text
    return tuple(result)


def _joined(old: dict[str, int], new: Iterable[str]) -> _Numbers:
    """The old numbers, followed by those of the texts that are not among them."""
    size = count(len(old))
    added = np.array([known if (known := old.get(text)) is not None else next(size) for text in new], np.int32)
    return _Numbers(np.arange(len(old), dtype=np.int32), added, next(size))


def _texts(old: Iterable[str], new: Iterable[str], numbers: _Numbers) -> list[str]:
    """The texts by the numbers of `_joined`."""
    fresh = (numbers.added >= len(numbers.old)).tolist()
    return [*old, *compress(new, fresh)]


def _merged(old: Postings, new: Postings, keys: _Numbers, rows: _Numbers) -> Postings:
    """Postings by the new keys over the new rows."""
    starts, kept_rows, kept_counts = _kept(old, keys, rows)
    added_keys, added_rows, added_counts = _added(new, keys, rows)
    places = _places(starts, kept_rows, added_keys, added_rows)
    starts = starts + _ends(np.bincount(added_keys, minlength=keys.size))
    lengths = rows.values(old.lengths, new.lengths)
    return Postings(
        starts, np.insert(kept_rows, places, added_rows), np.insert(kept_counts, places, added_counts), lengths
    )


def _kept(old: Postings, keys: _Numbers, rows: _Numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, rows and counts of the postings that stay, by the new keys."""
    moved = rows.old[old.rows]
    kept = moved >= 0
    starts = _ends(kept)[old.starts]
    own_rows, own_counts = moved[kept], np.asarray(old.counts)[kept]
    remaining = rows.old[rows.old >= 0]
    if np.any(np.diff(remaining) < 0):  # rows have changed places
        numbers = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((own_rows, numbers))
        own_rows, own_counts = own_rows[order], own_counts[order]
    return np.pad(starts, (0, keys.size + 1 - len(starts)), mode="edge"), own_rows, own_counts


def _added(new: Postings, keys: _Numbers, rows: _Numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys, rows and counts of the added postings, ordered by key and row."""
    added_keys = keys.added[np.repeat(np.arange(len(new.starts) - 1), np.diff(new.starts))]
    added_rows = rows.added[new.rows]
    order = np.lexsort((added_rows, added_keys))
    order = order[added_rows[order] >= 0]
    return added_keys[order], added_rows[order], new.counts[order]


def _places(starts: np.ndarray, ordered: np.ndarray, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where to insert each row among the `ordered` rows of its key: a binary search in all of them at once."""
    low, high = starts[keys], starts[keys + 1]
    while (searching := low < high).any():
        middle = (low + high) >> 1
        below = searching & (ordered[np.minimum(middle, len(ordered) - 1)] < rows)
        low = np.where(below, middle + 1, low)
        high = np.where(searching & ~below, middle, high)
    return low


def _ends(counts: np.ndarray) -> np.ndarray:
    """0 and the running sums."""
    result = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=result[1:])
    return result


def _occurring(postings: Postings) -> np.ndarray:
    """bool by key: whether it has a posting."""
    return np.diff(postings.starts) > 0


def _only(postings: Postings, keys: np.ndarray) -> Postings:
    """The postings without the keys that are False, which have none."""
    starts = np.append(postings.starts[:-1][keys], postings.starts[-1])
    return Postings(starts, postings.rows, postings.counts, postings.lengths)


def _numbered(texts: Sequence[str], used: np.ndarray) -> dict[str, int]:
    return dict(zip(compress(texts, used.tolist()), count(), strict=False))


def _renumbered(numbers: _Numbers, kept: np.ndarray) -> _Numbers:
    """The numbers of names once those that define nothing any more are left out; old ones count as known."""
    moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    added = np.where(numbers.added < len(numbers.old), -1, moved[numbers.added])
    return _Numbers(moved[numbers.old], added, int(kept.sum()))
