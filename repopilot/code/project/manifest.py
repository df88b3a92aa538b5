"""Reads project manifests: dependencies with their versions, the project's own version, licence and required language,
each with its line; its scripts and entry points. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from repopilot.code.data_formats import from_json, from_jsonc, from_toml, strings
from repopilot.code.dependencies.declaration_parts import DeclarationParts
from repopilot.code.dependencies.setup_files import read_setup_cfg, read_setup_py
from repopilot.code.source_positions import line_at

Group = Literal["runtime", "dev", "optional", "build", "peer", "indirect"]
FactKind = Literal["name", "version", "licence", "language", "description"]
_FACTS: dict[str, FactKind] = {
    "name": "name",
    "version": "version",
    "license": "licence",
    "description": "description",
}
"""The keys that most manifests use."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A declared dependency. `constraint` is its version as written, '' for any; `extra` names the optional group."""

    name: str
    constraint: str
    group: Group
    path: str
    line: int
    extra: str = ""


@dataclass(frozen=True, slots=True)
class ProjectFact:
    """Something a manifest says of the project: `subject` is the language or engine of a required version, else ''."""

    kind: FactKind
    value: str
    path: str
    line: int
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a project manifest declares.

    `ecosystem` is npm, python, cargo, go, maven, composer or ruby; `scripts` and `entry_points` map names to commands
    and to places in the code; `paths`, of a tsconfig.json, patterns of modules to what they stand for.
    """

    path: str
    ecosystem: str
    dependencies: tuple[Dependency, ...] = ()
    facts: tuple[ProjectFact, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)
    entry_points: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The package's name, or a Go module's path."""
        return next((fact.value for fact in self.facts if fact.kind == "name"), "")


_DEV_GROUPS = re.compile(
    r"(dev|tests?|testing|docs?|documentation|lint|linting|typing|mypy|ci|benchmarks?|format)\b", re.I
)
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)")


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest, which `read_manifest` reads."""
    return _reader(path) is not None and not maps_modules(path)


def maps_modules(path: str) -> bool:
    """Whether a file says what modules of JavaScript stand for: `read_manifest` gives its `paths`."""
    return path.rsplit("/", 1)[-1] in ("tsconfig.json", "jsconfig.json")


def read_manifest(path: str, text: str) -> Manifest | None:
    """Read the manifest at `path` from its text; None where the path is that of none, or the text can't be parsed."""
    reader = _reader(path)
    if reader is None:
        return None
    try:
        return reader(path, text)
    except (ValueError, TypeError, AttributeError, KeyError):
        return None


def _reader(path: str) -> Callable[[str, str], Manifest] | None:
    name = path.rsplit("/", 1)[-1].lower()
    if re.fullmatch(r"(.*[-_])?requirements([-_.].*)?\.(txt|in)", name) or re.search(
        r"(^|/)requirements/[^/]+\.(txt|in)$", path.lower()
    ):
        return _requirements
    suffix = name.rpartition(".")[2]
    return _READERS.get(name) or _BY_SUFFIX.get(suffix)


class _Lines:
    """Finds the lines of what was read by a parser that tells none."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def find(self, pattern: str, after: int = 0) -> int:
        """The number of the first line below `after` in which the pattern is found; `after`, at least 1, for none."""
        compiled = re.compile(pattern)
        numbered = enumerate(self._lines[after:], after + 1)
        return next((number for number, line in numbered if compiled.search(line)), max(1, after))


def _requirement(text: str, group: Group, path: str, line: int, extra: str = "") -> Dependency | None:
    match = _REQUIREMENT.match(text)
    return Dependency(match[1], match[2].strip(), group, path, line, extra) if match else None


def _group_of(name: str) -> Group:
    return "dev" if _DEV_GROUPS.match(name) else "optional"


def _npm(path: str, text: str) -> Manifest:
    data, lines = from_json(text), _Lines(text)
    keys: dict[str, Group] = {
        "dependencies": "runtime",
        "devDependencies": "dev",
        "peerDependencies": "peer",
        "optionalDependencies": "optional",
    }
    needs = []
    for key, group in keys.items():
        start = lines.find(rf'^[^\S\n]*"{key}"\s*:')
        for name, version in (data.get(key) or {}).items():
            needs.append(Dependency(name, str(version), group, path, lines.find(rf'"{re.escape(name)}"\s*:', start)))
    facts = list(_plain_facts(path, data, lines, _FACTS, '"'))
    start = lines.find(r'^[^\S\n]*"engines"\s*:')
    for name, version in (data.get("engines") or {}).items():
        line = lines.find(rf'"{re.escape(name)}"\s*:', start - 1)
        facts.append(ProjectFact("language", str(version), path, line, "Node.js" if name == "node" else name))
    entries = {key: data[key] for key in ("main", "module", "types", "browser") if isinstance(data.get(key), str)}
    binary = data.get("bin")
    entries |= {"bin": binary} if isinstance(binary, str) else strings(binary)
    return Manifest(path, "npm", tuple(needs), tuple(facts), strings(data.get("scripts")), entries)


def _tsconfig(path: str, text: str) -> Manifest:
    options = from_jsonc(text).get("compilerOptions") or {}
    base = str(options.get("baseUrl") or ".")
    paths = {name: posixpath.join(base, str(to[0])) for name, to in (options.get("paths") or {}).items() if to}
    if "baseUrl" in options:
        paths.setdefault("*", posixpath.join(base, "*"))
    return Manifest(path, "", paths=paths)


def _plain_facts(
    path: str,
    data: Mapping[str, Any],
    lines: _Lines,
    keys: Mapping[str, FactKind],
    quote: str = "",
    after: int = 0,
    before: str = r"^[^\S\n]*",
) -> Iterator[ProjectFact]:
    for key, kind in keys.items():
        value = data.get(key)
        if isinstance(value, dict):
            value = value.get("text") or value.get("file") or value.get("type")
        if isinstance(value, list):
            value = ", ".join(str(part) for part in value)
        if isinstance(value, str) and value:
            line = lines.find(rf"{before}{quote}{re.escape(key)}{quote}\s*[:=]", after)
            subject = {
                "requires-python": "Python",
                "python_requires": "Python",
                "rust-version": "Rust",
                "edition": "Rust edition",
            }.get(key, "")
            yield ProjectFact(kind, value, path, line, subject)


def _pyproject(path: str, text: str) -> Manifest:
    data, lines = from_toml(text), _Lines(text)
    needs = [*_pep621(path, data, lines), *_poetry(path, data, lines)]
    poetry = (data.get("tool") or {}).get("poetry") or {}
    project = data.get("project") or poetry
    keys: dict[str, FactKind] = {**_FACTS, "requires-python": "language"}
    start = lines.find(r"^\[(project|tool\.poetry)\]")
    facts = [*_plain_facts(path, project, lines, keys, after=start)]
    python = poetry.get("dependencies", {}).get("python")
    if isinstance(python, str):
        facts.append(ProjectFact("language", python, path, lines.find(r"^python\s*=", start), "Python"))
    scripts = strings((data.get("project") or {}).get("scripts")) | strings(poetry.get("scripts"))
    return Manifest(path, "python", tuple(needs), tuple(facts), entry_points=scripts)


def _pep621(path: str, data: Mapping[str, Any], lines: _Lines) -> Iterator[Dependency]:
    project = data.get("project") or {}
    start = lines.find(r"^dependencies\s*=", lines.find(r"^\[project\]"))
    yield from _listed(path, project.get("dependencies") or (), "runtime", lines, start - 1)
    start = lines.find(r"^\[project\.optional-dependencies\]|^optional-dependencies")
    for extra, listed in (project.get("optional-dependencies") or {}).items():
        below = lines.find(rf"^[^\S\n]*[\"']?{re.escape(extra)}[\"']?\s*=", start - 1)
        yield from _listed(path, listed, _group_of(extra), lines, below - 1, extra)
    start = lines.find(r"^\[dependency-groups\]")
    for extra, listed in (data.get("dependency-groups") or {}).items():
        below = lines.find(rf"^[^\S\n]*[\"']?{re.escape(extra)}[\"']?\s*=", start - 1)
        yield from _listed(path, [item for item in listed if isinstance(item, str)], "dev", lines, below - 1, extra)
    build = (data.get("build-system") or {}).get("requires") or ()
    yield from _listed(path, build, "build", lines, lines.find(r"^requires\s*=") - 1)


def _listed(
    path: str, requirements: Iterable[str], group: Group, lines: _Lines, after: int, extra: str = ""
) -> Iterator[Dependency]:
    for text in requirements:
        line = lines.find(rf"(?:[\"']|^\s*|=\s*){re.escape(text)}(?:[\"']|\s*$)".replace('"', '\\\\?"'), after)
        found = _requirement(text, group, path, line, extra)
        if found:
            yield found


def _poetry(path: str, data: Mapping[str, Any], lines: _Lines) -> Iterator[Dependency]:
    poetry = (data.get("tool") or {}).get("poetry") or {}
    tables: list[tuple[str, Group, str, Mapping[str, Any]]] = [
        (r"^\[tool\.poetry\.dependencies\]", "runtime", "", poetry.get("dependencies") or {}),
        (r"^\[tool\.poetry\.dev-dependencies\]", "dev", "dev", poetry.get("dev-dependencies") or {}),
    ]
    for name, table in (poetry.get("group") or {}).items():
        head = rf"^\[tool\.poetry\.group\.{re.escape(name)}\.dependencies\]"
        tables.append((head, "dev", name, table.get("dependencies") or {}))
    for head, group, extra, table in tables:
        start = lines.find(head)
        for name, value in table.items():
            if name != "python":
                optional: Group = "optional" if isinstance(value, dict) and value.get("optional") else group
                line = lines.find(rf"^[\"']?{re.escape(name)}[\"']?\s*=", start)
                yield Dependency(name, _constraint(value), optional, path, line, extra)


def _constraint(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return str(value.get("version") or value.get("git") or value.get("path") or "")
    return ""


def _setuptools(path: str, text: str) -> Manifest:
    parts = read_setup_py(text) if path.endswith(".py") else read_setup_cfg(text)
    if parts == DeclarationParts():
        raise ValueError(path)
    lines = _Lines(text)
    needs = [*_listed(path, parts.runtime, "runtime", lines, lines.find(r"\binstall_requires\b") - 1)]
    start = lines.find(r"\bextras_require\b")
    for extra, listed in parts.extras.items():
        below = lines.find(rf"(?<!\w){re.escape(extra)}(?!\w)", start - 1)
        needs += _listed(path, listed, _group_of(extra), lines, below - 1, extra)
    keys: dict[str, FactKind] = {**_FACTS, "python_requires": "language"}
    given = {
        "name": parts.name,
        "version": parts.version,
        "license": parts.licence,
        "description": parts.description,
        "python_requires": parts.python,
    }
    facts = tuple(_plain_facts(path, given, lines, keys, before=r"(?:^|[(,])\s*"))
    return Manifest(path, "python", tuple(needs), facts, entry_points=parts.entry_points.get("console_scripts", {}))


def _requirements(path: str, text: str) -> Manifest:
    name = re.split(r"[/.]", path.lower().replace("requirements", ""))
    group: Group = "dev" if any(_DEV_GROUPS.search(part) for part in name) else "runtime"
    needs = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(("#", "-")):
            found = _requirement(line, group, path, number)
            if found:
                needs.append(found)
    return Manifest(path, "python", tuple(needs))


def _cargo(path: str, text: str) -> Manifest:
    data, lines = from_toml(text), _Lines(text)
    needs = [*_cargo_tables(path, data, lines)]
    for target, tables in (data.get("target") or {}).items():
        needs += _cargo_tables(path, tables, lines, rf"target\.['\"]?{re.escape(target)}['\"]?\.")
    needs += _cargo_tables(path, data.get("workspace") or {}, lines, r"workspace\.")
    package = {**((data.get("workspace") or {}).get("package") or {}), **(data.get("package") or {})}
    keys: dict[str, FactKind] = {**_FACTS, "rust-version": "language", "edition": "language"}
    start = lines.find(r"^\[(workspace\.)?package\]")
    plain = {key: value for key, value in package.items() if isinstance(value, str)}
    facts = tuple(_plain_facts(path, plain, lines, keys, after=start))
    binaries = {b["name"]: b.get("path", "") for b in data.get("bin") or () if "name" in b}
    return Manifest(path, "cargo", tuple(needs), facts, entry_points=binaries)


def _cargo_tables(path: str, data: Mapping[str, Any], lines: _Lines, prefix: str = "") -> Iterator[Dependency]:
    keys: dict[str, Group] = {"dependencies": "runtime", "dev-dependencies": "dev", "build-dependencies": "build"}
    for key, group in keys.items():
        start = lines.find(rf"^\[{prefix}{key}[\].]")
        for name, value in (data.get(key) or {}).items():
            pattern = rf"^{re.escape(name)}\s*[.=]|^\[{prefix}{key}\.{re.escape(name)}\]"
            optional: Group = "optional" if isinstance(value, dict) and value.get("optional") else group
            yield Dependency(name, _constraint(value), optional, path, lines.find(pattern, start - 1))


def _go(path: str, text: str) -> Manifest:
    needs, facts, block = [], [], ""
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"(require|replace|exclude|retract)\s*\(", line)
        block = head[1] if head else "" if line.startswith(")") else block
        found = re.match(r"\s*(?:require\s+)?([\w.-]+\.[\w.-]+(?:/\S+)?)\s+(v\S+)(\s*//\s*indirect)?", line)
        if found and (block == "require" or line.startswith("require")):
            needs.append(Dependency(found[1], found[2], "indirect" if found[3] else "runtime", path, number))
        fact = re.match(r"(module|go)\s+(\S+)", line)
        if fact:
            kind: FactKind = "name" if fact[1] == "module" else "language"
            facts.append(ProjectFact(kind, fact[2].strip('"'), path, number, "Go" if kind == "language" else ""))
    return Manifest(path, "go", tuple(needs), tuple(facts))


# An element ends before the next of its name: else each one that is not closed is looked for to the end of the file.
_MANAGED = re.compile(r"<(dependencyManagement|plugins|pluginManagement)>(?:(?!<\1>).)*?</\1>", re.S)
_DEPENDENCY = re.compile(r"<dependency>((?:(?!<dependency>).)*?)</dependency>", re.S)
_NOT_OWN = re.compile(
    r"<(parent|dependencies|dependencyManagement|build|profiles|developers|reporting)>(?:(?!<\1>).)*?</\1>", re.S
)


def _maven(path: str, text: str) -> Manifest:
    needs, facts = [], []
    managed = [m.span() for m in _MANAGED.finditer(text)]
    for match in _DEPENDENCY.finditer(text):
        if any(start <= match.start() < end for start, end in managed):
            continue
        values = dict(re.findall(r"<(groupId|artifactId|version|scope|optional)>\s*([^<]*?)\s*<", match[1]))
        group: Group = "dev" if values.get("scope") == "test" else "runtime"
        group = "optional" if values.get("optional") == "true" else group
        at = match.start() + match[0].find("<artifactId>")
        name = f"{values.get('groupId', '')}:{values['artifactId']}".lstrip(":")
        needs.append(Dependency(name, values.get("version", ""), group, path, line_at(text, at)))
    own = _NOT_OWN.sub(lambda m: "\n" * m[0].count("\n"), text)
    patterns: list[tuple[FactKind, str, str]] = [
        ("name", r"<artifactId>\s*([^<\s]+)", ""),
        ("version", r"<version>\s*([^<\s]+)", ""),
        ("description", r"<description>\s*([^<]+?)\s*<", ""),
        ("licence", r"<license>(?:(?!<license>).)*?<name>\s*([^<]+?)\s*<", ""),
        ("language", r"<(?:maven\.compiler\.(?:release|source|target)|java\.version|javaVersion)>\s*([\d.]+)", "Java"),
    ]
    for kind, pattern, subject in patterns:
        found = re.search(pattern, own, re.S)
        if found:
            facts.append(ProjectFact(kind, found[1], path, line_at(own, found.start(1)), subject))
    return Manifest(path, "maven", tuple(needs), tuple(facts))


def _composer(path: str, text: str) -> Manifest:
    data, lines = from_json(text), _Lines(text)
    needs, facts = [], []
    sections: dict[str, Group] = {"require": "runtime", "require-dev": "dev"}
    for key, group in sections.items():
        start = lines.find(rf'^[^\S\n]*"{key}"\s*:')
        for name, version in (data.get(key) or {}).items():
            line = lines.find(rf'"{re.escape(name)}"\s*:', start)
            if name == "php":
                facts.append(ProjectFact("language", str(version), path, line, "PHP"))
            else:
                needs.append(Dependency(name, str(version), group, path, line))
    facts += _plain_facts(path, data, lines, _FACTS, '"')
    return Manifest(path, "composer", tuple(needs), tuple(facts), strings(data.get("scripts")))


def _gemfile(path: str, text: str) -> Manifest:
    needs, groups = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"\s*group\s+(.*?)\s+do\b", line)
        groups = head[1] if head else "" if re.match(r"end\b", line) else groups
        gem = re.match(r"\s*gem\s+['\"]([^'\"]+)['\"]((?:\s*,\s*['\"][^'\"]*['\"])*)(.*)", line)
        if gem:
            named = re.search(r"group:?s?\s*(?:=>)?\s*(.*)", gem[3])
            group: Group = "dev" if groups or named else "runtime"
            extra = ", ".join(re.findall(r":(\w+)", groups or (named[1] if named else "")))
            needs.append(
                Dependency(gem[1], ", ".join(re.findall(r"['\"]([^'\"]*)", gem[2])[::2]), group, path, number, extra)
            )
    return Manifest(path, "ruby", tuple(needs))


def _gemspec(path: str, text: str) -> Manifest:
    needs, facts = [], []
    kinds: dict[str, FactKind] = {**_FACTS, "licenses": "licence", "required_ruby_version": "language"}
    for number, line in enumerate(text.split("\n"), 1):
        gem = re.match(r"\s*\w+\.add_(runtime_|development_)?dependency[ (]\s*['\"]([^'\"]+)['\"](.*)", line)
        if gem:
            group: Group = "dev" if gem[1] == "development_" else "runtime"
            needs.append(Dependency(gem[2], ", ".join(re.findall(r"['\"]([^'\"]+)['\"]", gem[3])), group, path, number))
        fact = re.match(r"\s*\w+\.(\w+)\s*=\s*(.*)", line)
        if fact and fact[1] in kinds and (value := ", ".join(re.findall(r"['\"]([^'\"]+)['\"]", fact[2]))):
            kind = kinds[fact[1]]
            facts.append(ProjectFact(kind, value, path, number, "Ruby" if kind == "language" else ""))
    return Manifest(path, "ruby", tuple(needs), tuple(facts))


_READERS: dict[str, Callable[[str, str], Manifest]] = {
    "package.json": _npm,
    "composer.json": _composer,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setuptools,
    "setup.py": _setuptools,
    "cargo.toml": _cargo,
    "go.mod": _go,
    "pom.xml": _maven,
    "gemfile": _gemfile,
    "tsconfig.json": _tsconfig,
    "jsconfig.json": _tsconfig,
}
_BY_SUFFIX: dict[str, Callable[[str, str], Manifest]] = {
    "gemspec": _gemspec,
}
