"""The page in French: for a browser in French, and for a user who chooses it."""

import pytest
from playwright.sync_api import expect
from support.browser import Tab

pytestmark = pytest.mark.browser

FOOT = "Les citations sont vérifiées dans le code."


def test_a_french_browser_sees_french(browser, fresh):
    tab = Tab(browser, locale="fr-CA")
    page = tab.page
    page.goto(fresh.app.url)
    expect(page.locator(".rp-welcome")).to_contain_text("sur votre propre machine")
    expect(page.get_by_text(FOOT)).to_be_visible()
    page.get_by_text("Aide").click()
    expect(page.get_by_text("Interrogez un dépôt git sur votre propre machine.")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(f"{fresh.app.url}/?repo={fresh.repository()}")
    expect(page.locator(".rp-badge")).to_contain_text("Indexé")
    tab.say("Comment les fruits mûrs sont-ils comptés ?")
    expect(page.locator(".rp-footer")).to_contain_text("jetons")
    tab.unfold()
    expect(page.locator('[id^="step-Écriture"]').first).to_be_visible()
    assert tab.problems == []
    tab.close()


@pytest.mark.thorough
def test_a_language_is_chosen_in_the_settings_and_survives_a_reload(opened):
    page = opened.page
    expect(page.locator(".rp-badge")).to_contain_text("Indexed")
    page.locator("#chat-settings-open-modal").click()
    page.get_by_role("tab", name="Language").click()
    page.get_by_role("combobox").filter(has_text="the browser's").click()
    page.get_by_role("option", name="Français").click()
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".rp-badge")).to_contain_text("Indexé")
    expect(page.get_by_role("button", name="Actualiser")).to_be_visible()
    page.wait_for_url("**lang=fr**")
    page.reload()
    expect(page.locator(".rp-badge")).to_contain_text("Indexé")
    expect(page.get_by_text(FOOT)).to_be_visible()
    assert opened.problems == []
