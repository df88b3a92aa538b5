"""Resolves names without a language server: by scopes, imports, packages, and receivers whose type is written in the
code. A unique name alone never decides."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from repopilot.code.file_analysis import Import
from repopilot.code.graph.import_resolver import FileLookup, file_lookup, target_of
from repopilot.code.languages import C_FAMILY, SCRIPTS, family, language_of
from repopilot.code.syntax import ancestors
from repopilot.index.manifests import every_manifest
from repopilot.index.store import Index
from repopilot.project.manifest import is_manifest
from repopilot.resolve.syntax.node_roles import (
    GENERIC,
    class_around,
    embedded_types,
    heritage_clauses,
    is_before_body,
    is_closed,
    is_destructured,
    is_exported,
    is_loose,
    is_property,
    is_static,
    is_switch,
    is_type,
    may_export,
    name_in,
    namespace_of,
    package_of,
    qualified_name,
    qualifier_of,
    receiver_of,
    record_given,
    value_of,
)
from repopilot.resolve.syntax.syntax_source import (
    OF_PROTOTYPE,
    Declaration,
    SyntaxSource,
    Word,
    children,
    constructor_around,
    constructor_given,
    is_exports,
    parsed,
    prototype_of,
)
from repopilot.resolve.syntax.written_types import WrittenTypes
from repopilot.resolve.values import Meaning, NameSpan, Occurrence, Resolved

Key = tuple
"""An entity: a top-level name of a unit, a member of another, a local name, a module."""
Found = Key | str | None
"""What a name means: an entity of the repository, the name of something outside of it, or None where that isn't
known."""

DEPTH = 8
_NAMESPACED = ("java", "csharp", "php")
"""Languages in which a file declares the package or namespace that its names belong to."""
_WRITTEN = ("subscript_expression", "satisfies_expression")
"""Expressions whose types are only known by TypeScript's rules."""
SHORTHANDS = frozenset(
    "shorthand_property_identifier shorthand_property_identifier_pattern shorthand_field_identifier".split()
)
"""Names that stand for a member and for a value of that name."""
_OWN = frozenset(
    "labeled_statement.label break_statement.label continue_statement.label labeled_statement. break_statement. "
    "continue_statement. goto_statement.label named_label_statement. goto_statement. package_clause. argument.name "
    "package_header. namespace_name.".split()
)
_SELF = frozenset(("this", "self", "this_expression", "self_expression", "relative_scope"))
_PARENTS = frozenset(("super", "base", "parent", "super_expression"))
_LITERAL = re.compile(r"(?:_literal|_string|^string|^number|^array|^regex|^integer|^float|^hash|_array_expression)$")
_WRAPPED = frozenset(
    "parenthesized_expression non_null_expression unary_expression pointer_expression reference_expression "
    "await_expression literal_element expression_list".split()
)
_TYPE_WRAPPED = frozenset(
    "type_annotation reference_type pointer_type optional_type nullable_type named_type type_descriptor "
    "parenthesized_type user_type readonly_type dynamic_type abstract_type".split()
)
_TYPE_FIELDS = ("type", "return_type", "result", "returns")
_CREATIONS = {
    "new_expression": ("constructor", "type"),
    "object_creation_expression": ("type",),
    "composite_literal": ("type",),
    "struct_expression": ("name",),
    "struct_pattern": ("type",),
    "compound_literal_expression": ("type",),
}
_PATHS = frozenset(
    "scoped_identifier.name scoped_type_identifier.name qualified_identifier.name "
    "qualified_type.name qualified_name.name "
    "scoped_type_identifier. qualified_name.".split()
)
"""Where a name is looked up in a module or a type, never in an object."""
_PARAMETERS = ("required_parameter", "optional_parameter")
_GIVING = frozenset(
    "parenthesized_expression arrow_function function_expression statement_block return_statement arguments".split()
)
"""Nodes between a call and an object that a function passed to it returns."""
_NAMING = ("variable_declarator", "type_definition")
"""Nodes that name an anonymous class or structure."""
_CONSTRUCTORS = frozenset(
    "constructor_declaration.name destructor_declaration.name compact_constructor_declaration.name".split()
)


@dataclass(frozen=True, slots=True)
class NameUse:
    """An occurrence of a name, and what it means.

    Attributes:
        source: the file.
        word: the place.
        found: what it means; for a shorthand, what the value means.
        member: whether it is looked up in an object, so that it can be a member of something unknown.
        key: what a shorthand's member means; None for other occurrences, or where that isn't known.
        declares: whether it is the declaration of `found`.
    """

    source: SyntaxSource
    word: Word
    found: Found
    member: bool = False
    key: Found = None
    declares: bool = False

    @property
    def occurrence(self) -> Occurrence:
        """The occurrence."""
        source = self.source
        start = self.word.start
        line = source.data.count(b"\n", 0, start) + 1
        span = NameSpan(source.path, *source.characters(start, self.word.end))
        return Occurrence(span, line, source.lines[line - 1], "code")

    @property
    def is_shorthand(self) -> bool:
        """Whether it stands for a member and a value at once."""
        row = self.source.row(self.word.node)
        return self.word.node.type in SHORTHANDS or row == "shorthand_field_initializer."


class SyntaxResolver:
    """Resolves names of one state of a repository.

    Args:
        text: gives the text of a file, None for none.
        holding: gives the code files that hold a name.
        index: an index of the files, perhaps from before a few edits.
    """

    def __init__(
        self, text: Callable[[str], str | None], holding: Callable[[str], Collection[str]], index: Index
    ) -> None:
        self._text = text
        self.holding = holding
        self._index = index
        self._lookup = index.derived(_lookup)
        self._sources: dict[str, list[SyntaxSource]] = {}
        self._keys: dict[str, dict[Key, list[tuple[SyntaxSource, Declaration]]]] = {}
        self._resolving: set[tuple[str, int, str]] = set()
        self._meanings: dict[str, list[Resolved]] = {}
        self._written = WrittenTypes(self)
        self._locals: dict[tuple[str, str], dict[Found, list[tuple[SyntaxSource, Declaration]]]] = {}

    def meanings(self, name: str) -> list[Resolved]:
        """What each occurrence of a name in code means. Blocking."""
        if name not in self._meanings:
            known = self.keys(name).items()
            places = {key: frozenset(_span(source, each.name) for source, each in there) for key, there in known}
            self._meanings[name] = [Resolved(use.occurrence, _meaning(use, places)) for use in self.uses(name)]
        return self._meanings[name]

    def uses(self, name: str) -> list[NameUse]:
        """Every place of a name in code, resolved. Blocking."""
        return [self._use(source, word) for source in self.sources(name) for word in source.words(name)]

    def sources(self, name: str) -> list[SyntaxSource]:
        """The files of languages with rules that hold a name."""
        if name not in self._sources:
            found = (self.source(path) for path in self.holding(name))
            self._sources[name] = [source for source in found if source is not None]
        return self._sources[name]

    def source(self, path: str) -> SyntaxSource | None:
        """A parsed file; None where it doesn't exist or its language has no rules."""
        text = self._text(path)
        return parsed(path, text) if text is not None else None

    def whole_imports(self, path: str) -> Iterator[tuple[SyntaxSource, str | Node]]:
        """The files that import a JavaScript module as one object, with its local name, or the call that imports it."""
        for file in self._lookup.files:
            items = file.imports if family(file.language) == "js" else ()
            if any(path in self.files_of(file.path, item) for item in items) and (source := self.source(file.path)):
                for item, statement in source.imports:
                    called = statement.type == "call_expression"
                    if (not item.names or ("*", "*") in item.names) and path in self.files_of(file.path, item):
                        yield from [(source, item.alias or statement)] if item.alias or called else ()

    def keys(self, name: str) -> dict[Key, list[tuple[SyntaxSource, Declaration]]]:
        """The entities declared under a name, with their places; imports are left out."""
        if name not in self._keys:
            found = self._keys[name] = {}
            for source in self.sources(name):
                for each in source.declared(name):
                    key = self.key_of(source, each) if not source.import_at(each.name) else None
                    if isinstance(key, tuple):
                        found.setdefault(key, []).append((source, each))
        return self._keys[name]

    # Declarations

    def key_of(self, source: SyntaxSource, declaration: Declaration) -> Found:
        """The entity that a declaration declares; for an import, what it imports."""
        name = source.text_of(declaration.name)
        scope = declaration.scope
        space = declaration.space
        if imports := source.import_at(declaration.name):
            return self._bound(source, imports, name)
        if declaration.row in _CONSTRUCTORS:
            return self.class_key(source, scope)
        owner: Found
        outer = declaration.holder.parent
        if outer is not None and outer.type == "friend_declaration":
            return ("top", self._unit(source, scope), name, space)
        if declaration.holder.type in _PARAMETERS and is_property(declaration.holder):
            scope = next((each for each in ancestors(scope) if each.type == "class_body"), scope)
        if declaration.row == "enumerator.name":
            scope = next((each for each in ancestors(declaration.name) if is_closed(each)), scope)
        if declaration.row == "formal_parameter.name":
            scope = record_given(source, declaration) or scope
        if self._names_owner(source, declaration):
            owner = self._named_owner(source, declaration)
            if owner is not None and owner[0] == "module":
                return ("top", owner[1], name, space)
        else:
            has_members = scope.type in source.rules.classes or is_closed(scope)
            blanket = scope.type == "impl_item" and declaration.row == "type_parameter.name"
            owner = self.class_key(source, scope) if has_members and not blanket else ()
        if not isinstance(owner, tuple):
            return owner
        if owner:
            own = owner[-2] == name and source.language == "cpp"
            return owner if own else ("member", owner, name, space)
        if scope.type in source.rules.files:
            return ("top", self._unit_at(source, declaration), name, space)
        return ("local", source.path, scope.start_byte, scope.end_byte, name, space)

    def _names_owner(self, source: SyntaxSource, declaration: Declaration) -> bool:
        """Whether a declaration stands outside of its class and names it, as methods of Go and C++ do."""
        method = source.language == "go" and declaration.row == "method_declaration.name"
        return method or declaration.row == OF_PROTOTYPE or qualified_name(declaration.name) is not None

    def _named_owner(self, source: SyntaxSource, declaration: Declaration) -> Key | None:
        qualified = qualified_name(declaration.name)
        scope = qualified.child_by_field_name("scope") if qualified is not None else None
        made = constructor_given(source, declaration.name) if declaration.row == OF_PROTOTYPE else None
        if scope is not None:
            owner = self.of_expression(source, scope)
        elif made is not None:
            owner = self.entity(source, made[0])
        else:
            receiver = declaration.holder.child_by_field_name("receiver")
            kinds = [each.child_by_field_name("type") for each in receiver.named_children] if receiver else []
            owner = self.type_of(source, kinds[0]) if kinds and kinds[0] else None
        return owner if isinstance(owner, tuple) else None

    def class_key(self, source: SyntaxSource, scope: Node) -> Found:
        """The class whose members a scope declares."""
        own_name = scope.type != "enum_body" and scope.child_by_field_name("name")
        holder = scope if own_name or scope.type == "impl_item" else scope.parent
        if holder is None:
            return None
        if holder.type == "impl_item":
            kind = holder.child_by_field_name("type")
            return self.type_of(source, kind) if kind is not None else None
        name = holder.child_by_field_name("name")
        naming = [each for each in (holder, holder.parent) if each is not None and each.type in _NAMING]
        if name is None and naming:
            name = naming[0].child_by_field_name("name") or naming[0].child_by_field_name("declarator")
        declaration = source.declaration(name) if name is not None else None
        own: Key = ("own", source.path, scope.start_byte, "", "")
        return self.key_of(source, declaration) if declaration is not None else own

    def _unit_at(self, source: SyntaxSource, declaration: Declaration) -> str:
        static = source.language in C_FAMILY and is_static(source, declaration.holder)
        return f"c:{source.path}" if static else self._unit(source, declaration.scope)

    def _unit(self, source: SyntaxSource, at: Node) -> str:
        """The unit within which top-level names are shared without imports: a module, a package, a namespace."""
        inner = [source.text_of(name) for each in (at, *ancestors(at)) if (name := namespace_of(each)) is not None]
        if source.language in _NAMESPACED:
            return f"{source.language}:{'.'.join([*package_of(source), *reversed(inner)])}"
        if source.language == "go":
            package = next((source.text_of(c) for c in source.root.named_children if c.type == "package_clause"), "")
            return f"go:{posixpath.dirname(source.path)}:{'test' if package.endswith('_test') else ''}"
        if source.language in C_FAMILY:
            return "::".join(["c:", *reversed(inner)])
        if source.language == "rust":
            return "::".join([source.path, *reversed(inner)])
        if source.language == "ruby":
            return "ruby"
        return source.path if source.imports or may_export(source) else "scripts"

    # Uses

    def _use(self, source: SyntaxSource, word: Word) -> NameUse:
        node = word.node
        name = source.data[word.start : word.end].decode()
        if word.raw:
            if name in source.parameters_of_macro(node):
                return NameUse(source, word, ("own", source.path, word.start))
            at = source.root if node.type == "preproc_arg" else node
            return NameUse(source, word, self.plain(source, at, name, ""))
        if any(each.is_error for each in ancestors(node)):
            return NameUse(source, word, None, member=True)
        return self._parsed_use(source, word, name)

    def _parsed_use(self, source: SyntaxSource, word: Word, name: str) -> NameUse:
        node = word.node
        row = source.row(node)
        declaration = source.declaration(node)
        if declaration is not None and is_loose(source, declaration):
            return NameUse(source, word, self._shorthand_key(source, node, name), member=True)
        if declaration is not None:
            apart = declaration.row in ("method_declaration.name", OF_PROTOTYPE)
            member = apart or declaration.scope.type in source.rules.classes
            key = self._shorthand_key(source, node, name)
            return NameUse(source, word, self.key_of(source, declaration), member, key, declares=True)
        if row in _OWN or node.type in ("statement_identifier", "label_name", "simple_symbol"):
            return NameUse(source, word, ("own", source.path, word.start))
        if row == "shorthand_field_initializer." or node.type in SHORTHANDS:
            key = self._shorthand_key(source, node, name)
            return NameUse(source, word, self.plain(source, node, name, ""), False, key)
        if row in ("import_specifier.name", "export_specifier.alias"):
            imports = source.import_at(node)
            first = node.parent.child_by_field_name("name") if node.parent is not None else None
            found = self._imported(source, imports[0], source.text_of(first or node)) if imports else None
            return NameUse(source, word, found if imports else ("own", source.path, word.start))
        if row == "export_specifier.name" and (imports := source.import_at(node)):
            return NameUse(source, word, self._imported(source, imports[0], name))
        if row == "member_expression.property" and is_exports(source, receiver_of(source, node, row)[1]):
            return NameUse(source, word, self._exported(source, name, 0), member=True)
        if node.type == "property_identifier" and row in ("pair.key", "pair_pattern.key", "method_definition.name"):
            return NameUse(source, word, self._shorthand_key(source, node, name), member=True)
        if (not source.rules.structural or source.language == "php") and (imports := source.import_at(node)):
            return NameUse(source, word, self._in_import(source, imports, name))
        if row == "qualified_name." and source.language == "php":
            return NameUse(source, word, self._qualified(source, node, name))
        return self._looked_up_use(source, word, name, row)

    def _looked_up_use(self, source: SyntaxSource, word: Word, name: str, row: str) -> NameUse:
        node = word.node
        if row in _PATHS and source.language == "rust" and source.text_of(node.parent or node).startswith("crate::"):
            return NameUse(source, word, self._crate_path(source, node, name))
        if row == "switch_label.":
            subject = next((each.child_by_field_name("condition") for each in ancestors(node) if is_switch(each)), None)
            owner = self.of_expression(source, subject) if subject is not None else None
            return NameUse(source, word, self._member_of(owner, name, ""), member=True)
        looked_up = self._looked_up_in(source, node, row)
        if looked_up is not None:
            found = self._member_of(looked_up, name, source.space(node))
            return NameUse(source, word, found, member=found is not None or not self._is_path(source, node, row))
        return NameUse(source, word, self.plain(source, node, name, source.space(node)), member=row.startswith("call."))

    def _in_import(self, source: SyntaxSource, imports: list[Import], name: str) -> Found:
        """What a name in an import statement means: the imported entity, or a part of the path."""
        for item in imports:
            for old, new in item.names:
                if name in (old, new):
                    return self._imported(source, item, old)
            *outer, last = re.split(r"\W+", item.module)
            if name in outer or (name == last and source.language not in _NAMESPACED):
                return None
            if name == last:
                return self._of_package(source.language, ".".join(outer), name)
        return self._bound(source, imports, name)

    def _qualified(self, source: SyntaxSource, node: Node, name: str) -> Found:
        """What a qualified name of PHP means, from the root or from the file's namespace."""
        text = source.text_of(node.parent or node)
        package = text.rpartition("\\")[0].strip("\\").replace("\\", ".")
        own = "" if text.startswith("\\") else ".".join(package_of(source))
        return self._of_package("php", f"{own}.{package}".strip("."), name)

    def _looked_up_in(self, source: SyntaxSource, node: Node, row: str) -> Found | tuple[()]:
        """The entity that a name is looked up in, () where that isn't known; None for a name without a receiver."""
        member, receiver = receiver_of(source, node, row)
        if not member:
            return None
        return self.of_expression(source, receiver) or () if receiver is not None else ()

    def _is_path(self, source: SyntaxSource, node: Node, row: str) -> bool:
        """Whether the receiver of a name may be a module or a package."""
        _, receiver = receiver_of(source, node, row)
        if row in _PATHS or receiver is None:
            return row in _PATHS
        text = source.text_of(receiver)
        return text.isidentifier() and self.plain(source, receiver, text, source.space(receiver)) is None

    def _crate_path(self, source: SyntaxSource, node: Node, name: str) -> Found:
        """What a Rust path from the crate means."""
        module = source.text_of(node.parent).rpartition("::")[0] if node.parent is not None else ""
        return self._imported(source, Import(module, ((name, name),), 1), name)

    def _member_of(self, owner: Found | tuple[()], name: str, space: str) -> Found:
        if owner == () or owner is None or isinstance(owner, str):
            return owner or None
        if owner[0] == "module":
            return self._of_module(owner[1], name, space)
        return self.member(owner, name, space)

    def _shorthand_key(self, source: SyntaxSource, node: Node, name: str) -> Found:
        """What a key in an object, a pattern or a structure means."""
        for each in ancestors(node):
            if each.type in ("struct_expression", "struct_pattern"):
                kind = each.child_by_field_name("name") or each.child_by_field_name("type")
                owner = self.type_of(source, kind) if kind is not None else None
                return self._member_of(owner, name, "field")
            if each.type == "object" and source.rules.structural:
                exported = each.parent is not None and is_exports(source, each.parent.child_by_field_name("left"))
                module = source if exported else self._stood_in_for(source, each)
                return self._exported(module, name, 0) if module is not None else None
            if each.type == "variable_declarator" and (imports := source.import_at(node)):
                return self._imported(source, imports[0], name)
        return None

    def _stood_in_for(self, source: SyntaxSource, made: Node) -> SyntaxSource | None:
        """The module that an object replaces, as in `jest.mock("./cart", () => ({ … }))`."""
        call = next((each for each in ancestors(made) if each.type not in _GIVING), made)
        path = self._module_given(source, call) if call.type == "call_expression" else None
        return self.source(path) if path is not None else None

    def _module_given(self, source: SyntaxSource, call: Node) -> str | None:
        """The file of the module whose path is the first argument of a JavaScript call."""
        arguments = call.child_by_field_name("arguments")
        first = next(iter(arguments.named_children), None) if arguments is not None else None
        if first is not None and first.type == "call_expression":
            return self._module_given(source, first)
        module = source.text_of(first).strip("'\"`") if first is not None and first.type == "string" else ""
        local = module.startswith(".") and source.rules.structural
        return next(iter(self.files_of(source.path, Import(module, (), 1))), None) if local else None

    def plain(self, source: SyntaxSource, at: Node, name: str, space: str) -> Found:
        """What a name without a receiver means at a node."""
        *hiding, found = self._around(source, at, name, space)
        if not hiding:
            return found or None
        if isinstance(found, tuple) and found:
            member = found[0] == "member" or space == "call" or source.language == "cpp"
            return None if member else found
        return hiding[0] or None

    def _around(self, source: SyntaxSource, at: Node, name: str, space: str) -> Iterator[Found | tuple[()]]:
        """Yield the meaning of a name last; before it, any members of outside or unknown bases that may hide it."""
        rules = source.rules
        inner = source.declared_in(name)
        for scope in (at, *ancestors(at)):
            if scope.type not in rules.scopes or is_before_body(scope, at, rules.classes):
                continue
            within = (d for d in inner.get(scope.id, ()) if d.space == space and not qualified_name(d.name))
            here = [d for d in within if source.visible(d, at.start_byte)]
            if here and (rules.implicit or scope.type not in rules.classes or here[0].row.startswith("type_parameter")):
                yield self.key_of(source, here[-1])
                return
            found = self._held(source, scope, name, space)
            yield from [found] if found is not None else []
            if isinstance(found, tuple) and found:
                return
        if source.language == "php" and space == "variable":
            yield ("local", source.path, 0, 0, name, space)
        else:
            yield self._beyond(source, at, name, space)

    def _held(self, source: SyntaxSource, scope: Node, name: str, space: str) -> Found | tuple[()]:
        """A member that is named without a receiver, within its class or within a C++ method defined outside of the
        class."""
        found = None
        if source.rules.implicit and scope.type in source.rules.classes:
            found = self._inherited(source, scope, name, space)
        if found is None and source.language == "cpp" and scope.type == "function_definition":
            owner = qualifier_of(scope)
            key = self.of_expression(source, owner) if owner else None
            found = self.member(key, name, space) if isinstance(key, tuple) else None
        return found

    def _inherited(self, source: SyntaxSource, scope: Node, name: str, space: str) -> Found | tuple[()]:
        """A member, own or inherited, of the class around a name; () where an unknown base may have it."""
        owner = self.class_key(source, scope)
        found = self.member(owner, name, space) if isinstance(owner, tuple) else None
        if found is not None or not isinstance(owner, tuple):
            return found
        open_ = any(not isinstance(base, tuple) for base in self.bases(owner))
        return () if open_ and (space == "call" or source.language == "cpp") else None

    def _beyond(self, source: SyntaxSource, at: Node, name: str, space: str) -> Found:
        """What a name that no scope of the file declares means: by imports, the package, star imports; else a name of
        the language itself."""
        for item, _ in source.imports:
            if name in item.bound:
                return self._bound(source, [item], name)
        tops = {key[1]: key for key in self.keys(name) if key[0] == "top" and key[3] == space}
        if source.language in C_FAMILY:
            return self._included(source, self._unit(source, at), tops, name)
        for unit in self._visible_units(source, at, space):
            if unit in tops:
                return tops[unit]
        if source.language == "ruby":
            return tops.get("ruby")
        stars = [item for item, _ in source.imports if ("*", "*") in item.names]
        for item in stars:
            target = self.files_of(source.path, item)
            found = next((f for path in target[:1] if isinstance(f := self._of_module(path, name, space), tuple)), None)
            if found is not None:
                return found
            if not target and tops and source.language in ("rust", "go", "csharp"):
                return None
        hidden = source.language == "csharp" and tops
        return None if hidden else source.language

    def _visible_units(self, source: SyntaxSource, at: Node, space: str) -> Iterator[str]:
        unit = self._unit(source, at)
        yield unit
        if source.language in ("java", "csharp"):
            kind, _, package = unit.partition(":")
            while source.language == "csharp" and package:
                package = package.rpartition(".")[0]
                yield f"{kind}:{package}"
            yield from (f"{kind}:{item.module}" for item, _ in source.imports if ("*", "*") in item.names)
        elif source.language == "php" and space == "function":
            yield "php:"

    def _included(self, source: SyntaxSource, unit: str, tops: dict[str, Key], name: str) -> Found:
        """What a name of C means: a declaration in the file or a header that it includes; None where it is declared
        elsewhere and may be linked."""
        usings = re.findall(rb"\busing\s+(?:namespace\s+([\w:]+)|([\w:]+)::(\w+))\s*;", source.data)
        named = [(space or scope).decode() for space, scope, last in usings if space or last.decode() == name]
        units = ["c:", *(f"c:::{each}" for each in named)]
        while unit not in units:
            units.append(unit)
            unit = unit.rpartition("::")[0] or "c:"
        seen: set[str] = set()
        todo = [source]
        while todo and len(seen) < 1000:
            one = todo.pop()
            seen.add(one.path)
            here = {*units, f"c:{one.path}"}
            for each in here & set(tops):
                if any(place.path == one.path for place, _ in self.keys(name)[tops[each]]):
                    return tops[each]
            found = (self.source(path) for item, _ in one.imports for path in self.files_of(one.path, item))
            todo += [each for each in found if each is not None and each.path not in seen]
        return None if tops else source.language

    # Imports

    def files_of(self, path: str, item: Import) -> list[str]:
        """The files that an import of a file refers to."""
        target = target_of(self._lookup, path, language_of(path) or "", item)
        return [self._lookup.files[number].path for number in target.files]

    def _bound(self, source: SyntaxSource, imports: list[Import], name: str) -> Found:
        """What a local name bound by imports means."""
        for item in imports:
            for old, new in item.names:
                if new == name:
                    return self._imported(source, item, old)
            if item.alias == name:
                files = self.files_of(source.path, item)
                whole = (
                    self._exported(first, "", 0)
                    if files and not item.names and (first := self._script(files[0]))
                    else None
                )
                return whole or ("module", self._module(source, files)) if files else self._absent(source, item)
        return None

    def _script(self, path: str) -> SyntaxSource | None:
        found = self.source(path)
        return found if found is not None and found.language in SCRIPTS else None

    def _module(self, source: SyntaxSource, files: list[str]) -> str:
        first = self.source(files[0])
        return self._unit(first, first.root) if first is not None and source.language == "go" else files[0]

    def _imported(self, source: SyntaxSource, item: Import, name: str) -> Found:
        files = self.files_of(source.path, item)
        language = source.language
        if language in _NAMESPACED:
            return self._of_package(language, item.module.replace("\\", "."), name)
        outer = not files or files == [source.path]
        if language == "rust" and outer and item.module.partition("::")[0] not in ("crate", "self", "super"):
            inner = self._nested(source, item.module)
            return self._of_module(inner, name, "") if inner else item.module
        if not files:
            return self._absent(source, item)
        if language == "rust" and re.search(rf"(?:^|/){name}(?:/mod)?\.rs$", files[-1]):
            return ("module", files[-1])
        return self._of_module(files[0], name, "")

    def _nested(self, source: SyntaxSource, module: str) -> str:
        """The unit of a module declared in the file itself, '' for others."""
        first, *rest = module.split("::")
        return (
            "::".join([source.path, first, *rest])
            if any(d.row == "mod_item.name" for d in source.declared(first))
            else ""
        )

    def _absent(self, source: SyntaxSource, item: Import) -> Found:
        """What an import without files means: the outside module; None where it should be in the repository."""
        local = item.module.startswith((".", "/", "@/", "~", "#", "crate", "self", "super"))
        aliased = source.rules.structural and any(item.module.startswith(a) for a in self._index.derived(_aliases))
        go_own = source.language == "go" and any(item.module.startswith(module) for module in self._lookup.go)
        return None if local or aliased or go_own else item.module

    def _of_package(self, language: str, package: str, name: str) -> Found:
        """What a name in a package means: a class, a function, or a member of the class that ends the package's
        path."""
        spaces = ("", "function", "call")
        keys = self.keys(name)
        for space in spaces:
            if (key := ("top", f"{language}:{package}", name, space)) in keys:
                return key
        outer, _, owner = package.rpartition(".")
        holder = ("top", f"{language}:{outer}", owner, "")
        if owner and holder in self.keys(owner):
            return next((found for space in spaces if (found := self.member(holder, name, space)) is not None), None)
        known = any(each in (package, package.replace(".", "\\")) for each in self._lookup.by_package)
        outside = f"{package}.{name}" if language == "java" else package
        return None if known else outside or language

    def _of_module(self, unit: str, name: str, space: str, depth: int = 0) -> Found:
        """What a module provides under a name: an export, or any declaration in languages where all are public."""
        tops = [key for key in self.keys(name) if key[0] == "top" and key[1] == unit]
        fitting = [key for key in tops if key[3] == space] or tops
        source = self.source(unit)
        if source is not None and source.rules.structural and source.language != "php":
            return self._exported(source, name, depth)
        if fitting:
            return fitting[0]
        path = unit.partition("::")[0]
        inner = self.source(path)
        mark = (path, -1, name)
        if inner is None or inner.language != "rust" or mark in self._resolving:
            return None  # also where modules import a name from each other
        items = [item for item, _ in inner.imports if name in item.bound]
        self._resolving.add(mark)
        try:
            return self._bound(inner, items[:1], name)
        finally:
            self._resolving.discard(mark)

    def _exported(self, source: SyntaxSource, name: str, depth: int) -> Found:
        """What a module of JavaScript exports under a name."""
        if depth > DEPTH:
            return None
        for node in source.root.named_children:
            found = self._export(source, node, name, depth)
            if found is not None:
                return found
        keys = [d for d in source.declared(name) if d.scope == source.root and is_exported(d.name)]
        return self.key_of(source, keys[0]) if keys else None

    def _export(self, source: SyntaxSource, node: Node, name: str, depth: int) -> Found:
        """What one statement exports under a name."""
        if node.type == "expression_statement":
            return self._common_export(source, node.named_children[0] if node.named_children else node, name)
        if node.type != "export_statement":
            return None
        origin = [item for item, statement in source.imports if statement == node]
        for clause in children(node, ("export_clause",)):
            for each in clause.named_children:
                own = each.child_by_field_name("name")
                if own is None or source.text_of(each.child_by_field_name("alias") or own) != name:
                    continue
                old = source.text_of(own)
                return self._imported(source, origin[0], old) if origin else self.plain(source, own, old, "")
        value = node.child_by_field_name("value")
        if name == "default" and any(child.type == "default" for child in node.children):
            declared = node.child_by_field_name("declaration")
            own = value or (declared.child_by_field_name("name") if declared is not None else None)
            return (
                self.plain(source, own, source.text_of(own), "")
                if own is not None and "identifier" in own.type
                else None
            )
        star = origin and not children(node, ("export_clause", "namespace_export"))
        inner = (
            self.source(self.files_of(source.path, origin[0])[0])
            if star and self.files_of(source.path, origin[0])
            else None
        )
        return self._exported(inner, name, depth + 1) if inner is not None else None

    def _common_export(self, source: SyntaxSource, node: Node, name: str) -> Found:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if left is None or right is None:
            return None
        if is_exports(source, left):
            if right.type == "identifier" and name in ("default", ""):
                return self.plain(source, right, source.text_of(right), "")
            for each in right.named_children if right.type == "object" else ():
                key = each.child_by_field_name("key")
                value = each.child_by_field_name("value")
                if each.type == "shorthand_property_identifier" and source.text_of(each) == name:
                    return self.plain(source, each, name, "")
                if key is not None and value is not None and source.text_of(key) == name and value.type == "identifier":
                    return self.plain(source, value, source.text_of(value), "")
        property_ = left.child_by_field_name("property")
        if (
            property_ is not None
            and source.text_of(property_) == name
            and is_exports(source, left.child_by_field_name("object"))
        ):
            same = right.type == "identifier" and source.text_of(right) == name
            return self.plain(source, right, name, "") if same else ("top", self._unit(source, node), name, "")
        return None

    # Types

    def member(self, owner: Key, name: str, space: str, depth: int = 0) -> Found:
        """The member of a class, its own or inherited."""
        own = ("member", owner, name, space)
        if own in self.keys(name):
            return own
        if depth > DEPTH:
            return None
        there = [each for _, each in self.places(owner)]
        if any(each.holder.type == "enum_specifier" for each in there):
            return self._known((*owner[:2], name, space))
        if space == "call" and any(each.holder.type == "record_declaration" for each in there):
            component = self._known(("member", owner, name, ""))
            if component is not None:
                return component
        bases = self.bases(owner)
        embedded = [base for base in bases if isinstance(base, tuple) and base[0] == "top" and base[2] == name]
        if embedded and embedded[0][1].startswith("go:"):
            return embedded[0]
        found = [self.member(base, name, space, depth + 1) if isinstance(base, tuple) else base for base in bases]
        inside = next((each for each in found if isinstance(each, tuple)), None)
        if inside is not None or not found:
            return inside
        return None if None in found else found[0]

    def _known(self, key: Key) -> Key | None:
        return key if key in self.keys(key[2]) else None

    def bases(self, owner: Key) -> list[Found]:
        """What a class extends, implements or embeds."""
        found: list[Found] = []
        for source, declaration in self.places(owner):
            holder = declaration.holder
            for clause in heritage_clauses(holder):
                found += [self.type_of(source, each) for each in clause.named_children if each.type not in _NO_BASES]
            body = holder.child_by_field_name("type")
            for field in embedded_types(body) if source.language == "go" and body is not None else ():
                found.append(self.type_of(source, field))
        for source, impl in self._impls(owner):
            trait = impl.child_by_field_name("trait")
            found += [self.type_of(source, trait)] if trait is not None else []
        return [each for each in found if each != owner]

    def _impls(self, owner: Key) -> list[tuple[SyntaxSource, Node]]:
        """The `impl` blocks of a type of Rust."""
        if owner[0] not in ("top", "local") or not owner[-2]:
            return []
        found = []
        for source in self.sources(owner[2]) if owner[0] == "top" else ():
            if source.language == "rust":
                for word in source.words(owner[2]):
                    impl = next((each for each in ancestors(word.node) if each.type == "impl_item"), None)
                    kind = impl.child_by_field_name("type") if impl is not None else None
                    if impl is not None and kind is not None and kind.start_byte <= word.start < kind.end_byte:
                        found.append((source, impl))
        return [(source, impl) for source, impl in found if self.class_key(source, impl) == owner]

    def places(self, key: Key) -> list[tuple[SyntaxSource, Declaration]]:
        """Where an entity is declared."""
        if key[0] in ("own", "module"):
            return []
        name = key[2] if key[0] in ("top", "member") else key[-2]
        if key[0] != "local":
            return self.keys(name).get(key, [])
        if (key[1], name) not in self._locals:
            found = self._locals[key[1], name] = {}
            if (source := self.source(key[1])) is not None:
                for each in source.declared(name):
                    found.setdefault(self.key_of(source, each), []).append((source, each))
        return self._locals[key[1], name].get(key, [])

    def of_expression(self, source: SyntaxSource, node: Node) -> Found:
        """The class of an expression's value, or the module or class that the expression names."""
        mark = (source.path, node.start_byte, node.type)
        if mark in self._resolving or len(self._resolving) > 50:
            return None
        self._resolving.add(mark)
        try:
            return self._of(source, node)
        finally:
            self._resolving.discard(mark)

    def _of(self, source: SyntaxSource, node: Node) -> Found:
        text = source.text_of(node)
        of = constructor_around(source, node) if node.type == "this" else prototype_of(source, node)
        script = source.language in SCRIPTS
        if of is not None and script:
            return self.entity(source, of)
        if node.type in _SELF or (text in ("$this", "Self", "self") and not script):
            holder = class_around(source, node)
            return ("module", self._unit(source, node)) if holder is None else self.class_key(source, holder)
        if node.type in _PARENTS or text in _PARENTS:
            holder = class_around(source, node)
            key = self.class_key(source, holder) if holder is not None else None
            bases = self.bases(key) if isinstance(key, tuple) else []
            return bases[0] if len(bases) == 1 else None
        if _LITERAL.search(node.type) and node.type not in _CREATIONS:
            return node.type
        if node.type in _CREATIONS:
            kinds = [node.child_by_field_name(field) for field in _CREATIONS[node.type]]
            kind = next((each for each in kinds if each is not None), next(iter(node.named_children), None))
            return self.type_of(source, kind) if kind is not None else None
        if node.type in _WRITTEN and source.language in SCRIPTS:
            return self._written.class_of(self._written.of(source, node))
        if node.type in _WRAPPED and node.named_children:
            found = self.of_expression(source, node.named_children[-1])
            promised = node.type == "await_expression" and source.language in SCRIPTS and not _is_module(found)
            return self._written.class_of(self._written.of(source, node)) if promised else found
        if node.type == "cast_expression" or node.type == "as_expression":
            kind = node.child_by_field_name("type") or node.named_children[-1]
            return self.type_of(source, kind)
        if node.type in ("call_expression", "method_invocation", "invocation_expression"):
            return self._result(source, node)
        found = self.entity(source, node)
        package = text.replace("::", ".")
        if not isinstance(found, tuple) and source.language in ("java", "csharp") and self._is_package(package):
            return ("module", f"{source.language}:{package}")
        return self._value(found) if isinstance(found, tuple) else found

    def entity(self, source: SyntaxSource, node: Node, space: str | None = None) -> Found:
        """What the last name of an expression or a type means, in a namespace or that of its place."""
        name, row = name_in(source, node)
        if name is None:
            return None
        looked_up = self._looked_up_in(source, name, row)
        text = source.text_of(name)
        space = source.space(name) if space is None else space
        return self.plain(source, name, text, space) if looked_up is None else self._member_of(looked_up, text, space)

    def _is_package(self, name: str) -> bool:
        return any(each == name or each.startswith(f"{name}.") for each in self._lookup.by_package)

    def _result(self, source: SyntaxSource, call: Node) -> Found:
        """The class of a call's result: its function's result type, or the class that is called."""
        function = call.child_by_field_name("function") or call
        imports = source.import_at(call) if source.rules.structural else []
        if imports:
            files = self.files_of(source.path, imports[0])
            return ("module", files[0]) if files else self._absent(source, imports[0])
        if (given := self._module_given(source, call)) is not None:
            return ("module", given)
        if source.text_of(function) in ("require", "import"):
            return None
        found = self.entity(source, function)
        if isinstance(found, tuple) and source.language in SCRIPTS:
            return self._written.class_of(self._written.of(source, call))
        if not isinstance(found, tuple):
            return found if isinstance(found, str) and not self._is_given_ours(source, call) else None
        kinds = [self._declared_type(place, each) for place, each in self.places(found)]
        if found[0] == "top" and source.language == "cpp" and not any(kinds):
            return found
        return kinds[0] if len(set(kinds)) == 1 else None

    def _is_given_ours(self, source: SyntaxSource, call: Node) -> bool:
        """Whether a JavaScript call gets an object or a class of the repository, which it may return."""
        given = call.child_by_field_name("arguments") if source.language in SCRIPTS else None
        found = (self.of_expression(source, each) for each in (given.named_children if given is not None else ()))
        return any(isinstance(each, tuple) and not _is_module(each) for each in found)

    def _of_outside(self, source: SyntaxSource, generic: Node, found: Found) -> Found:
        """The class of a generic type from outside; None where a type argument is of the repository and may be reached
        through it."""
        if source.language not in ("rust", "cpp"):
            return found
        holders = [each for each in generic.named_children if "arguments" in each.type]
        held = [self.type_of(source, each) for holder in holders for each in holder.named_children]
        return found if all(isinstance(each, str) for each in held) else None

    def _value(self, found: Key) -> Found:
        """The class of an entity's value; classes and modules stand for themselves."""
        if found[0] == "module":
            return found
        there = self.places(found)
        inner = next((each for _, each in there if each.holder.type in ("namespace_definition", "mod_item")), None)
        if inner is not None:
            return ("module", f"{found[1]}::{found[2]}")
        if any(is_type(each.holder) for _, each in there):
            return found
        kinds = {self._declared_type(source, each) for source, each in there}
        return kinds.pop() if len(kinds) == 1 else None

    def _declared_type(self, source: SyntaxSource, declaration: Declaration) -> Found:
        """The class of what a declaration declares, by its type or its value."""
        holder = declaration.holder
        whole = not is_destructured(declaration)
        around = (
            (holder, holder.parent)
            if holder.parent is not None and re.search("declarator|_element", holder.type)
            else (holder,)
        )
        kinds = [
            kind for node in around for field in _TYPE_FIELDS if (kind := node.child_by_field_name(field)) is not None
        ]
        written = [kind for kind in kinds if kind.type not in _INFERRED and source.text_of(kind) != "var"]
        if written:
            return self.type_of(source, written[0]) if whole else None
        value = value_of(source, declaration, whole)
        if value is None and source.language in SCRIPTS:
            return self._written.class_of(self._written.declared(source, declaration))
        return self.of_expression(source, value) if value is not None and "function" not in value.type else None

    def type_of(self, source: SyntaxSource, node: Node) -> Found:
        """The class that a type names."""
        while node.type in _TYPE_WRAPPED and node.named_children:
            node = node.named_children[-1]
        if source.text_of(node) in _ANYTHING:
            return None
        if node.type in GENERIC:
            inner = node.child_by_field_name("type") or node.child_by_field_name("name") or node.named_children[0]
            found = self.type_of(source, inner)
            return found if isinstance(found, tuple) else self._of_outside(source, node, found)
        if node.type in ("struct_specifier", "union_specifier", "class_specifier", "enum_specifier"):
            own = node.child_by_field_name("name")
            return self.plain(source, own, source.text_of(own), "") if own is not None else None
        if re.search(
            r"^(?:primitive|predefined|integral|floating_point|boolean|void|array|slice|map|function|tuple)\w*type",
            node.type,
        ):
            return node.type if node.type != "array_type" else "array"
        last = node.child_by_field_name("name")
        scope = node.child_by_field_name("scope")
        if node.type == "qualified_identifier" and last is not None and last.type in GENERIC:
            owner = self.of_expression(source, scope) if scope is not None else None
            found = self._member_of(owner or (), source.text_of(last.named_children[0]), "")
            return found if isinstance(found, tuple) else self._of_outside(source, last, found)
        own, _ = name_in(source, node)
        if own is not None and source.text_of(own) == "Self":
            return self._of(source, own)
        found = self.entity(source, node, "")
        if isinstance(found, tuple) and found[0] not in ("own", "module"):
            there = self.places(found)
            if any(each.row.startswith("type_parameter") for _, each in there):
                return None
            aliases = [
                each for each in there if each[1].holder.type in ("type_alias", "type_item", "alias_declaration")
            ]
            kind = aliases[0][1].holder.child_by_field_name("type") if aliases else None
            if kind is not None:
                return self.type_of(aliases[0][0], kind)
            named = (each for each in there if each[1].holder.type == "type_definition")
            kinds = ((place, each.holder.child_by_field_name("type")) for place, each in named)
            return next((self.type_of(place, kind) for place, kind in kinds if kind is not None), None) or found
        return found


_INFERRED = ("implicit_type", "placeholder_type_specifier")
_ANYTHING = frozenset(("any", "unknown", "object", "mixed", "dynamic", "auto"))
"""Types whose objects may be of any class."""
_NO_BASES = ("access_specifier", "argument_list", "type_arguments", "use_list")


def _is_module(found: Found) -> bool:
    return isinstance(found, tuple) and found[0] == "module"


def _meaning(use: NameUse, places: dict[Key, frozenset[NameSpan]]) -> Meaning:
    found = [each for each in (use.found, use.key) if each is not None]
    inside = [places.get(each, frozenset()) for each in found if isinstance(each, tuple)]
    return Meaning(frozenset().union(*inside), frozenset(each for each in found if isinstance(each, str)))


def _span(source: SyntaxSource, node: Node) -> NameSpan:
    return NameSpan(source.path, *source.characters(node.start_byte, node.end_byte))


def _lookup(index: Index) -> FileLookup:
    """The index's files by the names under which imports refer to them."""
    files = [replace(each, uses=()) for each in index.analyses()]
    return file_lookup(files, [each for each in every_manifest(index) if is_manifest(each.path)])


def _aliases(index: Index) -> tuple[str, ...]:
    """The module prefixes that TypeScript's settings map to folders."""
    settings = (index.text(path) or "" for path in index.files if re.search(r"(?:^|/)[tj]sconfig[^/]*\.json$", path))
    maps = (found[1] for text in settings if (found := re.search(r'"paths"\s*:\s*\{(.*?)\}', text, re.S)))
    return tuple(key.rstrip("*") for each in maps for key in re.findall(r'"([^"]+)"\s*:', each) if key != "*")
