"""Renames in languages other than Python: by the syntax, and by the language's server where that leaves places open;
only if every place is resolved."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePosixPath

from repopilot.code.languages import family, is_doc_path, language_of
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.resolve.names import SYNTAX
from repopilot.resolve.syntax.family import SyntaxFamily, family_of
from repopilot.resolve.syntax.resolver import Found, NameUse, SyntaxResolver
from repopilot.resolve.uses.hidden_uses import given_to_macros, hidden_uses, read_by_name
from repopilot.resolve.values import Diagnosis, NameSpan, Occurrence
from repopilot.sandbox.language_servers.catalogue import how_to_get, server_of
from repopilot.tools.definitions import LONGEST_LINE
from repopilot.tools.file_change import syntax_error
from repopilot.tools.refactoring.refactored import MOST_LISTED, Texts, edited
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

_NEAR = 400
_MOST_ASKED = 20
_ATTRIBUTE = re.compile(
    r"""(?:\#!?\[[^\]]*|@[\w.]+\([^)]*|^\s*\[[A-Z]\w*\([^)]*|__attribute__\s*\(\([^)]*)["'](?:\w+(?:\.|::))*$""", re.M
)
"""A string in an attribute or an annotation, up to its last name."""
_Problems = dict[tuple[str, str], list[Diagnosis]]


class UnsoundRename(UsageError):
    """A rename after which the code would mean something else, or be wrong.

    Attributes:
        count: how many places would.
        paths: the files that they are in.
    """

    def __init__(self, said: UsageError, count: int, paths: frozenset[str]) -> None:
        super().__init__(said.message, said.hint)
        self.count = count
        self.paths = paths


def renamed(copy: WorkingCopy, symbol: Symbol, new: str) -> tuple[dict[NameSpan, str], list[Occurrence]]:
    """The text to write at each place of a definition's name, and the places where a program may look it up by name.
    Blocking.

    Args:
        copy: the working copy.
        symbol: the definition.
        new: its new name.

    Raises:
        UsageError: a place can't be resolved that may mean it, the definition belongs to something outside, or the new
            name means something else where it would stand.
    """
    old = symbol.name
    before = copy.resolver.syntax()
    group = family_of(before, symbol)
    if group is None:
        found = copy.resolver.occurrences(old) if before.source(symbol.path) is not None else []
        places = [one for one in found if one.kind == "code"]
        raise refusal("unresolved" if places else "no_rules", copy, symbol, places, name=old)
    group = _with_server(copy, symbol, group)
    if language_of(symbol.path) == "java" and (group.outside or group.unsure):
        group = _as_server_renames(copy, group, (old, new))
    unsure = [*(use.occurrence for use in group.unsure), *_unread(copy, before, symbol)]
    unsure += hidden_uses(copy.resolver, symbol)
    unsure += given_to_macros(copy.resolver, group.uses, "##")
    known = [*given_to_macros(copy.resolver, group.uses, "#"), *read_by_name(group.uses)]
    if group.outside:
        raise refusal("outside", copy, symbol, unsure, name=old, outside=", ".join(sorted(group.outside)[:3]))
    if unsure:
        raise refusal("unresolved", copy, symbol, unsure, name=old)
    edits = {use.occurrence.span: _written(use, group, old, new) for use in group.uses}
    texts = new_texts(copy, symbol, new, edits)
    was = _in_order(before, (old, new), group)
    moved = _moved_file(copy, symbol, new)
    holding = [path for path in was if path not in texts or texts[path] is not None]

    def captured() -> list[Occurrence]:
        return _captured(was, _in_order(copy.resolver.syntax(), (old, new), None), {moved: symbol.path})

    require_sound(copy, symbol, new, [(texts, holding)], captured)
    return edits, known


def new_texts(copy: WorkingCopy, symbol: Symbol, new: str, edits: Mapping[NameSpan, str]) -> Texts:
    """The texts of the files that a rename edits. A file that must be named after the definition moves along.

    Args:
        copy: the working copy.
        symbol: the definition.
        new: its new name.
        edits: the text to write by place.

    Raises:
        UsageError: something is at the new path already, or a file changed on disk.
    """
    texts = edited(copy, edits.items())
    if moved := _moved_file(copy, symbol, new):
        texts[moved] = texts.pop(symbol.path)
        texts[symbol.path] = None
    return texts


def require_sound(
    copy: WorkingCopy,
    symbol: Symbol,
    new: str,
    tried: Sequence[tuple[Texts, Sequence[str]]],
    captured: Callable[[], list[Occurrence]],
) -> bool:
    """Try the edits of a rename, and take them back. Blocking.

    Args:
        copy: the working copy.
        symbol: the definition.
        new: its new name.
        tried: the new texts with the files that the language's server then checks; further pairs are only checked for
            errors.
        captured: finds the places that mean something else while the edits are made.

    Returns:
        Whether a server has checked them.

    Raises:
        UsageError: a file can't be parsed any more, a place means something else, or the server finds new errors.
    """
    names = (symbol.name, new)
    texts, checked = tried[0]
    sound = [path for path in texts if syntax_error(path, copy.resolver.text(path) or "") is None]
    copy.edit(texts)
    wrong = captured()
    broken = [path for path in texts if (text := texts[path]) and syntax_error(path, text)]
    told = [_problems(copy, checked, names)]
    copy.undo(1)
    if broken and set(broken) <= set(sound):
        raise UsageError(message("refactor_tools.no_identifier", name=new))
    for probe, paths in tried[1:]:
        copy.edit(probe)
        told.append(_problems(copy, paths, names))
        copy.undo(1)
    known = _problems(copy, sorted({path for each in told for path, _ in each or ()}), names) or {}
    new_ones = [one for each in told for key, found in (each or {}).items() for one in found[len(known.get(key, ())) :]]
    worse = list(dict.fromkeys(new_ones))
    if worse:
        rows = "\n".join(f"{one.path}:{one.line} {one.message}" for one in worse[:MOST_LISTED])
        said = UsageError(message("rename.wrong", name=names[0], new=new), message("rename.places", places=rows))
    else:
        said = refusal("captured", copy, symbol, wrong, name=new)
    if worse or wrong:
        files = frozenset(one.path for one in worse) | {one.span.path for one in wrong}
        raise UnsoundRename(said, len(worse) + len(wrong), files)
    return None not in told


def _with_server(copy: WorkingCopy, symbol: Symbol, group: SyntaxFamily) -> SyntaxFamily:
    """A family after a server resolved its unsure places: members are added, others are dropped, open ones stay."""
    if not group.unsure or copy.resolver.engine(symbol.path) == SYNTAX:
        return group
    defined = {use.occurrence.span for use in group.uses if use.declares}
    key = next(iter(group.keys))
    joined = []
    unsure = []
    told = copy.resolver.resolved([use.occurrence for use in group.unsure])
    for use, meaning in zip(group.unsure, (one.meaning for one in told), strict=True):
        is_open = use.found is None or use.is_shorthand
        if is_open and meaning.inside & defined:
            joined.append(replace(use, key=key) if use.is_shorthand else replace(use, found=key))
        elif not (is_open and meaning.known):
            unsure.append(use)
    return replace(group, uses=(*group.uses, *joined), unsure=tuple(unsure))


def _as_server_renames(copy: WorkingCopy, group: SyntaxFamily, names: tuple[str, str]) -> SyntaxFamily:
    """A Java family with all places that its server would rename, as they override one another. The family as it is
    where a library declares the member too, or where the server renames nothing or not the same places as the
    syntax."""
    declared = {use.occurrence.span for use in group.uses if use.declares}
    answers = [copy.resolver.renames(span, *names) or ({}, frozenset()) for span in sorted(declared)[:_MOST_ASKED]]
    edits = {span for answer in answers for span in answer[0]}
    if any(outside for _, outside in answers) or not declared <= edits:
        return group
    key = next(iter(group.keys))
    own = {use.occurrence.span for use in group.uses}
    named = {use.occurrence.span: use for use in copy.resolver.syntax().uses(names[0])}
    if not own <= edits <= named.keys():
        return group
    joined = [replace(named[span], found=key) for span in sorted(edits - own)]
    rest = [use for use in group.unsure if use.occurrence.span not in edits]
    told = [one.meaning for one in copy.resolver.resolved([use.occurrence for use in rest])]
    unsure = [use for use, one in zip(rest, told, strict=True) if not one.known or one.inside & declared]
    return replace(group, uses=(*group.uses, *joined), unsure=tuple(unsure), outside=frozenset())


def _problems(copy: WorkingCopy, paths: Sequence[str], names: tuple[str, str]) -> _Problems | None:
    """The errors of the language's server in files, by path and message without the names; None for no answer."""
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    told: _Problems = defaultdict(list)
    answers = copy.resolver.problems(paths)
    for path, found in answers.items():
        for one in found:
            told[path, word.sub("…", one.message)].append(one)
    return told if answers or not paths else None


def is_one(copy: WorkingCopy, places: Sequence[Symbol]) -> bool:
    """Whether several places define one thing: a prototype and its function, the parts of a class. Blocking."""
    groups = [family_of(copy.resolver.syntax(), symbol) for symbol in places]
    return len({group.keys if group is not None else None for group in groups} | {None}) == 2 and None not in groups


def _unread(copy: WorkingCopy, resolver: SyntaxResolver, symbol: Symbol) -> list[Occurrence]:
    """The places of a name in related languages that the resolver by syntax doesn't cover: in languages without rules,
    in templates, in code that can't be parsed."""
    own = family(language_of(symbol.path) or "")
    found = [one for one in copy.resolver.occurrences(symbol.name) if one.kind in ("code", "document")]
    known = {use.occurrence.span for use in resolver.uses(symbol.name)}
    return [o for o in found if o.span not in known and family(language_of(o.span.path) or "") == own]


def read_by_programs(copy: WorkingCopy, symbol: Symbol, named: Iterable[Occurrence]) -> list[Occurrence]:
    """The places of a name that programs read and the syntax doesn't show: strings in attributes, code in Rust's doc
    comments, and files that name symbols which C links. Blocking.

    Args:
        copy: the working copy.
        symbol: the definition.
        named: the comments, strings and documents that hold its name.
    """
    plain = "." not in symbol.qualified and symbol.kind in ("function", "variable")
    kinds = ("text", "comment") if plain else ("comment",)
    found = [one for one in named if one.kind in kinds and _is_read(copy, one)]
    if family(language_of(symbol.path) or "") != "c":
        return found
    if symbol.kind == "function" and not re.search(r"\bstatic\b", symbol.signature):
        found += [one for one in named if one.kind == "document" and not is_doc_path(one.span.path)]
    return found


def _is_read(copy: WorkingCopy, one: Occurrence) -> bool:
    text = copy.resolver.text(one.span.path) or ""
    before = text[: one.span.start]
    if one.kind == "text":
        return text[one.span.end] in "\"'" and _ATTRIBUTE.search(before[-_NEAR:]) is not None
    above = takewhile(lambda line: re.match(r"\s*//[/!]", line), reversed(before.split("\n")))
    return language_of(one.span.path) == "rust" and sum("```" in line for line in above) % 2 == 1


def refusal(why: str, copy: WorkingCopy, symbol: Symbol, rows: Sequence[Occurrence], **values: str) -> UsageError:
    """The error that says why a definition isn't renamed, with the places and what would resolve them."""
    lines = dict.fromkeys(f"{one.span.path}:{one.line} {one.source.strip()[:LONGEST_LINE]}" for one in rows)
    hints: list[str] = [message("rename.places", places="\n".join([*lines][:MOST_LISTED]))] if lines else []
    server = server_of(language_of(symbol.path) or "")
    no_server = copy.resolver.engine(symbol.path) == SYNTAX
    hints += [how_to_get(server)] if server is not None and why != "captured" and no_server else []
    return UsageError(message(f"rename.{why}", count=len(lines), **values), "\n".join(hints))


def _written(use: NameUse, family: SyntaxFamily, old: str, new: str) -> str:
    """The new text of a use: a shorthand with only one renamed half is written out."""
    if not _is_half(use, family):
        return new
    return f"{old}: {new}" if use.found in family.keys else f"{new}: {old}"


def _moved_file(copy: WorkingCopy, symbol: Symbol, new: str) -> str:
    """The new path of a file that must be named after the class it declares, '' for others.

    Raises:
        UsageError: a file is there already.
    """
    path = PurePosixPath(symbol.path)
    language = language_of(symbol.path)
    named = path.stem == symbol.qualified and symbol.kind not in ("function", "variable")
    if not named or not (_is_public(symbol) if language == "java" else language == "php" and _is_loaded(copy, symbol)):
        return ""
    target = str(path.with_stem(new))
    if target in copy.paths():
        raise UsageError(message("refactor_tools.taken", name=target, path=target))
    return target


def _is_public(symbol: Symbol) -> bool:
    return re.search(r"\bpublic\b", symbol.signature) is not None


def _is_loaded(copy: WorkingCopy, symbol: Symbol) -> bool:
    """Whether PHP finds the file of a class by the name of the class, not by its path."""
    name = PurePosixPath(symbol.path).name
    named = any(one.kind != "comment" for one in copy.resolver.occurrences(name))
    return bool(re.search(r"^\s*namespace\b", copy.resolver.text(symbol.path) or "", re.M)) and not named


def _captured(was: _Senses, now: _Senses, moved: dict[str, str]) -> list[Occurrence]:
    """The places of both names that mean something else after a rename.

    Places that meant the same thing before must mean the same thing afterwards, and no others may mean it.
    """
    wrong: list[Occurrence] = []
    meant: dict[_Sense, _Sense] = {}
    for path, uses in now.items():
        earlier = was.get(moved.get(path, path), [])
        if len(earlier) != len(uses):
            return [use.occurrence for _, use in uses]
        for (sense, _), (other, use) in zip(earlier, uses, strict=True):
            known = isinstance(sense[1], tuple) and isinstance(other[1], tuple)
            same = meant.setdefault(sense, other) == other if known else sense[1] == other[1]
            wrong += [] if same else [use.occurrence]
    counts = Counter(meant.values())
    return wrong or [use.occurrence for uses in now.values() for other, use in uses if counts[other] > 1]


_Sense = tuple[str, Found]
"""A name and what it means."""
_Senses = dict[str, list[tuple[_Sense, NameUse]]]


def _in_order(resolver: SyntaxResolver, names: tuple[str, str], renamed: SyntaxFamily | None) -> _Senses:
    """The places of both names, file by file in order, with what they mean; shorthands that will be written out stand
    twice."""
    found: dict[str, list[tuple[int, _Sense, NameUse]]] = {}
    for name in names:
        for use in resolver.uses(name):
            rows = found.setdefault(use.source.path, [])
            halves = (
                (use.key, use.found) if renamed and use in renamed.uses and _is_half(use, renamed) else (use.found,)
            )
            rows += [(use.word.start, (name, half), use) for half in halves]
    ordered = {path: sorted(rows, key=lambda row: row[0]) for path, rows in found.items()}
    return {path: [(sense, use) for _, sense, use in rows] for path, rows in ordered.items()}


def _is_half(use: NameUse, family: SyntaxFamily) -> bool:
    return use.is_shorthand and ((use.found in family.keys) != (use.key in family.keys))
