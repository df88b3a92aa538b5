"""A reading in words, as the user would have to write it to be sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask


def command_of(edits: Sequence[ExactTask]) -> str:
    """What is done, as a command in English.

    Args:
        edits: all of it, of kinds that the readers of intents know.
    """
    return ", ".join(dict.fromkeys(_COMMANDS[edit.kind](edit) for edit in edits))


def _place(edit: ExactTask) -> str:
    return edit.places[0].name if edit.places else ""


def _in(edit: ExactTask) -> str:
    return f" in {_place(edit)}" if edit.places else ""


def _of_module(edit: ExactTask) -> str:
    return f" from {edit.name}" if edit.name else ""


def _reordered(edit: ExactTask) -> str:
    where, _, neighbour = edit.extra.get("position", "first").partition(":")
    if where == "listed":
        return f"order the parameters of {_place(edit)} as {edit.name}"
    return f"put the parameter {edit.name} of {_place(edit)} {where} {neighbour}".rstrip()


_COMMANDS: dict[str, Callable[[ExactTask], str]] = {
    "rename": lambda e: f"rename {e.name} to {e.new}{_in(e)}",
    "rename_parameter": lambda e: f"rename the parameter {e.name} of {_place(e)} to {e.new}",
    "rename_file": lambda e: f"rename the file {e.name} to {e.new}",
    "move": lambda e: f"move {e.name} from {_place(e)} to {e.new}",
    "keyword_only": lambda e: f"make {e.name} of {_place(e)} keyword-only",
    "require_parameter": lambda e: f"make {e.name} of {_place(e)} required",
    "reorder_parameter": _reordered,
    "delete": lambda e: f"delete {e.name}{_in(e)}",
    "remove_parameter": lambda e: f"remove the parameter {e.name} of {_place(e)}",
    "remove_import": lambda e: f"remove the import of {e.name}{_in(e)}",
    "import_style": lambda e: f"make the imports{_of_module(e)}{_in(e)} {e.new}",
    "export": lambda e: f"export {e.name} from {_place(e)}",
    "set_default": lambda e: f"set the default of {e.name} in {_place(e)} to {e.new}",
    "add_member": lambda e: f"add {e.new} to {e.name}{_in(e)}",
    "docstring": lambda e: f'document {e.name} as "{e.new}"',
    "replace_text": lambda e: f'replace "{e.old}" with "{e.new}"{_in(e)}',
    "replace_code": lambda e: f"replace {e.old} with {e.new}{_in(e)}",
}
