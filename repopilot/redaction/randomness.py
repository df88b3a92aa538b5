"""Whether a value was drawn at random or typed as a password, or is a word, a name, a path or a placeholder."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

_VALUES_CACHED = 256
"""Several rules ask about the same value."""

_PLACEHOLDER = re.compile(
    r"^<.*>$|^\[.*\]$|\$\{|\$\(|\{\{|#\{|<%|%>|^\{.*\}$|^\$\w+(?:$|\[|->|::|\.)|^%\w+%$|^@\w+@$|^__\w+__$|(?:^|\s)%[a-z]\b|\{[a-z_]*\}|%\(\w+\)s|"
    r"example|sample|change.?(?:me|it|this)|your[-_ ]|placeholder|dummy|redacted|x{4,}|(?<![a-z0-9])x{3}|"
    r"x{3}(?![a-z0-9])|\*{3}|\.{3}|…|replace|"
    r"not[-_]?a?[-_]?(?:real|secret)|insert|to[-_]be|fake|invalid|"
    r"^(?:none|null|nil|true|false|pass|guest|user|pw|todo|"
    r"(?:test|password|passwd|passphrase|secret|token)[-_]?[a-z]{0,12}[-_]?\d{0,4}|"
    r"n/a|default|abcd?e?f?\d*|(?:foo|bar|baz)[a-z]*\d*|value|string|str|undefined|empty|"
    r"(?:my|some|the|an?)[-_ ][\w-]*|my[a-z]{3,12}|1234\w*|0123\w*|a?bc123|qwerty\w*|letmein)$",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[!#$%^&*+?~=@]")
_WORDS_AND_NUMBER = re.compile(
    r"[A-Za-z]{4,20}[-_.]?\d{2,6}[-_.!]?|[A-Za-z]{3,12}(?:[-_ .][A-Za-z]{3,12}){2,6}[-_ .]?\d{1,4}"
)
_NUMBERED = frozenset(
    "base utf sha aes rsa curve ascii latin windows linux http https port page item user users test tests node "
    "line step version error issue case part chapter section figure table column group type code iso rfc keccak "
    "blake murmur salsa chacha camellia secp prime brainpool token secret password passwd pass key value string "
    "name admin client server service project release python java level index field foo bar baz some my abc hello "
    "testing example access refresh encrypted json collection array data public private api auth oauth database "
    "app web uuid hash salt cookie session header mock expected actual new old first second valid wrong bad good "
    "other another original updated changed custom temp prod staging dev local the this that is not with for and "
    "or of to in on id file path url host domain".split()
)
"""Words that are often followed by a number in names and in tests."""
_FILE = re.compile(
    r"(?i).*\.(?:txt|log|pdf|csv|xml|png|jpe?g|sql|php|pem|key|crt|cfg|yml|com|net|org|exe|zip|gif|svg|env|css|tar|bin|dat|jar|jsp|dev|app|tgz|htm|zip|deb|rpm)"
)
_DOTTED_PASSWORD = re.compile(r"[A-Za-z0-9]*\d{2,}\.[A-Za-z]{3}")
_URL = re.compile(r"\w{2,12}://|urn:\w|\d{2,5}/[A-Za-z]|\d{4}-\d\d-\d\dT\d\d")
_PATH = re.compile(
    r"[.~]{0,2}/?(?:[\w@+-]*[A-Za-z][\w@.+-]*/)+[\w@.+*-]*|[.~]{1,2}/\S*|[A-Za-z]:\\\S*|/[A-Za-z]{2,}[\w.-]*"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_NAME_OF_SECRET = re.compile(
    r"[A-Za-z_#/. -]*(?:token|secret|pass|passwords?|passwd|passphrase|pwd|_key|-key|auth|credentials?)s?\d?",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"--?[a-z][\w-]*=?|[a-z_.-]+[:=][a-z0-9_,]{1,6}|[A-Za-z_]+(?:\|[A-Za-z_]+(?::\w+)?)+|[Xx]-[A-Za-z-]+|_?[a-z]+(?:_[a-z]+)+_?"
)
_WORDS = re.compile(r"[a-z]+(?:[-_][a-z]+)*|[A-Z]+(?:[-_][A-Z]+)*|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*")
_RUN = re.compile(r"[a-z]+")
_CLASSES = str.maketrans(
    {chr(n): "a" for n in range(97, 123)} | {chr(n): "A" for n in range(65, 91)} | {chr(n): "0" for n in range(48, 58)}
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{16,}")
_PAIRS = (
    "4787346372587827188965445363436210631721620553600050825282076076208216486110406435833172153362056362114075896663"
    "5338795759984657536222651070151161053450014050117245600435510652500020721170116013336305354001306677766122477986"
    "2688261526411150002000004200304000004202702250131342025230202074369322812733740266642070852282217124537711525100"
    "4073788583725435732488552241557645535357796718677663337123723560272276075651214000000000000300010010600000845694"
    "5281556684067765306062638327705543664379724151825493279015437408766141625664634160276736077720021261108010600101"
    "4002201000106011500560020450044100200030414001500120050115100220423241204004444502542120114000600030011031011010"
    "0022"
)
"""How frequent each pair of letters is inside the words of source code: aa, ab, …, zz; 9 is very frequent, 0 never."""
_WORD_SCORE = 5.4
"""The mean score of pairs that tells words from random letters: 98 % of identifiers are above it, 98 % of random texts
of 12 letters below."""
_FEWEST_PAIRS = 4
_LONGEST_REFERENCE = 100
"""Longer values are neither paths nor names; hostile ones would be slow to try."""


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


@lru_cache(maxsize=_VALUES_CACHED)
def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret that is put in later, or is one that nobody keeps secret."""
    return len(set(value)) < 4 or bool(_PLACEHOLDER.search(value)) or _is_sequence(value)


def is_name_of_secret(value: str) -> bool:
    """Whether a value names a secret: a header, a column, a key of a message."""
    return bool(_NAME_OF_SECRET.fullmatch(value))


def _is_sequence(value: str) -> bool:
    """Whether most characters are alphabetical or numerical neighbours, as in `abcdefgh` and `87654321`."""
    steps = [abs(ord(a) - ord(b)) == 1 for a, b in pairwise(value)]
    return len(steps) > 6 and sum(steps) * 3 > len(steps) * 2


@lru_cache(maxsize=_VALUES_CACHED)
def looks_random(value: str) -> bool:
    """Whether a value looks drawn at random: not like words, a path, an address, a version or a placeholder."""
    if len(value) < 8 or is_placeholder(value) or _is_reference(value):
        return False
    if _UUID.fullmatch(value):
        return True
    if _HEX.fullmatch(value):
        return entropy(value.removeprefix("0x")) >= 2.5 and not value.isalpha()
    if _WORDS.fullmatch(value):
        return _unlike_words(value)
    changes = _changes(value)
    score, pairs = _word_score(value)
    if pairs >= _FEWEST_PAIRS and score > _WORD_SCORE and _switches(value) * 2 < len(value):
        return changes * 4 >= len(value) + 4 and entropy(value) >= 3.0
    digits = sum(map(str.isdigit, value))
    if not digits and pairs < 6:
        return changes >= 4 and len(value) >= 10
    return entropy(value) >= 2.7 and (pairs >= 6 or (changes >= 3 and digits < len(value)))


def is_password(value: str) -> bool:
    """Whether a literal beside the name of a password is one: not a placeholder, a plain word, a name or a sentence."""
    if len(value) < 6 or is_placeholder(value) or len(set(value)) < 5:
        return False
    if _is_reference(value):
        return bool(_DOTTED_PASSWORD.fullmatch(value)) and not _FILE.fullmatch(value)
    if re.fullmatch(r"[A-Za-z]+(?:[-_. :/,'][A-Za-z]+)*[.:!?]?", value):
        return _unlike_words(value)
    if value.rstrip().endswith(":") or (" " in value and len(value.split()) > 2):
        return False
    return not re.fullmatch(r"[\d.,:%+/-]{1,7}|\d+(?:\.\d+)+\w*|v\d+(?:[.-]\w{1,5})*", value)


def is_made_up(value: str) -> bool:
    """Whether a value mixes letters, digits and a sign, as passwords that people make up do, and names don't."""
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    return letters >= 3 and digits >= 2 and bool(_SIGN.search(value)) and is_bare_password(value)


def is_words_and_number(value: str) -> bool:
    """Whether a value is one or several words and a number, as in a password, and none of them is usual in names."""
    if not _WORDS_AND_NUMBER.fullmatch(value) or is_placeholder(value):
        return False
    return _NUMBERED.isdisjoint(re.findall(r"[a-z]+", value.lower()))


def is_bare_password(value: str) -> bool:
    """Whether an unquoted value beside the name of a password is one: it could be an expression, too."""
    if not is_password(value) or re.search(
        r"^[A-Za-z_][\w.:>-]*[(\[].*[)\]]?$|^[(\[{]|[)\]}]$|^&|^\*|->|::|&&|\|\|", value
    ):
        return False
    if looks_random(value) or _is_short_and_random(value):
        return True
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    special = re.search(r"[!#$%^&*+?~=@]", value)
    return len(value) >= 7 and letters >= 3 and bool(special or digits >= 3) and digits >= 1


def _is_short_and_random(value: str) -> bool:
    """Whether small letters, capitals and digits alternate more often than in any name."""
    return (
        len(value) >= 8
        and value.isalnum()
        and _switches(value) * 2 >= len(value)
        and any(map(str.isdigit, value))
        and value.upper() != value != value.lower()
    )


def _is_reference(value: str) -> bool:
    """Whether a value names a place: an address, a path, a member."""
    if _URL.match(value) or len(value) > _LONGEST_REFERENCE:
        return _URL.match(value) is not None
    if is_name_of_secret(value) or _OPTION.fullmatch(value):
        return True
    if _DOTTED.fullmatch(value) or _PATH.fullmatch(value):
        return not _unlike_words(value)
    return False


def _unlike_words(value: str) -> bool:
    """Whether the letters of a value are unlikely to follow each other in words."""
    score, pairs = _word_score(value)
    return (pairs >= 6 and score < 4.4) or (pairs >= _FEWEST_PAIRS and _changes(value) * 3 >= len(value) and score < 5)


def _word_score(value: str) -> tuple[float, int]:
    """The mean frequency of the pairs of letters in a value, and their number."""
    scores = [
        int(_PAIRS[(ord(a) - 97) * 26 + ord(b) - 97]) for run in _RUN.findall(value.lower()) for a, b in pairwise(run)
    ]
    return (sum(scores) / len(scores) if scores else 0.0), len(scores)


def _changes(value: str) -> int:
    """How often small letters, capitals and digits alternate, not counting the capital that begins a word."""
    shape = re.sub(r"(?<!A)Aa", "a", value.translate(_CLASSES))
    return sum(a != b for a, b in pairwise(re.sub(r"[^aA0]+", "", shape)))


def _switches(value: str) -> int:
    """How often small letters, capitals and digits alternate."""
    return sum(a != b and a in "aA0" and b in "aA0" for a, b in pairwise(value.translate(_CLASSES)))
