"""What a change breaks elsewhere: definitions that it removes or changes, and the places that use them as they were.

The state before the change tells which places mean a definition, the state after it which of those still find one, and
what the language's type checker says of them that it didn't say before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import lru_cache

from repopilot import i18n
from repopilot.code.graph.import_resolver import family
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import FileAnalysis, analyse
from repopilot.code.value_sites import sites_in
from repopilot.errors import SourceError
from repopilot.foreign_text import escaped
from repopilot.i18n import Message
from repopilot.redaction.redact import redacted
from repopilot.repo.diff_hunks import before_change
from repopilot.repo.patch import FileDiff
from repopilot.repo.read import read_raw, text_of
from repopilot.resolve.by_syntax import Found
from repopilot.resolve.captures import captured_names
from repopilot.resolve.names import SYNTAX, Resolver
from repopilot.resolve.snapshot_tree import SnapshotTree
from repopilot.resolve.syntax_calls import Parameters, arguments_at, parameters_of
from repopilot.resolve.syntax_source import Declaration, SyntaxSource
from repopilot.resolve.usage import may_be
from repopilot.resolve.values import Diagnosis, NameSpan, Occurrence, Resolved
from repopilot.review.code import Code
from repopilot.review.scope import Scope, shown_path
from repopilot.sandbox.language_servers.session import Servers
from repopilot.types import FileChange, Finding, Severity, Snapshot, Symbol
from repopilot.workspace import Workspace

MOST_NAMES = 60
"""Changed definitions whose uses are looked at."""
MOST_FILES = 200
"""Files that the type checker looks at."""
MOST_PLACES = 5
"""Places named in one finding."""
MOST_OTHERS = 3
"""Other definitions of a name, beyond which the places that may mean one of them are only counted."""
RULE = "broken-use"
_MAYBE = "possibly-broken-use"
_CAPTURED = "captured-name"
_GIVEN = re.compile(r"""(= ?)-?(?:\d[\d_]*(?=(\.?))[\d_.]*|(["'])[^"'\n]*\3)""")
"""A number or a text that is given to a name, of which the point or the quote stays."""
_TYPES = ("type", "interface")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition of the old state. `line` and `last` are its own there, `text` what has to stay the same. One that is
    `imported` matters to other files only."""

    name: str
    qualified: str
    kind: str
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

    @property
    def symbol(self) -> Symbol:
        """The definition as it was."""
        own = self.definition
        return Symbol(own.name, own.qualified, own.kind, self.old_path, own.line, own.last)

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


@dataclass(slots=True)
class _Left:
    """The uses that a change leaves as they were: those that no longer fit, and those for which that isn't proved."""

    sure: list[Occurrence] = field(default_factory=list)
    open: list[Occurrence] = field(default_factory=list)


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
    left = {(each.old_path, each.definition.qualified): compared.left_behind(each) for each in gone}
    return {(path, name): [*uses.sure, *(uses.open if "." not in name else ())] for (path, name), uses in left.items()}


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
    compared = _Comparison(before, after, {file.old_path: file.path for file in files})
    left = {each: compared.left_behind(each) for each in changed}
    found = [_finding(each, places, codes) for each, places in compared.broken(left).items()]
    for each, uses in left.items():
        whole = each.definition.imported or any(each.is_in(other) and other.gone for other in changed)
        if uses.open and not whole:
            found.append(_unproved(each, uses.open, compared.others(each), codes))
    told: dict[str, Finding] = {}  # a declaration and its definition change together
    for one in found:
        told.setdefault(one.message, one)
    return list(told.values())


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
    after = list(_definitions(file.path, file.after))
    left = {each.qualified: each for each in after}
    same = {(each.qualified, each.text) for each in after}
    bound = {name for each in _analysis(file.path, file.after).imports for name in each.bound}
    for each in _definitions(file.old_path, file.before):
        there = left.get(each.qualified)
        gone = file.gone or (there is None and each.qualified not in bound)
        if gone or (there is not None and (each.qualified, each.text) not in same):
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
    what stands before it, a value while one of its kind is given."""
    found, lines = _analysis(path, text), text.split("\n")
    known: set[str] = set()
    for each in found.symbols:
        body = "\n".join(lines[each.start_line - 1 : each.end_line])
        before = lines[each.start_line - 1].partition(each.name)[0].strip()
        value = body if each.kind in _TYPES else _GIVEN.sub(r"\1\2\3", body)
        same = f"{before} {each.signature}" if each.kind in ("function", "method") else value
        known.add(each.qualified)
        yield _Definition(each.name, each.qualified, each.kind, each.start_line, each.end_line, same)
    data, line, at = text.encode(), 1, 0
    for site in sites_in(path, text):
        line, at = line + data.count(b"\n", at, site.start), site.start
        if len(site.keys) == 1 and site.name not in known:
            known.add(site.name)
            yield _Definition(site.name, site.name, "variable", line, line, "")
    for imported in found.imports:
        for name in set(imported.bound) - known:
            known.add(name)
            yield _Definition(name, name, "import", imported.line, imported.line, "", imported=True)


@lru_cache(maxsize=128)
def _analysis(path: str, text: str) -> FileAnalysis:
    return analyse(path, text, language_of(path) or "", file_kind(path))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The two states of a repository, and the new paths of its files by the old ones."""

    before: Resolver
    after: Resolver
    paths: Mapping[str, str]

    def broken(self, left: Mapping[DefinitionChange, _Left]) -> dict[DefinitionChange, list[_Place]]:
        """The places at which changed definitions are certainly used as they were."""
        changed = list(left)
        places = {
            each: {(use.span.path, use.line): _Place(use.span.path, use.line, use.source) for use in uses.sure}
            for each, uses in left.items()
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

    def left_behind(self, each: DefinitionChange) -> _Left:
        """The uses of a definition that is gone, or takes other parameters where no server checks calls, on lines that
        are still there."""
        name, left = each.definition.name, _Left()
        at = next((one.span for one in self.before.occurrences(name) if _is_at(one, each)), None)
        if at is None:
            return left
        served = self.before.engine(each.old_path) != SYNTAX
        takes = [] if each.gone else self._new_parameters(each)
        if not (each.gone or takes) or (not served and each.gone and self._inherited(each)):
            return left
        uses = self.before.uses(at, name)
        sure = self._lines(uses.sure)
        maybe = self._lines(use for use in uses.by_name if not served and self._may_mean(each, use))
        told = sure | maybe
        moved = each.gone and not served and self._moved(each)
        calls = self._calls(name) if takes else {}
        for one in self.after.meanings(name):
            use = one.occurrence
            line = (use.span.path, use.source.strip())
            if line not in told or (each.gone and self._is_defined(one, name)):
                continue
            fits = _fits(calls.get(use.span, (False, None)), takes) if takes else False
            if fits is not True:
                (left.sure if line in sure and not moved and fits is False else left.open).append(use)
        return left

    def others(self, each: DefinitionChange) -> int:
        """How many other definitions of a changed one's name there are."""
        own = (each.path, each.definition.qualified)
        return sum((path, qualified) != own for path, qualified in _defined(self.after, each))

    def _lines(self, uses: Iterable[Occurrence]) -> set[tuple[str, str]]:
        return {(self.paths.get(use.span.path, use.span.path), use.source.strip()) for use in uses}

    def _may_mean(self, each: DefinitionChange, use: Occurrence) -> bool:
        return use.kind == "code" and may_be([each.symbol], use, self.before.text(use.span.path) or "")

    def _moved(self, each: DefinitionChange) -> bool:
        """Whether a definition of that qualified name came up elsewhere."""
        old = {
            self.paths.get(path, path) for path, name in _defined(self.before, each) if name == each.symbol.qualified
        }
        return any(path not in old for path, name in _defined(self.after, each) if name == each.symbol.qualified)

    def _key(self, each: DefinitionChange) -> tuple[SyntaxSource, Declaration, Found] | None:
        """What the syntax takes a changed definition for."""
        syntax = self.before.syntax()
        source = syntax.source(each.old_path)
        if source is None:
            return None
        lines = range(each.definition.line - 1, each.definition.last)
        declared = (one for one in source.declared(each.definition.name) if one.name.start_point[0] in lines)
        one = next(declared, None)
        return (source, one, syntax.key_of(source, one)) if one is not None else None

    def _inherited(self, each: DefinitionChange) -> bool:
        """Whether the class of a member that is gone has it from another one."""
        found = self._key(each)
        key = found[2] if found is not None else None
        if not isinstance(key, tuple) or key[0] != "member":
            return False
        return self.after.syntax().member(*key[1:]) is not None

    def _new_parameters(self, each: DefinitionChange) -> list[Parameters]:
        """What a function takes now, where calls that fitted it may not fit that."""
        found = None if self.after.checks(each.path) else self._key(each)
        if found is None or not isinstance(found[2], tuple):
            return []
        old = parameters_of(*found[:2])
        new = [parameters_of(*place) for place in self.after.syntax().places(found[2])]
        given = [one for one in new if one is not None]
        return given if old is not None and not any(one.accepts(old) for one in given) else []

    def _calls(self, name: str) -> dict[NameSpan, tuple[bool, int | None]]:
        """Whether and with how many arguments a name is called where it stands, as in `arguments_at`."""
        return {
            NameSpan(source.path, *source.characters(word.start, word.end)): arguments_at(word.node)
            for source in self.after.syntax().sources(name)
            for word in source.words(name)
        }

    def _is_defined(self, one: Resolved, name: str) -> bool:
        """Whether a use means something after the change: a definition, or what is outside of the repository."""
        inside = {span.path for span in one.meaning.inside}
        path = one.occurrence.span.path
        served = self.after.engine(path) != SYNTAX
        source = self.after.syntax().source(path) if not served else None
        outside = one.meaning.outside - ({source.language} if source is not None else set())
        return bool(outside) or any(self._defines(each, name) for each in inside or ({path} if served else ()))

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


def _fits(call: tuple[bool, int | None], takes: Sequence[Parameters]) -> bool | None:
    """Whether a use fits parameters: True for what is no call, None where the types of the arguments decide.

    Args:
        call: as in `arguments_at`.
        takes: the parameters of each definition that it may mean.
    """
    called, count = call
    if not called:
        return True
    return False if count is not None and not any(one.least <= count <= one.most for one in takes) else None


def _is_at(one: Occurrence, each: DefinitionChange) -> bool:
    """Whether an occurrence stands in a definition of the old state, as code."""
    own = each.definition
    return one.kind == "code" and one.span.path == each.old_path and own.line <= one.line <= own.last


def _defined(resolver: Resolver, each: DefinitionChange) -> list[tuple[str, str]]:
    """The files with the qualified names of all definitions of a changed one's name in its language."""
    name, own = each.definition.name, family(language_of(each.old_path) or "")
    paths = dict.fromkeys(one.span.path for one in resolver.occurrences(name) if one.kind == "code")
    texts = [(path, resolver.text(path) or "") for path in paths if family(language_of(path) or "") == own]
    return [(path, s.qualified) for path, text in texts for s in _analysis(path, text).symbols if s.name == name]


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
    return _reported(each, i18n.message(key, **facts), "high", places[0], codes)


def _unproved(each: DefinitionChange, uses: Sequence[Occurrence], others: int, codes: Mapping[str, Code]) -> Finding:
    """One finding for the uses that may mean a definition; where many others have its name they are only counted."""
    kind = "common" if others > MOST_OTHERS else "gone" if each.gone else "changed"
    places = list(dict.fromkeys((use.span.path, use.line) for use in uses))
    shown = ", ".join(f"{shown_path(path)}:{line}" for path, line in places[:MOST_PLACES])
    facts = {"name": each.definition.qualified, "count": len(places), "places": shown, "others": others}
    first = _Place(uses[0].span.path, uses[0].line, uses[0].source)
    said = i18n.message(f"review.{kind}_maybe_used", **facts)
    return _reported(each, said, "low" if kind == "common" else "medium", first, codes)


def _reported(
    each: DefinitionChange, said: Message, severity: Severity, first: _Place, codes: Mapping[str, Code]
) -> Finding:
    rule = RULE if severity == "high" else _MAYBE
    if code := codes.get(each.path):
        return code.finding(each.line, severity, "style", rule, said, "names")
    return Finding(first.path, first.line, severity, rule, said, "names", "style", redacted(first.source.strip()))
