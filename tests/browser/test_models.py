"""The first screen says which model answers, why and how fast, and gets the next size with one click."""

import pytest
from playwright.sync_api import expect
from support.app import running
from support.ollama_server import OllamaServer

pytestmark = pytest.mark.browser


def test_the_first_screen_names_the_model_with_its_speed_and_offers_the_next(visitor, tmp_path):
    with OllamaServer(models=["qwen2.5-coder:0.5b"], pullable=["qwen3:8b"], delay_s=0.02) as ollama:
        with running(tmp_path, ollama_url=ollama.url, auto_download="false", embedded="false") as app:
            visitor.page.goto(app.url)
            status = visitor.page.locator(".rp-status")
            expect(status).to_contain_text("Measured here: it reads")
            offer = visitor.page.locator(".rp-offer")
            expect(offer).to_contain_text("qwen3:8b, about")
            offer.get_by_role("button").click()
            expect(status).to_contain_text("qwen3:8b in Ollama")
            assert visitor.problems == [] and "Traceback" not in app.log.read_text()
