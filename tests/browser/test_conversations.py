"""Conversations outlive reloads, other tabs, opening again and a killed server: in a real browser."""

import re
import signal

import pytest
from playwright.sync_api import expect
from support.app import running
from support.browser import Tab

pytestmark = pytest.mark.browser
expect.set_options(timeout=40_000)


def ask(page, question):
    expect(page.locator('[data-answerable="true"]').last).to_be_visible()
    expect(page.locator("#stop-button")).to_have_count(0)
    before = page.locator(".rp-footer").count()
    page.locator("#chat-input").click()
    page.keyboard.insert_text(question)
    page.locator("#chat-submit").click()
    expect(page.locator(".rp-footer")).to_have_count(before + 1)


def said(page, text):
    return page.get_by_text(text, exact=True)


def test_opening_a_repository_again_loses_no_earlier_conversation(opened, world):
    page = opened.page
    ask(page, "What does harvest return?")
    page.goto(world.app.url)
    page.get_by_role("button", name=re.compile("orchard")).click()
    offered = page.get_by_role("button", name=re.compile("What does harvest return"))
    expect(page.get_by_text("There is an earlier conversation")).to_be_visible()
    ask(page, "Where is the tree class defined?")
    page.reload()
    expect(said(page, "Where is the tree class defined?")).to_be_visible()
    expect(said(page, "What does harvest return?")).to_have_count(0)

    # Pasted into another chat: both are there, and the older can be resumed.
    page.goto(world.app.url)
    page.wait_for_selector(".rp-welcome")
    opened.say(world.repository())
    expect(page.get_by_text("There are 2 earlier conversations")).to_be_visible()
    offered.click()
    expect(said(page, "What does harvest return?")).to_be_visible()
    ask(page, "And who calls it?")
    page.reload()
    expect(said(page, "And who calls it?")).to_be_visible()
    expect(said(page, "What does harvest return?")).to_be_visible()

    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_text("A new conversation begins here")).to_be_visible()
    ask(page, "What is a tree?")
    page.reload()
    expect(said(page, "What is a tree?")).to_be_visible()
    expect(said(page, "And who calls it?")).to_have_count(0)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("The conversation has been deleted.")).to_be_visible()
    page.goto(f"{world.app.url}/?repo={world.repository()}")
    expect(page.get_by_text("There are 2 earlier conversations")).to_be_visible()
    assert opened.problems == []


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
def test_what_was_asked_and_found_outlives_a_killed_server(browser, world, tmp_path):
    options = {"allow_private_hosts": "true", "allow_http": "true", "auto_download": "false", "embedded": "false"}
    tab = Tab(browser)
    page, state = tab.page, world.ollama.state
    try:
        with running(tmp_path / "a", ollama_url=world.ollama.url, **options) as app:
            page.goto(f"{app.url}/?repo={world.repository()}")
            page.wait_for_selector('[data-answerable="true"]')
            ask(page, "What does harvest return?")
            state.delay_s = 0.3
            writing = page.locator('[id^="step-Write"]')
            before = writing.count()
            tab.say("How does harvest count the ripe fruit in detail?")
            expect(writing).to_have_count(before + 1)
            app.process.send_signal(signal.SIGKILL)
            app.process.wait()
            address = page.url.replace(app.url, "")
        state.delay_s = 0.005
        (tmp_path / "b").mkdir()
        (app.home / "data").rename(tmp_path / "b" / "data")
        with running(tmp_path / "b", ollama_url=world.ollama.url, **options) as app:
            page.goto(app.url + address)
            expect(said(page, "What does harvest return?")).to_be_visible()
            expect(said(page, "How does harvest count the ripe fruit in detail?")).to_be_visible()
            expect(page.locator(".rp-evidence").last).to_contain_text("harvest")
            expect(page.locator(".rp-footer").last).to_contain_text("Interrupted before the answer was complete.")
            expect(page.get_by_role("button", name="Try again").last).to_be_visible()
    finally:
        state.delay_s = 0.005
        tab.close()
