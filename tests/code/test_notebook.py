"""Notebooks are read as their cells, without outputs, and never written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.git_server import commit
from support.shop_workspace import offline, open_workspace, shop_workspace

from repopilot.agents.review.scope import of_diff
from repopilot.code.formats.notebook import notebook_text
from repopilot.code.python_ast import parse_python
from repopilot.errors import GenerationFailed, UsageError
from repopilot.repo.history import CommitRange
from repopilot.repo.patches.apply import write_files
from repopilot.repo.paths.path_rules import reason_to_skip
from repopilot.repo.read import text_of
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange, Skip

PICTURE = "iVBORw0KGgo" * 2000


def cell(source, kind: str = "code") -> dict:
    outputs = [{"data": {"image/png": PICTURE}, "output_type": "display_data"}]
    return {"cell_type": kind, "source": source, "metadata": {}, **({"outputs": outputs} if kind == "code" else {})}


def notebook(*cells: dict, language: str = "python") -> str:
    metadata = {"language_info": {"name": language}, "kernelspec": {"language": language}}
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


PRICES = notebook(
    cell(["# Prices\n", "\n", f"![shop](data:image/png;base64,{PICTURE})"], "markdown"),
    cell(["%matplotlib inline\n", "import math\n", "\n", "def total_price(n):\n", "    return math.ceil(n)\n"]),
    cell("print(total_price(2))"),
)
TEXT = """\
# %% [markdown] cell 1
# # Prices
#
# ![shop](data:image/png;base64,…)

# %% cell 2
# %matplotlib inline
import math

def total_price(n):
    return math.ceil(n)

# %% cell 3
print(total_price(2))
"""


def test_cells_become_python_below_their_numbers() -> None:
    assert notebook_text(PRICES) == TEXT
    assert text_of("a.ipynb", PRICES.encode()) == TEXT


def test_the_older_format_has_its_cells_on_sheets() -> None:
    sheets = [{"cells": [{"cell_type": "code", "input": ["a = 1"], "outputs": []}]}]
    assert notebook_text(json.dumps({"worksheets": sheets, "nbformat": 3})) == "# %% cell 1\na = 1\n"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("!pip install x", "# !pip install x"),
        ("for a in b:\n    %cd x", "for a in b:\n    pass  # %cd x"),
        ("%%bash\nls | wc", "# %%bash\n# ls | wc"),
        ("%%time\na = 1", "# %%time\na = 1"),
        ("a?\n?b.c\nd??", "# a?\n# ?b.c\n# d??"),
        ("x = (a\n  % b)", "x = (a\n  % b)"),
        ("x = a\r\ny = 2\r\n", "x = a\ny = 2"),
    ],
)
def test_what_only_ipython_understands_is_a_comment(source: str, shown: str) -> None:
    found = notebook_text(notebook(cell(source)))
    assert found == f"# %% cell 1\n{shown}\n"
    parse_python(found)


def test_code_of_another_language_is_shown_but_no_python() -> None:
    found = notebook_text(notebook(cell("f <- function(x) x"), language="R"))
    assert found == "# %% [r] cell 1\n# f <- function(x) x\n"


@pytest.mark.parametrize(
    "damaged",
    [
        "{",
        "[]",
        "{}",
        '{"cells": 1}',
        '{"cells": [1]}',
        '{"cells": [{"source": 3}]}',
        '{"worksheets": [2]}',
        "[" * 200_000,
        "9" * 9000,
    ],
)
def test_a_damaged_notebook_is_skipped_with_a_reason(damaged: str) -> None:
    found = text_of("a.ipynb", damaged.encode())
    assert isinstance(found, Skip) and "damaged notebook" in found.reason


def test_a_notebook_without_text_is_empty() -> None:
    for text in (notebook(), notebook(cell(""), cell(["\n"]))):
        found = text_of("a.ipynb", text.encode())
        assert isinstance(found, Skip) and "empty" in found.reason


def test_a_notebook_may_be_larger_for_its_outputs() -> None:
    assert reason_to_skip("a.ipynb", 3 << 20, 1 << 20, ()) is None
    assert reason_to_skip("a.ipynb", 30 << 20, 1 << 20, ()) and reason_to_skip("a.py", 3 << 20, 1 << 20, ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["source", "cell_type", "cells", "input"]), inner),
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from(["source", "cell_type", "input"]), JSON)), JSON)
def test_any_json_has_a_text_that_can_be_stored_or_none(cells: list, metadata: object) -> None:
    found = notebook_text(json.dumps({"cells": cells, "metadata": metadata}))
    assert found is None or isinstance(found.encode(), bytes)
    half = notebook_text('{"cells": [{"source": "x = \'\\ud800\'"}]}')
    assert half is not None and half.encode()


@pytest.mark.slow
def test_symbols_and_chunks_have_the_lines_of_the_cells(tmp_path: Path) -> None:
    workspace = shop_workspace(tmp_path, {"lab/prices.ipynb": PRICES})
    index = workspace.index
    assert [(s.path, s.start_line, s.end_line) for s in index.symbols("total_price")] == [("lab/prices.ipynb", 10, 11)]
    assert index.text("lab/prices.ipynb") == TEXT and index.files["lab/prices.ipynb"].language == "python"
    assert index.files["lab/prices.ipynb"].parsed
    assert not any("iVBOR" in chunk.text for chunk in index.chunks)
    with pytest.raises(GenerationFailed, match="notebook"):
        stored_text("lab/prices.ipynb", workspace)


@pytest.mark.slow
def test_secrets_in_cells_are_redacted(tmp_path: Path) -> None:
    text = notebook(cell('PASSWORD = "xJ4&bNf9Rt2uYc"\nx = 1'))
    assert "xJ4&b" not in (shop_workspace(tmp_path, {"a.ipynb": text}).index.text("a.ipynb") or "xJ4&b")


def test_a_notebook_is_never_overwritten_with_what_is_read_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(PRICES)
    with pytest.raises(UsageError, match="notebook"):
        write_files(tmp_path, [FileChange("a.ipynb", "modified", "", TEXT)])
    assert (tmp_path / "a.ipynb").read_text() == PRICES


@pytest.mark.slow
def test_a_review_sees_the_changed_lines_of_the_cells(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    commit(folder, {"a.ipynb": PRICES})
    changed = PRICES.replace("print(total_price(2))", "print(total_price(3))")
    commit(folder, {"a.ipynb": changed})
    settings = offline(tmp_path / "home")
    snapshot = open_workspace(folder, settings).snapshot
    target = of_diff(snapshot, CommitRange("HEAD~1", "HEAD"), settings).targets[0]
    assert target.changed == frozenset({14})
