"""What a node of a syntax tree says by the grammar of its language, whatever its names mean. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from repopilot.code.syntax import ancestors
from repopilot.resolve.syntax.syntax_source import Declaration, SyntaxSource, children

HERITAGE = (
    "class_heritage extends_clause implements_clause extends_type_clause superclass super_interfaces type_list "
    "extends_interfaces base_class_clause base_list base_clause class_interface_clause "
    "use_declaration trait_bounds".split()
)
_GIVEN = frozenset(
    "let_declaration.pattern variable_declarator.name short_var_declaration.left var_spec.name const_spec.name "
    "public_field_definition.name field_definition.property assignment_expression.left declaration.declarator "
    "const_item.name static_item.name property_element.name resource.name".split()
)
"""Declarations whose name gets the whole value, not a part of it."""
GENERIC = ("generic_type", "generic_name", "template_type")


def heritage_clauses(holder: Node) -> Iterator[Node]:
    """The parts of a class that name its bases or interfaces."""
    todo = children(holder, HERITAGE)
    while todo:
        node = todo.pop()
        inner = children(node, HERITAGE)
        todo += inner
        if not inner:
            yield node


def embedded_types(body: Node) -> Iterator[Node]:
    """The types that a Go struct or interface embeds."""
    for part in body.named_children if body.type == "interface_type" else children(body, ("field_declaration_list",)):
        for field in part.named_children if part.type == "field_declaration_list" else (part,):
            kind = field.child_by_field_name("type")
            if field.type == "type_elem":
                yield from field.named_children
            elif kind is not None and field.child_by_field_name("name") is None:
                yield kind


def receiver_of(source: SyntaxSource, node: Node, row: str) -> tuple[bool, Node | None]:
    """Whether a name is looked up in a receiver, and the receiver; None where that isn't written."""
    parent = node.parent
    field = source.rules.receivers.get(row)
    if parent is None:
        return False, None
    if parent.type == "token_tree":
        before = node.prev_sibling.prev_sibling if source.before(node) in (".", "::") and node.prev_sibling else None
        return before is not None, before
    if field is None:
        made = _initialized(source, node, row)
        alone = node.type == "field_identifier" and row != "field_initializer."
        return made is not None or alone, made
    receiver = parent.named_children[0] if field == "0" else parent.child_by_field_name(field)
    if receiver == node or (receiver is None and row.startswith(("method_invocation", "call."))):
        return False, None
    return True, receiver


def _initialized(source: SyntaxSource, node: Node, row: str) -> Node | None:
    """The expression that creates the object which a name is a field of, in an initializer."""
    parent = node.parent
    if row == "literal_element." and parent is not None and source.row(parent) == "keyed_element.key":
        return next((each for each in ancestors(node) if each.type == "composite_literal"), None)
    outer = parent.parent if parent is not None and row == "qualified_identifier.scope" else None
    if outer is not None and outer.type == "qualified_identifier":
        return outer.child_by_field_name("scope")
    if row == "field_designator.":
        return _designated(node)
    if row in ("field_initializer.field", "field_pattern.name"):
        return next((each for each in ancestors(node) if each.type in ("struct_expression", "struct_pattern")), None)
    initializer = parent.parent if parent is not None and row == "assignment_expression.left" else None
    return initializer.parent if initializer is not None and initializer.type == "initializer_expression" else None


def _designated(node: Node) -> Node | None:
    """The variable or literal that designators of C such as `{ .name = 1 }` initialize."""
    *_, given, outer = (each for each, _ in zip(ancestors(node), range(4), strict=False))
    in_array = outer.type == given.type
    whole = outer.parent if in_array else outer
    if whole is None or whole.type != "init_declarator":
        return whole if whole is not None and whole.type == "compound_literal_expression" and not in_array else None
    declarator = whole.child_by_field_name("declarator")
    if declarator is None or in_array != (declarator.type == "array_declarator"):
        return None
    return declarator.child_by_field_name("declarator") if in_array else declarator


def name_in(source: SyntaxSource, node: Node) -> tuple[Node | None, str]:
    """The last name of an expression, such as `c` of `a.b.c`, with its row."""
    if node.type in GENERIC and node.named_children:
        node = node.child_by_field_name("name") or node.child_by_field_name("type") or node.named_children[0]
    row = source.row(node)
    if not node.named_child_count:
        return (node, row) if "identifier" in node.type or node.type in ("name", "constant") else (None, row)
    if node.type in ("variable_name", "type", "namespace_name"):
        return name_in(source, node.named_children[-1])
    for child in node.named_children[::-1]:
        inner = source.row(child)
        if inner in source.rules.receivers:
            if child.type in GENERIC:
                return child.named_children[0], inner
            return (child, inner) if not child.named_child_count else name_in(source, child)
    return None, row


def class_around(source: SyntaxSource, node: Node) -> Node | None:
    """The innermost class around a node, None for none."""
    return next((each for each in ancestors(node) if each.type in source.rules.classes), None)


def qualifier_of(function: Node) -> Node | None:
    """The node that names the class of a C++ method defined outside of the class."""
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "qualified_identifier":
        node = node.child_by_field_name("declarator") or next(iter(children(node, ("function_declarator",))), None)
    return node.child_by_field_name("scope") if node is not None else None


def is_before_body(scope: Node, at: Node, classes: Collection[str]) -> bool:
    """Whether a node is in the head of a class, among its bases."""
    body = scope.child_by_field_name("body") if scope.type in classes else None
    heads = (each for each in ancestors(at) if each.type in HERITAGE)
    return body is not None and at.start_byte < body.start_byte and next(heads, None) is not None


def is_type(holder: Node) -> bool:
    """Whether a node defines a type or a module."""
    return bool(
        re.match(
            r"(?:abstract_)?(?:class|struct|interface|enum|union|trait|record|type|module|mod|annotation)_?\w*",
            holder.type,
        )
    ) and ("parameter" not in holder.type)


def is_destructured(declaration: Declaration) -> bool:
    """Whether a name gets one part of a value that is taken apart."""
    parent = declaration.name.parent
    return (
        parent is not None and parent != declaration.holder and bool(re.search("pattern|expression_list", parent.type))
    )


def qualified_name(name: Node) -> Node | None:
    """The `A::name` that ends in a name of C++."""
    parent = name.parent.parent if name.parent is not None and name.parent.type == "destructor_name" else name.parent
    return parent if parent is not None and parent.type == "qualified_identifier" else None


def value_of(source: SyntaxSource, declaration: Declaration, whole: bool) -> Node | None:
    """The value of a name that isn't assigned again; None where the name gets a part of the value."""
    holder = declaration.holder
    outer = declaration.holder.parent
    changes = outer is not None and any(child.type in ("let", "var") for child in outer.children)
    if declaration.row not in _GIVEN or (source.language == "javascript" and changes):
        return None
    if declaration.row == "variable_declarator.name" and source.language == "csharp":
        return holder.named_children[-1] if holder.named_child_count > 1 else None
    value = holder.child_by_field_name("value")
    return _paired(declaration) if value is None else value if whole else None


def _paired(declaration: Declaration) -> Node | None:
    """The value for a name in an assignment, also of several names to as many values."""
    left, right = (declaration.holder.child_by_field_name(field) for field in ("left", "right"))
    if left is None or right is None or right.type != "expression_list":
        return right
    if left.named_child_count != right.named_child_count or declaration.name not in left.named_children:
        return None
    return right.named_children[left.named_children.index(declaration.name)]


def is_loose(source: SyntaxSource, declaration: Declaration) -> bool:
    """Whether a method belongs to an object literal instead of a class."""
    method = declaration.row in ("method_definition.name", "method_declaration.name") and source.language != "go"
    return method and declaration.scope.type not in source.rules.classes


def record_given(source: SyntaxSource, parameter: Declaration) -> Node | None:
    """The Java record with a component of the same name as a parameter of its constructor; None for none."""
    constructor = next(each for each in ancestors(parameter.holder) if each.type != "formal_parameters")
    record = next((each for each in ancestors(constructor) if each.type in source.rules.classes), None)
    given = record.child_by_field_name("parameters") if record is not None else None
    names = [each.child_by_field_name("name") for each in given.named_children] if given is not None else []
    named = {source.text_of(each) for each in names if each is not None}
    own = constructor.type == "constructor_declaration" and source.text_of(parameter.name) in named
    return record if own else None


def is_closed(node: Node) -> bool:
    """Whether a node is an `enum class` of C++, whose names are members."""
    return node.type == "enum_specifier" and any(child.type in ("class", "struct") for child in node.children)


def is_switch(node: Node) -> bool:
    """Whether a node is a `switch`."""
    return node.type in ("switch_expression", "switch_statement")


def is_property(parameter: Node) -> bool:
    """Whether a parameter of a constructor is a property of its class."""
    return any(
        child.type in ("accessibility_modifier", "readonly", "override_modifier") for child in parameter.children
    )


def namespace_of(node: Node) -> Node | None:
    """The name of the namespace or module that a node opens, None for none."""
    kinds = ("namespace_definition", "namespace_declaration", "mod_item", "internal_module")
    return node.child_by_field_name("name") if node.type in kinds else None


def package_of(source: SyntaxSource) -> list[str]:
    """The package or namespace that a file declares for all of its code."""
    kinds = ("package_declaration", "file_scoped_namespace_declaration", "namespace_definition")
    for node in children(source.root, kinds):
        if node.child_by_field_name("body") is None:
            name = node.child_by_field_name("name") or node.named_children[-1]
            return [re.sub(r"\\", ".", source.text_of(name))]
    return []


def is_static(source: SyntaxSource, holder: Node) -> bool:
    """Whether a definition in C or C++ is visible in its own file only."""
    kinds = children(holder, ("storage_class_specifier",))
    local = holder.type in ("preproc_def", "preproc_function_def") and not source.path.endswith((".h", ".hpp", ".hh"))
    return local or any(source.text_of(kind) == "static" for kind in kinds)


def may_export(source: SyntaxSource) -> bool:
    """Whether a JavaScript file may be a module: it mentions `export`."""
    return b"export" in source.data


def is_exported(node: Node) -> bool:
    """Whether a node is part of an `export`."""
    return any(each.type == "export_statement" for each in ancestors(node))
