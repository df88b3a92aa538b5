"""The check of every edit: each occurrence of the names concerned means afterwards what it meant before, and parser,
linter and type checker report nothing new. Blocking."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from repopilot.code.source_positions import line_at
from repopilot.i18n import Message, message
from repopilot.resolve.families import Ties, is_related, ties_of
from repopilot.resolve.values import Diagnosis, NameSpan
from repopilot.tools.file_change import syntax_error
from repopilot.tools.verifying.new_errors import errors_in
from repopilot.tools.working_copy import WorkingCopy

FaultKind = Literal["captured", "unresolved", "overrides", "syntax", "lint", "types"]
"""What is wrong after an edit: a place means something else, or nothing any more; a member overrides one of a library;
what parser, linter and type checker say."""
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_Class = tuple[str, Hashable]


@dataclass(frozen=True, slots=True)
class EditFault:
    """Something that an edit breaks.

    Attributes:
        kind: what is wrong.
        path: the file.
        line: from 1.
        said: what is wrong, in a sentence.
    """

    kind: FaultKind
    path: str
    line: int
    said: str

    @property
    def breaks(self) -> bool:
        """Whether the program certainly means something else."""
        return self.kind in ("captured", "unresolved", "overrides", "syntax")


@dataclass(frozen=True, slots=True)
class Observed:
    """What names mean in one state of the files, and what the type checker says of files that hold them.

    Attributes:
        ties: what belongs together, by name.
        texts: the files that hold a name or are looked at anyway.
        problems: what the type checker says of each file.
        language: the one language of the edited definitions, '' for several.
    """

    ties: Mapping[str, Ties]
    texts: Mapping[str, str | None]
    problems: Mapping[str, list[Diagnosis]]
    language: str = ""


def observed(copy: WorkingCopy, names: Iterable[str], paths: Iterable[str] = (), language: str = "") -> Observed:
    """What some names mean now.

    Args:
        copy: the working copy.
        names: the names that an edit concerns: old and new ones.
        paths: further files that it changes.
        language: the language of all definitions that it changes, so that unrelated code isn't resolved; '' for
            several.
    """
    resolver = copy.resolver
    ties = {name: ties_of(resolver, name, language) for name in dict.fromkeys(names)}
    holding = [one.span.path for name in ties for one in resolver.occurrences(name) if one.kind in ("code", "text")]
    texts = {path: resolver.text(path) for path in sorted({*holding, *paths})}
    there = [path for path, text in texts.items() if text is not None]
    checked = [path for path in there if not language or is_related(resolver, path, language)]
    return Observed(ties, texts, resolver.problems(checked), language)


def faults(copy: WorkingCopy, before: Observed, left: Collection[str] = ()) -> list[EditFault]:
    """What edits of a working copy break.

    Args:
        copy: the working copy after the edits.
        before: what was observed before them, of the same names.
        left: files that were left as they are, which are reported elsewhere.
    """
    after = observed(copy, before.ties, before.texts, before.language)
    moves = _Moves(before.texts, after.texts)
    found = [*_meanings(before, after, moves, left), *_syntax(before, after)]
    names = frozenset(before.ties)
    found += _said("types", _first_lines(before), _first_lines(after), names)
    edited = [path for path, text in after.texts.items() if text != before.texts.get(path)]
    lint = [errors_in({path: state.texts.get(path) for path in edited}) for state in (before, after)]
    found += _said("lint", lint[0], lint[1], names)
    return [one for one in found if one.path not in left]


class _Moves:
    """Where places of the files stand after an edit."""

    def __init__(self, before: Mapping[str, str | None], after: Mapping[str, str | None]) -> None:
        changed = [path for path, old in before.items() if old is not None and old != after.get(path)]
        self._blocks = {path: _blocks(before[path] or "", after.get(path) or "") for path in changed}

    def of(self, span: NameSpan) -> NameSpan | None:
        """Where a place stands now, None for one that is gone."""
        blocks = self._blocks.get(span.path)
        if blocks is None:
            return span
        block = blocks[bisect_right(blocks, span.start, key=lambda each: each.start) - 1]
        found = block.moved(span.start)
        return NameSpan(span.path, *found) if found is not None else None


@dataclass(slots=True)
class _Block:
    """Lines that an edit left or replaced: where they begin before and after it, and what they were and are."""

    start: int
    new_start: int
    old: str
    new: str
    _words: dict[int, tuple[int, int]] | None = None

    def moved(self, place: int) -> tuple[int, int] | None:
        """Where a word stands afterwards; None for one that is gone."""
        if self._words is None:
            self._words = dict(_words(self.old, self.new))
        found = self._words.get(place - self.start)
        return (self.new_start + found[0], self.new_start + found[1]) if found is not None else None


def _blocks(old: str, new: str) -> list[_Block]:
    olds = old.splitlines(keepends=True)
    news = new.splitlines(keepends=True)
    if len(olds) == len(news):
        codes = [(n, n + 1, n, n + 1) for n in range(len(olds))]
    else:
        codes = [code[1:] for code in difflib.SequenceMatcher(None, olds, news).get_opcodes()]
    found = [_Block(0, 0, "", "")]
    at = [0, 0]
    for i1, i2, j1, j2 in codes:
        found.append(_Block(at[0], at[1], "".join(olds[i1:i2]), "".join(news[j1:j2])))
        at = [at[0] + len(found[-1].old), at[1] + len(found[-1].new)]
    return found


def _words(before: str, after: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """The starts of a text's words, each with the word's span in the new text; a replaced word has that of its
    replacement."""
    olds = list(_TOKENS.finditer(before))
    news = list(_TOKENS.finditer(after))
    if before == after:
        yield from ((one.start(), one.span()) for one in olds)
        return
    matcher = difflib.SequenceMatcher(None, [one[0] for one in olds], [one[0] for one in news], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            yield from ((a.start(), b.span()) for a, b in zip(olds[i1:i2], news[j1:j2], strict=True))


def _meanings(before: Observed, after: Observed, moves: _Moves, left: Collection[str]) -> Iterator[EditFault]:
    """The faults of places that now belong together with other places than before."""
    olds = _classes(before)
    news = _classes(after)
    kept = {moves.of(span) for ties in before.ties.values() for span in ties.kept}
    kept |= {span for ties in after.ties.values() for span in ties.kept}
    pairs = [
        (moved, one, news[moved])
        for span, one in olds.items()
        if (moved := moves.of(span)) is not None and moved in news and moved not in kept and moved.path not in left
    ]
    unsure = {span for ties in after.ties.values() for span in ties.unsure}
    apart = {span for span, _, _ in _strangers((span, one, new) for span, one, new in pairs)}
    joined = {span for span, _, _ in _strangers((span, new, one) for span, one, new in pairs)}
    for span in sorted(apart | joined):
        kind: FaultKind = "unresolved" if span in unsure and span not in joined else "captured"
        text = after.texts.get(span.path) or ""
        word = text[span.start : span.end]
        yield EditFault(kind, span.path, line_at(text, span.start), message(f"edit_check.{kind}", name=word))
    yield from _overriding(before, after, pairs)


def _classes(state: Observed) -> dict[NameSpan, _Class]:
    return {
        span: (name, leader)
        for name, ties in state.ties.items()
        for leader, spans in ties.classes().items()
        for span in spans
    }


def _strangers(pairs: Iterable[tuple[NameSpan, _Class, _Class]]) -> Iterator[tuple[NameSpan, _Class, _Class]]:
    """For each first class, its places outside of the second class that holds most of them."""
    groups: dict[_Class, list[tuple[NameSpan, _Class, _Class]]] = defaultdict(list)
    for each in pairs:
        groups[each[1]].append(each)
    for group in groups.values():
        most = Counter(second for _, _, second in group).most_common(1)[0][0]
        yield from (each for each in group if each[2] != most)


def _overriding(
    before: Observed, after: Observed, pairs: Iterable[tuple[NameSpan, _Class, _Class]]
) -> Iterator[EditFault]:
    """The faults of members that newly override one of a library."""
    known = {one: _outside(before, one) for _, one, _ in pairs}
    told: set[_Class] = set()
    for span, one, new in sorted(pairs, key=lambda pair: pair[0]):
        added = _outside(after, new) - known[one]
        if added and new not in told and not _outside(before, one):
            told.add(new)
            text = after.texts.get(span.path) or ""
            said = message("edit_check.overrides", name=text[span.start : span.end], where=", ".join(sorted(added)))
            yield EditFault("overrides", span.path, line_at(text, span.start), said)


def _outside(state: Observed, one: _Class) -> frozenset[str]:
    name, leader = one
    return state.ties[name].outside_of(leader)


def _syntax(before: Observed, after: Observed) -> Iterator[EditFault]:
    for path, text in after.texts.items():
        old = before.texts.get(path)
        if text is None or text == old:
            continue
        found = syntax_error(path, text)
        if found is not None and (old is None or syntax_error(path, old) is None):
            yield EditFault("syntax", path, found.line, found.message)


def _said(
    kind: Literal["types", "lint"],
    before: Mapping[str, list[tuple[int, str]]],
    after: Mapping[str, list[tuple[int, str]]],
    names: Collection[str],
) -> Iterator[EditFault]:
    """The faults for new messages, compared without the edited names in them."""
    varying = "|".join([r"line \d+", *map(re.escape, names)])
    word = re.compile(rf"\b(?:{varying})\b")
    for path, said in after.items():
        known = Counter(word.sub("", text) for _, text in before.get(path, ()))
        for line, text in said:
            plain = word.sub("", text)
            known[plain] -= 1
            if known[plain] < 0:
                yield EditFault(kind, path, line, text)


def _first_lines(state: Observed) -> dict[str, list[tuple[int, str]]]:
    """The first lines of the type checker's messages, without its explanations."""
    said = state.problems.items()
    return {path: [(one.line, one.message.split("\n")[0].strip()) for one in each] for path, each in said}


def told(found: Iterable[EditFault]) -> list[str]:
    """The faults as lines for a person."""
    return [f"{one.path}:{one.line}: {one.said}" for one in found]


def refusal(found: Iterable[EditFault]) -> tuple[Message, Message]:
    """The message that refuses an edit for its faults, and the hint with the places."""
    rows = told(found)
    return message("edit_check.refused", count=len(rows)), message("edit_check.places", places="\n".join(rows[:20]))
