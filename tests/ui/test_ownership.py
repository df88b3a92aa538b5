"""Repositories belong to the logins that opened them: others neither see, search nor delete them, unless shared."""

import asyncio
import pwd
from pathlib import Path

import pytest
from chainlit import Action
from support import git_server
from support.index_case import runtime_for
from support.orchard import FILES
from support.waiting import eventually

from repopilot.agents.testing import demonstration
from repopilot.logins.recent import remember
from repopilot.repo.source import parse_source
from repopilot.retrieval.search_all import page_of_all
from repopilot.settings import Settings
from repopilot.ui.actions import handle_action
from repopilot.ui.answer.code_panel import index_of
from repopilot.ui.chat import Chat, Process
from repopilot.ui.conversation import delete_repository, share_repository, welcome_props
from repopilot.ui.frame.routes import _opening
from repopilot.ui.repository.registry import typed_token
from repopilot.ui.repository_view import handle_button

SECRET = "open-sesame"


@pytest.fixture
def served(tmp_path):
    git_server.commit(tmp_path / "work", FILES)
    git_server.publish(tmp_path / "work", tmp_path / "served", "orchard.git")
    with git_server.serve(tmp_path / "served") as git:
        git.token = SECRET
        yield git


@pytest.fixture
def process(tmp_path):
    quiet = {"ollama_url": "", "embedded": False, "auto_download": False, "dense": False, "workers": 1}
    settings = Settings(home=tmp_path / "home", allow_private_hosts=True, allow_http=True, **quiet, _env_file=None)
    with runtime_for(settings) as runtime:
        yield Process(runtime)


async def opened(process, owner, text, token=""):
    """As a chat of this login opens it: the opening, when it goes no further."""
    chat, source = Chat(process, owner=owner), parse_source(text)
    opening = process.openings.open(source, chat.settings, None, owner)
    if token:
        await _until(opening)
        process.openings.retry(opening, typed_token(opening, token))
        await asyncio.sleep(0)
    await _until(opening)
    if opening.phase == "ready" and not opening.shared:
        remember(process.database, source.name, opening.address, owner)
    return opening


async def _until(opening):
    await eventually(lambda: opening.idle)


def found(process, owner, query="harvest"):
    return [place.path for place in page_of_all(Chat(process, owner=owner).indexes, query).places]


def listed(process, owner):
    return [(each["address"], each["own"]) for each in welcome_props(Chat(process, owner=owner), "")["recent"]]


@pytest.mark.slow
async def test_a_private_repository_is_not_anothers_because_one_login_opened_it(process, served):
    address = f"{served.url}/orchard.git"
    ada = await opened(process, "ada", address, SECRET)
    assert ada.phase == "ready" and found(process, "ada") and listed(process, "ada") == [(address, True)]
    assert found(process, "bob") == [] == listed(process, "bob") == found(process, "")[:0]
    key = ada.snapshot.key
    assert await index_of(Chat(process, owner="ada"), key) and not await index_of(Chat(process, owner="bob"), key)

    bob = await opened(process, "bob", address)
    assert bob is not ada and bob.phase == "credentials" and bob.index is None and bob.snapshot is None
    wrong = await opened(process, "bob", address, "wrong")
    assert wrong.phase == "credentials" and not wrong.answerable
    assert "error" in handle_button(Chat(process, owner="eve"), "opening_forget", {"key": ada.key})
    assert ada.typed, "no button of another login works on it"
    assert _opening(process, address, "ada") is ada and _opening(process, address, "eve") is None

    assert await delete_repository(Chat(process, owner="bob"), {"address": address}) == {}
    assert found(process, "ada"), "who doesn't have it deletes nothing"
    assert (await opened(process, "bob", address, SECRET)).phase == "ready" and found(process, "bob")
    await delete_repository(Chat(process, owner="ada"), {"address": address})
    assert found(process, "bob") and not listed(process, "ada"), "what another login has stays"


@pytest.mark.slow
async def test_an_earlier_clone_opens_to_nobody_whom_the_host_does_not_let_in(process, tmp_path):
    git_server.commit(tmp_path / "work", FILES)
    git_server.publish(tmp_path / "work", tmp_path / "served", "orchard.git")
    with git_server.serve(tmp_path / "served") as git:
        address = f"{git.url}/orchard.git"
        assert (await opened(process, "ada", address)).phase == "ready"
    # The host is gone: the clone is there, but who may have it can't be asked.
    bob = await opened(process, "bob", address)
    assert bob.phase == "failed" and bob.index is None and found(process, "bob") == []
    process.openings.close(process.openings.named(address, "ada")[0])
    assert (await opened(process, "ada", address)).answerable, "whose it is may still use it"


@pytest.mark.slow
async def test_what_is_shared_is_seen_by_all_until_it_no_longer_is(process, served):
    address = f"{served.url}/orchard.git"
    await opened(process, "ada", address, SECRET)
    await share_repository(Chat(process, owner="bob"), {"address": address})
    assert listed(process, "bob") == [], "only who has it shares it"
    assert await share_repository(Chat(process, owner="ada"), {"address": address}) == {}
    assert listed(process, "bob") == [(address, False)] and found(process, "bob")
    bob = await opened(process, "bob", address)
    assert bob.phase == "ready" and bob.shared and bob.typed is None
    await delete_repository(Chat(process, owner="bob"), {"address": address})
    assert found(process, "ada") and listed(process, "ada") == [(address, True)]
    await share_repository(Chat(process, owner="ada"), {"address": address})
    assert listed(process, "bob") == [] == found(process, "bob")
    assert (await opened(process, "bob", address)).phase == "credentials", "having used it made it not their own"
    await share_repository(Chat(process, owner="ada"), {"address": address})
    assert process.openings.retry(await opened(process, "bob", address)) and process.openings.named(address, "bob")
    await share_repository(Chat(process, owner="ada"), {"address": address})
    assert not process.openings.named(address, "bob"), "one that is busy, too"
    await share_repository(Chat(process, owner="ada"), {"address": address})
    assert (await opened(process, "bob", address)).shared
    await delete_repository(Chat(process, owner="ada"), {"address": address})
    assert listed(process, "bob") == [], "nobody is left who shares it"
    assert not process.openings.named(address, "bob")


@pytest.mark.slow
async def test_a_folder_is_of_the_login_that_opened_it_first(process, tmp_path):
    folder = tmp_path / "folder" / "project"
    git_server.commit(folder, FILES)
    (tmp_path / "alias").symlink_to(folder)
    both = await asyncio.gather(opened(process, "ada", str(folder)), opened(process, "bob", str(folder)))
    assert sorted(each.phase for each in both) == ["failed", "ready"], "two at once"
    first, other = ("ada", "bob") if both[0].phase == "ready" else ("bob", "ada")
    home = process.runtime.settings.home
    for place in (folder, folder / "src", folder.parent, tmp_path / "alias", home / "repos", home, home.parent):
        place.mkdir(exist_ok=True, parents=True)
        refused = await opened(process, other, str(place))
        assert refused.phase == "failed" and refused.index is None, place
    assert found(process, first) and found(process, other) == []
    assert (await opened(process, first, str(tmp_path / "alias"))).phase == "ready"
    for each in process.openings.all():
        process.openings.close(each)


@pytest.mark.slow
async def test_an_open_page_answers_nothing_more_of_what_is_no_longer_the_logins(process, served):
    address = f"{served.url}/orchard.git"
    await opened(process, "ada", address, SECRET)
    await share_repository(Chat(process, owner="ada"), {"address": address})
    page = Chat(process, owner="bob", opening=await opened(process, "bob", address))

    async def files():
        return (await handle_action(page, Action(name="list_files", payload={})))["files"]

    assert "orchard/trees.py" in await files()
    await share_repository(Chat(process, owner="ada"), {"address": address})
    assert await files() == [] and page.opening is None, "no longer shared"
    page = Chat(process, owner="ada", opening=process.openings.named(address, "ada")[0])
    assert "orchard/trees.py" in await files()
    await delete_repository(Chat(process, owner="ada"), {"address": address})
    again = await opened(process, "ada", address, SECRET)
    assert "orchard/trees.py" in await files() and page.opening is again, "deleted in another tab, and opened anew"
    await delete_repository(Chat(process, owner="ada"), {"address": address})
    assert await files() == [] and page.opening is None


@pytest.mark.slow
async def test_each_login_has_a_demonstration_of_its_own(process):
    home = process.runtime.settings.home
    folders = [demonstration.folder_with_code(home, owner) for owner in ("ada", "bob", "")]
    assert len(set(folders)) == 3
    for owner, own in zip(("ada", "bob"), folders, strict=False):
        assert (await opened(process, owner, str(own))).phase == "ready" and found(process, owner, "slug")
        for other in (*folders, home / "demos"):
            assert other == own or (await opened(process, owner, str(other))).phase == "failed", other
    for each in process.openings.all():
        process.openings.close(each)


async def test_no_login_keeps_the_others_out_of_everything(process):
    for wide in (Path.home(), Path.home().parent, Path("/"), Path("/home"), Path(pwd.getpwuid(0).pw_dir)):
        refused = await opened(process, "bob", str(wide))
        assert refused.phase == "failed" and "root folder" in refused.error.message, wide
    assert not listed(process, "bob")


@pytest.mark.slow
async def test_where_nobody_logs_in_all_is_as_it_was(process, served):
    address = f"{served.url}/orchard.git"
    await opened(process, "", address, SECRET)
    assert found(process, "") and listed(process, "") == [(address, True)]
    assert not welcome_props(Chat(process), "")["logins"] and found(process, "ada") == []
