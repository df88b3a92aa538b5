"""Reads an agent model's answer: its sentences, each with the places `[path:start-end]` that it cites. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from repopilot.retrieval.claims import split_sentences

LONGEST_CITATION = 400
"""Characters of a citation in brackets."""
_PATH = r"(?:[\w@+.-]+/)*[\w@+.-]+"
_LINES = r"L?\d{1,7}(?: ?[-–] ?L?\d{1,7})?"
_AT = r"(?::|#(?=L))"
_SPOT = rf"`?{_PATH}{_AT}{_LINES}`?"
_CITATION = re.compile(
    rf"[\[(【]\s*{_SPOT}(?:\s*[,;]\s*(?:{_SPOT}|{_LINES}))*\s*[\])】](?!\()|(?<![\w/`]){_PATH}\.[A-Za-z]\w*{_AT}{_LINES}(?![\w`])"
)
_CITED_CODE = re.compile(rf"`(\[?{_PATH}{_AT}{_LINES}\]?)`")
_PART = re.compile(rf"(?:(?P<path>{_PATH}){_AT})?L?(?P<start>\d{{1,7}})(?: ?[-–] ?L?(?P<end>\d{{1,7}}))?")
_BEGUN = re.compile(rf"[\[(【]\s*(?:(?:{_SPOT}|{_LINES}|\^?\d{{1,3}})\s*[,;]\s*)*[^\s,;\])】]*(?: ?[-–] ?L?\d*)?\s*\Z")
"""The beginning of what further text may make a citation."""
_BARE_NUMBER = re.compile(r"(?<=\S) ?\[\^?\d{1,3}(?:\s*,\s*\d{1,3})*\](?!\()")
_CODE = re.compile(r"`[^`\n]+`")
_FENCED = re.compile(r"(^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\2[ \t]*(?:\n|\Z)|\Z))", re.M | re.S)
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+|\s*>\s*")
_NUMBERS = re.compile(r"\[[\d, ]*\]")
_MARKS = re.compile(r"\s?\[(\d+(?:, \d+)*)\]")
_PLACED = re.compile("\\s?\ue002([\\d,]+)\ue003")
"""The mark where a passage cites its places; no code span looks like it."""
_MASKED = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class CitedLines:
    """A place as a model cites it; the repository may not have it."""

    path: str
    start: int
    end: int

    @property
    def place(self) -> str:
        """The place as `path:start-end`."""
        return f"{self.path}:{self.start}-{self.end}"

    @property
    def shown(self) -> str:
        """The place as a reader sees it: with one number for a single line."""
        return self.place if self.end > self.start else f"{self.path}:{self.start}"

    def __contains__(self, other: CitedLines) -> bool:
        return self.path == other.path and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of an answer.

    Attributes:
        text: a sentence with marks where it cites its places; code with its whole fence; or layout.
        kind: a sentence of prose, code in a fence, or layout: headings, blank lines, tables.
        places: the places that it cites, each once.
        lead: the indentation and the mark of a list item before it.
        gap: the white space after it.
    """

    text: str
    kind: Literal["sentence", "code", "layout"]
    places: tuple[CitedLines, ...] = ()
    lead: str = ""
    gap: str = ""

    @property
    def bare(self) -> str:
        """The text without citations."""
        return _PLACED.sub("", self.text)

    @property
    def written(self) -> str:
        """The text with its citations in place: a citation may serve as a word of the sentence."""
        return self.cited_as([place.shown for place in self.places])

    def cited_as(self, marks: Sequence[str], further: Sequence[str] = ()) -> str:
        """The text with marks in brackets where it cites its places.

        Args:
            marks: the marks of the places, in their order.
            further: marks of places that the text doesn't cite itself; they go before its closing punctuation.
        """

        def marked(match: re.Match[str]) -> str:
            kept = dict.fromkeys(marks[int(n)] for n in match.group(1).split(","))
            space = match.group(0)[: match.group(0).index("\ue002")]
            return space + "".join(f"[{mark}]" for mark in kept)

        text = re.sub(r"(?<=\d\]) (?=\[\d)", "", _PLACED.sub(marked, self.text))
        shown = [mark for mark in dict.fromkeys(further) if mark not in marks]
        end = re.search(r"[.!?:;…]*[*_]*\s*$", text)
        at = end.start() if end else len(text)
        added = "".join(f"[{mark}]" for mark in shown)
        before = text[:at].rstrip()
        return f"{before}{'' if before.endswith(']') else ' '}{added}{text[at:]}" if shown else text


def parts_of(answer: str) -> list[AnswerPart]:
    """Take an answer apart.

    Args:
        answer: Markdown with citations `[path:start-end]`, several in one pair of brackets or one after another, before
            or after the full stop.

    Returns:
        The parts in order.
    """
    return _joined(_pieces(answer))


@dataclass
class AnswerSoFar:
    """Takes an answer apart while it is written. Finished lines are read once, the last one again with each text."""

    _text: str = ""
    _read: int = 0
    _lines: list[AnswerPart] = field(default_factory=list)

    def complete(self, text: str) -> list[AnswerPart]:
        """The parts that further text can't change. The last part that isn't blank is withheld, since a citation may
        follow on a line of its own; so is an unfinished part after it, which may become that citation.

        Args:
            text: the answer so far; a text that doesn't continue the last one is another answer.
        """
        if not text.startswith(self._text):
            self._read = 0
            self._lines = []
        self._text = text
        end = self._read + _end_of_lines(text[self._read :])
        self._lines += _pieces(text[self._read : end])
        self._read = end
        parts = _joined([*self._lines, *_pieces(_unambiguous(text[end:]))])
        written = [number for number, part in enumerate(parts) if part.text.strip()]
        withheld = 2 if text[end:].strip() else 1
        return parts[: written[-withheld]] if len(written) >= withheld else []


def _end_of_lines(text: str) -> int:
    """The end of the finished lines that further text can't change: none is in an open fence, or in what may become a
    citation."""
    end = text.rfind("\n") + 1
    fences = [match for match in _FENCED.finditer(text, 0, end) if not _is_closed(match.group(0), match.group(2))]
    end = fences[-1].start() if fences else end
    begun = _BEGUN.search(text, max(0, end - LONGEST_CITATION), end)
    return text.rfind("\n", 0, begun.start()) + 1 if begun else end


def _is_closed(fence: str, marks: str) -> bool:
    return re.search(rf"\n[ \t]*{marks}[ \t]*\n\Z", fence) is not None


def _unambiguous(text: str) -> str:
    """The beginning of the unfinished lines, as far as it reads the same whatever follows."""
    begun = _BEGUN.search(text, max(0, len(text) - LONGEST_CITATION))
    kept = text[: begun.start()] if begun else text
    open_mark = _CODE.sub(lambda span: " " * len(span.group(0)), kept).find("`", kept.rfind("\n") + 1)
    return kept if open_mark < 0 else kept[:open_mark]


def _pieces(text: str) -> Iterator[AnswerPart]:
    for number, part in enumerate(_FENCED.split(text)):
        if number % 3 == 1:
            yield AnswerPart(part, "code")
        elif number % 3 == 0:
            yield from _prose(part)


def _prose(text: str) -> Iterator[AnswerPart]:
    masked, spans, places = _masked(text)
    for piece, prose in split_sentences(masked):
        if prose:
            yield _sentence(piece, spans, places)
        else:
            yield AnswerPart(_unmasked(_MARKS.sub(partial(_as_code, places), piece), spans), "layout")


def _as_code(places: Sequence[CitedLines], match: re.Match[str]) -> str:
    """The citations of a heading or a table cell as code, since these get no numbers."""
    shown = ", ".join(f"`{places[int(n)].shown}`" for n in match.group(1).split(","))
    return match.group(0)[: match.group(0).index("[")] + shown


def _masked(text: str) -> tuple[str, list[str], list[CitedLines]]:
    """The text with each citation replaced by the number of its place in brackets, and with code spans masked; then the
    code spans and the places."""
    places: dict[CitedLines, int] = {}
    spans: list[str] = []

    def cite(match: re.Match[str]) -> str:
        numbers = []
        path = ""
        for part in _PART.finditer(match.group(0)):
            path = part["path"] or path
            start = int(part["start"])
            place = CitedLines(path.removeprefix("./"), start, int(part["end"] or start))
            numbers.append(places.setdefault(place, len(places)))
        return f"[{', '.join(map(str, numbers))}]"

    def mask(match: re.Match[str]) -> str:
        spans.append(match.group(0))
        return f"\ue000{len(spans) - 1}\ue001"

    text = re.sub("[\ue000-\ue003]", "", text)
    bare = _CITED_CODE.sub(lambda m: m.group(1) if m.group(1).startswith("[") else f"[{m.group(1)}]", text)
    # The model's own numbers in brackets cite nothing and are removed; what looks similar, such as a tick box, stays.
    bare = _NUMBERS.sub(mask, _BARE_NUMBER.sub("", _CODE.sub(mask, bare)))
    return _CITATION.sub(cite, bare), spans, list(places)


def _sentence(piece: str, spans: list[str], places: list[CitedLines]) -> AnswerPart:
    numbers = [int(n) for match in _MARKS.finditer(piece) for n in match.group(1).split(",")]
    own = {number: at for at, number in enumerate(dict.fromkeys(numbers))}
    piece = _MARKS.sub(lambda m: _with_own(m, own), piece)
    lead = _LIST_MARK.match(piece)
    start = lead.end() if lead else 0
    text = piece[start:].rstrip()
    return AnswerPart(
        text=_unmasked(text, spans),
        kind="sentence",
        places=tuple(places[number] for number in own),
        lead=piece[:start],
        gap=piece[start + len(text) :],
    )


def _with_own(match: re.Match[str], own: Mapping[int, int]) -> str:
    numbers = ",".join(str(own[int(n)]) for n in match.group(1).split(","))
    return match.group(0)[: match.group(0).index("[")] + _placed(numbers)


def _placed(numbers: str) -> str:
    return f"\ue002{numbers}\ue003"


def _joined(passages: Iterable[AnswerPart]) -> list[AnswerPart]:
    """The passages, with each citation on a line of its own joined to the sentence before it."""
    found: list[AnswerPart] = []
    for each in passages:
        at = next((n for n in range(len(found) - 1, -1, -1) if found[n].text.strip()), -1)
        if at >= 0 and found[at].kind == "sentence" and each.places and not each.bare.strip(" .,;:!?"):
            before = found[at]
            numbers = ",".join(str(len(before.places) + n) for n in range(len(each.places)))
            text = f"{before.text} {_placed(numbers)}"
            found[at:] = [replace(before, text=text, places=(*before.places, *each.places), gap=each.gap)]
        else:
            found.append(each)
    return found


def _unmasked(text: str, spans: Sequence[str]) -> str:
    return _MASKED.sub(lambda match: spans[int(match.group(1))], text)
