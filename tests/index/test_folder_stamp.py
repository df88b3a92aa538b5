"""Whether a folder may have changed."""

import os

from repopilot.index.folder_stamp import folder_stamp


def test_every_change_gives_another_number_and_nothing_else_does(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/x.py").write_text("1")
    paths = ["a/b/x.py"]
    seen = [folder_stamp(tmp_path, paths)]
    assert folder_stamp(tmp_path, paths) == seen[0]
    for change in (
        lambda: (tmp_path / "a/b/x.py").write_text("22"),
        lambda: (tmp_path / "a/b/y.py").write_text("new"),
        lambda: (tmp_path / "a/c").mkdir(),
        lambda: os.utime(tmp_path / "a/b/x.py", ns=(1, 1)),
        lambda: (tmp_path / "a/b/x.py").unlink(),
    ):
        change()
        seen.append(folder_stamp(tmp_path, paths))
    assert len(set(seen)) == len(seen)
