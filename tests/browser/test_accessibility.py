"""What axe-core finds: no serious violation, in light and dark, wide and narrow."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def violations(page, within=None):
    found = Axe().run(page, within, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['html'][:160]} {node['failureSummary'][-160:]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


CONTRAST = """(label) => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (text) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = parts(text).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const opaque = (text) => (parts(text)[3] ?? 1) === 1;
  let behind = label;
  while (!opaque(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const letters = getComputedStyle(label).webkitTextFillColor;
  if (!opaque(letters)) return 0;
  const [dark, bright] = [letters, getComputedStyle(behind).backgroundColor].map(light).sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}"""
SILENT_S = 600.0


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light"), (390, "dark")])
@pytest.mark.thorough
def test_the_names_of_steps_can_be_read_while_they_run(tab, world, width, scheme):
    page, state = tab.page, world.ollama.state
    before, state.reply = state.reply, lambda messages: ["The function ", SILENT_S]
    try:
        page.set_viewport_size({"width": width, "height": 800})
        page.add_init_script(f"localStorage.setItem('vite-ui-theme', '{scheme}')")
        page.goto(f"{world.app.url}/?repo={world.repository()}")
        page.wait_for_selector('[data-answerable="true"]')
        tab.say("How is the ripe fruit counted?")
        expect(page.locator('[id^="step-Write"]')).to_be_visible()
        running = page.locator("#root .loading-shimmer")
        expect(running).not_to_have_count(0)
        for label in running.all():
            assert label.evaluate(CONTRAST) >= 4.5, (label.inner_text(), label.evaluate(CONTRAST))
        assert violations(page) == []
        page.locator("#stop-button").click()
        expect(page.locator("#stop-button")).to_have_count(0)
    finally:
        state.reply = before


def test_nothing_serious_is_wrong_with_a_page_in_use(tab, world):
    page, address = tab.page, f"{world.app.url}/?repo={world.repository()}"
    for width, height, scheme in ((1280, 850, "dark"), (390, 800, "light")):
        page.set_viewport_size({"width": width, "height": height})
        page.add_init_script(f"localStorage.setItem('vite-ui-theme', '{scheme}')")
        page.goto(world.app.url)
        page.wait_for_selector(".rp-welcome")
        assert violations(page) == []
        page.locator("body").press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
        page.goto(address)
        page.wait_for_selector('[data-answerable="true"]')
        if width > 700:
            tab.say("How is the ripe fruit counted?")
        expect(page.locator(".rp-footer").first).to_be_visible()
        page.locator(".rp-evidence .rp-found").first.locator(".rp-source").click()
        expect(page.get_by_role("region", name="Code")).to_be_visible()
        assert violations(page, "#side-view-content") == []
        for button, region in (("Steps of this answer", "Steps"), ("As a diagram", "Diagram")):
            if width < 700:
                page.keyboard.press("Escape")
            page.get_by_role("button", name=button).last.click()
            expect(page.get_by_role("region", name=region)).to_be_visible()
            assert violations(page, "#side-view-content") == []
        if width < 700:
            page.keyboard.press("Escape")
        page.locator("#chat-settings-open-modal").click()
        page.get_by_role("tab", name="Agents").click()
        expect(page.get_by_role("slider").first).to_be_visible()
        page.keyboard.press("Escape")
        if width > 700:
            tab.say("/rename litres litres_needed")
            expect(page.get_by_role("button", name="Accept this change").first).to_be_visible()
            tab.say("/impact harvest")
        expect(page.locator(".rp-folds").last).to_be_visible()
        assert violations(page) == []
        address = page.url
