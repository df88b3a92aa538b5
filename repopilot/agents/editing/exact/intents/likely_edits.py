"""Chooses among what a task may ask for by what of it can be carried out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.intents.additions import default_readings, entry_readings, export_readings
from repopilot.agents.editing.exact.intents.classifier import OTHER, intent_chances, words_of
from repopilot.agents.editing.exact.intents.exchanges import exchange_readings
from repopilot.agents.editing.exact.intents.moves import move_readings
from repopilot.agents.editing.exact.intents.parameters import keyword_readings, order_readings, required_readings
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
_LEAST_CHANCE, _TIMES_OTHER = 0.45, 2.0
_Reader = Callable[[TaskMentions], Iterator[list[ExactTask]]]
_ADD = r"add|create|implement|write|introduce|document|mention|keep an alias|ajout\w+|cree\w*|documente\w*"
_REMOVE = r"remove|delete|drop|supprim\w+|retir\w+|enlev\w+"
_READERS = (
    (keyword_readings, ""),
    (order_readings, ""),
    (required_readings, ""),
    (rename_readings, ""),
    (move_readings, ""),
    (parameter_removal_readings, _REMOVE),
    (import_removal_readings, _REMOVE),
    (deletion_readings, _REMOVE),
    (export_readings, _ADD),
    (entry_readings, _ADD),
    (default_readings, ""),
    (exchange_readings, ""),
)
"""The readers, each with the verbs that may ask for what it reads."""
_RENAMING = re.compile(r"\b(?:re-?name|renomme\w*)\b")
_FURTHER = re.compile(
    r"(?:^|[.;:!?]\s+|,\s+|\b(?:and|then|also|et|puis|aussi)\s+)(?:please\s+|also\s+|then\s+|aussi\s+)*"
    rf"(?P<verb>{_ADD}|{_REMOVE}|raise|return|log|warn|deprecate|bump|leve\w*)\s+(?P<what>[^.;,]*)"
)
"""Another thing that is asked for."""
_CONDITION = re.compile(
    r"\b(?:alias\w*|deprecat\w*|except|unless|(?<![-\w])(?<!keyword )(?<!by name )only (?:in|for|where|when)|but not|"
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


def likely_edits(task: str, sources: Sources) -> list[list[ExactTask]]:
    """What a task may ask for, likeliest first.

    Args:
        task: on one line.
        sources: the files.

    Returns:
        Readings; each is all the edits that it takes.
    """
    if len(task) > _LONGEST or "\n" in task.strip():
        return []
    mentions = mentions_of(task, sources)
    told = _readings(mentions)
    if told:  # of two intents, one alone would be half of what is asked for
        return next(iter(told.values())) if len(told) == 1 else []
    intent = _intent(mentions)
    asked = _readings(replace(mentions, intent=intent)) if intent else {}
    return next(iter(asked.values())) if len(asked) == 1 else []


def _readings(task: TaskMentions) -> dict[_Reader, list[list[ExactTask]]]:
    """What each reader finds in a task, where that is all that the task asks for."""
    found = {reader: (readings, own) for reader, own in _READERS if (readings := list(reader(task)))}
    if rename_readings in found and _RENAMING.search(task.words):  # what else is said are its consequences
        found = {rename_readings: found[rename_readings]}
    return {reader: ([] if _asks_for_more(task, own) else readings) for reader, (readings, own) in found.items()}


def _intent(task: TaskMentions) -> str:
    """The kind of edit that a task's words most likely ask for, '' for none of those that there are readers for."""
    chances = intent_chances(words_of(parts_of(task)))
    best = max(chances, key=lambda kind: chances[kind])
    likely = chances[best] >= _LEAST_CHANCE and chances[best] >= _TIMES_OTHER * chances[OTHER]
    return best if likely and best != OTHER else ""


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
