"""Gives a Python class an optional parameter of its constructor, and keeps it as an attribute."""

from __future__ import annotations

import builtins
import collections.abc
import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot.agents.editing.exact.definitions.docstring_styles import docstring_node
from repopilot.agents.editing.exact.definitions.named_definition import (
    decorated,
    indent_of,
    line_end,
    project_of,
    python_definition,
)
from repopilot.agents.editing.exact.entries import added_entry
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.locate import check_editable, one_definition
from repopilot.agents.editing.exact.members import class_assignments, unwrapped
from repopilot.agents.editing.exact.parameters.optional_parameters import (
    OptionalParameter,
    add_optional,
    annotates,
    is_annotated,
    type_of,
    uses_name,
    with_none,
)
from repopilot.agents.editing.exact.python.calls import is_variadic, parameter_name, parameters_of
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject, decorator_names
from repopilot.agents.editing.exact.python.name_uses import FUNCTIONS, scope_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.task_names import place_named
from repopilot.agents.editing.exact.wording.option_wording import kept_option
from repopilot.agents.editing.exact.wording.task_shape import MARK, Shape
from repopilot.types import Edit

_FOREIGN_BASES = re.compile(r"\b(?:\w*Enum|\w*Flag|NamedTuple|TypedDict|Protocol|BaseModel|Model|metaclass)\b")
_PLAIN_BASES = re.compile(r"(?:\w+\.)?(?:object|ABC|Generic)(?:\[.*\])?", re.S)
_OWN_STATE = (
    "__new__ __setattr__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __copy__ __deepcopy__ __getnewargs__ "
    "__eq__".split()
)
"""Members that say what an object consists of, and would have to know the new attribute."""
_COPIES = re.compile(rb"\b(?:type\(self\)|self\.__class__|copy\.(?:copy|replace)|locals|vars)\(")
_KEYWORD_ERRORS = frozenset("ImportError ModuleNotFoundError AttributeError NameError UnboundLocalError".split())
"""Exceptions whose constructor takes keyword arguments."""
_FIXED_ERRORS = re.compile(r"Unicode\w+Error|\w*ExceptionGroup")
"""Exceptions whose constructor takes certain arguments."""


def constructor_option(shape: Shape, sources: Sources) -> Iterator[ExactTask]:
    """The optional parameter that a task wants a class to take and keep.

    Args:
        shape: of the whole task.
        sources: the files.
    """
    option = kept_option(shape)
    if option is None:
        return
    default = option.default or ("None" if option.optional and option.type != "bool" else "")
    owner = _class_in(option.subject, shape)
    if not default or not owner:
        return
    places = [NamedPlace(owner, "class")]
    if option.path:
        places.append(NamedPlace(place_named(option.path, sources), "file"))
    extra = {"attribute": option.attribute, "type": option.type, "keyword": "yes" if option.keyword else ""}
    yield ExactTask("constructor_option", option.name, "parameter", default, "", tuple(places), extra=extra)


def _class_in(subject: str, shape: Shape) -> str:
    return next((shape.of(m[0]) for m in MARK.finditer(subject) if m[1] == "c"), "")


def add_constructor_option(task: ExactTask, sources: Sources) -> Patch | None:
    """Give a class a parameter of its constructor, and keep it as an attribute.

    Args:
        task: of kind constructor_option: the parameter in `name`, its default in `new`, the class and perhaps its file
            in `places`; in `extra` the `attribute`, the `type` where it is said, and whether it is a `keyword`.
        sources: the files.

    Returns:
        The change; None where more would have to be changed, or the class has such a parameter or attribute.

    Raises:
        PlaceAmbiguous: several classes have the name.
        GenerationFailed: the class is in a generated file.
    """
    owner, *files = task.places
    located = ExactTask(task.kind, owner.name, "class", places=tuple(files))
    symbol = one_definition(owner.name, located, sources)
    definition = python_definition(symbol, sources) if symbol is not None else None
    if symbol is None or definition is None or definition.node.type != "class_definition":
        return None
    check_editable(symbol.path, located, sources)
    project, source, node = project_of(sources), definition.source, definition.node
    place = ClassPlace(source.path, node.start_byte)
    if not _may_change(project, place, task):
        return None
    patch = Patch()
    parameter = _parameter(source, task)
    decorators = decorator_names(source, node)
    if decorators:
        done = _add_field(project, place, parameter, task, patch)
    elif constructors := _constructors(project, place):
        done = len(constructors) == 1 and _extend(source, constructors[0], parameter, task, patch)
    else:
        done = _is_plain_error(project, place) and _write(source, node, parameter, task, patch)
    if not done or not _with_slot(source, node, task.extra["attribute"], patch):
        return None
    patch.edits.append(Edit("add_parameter", source.path, symbol.qualified, task.name))
    return patch


def _parameter(source: SourceText, task: ExactTask) -> OptionalParameter:
    """The parameter with its annotation: of a default None whose type isn't said, any object will do."""
    said, default = task.extra["type"], task.new
    annotation = said or type_of(default) or "object"
    if default == "None" and said:
        annotation = with_none(source, said)
    return OptionalParameter(task.name, default, annotation, bool(task.extra["keyword"]))


# What may be changed


def _may_change(project: PythonProject, place: ClassPlace, task: ExactTask) -> bool:
    """Whether a class keeps whatever its constructor sets, and neither it nor its family has the attribute."""
    source, node = project.sources.get(place.path), project.class_node(place)
    assert source is not None
    if project.sources.get(f"{place.path}i") is not None or _COPIES.search(source.data, node.start_byte, node.end_byte):
        return False
    ancestors, descendants = project.ancestors(place), project.descendants(place)
    for ancestor in (place, *ancestors):
        other, listed = (
            project.sources.get(ancestor.path),
            project.class_node(ancestor).child_by_field_name("superclasses"),
        )
        if other is None or (listed is not None and _FOREIGN_BASES.search(other.slice(listed))):
            return False
    if any(project.members(place, name) for name in _OWN_STATE):
        return False
    names = {task.name, task.extra["attribute"]}
    if any(_has(project, c, name) for c in (place, *ancestors, *descendants) for name in names):
        return False
    return all(_known_outside(name, names) for name in project.outside_names(place))


def _has(project: PythonProject, place: ClassPlace, name: str) -> bool:
    own = project.class_node(place)
    assigned = project.assigned_attributes(place, name)
    inside = any(p == place.path and own.start_byte <= n.start_byte < own.end_byte for p, n in assigned)
    return inside or bool(project.own_members(place, name))


def _known_outside(base: str, names: set[str]) -> bool:
    """Whether a base is Python's own, and has none of some attributes."""
    if _PLAIN_BASES.fullmatch(base):
        return True
    last = base.partition("[")[0].rpartition(".")[2]
    known = getattr(collections.abc, last, None) or getattr(builtins, base, None)
    return isinstance(known, type) and not any(hasattr(known, name) for name in names)


def _constructors(project: PythonProject, place: ClassPlace) -> list[Node]:
    return [n for n in project.own_members(place, "__init__") if n.type == "function_definition"]


def _is_plain_error(project: PythonProject, place: ClassPlace) -> bool:
    """Whether a class is an exception that takes any arguments, and so are those below it."""
    ancestors = project.ancestors(place)
    if any(project.own_members(a, "__init__") for a in ancestors):
        return False
    outside = list(project.outside_names(place))
    errors = [getattr(builtins, name, None) for name in outside]
    if not errors or not all(isinstance(e, type) and issubclass(e, BaseException) for e in errors):
        return False
    if any(name in _KEYWORD_ERRORS or _FIXED_ERRORS.fullmatch(name) for name in outside):
        return False
    below = (n for d in project.descendants(place) for n in _own_constructors(project, d))
    return all(".__init__(" in text for text in below)


def _own_constructors(project: PythonProject, place: ClassPlace) -> Iterator[str]:
    source = project.sources.get(place.path)
    assert source is not None
    yield from (source.slice(node) for node in project.own_members(place, "__init__"))


# A constructor that is there


def _extend(source: SourceText, function: Node, parameter: OptionalParameter, task: ExactTask, patch: Patch) -> bool:
    """Add the parameter to a constructor, and the assignment to its body."""
    listed = [parameter_name(source, p) for p in parameters_of(function)]
    body = function.child_by_field_name("body")
    if decorator_names(source, function) or not listed or parameter.name in listed or body is None:
        return False
    if _gives_meaning(source, function, parameter.name) or _takes_options(source, function):
        return False
    assignment = f"{listed[0]}.{task.extra['attribute']} = {parameter.name}"
    statements = [c for c in body.named_children if c.type != "comment"]
    after = _statement_before(source, statements, listed)
    if after is None or any(_leaves(s) for s in statements[: statements.index(after) + 1]):
        return False
    if body.start_point[0] == function.start_point[0]:
        return False
    if not add_optional(source, function, parameter, patch):
        return False
    _declare(source, function, [_left_text(source, unwrapped(s)) for s in statements], parameter, task, patch)
    if unwrapped(after).type == "ellipsis" or after.type == "pass_statement":
        patch.replace(source.path, after.start_byte, after.end_byte, assignment)
        return True
    end = line_end(source, after.end_byte)
    gap = "\n" if after == docstring_node(source, function) and b"\n" in source.data[after.start_byte : end] else ""
    patch.replace(source.path, end, end, f"\n{gap}{indent_of(source, after)}{assignment}")
    return True


def _gives_meaning(source: SourceText, function: Node, name: str) -> bool:
    """Whether a constructor already uses a name of its own, or as a key, or copies objects of its class."""
    owner = scope_of(function).child_by_field_name("name")
    text = source.slice(function)
    copies = owner is not None and re.search(rf"isinstance\([^()]*\b{source.slice(owner)}\b", text)
    return (
        bool(copies)
        or uses_name(source, function, name)
        or re.search(rf"['\"]{re.escape(name)}['\"]", text) is not None
    )


def _takes_options(source: SourceText, function: Node) -> bool:
    """Whether a constructor takes its options out of `**options` one by one, in which case they belong there."""
    names = [parameter_name(source, p) for p in parameters_of(function) if is_variadic(p) == "**"]
    text = source.slice(function)
    return any(re.search(rf"\b{re.escape(name)}(?:\.(?:pop|get|setdefault)\(|\[)", text) for name in names)


def _declare(
    source: SourceText, function: Node, assigned: list[str], parameter: OptionalParameter, task: ExactTask, patch: Patch
) -> None:
    """Declare the attribute in the body of the class, where the others that the constructor sets are."""
    owner = scope_of(function)
    attributes = {text.partition(".")[2] for text in assigned if text.startswith("self.")}
    bare = [a for a in class_assignments(owner) if a.child_by_field_name("right") is None]
    declared = {_left_text(source, a) for a in bare}
    if not attributes or not attributes <= declared or any(b"Final" in (a.text or b"") for a in bare):
        return
    last = bare[-1]
    if is_annotated(source, function):
        end = line_end(source, last.end_byte)
        text = f"{task.extra['attribute']}: {parameter.annotation}"
        patch.replace(source.path, end, end, f"\n{indent_of(source, last)}{text}")


def _statement_before(source: SourceText, statements: list[Node], parameters: list[str]) -> Node | None:
    """The statement to assign behind: the last that keeps another parameter, else the call of the constructor above,
    else the last."""
    keeping = [s for s in statements if _keeps(source, s, parameters)]
    above = [s for s in statements if re.match(r"(?:super\([^()]*\)|\w+)\.__init__\(", source.slice(s))]
    return next((found[-1] for found in (keeping, above, statements) if found), None)


def _keeps(source: SourceText, statement: Node, parameters: list[str]) -> bool:
    inner = unwrapped(statement)
    left, right = (inner.child_by_field_name(side) for side in ("left", "right"))
    if inner.type != "assignment" or left is None or right is None:
        return False
    holder, _, attribute = source.slice(left).partition(".")
    named = attribute.lstrip("_") in parameters[1:] or source.slice(right) in parameters[1:]
    return holder == parameters[0] and attribute.isidentifier() and named


def _leaves(statement: Node) -> bool:
    """Whether a statement may end the function, so that what follows isn't reached."""
    pending = [statement]
    while pending:
        node = pending.pop()
        if node.type == "return_statement" or (node is statement and node.type == "raise_statement"):
            return True
        if node.type not in FUNCTIONS and node.type != "class_definition":
            pending.extend(node.named_children)
    return False


# An exception without a constructor


def _write(source: SourceText, node: Node, parameter: OptionalParameter, task: ExactTask, patch: Patch) -> bool:
    """Write a constructor that passes on what the exceptions of Python take."""
    body = node.child_by_field_name("body")
    annotated = annotates(source)
    if body is None or (annotated and not parameter.annotation):
        return False
    inside = [c for c in body.named_children if c.type != "comment"]
    indent = indent_of(source, node) + _step(source)
    typed = annotated is not False
    rows = [
        f"def __init__(self, *args{': object' if typed else ''}, {parameter.text(annotated=typed)})"
        f"{' -> None' if typed else ''}:",
        f"{_step(source)}super().__init__(*args)",
        f"{_step(source)}self.{task.extra['attribute']} = {parameter.name}",
    ]
    text = f"\n{indent}".join(rows)
    last = inside[-1]
    if last.type == "pass_statement" or unwrapped(last).type == "ellipsis":
        alone = last.start_point[0] == node.start_point[0]  # `class Lost(Exception): pass`
        start = source.data.rfind(b":", node.start_byte, last.start_byte) + 1 if alone else last.start_byte
        patch.replace(source.path, start, last.end_byte, f"\n{indent}{text}" if alone else text)
        return True
    kinds = ("function_definition", "decorated_definition", "class_definition")
    first = next((c for c in inside if c.type in kinds), None)
    if first is not None:
        start = decorated(first).start_byte
        patch.replace(source.path, start, start, f"{text}\n\n{indent}")
        return True
    end = line_end(source, last.end_byte)
    patch.replace(source.path, end, end, f"\n\n{indent}{text}")
    return True


def _step(source: SourceText) -> str:
    found = re.search(r"^(?:class|def)\b[^\n]*:\n([ \t]+)", source.text, re.M)
    return found[1] if found else "    "


# Fields of dataclasses


def _add_field(
    project: PythonProject, place: ClassPlace, parameter: OptionalParameter, task: ExactTask, patch: Patch
) -> bool:
    """Add a field to a dataclass, or to one of attrs that declares its fields with types."""
    source, node = project.sources.get(place.path), project.class_node(place)
    assert source is not None
    fields = list(class_assignments(node))
    typed = [f for f in fields if f.child_by_field_name("type") is not None]
    own = parameter.name == task.extra["attribute"] and not parameter.keyword
    if not own or not typed or len(typed) != len(fields) or parameter.annotation in ("", "object"):
        return False
    if not _declares_fields(source, node) or _constructors(project, place) or project.descendants(place):
        return False  # fields without a default below it could not follow
    after = fields[-1].parent
    assert after is not None
    following = after.next_named_sibling
    if following is not None and unwrapped(following).type == "string":
        after = following
    end = line_end(source, after.end_byte)
    patch.replace(source.path, end, end, f"\n{indent_of(source, after)}{parameter.text(annotated=True)}")
    return True


def _declares_fields(source: SourceText, node: Node) -> bool:
    """Whether the one decorator of a class is that of a dataclass, or of attrs with fields by their types."""
    written = [source.slice(c).lstrip("@") for c in decorated(node).children if c.type == "decorator"]
    if len(written) != 1:
        return False
    name, _, arguments = written[0].partition("(")
    new = name.rpartition(".")[2] in ("dataclass", "define", "frozen", "mutable")
    old = name in ("attr.s", "attr.attrs", "attrs") and "auto_attribs=True" in arguments.replace(" ", "")
    return (new or old) and "kw_only" not in arguments and "init=False" not in arguments.replace(" ", "")


# Slots


def _with_slot(source: SourceText, node: Node, attribute: str, patch: Patch) -> bool:
    """Add the attribute to the slots of a class where it has some; whether that could be done."""
    slots = [a for a in class_assignments(node) if _left_text(source, a) == "__slots__"]
    if not slots:
        return True
    listed = slots[0].child_by_field_name("right")
    entries = [c for c in listed.named_children if c.type != "comment"] if listed is not None else []
    if listed is None or listed.type not in ("tuple", "list") or any(e.type != "string" for e in entries):
        return False
    quote = source.slice(entries[-1])[-1] if entries else '"'
    start, end, new = added_entry(source.data, listed, entries, len(entries), f"{quote}{attribute}{quote}")
    patch.replace(source.path, start, end, new)
    return True


def _left_text(source: SourceText, assignment: Node) -> str:
    left = assignment.child_by_field_name("left")
    return source.slice(left) if left is not None else ""
