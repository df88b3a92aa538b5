"""Which places must keep one name with a definition by their syntax, and which may have to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from repopilot.code.languages import TYPESCRIPT, family, language_of
from repopilot.code.syntax import ancestors
from repopilot.resolve.syntax.node_roles import HERITAGE
from repopilot.resolve.syntax.resolver import Found, Key, NameUse, SyntaxResolver
from repopilot.resolve.syntax.rules import OWN_MEMBERS
from repopilot.resolve.syntax.syntax_source import Declaration, SyntaxSource
from repopilot.types import Symbol

_CALLED_BY_THE_LANGUAGE = {
    "javascript": "constructor toString toJSON valueOf then next return throw",
    "java": "main toString equals hashCode compareTo clone finalize close iterator run call",
    "csharp": "Main ToString Equals GetHashCode Dispose CompareTo GetEnumerator",
    "go": "main init String Error",
    "c": "main",
    "cpp": "main begin end",
    "rust": "main drop",
    "ruby": "initialize to_s each call method_missing respond_to_missing",
    "php": "__construct __get __set __call __toString __invoke",
}
_MARKERS = ("java.io.Serializable",)
"""Interfaces without members."""
_READ_BY_STREAMS = "readObject writeObject readObjectNoData readResolve writeReplace".split()
"""Methods that Java calls by their name where a class is serialised."""


@dataclass(frozen=True, slots=True)
class SyntaxFamily:
    """The places of a name that belong together.

    Attributes:
        keys: the definitions that the places mean.
        uses: the places.
        unsure: the places that may belong to the family.
        outside: what they may be bound to outside of the repository.
    """

    keys: frozenset[Key]
    uses: tuple[NameUse, ...]
    unsure: tuple[NameUse, ...]
    outside: frozenset[str]


def family_of(resolver: SyntaxResolver, symbol: Symbol) -> SyntaxFamily | None:
    """All that has to be renamed with a definition. Blocking.

    Args:
        resolver: resolves names.
        symbol: the definition.

    Returns:
        The family; None where the language of the definition has no rules.
    """
    uses = resolver.uses(symbol.name)
    declared = [use for use in uses if use.declares and _is_of(use, symbol)]
    function = symbol.kind in ("function", "method")
    owner = symbol.qualified.rpartition(".")[0].rpartition(".")[2]
    fits = ((_is_local(use), _owner(use) != owner, _is_function(use) != function) for use in declared)
    target = min(zip(fits, declared, strict=True), key=lambda each: each[0], default=(None, None))[1]
    if target is None or not isinstance(target.found, tuple):
        return None
    if target.found[0] == "local" and "." not in symbol.qualified:
        return None
    keys = _related(resolver, target.found, symbol.name) if target.found[0] == "member" else frozenset((target.found,))
    own = tuple(use for use in uses if use.found in keys or (use.key is not None and use.key in keys))
    others = [use for use in uses if use not in own]
    member = target.found[0] == "member"
    escapes = not member and (
        target.found[0] == "local" or _escapes(resolver, target.found) or _is_embedded(resolver, symbol.name)
    )
    unsure = [use for use in others if _may_be(use, target, escapes)]
    if member and target.source.language == "java" and any(isinstance(use.found, tuple) for use in unsure):
        shared = _inherited_with(resolver, {key[1] for key in keys})
        unsure = [use for use in unsure if not isinstance(use.found, tuple) or {use.found[1], None} & shared]
    return SyntaxFamily(keys, own, tuple(unsure), frozenset(_outside(resolver, target, keys)))


def _is_of(use: NameUse, symbol: Symbol) -> bool:
    line = use.source.data.count(b"\n", 0, use.word.start) + 1
    return use.source.path == symbol.path and symbol.start_line <= line <= symbol.end_line


def _is_local(use: NameUse) -> bool:
    return isinstance(use.found, tuple) and use.found[0] == "local"


def _owner(use: NameUse) -> str:
    """The class whose member a declaration is, '' for none."""
    return use.found[1][-2] if isinstance(use.found, tuple) and use.found[0] == "member" else ""


def _is_function(use: NameUse) -> bool:
    declaration = use.source.declaration(use.word.node)
    return declaration is not None and bool(re.search("function|method", declaration.holder.type))


def _related(resolver: SyntaxResolver, key: Key, name: str) -> frozenset[Key]:
    """A member with the members that override it or that it overrides."""
    everywhere = [each for each in resolver.keys(name) if each[0] == "member"]
    everywhere = [each for each in everywhere if _read_as(resolver, each) == _read_as(resolver, key)]
    found = {key}
    todo = [key]
    while todo:
        one = todo.pop()
        for other in everywhere:
            if other not in found and (one[1] == other[1] or _overrides(resolver, one[1], other[1])):
                found.add(other)
                todo.append(other)
    return frozenset(found)


def _read_as(resolver: SyntaxResolver, key: Key) -> str:
    """The namespace of a member; a component of a Java record shares that of its accessor."""
    java = any(d.row == "record_declaration.name" and s.language == "java" for s, d in resolver.places(key[1]))
    return "call" if java else key[3]


def _overrides(resolver: SyntaxResolver, one: Key, other: Key) -> bool:
    """Whether a call may reach the members of two classes alike: one inherits from the other, or one is a Go
    interface."""
    if other in _above(resolver, one) or one in _above(resolver, other):
        return True
    return any(
        d.holder.type == "type_spec" and _is_interface(d) for key in (one, other) for _, d in resolver.places(key)
    )


def _is_interface(declaration: Declaration) -> bool:
    kind = declaration.holder.child_by_field_name("type")
    return kind is not None and kind.type == "interface_type"


def _above(resolver: SyntaxResolver, owner: Key) -> set[Found]:
    """All that a class inherits from; None among them where that isn't known."""
    found: set[Found] = set()
    todo: list[Found] = [owner]
    while todo:
        one = todo.pop()
        for base in resolver.bases(one) if isinstance(one, tuple) else ():
            if base not in found:
                found.add(base)
                todo.append(base)
    return found


def _inherited_with(resolver: SyntaxResolver, owners: Iterable[Key]) -> set[Found]:
    """The classes that some Java class inherits from together with one of `owners`, None among them where that isn't
    known. In a nominally typed language only a common subclass ties two methods of one name."""
    found: set[Found] = set()
    heirs = set(owners)
    todo = list(owners)
    while todo:
        one = todo.pop()
        found |= {one, *_above(resolver, one)}
        for name in {source.text_of(declaration.name) for source, declaration in resolver.places(one)}:
            languages = {language_of(path) or "" for path in resolver.holding(name)} - {"java"}
            found |= {None} if any(family(each) == "jvm" for each in languages) else set()
            new = {
                heir for source in resolver.sources(name) for heir in _naming_as_base(resolver, source, name)
            } - heirs
            heirs |= new
            todo += new
    return found


def _naming_as_base(resolver: SyntaxResolver, source: SyntaxSource, name: str) -> Iterator[Key]:
    """The classes of a file that name a class among their bases."""
    for word in source.words(name):
        around = list(ancestors(word.node))
        for clause, holder in pairwise(around):
            named = holder.child_by_field_name("name") if clause.type in HERITAGE else None
            declared = source.declaration(named) if named is not None else None
            key = resolver.key_of(source, declared) if declared is not None else None
            if isinstance(key, tuple):
                yield key


def _may_be(use: NameUse, target: NameUse, escapes: bool) -> bool:
    """Whether a place that isn't known to belong to a family may do so."""
    if family(use.source.language) != family(target.source.language):
        return False
    rules = use.source.rules
    if use.found is None and any(each.is_error for each in ancestors(use.word.node)):
        return True
    if target.found is not None and target.found[0] == "member":
        if use.is_shorthand and use.key is None:
            return True
        if use.found is None:
            return use.member or use.word.raw or rules.implicit
        # Objects of other classes with such a member can stand in for each other.
        other = isinstance(use.found, tuple) and use.found[0] == "member" and use.found[3] == target.found[3]
        late = target.source.row(target.word.node) not in OWN_MEMBERS
        return other and late and (rules.structural or (rules.implicit and use.source.language != "cpp"))
    given_away = use.is_shorthand and use.declares and use.key is None
    return (use.found is None and (escapes or not use.member)) or (escapes and given_away)


def _is_embedded(resolver: SyntaxResolver, name: str) -> bool:
    """Whether a Go struct may embed a type of a name, which also names the field."""
    words = (word for source in resolver.sources(name) if source.language == "go" for word in source.words(name))
    return any(
        each.type == "field_declaration" for word in words for each in (word.node.parent, *ancestors(word.node)) if each
    )


def _escapes(resolver: SyntaxResolver, key: Key) -> bool:
    """Whether the module that defines a name is passed on as an object, so that any code may look the name up in it."""
    return any(_given_away(source, alias) for source, alias in resolver.whole_imports(key[1]))


def _given_away(source: SyntaxSource, alias: str | Node) -> bool:
    """Whether a module object is used for more than access to its members."""
    if not isinstance(alias, str):
        around = [each.type for each in ancestors(alias)]
        at_hand = around[0] == "await_expression" or source.text_of(alias).startswith("require")
        outer = next(each for each in around if each not in ("parenthesized_expression", "await_expression"))
        return not at_hand or outer not in ("member_expression", "expression_statement")
    for word in source.words(alias):
        row = source.row(word.node)
        looked_into = row.endswith((".object", ".function", ".scope")) or row.startswith("nested_")
        if not looked_into and source.declaration(word.node) is None and not source.import_at(word.node):
            return True
    return False


def _outside(resolver: SyntaxResolver, target: NameUse, keys: frozenset[Key]) -> Iterator[str]:
    """What outside of the repository may call the members of a family by their name."""
    name = target.source.data[target.word.start : target.word.end].decode()
    yield from called_by_language(name, target.source.language)
    for key in keys:
        if key[0] != "member":
            continue
        for source, declaration in resolver.keys(name).get(key, []):
            yield from _bound_to(resolver, source, declaration, key[1])


def called_by_language(name: str, language: str) -> list[str]:
    """The language in a list, if it calls members of this name by itself; else []."""
    called = "javascript" if language in TYPESCRIPT else language
    return [called] if name in _CALLED_BY_THE_LANGUAGE.get(called, "").split() else []


def _bound_to(resolver: SyntaxResolver, source: SyntaxSource, declaration: Declaration, owner: Key) -> Iterator[str]:
    if source.language == "go":
        interfaces = [item.module for item, _ in source.imports if not resolver.files_of(source.path, item)]
        if (
            declaration.row == "method_declaration.name"
            and source.text_of(declaration.name)[:1].isupper()
            and interfaces
        ):
            yield interfaces[0]
    elif source.language == "rust":
        impl = next((each for each in ancestors(declaration.name) if each.type == "impl_item"), None)
        trait = impl.child_by_field_name("trait") if impl is not None else None
        if trait is not None and not isinstance(resolver.type_of(source, trait), tuple):
            yield source.text_of(trait)
    elif declaration.row != "variable_declarator.name":
        called = source.text_of(declaration.name) in _READ_BY_STREAMS
        for base in _above(resolver, owner):
            if not isinstance(base, tuple) and (called or base not in _MARKERS):
                yield base or "?"
