"""Writes the tree of a commit with changed files in it, through an index of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from repopilot.types import FileChange

NAME = "RepoPilot"
"""The author and committer where git doesn't know the user."""
ADDRESS = "repopilot@localhost"
RunGit = Callable[..., str]
"""Runs git with further environment variables (the first argument); returns its output without the last newline."""


def changed_tree(
    git: RunGit,
    base: str,
    files: Mapping[str, FileChange],
    content_of: Callable[[FileChange, str], bytes],
    filters: Callable[[str], str],
    *options: str,
) -> str:
    """Write the tree of a commit with the changes.

    Args:
        git: runs git in the repository. Its exceptions are passed on.
        base: the commit.
        files: by their paths in the repository.
        content_of: the bytes of a file, from the change and the id of the blob that it replaces ('' for none).
        filters: the option of `git hash-object` that says how the content of a path is filtered.
        options: of `git write-tree`.

    Returns:
        The id of the tree.
    """
    with tempfile.TemporaryDirectory(prefix="repopilot-tree-", ignore_cleanup_errors=True) as folder:
        own = {"GIT_INDEX_FILE": f"{folder}/index"}
        content = Path(folder, "content")
        git(own, "read-tree", base)
        for path, file in files.items():
            if file.change == "deleted":
                git(own, "update-index", "--force-remove", "--", path)
                continue
            known = git(own, "ls-files", "--stage", "--", f":(top,literal){path}")
            mode, old = known.split(" ")[:2] if known else ("100644", "")
            content.write_bytes(content_of(file, old))
            blob = git(own, "hash-object", "-w", filters(path), str(content))
            git(own, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        return git(own, "write-tree", *options)
