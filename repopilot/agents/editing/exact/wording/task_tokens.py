"""Splits a task into quoted spans, names, paths, literals, signs and words. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["quoted", "path", "name", "literal", "sign", "word"]

_IDENTIFIER = r"[^\W\d][\w$]*|\$[\w$]+"
_BRACKETS = r"\((?:[^()]|\([^()]*\))*\)"
_FILE_END = (
    r"pyi?|jsx?|tsx?|mjs|cjs|go|rs|java|kt|rb|c|h|cc|cpp|hpp|cs|php|toml|ya?ml|json|jsonc|ini|cfg|md|rst|txt|html?|css|"
    r"scss|sh|lock|in|mod|sum|xml|gradle|properties|env|conf|sql|proto|ipynb|typed"
)
_OPERATOR = r"(?:(?:[<>=~!]=|[<>^~])\s?)?"
_CONTRACTION = re.compile(
    r"(?i)(?:(?:do|does|did|is|are|was|were|has|have|ca|wo|should|could|would|must|need)n['’]t|(?:it|that|there|he|"
    r"she|let|what)"
    r"['’]s|(?:we|they|you)['’](?:re|ve|d|ll)|i['’](?:m|d|ve|ll)|can['’]t|(?<=\w)['’]s)(?!\w)"
)
_TOKEN = re.compile(
    r"(?P<prefixed>(?<!\w)[fFrRbB]{1,2}(?:\"[^\"]*\"|'[^']*'))"
    r"|(?P<quoted>``[^`]+``|`[^`]+`|\"[^\"]*\"|“[^”]*”|«[^»]*»|‘[^’]*’|(?<![\w)\]])'(?:[^']|(?<=\w)'(?=\w))*'(?!\w))"
    r"|(?P<decorator>@[A-Za-z_][\w.]*\([^()]*\))"
    r"|(?P<flag>(?<![\w-])--[a-z][\w-]*)"
    r"|(?P<statement>from\s+[\w.]+\s+import\s+\w+(?:\s+as\s+\w+)?)"
    r"|(?P<url>https?://[^\s<>\"'`)]+[^\s<>\"'`),.;:!?])"
    rf"|(?P<path>@?(?:[\w.~-]*/)+[\w.*-]*\w(?::[\w.$]+)?|@[\w.-]+(?::[\w.$]+)?|(?:[\w-]+\.)+(?:{_FILE_END})(?!\w|"
    rf"\.\w|\()(?::[\w.$]+)?"
    r"|\.[a-z][\w-]{2,}(?:\.\w+)*)"
    rf"|(?P<version>v\d+(?:\.\d+)+\w*)|(?P<name>\*{{0,2}}(?:{_IDENTIFIER})(?:(?:\.|::|\#|"
    rf"->)(?:{_IDENTIFIER})(?:-[a-z][\w]*)*)*(?:{_BRACKETS})?)"
    rf"|(?P<literal>{_OPERATOR}v?\d[\w.]*\w(?:[.+-]\w+)*%?|{_OPERATOR}v?\d+%?|[\[{{][^\[\]{{}}]*[\]}}]|"
    rf"\([^()\w]*[\d\"'][^()]*\))"
    r"|(?P<sign>\+=|-=|->|=>|→|⇒|:=|==|!=|<=|>=|[^\w\s])"
)
_ELISION = re.compile(r"(?i)\b(l|d|qu|n|s|j|c|m|t|lorsqu|puisqu|jusqu)['’](?=\w)")
_PATH = re.compile(rf"@?[\w./~*-]*(?:/[\w.*-]+|\.(?:{_FILE_END}))(?::[\w.$]+)?|\.[a-z][\w-]{{2,}}")
_CONSTANTS = frozenset("true false none null nil vrai faux".split())
_HYPHENATED = re.compile(r"(?<![\w.])[^\W\d_]+(?:-[^\W_]+)+(?![\w(-]|\.\w)")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a task.

    Attributes:
        text: as written, with quotes.
        kind: what it is; words are whatever is not clearly code.
        low: in lower case without accents, for words.
        start, end: its characters in the task.
        glued: nothing stands between it and the token before.
    """

    text: str
    kind: Kind
    low: str
    start: int
    end: int
    glued: bool = False

    @property
    def inner(self) -> str:
        """The text without quotes."""
        if self.kind != "quoted":
            return self.text
        width = 2 if self.text.startswith("``") else 1
        inner = self.text[width:-width]
        return inner.strip() if self.text[0] in "«“`" else inner

    @property
    def code(self) -> str:
        """The text without the quotes of code, with those of a text."""
        return self.inner if self.is_code else self.text

    @property
    def is_path(self) -> bool:
        """Whether it is the path of a file, quoted or not."""
        return self.kind == "path" or (self.kind == "quoted" and _PATH.fullmatch(self.inner) is not None)

    @property
    def is_code(self) -> bool:
        """Whether it is in backticks."""
        return self.text[:1] == "`"


def folded(text: str) -> str:
    """A text in lower case, without accents, with straight apostrophes; `à` stays itself, as English has an `a`."""
    if text in ("à", "À"):
        return "à"
    plain = unicodedata.normalize("NFD", text.replace("’", "'").lower())
    return "".join(c for c in plain if unicodedata.category(c) != "Mn")


def tokens_of(text: str) -> list[Token]:
    """The tokens of a task in their order.

    Args:
        text: the task.
    """
    shown = _ELISION.sub(lambda m: m[1] + " ", text)  # same length: positions stay
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token_at(text, shown, at, glued=bool(found) and found[-1].end == at)
        found.append(token)
        at = token.end
    return found


def _token_at(text: str, shown: str, at: int, *, glued: bool) -> Token:
    for whole in (_CONTRACTION.match(text, at), _HYPHENATED.match(shown, at)):
        if whole:
            return Token(whole[0], "word", folded(whole[0]), at, whole.end(), glued)
    match = _TOKEN.match(text, at)
    if match is None:
        return Token(text[at], "sign", text[at], at, at + 1, glued)
    group = match.lastgroup or "sign"
    end = match.end()
    if group == "name":
        elided = _ELISION.match(text, at)
        if elided:
            end = elided.end()
            return Token(text[at:end], "word", folded(text[at:end]), at, end, glued)
        return _name_or_word(text, at, end, glued=glued)
    kind: Kind = {
        "url": "literal",
        "version": "literal",
        "decorator": "name",
        "prefixed": "literal",
        "flag": "name",
        "statement": "literal",
    }.get(group, group)  # type: ignore[assignment]
    return Token(text[at:end], kind, folded(text[at:end]), at, end, glued)


def _name_or_word(text: str, at: int, end: int, *, glued: bool) -> Token:
    written = text[at:end]
    low = folded(written)
    if low in _CONSTANTS:
        return Token(written, "literal", low, at, end, glued)
    return Token(written, "name" if looks_like_code(written) else "word", low, at, end, glued)


def looks_like_code(text: str) -> bool:
    """Whether a name can only be code: no word of a language is written like that.

    Args:
        text: a name, perhaps with dots or parentheses.
    """
    if re.search(r"[_$.(#*]|::|->|[a-z][A-Z]|[A-Z]{2,}[a-z]{2,}|[A-Za-z]\d|\d[A-Za-z]", text):
        return True
    return len(text) > 1 and text.isupper() and text.lower() not in _LOUD


_LOUD = frozenset(
    "readme todo fixme url urls api http https json html xml css sql id ids cli ci cd pep rfc ascii pr mr wip nit ui "
    "os tcp udp dns ip tls ssl eol fyi asap imo imho".split()
)


def capitalized(text: str) -> str:
    """A sentence with a capital at its beginning, unless that is code."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text if looks_like_code(first) else f"{text[:1].upper()}{text[1:]}"


def joined(tokens: Sequence[Token], text: str) -> str:
    """The part of a task that tokens cover.

    Args:
        tokens: neighbours.
        text: the task.
    """
    return text[tokens[0].start : tokens[-1].end] if tokens else ""
