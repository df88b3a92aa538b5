"""Search in a real browser: places with their lines, filters, more of them, the file beside, and after a reload."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_a_search_lists_places_without_asking_a_model(opened, world):
    page = opened.page
    expect(page.locator(".rp-card")).to_have_attribute("data-phase", "ready")
    asked = len(world.ollama.state.sent("/api/chat"))
    opened.say("/search ripe fruit")
    found = page.locator(".rp-found")
    expect(found.first).to_contain_text("harvest")
    expect(found.first.locator("mark", has_text="ripe").first).to_be_visible()
    expect(page.locator(".rp-search")).to_contain_text(
        re.compile(rf"\d+ places? · \d+ passages? match(es)? in \d+ files? · .+ · commit {world.commit[:7]}")
    )
    assert page.locator('[id^="step-Retrieve"]').count() == 0, "a look-up has no steps"
    assert len(world.ollama.state.sent("/api/chat")) == asked

    # Why it is there, and all of it.
    found.first.get_by_text("Why this result").click()
    expect(found.first.locator(".rp-why")).to_contain_text("has the words you asked for")

    # The file beside, at the place; then at one line.
    found.first.get_by_role("button", name="Open orchard/trees.py at lines").click()
    side = page.locator("#side-view-content")
    expect(side.locator(".rp-cited", has_text="def harvest")).to_be_visible()
    line = found.first.locator("tr", has=page.locator("mark", has_text="ripe")).first
    number = line.get_attribute("data-line")
    line.get_by_role("button").click()
    expect(side.locator(".rp-cited .rp-line-number")).to_have_text([number])
    assert opened.problems == []


@pytest.mark.thorough
def test_a_search_is_refined_in_place_and_survives_a_reload(opened):
    page = opened.page
    opened.say("/search tree")
    card = page.locator(".rp-search")
    expect(card.locator(".rp-found").first).to_be_visible()
    card.get_by_role("group", name="Language").get_by_role("button", name=re.compile("markdown")).click()
    expect(card.locator(".rp-filter")).to_have_text("lang:markdown")
    expect(card.locator(".rp-found .rp-source")).to_have_text([re.compile("README.md")])

    card.get_by_role("button", name="Remove the filter lang:markdown").click()
    expect(card.locator(".rp-filter")).to_have_count(0)
    box = card.get_by_label("Search the code of the repository")
    box.fill("litres kind:function")
    box.press("Enter")
    expect(card.locator(".rp-filter")).to_have_text("kind:function")
    expect(box).to_have_value("litres")
    expect(card.locator(".rp-found").first).to_contain_text("orchard/water.py")

    page.reload()
    expect(card.locator(".rp-found").first).to_contain_text("orchard/water.py")
    expect(card.locator(".rp-filter")).to_have_text("kind:function")
    card.get_by_role("button", name="Remove the filter kind:function").click()
    expect(card.locator(".rp-filter")).to_have_count(0)
    card.locator(".rp-found .rp-source").first.click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def litres")).to_be_visible()
    assert opened.problems == []


def test_exact_lines_are_grouped_by_file_refined_in_place_and_opened(opened):
    page = opened.page
    opened.say(r"/grep def \w+\(")
    card = page.locator(".rp-search")
    files = card.locator(".rp-found")
    expect(files.first.locator("mark").first).to_have_text(re.compile(r"def \w+\("))
    expect(card).to_contain_text(re.compile(r"\d+ lines match in \d+ files"))
    expect(files.first).to_contain_text(re.compile(r"\d+ lines?"))
    expect(card.get_by_text("Why this result")).to_have_count(0)

    box = card.get_by_label("Search for exact lines")
    box.fill("def harvest(")
    box.press("Enter")
    expect(card.locator(".rp-error")).to_contain_text("not a regular expression")
    box.fill("-F def harvest(")
    box.press("Enter")
    expect(card).to_contain_text("1 line matches in 1 file")
    expect(card.locator(".rp-error")).to_have_count(0)
    files.first.locator("tr", has_text="def harvest").get_by_role("button").click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def harvest")).to_be_visible()

    page.reload()
    expect(files).to_have_count(1)
    expect(files.first).to_contain_text("def harvest")
    box.fill("-F zzyzx")
    box.press("Enter")
    expect(card).to_contain_text("-F for plain text")
    assert opened.problems == []


@pytest.mark.thorough
def test_more_places_are_added_below(tab, world):
    page = tab.page
    page.goto(f"{world.app.url}/?repo={world.folder / 'big'}")
    page.get_by_role("button", name="Index everything").click()
    page.wait_for_selector('[data-answerable="true"]')
    tab.say("/search return file:src/*")
    found = page.locator(".rp-found")
    expect(found).to_have_count(10)
    first = found.first.inner_text()
    page.get_by_role("button", name=re.compile(r"^Next \d+$")).click()
    expect(found.nth(10)).to_be_visible()
    assert found.first.inner_text() == first
    found.nth(11).get_by_role("button", name=re.compile("^Show all")).click()
    expect(found.nth(11).locator("tr[data-line]")).not_to_have_count(8)


@pytest.mark.thorough
def test_nothing_found_says_what_to_try(opened):
    page = opened.page
    opened.say("/search zzyzx lang:pyhton")
    card = page.locator(".rp-search")
    expect(card).to_contain_text("Nothing was found")
    expect(card).to_contain_text("Nothing here matches lang:pyhton")
    card.get_by_role("button", name="Search without filters").click()
    expect(card.locator(".rp-filter")).to_have_count(0)
    card.get_by_label("Search the code of the repository").fill("harvest")
    card.get_by_role("button", name="Search", exact=True).click()
    expect(card.locator(".rp-found").first).to_contain_text("harvest")


@pytest.mark.thorough
def test_the_command_alone_shows_examples_that_work(opened):
    page = opened.page
    page.get_by_role("button", name="Search", exact=True).click()
    card = page.locator(".rp-search")
    expect(card).to_contain_text("Examples from this repository")
    card.get_by_role("button", name=re.compile("^symbol:")).click()
    expect(card.locator(".rp-found").first).to_be_visible()
    expect(card.locator(".rp-filter")).to_have_text(re.compile("^symbol:"))


@pytest.mark.thorough
def test_search_is_in_the_menu_of_commands(opened):
    page = opened.page
    page.locator("#chat-input").click()
    page.keyboard.type("/sea")
    page.locator("#command-search, [data-command='search'], [role='option']", has_text="search").first.click()
    page.keyboard.insert_text("ripen")
    page.locator("#chat-submit").click()
    expect(page.locator(".rp-found").first).to_contain_text("ripen")
