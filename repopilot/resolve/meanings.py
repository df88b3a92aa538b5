"""Asks the language's server what occurrences mean: where that is defined which stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from repopilot.resolve.occurrences import language_in
from repopilot.resolve.values import Meaning, NameSpan
from repopilot.sandbox.language_servers.positions import Positions
from repopilot.sandbox.language_servers.session import LanguageSession, Target

_LIBRARIES = re.compile(
    r"^.*/(?:site-packages|dist-packages|node_modules|pkg/mod|typeshed(?:/[0-9a-f]{40})?|lib/python[\d.]+)/"
)
Texts = Callable[[str], str | None]


class TargetReader:
    """Turns the places that a server names into spans of the repository's texts.

    Args:
        text: gives the text of a file.
        known: the repository's files.
    """

    def __init__(self, text: Texts, known: Collection[str]) -> None:
        self._text, self._known = text, known
        self._positions: dict[str, Positions] = {}

    def meaning(self, targets: Sequence[Target]) -> Meaning:
        """What the places mean together."""
        inside, outside = set(), set()
        for target in targets:
            span = self.span(target)
            if span is not None:
                inside.add(span)
            else:
                outside.add(_LIBRARIES.sub("", target.path))
        return Meaning(frozenset(inside), frozenset(outside))

    def span(self, target: Target) -> NameSpan | None:
        """The span of a place in the repository, None for one outside. A file as a whole is its first character."""
        if not target.inside or target.path not in self._known:
            return None
        text = self._text(target.path)
        if text is None:
            return None
        positions = self._positions.get(target.path)
        if positions is None or positions.text != text:
            positions = self._positions[target.path] = Positions(text)
        start, end = (positions.offset(*place) for place in (target.start, target.end))
        return NameSpan(target.path, start, max(start, end))


def ask(
    session: LanguageSession,
    spans: Sequence[NameSpan],
    reader: TargetReader,
    text: Texts,
    drafts: Mapping[str, str | None],
) -> list[Meaning]:
    """What stands at some places means, by a server.

    Args:
        session: the server of their language.
        spans: the places.
        reader: reads what it answers.
        text: gives the text of a file.
        drafts: the texts of the files that were edited, None for those that were deleted.

    Raises:
        LanguageServerError: the server fails.
    """
    show(session, {span.path for span in spans}, text, drafts)
    answers = session.definitions([(span.path, span.start) for span in spans])
    return [reader.meaning(targets) for targets in answers]


def show(session: LanguageSession, paths: Collection[str], text: Texts, drafts: Mapping[str, str | None]) -> None:
    """Show a server the files that it is asked about, and those that were edited, as they are now."""
    session.on_disk(drafts)
    for path in sorted({*paths, *session.shown(), *drafts}):
        found = text(path)
        language = language_in(path, found) if found is not None else None
        if found is not None and language is not None and language in session.server.ids:
            session.show(path, language, found)
        else:
            session.forget([path])
