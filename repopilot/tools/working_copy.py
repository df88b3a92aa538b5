"""A repository with edits: a folder of its own, with an index of its own.

Edits, searches and tests work on it as on any repository, and see the edits so far. The user's files and index are only
read.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import disk, i18n
from repopilot.errors import Cancelled, GenerationFailed, StorageError, UsageError
from repopilot.index.build.instant import BuildRun, build_instant
from repopilot.index.storage import layout
from repopilot.index.store import IndexStore
from repopilot.redaction.known_values import hidden, values_in
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo.local import list_paths
from repopilot.repo.patches.apply import write_files
from repopilot.repo.read import blob_id
from repopilot.repo.walk import searched_files
from repopilot.resolve.lookups import Lookups
from repopilot.resolve.names import Resolver
from repopilot.resolve.values import differing
from repopilot.sandbox.language_servers.session import Servers
from repopilot.tools.checkout import write_repository
from repopilot.tools.file_change import change, deletion, safe_path
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange, Finding, Snapshot, TestRun
from repopilot.workspace import Workspace

CLOCK_NS = 2_000_000_000
"""Files that changed less than this before a working copy began are compared as well."""
_GIVEN_UP: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)
"""Whether the attempt that a task or thread belongs to has failed."""


@dataclass(frozen=True, slots=True)
class StateBefore:
    """The run of some tests without any edit.

    Attributes:
        run: how it went.
        emptied: paths of `conftest.py` that can't be imported; the tests are run as if these were empty.
    """

    run: TestRun
    emptied: tuple[str, ...] = ()


class WorkingCopy:
    """A repository with drafts, which are kept in memory. The copy of the folder and its index are made on first use,
    and updated on later uses.

    Args:
        original: the repository as it is.
        folder: an empty folder for the copy and its index.
    """

    def __init__(self, original: Workspace, folder: Path) -> None:
        self.original = original
        self.cancel = threading.Event()
        self._folder = folder
        self._steps: list[dict[str, str | None]] = []
        self._base: dict[str, str | None] = {}
        self._began_ns = time.time_ns()
        self._secrets: frozenset[str] = frozenset()
        self._copied: dict[str, str | None] = {}
        self._writing = threading.RLock()
        self._stepping = threading.Lock()
        self._indexed: tuple[dict[str, str | None], Workspace] | None = None
        self._searched: tuple[str, ...] | None = None
        self._servers: Servers | None = None
        self._resolver: Resolver | None = None
        self.before: dict[tuple[str, ...], StateBefore] = {}
        self.left_behind: dict[tuple[FileChange, ...], tuple[Finding, ...]] = {}

    def drafts(self) -> dict[str, str | None]:
        """The texts of the files that were edited, None for those that were deleted."""
        return {path: text for step in self._steps for path, text in step.items()}

    @property
    def steps(self) -> int:
        """How many edits can be undone."""
        return len(self._steps)

    def changed_since(self, steps: int) -> tuple[FileChange, ...]:
        """The files that the edits after the first `steps` touch, with all their edits, as in `changes`."""
        drafts = self.drafts()
        touched = {path: drafts[path] for step in self._steps[steps:] for path in step}
        return _changes_between(self._base, touched)

    def text(self, path: str) -> str | None:
        """The text of a file with the edits so far, None where there is none.

        Raises:
            UsageError: the path leads out of the repository, it is kept out as secret or ignored, or it is no text.
        """
        try:
            inside = safe_path(path)
            drafts = self.drafts()
            known = drafts if inside in drafts else self._base
            return known[inside] if inside in known else stored_text(inside, self.original)
        except GenerationFailed as error:
            raise UsageError(error.message, error.hint) from error

    def paths(self) -> tuple[str, ...]:
        """The files of the index and those of the edits."""
        return self._edited(self.original.index.files)

    def _edited(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Some paths of the repository, without those of deleted files and with those of all edited ones."""
        drafts = self.drafts()
        kept = (path for path in paths if path not in drafts)
        return tuple(sorted([*kept, *(path for path, text in drafts.items() if text is not None)]))

    def edit(self, texts: Mapping[str, str | None]) -> tuple[FileChange, ...]:
        """Give files new texts, as one step.

        Args:
            texts: by path; None deletes the file.

        Returns:
            The changes of this step.

        Raises:
            UsageError: as `text`.
            Cancelled: the attempt that it belongs to has failed.
        """
        olds = [self.text(path) for path in texts]  # refuses a path that leads outside
        before = dict(zip(map(safe_path, texts), olds, strict=True))
        after = {safe_path(path): text for path, text in texts.items()}
        with self._stepping:
            _require_wanted()
            self._base = before | self._base
            self._secrets |= values_in(text for text in before.values() if text)
            self._steps.append(after)
        return _changes_between(before, after)

    def undo(self, steps: int) -> int:
        """Take back the last steps; returns how many were taken back.

        Raises:
            Cancelled: the attempt that it belongs to has failed.
        """
        with self._stepping:
            _require_wanted()
            return self._taken_back(steps)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Take back all edits within it if it ends with an exception. A thread that it started and that goes on after
        a cancellation can neither edit nor undo any more."""
        steps = self.steps
        given_up = threading.Event()
        token = _GIVEN_UP.set(given_up)
        try:
            yield
        except BaseException:
            with self._stepping:
                given_up.set()
                self._taken_back(max(0, self.steps - steps))
            raise
        finally:
            _GIVEN_UP.reset(token)

    def _taken_back(self, steps: int) -> int:
        taken = min(steps, len(self._steps))
        if taken:
            del self._steps[-taken:]
            self._base = {path: text for path, text in self._base.items() if path in self.drafts()}
        return taken

    def searched(self) -> tuple[str, ...]:
        """The files in which a name is looked for: also those that the index skips, never secret or ignored ones."""
        if self._searched is None:
            files = searched_files(self.original.snapshot, self.original.settings)
            self._searched = tuple(file.path for file in files)
        return self._edited(self._searched)

    @property
    def resolver(self) -> Resolver:
        """Resolves the names of the repository as edited. It is made when it is first asked for. Blocking."""
        with self._writing:
            if self._resolver is None:
                original = self.original
                self._servers = original.lookups.servers(original.settings, original.packages)
                self._resolver = Resolver(self, self.original.index, self._servers)
            return self._resolver

    def close(self) -> None:
        """Stop the language servers and index builds that were started for it."""
        self.cancel.set()
        if self._servers is not None:
            self._servers.close()

    def hidden(self, text: str) -> str:
        """A text without the secrets of the edited files, in whatever context they stand now."""
        return hidden(self._secrets, text)

    def write(self, files: Iterable[FileChange]) -> None:
        """Put finished changes into the copy, and bring its index up to date. Blocking.

        Args:
            files: the changes, with whole contents.

        Raises:
            RepoPilotError: the repository can't be copied or indexed.
        """
        given = {f.path: None if f.change == "deleted" else f.content for f in files}
        if given:
            self.edit(given)

    def root(self) -> Path:
        """A folder with the files as edited, never the user's. Blocking.

        Raises:
            StorageError: there is no room for it.
        """
        with self._writing:
            return self._written()

    def _written(self) -> Path:
        tree = self._folder / "tree"
        if not tree.exists():
            tree.mkdir()
            write_repository(self.original, tree)
            _seed_index(self.original, self._folder / "index" / _KEY)
        drafts = self.drafts()
        texts = {path: self.text(path) for path in differing(drafts, self._copied)}
        write_files(
            tree, [_whole(path, text) for path, text in texts.items() if text is not None or (tree / path).exists()]
        )
        self._copied = drafts
        return tree

    def lies_in(self) -> Path:
        """The folder itself of a local repository, `root` of a clone. Blocking.

        Raises:
            StorageError: there is no room for a copy.
        """
        return self.original.snapshot.root or self.root()

    @property
    def workspace(self) -> Workspace:
        """The repository as edited, with an index of its own; the original while nothing is edited. Blocking.

        Raises:
            RepoPilotError: the repository can't be copied or indexed.
        """
        with self._writing:  # several threads may ask at once
            drafts = self.drafts()
            if not drafts:
                return self.original
            if self._indexed is None or self._indexed[0] != drafts:
                self._indexed = drafts, self._built(self.root())
            return self._indexed[1]

    def _built(self, tree: Path) -> Workspace:
        original = self.original.snapshot
        snapshot = Snapshot(
            _KEY, original.name, original.commit, root=tree, subdir=original.subdir, edited_from=original
        )
        settings = self.original.settings.model_copy(update={"home": self._folder / "home"})
        store = IndexStore(self._folder / "index")
        workers = self.original.workers
        index = build_instant(BuildRun(snapshot, settings, store, workers, lambda _: None, self.cancel))
        # Vectors are kept by repository: the copy has none of its own.
        return replace(self.original, snapshot=snapshot, index=index, embedder=None, lookups=Lookups(self.resolver))

    def changed_on_disk(self) -> dict[str, str]:
        """What others did to the folder since the working copy began: `added`, `modified` or `deleted` by path; nothing
        for a clone. Blocking."""
        root = self.original.snapshot.root
        index = self.original.index
        if root is None:
            return {}
        hashes = index.hashes
        found = {path: "deleted" for path in hashes if not (root / path).is_file()}
        skipped = {skip.path for skip in index.report.skipped}
        for path in map(os.fsdecode, list_paths(root)):
            recent = path not in skipped and not secret_name(path) and _changed_after(root / path, self._began_ns)
            if recent and blob_id((root / path).read_bytes()) != hashes.get(path):
                found[path] = "modified" if path in hashes else "added"
        return dict(sorted(found.items()))

    def changes(self) -> tuple[FileChange, ...]:
        """All edits as one change, against the files as they were before their first edit."""
        return _changes_between(self._base, self.drafts())


def _require_wanted() -> None:
    """Raises Cancelled in a thread of an attempt that has failed."""
    given_up = _GIVEN_UP.get()
    if given_up is not None and given_up.is_set():
        raise Cancelled(i18n.message("api.cancelled"))


def _changes_between(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> tuple[FileChange, ...]:
    found = []
    for path, new in sorted(after.items()):
        old = before[path]
        if new is not None:
            found.append(change(path, new, old))
        elif old is not None:
            found.append(deletion(path, old))
    return tuple(c for c in found if c.diff)


def _changed_after(file: Path, began_ns: int) -> bool:
    """Whether a regular file may have changed since a time; its timestamp may lag behind the clock."""
    try:
        found = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_ctime_ns > began_ns - CLOCK_NS


def _whole(path: str, text: str | None) -> FileChange:
    """The change that writes a file into the copy, or deletes it where the text is None."""
    return FileChange(path, "deleted" if text is None else "modified", "", text or "")


_KEY = "drafts"


@asynccontextmanager
async def working_copy(original: Workspace) -> AsyncIterator[WorkingCopy]:
    """A working copy of a repository, removed afterwards.

    Args:
        original: the repository.

    Yields:
        The copy, without drafts.

    Raises:
        StorageError: there is no room for it.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="repopilot-drafts-")).resolve()
    except OSError as error:
        raise StorageError(i18n.message("planning.no_copy", error=error), i18n.message("sandbox.free_space")) from error
    copy = WorkingCopy(original, folder)
    try:
        yield copy
    finally:
        # Starts at once, and goes on if the caller is cancelled, as an MCP session is at its end.
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, _removed, copy, folder))


def _removed(copy: WorkingCopy, folder: Path) -> None:
    copy.close()
    disk.remove_tree(folder)


def _seed_index(original: Workspace, folder: Path) -> None:
    """Start an index from the repository's, so that only differences are parsed. The repository's index files never
    change, but are deleted when a newer generation replaces them: then everything is parsed."""
    try:
        _link_generation(original.index.folder, folder)
    except FileNotFoundError:
        disk.remove_tree(folder)


def _link_generation(generation: Path, folder: Path) -> None:
    sources = [p for p in generation.rglob("*") if p.is_file()]
    kept = [generation.parent / name for name in (layout.GRAPH, layout.HISTORY)]
    for source in (*sources, *(p for p in kept if p.is_file())):
        target = folder / source.relative_to(generation.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
