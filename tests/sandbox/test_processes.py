"""Processes as the kernel reports them."""

import os
import subprocess
import sys

import pytest

from repopilot.sandbox.usage.processes import descendants

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")


@pytest.mark.parametrize("count", [0, 1, 12])
@pytest.mark.parametrize("first", [False, True])
def test_a_process_is_found_by_its_marker_however_large_its_environment_is(count, first):
    marker = "repopilot-marker-of-this-test"
    large = {f"LARGE_{n}": "x" * 100_000 for n in range(count)}
    own = {"REPOPILOT_RUN": marker}
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "print(flush=True); input()"],
        env=own | large if first else large | own,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdout.readline()
        found = descendants(-1, marker)  # of no process
        process.communicate(b"\n")
    assert process.pid in found
