"""Forms of imports and exports. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Clause, Part
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame
from repopilot.agents.editing.exact.wording.noun_phrases import NounPhrase, bare_name, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token

_STATEMENT = re.compile(r"(?:from\s+[\w.]+\s+)?import\s+[\w.*]+(?:\s+as\s+\w+)?(?:\s*,\s*\w+)*$")


def _import_text(frame: EditFrame, tokens: Sequence[Token]) -> str:
    for token in tokens:
        if token.kind in ("quoted", "literal") and _STATEMENT.match(token.inner):
            return token.inner
    return ""


def add_import(frame: EditFrame) -> Iterator[ExactTask]:
    target, statement = frame.target, _import_text(frame, frame.clause.target)
    verb = frame.clause.action == "import"
    complement = frame.take("complement")
    if complement is not None and target.only_name is not None:  # writer.go has to import "errors"
        frame.parts.append(Part("in", frame.clause.target))
        target, statement = noun_phrase(complement.tokens), _import_text(frame, complement.tokens)
    if not (verb or "import" in target.whats or statement):
        return
    name = statement
    if not statement:
        of = None if target.names or target.words else frame.take("of", "for", "de")
        phrase = noun_phrase(of.tokens) if of is not None else target
        if phrase.only_name is None or phrase.described:
            return
        name = bare_name(phrase.only_name)
        source = frame.take("from", "depuis") if target.what != "file" else None
        module = noun_phrase(source.tokens).only_name if source is not None else None
        if module is not None:
            name = f"from {bare_name(module)} import {name}"
    into = frame.take("to")
    place = noun_phrase(into.tokens).place if into is not None else None
    places = (*((place,) if place is not None else ()), *frame.place_parts())
    if len(places) == 1:
        yield ExactTask("add_import", name, places=places)


def remove_import(frame: EditFrame) -> Iterator[ExactTask]:
    target, statement = frame.target, _import_text(frame, frame.clause.target)
    if "import" not in target.whats and not statement:
        return
    unused = "unused" in target.fillers or any(f.startswith("inutil") for f in target.fillers)
    if not statement and not target.names and not target.words:
        of = frame.take("of", "for", "de") if len(frame.parts) > 1 else None
        if of is None:
            places = frame.place_parts()
            if len(places) == 1 and unused:
                yield ExactTask("remove_unused_imports", "", places=places)
            return
        target = noun_phrase(of.tokens)
    name = statement or (bare_name(target.only_name) if target.only_name is not None else "")
    places = frame.place_parts()
    if name and len(places) == 1:
        yield ExactTask("remove_import", name, places=places)


def export_of(frame: EditFrame) -> Iterator[ExactTask]:
    complement = frame.take("complement")
    name = frame.target.only_name
    if complement is not None and name is not None and name.is_path:  # index.js should export X
        frame.parts.append(Part("from", frame.clause.target))
        frame.target = noun_phrase(complement.tokens)
    yield from exports_of(frame, frame.target)


def exports_of(frame: EditFrame, target: NounPhrase) -> Iterator[ExactTask]:
    kind = "unexport" if frame.clause.action == "unexport" else "export"
    frame.take("like")
    alias = frame.take("as", "named")
    new = ""
    if alias is not None:
        found = noun_phrase(alias.tokens).only_name
        new = bare_name(found) if found is not None else ""
    names = [bare_name(t) for t in target.names if not t.is_path] or [bare_name(t) for t in target.words[:1]]
    if not names or (target.names and target.words):
        return
    places = []
    for part in list(frame.parts):
        phrase = noun_phrase(part.tokens)
        words = [w for w in phrase.words if w.low not in _TOP_WORDS]
        if (
            part.role in ("from", "in", "at", "à", "de", "of", "to", "on", "for", "complement")
            and len(phrase.names) + len(words) <= 1
        ):
            frame.parts.remove(part)
            named = (*phrase.names, *words)
            named = tuple(t for t in named if t.inner != "__init__")
            places += [NamedPlace(bare_name(named[0]), phrase.what)] if named else []
    frame.left_over = frame.left_over or bool(frame.parts)
    for name in names:
        yield ExactTask(kind, name, target.what, new, "", tuple(places))


_TOP_WORDS = frozenset(
    "top top-level toplevel root level public api racine niveau init package's paquet interface entry point".split()
)


def add_export(frame: EditFrame) -> Iterator[ExactTask]:
    """`add X to the public exports`."""
    into = next((p for p in frame.parts if p.role in ("to", "à", "in")), None)
    if into is None:
        return
    phrase = noun_phrase(into.tokens)
    if "export" in phrase.whats or ({"public", "api"} <= {t.low for t in into.tokens}):
        frame.parts.remove(into)
        if phrase.names:
            frame.parts.append(Part("from", tuple(phrase.names)))
        yield from exports_of(frame, frame.target)


def remove_export(frame: EditFrame) -> Iterator[ExactTask]:
    from_ = next((p for p in frame.parts if p.role in ("from", "de", "of", "in")), None)
    if from_ is not None and "export" in noun_phrase(from_.tokens).whats:
        frame.parts.remove(from_)
        frame.clause = Clause("unexport", "", frame.clause.target, frame.clause.parts, frame.clause.text)
        yield from exports_of(frame, frame.target)
