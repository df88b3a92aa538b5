"""Many repositories on a Ray cluster: how much sooner two workers are done than one.

    python -m bench.ray_workers FOLDER… [--rounds 2]

Each FOLDER is copied and made a git repository. They are indexed by `repopilot index --many LIST --ray …` on a cluster
of one process, then of two, on this machine; the data directories and the shared folder are empty each time. Printed:
seconds of wall time from the command's start to its end without the start of the cluster, the ratio, and the load that
the machine had before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
GIT = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org"]


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / "list.txt"
        listed.write_text("".join(f"{copied(each, Path(scratch) / 'repos')}\n" for each in options.folders))
        for _ in range(options.rounds):
            load = os.getloadavg()[0]
            one, two = (seconds(listed, workers, Path(scratch) / "run") for workers in (1, 2))
            print(
                f"1 worker {one:.1f} s  2 workers {two:.1f} s  ratio {one / two:.2f}  load before {load:.1f}",
                flush=True,
            )


def copied(folder: Path, target: Path) -> Path:
    """A copy of a folder as a git repository with one commit."""
    repository = target / folder.name
    shutil.copytree(folder, repository, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*GIT, *command], cwd=repository, check=True)
    return repository


def seconds(listed: Path, workers: int, scratch: Path) -> float:
    """Wall time of indexing a list on a new cluster with so many processes."""
    from ray.cluster_utils import Cluster

    os.environ["REPOPILOT_HOME"] = str(scratch / "worker")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": workers, "include_dashboard": False})
    try:
        command = [sys.executable, "-m", "repopilot", "index", "--many", str(listed), "--ray", cluster.address]
        began = time.perf_counter()
        subprocess.run(
            [*command, "--to", str(scratch / "shared")],
            env={**os.environ, "REPOPILOT_HOME": str(scratch / "asking")},
            check=True,
        )
        return time.perf_counter() - began
    finally:
        cluster.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
