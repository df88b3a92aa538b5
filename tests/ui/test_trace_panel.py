"""The steps of an answer: what is stored of them, and what the panel shows."""

import json

import pytest

from repopilot.trace import Finished, Started, Streamed
from repopilot.ui.trace.kept_steps import CHARACTERS_KEPT, STEPS_KEPT, TEXT_LIMIT, kept_steps
from repopilot.ui.trace.trace_panel import compared, trace_props


class Shown:
    question, command, request = "why?", "explain", "r1"

    def __init__(self, steps):
        self.steps = steps


def events(*steps):
    """(id, parent, name, data, output) as the events of a trace."""
    yield from (Started(id, parent, name, "tool", "asked", 0.0) for id, parent, name, _, _ in steps)
    yield from (Streamed(id, output) for id, _, _, _, output in steps)
    yield from (Finished(id, "ok", output, "", 1.5, data) for id, _, _, data, output in steps)


TRACE = (
    ("a", None, "work", {"model": "m", "completion_tokens": 12}, ""),
    ("b", "a", "rename_symbol", {"arguments": {"name": "f", "new_name": "g"}, "ok": True}, "2 files"),
    (
        "c",
        "a",
        "retrieve",
        {"hits": [{"path": "a.py", "start_line": 1, "score": 4.0}, {"path": "b.py", "score": 1.0}]},
        "",
    ),
    ("d", "a", "tests", {"passed": 3, "failed": 1, "errors": 1}, ""),
    ("e", "a", "debate", {}, ""),
    ("f", "e", "critic", {}, "no"),
    ("g", "e", "defender", {}, "yes"),
)


def test_the_panel_shows_calls_scores_tests_and_the_debate():
    props = trace_props("id", Shown(kept_steps(events(*TRACE), "en")), "en")
    (work,) = props["steps"]
    call, retrieval, tests, debate = work["children"]
    assert "12 tokens" in props["facts"] and "m" in props["facts"]
    assert call["arguments"] == [["name", "f"], ["new_name", "g"]] and call["output"] == "2 files"
    assert not call["input"]
    assert retrieval["tables"][0]["bars"] == [1.0, 0.25] and retrieval["tables"][0]["rows"][0][0] == "a.py:1-1"
    assert tests["tests"] == [3, 2]
    assert debate["columns"] and [child["title"] for child in debate["children"]] == ["Critic", "Defender"]
    json.dumps(props)


def test_two_traces_are_matched_by_the_names_of_their_steps():
    left = kept_steps(events(("a", None, "work", {}, ""), ("b", "a", "read", {}, ""), ("c", "a", "read", {}, "")), "en")
    right = kept_steps(
        events(("a", None, "work", {}, ""), ("b", "a", "read", {}, ""), ("c", "a", "check", {}, "")), "en"
    )
    rows = [(row["title"], bool(row["left"]), bool(row["right"])) for row in compared(left, right, "en")]
    assert rows == [("Work", True, True), ("Read", True, True), ("Read", True, False), ("Check the edits", False, True)]


@pytest.mark.slow
def test_what_is_stored_of_a_huge_trace_is_bounded():
    steps = [("0", None, "work", {}, "")] + [(str(n), "0", "read", {}, "x" * 3 * TEXT_LIMIT) for n in range(1, 3000)]
    (work,) = kept_steps(events(*steps), "en")
    assert len(work["children"]) == STEPS_KEPT - 1
    assert len(work["children"][0]["output"]) == TEXT_LIMIT + 1
    assert sum(len(child["output"]) for child in work["children"]) <= CHARACTERS_KEPT + STEPS_KEPT
