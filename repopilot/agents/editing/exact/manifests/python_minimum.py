"""What follows where the lowest version of Python that a project supports rises: its classifiers and environments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import removed_spans
from repopilot.agents.editing.exact.manifests.classifiers import classifier_lists
from repopilot.agents.editing.exact.manifests.manifest_tree import ini_values, inner_span
from repopilot.agents.editing.exact.manifests.requirement_places import manifest_paths
from repopilot.agents.editing.exact.manifests.version_specs import version_key
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.types import Edit

_CLASSIFIER = re.compile(r"Programming Language :: Python :: (?P<version>\d+\.\d+)")
_ENVIRONMENT = re.compile(r"(?<![\w{,.-])(?:py)?3\.?(?P<minor>\d+)(?:[ \t]*,[ \t]*|(?=\s|$))")
_FACTORS = re.compile(r"(?P<head>py|py3)?\{(?P<items>[^{}]*)\}")
_OTHERS = re.compile(
    r"target-version\s*=|python_version\s*=|pythonVersion|python-version|(?:^|[^\w])py3\d{1,2}(?:[^\w]|$)"
)


_NEWEST_MINOR = 100
"""More than any minor version of Python 3 there will be; a task may say any number."""


def drop_older(minimum: str, sources: Sources, patch: Patch) -> None:
    """Remove the classifiers and test environments of older versions; what else names them is left open.

    Args:
        minimum: the lowest version from now on.
        sources: the files.
        patch: receives the changes.
    """
    lowest = (*version_key(minimum), 0, 0)[:2]
    for path in manifest_paths(sources):
        source = sources.get(path)
        if source is None or "/" in path:
            continue
        name = posixpath.basename(path)
        if name in ("pyproject.toml", "setup.py"):
            changed = _drop_strings(source, list(classifier_lists(source)), lowest, patch)
        elif name == "setup.cfg":
            changed = _drop_lines(source, lowest, patch)
        else:
            changed = name == "tox.ini" and _drop_environments(source, lowest, patch)
        if changed:
            patch.edits.append(Edit("remove_member", path, "Python"))
    _leave_others_open(lowest, sources, patch)


def _drop_strings(source: SourceText, lists: list[Sequence[Node]], lowest: tuple[int, ...], patch: Patch) -> bool:
    changed = False
    for entries in lists:
        gone = set()
        for number, entry in enumerate(entries):
            start, end = inner_span(source, entry)
            match = _CLASSIFIER.fullmatch(source.data[start:end].decode("utf-8"))
            if match is not None and _is_older(match["version"], lowest):
                gone.add(number)
        for start, end in removed_spans(source.data, entries, gone):
            patch.replace(source.path, start, end, "")
            changed = True
    return changed


def _is_older(version: str, lowest: tuple[int, ...]) -> bool:
    numbers = tuple(int(n) for n in version.split("."))
    return numbers[0] == lowest[0] and numbers < lowest


def _drop_lines(source: SourceText, lowest: tuple[int, ...], patch: Patch) -> bool:
    changed = False
    for value in ini_values(source):
        at = value.start
        for row in value.text.split("\n") if value.key in ("classifiers", "classifier") else ():
            size = len(row.encode("utf-8")) + 1
            match = _CLASSIFIER.fullmatch(row.strip())
            if match is not None and _is_older(match["version"], lowest) and at > value.start:
                patch.replace(source.path, at, at + size, "")
                changed = True
            at += size
    return changed


def _drop_environments(source: SourceText, lowest: tuple[int, ...], patch: Patch) -> bool:
    """Remove environments from `envlist`: `py38`, `py{38,39}`, `{py38,py39}-x`, `3.8`."""
    changed = False
    for value in ini_values(source):
        if value.section != "tox" or value.key not in ("envlist", "env_list"):
            continue
        text = _FACTORS.sub(lambda m: _with_newer(m, lowest), value.text)
        newer = _ENVIRONMENT.sub(lambda m: "" if (3, int(m["minor"])) < lowest else m[0], text)
        if newer != text:
            text = re.sub(r"[ \t]+(?=\n|$)|\n[ \t]*(?=\n)|(?<=\S)[ \t]*,[ \t]*$", "", newer)
        if text != value.text:
            patch.replace(source.path, value.start, value.end, text)
            changed = True
    return changed


def _with_newer(match: re.Match[str], lowest: tuple[int, ...]) -> str:
    """A list of factors without those for older versions."""
    head = match["head"] or ""
    kept = []
    for item in match["items"].split(","):
        found = re.fullmatch(r"(?:py)?(?P<minor>3\.?\d+)", f"{head.removeprefix('py')}{item.strip()}")
        minor = int(found["minor"].replace(".", "")[1:]) if found is not None and (head or "py" in item) else None
        if minor is None or (3, minor) >= lowest:
            kept.append(item)
    return f"{head}{{{','.join(kept).strip()}}}" if kept and len(kept) < len(match["items"].split(",")) else match[0]


def _leave_others_open(lowest: tuple[int, ...], sources: Sources, patch: Patch) -> None:
    """List what else names an older version: settings of tools, workflows."""
    reason = i18n.message("exact.open.older_python")
    older = "|".join(str(minor) for minor in range(6, min(lowest[1], _NEWEST_MINOR)))
    if not older:
        return
    old = re.compile(rf"(?<![\w.])(?:py)?3\.?(?:{older})(?![\w.])")
    for path, info in sources.workspace.index.files.items():
        if info.kind != "config" and not path.endswith(("noxfile.py", "tox.ini")):
            continue
        source = sources.get(path)
        edited = [(e.start, e.end) for e in patch.replacements.get(path, ())]
        offset = 0
        for row in source.data.split(b"\n") if source is not None else ():
            text = row.decode("utf-8", "replace")
            inside = any(start < offset + len(row) and offset < end for start, end in edited)
            if source is not None and not inside and old.search(text) and _OTHERS.search(text):
                patch.leave_open(source, offset, reason)
            offset += len(row) + 1
