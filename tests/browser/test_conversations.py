"""Conversations outlive reloads, other tabs, opening again and a killed server: in a real browser."""

import json
import re
import signal
from uuid import uuid4

import pytest
from playwright.sync_api import expect
from support import postgres
from support.app import running

from repopilot.agents.coding.typed_commands import FORMS
from repopilot.database.postgres import PostgresChats
from repopilot.results import Answer
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, save

pytestmark = pytest.mark.browser


def ask(page, question):
    expect(page.locator('[data-answerable="true"]').last).to_be_visible()
    expect(page.locator("#stop-button")).to_have_count(0)
    before = page.locator(".rp-footer").count()
    page.locator("#chat-input").click()
    page.keyboard.insert_text(question)
    page.locator("#chat-submit").click()
    expect(page.locator(".rp-footer")).to_have_count(before + 1)


SAID = "[data-step-type='user_message']"


def said(page, text):
    return page.locator(SAID).get_by_text(text, exact=True)


@pytest.mark.thorough
def test_opening_a_repository_again_loses_no_earlier_conversation(opened, world):
    page = opened.page
    ask(page, "What does harvest return?")
    page.goto(world.app.url)
    page.get_by_role("button", name=re.compile("orchard")).click()
    ask(page, "Where is the tree class defined?")
    page.reload()
    expect(said(page, "Where is the tree class defined?")).to_be_visible()
    expect(page.locator(SAID, has_text="What does harvest return?")).to_have_count(0)

    page.get_by_role("navigation", name="Chats").get_by_role("link", name="What does harvest return?").click()
    expect(page.locator(SAID, has_text="What does harvest return?")).to_be_visible()
    ask(page, "And who calls it?")
    page.reload()
    expect(page.locator(SAID, has_text="And who calls it?")).to_be_visible()
    expect(page.locator(SAID, has_text="What does harvest return?")).to_be_visible()
    assert opened.problems == []


@pytest.mark.skipif(not postgres.program("initdb"), reason="PostgreSQL is not installed")
@pytest.mark.thorough
def test_chats_in_postgresql_are_those_of_every_server(visitor, world, tmp_path):
    page = visitor.page
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
    quiet |= {"allow_private_hosts": "true", "allow_http": "true"}
    with postgres.server() as url, running(tmp_path / "home", chats_url=url, **quiet) as app:
        page.goto(f"{app.url}/?repo={world.repository()}")
        ask(page, "Where is the tree class defined?")
        elsewhere = PostgresChats(url, tmp_path)  # another server, or this one before it was started
        select = "SELECT repository, turns.owner, name, address FROM turns JOIN chats ON chats.thread = turns.thread"
        ((*stored,),) = elsewhere.run(lambda connection: connection.execute(select).fetchall())
        save(elsewhere, ThreadKey(str(uuid4()), *stored), Exchange("What is a tree?", "", Answer("A plant.")))
        for question in ("What is a tree?", "Where is the tree class defined?"):
            page.reload()
            chats = page.get_by_role("navigation", name="Chats")
            chats.get_by_role("link", name=question).click()
            expect(said(page, question)).to_be_visible()
        expect(page.locator(".rp-footer")).to_have_count(1)
        assert not list(tmp_path.rglob("chats.db"))


def test_chats_are_searched_named_pinned_exported_and_deleted(opened, world):
    page = opened.page
    ask(page, "What does harvest return?")
    page.goto(f"{world.app.url}/?repo={world.repository()}")
    ask(page, "Where is the tree class defined?")
    chats = page.get_by_role("navigation", name="Chats")
    expect(chats.get_by_role("link", name=re.compile("tree class"))).to_have_attribute("aria-current", "page")
    expect(chats.get_by_role("heading", name="orchard")).to_have_count(1)

    chats.get_by_label("More actions for What does harvest return?").click()
    chats.get_by_role("button", name="Rename").click()
    page.keyboard.type("The harvest")
    page.keyboard.press("Enter")
    chats.get_by_label("More actions for The harvest").click()
    chats.get_by_role("button", name="Pin").click()
    expect(chats.get_by_role("link").nth(1)).to_contain_text("The harvest")

    chats.get_by_label("Search chats").fill("harvest return")
    expect(chats.get_by_role("listitem")).to_have_count(1)
    chats.get_by_label("Search chats").fill("%")
    expect(chats).to_contain_text("No chat contains this text.")
    chats.get_by_label("Search chats").fill("")

    chats.get_by_label("More actions for The harvest").click()
    with page.expect_download() as download:
        chats.get_by_role("link", name="Export as Markdown").click()
    text = download.value.path().read_text()
    assert text.startswith("# The harvest\n") and "## What does harvest return?" in text
    with page.expect_download() as download:
        chats.get_by_role("link", name="Export as JSON").click()
    assert json.loads(download.value.path().read_text())["exchanges"][0]["question"] == "What does harvest return?"

    other = opened.open()
    other.goto(page.url)
    chats.get_by_role("button", name="Delete").click()
    chats.get_by_role("button", name="Delete this chat for good?").click()
    for tab in (page, other):
        names = tab.get_by_role("navigation", name="Chats")
        expect(names.get_by_role("link", name=re.compile("The harvest"))).to_have_count(0)
        expect(names.get_by_role("link", name=re.compile("tree class"))).to_be_visible()
    assert opened.problems == []


@pytest.mark.thorough
def test_names_complete_what_is_typed(opened):
    page, names = opened.page, opened.page.get_by_role("listbox", name="Mentions")
    page.locator("#chat-input").click()
    page.keyboard.type("what does @harv")
    expect(names).to_have_attribute("data-text", "harv")
    expect(names.get_by_role("option").first).to_contain_text("harvest")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#chat-input")).to_have_value(re.compile(r"what does @orchard/trees\.py:[\w.]*harvest "))
    expect(names).to_be_hidden()
    page.keyboard.type("do?")
    page.keyboard.press("Enter")
    expect(page.locator(".rp-evidence").first).to_contain_text("harvest")

    page.locator("#chat-input").click()
    page.keyboard.type("/rename harv")
    expect(names.get_by_role("option").first).to_contain_text("harvest")
    page.keyboard.press("Escape")
    expect(names).to_be_hidden()
    assert opened.problems == []


def test_enter_sends_what_was_typed_and_tab_completes(opened):
    page, box, names = (
        opened.page,
        opened.page.locator("#chat-input"),
        opened.page.get_by_role("listbox", name="Mentions"),
    )
    box.click()
    page.keyboard.type("/rename harvest")
    expect(names.get_by_role("option").first).to_contain_text("harvest")
    expect(names.locator("[aria-selected=true]")).to_have_count(0)
    page.keyboard.type(" trees_picked")
    expect(names).to_be_hidden()
    page.keyboard.press("Enter")
    expect(said(page, "/rename harvest trees_picked")).to_be_visible()
    for count, typed in enumerate(("/callers harvest", "What does @harv"), 1):
        expect(page.locator(".rp-footer")).to_have_count(count)
        expect(page.locator("#stop-button")).to_have_count(0)
        page.keyboard.type(typed)
        expect(names).to_be_visible()
        page.keyboard.press("Enter")
        # Once it is read, a mention is marked as code.
        expect(said(page, re.compile(re.escape(typed).replace("@harv", "`?@harv`?") + "$"))).to_be_visible()
    expect(page.locator(".rp-footer")).to_have_count(3)
    expect(page.locator("#stop-button")).to_have_count(0)
    page.keyboard.type("/callers harv")
    expect(names).to_have_attribute("data-text", "harv")
    expect(names).to_be_visible()
    names.get_by_role("option").first.click()
    expect(box).to_have_value("/callers harvest ")
    assert opened.problems == []


@pytest.mark.thorough
def test_every_command_completes_what_exists_and_no_new_name(opened):
    page, box, names = (
        opened.page,
        opened.page.locator("#chat-input"),
        opened.page.get_by_role("listbox", name="Mentions"),
    )
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/repopilot/complete?" in request.url else None)
    box.click()
    for command, form in ((name, each) for name, each in FORMS.items() if each.completed):
        *earlier, typed = ["harvest"] * (form.completed - 1) + ["harv"]
        page.keyboard.insert_text(" ".join([f"/{command}", *earlier, ""]))
        page.keyboard.type(typed)
        expect(names).to_have_attribute("data-text", typed)
        expect(names).to_be_visible()
        page.keyboard.press("Tab")
        expect(box).to_have_value(" ".join([f"/{command}", *["harvest"] * form.completed, ""]))
        asked.clear()
        page.keyboard.type("tree")
        expect(box).to_have_value(re.compile(" tree$"))
        assert asked == [], command
        box.fill("")
    page.keyboard.type("/rename")
    page.keyboard.press("Enter")
    expect(page.locator("#command-rename")).to_be_visible()
    page.keyboard.type("harv")
    expect(names).to_be_visible()
    page.keyboard.type("est tree")
    expect(names).to_be_hidden()
    assert opened.problems == []


@pytest.mark.thorough
def test_a_new_chat_begins_without_a_question(opened):
    page = opened.page
    ask(page, "What does harvest return?")
    page.get_by_role("button", name="New chat").click()
    expect(page.locator(".rp-welcome")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(
        page.get_by_role("navigation", name="Chats").get_by_role("link", name=re.compile("harvest return"))
    ).to_be_visible()


@pytest.mark.thorough
def test_two_tabs_on_one_conversation_both_keep_theirs(opened, world):
    page = opened.page
    ask(page, "What does harvest return?")
    second = opened.open()
    second.goto(page.url)
    expect(said(second, "What does harvest return?")).to_be_visible()
    ask(second, "Where is the tree class defined?")
    ask(page, "What is a tree?")
    third = opened.open()
    third.goto(page.url)
    for question in ("What does harvest return?", "Where is the tree class defined?", "What is a tree?"):
        expect(said(third, question)).to_be_visible()


@pytest.mark.slow
@pytest.mark.thorough
def test_what_was_asked_and_found_outlives_a_killed_server_and_health_is_said(visitor, world, tmp_path):
    options = {"allow_private_hosts": "true", "allow_http": "true", "auto_download": "false", "embedded": "false"}
    page, state = visitor.page, world.ollama.state
    try:
        with running(tmp_path / "a", ollama_url=world.ollama.url, **options) as app:
            page.goto(f"{app.url}/?repo={world.repository()}")
            page.wait_for_selector('[data-answerable="true"]')
            ask(page, "What does harvest return?")
            state.holding = True
            writing = page.locator('[id^="step-Write"]')
            visitor.say("How does harvest count the ripe fruit in detail?")
            expect(writing.last).to_be_visible()
            app.process.send_signal(signal.SIGKILL)
            app.process.wait()
            address = page.url.replace(app.url, "")
        state.holding = False
        (tmp_path / "b").mkdir()
        (app.home / "data").rename(tmp_path / "b" / "data")
        with running(tmp_path / "b", ollama_url="", **options) as app:
            page.goto(app.url + address)
            expect(said(page, "What does harvest return?")).to_be_visible()
            expect(said(page, "How does harvest count the ripe fruit in detail?")).to_be_visible()
            expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
            expect(page.locator(".rp-footer").last).to_contain_text("Interrupted before the answer was complete.")
            expect(page.get_by_role("button", name="Try again").last).to_be_visible()
            health = page.get_by_role("status", name="Health")
            expect(health).to_contain_text("no model: only commands and extracts from the code")
            expect(health).to_contain_text("sandbox: ")
        expect(health).to_contain_text("The server doesn't answer.")
    finally:
        state.holding = False


STUB = """window.told = [];
window.Notification = class {
  static permission = 'default';
  static async requestPermission() { window.Notification.permission = 'granted'; }
  constructor(title, options) { window.told.push(options.body); }
};"""


@pytest.mark.thorough
def test_work_in_the_background_tells_when_it_is_done(visitor, world):
    page = visitor.page
    page.add_init_script(STUB)
    page.clock.install()
    page.goto(f"{world.app.url}/?repo={world.repository()}")
    page.wait_for_selector('[data-answerable="true"]')
    page.evaluate("document.body.append(Object.assign(document.createElement('i'), { id: 'stop-button' }))")
    bell = page.get_by_role("button", name="Notify me when done")
    page.clock.run_for(15_000)
    expect(bell).to_be_visible()
    bell.click()
    expect(bell).to_be_hidden()
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    page.evaluate("document.querySelector('#stop-button').remove()")
    page.clock.run_for(4_000)
    page.wait_for_function("window.told.length === 1")
