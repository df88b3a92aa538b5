"""Patterns for paths, as the tools, the filters of a query and the code panel take them."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

WILDCARD = re.compile(r"[*?\[{]")
MOST = 1000
"""Patterns without braces that one with braces may stand for; the braces beyond stand for themselves."""
_EITHER = re.compile(r"\{([^{}]*,[^{}]*)\}")


def matches(path: str, glob: str) -> bool:
    """Whether a path fits a pattern.

    Args:
        path: of a file.
        glob: `*` matches folders, too, `**/` any number of them or none, `{a,b}` either. One without a folder fits
            in any folder; that of a folder fits all that is in it; a path fits itself, whatever signs it holds.
    """
    return bool(_compiled(glob).match(path))


@lru_cache
def _compiled(glob: str) -> re.Pattern[str]:
    plain = glob.removeprefix("./").strip("/")
    anywhere = plain if "/" in plain else f"**/{plain}"
    found = [anywhere.replace("**/", "{,*/}") + "{,/*}"]
    while len(found) < MOST and _EITHER.search(found[0]):
        found = [
            each[: either.start()] + part + each[either.end() :]
            for each in found
            if (either := _EITHER.search(each))
            for part in either[1].split(",")
        ]
    return re.compile("|".join([rf"{re.escape(plain)}(?:/.*)?\Z", *map(translate, found)]))
