"""Evidence in a real browser: what code found is shown with its lines, opens beside, and survives a reload."""

import pytest
from playwright.sync_api import expect
from support.browser import Tab

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)


def test_the_evidence_shows_its_lines_and_opens_the_file(opened: Tab):
    page = opened.page
    opened.say("Where is the ripe fruit harvested?")
    evidence = page.locator(".rp-evidence").first
    first = evidence.locator(".rp-found").first
    expect(first).to_contain_text("harvest")
    expect(first.locator("tr.rp-cited").first).to_be_visible()
    expect(page.locator(".rp-footer")).to_have_count(1)

    first.locator(".rp-source").click()
    side = page.locator("#side-view-content")
    expect(side.locator("tr.rp-cited", has_text="def harvest")).to_be_visible()
    line = first.locator("tr.rp-cited").first
    number = line.get_attribute("data-line")
    line.get_by_role("button").click()
    expect(side.locator("tr.rp-cited .rp-line-number")).to_have_text([number])

    page.reload()
    expect(page.locator(".rp-evidence .rp-found").first).to_contain_text("harvest")
    assert opened.problems == []
