"""The words of a task that a command may be made of, and which of them must be in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.editing.exact.wording.task_tokens import Token, tokens_of

_INSIDE = re.compile(r"[\w$.]+|[^\w\s]")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f`]|[^\u0000-\uffff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, a name, a literal, a quoted text or a sign of a task.

    Attributes:
        text: as it may stand in a command.
        start, end: its characters in the task.
        token: the token that it is, or is a part of.
        first: it is the whole token, or the name that is called in `f(x)`.
    """

    text: str
    start: int
    end: int
    token: Token
    first: bool = True


def pieces_of(task: str) -> list[Piece]:
    """The pieces of a task in their order: its tokens, those like `f(x, y)` in parts.

    Args:
        task: on one line.
    """
    found: list[Piece] = []
    for token in tokens_of(task):
        if token.kind == "name" and "(" in token.text:
            for number, match in enumerate(_INSIDE.finditer(token.text)):
                start = token.start + match.start()
                found.append(Piece(match[0], start, start + len(match[0]), token, number == 0))
        else:
            text = token.inner if token.is_code else token.text
            found.append(Piece(text, token.start, token.end, token))
    return found


_CODE_WORDS = frozenset("from import const var let class def func fn return type include use export".split())


def span_rules(task: str, pieces: Sequence[Piece]) -> list[str]:
    """Rules in GBNF for `span`: neighbouring pieces as they stand in the task.

    What begins with a word holds words and names only: prose runs on into a value, but no slot of a command does.

    Args:
        task: the task.
        pieces: of it.
    """
    usable = [not _UNSAFE.search(piece.text) for piece in pieces]
    starts, rules = [], []
    for number, piece in enumerate(pieces):
        if not usable[number]:
            continue
        goes_on = number + 1 < len(pieces) and usable[number + 1] and not _stands_alone(piece, pieces[number + 1])
        between = quoted(task[piece.end : pieces[number + 1].start]) if goes_on else ""
        further = f" ({between} c{number + 1})?".replace('"" ', "") if goes_on else ""
        rules.append(f"c{number} ::= {quoted(piece.text)}{further}")
        is_word = piece.token.kind == "word"
        if is_word or piece.token.kind == "name":
            only_words = goes_on and pieces[number + 1].token.kind in ("word", "name")
            one_thing = goes_on and _written_together(pieces, number)
            words = further if one_thing else further.replace(" c", " w") if only_words else ""
            rules.append(f"w{number} ::= {quoted(piece.text)}{words}")
        if re.search(r"\w", piece.text) or piece.text[:1] in "\"'«“([{":
            starts.append(f"w{number}" if is_word and piece.token.low not in _CODE_WORDS else f"c{number}")
    return ["span ::= " + " | ".join(starts), *rules]


def _written_together(pieces: Sequence[Piece], number: int) -> bool:
    """Whether a word and the sign after it are parts of one thing: `fund=false`, `dist/`."""
    sign, *after = pieces[number + 1 : number + 3]
    glued = sign.start == pieces[number].end and sign.token.kind == "sign"
    return glued and (sign.text in "/=*" or (bool(after) and after[0].start == sign.end))


def spans_of(task: str, pieces: Sequence[Piece]) -> list[str]:
    """What `span` stands for, each once: short runs of neighbouring pieces.

    Args:
        task: the task.
        pieces: of it.
    """
    found: list[str] = []
    for first, piece in enumerate(pieces):
        if not _UNSAFE.search(piece.text) and re.search(r"\w", piece.text):
            found.append(piece.text)
        for last in range(first + 1, min(first + _LONGEST_SPAN, len(pieces))):
            text = task[piece.start : pieces[last].end]
            if not _UNSAFE.search(text):
                found.append(text)
    return list(dict.fromkeys(found))[:_MOST_SPANS]


_LONGEST_SPAN = 7
_MOST_SPANS = 400
"""OpenAI's servers take 500 values of enumerations in a schema."""


def _stands_alone(piece: Piece, following: Piece) -> bool:
    return piece.token.is_code or following.token.is_code


def quoted(text: str) -> str:
    """A literal of a grammar.

    Args:
        text: what it stands for.
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def left_out(task: str, pieces: Sequence[Piece], spans: Sequence[str]) -> list[Piece]:
    """The pieces of code and the values in a task that no span holds.

    Args:
        task: the task.
        pieces: of it.
        spans: what is used of it.
    """
    used = [(m.start(), m.end()) for span in spans if span for m in re.finditer(re.escape(span), task)]
    return [
        piece
        for piece in pieces
        if piece.first
        and piece.text != "__all__"
        and piece.token.kind in ("quoted", "path", "name", "literal")
        and not any(_holds(span, bare(piece.text)) for span in spans)
        and not any(start - 1 <= piece.start and piece.end <= end + 1 for start, end in used)
    ]


def bare(text: str) -> str:
    """A name or text without quotes, `()` and @.

    Args:
        text: of a piece or a slot.
    """
    return text.strip("\"'«»“” ").removesuffix("()").lstrip("@")


def _holds(span: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w])", span) is not None
