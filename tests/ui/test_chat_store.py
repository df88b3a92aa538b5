"""What was said in a chat is stored, and nothing that happens beside it takes it away."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from support.searched_chats import FOLDED, found_in_any_case

from repopilot.agents.planning.agent import current_plan
from repopilot.database.chat_database import NAME, VERSION, ChatDatabase
from repopilot.errors import StorageError
from repopilot.logins.recent import recent, remember
from repopilot.results import Answer, Plan, PlanPart
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Citation, FileChange, Route
from repopilot.ui.chat import Chat, Process
from repopilot.ui.chats.chat_list import listed, remove
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, load, new_id, repository_id, save

REPOSITORY = repository_id("https://host.example/o/r")
KEY = ThreadKey("thread", REPOSITORY)
PLAN = Plan("t", (PlanPart(1, "one", ("a.py",), "LOW", (), "done"), PlanPart(2, "two")))


def exchange(question="q", text="a [1]"):
    answer = Answer(
        text,
        (Citation(1, "a.py", 1, 2, "c" * 40, "f", False),),
        (FileChange("a.py", "added", "", "x\n"),),
        Route("EXPLAIN", 0.9, "why", "rules", (("TEST", 0.8),)),
        ("no vectors",),
        result=PLAN,
    )
    return Exchange(question, "plan", answer, "footer", "c" * 40)


def questions(database, key=KEY):
    return [each.question for each in load(database, key).exchanges]


@pytest.fixture
def database(tmp_path):
    return ChatDatabase(tmp_path)


def test_secrets_of_questions_answers_and_files_are_not_stored(database):
    token, password = "glpat-" + "Zk8sPq3vWm2nRt5xYb7c", "xJ4&bNf9Rt2uYc"
    change = FileChange("a.py", "modified", f'-x\n+PASSWORD = "{password}"\n', f'PASSWORD = "{password}"\n')
    said = replace(exchange(f"why is {token} refused?"), answer=Answer(f"password={password}", files=(change,)))
    save(database, KEY, said)
    stored = b"".join(file.read_bytes() for file in database.home.rglob("*") if file.is_file()).decode(
        "utf-8", "replace"
    )
    assert token not in stored and password not in stored
    (kept,) = load(database, KEY).exchanges
    assert kept.question == "why is [REDACTED:gitlab-token] refused?"
    assert kept.answer.files[0].content == 'PASSWORD = "[REDACTED:password]"\n'


@pytest.mark.slow
def test_a_conversation_is_stored_whole_and_in_order(database):
    for number in range(20):
        save(database, KEY, exchange(str(number)))
    kept = load(ChatDatabase(database.home), KEY).exchanges
    assert [each.question for each in kept] == [str(n) for n in range(20)]
    assert kept[0] == exchange("0")
    assert current_plan(Chat(Process(Runtime(Settings(home=database.home))), exchanges=list(kept)).turns) == PLAN


def test_another_conversation_about_the_repository_replaces_none(database):
    other = replace(KEY, thread="other")
    save(database, KEY, exchange("first"))
    save(database, other, exchange("second"))
    save(database, other, exchange("third"))
    assert questions(database) == ["first"]
    found = listed(database)
    assert [(each.id, each.title, each.turns) for each in found] == [
        ("other", "second", 2),
        ("thread", "first", 1),
    ]
    remove(database, "other", "")
    assert questions(database, other) == [] and questions(database) == ["first"]


def test_a_user_sees_only_conversations_of_their_own(database):
    save(database, replace(KEY, owner="ada"), exchange("hers"))
    remember(database, "r", "a", "ada")
    assert questions(database) == questions(database, replace(KEY, owner="bob")) == []
    assert listed(database) == [] and len(listed(database, "ada")) == 1
    assert recent(database) == [] and [each["address"] for each in recent(database, "ada")] == ["a"]
    remove(database, KEY.thread, "bob")
    assert questions(database, replace(KEY, owner="ada")) == ["hers"]


@pytest.mark.slow
def test_two_tabs_write_one_conversation_at_once(tmp_path):
    start = threading.Barrier(4)

    def write(tab: int) -> None:
        database = ChatDatabase(tmp_path)
        start.wait()
        for number in range(10):
            save(database, KEY, exchange(f"{tab}.{number}"))
            remember(database, f"{tab}.{number}", f"{tab}.{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    kept = questions(ChatDatabase(tmp_path))
    assert sorted(kept) == sorted(f"{tab}.{number}" for tab in range(4) for number in range(10))
    assert [q for q in kept if q.startswith("1.")] == [f"1.{number}" for number in range(10)]
    assert len(recent(ChatDatabase(tmp_path))) == 6


def test_an_exchange_stored_again_is_the_same_row(database):
    asked = replace(exchange("q", text=""), interrupted=True)
    save(database, KEY, asked)
    save(database, KEY, exchange("next"))
    save(database, KEY, replace(exchange("q", text="complete"), id=asked.id))
    first, second = load(database, KEY).exchanges
    assert (first.answer.text, first.interrupted, second.question) == ("complete", False, "next")


KILLED = """
import sys
from pathlib import Path
from repopilot.results import Answer
from repopilot.database.chat_database import ChatDatabase
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, save
database = ChatDatabase(Path(sys.argv[1]))
for number in range(10**6):
    save(database, ThreadKey("thread", sys.argv[2]), Exchange(str(number), "", Answer("a")))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_was_stored(tmp_path):
    root = str(Path(__file__).resolve().parents[2])
    env = os.environ | {"PYTHONPATH": root}
    command = [sys.executable, "-c", KILLED, str(tmp_path), REPOSITORY]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(15)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    kept = questions(ChatDatabase(tmp_path))
    assert kept[: len(said)] == [line.strip() for line in said]


def filled(home: Path) -> ChatDatabase:
    database = ChatDatabase(home)
    for number in range(40):
        save(database, replace(KEY, thread=f"t{number % 3}"), exchange(f"question {number}", text="word " * 300))
    remember(database, "name", "address")
    return database


def everything(database) -> tuple[dict[str, Exchange], int]:
    found, unreadable = {}, 0
    for number in range(3):
        conversation = load(database, replace(KEY, thread=f"t{number}"))
        unreadable += conversation.unreadable
        found |= {each.id: each for each in conversation.exchanges}
    return found, unreadable


@pytest.mark.slow
def test_of_a_damaged_database_what_is_shown_is_what_was_said(tmp_path):
    stored, _ = everything(filled(tmp_path))
    sound = (tmp_path / NAME).read_bytes()
    partly = aside = 0
    places = [*range(0, 100, 2), *range(100, len(sound), len(sound) // 30)]
    for place in places:
        for damaged in (bytearray(sound), bytearray(sound[:place]))[: 1 if place % 10 else 2]:
            if len(damaged) == len(sound):
                damaged[place] ^= 0x41
            for file in tmp_path.glob(f"{NAME}*"):
                file.unlink()
            (tmp_path / NAME).write_bytes(damaged)
            database = ChatDatabase(tmp_path)
            try:
                found, unreadable = everything(database)
            except StorageError as error:
                assert (
                    re.search("(?:newer|older) version of RepoPilot", str(error)) and 60 <= place < 64
                )  # the number of the format
                continue
            assert all(stored[id] == each for id, each in found.items()), place
            told = unreadable or database.set_aside() or not damaged
            assert found == stored or told, f"{len(stored) - len(found)} lost unsaid, byte {place}"
            assert not found or listed(database, search="word"), place
            save(database, KEY, exchange("goes on"))
            assert questions(database) == ["goes on"]
            partly, aside = partly + bool(found), aside + bool(database.set_aside())
    assert partly > len(places) // 2 and aside > 20


@pytest.mark.parametrize(
    ("version", "told"),
    [(VERSION + 1, "a newer"), (99, "a newer"), (VERSION - 1, "an older"), (1, "an older"), (-1, "an older")],
)
def test_a_database_of_another_version_is_left_alone_and_said_to_be_newer_or_older(database, version, told):
    save(database, KEY, exchange())
    with closing(sqlite3.connect(database.home / NAME)) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    with pytest.raises(StorageError, match=f"{told} version of RepoPilot"):
        save(ChatDatabase(database.home), KEY, exchange())
    assert not ChatDatabase(database.home).set_aside()


def test_what_cannot_be_stored_is_an_error_and_recent_repositories_are_none(tmp_path):
    (tmp_path / "file").write_text("a file where the folder should be")
    database = ChatDatabase(tmp_path / "file")
    with pytest.raises(StorageError, match="can't be read or stored"):
        save(database, KEY, exchange())
    remember(database, "n", "a")
    assert recent(database) == []


def test_a_database_that_was_deleted_is_made_again(database):
    save(database, KEY, exchange("before"))
    (database.home / NAME).unlink()
    save(database, KEY, exchange("after"))
    assert questions(database) == ["after"]


def test_recent_repositories_newest_first_once_each(database):
    assert recent(database) == []
    for address in ("a", "b", "a"):
        remember(database, address, address)
    assert [entry["address"] for entry in recent(database)] == ["a", "b"]


def test_a_turn_says_something_and_is_no_look_up():
    assert exchange().is_turn
    assert not Exchange("q", "", Answer(""), interrupted=True).is_turn
    assert not Exchange("q", "search", Answer("found")).is_turn
    assert len({new_id() for _ in range(100)}) == 100


@pytest.mark.parametrize("search", ["100%", "a_b", "!", "'", '"', "\\", "é"])
def test_a_search_takes_every_character_as_it_is(database, search):
    save(database, KEY, exchange(f"why {search} here?"))
    save(database, replace(KEY, thread="other"), exchange("100 aXb", "another"))
    assert [chat.id for chat in listed(database, search=search)] == [KEY.thread]
    remove(database, KEY.thread, "")
    assert listed(database, search=search) == []


@pytest.mark.parametrize("search", FOLDED)
def test_a_search_finds_letters_of_any_script_in_any_case(database, search):
    found_in_any_case(database, KEY, search)
