"""Adds a statement that a task gives in full to a file, class or struct."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import indent_of, line_end, project_of
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import missing_imports, names_in, swap_imports
from repopilot.agents.editing.exact.locate import candidates, check_editable, owners, task_paths
from repopilot.agents.editing.exact.members import add_member, unwrapped
from repopilot.agents.editing.exact.python.import_lines import top_imports
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, word_pattern
from repopilot.code.python_ast import parse_python
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_FIELD_LISTS = frozenset(
    "field_declaration_list class_body interface_body object_type enum_body enum_variant_list "
    "enum_body_declarations declaration_list".split()
)
_DECLARED = re.compile(
    r"(?:export\s+)?(?:pub(?:\([\w\s]+\))?\s+)?(?:(?:const|let|var|static|type|readonly|private|public|protected|final|"
    r"declare|mut|async|function|fn|func|class|struct|enum|interface)\s+)*(?P<name>[A-Za-z_$][\w$]*)"
)
_ONLY_A_NAME = re.compile(r"[A-Za-z_$][\w$.]*(?:\([^()]*\))?;?")
"""What only names what is to be written: a name, or a signature."""
_CONSTANTS = (
    "lexical_declaration",
    "variable_declaration",
    "const_declaration",
    "var_declaration",
    "const_item",
    "static_item",
)
_IMPORTS = (
    "import_statement",
    "import_declaration",
    "use_declaration",
    "package_clause",
    "extern_crate_declaration",
    "mod_item",
)


def add_definition_text(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a statement: to a class with its other fields, to a file with its other constants or behind all else.

    Args:
        task: of kind add_definition_text: the statement in `new`, the file or class in `places` or `name`.
        sources: the files.

    Returns:
        The change; None where no single place is named, or the text is no statement.

    Raises:
        PlaceAmbiguous: several classes have the name.
        GenerationFailed: the place defines that name already.
    """
    text = task.new.strip("\n").strip("`").rstrip()
    holders = owners(task, sources.workspace.index)
    if holders:
        rest = tuple(p for p in task.places if p != holders[0])
        return _into_definition(replace(task, name=holders[0].name, places=rest, new=text.strip()), sources)
    paths = task_paths(task, sources)
    source = sources.get(paths[0]) if len(paths) == 1 else None
    if source is None or source.root is None or not text.strip() or _ONLY_A_NAME.fullmatch(text):
        return None
    check_editable(source.path, task, sources)
    patch = Patch()
    done = (
        _into_python(source, text, sources, patch) if source.language == "python" else _into_file(source, text, patch)
    )
    if not done:
        return None
    patch.edits.append(Edit("add_member", source.path, "", text))
    return patch


# Files


def _into_python(source: SourceText, text: str, sources: Sources, patch: Patch) -> bool:
    try:
        statements = parse_python(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if len(statements) != 1:
        return False
    statement = statements[0]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    defines = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    name = getattr(statement, "name", "") or (target.id if isinstance(target, ast.Name) else "")
    if not name or isinstance(statement, ast.AugAssign | ast.For):
        return False
    _check_free(source, name)
    nodes = list(ast.walk(statement))
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {name, *(n.arg for n in nodes if isinstance(n, ast.arg))}
    # The imports first: what comes at the same place comes behind them.
    swap_imports(project_of(sources), source, missing_imports(project_of(sources), source, text, patch, own), {}, patch)
    (_append if defines else _insert_constant)(source, text, patch)
    return True


def _check_free(source: SourceText, name: str) -> None:
    assert source.root is not None
    if name_table(source, name).bound.get(source.root.id):
        raise GenerationFailed(i18n.message("exact.already_there", name=name, path=source.path))


def _insert_constant(source: SourceText, text: str, patch: Patch) -> None:
    """Behind the last constant before the first definition, and behind what the value uses."""
    assert source.root is not None
    children = list(source.root.named_children)
    kinds = ("function_definition", "class_definition", "decorated_definition")
    first = next((n for n, c in enumerate(children) if c.type in kinds), len(children))
    constants = [c for c in children[:first] if _is_constant(source, c)]
    needed = [c for c in children if c.type != "comment" and _binds_any(source, c, names_in(text))]
    last = max((*constants[-1:], *needed[-1:]), key=lambda c: c.end_byte, default=None)
    if last is not None and last.type not in (*kinds, "import_statement", "import_from_statement"):
        end = line_end(source, last.end_byte)
        patch.replace(source.path, end, end, f"\n{text}")
        return
    if last is not None and last.type in kinds:
        end = line_end(source, last.end_byte)
        patch.replace(source.path, end, end, f"\n\n\n{text}")
        return
    _after_header(source, children, text, patch)


def _is_constant(source: SourceText, statement: Node) -> bool:
    inner = unwrapped(statement)
    left = inner.child_by_field_name("left") if inner.type == "assignment" else None
    written = source.slice(left) if left is not None else ""
    return bool(written) and not re.fullmatch(r"__\w+__", written)


def _binds_any(source: SourceText, statement: Node, names: set[str]) -> bool:
    inner = unwrapped(statement)
    inner = (inner.child_by_field_name("definition") or inner) if inner.type == "decorated_definition" else inner
    label = inner.child_by_field_name("left") or inner.child_by_field_name("name")
    kinds = ("assignment", "function_definition", "class_definition")
    return inner.type in kinds and label is not None and source.slice(label) in names - set(dir(builtins))


def _after_header(source: SourceText, children: Sequence[Node], text: str, patch: Patch) -> None:
    """Behind the imports, or the docstring, or at the beginning."""
    imports = top_imports(source)
    dunders = [c for c in children if unwrapped(c).type == "assignment" and not _is_constant(source, c)]
    code = [c for c in children if c.type != "comment"]
    head = [c for c in code[:1] if unwrapped(c).type == "string"]
    after = max((*imports, *dunders, *head), key=lambda c: c.end_byte, default=None)
    while after is not None and (below := after.next_named_sibling) is not None and _imports_too(source, below):
        after = below
    if after is None:
        start = code[0].start_byte if code else len(source.data)
        gap = "\n\n\n" if code and "definition" in code[0].type else "\n"
        patch.replace(source.path, start, start, f"{text}{gap}")
        return
    end = line_end(source, after.end_byte)
    following = re.compile(rb"\n*").match(source.data, end)
    blank = (following.end() - end) if following is not None else 0
    rest = source.data[end + blank :]
    gap = "" if not rest or blank >= 2 else "\n" * (2 - blank)
    patch.replace(source.path, end, end, f"\n\n{text}{gap}")


def _imports_too(source: SourceText, statement: Node) -> bool:
    """Whether a statement is one that imports under a condition."""
    if statement.type not in ("if_statement", "try_statement"):
        return False
    text = source.slice(statement)
    return (
        "TYPE_CHECKING" in text.partition("\n")[0] or re.search(r"^[^\S\n]+(?:from|import)\s", text, re.M) is not None
    )


def _append(source: SourceText, text: str, patch: Patch) -> None:
    """A function or class at the end of a module, before what runs as a script."""
    main = re.search(rb"^if __name__ ==", source.data, re.M)
    if main is not None:
        patch.replace(source.path, main.start(), main.start(), f"{text}\n\n\n")
        return
    end = len(source.data.rstrip())
    ended = source.data.endswith(b"\n")
    patch.replace(source.path, end, len(source.data), f"\n\n\n{text}" + ("\n" if ended else ""))


def _into_file(source: SourceText, text: str, patch: Patch) -> bool:
    """A declaration of another language: behind the last constant at the top, else behind the imports."""
    match = _DECLARED.match(text)
    assert source.root is not None
    children = list(source.root.named_children)
    if match is None or "\n" in text:
        return False
    for child in children:
        inner = child.child_by_field_name("declaration") or child
        declared = [inner.child_by_field_name("name"), *(c.child_by_field_name("name") for c in inner.named_children)]
        if match["name"] in [source.slice(label) for label in declared if label is not None]:
            raise GenerationFailed(i18n.message("exact.already_there", name=match["name"], path=source.path))
    constants = [c for c in children if (c.child_by_field_name("declaration") or c).type in _CONSTANTS]
    plain = [c for c in constants if c.start_point[0] == c.end_point[0]]
    imports = _leading(source, children)
    requires = [c for c in plain if "require(" in source.slice(c)]
    own = [c for c in plain if c not in requires]
    if source.language in ("javascript", "typescript", "tsx", "rust") and not text.endswith((";", "}")):
        beside = [source.slice(c) for c in (*imports, *constants)]
        semicolons = sum(t.endswith(";") for t in beside) * 2 > len(beside) or (not beside and b";\n" in source.data)
        text += ";" if semicolons or source.language == "rust" else ""
    after = own[0] if own and own[0].start_point[0] < 60 else None
    while after is not None and (below := after.next_named_sibling) is not None and below in own:
        after = below
    if after is not None:
        end = line_end(source, after.end_byte)
        patch.replace(source.path, end, end, f"\n{text}")
        return True
    last = [*imports, *requires]
    if not last:
        patch.replace(source.path, 0, 0, f"{text}\n\n")
        return True
    end = line_end(source, max(c.end_byte for c in last))
    patch.replace(source.path, end, end, f"\n\n{text}")
    return True


def _leading(source: SourceText, children: Sequence[Node]) -> list[Node]:
    """The imports at the beginning of a file."""
    found = []
    for child in children:
        if child.type in _IMPORTS or source.slice(child).startswith(("'use strict'", '"use strict"')):
            found.append(child)
        elif "comment" not in child.type and "attribute" not in child.type and "require(" not in source.slice(child):
            break
    return found


# Classes, structs, interfaces


def _into_definition(task: ExactTask, sources: Sources) -> Patch | None:
    """A field of a class; in Python as a member, which has the order of the others."""
    found = candidates(task.name, task, sources)
    found = [s for s in found if s.name != s.qualified.rpartition(".")[0].rpartition(".")[2]] or found  # constructors
    source = sources.get(found[0].path) if len(found) == 1 else None
    if source is None or source.language == "python":
        return add_member(replace(task, kind="add_member"), sources)
    check_editable(found[0].path, task, sources)
    return _into_fields(source, found[0], task.new)


def _into_fields(source: SourceText, symbol: Symbol, text: str) -> Patch | None:
    """A field behind the last one of a struct, class, interface or enumeration."""
    holder = _field_list(source, symbol)
    match = _DECLARED.match(text)
    if holder is None or match is None or "\n" in text:
        return None
    fields = [c for c in holder.named_children if "comment" not in c.type and "method" not in c.type and c.type not in
              ("function_item", "constructor_declaration", "attribute_item")]  # fmt: skip
    name = match["name"]
    for field in fields:
        label = field.child_by_field_name("name") or field.named_child(0)
        if label is not None and source.slice(label) == name:
            raise GenerationFailed(i18n.message("exact.already_there", name=name, path=source.path))
    if not fields or fields[-1].start_point[0] == holder.start_point[0]:
        return None
    last = fields[-1]
    rest = source.data[last.end_byte : line_end(source, last.end_byte)].decode("utf-8")
    written = source.slice(last)
    mark = next((m for m in (";", ",") if rest.lstrip().startswith(m) or written.endswith(m)), "")
    patch = Patch()
    bare = text.rstrip(";,")
    if source.language == "rust" and not mark:
        patch.replace(source.path, last.end_byte, last.end_byte, ",")
        mark = ","
    end = line_end(source, last.end_byte)
    patch.replace(source.path, end, end, f"\n{indent_of(source, last)}{bare}{mark}")
    patch.edits.append(Edit("add_member", source.path, symbol.qualified, bare))
    return patch


def _field_list(source: SourceText, symbol: Symbol) -> Node | None:
    for match in word_pattern(symbol.name).finditer(source.data):
        node = source.root.descendant_for_byte_range(*match.span()) if source.root is not None else None
        parent = node.parent if node is not None else None
        if node is None or parent is None or not symbol.start_line <= node.start_point[0] + 1 <= symbol.end_line:
            continue
        pending = [parent]
        while pending:
            current = pending.pop(0)
            if current.type in _FIELD_LISTS:
                return current
            if "field_declaration" not in current.type or current.type == "struct_type":
                pending.extend(current.named_children)
    return None
