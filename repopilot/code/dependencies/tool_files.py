"""Reads what test runners and installers declare: tox.ini, noxfile.py, Pipfile, environment.yml. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from repopilot.code.data_formats import from_yaml, table, toml_tables
from repopilot.code.dependencies.declaration_parts import DeclarationParts, is_for_tests, lines, texts
from repopilot.code.dependencies.setup_files import config_sections
from repopilot.code.python_ast import read_python

_REFERENCE = re.compile(r"\{\[([^\]]+)\]([\w-]+)\}")
_OTHER_TESTS = re.compile(r"(?:docs?|mypy|types?|typing|lint)\b", re.I)
"""Environments whose tests are of the documentation or of types."""
_DEPTH, _MOST_LINES = 2, 100


def read_tox(text: str) -> DeclarationParts:
    """The requirements, extras and groups of tox's test environments."""
    groups: dict[str, tuple[str, ...]] = {}
    wanted: list[str] = []
    sections = config_sections(text)
    for name, options in sections.items():
        environment = name.removeprefix("testenv:")
        plain = name == "testenv" or re.match(r"(?:py|pypy|\{?py)[\w.{},-]*$", environment) or is_for_tests(environment)
        if not name.startswith("testenv") or not plain or _OTHER_TESTS.match(environment):
            continue
        declared = tuple(filter(None, map(_unconditional, _expanded(options.get("deps", ""), sections))))
        groups[f"tests-{environment}"] = tuple(line for line in declared if "{" not in line)
        for option in ("extras", "dependency_groups"):
            asked = map(_unconditional, _expanded(options.get(option, "").replace(",", "\n"), sections))
            wanted += [name for name in asked if name and "{" not in name]
    return DeclarationParts(groups=groups, wanted=tuple(dict.fromkeys(wanted)))


def read_noxfile(text: str) -> DeclarationParts:
    """What the sessions for tests install: the plain texts given to `session.install`."""
    module = read_python(text)
    groups: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_for_tests(node.name):
            groups[node.name] = tuple(_installed(node))
    return DeclarationParts(groups=groups)


def read_pipfile(text: str) -> DeclarationParts:
    """The packages of a Pipfile."""
    data = toml_tables(text)
    development = _pipfile_packages(data.get("dev-packages"))
    python = table(data.get("requires")).get("python_version")
    return DeclarationParts(
        runtime=_pipfile_packages(data.get("packages")),
        groups={"dev": development} if development else {},
        python=f"=={python}.*" if isinstance(python, str) else "",
    )


def read_conda(text: str) -> DeclarationParts:
    """The packages of a Conda environment, as far as they go by the same name on the Python index."""
    try:
        data = table(from_yaml(text))
    except ValueError:
        return DeclarationParts()
    declared = data.get("dependencies")
    entries = declared if isinstance(declared, list) else []
    found = [_conda_requirement(entry) for entry in entries if isinstance(entry, str)]
    for entry in entries:
        found += texts(table(entry).get("pip"))
    return DeclarationParts(groups={"dev": tuple(filter(None, found))})


def _expanded(text: str, sections: Mapping[str, Mapping[str, str]], depth: int = _DEPTH) -> Iterator[str]:
    """The lines of an option, with those that it takes from other sections by `{[section]option}`."""
    for line in lines(text)[:_MOST_LINES]:
        elsewhere = _REFERENCE.fullmatch(line)
        if elsewhere and depth:
            yield from _expanded(sections.get(elsewhere[1], {}).get(elsewhere[2], ""), sections, depth - 1)
        else:
            yield line


def _unconditional(line: str) -> str:
    """A line of tox without its condition (`py311: pytest`); '' where it applies to other environments only."""
    condition, colon, rest = line.partition(":")
    if not colon or rest.startswith("//") or not re.fullmatch(r"!?[\w.{},-]+", condition):
        return line
    return rest.strip() if re.search(r"(?:^|[-,{])(?:py|py3|py311|tests?|!\w+)(?:$|[-,}])", condition) else ""


def _installed(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(called, ast.Attribute) or called.attr != "install":
            continue
        arguments = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        option = ""
        for argument in arguments:
            if argument.startswith("-"):
                option = argument
                continue
            prefix = f"{option} " if option in ("-r", "-c", "-e", "--requirement", "--constraint", "--editable") else ""
            yield f"{prefix}{argument}"
            option = ""


def _pipfile_packages(packages: object) -> tuple[str, ...]:
    found = []
    for name, declared in table(packages).items():
        options = {"version": declared} if isinstance(declared, str) else table(declared)
        if options.get("path") == ".":
            continue
        version = options.get("version")
        place = options.get("git") or options.get("path")
        extras = ",".join(texts(options.get("extras")))
        bounds = version if isinstance(version, str) and version != "*" else ""
        found.append(f"{name} @ git+{place}" if place else f"{name}{f'[{extras}]' if extras else ''}{bounds}")
    return tuple(found)


def _conda_requirement(entry: str) -> str:
    matched = re.match(r"(?:[\w.-]+::)?([\w.-]+)\s*(.*)$", entry)
    if matched is None or matched[1] in ("python", "pip"):
        return ""
    bounds = matched[2].split("=")
    if matched[2].startswith("=") and not matched[2].startswith("=="):
        return f"{matched[1]}=={bounds[1]}.*" if bounds[1].count(".") < 2 else f"{matched[1]}=={bounds[1]}"
    return f"{matched[1]}{matched[2].replace(' ', '')}"
