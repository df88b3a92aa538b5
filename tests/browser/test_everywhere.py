"""All repositories of the machine in a real browser: searched and asked together, their files beside the chat."""

import re
import shutil

import pytest
from playwright.sync_api import expect
from support import git_server
from support.browser import Tab

pytestmark = pytest.mark.browser

BOTTLES = 'def press_fruit(crates):\n    """Press ripe fruit to juice."""\n    return 12 * crates\n'


@pytest.fixture(scope="module")
def cellar(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cellar") / "cellar"
    return folder, git_server.commit(folder, {"cellar/bottles.py": BOTTLES})


def opened(tab, world, cellar):
    for source in (cellar[0], world.repository()):
        tab.page.goto(f"{world.app.url}/?repo={source}")
        tab.page.wait_for_selector('[data-answerable="true"]')
    return tab.page


@pytest.mark.thorough
def test_all_repositories_are_searched_with_one_ranking(tab, world, cellar):
    page = opened(tab, world, cellar)
    tab.say("/search --all ripe fruit")
    card = page.locator(".rp-search")
    expect(card).to_contain_text(re.compile(r"\d+ places? · .* · \d+ repositories"))
    place = card.locator(".rp-found", has_text="press_fruit")
    expect(place).to_contain_text(f"cellar · commit {cellar[1][:7]}")
    expect(card.locator(".rp-found", has_text=f"orchard · commit {world.commit[:7]}").first).to_be_visible()

    # A place of a repository that isn't open: its file beside, and what it has there.
    place.get_by_role("button", name="Open cellar/bottles.py at lines").click()
    side = page.get_by_role("region", name="Code")
    expect(side).to_contain_text(f"cellar · lines 1–3 of 4 · commit {cellar[1][:7]}")
    expect(side.locator(".rp-cited", has_text="def press_fruit")).to_be_visible()
    side.get_by_role("button", name="Files").click()
    expect(side.locator(".rp-tree .rp-link")).to_have_text(["cellar/bottles.py"])

    # Refined in place, and there again after a reload.
    card.get_by_label("Search the code of all repositories").fill("fruit file:cellar/*")
    card.get_by_role("button", name="Search", exact=True).click()
    expect(card.locator(".rp-found")).to_have_count(1)
    page.reload()
    expect(card.locator(".rp-found .rp-source")).to_contain_text("cellar/bottles.py")
    card.locator(".rp-found .rp-source").click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def press_fruit")).to_be_visible()
    assert tab.problems == []


@pytest.mark.thorough
def test_an_index_that_cannot_be_read_is_said_to_be_left_out(tab, world, cellar):
    page = opened(tab, world, cellar)
    folder = world.app.home / "data/index"
    copy = shutil.copytree(next(folder.glob("cellar-*")), folder / "damaged")
    try:
        (array,) = copy.glob("g*/lexical/body.counts.npy")
        array.write_bytes(array.read_bytes()[:-1] + b"x")
        tab.say("/search --all ripe fruit")
        expect(page.locator(".rp-search .rp-warn")).to_contain_text("cellar was left out: its index can't be read.")
        expect(page.locator(".rp-found").first).to_be_visible()
    finally:
        shutil.rmtree(copy)


@pytest.mark.thorough
def test_a_question_is_answered_from_all_repositories_without_a_model(tab, world, cellar):
    page = opened(tab, world, cellar)
    asked = len(world.ollama.state.sent("/api/chat"))
    tab.say("/explain --all where is the fruit pressed to juice?")
    expect(page.get_by_text("Best match: cellar › cellar/bottles.py:1-3")).to_be_visible()
    evidence = page.get_by_role("region", name="Evidence")
    expect(evidence).to_contain_text("orchard › orchard/trees.py")
    expect(page.locator(".rp-warn", has_text="no model is asked")).to_be_visible()
    expect(page.locator(".rp-footer")).to_contain_text(re.compile(r"EXPLAIN · no model needed · .* · \d+ repositories"))
    page.locator("a[href^='#cite-']").first.click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def press_fruit")).to_be_visible()
    assert len(world.ollama.state.sent("/api/chat")) == asked
    assert tab.problems == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
@pytest.mark.thorough
def test_the_first_screen_offers_it_and_needs_no_open_repository(browser, fresh, cellar, width, scheme):
    tab = Tab(browser, width=width, height=800, scheme=scheme)
    page = opened(tab, fresh, cellar)
    page.goto(fresh.app.url)
    page.get_by_role("button", name="/search --all").click()
    card = page.locator(".rp-search")
    expect(card).to_contain_text("Search all repositories")
    card.get_by_label("Search the code of all repositories").fill("press juice")
    card.get_by_role("button", name="Search", exact=True).click()
    expect(card.locator(".rp-found").first).to_contain_text("press_fruit")
    card.locator(".rp-found .rp-source").first.click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def press_fruit")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.problems == []
    tab.close()
