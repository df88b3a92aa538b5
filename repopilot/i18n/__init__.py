"""The words the program shows, in English and French: `en.toml` and `fr.toml`, looked up by dotted keys.

A text that is created before its reader is known (an error, a fallback) is a `Message`: an English string that
`localized` translates into the reader's language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial, reduce
from importlib.resources import files
from string import Formatter
from typing import Literal, cast

from repopilot import disk
from repopilot.errors import RepoPilotError

Language = Literal["en", "fr"]
LANGUAGES: tuple[Language, ...] = ("en", "fr")
_NUMERALS: dict[Language, dict[int, str]] = {"en": {}, "fr": str.maketrans({",": "\u202f", ".": ","})}
"""How each language writes the thousands separator and the decimal point."""


class Message(str):
    """A text of the catalogue in English that keeps its key and values, so that it can be translated."""

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, object]

    def __reduce__(self) -> tuple[object, ...]:
        return partial(message, self.key, **self.values), ()


def text(key: str, language: str = "en", /, **values: object) -> str:
    """The text of a key in a language, with its placeholders filled.

    Args:
        key: dotted, for example `review.heading`. A key with the forms `one` and `other` is chosen by `count`.
        language: `en`, `fr`, or a tag that begins so (`fr-CA`); any other is read as English.
        values: one for each placeholder of the text; messages among them are translated too, and numbers
            are formatted as in the language: `{files:,}` groups thousands, `{seconds:.1f}` has a decimal mark.

    Returns:
        The text.

    Raises:
        KeyError: no such key, or a placeholder without a value.
    """
    chosen = supported(language)
    entry = _catalogue(chosen)[_form(key, chosen, values)]
    return _Filler(chosen).vformat(entry, (), {name: localized(value, chosen) for name, value in values.items()})


def message(key: str, /, **values: object) -> Message:
    """The English text of a key, as a string that `localized` can translate. Raises as `text`."""
    result = Message(text(key, "en", **values))
    result.key = key
    result.values = values
    return result


def joined(parts: Iterable[str], separator: str = " ") -> str:
    """The parts as one text, '' for none. Where they are messages, so is the result."""

    def join(first: str, second: str) -> str:
        return message("format.joined", first=first, separator=separator, second=second)

    first, *rest = [*parts] or [""]
    return reduce(join, rest, first)


def first_names(names: Sequence[str], most: int) -> str:
    """The first names, separated by commas, and how many more there are, as a message.

    Args:
        names: all of them, as they are shown.
        most: how many are shown.
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else message("format.and_more", names=shown, count=len(names) - most)


def localized(value: object, language: str) -> object:
    """A `Message` translated into the language; any other value unchanged."""
    if not isinstance(value, Message):
        return value
    return text(value.key, language, **value.values)


def translated(value: str, language: str) -> str:
    """A `Message` translated into the language; any other string unchanged."""
    return str(localized(value, language))


def reason(error: Exception) -> str:
    """The text of an error: for one of ours its message and hint, still translatable; for others never ''."""
    if disk.is_full(error):
        return message("errors.disk_full", error=error)
    if not isinstance(error, RepoPilotError):
        return str(error) or type(error).__name__
    return message("errors.with_hint", message=error.message, hint=error.hint) if error.hint else error.message


def to_json(value: str) -> object:
    """A text as JSON: a `Message` with its key and values, so that it can be translated later."""
    if not isinstance(value, Message):
        return value
    values = {name: to_json(item) if isinstance(item, str) else item for name, item in value.values.items()}
    return {"text": str(value), "key": value.key, "values": values}


def from_json(data: object) -> str:
    """The inverse of `to_json`; the English text where the catalogue no longer has its key."""
    if not isinstance(data, Mapping):
        return str(data)
    values = {name: from_json(item) if isinstance(item, Mapping) else item for name, item in data["values"].items()}
    try:
        return message(data["key"], **values)
    except KeyError:
        return data["text"]


def supported(language: str) -> Language:
    """The supported language that a tag (`fr`, `fr-CA`, `en_GB`) stands for; English for any other tag."""
    short = language.lower().replace("_", "-").split("-")[0]
    return next((known for known in LANGUAGES if known == short), "en")


def term(prefix: str, name: str, language: str) -> str:
    """The word for an id, for example of a step.

    Args:
        prefix: the section of the catalogue, for example `steps`.
        name: the id; its key has underscores for spaces.
        language: as for `text`.

    Returns:
        The text of the key; the id itself where the catalogue doesn't have it.
    """
    return _catalogue(supported(language)).get(f"{prefix}.{name.replace(' ', '_')}", name)


def number(value: float, language: str, spec: str = ",") -> str:
    """A number with the separators of a language.

    Args:
        value: the number.
        language: as for `text`.
        spec: how to format it, as in a format string.
    """
    return f"{value:{spec}}".translate(_NUMERALS[supported(language)])


def section(prefix: str, language: str) -> dict[str, str]:
    """All texts below a prefix, by the rest of their keys: what an element in the browser gets."""
    start = prefix + "."
    return {key[len(start) :]: entry for key, entry in _catalogue(supported(language)).items() if key.startswith(start)}


class _Filler(Formatter):
    """Fills placeholders, numbers among them formatted as in the language."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return number(value, self._language, format_spec)
        return super().format_field(value, format_spec)


def _form(key: str, language: Language, values: Mapping[str, object]) -> str:
    """The key itself, or its plural form for `count`; zero is singular in French."""
    if f"{key}.other" not in _catalogue(language):
        return key
    count = cast(float, values["count"])
    return f"{key}.one" if count == 1 or (language == "fr" and 0 <= count < 2) else f"{key}.other"


@cache
def _catalogue(language: Language) -> dict[str, str]:
    return _flat(tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8")))


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{prefix}{name}."))
        else:
            found[prefix + name] = str(value)
    return found
