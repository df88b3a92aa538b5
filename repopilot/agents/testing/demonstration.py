"""The demonstration of `/demo`: code whose tests fail, which the loop of test and repair fixes.

Where no model repairs it, a recorded repair is tried, and labelled as such; the test runs are real in any case.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from repopilot import i18n
from repopilot.errors import StorageError

CODE = '''def slug(title):
    """A title as part of an address: in lower case, its words joined by single hyphens."""
    return title.lower().replace(" ", "-")
'''
TESTS = """from slug import slug


def test_words_are_joined():
    assert slug("Hello World") == "hello-world"


def test_several_spaces_are_one_hyphen():
    assert slug("a  b   c") == "a-b-c"


def test_spaces_around_are_left_out():
    assert slug("  Hello ") == "hello"
"""
REPAIRED = CODE.replace('title.lower().replace(" ", "-")', '"-".join(title.lower().split())')
FILES = {"slug.py": CODE, "test_slug.py": TESTS}


def message(language: str) -> str:
    """The demonstration as a message with pasted code."""
    return f"{i18n.text('testing.demo.wish', language)}\n\n```python\n{CODE}```\n\n```python\n{TESTS}```"


def folder_of(home: Path, owner: str) -> Path:
    """The folder of the demonstration: each login has one of its own. `owner` is '' where nobody logs in."""
    below = f"demos/{hashlib.sha256(owner.encode()).hexdigest()[:16]}" if owner else ""
    return home / below / "demo"


def folder_with_code(home: Path, owner: str = "") -> Path:
    """A folder with the code of the demonstration, for a chat without a repository. Blocking.

    Raises:
        StorageError: it can't be written.
    """
    folder = folder_of(home, owner)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise StorageError(i18n.message("testing.demo.not_written", error=error)) from error
    return folder
