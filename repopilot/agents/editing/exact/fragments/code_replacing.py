"""Replaces fragments of code that a task quotes."""

from __future__ import annotations

import ast
import builtins
import difflib
import keyword
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import (
    is_unknown_class,
    missing_imports,
    names_in,
    names_known_at,
    swap_imports,
    unused_without,
)
from repopilot.agents.editing.exact.fragments.code_tokens import (
    CodeToken,
    fragment_tokens,
    occurrences,
    source_tokens,
)
from repopilot.agents.editing.exact.fragments.named_regions import NamedRegion, file_region, named_regions
from repopilot.agents.editing.exact.locate import check_editable
from repopilot.agents.editing.exact.members import in_quotes_of
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.expected_names import members_of_module
from repopilot.agents.editing.exact.python.modules import modules_of, statement_around
from repopilot.agents.editing.exact.python.name_uses import role_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, written_by_program
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.code.python_ast import parse_expression
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.types import Edit

_BINDING = frozenset(
    "binary_operator boolean_operator comparison_operator not_operator unary_operator attribute call subscript await "
    "binary_expression unary_expression member_expression call_expression field_expression selector_expression".split()
)
_MOST_FILES = 8
"""In so many files of the code a fragment that can only mean one thing is replaced without a question."""
_WORDS_OF_SYNTAX = frozenset(keyword.kwlist) | frozenset("match switch let const var func fn".split())
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
_LOOSE = (ast.BoolOp, ast.BinOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp, ast.Await)


def replace_code(task: ExactTask, sources: Sources) -> Patch | None:
    """Replace a fragment of code wherever the named place has it.

    Args:
        task: of kind replace_code: the fragments in `old` and `new`, the function, class or file in `places`.
        sources: the files.

    Returns:
        The changes; None where the fragment holds no code, or the place isn't one of code.

    Raises:
        PlaceAmbiguous: no place is named, and several files have the fragment.
        GenerationFailed: the place doesn't have it.
    """
    if task.old.strip() == task.new.strip() or _WORDS_OF_SYNTAX.issuperset(_bare(t) for t in (task.old, task.new)):
        return None
    task = _of_functions(task, sources)
    wanted = fragment_tokens(task.old)
    if not wanted or not task.new.strip():
        return None
    named = named_regions(task, sources)
    regions = [r for r in named or _all_regions(wanted, sources) if r.source.root is not None]
    if named and not regions:
        return None
    found = {r: spans for r in regions if (spans := _found_in(r, wanted, task))}
    if not found and not named and re.fullmatch(r"@?[\w.]+(?:[-/][\w.]+)+", task.old.strip()):
        return None  # a package, perhaps
    if not found:
        raise _no_code(task, regions)
    if not named:
        found = _of_code(found, task)
        if any(_takes_other_arguments(r, place, task, sources) for r, places in found.items() for place in places):
            return None
    if any(_is_type_of_value(place) for places in found.values() for place in places):
        return None
    patch = Patch()
    for region, places in found.items():
        check_editable(region.source.path, task, sources)
        for place in places:
            _replace(region.source, place, task, patch)
        line = region.source.line_of(places[0][0].start)
        patch.edits.append(
            Edit("change_text", region.source.path, region.name or i18n.message("exact.line", line=line), task.new)
        )
    return patch if _fix_imports(found, task, sources, patch) else None


def _is_type_of_value(place: Sequence[CodeToken]) -> bool:
    """Whether a fragment is the type of a variable that gets its value there, which has the old type."""
    node = place[0].node
    declaration = node.parent if node is not None and node.type == "type_identifier" and len(place) == 1 else None
    declarator = declaration.child_by_field_name("declarator") if declaration is not None else None
    return declarator is not None and declarator.child_by_field_name("value") is not None


def _bare(text: str) -> str:
    return text.strip().strip("\"'`")


def _of_functions(task: ExactTask, sources: Sources) -> ExactTask:
    """`use b() instead of a()` as `b` instead of `a`, where `a` is never called without arguments; without anything new
    where only the old one is named so."""
    names = [re.fullmatch(rf"({_DOTTED.pattern})\((?:\.\.\.)?\)", text.strip()) for text in (task.old, task.new)]
    if names[0] is None:
        return task
    called = re.compile(rb"\b%b\s*\(\s*(\))?" % re.escape(names[0][1].encode("utf-8")))
    found = [
        m
        for p in sources.mentioning(names[0][1].rpartition(".")[2])
        if (source := sources.get(p)) is not None
        for m in called.finditer(source.data)
    ]
    if not found or any(m[1] for m in found):
        return task
    return replace(task, old=names[0][1], new=names[1][1] if names[1] is not None else "")


def _takes_other_arguments(region: NamedRegion, place: Sequence[CodeToken], task: ExactTask, sources: Sources) -> bool:
    """Whether a function from elsewhere is exchanged for another, so that nobody knows if its arguments fit."""
    old, new = (text.strip().removesuffix("()") for text in (task.old, task.new))
    if not (_DOTTED.fullmatch(old) and _DOTTED.fullmatch(new)):
        return False
    before, after = old.rpartition(".")[2].lower(), new.rpartition(".")[2].lower()
    if "." in old and hasattr(builtins, new):
        pass  # `codecs.open` takes other arguments than `open`
    elif before in after or after in before or sources.workspace.index.symbols(new.rpartition(".")[2]):
        return False
    error = re.compile(r"(?:error|exception|warning)$")
    following = region.source.data[place[-1].end : place[-1].end + 2]
    return not (error.search(before) and error.search(after)) and following[:1] in (b"(", b"[") and following != b"()"


def _all_regions(wanted: Sequence[CodeToken], sources: Sources) -> list[NamedRegion]:
    """The files that hold the longest word of a fragment; those of the code where it has any."""
    words = sorted((t.text for t in wanted if t.is_word), key=len)
    paths = sources.mentioning(words[-1]) if words else []
    return [file_region(p, sources) for p in paths]


def _found_in(region: NamedRegion, wanted: Sequence[CodeToken], task: ExactTask) -> list[Sequence[CodeToken]]:
    found = occurrences(wanted, source_tokens(region.source, region.start, region.end))
    if not _is_expression(task.old):
        return found
    if not re.fullmatch(r"\s*\w+\s*", task.new) or hasattr(builtins, task.new.strip()):
        found = [f for f in found if not _is_bound(region.source, f)]
    found = [f for f in found if not _is_defined(f)]
    whole = [f for f in found if _node_of(region.source, f[0].start, f[-1].end) is not None]
    return whole or found


def _is_bound(source: SourceText, tokens: Sequence[CodeToken]) -> bool:
    """Whether a single name gets its value here: no expression can stand in its place."""
    node = tokens[0].node
    if len(tokens) > 1 or node is None or node.type != "identifier" or source.language != "python":
        return False
    return role_of(node)[0] not in ("load", "attribute")


def _is_defined(tokens: Sequence[CodeToken]) -> bool:
    """Whether a name is given to a function or class here, which keeps it."""
    node = tokens[0].node
    parent = node.parent if node is not None and len(tokens) == 1 else None
    label = parent.child_by_field_name("name") if parent is not None else None
    return (
        label is not None
        and node is not None
        and label.id == node.id
        and parent is not None
        and re.search(r"^(?:function|class|method)_(?:definition|declaration|item)$", parent.type) is not None
    )


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _node_of(source: SourceText, start: int, end: int) -> Node | None:
    """The node of exactly some bytes."""
    node = source.root.descendant_for_byte_range(start, end) if source.root is not None else None
    return node if node is not None and (node.start_byte, node.end_byte) == (start, end) else None


def _of_code(
    found: dict[NamedRegion, list[Sequence[CodeToken]]], task: ExactTask
) -> dict[NamedRegion, list[Sequence[CodeToken]]]:
    """The one file of the code that has a fragment, or all where the task says everywhere or the fragment tells.

    Raises:
        PlaceAmbiguous: several have it.
    """
    code = [r for r in found if not is_test_path(r.source.path) and not is_example_path(r.source.path)]
    chosen = code or list(found)
    if "everywhere" in task.extra or (len(chosen) <= _MOST_FILES and _is_telling(task.old)):
        return {r: found[r] for r in found if not written_by_program(r.source)}
    if len(chosen) > 1:
        raise PlaceAmbiguous(
            i18n.message("exact.several_files_hold", text=task.old[:80], count=len(chosen)),
            i18n.message("exact.choose_place"),
            tuple(r.source.path for r in chosen)[:12],
        )
    return {chosen[0]: found[chosen[0]]}


def _is_telling(fragment: str) -> bool:
    """Whether a fragment means the same wherever it stands: a dotted name, a call of one."""
    return re.fullmatch(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+(?:\([^()]*\))?", fragment.strip()) is not None


def _replace(source: SourceText, place: Sequence[CodeToken], task: ExactTask, patch: Patch) -> None:
    start, end = place[0].start, place[-1].end
    new = task.new.strip()
    if len(place) == 1 and source.data[start : start + 1] in (b'"', b"'"):
        new = in_quotes_of(new, [source.data[start:end].decode("utf-8")])
    elif _needs_parentheses(source, start, end, new):
        new = f"({new})"
    line = source.line_text(source.line_of(start))
    indent = line[: len(line) - len(line.lstrip())]
    first, *rest = new.split("\n")
    common = min((len(r) - len(r.lstrip()) for r in rest if r.strip()), default=0)
    shift = common if first.rstrip().endswith((":", "(", "[", "{", ",")) is False else 0
    lines = [first, *(f"{indent}{r[shift:]}" if r.strip() else "" for r in rest)]
    patch.replace(source.path, start, end, "\n".join(lines))


def _needs_parentheses(source: SourceText, start: int, end: int, new: str) -> bool:
    """Whether an expression binds less tightly than where it is put."""
    node = _node_of(source, start, end)
    while (
        node is not None and node.parent is not None and node.parent.start_byte == start and node.parent.end_byte == end
    ):
        node = node.parent
    if node is None or node.parent is None or node.parent.type not in _BINDING:
        return False
    if node.type in ("binary_operator", "comparison_operator", "boolean_operator") and _same_shape(node, new):
        return False
    try:
        return isinstance(parse_expression(new).body, _LOOSE)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _same_shape(node: Node, new: str) -> bool:
    """Whether an expression is one of the kind that stands there: then it binds as tightly."""
    kinds = {"binary_operator": ast.BinOp, "comparison_operator": ast.Compare, "boolean_operator": ast.BoolOp}
    try:
        body = parse_expression(new).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(body, kinds[node.type]) and node.parent is not None and node.parent.type in ("not_operator",)


def _fix_imports(
    found: dict[NamedRegion, list[Sequence[CodeToken]]], task: ExactTask, sources: Sources, patch: Patch
) -> bool:
    """Import what the new code needs, and remove the imports that only the old code used; False where the new code
    names a class that doesn't exist."""
    project = PythonProject(sources, modules_of(sources.workspace.index))
    spans: dict[str, list[tuple[int, int]]] = {}
    for region, places in found.items():
        if region.source.language == "python":
            own = [p for p in places if not _is_attribute(region.source, p) and _is_used(p[0])]
            spans.setdefault(region.source.path, []).extend((p[0].start, p[-1].end) for p in own)
    old, new = names_in(task.old), names_in(task.new)
    for path, replaced in spans.items():
        source = sources.get(path)
        if source is None or not replaced:
            continue
        if _lacks_a_member(source, task, replaced):
            return False
        known = old | names_known_at(source, task.new, [a for a, _ in replaced])
        if any(is_unknown_class(project, source, name) for name in new - known):
            return False
        added = missing_imports(project, source, task.new, patch, known)
        swap_imports(project, source, added, unused_without(source, replaced, old - new), patch)
    return True


def _lacks_a_member(source: SourceText, task: ExactTask, replaced: Sequence[tuple[int, int]]) -> bool:
    """Whether one module takes the place of another in an attribute that it doesn't have."""
    members = members_of_module(task.new.strip()) if members_of_module(task.old.strip()) is not None else None
    found = (re.compile(rb"\.(\w+)").match(source.data, end) for _, end in replaced)
    return members is not None and any(m is not None and m[1].decode("utf-8") not in members for m in found)


def _is_used(token: CodeToken) -> bool:
    """Whether a token is no part of an import."""
    return token.node is None or statement_around(token.node) is None


def _is_attribute(source: SourceText, place: Sequence[CodeToken]) -> bool:
    return source.data[place[0].start - 1 : place[0].start] == b"."


def _no_code(task: ExactTask, regions: Sequence[NamedRegion]) -> GenerationFailed:
    where = ", ".join(r.name or r.source.path for r in regions[:3]) if task.places or task.mention else ""
    text = task.old.strip()[:80]
    message = (
        i18n.message("exact.no_code_in", code=text, place=where) if where else i18n.message("exact.no_code", code=text)
    )
    near = _nearest_line(task.old, regions)
    return GenerationFailed(message, near)


def _nearest_line(old: str, regions: Sequence[NamedRegion]) -> str:
    """What the line most like a fragment says."""
    rows: dict[str, tuple[str, int]] = {}
    for region in regions[:20]:
        first = region.source.line_of(region.start)
        for number, row in enumerate(_rows(region)):
            rows.setdefault(row.strip(), (region.source.path, first + number))
    words = set(re.findall(r"\w+", old))
    likely = [r for r in rows if r and (words & set(re.findall(r"\w+", r)) or not words)]
    near = difflib.get_close_matches(old.strip().split("\n")[0], likely, 1, 0.4)
    if not near:
        return ""
    path, line = rows[near[0]]
    return i18n.message("exact.nearest_line", path=posixpath.basename(path), line=line, text=near[0][:80])


def _rows(region: NamedRegion) -> Iterator[str]:
    yield from region.source.data[region.start : region.end].decode("utf-8", "replace").split("\n")
