"""The references to a Python definition across a repository: the sure ones, and those left to the user."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.mentions import Mentioned, certain_mention, certain_text, document_mentions
from repopilot.agents.editing.exact.python.classes import ClassPlace, Known, PythonProject, class_nodes
from repopilot.agents.editing.exact.python.expected_names import (
    check_outside,
    composed_names,
    expecting_bases,
    naming_decorators,
)
from repopilot.agents.editing.exact.python.fixtures import fixture_uses, is_fixture
from repopilot.agents.editing.exact.python.module_tables import module_beside
from repopilot.agents.editing.exact.python.modules import imported_names, statement_around
from repopilot.agents.editing.exact.python.name_uses import NameTable, NameUse, name_table, outer_scope, scope_of
from repopilot.agents.editing.exact.python.named_receivers import is_named_after
from repopilot.agents.editing.exact.python.string_values import string_content
from repopilot.agents.editing.exact.sources import SourceText
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed


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

    def add_taken(self, path: str, use: NameUse, why: str) -> None:
        """Add a reference that is taken for a sure one, and the note that says why."""
        self.add(path, use)
        if why not in self.notes:
            self.notes.append(why)


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
    mentioned = _mentioned_in_module(project, tables, exporting, path, name)
    found = References()
    for table in tables.values():
        _module_uses(project, table, exporting, found)
    sharing = _sharing(tables.values(), found)
    for table in tables.values():
        near = replace(mentioned, is_shared=table.source.path in sharing)
        for use in table.uses:
            if use.role in ("string", "comment"):
                _module_text(project, table, use, exporting, near, found)
    _add_documents(project, replace(mentioned, is_shared=_is_shared(sharing)), found)
    for function in _functions_at_top(tables[path]):
        found.open += [OpenUse(*use) for use in naming_decorators(project, path, function)]
        if is_fixture(tables[path].source, function):
            _add_fixture(project, path, name, found)
    _add_composed(project, name, {path}, found, of_member=False)
    return found


def _functions_at_top(table: NameTable) -> list[Node]:
    root = table.source.root
    binds = table.bound.get(root.id, []) if root is not None else []
    return [u.node.parent for u in binds if u.node.parent is not None and u.node.parent.type == "function_definition"]


def _add_fixture(project: PythonProject, path: str, name: str, found: References) -> None:
    """Add the parameters of tests that ask for a fixture."""
    for table, use, scope in fixture_uses(project, path, name):
        if scope is None:
            found.add(table.source.path, use)
            found.open = [o for o in found.open if (o.path, o.start) != (table.source.path, use.start)]
            continue
        local = local_references(table, scope)
        found.sure += [r for r in local.sure if r not in found.sure]
        found.scopes.setdefault(table.source.path, set()).add(scope.id)


def _mentioned_in_module(
    project: PythonProject, tables: dict[str, NameTable], exporting: _Exporting, path: str, name: str
) -> Mentioned:
    """What texts may say of a name at the top level of a module."""
    root = tables[path].source.root
    assert root is not None
    kinds = {u.node.parent.type for u in tables[path].bound.get(root.id, []) if u.node.parent is not None}
    return Mentioned(
        name,
        frozenset(name for p in exporting.modules for name in project.modules.names_of(p)),
        _is_only_definition(project, name, exporting.modules),
        bool(kinds) and kinds <= {"function_definition", "class_definition"},
        any(_is_value(table, use) for table in tables.values() for use in table.uses),
    )


def _sharing(tables: Iterable[NameTable], found: References) -> set[str]:
    """The files whose code uses the name for something else."""
    sure = {(reference.path, reference.start) for reference in found.sure}
    code = ("bind", "load", "parameter", "attribute", "keyword", "imported")
    return {t.source.path for t in tables for u in t.uses if u.role in code and (t.source.path, u.start) not in sure}


def _is_shared(sharing: set[str]) -> bool:
    """Whether a name that some files use for something else may be meant by documents."""
    return any(not is_test_path(path) for path in sharing)


def _is_value(table: NameTable, use: NameUse) -> bool:
    """Whether a use is a string that is the name, but doesn't look up what has the name."""
    if use.role != "string" or string_content(table.source, use.node) != table.name:
        return False
    node = use.node
    return not (in_all(table.source, node) or looked_up_by(table.source, node) or names_type(table.source, node))


def _add_documents(project: PythonProject, mentioned: Mentioned, found: References) -> None:
    """Add what documents say of a definition."""
    sure, unsure = document_mentions(project.sources, mentioned)
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
    path = table.source.path
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


def _module_attribute(
    project: PythonProject, table: NameTable, use: NameUse, exporting: _Exporting, found: References
) -> None:
    path = table.source.path
    receiver = receiver_of(table.source, use.node)
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
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    exporting: _Exporting,
    mentioned: Mentioned,
    found: References,
) -> None:
    source = table.source
    content = string_content(source, use.node) if use.role == "string" else ""
    if content == table.name:
        if in_all(source, use.node):
            if source.path in exporting.modules:
                found.add(source.path, use)
        elif looked_up_by(source, use.node) is not None:
            _module_attribute(project, table, use, exporting, found)
        elif _is_its_name(project, source, use.node, exporting, mentioned):
            found.add(source.path, use)
        else:
            found.open.append(OpenUse(source.path, use.start, i18n.message("exact.open.string")))
    elif is_said(table, use, mentioned, exporting.scopes.get(source.path, set())):
        found.add(source.path, use)
    elif is_mention(source, use, table.name):
        found.open.append(OpenUse(source.path, use.start, i18n.message(f"exact.open.{use.role}")))


def _is_its_name(
    project: PythonProject, source: SourceText, string: Node, exporting: _Exporting, mentioned: Mentioned
) -> bool:
    """Whether a string that is a name is that of a definition: compared with one, or beside its module in a table."""
    if mentioned.unique and mentioned.callable and names_type(source, string):
        return True
    return module_beside(source, string, exporting.modules, project.modules) is not None


def is_said(table: NameTable, use: NameUse, mentioned: Mentioned, scopes: Collection[int]) -> bool:
    """Whether a use in a text certainly means a definition.

    Args:
        table: the uses of its name in the file.
        use: the text.
        mentioned: the definition.
        scopes: those in which the name is the definition's.
    """
    bound = table.lookup(use.scope)
    if bound is not None and bound.id not in scopes:
        return False
    in_prose = use.role == "comment" or _is_docstring(use.node)
    if bound is not None and use.role == "string" and in_prose and _is_in_doctest(table, use):
        return True
    return (certain_mention if in_prose else certain_text)(table.source, use.start, mentioned)


def _is_in_doctest(table: NameTable, use: NameUse) -> bool:
    """Whether a use in a docstring is a name in the code of an example, which knows the module's names."""
    data = table.source.data
    line = data[data.rfind(b"\n", 0, use.start) + 1 : use.start].decode("utf-8", "replace")
    code = re.match(r"\s*(?:>>>|\.\.\.) (.*)$", line)
    return code is not None and not re.search(r"[\w.]$", code[1]) and all(code[1].count(q) % 2 == 0 for q in "\"'")


def _is_docstring(node: Node) -> bool:
    """Whether a string is a statement, alone or with strings beside it."""
    around = node.parent
    if around is not None and around.type == "concatenated_string":
        around = around.parent
    return around is not None and around.type in ("expression_statement", "module", "block")


_LOOK_UP = frozenset(("getattr", "setattr", "hasattr", "delattr", "object", "spy", "delitem"))
"""Functions whose second argument names an attribute of the first; `object` is that of `mock.patch`."""


def looked_up_by(source: SourceText, string: Node) -> Node | None:
    """What a string names an attribute of: `getattr(thing, "name")`, `mock.patch.object(thing, "name")`."""
    arguments = string.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    if arguments is None or function is None:
        return None
    listed = [c for c in arguments.named_children if c.type != "comment"]
    named = source.slice(function).rpartition(".")[2]
    return listed[0] if named in _LOOK_UP and len(listed) > 1 and listed[1].id == string.id else None


def names_type(source: SourceText, string: Node) -> bool:
    """Whether a string is compared with the name of a class or function."""
    around = string.parent
    while around is not None and around.type in ("tuple", "list", "set"):
        around = around.parent
    is_compared = around is not None and around.type == "comparison_operator"
    return is_compared and re.search(r"\.__(?:qual)?name__\b", source.slice(around)) is not None  # type: ignore[arg-type]


def receiver_of(source: SourceText, node: Node) -> Node | None:
    """The object whose attribute a name or string is."""
    if node.type == "string":
        return looked_up_by(source, node)
    parent = node.parent
    return parent.child_by_field_name("object") if parent is not None else None


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
    check_outside(project, family, name)
    found = References()
    paths = project.sources.mentioning(name, ("python",))
    tables = [t for p in paths if (t := project.table(p, name)) is not None]
    members_only = _is_unique(project, family, name, members_only=True) and _is_used_by_none_else(project, family, name)
    mentioned = Mentioned(
        name,
        frozenset(_full_names(project, family)),
        members_only and _is_unique(project, family, name),
        all(
            n.type in ("function_definition", "class_definition") for c in family for n in project.own_members(c, name)
        ),
        any(_is_value(t, u) and not _in_slots(t.source, u.node) for t in tables for u in t.uses),
    )
    named = tuple(project.class_name(place) for place in family)
    members = _Members(family, mentioned.unique, members_only, named, _others_with(project, family, name))
    for table in tables:
        for use in table.uses:
            _member_use(project, table, use, members, found)
    sharing = _sharing(tables, found)
    for table in tables:
        near = replace(mentioned, is_shared=table.source.path in sharing)
        for use in table.uses:
            if use.role in ("string", "comment"):
                _member_text(project, table, use, members, near, found)
    _add_documents(project, replace(mentioned, is_shared=_is_shared(sharing)), found)
    found.open += [OpenUse(*use) for use in expecting_bases(project, family, name)]
    for member in sorted(family):
        for node in project.own_members(member, name):
            found.open += [OpenUse(*use) for use in naming_decorators(project, member.path, node)]
    above = {c.path for place in family for c in (place, *project.ancestors(place))}
    _add_composed(project, name, above, found, of_member=True)
    return found


def _add_composed(
    project: PythonProject, name: str, paths: Collection[str], found: References, *, of_member: bool
) -> None:
    """Note where names like this one are put together.

    Raises:
        GenerationFailed: the file of the definition itself does so.
    """
    for source, start in composed_names(project, name, of_member=of_member):
        if source.path in paths:
            line = source.line_of(start)
            raise GenerationFailed(i18n.message("exact.composed_name", name=name, path=source.path, line=line))
        found.open.append(OpenUse(source.path, start, i18n.message("exact.open.composed")))


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
        family.update(in_stub(project, top))
        for below in project.descendants(top):
            if below not in family:
                family.add(below)
                # A class with several bases joins the families of those that define the member.
                above = [c for c in project.ancestors(below) if c not in family]
                pending += [c for c in above if _defines(project, c, name) or _expects(project, c, name)]
    return family


def in_stub(project: PythonProject, place: ClassPlace) -> list[ClassPlace]:
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


def _is_unique(project: PythonProject, family: set[ClassPlace], name: str, *, members_only: bool = False) -> bool:
    """Whether no other class of the repository, and no common type, has a member of that name; nor is a function of a
    module called so, unless only members count."""
    if name in _common_members():
        return False
    index = project.sources.workspace.index
    inside = [(place.path, project.class_node(place)) for place in family]
    for symbol in index.symbols(name):
        if not symbol.path.endswith((".py", ".pyi")) or symbol.name != name:
            continue
        if members_only and symbol.qualified == name:
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


class _Members(NamedTuple):
    """The classes that have a member; whether nothing else has its name, and whether no other class has; the names of
    these classes, and those of the others that have a member of that name."""

    family: set[ClassPlace]
    unique: bool
    only_member: bool
    named: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def _member_use(
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    members: _Members,
    found: References,
) -> None:
    path = table.source.path
    if use.role == "attribute":
        _member_attribute(project, table, use, members, found)
    elif _looked_up(use):
        scope = table.binding_scope(use)
        inside = scope is not None and scope.type == "class_definition"
        if scope is not None and inside and ClassPlace(path, scope.start_byte) in members.family:
            found.add(path, use)
            found.scopes.setdefault(path, set()).add(scope.id)
    elif use.role == "keyword":
        _field_keyword(project, table, use, members.family, found)


def _member_text(
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    members: _Members,
    mentioned: Mentioned,
    found: References,
) -> None:
    source, path, family = table.source, table.source.path, members.family
    content = string_content(source, use.node) if use.role == "string" else ""
    inside = any(c.path == path and c.start <= use.start < project.class_node(c).end_byte for c in family)
    if content == table.name and looked_up_by(source, use.node) is not None:
        _member_attribute(project, table, use, members._replace(unique=mentioned.unique, only_member=False), found)
    elif content == table.name and inside and _in_slots(source, use.node):
        found.add(path, use)
    elif content == table.name:
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.string")))
    elif is_said(table, use, mentioned, found.scopes.get(path, ())) or (inside and _is_role(source, use)):
        found.add(path, use)
    elif is_mention(source, use, table.name):
        found.open.append(OpenUse(path, use.start, i18n.message(f"exact.open.{use.role}")))


def _in_slots(source: SourceText, node: Node) -> bool:
    """Whether a string declares an attribute of a class: in `__slots__` or `__match_args__`."""
    current = node.parent
    while current is not None and current.type in ("list", "tuple", "set", "parenthesized_expression"):
        current = current.parent
    left = current.child_by_field_name("left") if current is not None and current.type == "assignment" else None
    return left is not None and source.slice(left) in ("__slots__", "__match_args__")


def _is_role(source: SourceText, use: NameUse) -> bool:
    return re.search(rb":(?:py:)?(?:meth|attr):`[~!]?\Z", source.data[max(0, use.start - 12) : use.start]) is not None


def _full_names(project: PythonProject, family: set[ClassPlace]) -> Iterator[str]:
    for place in family:
        for module in project.modules.names_of(place.path):
            yield f"{module}.{project.class_name(place)}"


def _member_attribute(
    project: PythonProject,
    table: NameTable,
    use: NameUse,
    members: _Members,
    found: References,
) -> None:
    path = table.source.path
    receiver = receiver_of(table.source, use.node)
    known = project.known(path, receiver) if receiver is not None else None
    only = receiver is not None and (members.unique or (members.only_member and _is_object(table.source, receiver)))
    if known is None and only:
        found.add_taken(path, use, i18n.message("exact.only_member", name=table.name))
    elif known is None and receiver is not None and _is_named_after(table.source, receiver, members):
        found.add_taken(path, use, i18n.message("exact.named_receiver", receiver=table.source.slice(receiver)))
    elif known is None:
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.receiver")))
    elif known.kind in ("instance", "class") and _belongs(project, known, members.family):
        found.add(path, use)


def _is_named_after(source: SourceText, receiver: Node, members: _Members) -> bool:
    simple = receiver.type in ("identifier", "attribute")
    return simple and is_named_after(source.slice(receiver), members.named, members.others)


def _others_with(project: PythonProject, family: set[ClassPlace], name: str) -> tuple[str, ...]:
    """The classes outside of a family that have a member of a name."""
    inside = {(place.path, project.class_name(place)) for place in family}
    found = (
        (symbol.path, symbol.qualified.rpartition(".")[0].rpartition(".")[2])
        for symbol in project.sources.workspace.index.symbols(name)
        if symbol.name == name and symbol.qualified != name
    )
    return tuple(owner for path, owner in found if owner and (path, owner) not in inside)


def _is_object(source: SourceText, receiver: Node) -> bool:
    """Whether an expression is what a call or an index gave, and so no module whose function has the member's name."""
    if receiver.type in ("call", "subscript"):
        return not source.slice(receiver).startswith(("import_module", "importlib.", "__import__"))
    if receiver.type != "identifier":
        return False
    bound = name_table(source, source.slice(receiver)).bound.get(scope_of(receiver).id, [])
    values = [use.node.parent.child_by_field_name("right") for use in bound if use.node.parent is not None]
    return bool(values) and all(
        value is not None and value.type in ("call", "subscript") and _is_object(source, value) for value in values
    )


def _belongs(project: PythonProject, known: Known, family: set[ClassPlace]) -> bool:
    return known.place in family or any(c in family for c in project.ancestors(known.place))


_COPYING = frozenset(("replace", "evolve", "_replace", "assoc"))
"""Functions that copy an object with other values of the fields that their keyword arguments name."""


def _field_keyword(
    project: PythonProject, table: NameTable, use: NameUse, family: set[ClassPlace], found: References
) -> None:
    """`Point(x=1)` names the field x where the class has no `__init__` of its own: a dataclass or the like."""
    source, path = table.source, table.source.path
    parent = use.node.parent
    arguments = parent.parent if parent is not None else None
    call = arguments.parent if arguments is not None else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    fields = [c for c in family if project.own_members(c, table.name) and not project.members(c, "__init__")]
    if function is None or arguments is None or not fields:
        return
    copied = source.slice(function).rpartition(".")[2] in _COPYING
    receiver = function.child_by_field_name("object")
    first = (
        arguments.named_child(0)
        if not (copied and receiver and source.slice(function).endswith("_replace"))
        else receiver
    )
    known = project.known(path, first if copied and first is not None else function)
    if known is not None and known.kind in ("class", "instance") and known.place in family:
        if copied or not project.members(known.place, "__init__"):
            found.add(path, use)
    elif known is None and (copied or _may_construct(project, source, function, family)):
        found.open.append(OpenUse(path, use.start, i18n.message("exact.open.arguments")))


def _may_construct(project: PythonProject, source: SourceText, function: Node, family: set[ClassPlace]) -> bool:
    """Whether what is called may be one of some classes."""
    written = source.slice(function).rpartition(".")[2]
    return written in ("cls", "__class__", "partial") or written in {project.class_name(c) for c in family}


def in_all(source: SourceText, node: Node) -> bool:
    """Whether a string is an element of `__all__`."""
    current = node.parent
    while current is not None and current.type in ("list", "tuple", "parenthesized_expression", "binary_operator"):
        current = current.parent
    if current is None or current.type not in ("assignment", "augmented_assignment"):
        return False
    left = current.child_by_field_name("left")
    return left is not None and source.slice(left) == "__all__"


_DISTINCT = re.compile(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]{2}|\d")


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
