"""Asks a language server what occurrences mean: where the names there are defined."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from tree_sitter import Tree

from repopilot.code.formats.notebook import SUFFIX as NOTEBOOK
from repopilot.code.formats.notebook import is_notebook
from repopilot.code.formats.notebook_cells import read_cells
from repopilot.code.languages import SCRIPTS, language_in
from repopilot.code.source_positions import line_at
from repopilot.code.syntax import parse
from repopilot.resolve.values import Diagnosis, Meaning, NameSpan
from repopilot.sandbox.language_servers.positions import Positions
from repopilot.sandbox.language_servers.session import LanguageSession, Target

_LIBRARIES = re.compile(
    r"^.*/(?:site-packages|dist-packages|node_modules|pkg/mod|typeshed(?:/[0-9a-f]{40})?|lib/python[\d.]+)/"
)
_AS_PYTHON = ".py"
_IMPORTS = frozenset({"import_statement", "import_from_statement"})
_IMPORTING = ("python", *SCRIPTS)
Texts = Callable[[str], str | None]


class TargetReader:
    """Turns the places that a server names into spans of the repository's texts.

    Args:
        text: gives the text of a file.
        known: the repository's files.
    """

    def __init__(self, text: Texts, known: Collection[str]) -> None:
        self._text = text
        self._known = known
        self._positions: dict[str, Positions] = {}
        self._trees: dict[str, Tree | None] = {}
        self._spans: dict[Target, tuple[NameSpan | None, NameSpan | None]] = {}

    def meaning(self, targets: Sequence[Target]) -> Meaning:
        """The definitions at all the places."""
        inside = set()
        outside = set()
        for target in targets:
            if target not in self._spans:
                found = self.span(target)
                self._spans[target] = found, self._bound(found) if found is not None else None
            found, bound = self._spans[target]
            if bound is not None:
                inside.add(bound)
            elif found is None:
                outside.add(_LIBRARIES.sub("", target.path))
        return Meaning(frozenset(inside), frozenset(outside))

    def _bound(self, span: NameSpan) -> NameSpan | None:
        """The definition at a place. For a place in an import, the alias there, or None without one: a server that
        stops at an import couldn't find what is imported."""
        text = self._text(span.path) or ""
        language = language_in(span.path, text)
        if language not in _IMPORTING or is_notebook(span.path):
            return span
        if span.path not in self._trees:
            self._trees[span.path] = parse(text.encode("utf-8", "surrogatepass"), language)
        tree = self._trees[span.path]
        at = len(text[: span.start].encode("utf-8", "surrogatepass"))
        node = tree.root_node.descendant_for_byte_range(at, at + 1) if tree is not None else None
        while node is not None and node.parent is not None and node.type not in _IMPORTS:
            if node.parent.type == "namespace_import":
                return span
            if alias := node.parent.child_by_field_name("alias"):
                start = span.start + len(text.encode("utf-8", "surrogatepass")[at : alias.start_byte].decode())
                return NameSpan(span.path, start, start + len(alias.text.decode() if alias.text else ""))
            node = node.parent
        return span if node is None or node.type not in _IMPORTS else None

    def span(self, target: Target) -> NameSpan | None:
        """The span of a place in the repository, None for one outside. A file as a whole is its first character."""
        path = _stored_path(target.path)
        text = self._text(path) if target.inside and path in self._known else None
        if text is None:
            return None
        shown = _shown_text(path, text)
        positions = self._positions.get(path)
        if positions is None or positions.text != shown:
            positions = self._positions[path] = Positions(shown)
        start, end = (positions.offset(*place) for place in (target.start, target.end))
        start += _before_name(shown[start:end])
        if is_notebook(path):
            start, end = read_cells(text)[0].stored(start, end)
        return NameSpan(path, start, max(start, end))


def _before_name(text: str) -> int:
    """Length of the prefix before a member's name: a server may return all of `self.name`."""
    found = re.fullmatch(r"([\w.]+\.)\w+", text)
    return len(found[1]) if found else 0


def ask(session: LanguageSession, spans: Sequence[NameSpan], reader: TargetReader, text: Texts) -> list[Meaning]:
    """Ask a server what the names at some places mean.

    Args:
        session: the server of their language, which was shown their files.
        spans: the places.
        reader: reads what it answers.
        text: gives the text of a file.

    Raises:
        LanguageServerError: the server fails.
    """
    answers = session.definitions([place_of(span, text) for span in spans])
    return [reader.meaning(targets) for targets in answers]


def renames(
    session: LanguageSession, span: NameSpan, new: str, reader: TargetReader, text: Texts
) -> tuple[dict[NameSpan, str], frozenset[str]]:
    """The new names that a server's rename of the name at a place writes in the repository, and the files outside that
    it would edit too.

    Args:
        session: the server, which was shown the files that hold the name.
        span: the place.
        new: the new name.
        reader: reads what it answers.
        text: gives the text of a file.

    Raises:
        LanguageServerError: the server fails.
    """
    found = [(target, reader.span(target), said) for target, said in session.renames(*place_of(span, text), new)]
    old = (text(span.path) or "")[span.start : span.end]
    written = [(place, said) for _, place, said in found if place is not None]
    inside = {each: to for place, said in written for each, to in names_written(place, said, text, (old, new))}
    return inside, frozenset(_LIBRARIES.sub("", target.path) for target, place, _ in found if place is None)


def names_written(place: NameSpan, said: str, text: Texts, names: tuple[str, str]) -> list[tuple[NameSpan, str]]:
    """The names that one edit of a server changes: some servers replace several names and the text between in one
    edit."""
    old, new = map(re.escape, names)
    before = (text(place.path) or "")[place.start : place.end]
    word = re.compile(rf"\b{old}\b")
    kept = re.fullmatch(f"({new}|{old})".join(map(re.escape, word.split(before))), said)
    if kept is None:
        return [(place, said)]
    there = [place.start + found.start() for found in word.finditer(before)]
    length = len(names[0])
    spans = [NameSpan(place.path, start, start + length) for start in there]
    return [(span, to) for span, to in zip(spans, kept.groups(), strict=True) if to == names[1]]


def place_of(span: NameSpan, text: Texts) -> tuple[str, int]:
    """A place as a server sees it: the path under which the file was shown, and the character offset."""
    if not is_notebook(span.path):
        return span.path, span.start
    return shown_path(span.path), read_cells(text(span.path) or "")[0].shown(span.start)


def show(session: LanguageSession, paths: Collection[str], text: Texts) -> None:
    """Show a server some files as they are now: the code of a notebook as a file of Python."""
    for path in sorted(paths):
        found = text(path)
        language = language_in(path, found) if found is not None else None
        if found is not None and language is not None and language in session.server.ids:
            session.show(shown_path(path), language, _shown_text(path, found))
        else:
            session.forget([shown_path(path)])


def problems(session: LanguageSession, paths: Sequence[str], text: Texts) -> list[list[Diagnosis]]:
    """The errors that a server finds in files that it was shown."""
    return [
        [Diagnosis(path, _stored_line(path, one.line, text), one.message) for one in found if one.severe]
        for path, found in zip(paths, session.problems([shown_path(path) for path in paths]), strict=True)
    ]


def shown_path(path: str) -> str:
    """The path under which a server is shown a file."""
    return f"{path}{_AS_PYTHON}" if is_notebook(path) else path


def shown_files(session: LanguageSession) -> set[str]:
    """The files that a server was shown."""
    return set(map(_stored_path, session.shown()))


def _stored_path(path: str) -> str:
    """The file that a server was shown under a path."""
    return path.removesuffix(_AS_PYTHON) if path.endswith(f"{NOTEBOOK}{_AS_PYTHON}") else path


def _stored_line(path: str, line: int, text: Texts) -> int:
    """The line of a stored file for a line as it was shown, both from 1."""
    if not is_notebook(path):
        return line
    stored = text(path) or ""
    code = read_cells(stored)[0]
    start, _ = code.stored(*[Positions(code.text).offset(line - 1, 0)] * 2)
    return line_at(stored, start)


def _shown_text(path: str, text: str) -> str:
    return read_cells(text)[0].text if is_notebook(path) else text
