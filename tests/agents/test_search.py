"""The agent of /search: places as data, as evidence and as text; no model is asked."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter
from support.shop_workspace import shop_workspace, traced

from repopilot.agents.search.render import search_json
from repopilot.assistant import answer
from repopilot.results import Answer, SearchReport


async def test_a_search_lists_places_as_data_evidence_and_text(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path)
    done, outline, _ = await traced(lambda step: answer("validate token lang:python", workspace, step, "SEARCH"))
    assert isinstance(done.result, SearchReport) and done.result.places[0].path == "shop/auth.py"
    assert done.route is not None and done.route.intent == "SEARCH"
    assert done.evidence[0].lines and done.evidence[0].path == "shop/auth.py"
    assert "shop/auth.py:" in done.text and "places, in" in done.text
    assert "retrieve" in outline and "answer" not in outline
    stored = TypeAdapter(Answer)
    assert stored.validate_json(stored.dump_json(done)) == done


async def test_the_command_alone_shows_examples(tmp_path: Path) -> None:
    done, _, _ = await traced(lambda step: answer("", shop_workspace(tmp_path), step, "SEARCH"))
    assert done.text.count("`/search ") > 3


async def test_nothing_found_is_said_in_the_language_of_the_question(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path)
    done, _, _ = await traced(lambda step: answer("zzyzx qwxyz dans les fichiers", workspace, step, "SEARCH"))
    assert isinstance(done.result, SearchReport)
    document = search_json(done.result)
    assert json.loads(json.dumps(document)) == document
