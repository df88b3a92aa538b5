"""Forms of deletions and moves. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, noun_phrase

_UNUSED = frozenset("unused dead obsolete unneeded stale redundant superfluous useless unnecessary".split())


def deletion_of(frame: EditFrame) -> Iterator[ExactTask]:
    target = frame.target
    what = target.what
    unused = bool(_UNUSED & set(target.fillers)) or any(f.startswith(("inutil", "mort")) for f in target.fillers)
    names = [*target.names] or list(target.words)
    if (
        not names
        or (target.names and target.words)
        or set(target.whats) & {"import", "dependency", "decorator", "base", "text", "line", "comment"}
    ):
        return
    sure = what or unused or all(t.kind != "word" for t in names)
    places = frame.place_parts()
    if not sure or what in ("parameter",) or len(names) > 6:
        return
    names = [n for n in names if not re.fullmatch(r"__\w+__", n.inner)]  # `__all__` is no definition
    for name in names:
        if frame.clause.verb in ("rm", "bin"):
            yield ExactTask("delete_file", bare_name(name), what, "", "", places)
        if name.is_path and _PART_OF_A_FILE.search(frame.clause.text):
            continue
        if name.is_path or what in ("file", "module"):
            yield ExactTask("delete_file", bare_name(name), what, "", "", places)
        else:
            yield ExactTask("delete", bare_name(name), what, "", "", places, extra={"unused": "yes"} if unused else {})


_PART_OF_A_FILE = re.compile(
    r"\b(?:drop|remove|delete|rid of|kill|supprime[rz]?|retire[rz]?|enl[èe]ve[rz]?)\s+"
    r"(?:that|this|its|cet(?:te)?|ce)\s+(?!file|module|script|fichier)\w",
    re.I,
)
"""`a.py still imports socket. Drop that import`: the file isn't meant."""


def move_of(frame: EditFrame) -> Iterator[ExactTask]:
    to = frame.take("to", "in", "à", "complement")
    if to is None:
        return
    goal = noun_phrase(to.tokens).only_name
    names = [t for t in frame.target.names if not t.is_path] or list(frame.target.words)
    paths = [t for t in frame.target.names if t.is_path]
    if goal is None or (frame.target.names and frame.target.words):
        return
    places = (*(NamedPlace(bare_name(p), "file") for p in paths if names), *frame.place_parts())
    new = bare_name(goal)
    if paths and not names and len(paths) == 1:
        if "module" in noun_phrase(to.tokens).whats:  # into a package: a folder
            if "." in new:
                return
            new = f"{new.rstrip('/')}/{posixpath.basename(bare_name(paths[0]))}"
        yield ExactTask("rename_file", bare_name(paths[0]), "file", new, "", places)
    elif names:
        fresh = any(t.low in ("new", "nouveau", "nouvelle", "separate", "own") for t in to.tokens)
        moved = ", ".join(bare_name(n) for n in names)
        yield ExactTask("move", moved, frame.target.what, new, "", places, extra={"create": "yes"} if fresh else {})
