"""A changed file that holds secrets: its diff is shown without them, and accepting gives the file its real bytes."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.app import App, running
from support.chat_client import ChatClient, Turn
from support.index_case import write

from bench.planted_secrets import leaked
from repopilot.redaction.shown_diff import shown_diff
from repopilot.tools import file_change
from repopilot.ui.changes.diff_rows import rows_of

PASSWORD = "xJ4&bNf9Rt2uYc"
KEY_LINES = tuple(f"MIIEow{number}BAAKCAQEA7qv9Xl3Jm2Pz8sKd5Tn4Rw6Yb1Hc0Gf" for number in range(9))
DASHES = "-" * 5
CONFIG = f'''"""Settings of the shop."""

KEY = """{DASHES}BEGIN RSA PRIVATE KEY{DASHES}
{chr(10).join(KEY_LINES)}
{DASHES}END RSA PRIVATE KEY{DASHES}"""
RETRIES = 3
DB_PASSWORD = "{PASSWORD}"
NAME = "shop"
'''
CHANGED = CONFIG.replace("RETRIES = 3", "RETRIES = 5")
SECRETS = (PASSWORD, *KEY_LINES)


def shown_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if leaked(secret, text)]


@pytest.mark.slow
def test_a_change_beside_secrets_shows_none_and_accepting_keeps_them(tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", {"shop/config.py": CONFIG, "shop/cart.py": "def total():\n    return 1\n"})
    options = {"embedded": False, "dense": False, "auto_download": False, "workers": 1, "ollama_url": "http://[::1]:9"}
    with running(tmp_path / "home", **options) as app:
        turn, patch = asyncio.run(_edited(app, folder))
    seen = json.dumps([turn.text, turn.steps, turn.elements], ensure_ascii=False)
    assert "RETRIES = 5" in seen and "[REDACTED:password]" in seen and "[REDACTED:continued]" in seen
    assert shown_in(seen) == []
    assert f' DB_PASSWORD = "{PASSWORD}"' in patch, "a patch that is downloaded has to apply"
    assert (folder / "shop/config.py").read_bytes() == CHANGED.encode()


async def _edited(app: App, folder: Path) -> tuple[Turn, str]:
    """What one session sees of an edit that it accepts, and the patch that it downloads."""
    async with ChatClient(app.url) as client:
        await client.ask(str(folder))
        turn = await client.ask("/generate set shop/config.py:RETRIES to 5")
        [diff] = [each for each in turn.elements if each.get("name") == "DiffView"][-1:]
        props = diff["props"] if isinstance(diff["props"], dict) else json.loads(diff["props"])
        payload = {"answer": props["answer"], "form": "patch"}
        packed = await client.press("download", payload)
        answer = await client.press(
            "decide", {"answer": props["answer"], "paths": ["shop/config.py"], "decision": "accepted"}
        )
        assert "error" not in answer, answer
    return turn, base64.b64decode(packed["base64"]).decode()


def test_removed_and_unchanged_lines_are_shown_without_secrets() -> None:
    removed = file_change.change("a.py", CONFIG.replace(f'DB_PASSWORD = "{PASSWORD}"\n', ""), CONFIG)
    deleted = file_change.deletion("a.py", CONFIG)
    added = file_change.change("a.py", CONFIG, None)
    for change in (removed, deleted, added):
        rows = rows_of(change)
        assert shown_in(json.dumps(rows)) == [] and "[REDACTED:password]" in json.dumps(rows)
        assert shown_in(shown_diff(change.diff, change.content)) == []


LINES = st.lists(st.sampled_from(["a", "", " b", "+c", "-d", "@@ -1 +1 @@", "e\r", "\\ f"]), max_size=9).map("\n".join)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(old=LINES, new=LINES)
def test_a_diff_without_secrets_is_shown_as_it_is(old: str, new: str) -> None:
    assert shown_diff(file_change.unified("a.py", old, new), new) == file_change.unified("a.py", old, new)
