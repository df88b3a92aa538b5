"""Types that TypeScript code declares: the type of an expression, and the type expected where it stands.

A function that is passed or assigned where a function type is expected has that type's parameters. Type arguments that
would have to be inferred from the arguments of a call stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node

from repopilot.code.syntax import ancestors
from repopilot.resolve.syntax.calls import items_of, parameters_of
from repopilot.resolve.syntax.syntax_source import Declaration, SyntaxSource, children

if TYPE_CHECKING:
    from repopilot.resolve.syntax.resolver import SyntaxResolver

_FUNCTIONS = frozenset(
    "arrow_function function_expression function_declaration function_signature method_definition method_signature "
    "abstract_method_signature generator_function generator_function_declaration function_type call_signature".split()
)
_ANONYMOUS = ("arrow_function", "function_expression", "method_definition")
_SAME = frozenset("type_annotation parenthesized_type readonly_type default_type constraint".split())
"""Types that stand for the one inside them."""
_NAMED = frozenset("type_identifier generic_type nested_type_identifier identifier".split())
_NOTHING = frozenset(("null", "undefined", "void", "never"))
_PROMISES = frozenset(("Promise", "PromiseLike"))
_LISTS = frozenset("Array ReadonlyArray Set ReadonlySet Iterable IterableIterator Generator".split())
_PASSED_ON = frozenset(
    "parenthesized_expression. ternary_expression.consequence ternary_expression.alternative".split()
)
"""Rows of expressions that have the type of the expression around."""
_VALUES = frozenset(
    "variable_declarator.value public_field_definition.value required_parameter.value optional_parameter.value".split()
)
_DEEPEST = 20


class Written(NamedTuple):
    """A type, or a function as one, where it is written.

    Attributes:
        source: the file.
        node: the place.
        given: the arguments of the type parameters around it, by (file, byte of their owner, name).
    """

    source: SyntaxSource
    node: Node
    given: tuple[tuple[tuple[str, int, str], Written], ...] = ()

    def at(self, node: Node) -> Written:
        """Another type of the same file, with the same type arguments."""
        return self._replace(node=node)


class WrittenTypes:
    """Types of one state of a repository. Where a list has None, not all alternatives are known."""

    def __init__(self, names: SyntaxResolver) -> None:
        self._names = names
        self._shapes: dict[Written, list[Written | None]] = {}
        self._calls: dict[Node, list[Written | None]] = {}
        self._resolving: set[Node] = set()

    def class_of(self, kinds: Iterable[Written | None]) -> tuple | str | None:
        """The class that all alternatives are, as the resolver's key; None where they differ or one isn't known."""
        shapes = [shape for kind in kinds for shape in self._made_of(kind)]
        found = {self._key(shape) for shape in shapes if shape is None or not _is_nothing(shape)}
        return found.pop() if len(found) == 1 else None

    def of(self, source: SyntaxSource, node: Node) -> list[Written | None]:
        """The declared types of an expression; [] for none."""
        if node in self._resolving or len(self._resolving) > _DEEPEST:
            return []
        self._resolving.add(node)
        try:
            return list(self._of(source, node))
        finally:
            self._resolving.discard(node)

    def _of(self, source: SyntaxSource, node: Node) -> Iterator[Written | None]:
        if node.type in _FUNCTIONS:
            yield Written(source, node)
        elif node.type in ("as_expression", "satisfies_expression"):
            yield Written(source, node.named_children[-1])
        elif node.type in ("parenthesized_expression", "non_null_expression") and node.named_children:
            yield from self.of(source, node.named_children[0])
        elif node.type == "await_expression":
            yield from self._held(self.of(source, node.named_children[-1]), _PROMISES, whole=True)
        elif node.type == "subscript_expression":
            yield from self._elements(self.of(source, node.named_children[0]))
        elif node.type == "new_expression":
            name = node.child_by_field_name("constructor")
            yield Written(source, name) if name is not None and name.type == "identifier" else None
        elif node.type == "call_expression":
            for signature in self._called(source, node):
                yield self._returned(signature) if signature is not None else None
        elif node.type in ("identifier", "member_expression"):
            found = self._names.entity(source, node)
            for place, declaration in self._names.places(found) if isinstance(found, tuple) else ():
                yield from self.declared(place, declaration)

    def declared(self, source: SyntaxSource, declaration: Declaration) -> list[Written | None]:
        """The types that a declaration gives its name."""
        holder = declaration.holder
        name = declaration.name
        kind = holder.child_by_field_name("type")
        if kind is not None and declaration.row != "type_alias_declaration.name":
            return [Written(source, kind)] if name.parent == holder else []
        if holder.type in _FUNCTIONS and declaration.row.endswith(".name"):
            result = holder.child_by_field_name("return_type")
            getter = any(child.type == "get" for child in holder.children)
            return [Written(source, result) if result else None] if getter else [Written(source, holder)]
        if name.parent != holder:
            return []
        value = holder.child_by_field_name("value")
        if declaration.row == "for_in_statement.left" and any(child.type == "of" for child in holder.children):
            return self._elements(self.of(source, holder.child_by_field_name("right") or name))
        if value is not None:
            outer = holder.parent.children if holder.parent is not None and source.language == "javascript" else ()
            changes = any(child.type in ("let", "var") for child in outer)
            return [] if changes else self.of(source, value)
        return self._parameter(source, declaration)

    def _parameter(self, source: SyntaxSource, declaration: Declaration) -> list[Written | None]:
        """The types of an untyped parameter, by the type that is expected of its function."""
        places = [declaration.name, *ancestors(declaration.name)]
        at = next((n for n, each in enumerate(places[:4]) if each.type in _ANONYMOUS), 0)
        if not at or "parameter" not in declaration.row:
            return []
        number = 0
        if places[at - 1].type == "formal_parameters":
            number = items_of(places[at - 1]).index(places[at - 2])
        signatures = self._signatures(self._expected(source, places[at]))
        return [kind for one in signatures for kind in (self._taken(one, number) if one else [None])]

    def _expected(self, source: SyntaxSource, node: Node) -> list[Written | None]:
        """The types that are expected of an expression."""
        row = source.row(node)
        outer = node.parent
        if outer is None:
            return []
        kind = outer.child_by_field_name("type")
        if row in _VALUES and kind is not None:
            return [Written(source, kind)]
        if row == "pair.value" or row == "object.":
            key = (node if row == "object." else outer).child_by_field_name("key" if row == "pair.value" else "name")
            made = outer if row == "object." else outer.parent
            return self._members(self._expected(source, made), source.text_of(key)) if made and key else []
        if row == "arguments." and outer.parent is not None:
            return self._argument(source, outer, node)
        if row in ("return_statement.", "arrow_function.body"):
            return self._expected_result(source, node)
        operator = outer.child_by_field_name("operator")
        chosen = row == "binary_expression.right" and operator is not None and operator.type in ("||", "??")
        if row in _PASSED_ON or chosen:
            return self._expected(source, outer)
        if row in ("as_expression.", "satisfies_expression."):
            return [Written(source, outer.named_children[-1])]
        if row == "array.":
            return self._elements(self._expected(source, outer))
        left = outer.child_by_field_name("left")
        return self.of(source, left) if row == "assignment_expression.right" and left is not None else []

    def _argument(self, source: SyntaxSource, arguments: Node, node: Node) -> list[Written | None]:
        """The types of the parameter that an argument is passed for."""
        items = items_of(arguments)
        number = items.index(node)
        if arguments.parent is None or any(each.type == "spread_element" for each in items):
            return []
        called = self._called(source, arguments.parent)
        return [kind for one in called for kind in (self._taken(one, number) if one else [None])]

    def _expected_result(self, source: SyntaxSource, node: Node) -> list[Written | None]:
        """The declared result types of the function that returns a value."""
        function = next(each for each in ancestors(node) if each.type in _FUNCTIONS or each.parent is None)
        own = function.child_by_field_name("return_type")
        signatures = self._signatures(self._expected(source, function)) if function.type in _ANONYMOUS else []
        kinds = [self._returned(one) if one else None for one in signatures]
        kinds = [Written(source, own)] if own is not None else kinds
        later = any(child.type == "async" for child in function.children)
        return self._held(kinds, _PROMISES, whole=True) if later else kinds

    def _called(self, source: SyntaxSource, call: Node) -> list[Written | None]:
        """The signatures that a call may call, with its type arguments."""
        if call not in self._calls:
            self._calls[call] = self._all_called(source, call)
        return self._calls[call]

    def _all_called(self, source: SyntaxSource, call: Node) -> list[Written | None]:
        if call.type == "new_expression":
            made = self._made_of(next(iter(self.of(source, call)), None))
            found = self._members(made, "constructor")
        else:
            found = self.of(source, call.child_by_field_name("function") or call.named_children[0])
        arguments = call.child_by_field_name("arguments")
        items = items_of(arguments) if arguments is not None else []
        several = any(each.type == "spread_element" for each in items)
        signatures = [
            one for one in self._signatures(found) if one is None or several or self._accepts(one, len(items))
        ]
        given = call.child_by_field_name("type_arguments")
        if given is None:
            return signatures
        reference = Written(source, call)
        return [self._with(one, reference, items_of(given)) if one else None for one in signatures]

    def _signatures(self, kinds: Iterable[Written | None]) -> list[Written | None]:
        """The functions among some types; None for a type that isn't known and may be one."""
        found: list[Written | None] = []
        for shape in (shape for kind in kinds for shape in self._made_of(kind)):
            if shape is None or shape.node.type in _NAMED:
                found.append(None)
            elif shape.node.type in _FUNCTIONS:
                found.append(shape)
            elif shape.node.type in ("interface_declaration", "object_type"):
                body = shape.node.child_by_field_name("body") or shape.node
                found += [shape.at(each) for each in children(body, ("call_signature",))]
                bases = [each for clause in children(shape.node, ("extends_type_clause",)) for each in items_of(clause)]
                found += self._signatures(shape.at(each) for each in bases)
        return found

    def _accepts(self, signature: Written, count: int) -> bool:
        """Whether a function can be called with a number of arguments."""
        parameters = parameters_of(signature.source, signature.node)
        if parameters is None or not parameters.least <= count <= parameters.most:
            return parameters is None
        fixed = self._fixed(signature)
        return not fixed or count == len(_parameters(signature)) - 1 + len(fixed)

    def _taken(self, signature: Written, number: int) -> list[Written | None]:
        """The types of a function's parameter by its number from 0; [] where it takes fewer."""
        items = _parameters(signature)
        before = number - len(items) + 1
        if before >= 0 and (fixed := self._fixed(signature)):
            return [fixed[before]] if before < len(fixed) else []
        rest = bool(items) and _is_rest(items[-1]) and before >= 0
        if before > 0 and not rest:
            return []
        kind = items[min(number, len(items) - 1)].child_by_field_name("type") if items else None
        written = signature.at(kind) if kind is not None else None
        return self._elements([written]) if rest else [written] if items else []

    def _fixed(self, signature: Written) -> list[Written]:
        """The parts of the tuple that is a function's rest parameter; [] for none of a known length."""
        last = next(iter(_parameters(signature)[-1:]), None)
        kind = last.child_by_field_name("type") if last is not None and _is_rest(last) else None
        shapes = self._made_of(signature.at(kind)) if kind is not None else []
        shape = shapes[0] if len(shapes) == 1 else None
        parts = items_of(shape.node) if shape is not None and shape.node.type == "tuple_type" else []
        open_ = any(re.search("rest|optional", part.type) or _is_rest(part) for part in parts)
        return [] if open_ or shape is None else [kind for each in parts for kind in self._part(shape.at(each)) if kind]

    def _returned(self, signature: Written) -> Written | None:
        kind = signature.node.child_by_field_name("return_type")
        return signature.at(kind) if kind is not None else None

    def _elements(self, kinds: Iterable[Written | None]) -> list[Written | None]:
        """The element types of lists."""
        return self._held(kinds, _LISTS, whole=False)

    def _held(self, kinds: Iterable[Written | None], names: frozenset[str], *, whole: bool) -> list[Written | None]:
        """The type argument of each type that is one of `names` (such as `Promise`); for other types the element types
        of arrays and tuples, or with `whole` the type itself."""
        found: list[Written | None] = []
        for shape in (shape for kind in kinds for shape in self._made_of(kind)):
            node = shape.node if shape is not None else None
            if shape is None or node is None:
                found.append(None)
            elif node.type == "generic_type" and shape.source.text_of(node.named_children[0]) in names:
                found.append(shape.at(node.named_children[-1].named_children[0]))
            elif whole:
                found.append(shape)
            elif node.type == "array_type":
                found.append(shape.at(node.named_children[0]))
            elif node.type == "tuple_type":
                found += [one for each in items_of(node) for one in self._part(shape.at(each))]
            elif not _is_nothing(shape):
                found.append(None)
        return found

    def _part(self, kind: Written) -> list[Written | None]:
        """The types of a part of a tuple."""
        if kind.node.type == "rest_type":
            return self._elements([kind.at(kind.node.named_children[0])])
        named = kind.node.child_by_field_name("type")
        return [kind.at(named) if named is not None else kind]

    def _members(self, kinds: Iterable[Written | None], name: str) -> list[Written | None]:
        """The types of a member of some objects."""
        found: list[Written | None] = []
        for shape in (shape for kind in kinds for shape in self._made_of(kind)):
            key = self._key(shape)
            member = self._names.member(key, name, "") if isinstance(key, tuple) else None
            for source, declaration in self._names.places(member) if isinstance(member, tuple) else ():
                own = shape is not None and shape.source == source
                given = shape.given if shape is not None and own else ()
                found += [one._replace(given=given) if one else None for one in self.declared(source, declaration)]
            unknown = shape is None or (shape.node.type in _NAMED and not isinstance(key, tuple))
            found += [None] if unknown else []
        return found

    def _key(self, shape: Written | None) -> tuple | str | None:
        if shape is None:
            return None
        source = shape.source
        node = shape.node
        if node.type == "object_type":
            return self._names.class_key(source, node)
        name = node.child_by_field_name("name") if node.type.endswith("_declaration") else None
        declaration = source.declaration(name) if name is not None else None
        return self._names.key_of(source, declaration) if declaration is not None else self._names.type_of(source, node)

    def _made_of(self, kind: Written | None, depth: int = 0) -> list[Written | None]:
        """The alternatives of a type, with aliases and type parameters resolved."""
        if kind is None or depth > _DEEPEST:
            return [None]
        if kind not in self._shapes:
            self._shapes[kind] = list(self._parts(kind, depth))
        return self._shapes[kind]

    def _parts(self, kind: Written, depth: int) -> Iterator[Written | None]:
        node = kind.node
        if node.type in ("union_type", "intersection_type", *_SAME):
            for each in items_of(node):
                yield from self._made_of(kind.at(each), depth + 1)
        elif node.type in _NAMED:
            yield from self._named(kind, depth)
        else:
            yield kind

    def _named(self, kind: Written, depth: int) -> Iterator[Written | None]:
        """The types that the name of a type stands for."""
        source = kind.source
        node = kind.node
        first = node.named_children[0] if node.type == "generic_type" else node
        owner = _owner(source, first)
        if owner is not None:
            name = source.text_of(first)
            given = dict(kind.given).get((source.path, owner.start_byte, name)) or _bound(kind, owner, name)
            yield from self._made_of(given, depth + 1)
            return
        found = self._names.entity(source, first)
        if isinstance(found, str):
            yield kind
            return
        places = self._names.places(found) if isinstance(found, tuple) else []
        for place, declaration in places:
            holder = declaration.holder
            arguments = items_of(node.named_children[-1]) if node.type == "generic_type" else []
            meant = self._with(Written(place, holder), kind, arguments)
            value = holder.child_by_field_name("value") if holder.type == "type_alias_declaration" else None
            yield from self._made_of(meant.at(value), depth + 1) if value is not None else [meant]
        yield from [] if places else [None]

    def _with(self, generic: Written, reference: Written, arguments: list[Node]) -> Written:
        """A generic declaration with its type arguments, or the defaults of the type parameters that get none."""
        source = generic.source
        node = generic.node
        parameters = node.child_by_field_name("type_parameters")
        given = dict(generic.given)
        for number, each in enumerate(items_of(parameters) if parameters is not None else ()):
            name = each.child_by_field_name("name")
            default = each.child_by_field_name("value")
            key = (source.path, node.start_byte, source.text_of(name or each))
            if number < len(arguments):
                given[key] = reference.at(arguments[number])
            elif default is not None:
                given[key] = Written(source, default, tuple(given.items()))
        return generic._replace(given=tuple(given.items()))


def _is_nothing(shape: Written) -> bool:
    return shape.source.text_of(shape.node) in _NOTHING


def _parameters(signature: Written) -> list[Node]:
    """The parameters of a function, without `this`."""
    given = signature.node.child_by_field_name("parameters")
    patterns = [(each, each.child_by_field_name("pattern")) for each in items_of(given)] if given is not None else []
    return [each for each, pattern in patterns if pattern is None or pattern.type != "this"]


def _is_rest(parameter: Node) -> bool:
    pattern = parameter.child_by_field_name("pattern") or parameter.child_by_field_name("name")
    return pattern is not None and pattern.type == "rest_pattern"


def _bound(kind: Written, owner: Node, name: str) -> Written | None:
    """The constraint of a function's type parameter, where the type parameter occurs only once in the parameters."""
    taken = owner.child_by_field_name("parameters")
    used = len(re.findall(rf"\b{re.escape(name)}\b", kind.source.text_of(taken))) if taken is not None else 0
    parameters = owner.child_by_field_name("type_parameters")
    for each in parameters.named_children if parameters is not None and used == 1 else ():
        own = each.child_by_field_name("name")
        bound = each.child_by_field_name("constraint")
        if own is not None and bound is not None and kind.source.text_of(own) == name:
            return kind.at(bound)
    return None


def _owner(source: SyntaxSource, name: Node) -> Node | None:
    """The node around a name that declares it as a type parameter; None where the name isn't one."""
    wanted = source.text_of(name)
    for each in ancestors(name):
        parameters = each.child_by_field_name("type_parameters")
        names = [one.child_by_field_name("name") for one in parameters.named_children] if parameters else []
        if any(one is not None and source.text_of(one) == wanted for one in names):
            return each
    return None
