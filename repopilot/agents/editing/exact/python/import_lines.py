"""Adds and removes imports of Python files in the order and the style that the file has."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.modules import imported_names
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, SourceText
from repopilot.errors import GenerationFailed

_STATEMENTS = ("import_statement", "import_from_statement", "future_import_statement")
_PLAIN = re.compile(r"import\s+([\w.]+)(?:\s+as\s+(\w+))?\s*")
_FROM = re.compile(r"from\s+(\.*[\w.]*)\s+import\s+(\w+)(?:\s+as\s+(\w+))?\s*")
_LINE = 88


@dataclass(frozen=True, slots=True)
class WantedImport:
    """`import module as local`, or with a `name` `from module import name as local`."""

    module: str
    name: str = ""
    local: str = ""

    @property
    def bound(self) -> str:
        """The name it binds."""
        return self.local or self.name or self.module.partition(".")[0]

    @property
    def item(self) -> str:
        """What follows `import`."""
        return (self.name or self.module) + (f" as {self.local}" if self.local else "")

    @property
    def statement(self) -> str:
        """The statement."""
        return f"from {self.module} import {self.item}" if self.name else f"import {self.item}"


def wanted_import(text: str) -> WantedImport | None:
    """The import that a text is; None for anything but one statement with one name."""
    match = _PLAIN.fullmatch(text.strip())
    if match:
        return WantedImport(match[1], "", match[2] or "")
    match = _FROM.fullmatch(text.strip())
    return WantedImport(match[1], match[2], match[3] or "") if match and match[1] else None


def top_imports(source: SourceText) -> list[Node]:
    """The import statements at the top level of a file."""
    return [n for n in source.root.named_children if n.type in _STATEMENTS] if source.root is not None else []


def add_import(project: PythonProject, source: SourceText, wanted: WantedImport, patch: Patch) -> bool:
    """Add an import where it belongs.

    Args:
        project: the repository.
        source: the file.
        wanted: the import.
        patch: receives the change.

    Returns:
        Whether it had to be added; False where the file has it.

    Raises:
        GenerationFailed: the file binds the name to something else.
    """
    statements = top_imports(source)
    for statement in statements:
        for item in imported_names(source, statement):
            same = (item.module, item.name, item.local) == (_module_of(wanted), wanted.name, wanted.bound)
            if same and (wanted.name or wanted.local or _has_module(source, statement, wanted.module)):
                return False
    _check_free(source, wanted)
    joining = [s for s in statements if wanted.name and _imports_from(source, s) == wanted.module]
    joined = joining[0] if joining else None
    if joined is not None and wanted.module != "__future__" and not _is_single_line_style(source, statements):
        _join(source, joined, wanted, patch)
    else:
        _insert(project, source, statements, wanted, patch)
    return True


def add_typing_import(project: PythonProject, source: SourceText, wanted: WantedImport, patch: Patch) -> None:
    """Add an import to a file's block for type checkers, with the block where there is none.

    Args:
        project: the repository.
        source: the file.
        wanted: the import.
        patch: receives the change.
    """
    for node in source.root.named_children if source.root is not None else ():
        body = node.child_by_field_name("consequence") if node.type == "if_statement" else None
        condition = node.child_by_field_name("condition")
        if body is None or condition is None or source.slice(condition).rpartition(".")[2] != "TYPE_CHECKING":
            continue
        if any(
            i.local == wanted.bound
            for s in body.named_children
            if s.type in _STATEMENTS
            for i in imported_names(source, s)
        ):
            return
        end = _line_end(source, body.end_byte)
        patch.replace(source.path, end, end, f"\n{_indent_of(source, body.named_children[0])}{wanted.statement}")
        return
    statements = top_imports(source)
    end = _line_end(source, statements[-1].end_byte) if statements else 0
    lead = "\n\n" if statements else ""
    rest = "" if statements else "\n\n"
    patch.replace(source.path, end, end, f"{lead}if {typing_condition(source)}:\n    {wanted.statement}{rest}")


def typing_condition(source: SourceText) -> str:
    """What is true for type checkers only, as a file may write it: `TYPE_CHECKING`, or `typing.TYPE_CHECKING`."""
    for statement in top_imports(source):
        for item in imported_names(source, statement):
            if item.module == "typing" and not item.name and not _binds(source, "TYPE_CHECKING"):
                return f"{item.local}.TYPE_CHECKING"
    return "TYPE_CHECKING"


def _binds(source: SourceText, name: str) -> bool:
    table = name_table(source, name)
    return source.root is not None and bool(table.bound.get(source.root.id))


def _is_single_line_style(source: SourceText, statements: list[Node]) -> bool:
    """Whether a file imports each name by a statement of its own, also several from one module."""
    modules = [_imports_from(source, s) for s in statements if s.type == "import_from_statement"]
    names = [len(s.children_by_field_name("name")) for s in statements if s.type == "import_from_statement"]
    return len(modules) > len(set(modules)) and max(names, default=0) == 1


def _module_of(wanted: WantedImport) -> str:
    return wanted.module if wanted.name or wanted.local else wanted.module.partition(".")[0]


def _has_module(source: SourceText, statement: Node, module: str) -> bool:
    return any(source.slice(n) == module for n in statement.children_by_field_name("name"))


def _check_free(source: SourceText, wanted: WantedImport) -> None:
    table = name_table(source, wanted.bound)
    binds = table.bound.get(source.root.id, []) if source.root is not None else []
    if wanted.name == "" and not wanted.local:
        binds = [u for u in binds if not _in_plain_import(u.node)]
    if binds:
        line = source.line_of(binds[0].start)
        raise GenerationFailed(i18n.message("exact.name_taken", name=wanted.bound, path=source.path, line=line))


def _in_plain_import(node: Node) -> bool:
    current: Node | None = node
    while current is not None and current.type not in _STATEMENTS:
        current = current.parent
    return current is not None and current.type == "import_statement"


def _imports_from(source: SourceText, statement: Node) -> str:
    """The module of a `from` import that more names can join: one without a star and without a comment behind it."""
    module = statement.child_by_field_name("module_name")
    if statement.type != "import_from_statement" or module is None:
        return ""
    line_end = source.data.find(b"\n", statement.end_byte)
    rest = source.data[statement.end_byte : line_end if line_end >= 0 else len(source.data)].strip()
    names = statement.children_by_field_name("name")
    return source.slice(module).replace(" ", "") if names and not rest else ""


def _join(source: SourceText, statement: Node, wanted: WantedImport, patch: Patch) -> None:
    """Add a name to a `from` import, in its order where it has one."""
    names = statement.children_by_field_name("name")
    texts = [source.slice(n) for n in names]
    at = _position(texts, wanted.item)
    multiline = statement.start_point[0] != statement.end_point[0]
    if multiline:
        indent = _indent_of(source, names[0])
        alone = names[0].start_point[0] != statement.start_point[0]
        if alone and at < len(names):
            patch.replace(source.path, names[at].start_byte, names[at].start_byte, f"{wanted.item},\n{indent}")
        elif alone:
            patch.replace(source.path, names[-1].end_byte, names[-1].end_byte, f",\n{indent}{wanted.item}")
            return
        else:
            _inline(source, names, at, wanted, patch)
        return
    line = source.line_text(statement.start_point[0] + 1)
    if len(line) + len(wanted.item) + 2 <= max(_LINE, len(line)) or "(" in line:
        _inline(source, names, at, wanted, patch)
        return
    ordered = [*texts[:at], wanted.item, *texts[at:]]
    indent = line[: len(line) - len(line.lstrip())]
    rows = "".join(f"{indent}    {text},\n" for text in ordered)
    patch.replace(source.path, names[0].start_byte, names[-1].end_byte, f"(\n{rows}{indent})")


def _inline(source: SourceText, names: list[Node], at: int, wanted: WantedImport, patch: Patch) -> None:
    if at < len(names):
        patch.replace(source.path, names[at].start_byte, names[at].start_byte, f"{wanted.item}, ")
    else:
        patch.replace(source.path, names[-1].end_byte, names[-1].end_byte, f", {wanted.item}")


def _indent_of(source: SourceText, node: Node) -> str:
    line = source.line_text(node.start_point[0] + 1)
    return line[: len(line) - len(line.lstrip())]


def _position(texts: list[str], new: str) -> int:
    """Where a text belongs among sorted ones; at the end of unsorted ones."""
    keys: tuple[Callable[[str], tuple[int, str]], ...] = (_isort_key, lambda t: (0, t), lambda t: (0, t.lower()))
    for key in keys:
        if sorted(texts, key=key) == texts:
            return next((n for n, text in enumerate(texts) if key(text) > key(new)), len(texts))
    return len(texts)


def _isort_key(text: str) -> tuple[int, str]:
    """Constants, then classes, then the rest."""
    name = text.partition(" ")[0]
    rank = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return rank, name.lower()


def _section(project: PythonProject, path: str, module: str) -> int:
    """0 for `__future__`, 1 for the standard library, 2 for other packages, 3 for this repository, 4 for relative."""
    if module == "__future__":
        return 0
    if module.startswith("."):
        return 4
    if module.partition(".")[0] in sys.stdlib_module_names:
        return 1
    first = module.partition(".")[0]
    inside = project.modules.find(path, module) or project.modules.find(path, first)
    return 3 if inside else 2


def _module_text(source: SourceText, statement: Node) -> str:
    if statement.type == "future_import_statement":
        return "__future__"
    module = statement.child_by_field_name("module_name")
    if module is not None:
        return source.slice(module).replace(" ", "")
    first = statement.children_by_field_name("name")[0]
    inner = first.child_by_field_name("name") if first.type == "aliased_import" else first
    return source.slice(inner) if inner is not None else ""


def _insert(
    project: PythonProject, source: SourceText, statements: list[Node], wanted: WantedImport, patch: Patch
) -> None:
    """Insert a statement into its section, before the first that sorts after it."""
    if not statements:
        _insert_first(source, wanted, patch)
        return
    section = _section(project, source.path, wanted.module)
    block = list(_leading(statements))
    same = [s for s in block if _section(project, source.path, _module_text(source, s)) == section]
    if same:
        key = (bool(wanted.name), wanted.module.lower())
        keys = [(s.type != "import_statement", _module_text(source, s).lower()) for s in same]
        forced = [k[1] for k in keys]
        by_name = keys != sorted(keys) and forced == sorted(forced)
        later = (k for k in range(len(same)) if (forced[k] > key[1] if by_name else keys[k] > key))
        at = next(later, None) if by_name or keys == sorted(keys) else None
        _insert_before(source, same[at], wanted, patch) if at is not None else _insert_after(
            source, same[-1], wanted, patch
        )
        return
    earlier = [s for s in block if _section(project, source.path, _module_text(source, s)) < section]
    if earlier:
        end = _line_end(source, earlier[-1].end_byte)
        gap = "\n" if _is_spaced(project, source, block) else ""
        patch.replace(source.path, end, end, f"\n{gap}{wanted.statement}")
    else:
        gap = "\n" if _is_spaced(project, source, block) else ""
        patch.replace(source.path, block[0].start_byte, block[0].start_byte, f"{wanted.statement}\n{gap}")


def _is_spaced(project: PythonProject, source: SourceText, block: list[Node]) -> bool:
    """Whether the file has blank lines between sections; with one section it may as well."""
    sections = [_section(project, source.path, _module_text(source, s)) for s in block]
    borders = [n for n in range(1, len(block)) if sections[n] != sections[n - 1]]
    return not borders or any(block[n].start_point[0] - block[n - 1].end_point[0] > 1 for n in borders)


def _leading(statements: list[Node]) -> Iterator[Node]:
    """The imports at the beginning of a file, up to the first that other code precedes."""
    last: Node | None = None
    for statement in statements:
        before = statement.prev_named_sibling
        while before is not None and before.type == "comment":
            before = before.prev_named_sibling
        if last is not None and (before is None or before.type not in _STATEMENTS):
            return
        yield statement
        last = statement


def _insert_before(source: SourceText, node: Node, wanted: WantedImport, patch: Patch) -> None:
    patch.replace(source.path, node.start_byte, node.start_byte, f"{wanted.statement}\n")


def _insert_after(source: SourceText, node: Node, wanted: WantedImport, patch: Patch) -> None:
    end = _line_end(source, node.end_byte)
    patch.replace(source.path, end, end, f"\n{wanted.statement}")


def _line_end(source: SourceText, offset: int) -> int:
    end = source.data.find(b"\n", offset)
    return end if end >= 0 else len(source.data)


def _insert_first(source: SourceText, wanted: WantedImport, patch: Patch) -> None:
    """Insert the first import of a file: behind its header and docstring."""
    assert source.root is not None
    children = list(source.root.named_children)
    comments = 0
    while comments < len(children) and children[comments].type == "comment":
        comments += 1
    first = children[comments] if comments < len(children) else None
    if first is not None and _is_docstring(first):
        end = _line_end(source, first.end_byte)
        following = source.data[end:].lstrip(b"\n")
        gap = "\n" if following and not source.data[end:].startswith(b"\n\n") else ""
        patch.replace(source.path, end, end, f"\n\n{wanted.statement}{gap}")
    elif first is not None:
        gap = "\n\n\n" if first.type in ("function_definition", "class_definition", "decorated_definition") else "\n\n"
        patch.replace(source.path, first.start_byte, first.start_byte, wanted.statement + gap)
    else:
        end = len(source.data)
        gap = "\n" if source.data and not source.data.endswith(b"\n") else ""
        patch.replace(source.path, end, end, f"{gap}{wanted.statement}\n")


def _is_docstring(node: Node) -> bool:
    inner = node.named_child(0) if node.type == "expression_statement" else node
    return inner is not None and inner.type == "string"


def remove_names(source: SourceText, statement: Node, locals_: Collection[str], patch: Patch) -> bool:
    """Remove what an import binds to some names, with the statement where nothing else is left of it.

    Args:
        source: the file.
        statement: the import statement.
        locals_: the names that it binds.
        patch: receives the change.

    Returns:
        Whether the statement binds one of the names.
    """
    names = statement.children_by_field_name("name")
    items = imported_names(source, statement)
    removed = {n for n, item in enumerate(items) if item.local in locals_ and n < len(names)}
    if not removed:
        return False
    if len(removed) == len(names):
        start, end = whole_lines(source, statement.start_byte, statement.end_byte)
        indent = _indent_of(source, statement)
        patch.replace(source.path, start, end, f"{indent}pass\n" if _only_statement(statement) else "")
        return True
    for start, end in removed_spans(source.data, names, removed):
        patch.replace(source.path, start, end, "")
    return True


def _only_statement(statement: Node) -> bool:
    """Whether the block around a statement would be empty without it."""
    block = statement.parent
    if block is None or block.type != "block":
        return False
    return sum(1 for child in block.named_children if child.type != "comment") == 1


def whole_lines(source: SourceText, start: int, end: int) -> tuple[int, int]:
    """The lines that a range of bytes stands on alone, with their line end; else the range itself."""
    data = source.data
    first = data.rfind(b"\n", 0, start) + 1
    last = re.compile(rb"[ \t]*;?[ \t]*(?:#[^\n]*)?(?:\n|$)").match(data, end)
    if data[first:start].strip() or last is None:
        semicolon = re.compile(rb"[ \t]*;[ \t]*").match(data, end)
        return start, semicolon.end() if semicolon else end
    return first, last.end()
