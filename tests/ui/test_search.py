"""The element of /search: its words, its filters, and what a reload keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import shop_workspace

from repopilot import i18n
from repopilot.agents.search.grep import grep_report
from repopilot.index.file_roles import ROLES
from repopilot.intents import commands
from repopilot.results import Answer
from repopilot.retrieval.query.parse import parse, without_filters
from repopilot.retrieval.ranking.signals import KINDS
from repopilot.retrieval.ranking.weights import all_weights
from repopilot.retrieval.result_page import search_page
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import SearchReport
from repopilot.ui.answer.answer_view import sources_props
from repopilot.ui.answer.ask import in_language
from repopilot.ui.answer.search_view import search_props, why_label, why_rows, with_filters
from repopilot.ui.chat import Chat, Process
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.messages import ParsedMessage, parse_message

FILTERS = st.lists(
    st.tuples(
        st.sampled_from(["file", "kind", "symbol", "lang"]),
        st.text("abc/*. -", min_size=1).filter(lambda value: value == value.strip()),
    ),
    max_size=4,
)


@pytest.mark.slow
@given(st.text("abc de\n", max_size=30), FILTERS)
def test_filters_put_into_a_query_are_read_out_again(text, filters) -> None:
    query = with_filters(text, filters)
    assert without_filters(query) == text.strip()
    found = parse(query).filters
    wanted = {(name, value) for name, value in filters}
    assert wanted == {
        *(("file", value) for value in found.files),
        *(("kind", value) for value in found.kinds),
        *(("symbol", value) for value in found.symbols),
        *(("lang", value) for value in found.languages),
    }


def test_the_command_alone_is_a_question() -> None:
    assert parse_message("/search", "", commands()) == ParsedMessage("question", "", "search")
    assert parse_message("/explain", "", commands()).kind == "empty"


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_contribution_has_plain_words(language: str) -> None:
    sets = all_weights().values()
    names = {*(name for one in sets for name in one.passages), *(f"file: {name}" for one in sets for name in one.files)}
    names |= {"file: history, absolute", "same file", "meaning", "defines it", "stack frame"}
    names |= {"phrase", *(f"kind {kind}" for kind in KINDS), *(f"file: {role}" for role in ROLES)}
    for name in names:
        assert why_label(name, language) not in (name, name.replace("file: ", "file."))
    assert why_label("some new signal", language) == "some new signal"
    assert why_label("file: some new signal", language).endswith(": some new signal")


def test_contributions_are_listed_by_size_with_their_sign() -> None:
    rows = why_rows({"words": 1.0, "length": -2.0, "function": 0.5}, "en")
    assert [(row["size"], row["share"], row["negative"]) for row in rows] == [
        ("−2.00", 1.0, True),
        ("+1.00", 0.5, False),
        ("+0.50", 0.25, False),
    ]
    assert why_rows({}, "en") == []


@pytest.mark.slow
def test_a_page_offers_filters_more_places_and_what_to_try(tmp_path: Path) -> None:
    index = shop_workspace(tmp_path).index
    props = search_props("m", search_page(index, "cart lang:py", 2), "en")
    assert json.loads(json.dumps(props)) == props
    assert props["filters"] == [
        {"name": "lang", "value": "py", "label": "lang:py", "remove": "Remove the filter lang:py"}
    ]
    languages = next(facet for facet in props["facets"] if facet["name"] == "lang")
    assert [value["value"] for value in languages["values"] if value["chosen"]] == ["python"]
    assert props["summary"].startswith("2 places · ") and props["next"] and not props["empty"]
    (first, second) = props["places"]
    assert (first["number"], second["number"]) == (1, 2) and first["lines"] and first["why"]
    nothing = search_props("m", search_page(index, "zzyzx"), "fr")
    assert "zzyzx" in nothing["empty"] and not nothing["places"] and not nothing["next"]


@pytest.mark.slow
async def test_exact_lines_are_grouped_by_file_and_counted_without_what_only_ranking_has(tmp_path: Path) -> None:
    found = await grep_report("-i def", shop_workspace(tmp_path), 2)
    props = search_props("m", found, "en")
    assert props["exact"] and props["query"] == "-i def" and not props["facets"] and props["next"]
    assert props["summary"].startswith(f"{found.total} lines match in {found.files} files")
    first = props["places"][0]
    assert first["title"] == found.places[0].path and first["kind"] == f"{len(first['lines'])} lines"
    assert not first["why"] and not first["all"]
    assert "-F" in props["words"]["try_name"]


def test_notes_are_kept_in_the_language_they_were_shown_in() -> None:
    note = i18n.message("search.useless_filter", filter="lang:x")
    answer = in_language(Answer("", result=SearchReport("q", notes=(note,))), "fr")
    assert isinstance(answer.result, SearchReport)
    assert answer.result.notes == (i18n.text("search.useless_filter", "fr", filter="lang:x"),)


def test_notes_below_an_answer_are_plain_text() -> None:
    """The page shows them as they are: an escape of Markdown would be read."""
    note = "org.apache:surefire:3 of `a:b` *isn't* there\u202e"
    props = sources_props("answer", Exchange("q", "", Answer("", degraded=(note,))), "en")
    assert props["notes"] == [note.replace("\u202e", "\\u202e")]


def test_a_search_is_no_turn_of_the_conversation() -> None:
    said = Exchange("how does it work?", "", Answer("so"))
    looked_up = Exchange("retry", "search", Answer("", result=SearchReport("retry")))
    chat = Chat(Process(Runtime(Settings())), exchanges=[said, looked_up])
    assert [turn.question for turn in chat.turns] == ["how does it work?"]
