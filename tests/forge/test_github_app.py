"""A GitHub App: tokens of its installation for the repository at hand, its own name, and nothing for another host."""

import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.testclient import TestClient
from support.index_case import runtime_for
from support.signed_calls import SECRET, headers
from support.waiting import until

from repopilot.errors import ForgeError, UsageError
from repopilot.forge import webhook
from repopilot.forge.github_app import as_app
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item
from repopilot.forge.webhook import Deliveries, webhook_application
from repopilot.repo.remote.credentials import token_for


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def settings(world, key, tmp_path):
    """Of an app that is installed on `o/r`, where a token of the installation is needed for everything."""
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    (tmp_path / "app.pem").write_bytes(key.private_bytes(*form))
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    world.hub.app_key, world.hub.token, world.hub.account = public.decode(), "ghs_of_the_installation", "pilot[bot]"
    app = {"github_app": "123", "github_app_key": str(tmp_path / "app.pem")}
    quiet = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False, "environments": "never"}
    return world.settings.model_copy(update={**app, **quiet, "webhook_secret": SECRET})


def pull(url, number=7, name="o/r"):
    return parse_item(f"{url}/{name}/pull/{number}")


@pytest.mark.slow
def test_it_works_with_a_token_of_its_installation_and_under_its_own_name(world, settings):
    world.push_pull({"shop/prices.py": "RATE = 3\n"})
    item = pull(world.hub.url)
    with pytest.raises(ForgeError, match="rejected the token"):
        forge_of(item, settings).pull()
    forge = forge_of(item, as_app(settings, item))
    assert forge.pull().title == "A change" and forge.account() == "pilot[bot]"
    assert world.hub.apps == ["123", "123"], "both requests are signed"


@pytest.mark.slow
def test_where_it_is_not_installed_nothing_is_done_and_it_is_said(world, settings):
    with pytest.raises(ForgeError, match="not installed on o/other"):
        as_app(settings, pull(world.hub.url, name="o/other"))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["https://evil.example/o/r/pull/7", "http://127.0.0.1:9/o/r/pull/7"])
def test_no_other_host_gets_what_the_key_signs(world, settings, address):
    own = settings.model_copy(update={"forge_api": ""})  # the app is one of github.com
    assert as_app(own, parse_item(address)) is own
    token = as_app(settings, pull(world.hub.url)).git_token
    assert token_for(world.hub.url, token) and not token_for(address, token) and not token_for("https://x.test", token)


@pytest.mark.slow
@pytest.mark.parametrize("text", [None, "", "no key", "-----BEGIN RSA PRIVATE KEY-----\né\n"])
def test_a_key_that_is_none_is_said(world, settings, tmp_path, text):
    (tmp_path / "app.pem").unlink()
    if text is not None:
        (tmp_path / "app.pem").write_text(text)
    with pytest.raises(UsageError, match=r"key of the GitHub App can't be used[\s\S]*REPOPILOT_GITHUB_APP_KEY"):
        as_app(settings, pull(world.hub.url))


@pytest.mark.slow
def test_a_call_is_worked_on_where_the_app_is_installed_alone(world, settings, caplog):
    world.push_pull({"shop/prices.py": "import subprocess\n\n\ndef price(n):\n    return eval(n)\n"})

    def event(name):
        return json.dumps({"action": "opened", "pull_request": {"html_url": f"{world.hub.url}/{name}/pull/7"}}).encode()

    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        for body in (event("o/other"), event("o/r")):
            assert client.post("/webhook", content=body, headers=headers(body)).status_code == 202
        until(lambda: Deliveries(settings.home).next() is None)
    assert world.hub.inline and {each["user"]["login"] for each in world.hub.inline} == {"pilot[bot]"}
    assert "not installed on o/other" in caplog.text


@pytest.mark.slow
def test_a_strangers_issue_is_not_worked_on_since_an_app_has_no_fork(world, settings):
    facts = {"title": "rename price to cost", "body": "", "state": "open", "user": {"login": "mallory"}}
    world.hub.issues[5] = {"number": 5, "labels": [], **facts}
    world.hub.permissions = {"ada": "write"}
    comment = {"id": 1, "user": {"login": "ada"}, "body": "/repopilot solve"}
    world.hub.comments.append(comment)
    about = {"html_url": f"{world.hub.url}/o/r/issues/5"}
    body = json.dumps({"action": "created", "issue": about, "comment": comment}).encode()
    with runtime_for(settings) as runtime, TestClient(webhook_application(runtime)) as client:
        assert client.post("/webhook", content=body, headers=headers(body)).status_code == 202
        until(lambda: Deliveries(settings.home).next() is None)
    (told,) = world.hub.comments[1:]
    assert "a GitHub App can't have forks" in told["body"] and not (world.hub.forked or world.hub.opened)
    assert not (settings.home / "repos").exists(), "nothing was cloned"


@pytest.mark.slow
def test_the_start_says_that_it_serves_where_the_app_is_installed(settings, monkeypatch, capsys):
    monkeypatch.setattr(webhook.uvicorn, "run", lambda *_, **__: None)
    with runtime_for(settings) as runtime:
        webhook.serve_webhook(runtime)
    assert "Served: the repositories that the GitHub App is installed on." in capsys.readouterr().err
