"""Which occurrences of a name belong together and must be renamed together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import family, language_in
from repopilot.resolve.python_families import PythonTies
from repopilot.resolve.values import Family, NameSpan, Occurrence, Resolved

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver


@dataclass(slots=True)
class Ties:
    """Elements joined into classes: places, and keys that represent a variable or a member.

    Attributes:
        unsure: the occurrences whose meaning can't be told.
        outside: the definitions of libraries that an element overrides or is bound to.
        kept: the names that imports take from outside the repository: they stay, and get an alias.
        places: the occurrences of the name: a class may hold definitions of other names.
        mentions: the occurrences in comments, documents and prose.
        structural: pairs of members that may stand for each other, such as a protocol's and that of a class which
            doesn't derive from it.
    """

    unsure: dict[NameSpan, Resolved] = field(default_factory=dict)
    outside: dict[Hashable, set[str]] = field(default_factory=lambda: defaultdict(set))
    kept: set[NameSpan] = field(default_factory=set)
    mentions: list[Occurrence] = field(default_factory=list)
    structural: list[tuple[NameSpan, Resolved]] = field(default_factory=list)
    places: frozenset[NameSpan] = frozenset()
    _leaders: dict[Hashable, Hashable] = field(default_factory=dict)

    def leader(self, element: Hashable) -> Hashable:
        """The element that represents the class of an element."""
        while (above := self._leaders.setdefault(element, element)) != element:
            self._leaders[element] = self._leaders[above]
            element = self._leaders[element]
        return element

    def join(self, *elements: Hashable) -> None:
        """Merge the classes of some elements."""
        first = self.leader(elements[0])
        for element in elements[1:]:
            self._leaders[self.leader(element)] = first

    def plain(self, one: Resolved, *, sure: bool = False) -> None:
        """Join an occurrence with the definitions that it means.

        Args:
            one: the occurrence.
            sure: whether the occurrence belongs to a class even if its meaning isn't known.
        """
        span = one.occurrence.span
        meaning = one.meaning
        if meaning.inside:
            self.join(span, *meaning.inside)
        else:
            self.leader(span)
        if meaning.inside and meaning.outside:
            self.outside[span] |= meaning.outside
        if not meaning.known and not sure:
            self.unsure[span] = one

    def outside_of(self, leader: Hashable) -> frozenset[str]:
        """The definitions of libraries that a class overrides or is bound to, by the class's leader."""
        return frozenset(n for element, names in self.outside.items() if self.leader(element) == leader for n in names)

    def classes(self) -> dict[Hashable, frozenset[NameSpan]]:
        """The places of each class, by its leader."""
        found: dict[Hashable, set[NameSpan]] = defaultdict(set)
        for element in list(self._leaders):
            if isinstance(element, NameSpan) and element in self.places:
                found[self.leader(element)].add(element)
        return {leader: frozenset(places) for leader, places in found.items()}


def ties_of(resolver: Resolver, name: str, language: str = "") -> Ties:
    """What belongs together among all occurrences of a name.

    Args:
        resolver: of the repository.
        name: the name.
        language: code of languages that can't refer to definitions of this one isn't resolved; '' for no language.
    """
    ties = Ties(places=frozenset(one.span for one in resolver.occurrences(name)))
    asked = []
    for place in resolver.occurrences(name):
        if place.kind in ("code", "text") and (not language or is_related(resolver, place.span.path, language)):
            asked.append(place)
        elif place.kind == "text":
            ties.mentions.append(place)
    everywhere = resolver.resolved(asked)
    python = []
    texts = []
    for one in everywhere:
        path = one.occurrence.span.path
        if is_notebook(path) or language_in(path, resolver.text(path) or "") != "python":
            if one.occurrence.kind == "code" or one.meaning.known:
                ties.plain(one)
            else:
                ties.mentions.append(one.occurrence)
        elif one.occurrence.kind == "code":
            python.append(one)
        else:
            texts.append(one)
    ties.mentions += [one for one in resolver.occurrences(name) if one.kind in ("comment", "document")]
    if python or texts:
        PythonTies(resolver, name, python, texts, ties).tie()
    return ties


def is_related(resolver: Resolver, path: str, language: str) -> bool:
    """Whether code of a file can refer to definitions in another language."""
    return family(language_in(path, resolver.text(path) or "") or "") == family(language)


def family_in(ties: Ties, span: NameSpan) -> Family:
    """The places that must keep one name with a definition.

    Args:
        ties: of the definition's name.
        span: of the definition's name.
    """
    leader = ties.leader(span)
    members = ties.classes().get(leader, frozenset([span]))
    outside = ties.outside_of(leader)
    kept = members & ties.kept
    unsure = [one for place, one in ties.unsure.items() if place not in members]
    unsure += [fit for protocol, fit in ties.structural if protocol in members and fit.occurrence.span not in members]
    return Family(members - kept, outside, tuple(unsure), kept)


def same_definition(span: NameSpan, resolved: Iterable[Resolved]) -> frozenset[NameSpan]:
    """The places that are one definition: declaration and definition, the accessors of a property, overloads.

    Args:
        span: of one of them.
        resolved: the occurrences of the name.
    """
    found = list(resolved)
    defined = frozenset([span, *(place for one in found for place in one.meaning.inside)])
    ties = Ties(places=defined | {one.occurrence.span for one in found})
    for one in found:
        if one.occurrence.span in defined:
            ties.plain(one)
    return ties.classes().get(ties.leader(span), frozenset([span]))
