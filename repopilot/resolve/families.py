"""Which places of a name belong together. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from repopilot.resolve.values import Family, NameSpan, Resolved


def family_of(span: NameSpan, resolved: Iterable[Resolved]) -> Family:
    """What is renamed with a definition: every place that points to a member, and what it points to.

    Args:
        span: of the definition's name.
        resolved: the occurrences of the name.
    """
    found = list(resolved)
    members = _joined(span, found, lambda _: True)
    outside = frozenset(name for one in found if one.occurrence.span in members for name in one.meaning.outside)
    return Family(members, outside, tuple(one for one in found if not one.meaning.known))


def same_definition(span: NameSpan, resolved: Iterable[Resolved]) -> frozenset[NameSpan]:
    """The places that are one definition: declaration and definition, the accessors of a property, overloads.

    Args:
        span: of one of them.
        resolved: the occurrences of the name.
    """
    found = list(resolved)
    defined = frozenset(place for one in found for place in one.meaning.inside)
    return _joined(span, found, lambda one: one.occurrence.span in defined)


def _joined(span: NameSpan, resolved: list[Resolved], joins: Callable[[Resolved], bool]) -> frozenset[NameSpan]:
    """The class of a place, where each occurrence that `joins` is one with what it means."""
    leaders: dict[NameSpan, NameSpan] = {}

    def leader(place: NameSpan) -> NameSpan:
        while (above := leaders.setdefault(place, place)) != place:
            leaders[place] = leaders[above] = leaders.setdefault(above, above)
            place = leaders[place]
        return place

    for one in resolved:
        if joins(one):
            for place in one.meaning.inside:
                leaders[leader(one.occurrence.span)] = leader(place)
    return frozenset(place for place in [*leaders, span] if leader(place) == leader(span))
