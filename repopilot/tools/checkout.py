"""The repository as a folder that the sandbox copies: the local folder itself, or a temporary checkout of a clone."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from repopilot.repo.read import read
from repopilot.repo.walk import walk
from repopilot.types import Skip
from repopilot.workspace import Workspace

MOST_FILES = 5000


@asynccontextmanager
async def checked_out(workspace: Workspace) -> AsyncIterator[Path]:
    """A folder with the snapshot's text files. A clone's is removed afterwards.

    Args:
        workspace: of a clone at most MOST_FILES files are written, the most useful first, secrets redacted.

    Yields:
        The folder.

    Raises:
        SourceError: the clone can't be read.
    """
    root = workspace.snapshot.root
    if root is not None:
        yield root / workspace.snapshot.subdir
        return
    with tempfile.TemporaryDirectory(prefix="repopilot-checkout-", ignore_cleanup_errors=True) as name:
        await asyncio.to_thread(_write_files, Path(name), workspace)
        yield Path(name)


def _write_files(folder: Path, workspace: Workspace) -> None:
    files, _ = walk(workspace.snapshot, workspace.settings)
    for file, text in read(workspace.snapshot, files[:MOST_FILES]):
        if not isinstance(text, Skip):
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8", newline="")
