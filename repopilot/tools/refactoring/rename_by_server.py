"""Renames by a language server: extended to exports, interfaces and other places that must keep the same name, and made
only if all places still mean what they meant before. Blocking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from repopilot.code.languages import SCRIPTS, TYPESCRIPT, family, language_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.syntax.family import called_by_language, family_of
from repopilot.resolve.syntax.resolver import NameUse
from repopilot.resolve.values import Meaning, NameSpan, Occurrence
from repopilot.tools.refactoring.refactored import edited
from repopilot.tools.refactoring.rename_by_syntax import UnsoundRename, refusal, require_sound
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

LANGUAGES = "js"
"""The language family whose server is asked, since its renames were measured."""
_MOST_ASKED = 200
_MOST_JOINED = 6
_ALIASED = re.compile(r"\w+ as \w+")


@dataclass(slots=True)
class ServerRename:
    """A rename as a server makes it.

    Attributes:
        edits: the text to write by place; a shorthand with only one renamed half is written out.
        outside: the library files that it would edit too.
        left: the unresolved places of code that may mean the definition.
    """

    edits: dict[NameSpan, str] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    left: list[Occurrence] = field(default_factory=list)

    def before(self, span: NameSpan) -> NameSpan:
        """Where a place stood before the edits; for a place in the text of an edit, the edited place."""
        grown = 0
        for place, text in sorted(self.edits.items()):
            start = place.start + grown
            if place.path != span.path or start > span.start:
                continue
            if span.start < start + len(text):
                return place
            grown += len(text) - (place.end - place.start)
        return NameSpan(span.path, span.start - grown, span.end - grown)


def renamed(copy: WorkingCopy, symbol: Symbol, new: str) -> ServerRename | None:
    """The rename of a definition by the language's server, with everything that must keep the same name.

    Args:
        copy: the working copy.
        symbol: the definition.
        new: its new name.

    Returns:
        The rename; None where no server renames it.

    Raises:
        UsageError: the definition belongs to something outside, or the code would mean something else, or be wrong.
    """
    if family(language_of(symbol.path) or "") != LANGUAGES:
        return None
    names = _Names(copy, symbol, new)
    found = names.followed([names.start]) if names.start is not None else None
    if found is None or names.start is None:
        return None
    outside = found.outside | (names.outside(names.start) if names.start not in found.edits else set())
    if outside:
        files = sorted(each.rpartition("/")[2] for each in outside)
        raise refusal("outside", copy, symbol, (), name=names.old, outside=", ".join(files[:3]))
    if names.start not in found.edits:
        return None
    if unread := names.unread(found):
        raise refusal("unresolved", copy, symbol, unread, name=names.old)
    try:
        return names.tried(found)
    except UnsoundRename as error:
        joined = names.joined(found, error)
        if joined is None:
            raise
        return joined


class _Names:
    """The occurrences of a name that is renamed, and what they mean.

    Attributes:
        start: where the definition's name stands, None where that isn't found.
    """

    def __init__(self, copy: WorkingCopy, symbol: Symbol, new: str) -> None:
        self.old = symbol.name
        self._new = new
        self._copy = copy
        self._symbol = symbol
        resolver = copy.resolver
        both = [one for name in (self.old, new) for one in resolver.meanings(name)]
        self._meanings = {one.occurrence.span: one.meaning for one in both}
        self._uses = {use.occurrence.span: use for use in resolver.syntax().uses(self.old)}
        self.start = self._defined_at()

    def _defined_at(self) -> NameSpan | None:
        """The first occurrence on the definition's lines that is a definition, of a member where the symbol is one;
        else the first occurrence there, if it is resolved."""
        symbol = self._symbol
        lines = range(symbol.start_line, symbol.end_line + 1)
        found = [one for one in self._copy.resolver.occurrences(self.old) if one.span.path == self._symbol.path]
        spans = [one.span for one in found if one.line in lines and one.kind == "code"]
        member = "." in symbol.qualified
        defined = (s for s in spans if self._is_definition(s) and s in self._uses and self._uses[s].member == member)
        first = [span for span in spans[:1] if span in self._meanings and self._meanings[span].known]
        return next(defined, next(iter(first), None))

    def _is_definition(self, span: NameSpan) -> bool:
        return span in self._meanings and span in self._meanings[span].inside

    def unread(self, found: ServerRename) -> list[Occurrence]:
        """The places that forbid a rename of nothing but the definition: those that may mean it in JavaScript, where
        few types are known; or the definition itself, if it is the key of an object, which something outside may
        read."""
        use = self._uses.get(self.start) if self.start is not None else None
        if use is None or set(found.edits) != {self.start}:
            return []
        untyped = language_of(self._symbol.path) not in TYPESCRIPT
        return (found.left if untyped else []) or ([use.occurrence] if use.member and not use.declares else [])

    def outside(self, span: NameSpan) -> frozenset[str]:
        """The files outside of the repository that define the name at a place."""
        return self._meanings[span].outside if span in self._meanings else frozenset()

    def followed(self, starts: Sequence[NameSpan]) -> ServerRename | None:
        """The rename of some definitions, and of all that is connected with them. None where the server can't
        rename."""
        found = ServerRename()
        asked: set[NameSpan] = set()
        todo = set(starts)
        while todo and len(asked) < _MOST_ASKED:
            span = min(todo)
            asked.add(span)
            answer = self._copy.resolver.renames(span, self.old, self._new)
            if answer is None:
                return None
            _add(found, answer[0], self._new)
            found.outside |= answer[1]
            todo = (todo | self._connected(found.edits)) - asked
        self._add_by_syntax(found)
        return found

    def _connected(self, edits: Mapping[NameSpan, str]) -> set[NameSpan]:
        """The places to ask about next: definitions that a renamed place means, and places that aren't renamed but mean
        a renamed definition."""
        whole = {span for span, text in edits.items() if text == self._new}
        found = set()
        for span, meaning in self._meanings.items():
            if span in whole:
                found |= {each for each in meaning.inside if each in self._uses}
            elif span not in edits and not self._is_shorthand(span) and meaning.inside & whole:
                found.add(span)
        return found

    def _is_shorthand(self, span: NameSpan) -> bool:
        return span in self._uses and self._uses[span].is_shorthand

    def _add_by_syntax(self, found: ServerRename) -> None:
        """Add the places that only the syntax resolves, those that nothing resolves, and what is bound outside."""
        group = family_of(self._copy.resolver.syntax(), self._symbol)
        known = group.keys if group is not None else frozenset()
        keys = (use for use in self._uses.values() if use.found is None and (use.member or use.is_shorthand))
        unsure = {use.occurrence.span for use in (keys if group is None else group.unsure)}
        for one in self._copy.resolver.occurrences(self.old):
            use = self._uses.get(one.span)
            meaning = self._meanings.get(one.span, Meaning())
            if one.span in found.edits or family(language_of(one.span.path) or "") != LANGUAGES:
                continue
            resolved = meaning.known and not _is_loose(one.span, use, meaning)
            may_be = one.kind in ("code", "document") and (use is None or one.span in unsure)
            if use is not None and not resolved and use.found in known:
                found.edits[one.span] = f"{self.old}: {self._new}" if use.is_shorthand else self._new
            elif (may_be and not resolved) or any(found.edits.get(span) == self._new for span in meaning.inside):
                found.left.append(one)
        found.outside.update(called_by_language(self.old, language_of(self._symbol.path) or ""))
        found.outside |= group.outside - {*TYPESCRIPT} if group is not None else set()

    def tried(self, found: ServerRename) -> ServerRename:
        """A rename, after checking the files that hold either name. Where other types have members of the old name, all
        files are checked, since their objects may be passed as the renamed type in files that name neither.

        Raises:
            UsageError: the code would mean something else, or be wrong, or the server doesn't answer.
        """
        copy = self._copy
        tried = [(edited(copy, found.edits.items()), _checked({span.path for span in self._meanings}))]
        apart = _kept_apart(found.edits, self._uses)
        if apart and self._others(found):
            tried.append((edited(copy, (found.edits | apart).items()), _checked(copy.searched())))
        if not require_sound(copy, self._symbol, self._new, tried, partial(self._captured, found)):
            raise UsageError(message("rename.unchecked", name=self.old), "\n".join(copy.resolver.notes))
        return found

    def _others(self, found: ServerRename) -> list[NameSpan]:
        """The members of the old name that other types declare, if a member is renamed."""
        if not any(self._uses[span].member for span in found.edits if span in self._uses):
            return []
        return [span for span, use in self._uses.items() if span not in found.edits and self._is_declared(use, span)]

    def _is_declared(self, use: NameUse, span: NameSpan) -> bool:
        return self._is_definition(span) and (use.member or use.is_shorthand)

    def _captured(self, found: ServerRename) -> list[Occurrence]:
        """The places of both names that mean something else after the edits."""
        wrong = []
        for one in (each for name in (self.old, self._new) for each in self._copy.resolver.meanings(name)):
            span = found.before(one.occurrence.span)
            known = self._meanings.get(span)
            now = Meaning(frozenset(map(found.before, one.meaning.inside)), one.meaning.outside)
            if known is not None and known != now and found.edits.get(span, self._new) == self._new:
                wrong.append(one.occurrence)
        return wrong

    def joined(self, found: ServerRename, error: UnsoundRename) -> ServerRename | None:
        """A rename extended to members of other types that stand in for the renamed ones: each that leaves fewer errors
        is added. None where errors remain."""
        starts = [self.start] if self.start is not None else []
        tries = 0
        while True:
            others = [span for span in self._others(found) if not self._is_shorthand(span)]
            others.sort(key=lambda span: (span.path not in error.paths, span))
            for span in others[: _MOST_JOINED - tries]:
                tries += 1
                more = self.followed([*starts, span])
                try:
                    if more is not None and not more.outside:
                        return self.tried(more)
                except UnsoundRename as worse:
                    if worse.count < error.count:
                        error = worse
                        found = more or found
                        starts.append(span)
                        break
            else:
                return None


def _checked(paths: Iterable[str]) -> list[str]:
    return sorted(path for path in paths if language_of(path) in SCRIPTS)


def _is_loose(span: NameSpan, use: NameUse | None, meaning: Meaning) -> bool:
    """Whether a name is taken from an object of any type, `({ name }) => name`, so that only its variable is known."""
    return use is not None and use.declares and use.is_shorthand and meaning.inside == {span}


def _add(found: ServerRename, edits: Mapping[NameSpan, str], new: str) -> None:
    """Add edits. A place that would get an alias, or for which two edits differ, gets the new name alone."""
    for span, text in edits.items():
        known = found.edits.get(span, text)
        found.edits[span] = new if known != text or _ALIASED.fullmatch(text) else text


def _kept_apart(edits: Mapping[NameSpan, str], uses: Mapping[NameSpan, NameUse]) -> dict[NameSpan, str]:
    """Edits by which a type checker reports objects of other types that have the old name, where the new one is
    optional: each renamed member of a type is declared under its old name too, as an optional `never`."""
    found = {}
    for span, use in uses.items():
        member = use.word.node.parent
        body = member.parent if member is not None else None
        if span in edits and member is not None and body is not None and body.type in ("interface_body", "object_type"):
            start, _ = use.source.characters(member.start_byte, member.end_byte)
            name = use.source.text_of(use.word.node)
            found[NameSpan(span.path, start, start)] = f"{name}?: never; "
    return found
