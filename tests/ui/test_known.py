"""The repositories opened before: what the first screen says of them, and that deleting one leaves the others."""

import pytest
from support import git_server
from support.index_case import FILES, jobs_for, settings

from repopilot.index.build.job import IndexRequest
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.ui.repository.known import delete_data, known_rows


@pytest.fixture
def conf(tmp_path):
    return settings(tmp_path / "home", allow_private_hosts=True, allow_http=True)


def indexed(address, conf):
    snapshot = open_source(parse_source(address), conf)
    jobs_for(conf).build(IndexRequest(snapshot, conf))
    return {"name": snapshot.name, "address": address}


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
