"""The agent: what a question means, what the picture shows."""

import json
import subprocess
from dataclasses import replace

import pytest
from support.git_server import commit
from support.impact_case import SHOP
from support.shop_workspace import answering, offline, open_workspace, traced

from repopilot.agents.impact.agent import impact
from repopilot.agents.impact.impact_report import impact_json, impact_report
from repopilot.errors import UsageError
from repopilot.results import ImpactReport, Turn
from repopilot.tools.file_change import change
from repopilot.ui.answer.parts.folds import summary_of
from repopilot.workspace import Workspace


async def _asked(workspace: Workspace, question: str):
    return await traced(lambda step: impact(question, workspace, step))


@pytest.mark.slow
async def test_a_question_about_a_file_is_answered_with_places_and_a_picture(shop):
    answer, outline, _ = await _asked(shop, "What breaks if I change shop/prices.py?")
    assert outline == "turn\n  what changes\n  changed code\n  evidence\n  answer"
    assert "`Cart.total` in `shop/cart.py`:9 [1]" in answer.text
    first = answer.citations[0]
    assert (first.path, first.start_line, first.symbol) == ("shop/cart.py", 9, "Cart.total")
    assert answer.evidence[0].lines == ((9, "        return sum(price(line) for line in self.lines)"),)
    assert isinstance(answer.result, ImpactReport)
    json.dumps(impact_json(answer.result))


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


@pytest.mark.slow
async def test_uncommitted_changes(repository):
    shop = repository(SHOP)
    (shop.snapshot.root / "shop/lonely.py").write_text("def nobody_calls_this():\n    return 2\n")
    answer, _, _ = await _asked(shop, "what is the impact of my uncommitted changes?")
    assert [c.path for c in answer.result.changed] == ["shop/lonely.py"]


async def test_the_code_just_generated(shop):
    old = SHOP["shop/prices.py"]
    new = old.replace(old.partition("\n")[0], "def price(item, tax):")
    turn = Turn("generate", "done", "GENERATE", (change("shop/prices.py", new, old),))
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "wish", ["add a maximum age to the session cookies", "ajouter un âge maximal aux cookies de session"]
)
async def test_an_ordinary_word_of_a_wish_is_no_name_for_being_defined(repository, wish):
    files = {
        "web/globals.py": "session = None\n",
        "web/sessions.py": "class CookieSessions:\n    def save(self, cookies, age):\n"
        '        """Save the session as cookies of a maximum age."""\n',
    }
    web = repository(files)
    answer, _, _ = await _asked(web, wish)
    assert answer.result.changed[0].path == "web/sessions.py" and answer.result.note
    named, _, _ = await _asked(web, "what depends on session?")
    assert [c.path for c in named.result.changed] == ["web/globals.py"] and not named.result.note


@pytest.mark.slow
async def test_a_wish_whose_place_is_not_certain_says_so(repository):
    files = {f"shop/part_{n}.py": f"def part_{n}():\n    return {n}\n" for n in range(30)}
    other = {
        "shop/night.py": "def nightly():\n    return 'sort the rows, keep the copies of a week'\n",
        "deploy/copies.yml": "encrypt: copies\nof: customers\nmail: weekly\n",
    }
    answer, _, _ = await _asked(repository(files | other), "encrypt the copies of the customers and mail them weekly")
    assert "no place is certain" in answer.text and answer.result.note in impact_json(answer.result).values()
    assert "no place is certain" in summary_of(answer, "en")


@pytest.mark.slow
async def test_a_thing_that_a_wish_speaks_of_is_no_certain_place_without_past_commits(repository):
    answer, _, _ = await _asked(repository(CLINIC), "add a passport number to the pets")
    assert "no place is certain" in answer.text


@pytest.mark.slow
async def test_search_and_past_commits_that_agree_are_what_a_wish_is_trusted_for(tmp_path):
    folder = tmp_path / "clinic"
    commit(folder, CLINIC, "Begin")
    pet = CLINIC["src/main/java/clinic/Pet.java"]
    for number, what in enumerate(("weight", "colour", "chip number")):
        commit(
            folder, {"src/main/java/clinic/Pet.java": f"{pet}// {number}: a number\n"}, f"Add the {what} of the pets"
        )
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    answer, _, _ = await _asked(workspace, "add a number to the pets")
    assert answer.text.startswith(
        "No file or symbol was named. Search, past commits and the words in the file agree on"
    )
    assert answer.result.changed[0].path == "src/main/java/clinic/Pet.java"
    answer, _, _ = await _asked(workspace, "add a passport, its country and its expiry to the pets")
    assert "no place is certain" in answer.text, "most of its words are nowhere"


async def test_a_question_about_nothing(shop):
    with pytest.raises(UsageError, match="names no file"):
        await _asked(shop, "zzz qqq xxx?")


async def test_the_report_speaks_the_language_of_the_question(shop):
    answer, _, _ = await _asked(shop, "Qu'est-ce qui casse si je change shop/prices.py ?")
    assert "**Risque" in answer.text and "9 [1]\u202f: appelle price" in answer.text
    assert "Exécutez tests/test_cart.py." in answer.text
    assert "un historique de 3 commits est trop court" in answer.text


async def test_no_model_is_asked(shop):
    model = answering(lambda prompt: pytest.fail(prompt))
    _, outline, _ = await traced(lambda step: impact_report(replace(shop, model=model), step, ["shop/prices.py:price"]))
    assert outline == "turn\n  changed code\n  evidence"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["a b/x.py", "a\tb.py", "a\nb.py", 'a"b.py', "a\\b.py", "naïve.py", "-x.py", "c b/a.py"]
)
async def test_a_generated_file_may_have_any_name(shop, tmp_path, name):
    made = change(name, "x = 1\n", None)
    report, _, _ = await traced(lambda step: impact_report(shop, step, patch=made.diff))
    assert [(file.path, file.status) for file in report.changed] == [(name, "added")]
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=made.diff.encode(), check=True)
    assert (tmp_path / name).read_text() == "x = 1\n"
