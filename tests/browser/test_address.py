"""The address with the token of the launch, in a browser that the server doesn't know by its account."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect
from support.app import App, running


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[App]:
    quiet = {"ollama_url": "", "embedded": "false", "auto_download": "false"}
    with running(tmp_path_factory.mktemp("address"), access="token", **quiet) as started:
        yield started


@contextmanager
def page_elsewhere(html: str) -> Iterator[str]:
    """The address of a page on another site."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def printed_address(app: App) -> str:
    return next(
        line.partition(" ")[2] for line in app.log.read_text().splitlines() if line.startswith("RepoPilot: http")
    )


@pytest.mark.slow
def test_the_printed_address_lets_in_and_stays_clean(visitor, app):
    page = visitor.page
    page.goto(printed_address(app))
    expect(page.locator(".rp-welcome")).to_be_visible(timeout=30_000)
    assert page.url == f"{app.url}/"
    page.reload()
    expect(page.locator(".rp-welcome")).to_be_visible(timeout=30_000)
    assert "token" not in page.url and "token=" not in page.evaluate("document.cookie")
    assert visitor.problems == [] and visitor.outside == []


def test_without_it_a_page_says_what_to_do(visitor, app):
    answer = visitor.page.goto(f"{app.url}/?repo=pallets/flask")
    assert answer.status == 403
    expect(visitor.page.get_by_role("heading")).to_have_text("This RepoPilot belongs to the account that started it")
    expect(visitor.page.locator("body")).to_contain_text("Open the address that RepoPilot printed")


@pytest.mark.slow
def test_a_link_on_another_site_reaches_who_was_let_in_and_only_offers(visitor, app):
    """The browser keeps the cookie back at first: SameSite=Strict."""
    page = visitor.page
    page.goto(printed_address(app))
    expect(page.locator(".rp-welcome")).to_be_visible(timeout=30_000)
    with page_elsewhere(f'<a href="{app.url}/?repo=https://git.example/a/b">open</a>') as elsewhere:
        page.goto(elsewhere)
        page.get_by_role("link").click()
        expect(page.locator(".rp-welcome")).to_contain_text("git.example/a/b", timeout=30_000)
    assert "offer=" in page.url
