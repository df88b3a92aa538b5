"""Values that stand beside the name of a secret: assigned to it, its default, its argument, its attribute or its text.

The kind of secret that a name promises decides how its value has to look: a password may be anything that people type,
a token or key looks random, and an unquoted value could also be an expression.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from repopilot.redaction.bounded_pattern import compile_bounded
from repopilot.redaction.randomness import (
    is_bare_password,
    is_made_up,
    is_password,
    is_placeholder,
    is_words_and_number,
    looks_random,
)
from repopilot.redaction.secret_names import Promise, promise_of
from repopilot.redaction.statement_context import shows_itself, values_in_statement

ANCHORS = tuple(
    "pass pwd pw psw secret token key credential creds auth sig= psk pword pepper salt bearer jwt hmac licen kennwort "
    "pasword paswd pswd mdp senha appid _pat".split()
)
"""Lower-case literals; `assigned_values` is called where one of them stands."""


_IS = re.compile(r"\b(?:is|was|est|était)\b")
_LONG_VALUE = re.compile(r"""["']?\s*(?::|=>?)\s*["']?[^\s"']{8}""")
_OPENED = re.compile(r"""([\w-]{2,40})["']?\s*(?:[:=]|=>)?\s*\{\Z""")
_SECTION_LINE = re.compile(r"""\s*[\["']?([\w.-]{2,40})["']?(?::|\])\s*$""")
_SECTION = re.compile(r"(?i)jwt|auth|token|crypt|cipher|hmac|sign|secur|session|cookie|api")
_VERB = re.compile(r"(?:^|[^a-z-])passe?$", re.IGNORECASE)
_NAME_CHARS = string.ascii_letters + string.digits + "_$.-"
_TAIL = re.compile(r"[\w-]{0,40}(?:\.[\w-]{1,30}){0,3}")
_QUOTED = (
    r"""[rbuflLN@$]{0,2}(?P<q>\\?["']|``?|&quot;)(?P<quoted>(?:(?!(?P=q))[^\n\\]|\\(?!["'`])[^\n]){1,600})(?P=q)"""
)
_CALL = (
    r"""(?:[\w.$]{1,50}(?:\[["']?\w{1,40}["']?\]|\([^()\n]{0,60}\))?\s*(?:\|\||\?\?|\?:|\bor\b)\s*)?"""
    r"""(?:(?:new\s+|await\s+)?(?![\w.]{1,40}\.(?:en|de)code\()[\w.:]{1,40}!?\(\s*"""
    r"""(?:(?P<q0>["'])[\w.-]{1,60}(?P=q0)\s*,\s*)?){0,2}"""
)
_VALUE = compile_bounded(
    rf"""
    (?P<close>\\?["'`]?[ \t]?\]?)
    (?: (?P<assign>
            (?:\s*:\s*[&*]?[A-Za-z][\w.\[\]<>|?&*, ]{{0,30}}?(?=\s*:?=[^=])
                |[ \t]+(?:string|str|String|text|const)(?=\s*=)
                |\s*\{{[^{{}}\n]{{0,40}}\}}(?=\s*=))?
            \s*(?::=|=>|\?=|\|\|=|\?\?=|={{1,3}}|!==?|\+=|<-|:{{1,2}}(?!-))\s*
            (?:[|>][-+]?[ \t]*\n\s*|!!\w+[ \t]+|\[\s*|\(\s*)?)
      | (?P<default>\s*\)?\s*(?:\?:|\?\?|\|\||\bor\b)\s*
            | \)?\.(?:unwrap_or|get_?[oO]r|or_?[eE]lse|or|default|fallback)\w*\(\s*(?:\|_?\w*\|\s*|\(\)\s*[=-]>\s*)?
            | \)?\s*(?:do|\{{)\s+(?=["']) | :[-=]?)
      | (?P<attribute>["']?\s*[,:]?\s*(?:[-{{]\s*)?["']?
            (?:\w{{1,20}}:)?(?:value|default|defaultValue|defaultvalue|content|val)["']?\s*[:=]\s*
            | ["']\s*\{{[^{{}}]{{0,300}}?\bdefault\s*=\s*)
      | (?P<argument>(?<=["'`A-Z])\s*,\s*(?:\w+\s*[=:]\s*[\w.]+\s*,\s*){{0,3}}(?:\w{{1,20}}\s*[=:]\s*)?)
      | (?P<call>\s*\(\s*)
      | (?P<element>(?:</[\w:.-]{{1,40}}|(?:[ \t][^<>\n]{{0,60}})?)>\s*
            (?:<[\w:.-]{{1,40}}+[^<>\n]{{0,60}}+>\s*+){{0,3}}(?:<!\[CDATA\[)?)
      | (?P<space>[ \t]+(?:(?:[a-zé]{{1,12}}[ \t]+){{0,7}}?(?:is|was|to|from|of|as|est|était|set\ to)[ \t]*:?[ \t]+)?)
    )
    (?: {_CALL} {_QUOTED} | (?P<bare>(?!(?:value|default)["']?[ \t]*[:=])[^\s"'`<>]{{6,300}}) )
    """,
    re.VERBOSE,
)
_MORE = re.compile(r"""\s*,\s*(?P<q>["'])(?P<quoted>[^"'\n]{1,600})(?P=q)""")
_NEXT_LINE = re.compile(r"[|>][-+]?[ \t]*\n|value|default")
_LEAST_BARE = {Promise.SECRET: 10, Promise.KEY: 16}
"""The length from which an unquoted value isn't taken for the name of a variable."""
_CUT = re.compile(r"[,;&|)}\]]|\\[nrt]|\\$")
_LINE_START = re.compile(r"(?:[-*#/+; \t]|(?:export|set|setx|ENV|ARG|SET|env|let|var)[ \t]+)*[\"']?")
_FLAG = re.compile(r"(?:^|[\s\"'=,\[(])--?[A-Za-z][\w-]*\Z|(?:^|[\s\"'=,\[(])--?\Z")


class _Found(NamedTuple):
    """A name and the value beside it.

    Attributes:
        match: of `_VALUE`.
        promise: what the name says.
        before: the line up to the name.
        flag: whether the name is an option of a command.
        upper: whether the name is in capitals, as those of environment variables are.
    """

    match: re.Match[str]
    promise: Promise
    before: str
    flag: bool
    upper: bool


def assigned_values(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The secrets that belong to the name around an anchor.

    Args:
        text: any text.
        at: where the anchor stands in it.
        anchor: one of `ANCHORS`.

    Yields:
        Start, end and the rule's name.
    """
    tail = _TAIL.match(text, at + len(anchor.rstrip("=")))
    assert tail is not None
    name = name_around(text, at, tail.end())
    promise = promise_of(name) or _promise_of_key(text, tail.end() - len(name), tail.end())
    if promise is None:
        return
    beside = list(_values_beside(text, tail.end(), name, promise))
    yield from beside or ((start, end, promise.value) for start, end in values_in_statement(text, tail.end(), promise))


def name_around(text: str, at: int, end: int) -> str:
    """The name whose last part begins at `at` and that ends at `end`."""
    before = text[max(0, at - 48) : at]
    return before[len(before.rstrip(_NAME_CHARS)) :] + text[at:end]


def _values_beside(text: str, end: int, name: str, promise: Promise) -> Iterator[tuple[int, int, str]]:
    match = _VALUE.match(text, end)
    if match is None or (found := _found(text, match, name, promise)) is None:
        return
    if match["quoted"] is not None:
        said = found.promise is Promise.PASSWORD and (match["q"] in "\"'" or _IS.search(match["space"] or ""))
        if match["space"] is None or found.flag or said:
            yield from _quoted_values(text, found)
    elif span := _bare_value(text, found):
        yield *span, found.promise.value


def _found(text: str, match: re.Match[str], name: str, promise: Promise) -> _Found | None:
    if match["call"]:
        function = promise_of(name.rpartition(".")[2])
        if function is None:
            return None
        promise = function
    start = match.start() - len(name)
    if match["space"] and not _IS.search(match["space"]) and _VERB.search(name):
        return None
    earliest = max(0, start - 200)
    before = text[max(text.rfind("\n", earliest, start) + 1, earliest) : start]
    return _Found(match, promise, before, _FLAG.search(before + name) is not None, name.isupper())


def _promise_of_key(text: str, start: int, end: int) -> Promise | None:
    """The promise of a field that is just called `key`, by the name of its object or section."""
    if text[start:end].lower() != "key" or not _LONG_VALUE.match(text, end):
        return None
    earlier = text[max(0, start - 300) : start]
    opened = earlier.rfind("{")
    if opened >= 0:
        parent = _OPENED.search(earlier, max(0, opened - 50), opened + 1) if "}" not in earlier[opened:] else None
    else:
        lines = earlier.split("\n")
        above = (line for line in reversed(lines[:-1]) if len(line) - len(line.lstrip()) < len(lines[-1]))
        parent = _SECTION_LINE.match(next(above, ""))
    return promise_of(f"{parent[1]}_key") if parent and _SECTION.search(parent[1]) else None


def _quoted_values(text: str, found: _Found) -> Iterator[tuple[int, int, str]]:
    several = "[" in text[found.match.start() : found.match.start("quoted")]
    match: re.Match[str] | None = found.match
    while match is not None:
        if _accepts_quoted(match["quoted"], found.promise):
            yield *match.span("quoted"), found.promise.value
        match = _MORE.match(text, match.end()) if several else None


def _accepts_quoted(value: str, promise: Promise) -> bool:
    value = value.strip()
    if promise is Promise.PASSWORD:
        return is_password(value)
    if " " in value:
        return promise is not Promise.AUTH and _is_salt(value)
    if promise is Promise.AUTH:
        return is_user_and_password(value) or (looks_random(value) and len(value) >= 16)
    least = 8 if promise is Promise.SECRET else 12
    return (looks_random(value) and len(value) >= least) or _typed_secret(value) or is_words_and_number(value)


def _is_salt(value: str) -> bool:
    """Whether a text with spaces was drawn from all printable characters, as the salts of WordPress are."""
    return (
        len(value) >= 40
        and sum(map(str.isdigit, value)) >= 3
        and sum(not c.isalnum() for c in value) * 6 >= len(value)
        and max(map(len, value.split())) >= 16
    )


def _typed_secret(value: str) -> bool:
    """Whether a value is a secret that somebody typed: letters, digits and signs that no name has."""
    return bool(re.search(r"[!#$%^&*+?~=@]", value)) and is_bare_password(value)


def is_user_and_password(value: str) -> bool:
    """Whether a value is the base64 of `user:password`."""
    if not re.fullmatch(r"[A-Za-z0-9+/]{8,1000}={0,2}", value) or len(value) % 4 == 1:
        return False
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    _, _, password = plain.partition(":")
    return plain.isprintable() and len(password) >= 3 and not is_placeholder(password)


def _bare_value(text: str, found: _Found) -> tuple[int, int] | None:
    """The span of an unquoted secret; None where the value is no secret, or an expression."""
    match = found.match
    start, end = match.span("bare")
    between = text[match.end("close") : start]
    if match["argument"] or match["call"] or ("\n" in between and not _NEXT_LINE.search(between)):
        return None
    if match["element"] and text[end : end + 1] == "<":
        return (start, end) if _accepts_quoted(match["bare"], found.promise) else None
    whole_line = text[end : end + 1] in ("", "\n", " ") and _LINE_START.fullmatch(found.before) is not None
    value = match["bare"].rstrip("\\")
    for candidate in (
        value.rstrip(",;") if _is_environment(found, whole_line) else "",
        _CUT.split(value, maxsplit=1)[0].rstrip(",;"),
    ):
        if match["space"]:
            candidate = candidate.rstrip(".")
        if candidate and _accepts_bare(candidate, found, whole_line):
            return start, start + len(candidate)
    return None


def _is_environment(found: _Found, whole_line: bool) -> bool:
    """Whether an unquoted value goes to the end of the word: its assignment fills the line, or is `NAME=value`."""
    return whole_line or (found.upper and found.match["assign"] == "=")


def _accepts_bare(value: str, found: _Found, whole_line: bool) -> bool:
    if found.promise is Promise.AUTH:
        return is_made_up(value) or (len(value) >= 12 and (is_user_and_password(value) or shows_itself(value)))
    spaced = found.match["space"] is not None and not found.flag and not whole_line
    environment = _is_environment(found, whole_line)
    if is_words_and_number(value) and (environment or found.flag or (found.promise is Promise.PASSWORD and not spaced)):
        return True
    if not is_bare_password(value):
        return False
    if spaced:
        random = looks_random(value) and any(map(str.isdigit, value))
        said = _IS.search(found.match["space"]) is not None and found.promise is Promise.PASSWORD
        return len(value) >= 8 and (random or (said and (is_made_up(value) or is_words_and_number(value))))
    if found.promise is Promise.PASSWORD:
        return True
    if environment and (is_made_up(value) or (looks_random(value) and any(map(str.isdigit, value)))):
        return True
    return len(value) >= _LEAST_BARE[found.promise] and looks_random(value)
