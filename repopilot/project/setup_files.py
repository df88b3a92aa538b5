"""Reads setup.cfg and setup.py. The latter is never run: its `setup(…)` call is read from the syntax tree. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from configparser import ConfigParser, Error

from repopilot.code.formats.data_formats import table
from repopilot.code.python_ast import read_python
from repopilot.project.declaration_parts import DeclarationParts, classified_licence, lines, text_of, texts


def config_sections(text: str) -> dict[str, dict[str, str]]:
    """The sections of an INI file; none where it can't be parsed."""
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (Error, ValueError):
        return {}
    return {name: {**parser[name]} for name in parser.sections()}


def read_setup_cfg(text: str) -> DeclarationParts:
    """What a setup.cfg declares."""
    sections = config_sections(text)
    metadata = sections.get("metadata", {})
    options = sections.get("options", {})
    tests = lines(options.get("tests_require"))
    extras = sections.get("options.extras_require", {})
    version = metadata.get("version", "")
    return DeclarationParts(
        name=metadata.get("name", ""),
        version="" if version.startswith(("attr:", "file:")) else version,
        licence=metadata.get("license", "") or classified_licence(lines(metadata.get("classifiers"))),
        description=metadata.get("description", ""),
        python=options.get("python_requires", ""),
        runtime=_requirements(options.get("install_requires", "")),
        extras={name: _requirements(group) for name, group in extras.items()},
        groups={"tests_require": tests} if tests else {},
        entry_points={name: _points(lines(group)) for name, group in sections.get("options.entry_points", {}).items()},
    )


def read_setup_py(text: str) -> DeclarationParts:
    """What the `setup(…)` call of a setup.py says in plain values; the rest of it is unknown."""
    module = read_python(text)
    call = next((node for node in ast.walk(module) if _is_setup(node)), None)
    if not isinstance(call, ast.Call):
        return DeclarationParts()
    names = _assigned(module)
    given = {keyword.arg: _value(keyword.value, names) for keyword in call.keywords if keyword.arg}
    tests = _listed(given.get("tests_require"))
    return DeclarationParts(
        name=text_of(given.get("name")),
        version=text_of(given.get("version")),
        licence=text_of(given.get("license")) or classified_licence(_listed(given.get("classifiers"))),
        description=text_of(given.get("description")),
        python=text_of(given.get("python_requires")),
        runtime=_listed(given.get("install_requires")),
        extras={name: _listed(group) for name, group in table(given.get("extras_require")).items()},
        groups={"tests_require": tests} if tests else {},
        entry_points={name: _points(_listed(group)) for name, group in table(given.get("entry_points")).items()},
    )


def _requirements(text: str) -> tuple[str, ...]:
    """The requirements of an option: a line each, or separated by semicolons; `file:` includes files."""
    if text.strip().startswith("file:"):
        return tuple(f"-r {name.strip()}" for name in text.strip()[5:].split(",") if name.strip())
    return lines(text)


def _is_setup(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "setup"


def _assigned(module: ast.Module) -> dict[str, object]:
    """The values assigned to names, where they are plain."""
    names: dict[str, object] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            value = _value(node.value, names)
            if isinstance(target, ast.Name):
                names.setdefault(target.id, value)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                known = names.get(target.value.id)
                key = _value(target.slice, names)
                if isinstance(known, dict) and isinstance(key, str):
                    known[key] = value
    return names


def _value(node: ast.expr, names: Mapping[str, object]) -> object:
    """The value of an expression of constants, lists, dictionaries, names and sums; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [item for element in node.elts for item in _items(element, names)]
    if isinstance(node, ast.Dict):
        keys = [_value(key, names) if key is not None else None for key in node.keys]
        return {key: _value(value, names) for key, value in zip(keys, node.values, strict=True) if isinstance(key, str)}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _value(node.left, names)
        right = _value(node.right, names)
        if isinstance(left, list) and isinstance(right, list):
            return left + right
        return left + right if isinstance(left, str) and isinstance(right, str) else left or right
    if isinstance(node, ast.Call):
        return _called(node, names)
    return None


def _items(element: ast.expr, names: Mapping[str, object]) -> list[object]:
    if isinstance(element, ast.Starred):
        value = _value(element.value, names)
        return list(value) if isinstance(value, list) else []
    return [_value(element, names)]


def _called(node: ast.Call, names: Mapping[str, object]) -> object:
    """The value of a call: a text's lines or words; `-r path` where the call reads a requirements file."""
    if isinstance(node.func, ast.Attribute):
        value = _value(node.func.value, names)
        if isinstance(value, str) and node.func.attr in ("split", "splitlines", "strip"):
            return value.strip() if node.func.attr == "strip" else value.split("\n" if "\n" in value else None)
        if value is not None:
            return value
    texts_inside = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    files = [text for text in texts_inside if isinstance(text, str) and text.endswith((".txt", ".in"))]
    return [f"-r {files[0]}"] if files else None


def _listed(value: object) -> tuple[str, ...]:
    return lines(value) if isinstance(value, str) else texts(value)


def _points(declared: tuple[str, ...]) -> dict[str, str]:
    pairs = (line.partition("=") for line in declared if "=" in line)
    return {name.strip(): place.strip() for name, _, place in pairs}
