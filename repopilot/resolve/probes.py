"""Asks a server what an expression would mean in a file, by showing it the file with that expression for a moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from repopilot.code.source_positions import Replacement, replaced
from repopilot.resolve.meanings import TargetReader
from repopilot.resolve.values import Meaning, NameSpan

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver
    from repopilot.sandbox.language_servers.session import LanguageSession, Target


class Probe(NamedTuple):
    """Code that replaces the characters [start, end) of a file. It ends with the name to resolve; `rest` follows it."""

    path: str
    start: int
    end: int
    code: str
    rest: str = ""


def probed(resolver: Resolver, probes: Sequence[Probe]) -> dict[Probe, Meaning]:
    """What the last names of some expressions mean; an expression that overlaps an earlier one is left out. Afterwards
    the server is shown the unchanged files again.

    Args:
        resolver: of the repository.
        probes: the expressions.

    Returns:
        Their meanings; none for the expressions of a file that no server answers for.
    """
    found: dict[Probe, Meaning] = {}
    for path in sorted({probe.path for probe in probes}):
        found |= _in_file(resolver, path, sorted(dict.fromkeys(p for p in probes if p.path == path)))
    return found


def _in_file(resolver: Resolver, path: str, probes: Sequence[Probe]) -> dict[Probe, Meaning]:
    text = resolver.text(path) or ""
    kept: list[Probe] = []
    for probe in probes:
        if not kept or probe.start >= kept[-1].end:
            kept.append(probe)
    shown = replaced(text, [Replacement(p.start, p.end, p.code + p.rest) for p in kept])
    known = frozenset(resolver.paths())
    reader = TargetReader(lambda p: shown if p == path else resolver.text(p), known)
    places = []
    moved = []
    shift = 0
    for probe in kept:
        places.append((path, probe.start + shift + len(probe.code) - 1))
        moved.append((probe.start + shift, len(probe.code) + len(probe.rest), probe.end - probe.start))
        shift += len(probe.code) + len(probe.rest) - (probe.end - probe.start)

    def ask(session: LanguageSession) -> list[tuple[Target, ...]]:
        session.show(path, "python", shown)
        answers = session.definitions(places)
        session.show(path, "python", text)
        return answers

    found = zip(kept, resolver.at_server(path, ask) or (), strict=False)
    return {probe: _back(reader.meaning(each), path, moved) for probe, each in found}


def _back(meaning: Meaning, path: str, moved: Sequence[tuple[int, int, int]]) -> Meaning:
    """A meaning with its places moved back to the unchanged file; places within the probes are left out."""
    inside = set()
    for span in meaning.inside:
        if span.path != path:
            inside.add(span)
            continue
        shift = sum(made - replaced_ for start, made, replaced_ in moved if start + made <= span.start)
        if not any(start <= span.start < start + made for start, made, _ in moved):
            inside.add(NameSpan(path, span.start - shift, span.end - shift))
    return Meaning(frozenset(inside), meaning.outside)
