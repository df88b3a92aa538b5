"""What hostile programs leave outside of a sandbox that doesn't keep them from writing there."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="module")
def _no_files_left():
    yield
    for folder in ("/tmp", "/dev/shm"):
        for path in Path(folder).glob("hostile-empty-*"):
            path.unlink(missing_ok=True)
