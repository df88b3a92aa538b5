"""Tasks in the words of commits of public repositories, and what they must not be taken for."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "go.mod": "module example.com/gate\n",
    "engine.go": 'package gate\n\nimport (\n\t"net/http"\n\t"strings"\n\n\t"example.com/other/httprouter"\n)\n\n'
    "type Engine struct {\n\trouter *httprouter.Router\n\t// label is shown.\n\tlabel string\n\tspare string\n}\n\n"
    "// Like http.NotFound, see the NotFound handler of the router.\n"
    "func (e *Engine) NotFound(size int, more []string) string {\n"
    "\te.router.NotFound = nil\n\thttp.NotFound(nil, nil)\n\treturn e.label\n}\n\n"
    "func cut(text string) int { return strings.IndexByte(text, 44) }\n\nfunc (e *Engine) loadFlags() {}\n\n"
    "func shift(left, right int, spare string) int { return left }\n",
    "use.go": "package gate\n\nfunc Use(e *Engine) { e.NotFound(1, nil); shift(1, 2, e.label); e.loadFlags() }\n",
    "index.js": "'use strict';\n\n/* All of it. */\nmodule.exports = require('./lib/app');\n",
    "lib/app.js": "exports = module.exports = create;\nfunction create() {}\nexports.Route = require('./route');\n",
    "lib/route.js": "module.exports = Route;\nfunction Route() {}\n",
    "lib/view.js": "exports = module.exports = View;\nfunction View() {}\nfunction Hidden() {}\n",
    "lib/options.js": "const opts = Object.assign({retries: 2, useNative: true}, {});\n"
    "const url = require('url-join');\n"
    "function scale(size, unusedRatio, last) { return size + last; }\nscale(1, url, 3);\n",
    "pkg/__init__.py": "",
    "pkg/fields.py": "import codecs\nimport time\nimport typing\n\n\nclass Listed:\n"
    "    def __init__(self, cls, dump_text=False):\n"
    "        self.dump_text = dump_text\n\n    def out(self):\n        return 'x' if self.dump_text else []\n\n\n"
    "def suite(keys: typing.Iterable[str]):\n    if not keys:\n        raise RuntimeError('empty')\n"
    "    return codecs.open(keys[0], 'rb', 'utf-8')\n\n\ndef _fast_exit(code):\n    raise SystemExit(code)\n\n\n"
    "def run(code):\n    time.time()\n    _fast_exit(code)\n",
    "pkg/table.py": "class Table:\n    def all(self):\n        return {k: getattr(self, 'test_' + k) for k in 'ab'}\n",
    "tests/test_fields.py": "from pkg.fields import Listed\n\n\ndef test_listed_text():\n"
    "    assert Listed(int, dump_text=True).dump_text\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("subjects"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("Renames Listed to Names", ["-class Listed:", "+class Names:"]),
        ("Renamed the `.dump_text` attribute to `.as_text`", ["+self.as_text = dump_text"]),
        ("Make the `useNative` option `false` by default", [
            "+const opts = Object.assign({retries: 2, useNative: false}, {});",
        ]),
        ("Make loadFlags public", ["+func (e *Engine) LoadFlags() {}"]),
        ("export Route", None),
        ("export View for convenience", ["+exports.View = require('./view');"]),
        ("remove unused spare param for shift function", [
            "+func shift(left, right int) int { return left }",
            "+func Use(e *Engine) { e.NotFound(1, nil); shift(1, 2); e.loadFlags() }",
        ]),
        ("Remove the unused parameter unusedRatio of scale", [
            "+function scale(size, last) { return size + last; }", "+scale(1, 3);",
        ]),
        ("rename the parameter size of Engine.NotFound to length", [
            "+func (e *Engine) NotFound(length int, more []string) string {",
        ]),
        ("rename last to total in the scale function", [
            "+function scale(size, unusedRatio, total) { return size + total; }",
        ]),
        ("use sys.exit() instead of _fast_exit()", ["+import sys", "-_fast_exit(code)", "+sys.exit(code)"]),
        ("Replace typing.Iterable with collections.abc.Iterable", [
            "+import collections.abc", "+def suite(keys: collections.abc.Iterable[str]):",
        ]),
        ("use time.monotonic instead of time.time", ["+time.monotonic()"]),
        ("Raise ValueError instead of RuntimeError from suite", ["+raise ValueError('empty')"]),
        ("Delete obsolete test_listed_text test", ["-def test_listed_text():"]),
        ("Remove the spare field from Engine", ["-spare string"]),
    ],
)  # fmt: skip
def test_a_commit_s_subject_is_carried_out(repo: Workspace, task: str, lines: list[str] | None) -> None:
    if lines is None:
        with pytest.raises(GenerationFailed):
            edited(repo, task)
        return
    found = changed_lines(edited(repo, task))
    assert [line for line in lines if line not in found] == [], found


@pytest.mark.parametrize(
    "task",
    [
        "use strings.Split instead of strings.IndexByte",  # other arguments and another result
        "Replace codecs.open() with builtin open()",
        "Raise TransactionError instead of RuntimeError from suite",  # there is no such class
        "Raise ValueError from None in suite",
        "Use 'if' instead of 'match'",
        "drop mitchellh/go-homedir",
        "Move use.go into `cli` package",
        "remove unused size param for shift function",
        "remove unused left param for shift function",
        "Raise a runtime error if suite is called without a real OtherName",
        "Add a method has_text(name) to Listed that says whether a text of that name exists",
        "add a function isScaled(value) to lib/options.js: whether it is scaled",
        "Replace `codecs` with `typing`",  # which has no `open`
        "use __class__ instead of suite()",
        "remove obsolete comment about relative imports",
    ],
)
def test_what_code_does_not_know_is_left_to_a_model(repo: Workspace, task: str) -> None:
    try:
        outcome = exact_edit(task, repo)
    except GenerationFailed as error:  # there is no parameter `size`
        assert "size" in str(error)
        return
    assert outcome is None


def test_an_attribute_is_renamed_with_the_parameter_that_sets_it(repo: Workspace) -> None:
    new = texts(edited(repo, "Rename `dump_text` to `as_text`"))
    assert new["pkg/fields.py"] == str(FILES["pkg/fields.py"]).replace("dump_text", "as_text")
    assert "Listed(int, as_text=True).as_text" in new["tests/test_fields.py"]


def test_what_belongs_to_another_package_keeps_its_name(repo: Workspace) -> None:
    outcome = edited(repo, "Renames NotFound() to NoRoute()")
    new = texts(outcome)
    assert "func (e *Engine) NoRoute(" in new["engine.go"]
    assert "e.router.NotFound = nil" in new["engine.go"]
    assert "http.NotFound(nil, nil)" in new["engine.go"]
    assert "// Like http.NotFound, see the NotFound handler" in new["engine.go"]
    assert "e.NoRoute(1, nil)" in new["use.go"]
    assert {o.line for o in outcome.open_references} >= {19, 20}


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("Delete the label field from Engine", "engine.go:21"),
        ("export Hidden", "Hidden"),
        ("Remove the redundant _fast_exit", "used at"),
    ],
)
def test_what_would_break_is_refused(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        edited(repo, task)
