"""Reads tasks that want a new optional parameter: kept by a constructor or handed on. Pure.

One pattern must read the whole task: what it leaves over may be further behaviour, which code can't add.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from repopilot.agents.editing.exact.wording.pattern_parts import FURTHER, PEOPLE, following, part
from repopilot.agents.editing.exact.wording.task_shape import MARK, PATH, Shape, with_default

_ANY_NAME = r"(?:<[ntd]\d+>)"
_PLAIN = r"(?!(?:new|optional|keyword|boolean|extra|second|third|the|an?|named?|called)\b)[a-z_]\w*"
_ALSO = r"(?:(?:also|now|additionally|simply|just|too|both|each|aussi|desormais|egalement|tous|toutes|deux) )*"
_NOUN = (
    r"(?:(?:keyword(?:[- ]only)?|constructor|named) )?"
    r"(?:argument|parameter|arg|param|option|flag|keyword|kwarg|setting|switch)"
)
_TYPE = r"(?:boolean|bool|string|str|integer|int|float|booleen|booleenne)"
_ADJECTIVE = rf"(?:new|further|additional|extra|optional|keyword-only|keyword|{_TYPE})"
_PARAM_EN = (
    rf"(?:(?:an?|one|the) )?(?P<adjectives>(?:{_ADJECTIVE},? )*)(?:(?P<before>{_ANY_NAME})(?: (?P<noun1>{_NOUN}))?"
    rf"|(?P<noun2>{_NOUN}),? (?:(?:called|named) )?(?P<after>{_ANY_NAME})"
    rf"|(?P<plain>{_PLAIN}) (?P<noun3>{_NOUN}))"
)
_NOUN_FR = r"(?:argument|parametre|option|drapeau|mot-cle)"
_ADJECTIVE_FR = (
    r"(?:facultati(?:f|ve)|optionnel(?:le)?|nomme|supplementaire|booleen(?:ne)?|par mot-cle|nouve(?:l|au|lle))"
)
_PARAM_FR = (
    rf"(?:(?:une?|le|la|l') )?(?P<adjectives_fr>(?:{_ADJECTIVE_FR} )*)(?P<noun_fr>{_NOUN_FR}) "
    rf"(?P<adjectives2_fr>(?:{_ADJECTIVE_FR} )*)(?:(?:appelee?|nommee?) )?(?P<name_fr>{_ANY_NAME})"
    rf"(?P<adjectives3_fr>(?: {_ADJECTIVE_FR})*)"
)
_VALUE = r"(?:<[lt]\d+>|(?:an )?empty string|(?:une )?chaine vide)"
_GIVEN = (
    r"(?:(?:when|if) (?:(?:it|that|this|the (?:argument|parameter|value)) )?(?:(?:is|was) not |isn't |wasn't |not )"
    r"(?:given|passed|set|provided|specified|supplied)"
    r"|(?:when|if) (?:(?:it|that|this|the (?:argument|parameter|value)) )?(?:(?:is|was) )?(?:omitted|left out)"
    r"|(?:when|if) (?:nothing|none) (?:is|was) (?:given|passed|set|provided)|unless (?:(?:it|one) is )?(?:given|set)"
    r"|otherwise|(?:s'|si) (?:il|elle) n' (?:est|etait) pas (?:donnee?|fournie?|passee?|precisee?)|sinon)"
)
_DEFAULT = (
    rf"(?:(?:which |that |it |qui )?(?:should |must |doit )?(?:be |is |are |est |being )?"
    rf"(?P<switch>off|on|disabled|enabled|desactivee?|activee?) "
    rf"(?:by default|par defaut|unless (?:set|given|asked for)|initially)"
    rf"|(?:which |that |it |qui )?(?:should |must |is |est |vaut |valant )?(?P<value1>{_VALUE}) (?:by default|"
    rf"par defaut|as (?:the |its )?default|{_GIVEN})"
    rf"|(?:which |that |it |and )?(?:should )?(?:defaulting|defaults?) to (?P<value2>{_VALUE})"
    rf"|(?:with |having |avec |the |its |une |la )*(?:valeur )?(?:default|par defaut)(?: value)?(?: is| of| being| de)?"
    rf"(?: ,)? (?P<value3>{_VALUE}))"
)
_PLACE = r"(?:(?:in|of|from|inside|dans|de) (?:the )?(?:module |file |fichier )?(?P<path><p\d+>)(?: module)?)"
_READ = (
    r"(?:inspect|see|read|look|access|find out|tell|know|check|get at|log|report|show|examine|retrieve|learn|display|"
    r"print|recover|identify|distinguish|inspecter|voir|lire|savoir|connaitre|consulter|examiner|recuperer|acceder|"
    r"afficher|retrouver|identifier)"
)
_PURPOSE = (
    rf"(?:(?:so|so that|such that|in order that|which lets|to let|letting|pour que|pour qu'|afin que|afin qu') "
    rf"{PEOPLE}(?: that catch (?:it|them)| catching (?:it|them)| downstream| who catch (?:it|them)| qui l' attrapent)?"
    rf" (?:can|could|may|are able to|is able to|will be able to|to|peut|peuvent|puisse|puissent)? ?(?:later |then |"
    rf"easily |directly |programmatically |facilement )?{_READ}\b[^,]*"
    rf"|for (?:later )?(?:inspection|debugging|introspection)(?: purposes)?|so (?:that )?it can be (?:inspected|read|"
    rf"looked at|examined|accessed)(?: later| afterwards)?)"
)
_SAME_NAME = r"(?:(?:of|with|by|under) (?:the|that) same name|under (?:that|its own) name|du meme nom|sous le meme nom)"
_ATTRIBUTE = (
    rf"(?:(?:an? |the |un |une |l' |its )?(?:(?:public|instance) )?(?:attribute|attribut|field|member)(?: d' instance)?"
    rf"(?: on the (?:instance|object|exception|error|class))?"
    rf"(?: {_SAME_NAME}| (?:called |named |appele |nomme )?(?P<attribute1><[nta]\d+>))?"
    rf"|(?:an? |the |its )?(?P<attribute2><[nta]\d+>)(?: attribute| field)?|the same attribute)"
)
_OBJECT = (
    r"(?:(?:the |that |l' )?(?:new )?(?:instance|object|exception|error|objet|self)(?: itself)?"
    r"|l' (?:instance|objet|exception)|itself|self)"
)
_OTHER_ATTRIBUTE = _ATTRIBUTE.replace("attribute1", "attribute3").replace("attribute2", "attribute4")
_WHERE = (
    rf"(?:(?:as|in|under|to|via|through|on|comme|dans|sous|en tant qu'|en|sur) (?:{_ATTRIBUTE}|{_OBJECT})"
    rf"(?: (?:as|under|in|comme|sous) (?:{_OTHER_ATTRIBUTE}))?"
    rf"(?: {_SAME_NAME})?|{_SAME_NAME})"
)
_KEEP_VERB = r"(?:keep|store|save|expose|remember|record|hold|retain|set|assign)"
_KEPT = r"(?:kept|stored|saved|exposed|remembered|recorded|held|retained|available|accessible|set)"
_KEEPING = r"(?:keeping|storing|saving|exposing|remembering|recording|holding|retaining)"
_KEEP_FR = r"(?:garder?|stocker?|conserver?|enregistrer?|memoriser?|exposer?)"
_KEPT_FR = r"(?:gardee?|stockee?|conservee?|enregistree?|memorisee?|exposee?|disponible|accessible)"
_KEEP = (
    r"(?:(?:which|that|and|it|its value|the value|this|qu'|que|qui|et|de|d') )*"
    r"(?:(?:should|must|is|gets?|to|be|will|doit|etre|est|soit|are|have|has) )*"
    rf"(?:(?:it|they|il|elle) )?(?:then |simply |also |just )?(?:"
    rf"(?:{_KEEP_VERB}|{_KEEPING}|keeps|stores|saves|exposes|remembers|records|holds)"
    rf"(?: (?:it|that|this|the value|its value|the argument|the option))?"
    rf"|(?:make it |made )?{_KEPT}|(?:(?:le|la|l') )?{_KEEP_FR}|{_KEPT_FR}) {_WHERE}"
)
_REMARK = (
    r"(?:(?:keep|leave) (?:the rest|everything else) (?:as (?:it is|is)|alone|unchanged|untouched)"
    r"|(?:no other|nothing else|no further) (?:changes?|behaviou?r changes?|should change|needs to change)"
    r"|existing (?:callers|calls|code|uses) (?:must |should )?(?:keep working|keeps? working|stays? as (?:it is|"
    r"they are)|(?:is|are) (?:not affected|unaffected)))"
)
_CLASS = (
    r"(?:(?:the )?(?:class |exception |la classe |l' exception |le )?<c\d+>(?: 's)?(?: (?:class|exception|error))?"
    r"(?: (?:constructor|initiali[sz]er|__init__|class constructor))?|(?:the )?(?:constructor|initiali[sz]er) "
    r"(?:of|for) (?:the )?<c\d+>(?: class)?|le constructeur d[e'] <c\d+>)"
)
_TAKE = r"(?:take|accept|receive|have|get|support|gain)"
_TAKES = r"(?:takes|accepts|receives|gets|gains)"
_SHOULD = r"(?:should|must|could|can|shall|may|ought to|needs to|has to|is to|will|would)(?: be able to)?"
_DOIT = r"(?:doit|devrait|devra|peut|pourrait|doivent|devraient|peuvent)(?: pouvoir)?"
_PRENDRE = r"(?:accepter|prendre|recevoir|avoir)"


def _heads(named: str) -> tuple[re.Pattern[str], ...]:
    """How a task says that something shall take a parameter."""
    subject = rf"{named}(?: (?:in|of|from|dans|de) <p\d+>)?"
    return tuple(
        part(form)
        for form in (
            rf"(?:let|have|make|allow|enable|permit) (?P<subject>{subject}) (?:to )?{_ALSO}{_TAKE} {_ALSO}{_PARAM_EN}",
            rf"(?P<subject>{subject}) (?:{_SHOULD} {_ALSO}{_TAKE}|{_ALSO}{_TAKES}) {_ALSO}{_PARAM_EN}",
            rf"(?:give|provide|equip|extend) (?P<subject>{subject}) (?:with )?{_PARAM_EN}",
            rf"(?:add|introduce) {_PARAM_EN}(?: ,)?(?: (?P<default>{_DEFAULT})(?: ,)?)? (?:to|on|for) "
            rf"(?P<subject>{subject})",
            rf"(?P<subject>{subject}) {_DOIT} {_ALSO}{_PRENDRE} {_ALSO}{_PARAM_FR}",
            rf"(?:permets|permettre|permettez) (?:à|aux?) (?P<subject>{subject}) d' {_PRENDRE} {_PARAM_FR}",
            rf"(?:fais|faire|faites) {_PRENDRE} (?:à|aux?) (?P<subject>{subject}) {_PARAM_FR}",
            rf"(?:donne|donner|donnez|ajoute|ajouter|ajoutez) (?:à|aux?) (?P<subject>{subject}) {_PARAM_FR}",
            rf"(?:ajoute|ajouter|ajoutez) {_PARAM_FR} (?:à|aux?) (?P<subject>{subject})",
        )
    )


_CLASS_HEADS = _heads(_CLASS)
_LEADING_PLACE = re.compile(rf"{_PLACE} ,? ?")
_PARTS = {
    "default": part(_DEFAULT),
    "keep": part(_KEEP),
    "place": part(_PLACE),
    "purpose": part(_PURPOSE),
    "remark": part(_REMARK),
}
_CALLEE = r"(?:<[cn]\d+>|(?!(?:the|its|their|both|each|underlying|calls?|whatever|all|it|them)\b)[a-z_]\w*)"
_CALLEES = (
    rf"(?:(?:the|their|its|les|l') )?(?:underlying )?(?:calls? (?:to|of) )?(?P<callees>{_CALLEE}"
    rf"(?:(?: ,| and| , and| et) {_CALLEE})*)(?: (?:calls?|functions?|methods?))?(?: ,? ?respectively)?"
)
_ON = r"(?:(?:on|through|along|down|straight|directly|unchanged|as is|it|that|this|them|its value) )*"
_HAND = (
    rf"(?:(?:(?:which|that|and|it|they|to|should|must|be|is|are|gets?|both|each|then|simply|just|only|qui|et|est|sont|"
    rf"doit|etre) )*(?:handed|passed|forwarded|threaded|propagated|pass|hand|forward|thread|propagate|"
    rf"passes|hands|forwards|passing|handing|"
    rf"forwarding|(?:le |la |l' )?(?:transmettre|passer|transmettent|transmet)|transmise?|passee?) {_ON}"
    rf"(?:to|into|à|aux?) {_CALLEES})"
)
_FUNCTION = r"<[cn]\d+>(?: function| method)?"
_FUNCTION_HEADS = _heads(
    rf"(?:both )?(?:the )?(?:functions? |fonctions )?{_FUNCTION}(?:(?: ,| and| , and| et| et (?:à|au)) {_FUNCTION})*"
    rf"(?: functions| methods)?"
)
_HANDED_PARTS = {name: pattern for name, pattern in _PARTS.items() if name not in ("keep", "purpose")} | {
    "hand": part(_HAND)
}
_TYPES = {
    "bool": "bool",
    "boolean": "bool",
    "booleen": "bool",
    "booleenne": "bool",
    "string": "str",
    "str": "str",
    "integer": "int",
    "int": "int",
    "float": "float",
}


@dataclass(slots=True)
class WantedOption:
    """A parameter that a task wants.

    Attributes:
        subject: the words for what shall take it, with marks.
        name: its name.
        default: its default, '' where the task doesn't say.
        type: its type where the task says it.
        attribute: what keeps it, '' for its own name.
        path: the file or module that the task names.
        keyword: whether it is said to be a keyword argument.
        optional: whether it is said to be optional.
    """

    subject: str
    name: str
    default: str = ""
    type: str = ""
    attribute: str = ""
    path: str = ""
    keyword: bool = False
    optional: bool = False
    parts: dict[str, re.Match[str]] = field(default_factory=dict)


def kept_option(shape: Shape) -> WantedOption | None:
    """The parameter that a class shall take and keep as an attribute.

    Args:
        shape: of the whole task.

    Returns:
        It; None where the task wants something else, or something more.
    """
    option = wanted_option(shape, _CLASS_HEADS, _PARTS)
    if option is None or "keep" not in option.parts:
        return None
    groups = option.parts["keep"].groupdict()
    said = [shape.of(groups[f"attribute{n}"]) for n in range(1, 5) if groups[f"attribute{n}"]]
    if len(set(said)) > 1:
        return None
    option.attribute = said[0] if said else option.name
    return option if option.attribute.isidentifier() else None


def handed_option(shape: Shape) -> tuple[WantedOption, tuple[str, ...], tuple[str, ...]] | None:
    """The parameter that functions shall take and hand on.

    Args:
        shape: of the whole task.

    Returns:
        It, the functions, and those that they hand it on to; None where the task wants something else, or more.
    """
    option = wanted_option(shape, _FUNCTION_HEADS, _HANDED_PARTS)
    if option is None or "hand" not in option.parts:
        return None
    names = [shape.of(m[0]) for m in MARK.finditer(option.subject) if m[1] != PATH]
    said = option.parts["hand"]["callees"]
    callees = [shape.of(word) for word in said.split() if word not in (",", "and", "et")]
    return option, tuple(names), tuple(callees)


def wanted_option(
    shape: Shape, heads: tuple[re.Pattern[str], ...], parts: dict[str, re.Pattern[str]]
) -> WantedOption | None:
    """The parameter that a task wants.

    Args:
        shape: of the whole task.
        heads: how it may say so.
        parts: what may follow, each once.

    Returns:
        It; None where anything is left over, or a default isn't certain.
    """
    leading = _LEADING_PLACE.match(shape.words)
    words = shape.words[leading.end() :] if leading else shape.words
    for pattern in heads:
        head = pattern.match(words)
        found = following(words[head.end() :], parts) if head is not None else None
        if head is None or found is None:
            continue
        if (purpose := found.get("purpose")) and FURTHER.search(purpose[0]):
            continue
        paths = [shape.of(place["path"]) for place in (leading, found.get("place")) if place]
        paths += [shape.of(m[0]) for m in MARK.finditer(head["subject"]) if m[1] == PATH]
        return _option(shape, head, found, "".join(paths)) if len(paths) < 2 else None
    return None


def _option(shape: Shape, head: re.Match[str], parts: dict[str, re.Match[str]], path: str) -> WantedOption | None:
    groups = {key: value or "" for key, value in head.groupdict().items()}
    written = next((groups[key] for key in ("before", "after", "plain", "name_fr") if groups.get(key)), "")
    described = " ".join(value for key, value in groups.items() if key.startswith(("adjectives", "noun")) and value)
    name, type_, default = (shape.of(written), "", "")
    if shape.kind(written) == "d":
        name, type_, default = with_default(shape.of(written))
    types = {_TYPES[word] for word in described.replace(",", "").split() if word in _TYPES}
    said = [_default(shape, m) for m in (head, parts.get("default")) if m is not None and _says_default(m)]
    defaults = {d for d in (default, *said) if d}
    if not name.isidentifier() or len(defaults) > 1 or len(types) > 1:
        return None
    optional = re.search(r"\b(?:optional|facultati|optionnel)", described) is not None
    keyword = re.search(r"\bkeyword|\bkwarg|mot-cle|\bnomme\b", described) is not None
    return WantedOption(
        groups["subject"], name, next(iter(defaults), ""), type_ or next(iter(types), ""), "", path, keyword, optional,
        parts,
    )  # fmt: skip


def _says_default(match: re.Match[str]) -> bool:
    return any(match.groupdict().get(key) for key in ("switch", "value1", "value2", "value3"))


def _default(shape: Shape, match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups["switch"]:
        return "False" if groups["switch"].startswith(("off", "disabled", "desactive")) else "True"
    value = next(groups[key] for key in ("value1", "value2", "value3") if groups[key])
    if shape.kind(value) == "t":
        return repr(shape.of(value)).replace("'", '"') if "'" not in shape.of(value) else repr(shape.of(value))
    return shape.of(value) if shape.kind(value) else '""'
