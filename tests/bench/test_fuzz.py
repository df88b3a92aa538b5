"""The fuzzer: a few inputs of each cheap target, inputs that can be made again, and limits that it enforces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.fuzz_inputs import LARGE, input_of

ROOT = Path(__file__).parents[2]


def fuzz(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bench.fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=120)


@pytest.mark.slow
def test_a_few_inputs_show_no_fault() -> None:
    done = fuzz("patches", "reports", "--inputs", "30", "--seed", "3")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(b"no fault") == 2


@pytest.mark.slow
def test_an_input_that_takes_too_long_is_a_fault_that_is_kept_and_the_run_goes_on(tmp_path: Path) -> None:
    done = fuzz("replies", "--inputs", "2", "--seconds", "0.000000001", "--out", str(tmp_path))
    assert done.returncode == 1
    assert b"took more than 1e-09 s (" in done.stdout
    kept = min(tmp_path.iterdir())
    assert fuzz("replies", "--show", kept.stem.rpartition("-")[2]).stdout == kept.read_bytes()


@pytest.mark.slow
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=3), st.integers(0, 10_000))
def test_an_input_can_be_made_again(corpus: list[bytes], number: int) -> None:
    made = input_of(corpus, "split", 7, number)
    assert made == input_of(corpus, "split", 7, number)
    assert len(made) <= LARGE
