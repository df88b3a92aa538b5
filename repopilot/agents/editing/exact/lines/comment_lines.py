"""Adds comments above definitions and keys."""

from __future__ import annotations

import re

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import (
    decorated,
    named_symbol,
    python_definition,
)
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, dotted, path_named
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.config_values import keys_of
from repopilot.errors import GenerationFailed
from repopilot.types import Edit, Symbol

_MARKS = {
    "#": "python ruby shell bash yaml toml ini r perl elixir make dockerfile powershell julia nim cmake",
    "//": "javascript typescript tsx go rust java c cpp csharp kotlin scala swift php dart zig",
    "--": "sql lua haskell elm ada",
}
_MARK_OF = {language: mark for mark, languages in _MARKS.items() for language in languages.split()}


def add_comment(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a comment above a definition, or above a key of a configuration.

    Args:
        task: of kind add_comment: the definition or key in `name`, the comment in `new`.
        sources: the files.

    Returns:
        The change; None where nothing is named that can have a comment.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: the comment is there already.
    """
    text = task.new.strip()
    found = _key(task, sources) or _definition(task, sources)
    if found is None or not text:
        return None
    source, start, indent, place = found
    mark = _MARK_OF.get(source.language)
    if mark is None:
        return None
    rows = [re.sub(r"^(?:#+|//+|--|/\*+|\*/?)\s?", "", row).removesuffix("*/").rstrip() for row in text.split("\n")]
    comment = [f"{indent}{mark} {row.strip()}".rstrip() for row in rows]
    above = source.data[:start].decode("utf-8").split("\n")[:-1][-len(comment) :]
    if above == comment:
        raise GenerationFailed(i18n.message("exact.already_there", name=comment[0].strip(), path=source.path))
    patch = Patch()
    patch.replace(source.path, start, start, "".join(f"{row}\n" for row in comment))
    patch.edits.append(Edit("add_text", source.path, place, "\n".join(row.strip() for row in comment)))
    return patch


def _definition(task: ExactTask, sources: Sources) -> tuple[SourceText, int, str, str] | None:
    """The file of a definition, the first byte of its line, its indentation and its name."""
    symbol = named_symbol(task, sources)
    source = sources.get(symbol.path) if symbol is not None else None
    if symbol is None or source is None:
        return None
    line = _first_line(symbol, sources)
    row = source.line_text(line)
    start = source.start_of(line)
    return source, start, row[: len(row) - len(row.lstrip())], symbol.qualified


def _first_line(symbol: Symbol, sources: Sources) -> int:
    """The line that a definition begins on, with its decorators."""
    definition = python_definition(symbol, sources)
    if definition is None:
        return symbol.start_line
    return decorated(definition.node).start_point[0] + 1


def _key(task: ExactTask, sources: Sources) -> tuple[SourceText, int, str, str] | None:
    """The same of a key of a configuration that the task names."""
    index = sources.workspace.index
    for place in task.places:
        path = path_named(place.name, index)
        source = sources.get(path) if path is not None else None
        if source is None or path is None or source.language not in ("toml", "yaml", "ini"):
            continue
        check_editable(path, task, sources)
        wanted = dotted(task.name)
        keys = [k for k in keys_of(source.text, source.language) if f".{'.'.join(k.name)}".endswith(f".{wanted}")]
        if len(keys) == 1:
            text = source.text
            first = text.rfind("\n", 0, keys[0].start) + 1
            row = text[first:].partition("\n")[0]
            start = len(text[:first].encode("utf-8"))
            return source, start, row[: len(row) - len(row.lstrip())], ".".join(keys[0].name)
    return None
