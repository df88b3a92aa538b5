"""What a question asks of which subject."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.explain.forms.recognise import recognise

NAMED = [
    ("What calls dispatch?", "callers", ("dispatch",)),
    ("Which functions call `Cart.total`?", "callers", ("Cart.total",)),
    ("Where is parse_size called?", "callers", ("parse_size",)),
    ("Qui appelle parse_size\u202f?", "callers", ("parse_size",)),
    ("What does `Cart.total` call?", "callees", ("Cart.total",)),
    ("Which functions are called by load?", "callees", ("load",)),
    ("Which concrete classes inherit from BaseRoute?", "subclasses", ("BaseRoute",)),
    ("What implements the Codec interface?", "subclasses", ("Codec",)),
    ("Quelles classes héritent de BaseRoute ?", "subclasses", ("BaseRoute",)),
    ("What does Foo inherit from?", "bases", ("Foo",)),
    ("Which exceptions can load_config raise?", "raises", ("load_config",)),
    ("Quelle exception lève load_config ?", "raises", ("load_config",)),
    ("What does the render method of Template return?", "returns", ("render", "Template")),
    ("Que renvoie lookup_path ?", "returns", ("lookup_path",)),
    ("What parameters does add_route take?", "parameters", ("add_route",)),
    ("Quels paramètres prend add_route ?", "parameters", ("add_route",)),
    ("What is the default value of `timeout` in `Client.get`?", "default", ("timeout", "Client.get")),
    ("What does max_age default to?", "default", ("max_age",)),
    ("Quelle est la valeur par défaut de max_age ?", "default", ("max_age",)),
    ("What is MAX_RETRIES set to?", "value", ("MAX_RETRIES",)),
    ("Where is the Foo class defined?", "defined", ("Foo",)),
    ("Où est définie la classe Config ?", "defined", ("Config",)),
    ("Where is `max_body` checked?", "checked", ("max_body",)),
    ("Où max_body est-il vérifié ?", "checked", ("max_body",)),
    ("Where is retry_count set?", "set", ("retry_count",)),
]


@pytest.mark.parametrize(("question", "kind", "names"), NAMED)
def test_a_question_about_a_name_needs_no_search(question: str, kind: str, names: tuple[str, ...]) -> None:
    form = recognise(question)
    assert form is not None
    assert (form.kind, form.names, form.named) == (kind, names, True)


@pytest.mark.parametrize("question", ["Where is the cache cleared?", "What does the login page return?"])
def test_a_thing_in_ordinary_words_is_no_name(question: str) -> None:
    form = recognise(question)
    assert form is not None
    assert not form.named


@pytest.mark.parametrize("text", ["", "hello", "Add a --quiet flag", "How does the router work?", "x" * 5000])
def test_other_texts_have_no_form(text: str) -> None:
    assert recognise(text) is None


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    form = recognise(text)
    assert form is None or form.subject


@given(st.from_regex(r"[a-z]{2,8}_[a-z]{2,8}", fullmatch=True))
def test_any_identifier_is_found(name: str) -> None:
    for question in (f"What calls {name}?", f"What calls `{name}`?", f"Qui appelle {name} ?", f"who calls {name}()"):
        form = recognise(question)
        assert form is not None
        assert (form.kind, form.names) == ("callers", (name,))
