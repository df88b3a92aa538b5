"""A repository's own options for RepoPilot, in `.repopilot.toml`: data, which can only narrow what RepoPilot does.

The file excludes paths or puts them first, turns review rules off, and tells a model how to work on the project. It has
no option for secrets, limits, networks or models, and what git or the settings exclude stays excluded.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from repopilot import i18n
from repopilot.code.formats.data_formats import from_toml
from repopilot.errors import validation_problems
from repopilot.repo.paths.path_globs import matches
from repopilot.repo.read import find_raw, plain_text
from repopilot.types import Severity, Snapshot

NAME = ".repopilot.toml"
LARGEST = 64 << 10
_PATTERN = re.compile(r"[^{}\x00-\x1f]{1,200}")
_MOST_FOLDERS = 2
"""Most `**` in a pattern: each expands to several patterns, as braces do."""


def _few(glob: str) -> str:
    if not _PATTERN.fullmatch(glob) or glob.count("**") > _MOST_FOLDERS:
        raise ValueError(f"a pattern has 1 to 200 characters, no braces, and ** at most {_MOST_FOLDERS} times")
    return glob


Globs = Annotated[tuple[Annotated[str, AfterValidator(_few)], ...], Field(max_length=50)]
"""Few and short, since each is tried on every path."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReviewOptions(_Part):
    """What a review reports."""

    off: Annotated[tuple[Annotated[str, Field(max_length=80)], ...], Field(max_length=200)] = ()
    least_severity: Severity = "low"
    paths: Globs = ()


class ProjectOptions(_Part):
    """The options of the file."""

    exclude: Globs = ()
    first: Globs = ()
    instructions: Annotated[str, Field(max_length=8_000)] = ""
    test_command: Annotated[str, Field(max_length=300)] = ""
    review: ReviewOptions = ReviewOptions()

    @property
    def told(self) -> str:
        """The instructions and the test command, as a text for a model."""
        tests = f"The project's tests are run with: {self.test_command}" if self.test_command else ""
        return "\n".join(filter(None, (self.instructions.strip(), tests)))


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The options in force, and a message on why the file's options aren't, '' if they are."""

    options: ProjectOptions = field(default_factory=ProjectOptions)
    note: str = ""


def project_file(snapshot: Snapshot) -> ProjectFile:
    """The options of a repository; the defaults if it has no such file or an invalid one. Blocking."""
    try:
        if snapshot.root is not None and os.lstat(snapshot.root / NAME).st_size > LARGEST:
            return _unused(i18n.message("repo.project_file.large", kilobytes=LARGEST >> 10))
    except OSError:
        return ProjectFile()
    data = find_raw(snapshot, NAME)
    if data is None:
        return ProjectFile()
    text = plain_text(NAME, data[: LARGEST + 1])
    return project_options("\0" if text is None else text)


@lru_cache(maxsize=32)
def project_options(text: str | None) -> ProjectFile:
    """The options that the file's text declares. Pure.

    Args:
        text: of the file, without secrets; None for none.
    """
    if text is None:
        return ProjectFile()
    if len(text) > LARGEST:
        return _unused(i18n.message("repo.project_file.large", kilobytes=LARGEST >> 10))
    try:
        return ProjectFile(ProjectOptions.model_validate(from_toml(text)))
    except ValidationError as error:
        return _unused(validation_problems(error.errors()))
    except ValueError as error:
        return _unused(str(error)[:200])


def fits(path: str, globs: Globs) -> bool:
    """Whether a path fits one of the patterns."""
    return any(matches(path, glob) for glob in globs)


def _unused(why: str) -> ProjectFile:
    return ProjectFile(note=i18n.message("repo.project_file.unused", name=NAME, why=why))
