"""The uses elsewhere that a change under review breaks, found by comparing its two states."""

from __future__ import annotations

from contextlib import ExitStack, closing

from repopilot.agents.review.scope import Scope
from repopilot.code.languages import file_kind
from repopilot.repo.patches.patch import FileDiff
from repopilot.repo.read import text_at
from repopilot.resolve.names import Resolver
from repopilot.resolve.snapshot_tree import SnapshotTree
from repopilot.resolve.uses.broken_uses import FileVersions, captured, changed_definitions, left_behind
from repopilot.sandbox.language_servers.session import Servers
from repopilot.types import Finding, Snapshot
from repopilot.workspace import Workspace


def broken_uses(scope: Scope, workspace: Workspace) -> tuple[list[Finding], tuple[str, ...]]:
    """Compare the two states of a change. Blocking.

    Args:
        scope: the change.
        workspace: the repository.

    Returns:
        A finding for each definition whose uses elsewhere broke, remarks on captured names, and notes on language
        servers that could not be asked.

    Raises:
        SourceError: one of the states can't be read.
        StorageError: there is no room for it.
    """
    if scope.states is None:
        return [], ()
    old, new = scope.states
    files = [found for diff in scope.diffs if (found := _versions(diff, old, new)) is not None]
    changed = changed_definitions(files)
    codes = {target.new.path: target.new for target in scope.targets}
    remarks = captured(files)
    if not changed:
        return remarks, ()
    with ExitStack() as stack:
        servers = stack.enter_context(closing(Servers(workspace.settings, workspace.packages)))
        trees = [stack.enter_context(closing(SnapshotTree(state, workspace.settings))) for state in (old, new)]
        before, after = (Resolver(tree, workspace.index, servers) for tree in trees)
        return [*remarks, *left_behind(changed, files, before, after, codes)], (*before.notes, *after.notes)


def _versions(diff: FileDiff, old: Snapshot, new: Snapshot) -> FileVersions | None:
    if diff.status == "added" or file_kind(diff.old_path) != "code":
        return None
    before = text_at(old, diff.old_path)
    after = text_at(new, diff.path) if diff.status != "deleted" else ""
    if not (isinstance(before, str) and isinstance(after, str)):
        return None
    gone = diff.old_path != diff.path or diff.status == "deleted"
    return FileVersions(diff.old_path, diff.path, before, after, gone)
