"""Paste a repository, watch it being indexed, ask, get an answer whose citations are verified: in a real browser."""

import re

import pytest
from playwright.sync_api import expect
from support import git_server
from support.browser import Tab
from support.orchard import FILES

pytestmark = pytest.mark.browser

ANSWER = ".ai-message .message-content"


def first_screen(tab, world):
    tab.page.goto(world.app.url)
    tab.page.wait_for_selector(".rp-welcome")
    return tab.page


def test_from_the_first_screen_to_a_cited_answer(tab, world):
    page = first_screen(tab, world)
    expect(page.locator(".rp-welcome")).to_contain_text("on your own machine")
    expect(page.locator(".rp-status")).to_contain_text(f"Ollama at {world.ollama.url}")

    tab.say("How is the ripe fruit counted?")
    expect(page.get_by_text("Which repository is this about?")).to_be_visible()
    tab.say(world.repository())
    card = page.locator(".rp-card")
    expect(card).to_have_attribute("data-phase", "ready")
    expect(card.locator(".rp-badge")).to_contain_text(
        re.compile(rf"Indexed: 4 files · \d+ chunks · commit {world.commit[:7]}")
    )
    card.locator(".rp-badge > summary").click()
    card.locator(".rp-skips summary", has_text="dependency folder").click()
    expect(card.locator(".rp-skips li").get_by_text("node_modules/left/index.js")).to_be_visible()

    # The question from before is answered by itself.
    expect(page.locator(".rp-footer")).to_contain_text("qwen2.5-coder")
    answer = page.locator(ANSWER).last
    expect(answer).to_contain_text("picks every ripe fruit")
    tab.unfold()
    for step in (
        "Route · EXPLAIN",
        "Retrieve · ",
        "Read · ",
        "Answer from the code",
        "Write · qwen2.5-coder",
        "Answer",
    ):
        expect(page.locator(f'[id^="step-{step}"]').first).to_be_visible()
    page.locator('button[id^="step-Retrieve"]').first.click()
    expect(page.get_by_role("cell", name="orchard/trees.py:").first).to_be_visible()

    # One sentence holds; the other is about code that stands elsewhere, and is not shown.
    expect(answer).not_to_contain_text("litres")
    expect(page.locator(".rp-warn", has_text="sentence").first).to_be_visible()
    page.locator("a[href^='#cite-']").first.click()
    side = page.locator("#side-view-content")
    expect(side).to_contain_text("orchard/trees.py")
    expect(side).to_contain_text(f"commit {world.commit[:7]}")
    expect(side.locator(".rp-cited", has_text="def harvest")).to_be_visible()
    first = int(side.locator(".rp-cited .rp-line-number").first.inner_text())
    assert "orchard/trees.py" in side.inner_text() and 1 <= first <= 16
    assert tab.problems == []


def test_no_part_opens_a_connection_of_its_own(opened, world):
    opened.say("What does harvest return?")
    expect(opened.page.locator(".rp-footer")).to_be_visible()
    assert [url for url in opened.outside if "images.example" not in url] == []
    assert not any("images.example" in url for url in opened.outside), "a picture in an answer was asked for"
    targets = [target for _, target in world.app.connections()]
    assert targets, "the watcher saw nothing: it is not installed"
    local = re.compile(r"127\.0\.0\.1|localhost|::1|^'/|^b'|None|0\.0\.0\.0")
    assert [target for target in targets if not local.search(target)] == []


@pytest.mark.thorough
def test_a_reload_and_a_second_tab_find_the_same_repository(opened, world):
    page = opened.page
    assert "repo=" in page.url
    clones = len([line for line in world.git.requests if "git-upload-pack" in line])
    page.reload()
    expect(page.locator(".rp-badge")).to_contain_text("Indexed: 4 files")
    second = opened.open()
    second.goto(page.url)
    expect(second.locator(".rp-badge")).to_contain_text("Indexed: 4 files")
    assert len([line for line in world.git.requests if "git-upload-pack" in line]) == clones

    # The conversation is there again after a reload, with its citations.
    opened.say("How is the ripe fruit counted?")
    expect(page.locator(".rp-footer")).to_be_visible()
    page.reload()
    expect(page.locator(ANSWER, has_text="picks every ripe fruit").last).to_be_visible()
    page.locator("a[href^='#cite-']").first.click()
    expect(page.locator("#side-view-content .rp-cited", has_text="def harvest")).to_be_visible()
    page.locator("#side-view-title button").click()
    expect(page.locator("#side-view-content")).to_have_count(0)

    # A re-index asked for in one tab is seen in the other.
    page.get_by_role("button", name="Re-index").click()
    expect(page.locator(".rp-card")).to_have_attribute("data-phase", "ready")
    expect(second.locator(".rp-card")).to_have_attribute("data-phase", "ready")
    third = opened.open()
    third.goto(world.app.url)
    expect(third.get_by_role("button", name=re.compile("orchard"))).to_be_visible()


def test_stop_ends_the_models_call_and_keeps_the_evidence(opened, world):
    page, state = opened.page, world.ollama.state
    state.holding = True
    try:
        state.disconnects.clear()
        opened.say("How does harvest count the ripe fruit in detail?")
        expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
        expect(page.locator('[id^="step-Write"]').first).to_be_visible()
        page.locator("#stop-button").click()
        world.ollama.wait_for_disconnect()
        expect(page.locator("#chat-submit")).to_be_visible()
        opened.unfold()
        expect(page.locator('[id^="step-Write ■"]').first).to_be_visible()
        expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
        expect(page.locator(".rp-footer").last).to_contain_text("Stopped: what was finished is kept.")
    finally:
        state.holding = False
    page.reload()
    expect(page.locator(".rp-evidence").last).to_contain_text("harvest")


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.thorough
def test_an_answer_goes_on_when_its_tab_is_closed_and_is_there_on_return(opened, world, stopped):
    page, state = opened.page, world.ollama.state
    state.holding = True
    try:
        state.disconnects.clear()
        opened.say(f"How does harvest count the ripe fruit {'of all trees' if stopped else 'by kind'}?")
        expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
        address = page.url
        page.close()
        page = opened.open()
        page.goto(address)
        expect(page.get_by_text("Still working on it")).to_be_visible()
        if stopped:
            page.locator("#stop-button").click()
            world.ollama.wait_for_disconnect()
        else:
            state.holding = False
        footer = "Stopped" if stopped else "qwen2.5-coder"
        expect(page.locator(".rp-footer").last).to_contain_text(footer)
        expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
        expect(page.get_by_text("Still working on it")).to_have_count(0)
    finally:
        state.holding = False


@pytest.mark.thorough
def test_a_model_that_dies_is_reported_and_can_be_asked_again(opened, world):
    page, state = opened.page, world.ollama.state
    state.behaviour = "close midway"
    try:
        opened.say("How is the ripe fruit counted, please?")
        expect(page.locator(ANSWER).filter(has_text="Best match").last).to_be_visible()
        expect(page.locator(".rp-warn", has_text="was lost in the middle").last).to_be_visible()
        again = page.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
    finally:
        state.behaviour = "ok"
    again.click()
    expect(page.locator(ANSWER).filter(has_text="picks every ripe fruit").last).to_be_visible()
    expect(page.locator(".rp-evidence .rp-source").first).to_be_visible()


def test_what_cannot_be_opened_says_why(tab, world):
    page = first_screen(tab, world)
    for text, words in (
        ("/open ext::sh -c whoami", "refused"),
        ("/open /no/such/folder", "does not exist"),
        (f"{world.git.url}/absent.git", "could not be opened"),
        ("https://no-such-host.invalid/a/b", "could not be opened"),
    ):
        tab.say(text)
        expect(page.get_by_text(words).last).to_be_visible()
    assert tab.problems == []


def test_a_private_repository_takes_a_token_and_forgets_it(tab, world):
    page = first_screen(tab, world)
    world.git.token = "s3cret-token"
    try:
        tab.say(f"{world.git.url}/big.git")
        field = page.get_by_label("Access token")
        expect(field).to_have_attribute("type", "password")
        field.fill("wrong")
        page.get_by_role("button", name="Try with this token").click()
        expect(page.get_by_text("That token was refused.")).to_be_visible()
        field.fill("s3cret-token")
        page.get_by_role("button", name="Try with this token").click()
        card = page.locator(".rp-card")
        expect(card).to_have_attribute("data-phase", "asking")
    finally:
        world.git.token = ""
    assert "s3cret-token" not in page.content()
    kept = [path for path in world.app.home.rglob("*") if path.is_file() and b"s3cret-token" in path.read_bytes()]
    assert kept == []

    # It is big: the estimate comes first, and can be narrowed.
    expect(card).to_contain_text("Folders are indexed in this order")
    card.get_by_role("checkbox").first.check()
    card.get_by_role("button", name=re.compile("Index only src")).click()
    expect(card.locator(".rp-badge")).to_contain_text("Indexed: 3 files")


@pytest.mark.parametrize(("width", "scheme", "locale"), [(390, "dark", "fr-FR"), (1280, "light", "en-US")])
@pytest.mark.sampled(2)
def test_nothing_is_wider_than_the_screen(browser, fresh, width, scheme, locale):
    tab = Tab(browser, width=width, height=800, scheme=scheme, locale=locale)
    page = tab.page
    page.goto(f"{fresh.app.url}/?repo={fresh.repository()}")
    page.wait_for_selector('[data-answerable="true"]')
    tab.say("How is the ripe fruit counted?")
    expect(page.locator(".rp-footer")).to_be_visible()
    expect(page.locator(ANSWER).last).to_be_in_viewport()
    tab.unfold()
    page.locator('button[id^="step-Retrieve"], button[id^="step-Recherche"]').first.click()
    tab.say("/search tree")
    expect(page.locator(".rp-search")).to_contain_text("endroit" if locale == "fr-FR" else "place")
    page.locator(".rp-search .rp-why summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(int(part) for part in re.findall(r"\d+", background)[:3]) > 384
    assert light == (scheme == "light") and tab.problems == []
    tab.close()


def test_a_page_elsewhere_only_offers_a_repository(tab, world):
    page = tab.page
    link = f"{world.app.url}/?repo={world.repository()}"
    # From localhost to 127.0.0.1 is another site.
    elsewhere = world.app.url.replace("127.0.0.1", "localhost")
    page.goto(f"{elsewhere}/health")
    page.evaluate("link => { location.href = link }", link)
    expect(page.get_by_role("button", name="Open it")).to_be_visible()
    expect(page.locator(".rp-card")).to_have_count(0)


def test_what_was_opened_before_is_listed_and_deleted_with_its_data(tab, world, tmp_path):
    page = tab.page
    folder = tmp_path / "meadow"
    git_server.commit(folder, FILES)
    page.goto(f"{world.app.url}/?repo={folder}")
    page.wait_for_selector('[data-answerable="true"]')
    page.goto(world.app.url)
    row = page.locator(".rp-known li", has_text="meadow")
    expect(row).to_contain_text(re.compile(r"indexed 20\d\d-.* · .*KB"))
    row.get_by_role("button", name="Delete its data").click()
    row.get_by_role("button", name="Delete index and clone?").click()
    expect(page.locator(".rp-known li", has_text="meadow")).to_have_count(0)
    assert (folder / "README.md").exists()
    assert not list((world.app.home / "data" / "index").glob("meadow*"))
    assert tab.problems == []


def test_an_address_with_lines_opens_them_and_the_next_question_is_about_them(tab, world):
    page = first_screen(tab, world)
    tab.say(f"{world.repository()}/blob/main/orchard/trees.py#L11-L13")
    code = page.get_by_role("region", name="Code")
    expect(code.locator(".rp-cited")).to_have_count(3)
    tab.say("What does this do?")
    expect(page.locator(".rp-footer")).to_have_count(1)
    expect(page.get_by_role("region", name="Evidence")).to_contain_text("def ripen(self, days):")
    expect(page.get_by_role("button", name="Open orchard/trees.py:11-13")).to_be_visible()
    assert tab.problems == []
