"""What is under review: the files of a diff, of paths, or of generated changes, with what counts as changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from repopilot import i18n
from repopilot.code.file_version import Code, code
from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import file_kind, language_in, language_of
from repopilot.errors import UsageError
from repopilot.redaction.redact import redacted, shown_path
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo import history
from repopilot.repo.history import CommitRange
from repopilot.repo.patches.patch import FileDiff, added_lines, parse_patch
from repopilot.repo.paths.attributes import LinguistAttributes
from repopilot.repo.paths.path_rules import UNKNOWN_KIND, reason_to_skip
from repopilot.repo.read import find_raw, read_bytes, text_of
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import FileChange, Finding, Severity, Skip, Snapshot

MOST_FILES = 400
NAMED = 20
"""Files named in one note."""
_READ = ("code", "schema", "config")


@dataclass(frozen=True, slots=True)
class ReviewTarget:
    """A file under review. `changed` are the line numbers that count, None for all; `old` is the file before the
    change."""

    new: Code
    changed: frozenset[int] | None = None
    old: Code | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What a review looks at.

    Attributes:
        what: a name for all of it, for the report.
        targets: the files to look at.
        given: findings that need no analyser, such as a committed key file.
        notes: what was left out, and why.
        commit: the state reviewed, where it isn't the workspace's.
        states: the repository before and after the change, None where the review isn't of a change between states.
        diffs: all files that differ between them.
        unread: the part of the change that a model still has to read, where it has read the rest before.
    """

    what: str
    targets: tuple[ReviewTarget, ...]
    given: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    commit: str = ""
    states: tuple[Snapshot, Snapshot] | None = None
    diffs: tuple[FileDiff, ...] = ()
    unread: Scope | None = None


@dataclass(frozen=True, slots=True)
class EarlierReview:
    """A review of a part of a change.

    Attributes:
        commit: the last commit of the change that a model has read, '' for none.
        posted: the comments it left that still hold, `path:line: text` each.
    """

    commit: str = ""
    posted: tuple[str, ...] = ()


def of_diff(snapshot: Snapshot, commits: CommitRange, settings: Settings) -> Scope:
    """The files that differ between two revisions, each with its changed lines.

    Args:
        snapshot: the repository.
        commits: the range; without a head, it ends at the snapshot itself.
        settings: limits of what is read.

    Returns:
        The scope, of at most MOST_FILES files.

    Raises:
        SourceError: a revision is unknown, or the commit where the head branched off.
    """
    head = commits.head
    base = history.start_of(snapshot, commits, settings)
    diffs = history.diff(snapshot, base, head, settings)
    new = history.at(snapshot, head, settings) if head else snapshot
    old = history.at(snapshot, base, settings)
    tree = i18n.message("review.working_tree") if snapshot.root else snapshot.commit[:10]
    short = commits.base[:10] if commits.base == old.commit else commits.base
    what = str(commits) if head else i18n.message("review.range", base=str(replace(commits, base=short)), head=tree)
    marks = [_attributes(new), _attributes(old)]
    targets = []
    given = []
    unread = []
    notes = []
    for diff in diffs:
        found = _of_file(diff, new, old, settings)
        # A change must not exclude itself from its review: a file that only this change marks is still read.
        marked = {each.reason(diff.path) for each in marks} if isinstance(found, ReviewTarget) else set()
        if len(marked) == 1 and (reason := marked.pop()):
            found = Skip(diff.path, i18n.message(reason))
        if isinstance(found, ReviewTarget):
            targets.append(found)
        elif isinstance(found, Finding):
            given.append(found)
        elif found is not None:
            unread.append(found)
        if diff.left_out and isinstance(found, ReviewTarget):
            notes.append(i18n.message("review.in_full", path=shown_path(diff.path)))
    if not diffs:
        notes.append(i18n.message("review.nothing_differs"))
    said = (*notes, *_not_reviewed(unread))
    return _bounded(Scope(what, tuple(targets), tuple(given), said, new.commit, (old, new), tuple(diffs)))


def _attributes(snapshot: Snapshot) -> LinguistAttributes:
    def read(path: str) -> str | None:
        data = find_raw(snapshot, path)
        return None if data is None else data.decode("utf-8", "replace")

    return LinguistAttributes(read)


def _of_file(diff: FileDiff, new: Snapshot, old: Snapshot, settings: Settings) -> ReviewTarget | Finding | Skip | None:
    """A target, a finding about the file itself, why it is left out, or None for a file that is gone."""
    path = diff.path
    if diff.status == "deleted":
        return None
    if secret_name(path):
        message = i18n.message("review.secret_file")
        severity: Severity = "critical" if diff.status == "added" else "high"
        shown = redacted(path)
        return Finding(shown, 1, severity, "secret-file", message, "secrets", "security", shown)
    if diff.binary:
        return Skip(path, i18n.message("review.reasons.binary"))
    if diff.left_out and new.git_dir is None:  # it isn't read to say so
        return Skip(path, reason_to_skip(path, sys.maxsize, settings.max_file_kb << 10, ()) or "")
    now = _version(new, path, settings)
    if isinstance(now, Skip) and diff.left_out:
        return Skip(path, i18n.message("repo.skip.not_cloned"))
    if isinstance(now, Skip) or diff.left_out:
        return now if isinstance(now, Skip) else ReviewTarget(now)
    before = None if diff.status == "added" else _version(old, diff.old_path, settings)
    previous = Code(path, before.text, before.safe, before.language) if isinstance(before, Code) else None
    lines = _added_to_notebook(previous, now) if is_notebook(path) else added_lines(diff)
    return ReviewTarget(now, lines, previous)


def _added_to_notebook(before: Code | None, now: Code) -> frozenset[int]:
    """The new lines of a notebook's extracted text; its diff numbers the lines of the JSON file instead."""
    old = before.text.split("\n") if before else []
    new = now.text.split("\n")
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return frozenset(n + 1 for tag, _, _, start, end in blocks if tag != "equal" for n in range(start, end))


def _version(snapshot: Snapshot, path: str, settings: Settings) -> Code | Skip:
    """One version of a file, or why it can't be reviewed."""
    data = find_raw(snapshot, path)
    if data is None:
        return Skip(path, i18n.message("repo.skip.name_not_utf8" if "\ufffd" in path else "review.reasons.not_regular"))
    script = not language_of(path) and _language(path, data) != ""
    if skip := reason_to_skip(path, max(len(data), 1), settings.max_file_kb << 10, (), script=script):
        return Skip(path, skip)
    return _as_code(path, data)


def _language(path: str, data: bytes) -> str:
    return language_in(path, data[:200].decode("ascii", "replace")) or ""


def _as_code(path: str, data: bytes) -> Code | Skip:
    language = _language(path, data)
    if file_kind(path) not in _READ:
        return Skip(path, i18n.message("review.reasons.documentation"))
    text = text_of(path, data) if data.strip() else ""
    return text if isinstance(text, Skip) else code(path, text, language)


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
    wanted = _plain(paths)
    skipped = [skip for skip in skips if _is_in(skip.path, wanted)]
    scripts = _scripts(snapshot, skipped, settings)
    reasons = {skip.path: skip.reason for skip in skipped if skip.path not in scripts}
    read = [*(file.path for file in files), *scripts]
    for path in wanted:
        if path in reasons:
            raise UsageError(i18n.message("review.errors.skipped", path=path, why=reasons[path]))
        if path not in (".", "") and not any(_is_in(each, [path]) for each in read):
            raise UsageError(
                i18n.message("review.errors.no_path", path=path, name=snapshot.name),
                i18n.message("review.errors.no_path_hint"),
            )
    chosen = [file for file in files if file.kind in _READ and _is_in(file.path, wanted)]
    attributes = _attributes(snapshot)
    marked = {f.path: reason for f in chosen if f.path not in wanted and (reason := attributes.reason(f.path))}
    chosen = [file for file in chosen if file.path not in marked]
    reasons |= {path: i18n.message(reason) for path, reason in marked.items()}
    versions = [
        _as_code(file.path, data) if data is not None else Skip(file.path, i18n.message("review.reasons.removed"))
        for file, data in read_bytes(snapshot, chosen[:MOST_FILES])
    ]
    versions += [*scripts.values()][: MOST_FILES - len(versions)]
    documents = [file for file in files if file.kind not in _READ and _is_in(file.path, wanted)]
    unread = [each for each in versions if isinstance(each, Skip)]
    unread += [Skip(file.path, i18n.message("review.reasons.documentation")) for file in documents]
    unread += [Skip(path, reason) for path, reason in reasons.items()]
    notes = _not_reviewed(unread)
    if (count := len(chosen) + len(scripts)) > MOST_FILES:
        notes.append(i18n.message("review.first_files", shown=MOST_FILES, count=count))
    what = ", ".join(p for p in wanted if p not in (".", "")) or i18n.message("review.entire_repository")
    return Scope(what, tuple(ReviewTarget(each) for each in versions if isinstance(each, Code)), (), tuple(notes))


def _scripts(snapshot: Snapshot, skips: Sequence[Skip], settings: Settings) -> dict[str, Code]:
    """The skipped files of unknown kind, including those in a `bin`, whose first line tells their language."""
    kinds = (UNKNOWN_KIND, "repo.skip.output")
    unknown = [s.path for s in skips if isinstance(s.reason, i18n.Message) and s.reason.key in kinds]
    unknown = [path for path in unknown if language_of(path) is None]
    versions = (_version(snapshot, path, settings) for path in unknown[:MOST_FILES])
    return {version.path: version for version in versions if isinstance(version, Code)}


def narrowed(scope: Scope, paths: Sequence[str]) -> Scope:
    """The part of a scope that is in some files and folders; all of it without any."""
    wanted = _plain(paths)
    return replace(
        scope,
        targets=tuple(target for target in scope.targets if _is_in(target.new.path, wanted)),
        given=tuple(finding for finding in scope.given if _is_in(finding.path, wanted)),
        diffs=tuple(diff for diff in scope.diffs if _is_in(diff.path, wanted)),
    )


def _plain(paths: Sequence[str]) -> list[str]:
    return [path.strip("/").removeprefix("./") for path in paths]


def _is_in(path: str, wanted: Sequence[str]) -> bool:
    """Whether a path is one of the files or in one of the folders that are wanted; without any, all are."""
    return not wanted or any(each in (".", "", path) or path.startswith(f"{each}/") for each in wanted)


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


def _not_reviewed(skips: Sequence[Skip]) -> list[str]:
    """A note for each reason why files are left out, with their names."""
    by_reason: dict[str, list[str]] = {}
    for skip in skips:
        by_reason.setdefault(skip.reason, []).append(shown_path(skip.path))
    return [i18n.message("review.not_reviewed", path=listed(names), why=why) for why, names in by_reason.items()]


def listed(names: Sequence[str]) -> str:
    """The first NAMED names, separated by commas, and how many more there are."""
    return i18n.first_names(names, NAMED)


def _bounded(scope: Scope) -> Scope:
    if len(scope.targets) <= MOST_FILES:
        return scope
    note = i18n.message("review.first_changed_files", shown=MOST_FILES, count=len(scope.targets))
    return replace(scope, targets=scope.targets[:MOST_FILES], notes=(*scope.notes, note))
