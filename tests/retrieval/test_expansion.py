"""What the index adds to a query: corrections, words joined or split; and what it leaves alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.index.lexical import LexicalIndex, terms_of
from repopilot.index.tokens import expand
from repopilot.retrieval.query.expansion import MOST_CORRECTIONS, corrections, expanded
from repopilot.retrieval.query.parse import MOST_TERMS, parse
from repopilot.retrieval.query.spelling import correction, vocabulary
from repopilot.types import Chunk

SOURCES = {
    "shop/settings.py": "max_upload_bytes = 5_000_000\nconnection_timeout = 3\ndb_name = 'shop'\nsession_parameter = 1",
    "shop/auth.py": "def validate_token(session):\n    'Checks the configuration and the blueprint directory.'\n",
    "shop/context.py": "class RequestContext:\n    def push(self, template, environment, handler): ...",
}


@pytest.fixture(scope="module")
def lexical():
    names = {
        "shop/settings.py": ["max_upload_bytes", "connection_timeout", "db_name"],
        "shop/auth.py": ["validate_token"],
    }
    items = [
        terms_of(Chunk(str(n), path, 1, 5, "python", "module", "", text), [*names.get(path, ["RequestContext"])])
        for n, (path, text) in enumerate(SOURCES.items())
    ]
    return LexicalIndex.build(items)


@pytest.fixture(scope="module")
def words(lexical):
    return vocabulary(lexical)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("timeuot", "timeout"),
        ("tiemout", "timeout"),
        ("configuraton", "configuration"),
        ("blueprnit", "blueprint"),
        ("sesion", "session"),
        ("direcotry", "directory"),
        ("enviroment", "environment"),
        ("tempalte", "template"),
        ("paramter", "parameter"),
        ("validaton", "validation"),
    ],
)
def test_a_misspelt_word_is_corrected(lexical, words, wrong, right):
    assert correction(wrong, lexical, words) == right


@pytest.mark.parametrize(
    "word", ["timeout", "Session", "throughput", "pipeline", "tokn", "x", "", "größe", "largest", "asset"]
)
def test_known_common_and_short_words_are_not_corrected(lexical, words, word):
    assert correction(word, lexical, words) == ""


@pytest.mark.parametrize(
    ("question", "token"),
    [
        ("where is the dbname set?", "db_name"),
        ("where is the uploadbytes limit?", "upload"),
        ("how long is the connection time out?", "timeout"),
        ("what pushes the request context?", "requestcontext"),
    ],
)
def test_words_are_joined_and_split(lexical, words, question, token):
    query = parse(question)
    assert token not in query.terms
    assert token in expanded(query, lexical, lambda: words).terms


def test_a_correction_is_said(lexical, words):
    query = expanded(parse("where is the timeuot set?"), lexical, lambda: words)
    assert "timeout" in query.notes[-1] and "timeuot" in query.notes[-1]


def test_a_misspelt_name_is_corrected(lexical, words):
    assert "blueprint" in expanded(parse("blueprnit"), lexical, lambda: words).names


def test_french_words_are_not_corrected_to_english_ones(lexical, words):
    assert not corrections(parse("où est vérifiée la session ? la sessions envoyee"), lexical, lambda: words)


@pytest.mark.parametrize(
    "text", ["Fix the timeuot", "fix(db): sesion", 'Traceback\n  File "a.py", line 3, in timeuot\n']
)
def test_tasks_and_stack_traces_stay_as_they_are(lexical, words, text):
    query = parse(text)
    assert expanded(query, lexical, lambda: words) == query


def test_an_empty_index_adds_nothing():
    empty = LexicalIndex.build([])
    query = parse("where is the timeuot set?")
    assert expanded(query, empty, lambda: vocabulary(empty)) == query


_WORDS = st.sampled_from(
    "timeuot timeout where is set the sesion dbname largest upload qqqqqq requset context out".split()
)


@pytest.mark.slow
@given(st.lists(_WORDS | st.text(max_size=12), max_size=20))
def test_what_a_query_has_is_kept_and_what_is_added_is_in_the_index(lexical, words, found):
    query = parse(" ".join(found))
    result = expanded(query, lexical, lambda: words)
    assert query.terms.items() <= result.terms.items()
    assert set(query.names) <= set(result.names)
    assert len(result.terms) <= MOST_TERMS + len(query.terms)
    assert result.terms.keys() - query.terms.keys() <= lexical.tokens.keys()
    spellings = corrections(query, lexical, lambda: words)
    assert len(spellings) <= MOST_CORRECTIONS
    assert not any(set(expand(word)) & lexical.tokens.keys() for word in spellings)


@given(st.text("abcdefghimnoprstuvy", min_size=5, max_size=24))
def test_any_word_is_corrected_to_a_word_of_the_index_or_not_at_all(lexical, words, word):
    found = correction(word, lexical, words)
    assert not found or set(expand(found)) & lexical.tokens.keys()
