"""Recognises questions for a complete list: options, commands, environment variables, routes, members. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ListKind = Literal["options", "commands", "environment", "routes", "members"]


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """What a list is asked of. `single`: one thing of the kind is asked for ("which option turns colours off?");
    `noun` is the word for the things."""

    kind: ListKind
    single: bool = False
    noun: str = ""


_ASK = (
    r"(?:which|what)(?: are)?(?: all)?(?: of)?(?: the| other| different| possible| valid| available| supported|"
    r" allowed| accepted|"
    r" known| existing| built-?in| predefined| (?:two|three|four|five|six|seven|eight|nine|ten|\d+))*|"
    r"^\W*(?:list|show|name|enumerate|give)(?: me)?(?: all)?(?: of)?(?: the)?(?: possible| valid| available|"
    r" supported| allowed)*|"
    r"quell?e?s?(?: sont)?(?: tou(?:te)?s)?(?: les| autres| différent(?:e)?s| possibles)*|(?:liste[rz]?|"
    r"donne[rz]?(?:-moi)?|énumère[rz]?)(?: tou(?:te)?s)?(?: les)?"
)
_OPTIONS = (
    r"(?:(?:command[- ]?line|cli|build|cmake|compile|configure|short|long|boolean) )*(?:options|flags|switches|"
    r"arguments)"
    r"(?: de (?:la )?(?:ligne de commande|compilation|construction|build))?"
)
_OPTION = (
    r"(?:(?:command[- ]?line|cli|build|cmake|compile|configure) )*(?:option|flag|switch|"
    r"argument)\b(?: de (?:la )?(?:ligne de commande|compilation|construction|build))?"
)
_KINDS: tuple[tuple[ListKind, bool, str], ...] = (
    ("environment", False, r"(?:environment(?:al)? variables|env(?:ironment)? ?vars?|variables? d['’]environnement)"),
    ("environment", True, r"(?:environment(?:al)? variable|env(?:ironment)? ?var)"),
    (
        "routes",
        False,
        r"(?:(?:http|rest|api|url|web) )*(?:routes|endpoints|urls)|points? d['’](?:entrée|accès) (?:http|rest|api)",
    ),
    ("options", False, _OPTIONS),
    ("options", True, _OPTION),
    ("commands", False, r"(?:sub-?commands|(?:(?:cli|command[- ]?line) )?commands|(?:sous-)?commandes)"),
    ("members", False, r"(?P<adjectives>(?:[\w/-]+ ){0,3}?)(?P<noun>[a-zà-ÿ-]+s|data|media|criteria|modalités)"),
)
_LIST = [
    (kind, single, re.compile(rf"(?<!\w)(?:{_ASK})\s+(?P<things>{things})\b", re.I)) for kind, single, things in _KINDS
]
_NO_MEMBERS = frozenset(
    """class classes function functions method methods file files test tests module modules error errors exception
    exceptions line lines commit commits package packages library libraries dependency dependencies crate crates
    gem gems version versions release releases is was does has this process access parameters parameter
    arguments attributes fields variables things places parts steps conditions cases happens calls uses checks
    raises returns helpers callers subclasses reasons changes developers contributors people users vers sous
    sans dans dépendances bibliothèques paquets fichiers fonctions méthodes erreurs fois mots circumstances
    problems consequences differences signs rules effects results bytes seconds""".split()
)
"""Nouns that other forms of questions ask for, or that name no set."""
_ALL_OF_THEM = re.compile(
    r"\b(?:(?:complete|full|entire|exhaustive) list|all of them|(?:list|name|give me|tell me|show) (?:them )?all"
    r"|every one of them|liste complète|(?:tous|toutes) les|les (?:lister|citer|donner) tou(?:te)?s)\b",
    re.I,
)
_SEVERAL = re.compile(
    r"(?<!\w)(?:which|what)(?: other| different)?\s+(?:(?!of\b)[\w/-]+ )??(?P<noun>[a-zà-ÿ-]+s)\s+"
    r"(?:are|were|do|does|did|can|could|may|might|will|would|should|must|shall|have|has|exist)\b"
    r"|(?<!\w)quel(?:le)?s(?: autres| différente?s)?\s+(?:[\w/-]+ )??(?P<nom>[a-zà-ÿ-]+s)\b",
    re.I,
)
_ENDS = re.compile(r"(?:ss|us|is|ous)$")
_TAKES = re.compile(
    r"\b(?:can|may|could|are|do|does|supports?|accepts?|allows?|exists?|understands?|knows?|recogni[sz]es?|"
    r"takes?|offers?|defines?|"
    r"provides?|available|supported|allowed|possible|valid|there|handles?|peut|peuvent|puis-je|sont|"
    r"existe(?:nt)?|accepte(?:nt)?|"
    r"reconnaît|comprend|propose|prend|définit|gère|y a-t-il|disponibles?|possibles?|pris(?:es)? en charge)\b",
    re.I,
)
FORM_WORDS = re.compile(
    r"\b(?:which|what|list|show|name|give|me|all|possible|valid|available|supports?|supported|allowed|accepts?|"
    r"accepted|known|different|can|need|complete|"
    r"options?|flags?|switch(?:es)?|command|line|commands?|subcommands?|environment|env|variables?|vars?|"
    r"routes?|endpoints?|urls?|turn(?:s|ed)?|"
    r"exists?|takes?|understands?|reads?|there|quell?e?s?|liste\w*|toutes|tous|environnement|commandes?|ligne|"
    r"existe(?:nt)?|lues?|prend|"
    r"accepte|programme?|program|tool|cli|two|three|four|five|six|seven|eight)\b",
    re.I,
)
"""The words that only say that a list of these kinds is asked for."""
MEMBER_WORDS = re.compile(
    r"\b(?:which|what|list|show|name|give|me|all|possible|valid|available|supports?|supported|allowed|accepts?|"
    r"accepted|known|different|can|need|"
    r"complete|exists?|understands?|there|quell?e?s?|liste\w*|toutes|tous|two|three|four|five|six|seven|eight|"
    r"kinds?|sorts?|put|plug|own|"
    r"existe(?:nt)?|accepte|sont|possibles?|built-?in|come)\b",
    re.I,
)
"""The same for the members of a set, whose noun says which set."""


def list_question(question: str) -> ListQuestion | None:
    """Read which list a question asks for; None where it asks for none."""
    for kind, single, pattern in _LIST:
        found = pattern.search(question)
        if found is None:
            continue
        if kind == "members" and not _is_members(found, question):
            return None
        return ListQuestion(kind, single, (found["noun"] if kind == "members" else found["things"]).lower())
    return None


def asks_for_several(question: str) -> bool:
    """Whether a question asks for several things, though it may not be plain of what they are members."""
    if list_question(question) is not None or _ALL_OF_THEM.search(question):
        return True
    found = _SEVERAL.search(question)
    noun = (found["noun"] or found["nom"]).lower() if found else ""
    return len(noun) >= 4 and noun not in _NO_MEMBERS and not _ENDS.search(noun)


def _is_members(found: re.Match[str], question: str) -> bool:
    noun = found["noun"].lower()
    words = {noun, *found["adjectives"].lower().split()}
    if words & _NO_MEMBERS or _ENDS.search(noun) or len(noun) < 4 or question[: found.start()].count(" ") > 6:
        return False
    return (
        _TAKES.search(question[found.end() :]) is not None
        or re.match(r"\W*(?:list|name|liste|énum|donne)", question, re.I) is not None
    )
