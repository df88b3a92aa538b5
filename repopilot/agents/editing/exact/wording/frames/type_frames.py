"""Forms of annotations, decorators and base classes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame, from_value, old_value
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, noun_phrase


def annotation(frame: EditFrame) -> Iterator[ExactTask]:
    """`annotate X as int`, `change the type of X in f to str`, `f should be annotated as returning int`."""
    typed = set(frame.target.whats) & {"type", "annotation"}
    arrow = [t for t in frame.target.names if t.inner.lstrip().startswith("->")]
    if frame.clause.action in ("set", "be", "", "add") and not typed and not arrow:
        return
    returns = any(
        t.low in ("return", "returns", "returning", "retour", "result")
        for t in (*frame.clause.target, *(t for p in frame.parts for t in p.tokens))
    )
    if frame.clause.action == "add":
        into = frame.take("to", "à", "for", "on", "of", "de")
        text = list(frame.target.names)
        target = noun_phrase(into.tokens) if into is not None else None
    else:
        part = frame.take("to", "as", "with", "complement", "à", "is", "by", "colon")
        text = (
            [t for t in part.tokens if not (t.kind == "word" and (t.low in DETERMINERS or t.low in _RETURN_WORDS))]
            if part is not None
            else []
        )
        target = frame.target
        if not target.names and all(w.low in _RETURN_WORDS for w in target.words):
            of = frame.take("of", "de", "for")
            target = noun_phrase(of.tokens) if of is not None else target
    if target is None:
        return
    words = [w for w in target.words if w.low not in _RETURN_WORDS]
    names = [*target.names, *words]
    was = frame.take("from", "old") if frame.has("from", "old") and typed else None
    old = frame.text(was.tokens) if was is not None else ""
    if len(names) != 1 or not text:
        return
    new = text[0].inner if len(text) == 1 else frame.text(text)
    extra = {"return": "yes"} if returns or arrow else {}
    new = new.strip().removeprefix("->").strip()
    yield ExactTask("annotate", bare_name(names[0]), target.what, new, old, frame.place_parts(), extra=extra)


_RETURN_WORDS = frozenset("return returns returning retour de result".split())


def decorator_change(frame: EditFrame) -> Iterator[ExactTask]:
    """`add the decorator @cached to f`, `decorate f with cached`, `remove @x from f`."""
    action = frame.clause.action
    if action in ("decorate", "undecorate"):
        part = frame.take("with", "as", "à", "by")
        name, text = frame.target.only_name, part.tokens if part is not None else ()
    else:
        if "decorator" not in frame.target.whats and not any(bare.startswith("@") for bare in _starts(frame)):
            return
        part = frame.take("to", "from", "on", "à", "de", "of", "in")
        name = noun_phrase(part.tokens).only_name if part is not None else None
        text = frame.clause.target
    written = [t for t in text if t.kind in ("name", "quoted", "path") or t.text == "@" or t.glued]
    decorator = "".join(t.inner for t in written).lstrip("@")
    if name is None or not decorator:
        return
    places = frame.place_parts()
    if action in ("remove", "undecorate"):
        yield ExactTask("remove_decorator", bare_name(name), "", "", decorator, places)
    else:
        yield ExactTask("add_decorator", bare_name(name), "", decorator, "", places)


def _starts(frame: EditFrame) -> list[str]:
    return [t.inner for t in frame.clause.target if t.kind != "word"]


_AS_BASE = frozenset(("as", "to", "from", "in", "of", "à", "de"))
"""How a task says that a thing is a base; what a remark says behind `that` is about something else."""


def base_change(frame: EditFrame) -> Iterator[ExactTask]:
    """`X should inherit from Y instead of Z`, `change the base class of X to Y`, `add Y as a base of X`."""
    action = frame.clause.action
    if action == "base":
        part = frame.take("complement", "from", "de")
        name = frame.target.only_name
        if part is None and len(frame.target.names) + len(frame.target.words) == 2:  # subclass X from Y
            return
        new = noun_phrase(part.tokens).only_name if part is not None else None
    elif "base" in frame.target.whats:
        of = frame.take("of", "de", "for")
        to = frame.take("to", "à")
        name = noun_phrase(of.tokens).only_name if of is not None else frame.target.only_name
        new = noun_phrase(to.tokens).only_name if to is not None else None
    else:
        as_ = next((p for p in frame.parts if p.role in _AS_BASE and "base" in noun_phrase(p.tokens).whats), None)
        if as_ is None or set(frame.target.whats) - {"class", "base"}:
            return  # a method, an option: never a base
        frame.parts.remove(as_)
        new = frame.target.only_name
        of = frame.take("of", "to", "de", "à", "from")
        name = (noun_phrase(of.tokens) if of is not None else noun_phrase(as_.tokens)).only_name
    if name is None or new is None:
        return
    old = old_value(frame) or from_value(frame)
    besides = frame.take("besides")
    places = frame.place_parts()
    if besides is not None:
        yield ExactTask("add_base", bare_name(name), "class", bare_name(new), "", places)
        return
    if action == "remove":
        yield ExactTask("remove_base", bare_name(name), "class", "", bare_name(new), places)
    else:
        kind = "change_base" if old or action in ("base", "set", "be", "replace") else "add_base"
        yield ExactTask(kind, bare_name(name), "class", bare_name(new), old, places)
