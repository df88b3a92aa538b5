"""Renames definitions with all references that code is sure of."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.braces.go_members import package_member_references
from repopilot.agents.editing.exact.declared_fields import declared_field, declared_fields
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import (
    attribute_owner,
    candidates,
    check_editable,
    dotted,
    is_code_name,
    is_name,
    not_found,
    one_definition,
)
from repopilot.agents.editing.exact.parameters.call_arguments import parameters_by_kind
from repopilot.agents.editing.exact.parameters.polyglot_calls import scoped_references
from repopilot.agents.editing.exact.parameters.signatures import change_signature, function_of, label_of
from repopilot.agents.editing.exact.polyglot import LANGUAGES, unique_references
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.python.name_uses import NameTable
from repopilot.agents.editing.exact.python.references import (
    References,
    check_new_name,
    local_references,
    member_references,
    module_references,
)
from repopilot.agents.editing.exact.sources import Patch, Sources, merge, written_by_program
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

METHODS = ("method", "declaration")


def rename(task: ExactTask, sources: Sources) -> Patch | None:
    """Rename what a task names.

    Args:
        task: with the old name in `name`, the new one in `new`.
        sources: the files.

    Returns:
        The changes; None where the task may mean something else.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: there is no such definition, or the new name is taken.
    """
    new = dotted(task.new).rpartition(".")[2]
    if not is_name(task.name) or not is_name(task.new):
        return None
    if "all" in task.extra:
        return _rename_shared_method(task, new, sources)
    symbol = one_definition(task.name, task, sources)
    if symbol is None:
        return _rename_without_symbol(task, new, sources)
    if task.extra.get("language", language := _language(symbol, sources)) != language:
        return None
    if symbol.name == new:
        raise GenerationFailed(i18n.message("exact.same_name", name=new))
    if symbol.path.endswith((".py", ".pyi")):
        return _rename_python(symbol, new, sources)
    known = language in LANGUAGES
    found = (unique_references(symbol, new, sources) or scoped_references(symbol, new, sources)) if known else None
    if found is None and language == "go":
        found = package_member_references(symbol, new, sources)
    if found is None and known and symbol.kind == "field":
        declared = declared_field(symbol.qualified, sources)
        found = unique_references(declared, new, sources) if declared is not None else None
    return renamed(found, symbol.name, new, symbol.qualified, sources) if found is not None else None


def _rename_shared_method(task: ExactTask, new: str, sources: Sources) -> Patch | None:
    """Rename a method that several types have, where the task wants it of all of them; None where something else has
    the name as well."""
    found = candidates(task.name, task, sources)
    languages = {_language(symbol, sources) for symbol in found}
    if not found or any(s.kind not in METHODS for s in found) or len(languages) != 1 or not languages <= LANGUAGES:
        return None
    for symbol in found:
        check_editable(symbol.path, task, sources)
    references = unique_references(found[0], new, sources, shared=found)
    return renamed(references, found[0].name, new, found[0].qualified, sources) if references is not None else None


def _language(symbol: Symbol, sources: Sources) -> str:
    source = sources.get(symbol.path)
    return source.language if source is not None else ""


def _rename_without_symbol(task: ExactTask, new: str, sources: Sources) -> Patch | None:
    declared = declared_field(task.name, sources) or _field_of_place(task, sources)
    if declared is not None:
        references = unique_references(declared, new, sources)
        if references is None and _language(declared, sources) == "go":
            references = package_member_references(declared, new, sources)
        return renamed(references, declared.name, new, declared.qualified, sources) if references is not None else None
    project = python_project(sources)
    name = dotted(task.name).rpartition(".")[2]
    owner = attribute_owner(project, task)
    if owner is not None:
        check_editable(owner.path, task, sources)
        found = member_references(project, owner, name)
        check_new_name(project, found, new, (owner, *project.descendants(owner)))
        patch = renamed(found, name, new, f"{project.class_name(owner)}.{name}", sources)
        only_attribute = task.what == "attribute" or "." in task.name
        with_parameter = None if only_attribute else _rename_its_parameter(project, owner, name, new)
        if with_parameter is not None:
            merge(patch, with_parameter)
        return patch
    local = _rename_local(project, task, name, new)
    if local is not None:
        return local
    if is_code_name(task.name) or task.places:
        raise not_found(task.name, task, sources.workspace.index)
    return None


def _field_of_place(task: ExactTask, sources: Sources) -> Symbol | None:
    """The field of a type that a task names as the place, None where it names none that declares it."""
    owners = {dotted(place.name).rpartition(".")[2] for place in task.places}
    fields = [s for s in declared_fields(task.name, sources) if s.qualified.rpartition(".")[0] in owners]
    return fields[0] if len(fields) == 1 else None


def _rename_local(project: PythonProject, task: ExactTask, name: str, new: str) -> Patch | None:
    """Rename a local variable of the function that a task names; None where it has none. Parameters are no such."""
    if task.what not in ("variable", "") or not task.places:
        return None
    function = function_of(task, project)
    source = project.sources.get(function.path) if function is not None else None
    table = project.table(function.path, name) if function is not None else None
    if function is None or source is None or table is None or function.node.id not in table.bound:
        return None
    if name in [parameter.name for parameter in parameters_by_kind(source, function.node)]:
        return None
    check_editable(function.path, task, project.sources)
    found = local_references(table, function.node)
    check_new_name(project, found, new, ())
    return renamed(found, name, new, f"{label_of(project, function)}.{name}", project.sources)


def _rename_its_parameter(project: PythonProject, owner: ClassPlace, name: str, new: str) -> Patch | None:
    """Rename the constructor's parameter that an attribute has its name and value from; None where there is none."""
    source = project.sources.get(owner.path)
    body = source.root.descendant_for_byte_range(owner.start, owner.start) if source and source.root else None
    while body is not None and body.type != "class_definition":
        body = body.parent
    text = source.slice(body) if source is not None and body is not None else ""
    if re.search(rf"(?m)^[^\S\n]+self\.{name}(?:\s*:[^=\n]+)?\s*=\s*{name}\s*(?:#.*)?$", text) is None:
        return None
    mention = f"{owner.path}:{project.class_name(owner)}.__init__"
    try:
        return change_signature(ExactTask("rename_parameter", name, "parameter", new, mention=mention), project.sources)
    except GenerationFailed:  # the assignment is in another method, or the new name is taken there
        return None


def python_project(sources: Sources) -> PythonProject:
    """The Python files of a repository."""
    return PythonProject(sources, modules_of(sources.workspace.index))


def _rename_python(symbol: Symbol, new: str, sources: Sources) -> Patch | None:
    project = python_project(sources)
    table = project.table(symbol.path, symbol.name)
    scope = _scope_of(table, symbol) if table is not None else None
    if table is None or scope is None:
        return None
    members: tuple[ClassPlace, ...] = ()
    if scope.type == "module":
        found = module_references(project, symbol.path, symbol.name)
    elif scope.type == "class_definition":
        place = ClassPlace(symbol.path, scope.start_byte)
        found = member_references(project, place, symbol.name)
        members = (place, *project.descendants(place))
    else:
        found = local_references(table, scope)
    check_new_name(project, found, new, members)
    return renamed(found, symbol.name, new, symbol.qualified, sources)


def _scope_of(table: NameTable, symbol: Symbol) -> Node | None:
    """The scope that binds a symbol."""
    for use in table.uses:
        line = table.source.line_of(use.start)
        if use.binds and symbol.start_line <= line <= symbol.end_line:
            return table.binding_scope(use)
    return None


def renamed(found: References, old: str, new: str, place: str, sources: Sources) -> Patch:
    """References as a patch that gives them a new name."""
    patch = Patch(notes=list(found.notes))
    skipped = set()
    for reference in found.sure:
        source = sources.get(reference.path)
        assert source is not None
        if reference.path != found.sure[0].path and written_by_program(source):
            skipped.add(reference.path)
            patch.leave_open(source, reference.start, i18n.message("exact.open.generated"))
            continue
        patch.replace(reference.path, reference.start, reference.end, new)
        where = (
            place if reference is found.sure[0] else i18n.message("exact.line", line=source.line_of(reference.start))
        )
        patch.edits.append(Edit("rename", reference.path, where, new))
    for use in found.open:
        source = sources.get(use.path)
        assert source is not None
        patch.leave_open(source, use.start, use.reason)
    for path in sorted(skipped):
        patch.notes.append(i18n.message("exact.generated_left", path=path))
    return patch
