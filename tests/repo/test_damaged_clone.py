"""Damaged clones are made again, and never lost: not for want of a network, nor because git itself failed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_server import GitServer, commit, git

from repopilot.errors import SourceError
from repopilot.repo.clone_check import damaged_file
from repopilot.repo.history import commits, deepen, history_dir
from repopilot.repo.read import read
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot

HEX = b"0123456789abcdef"


def opened(server: GitServer, options: Settings, **more) -> Snapshot:
    return open_source(parse_source(f"{server.url}/demo.git"), options, **more)


def contents(server: GitServer, options: Settings) -> tuple[dict[str, object], list[str]]:
    """The texts and the subjects of the commits."""
    snapshot = opened(server, options)
    assert not snapshot.stale
    deepen(snapshot, options)
    texts = {file.path: text for file, text in read(snapshot, walk(snapshot, options)[0])}
    return texts, [each.subject for each in commits(snapshot, 10)]


def damages(sound: bytes) -> Iterator[bytes]:
    """Variants of a file: cut off, with another byte, with another hexadecimal digit."""
    yield sound[: len(sound) // 2]
    for place in (len(sound) // 3, len(sound) - 1):
        yield sound[:place] + bytes([sound[place] ^ 0x21]) + sound[place + 1 :]
        if sound[place] in HEX:
            yield sound[:place] + (b"1" if sound[place] != ord("1") else b"2") + sound[place + 1 :]


def overwrite(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


@pytest.fixture
def clone(server: GitServer, options: Settings) -> Path:
    snapshot = opened(server, options)
    deepen(snapshot, options)
    assert snapshot.git_dir is not None
    return snapshot.git_dir


def pack_of(clone: Path) -> Path:
    return next((clone / "objects" / "pack").glob("*.pack"))


@pytest.mark.slow
@pytest.mark.thorough
def test_whichever_file_is_damaged_it_reads_the_same(server, options, clone):
    expected = contents(server, options)
    sound = options.home / "sound"
    shutil.copytree(options.repos, sound)
    names = [p.relative_to(sound) for p in sorted(sound.rglob("*")) if p.is_file() and p.stat().st_size]
    assert len({name.parts[0] for name in names if name.suffix == ".pack"}) == 2, "the clone and its history"
    for name in names:
        for damaged in damages((sound / name).read_bytes()):
            shutil.rmtree(options.repos)
            shutil.copytree(sound, options.repos)
            overwrite(options.repos / name, damaged)
            assert contents(server, options) == expected, (name, damaged[:200])
    assert {path.suffix for path in options.repos.iterdir()} == {".git", ".history", ".lock"}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["clone", "history"])
def test_without_the_server_a_damaged_clone_stays_and_the_damage_is_said(server, options, clone, part):
    of_part = clone if part == "clone" else history_dir(clone)
    pack = pack_of(of_part)
    before = pack.read_bytes()
    overwrite(pack, before[:-1] + b"?")
    server.status = 500
    with pytest.raises(SourceError) as refused:
        if part == "clone":
            opened(server, options)
        else:
            deepen(opened(server, options), options)
    assert pack.name in refused.value.message and "damaged" in refused.value.message
    assert "internal error" in refused.value.message
    assert pack.read_bytes() == before[:-1] + b"?", "it stays as it was"
    assert not list(options.repos.glob("*partial*")) and not list(options.repos.glob("*damaged*"))

    server.status = 0
    seen: list[Progress] = []
    deepen(opened(server, options, progress=seen.append), options, progress=seen.append)
    assert pack_of(of_part).read_bytes() == before
    assert any(pack.name in each.phase for each in seen)


@pytest.mark.slow
def test_a_kill_between_the_two_steps_of_a_replacement_loses_no_clone(server, options, clone):
    for folder in (clone, history_dir(clone)):
        folder.rename(folder.with_suffix(f"{folder.suffix}-damaged"))
    server.status = 500
    snapshot = opened(server, options)
    deepen(snapshot, options)
    assert snapshot.stale and len(commits(snapshot, 10)) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["fatal: unable to create thread: Resource temporarily unavailable", "fatal: not a git repository", ""]
)
def test_a_git_that_fails_is_no_damage(server, clone, tmp_path, monkeypatch, words):
    """It lacks memory, or the clone lies on a network drive that is gone for a moment."""
    failing = tmp_path / "bin" / "git"
    failing.parent.mkdir()
    failing.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 128\n")
    failing.chmod(0o755)
    monkeypatch.setenv("PATH", str(failing.parent) + os.pathsep + os.environ["PATH"])
    assert damaged_file(clone, f"{server.url}/demo.git") is None


def test_a_file_that_cannot_be_read_is_no_damage(server, clone):
    pack = pack_of(clone)
    pack.rename(clone / "elsewhere")
    pack.mkdir()  # as root nothing else is unreadable
    assert damaged_file(clone, f"{server.url}/demo.git") is None


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_sound_repository_of_either_kind_passes(tmp_path, algorithm, packed):
    git(tmp_path, "init", "-q", f"--object-format={algorithm}", "-b", "main", "work")
    commit(tmp_path / "work", {"a.py": "A = 1\n"})
    commit(tmp_path / "work", {"b.py": "B = 1\n"})
    source = f"file://{tmp_path}/work"
    git(tmp_path, "clone", "-q", "--bare", "--depth=1", source, "bare.git")
    bare = tmp_path / "bare.git"
    if packed:
        git(bare, "repack", "-adq")
    else:
        pack = pack_of(bare)
        pack.rename(tmp_path / "pack")
        git(bare, "unpack-objects", "-q", stdin=(tmp_path / "pack").read_bytes())
        for rest in pack.parent.iterdir():
            rest.unlink()
    assert (bare / "shallow").exists()
    assert damaged_file(bare, source) is None
    first = next(bare.glob("objects/pack/*.idx" if packed else "objects/??/*"))
    overwrite(first, first.read_bytes()[:-1] + b"?")
    assert damaged_file(bare, source) == first.relative_to(bare).as_posix()
