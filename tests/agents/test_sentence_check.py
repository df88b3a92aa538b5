"""Is a sentence of a model fit to be shown? Each reason why not, and what must pass."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.explain.sentence_check import (
    CheckedSentence,
    ClaimContext,
    bearing_text,
    check_sentence,
    in_other_language,
    is_fragment,
    repeats,
    subject_share,
)
from repopilot.types import Excerpt, Symbol

SESSIONS = Excerpt(
    1,
    "web/sessions.py",
    20,
    27,
    "SessionMiddleware.__init__",
    "def __init__(self, app, secret_key, max_age: int | None = 1209600):\n"
    '    """Keep the session in a signed cookie."""\n'
    "    self.signer = itsdangerous.TimestampSigner(str(secret_key))\n"
    "    self.max_age = max_age\n"
    "    if https_only:\n"
    '        self.security_flags += "; secure"\n'
    "    if not secret_key:\n"
    "        raise ValueError('no key')",
)
ROUTES = Excerpt(
    2,
    "web/routing.py",
    1,
    4,
    "Router.lookup",
    "def lookup(self, path):\n    for route in self.routes:\n        if route.matches(path):\n            return route",
)
QUESTION = "How long is a session cookie valid by default?"
CLASS = Symbol("SessionMiddleware", "SessionMiddleware", "class", "web/sessions.py", 10, 60)
GROUND = ClaimContext(
    [SESSIONS, ROUTES],
    "en",
    (QUESTION,),
    {"session": 3.0, "cooki": 4.0, "valid": 2.0},
    lambda anchor: False,
    lambda name: [CLASS] * (name == CLASS.name),
)


def reason(sentence: str, *earlier: str, ground: ClaimContext = GROUND) -> str:
    checked = check_sentence(sentence, ground, earlier)
    return checked.text if isinstance(checked, CheckedSentence) else checked


@pytest.mark.parametrize(
    "sentence",
    [
        "A session cookie is valid for `max_age` seconds, `1209600` by default [1].",
        "The session cookie lasts 1209600 seconds [1].",
        "`SessionMiddleware` keeps the session in a cookie signed by `TimestampSigner` [1].",
        "`__init__` raises `ValueError` [1].",
    ],
)
def test_a_supported_sentence_is_shown_as_it_stands(sentence: str) -> None:
    ground = replace(GROUND, asked=("What becomes of a session cookie by default?",))
    assert reason(sentence, ground=ground) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "The exception raised is [ [1].",
        "The code used is [1].",
        "The code snippet",
        "The default of `max_age` is",
        "The session cookie is valid for:",
        "`max_age` [1].",
        "It is set by `max_age [1].",
        "The session (see `max_age` [1].",
        "- `str`",
        "",
    ],
)
def test_fragments_are_dropped(sentence: str) -> None:
    assert reason(sentence) == "fragment"


def test_french_fragments_are_recognised() -> None:
    assert is_fragment("Le délai du cookie est la.") and not is_fragment("Le délai du cookie est fixe.")


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("La durée du cookie de la session est de 1209600 secondes par défaut [1].", "language"),
        ("会话的有效期由参数决定，默认为两周 [1].", "language"),
        ("The `RedisSessionStore` keeps the session cookie [1].", "invented"),
        ("Sessions are a common way to keep users logged in.", "uncited"),
        ("The session cookie is rotated weekly by a background job [1].", "unsupported"),
        ("The session cookie is valid for 3600 seconds [1].", "unsupported"),
        ("The session cookie is checked in line 77 [1].", "unsupported"),
        ("A session cookie is valid by default [1].", "repeated"),
        ("The code snippet shows how a session cookie is signed by `TimestampSigner` [1].", "off_topic"),
        ("The `lookup` method returns the first of its `routes` that `matches` [2].", "off_topic"),
        ("self.signer = itsdangerous.TimestampSigner(str(secret_key)).", "copied"),
    ],
)
def test_a_sentence_that_does_not_hold_is_dropped_for_its_reason(sentence: str, why: str) -> None:
    assert reason(sentence) == why


def test_a_wrong_number_is_replaced_by_that_of_the_supporting_excerpt() -> None:
    assert reason("The session cookie lasts `1209600` seconds [2].").endswith("[1].")
    assert reason("The session cookie lasts `1209600` seconds.").endswith("[1].")


def test_a_sentence_is_shown_once() -> None:
    said = "The session cookie lasts `1209600` seconds [1]."
    assert reason("The session cookie lasts for `1209600` seconds [1].", said) == "repeated"
    assert reason("The session cookie lasts as long as `max_age` says [1].", said) not in ("repeated", "fragment")


def test_words_of_a_french_sentence_are_looked_up_in_english() -> None:
    asked = "Où le cookie de session est-il validé ?"
    ground = replace(GROUND, language="fr", asked=(asked,))
    sentence = "La session est gardée dans un cookie signé par `TimestampSigner` [1]."
    assert reason(sentence, ground=ground) == sentence
    assert reason("The session is kept in a cookie which is signed [1].", ground=ground) == "language"


def test_the_lines_around_what_a_sentence_names_hold_the_subject() -> None:
    far = Excerpt(1, "a.py", 1, 40, "", "\n".join(["session = 1", *["x = 0"] * 30, "call(helper)"]))
    assert "session" not in bearing_text({"helper"}, far) and "session" in bearing_text({"missing"}, far)
    ground = ClaimContext([far], "en", ("Where is the session checked?",), {"session": 1.0})
    assert reason("It is checked by `helper` [1].", ground=ground) == "off_topic"
    assert reason("It is checked where `session` is set [1].", ground=ground).endswith("[1].")


def test_a_question_about_everything_has_no_subject() -> None:
    assert subject_share({}, "anything") == 1.0


@pytest.mark.slow
@given(st.text(max_size=120))
def test_any_text_is_checked(text: str) -> None:
    checked = check_sentence(text, GROUND)
    if isinstance(checked, CheckedSentence):
        assert re.findall(r"\[(\d)\]", checked.text)[-1] == str(checked.number)
        excerpt = {1: SESSIONS, 2: ROUTES}[checked.number]
        assert excerpt.start_line <= checked.lines[0] <= checked.lines[1] <= excerpt.end_line


@pytest.mark.slow
@given(st.lists(st.sampled_from("the session is kept `max_age` 600 in a cookie [ ( : . [1]".split()), max_size=12))
def test_what_is_shown_is_a_whole_sentence(words: list[str]) -> None:
    checked = check_sentence(" ".join(words), GROUND)
    if isinstance(checked, CheckedSentence):
        assert not is_fragment(re.sub(r" \[\d\]", "", checked.text), cited=True)
        assert checked.text.count("`") % 2 == 0


@given(st.text(alphabet="ab `.", min_size=1, max_size=30))
def test_every_sentence_repeats_itself(text: str) -> None:
    assert repeats(text, text)


def test_code_counts_for_no_language() -> None:
    assert not in_other_language("`le` `la` `les` `dans`", "en")


def test_a_sentence_without_end_is_none_and_is_not_looked_through():
    assert check_sentence("x " + "_" * 1_000_000 + ".", ClaimContext([SESSIONS])) == "fragment"
