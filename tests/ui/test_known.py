"""The repositories opened before: what the first screen says of them, and that deleting one leaves the others."""

import subprocess

import pytest
from support import git_server
from support.index_case import FILES, jobs_for, settings

from repopilot.errors import StorageError
from repopilot.index.build.job import IndexRequest
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.ui.repository.known import check_disk_limit, delete_data, disk_used, known_rows


@pytest.fixture
def conf(tmp_path):
    return settings(tmp_path / "home", allow_private_hosts=True, allow_http=True)


def indexed(address, conf):
    snapshot = open_source(parse_source(address), conf)
    jobs_for(conf).build(IndexRequest(snapshot, conf))
    return {"name": snapshot.name, "address": address}


@pytest.mark.slow
def test_a_folder_keeps_its_files_and_loses_its_index(tmp_path, conf):
    for name in ("one", "two"):
        git_server.commit(tmp_path / name, FILES)
    known = [indexed(str(tmp_path / name), conf) for name in ("one", "two")]
    sizes = {}
    rows = known_rows(known, conf, sizes, "en")
    assert all("indexed 20" in row["facts"] and "KB" in row["facts"] and not row["gone"] for row in rows)
    assert known_rows(known, conf, dict(sizes), "en") == rows

    delete_data(known[0]["address"], [known[1]["address"]], conf)
    first, second = known_rows(known, conf, sizes, "en")
    assert (first["facts"], second) == ("", rows[1])
    assert (tmp_path / "one/README.md").exists()
    (tmp_path / "two").rename(tmp_path / "elsewhere")
    assert known_rows(known[1:], conf, sizes, "en")[0]["gone"]


@pytest.mark.slow
def test_a_clone_stays_as_long_as_another_branch_of_it_is_known(tmp_path, conf):
    served = tmp_path / "served"
    served.mkdir()
    git_server.commit(tmp_path / "shop", FILES)
    git_server.publish(tmp_path / "shop", served, "shop.git")
    with git_server.serve(served) as git:
        known = [indexed(f"{git.url}/shop.git{ending}", conf) for ending in ("", "/tree/main")]
        both = [each["address"] for each in known]
        delete_data(both[0], both[1:], conf)
        assert any(conf.repos.glob("*.git"))
        delete_data(both[1], [], conf)
        assert not any(conf.repos.glob("*.git")) and not any(conf.indexes.glob("*shop*"))
        delete_data("no address at all", [], conf)


def test_a_row_says_commit_chats_and_whether_the_folder_has_moved_on(tmp_path, conf):
    commit = git_server.commit(tmp_path / "one", FILES)
    entry = indexed(str(tmp_path / "one"), conf)
    (row,) = known_rows([entry], conf, {}, "en", {entry["address"]: 2})
    assert f"commit {commit[:7]}" in row["facts"] and "2 chats" in row["facts"] and "changed" not in row["facts"]
    git_server.commit(tmp_path / "one", {"new.py": "x = 1\n"})
    (row,) = known_rows([entry], conf, {}, "en")
    assert "changed since" in row["facts"]
    subprocess.run(["git", "pack-refs", "--all"], cwd=tmp_path / "one", check=True)
    assert "changed since" not in known_rows([entry], conf, {}, "en")[0]["facts"], "unknown, so nothing is claimed"


@pytest.mark.slow
def test_above_the_limit_only_what_is_there_can_be_opened(tmp_path, conf):
    for name in ("one", "two"):
        git_server.commit(tmp_path / name, FILES)
    indexed(str(tmp_path / "one"), conf)
    (conf.models / "m").mkdir(parents=True)
    (conf.models / "m" / "weights").write_bytes(b"x" * (2 << 20))
    (conf.models / "large.gguf").write_bytes(b"x" * (3 << 20))
    full = conf.model_copy(update={"disk_limit_mb": 1})
    assert disk_used(full, {}) > 5 << 20, "folders and files"
    check_disk_limit(parse_source(str(tmp_path / "one")), full, {})
    check_disk_limit(parse_source(str(tmp_path / "two")), conf, {})
    with pytest.raises(StorageError, match="limit is 1"):
        check_disk_limit(parse_source(str(tmp_path / "two")), full, {})
