"""The steps of an answer as they are stored with it: in the reader's language, each text of a bounded length. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from repopilot import i18n
from repopilot.trace import Event, tree

TEXT_LIMIT = 4000
ROWS_KEPT = 60
STEPS_KEPT = 2000
CHARACTERS_KEPT = 600_000


def kept_steps(events: Iterable[Event], language: str) -> list[dict]:
    """The trace as `trace.tree` gives it, small enough to be stored.

    Args:
        events: of the trace.
        language: of the reader, in which its messages are written.

    Returns:
        The root steps. Only the first `STEPS_KEPT` steps are kept, in reading order; texts are cut to `TEXT_LIMIT`
        characters each and `CHARACTERS_KEPT` together.
    """
    left = [STEPS_KEPT]
    characters = [CHARACTERS_KEPT]

    def kept(nodes: list[dict]) -> list[dict]:
        found = []
        for node in nodes:
            if not left[0]:
                break
            left[0] -= 1
            plain = {name: _bounded(value, language, characters) for name, value in node.items() if name != "children"}
            found.append({**plain, "children": kept(node["children"])})
        return found

    return kept(tree(events))


def _bounded(value: Any, language: str, left: list[int]) -> Any:
    if isinstance(value, str):
        said = i18n.translated(value, language)
        limit = min(TEXT_LIMIT, left[0])
        left[0] -= min(limit, len(said))
        return said if len(said) <= limit else said[:limit] + "…"
    if isinstance(value, Mapping):
        return {str(name): _bounded(item, language, left) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_bounded(item, language, left) for item in value[:ROWS_KEPT]]
    return value
