"""What a repository opens with: its overview as a card, its sections beside the chat, a question about a component."""

import pytest
from playwright.sync_api import expect
from support import git_server
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


@pytest.mark.thorough
def test_a_question_stays_in_view_when_the_overview_above_it_comes_later(opened: Tab):
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 500})
    card = page.locator(".rp-overview-card")
    card.evaluate("node => { window.later = [node.parentNode, node]; node.remove() }")
    opened.say("How does harvest work?")
    question = page.locator('[data-step-type="user_message"]')
    expect(page.locator(".rp-footer")).to_be_visible()
    page.evaluate("window.later[0].append(window.later[1])")
    expect(card).to_be_visible()
    expect(question).to_be_in_viewport(ratio=1, timeout=20_000)


LAYERS = (("shop", "admin"), ("orders", "stock", "users", "mails"), ("prices", "taxes"), ("store",), ("clock",))
"""Packages; each uses all of the layer below."""


@pytest.fixture
def tower(world):
    files = {"README.md": "# Tower\n\nTower runs a shop of many floors.\n"}
    for layer, below in zip(LAYERS, (*LAYERS[1:], ()), strict=True):
        for name in layer:
            imports = "".join(f"from tower.{used}.main import {used}_work\n" for used in below)
            calls = " + ".join(f"{used}_work()" for used in below) or "1"
            files[f"tower/{name}/main.py"] = f"{imports}\n\ndef {name}_work():\n    return {calls}\n"
            files[f"tower/{name}/__init__.py"] = f'"""The part for {name}."""\n'
    folder = world.folder / "tower"
    if not folder.exists():
        git_server.commit(folder, files)
    return folder


@pytest.mark.parametrize(("width", "scheme", "locale"), [(1280, "light", "en-US"), (390, "dark", "fr-FR")])
@pytest.mark.sampled(1)
def test_the_picture_shows_ten_components_unscaled_and_each_opens_its_own(fresh, browser, tower, width, scheme, locale):
    tab = Tab(browser, width=width, scheme=scheme, locale=locale)
    page = tab.page
    page.goto(f"{fresh.app.url}/?repo={tower}")
    picture = page.locator(".rp-overview-card .rp-picture")
    expect(picture.locator(".rp-diagram-box")).to_have_count(10)
    wide = "node => [node.scrollWidth > node.clientWidth, document.documentElement.scrollWidth > innerWidth]"
    assert picture.evaluate(wide) == [False, False]
    sizes = "node => [node.viewBox.baseVal.width / node.getBoundingClientRect().width, getComputedStyle(node).fontSize]"
    assert picture.locator("svg").evaluate(sizes) == [1, "12px"]
    heights = {
        box.text_content().split("tower/")[0].strip(): box.bounding_box()["y"]
        for box in picture.locator("g[role]").all()
    }
    order = [heights[layer[0]] for layer in LAYERS]
    assert order == sorted(order) and len(set(order)) == len(LAYERS), "who uses stands above what is used"

    picture.get_by_role("button", name="stock, ").click()
    expect(page.locator("#side-view-title")).to_have_text("Overview" if locale == "en-US" else "Aperçu")
    chosen = page.locator("#side-view-content li[data-current]")
    expect(chosen).to_contain_text("The part for stock.")
    expect(chosen.locator(".rp-overview-ask")).to_be_visible()
    page.locator("#side-view-content .rp-diagram-box", has_text="clock").focus()
    page.keyboard.press("Enter")
    expect(chosen).to_contain_text("The part for clock.")
    assert tab.problems == []
    tab.close()


@pytest.mark.thorough
def test_places_of_a_local_folder_open_in_the_editor_that_was_chosen(fresh, tab: Tab, tower, world):
    page = tab.page
    page.goto(f"{fresh.app.url}/?repo={tower}")
    components = page.locator('.rp-overview-card [data-part="components"] .rp-link')
    components.first.click()
    code = page.get_by_role("region", name="Code")
    expect(code.locator(".rp-cited")).to_contain_text("The part for ")
    expect(code.get_by_role("link", name="Open in the editor")).to_have_count(0)

    page.locator("#chat-settings-open-modal").click()
    page.get_by_role("tab", name="Language").click()
    page.get_by_role("combobox").filter(has_text="no editor").click()
    page.get_by_role("option", name="VS Code", exact=True).click()
    page.get_by_role("button", name="Confirm").click()
    place = components.nth(1).get_attribute("title")
    components.nth(1).click()
    link = code.get_by_role("link", name="Open in the editor")
    expect(link).to_have_attribute("href", f"vscode://file{tower}/{place}")

    tab.say(world.repository())  # a clone has no place in the user's folders
    page.locator(".rp-overview-card").last.get_by_role("button", name="trees", exact=True).first.click()
    expect(code.locator(".rp-cited")).to_contain_text("Trees and what hangs on them.")
    expect(link).to_have_count(0)
