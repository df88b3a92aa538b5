"""Routes that code serves, in the ways of common web frameworks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.code.declared.declaration import Declaration, LineNumbers, without_comments

WORDS = (
    "rout",
    "router",
    "mapping",
    "handlefunc",
    "sinatra",
    "flask",
    "fastapi",
    "express",
    "gin",
    "mux",
    "path",
    "app",
    "echo",
)
"""Index tokens one of which stands in every text that declares a route."""

_VERBS = r"get|post|put|delete|patch|head|options|all|any"
_URL = r"[\"'`](?P<url>[^\"'`\n]*)[\"'`]"
_ON_OBJECT = re.compile(
    rf"(?P<mark>@?)\b(?P<object>\w*(?:app|router|api|server|blueprint|bp|routes?|group|fastify|mux|engine|web|"
    rf"srv|r|e|g))\."
    rf"(?P<verb>{_VERBS}|route|api_route|websocket|GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|Any|Get|Post|Put|"
    rf"Delete|Patch|"
    rf"HandleFunc|Handle|Map(?:Get|Post|Put|Delete|Patch))\s*\(\s*{_URL}(?P<rest>[^\n]*)"
)
_IN_TABLE = re.compile(rf"\b(?P<verb>Route|WebSocketRoute|Mount|path|re_path)\(\s*r?{_URL}\s*,(?P<rest>[^\n]*)")
_ATTRIBUTE = re.compile(
    rf"(?:@|#\[|\[)(?P<verb>(?:Get|Post|Put|Delete|Patch|Request)Mapping|Path|{_VERBS}|route|Http(?:Get|Post|"
    rf"Put|Delete|Patch))"
    rf"\s*\(\s*(?:value\s*=\s*|path\s*=\s*)?\{{?\s*{_URL}(?P<rest>[^\n]*)"
)
_SINATRA = re.compile(rf"^[^\S\n]*(?P<verb>get|post|put|delete|patch)\s+{_URL}(?P<rest>.*\bdo\b[^\n]*)", re.M)
_RAILS = re.compile(rf"^[^\S\n]*(?P<verb>get|post|put|delete|patch|match|root)\s+{_URL}(?P<rest>[^\n]*)", re.M)
_RESOURCES = re.compile(r"^[^\S\n]*(?P<verb>resources?)\s+:(?P<url>\w+)(?P<rest>[^\n]*)", re.M)
_AXUM = re.compile(rf"\.route\(\s*{_URL}\s*,(?P<rest>[^\n]*)")
_METHODS = re.compile(r"methods\s*=\s*[\[({]([^\])}]*)|\.Methods\(([^)]*)\)|method\s*=\s*RequestMethod\.(\w+)")


def routes(path: str, text: str, language: str) -> Iterator[Declaration]:
    """The routes that a text declares.

    Args:
        path: the file.
        text: its text.
        language: its language.

    Yields:
        Each route by its URL; `form` is its method in upper case, '' where none is named.
    """
    lines = LineNumbers(text)
    text = without_comments(text, language)
    found: dict[int, Declaration] = {}
    for pattern in _patterns(path, language):
        for match in pattern.finditer(text):
            if _is_route(match, pattern, text):
                line = lines.at(match.start("url"))
                found.setdefault(line, Declaration(match["url"], path, line, form=_method(match)))
    yield from (found[line] for line in sorted(found))


def _patterns(path: str, language: str) -> tuple[re.Pattern[str], ...]:
    if language == "ruby":
        return (_RAILS, _RESOURCES) if re.search(r"(^|/)routes(/|\.rb$)", path) else (_SINATRA,)
    if language == "rust":
        return (_AXUM, _ATTRIBUTE)
    if language in ("java", "kotlin", "csharp"):
        return (_ATTRIBUTE, _ON_OBJECT)
    return (_ON_OBJECT, _IN_TABLE) if language == "python" else (_ON_OBJECT,)


def _is_route(match: re.Match[str], pattern: re.Pattern[str], text: str) -> bool:
    url = match["url"]
    if pattern is _IN_TABLE:
        return "urlpatterns" in text if match["verb"] in ("path", "re_path") else url.startswith("/")
    if pattern is _ON_OBJECT and not match["mark"]:
        # `cache.get("key")` is no route: a URL begins with a slash, and something handles it.
        return url.startswith("/") and match["rest"].lstrip().startswith(",")
    return pattern is not _ATTRIBUTE or url.startswith("/") or match["verb"][0].isupper()


def _method(match: re.Match[str]) -> str:
    named = _METHODS.search(match["rest"])
    if named:
        return ", ".join(re.findall(r"\w+", next(filter(None, named.groups())))).upper()
    groups = match.groupdict()
    verb = re.sub(r"Mapping$|^Map|^Http", "", groups.get("verb") or "").lower()
    if not groups.get("verb"):
        return ", ".join(re.findall(r"\b(get|post|put|delete|patch|head|options|any)\(", match["rest"])).upper()
    return verb.upper() if re.fullmatch(rf"{_VERBS}|websocket", verb) else ""
