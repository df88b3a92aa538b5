"""Several processes on one data directory: none loses what another stored, and each says what it can't have."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.app import App, running
from support.chat_client import ChatClient, Turn
from support.index_case import many, write

from repopilot.database.chat_database import NAME, ChatDatabase
from repopilot.logins.recent import recent
from repopilot.results import Answer
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, insert, load, save

WRITER = f"""
import sys
sys.path[:] = {sys.path}
from pathlib import Path
from repopilot.results import Answer
from repopilot.database.chat_database import ChatDatabase
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, save
from repopilot.logins.recent import remember

database, writer = ChatDatabase(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    said = Exchange(str(number), "", Answer(writer))
    save(database, ThreadKey(writer, "repository"), said)
    save(database, ThreadKey("shared", "repository"), Exchange(f"{{writer}}.{{number}}", "", Answer("a" * 3000)))
    remember(database, writer, writer)
    print(number, flush=True)
"""


@pytest.mark.slow
def test_processes_that_write_chats_at_once_lose_nothing_even_if_one_is_killed(tmp_path):
    command = [sys.executable, "-c", WRITER, tmp_path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    counts = {"a": 25, "b": 25, "killed": 10**6}
    processes = {name: subprocess.Popen([*command, name, str(count)], **pipes) for name, count in counts.items()}
    for process in processes.values():
        assert process.stdout.readline() == "ready\n"
    for process in processes.values():
        process.stdin.write("\n")
        process.stdin.flush()
    killed = processes["killed"]
    said = {"killed": [killed.stdout.readline() for _ in range(5)]}
    killed.send_signal(signal.SIGKILL)
    for name, process in processes.items():
        # Not `communicate`, which knows nothing of the lines that `readline` has taken from the pipe beforehand.
        with process:
            written, errors = process.stdout.read(), process.stderr.read()
        assert not errors, errors
        said[name] = said.get(name, []) + written.splitlines()
    database = ChatDatabase(tmp_path)
    shared = [each.question for each in load(database, ThreadKey("shared", "repository")).exchanges]
    for name, numbers in said.items():
        own = [each.question for each in load(database, ThreadKey(name, "repository")).exchanges]
        assert len(own) in (len(numbers), len(numbers) + 1), name
        assert own == [str(number) for number in range(len(own))]
        assert [q for q in shared if q.startswith(f"{name}.")][: len(numbers)] == [
            f"{name}.{number}" for number in range(len(numbers))
        ]
    assert len(said["a"]) == len(said["b"]) == 25
    assert {each["name"] for each in recent(database)} == set(counts)
    assert not database.set_aside()


def test_what_is_stored_while_another_process_sets_the_damaged_file_aside_is_kept(tmp_path):
    database, key = ChatDatabase(tmp_path), ThreadKey("thread", "repository")
    save(database, key, Exchange("before", "", Answer("a")))
    other: list[ChatDatabase] = []

    def stored_meanwhile(connection):
        insert(connection, key, Exchange("meanwhile", "", Answer("a"), id="meanwhile"))
        if not other:
            with (tmp_path / NAME).open("r+b") as file:
                file.write(b"damaged")
            other.append(ChatDatabase(tmp_path))
            load(other[0], key)

    database.run(stored_meanwhile)
    assert other[0].set_aside()
    assert "meanwhile" in [each.question for each in load(ChatDatabase(tmp_path), key).exchanges]


LATER = "where is written_later defined?"


@pytest.mark.slow
@pytest.mark.thorough
def test_two_servers_share_a_data_directory(tmp_path):
    root, data = write(tmp_path / "shop", many(40)), tmp_path / "data"
    options = {"ollama_url": "", "embedded": False, "dense": False, "auto_download": False, "workers": 1}
    with (
        running(tmp_path / "one", data=data, **options) as one,
        running(tmp_path / "two", data=data, **options) as two,
    ):
        asyncio.run(both_answer(one, two, root))
    asked = questions_by_thread(data)
    expected = [f"where is helper_{number} defined?" for number in range(5)]
    assert [each[:5] for each in asked.values()] == [expected] * 2
    assert all(set(each[5:]) == {LATER} for each in asked.values())
    for app in (one, two):
        assert "Traceback" not in app.log.read_text() and "WARNING" not in app.log.read_text(), app.log.read_text()
    assert not list(data.glob("address-*"))


async def both_answer(one: App, two: App, root: Path) -> None:
    async with ChatClient(one.url) as first, ChatClient(two.url) as second:
        await asyncio.gather(first.ask(str(root)), second.ask(str(root)))
        for number in range(5):
            turns = await asked(first, second, f"where is helper_{number} defined?")
            assert all(f"Best match: `pkg/m{number:04d}.py:1" in turn.text for turn in turns)
        write(root, {"pkg/m0000.py": "def written_later():\n    pass\n"})
        for client in (first, second):
            while "Best match: `pkg/m0000.py" not in (await client.ask(LATER)).text:
                await asyncio.sleep(0.2)


async def asked(first: ChatClient, second: ChatClient, question: str) -> list[Turn]:
    return await asyncio.gather(first.ask(question), second.ask(question))


def questions_by_thread(data: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    select = "SELECT thread, question FROM turns ORDER BY number"
    for thread, question in ChatDatabase(data).run(lambda connection: connection.execute(select).fetchall()):
        found.setdefault(thread, []).append(question)
    return found
