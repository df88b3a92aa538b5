"""What tasks ask for, read from the words of many developers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.editing.exact.wording.reading import read_task
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of


def _asked(task: str) -> list[tuple[str, ...]]:
    """Each thing that is asked for in its likeliest meaning: kind, name, new, old, places."""
    found = []
    for meanings in read_task(task):
        edit = meanings[0]
        found.append((edit.kind, edit.name, edit.new, edit.old, " ".join(p.name for p in edit.places)))
    return found


@pytest.mark.parametrize(
    ("task", "asked"),
    [
        ("rename a_b to c_d", ("rename", "a_b", "c_d", "", "")),
        ("The class Url should be called Address", ("rename", "Url", "Address", "", "")),
        ("`frob` is a bad name, please call it `frobnicate`", ("rename", "frob", "frobnicate", "", "")),
        (
            "I always misread Lexer.tok, could you rename the method to next_token?",
            ("rename", "Lexer.tok", "next_token", "", ""),
        ),
        ("renomme la fonction lire en read_all, avec tous ses appels", ("rename", "lire", "read_all", "", "")),
        ("make to_text private", ("rename", "to_text", "_to_text", "", "")),
        (
            "utils.py: rename the parameter n of fetch to count",
            ("rename_parameter", "n", "count", "", "utils.py fetch"),
        ),
        ("rename the parameter field of fetch to name", ("rename_parameter", "field", "name", "", "fetch")),
        ("rename the argument value of fetch to amount", ("rename_parameter", "value", "amount", "", "fetch")),
        ("rename the options parameter of fetch to config", ("rename_parameter", "options", "config", "", "fetch")),
        ("rename fetch's strict argument to exact", ("rename_parameter", "strict", "exact", "", "fetch")),
        ("remove `fetch`'s parameter n", ("remove_parameter", "n", "", "", "fetch")),
        ("delete _HookCaller", ("delete", "_HookCaller", "", "", "")),
        ("rename check_a to run_tests", ("rename", "check_a", "run_tests", "", "")),
        ("rename check_a to check_b (and its callers)", ("rename", "check_a", "check_b", "", "")),
        ("MAX_SIZE -> 30", ("set_value", "MAX_SIZE", "30", "", "")),
        ("MAX_SIZE should be 30 instead of 20", ("set_value", "MAX_SIZE", "30", "20", "")),
        (
            "Servers are slow these days. Please raise MAX_SIZE from 20 to 30 seconds",
            ("set_value", "MAX_SIZE", "30", "20", ""),
        ),
        ("passe DEFAULT_PORT de 80 à 8080", ("set_value", "DEFAULT_PORT", "8080", "80", "")),
        ("limit is far too low, make it 500", ("set_value", "limit", "500", "", "")),
        ("in settings.py set retries to 4", ("set_value", "retries", "4", "", "settings.py")),
        ("the default of timeout in connect should be 5", ("set_default", "timeout", "5", "", "connect")),
        ("let cache_size default to 16", ("set_default", "cache_size", "16", "", "")),
        ("double Pool.size", ("set_value", "Pool.size", "2", "", "")),
        ("enable `verify_ssl`", ("set_value", "verify_ssl", "True", "", "")),
        ("add RED = 3 to Color", ("add_member", "Color", "RED = 3", "", "")),
        ("create var LIMIT = 5 in a.js", ("add_definition_text", "var LIMIT = 5", "var LIMIT = 5", "", "a.js")),
        ("Color: add RED = 3", ("add_member", "Color", "RED = 3", "", "")),
        ('map ".pyi" to "python" in LEXERS', ("add_member", "LEXERS", '".pyi" = "python"', "", "")),
        ("'gz' is missing in COMPRESSED", ("add_member", "COMPRESSED", "'gz'", "", "")),
        ("Il manque Reader dans le __all__ de pkg.io", ("add_member", "__all__", '"Reader"', "", "pkg.io")),
        ("remove 'gz' from COMPRESSED", ("remove_member", "COMPRESSED", "'gz'", "", "")),
        ("old_helper is not called by anybody any more, drop it", ("delete", "old_helper", "", "", "")),
        ("StyleError n'est levée nulle part, on peut la supprimer", ("delete", "StyleError", "", "", "")),
        ("tasks/paths.py isn't imported by anyone, remove the file", ("delete_file", "tasks/paths.py", "", "", "")),
        ("import os in a/b.py", ("add_import", "os", "", "", "a/b.py")),
        ("drop the unused import sys from a.py", ("remove_import", "sys", "", "", "a.py")),
        ("make Reader importable from the package", ("export", "Reader", "", "", "")),
        (
            "add a keyword argument strict=False to parse",
            ("add_parameter", "strict = False", "strict = False", "", "parse"),
        ),
        ("f.py: make escape keyword-only and adapt the callers", ("keyword_only", "escape", "", "", "f.py")),
        (
            "`warn` must become keyword-only in tags._get; mind the callers",
            ("keyword_only", "warn", "", "", "tags._get"),
        ),
        ("Make ignore_case the first parameter of ld", ("reorder_parameter", "ignore_case", "", "", "ld")),
        (
            "to_bytes: encoding has no default anymore; pass 'utf-8' where it was left out",
            ("require_parameter", "encoding", "'utf-8'", "", "to_bytes"),
        ),
        ("EMA has nothing to do with bars. Move the class to utils.py", ("move", "EMA", "utils.py", "", "")),
        ('README: "a b" should read "c d"', ("replace_text", "", "c d", "a b", "README")),
        ("Dans le README, remplace « a b » par « c d »", ("replace_text", "", "c d", "a b", "README")),
        (
            "s/devs@a.ml/devs@a.dev/ in pyproject.toml",
            ("replace_text", "", "devs@a.dev", "devs@a.ml", "pyproject.toml"),
        ),
        ("load should raise ValueError instead of TypeError", ("replace_code", "", "ValueError", "TypeError", "load")),
        (
            "use time.monotonic instead of time.time in Timer",
            ("replace_code", "", "time.monotonic", "time.time", "Timer"),
        ),
        ("bump the version to 1.2.3", ("bump_version", "version", "1.2.3", "", "")),
        ("require node >= 20 in package.json", ("require_version", "node", ">=20", "", "package.json")),
        ("drop support for Python 3.8", ("require_version", "python", "3.9", "", "")),
        (
            "StyleError ought to derive from Exception, not ValueError",
            ("change_base", "StyleError", "Exception", "ValueError", ""),
        ),
        (
            "decorate width in utils.py with @lru_cache(maxsize=10)",
            ("add_decorator", "width", "lru_cache(maxsize=10)", "", "utils.py"),
        ),
    ],
)
def test_a_task_is_understood(task: str, asked: tuple[str, ...]) -> None:
    assert _asked(task) == [asked]


def test_two_things_may_be_asked_for() -> None:
    assert [edit[:3] for edit in _asked("rename a_b to c_d and set MAX_SIZE to 3")] == [
        ("rename", "a_b", "c_d"),
        ("set_value", "MAX_SIZE", "3"),
    ]
    assert [edit[1] for edit in _asked("delete old_a, old_b and old_c")] == ["old_a", "old_b", "old_c"]


@pytest.mark.parametrize(
    "task",
    [
        "add a method that returns the number of items to Pool",
        "add a `root()` method to Pool that walks up the parents",
        "add a `depth` property to Pool that counts the parents",
        "rename a_b to c_d and log every call",
        "set MAX_SIZE to the number of processors",
        "make the parser faster",
        "remove the exception when the file is empty",
        "add a validator multiple_of(n) that raises a ValueError if the value is not a multiple of n",
        "Response: a property is_old, True for status 304",
        "delete what is not needed",
        "rename a_b to c_d, but keep the old name as an alias",
        "rename a_b to c_d (only in the tests)",
        "import os in a.py instead of at the top",
        "Set MAX_SIZE to 3. Leave the documentation untouched.",
        "why is MAX_SIZE 30?",
        "",
    ],
)
def test_what_needs_more_than_its_words_is_not_read(task: str) -> None:
    assert read_task(task) == []


@pytest.mark.parametrize(
    "task", ["rename a_b\n```\n```\n", "set x to 1\n\n    \n", "delete a_b\n```py\n\n```", "\n```\n```"]
)
def test_an_empty_block_of_code_is_no_block(task: str) -> None:
    read_task(task)


@given(st.text(alphabet=st.sampled_from("abcdefgh ABC_.,:;`'\"«»()[]{}/@#->=0123456789éàl’\n\t!?*$"), max_size=80))
def test_any_text_can_be_read(task: str) -> None:
    read_task(task)
    found = tokens_of(task)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert "".join(t.text for t in found).replace(" ", "") == "".join(
        "".join(task[t.start : t.end] for t in found).split(" ")
    )
