"""Which texts are parsed for the names that they put together: all that put a fitting one together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repopilot.resolve.uses.built_names import _ANY, _built, _may_build

FORMS = {
    "ask_x": 'f"ask_{kind}"',
    "x_told": 'f"{kind!r:>{width}}_told"',
    "list_all_x": '"list_" "all_%s" % kind',
    "x_seen": '"%(kind)s_seen" % kinds',
    "x_kept": '"{0}_kept".format(kind)',
    "made_of_x": '"made_\\\nof_" + kind',
    "done_x": '"\\x64o\\156e_%s" % kind',
    "left_x": '("left_")\n    # for those that are left ####\n    + kind',
    "xright_side": "kind +  # the kind\n    ('right' '_side')",
    "x_last": 'f"{kind}" "_last"',
    "first_x": "'''first_''' + kind",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_puts_a_name_together_is_parsed(name: str) -> None:
    text = f"getattr(self, {FORMS[name]})"
    assert [pattern.replace(_ANY, "x") for *_, pattern in _built(text)] == [name]
    assert _may_build(text, name)


def test_a_text_without_a_part_of_the_name_is_not_parsed() -> None:
    assert not _may_build('getattr(self, "ask_all")\nprint(f"{kind}_told")', "ask_all_at_once")


def test_a_text_that_writes_all_names_out_is_not_parsed() -> None:
    assert not _may_build('getattr(self.kept, "ask_all", None)\nprint(f"{kind}_all")', "ask_all")
    assert _may_build('getattr(self, "told")\ngetattr(self, f"ask_{kind}")', "ask_all")


@pytest.mark.slow
def test_what_python_s_own_library_puts_together_is_found() -> None:
    library = Path(os.__file__).parent
    texts = [path.read_text(errors="replace") for path in (*library.glob("*.py"), *library.glob("unittest/*.py"))]
    built = [(text, pattern) for text in texts if "getattr(" in text for *_, pattern in _built(text)]
    found = [(text, name) for text, pattern in built if (name := pattern.replace(_ANY, "x")).isidentifier()]
    assert len(found) > 10
    assert [name for text, name in found if not _may_build(text, name)] == []
