"""Changes the parameters of Python functions together with their callers."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry, removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import candidates, is_code_name, not_found, one_definition, owners
from repopilot.agents.editing.exact.members import docstring_of
from repopilot.agents.editing.exact.parameters.call_arguments import (
    BoundCall,
    bound_call,
    may_be_passed,
    parameters_by_kind,
)
from repopilot.agents.editing.exact.parameters.documented_arguments import rename_in_documents
from repopilot.agents.editing.exact.parameters.given_branches import given_branches, remove_branches
from repopilot.agents.editing.exact.parameters.polyglot_parameters import remove_parameter, rename_parameter
from repopilot.agents.editing.exact.python.calls import (
    FunctionCall,
    FunctionPlace,
    Signature,
    arguments_of,
    function_definition,
    is_variadic,
    keyword_of,
    parameter_name,
    parameters_of,
    signature_of,
)
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.python.references import check_new_name, local_references
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.value_places import definition_node
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_PARAMETER = re.compile(r"\*{0,2}(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>[^=]+?))?\s*(?:=\s*(?P<default>.+))?", re.S)


def change_signature(task: ExactTask, sources: Sources) -> Patch | None:
    """Rename, add or remove a parameter.

    Args:
        task: of kind rename_parameter, add_parameter or remove_parameter; the parameter in `name`, its new name or
            text in `new`, the function in the places.
        sources: the files.

    Returns:
        The changes; None where the task may mean something else, or callers would need a value that it doesn't give.

    Raises:
        PlaceAmbiguous: several functions have the name.
        GenerationFailed: there is no such function or parameter, or the new name is taken.
    """
    project = PythonProject(sources, modules_of(sources.workspace.index))
    place = function_of(task, project)
    if place is None:
        return _in_another_language(task, project)
    if _reads_its_names(project, place):
        return None
    signature = signature_of(project, place)
    change = {"rename_parameter": _rename, "add_parameter": _add, "remove_parameter": _remove}[task.kind]
    return change(task, project, place, signature)


def _in_another_language(task: ExactTask, project: PythonProject) -> Patch | None:
    symbol = function_symbol(task, project) if task.kind != "add_parameter" else None
    if symbol is None or symbol.path.endswith((".py", ".pyi")):
        return None
    if task.kind == "remove_parameter":
        return remove_parameter(symbol, task.name, project.sources)
    return rename_parameter(symbol, task.name, task.new, project.sources)


def _reads_its_names(project: PythonProject, place: FunctionPlace) -> bool:
    """Whether a function looks at its variables by name, so that the names of its parameters matter to it."""
    source = project.sources.get(place.path)
    return source is not None and re.search(r"\b(?:locals|vars)\(\)", source.slice(place.node)) is not None


def function_of(task: ExactTask, project: PythonProject) -> FunctionPlace | None:
    """The function whose parameter a task names.

    Args:
        task: with the function as its first place or mention.
        project: the repository.

    Returns:
        Its definition, of a class that of its constructor; None where the task may mean something else.

    Raises:
        PlaceAmbiguous: several functions have the name.
        GenerationFailed: nothing has it.
    """
    sources = project.sources
    symbol = function_symbol(task, project)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None or source.language != "python":
        return None
    node = definition_node(source, symbol)
    return function_definition(project, symbol.path, node) if node is not None else None


def function_symbol(task: ExactTask, project: PythonProject) -> Symbol | None:
    """The definition of the function whose parameter a task names, in any language; see `function_of`."""
    sources = project.sources
    owner = next(iter(owners(task, sources.workspace.index)), None)
    if owner is None and not task.mention:
        return None
    plain = ExactTask(task.kind, task.name, mention=task.mention, places=tuple(p for p in task.places if p != owner))
    name = owner.name if owner is not None else task.mention.rpartition(":")[2]
    symbol = one_definition(name, plain, sources)
    if symbol is None and is_code_name(name) and not candidates(name, plain, sources):
        raise not_found(name, plain, sources.workspace.index)
    return symbol


def label_of(project: PythonProject, place: FunctionPlace) -> str:
    """The name of a function."""
    source = project.sources.get(place.path)
    name = place.node.child_by_field_name("name")
    return source.slice(name) if source is not None and name is not None else ""


def _public_name(project: PythonProject, place: FunctionPlace) -> str:
    """The name by which a function is called: of a constructor that of its class."""
    name = label_of(project, place)
    owner = _class_of(place) if name == "__init__" else None
    source = project.sources.get(place.path)
    label = owner.child_by_field_name("name") if owner is not None else None
    return source.slice(label) if source is not None and label is not None else name


def _class_of(place: FunctionPlace) -> Node | None:
    """The class that a function is a method of."""
    block = place.node.parent
    if block is not None and block.type == "decorated_definition":
        block = block.parent
    owner = block.parent if block is not None and block.type == "block" else None
    return owner if owner is not None and owner.type == "class_definition" else None


def _with_parameter(project: PythonProject, signature: Signature, name: str) -> Iterator[tuple[FunctionPlace, int]]:
    """The definitions that have a parameter, with its number."""
    for definition in signature.definitions:
        source = project.sources.get(definition.path)
        assert source is not None
        names = [parameter_name(source, p) for p in parameters_of(definition.node)]
        if name in names:
            yield definition, names.index(name)


def no_parameter(name: str, project: PythonProject, place: FunctionPlace) -> GenerationFailed:
    """The error for a parameter that a function doesn't have, with those that it has."""
    source = project.sources.get(place.path)
    assert source is not None
    names = [n for p in parameters_of(place.node) if (n := parameter_name(source, p)) and n not in ("self", "cls")]
    message = i18n.message("exact.no_such_name_in", name=name, place=label_of(project, place))
    return GenerationFailed(message, i18n.message("exact.nearest", names=", ".join(names)) if names else "")


# Renaming


def _rename(task: ExactTask, project: PythonProject, place: FunctionPlace, signature: Signature) -> Patch | None:
    patch = Patch()
    found = list(_with_parameter(project, signature, task.name))
    if not any(d.node.id == place.node.id for d, _ in found):
        raise no_parameter(task.name, project, place)
    for definition, _ in found:
        table = project.table(definition.path, task.name)
        assert table is not None
        references = local_references(table, definition.node)
        check_new_name(project, references, task.new)
        for reference in references.sure:
            patch.replace(reference.path, reference.start, reference.end, task.new)
        for start, end in _documented(project, definition, task.name):
            patch.replace(definition.path, start, end, task.new)
        patch.edits.append(Edit("rename_parameter", definition.path, label_of(project, definition), task.new))
    for call in signature.calls:
        _rename_argument(task, project, call, patch)
    functions = [_public_name(project, definition) for definition, _ in found]
    rename_in_documents(functions, task.name, task.new, project.sources, patch)
    patch.notes += signature.notes
    _leave_others(project, signature, task.name, patch)
    _leave_unknown_calls(project, signature, task.name, patch)
    return patch


def _leave_unknown_calls(project: PythonProject, signature: Signature, name: str, patch: Patch) -> None:
    """List the calls of something unknown that name the parameter: the function may have another name there."""
    seen = {(c.path, c.arguments.start_byte) for c in signature.calls}
    for path in project.sources.mentioning(name, ("python",)):
        table, source = project.table(path, name), project.sources.get(path)
        for use in table.uses if table is not None else ():
            argument = use.node.parent
            arguments = argument.parent if use.role == "keyword" and argument is not None else None
            call = arguments.parent if arguments is not None else None
            function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
            if function is None or arguments is None or source is None or (path, arguments.start_byte) in seen:
                continue
            if project.known(path, function) is None and _could_be(source, function):
                patch.leave_open(source, use.start, i18n.message("exact.open.arguments"))


def _could_be(source: SourceText, function: Node) -> bool:
    """Whether a called name isn't one that Python itself defines."""
    return function.type != "identifier" or not hasattr(builtins, source.slice(function))


def _rename_argument(task: ExactTask, project: PythonProject, call: FunctionCall, patch: Patch) -> None:
    source = project.sources.get(call.path)
    assert source is not None
    for argument in arguments_of(call.arguments):
        label = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if label is not None and source.slice(label) == task.name:
            patch.replace(call.path, label.start_byte, label.end_byte, task.new)
            line = i18n.message("exact.line", line=source.line_of(label.start_byte))
            patch.edits.append(Edit("rename_parameter", call.path, line, task.new))
        elif argument.type == "dictionary_splat":
            patch.leave_open(source, argument.start_byte, i18n.message("exact.open.arguments"))


def _documented(project: PythonProject, place: FunctionPlace, name: str) -> Iterator[tuple[int, int]]:
    """Where the docstring of a function names a parameter."""
    source = project.sources.get(place.path)
    assert source is not None
    word = re.escape(name.encode("utf-8"))
    forms = rb"|".join(
        (
            rb":(?:param|parameter|arg|argument|key|keyword|type)(?:[ \t]+[^:\n]*?)?[ \t]+\**(?P<a>%b):" % word,
            rb"^[ \t]*\**(?P<b>%b)(?:[ \t]*\([^)\n]*\))?[ \t]*:(?!:)" % word,
            rb"(?<=`)(?P<c>%b)(?=`)" % word,
            rb"(?<=\*)(?P<d>%b)(?=\*)" % word,
        )
    )
    for docstring in _docstrings(project, place):
        for match in re.compile(forms, re.M).finditer(source.data, docstring.start_byte, docstring.end_byte):
            group = match.lastgroup
            if group is not None:
                yield match.span(group)


def _docstrings(project: PythonProject, place: FunctionPlace) -> Iterator[Node]:
    """The docstrings that describe the parameters of a function: of a constructor also its class's."""
    owner = _class_of(place) if label_of(project, place) == "__init__" else None
    for node in (place.node, owner):
        docstring = docstring_of(node) if node is not None else None
        if docstring is not None:
            yield docstring


def _leave_others(project: PythonProject, signature: Signature, name: str, patch: Patch) -> None:
    """List the references that aren't certain to be calls, where their line names the parameter."""
    for path, start in signature.others:
        source = project.sources.get(path)
        if source is None or source.root is None:
            continue
        node = source.root.descendant_for_byte_range(start, start + 1)
        around = node.parent if node is not None else None
        while around is not None and around.type not in ("call", "block", "module", "decorated_definition"):
            around = around.parent
        text = source.slice(around) if around is not None and around.type == "call" else ""
        if re.search(rf"\b{re.escape(name)}\s*=", text):
            patch.leave_open(source, start, i18n.message("exact.open.arguments"))


# Adding


def _add(task: ExactTask, project: PythonProject, place: FunctionPlace, signature: Signature) -> Patch | None:
    match = _PARAMETER.fullmatch(task.new)
    if match is None:
        return None
    text = f"{match['name']}{': ' + match['type'].strip() if match['type'] else ''}"
    if match["default"]:
        text += f" = {match['default']}" if match["type"] else f"={match['default']}"
    elif signature.calls or signature.unsure or signature.others:
        return None
    source = project.sources.get(place.path)
    container = place.node.child_by_field_name("parameters")
    assert source is not None and container is not None
    parameters = parameters_of(place.node)
    names = [parameter_name(source, p) for p in parameters]
    if match["name"] in names:
        label = label_of(project, place)
        raise GenerationFailed(i18n.message("exact.has_parameter", name=match["name"], function=label))
    table = project.table(place.path, match["name"])
    if table is not None and any(u.scope.id == place.node.id for u in table.uses if u.role in ("bind", "load")):
        return None  # the body already gives the name another meaning
    patch = Patch()
    start, end, new = added_entry(source.data, container, parameters, _new_position(parameters, match), text)
    patch.replace(place.path, start, end, new)
    patch.edits.append(Edit("add_parameter", place.path, label_of(project, place), text))
    overriding = [d for d in signature.definitions if d.node.id != place.node.id]
    for definition in overriding:
        other = project.sources.get(definition.path)
        assert other is not None
        patch.leave_open(other, definition.node.start_byte, i18n.message("exact.open.overriding"))
    return patch


def _new_position(parameters: list[Node], match: re.Match[str]) -> int:
    """Before `**options`; without a default before the first parameter that has one."""
    for at, parameter in enumerate(parameters):
        optional = parameter.type in ("default_parameter", "typed_default_parameter")
        separator = parameter.type == "keyword_separator" or is_variadic(parameter) == "*"
        if is_variadic(parameter) == "**" or (not match["default"] and (optional or separator)):
            return at
    return len(parameters)


# Removing


def _remove(task: ExactTask, project: PythonProject, place: FunctionPlace, signature: Signature) -> Patch | None:
    found = list(_with_parameter(project, signature, task.name))
    if not any(d.node.id == place.node.id for d, _ in found):
        raise no_parameter(task.name, project, place)
    patch = Patch()
    for definition, at in found:
        branches = _branches_with(project, definition, parameters_of(definition.node)[at], task.name)
        source = project.sources.get(definition.path)
        if branches is None or source is None:
            return None  # what the body does without it, code can't say
        remove_branches(project, source, branches, patch)
    number = next(n for d, n in found if d.node.id == place.node.id)
    for definition, at in found:
        _remove_definition(project, definition, at, task.name, patch)
    for call in signature.calls:
        _remove_argument(project, call, number - call.bound, task.name, patch)
    leave_unsure(project, place, signature, lambda call: call.unpacks or call.passes(task.name), patch)
    _leave_others(project, signature, task.name, patch)
    patch.notes += signature.notes
    return patch


def _branches_with(project: PythonProject, place: FunctionPlace, parameter: Node, name: str) -> list[Node] | None:
    """The branches that go with a parameter; None where the body uses it otherwise."""
    table = project.table(place.path, name)
    assert table is not None
    uses = [r.start for r in local_references(table, place.node).sure if r.start > parameter.end_byte]
    return given_branches(table.source, parameter, uses)


def leave_unsure(
    project: PythonProject,
    place: FunctionPlace,
    signature: Signature,
    affected: Callable[[BoundCall], bool],
    patch: Patch,
) -> None:
    """List the calls on objects of uncertain class that a change would affect.

    Args:
        project: the repository.
        place: the changed function.
        signature: its calls.
        affected: whether a call would have to change if it is one of the function.
        patch: gets the calls.
    """
    source = project.sources.get(place.path)
    assert source is not None
    parameters = parameters_by_kind(source, place.node)
    for call in signature.unsure:
        calling = project.sources.get(call.path)
        assert calling is not None
        bound = bound_call(calling, call, parameters)
        if may_be_passed(bound, parameters) and affected(bound):
            patch.leave_open(calling, call.arguments.start_byte, i18n.message("exact.open.receiver"))


def _remove_definition(project: PythonProject, place: FunctionPlace, at: int, name: str, patch: Patch) -> None:
    source = project.sources.get(place.path)
    assert source is not None
    parameters = parameters_of(place.node)
    removed = {at}
    after, before = parameters[at + 1 :], parameters[at - 1] if at else None
    if before is not None and before.type == "keyword_separator" and (not after or is_variadic(after[0]) == "**"):
        removed.add(at - 1)
    for start, end in removed_spans(source.data, parameters, removed):
        patch.replace(place.path, start, end, "")
    for docstring in _docstrings(project, place):
        for start, end in _documented_lines(source, docstring, name):
            patch.replace(place.path, start, end, "")
    patch.edits.append(Edit("remove_parameter", place.path, label_of(project, place)))


def _documented_lines(source: SourceText, docstring: Node, name: str) -> Iterator[tuple[int, int]]:
    """The lines of a docstring that describe a parameter, with their continuation."""
    word = re.escape(name.encode("utf-8"))
    head = re.compile(
        rb"^(?P<indent>[ \t]*)(?::(?:param|arg|argument|keyword|type)(?:[ \t]+[^:\n]*?)?[ \t]+%b:|"
        rb"%b(?:[ \t]*\([^)\n]*\))?[ \t]*:(?!:)).*\n" % (word, word),
        re.M,
    )
    for match in head.finditer(source.data, docstring.start_byte, docstring.end_byte):
        indent = match["indent"].decode("utf-8")
        more = re.compile(rb"(?:(?:[ \t]*\n)*%b[ \t]+\S.*\n)*" % indent.encode("utf-8")).match(source.data, match.end())
        yield match.start(), more.end() if more else match.end()


def _remove_argument(project: PythonProject, call: FunctionCall, position: int, name: str, patch: Patch) -> None:
    source = project.sources.get(call.path)
    assert source is not None
    arguments = arguments_of(call.arguments)
    at = next((n for n, a in enumerate(arguments) if keyword_of(source, a) == name), None)
    positional = [a for a in arguments if a.type not in ("keyword_argument", "dictionary_splat")]
    starred = next((n for n, a in enumerate(positional) if a.type == "list_splat"), len(positional))
    if at is None and 0 <= position < starred:
        at = arguments.index(positional[position])
    if at is not None:
        for start, end in removed_spans(source.data, arguments, {at}):
            patch.replace(call.path, start, end, "")
        line = i18n.message("exact.line", line=source.line_of(arguments[at].start_byte))
        patch.edits.append(Edit("remove_parameter", call.path, line))
    elif starred < len(positional) or any(a.type == "dictionary_splat" for a in arguments):
        patch.leave_open(source, call.arguments.start_byte, i18n.message("exact.open.arguments"))
