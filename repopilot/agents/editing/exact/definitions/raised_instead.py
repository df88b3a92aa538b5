"""Adds an exception to a Python file, and raises it where functions raise the one that it is made of."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from repopilot.agents.editing.exact.definitions.docstring_styles import docstring_node, quotes_of, summary_of
from repopilot.agents.editing.exact.definitions.named_definition import (
    decorated,
    line_end,
    project_of,
    python_definition,
)
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.exports.export_lists import add_export, export_list, exported_names
from repopilot.agents.editing.exact.exports.python_packages import export_from_package, top_package
from repopilot.agents.editing.exact.fragments.certain_imports import swap_imports, unused_without
from repopilot.agents.editing.exact.locate import check_editable, one_definition
from repopilot.agents.editing.exact.members import import_path
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject
from repopilot.agents.editing.exact.python.import_lines import WantedImport
from repopilot.agents.editing.exact.python.modules import imported_names
from repopilot.agents.editing.exact.python.name_uses import FUNCTIONS, name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.task_names import place_named
from repopilot.agents.editing.exact.wording.raise_wording import raised_instead
from repopilot.agents.editing.exact.wording.task_shape import Shape
from repopilot.types import Edit, Symbol

_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")
_ERRORS_FILE = re.compile(r"(?:^|/)_?(?:exceptions?|errors?|exc)\.py$")


def exchanged_exception(shape: Shape, sources: Sources) -> Iterator[ExactTask]:
    """The exception that a task wants raised instead of another.

    Args:
        shape: of the whole task.
        sources: the files.
    """
    wanted = raised_instead(shape)
    if wanted is None:
        return
    extra = {
        "functions": " ".join(wanted.functions),
        "described": " ".join(wanted.described),
        "path": place_named(wanted.path, sources) if wanted.path else "",
        "file": place_named(wanted.file, sources) if wanted.file else "",
        "several": "yes" if wanted.several else "",
    }
    yield ExactTask("raise_instead", wanted.new, "class", wanted.new, wanted.old, extra=extra)


def raise_instead(task: ExactTask, sources: Sources) -> Patch | None:
    """Add an exception and raise it instead of its base.

    Args:
        task: of kind raise_instead: the exception in `new`, its base in `old`; in `extra` the names of the `functions`
            or the words by which two are `described`, the `path` of the exception and the `file` of the functions.
        sources: the files.

    Returns:
        The change; None where it isn't certain which `raise` are meant, or where the exception belongs.

    Raises:
        PlaceAmbiguous: several functions have a name.
        GenerationFailed: a file is generated.
    """
    if sources.workspace.index.symbols(task.new) or hasattr(builtins, task.new):
        return None
    project = project_of(sources)
    found = _functions(task, project)
    raised = [(source, node, _raised(source, node, task.old)) for source, node in found]
    several = bool(task.extra["several"])
    if not raised or any(not names or (len(names) > 1 and not several) for _, _, names in raised):
        return None
    target = _target(task, [source for source, _, _ in raised], sources)
    if target is None or not _knows_base(project, target, task.old):
        return None
    patch = Patch()
    for source, node, names in raised:
        check_editable(source.path, task, sources)
        for start, end in (*((n.start_byte, n.end_byte) for n in names), *_documented(source, node, task.old)):
            patch.replace(source.path, start, end, task.new)
        patch.edits.append(Edit("replace_code", source.path, _label(source, node), task.new))
    for other in {s.path: s for s, _, _ in raised if s.path != target.path}.values():
        if _imports(project, target, other.path):
            return None
        spans = [(n.start_byte, n.end_byte) for s, _, names in raised if s.path == other.path for n in names]
        wanted = WantedImport(import_path(project, other, target.path), task.new)
        swap_imports(project, other, [wanted], unused_without(other, spans, {task.old}), patch)
    _define(project, target, task, patch)
    return patch


def _label(source: SourceText, node: Node) -> str:
    name = node.child_by_field_name("name")
    return source.slice(name) if name is not None else ""


# The functions


def _functions(task: ExactTask, project: PythonProject) -> list[tuple[SourceText, Node]]:
    """The functions that a task names or describes; [] where that isn't certain."""
    path = task.extra["file"] or task.extra["path"]
    if not task.extra["functions"]:
        return _both(task, path, project) if path else []
    found = []
    for name in task.extra["functions"].split():
        places = (NamedPlace(task.extra["file"], "file"),) if task.extra["file"] else ()
        symbol = one_definition(name, ExactTask(task.kind, name, places=places), project.sources)
        definition = python_definition(symbol, project.sources) if symbol is not None else None
        if definition is None or definition.node.type != "function_definition":
            return []
        found.append((definition.source, definition.node))
    return found


def _both(task: ExactTask, path: str, project: PythonProject) -> list[tuple[SourceText, Node]]:
    """The two functions of a file that raise an exception, if the words for them fit their names."""
    source = project.sources.get(path)
    children = source.root.named_children if source is not None and source.root is not None else []
    inner = [c.child_by_field_name("definition") or c for c in children]
    functions = [n for n in inner if n.type == "function_definition"]
    found = [(source, n) for n in functions if source is not None and _raised(source, n, task.old)]
    words = task.extra["described"].split()
    labels = [_label(source, n).lower() for source, n in found]
    fits = not words or any(all(word.rstrip("s") in label for label in labels) for word in words)
    return found if len(found) == 2 and fits else []


def _raised(source: SourceText, function: Node, old: str) -> list[Node]:
    """The names in `raise Old(…)` of a function; [] where it raises that in another way too."""
    found: list[Node] = []
    pending = list(function.named_children)
    while pending:
        node = pending.pop()
        if node.type in FUNCTIONS or node.type == "class_definition":
            continue
        value = node.named_child(0) if node.type == "raise_statement" else None
        called = value.child_by_field_name("function") if value is not None and value.type == "call" else None
        if called is not None and source.slice(called) == old:
            found.append(called)
        elif value is not None and source.slice(value) == old:
            return []
        pending.extend(node.named_children)
    return found


def _documented(source: SourceText, function: Node, old: str) -> Iterator[tuple[int, int]]:
    """Where the docstring of a function says that it raises an exception."""
    docstring = docstring_node(source, function)
    if docstring is None:
        return
    word = re.escape(old.encode("utf-8"))
    forms = re.compile(rb":raises?[ \t]+(?P<a>%b):|^[ \t]+(?P<b>%b)(?=:[ \t]|[ \t]*$)" % (word, word), re.M)
    for match in forms.finditer(source.data, docstring.start_byte, docstring.end_byte):
        yield match.span(match.lastgroup or 0)


# The exception


def _target(task: ExactTask, raising: Sequence[SourceText], sources: Sources) -> SourceText | None:
    """The file of the new exception: the one that the task names, else that of the functions if it has some."""
    if task.extra["path"]:
        return sources.get(task.extra["path"])
    paths = {source.path for source in raising}
    elsewhere = any(_ERRORS_FILE.search(path) for path in sources.workspace.index.files)
    source = raising[0]
    if len(paths) > 1 or (elsewhere and not errors_in(project_of(sources), source)):
        return None
    return source


def _knows_base(project: PythonProject, target: SourceText, base: str) -> bool:
    """Whether a file can name the base: Python's own, or an exception that it defines or imports."""
    known = getattr(builtins, base, None)
    table = name_table(target, base)
    bound = target.root is not None and bool(table.bound.get(target.root.id))
    if isinstance(known, type) and issubclass(known, BaseException):
        return not bound
    found = project.module_name(target.path, base) if bound else None
    return found is not None and found.kind == "class" and _is_error(project, found.place)


def errors_in(project: PythonProject, source: SourceText) -> list[Node]:
    """The exceptions that a file defines at its top level."""
    inner = [c.child_by_field_name("definition") or c for c in (source.root.named_children if source.root else ())]
    classes = [n for n in inner if n.type == "class_definition"]
    return [n for n in classes if _is_error(project, ClassPlace(source.path, n.start_byte))]


def _is_error(project: PythonProject, place: ClassPlace) -> bool:
    outside = (getattr(builtins, name, None) for name in project.outside_names(place))
    return any(isinstance(known, type) and issubclass(known, BaseException) for known in outside)


def _imports(project: PythonProject, source: SourceText, path: str) -> bool:
    """Whether a file imports another, at any place."""
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop()
        if node.type in _IMPORTS:
            for item in imported_names(source, node):
                dot = "." if item.module.strip(".") else ""
                inner = f"{item.module}{dot}{item.name}" if item.name else item.module
                if path in (project.modules.find(source.path, item.module), project.modules.find(source.path, inner)):
                    return True
        pending.extend(node.named_children)
    return False


def _define(project: PythonProject, source: SourceText, task: ExactTask, patch: Patch) -> None:
    """Write the class behind the last exception of a file, else behind its imports, and export it like the others."""
    errors = errors_in(project, source)
    text = f"class {task.new}({task.old}):\n" + "".join(
        f"    {row}\n" if row else "\n" for row in _body(source, errors, task)
    )
    last = decorated(errors[-1]) if errors else _last_import(source)
    if last is None:
        patch.replace(source.path, 0, 0, f"{text}\n\n")
    else:
        end = line_end(source, last.end_byte)
        after = re.match(rb"\n*", source.data[end:])
        blank = len(after[0]) - 1 if after is not None else 0
        more = "\n" * max(0, 2 - blank) if source.data[end:].strip() else ""
        patch.replace(source.path, end, end, f"\n\n\n{text.rstrip()}{more}")
    patch.edits.append(Edit("add_definition", source.path, task.new, text))
    names = [_label(source, node) for node in errors]
    listed = export_list(source)
    if listed is not None and set(names) & set(exported_names(source, listed)):
        add_export(source, task.new, patch)
    _export(project, source, task.new, [name for name in names if not name.startswith("_")], patch)


def _export(project: PythonProject, source: SourceText, new: str, names: Sequence[str], patch: Patch) -> None:
    """Export the exception from the package that exports all others of its file."""
    package = top_package(source.path, project.sources)
    other = project.sources.get(package) if package is not None else None
    if package is None or other is None or other.root is None or package == source.path or not names:
        return
    known = [project.module_name(package, name) for name in names]
    if all(found is not None and found.path == source.path for found in known):
        export_from_package(project, Symbol(new, new, "class", source.path, 1, 1), package, patch)


def _body(source: SourceText, errors: Sequence[Node], task: ExactTask) -> list[str]:
    """The lines of the class's body: a docstring where most exceptions of the file have one."""
    documented = [(n, d) for n in errors if (d := docstring_node(source, n)) is not None]
    if len(documented) * 2 <= len(errors):
        return ["pass"]
    texts = [source.slice(d) for _, d in documented]
    quotes, summary = quotes_of(source), summary_of(task.new)
    if sum(text.strip("rR\"' \n").endswith(".") for text in texts) * 2 < len(texts):
        summary = summary.rstrip(".")
    below = sum(re.match(r"[rR]?(?:\"\"\"|''')\s*\n", text) is not None for text in texts) * 2 > len(texts)
    rows = [quotes, summary, quotes] if below else [f"{quotes}{summary}{quotes}"]
    passing = sum(_has_pass(n) for n, _ in documented) * 2 > len(documented)
    return [*rows, "", "pass"] if passing else rows


def _has_pass(node: Node) -> bool:
    body = node.child_by_field_name("body")
    return body is not None and any(c.type == "pass_statement" for c in body.named_children)


def _last_import(source: SourceText) -> Node | None:
    """The last import at the top of a file, also one under a condition."""
    found = None
    for node in source.root.named_children if source.root is not None else ():
        if node.type in ("class_definition", "function_definition", "decorated_definition"):
            break
        inside = node.type in ("if_statement", "try_statement") and b"import " in (node.text or b"")
        found = node if node.type in _IMPORTS or inside else found
    return found
