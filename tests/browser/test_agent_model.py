"""A model that calls tools, in a real browser: it looks around, asks back, edits a working copy and finishes."""

import re

import pytest
from browser.test_accessibility import violations
from playwright.sync_api import expect
from support import git_server
from support.app import running
from support.ollama_server import OllamaServer
from support.orchard import FILES

from repopilot.sandbox.run_shell import strong_level
from repopilot.settings import Settings

pytestmark = pytest.mark.browser

QUESTION = "From how many degrees on shall the trees get more water?"
CHANGES = (
    {"name": "search", "arguments": {"query": "water by temperature"}},
    {"name": "ask_user", "arguments": {"question": QUESTION, "choices": ["20", "22"]}},
    {"name": "replace_text", "arguments": {"path": "orchard/water.py", "old": "degrees > 25", "new": "degrees > {}"}},
    {"name": "finish", "arguments": {"summary": "Trees get more water from {} degrees on. `frobnicate` is gone."}},
)
COMMAND = "printf 'pruned = True\\n' > orchard/pruned.py\nls orchard"
COMMANDS = (
    {"name": "run_command", "arguments": {"command": COMMAND}},
    {"name": "finish", "arguments": {"summary": "The script says what was pruned."}},
)
LOOKS = ({"name": "callers", "arguments": {"name": "litres"}},)
READS = tuple({"name": "read", "arguments": {"path": path}} for path in ("orchard/water.py", "orchard/trees.py"))
TOLD = """\
A tree gets 2.5 litres on a day of more than 25 degrees [orchard/water.py:4-6]. Old ~trees~ get <img src=x> less.

- `harvest` counts the fruit by kind [orchard/trees.py:16-23].
- `sprinkle_all` waters every tree [orchard/water.py:4-6].

```python
litres(tree, 99)
```

Then `ripen` lets fruit grow for 12 days [orchard/trees.py:11-13].
"""


def scripted(messages):
    """Makes the next call of a script, with the user's answer where it names one; without tools, says the answer."""
    results = [m["content"] for m in messages if m["role"] == "tool"]
    asked = "\n".join(m.get("content") or "" for m in messages if m["role"] != "tool")
    if "Code has compared your answer" in asked:
        return "Nothing to correct."
    script = (
        CHANGES
        if "Change the" in asked
        else COMMANDS
        if "its script" in asked
        else READS
        if "harvested" in asked
        else LOOKS
    )
    if "What tools return" not in asked or (script is not READS and len(results) >= len(script)):
        return "The function `litres` says how much water a tree gets [1]."
    if len(results) >= len(script):
        return [TOLD.partition("```")[0], 3600.0] if "slowly" in asked else TOLD
    call = script[len(results)]
    told = next((found[1] for text in results[1:2] if (found := re.search(r"\b(19|20|22)\b", text))), "")
    arguments = {k: v.replace("{}", told) if isinstance(v, str) else v for k, v in call["arguments"].items()}
    return {"thinking": "What next?", "tool_calls": [{**call, "arguments": arguments}]}


@pytest.fixture(scope="module")
def grove(tmp_path_factory):
    """An application with such a model, and a folder with the orchard."""
    folder = tmp_path_factory.mktemp("work") / "grove"
    git_server.commit(folder, FILES)
    options = {"auto_download": "false", "embedded": "false"}
    with OllamaServer(reply=scripted, models=["qwen3:8b"], capabilities=("completion", "tools")) as ollama:
        with running(tmp_path_factory.mktemp("home"), ollama_url=ollama.url, **options) as app:
            yield app, folder
            assert "Traceback" not in app.log.read_text(), app.log.read_text()[-4000:]


@pytest.fixture
def page(visitor, grove):
    app, folder = grove
    visitor.page.goto(f"{app.url}/?repo={folder}")
    visitor.page.wait_for_selector('[data-answerable="true"]')
    return visitor


@pytest.mark.thorough
def test_the_first_screen_says_which_model_and_how_it_works(visitor, grove):
    visitor.page.goto(grove[0].url)
    expect(visitor.page.get_by_text("qwen3:8b").first).to_be_visible()
    expect(visitor.page.get_by_text("It works with tools").first).to_be_visible()


@pytest.mark.parametrize(
    ("pressed", "typed", "degrees"), [("22", "", "22"), ("Just do it (20)", "", "20"), ("Something else…", "19", "19")]
)
@pytest.mark.sampled(1)
def test_it_asks_back_with_buttons_and_goes_on_with_the_answer(page, grove, pressed, typed, degrees):
    page.say("/generate Change the temperature from which trees get more water")
    expect(page.page.get_by_text(QUESTION).first).to_be_visible()
    page.page.get_by_role("button", name=pressed, exact=True).click()
    if typed:
        expect(page.page.get_by_text("Type your answer:")).to_be_visible()
        page.say(typed)
    file = page.page.locator('.rp-file[data-path="orchard/water.py"]')
    expect(file.locator("tr.rp-added")).to_contain_text(f"degrees > {degrees}")
    assert "degrees > 25" in (grove[1] / "orchard/water.py").read_text(), "written before it was accepted"
    expect(page.page.get_by_text(f"Assumed: {QUESTION} 20")).to_have_count(int("Just do it" in pressed))
    wrong = page.page.locator(".rp-folds del")
    expect(wrong).to_have_text("frobnicate is gone.", timeout=90_000)
    expect(wrong.locator("code")).to_have_text("frobnicate")
    page.unfold()
    for step in ("Debate", "Controller"):
        expect(page.page.locator(f'[id^="step-{step}"]').first).to_be_visible()


@pytest.mark.parametrize("sent", ["Enter", "Send"])
@pytest.mark.thorough
def test_an_answer_that_is_typed_while_the_buttons_are_there_is_taken(page, sent):
    page.say("/generate Change the temperature from which trees get more water")
    expect(page.page.get_by_role("button", name="Something else…")).to_be_visible()
    expect(page.page.locator("#chat-submit")).to_be_disabled()
    if sent == "Enter":
        page.page.locator("#chat-input").fill("19")
        page.page.locator("#chat-input").press("Enter")
    else:
        page.say("19")
    file = page.page.locator('.rp-file[data-path="orchard/water.py"]')
    expect(file.locator("tr.rp-added")).to_contain_text("degrees > 19", timeout=90_000)


@pytest.mark.skipif(not strong_level(Settings()), reason="commands need a strong sandbox")
@pytest.mark.thorough
def test_a_command_is_asked_for_once_per_repository_and_shown_as_it_would_run(page, grove):
    for time in ("first", "second"):
        page.say("/generate Prune the orchard by its script")
        if time == "first":
            shown = page.page.locator("code", has_text="printf")
            expect(shown).to_be_visible(timeout=90_000)
            assert shown.inner_text().rstrip("\n") == COMMAND
            page.page.get_by_role("button", name="Always for this repository").click()
        file = page.page.locator('.rp-file[data-path="orchard/pruned.py"]')
        expect(file.locator("tr.rp-added")).to_contain_text("pruned = True", timeout=90_000)
        expect(page.page.get_by_text("May it run commands here?")).to_have_count(int(time == "first"))
        page.page.goto(f"{grove[0].url}/?repo={grove[1]}")
        page.page.wait_for_selector('[data-answerable="true"]')
    assert not (grove[1] / "orchard/pruned.py").exists(), "written before it was accepted"


def test_an_answer_comes_after_looking_with_tools(page):
    page.say("Why does a tree get more water on some days?")
    expect(page.page.get_by_text("says how much water a tree gets").first).to_be_visible()
    page.page.wait_for_function("!document.querySelector('#stop-button')")
    page.page.get_by_role("button", name="Steps of this answer").last.click()
    page.page.get_by_role("region", name="Steps").get_by_role("button", name="Explore the repository").click()
    expect(page.page.get_by_role("region", name="Steps").get_by_role("button", name="callers")).to_be_visible()
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Download as JSON").last.click()
    assert '"name": "callers"' in download.value.path().read_text()


def test_each_sentence_of_an_answer_says_whether_it_is_checked_and_why(page):
    page.say("Explain how a tree is watered and harvested.")
    expect(page.page.locator(".rp-footer").last).to_be_visible()
    for _ in range(2):
        page.page.wait_for_selector('[data-answerable="true"]')
        page.page.wait_for_function("!document.querySelector('#stop-button')")
        answer = page.page.locator('[data-step-type="assistant_message"]', has_text="2 of 6 sentences checked.").last
        plain = answer.locator("li", has_text="counts the fruit by kind")
        expect(plain.locator("del")).to_have_count(0)
        expect(plain.locator('a[href^="#cite-"]')).to_have_text("2")
        open_ones, (first, wrong) = answer.locator("del"), [answer.locator("del").nth(n) for n in (0, 1)]
        expect(open_ones).to_have_count(3)
        expect(first).to_have_text("Old ~trees~ get <img src=x> less.")
        expect(first).to_have_css("text-decoration-style", "dotted")
        expect(first).to_have_role("none")
        expect(wrong).to_have_css("text-decoration-line", "line-through")

        note = answer.get_by_role("link", name="not checked: it cites no lines")
        expect(note).to_have_css("opacity", "0")
        first.hover()
        expect(note).to_have_css("opacity", "1")
        wrong.click(position={"x": 150, "y": 8})
        expect(answer.get_by_role("link", name="contradicted: sprinkle_all exists neither")).to_be_focused()
        answer.get_by_role("link", name="sentence 6").click()
        expect(answer.get_by_role("link", name="not checked: not in the cited lines: 12")).to_have_css("opacity", "1")
        expect(answer.get_by_text("not checked: this code is not in the lines that were read")).to_be_visible()

        evidence = answer.locator(".rp-evidence")
        expect(evidence.locator("> .rp-found-list > .rp-found")).to_have_count(3)
        expect(evidence.locator("> .rp-found-list > .rp-found .rp-search-lines")).to_have_count(3)
        expect(evidence.locator("details .rp-search-lines")).to_have_count(0)
        assert violations(page.page) == []
        plain.locator('a[href^="#cite-"]').click()
        expect(page.page.get_by_role("region", name="Code").locator(".rp-cited").first).to_contain_text("def harvest")
        page.page.reload()
    assert page.problems == [] and len(page.context.pages) == 1


@pytest.mark.thorough
def test_stop_keeps_the_sentences_there_are_with_their_places(page):
    page.say("Explain slowly how a tree is watered and harvested.")
    expect(page.page.get_by_text("counts the fruit by kind").first).to_be_visible()
    page.page.locator("#stop-button").click()
    for _ in range(2):
        expect(page.page.locator(".rp-footer").last).to_be_visible()
        answer = page.page.locator('[data-step-type="assistant_message"]', has_text="counts the fruit by kind").last
        expect(answer.locator("del").first).to_have_css("text-decoration-style", "dotted")
        answer.locator("li").locator('a[href^="#cite-"]').first.click()
        expect(page.page.get_by_role("region", name="Code").locator(".rp-cited").first).to_contain_text("def harvest")
        page.page.reload()
    assert page.problems == []
