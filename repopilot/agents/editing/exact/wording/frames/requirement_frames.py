"""Forms of versions, dependencies and the fields of a project. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.wording.clause import Part
from repopilot.agents.editing.exact.wording.frames.frame import (
    EditFrame,
    from_value,
    old_value,
    unquoted,
    value_text_of,
)
from repopilot.agents.editing.exact.wording.lexicon import DETERMINERS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, noun_phrase

_VERSION = re.compile(r"v?\d+(?:\.\d+)*[\w.+-]*")


def version_change(frame: EditFrame, new: str, old: str) -> Iterator[ExactTask]:
    """The project's own version, or the one that it needs of something."""
    words = [*frame.target.names, *frame.target.words]
    required = any(f in ("required", "mandatory") for f in frame.target.fillers) or any(
        w.low in ("minimum", "minimal", "minimale", "supported", "min", "oldest", "lowest", "requise", "needed")
        for w in words
    )
    about = [w for w in words if w.low not in _VERSION_WORDS]
    tools = [f for t in frame.target.tokens if (f := t.low) in _TOOLS]
    for part in list(frame.parts):
        inner = noun_phrase(part.tokens)
        if part.role in ("of", "de", "for") and inner.only_name is not None and not inner.only_name.is_path:
            frame.parts.remove(part)
            if inner.only_name.low not in _TOOLS:
                about.append(inner.only_name)
            else:
                tools.append(inner.only_name.low)
        elif part.role in ("of", "de") and all(t.low in _OWN_WORDS or t.low in DETERMINERS for t in part.tokens):
            frame.parts.remove(part)
    places = frame.place_parts()
    if tools or required or about:
        name = (tools or [bare_name(a) for a in about] or ["python"])[0]
        yield ExactTask("require_version", name, "", new, old, places)
    elif _VERSION.fullmatch(new.strip("`'\"")):
        yield ExactTask("bump_version", "version", "", new.strip("`'\""), old.strip("`'\""), places)


_VERSION_WORDS = frozenset(
    "minimum minimal minimale supported min oldest lowest requise needed package project library release number".split()
)


_OWN_WORDS = frozenset("package project library paquet projet repo repository app application us it".split())


_TOOLS = frozenset("python node nodejs node.js go golang rust java typescript php ruby".split())


def bump_part(frame: EditFrame) -> Iterator[ExactTask]:
    words = [t.low for t in frame.target.words]
    part = words[0] if len(words) == 1 else ""
    if "version" in frame.target.whats and part in ("major", "minor", "patch") and not frame.parts:
        yield ExactTask("bump_version", "version", "", part)


def requirement(frame: EditFrame) -> Iterator[ExactTask]:
    """`require node >= 20`, `X should require Python 3.10`."""
    part = frame.take("complement")
    tokens = part.tokens if part is not None else frame.clause.target
    phrase = noun_phrase(tokens)
    versions = [t for t in tokens if t.kind == "literal"]
    quoted = [t for t in phrase.names if t.kind == "quoted" and re.match(r"[<>=~^!\s]*\d", t.inner)]
    names = [t for t in (*phrase.names, *phrase.words) if t not in quoted and t.low not in _VERSION_WORDS]
    names += [t for t in tokens if t.low in _TOOLS and t not in names]
    names = [
        t for t in names if t.low not in ("or", "newer", "later", "least", "above", "higher", "ou", "plus", "recent")
    ]
    if len(names) != 1 or len(versions) + len(quoted) != 1:
        return
    version = (versions or quoted)[0]
    text = version.inner if version.kind == "quoted" else version.text
    rest = {t.low for t in tokens}
    if rest & {"least", "newer", "later", "above", "higher", "moins"} or "+" in [t.text for t in tokens]:
        text = text.lstrip("<>=~^ ")
    yield ExactTask("require_version", bare_name(names[0]), "", text.replace(" ", ""), "", frame.place_parts())


def bump_requirement(frame: EditFrame) -> Iterator[ExactTask]:
    """`bump idna to >=3.7`, `require requests 2.31 or newer`."""
    new = frame.take("to", "à", "value", "complement")
    name = frame.target.only_name
    if new is None or name is None or name.is_path or frame.target.described:
        return
    text = value_text_of(frame, new.tokens)
    if not re.fullmatch(r"[<>=~^!\s]*v?\d[\w.*]*(?:\s*,\s*[<>=~^!]+\s*[\w.*]+)*", text):
        return
    spec = re.match(r"[<>=~^!]", text) is not None
    old = old_value(frame) or from_value(frame)
    if spec and name.low in _PYTHON_KEYS:
        yield ExactTask("require_version", "python", "", text.replace(" ", ""), old, ())
        return
    if (
        spec
        or name.low in _TOOLS
        or "dependency" in frame.target.whats
        or frame.clause.verb in ("bump", "upgrade", "pin", "downgrade")
    ):
        yield ExactTask("require_version", bare_name(name), "", text.replace(" ", ""), old, frame.place_parts())


_PYTHON_KEYS = frozenset(("requires-python", "python_requires", "python-requires"))


def drop_support(frame: EditFrame) -> Iterator[ExactTask]:
    """`drop support for Python 3.8`: the next one is needed."""
    words = [t.low for t in frame.clause.target]
    part = frame.take("for", "of", "de")
    tokens = part.tokens if part is not None else frame.clause.target
    if "support" not in words:
        return
    version = next((t.text for t in tokens if t.kind == "literal"), "")
    match = re.fullmatch(r"3\.(\d+)", version)
    if match and any(t.low == "python" for t in tokens):
        yield ExactTask("require_version", "python", "", f"3.{int(match[1]) + 1}", "", frame.place_parts())


_LISTS = frozenset(
    "extra extras group install_requires requirements dependencies devdependencies dev-dependencies requirements.txt "
    "deps".split()
)


def _is_dependency_list(part: Part) -> bool:
    return "dependency" in noun_phrase(part.tokens).whats or any(t.low in _LISTS for t in part.tokens)


def dependency_change(frame: EditFrame) -> Iterator[ExactTask]:
    target = frame.target
    if frame.clause.action in ("set", "be") and frame.clause.verb not in ("put", "mets", "mettre", "mettez"):
        return
    removing = frame.clause.action in ("remove", "remove_requirement")
    into = next(
        (p for p in frame.parts if p.role in ("to", "à", "in", "from", "de", "as", "of") and _is_dependency_list(p)),
        None,
    )
    if "dependency" not in target.whats and into is None:
        return
    on = frame.take("on", "sur") if into is None else None
    if into is not None:
        frame.parts.remove(into)
    phrase = noun_phrase(on.tokens) if on is not None and not target.names and not target.words else target
    group = next(
        (
            t.low
            for t in (*(into.tokens if into is not None else ()), *target.tokens)
            if t.low in _GROUPS - _GROUP_WORDS
        ),
        "",
    )
    named_group = [t.inner for t in (into.tokens if into is not None else ()) if t.kind == "quoted"]
    group = group or (named_group[0] if named_group else "")
    names = [t for t in (*phrase.names, *phrase.words) if t.low not in _GROUPS]
    names = [t for t in names if not re.match(r"[<>=~^!]", t.inner)]
    versions = [t.inner for t in (*phrase.literals, *phrase.names) if re.match(r"[<>=~^!]*\s*v?\d", t.inner)]
    if len(names) != 1:
        return
    match = re.fullmatch(r"([\w.\[\]-]+?)\s*([<>=~^!].*)?", bare_name(names[0]))
    if match is None:
        return
    version = (match[2] or (versions[0] if versions else "")).replace(" ", "")
    if frame.clause.action == "require" and version:
        yield ExactTask("require_version", match[1], "", version, "", ())
    kind = "remove_dependency" if removing else "add_dependency"
    yield ExactTask(kind, match[1], "", version, "", frame.place_parts(), extra={"group": group} if group else {})


_GROUP_WORDS = frozenset("group groups extra extras section list".split())


_GROUPS = frozenset(
    "group groups extra extras section list dev development test tests testing docs lint typing optional peer".split()
)


def project_field(frame: EditFrame) -> Iterator[ExactTask]:
    field_ = next((_FIELDS[t.low] for t in frame.clause.target if t.low in _FIELDS), "")
    new = frame.take("to", "à", "is", "complement", "as", "by", "colon")
    if not field_ or new is None or frame.target.names:
        return
    words = [w for w in frame.target.words if w.low not in _FIELDS and w.low not in _VERSION_WORDS]
    frame.parts = [
        p
        for p in frame.parts
        if not (p.role in ("of", "de") and all(t.low in _OWN_WORDS | DETERMINERS for t in p.tokens))
    ]
    old = old_value(frame) or from_value(frame)
    text = value_text_of(frame, new.tokens)
    if not words and text:
        yield ExactTask("project_field", field_, "", unquoted(text), unquoted(old), frame.place_parts())


_FIELDS = {
    "description": "description", "license": "license", "licence": "license", "author": "author", "auteur": "author",
    "homepage": "homepage", "maintainer": "maintainer", "keywords": "keywords", "mainteneur": "maintainer",
}  # fmt: skip
