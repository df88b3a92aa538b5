"""Forms of renames, and of `make X private`. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Part
from repopilot.agents.editing.exact.wording.frames.frame import PLACE_ROLES, EditFrame, value_text_of
from repopilot.agents.editing.exact.wording.frames.import_frames import exports_of
from repopilot.agents.editing.exact.wording.lexicon import ADJECTIVES, DETERMINERS, FILLERS
from repopilot.agents.editing.exact.wording.noun_phrases import NounPhrase, bare_name, kind_of_word, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token


def rename_of(frame: EditFrame) -> Iterator[ExactTask]:
    new = frame.take("named", "to", "as", "complement", "à", "by", "is", "with")
    target = frame.target
    if new is None and len(target.names) == 2 and not target.words:
        name, new_name = target.names
    elif new is not None:
        phrase = noun_phrase(new.tokens)
        found, new_name_ = target.only_name, new.tokens[0] if len(new.tokens) == 1 else phrase.only_name
        if found is None or new_name_ is None or target.described or (phrase.words and phrase.names):
            return
        name, new_name = found, new_name_
    else:
        return
    old = frame.take("old")
    if old is not None and noun_phrase(old.tokens).only_name is None:
        return
    places = frame.place_parts()
    if all(t.kind == "quoted" and " " in t.inner for t in (name, new_name)):
        yield ExactTask("replace_text", "", "", new_name.inner, name.inner, places)
        return
    yield from renamed(bare_name(name), bare_name(new_name), target.what, places)


def renamed(name: str, new: str, what: str, places: tuple[NamedPlace, ...]) -> Iterator[ExactTask]:
    if what in ("file", "module") or (re.search(r"\.[a-z]{1,4}$", name) and re.search(r"\.[a-z]{1,4}$|/", new)):
        yield ExactTask("rename_file", name, what, new, "", places)
    if what == "file":
        return
    if what == "parameter":
        yield ExactTask("rename_parameter", name, what, new, "", places)
        return
    yield ExactTask("rename", name, what, new, "", places)
    if places and what in ("", "variable", "symbol", "key"):
        yield ExactTask("rename_parameter", name, "parameter", new, "", places)


def rename_old(frame: EditFrame) -> Iterator[ExactTask]:
    """`change the name of X to Y`, `change X's name to Y`, `call it Y`."""
    whats = frame.target.tokens
    if not any(t.low in ("name", "nom") for t in whats) or "default" in frame.target.whats:
        return
    of = frame.take("of", "de")
    if of is not None:
        frame.target = noun_phrase(of.tokens)
    yield from rename_of(frame)


def making(frame: EditFrame) -> Iterator[ExactTask]:
    """`make X keyword-only`, `X should be private`."""
    tokens, adjective = _adjective(frame)
    if not adjective:
        return
    phrase = noun_phrase(tokens)
    named = sorted((*phrase.names, *phrase.words), key=lambda token: token.start)
    names = [bare_name(t) for t in named]
    if not names or (phrase.described and not _are_listed(named, phrase)):
        return
    if adjective in ("private", "public"):
        old = names[0]
        plain = old.rpartition(".")[2]
        new = f"_{plain}" if adjective == "private" else plain.lstrip("_")
        places = frame.place_parts()
        if len(names) == 1 and new != plain and not (adjective == "private" and plain.startswith("_")):
            yield from renamed(old, new, phrase.what, places)
        initial = plain[:1].lower() if adjective == "private" else plain[:1].upper()
        if len(names) == 1 and not plain.startswith(("_", initial)):
            yield ExactTask("rename", old, phrase.what, initial + plain[1:], "", places, extra={"language": "go"})
        return
    if adjective == "exported":
        yield from exports_of(frame, phrase)
        return
    if adjective == "optional":
        default = frame.take("default", "with", "value", "to")
        new = value_text_of(frame, default.tokens) if default is not None else ""
        places = frame.place_parts()
        if len(names) == 1 and new:
            yield ExactTask("set_default", names[0], "parameter", new, "", places)
        return
    new_part = frame.take("pass", "default", "with", "value") if adjective == "required" else None
    new = value_text_of(frame, new_part.tokens) if new_part is not None else ""
    kind = "require_parameter" if adjective == "required" else adjective
    yield ExactTask(kind, ", ".join(names), "parameter", new, "", frame.place_parts())


def _are_listed(named: Sequence[Token], phrase: NounPhrase) -> bool:
    """Whether `and` or a comma stands between each two of the names: `months and minimum_unit`."""
    at = [phrase.tokens.index(token) for token in named]
    between = (phrase.tokens[first + 1 : second] for first, second in itertools.pairwise(at))
    return all(any(t.low in ("and", "et", "&", ",") for t in some) for some in between)


def _adjective(frame: EditFrame) -> tuple[list[Token], str]:
    """The target without the adjective that says what it shall be."""
    tokens = list(frame.clause.target)
    for at, token in enumerate(tokens):
        found = ADJECTIVES.get(token.low) if token.kind == "word" and at else None
        if found and all(
            t.kind == "word" and (t.low in FILLERS or t.low in DETERMINERS or kind_of_word(t.low))
            for t in tokens[at + 1 :]
        ):
            return tokens[:at], found
    for at, part in enumerate(frame.parts):
        adjective = ADJECTIVES.get(part.tokens[-1].low, "") if len(part.tokens) > 1 and part.role in PLACE_ROLES else ""
        if adjective and part.tokens[-1].kind == "word":
            frame.parts[at] = Part(part.role, part.tokens[:-1])
            return tokens, adjective
    for part in list(frame.parts):
        if part.role in ("complement", "as", "à", "to"):
            words = [t for t in part.tokens if t.kind == "word" and t.low not in DETERMINERS]
            adjective = next((ADJECTIVES[t.low] for t in words if t.low in ADJECTIVES), "")
            rest = [t for t in words if t.low not in ADJECTIVES and t.low not in FILLERS and not kind_of_word(t.low)]
            if adjective and not rest and all(t.kind == "word" for t in part.tokens):
                frame.parts.remove(part)
                return tokens, adjective
    return tokens, ""
