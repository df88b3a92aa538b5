"""Evidence in a real browser: what code found is shown with its lines, opens beside, and survives a reload."""

import json

import pytest
from playwright.sync_api import expect
from support import git_server
from support.browser import Tab

pytestmark = pytest.mark.browser
DRAWN = """() => {
    const lines = [...document.querySelectorAll('.rp-file-text .rp-source-line')];
    return [lines.filter((line) => line.checkVisibility({contentVisibilityAuto: true})).length, lines.length];
}"""


def test_the_evidence_shows_lines_and_the_code_beside_is_read_by_names_outline_and_files(opened: Tab):
    page = opened.page
    opened.say("Where is the ripe fruit harvested?")
    first = page.locator(".rp-evidence .rp-found").first
    expect(first).to_contain_text("harvest")
    first.locator(".rp-source").click()
    code = page.get_by_role("region", name="Code")
    expect(code.locator(".rp-cited", has_text="def harvest")).to_be_visible()
    expect(code.locator(".rp-tk", has_text="def").first).to_be_visible()
    line = first.locator("tr.rp-cited").first
    line.get_by_role("button").click()
    expect(code.locator(".rp-cited .rp-line-number")).to_have_text([line.get_attribute("data-line")])

    code.locator(".rp-tf", has_text="harvest").first.click()
    expect(code.locator(".rp-name")).to_contain_text("Defined at")
    code.locator(".rp-name").get_by_role("button", name="test_harvest").click()
    expect(code).to_contain_text("tests/test_trees.py")
    expect(code.locator(".rp-cited")).to_contain_text("harvest(")

    code.get_by_role("button", name="Files").click()
    code.get_by_label("Filter files").fill("water")
    code.get_by_role("button", name="orchard/water.py").click()
    expect(code.get_by_text("litres").first).to_be_visible()
    code.get_by_role("button", name="Outline").click()
    code.get_by_role("button", name="litres").click()
    expect(code.locator(".rp-cited")).to_contain_text("def litres")
    assert opened.problems == []


@pytest.mark.slow
@pytest.mark.thorough
def test_a_file_of_20_000_lines_stays_responsive(tab, world, tmp_path):
    lines = [f"VALUE_{n} = {n}  # the value of {n}" for n in range(19_990)]
    git_server.commit(tmp_path / "long", {"long.py": "\n".join([*lines, "", "def last_one():", "    return 1", ""])})
    page = tab.page
    page.goto(f"{world.app.url}/?repo={tmp_path / 'long'}")
    page.get_by_role("button", name="Index everything").click()
    page.wait_for_selector('[data-answerable="true"]')
    tab.say("Where is last_one defined?")
    page.locator(".rp-evidence .rp-found").first.locator(".rp-source").click()
    code = page.get_by_role("region", name="Code")
    expect(code.locator(".rp-cited").first).to_contain_text("def last_one")
    drawn, lines = page.evaluate(DRAWN)
    assert 0 < drawn < lines / 10, "what is out of sight takes no time"


@pytest.mark.thorough
def test_an_answer_is_rated_and_copied_and_its_steps_kept_and_compared(opened: Tab, world):
    page = opened.page
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.say("Where is the ripe fruit harvested?")
    expect(page.locator(".rp-footer")).to_have_count(1)
    page.get_by_role("button", name="Copy as Markdown with citations").click()
    expect(page.locator(".lucide-check").last).to_be_visible()
    assert "`orchard/trees.py:" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Steps of this answer").click()
    panel = page.get_by_role("region", name="Steps")
    panel.get_by_role("button", name="Retrieve").click()
    expect(panel.locator("table .rp-bar").first).to_be_visible()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download as JSON").click()
    steps = json.loads(download.value.path().read_text())
    assert len(steps["request"]) == 32 and steps["steps"][0]["children"][0]["name"]

    with page.expect_download() as download:
        page.get_by_role("button", name="Download what this answer used").click()
    assert "def harvest(trees):" in download.value.path().read_text()

    page.get_by_role("button", name="Bad answer").click()
    page.get_by_label("What was wrong?").fill("It names the wrong tree.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("What was wrong?")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    chats = page.get_by_role("navigation", name="Chats")
    chats.get_by_label("More actions for Where is the ripe fruit").click()
    with page.expect_download() as download:
        chats.get_by_role("link", name="Export rated answers").click()
    [rated] = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert (rated["rating"], rated["note"], rated["places"]) == (-1, "It names the wrong tree.", [])
    page.get_by_role("button", name="Steps of this answer").click()
    expect(panel.get_by_role("button", name="Route")).to_be_visible()
    opened.say("What waters a tree?")
    expect(page.get_by_role("button", name="Steps of this answer")).to_have_count(2)
    page.get_by_role("button", name="Steps of this answer").last.click()
    panel.get_by_role("combobox").select_option(index=1)
    expect(panel.locator("table")).to_contain_text("Where is the ripe fruit harvested?")
    assert opened.problems == []


@pytest.mark.thorough
def test_an_answer_offers_what_to_ask_next_and_a_diagram_whose_boxes_open_code(opened: Tab):
    page = opened.page
    opened.say("Where is harvest defined?")
    expect(page.locator(".rp-footer")).to_have_count(1)
    page.get_by_role("button", name="As a diagram").click()
    diagram = page.get_by_role("region", name="Diagram")
    expect(diagram.locator(".rp-diagram-subject")).to_be_visible()
    diagram.locator(".rp-diagram-box").last.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Code")).to_be_visible()
    page.locator(".rp-next").get_by_role("button", name="/impact harvest").click()
    expect(page.locator(".rp-footer")).to_have_count(2)
    assert opened.problems == []


@pytest.mark.thorough
def test_the_settings_change_how_deep_a_search_goes(opened: Tab):
    page = opened.page
    page.locator("#chat-settings-open-modal").click()
    page.get_by_role("tab", name="Agents").click()
    page.locator("[role=slider]").nth(3).focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Confirm").click()
    opened.say("Where is the ripe fruit harvested?")
    expect(page.locator(".rp-footer")).to_have_count(1)
    page.locator("#chat-settings-open-modal").click()
    page.get_by_role("tab", name="Agents").click()
    expect(page.locator("[role=slider]").nth(3)).to_have_attribute("aria-valuenow", "4")
    assert opened.problems == []
