"""Sets the version of a project wherever it declares it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.config_values import keys_of
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_KEYS = {
    "pyproject.toml": (("project", "version"), ("tool", "poetry", "version")),
    "setup.cfg": (("metadata", "version"),),
    "package.json": (("version",),),
    "Cargo.toml": (("package", "version"),),
}
_IN_CODE = re.compile(
    rb"^(?:__version__|VERSION|version)(?:[ \t]*:[ \t]*\w+)?[ \t]*=[ \t]*([\"'])(?P<version>[^\"'\n]+)\1", re.M
)
_IN_SETUP = re.compile(rb"^[^\S\n]+version[ \t]*=[ \t]*([\"'])(?P<version>[^\"'\n]+)\1", re.M)
_IN_VERSION_FILE = re.compile(
    rb"^(?:const[ \t]+|var[ \t]+|[ \t]+)?(?:Version|VERSION)(?:[ \t]+string)?[ \t]*="
    rb"[ \t]*([\"'])(?P<version>v?\d[^\"'\n]*)\1",
    re.M,
)
_VERSION_FILES = ("version.go", "version.rb")
_PARTS = ("major", "minor", "patch")


class DeclaredVersion(NamedTuple):
    """A version in a file: its bytes and text."""

    path: str
    start: int
    end: int
    version: str


def bump_version(task: ExactTask, sources: Sources) -> Patch | None:
    """Set the version.

    Args:
        task: with the new version, or the part of it to count up, in `new`, and the old one in `old` if it is said.
        sources: the files.

    Returns:
        The changes; None where the project declares no version as text.

    Raises:
        GenerationFailed: the version isn't what the task says it is.
    """
    found = list(_declared(sources))
    if not found:
        return None
    current = found[0].version
    if task.old and task.old not in {d.version for d in found}:
        raise GenerationFailed(i18n.message("exact.other_value", name="version", value=current, expected=task.old))
    current = task.old or current
    new = counted_up(current, task.new.lower()) if task.new.lower() in _PARTS else task.new
    if new is None:
        return None
    patch = Patch()
    for declared in found:
        if declared.version == current:
            patch.replace(declared.path, declared.start, declared.end, new)
            patch.edits.append(Edit("set_value", declared.path, "version", new))
    return patch


def counted_up(version: str, part: str) -> str | None:
    """A version with one of its three parts counted up; None for one of another form."""
    match = re.fullmatch(r"(v?)(\d+)\.(\d+)(?:\.(\d+))?", version)
    if match is None:
        return None
    numbers = [int(n or 0) for n in match.groups()[1:]]
    at = _PARTS.index(part)
    raised = [*numbers[:at], numbers[at] + 1, *([0] * (2 - at))]
    shown = raised if match[4] is not None or at == 2 else raised[:2]
    return match[1] + ".".join(map(str, shown))


def _declared(sources: Sources) -> Iterator[DeclaredVersion]:
    index = sources.workspace.index
    for path, names in _KEYS.items():
        source = sources.get(path) if path in index.files else None
        if source is not None:
            yield from _in_config(source, names)
    for path in sources.mentioning("__version__", ("python",)):
        source = sources.get(path)
        if source is not None and not is_test_path(path) and not is_example_path(path):
            yield from _in_code(source, _IN_CODE)
    for path in index.files:
        source = sources.get(path) if posixpath.basename(path) in _VERSION_FILES and not is_test_path(path) else None
        if source is not None and not is_example_path(path):
            yield from _in_code(source, _IN_VERSION_FILE)
    setup = sources.get("setup.py") if "setup.py" in index.files else None
    if setup is not None:
        yield from _in_code(setup, _IN_SETUP)


def _in_config(source: SourceText, names: tuple[tuple[str, ...], ...]) -> Iterator[DeclaredVersion]:
    text = source.text
    for key in keys_of(text, source.language):
        if key.name in names:
            value = text[key.start : key.end]
            bare = value.strip("\"'")
            start = len(text[: key.start].encode("utf-8")) + (len(value) - len(bare)) // 2
            if re.match(r"v?\d", bare):
                yield DeclaredVersion(source.path, start, start + len(bare.encode("utf-8")), bare)


def _in_code(source: SourceText, pattern: re.Pattern[bytes]) -> Iterator[DeclaredVersion]:
    for match in pattern.finditer(source.data):
        yield DeclaredVersion(source.path, *match.span("version"), match["version"].decode("utf-8"))
