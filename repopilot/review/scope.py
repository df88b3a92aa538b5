"""What is under review: the files of a diff, of paths, or of generated changes, with what counts as changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from repopilot import i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.code.notebook import is_notebook
from repopilot.errors import SourceError, UsageError
from repopilot.redaction.redact import redacted
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo import history
from repopilot.repo.patch import FileDiff, added_lines, parse_patch
from repopilot.repo.path_rules import reason_to_skip
from repopilot.repo.read import read_bytes, read_raw, text_of
from repopilot.repo.walk import walk
from repopilot.review.code import Code, ReviewTarget, code
from repopilot.settings import Settings
from repopilot.types import FileChange, Finding, Severity, Skip, Snapshot

MOST_FILES = 400
_READ = ("code", "schema", "config")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a review looks at.

    Attributes:
        what: a name for all of it, for the report.
        targets: the files to look at.
        given: findings that need no analyser: a committed key file.
        notes: what was left out, and why.
        commit: the state reviewed, where it isn't the workspace's.
    """

    what: str
    targets: tuple[ReviewTarget, ...]
    given: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    commit: str = ""


def of_diff(snapshot: Snapshot, base: str, head: str | None, settings: Settings) -> Scope:
    """The files that differ between two revisions, each with its changed lines.

    Args:
        snapshot: the repository.
        base: the revision before the change.
        head: the revision after it; None for the snapshot itself.
        settings: limits of what is read.

    Returns:
        The scope, of at most MOST_FILES files.

    Raises:
        SourceError: a revision is unknown.
    """
    diffs = history.diff(snapshot, base, head, settings)
    new = history.at(snapshot, head, settings) if head else snapshot
    old = history.at(snapshot, base, settings)
    tree = i18n.message("review.working_tree") if snapshot.root else snapshot.commit[:10]
    short = base[:10] if base == old.commit else base
    what = f"{base}..{head}" if head else i18n.message("review.range", base=short, head=tree)
    targets, given, notes = [], [], []
    for diff in diffs:
        found = _of_file(diff, new, old, settings)
        if isinstance(found, ReviewTarget):
            targets.append(found)
        elif isinstance(found, Finding):
            given.append(found)
        elif found:
            notes.append(found)
    if not diffs:
        notes.append(i18n.message("review.nothing_differs"))
    return _bounded(Scope(what, tuple(targets), tuple(given), tuple(notes), new.commit))


def _of_file(diff: FileDiff, new: Snapshot, old: Snapshot, settings: Settings) -> ReviewTarget | Finding | str:
    """A target, a finding about the file itself, a note on why it is left out, or '' when there is nothing to say."""
    path = diff.path
    if diff.status == "deleted":
        return ""
    if secret_name(path):
        message = i18n.message("review.secret_file")
        severity: Severity = "critical" if diff.status == "added" else "high"
        shown = redacted(path)
        return Finding(shown, 1, severity, "secret-file", message, "secrets", "security", shown)
    if diff.binary:
        return _not_reviewed(path, i18n.message("review.reasons.binary"))
    if file_kind(path) not in _READ or language_of(path) is None:
        return ""
    now = _version(new, path, settings)
    if isinstance(now, str):
        return _not_reviewed(path, now)
    before = None if diff.status == "added" else _version(old, diff.old_path, settings)
    previous = Code(path, before.text, before.safe, before.language) if isinstance(before, Code) else None
    lines = _added_to_notebook(previous, now) if is_notebook(path) else added_lines(diff)
    return ReviewTarget(now, lines, previous)


def _added_to_notebook(before: Code | None, now: Code) -> frozenset[int]:
    """The lines that are new in a notebook as it is read: its diff has those of the file, which are others."""
    old, new = before.text.split("\n") if before else [], now.text.split("\n")
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return frozenset(n + 1 for tag, _, _, start, end in blocks if tag != "equal" for n in range(start, end))


def _version(snapshot: Snapshot, path: str, settings: Settings) -> Code | str:
    """One version of a file, or in words why it can't be reviewed."""
    try:
        data = read_raw(snapshot, path)
    except SourceError:
        return i18n.message("review.reasons.not_regular")
    if skip := reason_to_skip(path, max(len(data), 1), settings.max_file_kb << 10, ()):
        return skip
    return _as_code(path, data)


def _as_code(path: str, data: bytes) -> Code | str:
    text = text_of(path, data) if data.strip() else ""
    return text.reason if isinstance(text, Skip) else code(path, text, language_of(path) or "")


def of_paths(snapshot: Snapshot, paths: Sequence[str], settings: Settings) -> Scope:
    """Files in full.

    Args:
        snapshot: the repository.
        paths: files and folders; without any, the entire repository with its most useful files first.
        settings: limits of what is read.

    Returns:
        The scope, of at most MOST_FILES files.

    Raises:
        UsageError: a path doesn't exist, or is not read.
    """
    files, skips = walk(snapshot, settings)
    wanted = [path.strip("/").removeprefix("./") for path in paths]
    reasons = {skip.path: skip.reason for skip in skips}
    known = [file for file in files if file.kind in _READ]
    for path in wanted:
        if path in reasons:
            raise UsageError(i18n.message("review.errors.skipped", path=path, why=reasons[path]))
        if path not in (".", "") and not any(f.path == path or f.path.startswith(path + "/") for f in files):
            raise UsageError(
                i18n.message("review.errors.no_path", path=path, name=snapshot.name),
                i18n.message("review.errors.no_path_hint"),
            )
    chosen = [
        f for f in known if not wanted or any(p in (".", "", f.path) or f.path.startswith(p + "/") for p in wanted)
    ]
    targets, notes = [], []
    for file, data in read_bytes(snapshot, chosen[:MOST_FILES]):
        version = _as_code(file.path, data) if data is not None else i18n.message("review.reasons.removed")
        if isinstance(version, Code):
            targets.append(ReviewTarget(version))
        else:
            notes.append(_not_reviewed(file.path, version))
    if len(chosen) > MOST_FILES:
        notes.append(i18n.message("review.first_files", shown=MOST_FILES, count=len(chosen)))
    what = ", ".join(p for p in wanted if p not in (".", "")) or i18n.message("review.entire_repository")
    return Scope(what, tuple(targets), (), tuple(notes))


def of_changes(changes: Sequence[FileChange], old: Mapping[str, str]) -> Scope:
    """Generated files: their changed lines, compared with `old` (path → text before, where there was one)."""
    targets = []
    for change in changes:
        language = language_of(change.path)
        if change.change == "deleted" or language is None:
            continue
        before = old.get(change.path)
        lines = added_lines(parse_patch(change.diff)[0]) if change.diff and before is not None else None
        previous = code(change.path, before, language) if before is not None else None
        targets.append(ReviewTarget(code(change.path, change.content, language), lines, previous))
    return Scope(i18n.message("review.generated_code"), tuple(targets))


def _not_reviewed(path: str, why: str) -> str:
    return i18n.message("review.not_reviewed", path=path, why=why)


def _bounded(scope: Scope) -> Scope:
    if len(scope.targets) <= MOST_FILES:
        return scope
    note = i18n.message("review.first_changed_files", shown=MOST_FILES, count=len(scope.targets))
    return Scope(scope.what, scope.targets[:MOST_FILES], scope.given, (*scope.notes, note), scope.commit)
