"""Reads tasks about an entry of lists that are described, not named: `add X to the supported Y`. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from repopilot.agents.editing.exact.wording.task_tokens import folded

_QUOTED = r"`[^`]+`|'[^'\s]+'|\"[^\"]+\"|«\s*[^»]+?\s*»"
_ITEM = rf"(?P<item>{_QUOTED}|(?-i:[A-Z][A-Z\d_]+)|\w+_\w+|[\w+#]*[-+#.][\w.+#-]*\w)"
_ONLY = re.compile(rf"(?<![\w`'\"]){_ITEM}(?![\w`'\"])")
_INTO = r"(?:to|in|into|on|among|amongst|à|aux?|dans|parmi)"
_ADD = r"(?:add|append|include|list|register|put|ajoute[rz]?|inclu[st]|mets?|liste[rz]?)"
_REMOVE = r"(?:remove|drop|delete|take|strike|retire[rz]?|enl[èe]ve[rz]?|supprime[rz]?|[ôo]te[rz]?)"
_TOO = r"(?:\s+(?:too|also|as well|aussi|également))?"
_MUST = r"(?:should|must)"
_FORMS = (
    ("add", re.compile(rf"{_ADD}\s+(?:also\s+|aussi\s+)?{_ITEM}{_TOO}\s+(?P<lists>{_INTO}\s.+)", re.I)),
    ("add", re.compile(rf"(?P<lists>.+?)\s+{_MUST}\s+(?:also\s+)?(?:include|contain|list)\s+{_ITEM}{_TOO}", re.I)),
    ("add", re.compile(rf"{_ITEM}\s+(?:is|was)\s+(?:missing|absent)\s+(?P<lists>(?:from|in|among)\s.+)", re.I)),
    (
        "add",
        re.compile(rf"{_ITEM}\s+(?:{_MUST}(?: also)? be (?:listed )?|belongs |manque )(?P<lists>{_INTO}\s.+)", re.I),
    ),
    ("remove", re.compile(rf"{_REMOVE}\s+{_ITEM}\s+(?P<lists>(?:from|out of|off|de|des|du)\s.+)", re.I)),
    ("remove", re.compile(rf"{_ITEM}\s+should\s+(?:no longer|not) be\s+(?P<lists>(?:among|in|on|one of)\s.+)", re.I)),
)
_MISSING = re.compile(
    rf"(?P<about>.*?\(?{_ITEM}\)?.*?)\s(?:is|are) missing\s*[:;,.–-]\s*(?:please )?(?:list|add|include) it\s"
    rf"(?P<lists>{_INTO}\s.+)",
    re.I,
)
_NEXT = re.compile(r"\s*(?:,\s*)?\b(?:and|et)\s+(?=(?:also\s+)?(?:to|among|amongst|on|in|aux?|à|dans|parmi)\s)", re.I)
_HEAD = re.compile(rf"^(?:also\s+)?(?:{_INTO}|from|out of|off|de|des|du|one of)\s+", re.I)
_HEAD_AGAIN = re.compile(r"^(?:(?:the|our|its|all|one of|la|le|les|nos|l['’])\s*)+", re.I)
GENERIC = frozenset(
    "a an the of that which we can are is be in to by for with from our all its as list lists tuple set sets array "
    "names name known supported accepted allowed recognized recognised valid handled available entries entry values "
    "value items ones things it this these those where they "
    "de des du la le les l d liste noms nom pris en charge connus connues valides aux a auxquelles auxquels lesquels "
    "lesquelles que qui on nous par pour sont est un une dont support supports gives".split()
)
_PARTS_OF_CODE = re.compile(
    r"\b(?:methods?|functions?|classe?s?|options?|parameters?|param\w*|arguments?|args|exports?|imports?|depend\w*|"
    r"changelog|history|readme|docs?|documentation|tests?|docstrings?|comments?|signature|api|package|module|members?|"
    r"attributes?|fields?|propert\w+|methodes?|fonctions?|champs?|proprietes?|paquet|unless|except|only|when|if|sauf|si|"
    r"but|so|then|instead|not|mais|bases?|parents?|superclasse?s?|error|message|file|fichier)\b"
)
_SUPPORTED = re.compile(r"\b(?:supported|accepted|allowed|known|valid|recogni[sz]ed)\s+(?:\w+\s+)?\w*s\b", re.I)
"""Says of parts of code that they are entries of a list: `the supported hash functions`."""
_MOST_WORDS = 9


class ListEdit(NamedTuple):
    """An entry that is added to described lists, or removed from one.

    Attributes:
        action: add or remove.
        item: the entry, without quotes.
        lists: for each list the words that describe it.
    """

    action: str
    item: str
    lists: tuple[tuple[str, ...], ...]


def list_edit(task: str) -> ListEdit | None:
    """What a task says about an entry of lists that it describes.

    Args:
        task: as the user wrote it, on one line.

    Returns:
        The entry and the descriptions; None for other tasks, and where the description may mean something else.
    """
    text = task.strip().rstrip(".!? ")
    for action, form in (*_FORMS, ("add", _MISSING)):
        match = form.fullmatch(text)
        if match is None or (form is _MISSING and len(_ONLY.findall(text)) != 1):
            continue
        written = match["item"]
        item = written.strip("`'\"«» ")
        lists = tuple(_words(part) for part in _NEXT.split(match["lists"]))
        of_code = _PARTS_OF_CODE.search(folded(match["lists"])) and not _SUPPORTED.search(match["lists"])
        if not item or not all(lists) or of_code:
            return None
        if action == "remove" and len(lists) > 1:
            return None
        certain = action == "remove" or written[0] in "'\"«" or not item.isidentifier()
        if certain or all(_is_plural(part) for part in _NEXT.split(match["lists"])):
            return ListEdit(action, item, lists)
        return None
    return None


def names_several_lists(task: str) -> bool:
    """Whether a task goes on to a further list: `list it on A and among B`.

    Args:
        task: on one line.
    """
    return _NEXT.search(task) is not None


def _is_plural(description: str) -> bool:
    """Whether a description is one of several things: a list of them."""
    said = _HEAD_AGAIN.sub("", _HEAD.sub("", description))
    plain = [word for word in re.findall(r"[a-zà-ÿ]+", said) if word not in ("is", "this", "des", "les", "aux")]
    return any(word in ("list", "liste", "set", "tuple") or word.endswith(("s", "x")) for word in plain)


def _words(description: str) -> tuple[str, ...]:
    """The telling words of a description; () where it has too many, or code besides."""
    said = _HEAD_AGAIN.sub("", _HEAD.sub("", description.strip()))
    if re.search(r"[`'\"«»(),:;=]", re.sub(r"(?<=\w)['’](?=\w)", " ", said)) or "/" in said:
        return ()
    words = re.findall(r"[\w-]+", re.sub(r"['’]", " ", said))
    telling = tuple(word for word in words if folded(word) not in GENERIC and not word.isdigit())
    return telling if len(words) <= _MOST_WORDS else ()
