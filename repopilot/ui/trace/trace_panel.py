"""The steps of a finished answer in the panel beside the chat: calls of tools with arguments and results, tables with
bars, tests, the debate in two columns; alone, or beside those of another answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.i18n.format import count, duration
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.elements import show_aside
from repopilot.ui.trace.step_text import MARKS, cell, label, place_first, step_name, title_facts

COLUMNS = ("debate",)
"""Steps whose children answer each other, so they are shown side by side."""
HIDDEN = frozenset({"arguments", "degraded", "diff", "content", "evidence", "focus", "summary", "passed", "failed"})


@button
async def show_trace(chat: Chat, payload: dict) -> dict:
    """Open the panel with the steps of an answer; returns {}, or {error}.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, other: the id of an answer to compare with, absent for none}.
    """
    shown = answer_of(chat, payload)
    if not shown.steps:
        raise UsageError(i18n.message("ui.errors.answer_gone"))
    other = chat.answers.get(str(payload.get("other", "")))
    others = [[id, each.question] for id, each in chat.answers.items() if each is not shown and each.steps]
    props = trace_props(str(payload["answer"]), shown, chat.language, other=other, others=others)
    await show_aside("Trace", props)
    return {}


def steps_json(shown: ShownAnswer) -> str:
    """The steps that led to an answer: {request, steps}."""
    return json.dumps({"request": shown.request, "steps": shown.steps}, ensure_ascii=False, indent=1)


def trace_props(
    id: str, shown: ShownAnswer, language: str, *, other: ShownAnswer | None = None, others: Sequence = ()
) -> dict:
    """Props of the element `Trace`.

    Args:
        id: of the answer's message.
        shown: the answer with its steps.
        language: of the reader.
        other: the answer whose steps stand beside them.
        others: [id, question] of the answers that can be compared.
    """
    return {
        "answer": id,
        "question": shown.question,
        "command": shown.command,
        "facts": _facts(shown, language),
        "request": shown.request,
        "steps": [_node(node, language) for node in shown.steps],
        "others": list(others),
        "other": {"question": other.question, "facts": _facts(other, language)} if other else None,
        "compared": compared(shown.steps, other.steps, language) if other else [],
        "words": i18n.section("ui.trace.words", language),
    }


def compared(left: Sequence[dict], right: Sequence[dict], language: str) -> list[dict]:
    """Two traces step by step.

    Args:
        left: the one trace, as `trace.tree` gives it.
        right: the other.
        language: of the reader.

    Returns:
        {depth, title, left, right: the facts of the step in each trace, '' if it lacks the step}; the steps of `left`
        in order, then those only in `right`.
    """
    ours = dict(_paths(left))
    theirs = dict(_paths(right))
    return [
        {
            "depth": len(path) - 1,
            "title": step_name(path[-1][0], language),
            "left": _line(ours.get(path), language),
            "right": _line(theirs.get(path), language),
        }
        for path in [*ours, *(path for path in theirs if path not in ours)]
    ]


def _paths(nodes: Sequence[dict], above: tuple = ()) -> Iterator[tuple[tuple, dict]]:
    """Every step with its path of (name, number); the number counts siblings of the same name."""
    seen: dict[str, int] = {}
    for node in nodes:
        seen[node["name"]] = seen.get(node["name"], 0) + 1
        path = (*above, (node["name"], seen[node["name"]]))
        yield path, node
        yield from _paths(node["children"], path)


def _line(node: dict | None, language: str) -> str:
    if node is None:
        return ""
    took = duration(node["duration_s"], language) if node["duration_s"] is not None else "…"
    return " · ".join([*title_facts(node["data"], language), took]) + MARKS.get(node["state"], "")


def _facts(shown: ShownAnswer, language: str) -> str:
    """Duration, tokens and models of an answer in a line."""
    data = [node["data"] for _, node in _paths(shown.steps)]
    models = dict.fromkeys(str(noted["model"]) for noted in data if noted.get("model"))
    tokens = sum(found for noted in data if isinstance(found := noted.get("completion_tokens"), int))
    took = sum(node["duration_s"] or 0 for node in shown.steps)
    facts = (duration(took, language), count(tokens, "token", language) if tokens else "", ", ".join(models))
    return " · ".join(filter(None, facts))


def _node(node: dict, language: str) -> dict:
    data = node["data"]
    passed = data.get("passed")
    single = {name: value for name, value in data.items() if name not in HIDDEN and not _is_rows(value)}
    return {
        "title": step_name(node["name"], language),
        "facts": _line(node, language),
        "state": node["state"],
        "input": "" if data.get("arguments") else node["input"],
        "output": node["output"],
        "error": node["error"],
        "notes": [str(note) for note in data.get("degraded") or ()],
        "arguments": [[name, _argument(value)] for name, value in (data.get("arguments") or {}).items()],
        "single": [[label(name, language), cell(value, language)] for name, value in single.items() if value],
        "tables": [_table(value, language) for name, value in data.items() if name not in HIDDEN and _is_rows(value)],
        "tests": [passed, data.get("failed", 0) + data.get("errors", 0)] if isinstance(passed, int) else None,
        "columns": node["name"].partition(" ")[0] in COLUMNS,
        "children": [_node(child, language) for child in node["children"]],
    }


def _argument(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _table(values: Sequence[Mapping], language: str) -> dict:
    """A table; `bars` are the scores as shares of the largest score, if there is such a column."""
    rows = [place_first(row) for row in values]
    names = list(dict.fromkeys(name for row in rows for name in row if name not in HIDDEN))
    scores = [row.get("score") for row in rows]
    most = max((score for score in scores if isinstance(score, int | float)), default=0)
    return {
        "columns": [label(name, language) for name in names],
        "rows": [[cell(row.get(name, ""), language).replace("`", "") for name in names] for row in rows],
        "bars": [score / most if most > 0 and isinstance(score, int | float) else None for score in scores],
    }
