"""Versions as requirements write them: what a new one becomes in place of an old one. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_CLAUSE = re.compile(r"\s*(?P<operator>===|==|>=|<=|~=|!=|\^|~>|~|>|<|=|)(?P<gap>\s*)(?P<version>[vV]?[\w.*+!-]+)\s*")
_BARE = re.compile(r"[vV]?\d+(?:\.\d+)*(?:[-.+]?\w[\w.+-]*)?")
_LOWER = (">=", ">", "~=", "==", "===", "^", "~", "~>", "=", "")


def is_bare(version: str) -> bool:
    """Whether a version is said without an operator."""
    return _BARE.fullmatch(version.strip()) is not None and "*" not in version


def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparison; without zeros at the end."""
    numbers = [int(n) for n in re.findall(r"\d{1,18}", version.split("-")[0].split("+")[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def lowest_version(spec: str) -> str:
    """The lowest version that a requirement allows; '' where it says none."""
    for clause in spec.strip("()").split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is not None and match["operator"] in _LOWER:
            return match["version"]
    return ""


def following(new: str, old: str, default: str) -> str | None:
    """A version in place of an old requirement.

    Args:
        new: a version, which follows the operator that stands there, or a whole requirement, which is written with
            its spaces.
        old: the requirement that stands there, '' for none.
        default: the operator where none stands there.

    Returns:
        The requirement; None where another part of the old one excludes the version, or its form isn't known.
    """
    new = new.strip()
    clauses = [_CLAUSE.fullmatch(c) for c in old.strip().split(",")] if old.strip() else []
    known = [c for c in clauses if c is not None]
    gap = known[0]["gap"] if known else ""
    if not is_bare(new):
        return re.sub(r"(===|==|>=|<=|~=|!=|\^|~>|~|>|<|=)\s*(?=[\w*])", rf"\1{gap}", new) if gap else new
    if not old.strip() or old.strip() in ("*", "latest"):
        return f"{default}{new}"
    if len(known) != len(clauses):
        return _in_place_of_alternatives(new, old)
    return _with_lower_bound(new, old, known)


def _in_place_of_alternatives(new: str, old: str) -> str | None:
    """A lower bound in place of `^12.17 || ^14.13 || >=16`, which has no end; None for alternatives that all end."""
    last = _CLAUSE.fullmatch(old.rpartition("||")[2])
    open_ended = last is not None and last["operator"] == ">="
    return f">={last['gap']}{new}" if last and open_ended and version_key(new) >= version_key(last["version"]) else None


def _with_lower_bound(new: str, old: str, clauses: list[re.Match[str]]) -> str | None:
    lower = [c for c in clauses if c["operator"] in _LOWER]
    if len(lower) != 1:
        only = clauses[0] if len(clauses) == 1 and clauses[0]["operator"] == "<=" else None
        return f"<={only['gap']}{new}" if only is not None else None
    for clause in clauses:
        upper = version_key(clause["version"])
        reached = version_key(new) >= upper if clause["operator"] == "<" else version_key(new) > upper
        if clause["operator"] in ("<", "<=") and reached:
            return None
    bound = lower[0]["version"]
    written = f"{new}.*" if bound.endswith(".*") else f"v{new}" if bound[:1] == "v" and new[:1] != "v" else new
    at = old.index(lower[0][0].strip()) + len(lower[0]["operator"] + lower[0]["gap"])
    return old[:at] + written + old[at + len(bound) :]


def common_operator(specs: Iterable[str], default: str) -> str:
    """The operator, with the space behind it, that most requirements of a list begin with.

    Args:
        specs: the requirements, without those that say no version.
        default: for a list without any.
    """
    found = Counter(m["operator"] + m["gap"] for s in specs if (m := _CLAUSE.match(s)) is not None and s.strip())
    return found.most_common(1)[0][0] if found else default
