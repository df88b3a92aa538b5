"""Ends a run with a plain list of what was left out and why. CI fails when browser or sandbox tests are among it."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from support.waiting import PATIENCE_S
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# A busy machine is no failure: what takes too long is measured in bench/. Nor is chance: the same examples every time,
# as `bench/fuzz.py` looks for others.
hypothesis.settings.register_profile("repopilot", deadline=None, derandomize=True, database=None, max_examples=40)
hypothesis.settings.load_profile("repopilot")
# What runs in the sandbox has time as well; tests of what never ends set a limit of their own.
os.environ.setdefault("REPOPILOT_TEST_TIMEOUT_S", "180")
# Small repositories are read faster than processes start that share the work; where several are meant it is said.
os.environ.setdefault("REPOPILOT_WORKERS", "1")

# What is imported and collected stays: to go through it again and again takes a third of that time.
gc.disable()


def _keep_in_memory(descriptor: int) -> None:
    """Takes the place of `os.fsync`. Nothing here has to outlive a power cut, and an index waits for the disk forty
    times when it is published: longer than for anything else."""


os.fsync = _keep_in_memory

# Of this process alone, so that it can be seen what stays there. pytest's own folders lie where they always do.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
ROOT = Path(os.environ["PYTEST_DEBUG_TEMPROOT"])
TEMPORARY = Path(tempfile.mkdtemp(prefix=f"t-{os.getpid()}-", dir=ROOT))
TEMPORARY.chmod(0o711)  # PostgreSQL, which root starts as another user, has its folder in it
os.environ["TMPDIR"] = tempfile.tempdir = str(TEMPORARY)
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)
for _folder in ROOT.glob("t-*-*"):  # of processes that were killed: no end of theirs has removed it
    try:
        os.kill(int(_folder.name.split("-")[1]), 0)
    except ProcessLookupError:
        shutil.rmtree(_folder, ignore_errors=True)
    except (PermissionError, ValueError):  # of somebody else, or not ours
        continue

LONG = ("browser", "model", "slow")
"""Marks of tests that take long."""
OF_THE_BROWSER = ("playwright", "org.chromium.", ".org.chromium.")
"""Temporary folders of a browser, which outlives the modules of tests that use it."""
REQUIRED = ("browser", "sandbox")
"""Folders whose tests may not be left out in CI."""
OTHER_LANGUAGES = ("cargo", "go", "Gradle", "jdtls", "Maven", "node", "npm", "ruby", "surefire")
"""Programs that only tests of other languages than Python need. No CI has them all."""
OPTIONAL = tuple(f"{program} is not installed" for program in OTHER_LANGUAGES)
"""Reasons for which a test of those folders may be left out all the same."""


@pytest.fixture(autouse=True, scope="module")
def _nothing_stays() -> Iterator[None]:
    """What the tests of a module and the program in them put into the temporary directory is gone after them, and the
    process is as fast as before."""
    before, niceness = set(TEMPORARY.iterdir()), os.nice(0)
    yield
    kept = {"repopilot.sandbox.language_servers.session": "Servers", "repopilot.resolve.snapshot_tree": "SnapshotTree"}
    kinds = tuple(getattr(sys.modules[module], name) for module, name in kept.items() if module in sys.modules)
    for each in [found for found in gc.get_objects() if isinstance(found, kinds)]:
        each.close()

    def left() -> list[Path]:
        new = set(TEMPORARY.iterdir()) - before
        return [path for path in new if not path.name.startswith(OF_THE_BROWSER)]

    deadline = time.monotonic() + PATIENCE_S / 8
    while left() and time.monotonic() < deadline:  # threads and processes that were told to end may be at it
        time.sleep(0.05)
    assert not left(), "left in the temporary directory"
    assert os.nice(0) == niceness, "the process has a lower priority than before"


@pytest.fixture
def shared_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets commands that run in this process use the worker processes that other tests have started."""
    from support.index_case import runtime_for

    monkeypatch.setattr("repopilot.cli.execute.Runtime", runtime_for)


def _left_out(reporter: pytest.TerminalReporter) -> list[tuple[str, str]]:
    """(test file, reason) of every skipped test."""
    found = []
    for report in reporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        found.append((report.nodeid.split("::")[0], reason.removeprefix("Skipped: ")))
    return found


def _missing_in_ci(reporter: pytest.TerminalReporter) -> list[str]:
    needed = ((file, reason) for file, reason in _left_out(reporter) if reason not in OPTIONAL)
    return sorted({file for file, _ in needed if set(Path(file).parts) & set(REQUIRED)})


def _together(nodeid: str) -> str:
    """What one process runs as a whole: the tests of a file; those of the browser, which share an application."""
    file = nodeid.split("::", 1)[0]
    return "browser" if file.startswith("tests/browser/") else file


def _leave_to_thorough(items: list[pytest.Item]) -> None:
    """Mark the cases of `sampled` tests as thorough, but for as many as it says, spread evenly over all of them."""
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.split("[", 1)[0]].append(item)
    for each in cases.values():
        (kept,) = each[0].get_closest_marker("sampled").args
        chosen = {round(i * (len(each) - 1) / max(kept - 1, 1)) for i in range(kept)}
        for number, item in enumerate(each):
            if number not in chosen:
                item.add_marker("thorough")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that the processes end together."""
    _leave_to_thorough(items)
    long = Counter(_together(item.nodeid) for item in items if any(map(item.get_closest_marker, LONG)))
    items.sort(key=lambda item: -long[_together(item.nodeid)])


class _Scheduling(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return _together(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return _Scheduling(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = _left_out(terminalreporter)
    if not left_out:
        return
    terminalreporter.section("left out")
    for (file, reason), count in sorted(Counter(left_out).items()):
        terminalreporter.write_line(f"{count:>4}  {file}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not os.environ.get("CI"):
        return
    if missing := _missing_in_ci(reporter):
        reporter.write_line(f"CI needs these tests, which were left out: {', '.join(missing)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
