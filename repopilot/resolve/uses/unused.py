"""The message that nothing uses a definition, if that is certain; else where its name also stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.i18n import Message, message
from repopilot.index.graph.code_graph import linker_of
from repopilot.index.store import Index
from repopilot.resolve.uses.usage import Usage
from repopilot.types import Symbol

_MOST_PLACES = 5
_DECORATOR = re.compile(r"\s*(@[\w.$]+.*|\[[A-Z]\w*.*\]|#\[.*\])\s*$")
_LONGEST = 80


def said_unused(name: str, usage: Usage | None, index: Index, symbols: Sequence[Symbol] = ()) -> Message:
    """The message for a definition without any certain use.

    Args:
        name: as it was asked about.
        usage: its uses; None where only the code graph knows it.
        index: the repository.
        symbols: the definitions that have the name.

    Returns:
        That nothing uses it, unless other places of the name may; else those places. A definition that its decorator
        may register, or that code outside may call through a base class, isn't called unused.
    """
    open_places = [*usage.by_name, *usage.mentions] if usage is not None else []
    if open_places:
        places = ", ".join(dict.fromkeys(f"{place.path}:{place.line}" for place in open_places[:_MOST_PLACES]))
        more = len(open_places) - _MOST_PLACES
        key = "absence.also_at_more" if more > 0 else "absence.also_at"
        return message(key, name=name, places=places, count=more)
    decorators = [found for symbol in symbols if (found := _decorator(index, symbol))]
    if decorators:
        return message("absence.registered", name=name, decorator=decorators[0])
    linker = linker_of(index)
    numbers = [at for symbol in symbols for at in linker.numbers(symbol)]
    if any(not linker.overridden(at)[1] for at in numbers):
        return message("absence.inherited", name=name)
    return message("absence.unused", name=name)


def _decorator(index: Index, symbol: Symbol) -> str:
    first = (index.lines(symbol.path, symbol.start_line, symbol.start_line) or "").strip("\n")
    found = _DECORATOR.match(first)
    return found[1][:_LONGEST] if found else ""
