"""A model that calls tools, in a real browser: it looks around, asks back, edits a working copy and finishes."""

import re

import pytest
from playwright.sync_api import expect
from support import git_server
from support.app import running
from support.ollama_server import OllamaServer
from support.orchard import FILES

pytestmark = pytest.mark.browser

QUESTION = "From how many degrees on shall the trees get more water?"
CHANGES = (
    {"name": "search", "arguments": {"query": "water by temperature"}},
    {"name": "ask_user", "arguments": {"question": QUESTION, "choices": ["20", "22"]}},
    {"name": "replace_text", "arguments": {"path": "orchard/water.py", "old": "degrees > 25", "new": "degrees > {}"}},
    {"name": "finish", "arguments": {"summary": "Trees get more water from {} degrees on."}},
)
LOOKS = ({"name": "callers", "arguments": {"name": "litres"}},)


def scripted(messages):
    """Makes the next call of a script, with the user's answer where it names one; without tools, says the answer."""
    results = [m["content"] for m in messages if m["role"] == "tool"]
    asked = "\n".join(m.get("content") or "" for m in messages if m["role"] != "tool")
    script = CHANGES if "Change the" in asked else LOOKS
    if "What tools return" not in asked or len(results) >= len(script):
        return "The function `litres` says how much water a tree gets [1]."
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


def test_the_first_screen_says_which_model_and_how_it_works(visitor, grove):
    visitor.page.goto(grove[0].url)
    expect(visitor.page.get_by_text("qwen3:8b").first).to_be_visible()
    expect(visitor.page.get_by_text("It works with tools").first).to_be_visible()


@pytest.mark.parametrize(("pressed", "typed", "degrees"), [("22", "", "22"), ("Something else…", "19", "19")])
def test_it_asks_back_with_buttons_and_goes_on_with_the_answer(page, grove, pressed, typed, degrees):
    page.say("/generate Change the temperature from which trees get more water")
    expect(page.page.get_by_text(QUESTION).first).to_be_visible()
    page.page.get_by_role("button", name=pressed, exact=True).click()
    if typed:
        expect(page.page.get_by_text("Type your answer:")).to_be_visible()
        page.say(typed)
    file = page.page.locator('.rp-file[data-path="orchard/water.py"]')
    expect(file.locator("tr.rp-added")).to_contain_text(f"degrees > {degrees}", timeout=90_000)
    assert "degrees > 25" in (grove[1] / "orchard/water.py").read_text(), "written before it was accepted"


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
