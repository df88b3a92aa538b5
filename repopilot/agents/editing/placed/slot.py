"""The lines of a file that a reply replaces or is put between, and what code writes there itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["definition", "statement", "entry", "block"]
"""What a reply is: a whole definition, one statement, one line or a few of a list, or some statements."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a reply goes.

    Attributes:
        kind: of the edit, as `types.Edit` has it.
        place: qualified name of what is new or changes, as far as it is known; else that of its owner.
        lines: the lines of the file, with what code has changed in them.
        first, last: the range that is replaced, from 0, the end exclusive; equal for an insertion.
        head: how the new lines begin.
        indent: white space before the first of them.
        unit: what is written.
        blank: how many blank lines separate an insertion.
        shown: the code that changes, as the model sees it; '' for something new.
        block: the lines of it that are to be written again; '' for all.
        seen: the head as the model sees it, with a long docstring shortened; '' where nothing is shortened.
        comma: what separates the new lines from those behind them: ',' in an object literal, else ''.
    """

    kind: str
    place: str
    lines: tuple[str, ...]
    first: int
    last: int
    head: str
    indent: str
    unit: Unit = "definition"
    blank: int = 0
    shown: str = ""
    block: str = ""
    seen: str = ""
    comma: str = ""

    @property
    def prefix(self) -> str:
        """How the model's reply begins, without a space at its end: tokens begin with theirs."""
        return (self.seen or self.head).rstrip(" \t")

    @property
    def inserts(self) -> bool:
        """Whether nothing is replaced."""
        return self.first == self.last
