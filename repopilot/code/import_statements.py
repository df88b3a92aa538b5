"""Reads import statements, as the queries in `tags/` find them, into modules and the names they bind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from repopilot.code.brackets import split_outside
from repopilot.code.file_analysis import Import, Names
from repopilot.code.syntax import text_of


def read_imports(node: Node, data: bytes, language: str) -> Iterator[Import]:
    """The imports of one statement; none where it can't be read.

    Args:
        node: the node that the query `imports` captured.
        data: the file's text as UTF-8.
        language: the language it was parsed as.
    """
    reader = _READERS.get(language)
    if reader is None:
        return
    line = node.start_point[0] + 1
    for module, names, alias in reader(text_of(_statement(node), data)):
        seen = _from_the_file(module, node) if language == "rust" else module
        if seen:
            yield Import(seen, names, line, alias)


def _from_the_file(module: str, node: Node) -> str:
    """A Rust path relative to the file's own module; '' for something that the file itself defines.

    Each inner module around the statement, such as the one for tests, is one `super` away from the file.
    """
    parts = module.split("::")
    above = node.parent
    while above is not None and parts[:1] == ["super"]:
        if above.type == "mod_item":
            parts = parts[1:] if parts[1:2] in ([], ["super"]) else ["self", *parts[1:]]
        above = above.parent
    return "::".join(parts)


def read_export(node: Node, data: bytes) -> Import | None:
    """A JavaScript export under another name, as an import of the module from itself; None if nothing is renamed."""
    text = data[node.start_byte : min(node.end_byte, node.start_byte + 2000)].decode("utf-8", "replace")
    default = _DEFAULT.match(text)
    braces = re.match(r"export\s*\{(.*?)\}", text, re.S)
    pairs = ((default[1], "default"),) if default else _pairs(braces[1]) if braces else ()
    renamed = tuple((name, local) for name, local in pairs if name != local)
    return Import("", renamed, node.start_point[0] + 1) if renamed else None


_DEFAULT = re.compile(
    r"export\s+default\s+(?:(?:async\s+)?function\s*\*?\s*|(?:abstract\s+)?class\s+)?(?!function|class|async\b|new\b)"
    r"([A-Za-z_$][\w$]*)(?=\s*(?:;|\n|$|\(|\{|<|extends\b))"
)
_Found = Iterator[tuple[str, Names, str]]


def _pairs(text: str, as_: str = r"\s+as\s+") -> Names:
    """`a, b as c` as pairs of name and local name; `as_` is the pattern between the two."""
    result = []
    for part in text.split(","):
        words = [w for w in re.split(as_, part.strip()) if w]
        if words:
            result.append((words[0].strip(), words[-1].strip()))
    return tuple(result)


def _python(text: str) -> _Found:
    text = re.sub(r"#[^\n]*|\\\n", " ", text)
    match = re.match(r"from\s+([.\w\s]+?)\s+import\s+(.*)", text, re.S)
    if match:
        yield re.sub(r"\s", "", match[1]), _pairs(match[2].strip().strip("()")), ""
        return
    for name, local in _pairs(text.removeprefix("import")):
        # `import a.b` binds `a`; `import a.b as c` binds the module itself.
        yield name, (), local if local != name else name.split(".")[0]


def _statement(node: Node) -> Node:
    """The assignment whose value is a `require(…)` call, for the names it binds; else the node itself."""
    current = node
    while current.type in _AROUND_REQUIRE and current.parent is not None:
        current = current.parent
    return current if current.type in ("variable_declarator", "assignment_expression") else node


_AROUND_REQUIRE = frozenset(
    ("call_expression", "member_expression", "await_expression", "parenthesized_expression", "arguments")
)
_REQUIRE = re.compile(
    r"""(?:(?P<target>\{[^}]*\}|[\w$]+)\s*=(?!=).*?)?\b(?:require|import)\s*\(\s*(['"`])(?P<module>[^'"`\n]*)\2\s*\)"""
    r"""(?:\s*\))?(?:\.(?P<member>[\w$]+)\s*$)?""",
    re.S,
)


def _javascript(text: str) -> _Found:
    if re.match(r"\s*(import|export)\b(?!\s*\()", text):
        yield from _es_module(text)
        return
    match = _REQUIRE.search(text[:2000])
    if match:
        target = match["target"] or ""
        member = match["member"]
        names = (
            _pairs(target.strip("{}"), r"\s*:\s*")
            if target.startswith("{")
            else ((member, target),)
            if member and target
            else ()
        )
        yield match["module"], names, "" if names else target


def _es_module(text: str) -> _Found:
    source = re.search(r"""(['"`])([^'"`\n]*)\1\s*(?:;|$|with\b|assert\b)""", text)
    if source is None:
        return
    head = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text[: source.start()], flags=re.S)
    head = re.sub(r"^\s*(import|export)\b\s*(type\b(?!\s*from))?|\bfrom\s*$", "", head.strip()).strip()
    braces = re.search(r"\{(.*?)\}", head, re.S)
    names = _pairs(re.sub(r"\btype\s+", "", braces[1])) if braces else ()
    alias = ""
    for part in (p.strip() for p in re.sub(r"\{.*?\}", "", head, flags=re.S).split(",")):
        star = re.match(r"\*\s*(?:as\s+([\w$]+))?", part)
        if star:
            names = names if star[1] else (*names, ("*", "*"))
            alias = star[1] or alias
        elif re.fullmatch(r"[\w$]+", part):
            names = (*names, ("default", part))
    yield source[2], names, alias


def _dotted(text: str) -> _Found:
    """Java, Kotlin: `import [static] a.b.C [as D];`"""
    body = re.sub(r"^import\s+(static\s+)?", "", text.strip()).rstrip("; \n")
    name, _, local = (part.strip() for part in body.partition(" as "))
    module, _, last = name.rpartition(".")
    if module:
        yield module, ((last, local or last),), ""


def _scala(text: str) -> _Found:
    for part in re.split(r",(?![^{]*\})", re.sub(r"^import\s+", "", text.strip())):
        braces = re.match(r"\s*([\w.]+)\.\{(.*)\}", part, re.S)
        if braces:
            yield braces[1], _pairs(braces[2].replace("_", "*"), r"\s*(?:=>|\bas\b)\s*"), ""
        elif "." in part:
            module, _, last = part.strip().rpartition(".")
            yield module, ((last.replace("_", "*"),) * 2,), ""


def _go(text: str) -> _Found:
    match = re.match(r'\s*([\w.]+)?\s*["`]([^"`]+)["`]', text)
    if match:
        module = match[2]
        # A package is usually named after the last part of its path, without a version.
        last = re.sub(r"\.v\d+$", "", re.sub(r"/v\d+$", "", module).rsplit("/", 1)[-1])
        yield module, ((("*", "*"),) if match[1] == "." else ()), match[1] if match[1] not in (None, ".", "_") else last


def _rust(text: str) -> _Found:
    file = re.match(r"(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", text)
    if file:
        yield f"self::{file[1]}", (), file[1]
        return
    body = re.sub(r"^\s*(pub(\([^)]*\))?\s+)?use\s+", "", text).rstrip("; \n")
    for path, local in _rust_paths(re.sub(r"\s+", " ", body), 0):
        module, _, last = path.rpartition("::")
        if last == "self":
            module, _, last = module.rpartition("::")
            local = last if local == "self" else local
        yield module or last, ((last, local),) if module else (), "" if module else local


def _rust_paths(text: str, depth: int) -> Iterator[tuple[str, str]]:
    """The paths of `a::{b, c as d}`, here `a::b` and `a::c`, with their local names."""
    opening = text.find("{")
    if opening < 0 or depth > 20:
        name, _, local = text.partition(" as ")
        if name.strip():
            yield name.strip(), (local or name.rsplit("::", 1)[-1]).strip()
        return
    prefix = text[:opening].strip()
    inner = text[opening + 1 : text.rfind("}")]
    for part in split_outside(inner, ",", "{", "}"):
        for path, local in _rust_paths(part.strip(), depth + 1):
            yield prefix + path, local


def _include(text: str) -> _Found:
    match = re.search(r'[<"]([^>"\n]+)[>"]', text)
    if match:
        yield match[1], (("*", "*"),), ""


def _csharp(text: str) -> _Found:
    body = re.sub(r"^\s*(global\s+)?using\s+(static\s+)?", "", text).rstrip("; \n")
    alias, equals, name = (part.strip() for part in body.partition("="))
    yield (name, (), alias) if equals else (alias, (("*", "*"),), "")


def _quoted(text: str) -> _Found:
    """Ruby's require and PHP's include: the last string literal of the statement."""
    found = re.findall(r"""['"]([^'"\n]+)['"]""", text)
    if found:
        yield ("./" + found[-1] if text.startswith("require_relative") else found[-1]), (("*", "*"),), ""


def _php(text: str) -> _Found:
    if not re.match(r"use\b", text):
        yield from _quoted(text)
        return
    body = re.sub(r"^use\s+((function|const)\s+)?", "", text.strip()).rstrip("; \n")
    group = re.match(r"(.*?)\\?\{(.*)\}", body, re.S)
    prefix, items = (group[1].strip() + "\\", group[2]) if group else ("", body)
    for name, local in _pairs(items):
        module, _, last = (prefix + name).rpartition("\\")
        yield module or last, ((last, last if local == name else local),), ""


def _files(text: str) -> _Found:
    """Files that a script or a makefile includes, whatever expression names the folder: `source "$HERE/lib.sh"`."""
    for name in re.findall(r"[\w./-]*\w\.\w+", text):
        yield name.lstrip("/"), (("*", "*"),), ""


def _swift(text: str) -> _Found:
    yield text.split()[-1].split(".")[0], (("*", "*"),), ""


_READERS: dict[str, Callable[[str], _Found]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "java": _dotted,
    "kotlin": _dotted,
    "scala": _scala,
    "go": _go,
    "rust": _rust,
    "c": _include,
    "cpp": _include,
    "csharp": _csharp,
    "ruby": _quoted,
    "php": _php,
    "swift": _swift,
    "bash": _files,
    "make": _files,
    "protobuf": _quoted,
}
