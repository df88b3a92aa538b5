"""Reads pyproject.toml: PEP 621, PEP 735, and the tables of Poetry, PDM, Hatch, Flit and uv. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from repopilot.code.formats.data_formats import strings, table, toml_tables
from repopilot.project.declaration_parts import DeclarationParts, canonical, classified_licence, text_of, texts

_OF_FLIT = {
    "name": "module",
    "requires-python": "requires-python",
    "dependencies": "requires",
    "optional-dependencies": "requires-extra",
}
"""The names that Flit's own table, older than PEP 621, has for the keys of `project`."""


def read_pyproject(text: str) -> DeclarationParts:
    """What a pyproject.toml declares; nothing where it can't be parsed."""
    data = toml_tables(text)
    tool = table(data.get("tool"))
    flit = table(table(tool.get("flit")).get("metadata"))
    project = table(data.get("project")) or {key: flit[name] for key, name in _OF_FLIT.items() if name in flit}
    poetry = table(tool.get("poetry"))
    declared = table(data.get("dependency-groups"))
    groups = {name: tuple(_group(name, declared)) for name in declared}
    return DeclarationParts(
        name=text_of(project.get("name")) or text_of(poetry.get("name")),
        version=text_of(project.get("version")) or text_of(poetry.get("version")),
        licence=_licence(project.get("license"))
        or _licence(poetry.get("license"))
        or classified_licence(texts(project.get("classifiers"))),
        description=text_of(project.get("description")) or text_of(poetry.get("description")),
        python=text_of(project.get("requires-python")) or _poetry_python(poetry),
        build=texts(table(data.get("build-system")).get("requires")),
        runtime=(*texts(project.get("dependencies")), *_poetry_requirements(table(poetry.get("dependencies")))),
        extras={
            **{name: texts(group) for name, group in table(project.get("optional-dependencies")).items()},
            **_poetry_extras(poetry),
        },
        groups={**groups, **_poetry_groups(poetry), **_tool_groups(tool)},
        wanted=_hatch_features(tool),
        entry_points=_entry_points(project, poetry),
    )


def _group(name: str, groups: Mapping[str, object]) -> Iterator[str]:
    """The requirements of a group and of those that it includes (PEP 735), each group once. Invalid entries are
    skipped; `packaging.dependency_groups` would return nothing of the group then."""
    by_name = {canonical(other): group for other, group in reversed([*groups.items()])}
    waiting: list[object] = [{"include-group": name}]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            yield entry
            continue
        group = by_name.pop(canonical(text_of(table(entry).get("include-group"))), None)
        waiting += reversed(group) if isinstance(group, list) else ()


def _tool_groups(tool: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    pdm = table(table(tool.get("pdm")).get("dev-dependencies"))
    groups = {name: texts(group) for name, group in pdm.items()}
    uv = texts(table(tool.get("uv")).get("dev-dependencies"))
    if uv:
        groups["dev"] = uv
    for name, environment in table(table(tool.get("hatch")).get("envs")).items():
        options = table(environment)
        declared = (*texts(options.get("dependencies")), *texts(options.get("extra-dependencies")))
        groups[name] = (*groups.get(name, ()), *declared)
    return groups


def _hatch_features(tool: Mapping[str, object]) -> tuple[str, ...]:
    environments = table(table(tool.get("hatch")).get("envs"))
    chosen = [table(environments.get(name)) for name in ("default", "test", "tests", "hatch-test")]
    return tuple(
        name for options in chosen for key in ("features", "dependency-groups") for name in texts(options.get(key))
    )


def _poetry_python(poetry: Mapping[str, object]) -> str:
    python = table(poetry.get("dependencies")).get("python")
    return _bounds(python) if isinstance(python, str) else ""


def _poetry_groups(poetry: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    groups = {"dev": _poetry_requirements(table(poetry.get("dev-dependencies")))}
    for name, group in table(poetry.get("group")).items():
        groups[name] = (*groups.get(name, ()), *_poetry_requirements(table(table(group).get("dependencies"))))
    return {name: group for name, group in groups.items() if group}


def _poetry_extras(poetry: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    optional = dict(_poetry_pairs(table(poetry.get("dependencies")), optional=True))
    named = table(poetry.get("extras"))
    return {extra: tuple(optional.get(name, name) for name in texts(names)) for extra, names in named.items()}


def _poetry_requirements(dependencies: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(requirement for _, requirement in _poetry_pairs(dependencies, optional=False))


def _poetry_pairs(dependencies: Mapping[str, object], *, optional: bool) -> Iterator[tuple[str, str]]:
    for name, declared in dependencies.items():
        options = declared[0] if isinstance(declared, list) and declared else declared
        options = {"version": options} if isinstance(options, str) else table(options)
        if name == "python" or bool(options.get("optional")) != optional:
            continue
        place = options.get("git") or options.get("path") or options.get("url")
        if place:
            yield name, f"{name} @ {options.get('git') and 'git+'}{place}"
            continue
        extras = ",".join(texts(options.get("extras")))
        bounds = _bounds(text_of(options.get("version")))
        marker = text_of(options.get("markers"))
        yield name, f"{name}{f'[{extras}]' if extras else ''}{bounds}{f' ; {marker}' if marker else ''}"


def _bounds(declared: str) -> str:
    """Poetry's constraint as version specifiers; alternatives (`||`) become no bound at all."""
    if "|" in declared:
        return ""
    return ",".join(filter(None, (_bound(part.strip()) for part in re.split(r"[,\s](?=\s*[\^~<>=!\d*])", declared))))


def _bound(part: str) -> str:
    if part in ("", "*"):
        return ""
    operator, version = (part[0], part[1:].strip(" =")) if part[0] in "^~" and part[:2] != "~=" else ("", part)
    numbers = [int(n) for n in re.findall(r"\d+", version.split("+")[0])][:3]
    if operator and numbers:
        kept = (
            1
            if operator == "~" and len(numbers) > 1
            else next((i for i, n in enumerate(numbers) if n), len(numbers) - 1)
        )
        kept = kept if operator == "^" or len(numbers) > 1 else 0
        above = [*numbers[:kept], numbers[kept] + 1]
        return f">={version},<{'.'.join(map(str, above))}"
    return part if part[0] in "<>=!~" else f"=={part}"


def _entry_points(project: Mapping[str, object], poetry: Mapping[str, object]) -> dict[str, dict[str, str]]:
    found = {
        "console_scripts": {**strings(poetry.get("scripts")), **strings(project.get("scripts"))},
        "gui_scripts": strings(project.get("gui-scripts")),
    }
    for groups in (table(poetry.get("plugins")), table(project.get("entry-points"))):
        found |= {name: strings(group) for name, group in groups.items()}
    return {name: points for name, points in found.items() if points}


def _licence(value: object) -> str:
    """The name of a licence, else the file that has its text."""
    return text_of(value) or text_of(table(value).get("text")) or text_of(table(value).get("file"))
