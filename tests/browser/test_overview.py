"""What a repository opens with: its overview as a card, its sections beside the chat, a question about a component."""

import pytest
from playwright.sync_api import expect
from support.browser import Tab

pytestmark = pytest.mark.browser


def test_a_repository_opens_with_its_overview_whose_places_open_and_whose_chips_are_its_sections(opened: Tab):
    page = opened.page
    card = page.locator(".rp-overview")
    expect(card.locator('[data-part="components"]')).to_contain_text("trees")
    card.get_by_role("button", name="trees", exact=True).click()
    code = page.get_by_role("region", name="Code")
    expect(code.locator(".rp-cited")).to_contain_text("Trees and what hangs on them.")

    page.get_by_role("button", name="Tests", exact=True).click()
    panel = page.locator("#side-view-content")
    expect(panel.locator('[data-part="tests"]')).to_contain_text("1 test file uses it")
    expect(page.locator(".rp-footer")).to_have_count(0)
    page.get_by_role("button", name="Read more").click()
    expect(panel.locator('[data-part="reading"]')).to_contain_text("orchard/")

    panel.get_by_role("button", name="Ask about it: trees").click()
    expect(page.locator(".rp-evidence .rp-found").first).to_contain_text("orchard/trees.py")
    assert opened.problems == []
