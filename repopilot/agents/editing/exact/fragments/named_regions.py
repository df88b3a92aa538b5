"""The parts of files that a task names as the place of a change."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import (
    ambiguous,
    candidates,
    check_editable,
    is_code_name,
    not_found,
    owners,
    path_named,
    split_mention,
    task_paths,
)
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.types import Symbol


class NamedRegion(NamedTuple):
    """A definition or a whole file: its bytes, and its name ('' for a file)."""

    source: SourceText
    start: int
    end: int
    name: str = ""


def named_regions(task: ExactTask, sources: Sources) -> list[NamedRegion]:
    """The definitions that a task names as places, else the files; [] where it names none.

    Args:
        task: the task.
        sources: the files.

    Raises:
        PlaceAmbiguous: several definitions have the name of a place.
        GenerationFailed: there is no such definition or file.
    """
    index = sources.workspace.index
    files_only = tuple(p for p in task.places if path_named(p.name, index) is not None)
    found: list[NamedRegion] = []
    if task.mention and split_mention(task.mention, index)[1]:
        symbols = candidates(split_mention(task.mention, index)[1], replace(task, places=()), sources)
        found += [region for s in symbols[:1] if (region := symbol_region(s, sources)) is not None]
    names = owners(task, index) if not found else []
    for number, owner in enumerate(names):
        around = tuple(names[:number]) + tuple(names[number + 1 :])
        symbols = candidates(owner.name, replace(task, places=files_only + around, mention=""), sources)
        symbols = symbols or candidates(owner.name, replace(task, places=files_only, mention=""), sources)
        if not symbols and (is_code_name(owner.name) or owner.what in ("function", "method", "class")):
            raise not_found(owner.name, replace(task, places=files_only), index)
        if len(symbols) > 1:
            raise ambiguous(owner.name, symbols)
        for symbol in symbols:
            check_editable(symbol.path, task, sources)
            region = symbol_region(symbol, sources)
            found += [region] if region is not None else []
    return _innermost(found) or [
        file_region(p, sources) for p in task_paths(task, sources) if sources.get(p) is not None
    ]


def _innermost(found: list[NamedRegion]) -> list[NamedRegion]:
    """Regions that hold no other: a method that is named with its class."""
    return [
        r
        for r in found
        if not any(o != r and o.source.path == r.source.path and r.start <= o.start and o.end <= r.end for o in found)
    ]


def symbol_region(symbol: Symbol, sources: Sources) -> NamedRegion | None:
    """The whole lines of a definition."""
    source = sources.get(symbol.path)
    if source is None:
        return None
    starts = [0]
    for line in source.data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    end = min(starts[min(symbol.end_line, len(starts) - 1)], len(source.data))
    return NamedRegion(source, starts[symbol.start_line - 1], end, symbol.qualified)


def file_region(path: str, sources: Sources) -> NamedRegion:
    """A whole file."""
    source = sources.get(path)
    assert source is not None
    return NamedRegion(source, 0, len(source.data))
