"""Secrets planted in files, names, messages and changes are neither stored, nor printed, nor sent to a model."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ollama_server import OllamaServer
from support.small_repo import lay_out, run_git

from bench.planted_secrets import FORMS, leaked

IN_MESSAGE, IN_BODY, IN_NAME, IN_TEST, IN_CHANGE, ASKED = (
    "ghp_" + "aB3dE5fG7h" * 4,
    "hK9%dPw2qLx7Zt",
    "AKIA" + "QWERTZUIOP234567",
    "qV7!mZr4Tn8xKw",
    "xJ4&bNf9Rt2uYc",
    "glpat-" + "Zk8sPq3vWm2nRt5xYb7c",
)
SECRETS = {name: value for name, value in globals().items() if name.startswith(("IN_", "ASKED"))}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A repository with every form in a folder of its own, and its secrets by where they stand."""
    folder = lay_out(tmp_path_factory.mktemp("planted"))
    rng = random.Random(13)
    values = dict(SECRETS)
    for number, form in enumerate(FORMS):
        value = values[form.path] = form.draw(rng)
        target = folder / f"src/form{number}" / form.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"first line\n{form.text.format(value)}last line\n", "utf-8")
    (folder / f"shop/backup-{IN_NAME}.py").write_text("def restore_backup():\n    return 1\n")
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests/test_login.py").write_text(
        f"DB_PASSWORD = '{IN_TEST}'\n\n\ndef test_login():\n    print('using DB_PASSWORD =', repr(DB_PASSWORD))\n"
        f"    assert DB_PASSWORD == 'other', f'password={{DB_PASSWORD}} is wrong'\n"
    )
    run_git(folder, "add", "-A")
    run_git(
        folder, "commit", "-qm", f"Use {IN_MESSAGE} for the cart\n\nWhy: the old one expired.\nDB_PASSWORD={IN_BODY}\n"
    )
    cart = folder / "shop/cart.py"
    cart.write_text(cart.read_text() + f'\n\nSMTP_PASSWORD = "{IN_CHANGE}"\n')
    run_git(folder, "commit", "-qam", "Send mails of the cart")
    return folder, values


@pytest.mark.slow
def test_planted_secrets_are_nowhere(planted, run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, values = planted
    with OllamaServer(reply=lambda messages: f"The code says it. {messages[-1]['content'][:300]}") as server:
        monkeypatch.setenv("REPOPILOT_OLLAMA_URL", server.url)
        printed = "\n".join(_all_output(folder, run))
        sent = json.dumps(server.state.requests, ensure_ascii=False)
    assert "[REDACTED:" in printed and "[REDACTED:" in sent
    stored = "\n".join(_stored_texts(home))
    assert "[REDACTED:" in stored
    for where, text in (("printed", printed), ("sent", sent), ("stored", stored)):
        found = {name for name, value in values.items() if leaked(value, text)}
        assert found <= ({"ASKED"} if where == "printed" else set()), (where, found)


def _all_output(folder: Path, run) -> Iterator[str]:
    commands = [
        ("--verbose", "index", folder),
        ("index", folder, "--json"),
        ("search", folder, "password", "-k", 100, "--json"),
        ("search", folder, "api token secret key", "-k", 100),
        ("context", folder, "password of the database", "--max-tokens", 20_000),
        ("ask", folder, "what is the database password?", "--trace"),
        ("ask", folder, f"why does {ASKED} not work as the token of the cart?", "--json"),
        ("ask", folder, "why was the cart changed?", "--json"),
        ("ask", folder, "when did the cart last change?", "--json"),
        ("ask", folder, "/search DB_PASSWORD", "--json"),
        ("ask", folder, "where are session tokens validated?", "--json"),
        ("impact", folder, "--diff", "HEAD~2..HEAD", "--json"),
        ("impact", folder, "shop/cart.py"),
        ("review", folder, "--diff", "HEAD~2..HEAD", "--json"),
        ("review", folder, "src", "--sarif"),
        ("generate", folder, "rename the function `validate_token` to `check_token`", "--json"),
    ]
    for command in commands:
        done = run(*command)
        yield f"$ {command}\n".replace(ASKED, "") + done.out + done.err
    refined = run("refine", folder / "shop/cart.py", "--tests", folder / "tests/test_login.py", "--json")
    whole = {"code", "tests"}  # the user's own files, given back whole
    yield refined.err + json.dumps({key: value for key, value in refined.json.items() if key not in whole})


def _stored_texts(home: Path) -> Iterator[str]:
    """The bytes of all files, and what is packed in them."""
    for file in home.rglob("*"):
        if file.is_file():
            yield file.read_bytes().decode("utf-8", "replace")
            if file.name == "index.db":
                yield from _rows(file)


def _rows(database: Path) -> Iterator[str]:
    with sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True) as connection:
        yield from (zlib.decompress(blob).decode() for (blob,) in connection.execute("SELECT text FROM contents"))
