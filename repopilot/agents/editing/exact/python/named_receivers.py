"""Objects of unknown class that are named after a class: `self.backend` after `ResultBackend`. Pure.

Programmers call an object by the last words of its class (Milojković, Ghafari, Nierstrasz: Exploiting type hints in
method argument names to improve lightweight type inference, ICPC 2017).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SHORTEST = 4
"""Least letters of a name that tells a class: `f`, `obj` and `it` may be anything."""


def is_named_after(receiver: str, classes: Iterable[str], others: Iterable[str]) -> bool:
    """Whether an object is named after one of some classes and after no other.

    Args:
        receiver: the object as the code has it: `broker`, `self._backend`.
        classes: names of the classes that are meant.
        others: names of the classes that it may be as well.
    """
    words = _words(receiver.rpartition(".")[2])
    if sum(map(len, words)) < _SHORTEST:
        return False
    return any(_ends_with(name, words) for name in classes) and not any(_ends_with(name, words) for name in others)


def _ends_with(name: str, words: list[str]) -> bool:
    return _words(name)[-len(words) :] == words


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
