"""A pack of whole folders: each file whole or not at all, what it costs, what is missing and why."""

import json
import xml.etree.ElementTree as ET

import pytest
from support import git_server
from support.shop_workspace import offline, open_workspace

from repopilot.cli.app import main
from repopilot.errors import UsageError
from repopilot.retrieval.context_pack import empty_pack, real_tokenizer, rendered
from repopilot.retrieval.folder_pack import folder_pack, token_tree

SECRET = "ghp_" + "a1B2" * 9
FILES = {
    "shop/prices.py": f'TOKEN = "{SECRET}"\nRATE = 2\n',
    "shop/cart/total.py": "def total(items):\n    return sum(items)\n",
    "shop/cart/long.py": "".join(f"x{n} = {n}\n" for n in range(400)),
    "shop/logo.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    "shop/.env": "PASSWORD=hunter2\n",
    "node_modules/left/index.js": "module.exports = 1\n",
    "tests/test_prices.py": "def test_rate():\n    assert True\n",
    "README.md": "# Shop\n\n```\nPrices & <carts>.\n```\n",
}


@pytest.fixture
def index(tmp_path):
    git_server.commit(tmp_path / "shop", FILES)
    return open_workspace(tmp_path / "shop", offline(tmp_path / "home")).index


def packed(index, *folders, budget=0):
    return folder_pack(index, folders or (".",), empty_pack(index, "", budget, real_tokenizer()), real_tokenizer())


@pytest.mark.slow
def test_every_text_file_is_whole_and_in_the_order_of_the_paths(index):
    found = packed(index)
    expected = ["README.md", "shop/cart/long.py", "shop/cart/total.py", "shop/prices.py", "tests/test_prices.py"]
    assert [each.path for each in found.excerpts] == expected and found.left_out == 0
    assert found.excerpts[1].text == FILES["shop/cart/long.py"].rstrip("\n") and found.excerpts[1].end_line == 400
    assert sum("not packed" in note for note in found.notes) >= 3  # binary, secrets, dependency folder
    assert [each.path for each in packed(index, "./shop/cart/", "README.md").excerpts] == expected[:3]


@pytest.mark.slow
def test_every_form_holds_the_same_without_secrets_and_every_time(index):
    found = packed(index)
    for form in ("markdown", "xml", "json"):
        text = rendered(found, form)
        assert text == rendered(packed(index), form) and SECRET not in text and "hunter2" not in text
    tree = ET.fromstring(rendered(found, "xml"))
    read = json.loads(rendered(found, "json"))
    assert [each.get("path") for each in tree.findall("excerpt")] == [each["path"] for each in read["excerpts"]]
    assert read["files"] == found.files and tree.find("tree").text.strip().split("\n") == [*found.tree]
    assert real_tokenizer()(rendered(found, "markdown")) == found.tokens


def test_the_tree_says_what_costs():
    costs = {"a/b/big.py": 900, "a/small.py": 60, "x.py": 1, "z.py": 39}
    assert token_tree(costs, {"z.py"}) == (
        "a/ 960 (96%)",
        "  b/ 900 (90%)",
        "    big.py 900 (90%)",
        "  small.py 60 (6%)",
        "x.py 1",
        "z.py 39 (4%), left out",
    )


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_whole_and_said(index):
    found = packed(index, budget=700)
    assert real_tokenizer()(rendered(found, "markdown")) == found.tokens <= 700
    assert "shop/cart/long.py" not in {each.path for each in found.excerpts} and found.left_out == 1
    assert next(line.strip() for line in found.tree if "left out" in line).startswith("long.py ")
    assert "1 file doesn't fit into" in rendered(found, "markdown")
    assert packed(index, budget=found.tokens - 1).left_out > 1
    with pytest.raises(UsageError, match="The list of files alone takes"):
        packed(index, budget=50)
    with pytest.raises(UsageError, match="no folder nowhere"):
        packed(index, "shop", "nowhere")


@pytest.mark.slow
@pytest.mark.usefixtures("shared_workers")
def test_the_command_writes_the_pack_and_shows_the_tree(tmp_path, monkeypatch, capsys):
    git_server.commit(tmp_path / "shop", FILES)
    for name, value in {"HOME": tmp_path / "home", "OLLAMA_URL": "", "EMBEDDED": "false", "DENSE": "false"}.items():
        monkeypatch.setenv(f"REPOPILOT_{name}", str(value))
    where, file = str(tmp_path / "shop"), tmp_path / "pack.xml"
    assert main(["context", where, "--folder", "shop", "--format", "xml", "-o", str(file)]) == 0
    assert "total.py" in file.read_text() and "shop/ " in capsys.readouterr().out
    assert main(["context", where, "--folder", "shop/cart", "--overview"]) == 0
    assert "## Overview\n- shop/cart: `total" in capsys.readouterr().out
    for wrong in ([], ["a question", "--folder", "."]):
        assert main(["context", where, *wrong]) == 2
        assert "Give either a QUERY or --folder" in capsys.readouterr().err
