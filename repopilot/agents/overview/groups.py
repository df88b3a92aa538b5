"""Groups files into the parts of a repository, by its folders and by what uses what. Pure.

Folders are opened, the largest first, while they hold too much of the code, so that a flat repository is taken apart
into files. The smallest units are then joined to the unit that they are tied to most, within the same folder first.
This is agglomerative clustering as in software architecture recovery (Mancoridis et al., "Bunch", 1999), with folders
as the prior.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

MOST_GROUPS = 12
MOST_UNITS = 64
"""Units that a repository is taken apart into before they are joined."""
MOST_FILES = 400
"""Units where one folder with too large a share of the code holds more files than MOST_UNITS."""
LARGEST_SHARE = 0.4
"""A folder with a larger share of the code is opened."""
SMALLEST_SHARE = 0.02
FEWEST_GROUPS = 5
FILES_OF_A_PART = 4
"""A folder with fewer files is one part."""
SAME_FOLDER = 3.0
"""The factor for ties within one folder."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that belong together. `name` is the folder or file that they are known by."""

    name: str
    files: tuple[str, ...]


def grouped(
    lines: Mapping[str, int], ties: Mapping[tuple[str, str], int], whole: Collection[str] = frozenset()
) -> list[Group]:
    """Group files into at most MOST_GROUPS parts.

    Args:
        lines: lines of code by path.
        ties: how often one file uses another, by (user, used).
        whole: files of languages in which a folder is a module: those of one folder stay together, unless that leaves
            fewer than FEWEST_GROUPS parts; then the outermost modules are taken apart.

    Returns:
        The parts, the largest first; [] for no files. A small folder that is tied to nothing is in none of them.
    """
    units = _units(lines, whole)
    if len(units) < FEWEST_GROUPS and whole:
        outermost = min(path.count("/") for path in whole)
        units = _units(lines, {path for path in whole if path.count("/") > outermost})
    joined = _joined(units, lines, ties)
    return sorted(joined, key=lambda group: (-sum(lines[path] for path in group.files), group.name))


def _units(lines: Mapping[str, int], whole: Collection[str]) -> list[Group]:
    """Folders and files: the folder with most code is opened as long as its share of the code is too large."""
    units = {"": tuple(lines)} if lines else {}
    closed: set[str] = set()
    enough = LARGEST_SHARE * sum(lines.values())
    while open_ones := [name for name in units if name not in closed and len(units[name]) > 1]:
        largest = max(sorted(open_ones), key=lambda name: sum(lines[path] for path in units[name]))
        inside = _inside(largest, units[largest], whole)
        size = sum(lines[path] for path in units[largest])
        if len(inside) > 1 and size <= (enough if len(units) >= FEWEST_GROUPS else enough / 3):
            break
        is_small = len(inside) > 1 and len(units) > 1 and len(units[largest]) < FILES_OF_A_PART
        most = MOST_FILES if size > enough else MOST_UNITS
        if is_small or inside.keys() == {largest} or len(units) - 1 + len(inside) > most:
            closed.add(largest)
            continue
        del units[largest]
        units |= inside
        closed |= {name for name, files in inside.items() if name == largest or not _is_folder(Group(name, files))}
    return [Group(name, files) for name, files in units.items()]


def _is_folder(group: Group) -> bool:
    return any(path.startswith(f"{group.name}/") for path in group.files)


def _inside(folder: str, files: Sequence[str], whole: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The folders directly in a folder, and its files by their names without suffixes, each with the files inside.

    Files of `whole` stay together under the name of the folder.
    """
    found: dict[str, list[str]] = defaultdict(list)
    start = len(folder) + 1 if folder else 0
    for path in files:
        name, deeper, _ = path[start:].partition("/")
        key = f"{folder}/{name}" if folder else name
        if not deeper:
            key = folder if path in whole else f"{key.rpartition('/')[0]}/{name.partition('.')[0]}".lstrip("/")
        found[key].append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def _joined(units: Sequence[Group], lines: Mapping[str, int], ties: Mapping[tuple[str, str], int]) -> list[Group]:
    """The units after joining the smallest to others, until each is large enough and they are few enough."""
    left = dict(enumerate(units))
    size = {number: sum(lines[path] for path in unit.files) for number, unit in left.items()}
    uses = _uses_between(units, ties)
    least = SMALLEST_SHARE * sum(lines.values())
    while len(left) > 1:
        small = min(left, key=lambda number: (size[number], left[number].name))
        if len(left) <= MOST_GROUPS and (size[small] >= least or len(left) <= FEWEST_GROUPS):
            break
        if size[small] < least and _is_folder(left[small]) and not uses[small].any() and not uses[:, small].any():
            del left[small]  # nothing says what it belongs to
            continue
        into = _closest(small, left, size, uses)
        larger, smaller = (into, small) if size[into] >= size[small] else (small, into)
        left[into] = Group(left[larger].name, (*left[larger].files, *left[smaller].files))
        size[into] += size.pop(small)
        del left[small]
        uses[into] += uses[small]
        uses[:, into] += uses[:, small]
        uses[small] = uses[:, small] = uses[into, into] = 0
    return list(left.values())


def _uses_between(units: Sequence[Group], ties: Mapping[tuple[str, str], int]) -> np.ndarray:
    """int (units, units): how often each unit uses each other one."""
    unit_of = {path: number for number, unit in enumerate(units) for path in unit.files}
    uses = np.zeros((len(units), len(units)), np.int64)
    for (user, used), weight in ties.items():
        if user in unit_of and used in unit_of:
            uses[unit_of[user], unit_of[used]] += weight
    np.fill_diagonal(uses, 0)
    return uses


def _closest(small: int, left: Mapping[int, Group], size: Mapping[int, int], uses: np.ndarray) -> int:
    """The unit that a small one is tied to most, relative to all ties of that unit: otherwise a unit that everything
    uses would attract all others.

    A file joins a file of its folder before it joins a folder beside it. Two units are joined late where one uses a
    third that uses the other: joined, they would both use it and be used by it.
    """
    one = left[small]
    ties = (uses[small] + uses[:, small]) / (1 + uses.sum(1) + uses.sum(0)) ** 0.5
    thirds = np.minimum(uses[small][:, None], uses).sum(0) + np.minimum(uses, uses[:, small]).sum(1)

    def closeness(other: int) -> tuple[bool, float, bool, int]:
        near = _common(one.name, left[other].name)
        beside = near and not _is_folder(one) and _is_folder(left[other]) and left[other].name != _parent(one.name)
        tie = ties[other] * (SAME_FOLDER if near else 1.0) / (1 + thirds[other])
        return not beside, tie, near, -size[other]

    return max((number for number in left if number != small), key=closeness)


def _common(one: str, other: str) -> bool:
    """Whether two units stand in the same folder, or one directly in the other."""
    first = _parent(one)
    second = _parent(other)
    return first == second or other == first or one == second


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def shortest_paths(files: Collection[str], every: Collection[str]) -> tuple[str, ...]:
    """The paths that stand for some files: a folder where all its code is among them, else the file.

    Args:
        files: the files of a group.
        every: all files that were grouped.
    """
    chosen = set(files)
    others = set(every) - set(files)
    folders_of_others = {folder for path in others for folder in folders_of(path)}
    inside = Counter(folder for path in chosen for folder in folders_of(path))
    found: dict[str, None] = {}
    for path in sorted(chosen):
        whole = next((folder for folder in folders_of(path) if folder not in folders_of_others), "")
        found[whole if inside[whole] > 1 else path] = None
    return tuple(found)


def folders_of(path: str) -> list[str]:
    """The folders that a path stands in, the outermost first."""
    return list(accumulate(path.split("/")[:-1], "{}/{}".format))
