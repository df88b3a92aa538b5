"""Checks an agent model's answer sentence by sentence against the lines that it read. Sync; every sentence is shown.

Checked: its places exist and were read, and every name in code marks stands in them or in another place that was read.
Contradicted: it names code that exists nowhere. Not checked: everything else, with the reason.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repopilot.agents.explain.borne_out import strange_numbers, words_of
from repopilot.agents.explain.cited_prose import AnswerPart, CitedLines
from repopilot.agents.explain.lines_read import LinesRead
from repopilot.foreign_text import CODE_SPAN
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.results import SentenceStatus
from repopilot.retrieval.cite import without_spaces
from repopilot.retrieval.claims import LITERALS, Anchor, claim_of, identifiers, last_name
from repopilot.types import innermost

MOST_ADDED = 3
"""Places that a sentence gets for names that its own places don't hold."""
_DENIES = re.compile(
    r"\b(?:no|not|never|none|nothing|nowhere|without|isn't|doesn't|aren't|don't|lacks?|absent|missing|pas|aucune?|jamais|"
    r"nulle part)\b|n[’']t\b",
    re.I,
)
_DENIED = r"(?:\b(?:without|instead of|rather than|not|never|nor|no|in vain)\b|n[’']t\b)"
_HEADING = re.compile(r":$|^(\*\*|__)[^*_]+\1:?$")
"""Words that only introduce the text after them."""
_ONE_NAME = re.compile(r"[*&@!]+([A-Za-z_$][\w$]*)(?:\(\))?")
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Known:
    """What an answer is checked against.

    Attributes:
        read: the lines that the model has seen.
        question: as it was asked, with the conversation it belongs to.
        index: the repository.
        exists: whether a name stands anywhere in the repository, or in what it depends on.
    """

    read: LinesRead
    question: str
    index: Index
    exists: Callable[[Anchor], bool]


class CheckedPart(NamedTuple):
    """A passage with what was found out about it.

    Attributes:
        passage: as written.
        status: None for layout, and for words that claim nothing.
        why: the reason, a message; '' where it is checked.
        cited: for each place that it cites, the place in the repository, None where there are no such lines.
        added: places that it rests on and doesn't cite.
    """

    passage: AnswerPart
    status: SentenceStatus | None = None
    why: str = ""
    cited: tuple[CitedLines | None, ...] = ()
    added: tuple[CitedLines, ...] = ()

    @property
    def places(self) -> tuple[CitedLines, ...]:
        """What it rests on, each place once."""
        return tuple(dict.fromkeys(place for place in (*self.cited, *self.added) if place is not None))


def check_answer(passages: Iterable[AnswerPart], known: Known) -> list[CheckedPart]:
    """Check each passage of an answer.

    Args:
        passages: the passages, in order.
        known: what they are checked against.

    Returns:
        Each passage with its status, in the same order.
    """
    return [_checked(passage, known) for passage in passages]


def _checked(passage: AnswerPart, known: Known) -> CheckedPart:
    if passage.kind == "layout":
        return CheckedPart(passage)
    if passage.kind == "code":
        return _checked_code(passage, known)
    cited = tuple(_meant(place, known) for place in passage.places)
    anchors = _named(passage.bare, {place.path for place in cited if place is not None}, known)
    if not _WORD.search(passage.bare) or not (cited or anchors or not _HEADING.search(passage.bare)):
        return CheckedPart(passage, cited=cited)
    status, why, added = _judged(passage, cited, anchors, known)
    return CheckedPart(passage, status, why, cited, added)


def _checked_code(passage: AnswerPart, known: Known) -> CheckedPart:
    """Check code in a fence: it was read, or is the model's own."""
    rows = [row for row in passage.text.split("\n")[1:] if row.strip() and not row.lstrip().startswith(("```", "~~~"))]
    if any(not any(known.read.with_text(row)) for row in rows):
        return CheckedPart(passage, "unchecked", message("explain.sentence.own_code"))
    return CheckedPart(passage, "checked")


def _judged(
    passage: AnswerPart, cited: Sequence[CitedLines | None], anchors: Sequence[Anchor], known: Known
) -> tuple[SentenceStatus, str, tuple[CitedLines, ...]]:
    """Status of a sentence, the reason, and the places that it should cite as well."""
    absent = [anchor for anchor in anchors if not _is_anywhere(anchor, known)]
    if strange := next((anchor for anchor in absent if not _is_denied(anchor, passage)), None):
        return (*_absent(passage, strange, known), ())
    anchors = [anchor for anchor in anchors if anchor not in absent]
    if problem := _place_problem(passage.places, cited, known):
        return "unchecked", problem, ()
    places = [place for place in cited if place is not None]
    texts = [_text_of(place, known) for place in places]
    found = [(a, _read_at(a, known, places)) for a in anchors if not any(_stands_in(a, text) for text in texts)]
    denies = _DENIES.search(CODE_SPAN.sub(" ", passage.bare)) is not None
    standing = {anchor.text for anchor in anchors if all(anchor != missing for missing, _ in found)}
    claimed = [
        (anchor, at)
        for anchor, at in found
        if not (_need_not_stand(anchor, at, passage, denies, known) or _is_kind_of(anchor.text, standing))
    ]
    if unread := next((anchor for anchor, at in claimed if at is None), None):
        told = not cited and _is_told(unread, known)
        why = message("explain.sentence.no_place" if told else "explain.sentence.not_read", name=unread.text)
        return "unchecked", why, ()
    apart = [(anchor, at) for anchor, at in claimed if at is not None and not _within(at, places)]
    meant = (
        at for anchor, at in apart if _is_meant_at(anchor, at, known) and not (cited and _is_use(anchor, at, known))
    )
    added = tuple(dict.fromkeys(meant))[:MOST_ADDED]
    wider = [_text_of(_function_of(place, known), known) for place in places]
    far = [
        anchor
        for anchor, _ in apart
        if not anchor.text.startswith("--") and not any(_stands_in(anchor, text) for text in wider)
    ]
    if cited and far and len(far) == len(anchors) - len(found) + len(claimed):
        names = ", ".join(f"`{anchor.text}`" for anchor in anchors)
        return "unchecked", message("explain.sentence.elsewhere", names=names), added
    searched = next(iter([*absent, *(a for a, _ in found if denies and _was_searched(a, known))]), None)
    if not cited and searched is not None and not claimed:
        return "checked", message("explain.sentence.searched", name=searched.text), ()
    if not cited and (not added or (denies and searched is None)):
        return "unchecked", message("explain.sentence.no_place"), ()
    lines = "\n".join([*texts, *(_text_of(place, known) for place in added)])
    values = [at for at in _values_of_names(passage.bare, lines, known) if not _within(at, places)]
    problem = _misstated(passage.bare, "\n".join([lines, *(_text_of(place, known) for place in values)]), known)
    problem = problem or next(filter(None, (_of_another(anchor, known) for anchor in anchors)), "")
    return ("unchecked" if problem else "checked"), problem, (*added, *values)


def _need_not_stand(anchor: Anchor, at: CitedLines | None, passage: AnswerPart, denies: bool, known: Known) -> bool:
    """Whether a name may be missing from the cited lines: the sentence denies it, a tool told it without its lines, a
    search for it found nothing, or it belongs to an example."""
    if passage.places and _is_denied(anchor, passage):
        return True
    if at is not None:
        return False
    if passage.places and _is_told(anchor, known):
        return True
    if denies and _was_searched(anchor, known):
        return True
    return f"`{anchor.text}" not in passage.bare and not known.index.symbols(last_name(anchor.text))


def _is_told(anchor: Anchor, known: Known) -> bool:
    return anchor.text in known.read.told or last_name(anchor.text) in known.read.told


def _is_denied(anchor: Anchor, passage: AnswerPart) -> bool:
    """Whether a sentence says, right before a name, that it isn't there."""
    return re.search(rf"{_DENIED}[^`.;]{{0,28}}`{re.escape(anchor.text)}", passage.bare, re.I) is not None


def _is_kind_of(name: str, others: Iterable[str]) -> bool:
    """Whether a built-in class of Python inherits from one of others: a `KeyboardInterrupt` is a `BaseException`."""
    kinds = [vars(builtins).get(other) for other in (name, *others)]
    return isinstance(kinds[0], type) and any(
        isinstance(kind, type) and kind is not object and issubclass(kinds[0], kind) for kind in kinds[1:]
    )


def _is_meant_at(anchor: Anchor, at: CitedLines, known: Known) -> bool:
    """Whether a place contains the qualifier of a name, too: `ky.get` isn't `headers.get`. False for a built-in name of
    Python, which may occur anywhere."""
    *before, _ = anchor.text.split(".") if anchor.kind == "name" else [""]
    if not before:
        return not hasattr(builtins, anchor.text)
    return before[-1] in identifiers(_text_of(at, known))


def _is_use(anchor: Anchor, at: CitedLines, known: Known) -> bool:
    """Whether a place only uses a name, or the name has further definitions: then the place proves nothing. An option
    is defined where it is written out."""
    if anchor.text.startswith("--"):
        return anchor.text not in _text_of(at, known)
    if anchor.kind != "name":
        return False
    named = [symbol for name in _spellings(anchor) for symbol in known.index.symbols(name)]
    meant = [symbol for symbol in named if symbol.qualified == anchor.text] or named
    return [(symbol.path, symbol.start_line) for symbol in meant] != [(at.path, at.start)]


def _function_of(place: CitedLines, known: Known) -> CitedLines:
    """The innermost function around the beginning of a place, else the place."""
    functions = (symbol for symbol in known.index.outline(place.path) if symbol.kind in ("function", "method"))
    inner = innermost(functions, place.start)
    return CitedLines(place.path, inner.start_line, inner.end_line) if inner is not None else place


def _within(at: CitedLines, places: Iterable[CitedLines]) -> bool:
    return any(at in place for place in places)


def _meant(place: CitedLines, known: Known) -> CitedLines | None:
    """A place under its whole path; None where there are no such lines."""
    path = _whole_path(place.path, known)
    text = known.index.text(path) or ""
    exists = text and 1 <= place.start <= place.end <= len(text.removesuffix("\n").split("\n"))
    return CitedLines(path, place.start, place.end) if exists else None


def _whole_path(path: str, known: Known) -> str:
    """The repository's path that equals a path or ends in it; '' for none or several."""
    return known.index.file_named(path.strip().removeprefix("./").strip("/"))


def _absent(passage: AnswerPart, anchor: Anchor, known: Known) -> tuple[SentenceStatus, str]:
    """The status of a sentence with a name that exists nowhere, and the reason. The sentence may say just that about a
    name that was searched for. A name inside a piece of code may belong to an example."""
    is_named = any(re.match(rf"{re.escape(anchor.text)}(?:\(|$)", span) for span in CODE_SPAN.findall(passage.bare))
    is_named = is_named or anchor.text in CODE_SPAN.sub(" ", passage.bare)
    if is_named and not _DENIES.search(CODE_SPAN.sub(" ", passage.bare)):
        return "contradicted", message("explain.sentence.nowhere", name=anchor.text)
    if _was_searched(anchor, known):
        return "checked", message("explain.sentence.searched", name=anchor.text)
    return "unchecked", message("explain.sentence.not_searched", name=anchor.text)


def _was_searched(anchor: Anchor, known: Known) -> bool:
    """Whether a search would have found a name: its text contains the name, or each of its words is a part of the
    name."""
    name = last_name(anchor.text).lower()
    searches = [(searched.lower(), re.findall(r"[^\W_]{3,}", searched.lower())) for searched in known.read.searches]
    return any(name in text or (words and all(word in name for word in words)) for text, words in searches)


def _misstated(sentence: str, lines: str, known: Known) -> str:
    """Why a sentence may contradict its lines although they contain its names, '' where nothing speaks for that."""
    quotes = " ".join(span for span in CODE_SPAN.findall(sentence) if without_spaces(span) in without_spaces(lines))
    if numbers := strange_numbers(sentence, lines, f"{known.question} {known.read.results} {quotes}"):
        return message("explain.sentence.number", number=", ".join(numbers))
    return ""


def _of_another(anchor: Anchor, known: Known) -> str:
    """Why a member isn't one of the class that a sentence names with it, '' where nothing speaks for that: only other
    classes define it, and the class, all of which was read, neither mentions it nor inherits."""
    *_, owner, name = ["", "", *anchor.text.removesuffix("()").split(".")]
    types = [each for each in known.index.symbols(owner) if each.kind in ("class", "struct")]
    owners = {each.qualified.rpartition(".")[0].rpartition(".")[2] for each in known.index.symbols(name)}
    if anchor.kind != "name" or len(types) != 1 or not owners or owners & {"", owner}:
        return ""
    path, first, last = types[0].path, types[0].start_line, types[0].end_line
    text = _text_of(CitedLines(path, first, last), known)
    is_read = all(known.read.holds(path, line, line) for line in range(first, last + 1))
    bases = [each for each in identifiers(types[0].signature) - {owner} if each[0].isupper()]
    embedded = any(re.search(rf"^\s*\*?(?:\w+\.)?{re.escape(each)}\s*$", text, re.M) for each in owners)
    if not is_read or bases or embedded or name in identifiers(text):
        return ""
    return message("explain.sentence.of_another", name=anchor.text, owners=", ".join(sorted(owners)))


def _values_of_names(sentence: str, lines: str, known: Known) -> tuple[CitedLines, ...]:
    """The lines read that assign a number stated by the sentence to a name in the cited lines."""
    names = "|".join(map(re.escape, identifiers(lines) - frozenset(keyword.kwlist)))
    places = []
    for number in strange_numbers(sentence, lines, known.question):
        given = re.compile(
            rf"(?<![\w$])(?<!: )(?:{names})\b[^=:,;<>!]*[=:](?!=)[^,;]*(?<![\w.]){re.escape(number)}(?![\w.])"
        )
        found = ((p, n, _STRING.sub("", known.read.lines[p][n])) for p, n in known.read.with_text(number))
        at = _first((p, n) for p, n, code in found if given.search(code))
        places += [at] if at is not None else []
    return tuple(dict.fromkeys(places))


def _named(sentence: str, paths: Collection[str], known: Known) -> list[Anchor]:
    """The code that a sentence names: everything in code marks, and outside of them whatever can only be code. `paths`
    are the files that the sentence cites."""
    marked = {span.strip() for span in CODE_SPAN.findall(sentence)}
    inside = frozenset().union(*(identifiers(span) for span in marked)) if marked else frozenset()
    found = []
    for anchor in claim_of(sentence).anchors:
        in_marks = anchor.text in marked or last_name(anchor.text) in inside
        if anchor.kind == "quote" and (anchor.text not in marked or not re.search(r"\w", anchor.text)):
            continue  # quoted words, or punctuation alone
        if in_marks or "_" in anchor.text or (anchor.kind == "path" and "/" in anchor.text):
            found.append(anchor)
    return [each for anchor in found for each in _parts(anchor, paths, known)]


def _parts(anchor: Anchor, paths: Collection[str], known: Known) -> list[Anchor]:
    """A piece of code as a whole where the cited files contain it, or any file read where none is cited; else its names
    one by one. A single name with punctuation around it is that name."""
    if name := _ONE_NAME.fullmatch(anchor.text):
        return [Anchor(name[1], "name")]
    if anchor.kind != "quote" or any(not paths or path in paths for path, _ in known.read.with_text(anchor.text)):
        return [anchor]
    if anchor.text in known.read.results:
        return []  # from the names and output of tests and commands
    names = sorted(identifiers(_STRING.sub(" ", anchor.text)) - LITERALS)
    return [Anchor(name, "name") for name in names if len(name) > 1]


def _is_anywhere(anchor: Anchor, known: Known) -> bool:
    if anchor.kind == "quote" or anchor.text in known.question or last_name(anchor.text) in identifiers(known.question):
        return True
    if _is_told(anchor, known):
        return True
    if anchor.kind == "path":
        return "/" not in anchor.text or bool(_whole_path(anchor.text, known)) or known.exists(anchor)
    spelt = [Anchor(name, "name") for name in _spellings(anchor)]
    if any(known.exists(each) or any(known.read.with_name(each.text)) for each in spelt):
        return True
    return known.exists(anchor) or _composed_at(anchor, known) is not None


def _spellings(anchor: Anchor) -> tuple[str, ...]:
    """The last part of a name; for an option or a plain word also the names in code that it may come from: `Force` for
    `force`."""
    name = last_name(anchor.text)
    if name.isalpha() and (name.islower() or name.isupper()):
        return name, name.capitalize(), name.upper()
    if not name.startswith("--"):
        return (name,)
    first, *further = name[2:].split("-")
    return name, "_".join([first, *further]), first + "".join(map(str.capitalize, further))


def _place_problem(written: Sequence[CitedLines], cited: Sequence[CitedLines | None], known: Known) -> str:
    """Why the places of a sentence don't count, '' where they do."""
    for place, meant in zip(written, cited, strict=True):
        if meant is None:
            return message("explain.sentence.no_lines", place=place.place)
        if not known.read.holds(meant.path, meant.start, meant.end):
            return message("explain.sentence.unread", place=place.place)
    return ""


def _text_of(place: CitedLines, known: Known) -> str:
    """The lines of a place that were read, with its path and the names of the definitions around them."""
    lines = known.read.lines.get(place.path, {})
    there = [text for number, text in lines.items() if place.start <= number <= place.end]
    outline = known.index.outline(place.path)
    around = [symbol.qualified for symbol in outline if symbol.start_line <= place.start <= symbol.end_line]
    return "\n".join([place.path, *around, *there])


def _stands_in(anchor: Anchor, text: str) -> bool:
    if anchor.kind == "name":
        names = identifiers(text)
        return not names.isdisjoint(_spellings(anchor)) or f"`{anchor.text}`" in text or _is_part_of(anchor, names)
    return without_spaces(anchor.text).removesuffix("()") in without_spaces(text)


def _is_part_of(anchor: Anchor, names: Iterable[str]) -> bool:
    """Whether a name of several words is a part of another: `HTTPError` of `isHTTPError`."""
    words = f" {words_of(last_name(anchor.text))} "
    if anchor.text.isupper():  # may be a library's constant: `CONNECT` is `MethodConnect`
        return any(words in f" {words_of(name)} " for name in names if name[0].isupper())
    return words.count(" ") > 2 and any(words in f" {words_of(name)} " for name in names)


def _read_at(anchor: Anchor, known: Known, near: Sequence[CitedLines]) -> CitedLines | None:
    """Where a name, path or quote occurs in the lines read: at its definition, else first in the files of `near`."""
    if anchor.kind == "path":
        path = _whole_path(anchor.text, known)
        first = next(iter(known.read.lines.get(path, ())), None)
        return CitedLines(path, first, first) if first is not None else _first(known.read.with_text(anchor.text))
    if anchor.kind == "quote":
        return _first(known.read.with_text(anchor.text))
    names = _spellings(anchor)
    for symbol in (symbol for name in names for symbol in known.index.symbols(name)):
        is_meant = "." not in anchor.text or anchor.text == symbol.qualified
        if is_meant and known.read.holds(symbol.path, symbol.start_line, symbol.start_line):
            return CitedLines(symbol.path, symbol.start_line, symbol.start_line)
    there = sorted(
        (at for name in names for at in known.read.with_name(name)),
        key=lambda at: at[0] not in {place.path for place in near},
    )
    return _first(there) or _composed_at(anchor, known)


def _composed_at(anchor: Anchor, known: Known) -> CitedLines | None:
    """Where the beginning of a name occurs that the program composes when it runs: `"no-"` of `--no-color`."""
    bare = anchor.text.lstrip("-")
    for end in reversed([match.end() for match in re.finditer(r"(?<=\w{2})[-_]", bare)]):
        beginning = re.compile(rf"[\"'`](?:--)?{re.escape(bare[:end])}(?:[\"'`{{%$])")
        rows = (
            (path, n) for path, lines in known.read.lines.items() for n, row in lines.items() if beginning.search(row)
        )
        if at := _first(rows):
            return at
    return None


def _first(places: Iterable[tuple[str, int]]) -> CitedLines | None:
    at = next(iter(places), None)
    return CitedLines(at[0], at[1], at[1]) if at else None
