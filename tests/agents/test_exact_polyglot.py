"""Values and renames in other languages without a model."""

from __future__ import annotations

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES = {
    "web/limits.js": "const MAX_ITEMS = 10; // most\nconst NAMES = { first: 'a', 'second': 2 };\n"
    "function loadItems(count = 5) {\n  return count;\n}\nmodule.exports = { MAX_ITEMS, loadItems };\n",
    "web/app.js": "const { loadItems } = require('./limits');\nconst limits = require('./limits');\n\n"
    "// loadItems is slow\nlimits.loadItems(loadItems(2));\nfunction other(itemList) { return itemList; }\n",
    "web/theme.ts": "export enum Shade { Light = 1, Dark }\nexport class Theme {\n  private depth: number = 1;\n}\n",
    "src/main.go": 'package main\n\nconst (\n\tMaxDepth = 3 // deep\n\tTitle string = "x"\n)\n\n'
    "func parseDepth(n int) int { return n }\n\nfunc main() { parseDepth(MaxDepth) }\n",
    "src/lib.rs": "pub const CACHE_SIZE: usize = 3;\n\nimpl Shape for Square {\n    fn draw_shape(&self) {}\n}\n",
    "src/App.java": 'class App {\n    static final int LIMIT_TOTAL = 3;\n    String title = "x";\n}\n',
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("polyglot"), FILES)


@pytest.mark.parametrize(
    ("task", "path", "old", "new"),
    [
        ("raise MAX_ITEMS from 10 to 20", "web/limits.js", "= 10;", "= 20;"),
        ("set 'second' in NAMES to 3", "web/limits.js", "'second': 2", "'second': 3"),
        ("set first in NAMES to 'b'", "web/limits.js", "first: 'a'", "first: 'b'"),
        ("set the default of count in loadItems to 7", "web/limits.js", "count = 5", "count = 7"),
        ("set Theme.depth to 4", "web/theme.ts", "= 1;", "= 4;"),
        ("set MaxDepth to 9", "src/main.go", "= 3 //", "= 9 //"),
        ("set `Title` to 'y'", "src/main.go", '"x"', '"y"'),
        ("double CACHE_SIZE", "src/lib.rs", "= 3;", "= 6;"),
        ("passe LIMIT_TOTAL de 3 à 5", "src/App.java", "= 3;", "= 5;"),
    ],
)
def test_a_value_is_set(repo: Workspace, task: str, path: str, old: str, new: str) -> None:
    assert FILES[path].count(old) == 1
    assert texts(edited(repo, task)) == {path: FILES[path].replace(old, new)}


def test_a_name_that_one_thing_has_is_renamed(repo: Workspace) -> None:
    outcome = edited(repo, "rename loadItems to fetchItems")
    new = texts(outcome)
    assert new["web/limits.js"] == FILES["web/limits.js"].replace("loadItems", "fetchItems")
    assert new["web/app.js"] == FILES["web/app.js"].replace("loadItems", "fetchItems").replace("// fetch", "// load")
    assert [o.line for o in outcome.open_references] == [4]
    new = texts(edited(repo, "rename `parseDepth` to `readDepth`"))
    assert new == {"src/main.go": FILES["src/main.go"].replace("parseDepth", "readDepth")}


def test_a_name_in_use_is_refused(repo: Workspace) -> None:
    with pytest.raises(GenerationFailed, match="itemList"):
        exact_edit("rename loadItems to itemList", repo)


def test_what_implements_a_trait_is_left_to_the_model(repo: Workspace) -> None:
    assert exact_edit("rename draw_shape to paint_shape", repo) is None
