"""The address with the token of the launch, in a browser that the server doesn't know by its account."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from support.app import App, running


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[App]:
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
    with running(tmp_path_factory.mktemp("address"), access="token", **quiet) as started:
        yield started


def printed_address(app: App) -> str:
    return next(
        line.partition(" ")[2] for line in app.log.read_text().splitlines() if line.startswith("RepoPilot: http")
    )


@pytest.mark.browser
def test_the_printed_address_lets_in_and_stays_clean(visitor, app):
    page = visitor.page
    page.goto(printed_address(app))
    expect(page.locator(".rp-welcome")).to_be_visible()
    assert page.url == f"{app.url}/"
    page.reload()
    expect(page.locator(".rp-welcome")).to_be_visible()
    assert "token" not in page.url and "token=" not in page.evaluate("document.cookie")
    assert visitor.problems == [] and visitor.outside == []


@pytest.mark.browser
def test_without_it_a_page_says_what_to_do(visitor, app):
    answer = visitor.page.goto(f"{app.url}/?repo=pallets/flask")
    assert answer.status == 403
    expect(visitor.page.get_by_role("heading")).to_have_text("This RepoPilot belongs to the account that started it")
    expect(visitor.page.locator("body")).to_contain_text("Open the address that RepoPilot printed")


@pytest.mark.browser
@pytest.mark.thorough
def test_a_link_on_another_site_reaches_who_was_let_in_and_only_offers(visitor, app):
    """The browser keeps the cookie back at first: SameSite=Strict."""
    page = visitor.page
    page.goto(printed_address(app))
    expect(page.locator(".rp-welcome")).to_be_visible()
    page.goto(app.url.replace("127.0.0.1", "localhost") + "/health")  # to the browser another site
    page.evaluate("link => { location.href = link }", f"{app.url}/?repo=https://git.example/a/b")
    expect(page.locator(".rp-welcome")).to_contain_text("git.example/a/b")
    assert "offer=" in page.url
