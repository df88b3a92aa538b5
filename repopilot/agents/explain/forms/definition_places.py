"""Answers where a named thing is defined, used, set, checked or raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, item_of, listing, place_text, sentence
from repopilot.agents.explain.forms.known_symbols import definitions, dotted, is_program, symbol_around
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax.bindings import Binding, bindings
from repopilot.agents.explain.forms.syntax.occurrences import (
    Occurrence,
    distinct_lines,
    files_with,
    is_checked,
    is_raised,
    occurrences,
)
from repopilot.index.store import Index
from repopilot.types import Reference

MOST_DEFINED = 8
"""Definitions of one name that are listed. A name with more of them is asked for too vaguely."""
_HEAD = 8
"""Lines of a definition that are quoted."""


def answer_defined(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer where a class, function, constant or file is defined."""
    found = definitions(inquiry.index, form.names) if form.named else []
    if not 0 < len(found) <= MOST_DEFINED:
        return None
    if len(found) == 1:
        place = f"`{found[0].path}:{found[0].start_line}`"
        text = i18n.text("forms.defined", inquiry.language, name=f"`{found[0].qualified}`", place=place)
        return sentence(inquiry, form.kind, text, [item_of(found[0], lines=_HEAD)])
    name = f"`{dotted(form.names[0])}`"
    heading = i18n.text("forms.definitions.list", inquiry.language, name=name, count=len(found))
    return listing(inquiry, form.kind, heading, [item_of(s, place_text(s), _HEAD) for s in found])


def answer_checked(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer where a name is checked: in a condition, or by a function that checks."""
    return _at(form, inquiry, is_checked, "forms.checked")


def answer_raised(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer where an error is raised, thrown or returned."""
    return _at(form, inquiry, is_raised, "forms.raised")


def answer_set(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer where a name gets a value."""
    found = _found(form, inquiry.index)
    places = [b for b in bindings(found or []) if b.value and b.role not in ("argument", "parameter")]
    if not places:
        return None
    items = [_binding_item(inquiry.index, binding) for binding in places]
    return _listed(form, inquiry, items, "forms.set")


def answer_used(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer where a name is used: the uses that parsing found, a row for each definition around them."""
    name = dotted(form.names[0]).rpartition(".")[2] if form.names else ""
    if not form.named or not name or not definitions(inquiry.index, form.names):
        return None
    uses = [r for r in inquiry.index.references(name) if r.kind != "import"]
    program = [r for r in uses if is_program(r.path)]
    shown = program or uses
    first: dict[tuple[str, str], Reference] = {}
    for use in sorted(shown, key=lambda use: (use.path, use.line)):
        first.setdefault((use.path, use.scope), use)
    if not first:
        return None
    items = [_use_item(use) for use in first.values()]
    tests = len(uses) - len(shown)
    note = i18n.text("forms.used_in_tests", inquiry.language, count=tests) if tests else ""
    heading = i18n.text("forms.used.list", inquiry.language, name=f"`{name}`")
    several = len(definitions(inquiry.index, form.names)) > 1
    return listing(inquiry, form.kind, heading, items, sure=not several, note=note, more=tests)


def _at(form: Form, inquiry: Inquiry, fits: Callable[[Occurrence], bool], key: str) -> CodeAnswer | None:
    found = [occurrence for occurrence in _found(form, inquiry.index) or [] if fits(occurrence)]
    items = [_item(inquiry.index, occurrence) for occurrence in distinct_lines(found)]
    return _listed(form, inquiry, items, key) if items else None


def _found(form: Form, index: Index) -> list[Occurrence] | None:
    """Where the name stands, inside what it belongs to."""
    if not form.named or form.ordinary:
        return None
    name = dotted(form.names[0]).rpartition(".")[2].lstrip("-")
    owners = definitions(index, form.names[1:]) if form.names[1:] else []
    if form.names[1:] and not owners:
        return None
    paths = list(dict.fromkeys(s.path for s in owners)) or files_with(index, name)
    found = occurrences(index, name, paths)
    if found is None or not owners:
        return found
    return [o for o in found if any(s.path == o.file.path and s.start_line <= o.line <= s.end_line for s in owners)]


def _listed(form: Form, inquiry: Inquiry, items: Sequence[Item], key: str) -> CodeAnswer:
    name = f"`{dotted(form.names[0])}`"
    if len(items) == 1:
        place = f"`{items[0].symbol or items[0].path}`"
        text = i18n.text(f"{key}.one", inquiry.language, name=name, place=place)
        return sentence(inquiry, form.kind, text, items)
    heading = i18n.text(f"{key}.list", inquiry.language, name=name)
    return listing(inquiry, form.kind, heading, items)


def _item(index: Index, found: Occurrence) -> Item:
    path, line = found.file.path, found.line
    return _line_item(index, path, line, line)


def _binding_item(index: Index, binding: Binding) -> Item:
    return _line_item(index, binding.path, binding.first, min(binding.last, binding.first + 2))


def _line_item(index: Index, path: str, first: int, last: int) -> Item:
    around = symbol_around(index.outline(path), first)
    name = around.qualified if around else ""
    text = code((index.lines(path, first, first) or "").strip())
    where = f"`{name}` (`{path}:{first}`)" if name else f"`{path}:{first}`"
    return Item(f"{where}: {text}", path, first, last, name)


def _use_item(use: Reference) -> Item:
    where = f"`{use.scope}` (`{use.path}:{use.line}`)" if use.scope else f"`{use.path}:{use.line}`"
    return Item(where, use.path, use.line, use.line, use.scope)
