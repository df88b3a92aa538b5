"""Writes a restated task as sentences that the rules of the wording read, each kind of thing in one of them. Pure.

The command says what is done to what; whether that is a parameter, an entry or an import is said by the task's words
or found out by the code: a sentence that doesn't fit the code is refused there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.agents.editing.restated.command_forms import Command
from repopilot.agents.editing.restated.pieces import bare

_CUES = {
    "decorator": r"@|\bdecor",
    "import": r"\bimport|\brequire\(",
    "default": r"\bdefaul|\bdefaut",
    "parameter": r"\bparam|\bargument|\bargs?\b|\bsignature|\bkeyword",
    "dependency": r"\bdepend|\bgroup|\bextra\b|\bdevdep|\binstall",
    "base": r"\bbase|\binherit|\bderiv|\bsubclass|\bextend|\bherit|\bparent|\bsuperclass",
    "export": r"\bre-?export|\bexport|__all__|\bexpose|\bpublic\b",
    "docstring": r"\bdocstring|\bdocument|\bdocumente",
    "version": r"\bversion|\brelease|\bbump",
    "type": r"\btype|\bannot|\bhint",
}
_NEGATED = re.compile(
    r"\b(?:not|no longer|never|stop\w*|without|no more|any ?more|hide|no point|plus|pas|sans|lose|unused|dead)\b|n't\b"
)
_REMOVING = re.compile(
    r"\b(?:remov\w+|delet\w+|drop\w*|get rid|kill|strip|strike|take \w+ (?:out|off|away)|uninstall|bin|throw|enlev\w+|"
    r"supprim\w+|retir\w+|vire\w*|minus|lose)\b"
)
_ADDING = re.compile(r"\b(?:add|append|include|register|ajout\w+|rajout\w+|also|aussi|as well|too)\b")


@dataclass(frozen=True, slots=True)
class _Parts:
    """The slots of a command, '' for those it doesn't have, and what the task's words say."""

    name: str
    new: str
    old: str
    place: str
    cues: frozenset[str]
    words: str

    def at(self, word: str = "in") -> str:
        """The place as the end of a sentence."""
        return f" {word} {_name(self.place)}" if self.place else ""


def sentences(command: Command, task: str, old: str = "", place: str = "") -> list[str]:
    """How the rules may read a command, likeliest first.

    Args:
        command: the command.
        task: that it restates.
        old: the value that the task gives beside the new one.
        place: a name or path that the task gives beside the command.

    Returns:
        Sentences in English; [] where the command contradicts the task.
    """
    slots: Mapping[str, str] = {"name": "", "new": "", "old": old, "place": place, **command.slots}
    words = folded(task)
    cues = frozenset(cue for cue, pattern in _CUES.items() if re.search(pattern, words))
    verb = command.form.partition(" ")[0]
    parts = _Parts(slots["name"], slots["new"], slots["old"], slots["place"], cues, words)
    if verb in ("add", "put", "derive") and _REMOVING.search(words):
        return []
    if (
        verb in ("remove", "delete")
        and not _REMOVING.search(words)
        and not _NEGATED.search(words)
        and _ADDING.search(words)
    ):
        return []
    if verb == "make":
        verb = command.form.split()[2]
    return list(dict.fromkeys(_VERBS[verb](parts)))


_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"vingt": "20", "trente": "30", "thirty": "30", "forty": "40", "fifty": "50"}
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|«[^»]*»|“[^”]*”")


def _value(text: str) -> str:
    """A value so that it is read as one."""
    text = _NUMBERS.get(text.lower(), text)
    text = re.sub(r"^(\d[\d_.]*)(?:s| ?seconds?| ?secs?)$", r"\1", text)
    return text if _QUOTED.fullmatch(text) or re.fullmatch(r"-?[\d._]+", text) else f"`{text}`"


def _bare(text: str) -> str:
    """A name without article, quotes, `()` and @."""
    return bare(re.sub(r"^(?:the|le|la|les) |^l'", "", text))


def _name(text: str) -> str:
    """A name or path so that it is read as one; a description as it is."""
    plain = _bare(text)
    return plain if " " in plain or not plain else f"`{plain}`"


def _text(text: str) -> str:
    inner = text[1:-1].strip() if _QUOTED.fullmatch(text) else text
    return f'"{inner}"' if '"' not in inner else f"`{inner}`"


def _is_path(text: str) -> bool:
    return bool(re.search(r"/|\.[a-z]{1,5}$|^\.", _bare(text)))


def _rename(p: _Parts) -> Iterator[str]:
    name, new = _name(p.name), _name(p.new)
    if "base" in p.cues:
        yield f"change the base class of {name} to {new}"
        return
    if _is_path(p.name) and _is_path(p.new):
        yield f"rename the file {name} to {new}"
        return
    if p.place and not _is_path(p.place):
        yield f"rename the parameter {name} of {_name(p.place)} to {new}"
    if "parameter" not in p.cues:
        yield f"rename {name} to {new}{p.at()}"


def _set(p: _Parts) -> Iterator[str]:
    if "docstring" in p.cues or re.search(r"\b(?:keyword|positional)[ -]only\b|\brequired\b", p.words):
        return
    if "type" in p.cues or "base" in p.cues:
        yield from _type(p) if "type" in p.cues else _derive(p)
    elif "dependency" in p.cues and re.search(r"\b(?:group|extra)\b", p.new):
        yield from _in_group(p.name, p.new, "add", "to", p.at())
    elif _is_fragment(p.name) and _is_fragment(p.new):
        yield f"replace `{p.name}` with `{p.new}`{p.at()}"
        yield f"replace `{p.new}` with `{p.name}`{p.at()}"
    else:
        yield from _set_value(p)


def _set_value(p: _Parts) -> Iterator[str]:
    name, new = _name(p.name), _value(p.new)
    if "version" in p.cues and re.search(r"version|release", p.name) and not p.old:
        yield f"bump the version to {_name(p.new)}"
    if re.search(_DEFINING, p.words) and _is_path(p.place):
        yield f"add the constant `{bare(p.name)} = {p.new}` to {_name(p.place)}"
    if re.fullmatch(r"[^\W\d_]+(?:[ -][^\W\d_]+)*", new.strip("`")) and new.strip("`").lower() not in _CONSTANTS:
        return  # a word is no value
    yield (f"change {name} from {_value(p.old)} to {new}" if p.old else f"set {name} to {new}") + p.at()
    if p.old and " of " in p.name:
        yield f"change {p.name.partition(' of ')[0]} from {_value(p.old)} to {new}{p.at()}"
    if p.place and not _is_path(p.place):
        yield f"set the default of {name} in {_name(p.place)} to {new}"
    if p.old:
        yield f"add `{p.old}: {p.new}` to {name}{p.at()}"
    if re.match(r"[<>=~^]", p.new):
        yield f"require {name} {p.new}"


_DEFINING = r"\b(?:defin\w*|declar\w*|introduc\w*|introdui\w*|creat\w*|cre\w?|constante?|const|var)\b"
_CONSTANTS = frozenset("true false none null nil".split())


def _is_fragment(text: str) -> bool:
    """Whether a text is code, but no name."""
    return bool(re.search(r"[(){}\[\]=+*<>]", text)) and not _QUOTED.fullmatch(text)


def _replace(p: _Parts) -> Iterator[str]:
    if _QUOTED.fullmatch(p.old) and _QUOTED.fullmatch(p.new):
        yield f"replace {_text(p.old)} with {_text(p.new)}{p.at()}"
    else:
        yield f"replace `{p.old}` with `{p.new}`{p.at()}"


def _add(p: _Parts) -> Iterator[str]:
    name, where = _name(p.name), p.at()
    parameter = "parameter" in p.cues or f"{folded(bare(p.name))}(" in p.words
    if p.new[:1] == "@" or "decorator" in p.cues:
        yield f"add the decorator @{bare(p.new)} to {name}{where}"
        return
    if "docstring" in p.cues:
        yield f"add the docstring {_text(p.new)} to {bare(p.name)}{where}"
        return
    if "import" in p.cues:
        yield from _import(_Parts("", p.new, "", p.name, p.cues, p.words))
        return
    if "base" in p.cues:
        yield f"add the base class {_name(p.new)} to {name}{where}"
        return
    if "export" in p.cues:
        yield (
            f"add {_name(p.new)} to `__all__` in {_name(p.place) or name}"
            if "__all__" in p.words
            else f"export {_name(p.new)} from {name}"
        )
    if parameter:
        yield f"add the parameter `{p.new}` to {name}{where}"
    if "dependency" in p.cues:
        yield from _in_group(p.new, p.name, "add", "to", where)
    if _is_path(p.name):
        yield f"add the line `{bare(p.new)}` to {name}"
        yield f"add the constant `{p.new}` to {name}"
    yield f"add {_value(p.new)} to {name}{where}"
    if not _QUOTED.match(p.new):
        yield f'add "{p.new}" to {name}{where}'
    if not parameter and re.match(r"\w+\s*[:=]", p.new):
        yield f"add the parameter `{p.new}` to {name}{where}"


def _in_group(package: str, group: str, verb: str, preposition: str, where: str) -> Iterator[str]:
    name = re.sub(r"\s*\b(?:dependency|group|dependencies|extra)\b\s*", " ", _bare(group)).strip()
    for written in (f"`{name}`", name) if name else ():
        yield f"{verb} {_name(package)} {preposition} the {written} dependencies{where}"


def _not_exported(p: _Parts) -> str:
    if "__all__" in p.words:
        return f"remove {_name(p.old)} from `__all__` in {_name(p.place) or _name(p.name)}"
    return f"stop exporting {_name(p.old)} from {_name(p.name)}"


_REMOVED: dict[str, Callable[[_Parts], str]] = {
    "decorator": lambda p: f"remove the decorator @{bare(p.old)} from {_name(p.name)}{p.at()}",
    "default": lambda p: f"remove the default of {_name(p.old)} in {_name(p.name)}{p.at()}",
    "import": lambda p: f"remove the import of {_name(p.old)} from {_name(p.place) or _name(p.name)}",
    "export": _not_exported,
    "base": lambda p: f"remove the base class {_name(p.old)} from {_name(p.name)}{p.at()}",
}


def _remove(p: _Parts) -> Iterator[str]:
    if _is_path(p.old) and not _is_path(p.name):
        if not p.cues & _PARTS_OF_CODE:
            yield f"delete the file {_name(p.old)}"
            return
        p = replace(p, name=p.old, old=p.name)
    said = next((cue for cue in _REMOVED if cue in p.cues), None)
    if said is not None:
        yield _REMOVED[said](p)
        return
    name, old, where = _name(p.name), _name(p.old), p.at()
    if "parameter" in p.cues:
        yield f"remove the parameter {old} from {name}{where}"
    if "dependency" in p.cues:
        yield from _in_group(p.old, p.name, "remove", "from", where)
    yield f"remove {_value(p.old)} from {name}{where}"
    if not _QUOTED.match(p.old):
        yield f'remove "{p.old}" from {name}{where}'
    if "parameter" not in p.cues and not p.place:
        yield f"remove the parameter {old} from {name}"
    if _is_path(p.name) and not p.place and not p.cues & _PARTS_OF_CODE:
        yield f"delete {old} in {name}"


_PARTS_OF_CODE = frozenset(("import", "export", "decorator", "default", "parameter", "dependency", "base"))


def _delete(p: _Parts) -> Iterator[str]:
    name = _name(p.name)
    if p.cues & _PARTS_OF_CODE:
        if p.place:
            yield from _remove(_Parts(p.place, "", p.name, "", p.cues, p.words))
        return
    if _is_path(p.name) or re.search(r"\b(?:file|fichier|rm)\b", p.words):
        yield f"delete the file {name}"
        return
    yield f"delete {name}{p.at()}"


def _type(p: _Parts) -> Iterator[str]:
    name = _name(p.name)
    if re.search(r"\b(?:return\w*|result\w*|renvoi\w*|retour\w*)\b", p.words):
        yield f"annotate the return value of {name} as `{p.new}`"
        return
    if p.place and not _is_path(p.place):
        yield f"annotate the parameter {name} of {_name(p.place)} as `{p.new}`"
    yield f"annotate {name}{p.at()} as `{p.new}`"


def _derive(p: _Parts) -> Iterator[str]:
    name, new = _name(p.name), _name(p.new)
    old = _name(p.old or ("" if _is_path(p.place) else p.place))
    if old:
        yield f"change the base class of {name} from {old} to {new}"
    elif re.search(r"\b(?:also|as well|too|on top|aussi|add\w*|ajout\w*|another|extra|both)\b", p.words):
        yield f"add the base class {new} to {name}{p.at()}"
    else:
        yield f"make {name} inherit from {new}"


def _import(p: _Parts) -> Iterator[str]:
    new, place = bare(p.new), _name(p.place)
    if _NEGATED.search(p.words) or _REMOVING.search(p.words):
        yield f"remove the import of {new.split()[-1]} from {place}"
        return
    statement = new if re.match(r"(?:from|import|const|var|let) ", new) else f"import {new}"
    if p.old:
        yield f"add the import `from {bare(p.old)} import {new}` to {place}"
    yield f"add the import `{statement}` to {place}"
    if p.new[:1] in "\"'":
        yield f"add the import `import {p.new}` to {place}"


def _export(p: _Parts) -> Iterator[str]:
    name, place = _name(p.name), _name(p.place)
    if _NEGATED.search(p.words) or _REMOVING.search(p.words):
        yield (
            f"remove {name} from `__all__` in {place}"
            if "__all__" in p.words
            else f"stop exporting {name} from {place}"
        )
    else:
        package = _without_words_of_places(p.place)
        yield f"export {name} from {_name(package)}" if package else f"export {name}"


_OF_PLACES = re.compile(
    r"\b(?:the|top[- ]?level|top|root|level|package(?:['’]s)?|module|public|api|of|le|la|du|paquet|racine)\b", re.I
)


def _without_words_of_places(place: str) -> str:
    """The package that a description like `top-level shop package` names, '' where it only says `package root`."""
    return " ".join(_OF_PLACES.sub(" ", _bare(place)).split())


def _put(p: _Parts) -> Iterator[str]:
    yield f"move the parameter {_name(p.name)} of {_name(p.place)} before {_name(p.new)}"
    yield f"move {_name(p.name)} before {_name(p.new)} in the signature of {_name(p.place)}"


def _keyword_only(p: _Parts) -> Iterator[str]:
    names = " and ".join(f"`{n}`" for n in re.split(r"\s*(?:,| and | et )\s*", _bare(p.name)))
    yield f"make {names} of {_name(p.place)} keyword-only"


def _move(p: _Parts) -> Iterator[str]:
    source = f" from {_name(p.old)}" if p.old else ""
    new = "the new file " if re.search(r"\bnew (?:file|module)|\bnouveau", p.words) else ""
    yield f"move {_name(p.name)}{source} to {new}{_name(p.place)}"


_VERBS: dict[str, Callable[[_Parts], Iterator[str]]] = {
    "rename": _rename,
    "set": _set,
    "replace": _replace,
    "add": _add,
    "remove": _remove,
    "delete": _delete,
    "move": _move,
    "put": _put,
    "type": _type,
    "derive": _derive,
    "import": _import,
    "export": _export,
    "document": lambda p: iter((f"add the docstring {_text(p.new)} to {bare(p.name)}{p.at()}",)),
    "required": lambda p: iter((f"remove the default of {_name(p.name)} in {_name(p.place)}",)),
    "keyword-only": _keyword_only,
    "require": lambda p: iter((f"require {_name(p.name)} {p.new}",)),
    "sort": lambda p: iter((f"sort {_name(p.name)}{p.at()}",)),
}
