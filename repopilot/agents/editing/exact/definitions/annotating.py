"""Writes the types of parameters, attributes, variables and results that a task gives, or that defaults show."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import (
    NamedDefinition,
    named_symbol,
    project_of,
    python_definition,
    with_stub,
)
from repopilot.agents.editing.exact.definitions.type_spots import (
    TypeSpot,
    assignment_spot,
    attribute_spot,
    parameter_spot,
    result_spot,
    script_result,
    script_spots,
)
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.fragments.certain_imports import (
    missing_imports,
    names_in,
    names_known_at,
    swap_imports,
    unused_without,
)
from repopilot.agents.editing.exact.locate import candidates, dotted, is_name, not_found, one_definition, owners
from repopilot.agents.editing.exact.python.calls import parameter_name, parameters_of
from repopilot.agents.editing.exact.python.import_lines import WantedImport
from repopilot.agents.editing.exact.python.name_uses import name_table, scope_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.python_ast import parse_expression
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_SCRIPTS = ("typescript", "tsx")
_LITERALS = {
    "integer": "int", "float": "float", "string": "str", "true": "bool", "false": "bool", "list": "list",
    "tuple": "tuple", "dictionary": "dict", "set": "set", "concatenated_string": "str",
}  # fmt: skip


def annotate(task: ExactTask, sources: Sources) -> Patch | None:
    """Write a type.

    Args:
        task: of kind annotate: the parameter, attribute, variable or function in `name`, the type in `new`, perhaps
            the old type, the function or class in `places`; with `return` in `extra` the type is that of the result.
        sources: the files.

    Returns:
        The change; None where nothing that can have a type is named.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it has that type already, or another than the task says, or there is no such thing.
    """
    new = task.new.strip().strip("`")
    owner, name = _owner_and_name(task, sources)
    if owner is None or not new:
        return None
    source = sources.get(owner.path)
    if source is not None and source.language in _SCRIPTS:
        return _annotate_script(task, owner, name, new, source)
    definition = python_definition(owner, sources)
    if definition is None or not _is_type(new) or (not name and definition.node.type == "class_definition"):
        return None
    patch = Patch()
    for place in with_stub(definition, sources):
        spot = _spot(place, name, task.what)
        if spot is None and place is definition:
            raise _no_such_part(name, definition)
        if spot is not None:
            _check_old(task, spot, name or owner.name)
            _set_type(place, spot, new, sources, patch)
    if not patch.edits:
        raise GenerationFailed(i18n.message("exact.has_type", name=name or owner.qualified, type=new))
    return patch


def _owner_and_name(task: ExactTask, sources: Sources) -> tuple[Symbol | None, str]:
    """The definition that a task is about, and the name of what is in it; '' for the definition or its result."""
    if "return" in task.extra or task.what in ("function", "method") or not task.name:
        return named_symbol(task, sources), ""
    if not is_name(task.name.lstrip("*")):
        return None, ""
    around = owners(task, sources.workspace.index)
    before, _, last = dotted(task.name).rpartition(".")
    if around:
        rest = tuple(p for p in task.places if p != around[0])
        owner = one_definition(around[0].name, replace(task, places=rest), sources)
        if owner is None:
            raise not_found(around[0].name, replace(task, places=rest), sources.workspace.index)
        return owner, last
    if before and not candidates(task.name, task, sources):
        return one_definition(before, task, sources), last
    return named_symbol(task, sources), ""


def _is_type(text: str) -> bool:
    try:
        parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _no_such_part(name: str, definition: NamedDefinition) -> GenerationFailed:
    """The error for a parameter or attribute that a definition doesn't have."""
    source, node = definition.source, definition.node
    parameters = parameters_of(node) if node.type == "function_definition" else []
    near = difflib.get_close_matches(name, [parameter_name(source, p) for p in parameters], 3, 0.5)
    return GenerationFailed(
        i18n.message("exact.no_such_name_in", name=name or definition.symbol.name, place=definition.symbol.qualified),
        i18n.message("exact.nearest", names=", ".join(near)) if near else "",
    )


def _spot(definition: NamedDefinition, name: str, what: str) -> TypeSpot | None:
    source, node = definition.source, definition.node
    if not name:
        return result_spot(source, node) if node.type == "function_definition" else assignment_spot(source, node)
    if node.type == "function_definition":
        return parameter_spot(source, node, name) or _local_spot(source, node, name)
    if node.type == "class_definition":
        readers = (_constructor_spot, attribute_spot) if what == "parameter" else (attribute_spot, _constructor_spot)
        return next((spot for read in readers if (spot := read(source, node, name)) is not None), None)
    return None


def _local_spot(source: SourceText, function: Node, name: str) -> TypeSpot | None:
    """The type of a variable of a function, where it is bound first."""
    for use in name_table(source, name).bound.get(function.id, []):
        parent = use.node.parent
        if parent is not None and parent.type == "assignment":
            return assignment_spot(source, parent)
    return None


def _constructor_spot(source: SourceText, class_node: Node, name: str) -> TypeSpot | None:
    for use in name_table(source, "__init__").bound.get(class_node.id, []):
        function = use.node.parent if use.node.type == "identifier" else use.node
        if function is not None and function.type == "function_definition":
            return parameter_spot(source, function, name)
    return None


def _check_old(task: ExactTask, spot: TypeSpot, name: str) -> None:
    """Refuse where another type stands than the task says.

    Raises:
        GenerationFailed: it does.
    """
    if task.old and _plain(task.old) != _plain(spot.old):
        raise GenerationFailed(
            i18n.message("exact.other_value", name=name, value=spot.old or "?", expected=task.old.strip("`"))
        )


def _plain(text: str) -> str:
    return re.sub(r"[\s`\"']", "", text)


def _set_type(definition: NamedDefinition, spot: TypeSpot, new: str, sources: Sources, patch: Patch) -> None:
    """Write a type at its place, with the imports that it needs and without those that only the old one needed."""
    source = definition.source
    if _plain(spot.old) == _plain(new):
        return
    project = project_of(sources)
    written = f'"{new}"' if _is_forward(definition, new) else new
    patch.replace(source.path, spot.start, spot.end, f"{spot.before}{written}{spot.after}")
    added = missing_imports(project, source, new, patch, names_known_at(source, new, [spot.start]))
    gone = unused_without(source, [(spot.start, spot.end)], names_in(spot.old.strip("\"'")) - names_in(new))
    swap_imports(project, source, _without_circles(source, added, sources, patch), gone, patch)
    patch.edits.append(Edit("set_value", source.path, definition.symbol.qualified, new))


def _is_forward(definition: NamedDefinition, new: str) -> bool:
    """Whether a type names a class that isn't defined yet where it stands."""
    source, node = definition.source, definition.node
    if source.path.endswith(".pyi") or re.search(r"^from __future__ import .*\bannotations\b", source.text, re.M):
        return False
    if "'" in new or '"' in new:
        return False
    for name in names_in(new):
        for use in name_table(source, name).uses:
            place = use.node if use.node.type == "class_definition" else use.node.parent
            if use.binds and place is not None and place.type == "class_definition":
                around = place.start_byte <= node.start_byte < place.end_byte and place.id != scope_of(node).id
                own = place.start_byte <= node.start_byte < place.end_byte or place.start_byte > node.start_byte
                if around or own:
                    return True
    return False


def _without_circles(
    source: SourceText, added: Sequence[WantedImport], sources: Sources, patch: Patch
) -> list[WantedImport]:
    """The imports from modules that don't import the file themselves; for others there is a note."""
    project = project_of(sources)
    kept = []
    for wanted in added:
        path = project.modules.find(source.path, wanted.module)
        other = sources.get(path) if path is not None and path != source.path else None
        statements = re.findall(r"^(?:from\s+(\S+)\s+import|import\s+(\S+))", other.text if other else "", re.M)
        modules = [first or second for first, second in statements]
        if other is not None and any(project.modules.find(other.path, m) == source.path for m in modules):
            patch.notes.append(i18n.message("exact.circular_import", name=wanted.bound, path=source.path))
        else:
            kept.append(wanted)
    return kept


def _annotate_script(task: ExactTask, owner: Symbol, name: str, new: str, source: SourceText) -> Patch | None:
    result = script_result(source, owner) if not name else None
    spots = [result] if result is not None else list(script_spots(source, owner, name or owner.name))
    if not spots:
        return None
    spot = spots[0]
    _check_old(task, spot, name or owner.name)
    if _plain(spot.old) == _plain(new):
        raise GenerationFailed(i18n.message("exact.has_type", name=name or owner.qualified, type=new))
    patch = Patch()
    patch.replace(source.path, spot.start, spot.end, f"{spot.before}{new}{spot.after}")
    patch.edits.append(Edit("set_value", source.path, owner.qualified, new))
    return patch


def annotate_defaults(task: ExactTask, sources: Sources) -> Patch | None:
    """Write the types of a function's parameters that their literal defaults show.

    Args:
        task: of kind annotate_defaults, with the function in `name`.
        sources: the files.

    Returns:
        The change; None where the name isn't that of a Python function.

    Raises:
        PlaceAmbiguous: several functions have the name.
        GenerationFailed: no parameter has a literal as default and no type yet.
    """
    symbol = named_symbol(task, sources)
    definition = python_definition(symbol, sources) if symbol is not None else None
    if definition is None or definition.node.type != "function_definition":
        return None
    patch = Patch()
    for place in with_stub(definition, sources):
        for parameter in parameters_of(place.node):
            value = parameter.child_by_field_name("value") if parameter.type == "default_parameter" else None
            shown = _literal_type(value)
            spot = parameter_spot(place.source, place.node, parameter_name(place.source, parameter)) if shown else None
            if spot is not None and shown:
                patch.replace(place.source.path, spot.start, spot.end, f"{spot.before}{shown}{spot.after}")
        if patch.replacements.get(place.source.path):
            patch.edits.append(Edit("set_value", place.source.path, place.symbol.qualified))
    if not patch.edits:
        raise GenerationFailed(i18n.message("exact.no_literal_default", name=definition.symbol.qualified))
    return patch


def _literal_type(value: Node | None) -> str:
    """The type of a literal, '' for anything else."""
    if value is None:
        return ""
    inner = value.named_child(0) if value.type == "unary_operator" else value
    kind = _LITERALS.get(inner.type if inner is not None else "", "")
    is_bytes = kind == "str" and value.text is not None and re.match(rb"[rR]?[bB]", value.text)
    return "bytes" if is_bytes else kind
