"""An agent model's sentences on the page: marks that tell why one isn't checked; whatever it wrote stays text."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from repopilot.agents.explain.evidence_places import SHOWN
from repopilot.i18n import message
from repopilot.results import Answer, Explanation, Sentence
from repopilot.types import Citation, Evidence
from repopilot.ui.answer.parts.evidence_view import evidence_props
from repopilot.ui.answer.parts.sentence_marks import marked_answer

PLACE = Citation(1, "src/a.py", 10, 12, "c" * 40, "f", supported=False)
NO_PLACE = message("explain.sentence.no_place")


def shown(*sentences: Sentence, layout=None, language: str = "en") -> str:
    pieces = layout or [piece for n in range(1, len(sentences) + 1) for piece in (n, " ")]
    explained = Explanation(lead="-", layout=tuple(pieces), cited=1)
    return marked_answer(Answer("-", (PLACE,), result=explained, sentences=sentences), explained, "m", language)


def test_a_checked_sentence_is_plain_and_the_others_have_a_mark():
    unchecked = Sentence("Perhaps.", "unchecked", NO_PLACE)
    wrong = Sentence("`g[0]` does ~it~ [1].", "contradicted", message("explain.sentence.nowhere", name="g[0]"))
    text = shown(Sentence("It does [1].", "checked"), unchecked, wrong)
    assert text.splitlines() == [
        "It does [1](#cite-m-1). ~~Perhaps.~~ [not checked: it cites no lines](#unchecked-m-2) "
        "~~`g[0]` does &#126;it&#126; [1](#cite-m-1).~~ "
        "[contradicted: `g[0]` exists neither in this repository nor in what it imports](#contradicted-m-3)",
        "",
        "*1 of 3 sentences checked. Not checked: [sentence 2](#to-unchecked-m-2). "
        "Contradicted: [sentence 3](#to-contradicted-m-3).*",
    ]
    assert "[non vérifiée : elle ne cite aucune ligne](" in shown(unchecked, language="fr")


def test_code_has_its_mark_below_it_also_where_its_fence_never_ends():
    code = Sentence("```python\nx = a[1]\n", "unchecked", NO_PLACE)
    assert shown(code).startswith("```python\nx = a[1]\n\n```\n\n[not checked: it cites no lines](#unchecked-m-1)\n")


@given(st.text(st.sampled_from("ab `~*_[](:)<!/#1\\"), max_size=30), st.sampled_from(("unchecked", "contradicted")))
def test_nothing_that_a_model_writes_becomes_a_link_or_a_mark_of_its_own(written, status):
    text = shown(Sentence(f"x {written} y.", status, message("explain.sentence.not_read", name=written)))
    outside = re.sub(r"(?<![`\\])(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    assert f"](#{status}-m-1)" in outside, "the mark isn't taken for code"
    ours = ("#cite-m-1)", f"#{status}-m-1)", f"#to-{status}-m-1)")
    assert all(target.startswith(ours) for target in re.split(r"\]\(", outside)[1:])


def test_cited_places_come_first_and_unfolded_with_their_cut_marked():
    lines = tuple((n, f"line {n}") for n in range(1, 41))
    cited = [Evidence(n, "a.py", 1, 60 if n == 1 else 40, "", lines) for n in range(1, SHOWN + 3)]
    more = Evidence(len(cited) + 1, "b.py", 5, 9)
    text = "\n".join(f"line {n}" for n in range(1, 80))
    props = evidence_props("m", [*cited, more], lambda place: text, "en", len(cited))
    assert len(props["shown"]) == props["unfolded"] == len(cited)
    assert [place["cut"] for place in props["shown"][:2]] == [True, False]
    assert [place["lines"] for place in props["folded"]] == [[]] and props["more"] == "1 more place"


@pytest.mark.slow
def test_an_answer_stored_before_there_were_sentences_is_read():
    adapter = TypeAdapter(Answer)
    old = adapter.dump_python(Answer("a", result=Explanation(lead="a")), mode="json")
    for name in ("layout", "cited"):
        del old["result"][name]
    del old["sentences"]
    assert adapter.validate_python(old).result == Explanation(lead="a")
    new = Answer("a", sentences=(Sentence("a.", "checked"),), result=Explanation(lead="a", layout=("1", 1, " ")))
    assert adapter.validate_json(adapter.dump_json(new)) == replace(new)
