"""Reads project manifests: dependencies with their versions, the project's own version, licence and required language,
each with its line; its scripts and entry points. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from repopilot.code.formats.data_formats import from_json, from_jsonc, from_toml, strings, table, tables
from repopilot.code.source_positions import line_at
from repopilot.project.declaration_parts import DeclarationParts
from repopilot.project.pyproject_tables import read_pyproject
from repopilot.project.setup_files import read_setup_cfg, read_setup_py
from repopilot.project.workspaces import export_paths, exports_of

Group = Literal["runtime", "dev", "optional", "build", "peer", "indirect"]
FactKind = Literal["name", "version", "licence", "language", "description"]
_FACTS: dict[str, FactKind] = {
    "name": "name",
    "version": "version",
    "license": "licence",
    "description": "description",
}
"""The keys that most manifests use."""
_PYTHON = ("requires-python", "python_requires", "python")
"""The keys of the required version of Python."""
_MODULE = re.compile(r"\.[cm]?[jt]sx?$")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A declared dependency. `constraint` is its version as written, '' for any; `extra` names the optional group;
    `source` is git, path or registry for a crate from elsewhere than the public registry, else ''."""

    name: str
    constraint: str
    group: Group
    path: str
    line: int
    extra: str = ""
    source: str = ""


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

    `ecosystem` is npm, python, cargo, go, maven, dotnet, composer or ruby; `scripts` and `entry_points` map names to
    commands and to places in the code; `paths`, for a tsconfig.json, maps patterns of modules to paths; `is_private`
    says that a package of npm, Cargo or .NET isn't published, and a POM only builds modules.
    """

    path: str
    ecosystem: str
    dependencies: tuple[Dependency, ...] = ()
    facts: tuple[ProjectFact, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)
    entry_points: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    is_private: bool = False

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
    """Whether a file maps JavaScript modules to paths: `read_manifest` gives its `paths`."""
    return path.rsplit("/", 1)[-1] in ("tsconfig.json", "jsconfig.json")


def read_manifest(path: str, text: str) -> Manifest | None:
    """Read the manifest at `path` from its text; None for a path that isn't a manifest's, or text that isn't valid."""
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
    """Finds the line numbers of values that were read by a parser which gives none."""

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


def _exported(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The modules that an npm package exports, by their subpaths (`./router`)."""
    found = {name: next(export_paths(export), "") for name, export in exports_of(manifest).items()}
    return {name: path for name, path in found.items() if "*" not in name and _MODULE.search(path)}


_JSON_TABLES: dict[str, Group] = {
    "dependencies": "runtime",
    "devDependencies": "dev",
    "peerDependencies": "peer",
    "optionalDependencies": "optional",
    "require": "runtime",
    "require-dev": "dev",
    "engines": "runtime",
}
"""The tables of package.json and composer.json, which have no key in common."""
_ENGINES = {"node": "Node.js", "php": "PHP"}


def _json_package(path: str, text: str) -> Manifest:
    data = from_json(text)
    lines = _Lines(text)
    needs = []
    facts = list(_plain_facts(path, data, lines, _FACTS, '"'))
    for key, group in _JSON_TABLES.items():
        start = lines.find(rf'^[^\S\n]*"{key}"\s*:')
        for name, version in table(data.get(key)).items():
            line = lines.find(rf'"{re.escape(name)}"\s*:', start - 1)
            if key == "engines" or name == "php":
                facts.append(ProjectFact("language", str(version), path, line, _ENGINES.get(name, name)))
            else:
                needs.append(Dependency(name, str(version), group, path, line))
    entries = {key: data[key] for key in ("main", "module", "types", "browser") if isinstance(data.get(key), str)}
    entries |= _exported(data)
    binary = data.get("bin")
    entries |= {"bin": binary} if isinstance(binary, str) else strings(binary)
    ecosystem = "composer" if path.endswith("composer.json") else "npm"
    return Manifest(
        path,
        ecosystem,
        tuple(needs),
        tuple(facts),
        strings(data.get("scripts")),
        entries,
        is_private=data.get("private") is True,
    )


def _tsconfig(path: str, text: str) -> Manifest:
    options = table(from_jsonc(text).get("compilerOptions"))
    base = str(options.get("baseUrl") or ".")
    paths = {name: posixpath.join(base, str(to[0])) for name, to in table(options.get("paths")).items() if to}
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
                **dict.fromkeys(_PYTHON, "Python"),
                "rust-version": "Rust",
                "edition": "Rust edition",
            }.get(key, "")
            yield ProjectFact(kind, value, path, line, subject)


def _python_project(path: str, text: str) -> Manifest:
    """What pyproject.toml, setup.cfg or setup.py declares; versions as `packaging` writes them."""
    read = {"toml": read_pyproject, "cfg": read_setup_cfg, "py": read_setup_py}[path.rpartition(".")[2]]
    parts = read(text)
    if parts == DeclarationParts() and not from_toml(text):
        raise ValueError(path)
    lines = _Lines(text)
    start = lines.find(r"^dependencies\s*=|^\[tool\.poetry\.dependencies\]|\binstall_requires\b")
    needs = [*_listed(path, parts.runtime, "runtime", lines, start - 1)]
    needs += _listed(path, parts.build, "build", lines, lines.find(r"^requires\s*=") - 1)
    groups = [(name, listed, _group_of(name)) for name, listed in parts.extras.items()]
    groups += [(name, listed, "dev") for name, listed in parts.groups.items()]
    for name, listed, group in groups:
        word = re.escape(name)
        below = lines.find(rf"(?<![\w-])[\"']?{word}[\"']?\s*[=:]|[.]{word}[.-]dependencies\]")
        needs += _listed(path, listed, group, lines, below - 1, name)
    python = next((key for key in _PYTHON if key in text), "python")
    keys: dict[str, FactKind] = {**_FACTS, python: "language"}
    given = {
        "name": parts.name,
        "version": parts.version,
        "license": parts.licence,
        "description": parts.description,
        python: parts.python,
    }
    start = lines.find(r"^\[(project|tool\.poetry)\]")
    before = r"(?:^|[(,])\s*" if path.endswith(".py") else r"^[^\S\n]*"
    facts = tuple(_plain_facts(path, given, lines, keys, after=start, before=before))
    return Manifest(path, "python", tuple(needs), facts, entry_points=parts.entry_points.get("console_scripts", {}))


def _listed(
    path: str, requirements: Iterable[str], group: Group, lines: _Lines, after: int, extra: str = ""
) -> Iterator[Dependency]:
    for text in requirements:
        found = _requirement(text, group, path, 0, extra)
        if found:
            written = rf"(?:[\"']|^\s*|=\s*){re.escape(text)}(?:[\"']|\s*$)".replace('"', '\\\\?"')
            line = lines.find(rf"{written}|^[\"']?{re.escape(found.name)}[\"']?\s*=\s*[\"'{{]", after)
            yield replace(found, line=line)


def _constraint(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return str(value.get("version") or value.get("git") or value.get("path") or "")
    return ""


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
    data = from_toml(text)
    lines = _Lines(text)
    needs = [*_cargo_tables(path, data, lines)]
    for target, declared in table(data.get("target")).items():
        needs += _cargo_tables(path, table(declared), lines, rf"target\.['\"]?{re.escape(target)}['\"]?\.")
    workspace = table(data.get("workspace"))
    needs += _cargo_tables(path, workspace, lines, r"workspace\.")
    package = {**table(workspace.get("package")), **table(data.get("package"))}
    keys: dict[str, FactKind] = {**_FACTS, "rust-version": "language", "edition": "language"}
    start = lines.find(r"^\[(workspace\.)?package\]")
    plain = {key: value for key, value in package.items() if isinstance(value, str)}
    facts = tuple(_plain_facts(path, plain, lines, keys, after=start))
    binaries = {b["name"]: b.get("path", "") for b in tables(data.get("bin")) if "name" in b}
    return Manifest(
        path, "cargo", tuple(needs), facts, entry_points=binaries, is_private=package.get("publish") is False
    )


def _cargo_tables(path: str, data: Mapping[str, Any], lines: _Lines, prefix: str = "") -> Iterator[Dependency]:
    keys: dict[str, Group] = {"dependencies": "runtime", "dev-dependencies": "dev", "build-dependencies": "build"}
    for key, group in keys.items():
        start = lines.find(rf"^\[{prefix}{key}[\].]")
        for name, value in table(data.get(key)).items():
            pattern = rf"^{re.escape(name)}\s*[.=]|^\[{prefix}{key}\.{re.escape(name)}\]"
            options = table(value)
            optional: Group = "optional" if options.get("optional") else group
            source = next((each for each in ("git", "registry", "path") if each in options), "")
            line = lines.find(pattern, start - 1)
            yield Dependency(name, _constraint(value), optional, path, line, source=source)


def _go(path: str, text: str) -> Manifest:
    needs = []
    facts = []
    block = ""
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


# A match stops at the next element of the same name; else each unclosed element would be searched to the file's end.
_MANAGED = re.compile(r"<(dependencyManagement|plugins|pluginManagement|profiles)>(?:(?!<\1>).)*?</\1>", re.S)
_DEPENDENCY = re.compile(r"<dependency>((?:(?!<dependency>).)*?)</dependency>", re.S)
_PROPERTIES = re.compile(r"<properties>(?:(?!<properties>).)*?</properties>", re.S)
_PROPERTY = re.compile(r"<([\w.-]+)>\s*([^<\s]+)\s*</\1>")
_NOT_OWN = re.compile(
    r"<(parent|dependencies|dependencyManagement|build|profiles|developers|reporting)>(?:(?!<\1>).)*?</\1>", re.S
)


def _maven(path: str, text: str) -> Manifest:
    needs = []
    facts = []
    managed = [m.span() for m in _MANAGED.finditer(text)]
    held_in = {name: value for part in _PROPERTIES.findall(text) for name, value in _PROPERTY.findall(part)}
    for match in _DEPENDENCY.finditer(text):
        if any(start <= match.start() < end for start, end in managed):
            continue
        values = dict(re.findall(r"<(groupId|artifactId|version|scope|optional)>\s*([^<]*?)\s*<", match[1]))
        group: Group = "dev" if values.get("scope") == "test" else "runtime"
        group = "optional" if values.get("optional") == "true" else group
        at = match.start() + match[0].find("<artifactId>")
        name = f"{values.get('groupId', '')}:{values['artifactId']}".lstrip(":")
        version = re.sub(r"\$\{([^{}]*)\}", lambda held: held_in.get(held[1], held[0]), values.get("version", ""))
        needs.append(Dependency(name, version, group, path, line_at(text, at)))
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
    is_aggregator = re.search(r"<packaging>\s*pom\s*<", own) is not None
    return Manifest(path, "maven", tuple(needs), tuple(facts), is_private=is_aggregator)


def _dotnet(path: str, text: str) -> Manifest:
    keys: dict[str, FactKind] = {
        "PackageId": "name",
        "Version": "version",
        "Description": "description",
        "PackageLicenseExpression": "licence",
    }
    given = ((kind, re.search(rf"<{key}>\s*([^<$]+?)\s*<", text)) for key, kind in keys.items())
    facts = [ProjectFact(kind, found[1], path, line_at(text, found.start(1))) for kind, found in given if found]
    if not any(fact.kind == "name" for fact in facts):
        facts.append(ProjectFact("name", posixpath.splitext(posixpath.basename(path))[0], path, 1))
    is_private = re.search(r"<IsPackable>\s*false|<OutputType>\s*(?:Win)?Exe|Sdk=\"[\w.]+\.(?:Web|Worker)", text, re.I)
    return Manifest(path, "dotnet", facts=tuple(facts), is_private=is_private is not None)


def _gemfile(path: str, text: str) -> Manifest:
    needs = []
    groups = ""
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
    needs = []
    facts = []
    programs: list[str] = []
    folder = "bin"
    kinds: dict[str, FactKind] = {
        **_FACTS,
        "summary": "description",
        "licenses": "licence",
        "required_ruby_version": "language",
    }
    for number, line in enumerate(text.split("\n"), 1):
        gem = re.match(r"\s*\w+\.add_(runtime_|development_)?dependency[ (]\s*['\"]([^'\"]+)['\"](.*)", line)
        if gem:
            group: Group = "dev" if gem[1] == "development_" else "runtime"
            needs.append(Dependency(gem[2], ", ".join(re.findall(r"['\"]([^'\"]+)['\"]", gem[3])), group, path, number))
        fact = re.match(r"\s*\w+\.(\w+)\s*=\s*(.*)", line)
        if fact and fact[1] == "executables":
            programs = re.findall(r"[\w-]+", fact[2].partition("%w")[2]) or re.findall(r"['\"]([\w-]+)['\"]", fact[2])
        if fact and fact[1] == "bindir":
            folder = fact[2].strip("'\" ")
        if fact and fact[1] in kinds and (value := ", ".join(re.findall(r"['\"]([^'\"]+)['\"]", fact[2]))):
            kind = kinds[fact[1]]
            facts.append(ProjectFact(kind, value, path, number, "Ruby" if kind == "language" else ""))
    return Manifest(
        path, "ruby", tuple(needs), tuple(facts), entry_points={name: f"{folder}/{name}" for name in programs}
    )


_READERS: dict[str, Callable[[str, str], Manifest]] = {
    "package.json": _json_package,
    "composer.json": _json_package,
    "pyproject.toml": _python_project,
    "setup.cfg": _python_project,
    "setup.py": _python_project,
    "cargo.toml": _cargo,
    "go.mod": _go,
    "pom.xml": _maven,
    "gemfile": _gemfile,
    "tsconfig.json": _tsconfig,
    "jsconfig.json": _tsconfig,
}
_BY_SUFFIX: dict[str, Callable[[str, str], Manifest]] = {
    "gemspec": _gemspec,
    "csproj": _dotnet,
}
