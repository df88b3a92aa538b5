"""A trace as a text to compare."""

from __future__ import annotations

from collections.abc import Iterable

from repopilot.trace import Event, tree


def outline(events: Iterable[Event]) -> str:
    """The trace as an indented text, one line a step: its name, ` ✗` where it failed, ` ■` where it was stopped."""
    marks = {"ok": "", "error": " ✗", "stopped": " ■", "running": " …"}

    def lines(nodes: list[dict], depth: int) -> Iterable[str]:
        for node in nodes:
            yield "  " * depth + node["name"] + marks[node["state"]]
            yield from lines(node["children"], depth + 1)

    return "\n".join(lines(tree(events), 0))
