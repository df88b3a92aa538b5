"""A finished step in words: its one-line title and the Markdown it unfolds to. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repopilot.i18n.format import count, duration
from repopilot.trace import Finished, Started

OUTPUT_LIMIT = 50_000
"""Characters shown of one step: at 100,000 the browser takes seconds, at a million half a minute."""
CELL_LIMIT = 160
ROWS_LIMIT = 40
MARKS = {"ok": "", "error": " ✗", "stopped": " ■"}
CONTRIBUTIONS_SHOWN = 5
_DIRECTIVE = re.compile(r"(?<!\\):(?=[A-Za-z:])")
_HIDDEN = frozenset({"degraded", "diff", "content", "seconds"})


def running_title(started: Started) -> str:
    return _capital(started.name)


def finished_title(started: Started, finished: Finished) -> str:
    """`Retrieve · 8 hits · 45 ms`, with ✗ where it failed and ■ where it was stopped."""
    facts = [*_headline(finished.data), duration(finished.at - started.at)]
    return _capital(started.name) + MARKS[finished.state] + " · " + " · ".join(facts)


def running_input(started: Started) -> str:
    return inert(started.input[:2000])


def body(finished: Finished, text: str, *, with_text: bool = True) -> tuple[str, str]:
    """The step unfolded, as (Markdown to show, whole text where it was too long to show, else '').

    `text` is what was streamed into it.
    """
    parts = []
    if finished.error and finished.state == "error":
        parts.append(f"**{inert(finished.error)}**")
    parts += [f"⚠ {inert(str(note))}" for note in _listed(finished.data.get("degraded"))]
    shown = text if with_text else ""
    if shown.strip():
        parts.append(inert(shown[:OUTPUT_LIMIT]))
        if len(shown) > OUTPUT_LIMIT:
            parts.append(f"_… {count(len(shown) - OUTPUT_LIMIT, 'more character')}: the whole text is attached._")
    facts = facts_table(finished.data)
    if facts:
        parts.append(facts)
    return "\n\n".join(parts), shown if len(shown) > OUTPUT_LIMIT else ""


def facts_table(data: Mapping[str, object]) -> str:
    """Everything a step noted: single values as one small table, lists as tables or bullets below."""
    single, blocks = [], []
    for name, value in data.items():
        if name in _HIDDEN or value in (None, "", [], {}, ()):
            continue
        if isinstance(value, Mapping):
            single.append((name, _mapping(value)))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            blocks.append(_rows_block(name, value))
        else:
            single.append((name, _cell(value)))
    table = "\n".join(["| | |", "|---|---|", *(f"| {_label(n)} | {v} |" for n, v in single)]) if single else ""
    return "\n\n".join(part for part in [table, *blocks] if part)


def inert(text: str) -> str:
    """Text of a repository or a model as Markdown that loads nothing and loses nothing, outside of code.

    Images become their source. Chainlit takes `:name` for a directive and swallows it (`Class:method`): escaped.
    """
    return outside_code(text, lambda prose: _DIRECTIVE.sub(r"\\:", prose.replace("![", "!\\[")))


def inert_piece(text: str) -> str:
    """As `inert`, for a piece of a step's text whose surroundings are not known: in code, a backslash shows until
    the step is finished."""
    return text.replace("![", "!\\[")


def closed(text: str) -> str:
    """Markdown that was cut off, with the code block closed that it was cut off in."""
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"\s*(```|~~~)", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
    return f"{text}\n{fence}" if fence else text


def outside_code(text: str, change) -> str:
    """Apply `change` to the parts of Markdown that are no code: outside of fences and of back-ticks."""
    pieces = re.split(r"(^(?:```|~~~).*?(?:^(?:```|~~~)[^\n]*$|\Z)|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(piece if at % 2 else change(piece) for at, piece in enumerate(pieces))


def _headline(data: Mapping[str, object]) -> list[str]:
    """The facts worth standing in a title."""
    said = []
    if intent := data.get("intent"):
        said.append(f"{intent} ({data['tier']})" if data.get("tier") else str(intent))
    if isinstance(hits := data.get("hits"), Sequence) and not isinstance(hits, str):
        said.append(count(len(hits), "hit"))
    if isinstance(excerpts := data.get("excerpts"), Sequence) and not isinstance(excerpts, str):
        said.append(count(len(excerpts), "excerpt"))
    if isinstance(score := data.get("score"), int | float):
        said.append(f"{score:g}/10")
    if isinstance(health := data.get("health"), int):
        said.append(f"{health}/100")
    if isinstance(findings := data.get("findings"), int):
        said.append(count(findings, "finding"))
    if decision := data.get("decision"):
        said.append(str(decision))
    if isinstance(data.get("passed"), int):
        said.append(f"{data['passed']} passed, {int(data.get('failed') or 0) + int(data.get('errors') or 0)} failed")
    if isinstance(data.get("supported"), int):
        unsupported = int(data.get("unsupported") or 0)
        said.append(f"{data['supported']} supported" + (f", {unsupported} not" if unsupported else ""))
    if model := data.get("model"):
        said.append(str(model))
    if isinstance(tokens := data.get("completion_tokens", data.get("tokens")), int):
        said.append(count(tokens, "token"))
    if data.get("cached"):
        said.append("cached")
    if data.get("degraded"):
        said.append("⚠")
    return said


def _rows_block(name: str, values: Sequence) -> str:
    shown, more = values[:ROWS_LIMIT], len(values) - ROWS_LIMIT
    tail = f"\n\n_and {count(more, 'more row')}_" if more > 0 else ""
    if all(isinstance(value, Mapping) for value in shown):
        rows = [_place_first(value) for value in shown]
        columns = list(dict.fromkeys(key for row in rows for key in row if key not in _HIDDEN))
        head = f"| {' | '.join(_label(column) for column in columns)} |\n|{'---|' * len(columns)}"
        lines = (f"| {' | '.join(_cell(row.get(column, '')) for column in columns)} |" for row in rows)
        return "\n".join([head, *lines]) + tail
    return f"{_label(name)}:\n" + "\n".join(f"- {_cell(value)}" for value in shown) + tail


def _place_first(row: Mapping) -> dict:
    """`path`, `start_line`, `end_line` (or `line`) as the one column people look for."""
    if "path" not in row:
        return dict(row)
    place = str(row["path"])
    if row.get("start_line"):
        place += f":{row['start_line']}-{row.get('end_line') or row['start_line']}"
    elif row.get("line"):
        place += f":{row['line']}"
    rest = {key: value for key, value in row.items() if key not in ("path", "start_line", "end_line", "line")}
    return {"place": f"`{place}`", **rest}


def _mapping(value: Mapping) -> str:
    """Named values in a line; of many numbers (the contributions to a score) the weightiest."""
    items = list(value.items())
    if len(items) > CONTRIBUTIONS_SHOWN and all(isinstance(item, int | float) for _, item in items):
        items = sorted(items, key=lambda pair: -abs(pair[1]))[:CONTRIBUTIONS_SHOWN]
    more = len(value) - len(items)
    return " · ".join(f"{_label(key)} {_cell(item)}" for key, item in items) + (f" · {more} more" if more else "")


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_cell(item) for item in value[:8])
    text = " ".join(str(value).split())
    text = text if len(text) <= CELL_LIMIT else text[: CELL_LIMIT - 1] + "…"
    return inert(text).replace("|", "\\|")


def _listed(value: object) -> Sequence:
    return value if isinstance(value, list | tuple) else ()


def _label(name: object) -> str:
    return str(name).replace("_", " ").replace("|", "\\|")


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
