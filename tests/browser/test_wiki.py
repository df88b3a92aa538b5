"""A wiki written in the chat: its steps, its contents, its pages beside the chat, the search over them, its files."""

import zipfile

import pytest
from playwright.sync_api import expect
from support.browser import Tab

pytestmark = pytest.mark.browser


def test_a_wiki_is_written_page_by_page_and_read_searched_and_saved_beside_the_chat(opened: Tab):
    page = opened.page
    opened.say("/wiki")
    contents = page.get_by_role("list", name="Contents")
    expect(contents.get_by_role("button", name="Glossary")).to_be_visible()
    expect(page.locator(".rp-footer")).to_be_visible()
    expect(page.locator(".rp-wiki")).to_have_css("row-gap", "8px")
    titles = contents.get_by_role("button").all_text_contents()
    assert titles[0] == "orchard" and {"Glossary", "How to", "trees"} < set(titles)
    opened.unfold()
    expect(page.locator('button[id^="step-"]', has_text="trees.md")).to_be_visible()

    contents.get_by_role("button", name="trees").click()
    panel = page.locator("#side-view-content")
    expect(panel.get_by_role("heading", name="trees")).to_be_visible()
    expect(panel).to_contain_text("Trees and what hangs on them.")
    expect(panel).not_to_contain_text("mermaid")
    panel.get_by_role("button", name="orchard", exact=True).click()
    expect(panel.get_by_role("heading", name="orchard")).to_be_visible()

    page.get_by_role("searchbox", name="Search the pages").fill("ripe fruit count")
    expect(contents.get_by_role("button")).to_have_text(["trees", "Glossary"])
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
    expect(contents.get_by_role("button", name="Glossary")).to_be_visible()
    contents.get_by_role("button", name="Glossary").click()
    expect(panel.get_by_role("heading", name="Glossary")).to_be_visible()
    assert opened.problems == []
