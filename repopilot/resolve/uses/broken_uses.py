"""What a change breaks elsewhere: definitions that it removes or alters, and uses that it doesn't adapt.

The state before the change tells which places mean a definition. The state after it tells which of them still find one,
and which new errors the language's type checker reports there.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath

from repopilot import i18n
from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.file_version import Code
from repopilot.code.graph.implementations import implementations
from repopilot.code.languages import family, file_kind, language_of
from repopilot.code.python_ast import parse_python
from repopilot.code.source_positions import rows_of
from repopilot.code.split import analysed
from repopilot.code.value_sites import sites_in
from repopilot.foreign_text import escaped
from repopilot.i18n import Message
from repopilot.redaction.redact import redacted, shown_path
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.resolve.captures import captured_names, kept_lines
from repopilot.resolve.names import SYNTAX, Resolver
from repopilot.resolve.syntax.calls import Parameters, arguments_at, parameters_of
from repopilot.resolve.syntax.resolver import Found
from repopilot.resolve.syntax.syntax_source import Declaration, SyntaxSource
from repopilot.resolve.uses.usage import may_be
from repopilot.resolve.values import Diagnosis, NameSpan, Occurrence, Resolved
from repopilot.types import FileChange, Finding, Severity, Symbol

MOST_NAMES = 60
"""Most changed definitions whose uses are checked."""
MOST_FILES = 200
"""Most files that the type checker checks."""
MOST_PLACES = 5
"""Most places named in one finding."""
MOST_OTHERS = 3
"""With more other definitions of the name than this, places that may mean one of them are only counted."""
RULE = "broken-use"
UNCERTAIN_RULE = "possibly-broken-use"
_CAPTURED = "captured-name"
_GIVEN = re.compile(r"""(= ?)-?(?:\d[\d_]*(?=(\.?))[\d_.]*|(["'])[^"'\n]*\3)""")
"""A number or a string that is assigned to a name; its decimal point or its quotes are kept."""
_TYPES = ("type", "interface")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition in one state. It counts as unchanged while `text` stays the same. An `imported` one matters to
    other files only."""

    symbol: Symbol
    text: str
    imported: bool = False


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A definition that a change removes or alters. `line` is where it is or was. It is `annotated` where only
    annotations of Python differ, which don't run."""

    definition: _Definition
    path: str
    line: int
    gone: bool
    annotated: bool = False

    @property
    def symbol(self) -> Symbol:
        """The definition as it was."""
        return self.definition.symbol

    def is_in(self, other: DefinitionChange) -> bool:
        """Whether it is a member of another one."""
        return self.path == other.path and self.symbol.qualified.startswith(f"{other.symbol.qualified}.")


@dataclass(frozen=True, slots=True)
class _Place:
    """A use that no longer fits. `why` is the type checker's message, '' where the name is simply gone."""

    path: str
    line: int
    source: str
    why: str = ""


@dataclass(slots=True)
class _Left:
    """The uses that a change doesn't adapt: those that no longer fit, and those of which that isn't certain."""

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


def changed_definitions(files: Iterable[FileVersions]) -> list[DefinitionChange]:
    """The definitions that a change removes or alters: at most MOST_NAMES."""
    return list(islice((each for file in files for each in _changed_in(file)), MOST_NAMES))


def versions_of(changes: Iterable[FileChange]) -> list[FileVersions]:
    """The code files that a change modifies or deletes, with their texts; new files break nothing."""
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
        after: resolves names of the state after it.

    Returns:
        The uses by the definition's old path and qualified name; [] where none is left.
    """
    compared = _Comparison(before, after, {file.old_path: file.path for file in files})
    gone = (each for each in changed if each.gone)
    left = {(each.symbol.path, each.symbol.qualified): compared.left_behind(each) for each in gone}
    return {(path, name): [*uses.sure, *(uses.open if "." not in name else ())] for (path, name), uses in left.items()}


def left_behind(
    changed: Sequence[DefinitionChange],
    files: Sequence[FileVersions],
    before: Resolver,
    after: Resolver,
    codes: Mapping[str, Code],
    typed: Collection[str] = (),
) -> list[Finding]:
    """A finding for each changed definition whose users were left behind. Blocking.

    Args:
        changed: the definitions.
        files: the files that differ.
        before: resolves names of the state before the change.
        after: resolves names of the state after it.
        codes: the files after the change by path, to quote them.
        typed: files in which a type checker checked every use after the change: unproved uses there aren't reported.
    """
    compared = _Comparison(before, after, {file.old_path: file.path for file in files})
    left = {each: compared.left_behind(each) for each in changed}
    found = [_finding(each, places, codes) for each, places in compared.broken(left).items()]
    for each, uses in left.items():
        whole = each.definition.imported or any(each.is_in(other) and other.gone for other in changed)
        unjudged = [use for use in uses.open if use.span.path not in typed]
        if unjudged and not whole:
            found.append(_unproved(each, unjudged, compared.others(each), codes))
    found += _no_longer_implementing(changed, before, after, codes)
    told: dict[str, Finding] = {}  # a declaration and its definition change together
    for one in found:
        told.setdefault(one.message, one)
    return list(told.values())


def _no_longer_implementing(
    changed: Sequence[DefinitionChange], before: Resolver, after: Resolver, codes: Mapping[str, Code]
) -> Iterator[Finding]:
    """A finding for each changed Go definition because of which types no longer implement an interface."""
    in_go = [each for each in changed if language_of(each.symbol.path) == "go"]
    owners = {(posixpath.dirname(each.symbol.path), each.symbol.qualified.partition(".")[0]) for each in in_go}
    if not owners:
        return
    had = {_types_of(pair): pair for pair in implementations(_of_go(before, owners)) if "." not in pair[0].qualified}
    now = list(_of_go(after, owners))
    has = set(map(_types_of, implementations(now)))
    left = {(posixpath.dirname(file.path), symbol.qualified): symbol for file in now for symbol in file.symbols}
    lost: dict[DefinitionChange, list[tuple[Symbol, Symbol]]] = defaultdict(list)
    for one, interface in had.keys() - has:
        causes = [each for owner in (interface, one) for each in in_go if _is_of(each, owner)]
        if causes and one in left and interface in left:
            lost[causes[0]].append((left[one], left[interface]))
    for each, pairs in lost.items():
        pairs.sort(key=lambda pair: (pair[0].path, pair[0].start_line))
        shown = [
            f"`{a.name}` ({shown_path(a.path)}:{a.start_line}) → `{b.name}` ({shown_path(b.path)}:{b.start_line})"
            for a, b in pairs
        ]
        facts = {"name": each.symbol.qualified, "count": len(pairs), "places": "; ".join(shown[:MOST_PLACES])}
        first = pairs[0][0]
        place = _Place(first.path, first.start_line, first.signature)
        yield _reported(each, i18n.message("review.no_longer_implements", **facts), "medium", place, codes)


_Owner = tuple[str, str]
"""The folder and the name of a type."""


def _types_of(pair: tuple[Symbol, Symbol]) -> tuple[_Owner, _Owner]:
    one, other = ((posixpath.dirname(each.path), each.qualified) for each in pair)
    return one, other


def _is_of(each: DefinitionChange, owner: _Owner) -> bool:
    """Whether a definition is a type or one of its methods."""
    return owner == (posixpath.dirname(each.symbol.path), each.symbol.qualified.partition(".")[0])


def _of_go(resolver: Resolver, owners: Collection[_Owner]) -> Iterator[FileAnalysis]:
    """The files of all Go packages that hold the name of a method of some types."""
    paths = [path for path in resolver.paths() if path.endswith(".go")]
    near = [analysed(path, resolver.text(path) or "") for path in paths if posixpath.dirname(path) in dict(owners)]
    symbols = [symbol for file in near for symbol in file.symbols if symbol.kind == "method"]
    names = {s.name for s in symbols if (posixpath.dirname(s.path), s.qualified.partition(".")[0]) in owners}
    holding = {posixpath.dirname(path) for path, _ in resolver.holding(*names)} if names else set()
    for path in paths:
        if posixpath.dirname(path) in holding:
            yield analysed(path, resolver.text(path) or "")


def captured(files: Iterable[FileVersions]) -> list[Finding]:
    """A finding for each name on an unchanged line that means another variable than before."""
    found = []
    for file in files:
        if language_of(file.path) == "python" and not file.gone:
            lines = rows_of(file.after)
            for line, name in captured_names(file.before, file.after):
                said = i18n.message("edit_check.captured", name=name)
                quote = redacted(lines[line - 1].strip())
                found.append(Finding(file.path, line, "low", _CAPTURED, said, "names", "style", quote))
    return found


def _changed_in(file: FileVersions) -> Iterator[DefinitionChange]:
    after = list(_definitions(file.path, file.after))
    left = {each.symbol.qualified: each for each in after}
    same = {(each.symbol.qualified, each.text) for each in after}
    bound = {name for each in analysed(file.path, file.after).imports for name in each.bound}
    for each in _definitions(file.old_path, file.before):
        symbol = each.symbol
        there = left.get(symbol.qualified)
        gone = file.gone or (there is None and symbol.qualified not in bound)
        if gone or (there is not None and (symbol.qualified, each.text) not in same):
            line = there.symbol.start_line if there else min(symbol.start_line, file.after.count("\n") + 1)
            is_function = symbol.kind in ("function", "method") and language_of(file.old_path) == "python"
            annotated = is_function and there is not None and _unannotated(there) == _unannotated(each)
            yield DefinitionChange(each, file.path, line, gone, annotated)


def _unannotated(function: _Definition) -> str:
    """The head of a function of Python without its annotations."""
    before, name, rest = function.text.partition(f"def {function.symbol.name}")
    try:
        tree = parse_python(f"{name}{rest}: pass")
    except SyntaxError:  # cut where it is very long
        return function.text
    for each in ast.walk(tree):
        if isinstance(each, ast.arg):
            each.annotation = None
        elif isinstance(each, ast.FunctionDef):
            each.returns = None
    return f"{before}{ast.unparse(tree)}"


def _definitions(path: str, text: str) -> Iterator[_Definition]:
    """The definitions of a file, and the names that it imports. A function counts as unchanged while its signature and
    the text before it are, a value while it is assigned one of the same kind."""
    found = analysed(path, text)
    lines = text.split("\n")
    known: set[str] = set()
    for each in found.symbols:
        body = "\n".join(lines[each.start_line - 1 : each.end_line])
        before = lines[each.start_line - 1].partition(each.name)[0].strip()
        value = body if each.kind in _TYPES else _GIVEN.sub(r"\1\2\3", body)
        same = f"{before} {each.signature}" if each.kind in ("function", "method") else value
        known.add(each.qualified)
        yield _Definition(each, same)
    data = text.encode()
    line = 1
    at = 0
    for site in sites_in(path, text, outermost=True):
        line = line + data.count(b"\n", at, site.start)
        at = site.start
        if len(site.keys) == 1 and site.name not in known:
            known.add(site.name)
            yield _Definition(Symbol(site.name, site.name, "variable", path, line, line), "")
    for imported in found.imports:
        for name in set(imported.bound) - known:
            known.add(name)
            yield _Definition(Symbol(name, name, "import", path, imported.line, imported.line), "", imported=True)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The two states of a repository, and the new paths of its files by the old ones."""

    before: Resolver
    after: Resolver
    paths: Mapping[str, str]

    def broken(self, left: Mapping[DefinitionChange, _Left]) -> dict[DefinitionChange, list[_Place]]:
        """The places where uses of changed definitions certainly no longer fit."""
        changed = list(left)
        places = {
            each: {(use.span.path, use.line): _Place(use.span.path, use.line, use.source) for use in uses.sure}
            for each, uses in left.items()
        }
        problems = list(self._new_problems({each.symbol.name for each in changed}))
        for each in changed if problems else ():
            lines = self._lines_of_uses(each, {problem.path for problem, _ in problems})
            for problem, source in problems:
                if (problem.path, problem.line) in lines or _is_called_in(problem.message, each.symbol):
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

    def _lines_of_uses(self, each: DefinitionChange, paths: Collection[str]) -> set[tuple[str, int]]:
        """The lines of some files with uses of a definition that the change leaves as they were."""
        found = [one for one in self.after.occurrences(each.symbol.name) if one.span.path in paths]
        at = self._place(each) if found else None
        if at is None:
            return set()
        stood = self._stood(self.before.uses(at, each.symbol.name).sure)
        told = (one for one in found if (one.span.path, *_words_before(self.after, one)) in stood)
        return {(one.span.path, one.line) for one in told}

    def _place(self, each: DefinitionChange) -> NameSpan | None:
        """Where the name of a definition stands in the old state."""
        return next((one.span for one in self.before.occurrences(each.symbol.name) if _is_at(one, each)), None)

    def left_behind(self, each: DefinitionChange) -> _Left:
        """The uses, on lines that are still there, of a definition that is gone, or that takes other parameters where
        no server checks calls."""
        name = each.symbol.name
        left = _Left()
        at = self._place(each)
        if at is None:
            return left
        served = self.before.engine(each.symbol.path) != SYNTAX
        takes = [] if each.gone else self._new_parameters(each)
        if not (each.gone or takes) or (not served and each.gone and self._inherited(each)):
            return left
        uses = self.before.uses(at, name)
        sure = self._stood(uses.sure)
        maybe = self._stood(use for use in uses.by_name if not served and self._may_mean(each, use))
        told = sure | maybe
        moved = each.gone and not served and self._moved(each)
        calls = self._calls(name) if takes else {}
        for one in self.after.meanings(name):
            use = one.occurrence
            place = (use.span.path, *_words_before(self.after, use))
            if place not in told or (each.gone and self._is_defined(one, each.definition)):
                continue
            fits = _fits(calls.get(use.span, (False, None)), takes) if takes else False
            if fits is not True:
                (left.sure if place in sure and not moved and fits is False else left.open).append(use)
        return left

    def others(self, each: DefinitionChange) -> int:
        """How many other definitions have the name of a changed one."""
        own = (each.path, each.symbol.qualified)
        return sum((path, qualified) != own for path, qualified in _defined(self.after, each))

    def _stood(self, uses: Iterable[Occurrence]) -> set[tuple[str, str, str]]:
        """The places of the old state's uses, as the new path, the line and the text before the use."""
        return {(self.paths.get(use.span.path, use.span.path), *_words_before(self.before, use)) for use in uses}

    def _may_mean(self, each: DefinitionChange, use: Occurrence) -> bool:
        return use.kind == "code" and may_be([each.symbol], use, self.before.text(use.span.path) or "")

    def _moved(self, each: DefinitionChange) -> bool:
        """Whether another file gained a definition of that qualified name."""
        old = {
            self.paths.get(path, path) for path, name in _defined(self.before, each) if name == each.symbol.qualified
        }
        return any(path not in old for path, name in _defined(self.after, each) if name == each.symbol.qualified)

    def _key(self, each: DefinitionChange) -> tuple[SyntaxSource, Declaration, Found] | None:
        """The file, declaration and resolver's key of a changed definition, by syntax."""
        syntax = self.before.syntax()
        source = syntax.source(each.symbol.path)
        if source is None:
            return None
        lines = range(each.symbol.start_line - 1, each.symbol.end_line)
        declared = (one for one in source.declared(each.symbol.name) if one.name.start_point[0] in lines)
        one = next(declared, None)
        return (source, one, syntax.key_of(source, one)) if one is not None else None

    def _inherited(self, each: DefinitionChange) -> bool:
        """Whether the class of a removed member still inherits one of that name."""
        found = self._key(each)
        key = found[2] if found is not None else None
        if not isinstance(key, tuple) or key[0] != "member":
            return False
        return self.after.syntax().member(*key[1:]) is not None

    def _new_parameters(self, each: DefinitionChange) -> list[Parameters]:
        """A function's new parameters, where calls that fitted the old ones may not fit them."""
        found = None if self.after.checks(each.path) else self._key(each)
        if found is None or not isinstance(found[2], tuple):
            return []
        old = parameters_of(found[0], found[1].holder)
        new = [parameters_of(place, each.holder) for place, each in self.after.syntax().places(found[2])]
        given = [one for one in new if one is not None]
        return given if old is not None and not any(one.accepts(old) for one in given) else []

    def _calls(self, name: str) -> dict[NameSpan, tuple[bool, int | None]]:
        """Whether and with how many arguments a name is called where it stands, as in `arguments_at`."""
        return {
            NameSpan(source.path, *source.characters(word.start, word.end)): arguments_at(word.node)
            for source in self.after.syntax().sources(name)
            for word in source.words(name)
        }

    def _is_defined(self, one: Resolved, own: _Definition) -> bool:
        """Whether a use means something after the change: a definition, a module where an import is gone, or what is
        outside of the repository."""
        inside = {span.path for span in one.meaning.inside}
        path = one.occurrence.span.path
        served = self.after.engine(path) != SYNTAX
        source = self.after.syntax().source(path) if not served else None
        outside = one.meaning.outside - ({source.language} if source is not None else set())
        if outside or (
            own.imported and any(own.symbol.name in PurePath(each).with_suffix("").parts[-2:] for each in inside)
        ):
            return True
        name = own.symbol.name
        is_local = any(self._is_local(span, name) for span in one.meaning.inside)
        return is_local or any(self._defines(each, name) for each in inside or ({path} if served else ()))

    def _is_local(self, span: NameSpan, name: str) -> bool:
        """Whether a place declares a name local to a function or a block, which hides the removed one."""
        syntax = self.after.syntax()
        source = syntax.source(span.path)
        if source is None:
            return False
        here = (
            each
            for each in source.declared(name)
            if source.characters(each.name.start_byte, each.name.end_byte) == (span.start, span.end)
        )
        return any(isinstance(found := syntax.key_of(source, each), tuple) and found[0] == "local" for each in here)

    def _defines(self, path: str, name: str) -> bool:
        text = self.after.text(path) or ""
        found = any(each.name == name for each in analysed(path, text.replace("\r\n", "\n")).symbols)
        return found or any(site.keys == (name,) for site in sites_in(path, text, outermost=True))

    def _new_problems(self, names: Iterable[str]) -> Iterator[tuple[Diagnosis, str]]:
        """New errors of the type checker on unchanged lines, in the files that hold some names; each with its line's
        text."""
        holding = {one.span.path for name in names for one in self.after.occurrences(name) if one.kind == "code"}
        after = self.after.problems(sorted(holding)[:MOST_FILES])
        if not any(after.values()):
            return
        old_paths = {new: old for old, new in self.paths.items()}
        before = self.before.problems([old_paths.get(path, path) for path in after])
        known = {(path, one.message, one.line) for path, found in before.items() for one in found}
        for path, found in after.items():
            old = old_paths.get(path, path)
            text = self.after.text(path) or ""
            left = _lines_left(self.before.text(old) or "", text) if found and old in before else {}
            for one in found:
                if one.line in left and (old, one.message, left[one.line]) not in known:
                    yield one, _line(self.after, path, one.line)


def _lines_left(before: str, after: str) -> dict[int, int]:
    """The new numbers of lines that a change leaves except for their indentation, with their old numbers."""
    old, new = ([line.strip() for line in text.split("\n")] for text in (before, after))
    return {there + 1: here + 1 for here, there in kept_lines(old, new).items()}


def _words_before(resolver: Resolver, use: Occurrence) -> tuple[str, str]:
    """The line of a use, and the text before the use in it, both without the indentation."""
    text = resolver.text(use.span.path) or ""
    start = text.rfind("\n", 0, use.span.start) + 1
    return use.source.strip(), text[start : use.span.start].lstrip()


def _fits(call: tuple[bool, int | None], takes: Sequence[Parameters]) -> bool | None:
    """Whether a use fits parameters: True if it isn't a call, None where the types of the arguments decide.

    Args:
        call: as in `arguments_at`.
        takes: the parameters of each definition that it may mean.
    """
    called, count = call
    if not called:
        return True
    return False if count is not None and not any(one.least <= count <= one.most for one in takes) else None


def _is_called_in(message: str, own: Symbol) -> bool:
    """Whether a type checker's message names a function. Classes don't count: messages name them for other faults
    too."""
    quoted = re.search(rf"""[`'"]{re.escape(own.qualified)}[`'"]""", message)
    return own.kind in ("function", "method") and quoted is not None


def _is_at(one: Occurrence, each: DefinitionChange) -> bool:
    """Whether an occurrence in code stands within a definition of the old state; for an import, anywhere from its first
    line."""
    own = each.symbol
    inside = own.start_line <= one.line and (each.definition.imported or one.line <= own.end_line)
    return one.kind == "code" and one.span.path == own.path and inside


def _defined(resolver: Resolver, each: DefinitionChange) -> list[tuple[str, str]]:
    """The paths and qualified names of all definitions with a changed one's name in its language."""
    name = each.symbol.name
    own = family(language_of(each.symbol.path) or "")
    paths = dict.fromkeys(one.span.path for one in resolver.occurrences(name) if one.kind == "code")
    texts = [(path, resolver.text(path) or "") for path in paths if family(language_of(path) or "") == own]
    return [(path, s.qualified) for path, text in texts for s in analysed(path, text).symbols if s.name == name]


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
    facts = {"name": each.symbol.qualified, "count": len(places), "places": "; ".join(rows)}
    severity: Severity = "medium" if each.annotated else "high"
    return _reported(each, i18n.message(key, **facts), severity, places[0], codes)


def _unproved(each: DefinitionChange, uses: Sequence[Occurrence], others: int, codes: Mapping[str, Code]) -> Finding:
    """One finding for the uses that may mean a definition; they are only counted where many others have its name."""
    kind = "common" if others > MOST_OTHERS else "gone" if each.gone else "changed"
    places = list(dict.fromkeys((use.span.path, use.line) for use in uses))
    shown = ", ".join(f"{shown_path(path)}:{line}" for path, line in places[:MOST_PLACES])
    facts = {"name": each.symbol.qualified, "count": len(places), "places": shown, "others": others}
    first = _Place(uses[0].span.path, uses[0].line, uses[0].source)
    said = i18n.message(f"review.{kind}_maybe_used", **facts)
    return _reported(each, said, "low" if kind == "common" else "medium", first, codes)


def _reported(
    each: DefinitionChange, said: Message, severity: Severity, first: _Place, codes: Mapping[str, Code]
) -> Finding:
    rule = RULE if severity == "high" else UNCERTAIN_RULE
    if code := codes.get(each.path):
        return code.finding(each.line, severity, "style", rule, said, "names")
    return Finding(first.path, first.line, severity, rule, said, "names", "style", redacted(first.source.strip()))
