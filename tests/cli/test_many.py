"""Many repositories: indexed from a list, searched together, handed over as files."""

import pytest
from support import git_server


@pytest.fixture
def run(run_afresh):
    return run_afresh


@pytest.fixture
def shops(tmp_path):
    for name in ("fruit", "tools"):
        text = f"def price_of_{name}(count):\n    return count\n"
        git_server.commit(tmp_path / name, {f"{name}/prices.py": text})
    return tmp_path


@pytest.mark.slow
def test_one_that_fails_ends_nothing_and_all_are_searched_together(run, shops):
    listed = shops / "list.txt"
    listed.write_text(f"# ours\n{shops / 'fruit'}\n{shops / 'gone'}\n\n{shops / 'tools'}\n")
    status, found, err = run("index", "--many", listed, "--json")
    assert status == 1 and found["failed"] == 1 and [row["ok"] for row in found["repositories"]] == [True, False, True]
    assert "2/3" in err and "✗" in err
    status, found, _ = run("search", "--all", "price_of_tools", "--json")
    assert status == 0 and found["repositories"] == 2
    best = found["hits"][0]
    assert (best["repository"], best["path"]) == ("tools", "tools/prices.py") and best["commit"]
    status, found, _ = run("search", "--all", "price", "--json")
    assert {hit["repository"] for hit in found["hits"]} == {"fruit", "tools"}


@pytest.mark.slow
def test_a_question_is_answered_from_all_and_a_damaged_index_is_said_to_be_left_out(run, shops, tmp_path):
    for name in ("fruit", "tools"):
        run("index", shops / name)
    status, found, _ = run("ask", "--all", "where is price_of_tools computed?", "--json")
    first, second = found["citations"]
    assert status == 0 and found["model"] is None and found["answer"].startswith("Best match: `tools › tools/prices.py")
    assert (first["number"], first["repository"], first["path"]) == (1, "tools", "tools/prices.py") and first["commit"]
    assert (second["number"], second["repository"]) == (2, "fruit") and second["commit"] != first["commit"]
    assert found["evidence"][0]["repository"] == "tools" and "no model is asked" in found["degraded"][0]
    cited = run("ask", "--all", "where is the price computed? file:fruit/*", "--json")[1]["citations"]
    assert [each["repository"] for each in cited] == ["fruit"]
    assert "nowhere in the 2 indexed" in run("ask", "--all", "what does `price_of_tea` do with a price?")[1]

    (array,) = (tmp_path / "home/index").glob("fruit-*/g*/lexical/body.counts.npy")
    array.write_bytes(array.read_bytes()[:-1] + b"x")
    for command in ("search", "ask"):
        status, found, _ = run(command, "--all", "price", "--json")
        assert status == 0 and found["degraded"][0].startswith("fruit was left out")
        assert {each["repository"] for each in found.get("hits") or found["citations"]} == {"tools"}
    assert run("ask", "--all", "/review this")[0] == 2 and run("ask", shops / "tools")[0] == 2


@pytest.mark.slow
def test_an_index_is_handed_over(run, shops, tmp_path, monkeypatch):
    file = tmp_path / "fruit.index"
    status, exported, _ = run("index", "export", shops / "fruit", file, "--json")
    assert status == 0 and len(exported["sha256"]) == 64
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "other"))
    status, _, err = run("index", "import", shops / "fruit", file, "--sha256", "0" * 64)
    assert status == 1 and "is not the expected one" in err
    status, taken, _ = run("index", "import", shops / "fruit", file, "--sha256", exported["sha256"], "--json")
    assert status == 0 and taken["commit"] == exported["commit"]
    status, _, err = run("index", "import", shops / "tools", file)
    assert status == 1 and "It is the index of commit" in err, "another repository has other commits"
    assert run("search", "--all", "price_of_fruit", "--json")[1]["hits"]


@pytest.mark.parametrize(
    "arguments", [("index",), ("index", "a", "--many", "b"), ("index", "export", "a"), ("index", "a", "b")]
)
def test_wrong_use_is_said(run, arguments):
    assert run(*arguments)[0] == 2
