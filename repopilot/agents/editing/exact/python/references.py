"""The references to a Python definition across a repository: the sure ones, and those left to the user."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.mentions import certain_mention, document_mentions
from repopilot.agents.editing.exact.python.classes import OTHER, ClassPlace, Known, PythonProject, class_nodes
from repopilot.agents.editing.exact.python.modules import imported_names, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse, name_table, outer_scope
from repopilot.agents.editing.exact.sources import SourceText
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed

_DUNDER = re.compile(r"__\w+__$")


class SureReference(NamedTuple):
    """A reference: the bytes of the name in a file."""

    path: str
    start: int
    end: int


class OpenUse(NamedTuple):
    """A use that may be a reference; `reason` is a message."""

    path: str
    start: int
    reason: str


@dataclass(slots=True)
class References:
    """What refers to a definition. `scopes` are those that bind its name, by file."""

    sure: list[SureReference] = field(default_factory=list)
    open: list[OpenUse] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scopes: dict[str, set[int]] = field(default_factory=dict)

    def add(self, path: str, use: NameUse) -> None:
        """Add a sure reference."""
        reference = SureReference(path, use.start, use.end)
        if reference not in self.sure:
            self.sure.append(reference)


def local_references(table: NameTable, scope: Node) -> References:
    """The references to a name that is bound in a function.

    Args:
        table: the uses of the name in the file.
        scope: the scope that binds it.
    """
    path = table.source.path
    found = References(scopes={path: {scope.id}})
    for use in table.uses:
        if _looked_up(use) and _same(table.binding_scope(use), scope):
            found.add(path, use)
    return found


def module_references(project: PythonProject, path: str, name: str) -> References:
    """The references to a name at the top level of a module.

    Args:
        project: the repository.
        path: the module's file.
        name: the name.

    Returns:
        References in code, in annotations, `__all__`, re-exports and texts that hold its full dotted name.
    """
    paths = [path, *(p for p in project.sources.mentioning(name, ("python",)) if p != path)]
    tables = {p: t for p in paths if (t := project.table(p, name)) is not None}
    exporting = _exporting(project, tables, path, name)
    found = References()
    for table in tables.values():
        _module_uses(project, table, exporting, found)
    owners_ = {project.modules.name_of(p) for p in exporting.modules}
    _add_documents(project, name, owners_, _is_only_definition(project, name, exporting.modules), found)
    return found


def _add_documents(project: PythonProject, name: str, owners_: set[str], unique: bool, found: References) -> None:
    """Add what documents say of a definition."""
    sure, unsure = document_mentions(project.sources, name, owners_, unique=unique)
    found.sure += [SureReference(*place) for place in sure]
    found.open += [OpenUse(*place) for place in unsure]


@dataclass(slots=True)
class _Exporting:
    """Where a definition can be imported from: modules by path, and the scopes of each file that bind it."""

    modules: set[str]
    scopes: dict[str, set[int]]
    imported: set[tuple[str, int]]
    starred: set[str]


def _exporting(project: PythonProject, tables: dict[str, NameTable], path: str, name: str) -> _Exporting:
    root = tables[path].source.root
    assert root is not None
    found = _Exporting({path}, {path: {root.id}}, set(), set())
    _note_stubs(tables, found)
    packages = [p for p in project.sources.workspace.index.files if p.endswith("__init__.py")]
    star_files = list(dict.fromkeys([*tables, *packages]))
    growing = True
    while growing:
        before = len(found.modules), len(found.imported), len(found.starred)
        for file, table in tables.items():
            _note_imports(project, file, table, name, found)
        _note_stubs(tables, found)
        if not name.startswith("_"):
            _note_stars(project, star_files, tables, found)
        growing = before != (len(found.modules), len(found.imported), len(found.starred))
    return found


def _note_stubs(tables: dict[str, NameTable], found: _Exporting) -> None:
    """A stub beside a module declares what the module defines."""
    for path in [p for p in found.modules if f"{p}i" in tables]:
        root = tables[f"{path}i"].source.root
        if root is not None:
            found.modules.add(f"{path}i")
            found.scopes.setdefault(f"{path}i", set()).add(root.id)


def _note_imports(project: PythonProject, file: str, table: NameTable, name: str, found: _Exporting) -> None:
    """Take in the imports of a file that bind the definition."""
    for use in table.uses:
        if use.role != "imported" or (file, use.start) in found.imported:
            continue
        statement = statement_around(use.node)
        for item in imported_names(table.source, statement) if statement is not None else ():
            if item.name == name and project.modules.find(file, item.module) in found.modules:
                found.imported.add((file, use.start))
                if item.local == name:  # `import x as x` is how a package exports a name
                    found.scopes.setdefault(file, set()).add(use.scope.id)
                    if use.scope.type == "module":
                        found.modules.add(file)


def _note_stars(project: PythonProject, files: Iterable[str], tables: dict[str, NameTable], found: _Exporting) -> None:
    for file in files:
        if file in found.modules:
            continue
        if any(module in found.modules for module in project.star_imports(file)):
            table = tables.get(file)
            root = table.source.root if table else None
            if root is not None and table is not None and root.id in table.bound:
                continue
            found.modules.add(file)
            found.starred.add(file)


def _module_uses(project: PythonProject, table: NameTable, exporting: _Exporting, found: References) -> None:
    path, source = table.source.path, table.source
    scopes = exporting.scopes.get(path, set())
    found.scopes[path] = scopes
    for use in table.uses:
        if use.role == "imported":
            if (path, use.start) in exporting.imported:
                found.add(path, use)
        elif _looked_up(use):
            scope = table.binding_scope(use)
            if (scope.id in scopes) if scope is not None else path in exporting.starred:
                found.add(path, use)
        elif use.role == "attribute":
            _module_attribute(project, table, use, exporting, found)
        elif use.role in ("string", "comment"):
            _module_text(project, source, use, table.name, exporting, found)


def _module_attribute(
    project: PythonProject, table: NameTable, use: NameUse, exporting: _Exporting, found: References
) -> None:
    path = table.source.path
    parent = use.node.parent
    receiver = parent.child_by_field_name("object") if parent is not None else None
    known = project.known(path, receiver) if receiver is not None else None
    if known is not None:
        if known.kind == "module" and known.path in exporting.modules:
            found.add(path, use)
    elif receiver is not None and _may_be_module(project, table.source, receiver, exporting):
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.module")))


def _may_be_module(project: PythonProject, source: SourceText, receiver: Node, exporting: _Exporting) -> bool:
    """Whether the text before a name reads like one of the modules that define it."""
    written = source.slice(receiver).rpartition(".")[2]
    return any(written and written == project.modules.name_of(p).rpartition(".")[2] for p in exporting.modules)


def _module_text(
    project: PythonProject, source: SourceText, use: NameUse, name: str, exporting: _Exporting, found: References
) -> None:
    if use.role == "string" and use.node.type == "string":
        content = string_content(source, use.node)
        if content == name and in_all(source, use.node):
            if source.path in exporting.modules:
                found.add(source.path, use)
            return
        full = {f"{project.modules.name_of(p)}.{name}" for p in exporting.modules}
        if content in full or any(content.startswith(f"{one}.") for one in full):
            if source.data[use.start - 1 : use.start] == b".":
                found.add(source.path, use)
            return
    owners_ = {project.modules.name_of(p) for p in exporting.modules}
    if certain_mention(
        source, use.start, use.end, owners_, unique=_is_only_definition(project, name, exporting.modules)
    ):
        found.add(source.path, use)
    elif is_mention(source, use, name):
        found.open.append(OpenUse(source.path, use.start, i18n.message(f"exact.open.{use.role}")))


def _is_only_definition(project: PythonProject, name: str, modules: set[str]) -> bool:
    """Whether nothing else in the repository's code is called so."""
    found = (s for s in project.sources.workspace.index.symbols(name) if s.name == name and not is_test_path(s.path))
    return all(s.path in modules and "." not in s.qualified for s in found)


def member_references(project: PythonProject, place: ClassPlace, name: str) -> References:
    """The references to a method or attribute of a class, with those of the classes that override it.

    Args:
        project: the repository.
        place: a class that defines the member.
        name: the member's name.

    Returns:
        References on objects whose class is certain, and on others where no other class has such a member.

    Raises:
        GenerationFailed: the name belongs to a class outside of the repository, too.
    """
    family = family_of(project, place, name)
    _check_outside(project, family, name)
    found = References()
    unique = _is_unique(project, family, name) and _is_used_by_none_else(project, family, name)
    for path in project.sources.mentioning(name, ("python",)):
        table = project.table(path, name)
        for use in table.uses if table is not None else ():
            assert table is not None
            _member_use(project, table, use, family, unique, found)
    _add_documents(project, name, set(_full_names(project, family)), unique, found)
    return found


def family_of(project: PythonProject, place: ClassPlace, name: str) -> set[ClassPlace]:
    """The classes that share a member: those above that define it, and all below them.

    Args:
        project: the repository.
        place: a class that has the member.
        name: the member.
    """
    above = [place, *project.ancestors(place)]
    tops = [c for c in above if _defines(project, c, name) or _expects(project, c, name)] or [place]
    family: set[ClassPlace] = set()
    pending = list(tops)
    while pending:
        top = pending.pop()
        if top in family:
            continue
        family.add(top)
        family.update(_in_stub(project, top))
        for below in project.descendants(top):
            if below not in family:
                family.add(below)
                # A class with several bases joins the families of those that define the member.
                above = [c for c in project.ancestors(below) if c not in family]
                pending += [c for c in above if _defines(project, c, name) or _expects(project, c, name)]
    return family


def _in_stub(project: PythonProject, place: ClassPlace) -> list[ClassPlace]:
    """The class of the same name in the stub beside its module."""
    source = project.sources.get(place.path)
    stub = project.sources.get(f"{place.path}i") if place.path.endswith(".py") else None
    label = project.class_node(place).child_by_field_name("name")
    if source is None or stub is None or stub.root is None or label is None:
        return []
    name = source.slice(label)
    labels = ((n, n.child_by_field_name("name")) for n in class_nodes(stub.root))
    return [
        ClassPlace(stub.path, n.start_byte) for n, found in labels if found is not None and stub.slice(found) == name
    ]


def _expects(project: PythonProject, place: ClassPlace, name: str) -> bool:
    """Whether the methods of a class use a member of `self` that only classes below it define."""
    node = project.class_node(place)
    table = project.table(place.path, name)
    for use in table.uses if table is not None else ():
        parent = use.node.parent
        inside = use.role == "attribute" and node.start_byte <= use.start < node.end_byte
        receiver = parent.child_by_field_name("object") if inside and parent is not None else None
        known = project.known(place.path, receiver) if receiver is not None else None
        if known is not None and known.kind in ("instance", "class") and known.place == place:
            return True
    return False


def _defines(project: PythonProject, place: ClassPlace, name: str) -> bool:
    return bool(project.own_members(place, name)) or any(
        project.class_node(place).start_byte <= node.start_byte < project.class_node(place).end_byte
        for path, node in project.assigned_attributes(place, name)
        if path == place.path
    )


def _check_outside(project: PythonProject, family: set[ClassPlace], name: str) -> None:
    if _DUNDER.match(name):
        raise GenerationFailed(i18n.message("exact.special_name", name=name))
    for place in sorted(family):
        for base in project.outside_bases(place):
            known = base.rpartition(".")[2] in _STDLIB_MEMBERS and name in _STDLIB_MEMBERS[base.rpartition(".")[2]]
            if known or name in _members_of_builtin(base):
                raise GenerationFailed(i18n.message("exact.outside_member", name=name, base=base))


@cache
def _members_of_builtin(name: str) -> frozenset[str]:
    found = getattr(builtins, name, None)
    return frozenset(dir(found)) if isinstance(found, type) else frozenset()


_STDLIB_MEMBERS = {
    "Handler": frozenset("emit handle format flush close acquire release createLock setLevel setFormatter".split()),
    "Formatter": frozenset("format formatTime formatException formatMessage usesTime formatStack".split()),
    "TestCase": frozenset("setUp tearDown setUpClass tearDownClass run id assertEqual subTest".split()),
    "Thread": frozenset("run start join name daemon is_alive".split()),
    "JSONEncoder": frozenset("default encode iterencode".split()),
    "HTMLParser": frozenset("feed close handle_starttag handle_endtag handle_data handle_comment".split()),
    "Mapping": frozenset(("get", "items", "keys", "values")),
    "MutableMapping": frozenset("get items keys values pop popitem clear update setdefault".split()),
    "UserDict": frozenset("get items keys values pop popitem clear update setdefault data copy fromkeys".split()),
}


def _is_unique(project: PythonProject, family: set[ClassPlace], name: str) -> bool:
    """Whether no other class of the repository, and no common type, has a member of that name."""
    if name in _common_members():
        return False
    index = project.sources.workspace.index
    inside = [(place.path, project.class_node(place)) for place in family]
    for symbol in index.symbols(name):
        if not symbol.path.endswith((".py", ".pyi")) or symbol.name != name:
            continue
        nodes = [n for p, n in inside if p == symbol.path]
        lines = [(n.start_point[0] + 1, n.end_point[0] + 1) for n in nodes]
        if not any(first <= symbol.start_line <= last for first, last in lines):
            return False
    return True


def _is_used_by_none_else(project: PythonProject, family: set[ClassPlace], name: str) -> bool:
    """Whether no object that is known to be something else has an attribute of that name."""
    for path in project.sources.mentioning(name, ("python",)):
        table = project.table(path, name)
        for use in table.uses if table is not None else ():
            parent = use.node.parent
            receiver = parent.child_by_field_name("object") if use.role == "attribute" and parent is not None else None
            known = project.known(path, receiver) if receiver is not None else None
            if known is None or known.kind == "module":
                continue
            if known.kind not in ("instance", "class") or not _belongs(project, known, family):
                return False
    return True


@cache
def _common_members() -> frozenset[str]:
    """Attributes of builtin types and of objects that programs meet everywhere."""
    import argparse
    import collections
    import datetime
    import io
    import logging
    import pathlib
    import queue
    import re as regex
    import socket
    import threading
    import types

    kinds = (
        *(v for v in vars(builtins).values() if isinstance(v, type)),
        collections.deque, collections.Counter, collections.OrderedDict, datetime.datetime, datetime.timedelta,
        io.TextIOWrapper, io.BufferedReader, pathlib.Path, queue.Queue, socket.socket, threading.Thread, threading.Lock,
        threading.Event, logging.Logger, argparse.ArgumentParser, types.FunctionType, types.ModuleType, regex.Match,
        regex.Pattern,
    )  # fmt: skip
    return frozenset(name for kind in kinds for name in dir(kind))


def _member_use(
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    family: set[ClassPlace],
    unique: bool,
    found: References,
) -> None:
    path = table.source.path
    if use.role == "attribute":
        _member_attribute(project, table, use, family, unique, found)
    elif _looked_up(use):
        scope = table.binding_scope(use)
        if scope is not None and scope.type == "class_definition" and ClassPlace(path, scope.start_byte) in family:
            found.add(path, use)
            found.scopes.setdefault(path, set()).add(scope.id)
    elif use.role == "keyword":
        _field_keyword(project, table, use, family, found)
    elif use.role in ("string", "comment") and _certain_member(project, table.source, use, family, unique):
        found.add(path, use)
    elif use.role == "string" and use.node.type == "string":
        content = string_content(table.source, use.node)
        if content == table.name or is_mention(table.source, use, table.name):
            found.open.append(OpenUse(path, use.start, i18n.message("exact.open.string")))
    elif use.role == "comment" and is_mention(table.source, use, table.name):
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.comment")))


def _certain_member(
    project: PythonProject, source: SourceText, use: NameUse, family: set[ClassPlace], unique: bool
) -> bool:
    inside = any(
        place.path == source.path and place.start <= use.start < project.class_node(place).end_byte for place in family
    )
    owners_ = set(_full_names(project, family))
    return certain_mention(source, use.start, use.end, owners_, unique=unique or (inside and _is_role(source, use)))


def _is_role(source: SourceText, use: NameUse) -> bool:
    return re.search(rb":(?:py:)?(?:meth|attr):`[~!]?\Z", source.data[max(0, use.start - 12) : use.start]) is not None


def _full_names(project: PythonProject, family: set[ClassPlace]) -> Iterator[str]:
    for place in family:
        source = project.sources.get(place.path)
        name = project.class_node(place).child_by_field_name("name")
        if source is not None and name is not None:
            yield f"{project.modules.name_of(place.path)}.{source.slice(name)}"


def _member_attribute(
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    family: set[ClassPlace],
    unique: bool,
    found: References,
) -> None:
    path = table.source.path
    parent = use.node.parent
    receiver = parent.child_by_field_name("object") if parent is not None else None
    known = project.known(path, receiver) if receiver is not None else None
    if known is None and unique and receiver is not None:
        found.add(path, use)
        note = i18n.message("exact.only_member", name=table.name)
        if note not in found.notes:
            found.notes.append(note)
    elif known is None:
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.receiver")))
    elif known.kind in ("instance", "class") and _belongs(project, known, family):
        found.add(path, use)


def _belongs(project: PythonProject, known: Known, family: set[ClassPlace]) -> bool:
    return known.place in family or any(c in family for c in project.ancestors(known.place))


def _field_keyword(
    project: PythonProject, table: NameTable, use: NameUse, family: set[ClassPlace], found: References
) -> None:
    """`Point(x=1)` names the field x where the class has no `__init__` of its own: a dataclass or the like."""
    parent = use.node.parent
    arguments = parent.parent if parent is not None else None
    call = arguments.parent if arguments is not None else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    known = project.known(table.source.path, function) if function is not None else None
    if known is None or known == OTHER or known.kind != "class" or known.place not in family:
        return
    if not project.members(known.place, "__init__"):
        found.add(table.source.path, use)


def string_content(source: SourceText, node: Node) -> str:
    """The text of a string literal without its quotes; '' for one that is put together."""
    parts = [c for c in node.children if c.type == "string_content"]
    return source.slice(parts[0]) if len(parts) == 1 and node.named_child_count <= 3 else ""


def in_all(source: SourceText, node: Node) -> bool:
    """Whether a string is an element of `__all__`."""
    current = node.parent
    while current is not None and current.type in ("list", "tuple", "parenthesized_expression", "binary_operator"):
        current = current.parent
    if current is None or current.type not in ("assignment", "augmented_assignment"):
        return False
    left = current.child_by_field_name("left")
    return left is not None and source.slice(left) == "__all__"


_DISTINCT = re.compile(r"_|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|\d")


def is_mention(source: SourceText, use: NameUse, name: str) -> bool:
    """Whether a text that holds the name speaks of it: a plain word needs backticks, parentheses or quotes."""
    if _DISTINCT.search(name):
        return True
    before, after = source.data[use.start - 1 : use.start], source.data[use.end : use.end + 1]
    return (
        before == b"`"
        or after == b"`"
        or ((after == b"(" and before != b" ") or source.data[use.end : use.end + 2] == b"()")
    )


def _looked_up(use: NameUse) -> bool:
    return use.role in ("bind", "load", "parameter", "declared") or (use.role == "imported" and not use.aliased)


def _same(one: Node | None, other: Node | None) -> bool:
    return one is not None and other is not None and one.id == other.id


def check_new_name(project: PythonProject, found: References, new: str, members: Iterable[ClassPlace] = ()) -> None:
    """Refuse a new name that would meet another definition.

    Args:
        project: the repository.
        found: the references that are to be renamed.
        new: the new name.
        members: classes that must not have a member of that name.

    Raises:
        GenerationFailed: `new` is no identifier, or is taken where a reference stands.
    """
    if not new.isidentifier() or keyword.iskeyword(new):
        raise GenerationFailed(i18n.message("exact.no_identifier", name=new))
    for place in members:
        if project.members(place, new) or project.assigned_attributes(place, new):
            source = project.sources.get(place.path)
            assert source is not None
            raise GenerationFailed(
                i18n.message("exact.name_taken", name=new, path=place.path, line=source.line_of(place.start))
            )
    for path, scopes in found.scopes.items():
        table = project.table(path, new)
        starts = {r.start for r in found.sure if r.path == path}
        if table is not None and starts:
            _check_scopes(table, scopes, _scopes_of(project, path, starts))


def _scopes_of(project: PythonProject, path: str, starts: set[int]) -> list[Node]:
    source = project.sources.get(path)
    assert source is not None and source.root is not None
    nodes = (source.root.descendant_for_byte_range(s, s + 1) for s in starts)
    found = {}
    for node in nodes:
        if node is not None and node.type == "identifier" and node.parent is not None:
            if node.parent.type in ("attribute", "keyword_argument"):
                continue
            scope: Node | None = name_scope(source, node)
            while scope is not None:
                found[scope.id] = scope
                scope = outer_scope(scope)
    return list(found.values())


def name_scope(source: SourceText, node: Node) -> Node:
    """The scope that an identifier is in."""
    table = name_table(source, source.slice(node))
    return next(u.scope for u in table.uses if u.start == node.start_byte)


def _check_scopes(table: NameTable, scopes: set[int], used: list[Node]) -> None:
    """The new name must not be bound around a reference, nor looked up through a scope that will bind it."""
    around = {scope.id for scope in used if _inside_any(scope, scopes)}
    for use in table.uses:
        taken = use.binds and use.scope.id in around
        captured = use.role == "load" and not use.binds and _through(use.scope, scopes) and _beyond(table, use, scopes)
        if taken or captured:
            raise GenerationFailed(
                i18n.message(
                    "exact.name_taken", name=table.name, path=table.source.path, line=table.source.line_of(use.start)
                )
            )


def _inside_any(scope: Node, scopes: set[int]) -> bool:
    return _through(scope, scopes)


def _through(scope: Node | None, scopes: set[int]) -> bool:
    first = True
    while scope is not None:
        if scope.id in scopes and (first or scope.type != "class_definition"):
            return True
        first = False
        scope = outer_scope(scope)
    return False


def _beyond(table: NameTable, use: NameUse, scopes: set[int]) -> bool:
    """Whether a name is found only outside of the scopes that would bind it."""
    bound = table.binding_scope(use)
    if bound is None:
        return True
    return not _through(bound, scopes)
