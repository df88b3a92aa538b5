"""Runs linters for Python on copies of files, without the repository's configuration. They only parse: nothing of the
repository is executed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from repopilot import i18n
from repopilot.code.file_version import Code
from repopilot.errors import RepoPilotError

_SECONDS = 120
_FILES_PER_RUN = 400
_CYTHON = (".pyx", ".pxd")
_RUFF_OPTIONS = (
    "check",
    "--isolated",
    "--no-cache",
    "--quiet",
    "--exit-zero",
    "--no-respect-gitignore",
    "--preview",
    "--output-format=json",
)


class AnalyserFailed(RepoPilotError):
    """One analyser is missing, ran out of time or broke. The review goes on without it."""


def ruff_items(codes: Sequence[Code], options: Sequence[str]) -> Iterator[tuple[Code, dict]]:
    """ruff's reports on the Python files.

    Args:
        codes: the files.
        options: which rules, and how they are set.

    Yields:
        A file, and one of ruff's reports on it.

    Raises:
        AnalyserFailed: ruff is missing or breaks.
    """
    for copies in copies_of_python(codes, stubs=True):
        for item in program_json("ruff", [*_RUFF_OPTIONS, *options, "--", *copies]):
            if code := copies.get(item["filename"]):
                yield code, item


def copies_of_python(codes: Sequence[Code], *, stubs: bool = False) -> Iterator[dict[str, Code]]:
    """Copies of the Python files, in batches that fit on a command line."""
    others = _CYTHON if stubs else (*_CYTHON, ".pyi")
    wanted = iter([code for code in codes if code.language == "python" and not code.path.lower().endswith(others)])
    while some := list(islice(wanted, _FILES_PER_RUN)):
        with temporary_copies(some) as copies:
            yield copies


def program_json(module: str, arguments: Sequence[str]):
    """Run `python -m module` in isolation, in an empty folder, and parse what it prints."""
    if importlib.util.find_spec(module) is None:
        raise AnalyserFailed(
            i18n.message("review.errors.not_installed", name=module),
            i18n.message("review.errors.not_installed_hint", name=module),
        )
    with tempfile.TemporaryDirectory(prefix="repopilot-tool-", ignore_cleanup_errors=True) as folder:
        env = {"PATH": os.defpath, "HOME": folder, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-m", module, *arguments],
                cwd=folder,
                env=env,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AnalyserFailed(i18n.message("review.errors.too_slow", name=module, seconds=_SECONDS)) from error
        except OSError as error:
            raise AnalyserFailed(i18n.message("review.errors.not_started", name=module, error=str(error))) from error
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
        raise AnalyserFailed(
            i18n.message("review.errors.failed", name=module, status=done.returncode, error=last[0][:200])
        ) from error


@contextmanager
def temporary_copies(codes: Sequence[Code]) -> Iterator[dict[str, Code]]:
    """Copy code to a temporary folder of its own, for tools; yields the code by the paths of the copies."""
    with tempfile.TemporaryDirectory(prefix="repopilot-review-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        copies: dict[str, Code] = {}
        for number, item in enumerate(codes):
            copy = root / "code" / _safe_copy_path(item.path, number, item.language)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(item.safe, encoding="utf-8", newline="\n")
            copies[str(copy)] = item
        yield copies


def _safe_copy_path(path: str, number: int, language: str) -> str:
    """The path of a copy: the file's own, on which some rules depend, unless it could escape the folder; `.py` for
    Python."""
    parts = path.split("/")
    plain = path.isprintable() and all(p and p not in (".", "..") and len(p) < 200 for p in parts)
    name = path if plain else f"file{number}"
    return f"{name}.py" if language == "python" and not name.endswith((".py", ".pyi")) else name
