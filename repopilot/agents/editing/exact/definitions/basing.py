"""Adds base classes, removes them and puts others in their place."""

from __future__ import annotations

import builtins
import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import (
    NamedDefinition,
    check_defined_above,
    named_symbol,
    project_of,
    python_definition,
    with_stub,
)
from repopilot.agents.editing.exact.entries import added_entry, removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import (
    missing_imports,
    names_in,
    swap_imports,
    unused_without,
)
from repopilot.agents.editing.exact.python.classes import ClassPlace
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, word_pattern
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_LAST = re.compile(r"(?:\w+\.)?(?:object|Generic|Protocol|ABC)\b")
"""Bases that others stand before."""
_SCRIPTS = ("javascript", "typescript", "tsx")


def change_bases(task: ExactTask, sources: Sources) -> Patch | None:
    """Add, remove or replace a base class.

    Args:
        task: of kind add_base, remove_base or change_base: the class in `name`, the bases in `new` and `old`.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a class.

    Raises:
        PlaceAmbiguous: several classes have the name.
        GenerationFailed: the class has the base already, or doesn't have the one that is to go.
    """
    symbol = named_symbol(task, sources)
    new, old = (text.strip().strip("`") for text in (task.new, task.old))
    if task.kind == "remove_base":
        new, old = "", old or new
    if symbol is None or not all(re.fullmatch(r"[A-Za-z_][\w.]*(?:\[.*\])?(?:<.*>)?|", t) for t in (new, old)):
        return None
    source = sources.get(symbol.path)
    if source is not None and source.language in _SCRIPTS:
        return _change_script(source, symbol, old, new)
    definition = python_definition(symbol, sources)
    if definition is None or definition.node.type != "class_definition" or not (new or old):
        return None
    patch = Patch()
    for place in with_stub(definition, sources):
        _change(place, old, new, sources, patch)
    return patch


def _change(definition: NamedDefinition, old: str, new: str, sources: Sources, patch: Patch) -> None:
    source, node = definition.source, definition.node
    listed = node.child_by_field_name("superclasses")
    entries = [c for c in listed.named_children if c.type != "comment"] if listed is not None else []
    bases = [e for e in entries if e.type != "keyword_argument"]
    if new and any(_is_named(source, b, new) for b in bases):
        raise GenerationFailed(i18n.message("exact.already_there", name=new, path=definition.symbol.qualified))
    spans: list[tuple[int, int]] = []
    if old or not new:
        found = next((b for b in bases if _is_named(source, b, old)), None)
        if found is None:
            raise GenerationFailed(i18n.message("exact.no_such_name_in", name=old, place=definition.symbol.qualified))
        spans = [(found.start_byte, found.end_byte)]
        if new:
            patch.replace(source.path, found.start_byte, found.end_byte, new)
        else:
            _remove(source, listed, entries, found, patch)
    else:
        _add(source, node, entries, new, _above(new, sources), patch)
    project = project_of(sources)
    check_defined_above(definition, new)
    added = missing_imports(project, source, new, patch) if new else []
    swap_imports(project, source, added, unused_without(source, spans, names_in(old) - names_in(new)), patch)
    patch.edits.append(Edit("change_signature", source.path, definition.symbol.qualified, new))


def _is_named(source: SourceText, base: Node, name: str) -> bool:
    written = source.slice(base)
    plain = written.partition("[")[0]
    return written == name or plain == name or plain.rpartition(".")[2] == name


def _above(name: str, sources: Sources) -> set[str]:
    """The names of the classes that a class inherits from, of those of the repository and of Python itself."""
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type):
        return {c.__name__ for c in builtin.__mro__[1:]}
    plain = name.partition("[")[0].rpartition(".")[2]
    project = project_of(sources)
    places = [s for s in sources.workspace.index.symbols(plain) if s.kind == "class" and s.path.endswith(".py")]
    found = [d for s in places if (d := python_definition(s, sources)) is not None]
    if len(found) != 1:
        return set()
    place = ClassPlace(found[0].source.path, found[0].node.start_byte)
    above = [place, *project.ancestors(place)]
    nodes = [(sources.get(p.path), project.class_node(p).child_by_field_name("name")) for p in above[1:]]
    names = {source.slice(node) for source, node in nodes if source is not None and node is not None}
    for outside in (o for p in above for o in project.outside_names(p)):
        names |= {outside, *_above(outside, sources)}
    return names


def _add(source: SourceText, node: Node, entries: list[Node], new: str, above: set[str], patch: Patch) -> None:
    """Add a base: mixins first, others behind the last, but before what they inherit from and keywords."""
    listed = node.child_by_field_name("superclasses")
    if listed is None:
        label = node.child_by_field_name("name")
        parameters = node.child_by_field_name("type_parameters")
        end = (parameters or label or node).end_byte
        patch.replace(source.path, end, end, f"({new})")
        return
    written = [source.slice(e) for e in entries]
    if written == ["object"] or (len(written) == 1 and written[0] in above):  # the new base brings it along
        patch.replace(source.path, entries[0].start_byte, entries[0].end_byte, new)
        return
    keywords = ("keyword_argument", "dictionary_splat")
    stays = (e.type in keywords or _LAST.match(t) or t in above for e, t in zip(entries, written, strict=True))
    at = next((n for n, behind in enumerate(stays) if behind), len(entries))
    if new.endswith("Mixin"):
        at = next((n for n, text in enumerate(written) if not text.endswith("Mixin")), at)
    start, end, text = added_entry(source.data, listed, entries, at, new)
    patch.replace(source.path, start, end, text)


def _remove(source: SourceText, listed: Node | None, entries: list[Node], found: Node, patch: Patch) -> None:
    if listed is None or len(entries) == 1:
        holder = listed or found
        patch.replace(source.path, holder.start_byte, holder.end_byte, "")
        return
    at = next(n for n, e in enumerate(entries) if e.id == found.id)
    for start, end in removed_spans(source.data, entries, {at}):
        patch.replace(source.path, start, end, "")


def _change_script(source: SourceText, symbol: Symbol, old: str, new: str) -> Patch | None:
    """The class that one of JavaScript or TypeScript extends, or an interface that it implements."""
    node = _class_node(source, symbol)
    heritage = next((c for c in node.named_children if c.type == "class_heritage"), None) if node is not None else None
    patch = Patch()
    patch.edits.append(Edit("change_signature", source.path, symbol.qualified, new))
    if node is None:
        return None
    if old:
        spot = _name_in(source, heritage, old) if heritage is not None else None
        if spot is None or heritage is None:
            raise GenerationFailed(i18n.message("exact.no_such_name_in", name=old, place=symbol.qualified))
        if new:
            patch.replace(source.path, *spot, new)
            return patch
        only = re.fullmatch(r"extends\s+[\w.]+(?:<.*>)?", source.slice(heritage), re.S)
        if only is None:
            return None
        patch.replace(source.path, heritage.start_byte - 1, heritage.end_byte, "")
        return patch
    label = node.child_by_field_name("type_parameters") or node.child_by_field_name("name")
    if heritage is not None or label is None:
        return None
    patch.replace(source.path, label.end_byte, label.end_byte, f" extends {new}")
    return patch


def _class_node(source: SourceText, symbol: Symbol) -> Node | None:
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop()
        label = node.child_by_field_name("name")
        inside = symbol.start_line <= node.start_point[0] + 1 <= symbol.end_line
        if (
            node.type.endswith("class_declaration")
            and label is not None
            and inside
            and source.slice(label) == symbol.name
        ):
            return node
        pending.extend(node.named_children)
    return None


def _name_in(source: SourceText, node: Node, name: str) -> tuple[int, int] | None:
    for match in word_pattern(name).finditer(source.data):
        if node.start_byte <= match.start() and match.end() <= node.end_byte:
            return match.span()
    return None
