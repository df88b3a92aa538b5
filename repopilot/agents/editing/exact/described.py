"""Finds the value that a task describes in words instead of naming it: `the default chunk size`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.locate import candidates, dotted, owners, task_paths
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.values.config_values import keys_of
from repopilot.agents.editing.exact.values.value_setting import set_value
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.index.tokens import expand
from repopilot.retrieval.query.french import english_words
from repopilot.retrieval.query.synonyms import SYNONYMS
from repopilot.types import Symbol

_VALUE_KINDS = frozenset(("variable", "constant", "field", "property", "enum_member", "const", "static"))
_WEAK = frozenset(
    "default max min maximum minimum maximal minimal number count value of the a limit size length amount".split()
)
_PARAMETER = re.compile(
    r"[(,]\s*\*{0,2}(?P<name>[A-Za-z_]\w*)\s*(?::[^,=()]*(?:\[[^\]]*\])?[^,=()]*)?=\s*(?P<value>[^,()]+)"
)
_FIELD = re.compile(
    r"(?m)^[ \t]*(?:(?:self|this|\w)\.)?(?P<name>[A-Za-z_]\w*)\s*(?::|:?=)\s*"
    r"(?:-?\d[\w.]*|true|false|True|False|'[^'\n]*'|\"[^\"\n]*\")[,;]?[ \t]*(?:#.*|//.*)?$"
)
_MOST_FILES = 800
_MOST_CHOICES = 12
_FITS = 0.6
"""The least score of a value that is meant without question."""
_CLEAR = 0.25
"""How much worse the next value must fit."""


_SAID = 0.3
"""How much better a name fits that has the very words, without synonyms."""


class Described(NamedTuple):
    """A value that words may mean: what it is set by, and how well they fit."""

    task: ExactTask
    label: str
    score: float


def described_value(task: ExactTask, sources: Sources) -> ExactTask | None:
    """The task with the name of the value that its words describe.

    Args:
        task: of kind set_value, with `description` in `extra`.
        sources: the files.

    Returns:
        The task for that value; None where nothing fits well.

    Raises:
        PlaceAmbiguous: several fit equally.
    """
    wanted = terms_of(task.extra["description"])
    if not wanted:
        return None
    old = task.old.strip("`\"'")
    task = replace(task, places=tuple(place for place in task.places if place.name != old))
    found = [*_constants(task, wanted, sources), *_parameters(task, wanted, sources)]
    found = found or list(_settings(task, wanted, sources)) or list(_fields(task, wanted, sources))
    said = {_stem(word) for word in task.extra["description"].split()} - {_stem("default")}
    found = [f._replace(score=f.score + _SAID * (name_parts(f.task.name) == said)) for f in found]
    if task.old:
        found = [f for f in found if _has_old_value(f, sources)] or list(_with_old_value(task, wanted, sources))
    best = max((f.score for f in found), default=0.0)
    near = {f.label: f for f in sorted(found, key=lambda f: -f.score) if f.score > best - _CLEAR}
    chosen = list(near.values())
    if not chosen or best < _FITS:
        return None
    if len(chosen) > 1:
        raise PlaceAmbiguous(
            i18n.message("exact.several_places", name=task.extra["description"], count=len(chosen)),
            i18n.message("exact.choose_place"),
            tuple(f.label for f in chosen[:_MOST_CHOICES]),
        )
    return chosen[0].task


def _has_old_value(found: Described, sources: Sources) -> bool:
    """Whether a value is the one that the task says is there, so that it can be set."""
    try:
        return set_value(found.task, sources) is not None
    except GenerationFailed:
        return False


def _with_old_value(task: ExactTask, wanted: list[frozenset[str]], sources: Sources) -> Iterator[Described]:
    """Keys with all telling words of the description that the code gives the old value to: `"CACHE_PREFIX", "c_"`."""
    old = re.escape(task.old.strip("`\"'"))
    given = re.compile(rf"(?P<name>[A-Za-z_]\w*)[\"']?\s*(?:[,:]|:?=)\s*(?P<quote>[\"']?){old}(?P=quote)(?![\w.])")
    told = [terms for terms in wanted if "default" not in terms]
    names = {
        match["name"]
        for path in _searched(task, sources)
        for match in given.finditer(sources.workspace.index.text(path) or "")
        if told and all(terms & name_parts(match["name"]) for terms in told)
    }
    for name in names:
        described = Described(replace(task, name=name, extra=_plain(task)), name, 1.0)
        if _has_old_value(described, sources):
            yield described


def terms_of(description: str) -> list[frozenset[str]]:
    """For each word of a description what it may be in an identifier."""
    found = []
    for word in description.split():
        same = {word, *english_words(word)}
        if "-" in word:
            same |= {*word.split("-"), "".join(part[0] for part in word.split("-") if part)}
        same |= {other for w in tuple(same) for other in SYNONYMS.get(_stem(w), ())}
        found.append(frozenset(_stem(w) for w in same))
    return found


def _stem(word: str) -> str:
    expanded = expand(word)
    return expanded[0] if expanded else word


def _score(name: str, around: str, wanted: list[frozenset[str]]) -> float:
    """How well words describe a name: 0 where one of them or a telling part of the name is missing."""
    parts = name_parts(name)
    context = name_parts(around)
    weak = {_stem(w) for w in _WEAK}
    in_name = [bool(terms & parts) for terms in wanted]
    strong = [terms for terms in wanted if not terms & weak]
    if not any(in_name) or any(not terms & (parts | context) for terms in strong):
        return 0.0
    if not strong and not all(in_name):
        return 0.0
    unexplained = [p for p in parts if not any(p in terms for terms in wanted)]
    if any(p not in weak for p in unexplained):
        return 0.0
    told = [found for found, terms in zip(in_name, wanted, strict=True) if found or "default" not in terms]
    return sum(told) / len(told) - 0.1 * len(unexplained)


def name_parts(name: str) -> set[str]:
    """The stems of the words that a name is made of."""
    expanded = [e for piece in re.split(r"[./]", name) for e in expand(piece)]
    pieces = {p for piece in re.split(r"[./_]", name) for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", piece)}
    parts = {_stem(p.lower()) for p in pieces}
    return parts or set(expanded)


def _searched(task: ExactTask, sources: Sources) -> list[str]:
    paths = task_paths(task, sources)
    if paths:
        return [p for p in paths if p in sources.workspace.index.files]
    files = sources.workspace.index.files
    return [p for p in files if file_kind(p) == "code" and not is_test_path(p) and not is_example_path(p)]


def _constants(task: ExactTask, wanted: list[frozenset[str]], sources: Sources) -> Iterator[Described]:
    owned = [dotted(o.name) for o in owners(task, sources.workspace.index)]
    for path in _searched(task, sources):
        for symbol in sources.workspace.index.outline(path):
            around = symbol.qualified.rpartition(".")[0]
            if symbol.kind not in _VALUE_KINDS or not all(f".{around}.".find(f".{o}.") >= 0 for o in owned):
                continue
            score = _score(symbol.name, f"{around}.{path.rpartition('.')[0]}", wanted)
            if score > 0:
                place = f"{path}:{symbol.qualified}"
                yield Described(
                    replace(task, name=symbol.qualified, mention=place, places=(), extra=_plain(task)),
                    place,
                    score + 0.05,
                )


def _parameters(task: ExactTask, wanted: list[frozenset[str]], sources: Sources) -> Iterator[Described]:
    """Defaults of parameters, where the task says `default` or names the function."""
    functions = _functions(task, sources)
    for function in functions:
        for match in _PARAMETER.finditer(function.signature):
            score = _score(match["name"], f"{function.qualified}.{function.path.rpartition('.')[0]}", wanted)
            if score > 0 and match["value"].strip() not in ("None", "undefined", "null"):
                places = (NamedPlace(function.qualified, ""), NamedPlace(function.path, "file"))
                label = f"{function.path}:{function.qualified}"
                yield Described(
                    replace(task, kind="set_default", name=match["name"], places=places, extra=_plain(task)),
                    label,
                    score,
                )


def _settings(task: ExactTask, wanted: list[frozenset[str]], sources: Sources) -> Iterator[Described]:
    """Keys of configuration files."""
    index = sources.workspace.index
    named = task_paths(task, sources)
    for path in named or index.files:
        source = sources.get(path) if file_kind(path) == "config" and (named or path.count("/") < 1) else None
        for key in keys_of(source.text, source.language) if source is not None else ():
            around = ".".join([*key.name[:-1], path.rpartition(".")[0]])
            score = _score(key.name[-1], around, wanted)
            if score > 0:
                full = ".".join(key.name)
                places = (NamedPlace(path, "file"),)
                yield Described(replace(task, name=full, places=places, extra=_plain(task)), f"{path}:{full}", score)


def _fields(task: ExactTask, wanted: list[frozenset[str]], sources: Sources) -> Iterator[Described]:
    """Literals that are given to fields in code: `max_redirects: 10` of an object or a struct."""
    seen: dict[str, bool] = {}
    for path in _searched(task, sources)[:_MOST_FILES]:
        text = sources.workspace.index.text(path) or ""
        for match in _FIELD.finditer(text):
            name = match["name"]
            if name not in seen:
                seen[name] = bool(name_parts(name) & frozenset().union(*wanted))
            score = _score(name, path.rpartition(".")[0], wanted) if seen[name] else 0.0
            if score > 0:
                places = (NamedPlace(path, "file"),)
                yield Described(replace(task, name=name, places=places, extra=_plain(task)), f"{path}:{name}", score)


def _functions(task: ExactTask, sources: Sources) -> list[Symbol]:
    index = sources.workspace.index
    named = [s for o in owners(task, index) for s in candidates(o.name, replace(task, places=()), sources)]
    inside = [
        m for s in named if s.kind == "class" for m in index.outline(s.path) if m.qualified == f"{s.qualified}.__init__"
    ]
    if named:
        return [s for s in (*named, *inside) if s.signature]
    if "default" not in task.extra["description"].split():
        return []
    return [s for p in _searched(task, sources) for s in index.outline(p) if s.kind in ("function", "method")]


def _plain(task: ExactTask) -> dict[str, str]:
    return {key: value for key, value in task.extra.items() if key != "description"}
