"""Runs servers on a folder that they only read: started in the sandbox when first asked, told of edits, and ended with
their owner."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from repopilot import i18n
from repopilot.code.formats.data_formats import table, tables
from repopilot.errors import EnvironmentFailed, LanguageServerError, SandboxError, StorageError
from repopilot.sandbox import levels, supervise
from repopilot.sandbox.environments.package_install import NODE_MODULES
from repopilot.sandbox.isolation.bwrap import MOUNTS
from repopilot.sandbox.job_spec import SandboxJob, SandboxLimits, SandboxProgram
from repopilot.sandbox.language_servers import java_server
from repopilot.sandbox.language_servers.catalogue import LanguageServer, program_of, server_of, tools_of
from repopilot.sandbox.language_servers.client import LanguageClient
from repopilot.sandbox.language_servers.fetched import can_be_fetched, fetch_servers
from repopilot.sandbox.language_servers.import_folders import import_folders, import_settings, module_links
from repopilot.sandbox.language_servers.positions import Positions
from repopilot.sandbox.usage.processes import descendants, memory
from repopilot.settings import Settings
from repopilot.types import ImportedPackages, PackagesOf, SandboxLevel

NO_PACKAGES = ImportedPackages()
_DAY = 86_400.0
_WATCH_S = 0.5
_STARTS = 2
"""A server that failed this often isn't started again."""
_ANSWER_S = 30.0
_IDLE_S = 900.0
"""A server that is asked nothing for this long is ended; the next question starts it again."""
_UNEDITED = "\0"
"""Stands for the text of a file that has no edit."""
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {"didSave": False},
        "definition": {"linkSupport": True},
        "implementation": {"linkSupport": True},
        "rename": {"prepareSupport": False},
        "diagnostic": {"relatedDocumentSupport": False},
    },
}


class Target(NamedTuple):
    """A place that a server names.

    Attributes:
        path: the file's path from the folder or, for a file elsewhere, its place.
        inside: whether it is below the folder.
        start, end: line from 0, and units of UTF-16.
    """

    path: str
    inside: bool
    start: tuple[int, int]
    end: tuple[int, int]


class ServerMessage(NamedTuple):
    """A server's message on a line, counted from 1. `severe`: an error, not a warning or a hint."""

    line: int
    message: str
    code: str
    severe: bool


@dataclass(slots=True)
class _Shown:
    version: int
    positions: Positions


class LanguageSession:
    """One server at work on a folder. Every method raises LanguageServerError where the server fails.

    Args:
        server: its row in the catalogue.
        program: its path.
        root: the folder, which it only reads.
        settings: the sandbox's level.
        imported: the packages that the repository needs.
        idle: it ends after this many seconds without a question.
    """

    def __init__(
        self,
        server: LanguageServer,
        program: Path,
        root: Path,
        settings: Settings,
        imported: ImportedPackages = NO_PACKAGES,
        idle: float = _IDLE_S,
    ) -> None:
        self.server = server
        self._idle = idle
        self.memory = 0
        self._shown: dict[str, _Shown] = {}
        self._drafts: dict[str, str | None] = {}
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._closing = threading.Lock()
        self._level = _level(settings)
        self._folder = Path(tempfile.mkdtemp(prefix="repopilot-server-")).resolve()
        self._root = MOUNTS.root if self._level == "bwrap" else os.path.realpath(root)
        self._opened = self._root
        if "java" in server.ids:
            project = self._folder / "project"
            self._opened = str(project)
            imported = ImportedPackages(java_server.write_project(root, self._root, project))
        self._job = _job(server, program, root, self._folder, imported)
        self._marker = ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed in close
        options = _configured(server, root, imported.folders)
        self._client = LanguageClient(server.name, self._launch, options)
        try:
            threading.Thread(target=self._watch, name=f"memory of {server.name}", daemon=True).start()
            self.capabilities = self._initialized(options.get(server.name) or server.options)
            for path, text in (import_settings(root) if "typescript" in server.ids else {}).items():
                document = {"uri": self.uri(path), "languageId": "json", "version": 1, "text": text}
                self._client.notify("textDocument/didOpen", {"textDocument": document})
        except LanguageServerError:
            self.close()
            raise

    @property
    def failure(self) -> LanguageServerError | None:
        """Why the server can no longer be asked, None while it can."""
        return self._client.failure

    @property
    def closed(self) -> bool:
        """Whether it was closed, by its owner or for being idle."""
        return self._closed.is_set()

    def show(self, path: str, language: str, text: str) -> None:
        """Tell the server a file's text, which replaces the text on disk; does nothing if the server knows it.

        Args:
            path: from the folder.
            language: as `languages.language_of` names it.
            text: as it is stored.
        """
        with self._lock:
            known = self._shown.get(path)
            positions = known.positions if known and known.positions.text is text else Positions(text)
            if known is None:
                self._shown[path] = _Shown(1, positions)
                document: dict[str, Any] = {
                    "uri": self.uri(path),
                    "languageId": self.server.ids[language],
                    "version": 1,
                }
                self._client.notify("textDocument/didOpen", {"textDocument": {**document, "text": positions.sent}})
            elif known.positions.sent != positions.sent:
                known.version += 1
                known.positions = positions
                document = {"uri": self.uri(path), "version": known.version}
                changes = [{"text": positions.sent}]
                self._client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def forget(self, paths: Iterable[str]) -> None:
        """Tell the server that files have their texts on disk again."""
        with self._lock:
            for path in paths:
                if self._shown.pop(path, None) is not None:
                    self._client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(path)}})

    def shown(self) -> tuple[str, ...]:
        """The files that the server was shown."""
        return tuple(self._shown)

    def on_disk(self, drafts: Mapping[str, str | None]) -> None:
        """Tell the server which files of its folder were written or deleted since the last call.

        Args:
            drafts: the texts of all files changed since the server started, None for deleted ones.
        """
        with self._lock:
            paths = {*drafts, *self._drafts}
            stale = [p for p in paths if drafts.get(p, _UNEDITED) != self._drafts.get(p, _UNEDITED)]
            there = {path: os.path.isfile(self._job.root / path) for path in sorted(stale)}
            self._drafts = dict(drafts)
        if there:
            changes = [{"uri": self.uri(path), "type": 2 if found else 3} for path, found in there.items()]
            self._client.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def definitions(self, places: Sequence[tuple[str, int]], seconds: float = _ANSWER_S) -> list[tuple[Target, ...]]:
        """The definitions of the names at some places; none where the server can't tell.

        Args:
            places: each a file that the server was shown, and a character of its text.
            seconds: time limit for all places.
        """
        return self._targets("textDocument/definition", places, seconds)

    def implementations(
        self, places: Sequence[tuple[str, int]], seconds: float = _ANSWER_S
    ) -> list[tuple[Target, ...]]:
        """The implementations and overrides of the names at some places; arguments as in `definitions`."""
        return self._targets("textDocument/implementation", places, seconds)

    def references(self, path: str, offset: int, seconds: float = _ANSWER_S) -> tuple[Target, ...]:
        """The uses of the name at a place of a shown file, including uses through definitions that it overrides."""
        with self._lock:
            question = {**self._at(path, offset), "context": {"includeDeclaration": False}}
        answers = self._client.ask_all("textDocument/references", [question], self.server.patience, seconds)
        return self._located(answers[0])

    def renames(self, path: str, offset: int, new: str, seconds: float = _ANSWER_S) -> list[tuple[Target, str]]:
        """The edits with which the server would rename the name at a place; none where it can't.

        Args:
            path: a file that it was shown.
            offset: a character of its text.
            new: the new name.
            seconds: how long it may take.
        """
        with self._lock:
            question = {**self._at(path, offset), "newName": new}
        patience = self.server.patience
        answer = self._client.ask_all("textDocument/rename", [question], patience, max(seconds, patience))[0]
        found = ((self._target(place), text) for place, text in _edits(answer))
        return [(target, text) for target, text in found if target is not None]

    @property
    def renaming(self) -> bool:
        """Whether the server can rename definitions."""
        return bool(self.capabilities.get("renameProvider"))

    @property
    def checks(self) -> bool:
        """Whether the server reports a file's problems on request."""
        return bool(self.capabilities.get("diagnosticProvider"))

    def problems(self, paths: Sequence[str], seconds: float = _ANSWER_S) -> list[tuple[ServerMessage, ...]]:
        """The server's messages on shown files. Raises LanguageServerError where it takes too long."""
        questions = [{"textDocument": {"uri": self.uri(path)}} for path in paths]
        end = time.monotonic() + seconds
        answers = self._client.ask_all("textDocument/diagnostic", questions, self.server.patience, seconds)
        if None in answers and time.monotonic() >= end:
            raise LanguageServerError(i18n.message("resolve.late", name=self.server.name, seconds=round(seconds)))
        return [tuple(_problems(answer)) for answer in answers]

    def uri(self, path: str) -> str:
        """The URI of a file as the server sees it."""
        return f"file://{quote(f'{self._root}/{path}')}"

    def close(self) -> None:
        """End the server and all that it started; waits where another thread does so."""
        with self._closing:
            if self.closed:
                return
            self._closed.set()
            self._client.fail(LanguageServerError(i18n.message("resolve.closed", name=self.server.name)))
            if self._client.process is not None:
                supervise.kill_all(self._client.process, self._marker)
            self._errors.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _launch(self) -> subprocess.Popen[bytes]:
        try:
            command = levels.sandbox_command(self._job, self._level, None)
            self._marker = command.marker
            process = subprocess.Popen(
                command.arguments,
                env=dict(command.environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
            assert process.stdin is not None
            process.stdin.write(command.standard_input)
            process.stdin.flush()
        except (OSError, SandboxError) as error:
            said = i18n.message("resolve.not_started", name=self.server.name, error=error)
            raise LanguageServerError(said) from error
        return process

    def _initialized(self, options: Any) -> Mapping[str, Any]:
        uri = f"file://{quote(self._opened)}"
        params = {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "repository"}],
            "capabilities": _CAPABILITIES,
            "initializationOptions": options,
        }
        found = self._client.ask("initialize", params, self.server.patience)
        self._client.notify("initialized", {})
        capabilities = table(found).get("capabilities")
        if not isinstance(capabilities, dict):
            error = LanguageServerError(i18n.message("resolve.nonsense", name=self.server.name, error="initialize"))
            self._client.fail(error)
            raise error
        return capabilities

    def _watch(self) -> None:
        """End the server where it takes more memory than it may, or is idle."""
        while self._client.failure is None and not self._closed.wait(_WATCH_S):
            process = self._client.process
            self.memory = memory(descendants(process.pid)) if process is not None else 0
            if self.memory > self.server.memory:
                limit = self.server.memory >> 20
                said = i18n.message("resolve.memory", name=self.server.name, megabytes=limit)
                self._client.fail(LanguageServerError(said))
            elif self._client.idle > self._idle:
                self.close()
        self.memory = 0

    def _at(self, path: str, offset: int) -> dict[str, Any]:
        position = self._shown[path].positions.position(offset)
        return {"textDocument": {"uri": self.uri(path)}, "position": position}

    def _targets(self, method: str, places: Sequence[tuple[str, int]], seconds: float) -> list[tuple[Target, ...]]:
        with self._lock:
            questions = [self._at(path, offset) for path, offset in places]
        for _ in range(2 if self.server.learns else 1):
            answers = self._client.ask_all(method, questions, self.server.patience, seconds)
        return [self._located(answer) for answer in answers]

    def _located(self, answer: Any) -> tuple[Target, ...]:
        targets = map(self._target, tables(answer if isinstance(answer, list) else [answer]))
        return tuple(dict.fromkeys(target for target in targets if target is not None))

    def _target(self, place: Mapping[str, Any]) -> Target | None:
        """The target of a location, a location link or a hierarchy item; None for anything else."""
        uri = place.get("targetUri", place.get("uri"))
        span = table(place.get("targetSelectionRange") or place.get("selectionRange") or place.get("range"))
        start, end = (_position(span.get(key)) for key in ("start", "end"))
        if not isinstance(uri, str) or start is None or end is None:
            return None
        address = urlsplit(uri)
        path = unquote(address.path)
        if address.scheme == "file" and path.startswith(f"{self._root}/"):
            return Target(path[len(self._root) + 1 :], True, start, end)
        return Target(path.lstrip("/") if address.scheme != "file" else path, False, start, end)


class Servers:
    """The servers of one owner, one for each language and folder. Thread-safe. They end when this object is closed or
    garbage-collected.

    Args:
        settings: the sandbox's level.
        packages: finds the packages that the repository needs.
        idle: a server ends after this many seconds without a question.
    """

    def __init__(
        self, settings: Settings, packages: PackagesOf = lambda _language: NO_PACKAGES, idle: float = _IDLE_S
    ) -> None:
        self._settings = settings
        self._packages = packages
        self._idle = idle
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, Path], LanguageSession] = {}
        self._failures: dict[tuple[str, Path], list[LanguageServerError]] = {}
        self._closed = False
        weakref.finalize(self, _close_all, self._sessions)

    def session(self, language: str, root: Path, written: Callable[[], Path] | None = None) -> LanguageSession | None:
        """The server of a language for a folder, started if it isn't running; None where none is installed.

        Args:
            language: which.
            root: the folder, which may differ from the texts that the server is shown.
            written: creates a folder with these texts, for a server that reads other files only from disk.

        Raises:
            LanguageServerError: it can't be started, or failed too often.
        """
        server = server_of(language)
        if server is None:
            return None
        if written is not None and not server.overlays:
            if self._program(server, root) is None:
                return None
            root = written()
        key = (server.name, root)
        with self._lock:
            running = self._sessions.get(key)
            if running is not None and running.failure is None:
                return running
            failures = self._failures.setdefault(key, [])
            if running is not None and running.failure is not None:
                failures += [] if running.closed else [running.failure]
                self._sessions.pop(key).close()
            if len(failures) >= _STARTS or self._closed:
                said = failures[-1].message if failures else i18n.message("resolve.closed", name=server.name)
                raise LanguageServerError(said)
            try:
                program = self._program(server, root)
                if program is None:
                    return None
                imported = self._packages(server.packages) if server.packages else NO_PACKAGES
                found = LanguageSession(server, program, root, self._settings, imported, self._idle)
            except LanguageServerError as error:
                failures.append(error)
                raise
            self._sessions[key] = found
            return found

    def _program(self, server: LanguageServer, root: Path) -> Path | None:
        """The program of a server, fetched if it is missing and the user has consented in advance."""
        found = program_of(server, root, self._settings)
        if found is None and self._settings.environments == "always" and can_be_fetched(server.name):
            try:
                fetch_servers(server.ids, self._settings, lambda _: None, threading.Event())
            except (EnvironmentFailed, StorageError) as error:
                raise LanguageServerError(error.message, error.hint) from error
            found = program_of(server, root, self._settings)
        return found

    def running(self) -> dict[str, int]:
        """The memory of each running server by its name, in bytes."""
        with self._lock:
            found: dict[str, int] = {}
            for session in self._sessions.values():
                if session.failure is None:
                    found[session.server.name] = found.get(session.server.name, 0) + session.memory
            return found

    def close(self) -> None:
        """End all servers."""
        with self._lock:
            self._closed = True
            _close_all(self._sessions)


def _close_all(sessions: dict[tuple[str, Path], LanguageSession]) -> None:
    while sessions:
        sessions.popitem()[1].close()


def _level(settings: Settings) -> SandboxLevel:
    """The level for servers. They are known programs and run nothing of the repository, so resource limits are enough
    where no other level works."""
    try:
        return levels.level(settings)
    except SandboxError:
        return "limits"


def _job(server: LanguageServer, program: Path, root: Path, folder: Path, imported: ImportedPackages) -> SandboxJob:
    (folder / "work").mkdir()
    tools = tools_of(server)
    own = (path for path in (program.parent / each for each in server.beside) if path.is_dir())
    readable = (program, *own, *imported.folders, *((tools[0].parent, *tools[1]) if tools else ()))
    variables = dict(server.variables) | ({"PATH": f"{tools[0].parent}:/usr/bin:/bin"} if tools else {})
    links: Mapping[str, str] = {}
    if server.packages == "javascript" and not (root / NODE_MODULES).is_dir():
        links = module_links(imported)
    elif server.packages == "go" and imported.folders:
        variables["GOMODCACHE"] = os.path.realpath(imported.folders[0])
    started = java_server.arguments(program) if "java" in server.ids else (str(program), *server.arguments)
    command = SandboxProgram(started, variables, readable=readable, serves=True, links=links)
    limits = SandboxLimits(seconds=_DAY, memory=server.memory, descriptors=4096, processes=256)
    return SandboxJob(root, folder / "work", in_repository=True, limits=limits, program=command)


def _configured(server: LanguageServer, root: Path, packages: Sequence[Path]) -> dict[str, Any]:
    """A server's options, with the locations of imported packages and of the projects below the folder."""
    options = dict(server.configuration)
    if "ty" in options:
        environment: dict[str, Any] = {}
        if packages:
            environment["extra-paths"] = [os.path.realpath(folder) for folder in packages]
        if projects := import_folders(root):
            environment["root"] = projects
        options["ty"] = (
            {**options["ty"], "configuration": {"environment": environment}} if environment else options["ty"]
        )
    return options


def _position(place: Any) -> tuple[int, int] | None:
    numbers: list[Any] = [table(place).get(key) for key in ("line", "character")]
    return (numbers[0], numbers[1]) if all(type(each) is int and each >= 0 for each in numbers) else None


def _edits(answer: Any) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The places and new texts of a workspace edit."""
    edit = table(answer)
    files: list[tuple[Any, Any]] = list(table(edit.get("changes")).items())
    for each in tables(edit.get("documentChanges")):
        files.append((table(each.get("textDocument")).get("uri"), each.get("edits")))
    for uri, edits in files:
        for one in tables(edits):
            if isinstance(one.get("newText"), str):
                yield {"uri": uri, "range": one.get("range")}, one["newText"]


def _problems(answer: Any) -> list[ServerMessage]:
    found = []
    for item in tables(table(answer).get("items")):
        start = _position(table(item.get("range")).get("start"))
        if start is not None:
            code = item.get("code")
            code = code.get("value") if isinstance(code, dict) else code
            severe = item.get("severity", 1) == 1
            found.append(
                ServerMessage(start[0] + 1, str(item.get("message", "")), "" if code is None else str(code), severe)
            )
    return found
