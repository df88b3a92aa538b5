"""Reads project manifests: name, dependencies, scripts, entry points."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass

from repopilot.code.data_formats import from_json, from_jsonc, from_toml


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a project manifest.

    `ecosystem` is npm, python, cargo, go, maven, composer or ruby; `name` the package's name, or a Go module's path;
    `scripts` and `entry_points` map names to commands and to places in the code; `paths`, of a tsconfig.json, patterns
    of modules to what they stand for.
    """

    path: str
    ecosystem: str
    name: str = ""
    dependencies: tuple[str, ...] = ()
    scripts: Mapping[str, str] | None = None
    entry_points: Mapping[str, str] | None = None
    paths: Mapping[str, str] | None = None


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
    except (ValueError, TypeError, AttributeError, KeyError, Error):
        return None


def _reader(path: str) -> Callable[[str, str], Manifest] | None:
    name = path.rsplit("/", 1)[-1].lower()
    if re.fullmatch(r"(.*[-_])?requirements([-_.].*)?\.(txt|in)", name):
        return _requirements
    return _READERS.get(name) or (_tsconfig if maps_modules(path) else None)


def _npm(path: str, text: str) -> Manifest:
    data = from_json(text)
    entries = {key: data[key] for key in ("main", "module", "types", "browser") if isinstance(data.get(key), str)}
    binary = data.get("bin")
    if isinstance(binary, str):
        entries["bin"] = binary
    elif isinstance(binary, dict):
        entries |= _strings(binary)
    needs = [n for key in ("dependencies", "devDependencies", "peerDependencies") for n in data.get(key) or ()]
    return Manifest(
        path, "npm", str(data.get("name") or ""), tuple(dict.fromkeys(needs)), _strings(data.get("scripts")), entries
    )


def _tsconfig(path: str, text: str) -> Manifest:
    options = from_jsonc(text).get("compilerOptions") or {}
    base = str(options.get("baseUrl") or ".")
    paths = {name: posixpath.join(base, str(to[0])) for name, to in (options.get("paths") or {}).items() if to}
    if "baseUrl" in options:
        paths.setdefault("*", posixpath.join(base, "*"))
    return Manifest(path, "", paths=paths)


def _pyproject(path: str, text: str) -> Manifest:
    data = from_toml(text)
    project, poetry = data.get("project") or {}, (data.get("tool") or {}).get("poetry") or {}
    needs = [*_requirement_names(project.get("dependencies") or ()), *(poetry.get("dependencies") or {})]
    for group in (project.get("optional-dependencies") or {}).values():
        needs += _requirement_names(group)
    scripts = _strings(project.get("scripts")) | _strings(poetry.get("scripts"))
    return Manifest(
        path,
        "python",
        str(project.get("name") or poetry.get("name") or ""),
        tuple(dict.fromkeys(n for n in needs if n != "python")),
        {},
        scripts,
    )


def _setup_cfg(path: str, text: str) -> Manifest:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lines = parser.get("options", "install_requires", fallback="").split("\n")
    scripts = parser.get("options.entry_points", "console_scripts", fallback="").split("\n")
    pairs = (line.partition("=") for line in scripts if "=" in line)
    return Manifest(
        path,
        "python",
        parser.get("metadata", "name", fallback=""),
        tuple(_requirement_names(lines)),
        {},
        {name.strip(): place.strip() for name, _, place in pairs},
    )


def _requirements(path: str, text: str) -> Manifest:
    return Manifest(path, "python", "", tuple(_requirement_names(text.split("\n"))), {}, {})


def _cargo(path: str, text: str) -> Manifest:
    data = from_toml(text)
    needs = [n for key in ("dependencies", "dev-dependencies", "build-dependencies") for n in data.get(key) or ()]
    binaries = {b["name"]: b.get("path", "") for b in data.get("bin") or () if "name" in b}
    return Manifest(path, "cargo", str((data.get("package") or {}).get("name") or ""), tuple(needs), {}, binaries)


_GO_MODULE = re.compile(r"[\w.-]+\.[\w.-]+/\S")


def _go(path: str, text: str) -> Manifest:
    name = re.search(r"^module\s+(\S+)", text, re.M)
    lines = (line.removeprefix("require").split() for line in map(str.strip, text.split("\n")))
    needs = [words[0] for words in lines if len(words) > 1 and _GO_MODULE.match(words[0]) and words[1][:1] == "v"]
    return Manifest(path, "go", name[1].strip('"') if name else "", tuple(dict.fromkeys(needs)), {}, {})


_ARTIFACT = re.compile(r"<artifactId>\s*([^<\s]+)")


def _maven(path: str, text: str) -> Manifest:
    first, _, rest = text.partition("<parent>")
    name = _ARTIFACT.search(first + rest.partition("</parent>")[2])
    # Cut first: a pattern over all of a file takes quadratic time where the ends of elements are missing.
    found = (_ARTIFACT.search(piece) for piece in text.split("<dependency>")[1:])
    needs = dict.fromkeys(artifact[1] for artifact in found if artifact)
    return Manifest(path, "maven", name[1] if name else "", tuple(needs), {}, {})


def _composer(path: str, text: str) -> Manifest:
    data = from_json(text)
    needs = [*(data.get("require") or ()), *(data.get("require-dev") or ())]
    return Manifest(path, "composer", str(data.get("name") or ""), tuple(needs), _strings(data.get("scripts")), {})


def _gemfile(path: str, text: str) -> Manifest:
    return Manifest(path, "ruby", "", tuple(re.findall(r"^[^\S\n]*gem\s+['\"]([^'\"]+)", text, re.M)), {}, {})


def _strings(mapping: object) -> dict[str, str]:
    return {str(k): v for k, v in mapping.items() if isinstance(v, str)} if isinstance(mapping, dict) else {}


def _requirement_names(lines: Iterable[str]) -> list[str]:
    matches = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", line) for line in lines if not line.lstrip().startswith(("#", "-")))
    return list(dict.fromkeys(match[1] for match in matches if match))


_READERS: dict[str, Callable[[str, str], Manifest]] = {
    "package.json": _npm,
    "composer.json": _composer,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "cargo.toml": _cargo,
    "go.mod": _go,
    "pom.xml": _maven,
    "gemfile": _gemfile,
}
