"""Uses of a definition in another spelling: another case in PHP, C# attributes without their suffix, names that C
macros paste. Also names that have an effect at run time: turned into strings by C macros, or members that are read by
name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tree_sitter import Node

from repopilot.code.languages import C_FAMILY, language_of
from repopilot.code.syntax import ancestors
from repopilot.resolve.occurrences import occurrences_in
from repopilot.resolve.syntax.resolver import NameUse
from repopilot.resolve.syntax.syntax_source import Declaration, SyntaxSource, children
from repopilot.resolve.values import Occurrence
from repopilot.types import Symbol

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

_MACRO = re.compile(r"#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\r?\n|[^\n])*)")
_PASTED = re.compile(r"\w+(?:\s*##\s*\w+)+")
_IN_ATTRIBUTE = re.compile(r"(?:^|[\n{};(,\]])[ \t]*\[[^\[\];{}=]*$")
_MARKS = ("attribute_item", "annotation", "marker_annotation", "attribute_list", "decorator")
_READ_NO_NAMES = {
    "rust": frozenset("derive Debug Clone Copy PartialEq Eq PartialOrd Ord Hash Default".split()),
    "java": frozenset("Override Deprecated SuppressWarnings FunctionalInterface SafeVarargs".split()),
}
"""Marks of the language itself, which read no members by name."""
_READERS_OF_GO = ("encoding/", "text/template", "html/template")
"""Packages of Go's library that look fields up by their names."""


def hidden_uses(resolver: Resolver, symbol: Symbol) -> list[Occurrence]:
    """The places of a definition under another spelling. Blocking.

    Args:
        resolver: of the repository.
        symbol: the definition.
    """
    find = {"php": _in_other_case, "csharp": _as_attribute, "c": _put_together, "cpp": _put_together}
    language = language_of(symbol.path) or ""
    return list(find[language](resolver, symbol)) if language in find else []


def _in_other_case(resolver: Resolver, symbol: Symbol) -> Iterator[Occurrence]:
    called = r"(?=\s*\()" if symbol.kind in ("function", "method") else ""
    word = re.compile(rf"(?<![\w$]){re.escape(symbol.name)}(?!\w){called}", re.I)
    for path, text in resolver.holding("<?") if symbol.kind not in ("field", "variable") else ():
        found = {each.start(): each[0] for each in word.finditer(text) if each[0] != symbol.name}
        for spelling in set(found.values()):
            there = occurrences_in(spelling, path, text)
            yield from (one for one in there if one.kind == "code" and one.span.start in found)


def _as_attribute(resolver: Resolver, symbol: Symbol) -> Iterator[Occurrence]:
    short = symbol.name.removesuffix("Attribute")
    for path, text in resolver.holding(short) if short not in ("", symbol.name) else ():
        for one in occurrences_in(short, path, text) if language_of(path) == "csharp" else ():
            if one.kind == "code" and _IN_ATTRIBUTE.search(text[max(0, one.span.start - 200) : one.span.start]):
                yield one


def _put_together(resolver: Resolver, symbol: Symbol) -> Iterator[Occurrence]:
    """The arguments that macros paste into the name."""
    macros = [each for path, text in resolver.holding("#define") if _is_c(path) for each in _MACRO.findall(text)]
    named = "|".join({re.escape(name) for name, _, _ in macros})
    parts = {part for _, given, body in macros for part in _missing(given, body, symbol.name)}
    for part in parts:
        call = re.compile(rf"\b(?:{named})\s*\((?:[^()]*[^()\w])?({re.escape(part)})(?!\w)[^()]*\)")
        for path, text in resolver.holding(part):
            starts = {each.start(1) for each in call.finditer(text)} if _is_c(path) else ()
            yield from (one for one in occurrences_in(part, path, text) if starts and one.span.start in starts)


def _missing(given: str, body: str, name: str) -> Iterator[str]:
    """The arguments from which a macro pastes a name."""
    parameters = {each.strip() for each in given.split(",")}
    for chain in _PASTED.findall(body):
        parts = re.split(r"\s*##\s*", chain)
        made = "".join(r"(\w+)" if part in parameters else re.escape(part) for part in parts)
        found = re.fullmatch(made, name)
        yield from found.groups() if found else ()


def _is_c(path: str) -> bool:
    return language_of(path) in C_FAMILY


def given_to_macros(resolver: Resolver, uses: Iterable[NameUse], mark: str) -> list[Occurrence]:
    """The uses that are passed to a C macro that pastes names, or turns them into strings.

    Args:
        resolver: of the repository.
        uses: the places of a name.
        mark: `##` or `#`.
    """
    found = []
    pattern = re.compile(r"##" if mark == "##" else r"(?<!#)#\s*[A-Za-z_]")
    bodies = ((path, text) for path, text in resolver.holding("#define") if _is_c(path))
    macros = {name for _, text in bodies for name, _, body in _MACRO.findall(text) if pattern.search(body)}
    for use in uses if macros else ():
        for each in ancestors(use.word.node):
            function = each.child_by_field_name("function") if each.type == "call_expression" else None
            if function is not None and use.source.text_of(function) in macros and use.word.node != function:
                found.append(use.occurrence)
    return found


def read_by_name(uses: Iterable[NameUse]) -> list[Occurrence]:
    """The declarations of members that an annotation of their type may read by name, unless they state another name."""
    declared = ((use, use.source.declaration(use.word.node)) for use in uses if use.declares)
    return [use.occurrence for use, each in declared if each is not None and _is_read(use.source, each)]


def _is_read(source: SyntaxSource, declaration: Declaration) -> bool:
    around = list(ancestors(declaration.name))
    owner = next((each for each in around if each.type in source.rules.classes), None)
    if owner is None or re.search("function|method|constructor", declaration.holder.type):
        return False
    if source.language == "go":
        return _is_read_in_go(source, declaration)
    own = [mark for each in around[: around.index(owner)] for mark in _marks(each)]
    if any('"' in source.text_of(mark) or "'" in source.text_of(mark) for mark in own):
        return False
    types = [owner, *(each for each in ancestors(owner) if each.type.endswith(("_item", "_declaration")))][:2]
    marks = [mark for each in types for mark in _marks(each)]
    if source.language == "rust":
        marks = [each for each in marks if "derive" in source.text_of(each)]
    texts = (re.sub(r'"[^"\n]*"', "", source.text_of(each)) for each in (*own, *marks))
    words = {word for each in texts for word in re.findall(r"\w+(?!\w*::)", each)}
    return bool(words - _READ_NO_NAMES.get(source.language, frozenset()))


def _marks(node: Node) -> list[Node]:
    """The attributes, annotations and decorators of a node, within it or before it."""
    found = [*children(node, _MARKS), *(m for each in children(node, ("modifiers",)) for m in children(each, _MARKS))]
    before = node.prev_named_sibling
    while before is not None and (before.type in _MARKS or "comment" in before.type):
        found += [before] if before.type in _MARKS else []
        before = before.prev_named_sibling
    return found


def _is_read_in_go(source: SyntaxSource, declaration: Declaration) -> bool:
    if declaration.row != "field_declaration.name" or not source.text_of(declaration.name)[:1].isupper():
        return False
    tag = declaration.holder.child_by_field_name("tag")
    if tag is not None:
        return "" in re.findall(r'\w+:\\?"([^",\\]*)', source.text_of(tag))
    fields = children(declaration.holder.parent, ("field_declaration",)) if declaration.holder.parent else []
    tagged = any(each.child_by_field_name("tag") is not None for each in fields)
    return tagged or any(item.module.startswith(_READERS_OF_GO) for item, _ in source.imports)
