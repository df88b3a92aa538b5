"""What a follow-up question refers to, and the question it stands for.

"Who calls it?", "the second one?", "its parameters" and "no, the async one" mean something only after other questions.
They are rewritten with the names of the places that the last turns showed, so that search, forms and agents get a
question that stands for itself. English and French. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.i18n import Language
from repopilot.results import ImpactReport, Turn
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

LONGEST_FOLLOW_UP = 16
"""Words. A longer question names its subject itself."""
OWN_WORDS = 4
"""From so many words of its own on a question with a pronoun is taken to speak of itself."""
TURNS_REMEMBERED = 3

_CODE_NAME = re.compile(
    r"`([^`\n]+)`|(?<![\w.])((?:[A-Za-z_]\w*(?:\.|::|#))+[A-Za-z_]\w*|[A-Za-z]*[a-z0-9][A-Z]\w*|\w*[A-Za-z0-9]_\w+|"
    r"_\w+|"
    r"\w+(?=\(\))|[\w.-]*/[\w./-]+)"
)
_PATH = re.compile(r"[\w.-]*/[\w./-]+|\b[\w-]+\.[a-z]{1,5}\b")
_SYMBOL = re.compile(r"[^\s›]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ASKS = re.compile(
    r"^(?:and |but |so |et |mais )?(?:what|which|where|who|why|how|when|is|are|does|do|can|qui|que|qu'|quel\w*|où|"
    r"comment|"
    r"pourquoi|quand|combien|est-ce)\b",
    re.I,
)
_FILLER = re.compile(r"^(?:and|so|then|what about|how about|et|alors)?\W*$", re.I)

_NO = re.compile(
    r"^(?:(?:no|nope|non|wrong|sorry|pardon)\b(?:\s*[,.:;!–-]+\s*|\s+(?=the |celui|celle|i m|not |pas |je )))?"
    r"(?:(?:not|pas) (?:that|this|the|celui|celle|le|la)\b[^,;.]*[,;.]\s*(?:but |mais )?)?"
    r"(?:(?:i (?:meant|mean|was asking about)|je (?:voulais dire|parle de|parlais de)|plutôt)\b[\s,:]*)?",
    re.I,
)
_ONE = re.compile(
    r"^(?:the|that|those|le|la|les|l'|celui|celle|ceux|celles)?(?:-là|-ci)?\s*(?:ones?\b)?\s*"
    r"(?:(?:in|from|of|for|inside|de la|de|du|des|dans|d'|pour)\b\s*)?(?:the |la |le |l')?|"
    r"\s*\b(?:ones?|instead|please|plutôt|s'il te plaît|s'il vous plaît)?\W*$",
    re.I,
)
_NUMBERED = re.compile(r"\[(\d{1,2})\]|(?:\bnumber |\bno\. ?|#|\bn° ?|\bnuméro )(\d{1,2})\b", re.I)
_PLACE_NOUN = (
    r"(?:one|place|function|method|class|file|module|result|hit|match|entry|item|test|option|"
    r"fonction|méthode|classe|fichier|résultat|endroit|lieu|entrée)"
)
_ORDINALS = {
    r"first|1st|premier|première": 0,
    r"second|2nd|deuxième|seconde": 1,
    r"third|3rd|troisième": 2,
    r"fourth|4th|quatrième": 3,
    r"fifth|5th|cinquième": 4,
    r"last|dernier|dernière": -1,
}
_ORDINAL = re.compile(
    rf"\b(?:the|that|le|la|l')\s*(?P<which>{'|'.join(_ORDINALS)}|other|autre)\b(?:\s+{_PLACE_NOUN}\b|(?=\W*$))", re.I
)
_NOUNS = (
    r"callers?|callees|usages?|users|tests?|parameters?|params|arguments?|args|return (?:values?|type)|returns?|"
    r"defaults?|"
    r"default values?|types?|sub-?classes|base class(?:es)?|parents?|methods?|fields|members|attributes|exceptions?|"
    r"errors?|"
    r"purpose|signature|definition|options?|limits?|implementations?|dependencies|dependents|history|name|value|body"
)
_NOUNS_FR = (
    r"appelants?|utilisations?|tests?|paramètres?|arguments?|valeurs? (?:de retour|par défaut)|types?|sous-classes|"
    r"classes? (?:de base|mère)|méthodes?|champs|attributs?|exceptions?|erreurs?|rôle|signature|définition|options?|"
    r"limites?|implémentations?|dépendances|historique|nom|valeur"
)
_POSSESSIVE = re.compile(rf"\b(?:its|their)\s+(?P<noun>{_NOUNS})\b", re.I)
_POSSESSIVE_FR = re.compile(rf"\b(?P<article>son|sa|ses|leurs?)\s+(?P<noun>{_NOUNS_FR})\b", re.I)
_ARTICLES_FR = {"son": "le", "sa": "la", "leur": "le"}
_THING = re.compile(
    r"\b(?:this|that|these|those|the same|cette|cet|ce|ces|la même|le même)\s+"
    r"(?:(?P<file>file|module|fichier)|(?P<class>class|struct|interface|type|classe)|"
    r"function|method|helper|constant|option|setting|test|parameter|code|"
    r"fonction|méthode|constante|réglage|paramètre)s?\b(?:-là|-ci)?",
    re.I,
)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|be|does|if) it (?:possible|decided|ok|okay|safe|necessary|true|better|worth|make sense|matter|"
    r"ensured|checked that|known)\b|\bit (?:is|was|'s) (?:possible|decided|necessary|said)|\bit (?:seems|looks like)\b|"
    r"\b(?:y a-t-il|faut-il|existe-t-il|s'agit-il|peut-il y|est-il (?:possible|nécessaire|vrai|décidé))\b",
    re.I,
)
_AFTER_THAT = (
    r"(?=\W*$|\s(?:called|used|defined|do|does|work|works|mean|means|return|returns|raise|raises|come|happen|tested|"
    r"set|"
    r"needed|handled|implemented|declared|imported|stored|checked|written|done|for|from|when|if|take|takes|accept)\b)"
)
_PRONOUN = re.compile(
    rf"\b(?:it|them|they)\b|(?<=\s)(?:this|that|these|those){_AFTER_THAT}|"
    r"\b(?:ça|cela|ceci|celui-ci|celle-ci|celui-là|celle-là)(?![\w-])",
    re.I,
)
_CLITIC = re.compile(r"(?<=\w)-(?:t-)?(?:il|elle|ils|elles)\b", re.I)
_ELIDED = re.compile(r"\bl'(?=(?:appel|utilis|import|instanci|invoqu|impl|test|cré|modifi|défini)\w*)", re.I)
_ELLIPTICAL = re.compile(
    r"^(?:and|but|also|now|then|so|what about|how about|same for|for|et|mais|puis|alors|aussi|pareil pour|pour)\b[\s,]*"
    r"(?:for |with |in |pour |avec |dans |de )?",
    re.I,
)
_BARE = re.compile(r"^\W*(?:why|how|how so|where|when|since when|pourquoi|comment|où|quand|depuis quand)\W*$", re.I)


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place that an answer showed or named.

    Attributes:
        number: as shown, 0 for a name that a question holds.
        path: '' where only the name is known.
        symbol: its qualified name, '' for none.
        text: its path, name and lines in lower case, for words that tell it from others.
    """

    number: int
    path: str
    symbol: str = ""
    text: str = ""

    @property
    def name(self) -> str:
        """How a question names it: by its symbol in backticks, else by its path."""
        return f"`{self.symbol}`" if self.symbol else self.path


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question as understood.

    Attributes:
        question: that stands for itself; the question as asked where it already does.
        places: those it refers to.
    """

    question: str
    places: tuple[ShownPlace, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The symbols it refers to."""
        return tuple(place.symbol for place in self.places if place.symbol)


@dataclass(frozen=True, slots=True)
class _Past:
    """The last turn, the places shown last, and what "it" is."""

    question: str
    places: tuple[ShownPlace, ...]
    focus: ShownPlace | None
    language: Language

    def reference(self, place: ShownPlace) -> str:
        """The name of a place, with its path where another one is called the same."""
        alike = any(p.symbol == place.symbol and p.path != place.path for p in self.places)
        return f"{place.name} in {place.path}" if alike and place.symbol and place.path else place.name


def resolve(question: str, turns: Sequence[Turn]) -> FollowUp:
    """The question that a follow-up stands for.

    Args:
        question: as the user asked it.
        turns: the conversation before it, oldest first.

    Returns:
        The question with what it refers to by name. A question that stands for itself, or refers to nothing that is
        known, comes back as it is.
    """
    text = " ".join(question.split())
    if not turns or not text or len(text.split()) > LONGEST_FOLLOW_UP:
        return FollowUp(question)
    past = _past(turns)
    if past is None:
        return FollowUp(question)
    correction = _correction(text)
    if correction and not _ASKS.search(correction):
        return _corrected(correction, past)
    text = correction or text
    for rule in _RULES:
        found = rule(text, past)
        if found is not None:
            return found
    return FollowUp(correction or question)


def places_of(turn: Turn) -> tuple[ShownPlace, ...]:
    """The places a turn showed, by their numbers: its evidence, else its citations, else what a change affects."""
    if turn.evidence:
        shown = (_shown(e.number, e.path, e.symbol, (text for _, text in e.lines)) for e in turn.evidence)
        return tuple(sorted(shown, key=lambda place: place.number))
    if turn.citations:
        return tuple(_shown(c.number, c.path, c.symbol) for c in turn.citations)
    if isinstance(turn.result, ImpactReport):
        return tuple(_shown(n, a.path, a.symbol) for n, a in enumerate(turn.result.affected, 1))
    return tuple(_shown(n, f.path) for n, f in enumerate(turn.files, 1))


def _shown(number: int, path: str, symbol: str = "", lines: Iterable[str] = ()) -> ShownPlace:
    name = symbol if _SYMBOL.fullmatch(symbol) else ""
    return ShownPlace(number, path, name, "\n".join((path, symbol, *lines)).lower())


def _past(turns: Sequence[Turn]) -> _Past | None:
    recent = [turn for turn in turns[-TURNS_REMEMBERED:] if turn.intent != "REFUSE"]
    if not recent:
        return None
    last = recent[-1]
    shown = next((turn for turn in reversed(recent) if places_of(turn)), last)
    places = places_of(shown)
    return _Past(last.question, places, _focus(last, shown, places), parse(last.question).language)


def _focus(last: Turn, shown: Turn, places: Sequence[ShownPlace]) -> ShownPlace | None:
    """What "it" is: what the last question names, else what the answer names of the place that it cites first, else
    the first place shown."""
    if named := _names(last.question):
        of_name = (p for p in places if p.symbol and _last_part(p.symbol) == _last_part(named[0]))
        return next(of_name, ShownPlace(0, named[0] if "/" in named[0] else "", "" if "/" in named[0] else named[0]))
    cited = next((c.number for c in shown.citations if c.supported), None)
    place = next((p for p in places if p.number == cited), places[0] if places else None)
    return _told_in(shown.answer, place) if place and cited else place


def _told_in(answer: str, place: ShownPlace) -> ShownPlace:
    """A place by the name that the answer gives it, which may be that of a part: several are shown as one place."""
    told = [name for name in _names(answer) if "/" not in name]
    if not told or any(_last_part(name) == _last_part(place.symbol) for name in told):
        return place
    part = next((name for name in told if re.search(rf"(?<!\w){re.escape(_last_part(name))}(?!\w)", place.text)), "")
    return replace(place, symbol=part) if part else place


def _names(text: str) -> list[str]:
    """The identifiers and paths in a question."""
    return [(quoted or bare).removesuffix("()") for quoted, bare in _CODE_NAME.findall(text)]


def _last_part(symbol: str) -> str:
    return re.split(r"\.|::|#", symbol)[-1].lower()


def _own_words(text: str) -> int:
    """How many words a question has that say something by themselves."""
    words = (word.lower() for word in _WORD.findall(text))
    return sum(word not in STOP_EN and word not in STOP_FR for word in words)


def _stands_alone(text: str) -> bool:
    return bool(_names(text)) or _own_words(text) >= OWN_WORDS


def _correction(text: str) -> str:
    """What is said after "no, …" or "I meant …", '' for no correction."""
    head = _NO.match(text)
    return text[head.end() :].strip() if head and head.end() else ""


def _corrected(wanted: str, past: _Past) -> FollowUp:
    """The last question again, narrowed to what the correction names: another place that was shown, or its words."""
    numbered = _by_number(wanted, past)
    words = _ONE.sub("", wanted).strip(" ,.;:!?")
    place = numbered[1] if numbered else _told_apart(words, past)
    if place is not None:
        return FollowUp(f"{past.question} {_told(past, place)}", (place,))
    return FollowUp(f"{past.question} {words}".strip())


def _told(past: _Past, place: ShownPlace) -> str:
    return past.reference(place) if not place.path else f"{place.name} {place.path}" if place.symbol else place.path


def _told_apart(words: str, past: _Past) -> ShownPlace | None:
    """The first place but the one in focus that has all the words, looked for in names before lines; of a path, the
    first place in that file."""
    if path := next((name for name in _PATH.findall(words)), ""):
        return next((p for p in past.places if p != past.focus and p.path.endswith(path)), None)
    wanted = [part.lower() for part in _PARTS.findall(words)] or [word.lower() for word in _WORD.findall(words)]
    wanted = [w for w in wanted if w not in STOP_EN and w not in STOP_FR and not re.fullmatch(_PLACE_NOUN, w)]
    others = [place for place in past.places if place != past.focus]
    named = (p for p in others if wanted and all(word in f"{p.path} {p.symbol}".lower() for word in wanted))
    holding = (p for p in others if wanted and all(word in p.text for word in wanted))
    return next(named, None) or next(holding, None)


def _numbered(text: str, past: _Past) -> FollowUp | None:
    """ "the second one", "[3]", "l'autre": the place of that number."""
    found = _by_number(text, past)
    if found is None:
        return None
    (start, end), place = found
    rest = f"{text[:start]} {text[end:]}"
    if not _FILLER.match(rest.strip(" ?.!")):
        return FollowUp(f"{text[:start]}{past.reference(place)}{text[end:]}", (place,))
    return FollowUp(_asked_again(past, place), (place,))


def _by_number(text: str, past: _Past) -> tuple[tuple[int, int], ShownPlace] | None:
    """Where a text names a shown place by its number or rank, and which."""
    if found := _NUMBERED.search(text):
        place = next((p for p in past.places if p.number == int(found[1] or found[2])), None)
        return (found.span(), place) if place else None
    found = _ORDINAL.search(text)
    if found is None:
        return None
    which = found["which"].lower()
    if which in ("other", "autre"):
        place = next((p for p in past.places if p != past.focus), None)
    else:
        rank = next(rank for names, rank in _ORDINALS.items() if re.fullmatch(names, which))
        place = past.places[rank] if -1 <= rank < len(past.places) and past.places else None
    return (found.span(), place) if place else None


def _asked_again(past: _Past, place: ShownPlace) -> str:
    """The last question about another place: with its name in place of the one it had, else what the place does."""
    named = [found for found in _CODE_NAME.finditer(past.question) if "/" not in found[0]]
    if len(named) == 1:
        return f"{past.question[: named[0].start()]}{place.name}{past.question[named[0].end() :]}"
    return i18n.text("follow_up.what_does", past.language, name=past.reference(place))


def _possessive(text: str, past: _Past) -> FollowUp | None:
    """ "its callers", "ses paramètres": those of what is spoken of."""
    if past.focus is None or _stands_alone(text):
        return None
    name = past.reference(past.focus)
    found = _POSSESSIVE.search(text)
    if found is not None:
        said = f"the {found['noun']} of {name}"
    elif (found := _POSSESSIVE_FR.search(text)) is not None:
        said = f"{_ARTICLES_FR.get(found['article'].lower(), 'les')} {found['noun']} de {name}"
    else:
        return None
    return FollowUp(f"{text[: found.start()]}{said}{text[found.end() :]}", (past.focus,))


def _that_thing(text: str, past: _Past) -> FollowUp | None:
    """ "that function", "cette classe", "this file"."""
    found = _THING.search(text)
    if found is None or past.focus is None or _names(text):
        return None
    place = _of_kind(found, past, past.focus)
    name = place.path if found["file"] and place.path else past.reference(place)
    return FollowUp(f"{text[: found.start()]}{name}{text[found.end() :]}", (place,))


def _of_kind(found: re.Match[str], past: _Past, focus: ShownPlace) -> ShownPlace:
    """What is spoken of; for a class, where a method is spoken of, the class around it or the first one shown."""
    if not found["class"] or _is_type(focus.symbol):
        return focus
    outer = re.match(r"(.+)(?:\.|::|#)", focus.symbol)
    if outer and _is_type(outer[1]):
        return ShownPlace(focus.number, focus.path, outer[1], focus.text)
    return next((place for place in past.places if _is_type(place.symbol)), focus)


def _is_type(symbol: str) -> bool:
    return re.split(r"\.|::|#", symbol)[-1][:1].isupper()


def _pronoun(text: str, past: _Past) -> FollowUp | None:
    """ "who calls it?", "que renvoie-t-elle ?", "qui l'utilise ?"."""
    if past.focus is None or _stands_alone(text) or _EXPLETIVE.search(text):
        return None
    name = past.reference(past.focus)
    for pattern, said in ((_PRONOUN, name), (_CLITIC, f" {name}")):
        if found := pattern.search(text):
            return FollowUp(f"{text[: found.start()]}{said}{text[found.end() :]}", (past.focus,))
    if found := _ELIDED.search(text):
        verb = re.match(r"\w+", text[found.end() :])
        after = found.end() + (verb.end() if verb else 0)
        return FollowUp(f"{text[: found.start()]}{text[found.end() : after]} {name}{text[after:]}", (past.focus,))
    return None


def _elliptical(text: str, past: _Past) -> FollowUp | None:
    """ "and decode?", "what about PUT?", "why?": the last question with other words, or with these beside it."""
    lead = _ELLIPTICAL.match(text)
    rest = text[lead.end() :].strip(" ?.!") if lead else ""
    if lead is None and not _BARE.match(text):
        return None
    if _stands_alone(rest) and (_ASKS.search(rest) or (_names(rest) and len(rest.split()) > 1)):
        return None
    named = [found for found in _CODE_NAME.finditer(past.question) if "/" not in found[0]]
    if len(named) == 1 and rest and len(rest.split()) == 1:
        name = f"`{rest.strip('`')}`"
        return FollowUp(f"{past.question[: named[0].start()]}{name}{past.question[named[0].end() :]}")
    return FollowUp(f"{past.question} {text}", (past.focus,) if past.focus and not rest else ())


_RULES: tuple[Callable[[str, _Past], FollowUp | None], ...] = (
    _numbered,
    _possessive,
    _that_thing,
    _pronoun,
    _elliptical,
)
