"""Entries of lists that a task describes instead of naming them."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.wording.list_wording import list_edit
from repopilot.agents.editing.restated.meaning import meanings
from repopilot.workspace import Workspace

FILES = {
    "kitchen/stove.py": """class Stove:
    SUPPORTED_PANS = (
        "grill-pan",
        "sauce-pan",
        "wok-pan",
    )
    colours = ["red", "blue"]


class Oven:
    colours = ["black", "white"]
""",
    "docs/conf.py": 'extensions = [\n    "sphinx.ext.autodoc",\n    "sphinx.ext.viewcode",\n]\n',
    "kitchen/ranks.py": 'ORDINAL_SUFFIXES = ("th", "st", "nd", "rd", "th", "th")\nHEAT_MARKS = ("low", "mid", "top")\n',
    "kitchen/read.py": """def escapes(sign):
    if sign in {'u', 'U', 'x'}:
        return 1
    return 0
""",
    "kitchen/hashes.py": """import hashlib

SUPPORTED_HASH_FUNCTIONS = [
    hashlib.sha1,
    hashlib.sha256,
    hashlib.md5,
]
""",
    "kitchen/fuels.py": 'KNOWN_FUELS = {"gas", "wood"}\nHEATING_FUELS = ["gas", "wood"]\n',
    "kitchen/language.py": """class English:
    names = ["en-gb", "en-us"]


SPOKEN_LOCALES = {
    "en-gb",
    "de-de",
}
""",
}


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("lists"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("add 'crepe-pan' to the supported pans", ['+"crepe-pan",']),
        ("Ajoute « crepe-pan » aux pans pris en charge du stove", ['+"crepe-pan",']),
        ("'crepe-pan' is missing among the supported pans", ['+"crepe-pan",']),
        ("add sha3_256 to the supported hash functions", ["+hashlib.sha3_256,"]),
        ("add sha3_256 to SUPPORTED_HASH_FUNCTIONS", ["+hashlib.sha3_256,"]),
        ("remove md5 from SUPPORTED_HASH_FUNCTIONS", ["-hashlib.md5,"]),
        ("remove `md5` from the supported hash functions", ["-hashlib.md5,"]),
        ("remove 'sauce-pan' from the supported pans", ['-"sauce-pan",']),
        ("'wok-pan' should no longer be among the supported pans", ['-"wok-pan",']),
        (
            "Indian English (en-in) is missing: list it on the English names and among the spoken locales",
            ['+names = ["en-gb", "en-us", "en-in"]', '-names = ["en-gb", "en-us"]', '+"en-in",'],
        ),
    ],
)
def test_the_list_is_found_by_its_words_and_its_entries(kitchen: Workspace, task: str, lines: list[str]) -> None:
    assert sorted(changed_lines(edited(kitchen, task))) == sorted(lines)


@pytest.mark.parametrize(
    "task",
    [
        "add 'coal' to the fuels",
        "add 'crepe-pan' to the supported pans unless it is flat",
        "add 'crepe' to the supported pans method",
        "remove 'coal-pan' from the supported pans",
        "add `.pyw` to the script extensions",
        "add 'quetta' to the suffixes",
        "add 'max' to the marks",
        "add 'a' to the escapes",
    ],
)
def test_where_several_or_none_fit_nothing_is_done(kitchen: Workspace, task: str) -> None:
    assert exact_edit(task, kitchen) is None


def test_a_command_has_not_half_of_what_is_asked_for() -> None:
    task = "en-in is missing: list it on the English names and among the spoken locales"
    assert meanings("add `en-in` to `English names`", task) == []


def test_a_plain_name_is_only_an_entry_of_several_things() -> None:
    assert list_edit("add `seealso` to the known formats") is not None
    assert list_edit("add `seealso` to the parser") is None
