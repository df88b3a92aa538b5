"""Which computed answer a question asks for: told by a key word and by the names in it that the repository has. English
and French; pure. What isn't told so plainly is left to the evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

FormKind = Literal["callers", "callees", "references", "subclasses", "bases", "value", "history", "run", "dependency"]

LONGEST, SHORT = 24, 6
"""Words. A longer text is more than one plain question; in a short one an ordinary word may be a name."""
_WORD = re.compile(r"`[^`\n]+`|[@\w$][\w$.:#/-]*[\w!?]|\w")
_CALL = re.compile(r"\b(?:call(?:s|ed|ers?|ees?|ing)?|invoke[sd]?|appel\w+|invoqu\w+)\b", re.I)
_INHERIT = re.compile(
    r"\b(?:sub-?class\w*|inherit\w*|extends?|implement\w*|derive[sd]?|base class\w*|parent class\w*|"
    r"sous-classes?|hérite\w*|étend\w*|implément\w*|classes? (?:de base|mère)s?)\b",
    re.I,
)
_UPWARDS = re.compile(r"base|parent|mère", re.I)
_PASSIVE = re.compile(r"ed$|ée?s?$", re.I)
_KEYS: tuple[tuple[FormKind, re.Pattern[str]], ...] = (
    ("value", re.compile(r"\b(?:default|value|défaut|valeur|vaut)\b", re.I)),
    ("references", re.compile(r"\b(?:used|uses|usages?|references?|referenced|utilis\w+|références?)\b", re.I)),
    (
        "dependency",
        re.compile(
            r"\bdependenc\w+|\bdépendances?\b|\blicen[cs]e\b|\b(?:which|what|minimum|quelles?)\b.{0,24}\bversions?\b",
            re.I,
        ),
    ),
    (
        "run",
        re.compile(
            r"^\W*(?:how|what|which|comment|quel\w*|que)\b.*\b(?:run|start\w*|execut\w*|launch\w*|type|commands?|"
            r"install\w*|build|built|compil\w*|lint|lanc\w+|exécut\w+|démarr\w+|construi\w+|commandes?)\b",
            re.I,
        ),
    ),
)
_HISTORY = re.compile(
    r"\b(?:when|who|since|last|which (?:commit|release|version)|history|quand|qui|depuis|derni\w+|"
    r"quelle version|historique)\b",
    re.I,
)
_CHANGED = re.compile(
    r"\b(?:add|introduc|remov|drop|chang|wr[io]t|fix|renam|creat|commit|modif|author|history|ajout|introdui|supprim|"
    r"écri|corrig|cré|historique)\w*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Form:
    """What a question asks. `names` are those in it that the repository has, in order."""

    kind: FormKind
    names: tuple[str, ...] = ()


def recognise(question: str, is_known: Callable[[str, bool], bool]) -> Form | None:
    """Read what a question asks.

    Args:
        question: as the user asked it.
        is_known: whether the repository has a name; True for one that is written like code.

    Returns:
        The form; None where no key word and name tell one.
    """
    if len(question.split()) > LONGEST:
        return None
    names = names_in(question, is_known)
    said = question
    for name in (each for each in names if not each.isalpha()):  # `Command.run` says neither "command" nor "run"
        said = said.replace(name, "\0" * len(name))
    if form := _relation(question, said, names):
        return form
    if _HISTORY.search(said) and _CHANGED.search(said):
        return Form("history", names)
    return next(
        (
            Form(kind, names)
            for kind, pattern in _KEYS
            if pattern.search(said) and (names or kind not in ("value", "references"))
        ),
        None,
    )


def names_in(question: str, is_known: Callable[[str, bool], bool]) -> tuple[str, ...]:
    """The names in a question that the repository has, each once: those written like code, else, in a short question,
    ordinary words."""
    written = list(dict.fromkeys(match[0] for match in _WORD.finditer(question)))
    coded = [word for word in written if is_coded(word)]
    found = _known(coded, is_known)
    if found or len(question.split()) > SHORT:
        return found
    stop = STOP_EN | STOP_FR
    return _known([word for word in written if word.lower() not in stop and not _is_key(word)], is_known)


def _known(words: Sequence[str], is_known: Callable[[str, bool], bool]) -> tuple[str, ...]:
    plain = ((word, word.strip("`").lstrip("@").removesuffix("()").rstrip("?!.:")) for word in words)
    return tuple(dict.fromkeys(name for word, name in plain if name and is_known(name, is_coded(word))))


def is_coded(word: str) -> bool:
    """Whether a word is written like code, and is no ordinary word at the end of a sentence."""
    plain = word.rstrip("?!.:")
    return not (plain.isalpha() and plain.islower())


def _is_key(word: str) -> bool:
    return any(p.fullmatch(word) for p in (_CALL, _INHERIT, _CHANGED, _HISTORY, *(p for _, p in _KEYS)))


def _relation(question: str, said: str, names: tuple[str, ...]) -> Form | None:
    """Who stands in a relation to the one name: told by the verb's form and by which of the two comes first. `said` is
    the question without its names."""
    if len(names) != 1:
        return None
    at = question.find(names[0])
    if found := _CALL.search(said):
        verb = found[0].lower()
        by_name = re.search(rf"\b(?:by|par)\W+(?:\w+\W+)?{re.escape(names[0])}", question) is not None
        if verb.startswith(("caller", "callee")):
            return Form("callers" if verb.startswith("caller") else "callees", names)
        passive = _PASSIVE.search(verb) is not None
        inwards = not by_name if passive else at > found.start()
        return Form("callers" if inwards else "callees", names)
    if found := _INHERIT.search(said):
        upwards = _UPWARDS.search(found[0]) is not None or at < found.start()
        return Form("bases" if upwards else "subclasses", names)
    return None
