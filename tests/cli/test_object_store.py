"""Exported indexes in an object store: sent whole, fetched by others, and what fails is said."""

import json
from pathlib import Path

import pytest
from support import git_server, object_server

from repopilot.cli.published_index import publish, take_over
from repopilot.settings import Settings

PLACE = "s3://team/indexes/shop.index"


@pytest.fixture
def store(monkeypatch):
    with object_server.serve() as server:
        for name, value in {"ENDPOINT_URL": server.url, "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield server


@pytest.fixture
def shop(tmp_path):
    git_server.commit(tmp_path / "shop", {"prices.py": "def price(count):\n    return count\n"})
    return tmp_path / "shop"


@pytest.mark.slow
def test_an_index_is_exported_to_a_store_and_imported_from_it(run_afresh, store, shop, tmp_path, monkeypatch):
    status, exported, err = run_afresh("index", "export", shop, PLACE, "--json")
    assert status == 0 and exported["file"] == PLACE and list(store.objects) == ["/team/indexes/shop.index"], err
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "elsewhere"))
    for place in (PLACE, f"{store.url}/team/indexes/shop.index"):
        status, taken, err = run_afresh("index", "import", shop, place, "--sha256", exported["sha256"], "--json")
        assert status == 0 and taken["commit"] == exported["commit"], err
    assert run_afresh("index", "import", shop, PLACE, "--sha256", "0" * 64)[0] == 1


@pytest.mark.slow
def test_what_a_store_refuses_is_said(run_afresh, store, shop):
    store.failing = True
    status, _, err = run_afresh("index", "export", shop, PLACE)
    assert status == 1 and f"{PLACE} can't be read or written" in err and "AWS_ACCESS_KEY_ID" in err
    for place in (PLACE, "s4://team/x.index", "http://127.0.0.1:1/x.index"):
        status, _, err = run_afresh("index", "import", shop, place)
        assert status == 1 and f"{place} can't be read or written" in err


@pytest.mark.slow
def test_a_worker_publishes_in_a_store_what_changed(store, shop, tmp_path, monkeypatch):
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "worker"))
    row = publish(str(shop), "s3://team/all/", {}, False)
    assert row["ok"] and row["file"].startswith("s3://team/all/") and not row["unchanged"]
    assert publish(str(shop), "s3://team/all/", {}, False)["unchanged"]
    here = Settings(home=tmp_path / "home")
    assert take_over(str(shop), row, here)["ok"] and list(here.indexes.glob("*/g00000001"))
    store.objects.clear()
    git_server.commit(shop, {"prices.py": "def cost(count):\n    return count\n"})
    gone = take_over(str(shop), publish(str(shop), "s3://team/all/", {}, False) | {"file": PLACE}, here)
    assert not gone["ok"] and PLACE in gone["error"]
    assert json.dumps(row) and Path(tmp_path / "worker").is_dir()
