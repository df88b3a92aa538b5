"""Secrets in the forms of `bench/planted_secrets.py` disappear, whatever their value, and nothing else does."""

import random

import pytest

from bench.planted_secrets import FORMS, Form, leaked
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
