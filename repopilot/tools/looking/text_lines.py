"""The lines of a repository that match a pattern, in all files that aren't kept out. Secrets are neither shown nor
matched."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from repopilot.errors import StorageError, UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.repo.paths.path_globs import matches
from repopilot.retrieval.skipped_files import texts_beyond
from repopilot.tools.looking import line_search
from repopilot.tools.working_copy import WorkingCopy
from repopilot.workspace import Workspace

SECONDS = 10
"""The most processor time of a search: some patterns take for ever."""
_LONGEST_S = SECONDS if sys.platform == "win32" else 60.0
"""The longest wait for a search on a busy machine; on Windows processor time can't be limited."""

_KILLED = {-getattr(signal, name, 0) for name in ("SIGXCPU", "SIGKILL")} - {0}
"""How a search ends whose processor time or memory is used up."""


@dataclass(frozen=True, slots=True)
class MatchingLines:
    """The first lines that match (`path`, `line`, `text`, `marks`: the matches' places in it), how many match by file,
    and how many files were read."""

    rows: list[dict]
    counts: dict[str, int]
    read: int

    @property
    def total(self) -> int:
        """How many lines match."""
        return sum(self.counts.values())


def matching_lines(
    copy: WorkingCopy, pattern: str, glob: str = "*", *, regex: bool = True, limit: int = 50
) -> MatchingLines:
    """Look through all text files, those of the index first. Blocking.

    Args:
        copy: the repository with the edits so far.
        pattern: what a line has to hold.
        glob: which files.
        regex: whether the pattern is a regular expression; else it is taken as it is.
        limit: the most lines to return; all are counted.

    Raises:
        UsageError: the pattern is no regular expression, or takes too long; or no file matches the glob.
        SourceError: the repository can't be read.
        StorageError: the search can't be run, or failed.
    """
    texts = [(path, copy.hidden(text)) for path, text in _texts(copy.workspace, glob)]
    if not texts and glob != "*":
        raise UsageError(message("tools.no_match", glob=glob), message("tools.glob_hint"))
    exact = pattern if regex else re.escape(pattern)
    asked = {"pattern": exact, "limit": limit, "files": texts, "seconds": SECONDS}
    program = [sys.executable, "-I", "-S", "-B", str(line_search.__file__)]
    try:
        done = subprocess.run(
            program, input=json.dumps(asked).encode(), capture_output=True, timeout=_LONGEST_S, check=True
        )
    except OSError as error:
        raise StorageError(message("tools.search_failed", problem=error)) from error
    except subprocess.TimeoutExpired as error:
        raise _too_slow() from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        if error.returncode in _KILLED or said.startswith("MemoryError"):
            raise _too_slow() from error
        problem = redacted(said) or str(error.returncode)
        raise StorageError(message("tools.search_failed", problem=problem)) from error
    found = json.loads(done.stdout)
    if "error" in found:
        raise UsageError(message("tools.no_pattern", problem=found["error"]), message("tools.pattern_hint"))
    return MatchingLines(found["rows"], found["counts"], len(texts))


def _too_slow() -> UsageError:
    return UsageError(message("tools.slow_pattern", seconds=SECONDS), message("tools.pattern_hint"))


def _texts(workspace: Workspace, glob: str) -> Iterator[tuple[str, str]]:
    index = workspace.index
    for path in filter(lambda path: matches(path, glob), index.files):
        yield path, index.text(path) or ""
    yield from texts_beyond(index, workspace.snapshot, workspace.settings, lambda file: matches(file.path, glob))
