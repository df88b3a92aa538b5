"""Which files have to be linked again after some have changed. Pure.

A link is found by looking up facts, one after the other: what the file itself says and what its imports mean; the
definitions of a name, anywhere or in one file; what a file that is imported binds a name to, or imports with a star.
Where no fact that was looked up has changed, the link is the same. A name that is looked up stands in the file (as a
use, in its receiver, as a type in a signature), or an import on the way binds such a name to it. So a file is linked
again when

- its own content, or what its own imports or its package mean, has changed;
- it mentions a name whose definitions or bindings have changed somewhere, or another name for it;
- it leads, import by import, to a file whose star imports have changed.

What is linked again without need costs time only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from repopilot.code.graph.link_state import Linkage, Outline, Tie
from repopilot.code.graph.linker import DEPTH, SHARED_PACKAGE
from repopilot.code.split import FileAnalysis

_MOST = 0.3
_TYPE = re.compile(r"[A-Z]\w*")


def to_link(before: Linkage, after: Linkage, files: Sequence[FileAnalysis]) -> set[int] | None:
    """The numbers of the `files` that have to be linked again, None for all. `after` describes these files; only what
    comes of linking is not in it yet."""
    numbers = {path: number for number, path in enumerate(after.paths)}
    new = [numbers.get(path, -1) for path in before.paths]
    kept = [number for number in new if number >= 0]
    if kept != sorted(kept):
        return None  # among equals the first is taken
    old = {number: place for place, number in enumerate(new) if number >= 0}
    changed = {n for n, key in enumerate(after.keys) if n not in old or before.keys[old[n]] != key}
    if len(changed) > max(1, _MOST * len(after.paths)):
        return None
    ties = _renumbered(before.ties, new)
    rebound = {n for n, place in old.items() if ties[place] != after.ties[n]}
    names = _redefined(before, after, old, changed)
    for n in rebound:
        names |= _differing(_bound(ties[old[n]]), _bound(after.ties[n]))
    names = _with_aliases(names, after.ties)
    stars = {n for n in rebound if _stars(ties[old[n]]) != _stars(after.ties[n])}
    found = changed | rebound | _regrouped(before, after) | _leading_to(stars, after.ties)
    return found | _mentioning(names, files, found) if names else found


def _renumbered(ties: list[list[Tie]], new: Sequence[int]) -> list[list[Tie]]:
    """Ties with new numbers of files, -1 for those that are gone."""
    if list(new) == list(range(len(new))):
        return ties
    return [
        [
            [[new[f] for f in files], {k: [[new[f] for f in fs], name] for k, (fs, name) in bound.items()}, star]
            for files, bound, star in found
        ]
        for found in ties
    ]


def _redefined(before: Linkage, after: Linkage, old: dict[int, int], changed: Iterable[int]) -> set[str]:
    """Names whose definitions are others than before, in any file."""
    names: set[str] = set()
    for n in changed:
        mine = _definitions(after.outlines[n], after.languages[n])
        theirs = _definitions(before.outlines[old[n]], before.languages[old[n]]) if n in old else {}
        names |= _differing(mine, theirs)
    there = set(after.paths)
    for place, path in enumerate(before.paths):
        if path not in there:
            names |= _definitions(before.outlines[place], "").keys()
    return names


def _definitions(found: Outline, language: str) -> dict[str, list]:
    """Definitions by the names they are looked up with."""
    result: dict[str, list] = defaultdict(list)
    for name, qualified, kind in found:
        for key in {name, qualified.rpartition(".")[2]}:
            result[key].append((name, qualified, kind, language))
    return result


def _differing(one: dict, other: dict) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def _bound(ties: Sequence[Tie]) -> dict[str, list]:
    return {local: meant for _, bound, _ in ties for local, meant in bound.items()}


def _stars(ties: Sequence[Tie]) -> list[list[int]]:
    return [files for files, _, star in ties if star]


def _with_aliases(names: set[str], ties: Iterable[Sequence[Tie]]) -> set[str]:
    """The names, and those that imports give to what has such a name."""
    if not names:
        return names
    aliases: dict[str, set[str]] = defaultdict(set)
    for found in ties:
        for local, (_, name) in _bound(found).items():
            for part in name.split(".") if name and name != local else ():
                aliases[part].add(local)
    result, fresh = set(names), set(names)
    while fresh:
        fresh = {local for name in fresh for local in aliases.get(name, ())} - result
        result |= fresh
    return result


def _regrouped(before: Linkage, after: Linkage) -> set[int]:
    """The files of packages that have other members than before."""
    old, new = _groups(before), _groups(after)
    return {
        number
        for group, members in new.items()
        if [after.paths[n] for n in members] != [before.paths[n] for n in old.get(group, ())]
        for number in members
    }


def _groups(linkage: Linkage) -> dict[tuple[str, str], list[int]]:
    """The files that see each other's definitions without importing them."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    rows = zip(linkage.paths, linkage.languages, linkage.packages, strict=True)
    for number, (path, language, package) in enumerate(rows):
        if language == "go":
            groups["go", path.rpartition("/")[0]].append(number)
        if package:
            groups["", package].append(number)
    return {group: members for group, members in groups.items() if _shares(linkage, members)}


def _shares(linkage: Linkage, members: Iterable[int]) -> bool:
    return any(linkage.languages[n] in SHARED_PACKAGE for n in members)


def _leading_to(stars: set[int], ties: Sequence[Sequence[Tie]]) -> set[int]:
    """The files from which imports lead to one of `stars`, as far as names are followed."""
    if not stars:
        return set()
    importers: dict[int, set[int]] = defaultdict(set)
    for number, found in enumerate(ties):
        for files, bound, _ in found:
            for file in (*files, *(f for meant, _ in bound.values() for f in meant)):
                importers[file].add(number)
    result, fresh = set(stars), set(stars)
    for _ in range(DEPTH + 1):
        fresh = {n for file in fresh for n in importers.get(file, ())} - result
        result |= fresh
    return result


def _mentioning(names: set[str], files: Sequence[FileAnalysis], known: set[int]) -> set[int]:
    """Of the files that aren't known already, those that mention one of the names."""
    memory: dict[str, bool] = {}

    def among(text: str) -> bool:
        found = memory.get(text)
        if found is None:
            found = memory[text] = text in names or ("." in text and not names.isdisjoint(text.split(".")))
        return found

    def mentions(file: FileAnalysis) -> bool:
        if any(among(use.name) or (use.receiver and among(use.receiver)) for use in file.uses):
            return True
        return any(_has_type(symbol.signature, names) for symbol in file.symbols)

    return {n for n, file in enumerate(files) if n not in known and mentions(file)}


def _has_type(signature: str, names: set[str]) -> bool:
    """May the signature hold one of the names as a type? A type may begin in the middle of a word."""
    return any(word[at:] in names for word in _TYPE.findall(signature) for at, c in enumerate(word) if "A" <= c <= "Z")
