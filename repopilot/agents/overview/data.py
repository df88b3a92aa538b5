"""The data of a repository: its tables and schemas, its settings, what its code reads of the environment, and the
routes and commands that it registers with a framework. Sync.

Only names are read, never values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import get_args

import numpy as np

from repopilot.agents.overview.overview_values import DataKind, DataPlace, RegisteredKind
from repopilot.agents.overview.repository_parts import subclasses
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.nodes import TABLE
from repopilot.code.languages import file_kind, is_product_path
from repopilot.code.syntax import parse
from repopilot.index.store import Index

PARSE_S = 2.0
_READERS = (
    *("environ", "getenv", "Getenv", "LookupEnv", "env", "ENV", "_ENV", "GetEnvironmentVariable"),
    *("qgetenv", "qEnvironmentVariable", "systemEnvironment"),
)
"""Code that reads the environment contains one of these names, in every language that we read."""
_READ = re.compile(
    rb"(?<![\w$.])(?:(?:os\.)?environ(?:\.get)?|(?:os\.|std::|System\.)?getenv|os\.(?:Getenv|LookupEnv)"
    rb"|qgetenv|qEnvironmentVariable|systemEnvironment\(\)\.value"
    rb"|(?:std::)?env::var(?:_os)?|(?:option_)?env!|process\.env|import\.meta\.env|Deno\.env\.get|ENV(?:\.fetch)?"
    rb"|\$_ENV|(?:System\.)?Environment\.GetEnvironmentVariable)"
    rb"(?:\s*[(\[]\s*[\"']([A-Za-z_]\w*)[\"']|(?<=\.env)\.([A-Z_][A-Z0-9_]*)\b)(?!\s*\]?\s*=[^=])"
    rb"|(?<=[ `])env(?:config)?:\"([A-Za-z_]\w*)(?P<tag>[\",])"
    rb"|\.env\(\s*\"([A-Z_][A-Z0-9_]*)\"\s*\)|\benv(?:var)?\s*=\s*\"([A-Z_][A-Z0-9_]*)\"\s*[),\]]"
)
"""Calls that read the environment, and options of a command line that are read from it (clap, click, tags of Go)."""
_OF_OS = re.compile(rb"^from os import .*\benviron\b", re.M)
_FILE = re.compile(rb"[\"'](?:\./|/(?=[\w.-]+[\"']))?(/?(?:[\w.-]++/){0,6}+\.?[\w-]++(?:\.[\w-]++)++)[\"']")
"""A path in quotes whose last part has a suffix."""
_CONFIGURES = re.compile(r"(?:(?:config|settings)\.jsonc?|\.(?:toml|ya?ml|ini|cfg|conf|properties|env))\Z")
"""The end of a configuration file's name. JSON is a format of data as well, so a name has to say that it configures."""
_SETTINGS_BASE = "BaseSettings"
_FORMS: tuple[tuple[RegisteredKind, str, re.Pattern[bytes]], ...] = (
    (
        "route",
        "route get post put delete patch websocket api_route",
        re.compile(
            rb"(?:@[\w.]+\.|#\[)(get|post|put|delete|patch|head|options|route|websocket|api_route)"
            rb"\(\s*[rf]?[\"'](/[^\"'\n]*|)[\"']"
        ),
    ),
    (
        "route",
        "express Router fastify koa Hono gin Engine RouterGroup echo Echo chi mux Mux HandleFunc axum WebApplication",
        re.compile(
            rb"[\w\])]\s*\.(?:Map)?(get|post|put|delete|patch|head|options|all|any|route|Handle|HandleFunc)"
            rb"\(\s*[\"'`]((?:[A-Z]+ )?/[^\"'`\n]*|\*|)[\"'`]\s*,",
            re.I,
        ),
    ),
    (
        "route",
        "GetMapping PostMapping PutMapping DeleteMapping PatchMapping HttpGet HttpPost HttpPut HttpDelete HttpPatch"
        " Get Post Put Delete Patch",
        re.compile(
            rb"(?:@|\[Http)(Get|Post|Put|Delete|Patch)(?:Mapping)?\b"
            rb"(?:\(\s*(?:(?:value|path)\s*=\s*)?\{?\s*[\"']([^\"'\n]*)[\"'])?"
        ),
    ),
    (
        "route",
        "path re_path url",
        re.compile(rb"\b()(?:(?:re_)?path|url)\(\s*r?[\"']([^\"'\n]*)[\"']\s*,(?!\s*include)"),
    ),
    (
        "route",
        "Rails Sinatra",
        re.compile(
            rb"^[ \t]*(?:(get|post|put|patch|delete|match)[ (]+[\"']([^\"'\n]+)[\"']|(resources?)[ (]+:(\w+))", re.M
        ),
    ),
    ("subcommand", "add_parser", re.compile(rb"\.add_parser\(\s*[\"']([\w-]+)[\"']")),
    (
        "subcommand",
        "command group",
        re.compile(
            rb"(?:@[\w.]+\.(?:command|group)\b|\.command(?=\(\s*[:\"'`]))(?:\(\s*(?:name\s*=\s*)?[:\"'`]{1,2}([\w:-]+))?"
        ),
    ),
    ("subcommand", "cobra Command", re.compile(rb"\bcobra\.Command\{(?:[^{}]|\{[^{}]*\})*?\bUse:\s*[\"`]([\w-]+)")),
    (
        "subcommand",
        "Arg subcommand with_name",
        re.compile(rb"\b(?:SubCommand::with_name|Command::new)\(\s*\"([\w-]+)\""),
    ),
    ("subcommand", "Thor", re.compile(rb"^[ \t]*desc[ (]+[\"']([\w-]+)", re.M)),
)
"""How frameworks register routes and commands: the kind, the names of which code that does so has one, and the text of
a registration with the method and the path of a route, or the name of a command."""


def data_of(index: Index, graph: Graph, lines: Mapping[str, int]) -> tuple[DataPlace, ...]:
    """Find the data that the repository stores, and what configures it.

    Args:
        index: the repository.
        graph: its code graph.
        lines: lines of its own code by path.

    Returns:
        Each thing once, with the first place where it is declared or read, and how often it is; the most frequent
        first. Then each route and command that is registered. One without a name gets that of its definition; a single
        command is the program itself, and is left out.
    """
    of_code = list(_in_code(index, lines))
    found = [
        *_tables(graph),
        *(DataPlace("schema", path, path, 1) for path in sorted(index.files) if file_kind(path) == "schema"),
        *(place for place in _settings(index) if place.path in lines),
        *(place for place in of_code if place.kind not in get_args(RegisteredKind)),
    ]
    own = [place for place in found if is_product_path(place.path) and not index.is_foreign(place.path)]
    places: dict[tuple[DataKind | RegisteredKind, str], list[DataPlace]] = {}
    for place in own:
        places.setdefault((place.kind, place.name), []).append(place)
    registered = [place for place in of_code if place.kind in get_args(RegisteredKind)]
    only = sum(place.kind == "subcommand" for place in registered) == 1
    return (
        *(
            replace(each[0], count=len(each), places=tuple((place.path, place.line) for place in each))
            for each in sorted(places.values(), key=len, reverse=True)
        ),
        *(place for place in registered if place.kind == "route" or not only),
    )


def _tables(graph: Graph) -> Iterator[DataPlace]:
    tables = [graph.nodes[node] for node in np.flatnonzero(graph.nodes.kinds == TABLE).tolist()]
    often = Counter(node.path for node in tables)  # a schema declares more than a migration
    for node in sorted(tables, key=lambda node: -often[node.path]):
        yield DataPlace("table", node.name, node.path, node.line)


def _settings(index: Index) -> Iterator[DataPlace]:
    """Classes whose fields are read from the environment."""
    for found in () if index.symbols(_SETTINGS_BASE) else subclasses(index, _SETTINGS_BASE):
        yield DataPlace("settings", found.qualified, found.path, found.start_line)


def _in_code(index: Index, lines: Mapping[str, int]) -> Iterator[DataPlace]:
    """What the product's code names in its syntax: variables of the environment and configuration files that it reads,
    routes and commands that it registers."""
    reading = {path for name in _READERS for path in index.may_use(name)}
    using = {names: {path for name in names.split() for path in index.may_use(name)} for _, names, _ in _FORMS}
    for path in filter(is_product_path, sorted(lines)):
        text = (index.text(path) or "").encode()
        bare = () if _OF_OS.search(text) else b"environ"  # the `environ` of WSGI, where `os.environ` isn't imported
        read = _READ.finditer(text) if path in reading or b"envvar" in text or b'env:"' in text else ()
        found: list[tuple[int, DataKind | RegisteredKind, re.Match[bytes]]] = [
            *((0, "variable", each) for each in read if not each[0].startswith(bare)),
            *((0, "config", each) for each in _FILE.finditer(text) if _is_config(_first(each))),
            *(
                (each.end(), kind, each)
                for kind, names, form in _FORMS
                if path in using[names]
                for each in form.finditer(text)
            ),
        ]
        tree = parse(text, index.files[path].language, PARSE_S) if found else None
        for end, kind, match in sorted(found, key=itemgetter(0)):
            node = tree.root_node.descendant_for_byte_range(match.start(), match.start() + 1) if tree else None
            if node is not None and _is_meant(kind, node.type, match):
                line = text.count(b"\n", 0, end or match.start()) + 1
                yield DataPlace(kind, _name(index, kind, path, line, match), path, line)


def _is_meant(kind: str, syntax: str, match: re.Match[bytes]) -> bool:
    """Whether a match stands in the syntax that its kind has, not in a comment or text."""
    if kind == "config":
        return re.search(r"string|[\"']", syntax) is not None
    is_tag = kind == "variable" and match["tag"] is not None
    return re.search("comment|char" if is_tag else "comment|string|char", syntax) is None


def _is_config(name: str) -> bool:
    return _CONFIGURES.search(name) is not None and file_kind(name) == "config"


def _first(match: re.Match[bytes]) -> str:
    return next(filter(None, match.groups())).decode()


def _name(index: Index, kind: str, path: str, line: int, match: re.Match[bytes]) -> str:
    """The name of what is read; for what is registered, everything that its registration says, else the definition
    around it."""
    if kind in get_args(DataKind):
        return _first(match)
    told = " ".join(part.decode() for part in match.groups() if part)
    around = [each.name for each in index.outline(path) if each.start_line <= line <= each.end_line]
    return told or ("/" if kind == "route" else (around or [path])[-1])
