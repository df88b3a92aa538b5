"""The roles of files besides source code: tests, examples, documentation, configuration, generated, vendored."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from repopilot.code.generated import generated_name
from repopilot.code.languages import file_kind, is_doc_path, is_example_path, is_test_path
from repopilot.repo.paths.attributes import LinguistAttributes

ROLES = ("test", "example", "doc", "config", "generated", "vendored")
"""In the order of their bits."""
FOREIGN = sum(1 << ROLES.index(role) for role in ("generated", "vendored"))
"""The bits of files that the project's authors did not write."""

_VENDORED = re.compile(r"(^|/)(vendor(ed)?|_vendor|third[_-]?party|node_modules|bower_components|extern(al)?s?)/", re.I)


def roles_of(files: Sequence[str], generated: Collection[int]) -> np.ndarray:
    """uint8 per file: a bit mask of ROLES. `generated` are the numbers of files whose text says that they are
    generated."""
    masks = np.zeros(len(files), np.uint8)
    for number, path in enumerate(files):
        kind = file_kind(path)
        flags = (
            is_test_path(path),
            is_example_path(path),
            kind == "doc" or is_doc_path(path),
            kind == "config",
            number in generated or generated_name(path),
            is_vendored(path),
        )
        masks[number] = sum(1 << bit for bit, flag in enumerate(flags) if flag)
    return masks


def roles_with(masks: np.ndarray, files: Sequence[str], attributes: LinguistAttributes) -> np.ndarray:
    """The roles, corrected by the repository's attributes."""
    corrected = masks.copy()
    for number, path in enumerate(files):
        for name in ("generated", "vendored"):
            said = attributes.says(name, path)
            bit = 1 << ROLES.index(name)
            if said is not None:
                corrected[number] = corrected[number] | bit if said else corrected[number] & ~np.uint8(bit)
    return corrected


def is_vendored(path: str) -> bool:
    """Whether a path belongs to third-party code kept in the repository."""
    return bool(_VENDORED.search(path))
