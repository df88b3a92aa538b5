"""Requests of buttons to Chainlit's own application: what it can't serve is refused, and nothing fails inside."""

import httpx
import pytest
from chainlit import server
from chainlit.config import config
from chainlit.session import WebsocketSession

from repopilot.ui.server.action_route import check_actions

BUTTON = {"name": "known", "payload": {"n": 1}}


@pytest.fixture(scope="module", autouse=True)
def checked():
    before = list(server.router.routes)
    check_actions(server.router.routes)
    yield
    server.router.routes[:] = before


@pytest.fixture
async def session(monkeypatch):
    """The id of an open session, with a button."""

    async def press(action):
        return action.payload

    async def ignore(*_):
        return None

    monkeypatch.setitem(config.code.action_callbacks, "known", press)
    opened = WebsocketSession("an-open-session", "a-socket", ignore, ignore, user_env={}, client_type="webapp")
    yield opened.id
    await opened.delete()


async def press(session_id, action, language="en"):
    """What fails inside Chainlit is raised here, as it would be logged with its traceback there."""
    transport = httpx.ASGITransport(app=server.app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        sent = {"sessionId": session_id, "action": action}
        return await client.post("/project/action", json=sent, headers={"accept-language": language})


async def test_a_button_of_an_open_session_is_served(session):
    answer = await press(session, BUTTON)
    assert answer.status_code == 200 and answer.json()["response"] == {"n": 1}


@pytest.mark.parametrize("unknown", ["", "nobody", "an-open-session ", "../x", "\0", "a-socket"])
async def test_an_action_for_an_unknown_session_is_refused(session, unknown):
    refused = await press(unknown, BUTTON)
    assert refused.status_code == 404 and "no longer open" in refused.json()["detail"]
    assert "n’est plus ouverte" in (await press(unknown, BUTTON, "fr-FR,fr;q=0.9")).json()["detail"]


@pytest.mark.parametrize(
    "action",
    [{}, {"name": "known"}, {"payload": {}}, {**BUTTON, "name": 1}, {**BUTTON, "payload": []}, [], None, "known"],
)
async def test_a_malformed_action_is_refused(session, action):
    assert (await press(session, action)).status_code == 422
    assert (await press("nobody", action)).status_code in (404, 422)


async def test_an_unknown_button_is_refused(session):
    assert (await press(session, {**BUTTON, "name": "unknown"})).status_code == 404
