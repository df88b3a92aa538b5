"""The grammar and the schema of a reply: which names they admit, and that the engine takes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import ChatMessage
from support.models import model_settings

from repopilot import trace
from repopilot.agents.explain.grammar import ABSENT, names_of, sentence_grammar, sentence_schema
from repopilot.llm.backend import ChatOptions
from repopilot.llm.choice import choose
from repopilot.llm.resources import ModelResources
from repopilot.llm.stream import chat
from repopilot.types import Excerpt

CORS = Excerpt(
    2,
    "web/cors.py",
    10,
    13,
    "CORSMiddleware.__init__",
    'def __init__(self, app, max_age: int = 600, methods=("GET",)):\n'
    "    if \"*\" in methods:\n        methods = self.ALL_METHODS\n    raise errors.CORSError('bad \\\\ method')",
)


def admitted(grammar: str) -> set[str]:
    """Every name that the rules below `name` derive."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())

    def derive(rule: str) -> set[str]:
        found = set()
        for alternative in re.findall(r'("(?:\\.|[^"\\])*")(?: (name[\d-]*))?', rules[rule]):
            text = re.sub(r"\\(.)", r"\1", alternative[0][1:-1])
            found |= {text + rest for rest in derive(alternative[1])} if alternative[1] else {text}
        return found

    return derive("name")


def test_identifiers_paths_and_literals_of_the_excerpts_are_admitted() -> None:
    names = admitted(sentence_grammar([CORS], "for how long is it cached?"))
    assert {"max_age", "600", "max_age: int = 600", '"GET"', "GET", "web/cors.py", "cors.py"} <= names
    assert {"CORSMiddleware", "self.ALL_METHODS", "errors.CORSError", "CORSError", "__init__"} <= names
    assert "max_ages" not in names and "601" not in names


def test_only_numbers_of_excerpts_may_be_cited() -> None:
    grammar = sentence_grammar([CORS], "why?")
    assert 'number ::= "2"\n' in grammar and ABSENT not in grammar
    assert ABSENT in sentence_grammar([CORS], "why?", absence=True)
    sentence = sentence_schema([CORS])["properties"]["sentences"]["items"]
    assert sentence["properties"]["citation"]["enum"] == [2]


def test_names_that_share_words_with_the_question_are_kept_where_there_are_too_many() -> None:
    many = Excerpt(1, "a.py", 1, 300, "", "\n".join(f"value_{i} = other_{i}" for i in range(300)) + "\nmax_age = 600")
    assert "max_age" in admitted(sentence_grammar([many], "what is the maximal age?", most_names=20))
    assert names_of([many], "what is the maximal age?")[0].startswith("max_age")


def test_an_excerpt_without_names_gives_sentences_without_backticks() -> None:
    grammar = sentence_grammar([Excerpt(1, "语.语", 1, 1, "", "。。。")], "why?", most_names=0)
    assert "`" in grammar and "code" not in grammar and "name" not in grammar


@pytest.mark.slow
@given(st.lists(st.text(max_size=60), min_size=1, max_size=3), st.text(max_size=40))
def test_exactly_the_names_found_are_derived(texts: list[str], question: str) -> None:
    excerpts = [Excerpt(n, f"src/f{n}.py", 1, 1, "f", text) for n, text in enumerate(texts, 1)]
    grammar = sentence_grammar(excerpts, question, most_names=50)
    assert admitted(grammar) == set(names_of(excerpts, question)[:50])
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", grammar)


@pytest.mark.model
async def test_the_engine_writes_sentences_under_it(tmp_path) -> None:
    model = await choose.choose(model_settings(tmp_path), ModelResources())
    question = "For how many seconds is the reply cached by default?"
    asking = [ChatMessage(role="user", content=f"Excerpts:\n[2] {CORS.path}\n{CORS.text}\n\nQuestion: {question}")]
    options = ChatOptions(120, 0.0, grammar=sentence_grammar([CORS], question))
    try:
        async with trace.root(lambda event: None, "ask") as step:
            text = await chat(model, asking, step, options)
    finally:
        model.engine.stop()
    assert re.fullmatch(r"(?:[^`]|`[^`]+`)+\. \[2\](?: (?:[^`]|`[^`]+`)+\. \[2\]){0,3}", text) or len(text) > 200
    assert set(re.findall(r"`([^`]+?)(?:\(\))?`", text)) <= set(names_of([CORS], question))
