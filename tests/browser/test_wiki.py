"""A wiki written in the chat: its steps, its contents, its pages beside the chat, the search over them, its files."""

import zipfile

import pytest
from playwright.sync_api import expect
from support import git_server
from support.app import running
from support.browser import Tab
from support.ollama_server import OllamaServer
from support.orchard import FILES

pytestmark = pytest.mark.browser


def test_a_wiki_is_written_page_by_page_and_read_searched_and_saved_beside_the_chat(opened: Tab):
    page = opened.page
    opened.say("/wiki")
    contents = page.get_by_role("list", name="Contents")
    expect(contents.get_by_role("button", name="water")).to_be_visible()
    expect(page.locator(".rp-footer")).to_be_visible()
    expect(page.locator(".rp-wiki")).to_have_css("row-gap", "8px")
    titles = contents.get_by_role("button").all_text_contents()
    assert titles[0] == "orchard" and {"trees", "water"} < set(titles)
    opened.unfold()
    page.locator('button[id^="step-Compute the pages"]').click()
    expect(page.locator(".step li", has_text="water").first).to_be_visible()

    contents.get_by_role("button", name="trees").click()
    panel = page.locator("#side-view-content")
    expect(panel.get_by_role("heading", name="trees")).to_be_visible()
    expect(panel).to_contain_text("Trees and what hangs on them.")
    expect(panel).not_to_contain_text("mermaid")
    panel.get_by_role("button", name="orchard", exact=True).click()
    expect(panel.get_by_role("heading", name="orchard")).to_be_visible()

    page.get_by_role("searchbox", name="Search the pages").fill("ripe fruit count")
    expect(contents.get_by_role("button")).to_have_text(["trees"])
    expect(contents).to_contain_text("Pick every ripe fruit")
    page.get_by_role("searchbox", name="Search the pages").fill("zeppelin")
    expect(page.locator(".rp-wiki")).to_contain_text("No page has these words.")

    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as a zip").click()
    with zipfile.ZipFile(saved.value.path()) as files:
        assert "wiki/trees.md" in files.namelist() and len(files.namelist()) == len(titles)

    panel.get_by_role("button", name="README.md:3").first.click()
    expect(page.get_by_role("region", name="Code").locator(".rp-cited")).to_contain_text("Orchard grows fruit trees.")

    page.reload()
    expect(contents.get_by_role("button", name="water")).to_be_visible()
    contents.get_by_role("button", name="water").click()
    expect(panel.get_by_role("heading", name="water")).to_be_visible()
    assert opened.problems == []


def telling(messages):
    """Reads a file and tells what it does on the first page, and goes silent while it writes the second."""
    asked = "\n".join(message.get("content") or "" for message in messages)
    if "Judge each claim" in asked or "Try to refute" in asked:
        return "none"
    if "What is `orchard` for" not in asked:
        return ["The", 3600.0]
    if messages[-1]["role"] != "tool":
        return {"tool_calls": [{"name": "read", "arguments": {"path": "orchard/water.py"}}]}
    return "A tree gets *2.5* litres from `litres` [orchard/water.py:4-6]."


@pytest.mark.thorough
def test_stop_keeps_the_pages_and_words_that_there_are(visitor: Tab, tmp_path):
    folder = tmp_path / "orchard"
    git_server.commit(folder, FILES)
    page = visitor.page
    options = {"auto_download": "false", "embedded": "false"}
    with (
        OllamaServer(reply=telling, models=["qwen3:8b"], capabilities=("completion", "tools")) as ollama,
        running(tmp_path / "home", ollama_url=ollama.url, **options) as app,
    ):
        page.goto(f"{app.url}/?repo={folder}")
        page.wait_for_selector('[data-answerable="true"]')
        page.set_viewport_size({"width": 1280, "height": 420})
        visitor.say("/wiki")
        contents = page.get_by_role("list", name="Contents")
        expect(page.get_by_text("described how it works on 1 of")).to_be_visible(timeout=90_000)
        expect(page.locator("button.loading-shimmer").last).to_be_in_viewport()
        expect(page.locator("#stop-button")).to_be_in_viewport()
        page.locator("#stop-button").click()
        ollama.wait_for_disconnect()
        expect(page.locator(".rp-footer").last).to_contain_text("Stopped: what was finished is kept.")
        for _ in ("stopped", "opened again"):
            contents.get_by_role("button", name="orchard", exact=True).click()
            panel = page.locator("#side-view-content")
            expect(panel.get_by_role("heading", name="How it works")).to_be_visible()
            expect(panel).to_contain_text("A tree gets *2.5* litres from litres")
            expect(panel.get_by_role("heading", name="Components")).to_be_visible()
            contents.get_by_role("button", name="trees").click()
            expect(panel.get_by_role("heading", name="trees")).to_be_visible()
            expect(panel.get_by_role("heading", name="How it works")).to_have_count(0)
            page.reload()
        assert visitor.problems == []
