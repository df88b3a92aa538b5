"""Values in a task as the text of a language. Pure."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass

from repopilot.code.python_ast import parse_expression

_NUMBER = re.compile(r"[-+]?(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)(?:\.[\d_]*)?(?:[eE][-+]?\d+)?)[a-zA-Z]{0,3}\d{0,3}")
_PLAIN_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d[\d_]*)?")
_VERSION = re.compile(r"v?\d+(?:\.\d+){2,}[\w.+-]*")
_STRING = re.compile(r"""(?P<prefix>[rRbBuUfF]{0,2})(?P<quote>\"{3}|'{3}|[\"'`])(?P<body>.*)(?P=quote)""", re.S)
_TRUE = frozenset(("true", "vrai", "on", "yes", "oui"))
_FALSE = frozenset(("false", "faux", "off", "no", "non"))
_NOTHING = frozenset(("none", "null", "nil"))
_NOTHING_IN = {"python": "None", "go": "nil", "rust": "None"}
_WORDS = re.compile(r"[\w./:@+-]+(?: [\w./:@+,'-]+){0,7}")
_REQUIREMENT = re.compile(r"[\^~<>=!]{1,3} ?\d[\w.*-]*(?: ?(?:\|\||,| ) ?[\^~<>=!]{0,3} ?\d[\w.*-]*)*")
_DOUBLE_ONLY = frozenset(("go", "rust", "java", "c", "cpp", "csharp", "kotlin", "scala", "swift", "json"))


@dataclass(frozen=True, slots=True)
class OldValue:
    """The value that is replaced: its text, its language, and whether a name means something where it stands."""

    text: str
    language: str
    knows: Callable[[str], bool] = lambda _: False


def value_text(new: str, old: OldValue) -> str | None:
    """A value from a task as it is written in place of an old one.

    Args:
        new: as the user wrote it, without backticks.
        old: the value it replaces.

    Returns:
        The text; None where it isn't clear what is meant.
    """
    new = new.strip()
    low = new.lower()
    if old.text.lower() in ("true", "false") and low in _TRUE | _FALSE:
        return _boolean(low in _TRUE, old)
    if low in _NOTHING and old.language != "toml":
        return _NOTHING_IN.get(old.language, "null")
    if _is_string(new, old.language):
        return _requoted(new, old)
    if is_string(old.text):
        return _in_quotes(new, old)
    if low in ("true", "false"):
        return _boolean(low == "true", old)
    if _NUMBER.fullmatch(new):
        return f"{new}.0" if _needs_point(new, old) else new
    return _expression(new, old)


def _needs_point(new: str, old: OldValue) -> bool:
    """Whether a whole number takes the place of a float in Rust, which doesn't convert."""
    return old.language == "rust" and new.isdigit() and re.fullmatch(r"\d[\d_]*\.\d+", old.text) is not None


def is_string(text: str) -> bool:
    """Whether a text is a string literal."""
    match = _STRING.fullmatch(text)
    return match is not None and match["quote"] not in match["body"].replace("\\" + match["quote"], "")


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    return _NUMBER.fullmatch(text) is not None


def _is_string(text: str, language: str) -> bool:
    if not is_string(text):
        return False
    return language != "python" or _parsed(text) is not None


def _boolean(true: bool, old: OldValue) -> str:
    capital = old.language == "python" or old.text in ("True", "False")
    word = "true" if true else "false"
    return word.capitalize() if capital else word


def _requoted(new: str, old: OldValue) -> str:
    """A string literal; in a language with double quotes only, in those."""
    match = _STRING.fullmatch(new)
    if match is not None and match["quote"] == "'" and old.language in _DOUBLE_ONLY and '"' not in match["body"]:
        return f'"{match["body"]}"'
    return new


def _in_quotes(new: str, old: OldValue) -> str | None:
    """A word or number in place of a string: a string, too."""
    match = _STRING.fullmatch(old.text)
    assert match is not None
    if old.knows(new):
        return None
    quote, prefix = match["quote"], match["prefix"]
    if _PLAIN_NUMBER.fullmatch(new) and not re.match(r"v?\d", match["body"]):
        return new
    if _REQUIREMENT.fullmatch(new) and old.language in ("json", "toml", "yaml"):
        return f"{quote}{new}{quote}"
    if _VERSION.fullmatch(new) or _PLAIN_NUMBER.fullmatch(new) or (_WORDS.fullmatch(new) and "f" not in prefix.lower()):
        return f"{prefix}{quote}{new}{quote}" if "'" not in new else None
    return None if old.language != "python" or not _plain_literal(new) else new


def _expression(new: str, old: OldValue) -> str | None:
    if old.language != "python":
        return new if _is_known(new, old) else _bracketed(new)
    tree = _parsed(new)
    if tree is None:
        return None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    unknown = {n for n in names - bound if not old.knows(n) and not hasattr(builtins, n)}
    return None if unknown else new


def _is_known(new: str, old: OldValue) -> bool:
    """Whether an expression of names and numbers has only names that are known, or are in the old value."""
    part = r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*"
    if not re.fullmatch(rf"(?:{part}|[\d_.]+)(?:\s*[*/+-]\s*(?:{part}|[\d_.]+))*", new):
        return False
    heads = {re.split(r"\.|::", name)[0] for name in re.findall(part, new)}
    known = set(re.findall(r"(?<![\w.])[A-Za-z_$][\w$]*", re.sub(r"([\"'`]).*?\1", "", old.text)))
    return all(old.knows(h) or (h in known and h != new) for h in heads)


def _bracketed(new: str) -> str | None:
    """A list, object or arithmetic of numbers."""
    if re.fullmatch(r"[\d\s.+*/()_-]+", new):
        return new
    inside = re.fullmatch(r"\[.*\]|\{.*\}", new, re.S)
    return new if inside and not re.search(r"\b(?:the|and|of)\b", new) else None


def _plain_literal(new: str) -> bool:
    try:
        ast.literal_eval(new)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False
    return True


def _parsed(text: str) -> ast.Expression | None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def same_value(one: str, other: str) -> bool:
    """Whether two texts are the same value, whatever their quotes, spaces and separators of digits."""
    return _normal(one) == _normal(other)


def _normal(text: str) -> str:
    text = text.strip().strip("`")
    match = _STRING.fullmatch(text)
    if match is not None and is_string(text):
        return match["body"]
    if _PLAIN_NUMBER.fullmatch(text):
        number = text.replace("_", "")
        return str(float(number)) if "." in number else str(int(number))
    low = text.lower()
    return "none" if low in _NOTHING else re.sub(r"\s+", "", low if low in ("true", "false") else text)


def scaled(old: str, by: str, amount: str) -> str | None:
    """A number after an operation; None where the result is no plain number, or the old value none.

    Args:
        old: the number as it is written.
        by: `*`, `/`, `+` or `-`.
        amount: the other operand.
    """
    if not _PLAIN_NUMBER.fullmatch(old) or not re.fullmatch(r"\d[\d_]*(?:\.\d+)?", amount):
        return None
    first, second = (_number(text) for text in (old, amount))
    if by == "/" and second == 0:
        return None
    result = {"*": first * second, "+": first + second, "-": first - second, "/": first / second if second else 0}[by]
    if isinstance(result, float):
        result = round(result, 10)
        if isinstance(first, int) and result.is_integer():
            result = int(result)
    text = repr(result)
    return f"{result:_}" if "_" in old and isinstance(result, int) else text if "e" not in text else None


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    return float(plain) if "." in plain else int(plain)
