"""Recognises which computed answer a question asks for, with a classifier learnt from examples and by the names in it
that the repository has. Less plain questions are left to the evidence. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

from repopilot.retrieval.query.asked import SURE, Asked, Computed, Relation, likeliest
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

LONGEST = 24
"""The maximum number of words of a plain question."""
SHORT = 6
"""The maximum number of words of a question in which an ordinary word may be a name."""
NAMES: dict[str, range] = {"path": range(2, 3)}
NAMES |= dict.fromkeys(get_args(Relation), range(1, 2))
"""How many names a question of each kind has."""
_WORD = re.compile(r"`[^`\n]+`|[@\w$][\w$.:#/-]*[\w!?]|\w")


@dataclass(frozen=True, slots=True)
class Form:
    """What a question asks. `names` are the names in it that the repository has, in order; `chance` is the probability
    of the kind."""

    kind: Asked
    names: tuple[str, ...] = ()
    chance: float = 1.0


def recognise(question: str, is_known: Callable[[str, bool], bool]) -> Form | None:
    """Read what a question asks.

    Args:
        question: as the user asked it.
        is_known: whether the repository has a name; True for one that is written like code.

    Returns:
        The form; None where none is sure enough, or the question lacks the names that its kind needs.
    """
    if len(question.split()) > LONGEST:
        return None
    written = dict.fromkeys(_WORD.findall(question))
    words = [word for word in written if word.lower() not in STOP_EN | STOP_FR]
    coded = [word for word in words if is_coded(word) and is_known(_plain(word), True)]
    readings: list[Sequence[str]] = [coded]
    if not coded and len(question.split()) <= SHORT:
        ordinary = [word for word in words if not is_coded(word) and is_known(_plain(word), False)]
        readings += [*combinations(ordinary, 1), *combinations(ordinary, 2)]
    forms = [form for names in readings if (form := _read(question, names))]
    return max(forms, key=lambda form: form.chance, default=None)


def is_coded(word: str) -> bool:
    """Whether a word is written like code, and isn't an ordinary word at the end of a sentence."""
    plain = word.rstrip("?!.:")
    return not (plain.isalpha() and plain.islower())


def _read(question: str, words: Sequence[str]) -> Form | None:
    """The form of a question in which these words are names."""
    names = tuple(dict.fromkeys(map(_plain, words)))
    for word in words:
        if "/" not in word:
            question = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", " name ", question)
    kind, chance = likeliest(question)
    if kind not in get_args(Computed) or chance < SURE or len(names) not in NAMES.get(kind, range(LONGEST)):
        return None
    return Form(kind, names, chance)


def _plain(word: str) -> str:
    return word.strip("`").lstrip("@").removesuffix("()").rstrip("?!.:")
