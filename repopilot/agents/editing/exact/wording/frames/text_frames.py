"""Forms of texts and pieces of code that are replaced, docstrings and comments. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Part
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS, FILLERS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, kind_of_word, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token


def text_change(frame: EditFrame) -> Iterator[ExactTask]:
    """`change the message "a" to "b"`, `replace "a" by "b" in F`, `F: "a" should read "b"`."""
    quoted = [t for t in frame.target.names if t.kind == "quoted"]
    new = frame.take("to", "by", "with", "à", "as", "complement", "for", "colon")
    olds = quoted or [t for p in frame.parts if p.role in ("from", "old") for t in p.tokens if t.kind == "quoted"]
    if new is None and len(quoted) == 1:  # say "a" instead of "b"
        new, olds = (
            Part("to", (quoted[0],)),
            [t for p in frame.parts if p.role == "old" for t in p.tokens if t.kind == "quoted"],
        )
        quoted = []
        frame.target = replace(frame.target, names=tuple(t for t in frame.target.names if t not in new.tokens))
    elif new is not None and new.role == "for" and frame.clause.verb.startswith("substitu") and len(quoted) == 1:
        olds, new = [t for t in new.tokens if t.kind == "quoted"], Part("to", (quoted[0],))
        frame.target = replace(frame.target, names=())
    if new is not None and new.role == "for" and frame.clause.action in ("set", "be"):
        return  # `set X for Y` says where
    kind = "change_message" if set(frame.target.whats) & {"text", "comment"} else "replace_text"
    if new is None or len(olds) != 1 or len([t for t in new.tokens if t.kind == "quoted"]) != 1:
        return
    for part in [p for p in frame.parts if p.role in ("from", "old")]:
        frame.parts.remove(part)
    old, fresh = olds[0], next(t for t in new.tokens if t.kind == "quoted")
    others = [t for t in frame.target.names if t is not old and not t.is_path]
    paths = [t for t in frame.target.names if t.is_path]
    if (
        frame.clause.action not in ("replace", "correct", "text")
        and kind == "replace_text"
        and re.fullmatch(r"[\w.]+", old.inner)
    ):
        return  # a name, whose value is set
    if others or (frame.target.words and not set(frame.target.whats) & {"text", "comment"}):
        return
    places = (*(NamedPlace(bare_name(t), "file") for t in paths), *frame.place_parts())
    if old.is_code and fresh.is_code:
        yield ExactTask("replace_code", "", "", fresh.inner, old.inner, places)
        if all(re.fullmatch(r"[A-Za-z_][\w.]*", t.inner) for t in (old, fresh)):
            return
    yield ExactTask(kind, "", "", fresh.inner, old.inner, places)


def worded_change(frame: EditFrame) -> Iterator[ExactTask]:
    """`docstring of X: wrng -> wrong`: a word of a text."""
    to = frame.take("to")
    label = next((p for p in frame.parts if p.role in ("label", "of", "in", "de")), None)
    said = [kind_of_word(t.low) for p in frame.clause.parts for t in p.tokens]
    tokens = frame.clause.target
    if (
        to is None
        or label is None
        or not {"text", "comment"} & {*said, *frame.target.whats}
        or any(t.kind == "quoted" for t in (*tokens, *to.tokens))
    ):
        return
    places = tuple(p for part in frame.parts if (p := noun_phrase(part.tokens).place) is not None)
    yield ExactTask("change_message", "", "", frame.text(to.tokens), frame.text(tokens), places)


def use_of(frame: EditFrame) -> Iterator[ExactTask]:
    """`use X instead of Y in f`, `f should raise X instead of Y`, `replace X by Y in f`."""
    if frame.clause.action in ("set", "be") and not frame.clause.verb.startswith(("use", "utilis")):
        return
    complement = frame.take("complement")
    old = frame.take("old", "from")
    tokens = complement.tokens if complement is not None else frame.clause.target
    raising = frame.clause.verb.startswith(("raise", "throw", "lever", "leve"))
    if old is None or (raising and old.role == "from"):  # `raise X from Y` is Python
        return
    new_text, old_text = _fragment(frame, tokens), _fragment(frame, old.tokens)
    if not new_text or not old_text:
        return
    places = frame.place_parts()
    if complement is not None:
        subject = frame.target.place
        if subject is None:
            return
        places = (subject, *places)
    extra = {"statement": "raise"} if raising else {}
    label = next((p for p in frame.clause.parts if p.role == "label"), None)
    owner = noun_phrase(label.tokens).only_name if label is not None and len(places) == 1 else None
    if owner is not None and not owner.is_path:
        yield ExactTask("set_value", bare_name(owner), "", new_text, old_text)
        yield ExactTask("set_default", bare_name(owner), "", new_text, old_text)
    yield ExactTask("replace_code", "", "", new_text, old_text, places, extra=extra)


def replace_code(frame: EditFrame) -> Iterator[ExactTask]:
    target = frame.clause.target
    if not frame.target.names and not frame.target.words:
        of = frame.take("to", "of", "de", "à")  # the call to X
        target = of.tokens if of is not None else target
    new = frame.take("by", "with", "to", "à", "for", "as")
    if new is None:
        return
    old_text, new_text = _fragment(frame, target), _fragment(frame, new.tokens)
    if old_text and new_text:
        yield ExactTask("replace_code", "", "", new_text, old_text, frame.place_parts())


def _fragment(frame: EditFrame, tokens: Sequence[Token]) -> str:
    """A piece of code: what is quoted, or one name, value or sign."""
    kept = [
        t
        for t in tokens
        if not (t.kind == "word" and (t.low in DETERMINERS or t.low in FILLERS or kind_of_word(t.low)))
    ]
    if len(kept) == 1:
        token = kept[0]
        plain = token.kind in ("name", "literal", "sign") or token.text[:1].isupper()
        return token.inner if token.is_code else token.text if plain or token.kind == "quoted" else ""
    if kept and all(t.kind == "sign" for t in kept):
        return frame.text(kept)
    return ""


def docstring_of(frame: EditFrame) -> Iterator[ExactTask]:
    words = [t.low for t in frame.clause.target]
    if frame.clause.action != "document" and "docstring" not in words:
        return
    if frame.clause.action in ("set", "be") and frame.clause.verb not in ("put", "give", "mets", "mettre", "donne"):
        return
    texts = [t for t in frame.target.names if t.kind == "quoted" and not t.is_code and " " in t.inner]
    part = frame.take("with", "colon", "is", "value", "that", *(("as",) if frame.clause.action == "document" else ()))
    texts += [t for t in (part.tokens if part is not None else ()) if t.kind == "quoted"]
    into = frame.take("to", "for", "à", "of", "de", "in", "on") if frame.clause.action != "document" else None
    name = noun_phrase(into.tokens).only_name if into is not None else frame.target.only_name
    skeleton = bool({"skeleton", "stub", "template", "squelette"} & set(words))
    if name is not None and len(texts) <= 1 and (texts or skeleton):
        yield ExactTask("docstring", bare_name(name), "", texts[0].inner if texts else "", "", frame.place_parts())


def comment_of(frame: EditFrame) -> Iterator[ExactTask]:
    if "comment" not in frame.target.whats:
        return
    texts = [t for t in frame.target.names if t.kind == "quoted"]
    part = frame.take("colon", "that")
    texts += [t for t in (part.tokens if part is not None else ()) if t.kind == "quoted"]
    above = frame.take("before", "to", "on", "à", "for")
    name = noun_phrase(above.tokens).only_name if above is not None else None
    if len(texts) == 1 and name is not None:
        yield ExactTask("add_comment", bare_name(name), "", texts[0].inner, "", frame.place_parts())
