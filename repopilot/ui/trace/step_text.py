"""A step as text: its one-line title and the Markdown it unfolds to. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from repopilot import i18n
from repopilot.foreign_text import visible
from repopilot.i18n.format import count, duration
from repopilot.trace import Finished, Started

OUTPUT_LIMIT = 50_000
"""Characters shown of one step: at 100,000 the browser takes seconds, at a million half a minute."""
CELL_LIMIT = 160
ROWS_LIMIT = 40
MARKS = {"ok": "", "error": " ✗", "stopped": " ■"}
CONTRIBUTIONS_SHOWN = 5
_DIRECTIVE = re.compile(r"(?<!\\):(?=[A-Za-z:])")
_LINK = re.compile(r"(?<=\])[(:]")
_HTML = re.compile(r"<(?=[a-z!/?])", re.I)
_LEADING_ELSEWHERE = re.compile(r"(?<=\])[(:](?=\s*<?\s*(?:[a-z][a-z0-9+.-]*:|[/?#.&\\]))", re.I)
"""The start of a link's target, even in apparent code: only the browser's parser knows what Markdown takes for code."""
_CODE = re.compile(
    r"^(?:```|~~~).*?(?:^(?:```|~~~)[^\n]*$|\Z)|(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
"""Fenced code, and text on one line between equal numbers of backticks."""
_NUMBERED = re.compile(r"(.+) (\d+)")
_HIDDEN = frozenset({"degraded", "diff", "content", "seconds", "lines", "focus", "signature", "summary"})


def step_name(name: str, language: str) -> str:
    """The name of a step as shown: translated through `[steps]`; unchanged if the catalogue lacks it, like the name of
    a tool.

    A number at its end is kept: `iteration 2` is the translation of `iteration`, followed by 2.
    """
    numbered = _NUMBERED.fullmatch(name)
    stem, number = (numbered[1], f" {numbered[2]}") if numbered else (name, "")
    return i18n.term("steps", stem, language) + number


def finished_title(started: Started, finished: Finished, language: str) -> str:
    """The title of a finished step.

    Args:
        started: the beginning of the step.
        finished: its end.
        language: of the reader.

    Returns:
        `Retrieve · 8 hits · 45 ms`, with ✗ if it failed and ■ if it was stopped.
    """
    facts = [*title_facts(finished.data, language), duration(finished.at - started.at, language)]
    return step_name(started.name, language) + MARKS[finished.state] + " · " + " · ".join(facts)


def running_input(started: Started, language: str) -> str:
    """What a step works on, cut to a length that can be shown."""
    return inert(i18n.translated(started.input, language)[:2000])


def body(finished: Finished, text: str, language: str, *, with_text: bool = True) -> tuple[str, str]:
    """What a finished step unfolds to.

    Args:
        finished: the step.
        text: the text streamed into it.
        language: of the reader.
        with_text: False for a step whose text is shown elsewhere.

    Returns:
        The Markdown to show, and the full text if it is too long to show, else ''.
    """
    parts = []
    if finished.error and finished.state == "error":
        parts.append(f"**{inert(i18n.translated(finished.error, language))}**")
    noted = finished.data.get("degraded")
    parts += [f"⚠ {inert(i18n.translated(note, language))}" for note in (noted if isinstance(noted, list) else ())]
    shown = text if with_text else ""
    if shown.strip():
        parts.append(inert(shown[:OUTPUT_LIMIT]))
        if len(shown) > OUTPUT_LIMIT:
            more = count(len(shown) - OUTPUT_LIMIT, "character", language)
            parts.append(f"_… {i18n.text('ui.steps.cut', language, more=more)}_")
    facts = facts_table(finished.data, language)
    if facts:
        parts.append(facts)
    return "\n\n".join(parts), shown if len(shown) > OUTPUT_LIMIT else ""


def facts_table(data: Mapping[str, object], language: str) -> str:
    """Everything a step noted: single values as one small table, lists as tables or bullets below it."""
    single = []
    blocks = []
    for name, value in data.items():
        if name in _HIDDEN or value in (None, "", [], {}, ()):
            continue
        if isinstance(value, Mapping):
            single.append((name, _mapping(value, language)))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            blocks.append(_rows_block(name, value, language))
        else:
            single.append((name, cell(value, language)))
    rows = (f"| {label(name, language)} | {value} |" for name, value in single)
    table = "\n".join(["| | |", "|---|---|", *rows]) if single else ""
    return "\n\n".join(part for part in [table, *blocks] if part)


def inert(text: str) -> str:
    """Escape Markdown of a repository or a model so that it loads nothing, no text disappears, and every link leads
    where it says.

    Outside of code, images and links become their source; Chainlit takes `:name` for a directive and drops it
    (`Class:method`), so it is escaped. Hidden characters are escaped everywhere.
    """
    disarmed = _LEADING_ELSEWHERE.sub(r"\\\g<0>", visible(text))
    return outside_code(disarmed, lambda prose: _DIRECTIVE.sub(r"\\:", _without_links(prose)))


def _without_links(prose: str) -> str:
    """Markdown with its images, links and HTML as their source."""
    # An entity, since a backslash before a backslash would escape nothing.
    return _HTML.sub("&lt;", _LINK.sub(r"\\\g<0>", prose.replace("![", "!\\[")))


def inert_piece(text: str) -> str:
    """As `inert`, for a piece of text whose context is not known: in code, a backslash is visible until the step is
    finished."""
    return _LEADING_ELSEWHERE.sub(r"\\\g<0>", visible(text)).replace("![", "!\\[")


def closed(text: str) -> str:
    """Truncated Markdown, with an open code block closed."""
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"\s*(```|~~~)", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
    return f"{text}\n{fence}" if fence else text


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the parts of Markdown that are not code: outside of fences and backticks."""
    pieces = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [change(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*pieces, change(text[at:])])


_TitleFact = Callable[[Mapping[str, object], object, str], str]
"""Takes everything a step noted, one of these values, and a language; returns the fact for a title, '' for none."""


def title_facts(data: Mapping[str, object], language: str) -> list[str]:
    """The facts worth a place in a title, in a fixed order."""
    facts = (fact for name, shorten in _TITLE_FACTS for fact in [shorten(data, data.get(name), language)])
    return [fact for fact in facts if fact]


def _intent(data: Mapping[str, object], intent: object, language: str) -> str:
    if not intent:
        return ""
    tier = i18n.term("ui.tiers", str(data.get("tier") or ""), language)
    return f"{intent} ({tier})" if tier else str(intent)


def _count_of(noun: str) -> _TitleFact:
    """A fact that counts the items of a list, or gives a number."""

    def counted(_data: Mapping[str, object], value: object, language: str) -> str:
        if isinstance(value, Sequence) and not isinstance(value, str):
            return count(len(value), noun, language)
        return count(value, noun, language) if _is_whole(value) else ""

    return counted


def _out_of(most: int) -> _TitleFact:
    def shared(_data: Mapping[str, object], value: object, language: str) -> str:
        if not isinstance(value, int | float):
            return ""
        return f"{i18n.number(value, language, 'g')}/{most}"

    return shared


def _test_counts(data: Mapping[str, object], passed: object, language: str) -> str:
    if not _is_whole(passed):
        return ""
    return i18n.text("ui.steps.tests", language, passed=passed, failed=_whole(data, "failed") + _whole(data, "errors"))


def _support(data: Mapping[str, object], supported: object, language: str) -> str:
    if not _is_whole(supported):
        return ""
    unsupported = _whole(data, "unsupported")
    key = "ui.steps.support_mixed" if unsupported else "ui.steps.support"
    return i18n.text(key, language, count=supported, unsupported=unsupported)


def _tokens(data: Mapping[str, object], tokens: object, language: str) -> str:
    return _count_of("token")(data, data.get("completion_tokens", tokens), language)


def _as_it_is(_data: Mapping[str, object], value: object, _language: str) -> str:
    return str(value) if value else ""


def _degraded(_data: Mapping[str, object], value: object, _language: str) -> str:
    return "⚠" if value else ""


_TITLE_FACTS: tuple[tuple[str, _TitleFact], ...] = (
    ("intent", _intent),
    ("hits", _count_of("hit")),
    ("excerpts", _count_of("excerpt")),
    ("score", _out_of(10)),
    ("health", _out_of(100)),
    ("findings", _count_of("finding")),
    ("decision", _as_it_is),
    ("passed", _test_counts),
    ("supported", _support),
    ("model", _as_it_is),
    ("tokens", _tokens),
    ("degraded", _degraded),
)
"""How to write a fact in a title, by the name under which a step noted it."""


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int)


def _whole(data: Mapping[str, object], name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) else 0


def _rows_block(name: str, values: Sequence, language: str) -> str:
    shown = values[:ROWS_LIMIT]
    more = len(values) - ROWS_LIMIT
    tail = f"\n\n_{i18n.text('ui.steps.more_rows', language, count=more)}_" if more > 0 else ""
    if all(isinstance(value, Mapping) for value in shown):
        rows = [place_first(value) for value in shown]
        columns = list(dict.fromkeys(key for row in rows for key in row if key not in _HIDDEN))
        head = f"| {' | '.join(label(column, language) for column in columns)} |\n|{'---|' * len(columns)}"
        lines = (f"| {' | '.join(cell(row.get(column, ''), language) for column in columns)} |" for row in rows)
        return "\n".join([head, *lines]) + tail
    bullets = "\n".join(f"- {cell(value, language)}" for value in shown)
    return f"{label(name, language)}{i18n.text('format.colon', language)}\n{bullets}{tail}"


def place_first(row: Mapping) -> dict:
    """`path`, `start_line`, `end_line` (or `line`) as one column, the first."""
    if "path" not in row:
        return dict(row)
    place = str(row["path"])
    if row.get("start_line"):
        place += f":{row['start_line']}-{row.get('end_line') or row['start_line']}"
    elif row.get("line"):
        place += f":{row['line']}"
    rest = {key: value for key, value in row.items() if key not in ("path", "start_line", "end_line", "line")}
    return {"place": f"`{place}`", **rest}


def _mapping(value: Mapping, language: str) -> str:
    """Named values in a line; of many numbers (the contributions to a score) the largest."""
    items = list(value.items())
    if len(items) > CONTRIBUTIONS_SHOWN and all(isinstance(item, int | float) for _, item in items):
        items = sorted(items, key=lambda pair: -abs(pair[1]))[:CONTRIBUTIONS_SHOWN]
    parts = [f"{label(key, language)} {cell(item, language)}" for key, item in items]
    if more := len(value) - len(items):
        parts.append(i18n.text("ui.steps.more", language, count=more))
    return " · ".join(parts)


def cell(value: object, language: str) -> str:
    """A fact as inert Markdown in a line of at most `CELL_LIMIT` characters."""
    if isinstance(value, Mapping):
        return _mapping(value, language)
    if isinstance(value, float):
        return i18n.number(value, language, ".3g")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(cell(item, language) for item in value[:8])
    text = " ".join(str(i18n.localized(value, language)).split())
    text = text if len(text) <= CELL_LIMIT else text[: CELL_LIMIT - 1] + "…"
    return inert(text).replace("|", "\\|")


def label(name: object, language: str) -> str:
    """The name of a fact."""
    # A contribution of a passage's file is called `file: …`.
    shown = ": ".join(i18n.term("ui.facts", part, language) for part in str(name).split(": "))
    return shown.replace("_", " ").replace("|", "\\|")
