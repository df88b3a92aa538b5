"""Chooses among what a task may ask for by what of it can be carried out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.intents.additions import (
    default_readings,
    docstring_readings,
    entry_readings,
    export_readings,
)
from repopilot.agents.editing.exact.intents.exchanges import exchange_readings
from repopilot.agents.editing.exact.intents.import_styles import import_style_readings
from repopilot.agents.editing.exact.intents.intent_classifier import OTHER, intent_chances, words_of
from repopilot.agents.editing.exact.intents.misspellings import misspelt_use_readings
from repopilot.agents.editing.exact.intents.moves import move_readings
from repopilot.agents.editing.exact.intents.parameters import (
    keyword_readings,
    order_readings,
    required_readings,
)
from repopilot.agents.editing.exact.intents.removals import (
    deletion_readings,
    import_removal_readings,
    parameter_removal_readings,
)
from repopilot.agents.editing.exact.intents.renames import rename_readings
from repopilot.agents.editing.exact.intents.task_mentions import TaskMentions, mentions_of, parts_of
from repopilot.agents.editing.exact.sources import Sources

_LONGEST = 600
"""Characters."""
_LEAST_CHANCE, _TIMES_OTHER = 0.35, 0.8
"""How likely a kind of edit has to be where no words tell it, and how much likelier than none."""
_CERTAIN, _TIMES_LIKELIER = 0.5, 15
"""Of several kinds that words tell, one is meant that is so likely, and so many times likelier than the others."""
_UNLIKELY = 0.1
"""So likely a kind of edit has to be where words tell it and another one is meant otherwise."""
_CERTAINLY_NONE = 0.9
_Reader = Callable[[TaskMentions], Iterator[list[ExactTask]]]
_Found = dict[str, list[list[ExactTask]]]
_ADD = r"add|create|implement|write|introduce|document|mention|keep an alias|ajout\w+|cree\w*|documente\w*"
_REMOVE = r"remove|delete|drop|supprim\w+|retir\w+|enlev\w+"
_READERS: tuple[tuple[_Reader, str, str], ...] = (
    (keyword_readings, "keyword_only", ""),
    (order_readings, "reorder", ""),
    (required_readings, "required", _REMOVE),
    (rename_readings, "rename", ""),
    (move_readings, "move", ""),
    (parameter_removal_readings, "remove_parameter", _REMOVE),
    (import_removal_readings, OTHER, _REMOVE),
    (deletion_readings, "delete", _REMOVE),
    (export_readings, "export", _ADD),
    (entry_readings, OTHER, _ADD),
    (default_readings, "set_default", ""),
    (docstring_readings, OTHER, _ADD),
    (import_style_readings, OTHER, ""),
    (exchange_readings, OTHER, ""),
    (misspelt_use_readings, OTHER, ""),
)
"""The readers, each with the kind of edit that it reads as the classifier knows it, and the verbs that may ask for
it."""
_RENAMING = re.compile(r"\b(?:re-?name|renomme\w*)\b")
_CALLING = re.compile(rf"{_RENAMING.pattern}|\b(?:call (?:it|them|this|that)|called|appell?\w+)\b")
"""What asks for another name, whatever else is asked for."""
_FURTHER = re.compile(
    r"(?:^|[.;:!?]\s+|,\s+|\b(?:and|then|also|et|puis|aussi)\s+)(?:please\s+|also\s+|then\s+|aussi\s+)*"
    rf"(?P<verb>{_ADD}|{_REMOVE}|raise|return|log|warn|deprecate|bump|leve\w*)\s+(?=(?P<what>[^.;,]*))"
)
"""Another thing that is asked for."""
_CONDITION = re.compile(
    r"\b(?:(?:an?|old|as|add|un|ancien) (?:\w+ )?alias\w*|alias(?:es)? (?:for|pour)|"
    r"deprecat\w*|except|unless|(?<![-\w])(?<!keyword )(?<!by name )only (?:in|for|where|when)|but not|"
    r"keep(?:s|ing)? (?:the )?old|sauf|temporar\w*|backwards?|compat\w*)\b"
)
_NO_ALIAS = re.compile(
    r"\b(?:no|without|pas d[e']|sans)\s*(?:\w+\s+){0,3}?(?:alias\w*|compat\w*|deprecat\w*|"
    r"backwards?[ -]compat\w*)[^.;,]*"
)
_AFTERWARDS = re.compile(r"\b(?:no longer|any ?more|ne \w+ plus)\b")
"""What is so only where something else is done as well."""
_FOLLOWS = re.compile(r"\b(?:imports?|unused|inutilise\w*|callers?|calls?|references?|docs?|tests?)\b")
"""What code does along with an edit."""


def likely_edits(task: str, sources: Sources) -> Iterator[list[list[ExactTask]]]:
    """What a task may ask for.

    Args:
        task: on one line.
        sources: the files.

    Yields:
        Twice readings, likeliest first, each all the edits that it takes: what telling words say, then what the
        classifier makes of all words where none of them tells.
    """
    if len(task) > _LONGEST or "\n" in task.strip():
        yield from ([], [])
        return
    mentions = mentions_of(task, sources)
    chances = intent_chances(words_of(parts_of(mentions)))
    intent = _likeliest(chances)
    found = _readings(mentions)
    yield found.get(_told(mentions, found, chances, intent), [])
    yield _readings(replace(mentions, intent=intent)).get(intent, []) if intent and not found else []


def _told(task: TaskMentions, found: _Found, chances: Mapping[str, float], intent: str) -> str:
    """The kind of edit that words tell, '' where they tell none, or two, or where all words together say otherwise."""
    if len(found) > 1:
        best = _certain_of(chances, list(found))
        renames = "rename" in found and _CALLING.search(task.words) is not None
        return best if best == "rename" or not renames else ""
    for kind, readings in found.items():
        if kind not in chances or kind == intent or not _is_judged(task, readings):
            return kind
        return kind if chances[OTHER] < _CERTAINLY_NONE and (chances[kind] > _UNLIKELY or not intent) else ""
    return ""


def _is_judged(task: TaskMentions, readings: Sequence[Sequence[ExactTask]]) -> bool:
    """Whether the classifier can tell what a task asks for: it reads what is said of names, and takes neither a
    description nor a new name that is a word of prose for one."""
    written = {m.last for m in task.unknown}
    renames = [edit for edits in readings for edit in edits if edit.kind.startswith("rename")]
    return all(edit.new in written for edit in renames) if renames else bool(task.definitions)


def _readings(task: TaskMentions) -> _Found:
    """What each reader finds in a task by its kind, nothing where the task asks for more than that."""
    asked = [reader for reader, kind, _ in _READERS if task.intent in ("", kind)]
    found = {reader: readings for reader in asked if (readings := list(reader(task)))}
    if rename_readings in found and _RENAMING.search(task.words):  # what else is said are its consequences
        found = {rename_readings: found[rename_readings]}
    if misspelt_use_readings in found:  # the wrong spelling is no new name
        found = {misspelt_use_readings: found[misspelt_use_readings]}
    if required_readings in found:  # what else would be said of its default
        found.pop(default_readings, None)
    told: _Found = {}
    for reader, kind, verbs in _READERS:
        if reader in found:
            told[kind if kind != OTHER else reader.__name__] = [] if _asks_for_more(task, verbs) else found[reader]
    return told


def _certain_of(chances: Mapping[str, float], told: Sequence[str]) -> str:
    """Which of several kinds of edit a task certainly means, '' where it may mean two of them: one alone would be half
    of what is asked for."""
    best = max(told, key=lambda kind: chances.get(kind, 0.0))
    others = max((chances.get(kind, 0.0) for kind in told if kind != best), default=0.0)
    chance = chances.get(best, 0.0)
    return best if len(told) > 1 and chance >= _CERTAIN and chance >= _TIMES_LIKELIER * others else ""


def _likeliest(chances: Mapping[str, float]) -> str:
    """The kind of edit that a task's words ask for, '' for none of those that there are readers for."""
    best = max((kind for kind in chances if kind != OTHER), key=lambda kind: chances[kind])
    return best if chances[best] >= max(_LEAST_CHANCE, _TIMES_OTHER * chances[OTHER]) else ""


def _asks_for_more(task: TaskMentions, own: str) -> bool:
    """Whether a task wants more than what some verbs ask for, or sets a condition.

    Args:
        task: with its mentions.
        own: a pattern of the verbs, '' for none.
    """
    further = (m["what"] for m in _FURTHER.finditer(task.words) if not own or not re.fullmatch(own, m["verb"]))
    named = {m.sentence for m in (*task.definitions, *task.unknown)}
    after = (task.sentence(n) for n in named if n > 0 and _AFTERWARDS.search(task.sentence(n)))
    conditions = _CONDITION.search(_NO_ALIAS.sub("", task.words)) is not None
    return conditions or any(not _FOLLOWS.search(text) for text in (*further, *after))
