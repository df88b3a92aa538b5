"""The cache of replies: how many, how long, and on disk."""

from __future__ import annotations

import stat

import pytest
from llama_index.core.llms import ChatMessage

from repopilot.llm.backend import ChatOptions
from repopilot.llm.cache import ReplyCache, call_key


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "disk"])
def folder(request, tmp_path):
    return tmp_path / "replies" if request.param == "disk" else None


def test_the_least_recently_used_goes_first(folder):
    cache = ReplyCache(capacity=2)
    cache.put("a", "1")
    cache.put("b", "2")
    assert cache.get("a") == "1"
    cache.put("c", "3")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("1", None, "3")


def test_a_reply_gets_old(folder):
    clock = Clock()
    cache = ReplyCache(folder, lifetime_s=600, clock=clock)
    cache.put("a", "1")
    clock.now += 599
    assert cache.get("a") == "1"
    clock.now += 1
    assert cache.get("a") is None


def test_a_clock_that_was_set_back_keeps_no_reply_longer(folder):
    clock = Clock()
    cache = ReplyCache(folder, lifetime_s=600, clock=clock)
    cache.put("a", "1")
    clock.now -= 86400
    assert cache.get("a") is None


def test_a_damaged_reply_is_none(tmp_path):
    ReplyCache(tmp_path).put("a", "The timeout is 30 seconds.")
    (file,) = tmp_path.iterdir()
    sound = file.read_bytes()
    for place in range(len(sound)):
        file.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        assert ReplyCache(tmp_path).get("a") in (None, "The timeout is 30 seconds.")
    file.write_bytes(sound.replace(b"30", b"90"))
    assert ReplyCache(tmp_path).get("a") is None


def test_on_disk_replies_outlive_the_process_and_are_private(tmp_path):
    ReplyCache(tmp_path / "replies").put("a", "où")
    assert ReplyCache(tmp_path / "replies").get("a") == "où"
    (file,) = (tmp_path / "replies").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("[1")
    assert ReplyCache(tmp_path / "replies").get("a") is None


def test_on_disk_no_more_than_the_capacity(tmp_path):
    cache = ReplyCache(tmp_path, capacity=3)
    for number in range(6):
        cache.put(str(number), "x")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_cannot_be_written_costs_only_the_persistence(tmp_path):
    (tmp_path / "file").write_text("")
    cache = ReplyCache(tmp_path / "file" / "replies")
    cache.put("a", "1")
    assert cache.get("a") == "1"


def test_calls_differ_by_model_role_text_and_options():
    user, system = ChatMessage(role="user", content="x"), ChatMessage(role="system", content="x")
    calls = [
        ("m", [user], ChatOptions(10, 0.0)),
        ("n", [user], ChatOptions(10, 0.0)),
        ("m", [system], ChatOptions(10, 0.0)),
        ("m", [user, user], ChatOptions(10, 0.0)),
        ("m", [user], ChatOptions(10, 0.0, seed=1)),
        ("m", [user], ChatOptions(10, 0.0, schema={"type": "string"})),
    ]
    assert len({call_key(*call) for call in calls}) == len(calls)
    assert call_key(*calls[0]) == call_key("m", [ChatMessage(role="user", content="x")], ChatOptions(10, 0.0))
