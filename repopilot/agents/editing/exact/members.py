"""Adds and removes members whose text is in the task: of enumerations and classes, of dictionaries and lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.member_changes import add_braced_member, remove_braced_member
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, shared_object, sorted_position
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.locate import candidates, check_editable, is_code_name, not_found, one_definition
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject
from repopilot.agents.editing.exact.python.import_lines import WantedImport, add_import
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.literals import is_string
from repopilot.agents.editing.exact.values.value_places import definition_node
from repopilot.code.python_ast import parse_expression, parse_python
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>[^=]+?))?\s*(?:=\s*(?P<value>.+))?", re.S)
_PAIR = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w.]+)\s*(?::|->|=>|=)\s*(?P<value>.+)", re.S)
_MEMBER_TEXT = re.compile(r"[\w.]+\s*(?::[^=]+)?=.+|[\w.'\"]+\s*:\s*\S+|'[^']*'|\"[^\"]*\"|[A-Z][A-Z\d_]+", re.S)
_LISTS = frozenset(("list", "tuple", "set"))


def add_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a member or entry.

    Args:
        task: the text of the member in `new`, what it is added to in `name`.
        sources: the files.

    Returns:
        The change; None where the text isn't one of a member of that thing.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: the member is there already, or nothing has the name.
    """
    elsewhere = add_braced_member(task, sources)
    if elsewhere is not None:
        return elsewhere
    found = _container(task, sources)
    if found is None:
        return None
    symbol, source, node = found
    exported = task.new.strip("\"'`")
    if symbol.name == "__all__" and not _is_bound(exported, source) and sources.workspace.index.symbols(exported):
        return None  # an export also needs the import
    patch = Patch()
    text = None
    if node.type == "class_definition":
        text = _add_to_class(task, symbol, source, node, sources, patch)
    else:
        text = _add_to_value(task, source, node.child_by_field_name("right"), sources, patch)
    if text is None:
        return None
    patch.edits.append(Edit("add_member", source.path, symbol.qualified, text))
    return patch


def _container(task: ExactTask, sources: Sources) -> tuple[Symbol, SourceText, Node] | None:
    symbol = one_definition(task.name, task, sources)
    if symbol is None:
        if is_code_name(task.name) and _MEMBER_TEXT.fullmatch(task.new) and not candidates(task.name, task, sources):
            raise not_found(task.name, task, sources.workspace.index)
        return None
    source = sources.get(symbol.path)
    if source is None or source.language != "python":
        return None
    check_editable(symbol.path, task, sources)
    node = definition_node(source, symbol)
    return (symbol, source, node) if node is not None and node.type in ("class_definition", "assignment") else None


# Classes


def _add_to_class(
    task: ExactTask, symbol: Symbol, source: SourceText, node: Node, sources: Sources, patch: Patch
) -> str | None:
    match = _ASSIGNMENT.fullmatch(task.new)
    if match is None:
        return None
    project = PythonProject(sources, modules_of(sources.workspace.index))
    members = list(class_assignments(node))
    names = [source.slice(left) for m in members if (left := m.child_by_field_name("left")) is not None]
    if match["name"] in names or project.own_members(ClassPlace(source.path, node.start_byte), match["name"]):
        raise GenerationFailed(i18n.message("exact.already_there", name=match["name"], path=source.path))
    if is_enumeration(project, source, node):
        text = _enum_member(match, source, members, names, task)
    elif match["value"] or match["type"]:
        text = _plain_member(match)
    else:
        return None
    if text is None or not _parses(text):
        return None
    _insert_member(source, node, members, text, patch)
    return text


def class_assignments(node: Node) -> Iterator[Node]:
    """The assignments in the body of a class, not those in its methods."""
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        inner = unwrapped(statement)
        if inner.type == "assignment":
            yield inner


def unwrapped(statement: Node) -> Node:
    """The expression of a statement that is nothing else."""
    inner = statement.named_child(0) if statement.type == "expression_statement" else None
    return inner if inner is not None else statement


def docstring_of(node: Node) -> Node | None:
    """The docstring of a function or class."""
    body = node.child_by_field_name("body")
    first = next((c for c in body.named_children if c.type != "comment"), None) if body is not None else None
    inner = unwrapped(first) if first is not None else None
    return inner if inner is not None and inner.type == "string" else None


def is_enumeration(project: PythonProject, source: SourceText, node: Node) -> bool:
    """Whether a class is an enumeration, by the names of its bases and theirs."""
    place = ClassPlace(source.path, node.start_byte)
    for ancestor in (place, *project.ancestors(place)):
        other = project.sources.get(ancestor.path)
        listed = project.class_node(ancestor).child_by_field_name("superclasses")
        written = other.slice(listed) if other is not None and listed is not None else ""
        if re.search(r"\b\w*(?:Enum|Flag)\b", written):
            return True
    return False


def _enum_member(
    match: re.Match[str], source: SourceText, members: Sequence[Node], names: Sequence[str], task: ExactTask
) -> str | None:
    if match["type"]:
        return None
    name = match["name"]
    upper = all(n.isupper() for n in names)
    if names and upper != name.isupper() and task.what != "member" and match["value"] is None:
        return None
    values = [source.slice(v) if (v := m.child_by_field_name("right")) is not None else "" for m in members]
    value = match["value"] or _next_value(name, names, values)
    if value is None:
        return None
    if match["value"] and values and all(is_string(v) for v in values):
        value = in_quotes_of(value, values)
    return f"{name} = {value}"


def _next_value(name: str, names: Sequence[str], values: Sequence[str]) -> str | None:
    """The value of a new member by the pattern of the others; None where there is none."""
    if not values:
        return None
    if all(re.fullmatch(r"(?:enum\.)?auto\(\)", v) for v in values):
        return values[-1]
    if all(re.fullmatch(r"\d+", v) for v in values):
        numbers = [int(v) for v in values]
        flags = len(numbers) > 2 and all(n and not n & (n - 1) for n in numbers) and max(numbers) > len(numbers)
        return str(max(numbers) * 2 if flags else max(numbers) + 1)
    if all(re.fullmatch(r"1\s*<<\s*\d+", v) for v in values):
        return re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), max(values, key=lambda v: int(v.rpartition("<")[2])))
    if all(is_string(v) for v in values):
        quote = values[-1][-1]
        plain = [v.strip("\"'") for v in values]
        for change in (str, str.lower, lambda n: n.lower().replace("_", "-"), lambda n: n.lower().replace("_", " ")):
            if [change(n) for n in names] == plain:
                return f"{quote}{change(name)}{quote}"
    return None


def _plain_member(match: re.Match[str]) -> str:
    declared = f": {match['type'].strip()}" if match["type"] else ""
    return f"{match['name']}{declared}" + (f" = {match['value']}" if match["value"] else "")


def _insert_member(source: SourceText, node: Node, members: Sequence[Node], text: str, patch: Patch) -> None:
    body = node.child_by_field_name("body")
    assert body is not None
    after = _smaller(source, members, text) or _last_of_its_kind(members, has_value="=" in text)
    first = body.named_child(0)
    if after is not None:
        indent = _indent(source, after)
        end = _line_end(source, after.end_byte)
        patch.replace(source.path, end, end, f"\n{indent}{text}")
        return
    assert first is not None
    indent = _indent(source, first)
    inner = unwrapped(first)
    if inner.type == "string":
        end = _line_end(source, first.end_byte)
        gap = "" if body.named_child_count == 1 or source.data[end : end + 2] == b"\n\n" else "\n"
        patch.replace(source.path, end, end, f"\n\n{indent}{text}{gap}")
    elif first.type == "pass_statement" or inner.type == "ellipsis":
        patch.replace(source.path, first.start_byte, first.end_byte, text)
    else:
        patch.replace(source.path, first.start_byte, first.start_byte, f"{text}\n\n{indent}")


def _is_bound(name: str, source: SourceText) -> bool:
    return not name.isidentifier() or (source.root is not None and source.root.id in name_table(source, name).bound)


def _smaller(source: SourceText, members: Sequence[Node], text: str) -> Node | None:
    """The last member with a smaller number, where the members stand in the order of their numbers."""
    numbers = [_number(source.slice(m)) for m in members]
    new = _number(text)
    if new is None or len(numbers) < 3 or None in numbers or numbers != sorted(n for n in numbers if n is not None):
        return None
    before = [m for m, n in zip(members, numbers, strict=True) if n is not None and n < new]
    return before[-1] if before else None


def _number(assignment: str) -> int | None:
    match = re.match(r"[^=]*=\s*\(?\s*(\d+)\b(?!\s*<<)", assignment)
    return int(match[1]) if match else None


def _last_of_its_kind(members: Sequence[Node], *, has_value: bool) -> Node | None:
    """The member to insert behind: a field without a default must not follow one with a default."""
    fields = [m for m in members if m.child_by_field_name("type") is not None]
    without = [m for m in fields if m.child_by_field_name("right") is None]
    if not has_value and len(without) < len(fields):
        return without[-1] if without else None
    return members[-1] if members else None


# Dictionaries and lists


def _add_to_value(
    task: ExactTask, source: SourceText, value: Node | None, sources: Sources, patch: Patch
) -> str | None:
    literal = _literal(value)
    if literal is None:
        return None
    entries = [c for c in literal.named_children if c.type != "comment"]
    if any(e.type not in _ENTRY_TYPES or e.type in ("list_splat", "dictionary_splat") for e in entries[-1:]):
        return None
    if literal.type == "dictionary":
        text = _dictionary_entry(task, source, entries)
    else:
        text = _list_entry(task, source, entries)
    if text is None or not _parses(f"{{{text}}}"):
        return None
    texts = [_sort_text(source, e) for e in entries]
    key = text.partition(":")[0] if literal.type == "dictionary" else text
    at = sorted_position(texts, key.strip().strip("\"'"))
    start, end, new = added_entry(source.data, literal, entries, at, text)
    patch.replace(source.path, start, end, new)
    _import_names(text, source, sources, patch)
    return text


_ENTRY_TYPES = frozenset(
    "pair string integer float identifier attribute call tuple list dictionary true false none unary_operator "
    "concatenated_string subscript lambda binary_operator set".split()
)


def _literal(value: Node | None) -> Node | None:
    """The dictionary or list of a value: itself, or the only argument of a call (`frozenset({…})`)."""
    if value is None or value.type == "dictionary" or value.type in _LISTS:
        return value
    arguments = value.child_by_field_name("arguments") if value.type == "call" else None
    inner = arguments.named_child(0) if arguments is not None and arguments.named_child_count == 1 else None
    return inner if inner is not None and (inner.type == "dictionary" or inner.type in _LISTS) else None


def _sort_text(source: SourceText, entry: Node) -> str:
    key = entry.child_by_field_name("key") if entry.type == "pair" else entry
    return source.slice(key).strip("\"'") if key is not None else ""


def _dictionary_entry(task: ExactTask, source: SourceText, entries: Sequence[Node]) -> str | None:
    match = _PAIR.fullmatch(task.new)
    if match is None:
        return None
    keys = [source.slice(k) for e in entries if (k := e.child_by_field_name("key")) is not None]
    key, value = match["key"], match["value"]
    strings = bool(keys) and all(is_string(k) for k in keys)
    if is_string(key) or strings:
        key = in_quotes_of(key if is_string(key) else f'"{key}"', keys)
    if any(key.strip("\"'") == k.strip("\"'") for k in keys):
        raise GenerationFailed(i18n.message("exact.already_there", name=key, path=source.path))
    values = [source.slice(v) for e in entries if (v := e.child_by_field_name("value")) is not None]
    if values and all(is_string(v) for v in values):
        value = in_quotes_of(value if is_string(value) else f'"{value}"', values)
    return f"{key}: {value}"


def _list_entry(task: ExactTask, source: SourceText, entries: Sequence[Node]) -> str | None:
    texts = [source.slice(e) for e in entries]
    text = task.new
    strings = bool(texts) and all(is_string(t) for t in texts)
    if strings and not is_string(text):
        if not re.fullmatch(r"[\w./:@+*-]+", text):
            return None
        text = f'"{text}"'
    if is_string(text):
        text = in_quotes_of(text, texts)
    elif not re.fullmatch(r"-?[\d_.]+|[A-Za-z_][\w.]*(?:\(.*\))?|[(\[{].*[)\]}]", text, re.S):
        return None
    elif text.isidentifier() and (owner := shared_object(entries)):
        text = f"{owner}.{text}"
    elif re.fullmatch(r"[a-z]+", text) and not any(re.fullmatch(r"\w+", t) for t in texts):
        return None  # a word, not a name
    if text in texts or text.strip("\"'") in [t.strip("\"'") for t in texts if is_string(t)]:
        raise GenerationFailed(i18n.message("exact.already_there", name=text, path=source.path))
    return text


def in_quotes_of(text: str, siblings: Sequence[str]) -> str:
    """A plain string literal in the quotes that most of its siblings have."""
    match = re.fullmatch(r"(['\"])([^'\"\\]*)\1", text)
    if match is None:
        return text
    marks = [s[-1] for s in siblings if is_string(s)]
    quote = max(set(marks), key=marks.count) if marks else match[1]
    return f"{quote}{match[2]}{quote}"


def _import_names(text: str, source: SourceText, sources: Sources, patch: Patch) -> None:
    """Import the names of an entry that one file of the repository defines."""
    tree = parse_expression(f"{{{text}}}")
    index = sources.workspace.index
    for name in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}):
        table = name_table(source, name)
        if source.root is None or source.root.id in table.bound or hasattr(__import__("builtins"), name):
            continue
        places = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
        if len(places) != 1:
            patch.notes.append(i18n.message("exact.not_imported", name=name, path=source.path))
            continue
        project = PythonProject(sources, modules_of(index))
        module = import_path(project, source, places.pop())
        add_import(project, source, WantedImport(module, name), patch)


def import_path(project: PythonProject, source: SourceText, target: str) -> str:
    """How a file imports another: relatively where it imports its neighbours like that."""
    name = project.modules.name_of(target)
    own = project.modules.name_of(source.path)
    package = own if source.path.endswith("__init__.py") else own.rpartition(".")[0]
    relative = re.search(rb"^from \.", source.data, re.M) is not None
    if not relative or not package:
        return name
    if name == package or name.startswith(f"{package}."):
        return f".{name[len(package) + 1 :]}"
    return name


def _parses(text: str) -> bool:
    try:
        parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _indent(source: SourceText, node: Node) -> str:
    line = source.line_text(node.start_point[0] + 1)
    return line[: len(line) - len(line.lstrip())]


def _line_end(source: SourceText, offset: int) -> int:
    end = source.data.find(b"\n", offset)
    return end if end >= 0 else len(source.data)


# Removal


def remove_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove an entry of a dictionary or list that the task names.

    Args:
        task: the key or element in `new`, what it is removed from in `name`.
        sources: the files.

    Returns:
        The change; None where that is no dictionary or list.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: there is no such entry.
    """
    wanted = task.new.strip().strip("\"'`")
    task = _holding(task, wanted, sources)
    elsewhere = remove_braced_member(task, sources)
    if elsewhere is not None:
        return elsewhere
    found = _container(task, sources)
    if found is None:
        return None
    symbol, source, node = found
    literal = _literal(node.child_by_field_name("right")) if node.type == "assignment" else None
    if literal is None:
        return None
    entries = [c for c in literal.named_children if c.type != "comment"]
    written = f"{owner}.{wanted}" if wanted.isidentifier() and (owner := shared_object(entries)) else wanted
    removed = {n for n, entry in enumerate(entries) if _sort_text(source, entry) == written}
    if len(removed) != 1:
        if removed or not is_string(task.new):
            return None
        raise GenerationFailed(i18n.message("exact.no_such_name_in", name=wanted, place=task.name))
    patch = Patch()
    for start, end in removed_spans(source.data, entries, removed):
        lone_tuple = literal.type == "tuple" and len(entries) == 2
        patch.replace(source.path, start, end, "," if lone_tuple and 1 in removed else "")
    patch.edits.append(Edit("remove_member", source.path, symbol.qualified))
    return patch


def _holding(task: ExactTask, wanted: str, sources: Sources) -> ExactTask:
    """The task with the file of the one among several definitions of the name that has an entry."""
    found = candidates(task.name, task, sources)
    if len({s.path for s in found}) < 2:
        return task
    quoted = re.compile(rf"[\"']{re.escape(wanted)}[\"']")
    lines = sources.workspace.index.lines
    held = {s.path for s in found if quoted.search(lines(s.path, s.start_line, s.end_line) or "")}
    return replace(task, places=(*task.places, NamedPlace(held.pop(), "file"))) if len(held) == 1 else task
