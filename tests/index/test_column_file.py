"""Files of columns: how one replaces another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from repopilot.index.storage import column_file


def test_two_threads_may_replace_a_file_at_once(tmp_path):
    file = tmp_path / "columns.bin"

    def save(number: int) -> None:
        for _ in range(20):
            column_file.save(file, {"version": "1"}, {"numbers": np.full(1000, number)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(4)))
    assert [path.name for path in tmp_path.iterdir()] == ["columns.bin"]
