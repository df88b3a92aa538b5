"""Forms of members, entries and lines that are added and removed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.frames.frame import (
    BEFORE_VALUE,
    DECLARING,
    EditFrame,
    unquoted,
    value_text_of,
    without_heads,
)
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS
from repopilot.agents.editing.exact.wording.noun_phrases import NounPhrase, bare_name, kind_of_word, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token, looks_like_code
from repopilot.code.languages import file_kind

_OF_OTHER_THINGS = frozenset(("script", "text", "comment", "import", "line", "code", "version"))
"""What is no container: beside a plain word it describes entries."""


def addition(frame: EditFrame) -> Iterator[ExactTask]:
    """What is added to a thing: a member, an entry, an item."""
    into = frame.take("to", "in", "à", "on", "of", "de", "as") if not frame.has("label") else None
    container = noun_phrase(into.tokens) if into is not None else None
    label = frame.take("label")
    if container is None and label is not None:
        container = noun_phrase(label.tokens)
    name = container.only_name if container is not None else None
    if container is None or name is None or container.described:
        return
    if name.kind == "word" and _OF_OTHER_THINGS & set(container.whats):
        return  # `the script extensions` are not what is called `extensions`
    texts = _new_texts(frame)
    places = frame.place_parts()
    for text in texts:
        yield from _additions(frame, text, name, container, places)


def _additions(
    frame: EditFrame, text: str, name: Token, container: NounPhrase, places: tuple[NamedPlace, ...]
) -> Iterator[ExactTask]:
    if name.is_path or container.what == "file":
        path = bare_name(name)
        place = (NamedPlace(path, "file"), *places)
        if path.endswith(".py"):
            text = re.sub(r"^(?:var|let|const|static|final) ", "", text)
        yield ExactTask("add_definition_text", text, frame.target.what, text, "", place)
        yield ExactTask("add_line", path, frame.target.what, unquoted(text), "", places)
        return
    what = "member" if "member" in frame.target.whats else container.what
    yield ExactTask("add_member", bare_name(name), what, text, "", places)
    if bare_name(name).rpartition(".")[2] == "__all__":
        yield ExactTask("export", unquoted(text), "", "", "", places)


def _new_texts(frame: EditFrame) -> list[str]:
    """The texts of new members: `FOO = 3`, `"size": len`, each of a list."""
    tokens = without_heads(frame.clause.target)
    if not tokens or (
        len(tokens) == 1 and tokens[0].kind == "word" and kind_of_word(tokens[0].low) and tokens[0].text.islower()
    ):
        frame.left_over = True
        return []
    value = frame.take("value", "is", "with", "default", "colon", "aside")
    if value is not None:
        value_tokens = list(value.tokens)
        while value_tokens and value_tokens[0].low in BEFORE_VALUE | DETERMINERS and len(value_tokens) > 1:
            value_tokens.pop(0)
        code = [t for t in tokens if t.kind in ("name", "quoted", "word", "literal") and t.low not in DECLARING]
        if len(code) != 1 or not value_tokens:
            frame.left_over = True
            return []
        key = tokens[0].code if len(tokens) == 1 else frame.text(tokens)
        return [f"{key} = {value_text_of(frame, value_tokens)}"]
    if len(tokens) == 2 and tokens[1].kind == "literal" and tokens[1].text[0] == "(":
        return [f"{tokens[0].code} = {tokens[1].text[1:-1]}"]
    listed = _listed(tokens)
    if listed is not None:
        return [t.code for t in listed]
    if any(
        t.kind == "word" and t.low not in DETERMINERS and not looks_like_code(t.text) for t in tokens[1:]
    ) and not _is_code_text(tokens):
        frame.left_over = True
        return []
    text = tokens[0].text if len(tokens) == 1 else frame.text(tokens)
    return [text[1:-1] if text[0] == text[-1] == "`" and text.count("`") == 2 else text]


def _is_code_text(tokens: Sequence[Token]) -> bool:
    """Whether words are the text of a definition or entry: `timeout: float = 5`."""
    return any(t.kind == "sign" and t.text in (":", "=", "->", "=>") for t in tokens)


def _listed(tokens: Sequence[Token]) -> list[Token] | None:
    """The items of `a, b and c`."""
    items = [t for t in tokens if t.kind in ("name", "quoted", "literal")]
    others = [
        t
        for t in tokens
        if t not in items and t.text != "," and t.low not in ("and", "et", "&") and t.low not in DETERMINERS
    ]
    return items if len(items) > 1 and not others else None


def mapping(frame: EditFrame) -> Iterator[ExactTask]:
    """`map ".pyi" to "python" in LEXERS`."""
    to = frame.take("to", "à", "with")
    into = frame.take("in", "on", "label")
    keys, container = without_heads(frame.clause.target), noun_phrase(into.tokens) if into is not None else None
    if to is None or container is None or container.only_name is None or len(keys) != 1:
        return
    text = f"{keys[0].code} = {value_text_of(frame, to.tokens)}"
    yield ExactTask("add_member", bare_name(container.only_name), "dict", text, "", frame.place_parts())


def remove_member(frame: EditFrame) -> Iterator[ExactTask]:
    from_ = frame.take("from", "of", "de", "in", "à", "label")
    container = noun_phrase(from_.tokens) if from_ is not None else None
    name = container.only_name if container is not None else None
    if container is None or name is None or container.described or container.what in _NO_CONTAINERS:
        return
    items = [*frame.target.names, *frame.target.literals] or list(frame.target.words)
    if not items or (frame.target.words and frame.target.names):
        return
    if name.is_path and frame.target.what in ("function", "class", "method", "constant"):
        return
    places = frame.place_parts()
    for item in items:
        text = item.code
        if name.is_path:
            yield ExactTask("remove_line", bare_name(name), "", unquoted(text), "", places)
        else:
            yield ExactTask("remove_member", bare_name(name), container.what, text, "", places)
    if len(items) == 1 and container.what in ("", "function", "method") and items[0].kind in ("word", "name", "quoted"):
        of = NamedPlace(bare_name(name), "")
        yield ExactTask(
            "remove_parameter", bare_name(items[0]), "parameter", "", "", (of, *places), extra={"guess": "yes"}
        )


_NO_CONTAINERS = frozenset(("file", "module", "class", "function", "method"))


def sorting(frame: EditFrame) -> Iterator[ExactTask]:
    of = frame.take("of", "de", "in") if not frame.target.names else None
    name = noun_phrase(of.tokens).only_name if of is not None else frame.target.only_name
    frame.take("by")
    words = [
        w
        for w in frame.target.words
        if w.low not in ("alphabetically", "alphabetical", "alphabetique", "alphabetic", "order", "entries")
    ]
    if name is not None and name.is_path and frame.target.whats == ("import",) and not words:
        yield ExactTask("sort", "imports", places=(NamedPlace(bare_name(name), "file"),))
    elif name is not None and len(words) <= 1:
        yield ExactTask("sort", bare_name(name), frame.target.what, "", "", frame.place_parts())


_CALL = re.compile(r"[\w.$]+\(.*\)")


def added_line(frame: EditFrame) -> Iterator[ExactTask]:
    """`add "- fixed X" to the changelog`, `ignore *.log in .gitignore`."""
    into = frame.take("to", "in", "à", "label", "on")
    phrase = noun_phrase(into.tokens) if into is not None else None
    if into is None or phrase is None:
        return
    path = next((t for t in phrase.names if t.is_path), None)
    words = {t.low for t in into.tokens}
    log = "changelog" in words or "changes" in words or "history" in words or "journal" in words
    if path is None and not log:
        return
    texts = [t for t in frame.target.names if t.kind in ("quoted", "path", "name")]
    part = frame.take("colon")
    texts += [t for t in (part.tokens if part is not None else ()) if t.kind == "quoted"]
    defined = frame.target.what or (len(texts) == 1 and _CALL.fullmatch(texts[0].inner))
    if path is not None and defined and file_kind(bare_name(path)) == "code":
        return  # what is to be defined there, not a line of text
    if len(texts) == 1 and not (frame.target.words and texts[0].kind != "quoted"):
        yield ExactTask(
            "add_line",
            bare_name(path) if path is not None else "CHANGELOG",
            frame.target.what,
            texts[0].inner,
            "",
            frame.place_parts(),
        )
