"""What a pronoun in a task stands for. Pure."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.wording.task_tokens import folded

_TAKES_IT_OUT = re.compile(
    r"\b(?:(?:remov|delet|drop|kill|strip|cut|bin|tak|throw)\w*|rid of) (?:it|them|that|this|those)\b|"
    r"\b(?:supprim|enlev|retir|efface|vire)\w*-(?:la|le|les)\b"
)
_NOT_NEEDED = re.compile(
    r"\b(?:un-?used|un-?needed|un-?necessary|needless|useless|dead|deprecat\w+|obsolete|legacy|left-?overs?|redundant|"
    r"superfluous|duplicat\w+|supersed\w+|replaced|no(?: one|body| longer| more| callers?| uses?| point| need)|nothing|"
    r"never|any ?more|can go|(?:not|\w+n't) (?:\w+ ){0,2}(?:used|uses?|need\w*|call\w*|referenced|import\w*)|"
    r"inutil\w*|mort\w*|obsolet\w*|vestige|perime\w*|superflu\w*|personne|jamais|rien|a rien|"
    r"plus (?:besoin|aucun\w*|utilis\w*|appel\w*|necessaire))\b"
)


def takes_out_something_else(task: str) -> bool:
    """Whether `take it out` is about what a definition does, not about the definition.

    A pronoun stands for a definition only where the task says that nobody needs it.

    Args:
        task: as the user wrote it.
    """
    words = folded(task)
    return _TAKES_IT_OUT.search(words) is not None and _NOT_NEEDED.search(words) is None
