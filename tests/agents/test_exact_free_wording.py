"""Tasks as other people write them: with reasons, remarks on what stays, and only one sentence that asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.grounded_shapes import parameter_names
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.wording.constraints import requests_only, without_constraints
from repopilot.errors import GenerationFailed

WIDTHS = '''"""Widths."""


def disp_len(text):
    """How wide a text is.

    >>> disp_len("ab")
    2
    """
    return len(text)


def disp_trim(text, width):
    """Cut a text; see disp_len for the width, or say "disp_len" aloud."""
    from math import floor

    import os.path
    cut = floor(width)
    return text[:cut] if disp_len(text) > width else text


def shown(text, width):
    from math import floor

    return disp_trim(text, floor(width))


def fail(code):
    raise ValueError("the width is too small for it")
'''
TESTS = """import pytest

from show.widths import disp_len, disp_trim, fail


def test_widths():
    assert disp_len("ab") == 2 and disp_trim("abc", 2) == "ab"
    with pytest.raises(ValueError, match="the width is too small for it"):
        fail(1)
"""
FILES = {
    "show/__init__.py": "",
    "show/widths.py": WIDTHS,
    "show/bars.py": "import socket\nfrom show.widths import disp_trim\n\n\n"
    "def bar(text, *, end=1):\n    return disp_trim(text, 3)\n",
    "tests/test_widths.py": TESTS,
    "docs/api.md": "# API\n\n::: show.widths\n\nUse `show.widths.disp_trim`, not show.widths_old.\n",
    "CHANGELOG.md": "# Changes\n\n- Added show.widths\n",
}


@pytest.fixture
def shop(tmp_path):
    return workspace_of(tmp_path, FILES)


@pytest.mark.parametrize(
    ("task", "rest", "kept"),
    [
        ("rename `f_a` to `g` everywhere (f_b keeps its name)", "rename `f_a` to `g` everywhere", ("f_b",)),
        ("rename a to b (no alias kept)", "rename a to b", ()),
        ("raise the limit to 3, without leaving an alias behind", "raise the limit to 3", ()),
        ("remove x; leave the other imports where they are.", "remove x", ()),
        ("Renomme a en b (ne touche pas à copy_a)", "Renomme a en b", ("copy_a",)),
        ("rename a to b and update everything that refers to it", "rename a to b", ()),
        ("rename a to b, tests included", "rename a to b", ()),
        ("rename a to b but keep the old name as an alias", None, ()),
        ("rename a to b, keep a as a deprecated alias", None, ()),
        ("rename a to b and fix the off-by-one in it", None, ()),
        ("rename a to b and update the version", None, ()),
        ("set `a, b` to 3", None, ()),
        ("set a.b to 1.5", None, ()),
    ],
)
def test_remarks_on_what_stays_ask_for_nothing(task, rest, kept):
    assert without_constraints(task) == (task if rest is None else rest, kept)


@pytest.mark.parametrize(
    ("task", "request_", "names"),
    [
        ("The cache of `Keys` is slow. Rename `Keys` to `Locks`.", "Rename `Keys` to `Locks`.", ("Keys",)),
        ("`Keys` is no key. Please rename it to `Locks`.", "Please rename `Keys` to `Locks`.", ("Keys",)),
        ('`Keys` says "a". Change it to "b".', None, ()),
        ("Remove a_b. Rename c_d to e.", None, ()),
        ("rename a to b", None, ()),
        ("title\n\nRename a to b. It is old.", None, ()),
    ],
)
def test_the_one_sentence_that_asks(task, request_, names):
    assert requests_only(task) == (task if request_ is None else request_, names)


@pytest.mark.parametrize("unit", ["the ", "a ", "`a` ", "a, ", "(", "keep ", "a keeps ", "-", ". ", "and update "])
def test_remarks_are_found_in_linear_time(unit):
    task = unit * (60_000 // len(unit))  # quadratic, this takes minutes
    assert len(without_constraints(task)[0]) <= len(task)


def test_a_rename_with_reasons_goes_through_examples_and_tests(shop):
    task = "`disp_len` says little. Please rename it to `display_width` wherever it is used (disp_trim keeps its name)."
    new = texts(edited(shop, task))
    assert '>>> display_width("ab")' in new["show/widths.py"] and "def display_width(text)" in new["show/widths.py"]
    assert "import display_width, disp_trim" in new["tests/test_widths.py"]


def test_what_must_stay_is_checked(shop):
    task = 'replace "the width is too small for it" with "nothing fits" in show/widths.py; leave fail_loudly alone'
    assert exact_edit(task, shop) is not None
    assert exact_edit(task.replace("fail_loudly", "`width`"), shop) is None, "the text that goes has the word"


def test_several_renames_and_none_under_a_condition(shop):
    task = (
        "The names are clumsy. Rename disp_len to width_of and disp_trim to cut_to, and update the tests accordingly."
    )
    new = texts(edited(shop, task))
    assert "def width_of(text)" in new["show/widths.py"] and "import cut_to" in new["show/bars.py"]
    assert (
        exact_edit("The names are clumsy. Rename disp_len to width_of, with a deprecated alias, please.", shop) is None
    )


@pytest.mark.parametrize(
    "task",
    [
        "disp_trim imports floor inside its body. Please move that import up to the module level of widths.py.",
        "In disp_trim, hoist the import of floor to the top of the module",
        "Remonte l'import de floor de disp_trim en tête du fichier widths.py",
    ],
)
def test_an_import_is_moved_to_the_top_from_the_function_that_is_named(shop, task):
    (text,) = texts(edited(shop, task)).values()
    assert text.index("from math import floor") < text.index("def disp_len")
    assert text.count("from math import floor") == 2 and "import os.path\n    cut" in text


def test_an_import_is_not_moved_over_another_meaning(tmp_path):
    files = {"a.py": "floor = 3\n\n\ndef f_one(x):\n    from math import floor\n    return floor(x)\n"}
    shop = workspace_of(tmp_path, files)
    assert exact_edit("move the import of floor in f_one to the top of a.py", shop) is None


def test_parameters_in_the_order_that_is_written(shop):
    for task in (
        "`disp_trim(text, width)` is the wrong way round: make it `disp_trim(width, text)` and adapt the callers.",
        "swap the parameters of disp_trim so that the width comes before the text, and update every call",
    ):
        new = texts(edited(shop, task))
        assert "def disp_trim(width, text):" in new["show/widths.py"]
        assert "return disp_trim(3, text)" in new["show/bars.py"]


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("func absPath(logger *slog.Logger, in string) string", ["logger", "in"]),
        ("func (v *Viper) Set(key string, value any)", ["key", "value"]),
        ("def f(self, a: int = 3, *, b: dict[str, int])", ["a", "b"]),
        ("fn run(&mut self, a: &str, b: Vec<(u8, u8)>) -> X", ["a", "b"]),
        ("function on(from: A, events: readonly string[]): () => void", ["from", "events"]),
        ("def f(*args, **options)", []),
        ("const x = 3", []),
    ],
)
def test_the_parameters_of_a_signature(signature, names):
    assert parameter_names(signature) == names


def test_several_parameters_and_several_functions_by_keyword(tmp_path):
    files = {"a.py": "def f_a(x, y, z=1):\n    return x\n\n\ndef f_b(x, z=2):\n    return x\n"}
    shop = workspace_of(tmp_path, files)
    assert "def f_a(x, *, y, z=1)" in texts(edited(shop, "make y and z of f_a keyword-only"))["a.py"]
    both = texts(edited(shop, "make `z` keyword-only in f_a() and f_b()"))["a.py"]
    assert "def f_a(x, y, *, z=1)" in both and "def f_b(x, *, z=2)" in both


def test_a_local_variable_of_the_function_that_is_named(shop):
    (text,) = texts(edited(shop, "in disp_trim rename the local variable cut to shortened")).values()
    assert "shortened = floor(width)" in text and "text[:shortened]" in text


def test_tests_expect_the_new_message(shop):
    new = texts(edited(shop, 'replace "the width is too small for it" with "the width is too small for the text"'))
    assert "small for the text" in new["show/widths.py"] and "small for the text" in new["tests/test_widths.py"]


def test_documents_name_a_module_by_its_new_name_and_history_stays(shop):
    outcome = edited(shop, "rename the module show.widths to show.sizes")
    new = texts(outcome)
    assert "::: show.sizes" in new["docs/api.md"] and "`show.sizes.disp_trim`" in new["docs/api.md"]
    assert "show.widths_old" in new["docs/api.md"] and "CHANGELOG.md" not in new
    assert [each.path for each in outcome.open_references] == ["CHANGELOG.md"]


def test_a_part_of_a_file_is_not_the_file(shop):
    outcome = exact_edit("bars.py still imports socket without using it. drop that import", shop)
    assert outcome is None or all(change.change == "modified" for change in outcome.changes)


def test_how_a_thing_is_shown_is_no_value(tmp_path):
    shop = workspace_of(tmp_path, {"a.go": 'package a\n\nconst (\n\tyellow = "43m"\n\tred = "41m"\n)\n'})
    assert exact_edit("TRACE requests come out uncoloured, their method should be shown in yellow.", shop) is None


@pytest.mark.parametrize(
    ("path", "line"),
    [("version.go", 'const Version = "v1.12.0"'), ("lib/shop/version.rb", '  VERSION = "v1.12.0"')],
)
def test_the_version_of_a_project_in_go_or_ruby(tmp_path, path, line):
    shop = workspace_of(tmp_path, {path: f"package shop\n\n{line}\n"})
    assert line.replace("12.0", "13.0") in texts(edited(shop, "bump version to v1.13.0"))[path]


def test_the_imports_of_a_file_with_hyphens_follow_it(tmp_path):
    files = {
        "lib/max-listeners.js": "export const most = 3;\n",
        "lib/index.js": "import {most} from './max-listeners.js';\nexport default most;\n",
    }
    new = texts(edited(workspace_of(tmp_path, files), "rename lib/max-listeners.js to event-listeners.js"))
    assert "from './event-listeners.js'" in new["lib/index.js"]


def test_a_name_of_several_things_is_not_renamed_by_a_guess(tmp_path):
    files = {"a.py": "def f_one(x_long):\n    return x_long\n", "b.py": "x_long = 1\n\n\nclass C:\n    x_long = 2\n"}
    task = "The property `x_long` given to f_one() should be called `y_long` (local variables too)."
    assert exact_edit(task, workspace_of(tmp_path, files)) is None


@pytest.mark.parametrize(
    "task",
    [
        'fail says "the width is too small for it", which helps nobody. Better: "nothing fits here"',
        "L'erreur « the width is too small for it » est vague ; mets « nothing fits here » à la place.",
        "Make it \"nothing fits here for 'ab'\" where fail says \"the width is too small for it for 'ab'\" now",
    ],
)
def test_of_two_texts_the_one_that_is_there_is_replaced(shop, task):
    new = texts(edited(shop, task))
    assert 'raise ValueError("nothing fits here")' in new["show/widths.py"]


@pytest.mark.parametrize(
    "task",
    [
        'say "nothing fits here" unless it is "the width is too small for it"',
        'say "one thing" instead of "another thing"',
    ],
)
def test_two_texts_of_which_none_is_to_go_stay(shop, task):
    assert exact_edit(task, shop) is None


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("`disp_len()` measures what is shown; call it `shown_width` to say so", "def shown_width(text)"),
        (
            "Le paramètre width de `disp_trim` est vague. Renomme-le en most (avec tous les appels).",
            "def disp_trim(text, most)",
        ),
        ("In disp_trim (show/widths.py) rename the local variable cut to most", "most = floor(width)"),
        ("In disp_trim rename cut to most", "most = floor(width)"),
    ],
)
def test_the_name_is_said_in_one_sentence_and_the_new_one_in_another(shop, task, line):
    assert line in texts(edited(shop, task))["show/widths.py"]


def test_a_file_whose_name_has_hyphens_and_begins_like_a_word(tmp_path):
    box = workspace_of(
        tmp_path, {"src/is-old-url.ts": "export const a = 1;\n", "src/b.ts": "import './is-old-url.js';\n"}
    )
    new = texts(edited(box, "Peux-tu renommer le fichier is-old-url.ts en old-url.ts et corriger les imports ?"))
    assert new["src/b.ts"] == "import './old-url.js';\n" and "src/old-url.ts" in new


def test_a_value_that_is_described_may_be_a_field(tmp_path):
    text = "pub fn new() -> Options {\n    Options {\n        min_run_time: 3.0,\n        runs: 2,\n    }\n}\n"
    box = workspace_of(tmp_path, {"src/options.rs": text, "src/b.rs": "pub const MOST_RUNS: u8 = 3;\n"})
    new = texts(edited(box, "bump the default minimum run time to 5 seconds"))
    assert new == {"src/options.rs": text.replace("3.0", "5.0")}


def test_a_new_module_may_be_moved_to(shop):
    new = texts(edited(shop, "move fail from show/widths.py into a new module show/failing.py"))
    assert "def fail(code)" in new["show/failing.py"] and "show.failing import fail" in new["tests/test_widths.py"]


@pytest.mark.parametrize(
    ("task", "edits"),
    [
        ('count_of should say "0 things" instead of "No things" for an empty list', False),
        ('in the docstring of count_of, say "0 things" instead of "No things"', True),
    ],
)
def test_what_a_function_says_is_not_its_docstring(tmp_path, task, edits):
    text = 'def count_of(all):\n    """\n    >>> count_of([])\n    No things\n    """\n'
    text += '    return f"{len(all) or chr(78)} things"\n'
    assert (exact_edit(task, workspace_of(tmp_path, {"a.py": text})) is not None) is edits


@pytest.mark.parametrize("what", ["constructor parameter options", "the option options", "the keys", "member x"])
def test_what_has_a_part_that_is_renamed_is_not(tmp_path, what: str) -> None:
    shop = workspace_of(
        tmp_path, {"lib/app.js": "class Application {\n  constructor (options) { this.o = options }\n}\n"}
    )
    try:
        outcome = exact_edit(f"rename {what} of Application to config", shop)
    except GenerationFailed:
        return
    assert outcome is None or "class Application" in outcome.changes[0].content


@pytest.mark.parametrize(
    "task",
    (
        "There's a stray word in the error fail() raises, take it out.",
        "disp_trim leaves the cells it has cut in the cache; remove them there as well.",
        "shown() prints the width twice, drop that",
        "disp_len compte aussi les espaces finales : enlève-les",
    ),
)
def test_what_a_definition_does_wrong_is_taken_out_and_not_the_definition(shop, task):
    assert exact_edit(task, shop) is None


def test_what_nobody_uses_is_taken_out_by_a_pronoun(tmp_path):
    workspace = workspace_of(tmp_path, {"a.py": "def old():\n    return 1\n\n\nX = 1\n"})
    assert "def old" not in texts(edited(workspace, "Nobody uses old() any more, take it out."))["a.py"]


def test_a_misspelt_word_is_put_right_and_not_its_whole_sentence_exchanged(tmp_path):
    text = '"""Versions."""\n\n\ndef parts():\n    """Built without going though a string."""\n'
    workspace = workspace_of(tmp_path, {"a.py": text})
    task = 'Fix the typo in the parts docstring: "without going though a string" should be "through"'
    assert texts(edited(workspace, task)) == {"a.py": text.replace("though", "through")}


def test_what_is_accepted_beside_something_replaces_nothing(tmp_path):
    code = (
        'def load_path(path):\n    if not path.endswith(".zip"):\n        raise ValueError("extension must be .zip")\n'
    )
    workspace = workspace_of(tmp_path, {"a.py": code, "tests/test_a.py": 'URL = "b-0.45.tgz"\n'})
    task = 'load_path should also accept names ending in `.tgz`, and the "extension must be" error should list it too.'
    assert exact_edit(task, workspace) is None


@pytest.mark.parametrize(
    "task",
    [
        "watch should be faster",
        "watch should be cached",
        "the function watch should be simpler",
        "watch devrait être plus rapide",
    ],
)
def test_how_something_should_be_is_no_new_name_for_it(tmp_path: Path, task: str) -> None:
    files = {"poll.py": "def watch(files):\n    return files\n\n\ndef both(a, b):\n    return watch(a), watch(b)\n"}
    assert exact_edit(task, workspace_of(tmp_path, files)) is None


def test_what_something_should_be_may_be_its_new_name(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path, {"poll.py": "def watch(files):\n    return files\n"})
    for task, name in (("watch should be `observe`", "observe"), ("watch should be watch_files", "watch_files")):
        outcome = exact_edit(task, workspace)
        assert outcome is not None and f"def {name}(files)" in outcome.changes[0].content
