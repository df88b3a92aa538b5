"""Reads a task: its goals, what is done to what, and the conditions the result must meet. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Verb = Literal["add", "enable", "change", "remove", "rename", "move", "fix"]

MOST_GOALS, MOST_POINTS = 5, 8

_VERBS: dict[Verb, str] = {
    "add": "add adds adding implement introduce support provide create write build expose new feat register define "
    "ajoute ajouter implémente implémenter crée créer écris écrire supporte supporter introduis introduire",
    "enable": "allow make let enable accept permets permettre accepte accepter rends rendre active activer",
    "remove": "remove drop delete supprime supprimer retire retirer enlève enlever",
    "rename": "rename renomme renommer",
    "move": "move extract split déplace déplacer extrais extraire",
    "fix": "fix correct repair prevent avoid handle corrige corriger répare réparer évite éviter",
}
_VERB_OF = {word: verb for verb, words in _VERBS.items() for word in words.split()}
_CONVENTIONAL = re.compile(r"^[^\S\n]*(?:feat|fix|perf|refactor|docs|chore|style|build|ci)(?:\([^)]*\))?!?:\s*", re.I)
_PLAN = re.compile(
    r"^\W*(?:plan|planifie[rz]?)(?:\s*:|\s+(?:how to|out|comment|the (?:work|steps|changes?) (?:to|for)))\s*", re.I
)
_POLITE = re.compile(r"^\W*(?:please|pls|can you|could you|i want to|we need to|let's|s'il te plaît|il faut)\s+", re.I)
_FILLER = re.compile(
    r"^(?:support (?:for|of|to)|the ability to|an? option to|la prise en charge (?:de|des|du))\s+", re.I
)
_ITEM = re.compile(r"^[^\S\n]*(?:[-*•]|\d+[.)])\s+(.+)$", re.M)
_THEN = re.compile(r"(?:,|;|\.)?\s*\b(?:and )?(?:then|after that|finally|at the end|puis|ensuite|enfin)\b,?\s*", re.I)
_FIRST = re.compile(r"^[^\S\n]*(?:first|d'abord)\b,?\s*", re.I)
_LINK = (
    r"(?:with|without|on|in|for|from|by|via|per|using|including|so that|such that|when|if|unless|but|only|as|at|"
    r"after|before|until|where|not|avec|sans|sur|en|dans|pour|par|quand|si|mais|seulement|sauf|afin)"
)
_BOUNDARY = re.compile(
    rf"\s*[,;]\s*(?:and |et )?(?=(?:{_LINK}|\w{{3,}}able)\b)|\s+(?:and|et|but|mais)\s+(?={_LINK}\b)|"
    r"\s*;\s*(?=\w+ (?:must|should|shall|doit|doivent)\b)",
    re.I,
)
_RELATIVE = re.compile(r"\s+(?:that|which|who|whose|qui|dont)\s", re.I)
_ATTACHED = re.compile(r"\s+(?=(?:with|without|including|avec|sans|so that|unless)\b)", re.I)
_LISTED = re.compile(r",\s*(?:and |et |or )?|;\s*|\s+(?:and|et)\s+")
_MUST = re.compile(
    r"\b(?:should|must|shall|never|always|at (?:most|least)|by default|"
    r"doit|doivent|jamais|toujours|au (?:plus|moins)|par défaut)\b",
    re.I,
)
_SHORT_TASK = 600
"""Characters of a task whose list items are conditions; those of a longer text rather tell a story."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Ý`])|\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)")
_PREPOSITION = re.compile(r"\s+(?:to|for|of|in|on|by|from|with|when|as|at|into|pour|de|du|à|dans|sur|par)\s", re.I)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*|\b(?:options?|flags?|switch(?:es)?)\b", re.I)
_WORD = re.compile(r"[^\W\d_][\w'-]*")


@dataclass(frozen=True, slots=True)
class Requirements:
    """A goal of a task.

    Attributes:
        goal: what is wanted, in the user's words, without the conditions.
        verb: what kind of change it is.
        topic: what is added or changed: the goal without its verb and without what explains it.
        points: conditions that the result must meet, to be checked when it is done.
        text: all of the task that is about this goal.
    """

    goal: str
    verb: Verb
    topic: str
    points: tuple[str, ...] = ()
    text: str = ""


def goals_of(task: str) -> tuple[Requirements, ...]:
    """The goals of a task: one for each item of a list of things to do or of "first … then …", else one.

    Args:
        task: as the user wrote it.

    Returns:
        At least one goal, at most MOST_GOALS.
    """
    task = wish_of(task)
    steps = _items(task) or _steps(task)
    if steps:
        return tuple(_requirements(step) for step in steps[:MOST_GOALS])
    return (_requirements(task),)


def wish_of(task: str) -> str:
    """A task without the words that ask for a plan of it."""
    return _PLAN.sub("", task, count=1).strip()


def kind_word(topic: str) -> str:
    """The word for what kind of thing a topic is: its last word before a preposition, in lower case; `option` for what
    is written like one; '' for none."""
    head = _PREPOSITION.split(topic)[0]
    if _OPTION.search(head):
        return "option"
    found = [w.lower() for w in _WORD.findall(re.sub(r"`[^`]*`", " ", head))]
    return found[-1].rstrip("s") if found else ""


def _items(task: str) -> list[str]:
    """The items of a list, where each says what to do; items without a verb are conditions."""
    items = [" ".join(item.split()) for item in _ITEM.findall(task)]
    return items if len(items) >= 2 and all(_verb(item) for item in items) else []


def _steps(task: str) -> list[str]:
    first = task.strip().partition("\n\n")[0]
    steps = [s.strip(" ,.;") for s in _THEN.split(_FIRST.sub("", first))]
    lead = steps[0].split(maxsplit=1)[0] if steps[0] and _verb(steps[0]) else ""
    steps = [s if _verb(s) or not lead else f"{lead} {s}" for s in steps]
    return steps if len(steps) >= 2 and all(_WORD.search(s) for s in steps) else []


def _requirements(text: str) -> Requirements:
    sentences = [" ".join(s.split()) for s in _SENTENCE.split(text.strip()) if s.strip()] or [""]
    head = _POLITE.sub("", _CONVENTIONAL.sub("", sentences[0])).strip(" .")
    goal, points = _split_head(head)
    listed = len(text) <= _SHORT_TASK
    points += [s for sentence in sentences[1:] if (s := _condition(sentence, listed))]
    verb = _verb(goal) or "change"
    words = goal.split(maxsplit=1)
    topic = words[1] if len(words) == 2 and _verb(goal) in ("add", "remove", "fix") else goal
    topic = _RELATIVE.split(_FILLER.sub("", topic))[0].strip()
    return Requirements(goal, verb, topic, tuple(dict.fromkeys(points))[:MOST_POINTS], text)


def _verb(text: str) -> Verb | None:
    first = _WORD.search(text)
    return _VERB_OF.get(first[0].lower()) if first and first.start() <= 2 else None


def _split_head(head: str) -> tuple[str, list[str]]:
    """The goal of a sentence, and its conditions."""
    before, colon, listed = head.partition(": ")
    if colon and len(before.split()) >= 2:
        return before, [p.strip(" .") for p in _LISTED.split(listed) if p.strip(" .")]
    goal, *rest = _BOUNDARY.split(head)
    if _verb(goal) == "add" and not _RELATIVE.search(goal) and (match := next(_late(_ATTACHED, goal), None)):
        goal, rest = goal[: match.start()], [goal[match.end() :], *rest]
    return goal.strip(" ,"), [p.strip(" ,.") for p in rest if p.strip(" ,.")]


def _late(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches behind at least three words."""
    return (m for m in pattern.finditer(text) if len(text[: m.start()].split()) >= 3)


def _condition(sentence: str, items: bool) -> str:
    """A further sentence as a condition, '' for one that only explains. `items`: those of a list are conditions."""
    bare = re.sub(r"^[^\S\n]*(?:[-*•]|\d+[.)])\s+", "", sentence).strip(" .")
    wanted = items if bare != sentence.strip(" .") else _MUST.search(bare) is not None
    return bare if wanted and bare and len(bare) <= 160 and not bare.endswith(":") and "://" not in bare else ""
