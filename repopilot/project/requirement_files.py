"""Reads requirements files: one requirement per line, files included by -r. Pure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from repopilot.project.declaration_parts import Read, parsed

_MOST_INCLUDED = 20
_MOST_LINES = 5_000
"""Lines read of one file; nobody installs a longer list."""
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_INCLUDED = re.compile(r"(?:-r|--requirement)[\s=]*(\S+)")
_CONSTRAINED = re.compile(r"(?:-c|--constraint)[\s=]*(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]+")
_ITSELF = re.compile(r"^(?:file:)?\.(?:/)?(?:\[([^\]]*)\])?(?:\s*;.*)?$")


@dataclass(frozen=True, slots=True)
class RequirementFile:
    """Requirements, constraints, extras of the project itself that it asks for, and lines that name code elsewhere."""

    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def read_requirement_lines(rows: tuple[str, ...], read: Read) -> RequirementFile:
    """Read lines as in a requirements file.

    Args:
        rows: the lines; paths of included files are relative to the top of the repository.
        read: gives the texts of files.
    """
    found: dict[str, list[str]] = {"requirements": [], "constraints": [], "extras": [], "elsewhere": []}
    _collect(rows, "", read, found, set(), "requirements")
    return RequirementFile(**{name: tuple(dict.fromkeys(values)) for name, values in found.items()})


def _collect(
    rows: tuple[str, ...], folder: str, read: Read, found: dict[str, list[str]], seen: set[str], kind: str
) -> None:
    for row in rows:
        line = _COMMENT.sub("", row).strip()
        included = _INCLUDED.match(line)
        constrained = _CONSTRAINED.match(line)
        if included or constrained:
            name = (included or constrained)[1].strip("'\"")  # type: ignore[index]
            path = posixpath.normpath(posixpath.join(folder, name))
            text = None if path in seen or len(seen) >= _MOST_INCLUDED or path.startswith("..") else read(path)
            seen.add(path)
            if text is not None:
                inner = "constraints" if constrained else kind
                _collect(_logical_lines(text), posixpath.dirname(path), read, found, seen, inner)
        elif line:
            _sort_in(line, found, kind)


def _sort_in(line: str, found: dict[str, list[str]], kind: str) -> None:
    target = _EDITABLE.sub("", line)
    if target[:1] in ("'", '"') and target[-1] == target[0]:
        target = target[1:-1]
    itself = _ITSELF.match(target)
    if itself:
        found["extras"] += [extra.strip() for extra in (itself[1] or "").split(",") if extra.strip()]
        return
    plain = re.sub(r"\s+--[\w-]+[=\s]\S+", "", target).strip()  # hashes and other options of the line
    if line.startswith("-") and plain == line:
        return  # an option such as --index-url
    requirement = parsed(plain)
    if requirement is None or requirement.url:
        found["elsewhere"].append(plain)
    else:
        found[kind].append(plain)


def _logical_lines(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\\r?\n", " ", text.removeprefix("\ufeff")).splitlines()[:_MOST_LINES])
