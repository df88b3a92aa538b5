"""Reads untrusted JSON and TOML: every fault of a text raises ValueError. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_Value = TypeVar("_Value")
MOST_PARTS = 100
"""The most parts of a TOML key: the parser's time and memory grow with the square of their number."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{{MOST_PARTS}}}")
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)
_TRAILING = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[\]}])')


def from_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError when it isn't JSON, or is nested too deeply."""
    return _read(json.loads, text)


def from_jsonc(text: str) -> Any:
    """The value of a JSON text that may hold comments and trailing commas. Raises ValueError when it is invalid."""
    plain = _COMMENT.sub(lambda found: found[1] or " ", text)
    return from_json(_TRAILING.sub(lambda found: found[1] or "", plain))


def from_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError when it isn't TOML, or is nested too deeply."""
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    return _read(tomllib.loads, text)


def toml_tables(text: str) -> Mapping[str, Any]:
    """The tables of a TOML text, none where it can't be parsed."""
    return parsed_table(from_toml, text)


def table(value: object) -> Mapping[str, Any]:
    """The value where it is a table or an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[Mapping[str, Any]]:
    """The tables or objects in a list; anything else is passed over."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def parsed_table(parse: Callable[[str], Any], text: str | None) -> Mapping[str, Any]:
    """The table or object that a text holds, an empty one where it holds none.

    Args:
        parse: reads the text, such as `from_json`.
        text: None for none.
    """
    try:
        return table(parse(text or ""))
    except ValueError:
        return {}


def strings(value: object) -> dict[str, str]:
    """The texts in a table or an object; anything else is passed over."""
    return {str(name): text for name, text in table(value).items() if isinstance(text, str)}


def _read(parse: Callable[[str], _Value], text: str) -> _Value:
    try:
        return parse(text)
    except RecursionError as error:
        raise ValueError(str(error)) from error
