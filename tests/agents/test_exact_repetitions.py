"""Tasks that say what they ask for twice, or what follows from it: an import that works then, names beside it."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit, sentence_edit
from repopilot.agents.editing.exact.wording.remarks import without_imports_from_there, without_neighbours
from repopilot.agents.editing.restated.meaning import meanings
from repopilot.workspace import Workspace

FILES = {
    "pots/__init__.py": 'from .clay import Cup, glaze\n\n__all__ = ["Cup", "glaze"]\n',
    "pots/clay.py": "class Cup: ...\n\n\nclass Mug: ...\n\n\ndef glaze(): ...\n\n\ndef fire_at(): ...\n",
    "pots/heat.py": "def _warm(x):\n    return x\n\n\ndef bake(x):\n    return _warm(x)\n",
    "pots/tools.py": "SIZE = 1\n",
    "pots/extra/heat.py": "def cool(x):\n    return x\n",
    "package.json": '{\n  "name": "pots",\n  "engines": {\n    "node": "^12.17.0 || ^14.13 || >=16.0.0"\n  }\n}\n',
}


_IN_IMPORT_AND_LIST = 2


@pytest.fixture
def pots(tmp_path) -> Workspace:
    return workspace_of(tmp_path, FILES)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("export Mug from the top-level pots package, next to Cup", "Mug"),
        ("re-export Mug from the package root so that `from pots import Mug` works", "Mug"),
        ("make `from pots import fire_at` work", "fire_at"),
        ("Exporte aussi fire_at depuis le paquet pots, comme glaze (import et __all__)", "fire_at"),
        ("expose fire_at in the package's root alongside glaze, and list it in __all__ as well", "fire_at"),
    ],
)
def test_an_export_is_read_however_often_it_is_said(pots: Workspace, task: str, name: str) -> None:
    new = texts(edited(pots, task))["pots/__init__.py"]
    assert new.count(name) == _IN_IMPORT_AND_LIST and new.startswith("from .clay import Cup, ")


@pytest.mark.parametrize(
    "task",
    [
        "re-export Mug from the package root so that `from pots import Cup` works",
        "export Mug from the package root unless glaze is",
    ],
)
def test_an_export_with_more_to_it_is_left_alone(pots: Workspace, task: str) -> None:
    assert exact_edit(task, pots) is None


@pytest.mark.parametrize(
    ("task", "command"),
    [
        ("Mug belongs to the pots root, next to Cup", "export `Mug` from `pots root`"),
        ("re-export Mug from the root so that `from pots import Mug` works", "export `Mug` from `root`"),
        ("Mug: export, top-level pots package", "export `Mug` from `top-level pots package`"),
    ],
)
def test_a_command_says_the_root_of_a_package_in_words(pots: Workspace, task: str, command: str) -> None:
    found = [edit for s in meanings(command, task) if (edit := sentence_edit(s, pots)) is not None]
    assert '+__all__ = ["Cup", "Mug", "glaze"]' in changed_lines(found[0])


@pytest.mark.parametrize(
    "task",
    [
        "Move the `_warm` helper from heat.py to tools.py; heat.py should import it from there",
        "move `_warm` from heat.py to tools.py, with heat.py importing it from there",
        "Déplace `_warm` de heat.py vers tools.py ; heat.py l'importera de là",
    ],
)
def test_a_move_takes_its_imports_along_where_a_task_says_so(pots: Workspace, task: str) -> None:
    found = changed_lines(edited(pots, task))
    assert "+def _warm(x):" in found and "+from pots.tools import _warm" in found


def test_a_move_that_leaves_no_such_import_is_refused(pots: Workspace) -> None:
    assert exact_edit("Move `_warm` from heat.py to tools.py; clay.py should import it from there", pots) is None


def test_what_a_task_repeats_is_taken_out_of_it() -> None:
    assert without_neighbours("export a, like b").strip() == "export a"
    assert without_neighbours("export a likewise") == "export a likewise"
    assert without_imports_from_there("move a to b.py; c.py should import it from there") == (
        "move a to b.py",
        ("c.py",),
    )
    assert without_imports_from_there("move a to b.py; c.py should log it")[1] == ()


SHOW = (
    "class Show:\n    def lists(self):\n        return self.render_referrences()\n\n"
    "    def render_referrences(self):\n        return 1\n"
)


@pytest.mark.parametrize(
    "task",
    [
        "Fix the misspelt method name render_referrences in both renderers, it should be render_references",
        "Corrige la faute dans le nom de méthode render_referrences : ce devrait être render_references",
        "render_referrences is a typo for render_references",
    ],
)
def test_a_misspelt_name_is_put_right_wherever_it_is_defined(tmp_path, task: str) -> None:
    files = {
        "pots/show.py": SHOW,
        "pots/other.py": SHOW.replace("Show", "Other"),
        "pyproject.toml": '[project]\nname = "pots"\n',
    }
    new = texts(edited(workspace_of(tmp_path, files), task))
    assert set(new) == {"pots/show.py", "pots/other.py"}
    assert all("referrences" not in text and "def render_references(" in text for text in new.values())


@pytest.mark.parametrize(
    "task",
    [
        'fix the typo "recieve" in Lid\'s docstring',
        "typo recieve in lid.py",
        "recieve is a typo",
        "fix the misspelt word `recieve`",
    ],
)
def test_a_typo_without_its_correction_is_put_right_as_the_repository_writes_it(tmp_path, task: str) -> None:
    files = {
        "lid.py": 'class Lid:\n    """Lids recieve parts."""\n',
        "box.py": 'class Box:\n    """Boxes receive parts, and receive lids. They relieve nobody."""\n',
    }
    new = texts(edited(workspace_of(tmp_path, files), task))
    assert new == {"lid.py": 'class Lid:\n    """Lids receive parts."""\n'}


def test_a_typo_that_may_be_one_of_several_words_is_left_to_the_model(tmp_path) -> None:
    files = {
        "lid.py": 'class Lid:\n    """The botle."""\n',
        "box.py": 'class Box:\n    """A bottle, a bottle, the bole, a bole."""\n',
    }
    assert exact_edit('fix the typo "botle"', workspace_of(tmp_path, files)) is None


def test_a_typo_in_a_text_is_no_misspelt_name(tmp_path) -> None:
    files = {"pots/show.py": SHOW, "README.md": "# Pots\n\nSee the referrences.\n"}
    new = texts(edited(workspace_of(tmp_path, files), 'README: fix the typo "referrences", it should be "references"'))
    assert set(new) == {"README.md"}


MISSPELT_USES = {
    "crate/lid.py": (
        "class Lid:\n    def __init__(self, parts):\n        self.parts = set(parts)\n\n"
        "    def is_closed(self):\n        return not self.parts\n\n"
        "    def covers(self, other):\n        return self.parts.issupserset(other)\n\n"
        '    def open(self):\n        if self.is_colsed():\n            raise ValueError("did not recieve any")\n'
    ),
    "README.md": "# Lid\n\nLids recieve parts.\n",
}


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            "Fix is_colsed typo in Lid\n\nLid.open called is_colsed, which does not exist. Correct the spelling to "
            "is_closed, as the method has it.",
            {"crate/lid.py": ["        if self.is_closed():"]},
        ),
        (
            "Fix issupserset typo in Lid: correct it to issuperset",
            {"crate/lid.py": ["        return self.parts.issuperset(other)"]},
        ),
        ("In README.md there's a typo: recieve should be receive", {"README.md": ["Lids receive parts."]}),
        (
            "Corrige la faute d'orthographe de recieve en receive",
            {
                "README.md": ["Lids receive parts."],
                "crate/lid.py": ['            raise ValueError("did not receive any")'],
            },
        ),
    ],
)
def test_a_misspelt_word_that_nothing_is_defined_as_is_no_new_name(tmp_path, task: str, expected: dict) -> None:
    outcome = edited(workspace_of(tmp_path, MISSPELT_USES), task)
    added = {
        c.path: [line[1:] for line in c.diff.splitlines() if line[0] == "+" and line[:3] != "+++"]
        for c in outcome.changes
    }
    assert added == expected


@pytest.mark.parametrize(
    "task",
    [
        "add a changelog entry: lids may be round",
        'Add an entry on "lids may be round" to CHANGES.md',
        "please add a line to the changelog: lids may be round.",
        "Ajoute une entrée au changelog : lids may be round",
    ],
)
def test_an_entry_of_the_change_log_goes_below_the_newest_version(tmp_path, task: str) -> None:
    files = {"CHANGES.md": "# Changes\n\n## 2.0\n\n- Lids.\n\n## 1.0\n\n- Crates.\n", "crate.py": "X = 1\n"}
    new = texts(edited(workspace_of(tmp_path, files), task))
    assert new == {"CHANGES.md": files["CHANGES.md"].replace("- Lids.\n", "- Lids.\n- lids may be round\n")}
