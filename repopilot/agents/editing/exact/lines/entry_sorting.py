"""Sorts lists, dictionaries, members, lines and imports."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import named_symbol, project_of, python_definition
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.exports.export_lists import export_list
from repopilot.agents.editing.exact.locate import check_editable, dotted, path_named, task_paths
from repopilot.agents.editing.exact.manifests.manifest_tree import pairs_of
from repopilot.agents.editing.exact.members import class_assignments
from repopilot.agents.editing.exact.polyglot import value_node
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, merge
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_RUFF_S = 20.0
_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d+)?")
_LISTS = frozenset("list tuple set dictionary array object array_expression composite_literal literal_value".split())
_ISORT = ("force_single_line", "force_sort_within_sections", "lines_after_imports", "order_by_type", "from_first")
_LINES = re.compile(r"(?:\.txt|\.in|ignore|CODEOWNERS|\.lst|\.list|\.dic|AUTHORS|CONTRIBUTORS)$")


def sort(task: ExactTask, sources: Sources) -> Patch | None:
    """Sort what a task names.

    Args:
        task: of kind sort: a list, dictionary, class, `__all__`, `imports`, a key or a file in `name`, the file in
            `places`; with `reverse` in `extra` from the end.
        sources: the files.

    Returns:
        The change; None where nothing that has an order is named.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it is sorted already, or comments between the entries belong to none of them.
    """
    paths = task_paths(task, sources)
    first = sources.get(paths[0]) if paths else None
    if task.name.lower() in ("imports", "import", "les imports") or task.what == "import":
        return _sort_imports(first, task, sources) if first is not None else None
    if task.name == "__all__" and not paths:
        return _sort_all_exports(task, sources)
    if task.name == "__all__":
        listed = export_list(first) if first is not None and first.root is not None else None
        return _sorted_entries(first, listed, "__all__", task) if first is not None and listed is not None else None
    path = path_named(task.name, sources.workspace.index) or (task.name if sources.get(task.name) is not None else None)
    source = sources.get(path) if path is not None and _LINES.search(path) else None
    if source is not None:
        check_editable(source.path, task, sources)
        return _sort_lines(source, task)
    if first is not None and first.language in ("toml", "json"):
        return _sort_config(first, task)
    return _sort_definition(task, sources)


def _sort_all_exports(task: ExactTask, sources: Sources) -> Patch | None:
    """Sort every `__all__` of the code that isn't sorted."""
    whole, problem = Patch(), None
    for path in sources.mentioning("__all__", ("python",)):
        source = sources.get(path) if not is_test_path(path) and not is_example_path(path) else None
        listed = export_list(source) if source is not None and source.root is not None else None
        try:
            patch = _sorted_entries(source, listed, "__all__", task) if source and listed is not None else None
        except GenerationFailed as error:
            problem = error
            continue
        merge(whole, patch or Patch())
    if problem is not None and not whole.edits:
        raise problem
    return whole if whole.edits else None


def _sort_definition(task: ExactTask, sources: Sources) -> Patch | None:
    symbol = named_symbol(task, sources)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None:
        return None
    definition = python_definition(symbol, sources)
    if definition is None:
        value = next((v for v in value_node(source, symbol, None) if v.type in _LISTS), None)
        return _sorted_entries(source, value, symbol.qualified, task) if value is not None else None
    if definition.node.type == "class_definition":
        members = list(class_assignments(definition.node))
        return _permuted(source, members, [_label(source, m) for m in members], symbol.qualified, task)
    value = definition.node.child_by_field_name("right")
    if value is not None and value.type == "call":
        arguments = value.child_by_field_name("arguments")
        value = next((c for c in arguments.named_children if c.type in _LISTS), None) if arguments is not None else None
    return (
        _sorted_entries(source, value, symbol.qualified, task) if value is not None and value.type in _LISTS else None
    )


def _sort_config(source: SourceText, task: ExactTask) -> Patch | None:
    wanted = dotted(task.name)
    found = [p for p in pairs_of(source) if f".{'.'.join(p.name)}".endswith(f".{wanted}") and p.value.type in _LISTS]
    return _sorted_entries(source, found[0].value, wanted, task) if len(found) == 1 else None


def _sorted_entries(source: SourceText, holder: Node, place: str, task: ExactTask) -> Patch | None:
    check = [c for c in holder.named_children if "comment" not in c.type]
    return _permuted(source, check, [_label(source, e) for e in check], place, task)


def _label(source: SourceText, entry: Node) -> str:
    """What an entry is sorted by: its key or text."""
    key = entry.child_by_field_name("key") or entry.child_by_field_name("left") or entry
    return source.slice(key).strip("\"'`")


def _permuted(
    source: SourceText, entries: Sequence[Node], labels: Sequence[str], place: str, task: ExactTask
) -> Patch | None:
    """Put entries in order: their texts change places, with the comments that stand behind them on their lines."""
    if len(entries) < 2 or any("splat" in e.type or "spread" in e.type for e in entries):
        return None
    order = sorted(range(len(entries)), key=lambda n: _key(labels)(labels[n]), reverse="reverse" in task.extra)
    if order == list(range(len(entries))):
        raise GenerationFailed(i18n.message("exact.sorted_already", name=place, path=source.path))
    _check_comments(source, entries, place)
    tails = [_tail(source, e) for e in entries]
    patch = Patch()
    for number, from_ in enumerate(order):
        entry, (start, end, _) = entries[number], tails[number]
        new, comment = source.slice(entries[from_]), tails[from_][2]
        patch.replace(source.path, entry.start_byte, entry.end_byte, new)
        if comment != tails[number][2]:
            patch.replace(source.path, start, end, comment)
    patch.edits.append(Edit("sort", source.path, place))
    return patch


def _key(labels: Sequence[str]) -> Callable[[str], tuple[float, str]]:
    """Numbers by value, texts by their characters."""
    if all(_NUMBER.fullmatch(label) for label in labels):
        return lambda label: (float(label.replace("_", "")), "")
    return lambda label: (0.0, label)


def _tail(source: SourceText, entry: Node) -> tuple[int, int, str]:
    """The comment behind an entry on its line: its bytes and text; at the line's end where there is none."""
    match = re.compile(rb"[ \t]*[,;]?(?P<comment>[ \t]*(?:#|//)[^\n]*)?(?=\n|$)").match(source.data, entry.end_byte)
    if match is None:
        return entry.end_byte, entry.end_byte, ""
    start, end = match.span("comment") if match["comment"] else (match.end(), match.end())
    return start, end, source.data[start:end].decode("utf-8")


def _check_comments(source: SourceText, entries: Sequence[Node], place: str) -> None:
    """Refuse comments on lines of their own: it isn't certain what they belong to.

    Raises:
        GenerationFailed: there are some.
    """
    holder = entries[0].parent
    first = holder.start_byte if holder is not None and "block" not in holder.type else entries[0].start_byte
    between = source.data[first : entries[-1].end_byte].decode("utf-8")
    if re.search(r"^[^\S\n]*(?:#|//)", between, re.M):
        line = source.line_of(entries[0].start_byte)
        raise GenerationFailed(i18n.message("exact.comments_between", name=place, path=source.path, line=line))


def _sort_lines(source: SourceText, task: ExactTask) -> Patch | None:
    """Sort the lines of each block that blank lines and comments separate."""
    rows = source.text.split("\n")
    new = list(rows)
    start = 0
    for number in range(len(rows) + 1):
        if number < len(rows) and rows[number].strip() and not rows[number].startswith("#"):
            continue
        block = rows[start:number]
        new[start:number] = sorted(block, key=str.lower, reverse="reverse" in task.extra)
        start = number + 1
    if new == rows:
        raise GenerationFailed(i18n.message("exact.sorted_already", name=source.path, path=source.path))
    patch = Patch()
    patch.replace(source.path, 0, len(source.data), "\n".join(new))
    patch.edits.append(Edit("sort", source.path, ""))
    return patch


def _import_settings(source: SourceText, sources: Sources) -> dict[str, str]:
    """How the project says that imports are sorted, for ruff; one name on a line where the file has it like that."""
    own = sources.get("pyproject.toml")
    found: dict[str, str] = {}
    for pair in pairs_of(own) if own is not None else ():
        if pair.value.type not in ("boolean", "integer"):
            continue
        if pair.name[:2] == ("tool", "ruff") and "isort" in pair.name[2:-1]:
            found[f"lint.isort.{pair.name[-1]}"] = own.slice(pair.value) if own is not None else ""
        elif pair.name in (("tool", "ruff", "line-length"), ("tool", "isort", "line_length")):
            found["line-length"] = own.slice(pair.value) if own is not None else ""
        elif pair.name[:2] == ("tool", "isort") and pair.name[-1] in _ISORT and own is not None:
            found[f"lint.isort.{pair.name[-1].replace('_', '-')}"] = own.slice(pair.value)
    modules = re.findall(r"^from (\S+) import \w+$", source.text, re.M)
    if len(modules) > len(set(modules)) + 1:
        found.setdefault("lint.isort.force-single-line", "true")
    return found


def _sort_imports(source: SourceText, task: ExactTask, sources: Sources) -> Patch | None:
    """Sort the imports of a Python file, as ruff and isort do."""
    if source.language != "python":
        return None
    check_editable(source.path, task, sources)
    modules = {name.partition(".")[0] for name in project_of(sources).modules.by_name}
    known = ", ".join(f'"{name}"' for name in sorted(modules) if name.isidentifier())
    options = ["check", "--isolated", "--select", "I001", "--fix", "--no-cache", "--exit-zero", "--quiet"]
    settings = {"lint.isort.known-first-party": f"[{known}]"} | _import_settings(source, sources)
    options += [part for key, value in settings.items() for part in ("--config", f"{key} = {value}")]
    command = [sys.executable, "-I", "-m", "ruff", *options, "--stdin-filename", source.path, "-"]
    try:
        done = subprocess.run(command, input=source.data, capture_output=True, timeout=_RUFF_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise GenerationFailed(i18n.message("exact.no_ruff", error=str(error))) from error
    text = done.stdout.decode("utf-8")
    if text == source.text or not text.strip():
        raise GenerationFailed(i18n.message("exact.sorted_already", name="imports", path=source.path))
    patch = Patch()
    patch.replace(source.path, 0, len(source.data), text)
    patch.edits.append(Edit("sort", source.path, "imports"))
    return patch
