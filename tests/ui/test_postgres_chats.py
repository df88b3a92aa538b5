"""The conversations in a real PostgreSQL server."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support import postgres
from support.searched_chats import FOLDED, found_in_any_case

from repopilot.database.postgres import PostgresChats
from repopilot.errors import StorageError
from repopilot.logins.recent import forget, recent, remember
from repopilot.results import Answer
from repopilot.ui.chats.chat_list import change, chat_counts, listed, remove
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, load, save

pytestmark = pytest.mark.skipif(not postgres.program("initdb"), reason="PostgreSQL is not installed")
KEY = ThreadKey("thread", "repository", "me", "shop", "/shop")


@pytest.fixture(scope="module")
def url():
    with postgres.server() as running:
        yield running


@pytest.fixture
def database(url, tmp_path):
    made = PostgresChats(url, tmp_path)
    made.run(lambda connection: [connection.execute(f"DELETE FROM {t}") for t in ("turns", "chats", "opened")])
    return made


def exchange(question, answer="because"):
    return Exchange(question, "", Answer(answer), steps=[{"name": "work"}])


@pytest.mark.slow
def test_a_conversation_is_kept_changed_listed_searched_and_deleted(database, url, tmp_path):
    first = exchange("why\0 100%?")
    save(database, KEY, first)
    save(database, replace(KEY, thread="other"), exchange("how?", "By Magic"))
    save(database, KEY, replace(first, rating=1, decisions={"a": "accepted"}))
    (kept,) = load(PostgresChats(url, tmp_path), KEY).exchanges
    assert (kept.question, kept.rating, kept.decisions, kept.steps) == (
        "why\0 100%?",
        1,
        {"a": "accepted"},
        [{"name": "work"}],
    )
    change(database, "thread", "me", title="Mine", pinned=True)
    assert [(chat.title, chat.pinned) for chat in listed(database, "me")] == [("Mine", True), ("how?", False)]
    assert [chat.id for chat in listed(database, "me", "magic")] == ["other"]
    assert [chat.id for chat in listed(database, "me", "100%")] == ["thread"]
    assert listed(database, "you") == [] and chat_counts(database, "me")["/shop"] == 2
    remove(database, "thread", "me")
    assert [chat.id for chat in listed(database, "me")] == ["other"]


@pytest.mark.slow
@pytest.mark.parametrize("search", FOLDED)
def test_a_search_finds_letters_of_any_script_in_any_case(database, search):
    found_in_any_case(database, KEY, search)


@pytest.mark.slow
def test_recent_repositories_newest_first_once_each(database):
    for address in ("a", "b", "a"):
        remember(database, address, address, "me")
    assert [entry["address"] for entry in recent(database, "me")] == ["a", "b"]
    forget(database, "a", "me")
    assert [entry["address"] for entry in recent(database, "me")] == ["b"]


def test_servers_that_start_and_write_at_once_lose_nothing(url, tmp_path, database):
    database.run(lambda c: [c.execute(f"DROP TABLE {t}") for t in ("turns", "chats", "opened", "repopilot")])

    def write(number):
        save(PostgresChats(url, tmp_path), KEY, exchange(str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert sorted(int(each.question) for each in load(database, KEY).exchanges) == list(range(24))


@pytest.mark.slow
def test_a_server_that_is_gone_or_of_another_version_is_said(url, tmp_path, database):
    with pytest.raises(StorageError, match="can't be read or stored"):
        save(PostgresChats("postgresql://me:secret@127.0.0.1:9/none", tmp_path), KEY, exchange("?"))
    save(database, KEY, exchange("before"))
    try:
        for version, told in ((99, "a newer version"), (1, "an older version")):
            database.run(lambda connection, to=version: connection.execute("UPDATE repopilot SET version = ?", (to,)))
            with pytest.raises(StorageError, match=f"{told} of RepoPilot"):
                save(PostgresChats(url, tmp_path), KEY, exchange("?"))
    finally:
        database.run(lambda connection: connection.execute("DROP TABLE repopilot"))
