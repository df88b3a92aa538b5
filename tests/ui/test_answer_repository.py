"""An answer stays with its repository: what it links to and saves isn't taken from the one open by now."""

import asyncio
from dataclasses import replace

import pytest
from support import git_server
from support.index_case import runtime_for
from support.waiting import eventually

from repopilot.repo.source import parse_source
from repopilot.results import Answer, Wiki
from repopilot.settings import Settings
from repopilot.types import Citation
from repopilot.ui.answer import code_panel
from repopilot.ui.answer.parts import downloads
from repopilot.ui.answer.parts.answer_export import copy_answer
from repopilot.ui.chat import Chat, Process, ShownAnswer


@pytest.fixture
def process(tmp_path):
    quiet = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False, "workers": 1}
    settings = Settings(home=tmp_path / "home", editor="vscode", **quiet, _env_file=None)
    with runtime_for(settings) as runtime:
        yield Process(runtime)


@pytest.fixture
async def chat(process, tmp_path):
    """A chat that has an answer about the repository `older`, and then opened `newer`."""
    chat = Chat(process)
    for name in ("older", "newer"):
        git_server.commit(tmp_path / name, {"a.py": f"def {name}():\n    pass\n", "own.py": "X = 1\n"})
        opening = chat.opening = process.openings.open(parse_source(str(tmp_path / name)), chat.settings)
        await eventually(lambda opening=opening: opening.phase == "ready" and opening.idle)
        # Only its address makes it a repository of a host here.
        opening.source = replace(opening.source, url=f"https://github.com/o/{name}")
        if name == "older":
            cited = Citation(1, "a.py", 1, 2, opening.index.commit)
            chat.answers["m"] = ShownAnswer(Answer("It does [1].", (cited,)), opening.index)
    yield chat
    for opening in process.openings.all():
        process.openings.close(opening)


@pytest.mark.slow
async def test_its_lines_are_linked_to_its_own_host_and_folder(chat):
    shown = chat.answers["m"]
    props = await asyncio.to_thread(code_panel._props, chat, shown.index, shown.answer.citations[0])
    assert props["editor"].endswith("/older/a.py:1") and "/o/older/" in props["host"]
    copied = (await copy_answer(chat, {"answer": "m"}))["text"]
    assert "https://github.com/o/older/" in copied and "newer" not in copied
    found = await code_panel.look_up(chat, {"name": "older", "key": props["key"]})
    assert found["definitions"], "a name in the panel is one of the answer's repository"


@pytest.mark.slow
async def test_lines_of_the_open_repository_are_named_without_it(chat):
    index = chat.opening.index
    props = await asyncio.to_thread(code_panel._props, chat, index, Citation(1, "a.py", 1, 1, index.commit))
    assert props["key"] == "" and props["editor"].endswith("/newer/a.py:1") and "/o/newer/" in props["host"]


async def test_one_that_was_closed_has_no_links(chat, process):
    shown = chat.answers["m"]
    assert process.openings.close(chat.opening_of(shown.index))
    props = await asyncio.to_thread(code_panel._props, chat, shown.index, shown.answer.citations[0])
    assert props["lines"] and "editor" not in props and not props["host"]
    assert "github.com" not in (await copy_answer(chat, {"answer": "m"}))["text"]


@pytest.mark.slow
async def test_its_wiki_is_made_from_its_own_index(chat, monkeypatch):
    shown = chat.answers["m"]
    shown.answer = replace(shown.answer, result=Wiki((), 0, shown.index.commit, "en"))
    seen = []
    monkeypatch.setattr(downloads, "wiki_files", lambda wiki, index, url: seen.append((index, url)) or [])
    assert "error" not in await downloads.download(chat, {"answer": "m", "form": "wiki"})
    (index, url) = seen[0]
    assert index is shown.index and url == "https://github.com/o/older"
