"""What mends a finding: read from a tool, given by a model, applied to the files of an answer."""

from dataclasses import replace

import pytest
from support.shop_workspace import offline, open_workspace, traced

from repopilot.agents.review.agent import review
from repopilot.agents.review.linters import ruff_style
from repopilot.agents.review.replacements import files_with_replacements, replacement
from repopilot.code.file_version import code
from repopilot.repo.patches.apply import apply_changes
from repopilot.types import Finding

SEVERAL = "from os import (\n    path,\n    sep,\n)\n\nprint(sep)\n"
TEXT = "a\nb\nc\nd\n"


def found_in(text):
    return {each.rule: each.replacement for each in ruff_style([code("a.py", text, "python")])}


@pytest.mark.slow
def test_what_ruff_mends_over_several_lines_is_taken_as_whole_lines():
    found = found_in(SEVERAL)["F401"]
    mended = SEVERAL.split("\n")
    mended[found.first - 1 : found.last] = found.new.split("\n") if found.new else []
    assert (
        "path" not in "\n".join(mended)
        and "print(sep)" in mended
        and found.old == "\n".join(SEVERAL.split("\n")[found.first - 1 : found.last])
    )
    gone = found_in("import os\nimport sys\n\nprint(sys)\n")["F401"]
    assert (gone.first, gone.last, gone.new) == (1, 1, "")


def test_of_replacements_that_overlap_one_is_applied_and_none_where_lines_changed():
    def finding(first: int, last: int, new: str) -> Finding:
        made = Finding("a.py", first, "low", "R", "m", "ruff", replacement=replacement(TEXT, first, last, new))
        return made

    (file,) = files_with_replacements(
        [finding(1, 1, "A"), finding(2, 3, "B"), finding(3, 4, "C\nD")], {"a.py": TEXT}.get
    )
    assert file.content == "A\nb\nC\nD\n"
    assert files_with_replacements([finding(2, 3, "B")], {"a.py": "a\nx\nc\nd\n"}.get) == ()
    assert files_with_replacements([replace(finding(2, 3, "B"), path="gone.py")], {"a.py": TEXT}.get) == ()


@pytest.mark.slow
async def test_a_review_in_the_browser_has_a_diff_that_can_be_accepted(tmp_path):
    """As an answer with files; what is accepted keeps the file's line ends and its secrets, or is refused."""
    folder = tmp_path / "repo"
    folder.mkdir()
    secret = "ghp_" + "a1B2" * 9
    stored = f"import os, sys\r\nKEY = '{secret}'\r\nprint(sys, KEY)\r\n".encode()
    (folder / "shop.py").write_bytes(stored)
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    answer, _, _ = await traced(lambda step: review("review shop.py", workspace, step))
    (file,) = answer.files
    assert file.path == "shop.py" and secret not in file.diff + file.content
    assert "-import os, sys" in answer.text
    apply_changes(folder, answer.files)
    assert (folder / "shop.py").read_bytes() == stored.replace(b"import os, sys", b"import sys")
    (folder / "shop.py").write_bytes(stored.replace(b"import os, sys", b"import os, sys, re"))
    with pytest.raises(Exception, match="changed"):
        apply_changes(folder, answer.files)
