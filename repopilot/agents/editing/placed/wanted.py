"""What a task asks for: add something or change something, its kind and its name, in English or French. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Action = Literal["add", "change"]
Noun = Literal["", "method", "property", "function", "class", "field", "entry", "parameter", "text", "other"]

_IDENT = r"[A-Za-z_$][\w$]*"
_ADD = re.compile(
    r"\b(?:add|adds|create|implement|introduce|define|write|give|provide|append|insert|include|expose|need|"
    r"ajout(?:e|es|ez|er|ons)|cr[ée]{1,2}(?:er|ez|s)?|impl[ée]ment(?:e|er|ez)|[ée]cri(?:s|re|vez)|d[ée]fini(?:s|r|ssez)|"
    r"donne[rz]?|introdui(?:s|re|sez))\b",
    re.I,
)
_WANTING = re.compile(
    r"\b(?:should|must|could|shall|might|ought to|would be (?:nice|good|useful|handy|great) to|want(?:s|ed)?(?: to)?|"
    r"would like(?: to)?|wish(?:es)?)\s+(?:also\s+|really\s+)?(?:have|get|gain|got|offer|see|a|an|another)\b|"
    r"\b(?:needs?|lacks?|misses|missing|is without|could use|wants)\b(?!\s+to\b)|"
    r"\b(?:there (?:should|must|could) be|we(?:'re| are) missing|no way to)\b|"
    r"\b(?:doi(?:t|vent)|devrai(?:t|ent)|pourrai(?:t|ent))\s+(?:aussi\s+)?(?:avoir|offrir|proposer|fournir)\b|"
    r"\bil (?:faut|faudrait|manque|nous faut)\b|\bmanque\b|\bj(?:e voudrais|'aimerais)\s+(?:avoir\s+)?une?\b",
    re.I,
)
"""What says that something isn't there yet, as a verb of adding does."""
_LEAD = re.compile(
    rf"\W*(?:in\s+\S+\s*[:,]\s*|[\w/.-]+\.\w+\s*:\s*)?(?:async\s+)?(?:def\s+|func(?:tion)?\s+|fn\s+)?"
    rf"`?((?:{_IDENT}(?:\.|::|\#))*{_IDENT})\s*\(([^()]*)\)\s*(?:->\s*[\w\[\], .|]+?)?`?\s*(?:[:–—]|\s-\s)"
)
"""A task that begins with a signature and goes on with what it does."""
_CHANGE = re.compile(
    r"\b(?:change|make|let|fix|handle|update|modify|raise|return|allow|accept|support|ensure|treat|use|rewrite|refactor|"
    r"improve|extend|simplify|speed|replace|turn|stop|avoid|reject|ignore|convert|check|validate|document|annotate|"
    r"modifi(?:e|er|ez)|chang(?:e|er|ez)|corrig(?:e|er|ez)|fai(?:s|re|tes)|permet(?:s|tre|tez)|accept(?:e|er|ez)|"
    r"renvoie|retourne|l[èe]ve|[ée]vite|remplace[rz]?|g[èe]re|g[ée]rer)\b",
    re.I,
)
_NOUNS: dict[str, Noun] = {
    r"(?:cached[ _-])?propert(?:y|ies)|propri[ée]t[ée]s?|getter|accesseur": "property",
    r"(?:class|static)?[ _-]?methods?|m[ée]thodes?|constructors?|constructeurs?": "method",
    r"functions?|fonctions?|helpers?|routines?|d[ée]corat(?:or|eur)s?|routes?|endpoints?|handlers?|commands?|"
    r"commandes?|hooks?|filters?|filtres?": "function",
    r"sub-?class(?:es)?|class(?:es)?|exceptions?|dataclass|interfaces?|structs?|enums?": "class",
    r"fields?|champs?|attributes?|attributs?|members?|membres?|variants?|variantes?|constants?|constantes?": "field",
    r"entry|entries|entr[ée]es?|keys?|cl[ée]s?|mappings?": "entry",
    r"parameters?|param[èe]tres?|arguments?|args?|kwargs?|keywords?|options?|flags?|switch": "parameter",
    r"sentences?|paragraphs?|sections?|notes?|lines?|phrases?|paragraphes?|lignes?": "text",
    r"tests?|files?|fichiers?|modules?|packages?|scripts?|docstrings?|comments?|commentaires?|imports?|type hints?|"
    r"annotations?|support|checks?|validation|cache|caching|logging": "other",
}
_PARAMETERS = re.compile(r"(?<=[\w$])\([^()\n]*\)")
"""The parameters of a function, whose names are no kinds: `has(field)`."""
_NOUN = re.compile("|".join(rf"(?P<n{i}>\b(?:{pattern})\b)" for i, pattern in enumerate(_NOUNS)), re.I)
_KINDS = tuple(_NOUNS.values())
_CODE = re.compile(
    rf"`([^`\n]+)`|(?<![\w./-])(@[\w./-]+(?::[\w.]+)?|{_IDENT}(?:(?:\.|::|#){_IDENT})*(?:\([^()\n]*\))?)"
)
_FILE = re.compile(r"[\w./-]+\.(?:pyi?|[jt]sx?|[cm]js|go|rs|java|md|rst|txt|toml|ya?ml|json|cfg|ini)")
_LIKE_CODE = re.compile(r"[_.(]|::|[a-z0-9][A-Z]|^[A-Z]\w*[a-z]")
_DOTTED = re.compile(
    rf"({_IDENT}(?:(?:\.|::|#){_IDENT})*)\s*(\(((?:[^()]|\([^()]*\))*)\))?\s*"
    r"(?:->.*|:.*|=.*|(?<=\))\s*[\w.*\[\]() ,]+)?$",
    re.S,
)
_GO_TYPE = (
    r"(?:bool|string|error|any|byte|rune|u?int(?:8|16|32|64)?|float(?:32|64)|\*?[A-Za-z_]\w*\.\w+|\*[A-Za-z_]\w*|"
    r"\[\][\w.*]+|map\[\w+\][\w.*]+|\([^()\n]*\))"
)
_RESULT = re.compile(
    rf"\s*(?:->\s*(?P<arrow>[^`,;\n]+?)|:\s*(?P<colon>[A-Za-z_][\w<>\[\]|.]*)|(?P<go>{_GO_TYPE}))"
    r"(?=`|\s+(?:to|that|which|on|in|for|of|returning|with|so|and|à|qui|dans|sur)\b|[,;.]?\s*$|[,;.]\s)"
)
_GIVEN_KIND = (
    r"(?:property|method|class ?method|attribute|field|getter|function|parameter|option|argument|entry|member|"
    r"propri[ée]t[ée]|m[ée]thode|champ|param[èe]tre)"
)
_GIVEN_NAME = rf"`?(?!(?:that|which|to|for|with|so|of)\b){_IDENT}(?:\([^()\n]*\))?`?"
_GIVING = re.compile(
    rf"\b(?:give|donne[rz]?)\s+(?P<to>(?:the\s+(?:class\s+)?)?`?{_IDENT}(?:\.{_IDENT})*`?)\s+(?P<what>(?:an?|another|une?)\s+"
    rf"(?:(?:[\w-]+\s+)?{_GIVEN_KIND}\s+(?:called\s+|named\s+)?{_GIVEN_NAME}|{_GIVEN_NAME}\s+{_GIVEN_KIND}\b|"
    rf"(?:[\w-]+\s+)?(?:`{_IDENT}[^`\n]*`|\w*_\w+(?:\([^()\n]*\))?|\w+\([^()\n]*\))))",
    re.I,
)
"""`give X a method Y`, which is `add a method Y to X`."""
_NAMING = re.compile(
    r"\b(?:called|named|(?:call|name)\s+(?:it|this|that)|nomm[ée]+s?|appel[ée]+s?|intitul[ée]+s?|"
    r"(?:appelle|nomme)s?-l[ae]|appelez-l[ae])\s*:?\s*`?$",
    re.I,
)
_LACKING = re.compile(
    rf"(?:^|(?<=[.!?:]\s))(?P<to>`?{_IDENT}(?:\.{_IDENT})*`?)\s+(?:already\s+|only\s+)?"
    rf"(?:has|have|offers|knows|supports|provides|can)\s+(?P<has>[^.;:!?]*?)\b(?:but|though|yet)\s+"
    rf"(?:(?:has\s+)?no|not|lacks|misses|without)\s+(?:an?\s+|the\s+)?"
    rf"(?P<what>(?:`{_IDENT}(?:\([^()\n]*\))?`|{_IDENT}\([^()\n]*\)))",
)
"""`X has a() but no b()`, which is `add a method b to X`."""
_MEMBER = rf"{_IDENT}(?:(?:\.|::|#){_IDENT})+"
_SHORTEST_NAME = 3
_BEGINS = re.compile(r"(?:^|[.!?:]\s+|\n\s*(?:[-*]\s*)?)$")
_LETTING = re.compile(
    r"(?:^|[.!?:]\s+)(?:please\s+)?(?:let|make|have|change|modify|rewrite|fais|laisse|modifie)\s+$", re.I
)
_SUBJECT = re.compile(r"\s*:|['’]s\b|\s+(?:should|must|needs?|lacks?|has no|doit|devrait|manque)\b")
"""What follows a name that a sentence is about."""
_PARAMETER_TO = re.compile(
    r"\b(?:parameter|param[èe]tre|argument|arg|kwarg|keyword|option|flag|switch)\s+(?:[`\w=]+\s+|\([^()]*\)\s+)?"
    r"(?:to|for|of|on|in|à|de|dans)\s+(?:the\s+|la\s+)?(?:function\s+|method\s+|fonction\s+|m[ée]thode\s+)?$|"
    r"^\W*(?:please\s+)?(?:give|donne)\s+$",
    re.I,
)
_OWN_KIND = re.compile(r"\btests?\s+(?:called\s+|named\s+|nomm[ée]s?\s+)?`?$", re.I)
"""What isn't a test of code where it has a name in quotes: a template engine's `even`."""
_ON_A_CLASS = re.compile(r"\W*(?:\w+\s+)?(?:to|on|à|sur)\s+(?:the\s+|la\s+)?(?:class\s+)?[`]?[A-Z]")
_BASE = re.compile(
    r"\b(?:sub-?class(?:es|ing)? (?:of )?|deriv\w+ from|inherit\w*(?: from)?|extend(?:s|ing)|based on|"
    r"sous-classe d[eu’']|h[ée]rit\w+ d[eu’']|d[ée]riv\w+ d[eu’']|"
    r"(?::|is|which is|est)\s+(?:an?|une?|also an?))\s*`?([A-Z]\w*[a-z]\w*)"
)
_NOUNS_ALONE = "|".join(pattern for pattern, kind in _NOUNS.items() if kind not in ("other", "text", "parameter", ""))
_ARTICLE = re.compile(
    r"(?:\b(?:an?|another|new|une?|autre|nouvel(?:le)?)\s+(?:[\w-]+\s+){0,2}?|[:–—]\s*)"
    rf"(?:{_NOUNS_ALONE})\s*:?\s*`?$",
    re.I,
)
"""An article and a kind before a name: "a property", "une nouvelle méthode"."""
_AFTER_NAME = re.compile(
    r"\s*(?:$|[,:;.(]|\b(?:to|that|which|on|in|for|of|returning|with|taking|so|and|à|au|aux|qui|dans|sur|pour|de|du|"
    r"des|renvoyant|retournant)\b)",
    re.I,
)
_PLAIN_STOP = frozenset(
    "a an the to that which for of in on with without returning and or so it its this these those is are be as by "
    "from into when if not no new whose like similar takes taking computing using checking de du des la le les un une "
    "à au aux qui que dont dans sur pour avec sans et ou renvoyant se sa son ses il elle ce cette static class async "
    "public private statique asynchrone".split()
)
_BEFORE_NOUN = re.compile(
    r"\b(?:an?|another|une?)\s+(?:(?:optional|boolean|bool|new|additional|keyword(?:-only)?|lazy|cached)\s+)*(\w+)\s+$",
    re.I,
)
_PARAMETER_AFTER = re.compile(r"\s+(?:parameter|argument|kwarg|option|flag)\b", re.I)
_NAMED_BEFORE = re.compile(
    r"getters?|accesseur|parameters?|arguments?|args?|kwargs?|options?|flags?|switch|(method|property|attribute|function)",
    re.I,
)
"""What may follow its name: "a length getter", "an optional strict flag"; of a group, where a name is as likely."""
_ADJECTIVE = re.compile(r".*(?:ed|ing|able|ible|ive|ous|ful|less|ary|ic|al|ant|ent)")
_MANNERS = frozenset(
    "new simple lazy static public private boolean bool small read only cached convenience optional keyword positional "
    "extra further second third last first additional named required default command line config configuration cli "
    "function method constructor callback_type single similar corresponding abstract protected utility helper better "
    "proper separate async instance pure thin tiny little short fast own other real same whole special magic dunder "
    "class string integer int float list dict bytes test main sort quick safe free member base".split()
)
"""What an article and such a noun may have between them that is no name: "a lazy getter", "an extra argument"."""
_LITERAL = r"`[^`\n]+`|\"[^\"\n]*\"|'[^'\n]*'|-?\d[\w.]*|True|False|None|true|false|null|nil"
_VALUES = frozenset(("True", "False", "None", "true", "false", "null", "nil", "README", "TODO", "API"))
_DEFAULT = re.compile(
    rf"(?:default(?:s|ing)?(?:\s+(?:value|to|of|is|being))*|"
    rf"par défaut(?:\s+(?:à|vaut|de))?|valant|=)\s*[:=]?\s*({_LITERAL})"
    rf"|({_LITERAL})\s+(?:by default|par défaut)",
    re.I,
)


_QUOTED_TEXT = re.compile(r"(?<!\w)[\"'«“]\s?([^\"'«»“”\n]{1,30}?)\s?[\"'»”](?!\w)")


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name as the task writes it: `owner.name(parameters)`. `quoted`: it certainly is code; `at` where it begins."""

    text: str
    at: int
    end: int
    quoted: bool
    parameters: str | None = None

    @property
    def last(self) -> str:
        """The name without its owner."""
        return re.split(r"\.|::|#", self.text)[-1]

    @property
    def owner(self) -> str:
        """What stands before the name, with dots; '' for nothing."""
        return ".".join(re.split(r"\.|::|#", self.text)[:-1])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a task asks for.

    Attributes:
        action: add something new, or change what is there.
        noun: the kind of what is new; of a change 'parameter' where it is one, else ''.
        name: what is new is called so; '' where the task doesn't say.
        owner: of what is new, as written before the name; ''.
        parameters: of what is new, as written; None where the task doesn't say.
        default: the value of a new parameter or field; ''.
        modifiers: async, classmethod, staticmethod, cached.
        names: the other names in the task, in its order.
        base: what a new class derives from; ''.
        kind: the words before the name of what is new, in lower case: the project's own word for such things.
        result: the type that its signature gives for the result; ''.
    """

    action: Action
    noun: Noun
    name: str = ""
    owner: str = ""
    parameters: str | None = None
    default: str = ""
    modifiers: frozenset[str] = frozenset()
    names: tuple[CodeName, ...] = ()
    base: str = ""
    kind: tuple[str, ...] = ()
    result: str = ""


def read_task(task: str, known: Callable[[str], bool] = lambda name: False) -> Wanted:
    """Read a task. Any text can be read; one without a verb is taken for a change.

    Args:
        task: as the user wrote it.
        known: whether the repository defines a name: what is only described ("Box: a property `area`, the width times
            the height") is new where it doesn't.
    """
    task = _GIVING.sub(lambda m: f"add {m['what']} to {m['to']}", task)
    task = _LACKING.sub(lambda m: f"add a method {m['what'].replace('()', '')} to {m['to']} beside {m['has']}", task)
    names = tuple(_names(task, known))
    described = _described(task, names, known)
    verb = _verb(task)
    if described is not None and (verb < 0 or described.at < verb):
        return _of_new(task, described, *_noun_beside(task, described), names)
    if verb < 0:
        return Wanted("change", "", names=names, modifiers=_modifiers(task))
    noun, at = _noun(task, verb)
    unknown = _of_unknown_kind(task, names, verb, known)
    if unknown is not None and (at < 0 or at > unknown.end):
        return _of_new(task, unknown, "", -1, names)
    new = _new_name(task, names, verb, at)
    return _of_new(task, new, noun, at, names)


def _verb(task: str) -> int:
    """Where the verb ends that asks for something new; -1 where a change comes first, or there is none."""
    found = [m for m in (_ADD.search(task), _WANTING.search(task)) if m is not None]
    change = _CHANGE.search(task)
    first = min(found, key=lambda match: match.start(), default=None)
    return first.end() if first is not None and (change is None or first.start() <= change.start()) else -1


def _described(task: str, names: tuple[CodeName, ...], known: Callable[[str], bool]) -> CodeName | None:
    """A name that a task without a verb describes, and that doesn't exist: by its signature at the beginning, beside
    its kind and an article, or as a member of something that does exist."""
    change = _CHANGE.search(task)
    limit = change.start() if change is not None else len(task)
    lead = _LEAD.match(task)
    if lead is not None and not known(lead[1]):
        return CodeName(lead[1], lead.start(1), lead.end(2) + 1, True, lead[2])
    for name in names:
        member = bool(name.owner) and known(name.owner) and re.fullmatch(_MEMBER, name.text) is not None
        if name.at <= limit and not known(name.text) and (member or _ARTICLE.search(task[: name.at])):
            return replace(name, quoted=True)
    return None


def _noun_beside(task: str, name: CodeName) -> tuple[Noun, int]:
    article = _ARTICLE.search(task[: name.at])
    return _noun(task, article.start(), name.at) if article is not None else ("", -1)


def _of_new(task: str, new: CodeName | None, noun: Noun, at: int, names: tuple[CodeName, ...]) -> Wanted:
    """What is asked of something new of a kind, which may be called `new`."""
    certain = new is not None and (new.parameters is not None or new.last.startswith("__") or bool(new.owner))
    described = new is not None and new.parameters is not None and noun == "other" and at > new.end
    if new is not None and new.quoted and (noun == "" or described or (certain and _is_apart(task, new, at))):
        noun = _guessed(task, new)
    if (
        noun == "other"
        and new is not None
        and new.quoted
        and _OWN_KIND.search(task[: new.at])
        and not new.last.startswith("test")
    ):
        noun = "function"
    action: Action = (
        "add" if noun in ("method", "property", "function", "class", "field", "entry", "text") else "change"
    )
    others = tuple(n for n in names if new is None or n.at != new.at)
    if new is None:
        return Wanted(action, noun, modifiers=_modifiers(task), names=others)
    default = _DEFAULT.search(task, new.at) if noun in ("parameter", "field") else None
    value = (
        (default[1] or default[2]).strip("`") if default else _usual_default(task, at) if noun == "parameter" else ""
    )
    base = _BASE.search(task) if noun == "class" else None
    return Wanted(
        action,
        noun,
        new.last,
        new.owner,
        new.parameters,
        value,
        _modifiers(task),
        others,
        base[1] if base else "",
        tuple(word.lower() for word in re.findall(r"[^\W\d_]+", task[: new.at])[-3:]),
        _result(task, new),
    )


def _usual_default(task: str, noun_at: int) -> str:
    """The default of a parameter that callers need not give; '' for one of which the task doesn't say so."""
    noun = _NOUN.match(task, noun_at) if noun_at >= 0 else None
    if noun is not None and noun[0].lower().rstrip("s") in ("flag", "switch"):
        return "False"
    return "None" if re.search(r"\b(?:optional|optionnel(?:le)?)\b", task, re.I) else ""


def _result(task: str, new: CodeName) -> str:
    """The type of the result in a signature: `-> int`, `: boolean`, in Go `Len() int`."""
    opening = task.find("(", new.at)
    closing = task.find(")", opening + len(new.parameters)) if new.parameters is not None and opening >= 0 else -1
    found = _RESULT.match(task, closing + 1) if closing >= 0 else None
    return (found["arrow"] or found["colon"] or found["go"]).strip() if found is not None else ""


def _is_apart(task: str, new: CodeName, noun_at: int) -> bool:
    """Whether a noun stands so far behind a name that it says something else of it: "`f(x)`: the key of x"."""
    if re.fullmatch(r"`?\s*[:–—]\s*", task[new.end : noun_at]):
        return True  # "f(x): check that …"
    return noun_at > new.end and not re.fullmatch(
        r"\W*(?:\([^()]*\)\W*)?(?:as\W+)?(?:\w+\W+){0,2}", task[new.end : noun_at]
    )


def quoted_texts(task: str) -> list[str]:
    """The short texts that a task has in quotes, which are no code."""
    return [match[1] for match in _QUOTED_TEXT.finditer(re.sub(r"`[^`\n]*`", " ", task))]


def _guessed(task: str, new: CodeName) -> Noun:
    """The kind of a new name that the task calls nothing."""
    if new.owner or re.fullmatch(r"__\w+__", new.last):
        return "method"
    if re.fullmatch(r"[A-Z][A-Z0-9_]+", new.last):
        return "field"
    if new.parameters is not None and _ON_A_CLASS.match(task[new.end :]):
        return "method"
    if new.last[:1].isupper():
        return "class"
    return "method" if _ON_A_CLASS.match(task[new.end :]) else "function"


def _noun(task: str, start: int, end: int = -1) -> tuple[Noun, int]:
    """The first noun of a kind behind the verb, outside of code, and where it begins."""
    task = _PARAMETERS.sub(lambda match: " " * len(match[0]), task)
    for match in _NOUN.finditer(task, start, end if end >= 0 else len(task)):
        before, after = task[match.start() - 1 : match.start()], task[match.end() : match.end() + 1]
        kind = _KINDS[int((match.lastgroup or "n0")[1:])]
        if _is_name(task, match) or (kind == "entry" and _PARAMETER_AFTER.match(task, match.end())):  # "a key argument"
            continue
        if before not in ("`", "_", ".", "-", "/", "@", '"') and after not in ("`", "_", "(", "/", '"'):
            return kind, match.start()

    return "", -1


def _is_name(task: str, noun: re.Match[str]) -> bool:
    """Whether a word is written like the name of a class, within a sentence: `Cache`."""
    return noun[0].isupper() or (noun[0][:1].isupper() and _BEGINS.search(task[: noun.start()]) is None)


def _names(task: str, known: Callable[[str], bool]) -> Iterator[CodeName]:
    for match in _CODE.finditer(task):
        quoted = match[1] is not None
        text = (match[1] or match[2]).strip()
        if text.startswith("@") or _FILE.fullmatch(text):
            continue
        is_subject = (_is_subject(task, match) or _gets_parameter(task, match)) and known(text)
        if not quoted and not is_subject and not _LIKE_CODE.search(text):
            continue
        if not quoted and not is_subject and _begins_sentence(task, match.start(), text):
            continue
        parts = _DOTTED.match(text)
        if parts and parts[1] not in _VALUES:
            yield CodeName(
                parts[1], match.start(), match.end(), quoted or parts[2] is not None or "_" in text, parts[3]
            )


def _is_subject(task: str, match: re.Match[str]) -> bool:
    """Whether a sentence is about a word: "touni should …", "let touni …"."""
    if match[0].lower() in _PLAIN_STOP or len(match[0]) < _SHORTEST_NAME:
        return False
    before, after = task[: match.start()], _SUBJECT.match(task, match.end())
    return (after is not None and _BEGINS.search(before) is not None) or _LETTING.search(before) is not None


def says_what_it_does(task: str, name: CodeName) -> bool:
    """Whether a sentence begins with a name and says what it shall do: "first: …", "first should …"."""
    return _BEGINS.search(task[: name.at]) is not None and _SUBJECT.match(task, name.end) is not None


def _gets_parameter(task: str, match: re.Match[str]) -> bool:
    """Whether a word is the function that gets a parameter: "add a strict flag to first"."""
    return len(match[0]) >= _SHORTEST_NAME and _PARAMETER_TO.search(task[: match.start()]) is not None


def _begins_sentence(task: str, at: int, text: str) -> bool:
    """Whether a capitalised word is one only because a sentence begins with it."""
    plain = re.fullmatch(r"[A-ZÀ-Ý][a-zà-ÿ]+\.?", text) is not None
    return plain and _BEGINS.search(task[:at]) is not None


def _new_name(task: str, names: tuple[CodeName, ...], verb_end: int, noun_at: int) -> CodeName | None:
    """The name of what is new: beside its noun, behind "called", or the first code behind the verb."""
    noun = _NOUN.match(task, noun_at) if noun_at >= 0 else None
    described = _described_before(task, noun) if noun else None
    if described is not None:
        return described
    for name in names:
        if _NAMING.search(task[: name.at]) or (noun and _beside(task, name, noun)):
            return name
    plain = _plain_name(task, noun) if noun else None
    if plain is not None:
        return plain
    first = next((n for n in names if n.at >= verb_end), None)
    if first is None or not first.quoted:
        return None
    between = task[verb_end : first.at]
    return first if len(between.split()) <= 3 and not re.search(r"\b(?:to|in|on|à|dans|sur)\b", between) else None


def _described_before(task: str, noun: re.Match[str]) -> CodeName | None:
    """A plain name before a kind behind which the task says what it is: `a duration property: end minus start`."""
    named = _plain_name(task, noun) if re.match(r"\s*[:(–—]", task[noun.end() :]) else None
    return named if named is not None and named.at < noun.start() else None


def _of_unknown_kind(
    task: str, names: tuple[CodeName, ...], verb_end: int, known: Callable[[str], bool]
) -> CodeName | None:
    """A name that doesn't exist, behind an article and a word of the project's own: "a middleware NoStore"."""
    for name in names:
        behind = name.at >= verb_end and re.fullmatch(r"\s+(?:an?|une?)\s+[\w-]+\s+`?", task[verb_end : name.at])
        if behind and not known(name.text):
            return replace(name, quoted=True)
    return None


def _beside(task: str, name: CodeName, noun: re.Match[str]) -> bool:
    after = task[noun.end() : name.at] if name.at >= noun.end() else None
    before = task[name.end : noun.start()] if name.end <= noun.start() else None
    if after is not None:
        return re.fullmatch(r"\s*(?:class|classe|function|fonction|method)?\s*:?\s*", after) is not None
    return before is not None and re.fullmatch(r"\s*(?:class|static|async|read-only|boolean)?\s*", before) is not None


def _plain_name(task: str, noun: re.Match[str]) -> CodeName | None:
    """An ordinary word beside the noun that must be the name, as in "add a property expired to Lease"."""
    said = re.compile(
        rf"\s+(?:optionnel(?:le)?\s+|bool[ée]en(?:ne)?\s+)?(called|named|nomm[ée]+s?|appel[ée]+s?)?\s*[\"'«\s]*({_IDENT})(\([^()]*\))?"
    ).match(task, noun.end())
    kind = noun[0].lstrip()
    before = _BEFORE_NOUN.search(task[: noun.end() - len(kind)]) if _NAMED_BEFORE.fullmatch(kind) else None
    if before is not None and before[1].lower() not in _MANNERS and _may_name(before[1], kind):
        return CodeName(before[1], before.start(1), before.end(1), True)
    if said and said[2].lower() not in _PLAIN_STOP and (said[1] or said[3] or _AFTER_NAME.match(task, said.end())):
        return CodeName(said[2], said.start(2), said.end(), True, said[3][1:-1] if said[3] else None)
    return None


def _may_name(word: str, noun: str) -> bool:
    """Whether a word before a kind may be a name: "a release method", but not "a recursive method"."""
    kind = _NAMED_BEFORE.fullmatch(noun)
    return kind is not None and (kind[1] is None or _ADJECTIVE.fullmatch(word.lower()) is None)


def _modifiers(task: str) -> frozenset[str]:
    found = {
        "classmethod": r"\bclass[ -]?method\b|@classmethod|m[ée]thode de classe",
        "staticmethod": r"\bstatic ?method\b|@staticmethod|m[ée]thode statique",
        "async": r"\basync(?:hronous)?\b|\bcoroutine\b|\basynchrone\b",
        "cached": r"\bcached[ _]property\b",
    }
    return frozenset(name for name, pattern in found.items() if re.search(pattern, task, re.I))
