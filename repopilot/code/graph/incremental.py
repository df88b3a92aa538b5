"""Decides which files have to be relinked after some have changed. Pure.

A use is linked by looking up facts one after the other: what the file itself defines and what its imports refer to; the
definitions of a name, anywhere or in one file, with their signatures; what an imported file binds a name to, or imports
with a star; the bases of a class. Where none of these facts has changed, the link is the same. A name that is looked up
occurs in the file (as a use, in its receiver, as a type in a signature), or one of the imports that are followed binds
such a name to it, or a class of such a name inherits. So a file is relinked when

- its own content, or what its imports or its package refer to, has changed;
- it mentions a name whose definitions or bindings have changed anywhere, or an alias of such a name;
- it leads, import by import, to a file whose star imports have changed.

Relinking a file needlessly costs time and nothing else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from repopilot.code.graph.link_state import ImportRecord, Linkage, Outline
from repopilot.code.graph.linker import DEPTH, SHARED_PACKAGE
from repopilot.code.split import FileAnalysis

_MOST_CHANGED = 0.3  # when more of the files have changed, all are relinked
_TYPE = re.compile(r"[A-Z]\w*")


def files_to_relink(before: Linkage, after: Linkage, files: Sequence[FileAnalysis]) -> set[int] | None:
    """Find the files that have to be relinked.

    Args:
        before: what the earlier graph was linked from.
        after: the same of the new one, without the results of linking.
        files: the analyses of the new files.

    Returns:
        The numbers of files, or None for all of them.
    """
    numbers = {path: number for number, path in enumerate(after.paths)}
    new = [numbers.get(path, -1) for path in before.paths]
    remaining = [number for number in new if number >= 0]
    if remaining != sorted(remaining):
        return None  # of equal candidates the first is taken, so the order matters
    old = {number: place for place, number in enumerate(new) if number >= 0}
    changed = {n for n, key in enumerate(after.keys) if n not in old or before.keys[old[n]] != key}
    if len(changed) > max(1, _MOST_CHANGED * len(after.paths)):
        return None
    imports = _renumbered(before.imports, new)
    rebound = {n for n, place in old.items() if imports[place] != after.imports[n]}
    names = _redefined(before, after, old, changed)
    for n in rebound:
        names |= _differing(_bound(imports[old[n]]), _bound(after.imports[n]))
        # A method belongs to a class of another file by what its own file imports.
        names |= {name for name, qualified, *_ in after.outlines[n] if "." in qualified}
    names = _with_aliases(_with_subclasses(names, files), after.imports)
    stars = {n for n in rebound if _stars(imports[old[n]]) != _stars(after.imports[n])}
    found = changed | rebound | _regrouped(before, after) | _leading_to(stars, after.imports)
    return found | _mentioning(names, files, found) if names else found


def _renumbered(imports: list[list[ImportRecord]], new: Sequence[int]) -> list[list[ImportRecord]]:
    """Import records with the new numbers of files, -1 for files that no longer exist."""
    if list(new) == list(range(len(new))):
        return imports
    return [
        [
            [[new[f] for f in files], {k: [[new[f] for f in fs], name] for k, (fs, name) in bound.items()}, star]
            for files, bound, star in found
        ]
        for found in imports
    ]


def _redefined(before: Linkage, after: Linkage, old: dict[int, int], changed: Iterable[int]) -> set[str]:
    """Names whose definitions have changed in any file."""
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
    for name, qualified, kind, signature in found:
        for key in {name, qualified.rpartition(".")[2]}:
            result[key].append((name, qualified, kind, signature, language))
    return result


def _differing(one: dict, other: dict) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def _bound(imports: Sequence[ImportRecord]) -> dict[str, list]:
    return {local: meant for _, bound, _ in imports for local, meant in bound.items()}


def _stars(imports: Sequence[ImportRecord]) -> list[list[int]]:
    return [files for files, _, star in imports if star]


def _with_aliases(names: set[str], imports: Iterable[Sequence[ImportRecord]]) -> set[str]:
    """The names, and the aliases that imports give to them."""
    if not names:
        return names
    aliases: dict[str, set[str]] = defaultdict(set)
    for found in imports:
        for local, (_, name) in _bound(found).items():
            for part in name.split(".") if name and name != local else ():
                aliases[part].add(local)
    result, fresh = set(names), set(names)
    while fresh:
        fresh = {local for name in fresh for local in aliases.get(name, ())} - result
        result |= fresh
    return result


def _with_subclasses(names: set[str], files: Sequence[FileAnalysis]) -> set[str]:
    """The names, and the classes that inherit from classes of such a name: they have other members now."""
    if not names:
        return names
    below: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for use in file.uses:
            if use.kind == "inherit":
                below[use.name].add(use.scope.rpartition(".")[2])
    result, fresh = set(names), set(names)
    while fresh:
        fresh = {name for base in fresh for name in below.get(base, ())} - result
        result |= fresh
    return result


def _regrouped(before: Linkage, after: Linkage) -> set[int]:
    """The files of packages whose members have changed."""
    old, new = _groups(before), _groups(after)
    return {
        number
        for group, members in new.items()
        if [after.paths[n] for n in members] != [before.paths[n] for n in old.get(group, ())]
        for number in members
    }


def _groups(linkage: Linkage) -> dict[tuple[str, str], list[int]]:
    """Files that see each other's definitions without importing them, by package."""
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


def _leading_to(stars: set[int], imports: Sequence[Sequence[ImportRecord]]) -> set[int]:
    """The files from which imports lead to one of `stars`, as deep as names are followed."""
    if not stars:
        return set()
    importers: dict[int, set[int]] = defaultdict(set)
    for number, found in enumerate(imports):
        for files, bound, _ in found:
            for file in (*files, *(f for meant, _ in bound.values() for f in meant)):
                importers[file].add(number)
    result, fresh = set(stars), set(stars)
    for _ in range(DEPTH + 1):
        fresh = {n for file in fresh for n in importers.get(file, ())} - result
        result |= fresh
    return result


def _mentioning(names: set[str], files: Sequence[FileAnalysis], known: set[int]) -> set[int]:
    """The files that mention one of the names; those in `known` are left out."""
    cache: dict[str, bool] = {}

    def is_among(text: str) -> bool:
        found = cache.get(text)
        if found is None:
            found = cache[text] = text in names or not names.isdisjoint(re.split(r"[.()]+", text))
        return found

    def mentions(file: FileAnalysis) -> bool:
        if any(is_among(use.name) or (use.receiver and is_among(use.receiver)) for use in file.uses):
            return True
        return any(_has_type(symbol.signature, names) for symbol in file.symbols)

    return {n for n, file in enumerate(files) if n not in known and mentions(file)}


def _has_type(signature: str, names: set[str]) -> bool:
    """Whether a signature may contain one of the names as a type, which may begin in the middle of a word."""
    return any(word[at:] in names for word in _TYPE.findall(signature) for at, c in enumerate(word) if "A" <= c <= "Z")
