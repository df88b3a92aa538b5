"""Names that hold what a request brought, in functions of other languages than Python: by the text of assignments and
of parameters. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from repopilot.review.rules.polyglot.call_rules import OUTSIDE

_CLEANED = (
    r"parseInt|Number\(|Atoi|ParseInt|ParseUint|ParseBool|parse[A-Z]\w*\(|basename|filepath\.Base|path\.Base|encodeURI|escape|"
    r"sanitize|valueOf\(|UUID|uuid|includes\(|\[\s*(req|r)\b|Integer\.|Long\.|getFileName|cleanPath|Boolean\(|"
    r"===|\? *['\"]"
)
_ASSIGNED = re.compile(
    rf"(?:\b(?:const|let|var|String)\s+)?(?:\{{\s*([\w,\s]+?)\s*\}}|\b(\w+))(?:\s*:\s*\w+)?\s*:?=\s*(?=[^=])([^;\n]*(?:{OUTSIDE})[^;\n]*)"
)
_ANNOTATED = re.compile(
    r"@(?:RequestParam|PathVariable|RequestHeader|CookieValue|QueryParam|PathParam)(?:\([^)]*\))?\s+(?:final\s+)?String\s+(\w+)"
)
_GUARDED = (
    r"(?i:allow\w*|valid\w*|safe\w*|permitted|trusted|known|whitelist\w*)[\w.]*\s*[(\[][^;\n]*\b{0}\b|\b{0}\.(startsWith|match|matches)\(|"
    r"\.(test|includes|contains|has|MatchString|Contains)\(\s*{0}\b|HasPrefix\(\s*{0}\b|\b{0}\b[^;\n]{{0,40}}\.\.|\[{0}\]|"
    r"IsLocal\(\s*{0}\b|!\w+\[{0}\]|switch\s*\(?\s*{0}\b"
)


@lru_cache(maxsize=64)
def from_request(function: str) -> frozenset[str]:
    """Names in the text of a function that come from a request and that nothing in it checks or converts."""
    names = set(_ANNOTATED.findall(function))
    for several, one, value in _ASSIGNED.findall(function):
        if not re.search(_CLEANED, value):
            names |= set(re.findall(r"\w+", several)) if several else {one}
    return frozenset(n for n in names if not re.search(_GUARDED.format(re.escape(n)), function))
