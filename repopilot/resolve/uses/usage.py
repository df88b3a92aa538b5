"""Where definitions are used: the common source of references, callers, impact and the rest.

A language server resolves each occurrence where there is one, else the rules of the code graph do. Uses under another
name (an alias, a renamed export) count as uses.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from repopilot.code.file_analysis import FileAnalysis, Use
from repopilot.code.graph.graph import VERBS, Edge
from repopilot.code.graph.linker import Linker, may_mean
from repopilot.code.languages import family, file_kind, is_test_path, language_of
from repopilot.code.source_positions import line_at
from repopilot.index.graph.code_graph import linker_of
from repopilot.index.store import Index
from repopilot.resolve.families import same_definition
from repopilot.resolve.names import SYNTAX
from repopilot.resolve.occurrences import occurrences_in
from repopilot.resolve.python_texts import python_texts
from repopilot.resolve.uses.built_names import built_names
from repopilot.resolve.values import NameSpan, Occurrence, Resolved
from repopilot.types import Symbol

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

VERB_OF = {
    "call": VERBS[Edge.CALLS],
    "inherit": VERBS[Edge.INHERITS],
    "import": VERBS[Edge.IMPORTS],
    "use": VERBS[Edge.USES],
}
"""The verbs by the kind of a use."""
_CONSTRUCTORS = ("__init__", "constructor")
_LEAVES = frozenset(("variable", "field", "declaration", "macro"))
_MOST_ALIASES = 20
_LONGEST_TYPE = 200
"""Characters."""
_LONGEST_IMPORT = 100
"""Lines."""


@dataclass(frozen=True, slots=True)
class UsePlace:
    """A place that uses a definition.

    Attributes:
        path: the file.
        line: from 1.
        scope: the qualified name of the definition around it, '' for none.
        relation: what is done with it: a verb of `graph.VERBS`.
        source: the text of the line.
    """

    path: str
    line: int
    scope: str
    relation: str
    source: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What uses some definitions.

    Attributes:
        sure: the places that mean them, by path and line.
        by_name: those that may mean them, the likelier ones first.
        mentions: where the names stand in files that the index skips, and in texts and data that a program may read.
        engine: what resolved them: the name of a language server, or "syntax".
        notes: fallbacks, as messages.
    """

    sure: tuple[UsePlace, ...] = ()
    by_name: tuple[UsePlace, ...] = ()
    mentions: tuple[UsePlace, ...] = ()
    engine: str = SYNTAX
    notes: tuple[str, ...] = ()

    @property
    def absent(self) -> bool:
        """Whether they are certainly unused."""
        return not (self.sure or self.by_name or self.mentions)


def usage_of(index: Index, symbols: Sequence[Symbol], resolver: Resolver | None = None) -> Usage:
    """Find what uses some definitions. Blocking.

    Args:
        index: the repository.
        symbols: the definitions: several are looked up together.
        resolver: of the repository; without one only the index is searched.

    Returns:
        The uses, also those within the definitions; the definitions' own names don't count.
    """
    found = _Collected(index)
    made = _classes_made(index, symbols)
    if made:
        return _only_calls(usage_of(index, made, resolver))
    for name, group in _by_name(symbols).items():
        served = [s for s in group if resolver is not None and resolver.engine(s.path) != SYNTAX]
        if resolver is not None and served:
            _by_server(found, resolver, served)
        rest = [s for s in group if s not in served]
        if rest:
            _by_graph(found, rest)
            if resolver is not None:
                _by_syntax(found, resolver, rest)
        if resolver is not None:
            for at, exported in _in_texts(resolver, index, group):
                place = found.place(at.span.path, at.line, name)
                found.add(found.sure if exported else found.by_name, place)
            _mentioned(found, resolver, name, group)
    return found.usage(resolver)


def usage_of_file(path: str, resolver: Resolver) -> Usage:
    """Where the name of a file stands in code, texts and data elsewhere. Blocking."""
    found = {(at.span.path, at.line): at for at in resolver.occurrences(posixpath.basename(path)) if _may_be_read(at)}
    places = (UsePlace(*where, "", VERBS[Edge.USES], at.source) for where, at in found.items() if where[0] != path)
    return Usage(mentions=tuple(places))


def _may_be_read(at: Occurrence) -> bool:
    """Whether a program may read an occurrence."""
    return at.kind != "comment" and not (at.kind == "document" and file_kind(at.span.path) == "doc")


def _classes_made(index: Index, symbols: Sequence[Symbol]) -> list[Symbol]:
    """The classes of constructors, since a call of the class is one of its constructor; [] unless all are
    constructors."""
    made = []
    for symbol in symbols:
        outer = symbol.qualified.rpartition(".")[0]
        if symbol.name not in (*_CONSTRUCTORS, outer.rpartition(".")[2]) or not outer:
            return []
        made += [s for s in index.outline(symbol.path) if s.qualified == outer and s.kind not in _LEAVES]
    return made


def _only_calls(usage: Usage) -> Usage:
    kept = [tuple(p for p in places if p.relation == VERBS[Edge.CALLS]) for places in (usage.sure, usage.by_name)]
    return replace(usage, sure=kept[0], by_name=kept[1])


def _by_name(symbols: Iterable[Symbol]) -> dict[str, list[Symbol]]:
    groups: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        groups.setdefault(symbol.name, []).append(symbol)
    return groups


class _Collected:
    """The places found so far, by path and line.

    Args:
        index: the repository, whose files are read once each.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.sure: dict[tuple[str, int], UsePlace] = {}
        self.by_name: dict[tuple[str, int], UsePlace] = {}
        self.mentions: dict[tuple[str, int], UsePlace] = {}
        self.elsewhere: set[tuple[str, int]] = set()
        self.defined: set[tuple[str, int]] = set()
        self.engine = SYNTAX
        self.outline = outline = cache(index.outline)
        self.analysis = analysis = cache(index.uses_in)
        # Not methods: a reference cycle would keep a replaced index alive until the next full garbage collection.
        self._scopes = cache(lambda path: _scopes_in(outline(path)))
        self._kinds = cache(lambda path: _kinds_in(analysis(path)))

    def lines(self, path: str, start: int, end: int) -> list[str]:
        """Some lines of a file, both ends included."""
        return self.index.rows(path)[start - 1 : end]

    def place(self, path: str, line: int, name: str, relation: str = "", scope: str | None = None) -> UsePlace:
        scope = self.scope_at(path, line) if scope is None else scope
        source = "".join(self.lines(path, line, line))
        return UsePlace(path, line, scope, relation or _relation(self, path, line, name), source)

    def scope_at(self, path: str, line: int) -> str:
        """The innermost definition around a line, '' for none."""
        return self._scopes(path).get(line, "")

    def kinds_at(self, path: str, line: int, name: str) -> set[str]:
        """The kinds of a name's uses in a line."""
        return self._kinds(path).get((line, name), set())

    def add(self, kind: dict[tuple[str, int], UsePlace], place: UsePlace) -> None:
        known = kind.setdefault((place.path, place.line), place)
        if known.relation == VERBS[Edge.USES] and place.relation == VERBS[Edge.CALLS]:
            kind[place.path, place.line] = place

    def usage(self, resolver: Resolver | None) -> Usage:
        known = self.sure.keys() | self.elsewhere
        by_name = [place for at, place in self.by_name.items() if at not in known]
        defined = {path for path, _ in self.defined}
        near = {path for path, _ in self.sure} | defined
        by_name.sort(key=lambda p: (p.path not in near, is_test_path(p.path), p.path, p.line))
        known |= self.by_name.keys() | self.defined
        mentions = tuple(place for at, place in sorted(self.mentions.items()) if at not in known)
        sure = tuple(self.sure[at] for at in sorted(self.sure))
        notes = resolver.notes if resolver is not None else ()
        return Usage(sure, tuple(by_name), mentions, self.engine, notes)


def _scopes_in(outline: Iterable[Symbol]) -> dict[int, str]:
    """The innermost definition around each line."""
    outer_first = sorted(outline, key=lambda s: s.start_line - s.end_line)
    inner = ((at, s) for s in outer_first if s.kind not in _LEAVES for at in range(s.start_line, s.end_line + 1))
    return {at: s.qualified for at, s in inner}


def _kinds_in(analysis: FileAnalysis | None) -> dict[tuple[int, str], set[str]]:
    """The kinds of uses by line and name."""
    kinds: dict[tuple[int, str], set[str]] = {}
    for use in analysis.uses if analysis is not None else ():
        kinds.setdefault((use.line, use.name), set()).add(use.kind)
    return kinds


# By a language server


def _by_server(found: _Collected, resolver: Resolver, symbols: Sequence[Symbol]) -> None:
    name = symbols[0].name
    index = found.index
    found.engine = resolver.engine(symbols[0].path)
    resolved = resolver.meanings(name)
    wanted = _spans(resolver, symbols, resolved)
    found.defined |= {_line_of(resolver, span) for span in wanted}
    aliases: list[tuple[str, str]] = []
    above = _overridden(linker_of(index), symbols)[1]
    through_others = _through_others(resolver, symbols, resolved, wanted)
    for one in resolved:
        at = one.occurrence
        if at.span in wanted:
            continue
        place = (at.span.path, at.line)
        if one.meaning.inside & wanted:
            found.add(found.sure, replace(found.place(*place, name), source=at.source))
            aliases += _aliases_at(found, *place, name)
        elif at.span in through_others or {_line_of(resolver, span) for span in one.meaning.inside} & above:
            found.add(found.by_name, replace(found.place(*place, name), source=at.source))
        elif one.meaning.known:
            found.elsewhere.add(place)
        elif may_be(symbols, at, resolver.text(at.span.path) or ""):
            found.add(found.by_name, replace(found.place(*place, name), source=at.source))
    for alias in dict.fromkeys(aliases):
        for one in resolver.meanings(alias[1]):
            if one.meaning.inside & wanted:
                found.add(found.sure, found.place(one.occurrence.span.path, one.occurrence.line, alias[1]))


def _through_others(
    resolver: Resolver, symbols: Sequence[Symbol], resolved: Iterable[Resolved], wanted: set[NameSpan]
) -> set[NameSpan]:
    """Uses of JavaScript members through members that they implement or override, by the server."""
    members = any("." in s.qualified and family(language_of(s.path) or "") == "js" for s in symbols)
    others = any(one.meaning.inside and not one.meaning.inside & wanted for one in resolved)
    asked = wanted if members and others else ()
    return {place for span in asked for place in resolver.references(span, symbols[0].name)}


def _in_texts(resolver: Resolver, index: Index, symbols: Sequence[Symbol]) -> Iterator[tuple[Occurrence, bool]]:
    """The Python string literals that mean one of some definitions, and whether that is sure: entries of `__all__` are;
    strings that look like types, taken only where no server resolves them, aren't."""
    name = symbols[0].name
    linker = linker_of(index)
    by_path: dict[str, list[Occurrence]] = {}
    for at in resolver.occurrences(name):
        if at.kind == "text" and language_of(at.span.path) == "python" and at.span.path in linker.lookup.by_path:
            by_path.setdefault(at.span.path, []).append(at)
    targets = _numbers(linker, symbols) if by_path else set()
    for path, texts in by_path.items():
        meant, how = linker.link(linker.lookup.by_path[path], Use(name, 1, "use", "", ""))
        if how is not None and how.sure and targets & set(meant):
            text = resolver.text(path) or ""
            read = python_texts(text, [(at.span.start, at.span.end) for at in texts])
            exported = {one.start for one in read if one.use == "exported"}
            open_ = resolver.engine(path) == SYNTAX
            for at in texts:
                if at.span.start in exported or (open_ and _is_type(text, at.span)):
                    yield at, at.span.start in exported


def _is_type(text: str, span: NameSpan) -> bool:
    """Whether the string literal around a name looks like a type."""
    before = text[max(0, span.start - _LONGEST_TYPE) : span.start]
    after = text[span.end : span.end + _LONGEST_TYPE]
    return bool(re.search(r"""["'][\w.\[\]|, ]*$""", before) and re.match(r"""[\w.\[\]|, ]*["']""", after))


def may_be(symbols: Sequence[Symbol], at: Occurrence, text: str) -> bool:
    """Whether an occurrence that nothing resolves can mean one of the definitions, by where it stands."""
    before = text[max(0, at.span.start - 40) : at.span.start].rstrip(" \t")
    member = before.endswith((".", "->", "::"))
    keyword = not member and re.match(r"[ \t]*=(?!=)", text[at.span.end : at.span.end + 8]) is not None
    language = family(language_of(at.span.path) or "")
    return any(
        may_mean(symbol.kind, language, member) and not (keyword and symbol.kind in ("function", "method", "class"))
        for symbol in symbols
        if family(language_of(symbol.path) or "") == language
    )


def name_span(text: str, symbol: Symbol) -> NameSpan | None:
    """Where the name of a definition stands in its file; None where it doesn't."""
    at = sum(len(line) + 1 for line in text.split("\n")[: symbol.start_line - 1])
    name = re.escape(symbol.name)
    found = re.compile(rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+({name})(?!\w)", re.M).search(text, at)
    found = found or re.compile(rf"(?<!\w)({name})(?!\w)").search(text, at)
    return NameSpan(symbol.path, found.start(1), found.end(1)) if found else None


def _line_of(resolver: Resolver, span: NameSpan) -> tuple[str, int]:
    return span.path, line_at(resolver.text(span.path) or "", span.start)


def _aliases_at(found: _Collected, path: str, line: int, name: str) -> list[tuple[str, str]]:
    """The aliases that a line gives a name: by an import, or by assigning nothing but the name to a variable."""
    analysis = found.analysis(path)
    imported = [
        (path, local)
        for item in (analysis.imports if analysis is not None else ())
        for old, local in item.names
        if old == name and local not in (name, "*") and item.line <= line < item.line + _LONGEST_IMPORT
    ]
    return imported or [(path, alias) for alias in _set_to(found, path, line, name)]


def _set_to(found: _Collected, path: str, line: int, name: str) -> list[str]:
    """The module's variables to which a line assigns a name and nothing else."""
    pattern = re.compile(rf"(?:^|\s)(\w+)\s*(?::[^=]+)?=\s*(?:\w+\.)*{re.escape(name)}\s*;?\s*(?:#|//|$)")
    match = pattern.search("".join(found.lines(path, line, line)))
    names = {s.name for s in found.outline(path) if s.start_line == line and "." not in s.qualified}
    return [match[1]] if match and match[1] in names and match[1] != name else []


# By the code graph


def _by_graph(found: _Collected, symbols: Sequence[Symbol]) -> None:
    linker = linker_of(found.index)
    index = found.index
    targets = _numbers(linker, symbols)
    above = _overridden(linker, symbols)[0] - targets
    found.defined |= {(linker.path(at), linker.names.symbols[at].start_line) for at in targets}
    names = {symbols[0].name}
    looked_up: set[str] = set()
    while names - looked_up and len(looked_up) < _MOST_ALIASES:
        name = min(names - looked_up)
        looked_up.add(name)
        names |= set(_renamings(linker, targets, names))
        for path in index.may_use(name):
            _in_file(found, linker, path, name, targets, above, symbols)
        for at in [place for place in found.sure.values() if place.relation == VERBS[Edge.USES]]:
            for alias in _set_to(found, at.path, at.line, name):
                targets |= _numbers(linker, [s for s in found.outline(at.path) if s.qualified == alias])
                names.add(alias)


def _overridden(linker: Linker, symbols: Sequence[Symbol]) -> tuple[set[int], set[tuple[str, int]]]:
    """The members that some methods override, whose uses may mean these: as numbers, and as (path, line) of all lines
    where their names may stand."""
    found = {other for at in _numbers(linker, symbols) for other in linker.overridden(at)[0]}
    lines: set[tuple[str, int]] = set()
    for at in found:
        symbol = linker.names.symbols[at]
        lines |= {
            (symbol.path, line) for line in range(symbol.start_line, min(symbol.end_line, symbol.start_line + 9) + 1)
        }
    return found, lines


def _numbers(linker: Linker, symbols: Sequence[Symbol]) -> set[int]:
    """The numbers of definitions, with their declarations in other files."""
    found = {at for symbol in symbols for at in linker.numbers(symbol)}
    return found | {other for at in found for other in linker.declarations(at)}


def _renamings(linker: Linker, targets: set[int], names: set[str]) -> Iterator[str]:
    """The other names under which files import or re-export one of the definitions."""
    for number, bound in enumerate(linker.bound):
        for local, (_, original) in bound.items():
            wanted = local not in names and (original in names or original == "default")
            if wanted and targets & set(linker.imported(number, original, local)):
                yield local


def _in_file(
    found: _Collected,
    linker: Linker,
    path: str,
    name: str,
    targets: set[int],
    above: set[int],
    symbols: Sequence[Symbol],
) -> None:
    number = linker.lookup.by_path.get(path)
    if number is None:
        return
    analysis = linker.lookup.files[number]
    language = linker.names.families[number]
    kinds = {symbol.kind for symbol in symbols if family(language_of(symbol.path) or "") == language}
    for use in analysis.uses:
        if use.name != name or use.kind == "table":
            continue
        meant, how = linker.link(number, use)
        local = bool(meant) and not use.receiver and _is_local(found, path, use.scope, name)
        place = found.place(path, use.line, name, VERB_OF.get(use.kind, ""), use.scope)
        if how is not None and how.sure and not local and targets & set(meant):
            found.add(found.sure, place)
        elif local or (how is not None and (how.sure or how.outside) and not above & set(meant)):
            found.elsewhere.add((path, use.line))
        elif any(may_mean(kind, language, bool(use.receiver)) for kind in kinds):
            found.add(found.by_name, place)
    for item in analysis.imports:
        for old, local_name in item.names:
            if name in (old, local_name) and targets & set(linker.imported(number, old, local_name)):
                line = _line_in(found, path, item.line, name)
                if (path, line) not in found.defined:
                    found.add(found.sure, found.place(path, line, name, VERBS[Edge.IMPORTS], ""))


def _line_in(found: _Collected, path: str, start: int, name: str) -> int:
    """The line of a statement that begins at a line and holds a name."""
    lines = found.lines(path, start, start + _LONGEST_IMPORT)
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return next((start + offset for offset, line in enumerate(lines) if word.search(line)), start)


def _is_local(found: _Collected, path: str, scope: str, name: str) -> bool:
    """Whether the function around a use binds a variable of the name, which the use then means."""
    around = next((s for s in found.outline(path) if s.qualified == scope and s.kind in ("function", "method")), None)
    if around is None:
        return False
    word = rf"(?<![\w.$]){re.escape(name)}(?!\w)"
    binding = re.compile(
        rf"(?:\b(?:const|let|var|val|auto)\s+(?:[\[{{][^=\n]*?)?{word})|{word}\s*(?::=|=>)|"
        rf"\((?:[^()\n]*,)?\s*{word}[^()\n]*\)\s*(?::[^=\n]+)?=>|\b(?:for|catch)\s*\([^)\n]*?{word}"
    )
    return binding.search("\n".join(found.lines(path, around.start_line, around.end_line))) is not None


def _by_syntax(found: _Collected, resolver: Resolver, symbols: Sequence[Symbol]) -> None:
    """Add the places that the syntax resolves as sure, such as receivers with a declared type."""
    resolved = resolver.meanings(symbols[0].name)
    wanted = _spans(resolver, symbols, resolved)
    for one in resolved:
        at = (one.occurrence.span.path, one.occurrence.line)
        if at not in found.defined and one.occurrence.span not in wanted and one.meaning.inside & wanted:
            found.add(found.sure, found.place(*at, symbols[0].name))


def _spans(resolver: Resolver, symbols: Sequence[Symbol], resolved: Sequence[Resolved]) -> set[NameSpan]:
    """The places of some definitions' names."""
    named = [span for symbol in symbols if (span := name_span(resolver.text(symbol.path) or "", symbol)) is not None]
    return {place for span in named for place in same_definition(span, resolved)}


# What a definition uses itself


def used_by(index: Index, symbol: Symbol, resolver: Resolver | None = None) -> list[tuple[UsePlace, Symbol, bool]]:
    """The definitions that a definition uses. Blocking.

    Args:
        index: the repository.
        symbol: the definition.
        resolver: of the repository.

    Returns:
        Each use with what it means, and whether that is sure, in the order of the lines.
    """
    analysis = index.uses_in(symbol.path)
    uses = analysis.uses if analysis is not None else ()
    inner = [use for use in uses if f"{use.scope}.".startswith(f"{symbol.qualified}.") and use.kind != "table"]
    if resolver is not None and resolver.engine(symbol.path) != SYNTAX:
        meant = _meant_by_server(index, resolver, symbol, inner)
    else:
        meant = _meant_by_graph(index, symbol, inner)
    found: dict[tuple[str, str], tuple[UsePlace, Symbol, bool]] = {}
    for use, target, sure in meant:
        line = (index.lines(symbol.path, use.line, use.line) or "").strip("\n")
        place = UsePlace(symbol.path, use.line, use.scope, VERB_OF.get(use.kind, VERBS[Edge.USES]), line)
        known = found.get((target.path, target.qualified))
        if (known is None or (sure and not known[2])) and target != symbol:
            found[target.path, target.qualified] = (place, target, sure)
    return list(found.values())


def _meant_by_server(
    index: Index, resolver: Resolver, symbol: Symbol, uses: Sequence[Use]
) -> Iterator[tuple[Use, Symbol, bool]]:
    text = resolver.text(symbol.path) or ""
    for name in dict.fromkeys(use.name for use in uses):
        by_line = {use.line: use for use in uses if use.name == name}
        inside = [at for at in occurrences_in(name, symbol.path, text) if at.line in by_line and at.kind == "code"]
        for one in resolver.resolved(inside):
            for span in sorted(one.meaning.inside):  # of overloads, the first stands for all
                line = _line_of(resolver, span)[1]
                near = [s for s in index.outline(span.path) if s.start_line <= line <= s.end_line]
                target = min(near, key=lambda s: (s.end_line - s.start_line, s.qualified), default=None)
                written = (resolver.text(span.path) or "")[span.start : span.end]
                if target is not None and target.name == written:
                    yield by_line[one.occurrence.line], target, True


def _meant_by_graph(index: Index, symbol: Symbol, uses: Sequence[Use]) -> Iterator[tuple[Use, Symbol, bool]]:
    linker = linker_of(index)
    number = linker.lookup.by_path[symbol.path]
    for use in uses:
        meant, how = linker.link(number, use)
        for at in meant:
            yield use, linker.names.symbols[at], how is not None and how.sure


# What the index doesn't hold


def _mentioned(found: _Collected, resolver: Resolver, name: str, symbols: Sequence[Symbol]) -> None:
    """Note where the name stands unresolved: in skipped files, string literals and data, and where a program may build
    it."""
    built = built_names(resolver, name) if any(language_of(symbol.path) == "python" for symbol in symbols) else []
    for at in (*resolver.occurrences(name), *built):
        path = at.span.path
        info = found.index.files.get(at.span.path)
        if not _may_be_read(at):
            continue
        if info is not None and at.kind == "code":
            unknown = found.engine == SYNTAX and not _is_definition(found, path, at.line, name)
            if unknown and may_be(symbols, at, resolver.text(path) or ""):
                found.add(found.by_name, found.place(path, at.line, name))
            continue
        scope = found.scope_at(path, at.line) if info is not None else ""
        found.add(found.mentions, UsePlace(path, at.line, scope, VERBS[Edge.USES], at.source))


def _is_definition(found: _Collected, path: str, line: int, name: str) -> bool:
    return any(s.name == name and s.start_line <= line <= s.start_line + 3 for s in found.outline(path))


def _relation(found: _Collected, path: str, line: int, name: str) -> str:
    """The verb for what a line does with a name."""
    analysis = found.analysis(path)
    if analysis is None:
        return VERBS[Edge.USES]
    kinds = found.kinds_at(path, line, name)
    for kind in ("inherit", "call"):
        if kind in kinds:
            return VERB_OF[kind]
    before = [item for item in analysis.imports if item.line <= line and not kinds]
    if before and _is_open(found, path, before[-1].line, line):
        return VERBS[Edge.IMPORTS]
    return VERBS[Edge.USES]


def _is_open(found: _Collected, path: str, start: int, line: int) -> bool:
    """Whether a statement that begins at `start` still goes on at `line`, by its brackets."""
    if line >= start + _LONGEST_IMPORT:
        return False
    text = "\n".join(found.lines(path, start, line - 1))
    opened = sum(text.count(c) for c in "({") - sum(text.count(c) for c in ")}")
    return line == start or opened > 0
