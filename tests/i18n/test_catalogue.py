"""The catalogue: the same keys and placeholders in every language, and how texts are looked up."""

from __future__ import annotations

import json
import pickle
import re
from string import Formatter

import pytest

from repopilot import i18n
from repopilot.i18n import LANGUAGES, Message, localized, message, supported, translated


def placeholders(entry: str) -> set[str]:
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(entry) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_language_has_the_same_keys_and_placeholders(language: str) -> None:
    english, other = (i18n._catalogue(code) for code in ("en", language))
    assert english.keys() == other.keys()
    different = {key for key in english if placeholders(english[key]) != placeholders(other[key])}
    assert not different


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty(language: str) -> None:
    assert not [key for key, entry in i18n._catalogue(language).items() if not entry.strip()]


def test_a_message_is_english_text_that_can_be_translated() -> None:
    refused = message("assistant.refused", why=message("assistant.empty"))
    assert isinstance(refused, Message) and refused.startswith("I won't help with this: Ask something")
    assert translated(refused, "fr-CA").startswith("Je ne peux pas aider à cela : Posez une question")
    assert translated("plain", "fr") == localized("plain", "fr") == "plain"


def test_a_message_survives_pickling() -> None:
    sent = pickle.loads(pickle.dumps(message("assistant.empty")))
    assert sent == message("assistant.empty") and translated(sent, "fr") == i18n.text("assistant.empty", "fr")


@pytest.mark.parametrize(
    ("tag", "language"), [("fr", "fr"), ("fr-CA", "fr"), ("FR_fr", "fr"), ("de", "en"), ("", "en")]
)
def test_an_unknown_language_is_read_as_english(tag: str, language: str) -> None:
    assert supported(tag) == language


def test_an_unknown_key_or_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        i18n.text("assistant.no_such_text")
    with pytest.raises(KeyError):
        i18n.text("assistant.refused", "en")


def test_numbers_follow_the_language() -> None:
    assert i18n.number(1234.5, "en", ",.1f") == "1,234.5"
    assert i18n.number(1234.5, "fr", ",.1f") == "1\u202f234,5"
    assert i18n.text("format.file", "fr", count=12345) == "12\u202f345 fichiers"
    assert (
        i18n.text("format.file", "fr", count=0) == "0 fichier" and i18n.text("format.file", "en", count=0) == "0 files"
    )


def test_a_term_without_a_translation_is_shown_as_it_is() -> None:
    assert i18n.term("format", "commit", "fr") == "commit {commit}"
    assert i18n.term("format", "no such word", "fr") == "no such word"


def test_a_message_survives_json() -> None:
    stored = json.loads(json.dumps(i18n.to_json(message("assistant.refused", why=message("assistant.empty")))))
    read = i18n.from_json(stored)
    assert read == stored["text"] and translated(read, "fr").startswith(
        "Je ne peux pas aider à cela : Posez une question"
    )
    assert i18n.from_json(i18n.to_json("plain")) == "plain"


@pytest.mark.slow
def test_a_stored_message_whose_key_was_removed_stays_english() -> None:
    assert i18n.from_json({"text": "Old words.", "key": "assistant.no_such_text", "values": {}}) == "Old words."
