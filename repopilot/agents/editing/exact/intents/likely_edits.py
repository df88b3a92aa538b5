"""Chooses among what a task may ask for by what of it can be carried out."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.intents.additions import default_readings, entry_readings, export_readings
from repopilot.agents.editing.exact.intents.exchanges import exchange_readings
from repopilot.agents.editing.exact.intents.moves import move_readings
from repopilot.agents.editing.exact.intents.parameters import keyword_readings, order_readings
from repopilot.agents.editing.exact.intents.removals import (
    deletion_readings,
    import_removal_readings,
    parameter_removal_readings,
)
from repopilot.agents.editing.exact.intents.renames import rename_readings
from repopilot.agents.editing.exact.intents.task_mentions import TaskMentions, mentions_of
from repopilot.agents.editing.exact.sources import Sources

_LONGEST = 600
"""Characters."""
_ADD = r"add|create|implement|write|introduce|document|mention|keep an alias|ajout\w+|cree\w*|documente\w*"
_REMOVE = r"remove|delete|drop|supprim\w+|retir\w+|enlev\w+"
_READERS = (
    (keyword_readings, ""),
    (order_readings, ""),
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
    readings = {reader: (found, own) for reader, own in _READERS if (found := list(reader(mentions)))}
    if rename_readings in readings and _RENAMING.search(mentions.words):  # what else is said are its consequences
        readings = {rename_readings: readings[rename_readings]}
    if len(readings) != 1:  # of two intents, one alone would be half of what is asked for
        return []
    found, own = readings.popitem()[1]
    return [] if _asks_for_more(mentions, own) else found


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
