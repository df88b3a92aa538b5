"""Patterns for paths, as the tools, the filters of a query and the code panel take them."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

WILDCARD = re.compile(r"[*?\[{]")
MOST = 1000
"""Once a pattern with braces is expanded to this many, its other braces are taken literally."""
_EITHER = re.compile(r"\{([^{}]*,[^{}]*)\}")


def matches(path: str, glob: str) -> bool:
    """Whether a path fits a pattern.

    Args:
        path: of a file.
        glob: `*` matches slashes, too; `**/` any number of folders or none; `{a,b}` either. A pattern without a folder
            fits in any folder; a folder's pattern fits all that is in it; a path fits itself, whatever is in it.
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
