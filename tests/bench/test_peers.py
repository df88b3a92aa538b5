"""The comparison with other programs: what is measured on which tree, and the programs on a small tree."""

import json

import pytest
from support.index_case import FILES, write

from bench.peers.measures import Found, Query, figures_of, queries_of
from bench.peers.programs import PROGRAMS, Tools, Tree, _by_matches, _densest, rg_program

NEEDS = {"bm25s": "bm25s", "semble-BM25": "semble"}


@pytest.fixture
def tree(tmp_path):
    history = tmp_path / "history.jsonl"
    commit = {"sha": "1", "at": 1, "subject": "fix the discount", "body": "", "paths": ["src/shop/prices.py"]}
    history.write_text(json.dumps(commit) + "\n")
    return Tree("shop", write(tmp_path / "tree", FILES), history)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RepoPilot", "RepoPilot+history", "bm25s", "ripgrep", "semble-BM25"])
def test_every_program_finds_a_function_by_its_words(name, tree, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if name == "ripgrep" and rg_program() is None:
        pytest.skip("there is no program rg")
    search, seconds = PROGRAMS[name](tree, Tools(None, tmp_path / "scratch"))
    found = search("discount of a cart", 5)
    assert {path for path, _, _ in found.places} <= FILES.keys()
    assert all(1 <= start <= end for _, start, end in found.places) and seconds >= 0
    assert "src/shop/prices.py" in [path for path, _, _ in found.places[:2]]


def test_a_program_without_its_model_is_left_out(tree, tmp_path):
    with pytest.raises(ImportError, match="MiniLM"):
        PROGRAMS["RepoPilot+MiniLM"](tree, Tools(None, tmp_path))


def test_ripgrep_ranks_files_by_matching_lines_and_shows_the_densest_place():
    output = b"./a.py\x001:x\n./b.py\x003:x\n./b.py\x00200:x\n./b.py\x00210:x\n"
    assert _by_matches(output) == [("b.py", [3, 200, 210]), ("a.py", [1])]
    assert _densest("b.py", [3, 200, 210]) == ("b.py", 200, 239)


def test_queries_are_taken_evenly_and_know_their_tree(tmp_path):
    rows = [{"query": f"task {n}", "gold": [["a.py", 0, 0]]} for n in range(10)]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    tree, history, queries = queries_of(tmp_path, "tasks", 5)
    assert (tree, history, [query.text for query in queries]) == (
        "tree",
        "history.jsonl",
        ["task 0", "task 2", "task 4", "task 6", "task 8"],
    )
    (tmp_path / "tree-tasks").mkdir()
    assert queries_of(tmp_path, "tasks")[:2] == ("tree-tasks", "history-tasks.jsonl")
    assert queries_of(tmp_path, "docstrings") == ("tree-nodoc", "history.jsonl", [])


def test_figures_of_questions_count_lines_and_files_apart():
    query = Query("questions", "?", [["a.py", 5, 9], ["b.py", 1, 2], ["c.py", 0, 0]], [("a.py", 0, 0)])
    found = Found([("b.py", 9, 9), ("a.py", 1, 5)], ["b.py", "a.py"])
    assert figures_of(query, found) == {"file@3": 1.0, "range@3": 1.0, "share@5": 0.5}
    assert figures_of(Query("questions", "?", [], [("a.py", 0, 0)]), found) == {"file@3": 1.0}


@pytest.mark.slow
def test_figures_of_the_other_kinds():
    found = Found([("b.py", 9, 9), ("b.py", 20, 30), ("a.py", 1, 5)])
    assert figures_of(Query("tasks", "", [], [("a.py", 0, 0)]), found) == {"MRR": 0.5, "R@5": 1.0}
    assert figures_of(Query("docstrings", "", [["a.py", 5, 9]], []), found) == {"MRR": 1 / 3}
    assert figures_of(Query("tracebacks", "", [["b.py", 9, 9]], []), found) == {"first": 1.0}
