"""A pytest plugin that reports every outcome as a line of JSON through a pipe, with the nonce of the run."""

from __future__ import annotations

import asyncio
import inspect
import json
import os

import pytest

MAX_TEXT = 12_000
_AT_ONCE = 100
"""Ids in a line, so that lines stay short enough to be read."""


class Reporter:
    """Writes the report.

    Args:
        channel: the file descriptor to write to.
        nonce: written with every line.
        root: the folder of the code under test; paths are relative to it.
        left_out: ids of tests that are not run.
    """

    def __init__(self, channel: int, nonce: str, root: str, left_out: list[str]) -> None:
        self._left_out = frozenset(left_out)
        self._channel = channel
        self._nonce = nonce
        self._root = os.path.realpath(root)

    def send(self, event: str, **facts: object) -> None:
        """Write one event as a line."""
        os.write(self._channel, json.dumps({"nonce": self._nonce, "event": event, **facts}).encode() + b"\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self._left_out]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        ids = [item.nodeid for item in session.items]
        for start in range(0, len(ids), _AT_ONCE):
            self.send("collected", ids=ids[start : start + _AT_ONCE])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome == "failed":
            self._outcome(report, "collect", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        passed_subtest = hasattr(report, "context") and report.outcome == "passed"
        if (report.when == "call" or report.outcome != "passed") and not passed_subtest:
            self._outcome(report, report.when or "call", getattr(report, "wasxfail", None))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.send("finished", status=int(exitstatus))

    def _outcome(self, report: pytest.CollectReport | pytest.TestReport, when: str, expected_failure: object) -> None:
        self.send(
            "outcome",
            id=report.nodeid,
            when=when,
            outcome=report.outcome,
            seconds=getattr(report, "duration", 0.0),
            xfail=when != "collect" and expected_failure is not None,
            text=report.longreprtext[:MAX_TEXT] if report.outcome == "failed" else "",
            message=_message(report)[:MAX_TEXT],
            frame=self._frame(report),
        )

    def _frame(self, report: object) -> list[object]:
        """[path, line] of the innermost frame in the code under test, [] when there is none."""
        entries = getattr(getattr(getattr(report, "longrepr", None), "reprtraceback", None), "reprentries", ())
        for entry in reversed(entries):
            place = getattr(entry, "reprfileloc", None)
            if place is None:
                continue
            path = os.path.realpath(os.path.join(os.getcwd(), place.path))
            if path.startswith(self._root + os.sep):
                return [os.path.relpath(path, self._root), place.lineno]
        return []


def pass_over_missing_plugins(reporter: Reporter, own: set[str]) -> None:
    """Let pytest go on without plugins, named by options or `conftest.py`, that need a missing module, and report these
    plugins. Without this, they would end the run.

    Args:
        reporter: of the run.
        own: names of the repository's own modules, whose absence is a failure.
    """
    load = pytest.PytestPluginManager.import_plugin

    def import_plugin(self: pytest.PytestPluginManager, modname: str, consider_entry_points: bool = False) -> None:
        try:
            load(self, modname, consider_entry_points)
        except Exception as error:  # its class differs between versions of pytest
            cause = error.__cause__
            if not isinstance(cause, ModuleNotFoundError) or (cause.name or "").partition(".")[0] in own:
                raise
            reporter.send("missing plugin", name=modname)

    pytest.PytestPluginManager.import_plugin = import_plugin  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests for which there is no plugin, each in a new event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**wanted))
    return True


def _message(report: object) -> str:
    """The failing assertion in short, as pytest words it."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    return str(getattr(crash, "message", ""))
