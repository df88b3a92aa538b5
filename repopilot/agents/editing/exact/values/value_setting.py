"""Sets a value: a constant, an attribute, a parameter's default, an entry of a dictionary, a configuration's key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import (
    candidates,
    check_editable,
    dotted,
    is_code_name,
    is_name,
    not_found,
    owners,
    path_named,
    task_paths,
)
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, merge
from repopilot.agents.editing.exact.values.config_values import config_value
from repopilot.agents.editing.exact.values.entry_values import entry_values
from repopilot.agents.editing.exact.values.fallbacks import keyed_fallbacks
from repopilot.agents.editing.exact.values.field_values import constructor_values
from repopilot.agents.editing.exact.values.literals import (
    OldValue,
    is_number,
    is_string,
    same_value,
    scaled,
    value_text,
)
from repopilot.agents.editing.exact.values.measures import in_unit
from repopilot.agents.editing.exact.values.numbers_beside import correct_remark
from repopilot.agents.editing.exact.values.quantities import Quantity, code_numbers, exchanged_number, is_size
from repopilot.agents.editing.exact.values.value_places import ValuePlace, places_in, value_of
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.types import Edit, Symbol

_OR_BEFORE = re.compile(rb"(?:\|\||\bor\b)\s*\Z")


def set_value(task: ExactTask, sources: Sources) -> Patch | None:
    """Set the value that a task names.

    Args:
        task: of kind set_value or set_default; `new` is the value, or with `by` in `extra` the operand.
        sources: the files.

    Returns:
        The change; None where the task may mean something else.

    Raises:
        PlaceAmbiguous: several values fit.
        GenerationFailed: there is no such value, or it isn't what the task says it is.
    """
    in_config = config_value(task, sources)
    if in_config is not None:
        return in_config
    of_option = any(place.name.startswith("-") for place in task.places)
    if of_option or (not is_name(task.name) and "quoted" not in task.extra):
        return None
    found = _narrowed(list(_value_places(task, sources)), task)
    if not found:
        found = _narrowed(list(_defaults(task, sources)), task) if task.kind == "set_default" else []
    if not found:
        found = _narrowed(list(_attributes(task, sources)), task)
    if not found:
        found = _narrowed(list(_entries(task, sources)), task)
    if not found:
        found = _narrowed(list(_keyed(task, sources)), task)
        if len({p.text for p in found}) == 1:  # a key that is read in several places has one default
            return _replaced_all(found, task, sources)
    if not found:
        _check_exists(task, sources)
        return None
    if len(found) > 1 and not any(_can_be_set(p, task, sources) for p in found):
        return None
    if len({(p.path, p.place) for p in found}) > 1:
        raise _ambiguous(task, found)
    if len(found) > 1:
        return None
    check_editable(found[0].path, task, sources)
    return _replaced(found[0], task, sources)


def _value_places(task: ExactTask, sources: Sources) -> Iterator[ValuePlace]:
    """Every value that the task may mean."""
    if task.kind == "set_value":
        for symbol in candidates(task.name, task, sources):
            yield from places_in(symbol, None, sources)
    for owner in _owners(task, sources):
        yield from places_in(owner, dotted(task.name), sources)
    around, _, last = dotted(task.name).rpartition(".")
    if around and not candidates(task.name, task, sources):
        for owner in candidates(around, task, sources):
            yield from places_in(owner, last, sources)


def _attributes(task: ExactTask, sources: Sources) -> Iterator[ValuePlace]:
    """What constructors set an attribute to that no definition declares."""
    paths = task_paths(task, sources)
    named = is_code_name(task.name) or (task.kind == "set_default" and task.name.isidentifier())
    if named and not owners(task, sources.workspace.index):
        for source, value, place in constructor_values(task.name, sources):
            if not paths or source.path in paths:
                yield value_of(source, value, place)


def _defaults(task: ExactTask, sources: Sources) -> Iterator[ValuePlace]:
    """The defaults of parameters of a name, where the task names no function: in its files, else in all code."""
    index = sources.workspace.index
    if not re.fullmatch(r"[A-Za-z_]\w*", task.name) or owners(task, index):
        return
    named = task_paths(task, sources)
    takes = re.compile(rf"[(,\s*]{re.escape(task.name)}\s*(?::[^=]*?)?=(?!=)")
    for path in named or [p for p in sources.mentioning(task.name) if not is_test_path(p) and not is_example_path(p)]:
        for symbol in sources.outline(path) if file_kind(path) == "code" else ():
            if symbol.kind in ("function", "method") and takes.search(symbol.signature):
                yield from places_in(symbol, task.name, sources)


def _entries(task: ExactTask, sources: Sources) -> Iterator[ValuePlace]:
    """Entries of objects and dictionaries, where the task names no owner: of a name that can only be code, of a file
    that it names, or of what holds defaults where it says `default`."""
    name = dotted(task.name)
    if "." in name or owners(task, sources.workspace.index):
        return
    named = task_paths(task, sources)
    for source, value, holder in entry_values(name, named or sources.mentioning(name), sources):
        of_defaults = task.kind == "set_default" and "default" in f"{source.path} {holder}".lower()
        if named or is_code_name(name) or of_defaults:
            yield value_of(source, value, f"{holder}.{name}" if holder else name)


def _keyed(task: ExactTask, sources: Sources) -> Iterator[ValuePlace]:
    """What calls give to a key that is missing, where the task names the key alone."""
    if owners(task, sources.workspace.index) or not is_code_name(task.name):
        return
    for path in task_paths(task, sources) or sources.mentioning(task.name):
        code = file_kind(path) == "code" and not is_test_path(path) and not is_example_path(path)
        source = sources.get(path) if code else None
        if source is not None:
            yield from (value_of(source, value, task.name) for value in keyed_fallbacks(source, task.name))


def _replaced_all(found: list[ValuePlace], task: ExactTask, sources: Sources) -> Patch | None:
    whole = Patch()
    for place in found:
        check_editable(place.path, task, sources)
        patch = _replaced(place, task, sources)
        if patch is None:
            return None
        merge(whole, patch)
    return whole


def _owners(task: ExactTask, sources: Sources) -> list[Symbol]:
    """The definitions that hold the value: those the task names, and what precedes the last dot of the name."""
    index = sources.workspace.index
    plain = ExactTask(task.kind, task.name, mention=task.mention, places=tuple(
        p for p in task.places if path_named(p.name, index) is not None
    ))  # fmt: skip
    found: list[Symbol] = []
    for owner in owners(task, index):
        found += candidates(owner.name, plain, sources)
    return list(dict.fromkeys(found))


def _narrowed(found: list[ValuePlace], task: ExactTask) -> list[ValuePlace]:
    """Each place once; of several the one with the value that the task says is there."""
    distinct = list({(p.path, p.start): p for p in found}.values())
    if len(distinct) > 1 and task.old:
        return [p for p in distinct if p.text and same_value(p.text, task.old)] or distinct
    return distinct


def _check_exists(task: ExactTask, sources: Sources) -> None:
    """Refuse a name that can only be code and that nothing has, where a literal is to be its value."""
    index = sources.workspace.index
    if candidates(task.name, task, sources):
        return
    named = is_code_name(task.name) and ("quoted" in task.extra or task.name.isupper() or "_" in task.name)
    if named and not task_paths(task, sources) and value_like(task.new):
        raise not_found(task.name, task, index)


def value_like(text: str) -> bool:
    """Whether a text is a literal."""
    return re.fullmatch(r"-?[\d_.]+|true|false|none|null|(['\"]).*\1", text.strip(), re.I) is not None


def _ambiguous(task: ExactTask, found: list[ValuePlace]) -> PlaceAmbiguous:
    choices = tuple(dict.fromkeys(f"{p.path}:{p.place}" for p in found))
    return PlaceAmbiguous(
        i18n.message("exact.several_places", name=task.name, count=len(choices)),
        i18n.message("exact.choose_place"),
        choices[:12],
    )


def _can_be_set(place: ValuePlace, task: ExactTask, sources: Sources) -> bool:
    """Whether the task's value can stand at a place."""
    try:
        return _replaced(place, task, sources) is not None
    except GenerationFailed:  # another value is there than the task says
        return False


def _replaced(place: ValuePlace, task: ExactTask, sources: Sources) -> Patch | None:
    source = sources.get(place.path)
    assert source is not None
    if "unit" in task.extra:
        return _measured(place, task, source)
    old = OldValue(place.text, source.language, lambda name: _means(source, name))
    start, end = place.start, place.end
    if task.old and not same_value(place.text, task.old):
        inner = _literal_inside(place, task.old, source)
        if inner is None:
            raise GenerationFailed(
                i18n.message("exact.other_value", name=task.name, value=place.text[:80] or "?", expected=task.old)
            )
        start, end = inner.start_byte, inner.end_byte
        old = OldValue(source.slice(inner), source.language, old.knows)
    elif place.computed and not _same_shape(place.text, task.new):
        return None
    by = task.extra.get("by")
    new = scaled(old.text, by, task.new) if by else value_text(task.new, old)
    if new is None:
        return None
    patch = Patch()
    operator = _OR_BEFORE.search(source.data[:start])
    if operator is not None and new in ("true", "True"):  # with `||` it would be true whatever is given
        if operator[0].strip() != b"||":
            return None
        patch.replace(place.path, start - len(operator[0]), start - len(operator[0]) + 2, "??")
    patch.replace(place.path, start, end, place.before + new)
    correct_remark(patch, source, start, end, new)
    patch.edits.append(Edit(task.kind if task.kind != "set_default" else "set_value", place.path, place.place, new))
    return patch


def _measured(place: ValuePlace, task: ExactTask, source: SourceText) -> Patch | None:
    """Set a value that the task gives with its unit, where it is in that unit."""
    line = source.line_text(source.line_of(place.start))
    around = f"{task.name} {place.place} {re.split(r'#|//', line, maxsplit=1)[1] if re.search(r'#|//', line) else ''}"
    new = _in_bytes_or_product(place.text, task) or in_unit(task.new, task.extra["unit"], place.text, around)
    if task.old and not same_value(
        re.sub(r"(?<=\d)\s*\*?\s*[A-Za-z.]+", "", place.text), re.sub(r"(?<=\d)\s*[A-Za-z]+$", "", task.old)
    ):
        raise GenerationFailed(
            i18n.message("exact.other_value", name=task.name, value=place.text[:80] or "?", expected=task.old)
        )
    if new is None or (place.computed and new == task.new):
        return None
    if is_number(new):
        new = value_text(new, OldValue(place.text, source.language)) or new
    patch = Patch()
    patch.replace(place.path, place.start, place.end, place.before + new)
    correct_remark(patch, source, place.start, place.end, new)
    patch.edits.append(Edit("set_value", place.path, place.place, new))
    return patch


def _in_bytes_or_product(text: str, task: ExactTask) -> str | None:
    """The quantity of the task as it is written in place of a number of bytes, or of a product: `5 * 60`."""
    number, new = (next(code_numbers(each), None) for each in (text, task.new))
    if number is None or new is None or number.text != text:
        return None
    quantity = Quantity(new.value, task.extra["unit"], 0, 0)
    fits = is_size(quantity) or re.search(r"\*|<<", text) is not None
    return exchanged_number(number, "", None, quantity) if fits else None


def _same_shape(old: str, new: str) -> bool:
    """Whether both are calls, lists or the like."""
    return bool(old) and old[-1:] == new.strip()[-1:] and new.strip()[-1:] in ")]}"


def _means(source: SourceText, name: str) -> bool:
    """Whether a file binds a name at its top level."""
    if not name.isidentifier():
        return False
    if source.language != "python":
        return (
            re.search(rf"\b(?:const|let|var|static|class|enum|import)\b[^\n;=]*\b{re.escape(name)}\b", source.text)
            is not None
        )
    table = name_table(source, name)
    return source.root is not None and source.root.id in table.bound


def _literal_inside(place: ValuePlace, old: str, source: SourceText) -> Node | None:
    """The one literal inside a value that is what the task says."""
    if source.root is None or place.start == place.end:
        return None
    node = source.root.descendant_for_byte_range(place.start, place.end)
    pending, found = [node] if node is not None else [], []
    while pending:
        current = pending.pop()
        inside = place.start <= current.start_byte and current.end_byte <= place.end
        text = source.slice(current)
        if inside and (current.named_child_count == 0 or is_string(text)) and same_value(text, old):
            found.append(current)
        else:
            pending.extend(current.named_children)
    return found[0] if len(found) == 1 else None
