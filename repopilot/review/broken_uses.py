"""What a change breaks elsewhere: definitions that it removes or changes, and the places that use them as they were.

The state before the change tells which places mean a definition, the state after it which of those still find one, and
what the language's type checker says of them that it didn't say before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from repopilot import i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import FileAnalysis, analyse
from repopilot.code.value_sites import sites_in
from repopilot.errors import SourceError
from repopilot.foreign_text import escaped
from repopilot.redaction.redact import redacted
from repopilot.repo.diff_hunks import before_change
from repopilot.repo.patch import FileDiff
from repopilot.repo.read import read_raw, text_of
from repopilot.resolve.captures import captured_names
from repopilot.resolve.names import SYNTAX, Resolver
from repopilot.resolve.snapshot_tree import SnapshotTree
from repopilot.resolve.values import Diagnosis, Occurrence
from repopilot.review.code import Code
from repopilot.review.scope import Scope, shown_path
from repopilot.sandbox.language_servers.session import Servers
from repopilot.types import FileChange, Finding, Snapshot
from repopilot.workspace import Workspace

MOST_NAMES = 60
"""Changed definitions whose uses are looked at."""
MOST_FILES = 200
"""Files that the type checker looks at."""
MOST_PLACES = 5
"""Places named in one finding."""
RULE = "broken-use"
_CAPTURED = "captured-name"


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition of the old state. `line` and `last` are its own there, `text` what has to stay the same. One that is
    `imported` matters to other files only."""

    name: str
    qualified: str
    line: int
    last: int
    text: str
    imported: bool = False


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A definition that is gone, or another one than before. `line` is where it is or was."""

    definition: _Definition
    old_path: str
    path: str
    line: int
    gone: bool

    def is_in(self, other: DefinitionChange) -> bool:
        """Whether it is a member of another one."""
        return self.path == other.path and self.definition.qualified.startswith(f"{other.definition.qualified}.")


@dataclass(frozen=True, slots=True)
class _Place:
    """A use that no longer fits. `why` is what the type checker says, '' where the name is simply gone."""

    path: str
    line: int
    source: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A file's texts before and after a change. `gone` where it isn't at that path any more."""

    old_path: str
    path: str
    before: str
    after: str
    gone: bool = False


def broken_uses(scope: Scope, workspace: Workspace) -> tuple[list[Finding], tuple[str, ...]]:
    """Compare the two states of a change. Blocking.

    Args:
        scope: the change.
        workspace: the repository.

    Returns:
        A finding for each definition whose users were left behind, remarks on captured names, and notes on what could
        not be asked.

    Raises:
        SourceError: one of the states can't be read.
        StorageError: there is no room for it.
    """
    if scope.states is None:
        return [], ()
    old, new = scope.states
    files = [found for diff in scope.diffs if (found := _versions(diff, old, new)) is not None]
    changed = changed_definitions(files)
    codes = {target.new.path: target.new for target in scope.targets}
    remarks = captured(files)
    if not changed:
        return remarks, ()
    with ExitStack() as stack:
        servers = stack.enter_context(closing(Servers(workspace.settings, workspace.environment)))
        trees = [stack.enter_context(closing(SnapshotTree(state, workspace.settings))) for state in (old, new)]
        before, after = (Resolver(tree, workspace.index, servers) for tree in trees)
        return [*remarks, *left_behind(changed, files, before, after, codes)], (*before.notes, *after.notes)


def changed_definitions(files: Iterable[FileVersions]) -> list[DefinitionChange]:
    """The definitions that a change removes, or makes others than they were: at most MOST_NAMES."""
    return [each for file in files for each in _changed_in(file)][:MOST_NAMES]


def versions_of(changes: Iterable[FileChange]) -> list[FileVersions]:
    """The files of code that a change makes others, each with its texts; new ones break nothing."""
    return [
        FileVersions(each.path, each.path, before_change(each) or "", each.content, each.change == "deleted")
        for each in changes
        if each.change != "added" and file_kind(each.path) == "code"
    ]


def uses_of_gone(
    changed: Sequence[DefinitionChange], files: Sequence[FileVersions], before: Resolver, after: Resolver
) -> dict[tuple[str, str], list[Occurrence]]:
    """The uses, in the state after a change, of each definition that is gone. Blocking.

    Args:
        changed: the definitions.
        files: the files that differ.
        before: resolves names of the state before the change.
        after: resolves those of the state after it.

    Returns:
        Those uses by the definition's old path and qualified name; [] where none is left.
    """
    compared = _Comparison(before, after, {file.old_path: file.path for file in files})
    gone = (each for each in changed if each.gone)
    return {(each.old_path, each.definition.qualified): list(compared.left_behind(each)) for each in gone}


def left_behind(
    changed: Sequence[DefinitionChange],
    files: Sequence[FileVersions],
    before: Resolver,
    after: Resolver,
    codes: Mapping[str, Code],
) -> list[Finding]:
    """A finding for each changed definition whose users were left behind. Blocking.

    Args:
        changed: the definitions.
        files: the files that differ.
        before: resolves names of the state before the change.
        after: resolves those of the state after it.
        codes: the files of that state by path, to quote them.
    """
    found = _Comparison(before, after, {file.old_path: file.path for file in files}).broken(changed)
    return [_finding(each, places, codes) for each, places in found.items()]


def captured(files: Iterable[FileVersions]) -> list[Finding]:
    """A remark for each place that means something else than before, on a line that a change leaves as it is."""
    found = []
    for file in files:
        if language_of(file.path) == "python" and not file.gone:
            lines = file.after.splitlines()
            for line, name in captured_names(file.before, file.after):
                said, quote = i18n.message("edit_check.captured", name=name), redacted(lines[line - 1].strip())
                found.append(Finding(file.path, line, "low", _CAPTURED, said, "names", "style", quote))
    return found


def _versions(diff: FileDiff, old: Snapshot, new: Snapshot) -> FileVersions | None:
    if diff.status == "added" or file_kind(diff.old_path) != "code":
        return None
    before, after = _text(old, diff.old_path), _text(new, diff.path) if diff.status != "deleted" else ""
    if before is None or after is None:
        return None
    gone = diff.old_path != diff.path or diff.status == "deleted"
    return FileVersions(diff.old_path, diff.path, before, after, gone)


def _changed_in(file: FileVersions) -> Iterator[DefinitionChange]:
    left = {each.qualified: each for each in _definitions(file.path, file.after)}
    bound = {name for each in _analysis(file.path, file.after).imports for name in each.bound}
    for each in _definitions(file.old_path, file.before):
        there = left.get(each.qualified)
        gone = file.gone or (there is None and each.qualified not in bound)
        if gone or (there is not None and there.text != each.text):
            line = there.line if there else min(each.line, file.after.count("\n") + 1)
            yield DefinitionChange(each, file.old_path, file.path, line, gone)


def _text(snapshot: Snapshot, path: str) -> str | None:
    try:
        data = read_raw(snapshot, path)
    except SourceError:
        return None
    text = text_of(path, data) if data.strip() else ""
    return text if isinstance(text, str) else None


def _definitions(path: str, text: str) -> Iterator[_Definition]:
    """What a file defines, and the names that it imports for others. A function stays the same while its head does and
    what stands before it, a value while there is one."""
    found, lines = _analysis(path, text), text.split("\n")
    known: set[str] = set()
    for each in found.symbols:
        body = "\n".join(lines[each.start_line - 1 : each.end_line])
        before = lines[each.start_line - 1].partition(each.name)[0].strip()
        same = f"{before} {each.signature}" if each.kind in ("function", "method") else body
        known.add(each.qualified)
        yield _Definition(each.name, each.qualified, each.start_line, each.end_line, same)
    data, line, at = text.encode(), 1, 0
    for site in sites_in(path, text):
        line, at = line + data.count(b"\n", at, site.start), site.start
        if len(site.keys) == 1 and site.name not in known:
            known.add(site.name)
            yield _Definition(site.name, site.name, line, line, "")
    for imported in found.imports:
        for name in set(imported.bound) - known:
            known.add(name)
            yield _Definition(name, name, imported.line, imported.line, "", imported=True)


def _analysis(path: str, text: str) -> FileAnalysis:
    return analyse(path, text, language_of(path) or "", file_kind(path))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The two states of a repository, and the new paths of its files by the old ones."""

    before: Resolver
    after: Resolver
    paths: Mapping[str, str]

    def broken(self, changed: Sequence[DefinitionChange]) -> dict[DefinitionChange, list[_Place]]:
        """The places at which changed definitions are still used as they were."""
        places: dict[DefinitionChange, dict[tuple[str, int], _Place]] = {each: {} for each in changed}
        for each in changed:
            if each.gone:
                places[each] = {
                    (use.span.path, use.line): _Place(use.span.path, use.line, use.source)
                    for use in self.left_behind(each)
                }
        for problem, source in self._new_problems({each.definition.name for each in changed}):
            words = set(re.findall(r"\w+", f"{source} {problem.message}"))
            for each in changed:
                if each.definition.name in words:
                    place = _Place(problem.path, problem.line, source, problem.message)
                    places[each][problem.path, problem.line] = place
        kept: dict[DefinitionChange, list[_Place]] = {}
        for each, found in places.items():
            told = {at for inner in changed if inner.is_in(each) for at in places[inner]}
            own = [place for at, place in sorted(found.items()) if at not in told]
            if each.definition.imported:
                own = [place for place in own if place.path != each.path]
            if own:
                kept[each] = own
        return kept

    def left_behind(self, each: DefinitionChange) -> Iterator[Occurrence]:
        """The uses of a definition that is gone, on lines that are still there and find no definition."""
        name, path = each.definition.name, each.old_path
        at = next(
            (
                one.span
                for one in self.before.occurrences(name)
                if one.kind == "code"
                and one.span.path == path
                and each.definition.line <= one.line <= each.definition.last
            ),
            None,
        )
        if at is None:
            return
        uses = self.before.uses(at, name)
        by_name = uses.engine == SYNTAX and "." not in each.definition.qualified
        users = [*uses.sure, *(use for use in uses.by_name if by_name and use.kind == "code")]
        lines = {(self.paths.get(use.span.path, use.span.path), use.source.strip()) for use in users}
        for one in self.after.meanings(name):
            now = one.occurrence
            if (now.span.path, now.source.strip()) in lines and not self._is_defined(one.meaning.inside, name, now):
                yield now

    def _is_defined(self, spans: Iterable[tuple[str, int, int]], name: str, use: Occurrence) -> bool:
        """Whether one of some places defines a name; where none is known, whether the file of a use does, or any
        in its language does."""
        files = {path for path, _, _ in spans}
        if not files:
            files = {use.span.path}
            if self.after.engine(use.span.path) == SYNTAX:
                there = {one.span.path for one in self.after.occurrences(name) if one.kind == "code"}
                files |= {path for path in there if language_of(path) == language_of(use.span.path)}
        return any(self._defines(path, name) for path in files)

    def _defines(self, path: str, name: str) -> bool:
        text = self.after.text(path) or ""
        found = any(each.name == name for each in _analysis(path, text.replace("\r\n", "\n")).symbols)
        return found or any(site.keys == (name,) for site in sites_in(path, text))

    def _new_problems(self, names: Iterable[str]) -> Iterator[tuple[Diagnosis, str]]:
        """What the type checker says of the files that hold some names, and didn't say before; each with its line."""
        holding = {one.span.path for name in names for one in self.after.occurrences(name) if one.kind == "code"}
        after = self.after.problems(sorted(holding)[:MOST_FILES])
        if not any(after.values()):
            return
        old_paths = {new: old for old, new in self.paths.items()}
        before = self.before.problems([old_paths.get(path, path) for path in after])
        known = Counter(
            (self.paths.get(path, path), one.message, _line(self.before, path, one.line))
            for path, found in before.items()
            for one in found
        )
        for path, found in after.items():
            for one in found:
                source = _line(self.after, path, one.line)
                known[path, one.message, source] -= 1
                if known[path, one.message, source] < 0:
                    yield one, source


def _line(resolver: Resolver, path: str, number: int) -> str:
    lines = (resolver.text(path) or "").split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _finding(each: DefinitionChange, places: Sequence[_Place], codes: Mapping[str, Code]) -> Finding:
    """One finding for a definition, at the file that changed; at the first use where that file is gone."""
    told = defaultdict(list)
    for place in places[:MOST_PLACES]:
        told[escaped(redacted(place.why.partition("\n")[0]))].append(f"{shown_path(place.path)}:{place.line}")
    rows = [", ".join(at) + (f" – {why}" if why else "") for why, at in told.items()]
    key = "review.gone_but_used" if each.gone else "review.changed_but_used"
    facts = {"name": each.definition.qualified, "count": len(places), "places": "; ".join(rows)}
    said = i18n.message(key, **facts)
    if code := codes.get(each.path):
        return code.finding(each.line, "high", "style", RULE, said, "names")
    first = places[0]
    return Finding(first.path, first.line, "high", RULE, said, "names", "style", redacted(first.source.strip()))
