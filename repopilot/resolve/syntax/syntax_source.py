"""One file's syntax tree, queried for names: where they stand, where they are declared, and in which scope."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from tree_sitter import Node, QueryCursor

from repopilot.code.file_analysis import Import
from repopilot.code.import_statements import read_imports
from repopilot.code.languages import COMPONENTS, family, language_of
from repopilot.code.split import header_in_cpp, parsed_as
from repopilot.code.syntax import PARSE_S, ancestors, parse, tags, text_of
from repopilot.resolve.syntax.rules import BLOCKS, FAMILIES, INNER, PATTERNS, Rules, rules_of

_LATE = frozenset(
    "let_declaration.pattern short_var_declaration.left var_spec.name const_spec.name declaration.declarator "
    "variable_declarator.name".split()
)
_STATEMENTS = frozenset("let_declaration short_var_declaration var_spec".split())
"""Declarations whose value can't use the name that they declare."""
_RAW = ("preproc_arg", "string_content")
_LEAVES = ("constant", "word", "name", "label_name", "simple_symbol")


class Word(NamedTuple):
    """A place where a name stands in code: bytes [start, end) of `node`, an identifier, or raw text that is code."""

    start: int
    end: int
    node: Node

    @property
    def raw(self) -> bool:
        """Whether it stands within raw text that isn't parsed further: a macro or a format string."""
        return self.node.type in _RAW


OF_PROTOTYPE = "prototype."
"""The row of a function that is assigned to a member of a constructor's prototype."""
_FUNCTIONS = ("function_expression", "generator_function", "arrow_function")
_BINDING = ("function_expression", "generator_function", "function_declaration", "method_definition", "class_body")
"""Nodes that give `this` a meaning of its own."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a name: the node that declares it, the field there (`row`), and the scope that it is visible
    in."""

    name: Node
    holder: Node
    row: str
    scope: Node
    space: str


class SyntaxSource:
    """A parsed file.

    Args:
        path: the file.
        text: its text.
        language: what it is parsed as.
        rules: the rules of the language.
        data: the text to parse, as UTF-8.
        root: the root of its tree.
    """

    def __init__(self, path: str, text: str, language: str, rules: Rules, data: bytes, root: Node) -> None:
        self.path = path
        self.text = text
        self.language = language
        self.rules = rules
        self.data = data
        self.root = root
        self._declared: dict[str, list[Declaration]] = {}
        self._by_scope: dict[str, dict[int, list[Declaration]]] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines of its text."""
        return self.text.split("\n")

    def words(self, name: str) -> list[Word]:
        """Where a name stands in the code, in order."""
        wanted = name.encode()
        found = [word for node in self._leaves(wanted) for word in self._in(node, wanted)]
        return sorted(found, key=lambda word: word.start)

    def _leaves(self, name: bytes) -> Iterator[Node]:
        at = self.data.find(name)
        while at >= 0:
            node = self.root.descendant_for_byte_range(at, at + len(name))
            at += 1
            if node is not None and not node.child_count:
                at = max(at, node.end_byte)
                if "identifier" in node.type or node.type in (*_LEAVES, *_RAW):
                    yield node
            at = self.data.find(name, at)

    def _in(self, node: Node, name: bytes) -> Iterator[Word]:
        if node.type not in _RAW:
            if self.data[node.start_byte : node.end_byte] == name:
                yield Word(node.start_byte, node.end_byte, node)
        elif node.type == "preproc_arg" or (self.language == "rust" and _in_macro(node)):
            pattern = rb"(?<![\w.>])%s(?!\w)" if node.type == "preproc_arg" else rb"(?<=\{)%s(?=[}:])"
            for found in re.compile(pattern % re.escape(name)).finditer(self.data, node.start_byte, node.end_byte):
                yield Word(found.start(), found.end(), node)

    def row(self, node: Node) -> str:
        """Where a node stands in its parent: `type.field`."""
        parent = node.parent
        if parent is None:
            return ""
        number = next((n for n, child in enumerate(parent.children) if child == node), -1)
        return f"{parent.type}.{(parent.field_name_for_child(number) if number >= 0 else None) or ''}"

    def declared(self, name: str) -> list[Declaration]:
        """The declarations of a name, including imports."""
        if name not in self._declared:
            found = (self.declaration(word.node) for word in self.words(name) if not word.raw)
            self._declared[name] = [each for each in found if each is not None]
        return self._declared[name]

    def declared_in(self, name: str) -> dict[int, list[Declaration]]:
        """The declarations of a name, by the id of their scope."""
        if name not in self._by_scope:
            found = self._by_scope[name] = {}
            for each in self.declared(name):
                found.setdefault(each.scope.id, []).append(each)
        return self._by_scope[name]

    def declaration(self, node: Node) -> Declaration | None:
        """The declaration whose name a node is, None for a use."""
        child = node
        parent = node.parent
        if self.rules.structural and parent is not None and _exported_as(self, node, parent):
            return Declaration(node, parent, "member_expression.property", self.root, "")
        given = constructor_given(self, node) if self.rules.structural else None
        if given is not None:
            return Declaration(node, given[1], OF_PROTOTYPE, given[1], "")
        while parent is not None:
            row = self.row(child)
            if row in self.rules.declares and self._declares(node, parent, row):
                return Declaration(node, parent, row, self._scope(parent, row), self.space(node))
            named = row == "field_pattern.name" and child.type == "field_identifier"
            if named or row not in PATTERNS or row == "tuple_struct_pattern.type":
                return None
            child = parent
            parent = parent.parent
        return None

    def _declares(self, node: Node, holder: Node, row: str) -> bool:
        """Whether what looks like a declaration is one."""
        if holder.type in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier"):
            return holder.child_by_field_name("body") is not None
        if row in ("let_condition.pattern", "match_arm.pattern") and self.text_of(node)[:1].isupper():
            return False  # a constant or a variant
        if row == "import_specifier.name":
            return holder.child_by_field_name("alias") is None
        if row == "range_clause.left":
            return any(child.type == ":=" for child in holder.children)
        if row == "for_in_statement.left":
            return holder.child_by_field_name("kind") is not None
        if row == "function_definition.declarator" and node.type == "namespace_identifier":
            return False
        return not (row == "enum_body.name" and node.type == "string")

    def _scope(self, holder: Node, row: str) -> Node:
        names_it = holder.type in self.rules.scopes and row.rpartition(".")[2] in ("name", "declarator")
        outer = names_it and (row not in INNER or self.language == "ruby")
        node: Node | None = holder.parent if outer else holder
        if outer and node is not None and node.type == "template_declaration":
            node = node.parent
        hoisted = holder.parent is not None and holder.parent.type == "variable_declaration" and not self.rules.late
        while node is not None and node.parent is not None:
            ends = node.type in self.rules.scopes and not (hoisted and node.type in BLOCKS)
            if ends and not (node.type == "parameter_list" and _of_body(node)):
                return node
            node = node.parent
        return self.root

    def space(self, node: Node) -> str:
        """The namespace of a name, in languages that have several."""
        row = self.row(node)
        parent = node.parent
        if self.language == "rust" and parent is not None:
            called = parent.parent is not None and parent.parent.type in ("call_expression", "generic_function")
            if row == "field_expression.field":
                return "" if called and self.row(parent).endswith(".function") else "field"
            if row in ("field_initializer.field", "field_pattern.name") and node.type == "field_identifier":
                return "field"
            if parent.type == "token_tree" and self.before(node) == ".":
                return "" if self.data[node.end_byte : node.end_byte + 1] == b"(" else "field"
        if parent is not None and self.rules.receivers.get(row) == "0" and parent.named_children[0] == node:
            return ""  # what a member is looked up in
        return dict(self.rules.spaces).get(row, "")

    def parameters_of_macro(self, body: Node) -> list[str]:
        """The parameters of the C macro with this body; [] for other raw text."""
        given = body.parent.child_by_field_name("parameters") if body.parent is not None else None
        return [self.text_of(each) for each in given.named_children] if given is not None else []

    def before(self, node: Node) -> str:
        """The token before a node, in a macro whose tokens aren't parsed."""
        previous = node.prev_sibling
        return previous.type if previous is not None else ""

    def visible(self, declaration: Declaration, at: int) -> bool:
        """Whether a declaration is known at a byte of its scope."""
        outer = self.rules.files | self.rules.classes
        if not self.rules.late or declaration.row not in _LATE or declaration.scope.type in outer:
            return True
        known_from = (
            declaration.holder.end_byte if declaration.holder.type in _STATEMENTS else declaration.name.start_byte
        )
        return at >= known_from or at == declaration.name.start_byte

    @cached_property
    def imports(self) -> list[tuple[Import, Node]]:
        """The imports with their statements."""
        queries = tags(self.language)
        nodes = QueryCursor(queries.imports).captures(self.root).get("import", []) if queries is not None else []
        return [(item, _statement(node)) for node in nodes for item in read_imports(node, self.data, self.language)]

    def import_at(self, node: Node) -> list[Import]:
        """The imports whose statement a node is part of."""
        return [
            item for item, statement in self.imports if statement.start_byte <= node.start_byte < statement.end_byte
        ]

    def text_of(self, node: Node | None) -> str:
        """The text of a node, '' for none."""
        return text_of(node, self.data)

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """A range of bytes as characters."""
        first = len(self.data[:start].decode("utf-8", "replace"))
        return first, first + len(self.data[start:end].decode("utf-8", "replace"))


def may_refer(path: str) -> bool:
    """Whether a file is of a language with rules, or of one that can refer to its definitions."""
    return family(language_of(path) or "") in FAMILIES


def parsed(path: str, text: str) -> SyntaxSource | None:
    """A parsed file, None where its language has no rules or parsing takes too long. Blocking."""
    return _parsed(path, text)


@lru_cache(maxsize=512)
def _parsed(path: str, text: str) -> SyntaxSource | None:
    language = language_of(path) or ""
    grammar, source = parsed_as(path, text, language)
    rules = rules_of(grammar)
    if rules is None or (language in COMPONENTS and grammar == language):
        return None
    data = source.encode("utf-8", "replace")
    tree = parse(data, grammar)
    if tree is None:
        return None
    in_cpp = header_in_cpp(path, data, tree, grammar, PARSE_S)
    rules_of_cpp = rules_of("cpp")
    if in_cpp is not None and rules_of_cpp is not None:
        return SyntaxSource(path, text, "cpp", rules_of_cpp, data, in_cpp.root_node)
    return SyntaxSource(path, text, grammar, rules, data, tree.root_node)


def children(node: Node, types: Sequence[str]) -> list[Node]:
    """The named children of these types."""
    return [child for child in node.named_children if child.type in types]


def _statement(node: Node) -> Node:
    """The whole statement of an import, with the names that the result of `require` is assigned to."""
    for each in ancestors(node):
        if each.type == "variable_declarator":
            return each
    return node


def _in_macro(node: Node) -> bool:
    return any(each.type == "macro_invocation" for each in ancestors(node))


def _of_body(parameters: Node) -> bool:
    """Whether the parameters belong to a function with a body, and are visible in it."""
    for each in ancestors(parameters):
        if each.type not in ("function_declarator", "pointer_declarator", "reference_declarator", "lambda_declarator"):
            return each.type in ("function_definition", "lambda_expression")
    return False


def constructor_given(source: SyntaxSource, name: Node) -> tuple[Node, Node] | None:
    """The constructor's name and the function in `View.prototype.show = function () {}`, for the name `show`. None
    where the prototype is replaced, since its members then aren't known.
    """
    member = name.parent
    made = prototype_of(source, member.child_by_field_name("object")) if member is not None else None
    assigned = member.parent if member is not None and made is not None else None
    if assigned is None or assigned.type != "assignment_expression" or assigned.child_by_field_name("left") != member:
        return None
    function = assigned.child_by_field_name("right")
    if function is None or function.type not in _FUNCTIONS or made is None or not _is_closed(source, made):
        return None
    return made, function


def prototype_of(source: SyntaxSource, node: Node | None) -> Node | None:
    """The name of the constructor in an expression such as `View.prototype` of JavaScript, None for other
    expressions."""
    kind = node.child_by_field_name("property") if node is not None and node.type == "member_expression" else None
    made = node.child_by_field_name("object") if node is not None and kind is not None else None
    named = made is not None and made.type == "identifier" and kind is not None and source.text_of(kind) == "prototype"
    return made if named else None


def constructor_around(source: SyntaxSource, node: Node) -> Node | None:
    """The name of the JavaScript constructor whose object `this` is at a node; None where that isn't known."""
    around = next((each for each in ancestors(node) if each.type in _BINDING), None)
    holder = around.parent if around is not None else None
    if around is None or holder is None:
        return None
    if holder.type == "assignment_expression":
        left = holder.child_by_field_name("left")
        name = left.child_by_field_name("property") if left is not None else None
        given = constructor_given(source, name) if name is not None else None
        return given[0] if given is not None and given[1] == around else None
    named = around if around.type == "function_declaration" else holder
    name = named.child_by_field_name("name") if named.type in ("function_declaration", "variable_declarator") else None
    return name if name is not None and _is_closed(source, name) else None


def _is_closed(source: SyntaxSource, made: Node) -> bool:
    """Whether a function is a constructor whose prototype gets members but is never replaced or passed on."""
    name = re.escape(source.text_of(made))
    members = re.search(rf"\b{name}\.prototype\.\w", source.text)
    return members is not None and not re.search(rf"\b{name}\.prototype\b(?!\.\w)|\w\(\s*{name}\s*,", source.text)


def is_exports(source: SyntaxSource, node: Node | None) -> bool:
    """Whether a node is the exports object of a CommonJS module."""
    return node is not None and source.text_of(node) in ("module.exports", "exports")


def _exported_as(source: SyntaxSource, node: Node, member: Node) -> bool:
    """Whether a name is that of a CommonJS export, and differs from the exported value's."""
    if member.type != "member_expression" or not is_exports(source, member.child_by_field_name("object")):
        return False
    given = member.parent.child_by_field_name("right") if member.parent is not None else None
    written = given is not None and member == member.parent.child_by_field_name("left") if member.parent else False
    return (
        bool(written and given is not None and source.text_of(given) != source.text_of(node))
        and node.prev_sibling is not None
    )
