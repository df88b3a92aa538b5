"""The mined changes by which reviews are measured, and how their findings are counted."""

import json

import pytest

from bench.mined_reviews import DATA, Change, _judged, half_of

FINDING = {"path": "a.py", "line": 10, "rule": "regression", "source": "model", "message": "It fails."}


def test_the_data_are_whole_and_each_repository_is_in_one_half() -> None:
    rows = [Change(**json.loads(line)) for line in DATA.read_text("utf-8").splitlines()]
    defects = [row for row in rows if row.defect]
    assert len(defects) >= 60 and len(rows) - len(defects) >= 20
    assert len({row.commit for row in rows}) == len(rows)
    assert len({row.repository for row in defects}) >= 12
    assert all(row.half == half_of(row.repository) for row in rows)
    assert all(row.path and row.line and row.fix for row in defects)


@pytest.mark.slow
def test_a_finding_near_the_defect_is_only_near_until_a_judge_has_read_it() -> None:
    change = Change("owner/name", "open", "c" * 40, "a.py", 16, "It fails.", "f" * 40)
    far = {**FINDING, "line": 9}
    found = [FINDING, far, {**FINDING, "path": "b.py"}]
    report = {"findings": found, "folded": [FINDING, far], "seconds": 1.0, "processor": 1.0}
    assert list(_judged(change, report, {}).verdicts) == ["near", "wrong", "wrong"]
    assert list(_judged(change, report, {}).folded) == ["near", "wrong"]
    judged = {("c" * 12, "a.py", 9): "right", ("c" * 12, "b.py", 10): "same"}
    assert list(_judged(change, report, judged).verdicts) == ["near", "right", "same"]
    clean = Change("owner/name", "open", "d" * 40)
    assert list(_judged(clean, report, {}).verdicts) == ["wrong"] * 3
