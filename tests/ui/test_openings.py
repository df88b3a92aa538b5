"""Openings, with a real git server and a real index: shared, stopped, retried, asked about, narrowed."""

import asyncio
import threading

import pytest
from support import git_server
from support.index_case import WordEmbedder, runtime_for
from support.orchard import BIG, FILES
from support.waiting import PATIENCE_S, eventually

from repopilot.database.chat_database import ChatDatabase
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.ui.repository.props import moved_note, opening_props
from repopilot.ui.repository.registry import Openings, typed_token


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("openings")
    git_server.commit(folder / "orchard", FILES)
    git_server.publish(folder / "orchard", folder / "served", "orchard.git")
    git_server.commit(folder / "big", BIG)
    git_server.publish(folder / "big", folder / "served", "big.git")
    git_server.commit(folder / "pictures", {"a.png": b"\x89PNG\r\n\x1a\n\x00"})
    git_server.publish(folder / "pictures", folder / "served", "pictures.git")
    with git_server.serve(folder / "served") as git:
        yield git


@pytest.fixture
def settings(tmp_path):
    return Settings(
        home=tmp_path, allow_private_hosts=True, allow_http=True, dense=False, big_repository_lines=500, workers=1
    )


async def no_embedder():
    return None


async def until(opening, *phases):
    await eventually(lambda: opening.phase in phases and (opening.idle or opening.phase in ("cloning", "indexing")))


@pytest.mark.slow
async def test_everyone_shares_one_opening(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    source = parse_source(f"{served.url}/orchard.git")
    first, second = openings.open(source, settings), openings.open(source, settings)
    assert first is second
    await until(first, "ready")
    props = opening_props(first, "en")
    assert props["answerable"] and props["title"] == "Indexed orchard" and props["error"] is None
    assert props["badge"]["text"].startswith("Indexed: 4 files · ")
    assert {
        "reason": "dependency folder node_modules/",
        "count": "1",
        "paths": ["node_modules/left/index.js"],
        "more": "",
    } in props["badge"]["skips"]
    assert openings.open(source, settings) is first and first.idle, "opened again although it is ready"
    assert openings.open(source, settings.model_copy(update={"exclude": ["tests/"]})) is not first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filling", "share", "said"), [(False, 0, "by meaning on demand"), (True, 1, "by meaning ready")]
)
async def test_all_vectors_are_computed_only_where_that_is_wanted(served, settings, filling, share, said):
    async def embedder():
        return WordEmbedder()

    options = {"dense": True, "dense_index": filling, "embed_model": "words"}
    settings = settings.model_copy(update=options)
    runtime = runtime_for(settings)
    opening = Openings(runtime, embedder, {}, ChatDatabase(settings.home)).open(
        parse_source(f"{served.url}/orchard.git"), settings
    )
    await until(opening, "ready")
    assert opening.index.dense == share
    assert said in opening_props(opening, "en")["badge"]["dense"]
    runtime.close()


@pytest.mark.slow
async def test_a_clone_can_be_stopped_and_tried_again(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    served.stall.set()
    try:
        opening = openings.open(parse_source(f"{served.url}/orchard.git"), settings)
        await eventually(lambda: served.requests)
        assert not openings.retry(opening), "a second clone beside the first"
        openings.stop(opening)
        await until(opening, "stopped")
        assert opening_props(opening, "en")["buttons"] == ["retry"]
    finally:
        served.stall.clear()
    assert openings.retry(opening)
    await until(opening, "ready")


@pytest.mark.slow
async def test_an_index_build_can_be_stopped_and_tried_again(tmp_path, settings):
    git_server.commit(tmp_path / "many", {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(400)})
    settings = settings.model_copy(update={"big_repository_lines": 10_000})
    runtime = runtime_for(settings)
    openings = Openings(runtime, no_embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(str(tmp_path / "many")), settings)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while opening.job is None:
                await asyncio.sleep(0)
        openings.stop(opening)
        await until(opening, "stopped")
        assert openings.retry(opening)
        await until(opening, "ready")
    finally:
        await asyncio.to_thread(opening.watch.stop)
        runtime.close()


@pytest.mark.slow
async def test_credentials_are_asked_for_and_not_kept(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    served.token = "open-sesame"
    try:
        opening = openings.open(parse_source(f"{served.url}/orchard.git"), settings)
        await until(opening, "credentials")
        assert not opening_props(opening, "en")["refused"]
        openings.retry(opening, typed_token(opening, "wrong"))
        await until(opening, "cloning")
        await until(opening, "credentials")
        assert opening_props(opening, "en")["refused"]
        openings.retry(opening, typed_token(opening, " open-sesame "))
        await until(opening, "ready")
        assert "open-sesame" not in repr(opening_props(opening, "en"))
        assert opening_props(opening, "en")["typed_token"] and openings.forget_token(opening)
        assert not opening_props(opening, "en")["typed_token"]
        assert not any(b"open-sesame" in file.read_bytes() for file in settings.home.rglob("*") if file.is_file())
    finally:
        served.token = ""


@pytest.mark.slow
async def test_a_link_to_another_host_gets_no_token(served, settings):
    """What a link to `/?offer=…` opens by one click: its host asks for credentials, and gets none but its own."""
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    served.token = "open-sesame"
    served.headers.clear()
    try:
        tokens = settings.model_copy(update={"git_token": "open-sesame gitlab.com=open-sesame"})
        opening = openings.open(parse_source(f"{served.url}/orchard.git"), tokens)
        await until(opening, "credentials")
        assert set(served.credentials) == {""}
        assert opening_props(opening, "en")["host"] in served.url
    finally:
        served.token = ""


@pytest.mark.slow
async def test_a_big_repository_is_estimated_first_and_narrowed(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(f"{served.url}/big.git"), settings)
    await until(opening, "asking")
    props = opening_props(opening, "en")
    assert not props["answerable"]
    assert props["estimate"]["folders"][0]["name"] == "src"
    assert openings.confirm(opening, ("docs",))
    await until(opening, "ready")
    assert set(opening.index.files) == {f"docs/m{n}.py" for n in range(3)}
    assert not openings.confirm(opening), "nothing is asked any more"


async def test_what_goes_wrong_is_said_with_a_way_on(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(f"{served.url}/absent.git"), settings)
    await until(opening, "failed")
    error = opening_props(opening, "en")["error"]
    assert error["message"] and error["hint"]


@pytest.mark.slow
async def test_a_repository_without_code_is_no_failure(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(f"{served.url}/pictures.git"), settings)
    await until(opening, "ready", "failed")
    assert "pictures" in opening_props(opening, "en")["title"]
    assert opening.error is not None or opening.index is not None


@pytest.mark.slow
async def test_a_local_folder_is_followed(tmp_path, settings):
    folder = tmp_path / "local"
    git_server.commit(folder, FILES)
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(str(folder)), settings)
    await until(opening, "ready")
    try:
        (folder / "orchard" / "bees.py").write_text("def hum():\n    return 'zzz'\n")
        await eventually(lambda: "orchard/bees.py" in opening.index.files)
        assert opening.index.symbols("hum")
    finally:
        await asyncio.to_thread(opening.watch.stop)
    await until(opening, "ready")


@pytest.mark.slow
async def test_a_change_while_the_folder_is_read_for_the_first_time_is_not_lost(tmp_path, settings):
    git_server.commit(tmp_path / "local", FILES)
    late = tmp_path / "local" / "orchard" / "late.py"

    class ChangesTheFolder(WordEmbedder):
        def embed(self, texts, **how):
            if not late.exists():
                late.write_text("def arrive():\n    return 'late'\n")
            return super().embed(texts, **how)

    async def embedder():
        return ChangesTheFolder()

    settings = settings.model_copy(update={"dense": True, "dense_index": True, "embed_model": "words"})
    runtime = runtime_for(settings)
    opening = Openings(runtime, embedder, {}, ChatDatabase(settings.home)).open(
        parse_source(str(tmp_path / "local")), settings
    )
    try:
        await eventually(lambda: opening.index is not None and "orchard/late.py" in opening.index.files)
    finally:
        await asyncio.to_thread(opening.watch.stop)
    await until(opening, "ready")
    runtime.close()


@pytest.mark.slow
async def test_a_small_repository_is_ready_before_its_vectors_which_follow_by_themselves(served, settings):
    gate = threading.Event()

    async def embedder():
        return WordEmbedder(gate=gate)

    assert settings.model_copy(update={"embed_url": "http://elsewhere.example"}).most_embedded == 0
    settings = settings.model_copy(update={"dense": True})
    runtime = runtime_for(settings)
    openings = Openings(runtime, embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(f"{served.url}/orchard.git"), settings)
    await until(opening, "ready")
    assert opening.idle and opening.index.dense < 1.0 and not opening.job.done.is_set()
    gate.set()
    assert await asyncio.to_thread(opening.job.done.wait, PATIENCE_S)
    assert opening.index.dense == 1.0
    runtime.close()


@pytest.mark.slow
async def test_a_repository_that_is_deleted_gets_no_more_vectors(served, settings):
    gate = threading.Event()

    async def embedder():
        return WordEmbedder(gate=gate)

    settings = settings.model_copy(update={"dense": True})
    runtime = runtime_for(settings)
    openings = Openings(runtime, embedder, {}, ChatDatabase(settings.home))
    opening = openings.open(parse_source(f"{served.url}/orchard.git"), settings)
    await until(opening, "ready")
    assert openings.close(opening)
    gate.set()
    assert await asyncio.to_thread(opening.job.done.wait, PATIENCE_S)
    assert opening.index.dense < 1.0
    runtime.close()


@pytest.mark.slow
async def test_a_known_repository_is_fetched_again_and_answers_meanwhile(served, settings):
    openings = Openings(runtime_for(settings), no_embedder, {}, ChatDatabase(settings.home))
    source = parse_source(f"{served.url}/orchard.git")
    opening = openings.open(source, settings)
    await until(opening, "ready")
    before = opening.index.commit
    work = served.folder.parent / "orchard"
    after = git_server.commit(work, {"orchard/wind.py": "def blow():\n    return 1\n"}, "wind")
    git_server.publish(work, served.folder, "orchard.git")
    opening.fetched_at -= 3600
    assert openings.open(source, settings) is opening and opening.answerable
    assert opening.index.commit == before and moved_note(opening, before, "en") == ""
    await until(opening, "cloning", "indexing")
    await until(opening, "ready")
    assert opening.index.commit == after
    assert "the index is at commit " + after[:7] in moved_note(opening, before, "en")
