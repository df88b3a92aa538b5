"""What an edit captures: names on lines that it leaves, which are another variable afterwards."""

from __future__ import annotations

import pytest

from repopilot.resolve.captures import captured_names

CODE = """\
import json


def read(text):
    return json.loads(text)


def rows(found):
    return list(map(str, found))
"""


@pytest.mark.parametrize(
    ("old", "new", "captured"),
    [
        ("    return json.loads", "    json = text\n    return json.loads", [(6, "json")]),
        ("def rows(found):", "def rows(found, map=None):", [(9, "map")]),
        ("def rows(", "def list(rows):\n    return rows\n\n\ndef rows(", [(13, "list")]),
        ("def rows(", "def listed(rows):\n    return rows\n\n\ndef rows(", []),
        ("import json", "import simplejson as json", []),
        ("    return json.loads(text)", "    json = 1\n    return json", []),
        ("import json\n", "import json\nimport map\n", [(10, "map")]),
        ("def read(text):", "def parse(text, encoding='utf-8'):", []),
        ("def read(text):\n", "class Reader:\n    json = 1\n\n\ndef read(text):\n", []),
    ],
)
def test_only_what_means_another_variable_is_captured(old: str, new: str, captured: list[tuple[int, str]]) -> None:
    assert CODE.count(old) == 1
    assert list(captured_names(CODE, CODE.replace(old, new))) == captured
    assert not list(captured_names(CODE, CODE))


def test_a_form_feed_ends_no_line() -> None:
    before = f"# one\x0c\n\x0c\n# two\u2028\n{CODE}"
    after = before.replace("    return json.loads", "    json = text\n    return json.loads")
    assert list(captured_names(before, after)) == [(9, "json")]


def test_a_line_that_moves_into_another_function_captures_nothing() -> None:
    before = (
        "class Mock:\n    def start(self):\n        def send(request):\n            return self.on(request)\n\n"
        "        self.patch(send)\n"
    )
    after = (
        "class Mock:\n    def sender(self):\n        def send(request):\n            return self.on(request)\n\n"
        "        return send\n\n    def start(self):\n        self.patch(self.sender())\n"
    )
    assert not list(captured_names(before, after))
