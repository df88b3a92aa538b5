"""A data directory of the test's own, and the indexing jobs that write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.index_case import jobs_for, settings

from repopilot.index.build.job import IndexJobs
from repopilot.settings import Settings


@pytest.fixture
def conf(tmp_path: Path) -> Settings:
    return settings(tmp_path / "home")


@pytest.fixture
def jobs(conf: Settings) -> Iterator[IndexJobs]:
    made = jobs_for(conf)
    yield made
    made.close(10.0)
