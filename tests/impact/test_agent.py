"""The agent: what a question means, what the model may add, what the picture shows."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from support.impact_case import SHOP
from support.shop_workspace import answering, traced

from repopilot.errors import ModelError, UsageError
from repopilot.impact.agent import impact, impact_json, impact_report
from repopilot.impact.model_notes import ModelNote, supported_notes
from repopilot.impact.svg import graph_svg
from repopilot.results import AffectedPlace, ChangedFile, ImpactReport, Turn
from repopilot.types import FileChange
from repopilot.workspace import Workspace


async def _asked(workspace: Workspace, question: str):
    return await traced(lambda step: impact(question, workspace, step))


async def test_a_question_about_a_file_is_answered_with_places_and_a_picture(shop):
    answer, outline, _ = await _asked(shop, "What breaks if I change shop/prices.py?")
    assert outline == "turn\n  what changes\n  changed code\n  evidence\n  answer"
    assert "`Cart.total` in `shop/cart.py`:9 [1]" in answer.text
    first = answer.citations[0]
    assert (first.path, first.start_line, first.symbol) == ("shop/cart.py", 9, "Cart.total")
    assert answer.evidence[0].lines == ((9, "        return sum(price(line) for line in self.lines)"),)
    assert isinstance(answer.result, ImpactReport)
    json.dumps(impact_json(answer.result))
    ElementTree.fromstring(graph_svg(answer.result))


@pytest.mark.parametrize(
    ("question", "changed"),
    [
        ("impact of changing `price`?", {"shop/prices.py"}),
        ("what depends on Cart.total()?", {"shop/cart.py"}),
        ("Quel est l'impact de nobody_calls_this ?", {"shop/lonely.py"}),
        ("who calls price", {"shop/prices.py"}),
        ("what depends on the function checkout?", {"shop/web.py"}),
        ("where is price used", {"shop/prices.py"}),
        ("qui utilise la fonction price ?", {"shop/prices.py"}),
        ("is it safe to edit web.py", {"shop/web.py"}),
        ("what did HEAD~1..HEAD touch", {"shop/prices.py", "shop/web.py", "shop/lonely.py"}),
        ("the impact of the last commit", {"shop/prices.py", "shop/web.py", "shop/lonely.py"}),
    ],
)
async def test_what_a_question_means(shop, question, changed):
    answer, _, _ = await _asked(shop, question)
    assert {c.path for c in answer.result.changed} == changed


async def test_uncommitted_changes(shop):
    (shop.snapshot.root / "shop/lonely.py").write_text("def nobody_calls_this():\n    return 2\n")
    answer, _, _ = await _asked(shop, "what is the impact of my uncommitted changes?")
    assert [c.path for c in answer.result.changed] == ["shop/lonely.py"]


async def test_the_code_just_generated(shop):
    old = SHOP["shop/prices.py"].split("\n")
    diff = f"@@ -1,2 +1,2 @@\n-{old[0]}\n+def price(item, tax):\n {old[1]}\n"
    turn = Turn("generate", "done", "GENERATE", (FileChange("shop/prices.py", "modified", diff, ""),))
    answer, _, _ = await _asked(replace(shop, turns=(turn,)), "and what does that affect?")
    assert answer.result.changed[0].symbols == ("price",)


async def test_a_vague_question_says_what_was_taken(shop):
    answer, _, _ = await _asked(shop, "what would a change of the checkout touch")
    assert "No file or symbol was named" in answer.text
    assert answer.result.changed[0].path.startswith("shop/")


async def test_a_question_about_nothing(shop):
    with pytest.raises(UsageError, match="names no file"):
        await _asked(shop, "zzz qqq xxx?")


SAID = {
    "risks": [
        {"text": "Totals in `Cart.total` may come out wrong.", "evidence": ["A1"]},
        {"text": "The moon may fall down on everybody.", "evidence": ["Z9"]},
        {"text": "The file `shop/other.py` may break.", "evidence": ["A1"]},
    ],
    "recommendations": [{"text": "Run the test of the cart.", "evidence": ["T1", "Q1"]}],
}


async def test_the_model_adds_what_is_tied_to_evidence_and_nothing_else(shop):
    model = answering(lambda prompt: json.dumps(SAID))
    report, outline, _ = await traced(
        lambda step: impact_report(replace(shop, model=model), step, ["shop/prices.py:price"])
    )
    assert "risks and recommendations" in outline
    assert [r.text for r in report.risks if r.source == "model"] == [SAID["risks"][0]["text"]]
    (said,) = [r for r in report.recommendations if r.source == "model"]
    assert said.evidence == ("T1",)


@pytest.mark.parametrize("reply", ["not json at all", '{"risks": 1}', ModelError("gone away")])
async def test_a_failing_model_leaves_the_report_and_says_so(shop, reply):
    plain, _, _ = await traced(lambda step: impact_report(shop, step, ["shop/prices.py"]))
    model = answering(lambda prompt: [reply] if isinstance(reply, Exception) else reply)
    found, _, events = await traced(lambda step: impact_report(replace(shop, model=model), step, ["shop/prices.py"]))
    assert found == plain
    assert any("without the model's notes" in str(e) for e in events)


def test_notes_without_evidence_or_naming_strangers_are_dropped():
    items = {"A1": "shop/cart.py Cart.total calls price"}
    points = [ModelNote(text="`Cart.total` changes its result.", evidence=["A1"]),
              ModelNote(text="`Other` changes its result.", evidence=["A1"]),
              ModelNote(text="Something changes here too.", evidence=["B1"]),
              ModelNote(text="`Cart.total` changes its result.", evidence=["A1"])]  # fmt: skip
    (kept,) = supported_notes(points, items)
    assert (kept.text, kept.evidence) == ("`Cart.total` changes its result.", ["A1"])


async def test_the_picture_is_self_contained_and_coloured_by_distance(shop):
    report, _, _ = await traced(lambda step: impact_report(shop, step, ["shop/prices.py"]))
    svg = graph_svg(report)
    texts = ["".join(node.itertext()) for node in ElementTree.fromstring(svg)]
    assert any("shop/cart.py" in text for text in texts)
    assert not any(word in svg for word in ("<script", "href", "url(", "<style", "@import", "onload"))
    assert len({part.split('"')[0] for part in svg.split('rx="5" fill="')[1:]}) == 3


def test_a_picture_of_nothing_and_of_hostile_names():
    ElementTree.fromstring(graph_svg(ImpactReport("UNKNOWN")))
    name = "a<b>&\"'\x00\x1b/" + "x" * 100 + ".py"
    changed = ChangedFile("M1", name)
    many = tuple(AffectedPlace(f"A{i}", f"{name}{i}", via=name) for i in range(40))
    svg = graph_svg(ImpactReport("HIGH", affected=many, changed=(changed,)))
    assert "and 28 more" in "".join(ElementTree.fromstring(svg).itertext())
    json.dumps(impact_json(ImpactReport("HIGH", affected=many)))


def test_a_point_gets_the_evidence_of_what_it_names():
    items = {"M1": "changes shop/prices.py (modified): price", "A1": "shop/cart.py Cart.total calls price, 1 hops away"}
    points = [
        ModelNote(text="Changing shop/prices.py may break `Cart.total`.", evidence=["A1"]),
        ModelNote(text="Changing shop/prices.py may break `Basket`.", evidence=["A1"]),
    ]
    assert [(p.text, p.evidence) for p in supported_notes(points, items)] == [(points[0].text, ["A1", "M1"])]


@pytest.mark.parametrize(
    "text",
    [
        "The change modifies shop/prices.py, which is significant.",  # nothing beyond the change
        "Consider changing `price` in shop/prices.py with care.",
        "The change in `shop/cart.py` may break the checkout.",  # another file changes
        "The change is not directly related to `Cart.total`.",  # the evidence says it is
        "It doesn't affect `Cart.total` at all.",
    ],
)
def test_empty_mistaken_and_denying_points_are_dropped(text):
    items = {"M1": "changes shop/prices.py (modified): price", "A1": "shop/cart.py Cart.total calls price, 1 hops away"}
    assert supported_notes([ModelNote(text=text, evidence=["A1", "M1"])], items) == []


async def test_a_model_too_small_for_prose_is_not_asked_and_that_is_said(shop):
    model = replace(answering(lambda prompt: json.dumps(SAID)), name="qwen2.5-coder:0.5b")
    report, outline, events = await traced(
        lambda step: impact_report(replace(shop, model=model), step, ["shop/prices.py:price"])
    )
    assert all(r.source == "rule" for r in (*report.risks, *report.recommendations))
    assert "risks and recommendations" not in outline and "is not asked" in str(events)


async def test_the_report_speaks_the_language_of_the_question(shop):
    answer, _, _ = await _asked(shop, "Qu'est-ce qui casse si je change shop/prices.py ?")
    assert "**Risque" in answer.text and "9 [1]\u202f: appelle price" in answer.text
    assert "Exécutez tests/test_cart.py." in answer.text
    assert "un historique de 3 commits est trop court" in answer.text


def test_the_picture_has_headings_in_both_languages():
    report = ImpactReport(
        "LOW", affected=(AffectedPlace("A1", "b.py", via="a.py"),), changed=(ChangedFile("M1", "a.py"),)
    )
    assert ">1 hop</text>" in graph_svg(report) and ">1 saut</text>" in graph_svg(report, "fr")
