"""The agent: what a question means, what the picture shows."""

import json
import subprocess
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from support.impact_case import SHOP
from support.shop_workspace import answering, traced

from repopilot.agents.impact.agent import impact
from repopilot.errors import UsageError
from repopilot.impact.impact_report import impact_json, impact_of_files, impact_report
from repopilot.impact.svg import graph_svg
from repopilot.results import AffectedPlace, ChangedFile, ImpactReport, Turn
from repopilot.tools.file_change import change
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


async def test_uncommitted_changes(repository):
    shop = repository(SHOP)
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
    answer, _, _ = await _asked(shop, "what would a change of the price at the checkout touch")
    assert "No file or symbol was named" in answer.text
    assert answer.result.changed[0].path.startswith("shop/")


CLINIC = {
    "src/main/java/clinic/Pet.java": "package clinic;\n\npublic class Pet {\n    private String name;\n}\n",
    "src/main/java/clinic/PetController.java": "package clinic;\n\npublic class PetController {\n"
    "    Pet find(int number) {\n        return new Pet();\n    }\n}\n",
    "src/main/java/clinic/Downloader.java": "package clinic;\n\n/** Adds a passport to the download number. */\n"
    "public class Downloader {\n    void add(String number) {}\n}\n",
    "src/main/resources/schema.sql": "CREATE TABLE pets (\n  id INTEGER PRIMARY KEY,\n  name VARCHAR(30)\n);\n",
    "src/main/resources/clinic.css": ".pets { add: number; }\n",
}


@pytest.mark.parametrize(
    "wish",
    [
        "add a passport number to the pets",
        "Add a date of birth to a pet",
        "what would it touch to add a passport number to the pets?",
        "ajouter un numéro de passeport aux animaux",
        "Que toucherait l'ajout d'un numéro de passeport aux animaux ?",
    ],
)
async def test_a_wish_in_words_touches_the_things_that_it_speaks_of(repository, wish):
    answer, _, _ = await _asked(repository(CLINIC), wish)
    changed = [c.path for c in answer.result.changed]
    assert {"src/main/java/clinic/Pet.java", "src/main/resources/schema.sql"} <= set(changed[:2])
    assert "src/main/resources/clinic.css" not in changed
    assert "src/main/java/clinic/PetController.java" in {*changed, *(a.path for a in answer.result.affected)}


async def test_a_wish_whose_place_is_not_certain_says_so(repository):
    files = {f"shop/part_{n}.py": f"def part_{n}():\n    return {n}\n" for n in range(30)}
    other = {
        "shop/night.py": "def nightly():\n    return 'sort the rows, keep the copies of a week'\n",
        "deploy/copies.yml": "encrypt: copies\nof: customers\nmail: weekly\n",
    }
    answer, _, _ = await _asked(repository(files | other), "encrypt the copies of the customers and mail them weekly")
    assert "no place is certain" in answer.text


async def test_a_question_about_nothing(shop):
    with pytest.raises(UsageError, match="names no file"):
        await _asked(shop, "zzz qqq xxx?")


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


async def test_no_model_is_asked(shop):
    model = answering(lambda prompt: pytest.fail(prompt))
    _, outline, _ = await traced(lambda step: impact_report(replace(shop, model=model), step, ["shop/prices.py:price"]))
    assert outline == "turn\n  changed code\n  evidence"


@pytest.mark.parametrize(
    "name", ["a b/x.py", "a\tb.py", "a\nb.py", 'a"b.py', "a\\b.py", "naïve.py", "-x.py", "c b/a.py"]
)
async def test_a_generated_file_may_have_any_name(shop, tmp_path, name):
    made = change(name, "x = 1\n", None)
    for files in ([made], [replace(made, diff="".join(made.diff.partition("@@")[1:]))]):
        report, _, _ = await traced(lambda step, files=files: impact_of_files(shop, step, files))
        assert [(file.path, file.status) for file in report.changed] == [(name, "added")]
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=made.diff.encode(), check=True)
    assert (tmp_path / name).read_text() == "x = 1\n"
