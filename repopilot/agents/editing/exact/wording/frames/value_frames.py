"""Forms of values that are set: `set X to Y`, `double X`, `the default chunk size should be 4`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.values.measures import unit_of
from repopilot.agents.editing.exact.wording.clause import Part
from repopilot.agents.editing.exact.wording.frames.frame import (
    PLACE_ROLES,
    EditFrame,
    from_value,
    is_sentence,
    mention_place,
    old_value,
    value_text_of,
)
from repopilot.agents.editing.exact.wording.frames.name_frames import renamed
from repopilot.agents.editing.exact.wording.frames.requirement_frames import version_change
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS, NUMBERS, UNITS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token

_MUCH_ALIKE = 0.6
"""How alike two words are of which one may be the other's new name, by the share of letters in the same order."""


def setting(frame: EditFrame) -> Iterator[ExactTask]:
    tokens, made = _made(frame)
    new = made or frame.take("to", "à", "complement", "value", "is", "as", "by", "default", "with", "colon")
    if new is None:
        tokens, new = _split_value(tokens)
    if new is None or any(p.role == "that" for p in frame.parts):
        return
    tokens, paths = mention_place(tokens)
    frame.target = noun_phrase(tokens)
    frame.places += paths
    _look_inside(frame)
    _named_aside(frame)
    old = old_value(frame)
    if not old:
        old = from_value(frame)
    text = value_text_of(frame, new.tokens)
    if not text or is_sentence(new.tokens) or _goes_on(new, frame):
        return
    name, other = frame.target.only_name, noun_phrase(new.tokens).only_name
    if (
        name is not None
        and other is not None
        and not old
        and _is_new_spelling(bare_name(name), bare_name(other), frame.target.what)
        and not _says_how(name, other, frame.clause.action)
    ):
        yield from renamed(
            bare_name(name),
            bare_name(other),
            frame.target.what,
            EditFrame.place_parts(replace(frame, parts=list(frame.parts))),
        )
    default = new.role == "default" or any(t.low == "default" for t in new.tokens)
    parts = list(frame.parts)
    first, *others = frame.text([t for t in new.tokens if t.low not in DETERMINERS and t.low != "default"]).split(" ")
    unit = unit_of(" ".join((NUMBERS.get(first.lower(), first), *others)))  # `ten seconds`
    for edit in _settings(frame, text, old, default=default):
        yield replace(edit, extra={**edit.extra, "unit": unit}) if unit else edit
    action = frame.clause.action
    if action in ("be", "") and name and other and not old and not _says_how(name, other, action):
        frame.parts = parts
        yield from renamed(bare_name(name), bare_name(other), frame.target.what, frame.place_parts())


def _says_how(name: Token, other: Token, action: str) -> bool:
    """Whether a word says how something should be, and isn't its new name: `watch should be faster`."""
    new = bare_name(other)
    if action != "be" or other.kind != "word" or re.search(r"[_\d.$]|[a-z][A-Z]", new):
        return False
    return SequenceMatcher(None, bare_name(name).lower(), new.lower()).ratio() < _MUCH_ALIKE


def _made(frame: EditFrame) -> tuple[list[Token], Part | None]:
    """`make 302 the default status`: the value comes first."""
    tokens = list(frame.clause.target)
    first = tokens[0] if tokens else None
    if frame.clause.verb != "make" or first is None or first.kind not in ("literal", "quoted") or len(tokens) < 3:
        return tokens, None
    return (tokens[1:], Part("to", (first,))) if tokens[1].low in DETERMINERS else (tokens, None)


def _goes_on(new: Part, frame: EditFrame) -> bool:
    """Whether the words of a value go on: `the number of processors`."""
    parts = frame.clause.parts
    at = next((n for n, p in enumerate(parts) if p is new), len(parts))
    words = [t for t in new.tokens if t.low not in DETERMINERS and t.low not in UNITS]
    return at + 1 < len(parts) and parts[at + 1].role == "of" and all(t.kind == "word" for t in words)


def _is_new_spelling(name: str, other: str, what: str) -> bool:
    """Whether a name is corrected, not given a value: both are names, and much alike or of what has no value."""
    if not re.fullmatch(r"[A-Za-z_][\w.]*", name) or not re.fullmatch(r"[A-Za-z_]\w*", other) or name == other:
        return False
    alike = SequenceMatcher(None, name.rpartition(".")[2].lower(), other.lower()).ratio()
    return what in ("function", "class", "method", "module", "file") or (
        alike > 0.75 and other.lower() not in ("true", "false", "none")
    )


def _look_inside(frame: EditFrame) -> None:
    """`the default value of X` is about X."""
    target = frame.target
    if (
        target.names
        or target.words
        or target.literals
        or not set(target.whats) & {"default", "value", "type", "key", "text"}
    ):
        return
    of = next((p for p in frame.parts if p.role in ("of", "de", "for")), None)
    inner = noun_phrase(of.tokens) if of is not None else None
    if of is not None and inner is not None and (inner.names or inner.words):
        frame.parts.remove(of)
        frame.target = replace(inner, whats=(*target.whats, *inner.whats))


def _named_aside(frame: EditFrame) -> None:
    """`the default length (MAX_LENGTH)`: the name is in parentheses."""
    aside = next(
        (p for p in frame.parts if p.role == "aside" and len(p.tokens) == 1 and p.tokens[0].kind in ("name", "quoted")),
        None,
    )
    if aside is not None and not frame.target.names:
        frame.parts.remove(aside)
        frame.target = replace(frame.target, names=aside.tokens, words=())


def _split_value(tokens: list[Token]) -> tuple[list[Token], Part | None]:
    """`make X 30`, `make X 30 by default`: the value at the end of the target."""
    if len(tokens) > 2 and tokens[-1].kind == "word" and tokens[-1].low == "default":
        before, part = _split_value(tokens[:-1])
        return (before, Part("default", part.tokens)) if part is not None else (tokens, None)
    for length in (2, 1):
        tail = tokens[-length:]
        if len(tokens) > length and tail[0].kind in ("literal", "quoted") and all(t.low in UNITS for t in tail[1:]):
            return tokens[:-length], Part("to", tuple(tail))
    return tokens, None


def _settings(frame: EditFrame, new: str, old: str, *, default: bool = False) -> Iterator[ExactTask]:
    target = frame.target
    if "version" in target.whats:
        yield from version_change(frame, new, old)
        return
    default = default or "default" in target.whats or frame.clause.action == "default" or frame.clause.verb == "default"
    name = target.only_name
    if name is not None and not target.described:
        extra = {"quoted": "yes"} if name.kind == "quoted" else {}
        what = target.what
        places = frame.place_parts()
        if frame.left_over:
            frame.left_over = False
            frame.parts = [p for p in frame.clause.parts if p.role in PLACE_ROLES]
        else:
            kinds = ("set_default", "set_value") if default or what == "parameter" else ("set_value", "set_default")
            for kind in kinds:
                yield ExactTask(kind, bare_name(name), what, new, old, places, extra=dict(extra))
            if name.kind != "word":
                return
    if target.names and not target.described:
        return
    yield from _by_description(frame, new, old, default=default)


def _by_description(frame: EditFrame, new: str, old: str, *, default: bool) -> Iterator[ExactTask]:
    """A value that is named by words: `the default chunk size`."""
    frame.parts = [p for p in frame.clause.parts if p.role in PLACE_ROLES and not _holds_value(p, new, old)]
    words = frame.phrase_words()
    places = frame.place_parts()
    if words and not frame.left_over and not re.fullmatch(r"[a-z]+(?:ed|wn)", new):  # `be shown in yellow`
        described = " ".join(dict.fromkeys(("default", *words) if default else words))
        kind = "set_value"
        yield ExactTask(kind, "", frame.target.what, new, old, places, extra={"description": described})


def _holds_value(part: Part, new: str, old: str) -> bool:
    written = " ".join(t.inner for t in part.tokens)
    return bool(written) and (written in (new, old) or any(v and v in written for v in (new, old)))


def scaling(frame: EditFrame) -> Iterator[ExactTask]:
    by, new = {"double": ("*", "2"), "triple": ("*", "3"), "halve": ("/", "2")}.get(frame.clause.action, ("", ""))
    if not by:
        part = frame.take("by", "de", "à") or None
        number = next((t for t in part.tokens if t.kind == "literal"), None) if part is not None else None
        if number is None and frame.clause.action in ("increment", "decrement") and part is None:
            new = "1"
        elif number is None or not re.fullmatch(r"[\d._]+", number.text):
            return
        else:
            new = number.text
        by = {"multiply": "*", "divide": "/", "raise": "+", "increment": "+"}.get(frame.clause.action, "-")
    old = old_value(frame)
    for edit in _settings(frame, new, old):
        yield ExactTask(edit.kind, edit.name, edit.what, new, old, edit.places, extra={**edit.extra, "by": by})


def by_amount(frame: EditFrame) -> Iterator[ExactTask]:
    if any(p.role in ("by", "de") for p in frame.parts) and not frame.has("to", "à"):
        yield from scaling(frame)


def switching(frame: EditFrame) -> Iterator[ExactTask]:
    """`enable X`, `turn off X by default`."""
    new = "True" if frame.clause.action == "enable" else "False"
    frame.take("default")
    yield from _settings(frame, new, "")
