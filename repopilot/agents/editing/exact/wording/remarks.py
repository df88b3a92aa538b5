"""Takes from a task remarks that only repeat it or follow from it: an import that works then, names beside it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTE = r"[`\"'“”«»]?\s?"
_NAME = rf"{_QUOTE}(?!(?:this|that|the|an?|its?|others?|before|ce|cette|les?|la)\b)[A-Za-z_]\w*(?:\(\))?\s?[`\"'”»]?"
_FILE = rf"{_QUOTE}[\w./-]+\.\w+[`\"'”»]?"
_IMPORT = re.compile(
    r"[`\"'“«]?\s?\bfrom\s+(?P<package>[A-Za-z_][\w.]*)\s+import\s+(?P<name>[A-Za-z_]\w*)(?!\w|\s*(?:,|as\b))\s?[`\"'”»]?"
)
_BESIDE = re.compile(
    r",?\s+\(?(?:(?:right |just )?(?:next to|beside|besides|alongside|along with|together with)|"
    r"(?:just |exactly )?like|(?:in )?(?:just |exactly )?the same way (?:as|that)?|as with|similar(?:ly)? to|"
    r"à côté (?:de|d['’]|du)|tout comme|comme|(?:just )?as(?= \S+ (?:is|does)\b))\s+"
    rf"{_NAME}(?:(?:,| and| et)\s+{_NAME})*(?:\s+(?:is|are|does|l['’]est|is already))?(?:\s+already)?\)?(?=[\s,.;)]|$)",
    re.I,
)


def without_neighbours(task: str) -> str:
    """A task without the names that something is exported beside: `, next to Reader`.

    Args:
        task: on one line.
    """
    return _BESIDE.sub(" ", task)


@dataclass(frozen=True, slots=True)
class SaidImport:
    """The import that a task says shall work."""

    package: str
    name: str


def without_imports(task: str) -> tuple[str, list[SaidImport]]:
    """A task without the import statements in it, and those.

    Args:
        task: on one line.
    """
    found = [SaidImport(m["package"], m["name"]) for m in _IMPORT.finditer(task)]
    return _IMPORT.sub(" ", task), list(dict.fromkeys(found))


_THERE = rf"(?:there|the new (?:place|home|location|module|file)|its new (?:place|home|location|module)|là|{_FILE}|\w+)"
_ADVERBS = r"(?:(?:then|now|simply|just|instead|ensuite|alors|désormais)\s+)?"
_FOLLOWS = re.compile(
    r"\s*(?:[;,.–—-]\s*|\s)(?:(?:and|with|so|et|puis|while)\s+)?"
    rf"(?P<files>{_FILE}(?:(?:,| and|, and| et)\s+{_FILE})*)\s+{_ADVERBS}"
    r"(?:(?:should|must|can|will|would|has to|have to|needs to|doit|devra|devrait|peut)\s+)?"
    rf"{_ADVERBS}(?:imports?|importing|importer|importera|importe|l['’]import\w*)(?:\s+(?:it|them|la|le|les))?\s+"
    rf"{_ADVERBS}(?:from|depuis|de)\s+{_THERE}\s*[.!]*$",
    re.I,
)


def without_imports_from_there(task: str) -> tuple[str, tuple[str, ...]]:
    """A task to move something without the end that says which files import it from there, and those files.

    Args:
        task: on one line.

    Returns:
        The rest and the files; the task itself and none where it ends in another way.
    """
    found = _FOLLOWS.search(task)
    if found is None:
        return task, ()
    return task[: found.start()], tuple(re.findall(r"[\w./-]+\.\w+", found["files"]))
