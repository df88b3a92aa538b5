"""Secrets in the forms of `bench/planted_secrets.py` disappear, whatever their value, and nothing else does."""

import random

import pytest

from bench.planted_secrets import FORMS, Form, leaked, missed
from bench.unseen_secrets import FORMS as UNSEEN
from repopilot.redaction.redact import MARK, redact

SEEDS = range(5)


@pytest.mark.parametrize("form", FORMS, ids=[form.path for form in FORMS])
def test_planted_forms_disappear(form: Form) -> None:
    for seed in SEEDS:
        value = form.draw(random.Random(f"{seed}{form.path}"))
        text = f"first line\n{form.text.format(value)}last line\n"
        after, rules = redact(text)
        assert not leaked(value, after)
        assert rules and MARK in after
        assert after.startswith("first line\n") and after.endswith("last line\n")
        assert after.count("\n") == text.count("\n")
        assert redact(after) == (after, ())


def test_of_all_forms_at_least_98_percent_disappear() -> None:
    every = (*FORMS, *UNSEEN)
    assert len(every) > 250
    assert len(missed(every, seed=21)) <= 0.02 * 3 * len(every)


def test_only_the_value_is_redacted() -> None:
    assert redact("DB_PASSWORD=xK9#mQ2vLp7w # of the shop\n")[0] == "DB_PASSWORD=[REDACTED:password] # of the shop\n"
    assert redact('login("ann", "xK9#mQ2vLp7w", retry=3)')[0] == 'login("ann", "[REDACTED:password]", retry=3)'
