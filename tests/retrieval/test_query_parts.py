"""Questions of several parts: where they are split, and where they aren't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.query.query_parts import MOST_PARTS, parts

SPLIT = {
    "How does the router match a path, and where is the cache size configured?": (
        "How does the router match a path",
        "where is the cache size configured?",
    ),
    "How are sessions signed? Which class stores the secret key?": (
        "How are sessions signed?",
        "Which class stores the secret key?",
    ),
    "request context vs application context": ("request context", "application context"),
    "What is the difference between `open_session` and the cookie interface?": (
        "`open_session`",
        "the cookie interface",
    ),
    "What is the relation between import and app names and the package loader?": (
        "import and app names",
        "the package loader",
    ),
    "Quelle est la différence entre le contexte de requête et le contexte d'application ?": (
        "le contexte de requête",
        "le contexte d'application",
    ),
    "Comment les jetons sont-ils signés et où est vérifiée la signature ?": (
        "Comment les jetons sont-ils signés",
        "où est vérifiée la signature ?",
    ),
    "I need to know:\n- how the cache is filled\n- where old entries are dropped": (
        "I need to know: how the cache is filled",
        "where old entries are dropped",
    ),
}
WHOLE = [
    "",
    "?",
    "How does the router work?",
    "How do I read and write files?",
    "How does it work, and why?",
    "Where is version 1.2 parsed?",
    "void main() {\n  run();\n}\nwhat is this? And why is it slow?",
]


@pytest.mark.parametrize("question", SPLIT)
def test_a_question_of_several_parts_is_split(question):
    assert parts(question) == SPLIT[question]


@pytest.mark.parametrize("question", WHOLE)
def test_a_question_of_one_part_is_not(question):
    assert parts(question) == ()


@given(st.text(max_size=300))
def test_parts_come_from_the_question_in_their_order(question):
    found = parts(question)
    assert len(found) != 1
    assert len(found) <= MOST_PARTS
    assert sum(map(len, found)) <= len(question) + len(found)


def test_a_very_long_text_is_quick():
    assert parts("how and where " * 100_000) == ()
    assert len(parts("how is the cache filled, and " * 100)) <= MOST_PARTS
