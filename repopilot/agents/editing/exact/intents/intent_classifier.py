"""Tells what kind of edit the words of a task ask for, whatever it is asked of. Pure.

A multinomial logistic regression over words, their neighbours and their parts, in which names and values are replaced
by what they are: of `getTemp should be called temperature_now` it sees `DEF should be called NEW`. Trained by
`bench.train_intents`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np

from repopilot.agents.editing.exact.wording.task_tokens import folded

BUCKETS = 1 << 15
"""Features are hashed into so many columns (Weinberger et al. 2009)."""
SLOTS = frozenset(("DEF", "PARAM", "NEW", "FILE", "NEWFILE", "LIT"))
"""What stands for a definition, a parameter, a name that nothing has, a file, one that doesn't exist, and a value."""
OTHER = "other"
"""The kind of whatever is none of the edits."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|->|=>|→|[?:;]")
_PART_LENGTHS = (2, 3, 4, 5)
_MOST_COUNTED = 3
_WEIGHTS = "intent_weights.npz"


def words_of(parts: Iterable[tuple[str, str]]) -> list[str]:
    """A task as the classifier reads it.

    Args:
        parts: its parts in their order, each a slot of SLOTS with its text, or '' with plain text.

    Returns:
        Folded words, signs, and slots in capitals.
    """
    found: list[str] = []
    for slot, text in parts:
        if slot:
            found.append(slot)
        else:
            found += _WORD.findall(folded(text))
    return found


def features(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a task's features, and their values.

    Args:
        words: of `words_of`.

    Returns:
        Numbers below BUCKETS, each once, and as many values: those of words and of their parts are each a vector of
        length 1.
    """
    padded = ["^", *words, "$"]
    around = list(zip(padded, padded[1:], padded[2:], strict=False))
    whole = {*words, *(f"{a} {b}" for a, b in pairwise(padded)), *(f"{a} _ {b}" for a, _, b in around)}
    whole |= {f"{a} {b} {c}" for a, b, c in around if SLOTS & {a, b, c}}
    whole |= {f"n:{slot}={min(words.count(slot), _MOST_COUNTED)}" for slot in SLOTS}
    whole |= {f"o:{a} {b}" for a, b in pairwise(word for word in words if word in SLOTS)}
    parts = {part for word in words if word not in SLOTS for part in _parts(f"<{word}>")}
    values: dict[int, float] = {}
    for names, prefix in ((whole, "w"), (parts, "p")):
        for name in names:
            column = zlib.crc32(f"{prefix}{name}".encode()) % BUCKETS
            values[column] = values.get(column, 0.0) + len(names) ** -0.5
    return np.array(list(values), dtype=np.int64), np.array(list(values.values()))


def _parts(word: str) -> Iterator[str]:
    """The pieces of a word of two to five letters, as other forms of it and slips of the pen have them too."""
    for length in _PART_LENGTHS:
        for at in range(len(word) - length + 1):
            yield word[at : at + length]


@cache
def _weights() -> dict[str, Any]:
    with resources.as_file(resources.files(__package__) / _WEIGHTS) as path, np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def intent_chances(words: Sequence[str]) -> dict[str, float]:
    """How likely each kind of edit is what a task asks for; OTHER is none of them.

    Args:
        words: of `words_of`.
    """
    weights = _weights()
    columns, values = features(words)
    scores = weights["matrix"][:, columns].astype(np.float64) @ values + weights["bias"]
    chances = np.exp(scores - scores.max())
    return dict(zip(weights["kinds"].tolist(), (chances / chances.sum()).tolist(), strict=True))
