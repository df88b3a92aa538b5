"""Reads tasks that want a new exception, raised by some functions where they raise another one now. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.agents.editing.exact.wording.pattern_parts import FURTHER, PEOPLE, following, part
from repopilot.agents.editing.exact.wording.task_shape import MARK, Shape

_ERROR = r"<[cn]\d+>"
_NOUN = r"(?:exception|error|erreur)(?: class| type| subclass)?"
_NEW_KIND = r"(?:(?:new|dedicated|own|specific|custom|separate|proper|more specific|nouvelle|propre) )"
_FUNCTION = r"<[cn]\d+>(?: 's)?(?: constructor)?(?: function| method)?"
_FUNCTIONS = rf"(?:both )?(?:the )?{_FUNCTION}(?:(?: ,| and| , and| et) {_FUNCTION})*(?: functions| methods)?"
_BOTH = (
    r"(?:both|the two|les deux)(?: of the)?(?P<described{0}>(?: (?!and|or|of|in|the)[a-z][\w-]*){{0,4}}) "
    r"(?:functions|helpers|fonctions)"
)
_IN_FILE = r"(?: (?:in|of|from|dans|de) (?P<file{0}><p\d+>))?"


def _where(number: int) -> str:
    return rf"(?P<functions{number}>{_FUNCTIONS}|{_BOTH.format(number)}){_IN_FILE.format(number)}"


_RAISE = r"(?:raise|throw|use|leve[rz]?|utilise[rz]?|lance[rz]?)"
_HEADS = tuple(
    part(form)
    for form in (
        rf"(?:introduce|add|create|define|ajoute[rz]?|introdui[st]|introduire|cree[rz]?) (?:(?:an?|the|une?|l') )?"
        rf"{_NEW_KIND}*(?:{_NOUN} ,? ?(?:(?:called|named|appelee|nommee) )?)?(?P<new>{_ERROR})(?: {_NOUN})?(?: class)?",
        rf"(?:in {_where(1)} ,? ?)?(?P<raises>raise|throw) an? {_NEW_KIND}+(?:{_NOUN} )?(?:(?:called|named) )?"
        rf"(?P<new>{_ERROR})(?: {_NOUN})?",
        rf"{_where(1)} (?:should|must|doivent|doit) (?P<raises>raise|throw|lever) (?:an?|une) {_NEW_KIND}+"
        rf"(?:{_NOUN} )?(?:(?:called|named|appelee|nommee) )?(?P<new>{_ERROR})(?: {_NOUN})?",
    )
)
_LEADING_PLACE = re.compile(r"(?:in|dans) (?P<path><p\d+>) ,? ?")
_PARTS = {
    "base": part(
        rf"(?:(?:which|that|it|qui) )?(?:(?:is|be|should be|must be|as|est) )?(?:(?:an?|une) )?(?:"
        rf"(?:subclass|child|subtype|kind|sous-classe) (?:of|de|d') (?P<base1>{_ERROR})"
        rf"|(?:deriv(?:ing|ed|es) from|inherit(?:ing|s) from|subclass(?:ing|es)|extend(?:ing|s)|based on|"
        rf"derivee? de|herite de|heritant de|derivant de) (?P<base2>{_ERROR})"
        rf"|(?P<base3>{_ERROR}) (?:subclass|child|subtype))"
    ),
    "use": part(
        rf"(?:(?:and|et|then|to be|that is|which is) )*(?:{_RAISE}|raised|thrown|used)(?:-la| (?:it|that|this|la|"
        rf"that one|(?P<again>{_ERROR})))?"
    ),
    "let": part(rf"(?:let|have|make) {_where(2)} (?:raise|throw|use) it"),
    "instead": part(
        rf"(?:instead of|rather than|in place of|in the place of|à la place (?:de la|de|du|d')|au lieu (?:de la|de|du|"
        rf"d')) (?:(?:the|an?|their|its|une|la|le) )?(?P<all>(?:all|every|each) )?(?:(?:bare|plain|generic|current|raw|"
        rf"built-in|builtin|existing|simple) )*(?P<old>{_ERROR})(?P<plural>s| errors| exceptions)?"
        rf"(?: error| exception)?"
        rf"(?: (?:that )?(?:they|it) (?:raises?|throws?)(?: now| today| at the moment| currently)?| now| today)?"
    ),
    "where": part(rf"(?:in|from|inside|by|within|dans) {_where(3)}"),
    "place": part(r"(?:in|to|inside|dans) (?:the )?(?:module |file |fichier )?(?P<path><p\d+>)(?: module)?"),
    "messages": part(
        r"(?:keep(?:ing)?|leave|leaving|garde[rz]?|laisse[rz]?|with|without changing|conserve[rz]?) (?:(?:the|its|"
        r"their|all|same|existing|current|error|les|le|memes?) )*(?:messages?|texts?|wording)"
        r"(?: (?:as (?:they are|it is|is|before)|unchanged|untouched|the same|alone|tels quels|inchanges))?"
        r"|(?:the |both |les )?(?:error )?messages? (?:should |must |can |doivent )?"
        r"(?:stays?|remains?|keep|don't change|restent|rester)"
        r"(?: (?:the same|as (?:they are|it is|is)|unchanged|les memes|tels quels|inchanges))?"
    ),
    "purpose": part(
        rf"(?:so|so that|such that|pour que|pour qu'|afin que|afin qu') {PEOPLE} (?:can|could|may|puissent|puisse|"
        rf"are able to) (?:catch|handle|distinguish|tell|recognise|recognize|attraper|distinguer|gerer)\b[^,]*"
    ),
}


@dataclass(frozen=True, slots=True)
class RaisedInstead:
    """A new exception that functions shall raise.

    Attributes:
        new: its name.
        old: what they raise now, which is the base of the new one.
        functions: their names, () where two are described.
        described: the words that describe two functions.
        path: the file of the new exception, '' where the task doesn't say.
        file: the file of the functions, likewise.
        several: whether a function may raise the old one in several places.
    """

    new: str
    old: str
    functions: tuple[str, ...]
    described: tuple[str, ...]
    path: str
    file: str
    several: bool


def raised_instead(shape: Shape) -> RaisedInstead | None:
    """The exception that a task wants raised instead of another.

    Args:
        shape: of the whole task.

    Returns:
        It; None where the task wants something else, or something more.
    """
    leading = _LEADING_PLACE.match(shape.words)
    words = shape.words[leading.end() :] if leading else shape.words
    for pattern in _HEADS:
        head = pattern.match(words)
        parts = following(words[head.end() :], _PARTS) if head is not None else None
        if head is None or parts is None or ((purpose := parts.get("purpose")) and FURTHER.search(purpose[0])):
            continue
        if leading and "place" in parts:
            continue
        found = _read(shape, head, parts | ({"place": leading} if leading else {}))
        if found is not None:
            return found
    return None


def _read(shape: Shape, head: re.Match[str], parts: dict[str, re.Match[str]]) -> RaisedInstead | None:
    said = {key: value for match in (head, *parts.values()) for key, value in match.groupdict().items() if value}
    new, old = shape.of(said["new"]), shape.of(said.get("old"))
    bases = {shape.of(said[key]) for key in ("base1", "base2", "base3") if key in said}
    plural = bases == {old.removesuffix("s")} and old not in bases  # `all ValueErrors`
    old = old.removesuffix("s") if plural else old
    raises = [key for key in ("raises", "let", "use") if key in said or key in parts]
    wheres = [n for n in (1, 2, 3) if f"functions{n}" in said]
    if len(raises) != 1 or len(wheres) != 1 or bases != {old}:
        return None
    if shape.of(said.get("again", said["new"])) != new or not new.isidentifier() or not old:
        return None
    number = wheres[0]
    described = tuple(said.get(f"described{number}", "").split())
    marks = MARK.finditer(said[f"functions{number}"])
    functions = tuple(shape.of(m[0]) + (".__init__" if m[1] == "c" else "") for m in marks)
    path = shape.of(said.get("path"))
    file = shape.of(said.get(f"file{number}"))
    return RaisedInstead(new, old, functions, described, path, file, plural or "all" in said or "plural" in said)
