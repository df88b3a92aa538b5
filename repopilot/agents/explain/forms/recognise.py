"""What a question asks of which subject: "what does `parse` raise?" is the form `raises` of `parse`. English and
French; pure. Where a thing is done, and the kind of symbol that is asked for, are read by question_kind.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from repopilot.retrieval.query.question_kind import SymbolKind, asks_for, wants_kind

FormKind = Literal[
    "callers",
    "callees",
    "subclasses",
    "bases",
    "raises",
    "returns",
    "parameters",
    "type",
    "default",
    "value",
    "why_does",
    "defined",
    "checked",
    "used",
    "set",
    "raised",
    "which",
    "quantity",
    "error_when",
]
Unit = Literal["duration", "size", "depth", "count", ""]

LONGEST_QUESTION = 400
"""Characters. A longer text is more than one plain question."""

_WHERE_KINDS: Mapping[str, FormKind] = {
    "defined": "defined",
    "checked": "checked",
    "used": "used",
    "set": "set",
    "configured": "set",
    "raised": "raised",
    "called": "callers",
}


@dataclass(frozen=True, slots=True)
class Form:
    """What a question asks.

    Attributes:
        kind: what is asked.
        subject: the words of the question that say of what.
        names: identifiers in them, the thing itself first, then what it belongs to ("`timeout` of `Client`").
        named: whether the subject is nothing but names (and words like "the function"), so that it needs no search.
        ordinary: whether the thing itself is written as an ordinary word is ("cookies"), and may be one.
        wants: the kind of symbol asked for, of the form `which`.
        unit: what is counted or measured, of the form `quantity`.
        verb: what the subject is said to do, of the form `why_does`.
        object: to what, of the form `why_does`.
    """

    kind: FormKind
    subject: str
    names: tuple[str, ...] = ()
    named: bool = False
    ordinary: bool = False
    wants: SymbolKind = ""
    unit: Unit = ""
    verb: str = ""
    object: str = ""


_S = r"(?P<s>.+?)"
_END = r"\s*[?.!]*\s*$"
_FUNCTIONS = (
    r"(?:functions?|methods?|callers?|code|places?|parts?|modules?|files?|classes|classe?|fonctions?|méthodes?)"
)
_CLASSES = r"(?:(?:(?!do|does|is|are)\w+ |sub)?(?:classes|class|types?|structs?|interfaces?|traits?|objects?|modules?))"
_CLASSES_FR = r"(?:(?:sous-)?classes?|types?|structures?|interfaces?|traits?|modules?)"
_ERRORS = (
    r"(?:(?:kinds?|types?|sorts?) of )?(?:\w+ )?(?:errors?|exceptions?|panics?)(?: (?:types?|class(?:es)?|codes?))?"
)
_ERRORS_FR = r"(?:(?:types?|classes?) d')?(?:erreurs?|exceptions?)"
_PARAMS = (
    r"(?:(?:keyword |optional |positional |required )?(?:param(?:eter)?s?|arguments?|args|keywords|options?|inputs?))"
)
_PARAMS_FR = r"(?:paramètres?|parametres?|arguments?|options?)"
_DO = r"(?:does|do|can|could|will|would|may|might|should|did)"

_PATTERNS: tuple[tuple[FormKind, tuple[str, ...]], ...] = (
    (
        "callers",
        (
            rf"(?:who|what|which {_FUNCTIONS}|what {_FUNCTIONS})(?: (?:all|directly))? (?:calls?|invokes?) {_S}",
            rf"(?:list|show|find|give)(?: me)?(?: all)?(?: the)? callers of {_S}",
            rf"(?:what|who|which) are (?:all )?(?:the )?callers of {_S}",
            rf"(?:(?:from )?where|by (?:what|whom|which {_FUNCTIONS}))(?:'s| is| are| gets?) {_S}"
            r" (?:being )?(?:called|invoked)(?: from)?",
            rf"(?:what|which) {_FUNCTIONS} (?:is|are) (?:the )?callers of {_S}",
            rf"qui (?:appelle|invoque) {_S}",
            rf"quel(?:le)?s? {_FUNCTIONS} (?:appelle(?:nt)?|invoque(?:nt)?) {_S}",
            rf"qu'est-ce qui appelle {_S}",
            rf"(?:d')?où (?:est|sont) (?:appelée?s?|invoquée?s?) {_S}",
            rf"(?:d')?où {_S} (?:est|sont)(?:-(?:il|elle)s?)? (?:appelée?s?|invoquée?s?)",
            rf"(?:quels sont )?(?:les )?appelants (?:de|du|d') ?{_S}",
            rf"par (?:qui|quoi|quel(?:le)?s? {_FUNCTIONS}) (?:est|sont) (?:appelée?s?|invoquée?s?) {_S}",
        ),
    ),
    (
        "callees",
        (
            rf"(?:what|which)(?: other)?(?: {_FUNCTIONS})? (?:does|do|will) {_S} (?:itself )?(?:call|invoke)s?",
            rf"(?:what|which)(?: {_FUNCTIONS})? (?:is|are|gets?) (?:called|invoked) (?:by|from|in|inside) {_S}",
            rf"(?:what|which) are (?:the )?callees of {_S}",
            rf"(?:qu'|que )(?:appelle|invoque) {_S}",
            rf"qu'est-ce qu(?:e |'){_S} (?:appelle|invoque)",
            rf"quel(?:le)?s? {_FUNCTIONS} (?:sont|est) (?:appelée?s?|invoquée?s?) (?:par|dans) {_S}",
            rf"quel(?:le)?s? {_FUNCTIONS} {_S} (?:appelle|invoque)(?:-t-(?:il|elle))?",
            rf"quel(?:le)?s? {_FUNCTIONS} appelle {_S}",
        ),
    ),
    (
        "bases",
        (
            rf"(?:what|which|who)(?: {_CLASSES})? (?:does|do) {_S} (?:inherit from|extend|subclass|derive from|embed)",
            rf"(?:what|which)(?: {_CLASSES})? (?:is|are) (?:the )?(?:base|super|parent) ?class(?:es)? (?:of|for) {_S}",
            rf"(?:what|which) (?:interfaces?|traits?|protocols?) (?:does|do) {_S} implement",
            rf"de (?:quelles?|quoi|quel)(?: {_CLASSES_FR})? {_S} (?:hérite|dérive)(?:-t-(?:il|elle))?",
            rf"de (?:quelles?|quoi|quel)(?: {_CLASSES_FR})? (?:hérite|dérive) {_S}",
            rf"quelles? (?:est|sont) (?:la|les) (?:classes? (?:de base|mères?|parentes?)|superclasses?) d[eu'] ?{_S}",
        ),
    ),
    (
        "subclasses",
        (
            rf"(?:which|what|who|how many)(?: {_CLASSES})?(?: all)? (?:inherits?|derives?|descends?)(?: directly)?"
            rf" from {_S}",
            rf"(?:which|what)(?: {_CLASSES})? (?:extends?|subclass(?:es)?|implements?|satisf(?:y|ies)|embeds?) {_S}",
            rf"who (?:extends?|subclasses|implements?) {_S}",
            rf"(?:which|what|where)(?: {_CLASSES})? (?:is|are) (?:all )?(?:the )?"
            r"(?:direct |known |concrete |different )?"
            r"(?:sub-?classes|subtypes|child classes|children|implementations?|implement[oe]rs?"
            rf"|descendants?) of {_S}",
            rf"(?:list|show|give|find)(?: me)?(?: all)?(?: the)? (?:sub-?classes|subtypes|implementations"
            rf"|implementors|implementers) of {_S}",
            rf"(?:which|what) (?:sub-?classes|subtypes|implementations|implementors|implementers)"
            rf"(?: (?:of {_S}(?: are there| exist)?))",
            rf"(?:which|what) (?:sub-?classes|subtypes|implementations) (?:does|do) {_S} have",
            rf"quelles? {_CLASSES_FR} (?:hérite(?:nt)?|dérive(?:nt)?) (?:de |du |d'){_S}",
            rf"quelles? {_CLASSES_FR} (?:implémente(?:nt)?|étend(?:ent)?|spécialise(?:nt)?) {_S}",
            rf"qui (?:hérite|dérive) (?:de |d'){_S}",
            rf"qui (?:implémente|étend) {_S}",
            rf"(?:quelles sont |liste(?:r|z)? |donne(?:-moi|z)? )?(?:toutes )?(?:les )?"
            rf"(?:sous-classes|classes filles|classes dérivées|implémentations) (?:de |du |d'){_S}",
        ),
    ),
    (
        "raises",
        (
            rf"(?:what|which) {_ERRORS} {_DO} {_S} (?:raise|throw|produce|emit|signal|return|panic with|give)",
            rf"(?:what|which) {_DO} {_S} (?:raise|throw|panic with)(?: (?:for|when|if|on|with|given) [^?]+)?",
            rf"(?:what|which) {_ERRORS} (?:is|are|gets?|can be|may be|might be|could be)"
            rf" (?:raised|thrown|returned|produced|signalled) (?:by|from|in|inside) {_S}",
            rf"(?:what|which) {_ERRORS} (?:raised|thrown|returned) by {_S}",
            rf"(?:que peut lever|que lève|que lance) {_S}",
            rf"qu'est-ce que {_S} (?:lève|lance|peut lever)",
            rf"quel(?:le)?s? {_ERRORS_FR} (?:lève(?:-t-(?:il|elle))?|lance|peut lever|renvoie|retourne|déclenche) {_S}",
            rf"quel(?:le)?s? {_ERRORS_FR} {_S} (?:lève|lance|peut(?:-(?:il|elle))? lever|renvoie|retourne|déclenche)"
            r"(?:-t-(?:il|elle))?",
            rf"quel(?:le)?s? {_ERRORS_FR} (?:est|sont|peut être|peuvent être)"
            rf" (?:levée?s?|lancée?s?|renvoyée?s?|retournée?s?|déclenchée?s?) (?:par|dans) {_S}",
        ),
    ),
    (
        "returns",
        (
            rf"(?:what|which)(?: (?:type|value|kind of \w+|values|types?|object))? {_DO} {_S}"
            r" (?:return|give back|yield|evaluate to)",
            rf"(?:what|which)(?: is|'s| are) (?:the )?(?:return|result)(?:ed)?[ -](?:types?|values?) (?:of|for) {_S}",
            rf"(?:what|which) (?:type|value|values) (?:is|are) returned (?:by|from) {_S}",
            rf"(?:what|which) (?:is|gets) returned (?:by|from) {_S}",
            rf"(?:return type|return value) of {_S}",
            rf"(?:que|qu'est-ce que?) (?:retourne|renvoie) {_S}",
            rf"qu'est-ce qu(?:e |'){_S} (?:retourne|renvoie)",
            rf"quel(?:le)?s? (?:type|valeur|objet)s? (?:retourne|renvoie) {_S}",
            rf"quel(?:le)?s? (?:type|valeur|objet)s? {_S} (?:retourne|renvoie)(?:-t-(?:il|elle))?",
            rf"(?:quel(?:le)? est )?(?:le type|la valeur) (?:de retour|renvoyée?|retournée?) (?:de|du|par|d') ?{_S}",
        ),
    ),
    (
        "parameters",
        (
            rf"(?:what|which) {_PARAMS} {_DO} {_S} (?:take|accept|have|need|expect|require|receive|support|allow)",
            rf"(?:what|which) {_DO} {_S} (?:take|accept|expect|receive)(?: as (?:a |an )?{_PARAMS})?",
            rf"(?:what|which)(?: is|'s| are) (?:all )?(?:the )?(?:{_PARAMS}|signature) (?:of|to|for|accepted by"
            rf"|taken by) {_S}",
            rf"(?:what|which) {_PARAMS} (?:can|may|must|should|could) (?:i|be|one|we|you)"
            rf" (?:pass|give|passed|given|use) (?:to|for|with) {_S}",
            rf"(?:list|show|give)(?: me)?(?: all)?(?: the)? (?:{_PARAMS}|signature) (?:of|to|for) {_S}",
            rf"quels? (?:sont |est )?(?:les |le )?{_PARAMS_FR} (?:prend|accepte|attend|reçoit|demande) {_S}",
            rf"quels? {_PARAMS_FR} {_S} (?:prend|accepte|attend|reçoit|demande)(?:-t-)?(?:-?(?:il|elle))?",
            rf"(?:quel(?:le)?s? (?:sont|est) )?(?:les |la |le )?(?:{_PARAMS_FR}|signature) (?:de|du|d') ?{_S}",
        ),
    ),
    (
        "default",
        (
            rf"(?:what|which|how (?:large|long|big|many|high))(?: is|'s| are) (?:the )?default(?:s)?(?: values?)?"
            rf" (?:of|for) {_S}",
            rf"(?:what|which)(?: is|'s| are) (?:the )?default (?:setting |value )?{_S}",
            rf"(?:what|which)(?: value)? (?:does|do) {_S} default to",
            rf"(?:what|which|how \w+)(?: is|'s| are) {_S} by default",
            rf"(?:what|which)(?: value)? (?:does|do) {_S} have by default",
            rf"(?:what|which) default(?: value)? (?:does|do) {_S} (?:have|use|take)",
            rf"(?:what|which)(?: is|'s| are) {_S}'s default(?: value)?",
            rf"default value (?:of|for) {_S}",
            rf"(?:quelle est )?(?:la )?valeur par défaut (?:de |du |des |d'|pour ){_S}",
            rf"(?:que|combien) (?:vaut|valent) {_S} par défaut",
            rf"(?:quelle est|quel est|quelles sont|quels sont) (?:le |la |les |l'){_S} par défaut",
            rf"quelle (?:est|a) {_S} (?:comme|pour) valeur par défaut",
        ),
    ),
    (
        "value",
        (
            rf"(?:what|which)(?: is|'s) (?:the )?(?:exact |actual |numeric )?value (?:of|for) {_S}",
            rf"(?:what|which) value (?:does|do|has) {_S}(?: have| hold)?",
            rf"(?:what|which)(?: is|'s| are) {_S} (?:set|initiali[sz]ed|equal) to",
            rf"(?:quelle est )?la valeur (?:de |du |d'){_S}",
            rf"(?:que|combien) vaut {_S}",
            r"(?:what|how (?:large|big|long|many|high))(?:'s| is) (?:the constant )?"
            r"(?P<s>`?(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+)`?)",
        ),
    ),
    (
        "type",
        (
            rf"(?:what|which)(?: is|'s) (?:the )?(?:data ?)?type (?:of|for) {_S}",
            rf"(?:what|which) type (?:is|does|has) {_S}(?: have)?",
            rf"(?:quel est )?(?:le )?type (?:de |du |d'){_S}",
            rf"de quel type est {_S}",
        ),
    ),
    (
        "why_does",
        (
            r"why (?:does|do|did) (?P<s>\S+|the (?:\S+ )?(?:function|method|class) \S+|\S+ (?:function|method|class))"
            r" (?P<v>[a-z-]+) (?P<o>.+?)",
        ),
    ),
)

_COMPILED = tuple(
    (kind, re.compile(rf"^(?:and |so |but |et |alors )?{pattern}{_END}", re.I))
    for kind, patterns in _PATTERNS
    for pattern in patterns
)

_WHERE = re.compile(
    r"^(?:(?:in|at|from) (?:which|what) \w+|which (?:files?|modules?|places?)|where|où|dans quel(?:le)?s? \w+"
    r"|quels? (?:fichiers?|modules?))(?:'s| exactly| in the code| in this \w+)*\s+(?:is|are|does|do|gets?|was|est|sont"
    r"|se trouve(?:nt)?)?\s*(?P<s>.+?)"
    r"(?P<done>\s(?:is |are |gets? |being |get |est(?:-(?:il|elle))? |sont(?:-(?:ils|elles))? |se |actually |first )*"
    r"[\w'-]+(?:\s(?:from|in|at|to|by|up|à|par))?)?\s*[?.!]*\s*$",
    re.I,
)
_WHERE_FR = re.compile(r"^(?:où|dans quel(?:le)?s? \w+) (?:est|sont) (?P<done>[\w'-]+) (?P<s>.+?)\s*[?.!]*\s*$", re.I)
_ERROR_WHEN = re.compile(
    rf"\b(?:what|which) {_ERRORS} (?:do|does|did|will|would|can|is|are|comes?|gets?|appears?|results?|type)\b"
    r"|\bwhat happens (?:if|when)\b|\bwhat (?:is|gets) (?:raised|thrown) (?:if|when)\b"
    rf"|\bquel(?:le)?s? {_ERRORS_FR}\b.*\b(?:quand|si|lorsqu|lorsque)\b"
    r"|\bque se passe-t-il (?:si|quand|lorsque)\b",
    re.I,
)
_UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    (
        "duration",
        re.compile(
            r"\b(?:how long|how (?:many|much) (?:time|(?:milli)?seconds?|minutes?|hours?|days?)|how soon"
            r"|combien de (?:temps|(?:milli)?secondes?|minutes?|heures?|jours?)|quelle (?:est la )?durée)\b",
            re.I,
        ),
    ),
    ("depth", re.compile(r"\bhow (?:deep(?:ly)?|many levels)\b|\bcombien de niveaux|quelle profondeur", re.I)),
    (
        "size",
        re.compile(
            r"\bhow (?:large|big|wide|much memory|many (?:bytes|characters|[kmg]b))\b"
            r"|\bwhat(?:'s| is) the (?:\w+ )?(?:size|length)\b|\bcombien (?:d'octets|de caractères)"
            r"|\bquelle est la (?:taille|longueur)\b",
            re.I,
        ),
    ),
    (
        "count",
        re.compile(
            r"\bhow (?:many|often)\b|\bcombien d[e']|\bwhat(?:'s| is) the (?:maximum|minimum|max|min|highest"
            r"|largest|smallest)\b|\bquel(?:le)? est (?:le |la )?(?:nombre|limite) ",
            re.I,
        ),
    ),
)
_KIND_WORD = (
    r"(?:functions?|methods?|class(?:es)?|struct|interface|trait|enum|type|module|constants?|variable|field|attribute|"
    r"parameter|argument|param|option|setting|flag|keyword|property|macro|exception|error|decorator|helper|hook|"
    r"fonction|méthode|classe|constante|champ|attribut|paramètre|argument|réglage|propriété|décorateur|structure)"
)
_ARTICLE = re.compile(r"^(?:the|a|an|this|that|our|its|le|la|les|l'|un|une|ce|cette|cet)\s*(?<=[\s'])", re.I)
_SEPARATOR = re.compile(
    r"\s+(?:of|in|on|for|from|inside|within|when calling|to|at|defined in|de|du|des|dans|pour|sur|chez)\s+"
    r"(?:the |la |le |les |l'|a |an )?|\s+d'|'s\s+",
    re.I,
)
_NAME = re.compile(r"[@:$]?[A-Za-z_$][\w$]*[!?]?(?:(?:\.|::|->|#|/)[A-Za-z_$][\w$]*[!?]?)*(?:\(\))?|--?[A-Za-z][\w-]*")
_CODE = re.compile(r"`([^`\n]{1,120})`")
_CERTAIN = re.compile(
    r"`[^`\n]{1,120}`"
    r"|(?<![\w.])(?:[A-Za-z_]\w*(?:\.|::|#|->))+[A-Za-z_]\w*[!?]?(?:\(\))?"
    r"|(?<!\w)[A-Za-z]*[a-z0-9][A-Z]\w*(?:\(\))?|(?<!\w)[A-Z]{2,}[a-z]\w+"
    r"|(?<!\w)\w*[A-Za-z0-9]_\w+(?:\(\))?|(?<!\w)_\w+|(?<!\w)\w+(?=\(\))|(?<![\w-])--[a-z][\w-]+"
)


def recognise(question: str) -> Form | None:
    """Read what a question asks.

    Args:
        question: as the user asked it, in English or French.

    Returns:
        The form; None for a text of no known form, or one too long to be one plain question.
    """
    text = " ".join(question.replace("’", "'").replace("\u202f", " ").split())
    if not text or len(text) > LONGEST_QUESTION:
        return None
    return _by_pattern(text) or _where(text) or _quantity(text) or _error_when(text) or _which(text)


def _by_pattern(text: str) -> Form | None:
    for kind, pattern in _COMPILED:
        match = pattern.match(text)
        if match is None:
            continue
        form = _form(kind, match["s"])
        if kind == "why_does":
            return replace(form, verb=match["v"].lower(), object=match["o"])
        return form
    return None


def _where(text: str) -> Form | None:
    kind = _WHERE_KINDS.get(asks_for(text))
    match = _WHERE_FR.match(text) or _WHERE.match(text)
    if kind is None or match is None:
        return None
    subject = match["s"]
    form = _form(kind, subject)
    if not form.named and match["done"]:
        # "where is Foo" has no participle: what was read as one is the subject.
        form = _form(kind, f"{subject}{match['done']}") if asks_for(f"where is x{match['done']}") == "" else form
    return form


def _quantity(text: str) -> Form | None:
    for unit, pattern in _UNITS:
        if pattern.search(text):
            return Form("quantity", text, tuple(certain_names(text)), unit=unit)
    return None


def _error_when(text: str) -> Form | None:
    return Form("error_when", text, tuple(certain_names(text))) if _ERROR_WHEN.search(text) else None


def _which(text: str) -> Form | None:
    wants = wants_kind(text)
    if wants not in ("class", "function", "file"):
        return None
    return Form("which", text, tuple(certain_names(text)), wants=wants)


def _form(kind: FormKind, subject: str) -> Form:
    names = _only_names(subject)
    ordinary = bool(names) and _is_ordinary(subject)
    return Form(kind, subject, names or tuple(certain_names(subject)), bool(names), ordinary)


def _is_ordinary(subject: str) -> bool:
    """Whether a subject is one word in small letters and nothing says that it is a name."""
    return subject.isalpha() and subject.islower()


def certain_names(text: str) -> Iterator[str]:
    """The identifiers in a text that can be nothing else: in backticks, compound, or called.

    Args:
        text: a part of a question.

    Yields:
        Each name once, in order, without backticks and parentheses.
    """
    seen = set()
    for match in _CERTAIN.finditer(text):
        name = plain_name(match.group(0))
        if name and name not in seen and _NAME.fullmatch(name):
            seen.add(name)
            yield name


def plain_name(written: str) -> str:
    """A name without backticks, empty parentheses and the sigil of its language."""
    return written.strip("`").removesuffix("()").lstrip("@:$").strip()


def _only_names(subject: str) -> tuple[str, ...]:
    """The names that a subject consists of, the thing itself first; () where it has other words."""
    names: list[str] = []
    for part in _SEPARATOR.split(subject):
        found = _single_name(part)
        if not found:
            return ()
        names.append(found)
    if len(names) > 1 and "'s" in subject and not _SEPARATOR.search(subject.replace("'s", "")):
        names.reverse()
    return tuple(names)


def _single_name(part: str) -> str:
    """The one name of a part ("the `x` parameter", "function parse"), '' where it has other words.

    An ordinary word after an article is no name: "the cache".
    """
    bare = _ARTICLE.sub("", part.strip())
    without = re.sub(rf"^{_KIND_WORD}\s+(?=\S)|(?<=\S)\s+{_KIND_WORD}$", "", bare, flags=re.I)
    code = _CODE.fullmatch(without)
    name = code.group(1) if code else without
    if not _NAME.fullmatch(name):
        return ""
    ordinary = bare != part.strip() and without == bare and not code and not _CERTAIN.fullmatch(name)
    if ordinary and not name[:1].isupper():
        return ""
    return plain_name(name)
