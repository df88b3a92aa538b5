"""Resolves members of parameters that pytest fills from fixtures, which language servers don't know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from repopilot.resolve.probes import Probe, probed
from repopilot.resolve.python_scopes import PythonName, python_names
from repopilot.resolve.python_texts import Function, pytest_functions
from repopilot.resolve.values import Meaning, NameSpan, Resolved

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver


class Fixture(NamedTuple):
    """A fixture and the file that defines it."""

    path: str
    function: Function


def with_fixtures(resolver: Resolver, found: Sequence[Resolved]) -> list[Resolved]:
    """The occurrences, where unresolved ones are resolved as members of what a fixture returns or yields.

    Args:
        resolver: of the repository.
        found: the occurrences as a server resolves them.

    Raises:
        LanguageServerError: the server fails.
    """
    names: dict[NameSpan, str] = {}
    for one in found:
        span = one.occurrence.span
        if not one.meaning.known and one.occurrence.kind == "code" and span.path.endswith(".py"):
            parameter = _parameter(resolver.text(span.path) or "", span)
            if parameter:
                names[span] = parameter
    asked = {(span.path, parameter) for span, parameter in names.items()}
    fixtures = {(path, parameter): _fixture_for(resolver, path, parameter) for path, parameter in asked}
    probes: dict[NameSpan, list[Probe]] = {}
    for span, parameter in names.items():
        fixture = fixtures[span.path, parameter]
        if fixture is not None:
            text = resolver.text(fixture.path) or ""
            member = (resolver.text(span.path) or "")[span.start : span.end]
            probes[span] = [
                Probe(fixture.path, start, end, f"({text[start:end]}).{member}")
                for start, end in fixture.function.results
            ]
    meant = probed(resolver, [probe for group in probes.values() for probe in group])
    return [Resolved(one.occurrence, _united(one, probes.get(one.occurrence.span, ()), meant)) for one in found]


def _fixture_for(resolver: Resolver, path: str, name: str) -> Fixture | None:
    """The fixture of a name that a file gets; None where the nearest file with such a fixture has several."""
    every = _fixtures(resolver, name)
    found = nearest(path, every)
    several = found is not None and sum(each.path == found.path for each in every) > 1
    return None if several else found


def nearest(path: str, fixtures: Iterable[Fixture]) -> Fixture | None:
    """The fixture that a file gets: its own, or that of the closest `conftest.py`.

    Args:
        path: the file.
        fixtures: the fixtures of the name.
    """
    seen = [each for each in fixtures if each.path == path or _is_conftest_for(each.path, path)]
    return max(seen, key=lambda each: (each.path == path, len(each.path)), default=None)


def _is_conftest_for(conftest: str, path: str) -> bool:
    where = PurePosixPath(conftest)
    return where.name == "conftest.py" and (where.parent == PurePosixPath(".") or path.startswith(f"{where.parent}/"))


def _parameter(text: str, span: NameSpan) -> str:
    """The untyped parameter of a test or fixture that an occurrence is a member of; '' for none."""
    member = next((n for n in python_names(text, text[span.start : span.end]) if n.start == span.start), None)
    if member is None or member.role != "member" or not member.object.isidentifier():
        return ""
    uses = python_names(text, member.object)
    read = next((n for n in reversed(uses) if n.start < span.start), None)
    bound = [n for n in uses if read is not None and n.role == "bind" and n.home is read.home]
    given = len(bound) == 1 and any(_is_given(text, each, bound[0]) for each in pytest_functions(text))
    return member.object if given else ""


def _is_given(text: str, function: Function, bound: PythonName) -> bool:
    """Whether a binding is a parameter that pytest fills from a fixture: neither the fixture's own name, nor given by
    `parametrize`."""
    name = text[bound.start : bound.end]
    own = text[slice(*function.fixture)] if function.fixture else ""
    given = (function.is_test or function.fixture is not None) and name not in (own, *function.parametrized)
    return given and bound.start in function.parameters and bound.scope.start == function.start


def _fixtures(resolver: Resolver, name: str) -> list[Fixture]:
    """All fixtures of a name."""
    paths = dict.fromkeys(one.span.path for one in resolver.occurrences(name) if one.span.path.endswith(".py"))
    texts = ((path, resolver.text(path) or "") for path in paths)
    every = (Fixture(path, each) for path, text in texts if "fixture" in text for each in pytest_functions(text))
    return [
        each
        for each in every
        if each.function.fixture and (resolver.text(each.path) or "")[slice(*each.function.fixture)] == name
    ]


def _united(one: Resolved, probes: Sequence[Probe], meant: dict[Probe, Meaning]) -> Meaning:
    """What an occurrence means for all results of its fixture; its old meaning unless all of them are known."""
    found = [meant.get(probe, Meaning()) for probe in probes]
    if not found or not all(each.known for each in found):
        return one.meaning
    inside = frozenset(span for each in found for span in each.inside)
    return Meaning(inside, frozenset(name for each in found for name in each.outside))
