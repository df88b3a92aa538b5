"""Forms of parameters that are added, removed and passed otherwise. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Part
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame, value_text_of
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS, FILLERS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, kind_of_word, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token

_WITH_DEFAULT = frozenset(("default", "value", "with", "is", "colon", "aside"))


def add_parameter(frame: EditFrame) -> Iterator[ExactTask]:
    if set(frame.target.whats) & {"attribute", "member"}:
        return
    if "parameter" not in frame.target.whats and not _like_parameter(frame):
        return
    into = frame.take("to", "à", "label", "in", "on", "of", "de", "for")
    phrase = noun_phrase(into.tokens) if into is not None else None
    if phrase is None or phrase.place is None or (phrase.only_name is not None and phrase.only_name.is_path):
        return
    yield from parameter_of(frame, frame.clause.target, phrase.place)


def _like_parameter(frame: EditFrame) -> bool:
    """`verbose=False` is a parameter where it is added to a function."""
    names = [
        t for t in frame.target.names if t.kind == "quoted" and re.fullmatch(r"\w+\s*(?::[^=]+)?=\s*[^=].*", t.inner)
    ]
    into = next((p for p in frame.parts if p.role in ("to", "à", "label")), None)
    what = noun_phrase(into.tokens).what if into is not None else ""
    return bool(names) and len(names) == len(frame.target.names) and what in ("function", "method", "")


def parameter_of(frame: EditFrame, tokens: Sequence[Token], place: NamedPlace) -> Iterator[ExactTask]:
    text_tokens = [
        t
        for t in tokens
        if not (t.kind == "word" and (t.low in DETERMINERS or t.low in FILLERS or kind_of_word(t.low)))
    ]
    if not text_tokens:
        named = frame.take("named")
        text_tokens = list(named.tokens) if named is not None else []
    text = frame.text(text_tokens).strip("`")
    if "`" in text:
        text = " ".join(t.inner for t in text_tokens)
    default = next((p for p in frame.parts if p.role in _WITH_DEFAULT), None)
    if default is not None:
        frame.parts.remove(default)
        value_tokens = [
            t for t in default.tokens if t.low not in ("default", "defaults", "to", "of", "defaut", "value", "valeur")
        ]
        if "=" not in text and value_tokens:
            text += f" = {value_text_of(frame, value_tokens)}"
    if re.match(r"\*{0,2}[A-Za-z_]\w*\s*(?::[^=]+)?(?:=.+)?$", text, re.S):
        yield ExactTask("add_parameter", text, "parameter", text, "", (place, *frame.place_parts()))


def remove_parameter(frame: EditFrame) -> Iterator[ExactTask]:
    if "parameter" not in frame.target.whats:
        return
    name = frame.target.only_name
    if name is None or frame.target.described:
        return
    yield ExactTask("remove_parameter", bare_name(name), "parameter", "", "", frame.place_parts())


def remove_default(frame: EditFrame) -> Iterator[ExactTask]:
    """`remove the default of timeout in connect`: callers have to give it."""
    if "default" not in frame.target.whats:
        return
    name = frame.target.only_name
    if name is None:
        of = frame.take("of", "de", "for", "from")
        name = noun_phrase(of.tokens).only_name if of is not None else None
    if name is not None and not frame.target.described:
        passed = frame.take("pass")
        new = value_text_of(frame, passed.tokens) if passed is not None else ""
        yield ExactTask("require_parameter", bare_name(name), "parameter", new, "", frame.place_parts())


def by_keyword(frame: EditFrame) -> Iterator[ExactTask]:
    """`a and b should only be passed by keyword in f`."""
    names = [bare_name(t) for t in (*frame.target.names, *frame.target.words)]
    into = frame.take("to", "à")
    place = noun_phrase(into.tokens).place if into is not None else None
    if names:
        places = (*((place,) if place is not None else ()), *frame.place_parts())
        yield ExactTask("keyword_only", ", ".join(names), "parameter", "", "", places)


def no_default(frame: EditFrame) -> Iterator[ExactTask]:
    """`encoding has no default anymore; pass "utf-8" where it was left out`."""
    passed = frame.take("pass")
    into = frame.take("to", "à")
    frame.parts += [Part("in", into.tokens)] if into is not None else []
    name = frame.target.only_name
    if name is not None and not frame.target.described:
        new = value_text_of(frame, passed.tokens) if passed is not None else ""
        yield ExactTask("require_parameter", bare_name(name), "parameter", new, "", frame.place_parts())


def reordering(frame: EditFrame) -> Iterator[ExactTask]:
    """`make X the first parameter of f`, `move X before Y in f`."""
    tokens = list(frame.clause.target)
    position = ""
    at = next((n for n, t in enumerate(tokens) if t.low in _ORDINALS), None)
    if at is not None and any(t.low.startswith(("param", "arg")) for t in tokens[at:]):
        position, tokens = _ORDINALS[tokens[at].low], tokens[:at]
    elif frame.has("before", "after"):
        part = frame.take("before", "after")
        other = noun_phrase(part.tokens).only_name if part is not None else None
        position = f"{part.role}:{bare_name(other)}" if part is not None and other is not None else ""
    else:
        part = next((p for p in frame.parts if any(t.low in _ORDINALS for t in p.tokens)), None)
        if part is not None and any(t.low.startswith(("param", "arg", "position")) for t in part.tokens):
            frame.parts.remove(part)
            position = next(_ORDINALS[t.low] for t in part.tokens if t.low in _ORDINALS)
    name = noun_phrase(tokens).only_name
    if position and name is not None and not name.is_path:
        places = frame.place_parts()
        if places:
            yield ExactTask(
                "reorder_parameter", bare_name(name), "parameter", "", "", places, extra={"position": position}
            )


_ORDINALS = {"first": "first", "last": "last", "premier": "first", "dernier": "last", "1st": "first"}
