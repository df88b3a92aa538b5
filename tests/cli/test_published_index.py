"""Indexes in a shared folder: published where they changed, by whichever machine; see test_ray_cluster.py for many."""

import shutil

import pytest
from support import git_server

from repopilot.cli.published_index import publish, take_over
from repopilot.errors import ClusterError
from repopilot.settings import Settings


@pytest.fixture
def published(tmp_path, monkeypatch):
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "worker"))
    (tmp_path / "shared").mkdir()

    def one(source, full=False):
        options = {"allow_http": True, "allow_private_hosts": True}
        return publish(str(source), str(tmp_path / "shared"), options, full)

    return one


@pytest.mark.slow
def test_a_remote_is_cloned_again_only_for_a_new_commit_and_never_replaced_by_an_older_state(published, tmp_path):
    git_server.commit(tmp_path / "work", {"a.py": "a = 1\n"})
    git_server.publish(tmp_path / "work", tmp_path / "served")
    with git_server.serve(tmp_path / "served") as server:
        server.redirect_bare = True
        address = f"{server.url}/demo"
        first = published(address)
        assert first["ok"] and not first["unchanged"], first
        shutil.rmtree(tmp_path / "worker")  # another machine
        assert published(address)["unchanged"] and not (tmp_path / "worker" / "repos").exists()
        again = published(address, full=True)
        assert again["ok"] and not again["unchanged"] and again["commit"] == first["commit"]
        server.status = 500
        assert "internal error" in published(address)["error"] and "internal error" in published(address, True)["error"]
    assert [str(each) for each in (tmp_path / "shared").iterdir()] == [first["file"]]


@pytest.mark.slow
def test_a_folder_that_differs_from_its_commit_is_published_when_its_files_change(published, tmp_path):
    git_server.commit(tmp_path / "shop", {"a.py": "a = 1\n"})
    (tmp_path / "shop" / "a.py").write_text("a = 2\n")
    unchanged = [published(tmp_path / "shop")["unchanged"] for _ in range(2)]
    (tmp_path / "shop" / "a.py").write_text("a = 3\n")
    assert [*unchanged, published(tmp_path / "shop")["unchanged"]] == [False, True, False]


@pytest.mark.slow
def test_what_cannot_be_taken_over_is_a_row_with_its_error(published, tmp_path):
    git_server.commit(tmp_path / "shop", {"a.py": "a = 1\n"})
    row, asking = published(tmp_path / "shop"), Settings(home=tmp_path / "asking")
    assert take_over("shop", row, asking) == row
    for wrong in ({"key": "../../elsewhere"}, {"key": "other", "sha256": "0" * 64}, {"key": "other", "file": "gone"}):
        taken = take_over("shop", {**row, **wrong}, asking)
        assert not taken["ok"] and taken["error"]
    assert take_over("shop", ClusterError("gone"), asking)["error"] == "gone"
    assert [each.name for each in (tmp_path / "asking" / "index").iterdir() if list(each.glob("g0*"))] == [row["key"]]
