"""Which weights a query is ranked by."""

import pytest

from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.ranking.weights import all_weights, weight_set


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Add retries to the client", "task"),
        ("fix(router): keep the query\n\nIt was lost on redirects.", "task"),
        ("Return the parsed arguments as a dictionary.", "description"),
        ("Convert a row to JSON.\n\nNone stays None", "description"),
        ("printer: drop dependency on a serializer", "task"),
        ("core/text, dom: escape quotes in attributes", "task"),
        ("[Client] retry on a reset connection", "task"),
        ("Retries of the client\n\nThe last attempt was not counted.", "task"),
        ("error: cannot open the lock file", "question"),
        ("TypeError: expected a string\n\nIt happens on start.", "question"),
        ("The stream was closed:\n\nsee the log", "question"),
        ("[`String`] parser for argument values", "question"),
        ("where are retries configured?", "question"),
        ("where are retries configured", "question"),
        ("explain the retries", "question"),
        ("the largest upload", "question"),
        ("Cart.total", "lookup"),
        ("src/cart.py", "lookup"),
    ],
)
def test_a_query_has_the_weights_of_its_kind(text, expected):
    assert weight_set(parse(text)) == expected


def test_every_set_weighs_the_same_signals_of_words():
    assert {"lookup", "task", "question", "description"} == all_weights().keys()
    assert all({"words", "symbol name", "coverage"} <= weights.passages.keys() for weights in all_weights().values())
