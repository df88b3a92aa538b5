"""The one resolver: which definition an occurrence of a name means, and where a definition is used.

A language server is asked about each occurrence. Without one, or after it failed (see `notes`), the syntax decides;
`engine` tells which of them resolves a file.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from repopilot.code.languages import file_kind, language_in
from repopilot.errors import LanguageServerError
from repopilot.index.store import Index
from repopilot.resolve import meanings as by_server
from repopilot.resolve.families import family_in, same_definition, ties_of
from repopilot.resolve.fixture_members import with_fixtures
from repopilot.resolve.folder_texts import FolderTexts
from repopilot.resolve.occurrences import occurrences_in, spans_in
from repopilot.resolve.syntax.resolver import SyntaxResolver
from repopilot.resolve.syntax.syntax_source import may_refer
from repopilot.resolve.values import Diagnosis, Family, Meaning, NameSpan, Occurrence, Resolved, Tree, Uses, differing
from repopilot.sandbox.language_servers.session import LanguageSession, Servers

SYNTAX = "syntax"
"""The engine where there is no server."""
_TRIES = 2
_Found = TypeVar("_Found")


class Resolver:
    """Resolves names of a tree. Blocking; several threads may ask at once.

    Args:
        tree: the files. Edits are seen at the next question.
        index: the repository's.
        servers: the language servers to ask, closed by whoever made them.
    """

    def __init__(self, tree: Tree, index: Index, servers: Servers) -> None:
        self._tree = tree
        self._index = index
        self._servers = servers
        self._texts = FolderTexts(tree.lies_in())
        self._lock = threading.RLock()
        self._state = (0, 0)
        self._drafts: Mapping[str, str | None] = {}
        self._reader: by_server.TargetReader | None = None
        self._told: WeakKeyDictionary[LanguageSession, tuple[int, int]] = WeakKeyDictionary()
        self._found: dict[str, list[Occurrence]] = {}
        self._resolved: dict[str, list[Resolved]] = {}
        self._notes: dict[str, str] = {}
        self._syntax: SyntaxResolver | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Messages about servers that failed and haven't answered since."""
        return tuple(dict.fromkeys(self._notes.values()))

    @property
    def root(self) -> Path:
        """The folder that servers read: the original while only existing code or documents are edited, else a copy."""
        folder = self._tree.lies_in()
        drafts = self._tree.drafts().items()
        lie_there = all(text is not None and _is_code(folder, path) for path, text in drafts)
        return folder if lie_there else self._tree.root()

    def text(self, path: str) -> str | None:
        """The stored text of a file, whose characters the spans count; None where there is no text."""
        self._tree.lies_in()
        self._texts.drafts = self._tree.drafts()
        return self._texts.text(path)

    def paths(self) -> Sequence[str]:
        """The files in which names are looked for."""
        return self._tree.searched()

    def holding(self, *parts: str) -> list[tuple[str, str]]:
        """The files that contain any of some strings, with their texts."""
        with self._lock:
            self._refresh()
            return list(self._texts.holding(self._tree.searched(), *parts))

    def occurrences(self, name: str) -> list[Occurrence]:
        """Where a name stands as a word, in all files that aren't excluded: also documents, data, notebooks and files
        that the index skips."""
        with self._lock:
            self._refresh(name)
            if name not in self._found:
                self._found[name] = self._looked_up(name, self._tree.searched())
            return self._found[name]

    def _looked_up(self, name: str, paths: Iterable[str]) -> list[Occurrence]:
        holding = self._texts.holding(paths, name)
        return [found for path, text in holding for found in occurrences_in(name, path, text)]

    def meanings(self, name: str) -> list[Resolved]:
        """The resolved occurrences of a name: all in code, and those in string literals that mean something (as in a
        quoted annotation)."""
        with self._lock:
            self._refresh(name)
            if name not in self._resolved:
                asked = [found for found in self.occurrences(name) if found.kind in ("code", "text")]
                kept = self.resolved(asked)
                self._resolved[name] = [one for one in kept if one.occurrence.kind == "code" or one.meaning.known]
            return list(self._resolved[name])

    def resolved(self, occurrences: Sequence[Occurrence]) -> list[Resolved]:
        """Some occurrences with what they mean, in order."""
        found = self._asked([occurrence.span for occurrence in occurrences])
        said = [Resolved(occurrence, found[occurrence.span]) for occurrence in occurrences]
        try:
            return with_fixtures(self, said)
        except LanguageServerError as error:
            self._notes["python"] = str(error)
            return said

    def definition(self, span: NameSpan) -> Meaning:
        """What the name at a place means."""
        return self._asked([span])[span]

    def family(self, span: NameSpan, name: str) -> Family:
        """The places that must keep one name with a definition.

        Args:
            span: of the definition's name.
            name: the name.
        """
        return family_in(ties_of(self, name), span)

    def uses(self, span: NameSpan, name: str) -> Uses:
        """Where a definition is used.

        Args:
            span: of its name.
            name: the name.
        """
        found = self.meanings(name)
        wanted = same_definition(span, found)
        used = [one for one in found if one.occurrence.span not in wanted]
        sure = tuple(one.occurrence for one in used if one.meaning.inside & wanted)
        return Uses(sure, tuple(one.occurrence for one in used if not one.meaning.known))

    def renames(self, span: NameSpan, name: str, new: str) -> tuple[dict[NameSpan, str], frozenset[str]] | None:
        """The new names that the language server's rename would write, by place, and the files outside the repository
        that it would edit too; None where no server can rename.

        Args:
            span: the place.
            name: what stands there.
            new: the new name.
        """
        with self._lock:
            self._refresh(name)
            reader = self._target_reader()
            work = partial(by_server.renames, span=span, new=new, reader=reader, text=self._texts.text)
            language = self._language(span.path)
            session = self._session(language) if language is not None else None
            if language is None or session is None or not session.renaming:
                return None
            return self._served(language, self._holding_code(span.path, name), work)

    def references(self, span: NameSpan, name: str) -> set[NameSpan]:
        """Uses of a definition as the language's server tells them, also through what it overrides; empty without a
        server.

        Args:
            span: of the definition's name.
            name: the name.
        """
        with self._lock:
            self._refresh(name)
            reader = self._target_reader()
            place = by_server.place_of(span, self._texts.text)
            language = self._language(span.path)
            if language is None:
                return set()
            holding = self._holding_code(span.path, name)
            found = self._served(language, holding, lambda session: session.references(*place)) or ()
            return {at for target in found if (at := reader.span(target)) is not None}

    def _holding_code(self, path: str, name: str) -> set[str]:
        """A file, and those that hold a name in code."""
        return {path, *(one.span.path for one in self.occurrences(name) if one.kind == "code")}

    def problems(self, paths: Iterable[str]) -> dict[str, list[Diagnosis]]:
        """The errors that the language's server finds in files; a file that has no server isn't among the keys."""
        found: dict[str, list[Diagnosis]] = {}
        with self._lock:
            self._refresh()
            for language, group in self._by_language(paths).items():
                work = partial(by_server.problems, paths=group, text=self._texts.text)
                said = self._served(language, group, work)
                found.update(zip(group, said, strict=True) if said is not None else ())
        return found

    def checks(self, path: str) -> bool:
        """Whether `problems` says what is wrong with a file."""
        return bool(self.at_server(path, lambda session: session.checks))

    def engine(self, path: str) -> str:
        """What resolves names of a file: the name of a server, or "syntax"."""
        with self._lock:
            language = self._language(path)
            session = self._session(language) if language is not None else None
            return session.server.name if session is not None else SYNTAX

    def at_server(self, path: str, work: Callable[[LanguageSession], _Found]) -> _Found | None:
        """Run `work` with the server of a file's language, after showing it the file and all edits.

        Args:
            path: the file.
            work: asks the server; repeated once if that fails.

        Returns:
            What `work` returns; None without a server, or after it failed (see `notes`).
        """
        with self._lock:
            self._refresh()
            language = self._language(path)
            return self._served(language, [path], work) if language is not None else None

    def _asked(self, spans: Sequence[NameSpan]) -> dict[NameSpan, Meaning]:
        found = dict.fromkeys(spans, Meaning())
        with self._lock:
            self._refresh()
            reader = self._target_reader()
            groups = self._by_language({span.path for span in spans})
            for language, paths in groups.items():
                wanted = [span for span in found if span.path in paths]
                work = partial(by_server.ask, spans=wanted, reader=reader, text=self._texts.text)
                meanings = self._served(language, paths, work)
                found.update(self._shown_by_syntax(wanted) if meanings is None else zip(wanted, meanings, strict=True))
        return found

    def _target_reader(self) -> by_server.TargetReader:
        if self._reader is None:
            self._reader = by_server.TargetReader(self._texts.text, frozenset(self._tree.searched()))
        return self._reader

    def syntax(self) -> SyntaxResolver:
        """The resolver by syntax for the current files, where there is no server."""
        with self._lock:
            self._refresh()
            if self._syntax is None:
                code = [path for path in self._tree.searched() if may_refer(path) and file_kind(path) == "code"]
                self._syntax = SyntaxResolver(self._texts.text, partial(self._holding, code), self._index)
            return self._syntax

    def _holding(self, paths: Iterable[str], name: str) -> list[str]:
        return [path for path, text in self._texts.holding(paths, name) if spans_in(name, text)]

    def _shown_by_syntax(self, spans: Sequence[NameSpan]) -> dict[NameSpan, Meaning]:
        words = {(self._texts.text(span.path) or "")[span.start : span.end] for span in spans}
        shown = (one for word in words if word for one in self.syntax().meanings(word))
        known = {one.occurrence.span: one.meaning for one in shown}
        return {span: known[span] for span in spans if span in known}

    def _by_language(self, paths: Iterable[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            if (language := self._language(path)) is not None:
                groups[language].append(path)
        return groups

    def _language(self, path: str) -> str | None:
        text = self._texts.text(path)
        return language_in(path, text) if text is not None else None

    def _session(self, language: str) -> LanguageSession | None:
        try:
            return self._servers.session(language, self.root, self._tree.root)
        except LanguageServerError as error:
            self._notes[language] = str(error)
            return None

    def _served(
        self, language: str, paths: Collection[str], work: Callable[[LanguageSession], _Found]
    ) -> _Found | None:
        """Run `work` with a language's server after showing it files; repeat it once if the server fails. None without
        a server, or if it fails again."""
        for _ in range(_TRIES):
            session = self._session(language)
            if session is None:
                return None
            try:
                self._show(session, paths)
                found = work(session)
            except LanguageServerError as error:
                self._notes[language] = str(error)
                continue
            if self._notes.pop(language, None) is not None:
                self._resolved.clear()  # those found by syntax while the server failed
            return found
        return None

    def _show(self, session: LanguageSession, paths: Collection[str]) -> None:
        """Show a server some files, and what was edited since it was asked last."""
        drafts = self._tree.drafts()
        if self._told.get(session) != self._state:
            session.on_disk(drafts)
            paths = {*paths, *by_server.shown_files(session), *drafts}
        by_server.show(session, paths, self._texts.text)
        self._told[session] = self._state

    def _refresh(self, name: str = "") -> None:
        """Forget what was found before the tree's last edit, or before others changed a file that holds a name. After
        edits alone, occurrences in other files are kept."""
        self._tree.lies_in()
        drafts = self._tree.drafts()
        self._texts.drafts = drafts
        for path in {found.span.path for found in self._found.get(name, ())}:
            self._texts.text(path)
        state = hash(frozenset(drafts.items())), len(self._texts.changed)
        if state == self._state:
            return
        edited = differing(drafts, self._drafts)
        if edited and edited.issuperset(self._texts.changed[self._state[1] :]):
            for known, found in self._found.items():
                kept = [one for one in found if one.span.path not in edited]
                there = self._looked_up(known, sorted(edited.intersection(self._tree.searched())))
                self._found[known] = sorted([*kept, *there], key=lambda one: one.span)
        else:
            self._found.clear()
        self._state = (state[0], len(self._texts.changed))
        self._drafts = drafts
        self._resolved.clear()
        self._syntax = self._reader = None


def _is_code(folder: Path, path: str) -> bool:
    """Whether a file exists and is code or a document: other files may be settings of a server."""
    return file_kind(path) in ("code", "doc") and (folder / path).is_file()
