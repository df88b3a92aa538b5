"""The first screen says which model answers, why and how fast, and gets the next size with one click."""

import pytest
from playwright.sync_api import expect
from support.app import running
from support.ollama_server import OllamaServer

pytestmark = pytest.mark.browser


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_hosted_model_is_asked_for_by_address_and_key_and_what_is_wrong_is_said(visitor, tmp_path):
    page = visitor.page
    with running(tmp_path, ollama_url="", auto_download="false", embedded="false") as app:
        page.goto(app.url)
        page.get_by_role("button", name="Use a hosted model").click()
        form = page.get_by_role("form", name="Use a hosted model")
        expect(form).to_contain_text("are then sent to this service")
        form.get_by_label("Address of the service").fill("http://models.example.org/v1")
        key = form.get_by_label("Key")
        key.fill("sk-0123456789")
        expect(key).to_have_attribute("type", "password")
        form.get_by_role("button", name="Connect").click()
        expect(form.get_by_role("alert")).to_contain_text("is not the address of a service")
        form.get_by_role("button", name="Cancel").click()
        expect(form).to_have_count(0)
