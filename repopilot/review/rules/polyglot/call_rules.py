"""Calls and lines that are faults in languages other than Python: the rules of `call_rules.toml`, compiled."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from repopilot.types import Severity

# Values that come from outside, as they are written in web code of these languages.
OUTSIDE = (
    r"\b(?:req|request|ctx\.request|ctx)\.(?:query|body|params|headers|cookies|param\w*)\b|"
    r"\$_(?:GET|POST|REQUEST|COOKIE|FILES)\b|\bparams\[|\br\.(?:URL\.Query\(\)|(?:FormValue|PostFormValue|Form)\b)|"
    r"\bc\.(?:Query|Param|PostForm|FormValue|QueryParam)\(|"
    r"\br\.(?:PathValue|Header\.Get|URL\.Path)\b|\brequest\.getParameter\(|\bRequest\.(?:Query|Form|Params)\b"
)
# A text that is put together from pieces: `"a" + b`, `${b}`, `#{b}`, `"a" . $b`, `%s`, `\(b)`.
_BUILT = r"(?:\+\s*\w|\w\s*\+|\$\{|\#\{|\.\s*\$|\"\s*\.\s*\$|\$\w|%[sv]|\\\()"


@dataclass(frozen=True, slots=True)
class CallRule:
    """A call whose callee matches `callee` and whose arguments match `arguments`, in `languages` (empty: all).
    `in_loop`: only inside a loop."""

    rule: str
    domain: str
    severity: Severity
    message: str
    callee: re.Pattern[str]
    arguments: re.Pattern[str]
    languages: frozenset[str]
    in_loop: bool

    def applies(self, language: str, loops: int) -> bool:
        return (not self.languages or language in self.languages) and (loops > 0 or not self.in_loop)


@dataclass(frozen=True, slots=True)
class LineRule:
    """A line that matches `pattern`, in `languages` (empty: all)."""

    rule: str
    domain: str
    severity: Severity
    message: str
    pattern: re.Pattern[str]
    languages: frozenset[str]


@cache
def rules() -> tuple[tuple[CallRule, ...], tuple[LineRule, ...]]:
    """All rules, in the order of the file."""
    text = resources.files("repopilot.review.rules.polyglot").joinpath("call_rules.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return tuple(map(_call, table["call"])), tuple(map(_line, table["line"]))


def _call(row: dict) -> CallRule:
    arguments = row.get("arguments", "").replace("{outside}", OUTSIDE).replace("{built}", _BUILT)
    return CallRule(row["rule"], row["domain"], row["severity"], row["message"], re.compile(row["callee"]),
                    re.compile(arguments, re.DOTALL), frozenset(row.get("languages", ())),
                    row.get("in_loop", False))  # fmt: skip


def _line(row: dict) -> LineRule:
    languages = frozenset(row.get("languages", ()))
    return LineRule(row["rule"], row["domain"], row["severity"], row["message"], re.compile(row["pattern"]), languages)
