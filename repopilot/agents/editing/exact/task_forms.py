"""The forms, in English and French, in which developers ask for edits whose text is all in the task. Pure.

A task must be of such a form as a whole: a clause that isn't understood makes it none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

QUOTES = {"`": "`", "'": "'", '"': '"', "“": "”", "«": "»", "‘": "’"}
_NAME = r"`[^`]+`|\"[^\"]+\"|'[^']+'|“[^”]+”|«[^»]+»|‘[^’]+’|[^\s`\"',;]+"
"""A name or path, quoted or not."""
WHATS = {
    "function": "function fonction func fn def",
    "method": "method méthode methode",
    "class": "class classe struct interface trait exception error erreur",
    "constant": "constant constante const",
    "variable": "variable var local",
    "parameter": "parameter paramètre parametre param argument arg keyword option",
    "attribute": "attribute attribut field champ property propriété propriete",
    "member": "member membre",
    "enum": "enum enumeration énumération enumération",
    "module": "module package paquet",
    "file": "file fichier",
    "key": "key clé cle setting réglage entry entrée",
    "dict": "dict dictionary dictionnaire map mapping table",
    "list": "list liste array tableau tuple set",
    "symbol": "symbol symbole type alias",
}
_WHAT_OF = {word: what for what, words in WHATS.items() for word in words.split()}
_WHAT = r"(?:" + "|".join(sorted(_WHAT_OF, key=len, reverse=True)) + r")s?"
_THE = r"(?:(?:the|a|an|this|that|le|la|les|un|une|ce|cette)\s+|l['’])?"
_PREP = r"(?:in|of|from|within|inside|on|for|dans|de|du|des|sur|pour|d['’]|au|à)"
PLACE = (
    rf"(?:\s*,?\s+{_PREP}\s*(?<=[\s'’]){_THE}(?:(?:enum\s+)?(?:{_WHAT})\s+)?(?:{_NAME})(?:['’]s)?(?:\s+(?:{_WHAT}))?)"
)
_PLACE_PART = re.compile(
    rf"{_PREP}\s*(?<=[\s'’]){_THE}(?:(?:enum\s+)?(?P<before>{_WHAT})\s+)?(?P<name>{_NAME})(?:\s+(?P<after>{_WHAT}))?",
    re.I,
)
_POLITE = re.compile(
    r"^\W*(?:(?:please|pls|can you|could you|would you|will you|i want (?:you )?to|i['’]d like (?:you )?to|"
    r"i would like (?:you )?to|let['’]s|we should|we need to|you should|now|then|also|kindly|just|peux-tu|peut-on|"
    r"pourrais-tu|pouvez-vous|pourriez-vous|il faut|il faudrait|je veux|je voudrais|j['’]aimerais|merci de|veuillez|"
    r"stp|svp|s['’]il (?:te|vous) pla[iî]t)[\s,:]+)+",
    re.I,
)
_CONVENTIONAL = re.compile(r"^(?:feat|fix|chore|refactor|docs?|style|perf|build|ci|test)(?:\([^)]*\))?!?:\s+", re.I)
_THANKS = re.compile(
    r"[\s,]*(?:\b(?:please|thanks|thank you|merci|stp|svp|s['’]il (?:te|vous) pla[iî]t))?\s*[.!?]*\s*$", re.I
)
_EVERYWHERE = re.compile(
    r"[\s,]*(?:\(?(?:and|with|including|plus|along with|et|avec|y compris)\s+(?:also\s+)?(?:update\s+|fix\s+|adjust\s+|"
    r"change\s+|adapte[rz]?\s+|mets? à jour\s+|mettre à jour\s+)?(?:all\s+|toutes\s+|tous\s+)?(?:of\s+)?(?:its|the|"
    r"their|ses|les|leurs|sa|son)?\s*(?:references|usages|uses|callers|imports?|importers|call sites|"
    r"callers['’] keyword arguments|keyword arguments|occurrences|références|appels|appelants|utilisations)"
    r"(?:\s+(?:of it|to it|accordingly|too|as well|everywhere|aussi))?\)?|"
    r"\b(?:everywhere|throughout(?: the (?:repo|repository|code|codebase|project))?|across the (?:repo|repository|code|"
    r"codebase|project)|in the (?:whole|entire) (?:repo|repository|codebase|project)|partout(?: dans le (?:code|"
    r"dépôt|projet))?|dans tout le (?:code|dépôt|projet)))\s*$",
    re.I,
)
_ALSO = re.compile(
    r"\s*,?\s*(?:(?:and\s+)?also|too|and|as well as|aussi|et)\s+(?:in|dans)\s+(?:the\s+|les?\s+|la\s+)?"
    r"(?:docs?|documentation|stubs?|tests?|changelog|examples?|exemples?)"
    r"(?:(?:,|\s+and|\s+et)\s+(?:in\s+|dans\s+)?(?:the\s+|les?\s+|la\s+)?(?:docs?|documentation|stubs?|tests?|examples?))*\s*$",
    re.I,
)
_REASON = re.compile(
    r"\s*(?:,|;|:|\s[-–—]|\()\s*(?:as |because |since |we |it['’]s |it is |nothing |nobody |no one |that['’]s |they |"
    r"which |car |parce que |puisque |on ne |rien ne |personne |plus rien )[^.;]*\)?$",
    re.I,
)
_IN_FRONT = re.compile(rf"(?P<place>(?:in|dans)\s+{_THE}(?:(?:{_WHAT})\s+)?(?:{_NAME}))\s*[,:]\s*(?P<rest>.+)", re.I)
_MENTION = re.compile(r"(?:^|\s)@([^\s`'\",;]+:[\w$.]+|[^\s`'\",;:]+\.\w+)(?=\s|[.,;]?$)")


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place that a task names: what it says it is ('' for nothing) and its name or path as written."""

    name: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class ExactTask:
    """A task that code can carry out.

    Attributes:
        kind: what to do, for example rename or set_value.
        name: what it is done to, without quotes.
        what: what the task says that is: a key of WHATS, or ''.
        new: the new name, value or text, as written.
        old: the value or text that is expected there, '' where the task doesn't say.
        places: where it is, from the task's words.
        mention: `path:Symbol` where the task mentions it with an @.
    """

    kind: str
    name: str
    what: str = ""
    new: str = ""
    old: str = ""
    places: tuple[NamedPlace, ...] = ()
    mention: str = ""
    extra: dict[str, str] = field(default_factory=dict)


def bare(text: str) -> str:
    """A text without the quotes around it."""
    text = text.strip()
    while len(text) > 1 and QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def unticked(text: str) -> str:
    """A text without the backticks around it; other quotes belong to it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "`" else text


def is_quoted(text: str) -> bool:
    """Whether a text is in quotes or backticks."""
    return len(text) > 1 and QUOTES.get(text[0]) == text[-1]


def what_of(word: str | None) -> str:
    """The kind of thing that a word says something is."""
    word = (word or "").lower()
    return _WHAT_OF.get(word) or _WHAT_OF.get(word.removesuffix("s"), "")


def places_of(text: str | None) -> tuple[NamedPlace, ...]:
    """The places that a part of a task names: `in f of x.py`."""
    found = []
    for match in _PLACE_PART.finditer(text or ""):
        found.append(NamedPlace(bare(match["name"]).removesuffix("()"), what_of(match["before"] or match["after"])))
    return tuple(found)


def plain(task: str) -> tuple[str, str]:
    """A task without politeness and end mark, and the place it mentions apart from that ('' for none)."""
    text = " ".join(task.split()) if "\n" not in task.strip() else task.strip()
    text = _THANKS.sub("", _POLITE.sub("", _CONVENTIONAL.sub("", text)))
    text = re.sub(r"\s\((?:in\s+)?@([^\s()]+)\)", r" in \1", text)
    front = _IN_FRONT.fullmatch(text)
    if front is not None:
        text = f"{front['rest']} {front['place']}"
    mentions = _MENTION.findall(text)
    if len(mentions) == 1:
        without = _MENTION.sub(" ", text).strip(" ,.")
        if not re.search(r"\b(?:in|of|rename|to|from|set|delete|remove|move|dans|de|renomme\w*)$", without, re.I):
            before = text[: text.index("@" + mentions[0])].rstrip()
            if not re.search(
                r"(?:^|\b)(?:in|of|from|rename|set|delete|remove|move|change|to|add|dans|de)$", before, re.I
            ):
                return " ".join(without.split()), mentions[0]
    return text, ""


_RENAME = re.compile(
    rf"(?:re-?name|renomme[rz]?)\s+{_THE}(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*)\s*"
    rf"(?:\bto\b|\binto\b|\bas\b|->|=>|→|\ben\b|\bpar\b|\bvers\b)\s*(?P<new>{_NAME})(?P<more>(?:{PLACE})*)",
    re.I,
)
_CALLED = re.compile(
    rf"{_THE}(?P<what>{_WHAT})\s+(?P<name>{_NAME})(?P<places>(?:{PLACE})*)\s+(?:should|must|doit|devrait)\s+"
    rf"(?:be\s+(?:called|named|renamed\s+to|renamed)|s['’]appeler|être\s+renommée?\s+en)\s+(?P<new>{_NAME})"
    rf"(?P<more>(?:{PLACE})*)",
    re.I,
)
_SET_VERB = (
    r"(?:set|change|update|raise|increase|lower|decrease|reduce|bump|make|switch|adjust|put|turn|modify|mets|met|mettre|"
    r"mettez|change[rz]?|passe[rz]?|fixe[rz]?|augmente[rz]?|diminue[rz]?|réduis|réduire|baisse[rz]?|remplace[rz]?|modifie[rz]?)"
)
_VALUE_OF = r"(?:(?:value|valeur)\s+(?:of|for|de|du|d['’])\s*)?"
_TO = r"(?:\bto\b(?:\s+be)?|\binto\b|\bas\b|=|->|=>|→|\bà\b|\ben\b|\bpar\b|\bsur\b)"
_SET = re.compile(
    rf"{_SET_VERB}\s+{_THE}{_VALUE_OF}{_THE}(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*?)"
    rf"(?:\s+(?:from|de)\s+(?P<old>{_NAME}))?\s*{_TO}\s*(?P<new>.+?)(?P<more>(?:{PLACE})*)",
    re.I,
)
_DEFAULT = re.compile(
    rf"{_SET_VERB}\s+{_THE}(?:default(?:\s+value)?|valeur\s+par\s+défaut)\s+(?:of\s+|for\s+|de\s+|du\s+|d['’])?{_THE}"
    rf"(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?:\s+(?:{_WHAT}))?(?P<places>(?:{PLACE})*?)"
    rf"(?:\s+(?:from|de)\s+(?P<old>{_NAME}))?\s*{_TO}\s*(?P<new>.+?)(?P<more>(?:{PLACE})*)",
    re.I,
)
_DEFAULT_TO = re.compile(
    rf"(?:make|have|let)\s+{_THE}(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*?)\s+(?:default\s+to|"
    rf"be)\s+(?P<new>.+?)(?:\s+by\s+default)?(?P<more>(?:{PLACE})*)",
    re.I,
)
_SCALE = re.compile(
    rf"(?P<verb>double|triple|halve|divise[rz]?\s+par\s+deux|doubler?|tripler?)\s+{_THE}{_VALUE_OF}"
    rf"(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*)",
    re.I,
)
_BY = re.compile(
    rf"(?P<verb>increase|raise|increment|bump|decrease|lower|reduce|decrement|augmente[rz]?|diminue[rz]?|baisse[rz]?|multiply|"
    rf"multiplie[rz]?|divide|divise[rz]?)\s+{_THE}{_VALUE_OF}(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})"
    rf"(?P<places>(?:{PLACE})*?)\s+(?:by|de|par)\s+(?P<new>[\d._]+)(?P<more>(?:{PLACE})*)",
    re.I,
)


_QUOTED = r"`[^`]+`|\"[^\"]+\"|'(?:[^']|(?<=\w)'(?=\w))+'|“[^”]+”|«[^»]+»|‘[^’]+’"
_INTO = r"(?:\bto\b|\binto\b|\bin\b|\bà\b|\bau\b|\bdans\b|\ben\b)"
_OUT_OF = r"(?:\bfrom\b|\bin\b|\bof\b|\bde\b|\bdu\b|\bdes\b|\bdans\b)"
_ADD = r"(?:add|append|insert|register|put|include|ajoute[rz]?|insère|insérer|enregistre[rz]?)"
_REMOVE = r"(?:remove|delete|drop|get rid of|eliminate|supprime[rz]?|enlève|enlever|retire[rz]?|efface[rz]?)"
_ADD_MEMBER = re.compile(
    rf"{_ADD}\s+(?:(?:a|an|the|another|one|un|une|le|la)\s+)?(?:new\s+|nouveau\s+|nouvelle\s+)?"
    rf"(?:(?:enum(?:eration)?\s+)?(?P<what>member|membre|value|valeur|entry|entrée|item|element|élément|key|clé|option|field|"
    rf"champ|attribute|attribut|constant|constante|mapping|variant)\s+)?(?P<new>.+?)\s+{_INTO}\s+{_THE}"
    rf"(?:(?:enum\s+)?(?P<kind>{_WHAT})\s+)?(?P<name>{_NAME})(?:\s+(?:{_WHAT}))?(?P<places>(?:{PLACE})*)",
    re.I,
)
_WITH_VALUE = re.compile(
    rf"(?P<name>{_NAME})\s+(?:with|avec)\s+(?:the\s+|a\s+|la\s+)?(?:value|valeur)(?:\s+of)?\s+(?P<value>.+)", re.I
)
_IMPORT = r"`?(?:import|from)\s+[\w.]+(?:\s+import\s+\w+)?(?:\s+as\s+\w+)?`?"
_ADD_IMPORT = re.compile(
    rf"(?:{_ADD}\s+(?:an?\s+|the\s+|l['’]|un\s+|une\s+)?(?:(?P<statement>{_IMPORT})|"
    rf"import\s+(?:of|for|de)\s+(?P<name>{_NAME})|(?P<before>{_NAME})\s+import)|(?P<direct>{_IMPORT}))\s+{_INTO}\s+{_THE}(?:(?:{_WHAT})\s+)?(?P<path>{_NAME})",
    re.I,
)
_NOT_USED = r"(?:inutilisés?|inutiles?|not used|that (?:are|is) (?:not used|unused))"
_UNUSED_IMPORTS = re.compile(
    rf"(?:{_REMOVE}|clean(?:\s+up)?|nettoie[rz]?)\s+(?:all\s+|tous\s+)?(?:of\s+)?(?:the\s+|les\s+|l['’])?"
    rf"(?:unused\s+(?:imports?|import statements?)|imports?\s+{_NOT_USED})\s+{_OUT_OF}\s+{_THE}"
    rf"(?:(?:{_WHAT})\s+)?(?P<path>{_NAME})",
    re.I,
)
_REMOVE_IMPORT = re.compile(
    rf"{_REMOVE}\s+(?:the\s+|l['’])?(?:unused\s+)?(?:(?P<statement>`?(?:import|from)\s+[\w.]+(?:\s+import\s+\w+)?"
    rf"(?:\s+as\s+\w+)?`?)|(?:imports?\s+(?:(?:of|for|de|d['’])\s*)?(?P<name>{_NAME}))|(?P<before>{_NAME})\s+import)"
    rf"\s+{_OUT_OF}\s+{_THE}(?:(?:{_WHAT})\s+)?(?P<path>{_NAME})",
    re.I,
)
_UNUSED = r"(?:unused|dead|obsolete|unneeded|inutilisée?|inutile|morte?|obsolète)"
_DELETE = re.compile(
    rf"{_REMOVE}\s+{_THE}(?P<unused>{_UNUSED}\s+(?:code\s+)?)?(?:(?P<what>{_WHAT})\s+)?(?P<unused2>{_UNUSED}\s+)?"
    rf"(?P<name>{_NAME})(?:\s+(?P<after>{_WHAT}))?(?P<unused3>\s+{_UNUSED})?(?P<places>(?:{PLACE})*)",
    re.I,
)
_REMOVE_MEMBER = re.compile(
    rf"{_REMOVE}\s+{_THE}(?:(?P<what>entry|entrée|item|element|élément|key|clé|value|valeur|option|member|membre)\s+)?"
    rf"(?P<new>{_NAME})\s+{_OUT_OF}\s+{_THE}(?:(?P<kind>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*)",
    re.I,
)
_TEXT_KIND = (
    r"(?:(?:log(?:ging)?|error|exception|warning|help|info|debug|usage|user|assertion|journal|d['’]erreur|de log)\s+)*"
    r"(?:messages?|text|texte|string|chaîne|label|title|titre|heading|sentence|phrase|wording|comment|commentaire|docstring|"
    r"description|log|word|mot|typo)"
)
_REPLACE_TEXT = re.compile(
    rf"(?:replace|substitute|remplace[rz]?|swap)\s+(?:all\s+(?:the\s+)?(?:occurrences|instances)\s+of\s+|every\s+|"
    rf"toutes les occurrences de\s+)?(?:the\s+|le\s+|la\s+)?(?:(?P<kind>{_TEXT_KIND})\s+)?(?P<old>{_QUOTED})\s+"
    rf"(?:by|with|par|avec|->|=>|→)\s+(?P<new>{_QUOTED})(?P<places>(?:{PLACE})*)",
    re.I,
)
_BECOMES = r"(?:\bto\b|\binto\b|\ben\b|\bpar\b|\bby\b|\bwith\b|->|=>|→|should be|devrait être|\bà\b)"
_CHANGE_TEXT = re.compile(
    rf"(?:change|update|reword|edit|fix|correct|modify|corrige[rz]?|change[rz]?|modifie[rz]?)\s+{_THE}"
    rf"(?P<kind>{_TEXT_KIND})(?:\s+(?:in|of|dans|de)\s+{_THE}(?:(?:{_WHAT})\s+)?(?P<before>[\w./-]+))?\s*:?\s*"
    rf"(?:from\s+|de\s+)?(?P<old>{_QUOTED})(?P<middle>(?:{PLACE})*)\s*{_BECOMES}\s*(?P<new>{_QUOTED})"
    rf"(?P<places>(?:{PLACE})*)",
    re.I,
)


_SHOULD_READ = re.compile(
    rf"(?:in\s+)?(?P<path>[\w./-]+)\s*[:,]\s*(?P<old>{_QUOTED})\s+(?:should|must|doit|devrait)\s+(?:read|be|say|être|dire)\s+"
    rf"(?P<new>{_QUOTED})",
    re.I,
)
_PARAM_WORD = (
    r"(?:(?:optional|new|keyword|keyword-only|positional|unused|optionnel|facultatif|nommé|nouveau|nouvel|inutilisé)\s+)*"
    r"(?:parameter|argument|param|arg|kwarg|paramètre)(?:\s+(?:optionnel|facultatif|nommé|inutilisé))?"
)
_WITH_DEFAULT = (
    r"(?:,?\s*\(?(?:with|having|avec|and|that)\s+(?:a\s+|the\s+|la\s+|une\s+)?(?:default(?:\s+value)?|valeur\s+par\s+défaut|"
    r"defaults\s+to|defaulting\s+to)(?:\s+of|\s+de)?\s+(?P<default{n}>[^\s)]+)\)?|\s*,?\s*\(?(?:default(?:s|ing)?(?:\s+to|:|=)?\s+)"
    r"(?P<plain{n}>[^\s)]+)\)?)?"
)
_ADD_PARAMETER = re.compile(
    rf"{_ADD}\s+{_THE}(?:{_PARAM_WORD}\s+(?P<text>`[^`]+`|\S+?(?:\s*:\s*[^=`]+)?(?:\s*=\s*\S+)?)|"
    rf"(?P<text2>`[^`]+`|\S+)\s+{_PARAM_WORD}|(?P<text3>`[^`=]+=[^`]+`))"
    + _WITH_DEFAULT.replace("{n}", "1")
    + rf"\s+{_INTO}\s+{_THE}(?:(?P<what>{_WHAT})\s+)?(?P<name>{_NAME})(?P<places>(?:{PLACE})*)"
    + _WITH_DEFAULT.replace("{n}", "2"),
    re.I,
)
_REMOVE_PARAMETER = re.compile(
    rf"{_REMOVE}\s+{_THE}(?:{_PARAM_WORD}\s+(?P<name>{_NAME})|(?P<name2>{_NAME})\s+{_PARAM_WORD})\s+{_OUT_OF}\s+{_THE}"
    rf"(?:(?P<what>{_WHAT})\s+)?(?P<owner>{_NAME})(?P<places>(?:{PLACE})*)",
    re.I,
)


_VERSION_WORD = (
    rf"{_THE}(?:(?:package|project|library|current|our|du paquet|du projet)(?:['’]s)?\s+)?version(?:\s+number)?"
    r"(?:\s+(?:of (?:the )?(?:package|project|library)|du (?:paquet|projet)))?"
)
_BUMP = re.compile(
    rf"(?:bump|set|update|change|raise|increase|upgrade|passe[rz]?|mets|mettre|change[rz]?|monte[rz]?)\s+{_VERSION_WORD}"
    r"(?:\s+(?:from|de)\s+(?P<old>\S+))?\s+(?:to|à|en)\s+(?P<new>[`'\"]?v?\d+(?:\.\d+)+[\w.+-]*[`'\"]?)",
    re.I,
)
_BUMP_PART = re.compile(
    rf"(?:bump|increase|increment|raise)\s+{_THE}(?P<new>major|minor|patch)\s+version(?:\s+number)?", re.I
)


_ADJECTIVES = frozenset(
    "deprecated old extra unused first second third last optional legacy redundant unnecessary useless other same "
    "obsolète premier dernier inutile".split()
)


def task_forms(task: str) -> list[ExactTask]:
    """What a task may ask for, likeliest first; [] for none of the forms.

    Args:
        task: the task as the user wrote it.
    """
    text, mention = plain(task)
    if not text or "\n" in text or len(text) > 600:
        return []
    return [ExactTask(**{**vars_of(found), "mention": mention or found.mention}) for found in _forms(text)]


def vars_of(task: ExactTask) -> dict:
    """The fields of a task."""
    return {name: getattr(task, name) for name in ExactTask.__slots__}


def _forms(text: str) -> Iterator[ExactTask]:
    yield from _renames(_EVERYWHERE.sub("", _ALSO.sub("", text)))
    yield from _versions(text)
    yield from _imports(text)
    yield from _texts(text)
    yield from _parameters(_EVERYWHERE.sub("", text))
    yield from _members(text)
    yield from _deletions(_EVERYWHERE.sub("", _REASON.sub("", text)))
    yield from _values(text)


def _renames(text: str) -> Iterator[ExactTask]:
    match = _RENAME.fullmatch(text) or _CALLED.fullmatch(text)
    if match:
        places = (*places_of(match["places"]), *places_of(match["more"]))
        what = what_of(match["what"])
        kind = "rename_parameter" if what == "parameter" else "rename"
        name, new = bare(match["name"]), bare(match["new"])
        if what in ("file", "module") or re.search(r"\.[a-z]{1,4}$", name):
            yield ExactTask("rename_file", name, what, new, "", places)
        if what != "file":
            yield ExactTask(kind, name.removesuffix("()"), what, new.removesuffix("()"), "", places)


def _parameters(text: str) -> Iterator[ExactTask]:
    match = _ADD_PARAMETER.fullmatch(text)
    if match:
        new = unticked(match["text"] or match["text2"] or match["text3"])
        default = match["default1"] or match["plain1"] or match["default2"] or match["plain2"]
        if default and "=" not in new:
            new += f" = {unticked(default)}"
        places = (NamedPlace(bare(match["name"]), what_of(match["what"])), *places_of(match["places"]))
        yield ExactTask("add_parameter", new, "parameter", new, "", places)
    match = _REMOVE_PARAMETER.fullmatch(text)
    if match:
        places = (NamedPlace(bare(match["owner"]), what_of(match["what"])), *places_of(match["places"]))
        name = match["name"] or match["name2"]
        if match["name"] or name.lower() not in _ADJECTIVES:
            yield ExactTask("remove_parameter", bare(name), "parameter", "", "", places)


def _versions(text: str) -> Iterator[ExactTask]:
    match = _BUMP.fullmatch(text) or _BUMP_PART.fullmatch(text)
    if match:
        found = match.groupdict()
        yield ExactTask("bump_version", "version", "", bare(match["new"]), bare(found.get("old") or ""))


def _imports(text: str) -> Iterator[ExactTask]:
    match = _UNUSED_IMPORTS.fullmatch(text)
    if match:
        yield ExactTask("remove_unused_imports", "", places=(NamedPlace(bare(match["path"])),))
        return
    match = _ADD_IMPORT.fullmatch(text)
    if match:
        name = match["statement"] or match["name"] or match["before"] or match["direct"]
        yield ExactTask("add_import", bare(name), places=(NamedPlace(bare(match["path"])),))
    match = _REMOVE_IMPORT.fullmatch(text)
    if match:
        name = bare(match["statement"] or match["name"] or match["before"])
        yield ExactTask("remove_import", name, places=(NamedPlace(bare(match["path"])),))


def _texts(text: str) -> Iterator[ExactTask]:
    match = _REPLACE_TEXT.fullmatch(text)
    if match:
        kind = "change_message" if match["kind"] else "replace_text"
        yield ExactTask(kind, "", "", _inner(match["new"]), _inner(match["old"]), places_of(match["places"]))
    match = _SHOULD_READ.fullmatch(text)
    if match:
        places = (NamedPlace(bare(match["path"])),)
        yield ExactTask("replace_text", "", "", _inner(match["new"]), _inner(match["old"]), places)
    match = _CHANGE_TEXT.fullmatch(text)
    if match:
        before = (NamedPlace(match["before"]),) if match["before"] else ()
        places = (*before, *places_of(match["middle"]), *places_of(match["places"]))
        yield ExactTask("change_message", "", "", _inner(match["new"]), _inner(match["old"]), places)


def _inner(quoted: str) -> str:
    return quoted[1:-1].strip() if quoted[0] in "«“" else quoted[1:-1]


def _members(text: str) -> Iterator[ExactTask]:
    match = _ADD_MEMBER.fullmatch(text)
    if match:
        new = unticked(match["new"])
        valued = _WITH_VALUE.fullmatch(new)
        if valued:
            new = f"{bare(valued['name'])} = {unticked(valued['value'])}"
        what = "member" if (match["what"] or "").lower() in ("member", "membre", "variant") else what_of(match["kind"])
        yield ExactTask("add_member", bare(match["name"]), what, new, "", places_of(match["places"]))
    match = _REMOVE_MEMBER.fullmatch(text)
    if match and what_of(match["kind"]) not in ("file", "module", "class", "function", "method"):
        places = places_of(match["places"])
        yield ExactTask(
            "remove_member", bare(match["name"]), what_of(match["kind"]), unticked(match["new"]), "", places
        )


def _deletions(text: str) -> Iterator[ExactTask]:
    match = _DELETE.fullmatch(text)
    if match is None:
        return
    what = what_of(match["what"] or match["after"])
    quoted = is_quoted(match["name"]) or match["name"].endswith("()")
    unused = match["unused"] or match["unused2"] or match["unused3"]
    if what in ("file", "parameter", "module") or not (what or quoted or unused):
        return
    extra = {"unused": "yes"} if unused else {}
    yield ExactTask(
        "delete", bare(match["name"]).removesuffix("()"), what, "", "", places_of(match["places"]), extra=extra
    )


def _values(text: str) -> Iterator[ExactTask]:
    for form, kind in ((_DEFAULT, "set_default"), (_DEFAULT_TO, "set_default"), (_BY, "scale"), (_SET, "set_value")):
        match = form.fullmatch(text)
        if match is None:
            continue
        found = match.groupdict()
        places = (*places_of(match["places"]), *places_of(match["more"]))
        new = unticked(match["new"])
        extra = {"quoted": "yes"} if is_quoted(match["name"]) else {}
        if kind == "scale":
            extra |= {"by": _operator(match["verb"])}
        yield ExactTask(
            "set_value" if kind == "scale" else kind,
            bare(match["name"]),
            what_of(found.get("what")),
            new,
            unticked(found.get("old") or ""),
            places,
            extra=extra,
        )
    match = _SCALE.fullmatch(text)
    if match:
        by, new = _factor(match["verb"])
        yield ExactTask(
            "set_value", bare(match["name"]), what_of(match["what"]), new, "", places_of(match["places"]),
            extra={"by": by},
        )  # fmt: skip


def _operator(verb: str) -> str:
    verb = verb.lower()
    if verb.startswith("mult"):
        return "*"
    if verb.startswith("divi"):
        return "/"
    return "+" if verb.startswith(("incr", "rais", "bump", "augm")) else "-"


def _factor(verb: str) -> tuple[str, str]:
    verb = verb.lower()
    if verb.startswith("doubl"):
        return "*", "2"
    return ("*", "3") if verb.startswith("tripl") else ("/", "2")
