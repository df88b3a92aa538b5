"""Where the manifests of a repository require something: each requirement with the bytes of its version."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.manifests.manifest_tree import (
    ini_values,
    inner_span,
    pairs_of,
    strings_in,
)
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.code.languages import is_example_path, is_test_path

PEP_508 = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?P<extras>\s*\[[^\]]*\])?(?P<gap>\s*)(?P<spec>[^;#@\s][^;#@]*?)?"
    r"(?P<rest>\s*(?:[;#@].*)?)"
)
_REQUIREMENT_FILE = re.compile(
    r"(?:^|/)(?:requirements|constraints)[^/]*\.(?:txt|in)$|(?:^|/)requirements/[^/]+\.(?:txt|in)$"
)
_NPM_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "engines")
_CARGO_GROUPS = ("dependencies", "dev-dependencies", "build-dependencies")
_INI_LISTS = ("install_requires", "setup_requires", "tests_require", "deps")
_POM = re.compile(
    r"<(?P<tag>dependency|plugin|parent)>(?:(?!</(?P=tag)>).)*?<artifactId>\s*(?P<name>[^<\s]+)\s*</artifactId>"
    r"(?:(?!</(?P=tag)>).)*?(?:<version>\s*(?P<spec>[^<\s]+)\s*</version>(?:(?!</(?P=tag)>).)*?)?</(?P=tag)>",
    re.S,
)
_GRADLE = re.compile(r"[\"'](?P<group>[\w.-]+):(?P<name>[\w.-]+):(?P<spec>[^\"':$]+)[\"':@]")
_GO = re.compile(r"^(?:require\s+|\t| +)(?P<name>[\w.-]+\.[\w.-]+/\S+)\s+(?P<spec>v\S+)", re.M)


@dataclass(frozen=True, slots=True)
class RequirementPlace:
    """A requirement in a manifest.

    Attributes:
        path: the manifest.
        name: what is required, as written.
        start, end: the bytes of the version, empty where none is said.
        spec: the version as written.
        form: `pep508`, `poetry`, `npm`, `cargo`, `go`, `pom` or `gradle`.
        group: '' for what the project itself needs, else the name of the group or extra.
        node: the string or pair that is the requirement, where the file has a syntax tree.
        line: the bytes of its line where it is one of a list of lines, else (0, 0).
    """

    path: str
    name: str
    start: int
    end: int
    spec: str
    form: str
    group: str = ""
    node: Node | None = None
    line: tuple[int, int] = (0, 0)


def requirement_places(sources: Sources) -> Iterator[RequirementPlace]:
    """The requirements of all manifests of a repository, apart from those of its tests and examples."""
    for path in manifest_paths(sources):
        source = sources.get(path)
        if source is not None:
            yield from places_in_manifest(source)


def manifest_paths(sources: Sources) -> list[str]:
    """The manifests, those at the top first."""
    names = "pyproject.toml setup.cfg setup.py tox.ini package.json Cargo.toml go.mod pom.xml".split()
    found = []
    for path in sources.workspace.index.files:
        named = (
            posixpath.basename(path) in names or _REQUIREMENT_FILE.search(path) or path.endswith((".gradle", ".kts"))
        )
        if named and not (is_test_path(path) and "requirements" not in path) and not is_example_path(path):
            found.append(path)
    present = [n for n in names if n not in found and sources.get(n) is not None]
    return sorted([*found, *present], key=lambda p: (p.count("/"), p))


def places_in_manifest(source: SourceText) -> Iterator[RequirementPlace]:
    """The requirements of one manifest."""
    name = posixpath.basename(source.path)
    if name == "package.json":
        yield from _npm(source)
    elif name == "Cargo.toml":
        yield from _toml_versions(source, "cargo")
    elif name == "pyproject.toml":
        yield from _pyproject(source)
    elif name in ("setup.cfg", "tox.ini"):
        yield from _ini(source)
    elif name == "setup.py":
        yield from _setup(source)
    elif name == "go.mod":
        yield from _matches(source, _GO, "go")
    elif name == "pom.xml":
        yield from _matches(source, _POM, "pom")
    elif name.endswith((".gradle", ".kts")):
        yield from _matches(source, _GRADLE, "gradle")
    else:
        yield from _lines(source, 0, source.text, _file_group(source.path))


def _file_group(path: str) -> str:
    """The group of a file of requirements, by its name: `requirements-dev.txt`, `requirements/tests.txt`."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    folder = posixpath.basename(posixpath.dirname(path))
    own = folder if folder != "requirements" else ""
    return re.sub(r"^(?:requirements|constraints)[-_.]?", "", stem) if stem != "requirements" else own


def _pep_508(
    source: SourceText, start: int, text: str, group: str, node: Node | None = None, line: tuple[int, int] = (0, 0)
) -> RequirementPlace | None:
    """A requirement of Python whose text begins at a byte."""
    match = PEP_508.fullmatch(text)
    if match is None or (match["spec"] and not re.match(r"[<>=!~(]", match["spec"])):
        return None
    at = match.end("extras") if match["extras"] else match.end("name")
    begin, end = match.span("spec") if match["spec"] else (at, at)
    first = start + len(text[:begin].encode("utf-8"))
    last = start + len(text[:end].encode("utf-8"))
    return RequirementPlace(source.path, match["name"], first, last, match["spec"] or "", "pep508", group, node, line)


def _pyproject(source: SourceText) -> Iterator[RequirementPlace]:
    yield from _toml_versions(source, "poetry")
    for pair in pairs_of(source):
        group = _array_group(pair.name)
        if group is None or pair.value.type != "array":
            continue
        for string in strings_in(pair.value):
            start, end = inner_span(source, string)
            found = _pep_508(source, start, source.data[start:end].decode("utf-8"), group, string)
            if found is not None:
                yield found


def _array_group(name: tuple[str, ...]) -> str | None:
    """The group of an array of requirements of Python; None for any other array."""
    if name == ("project", "dependencies"):
        return ""
    if name[:2] == ("project", "optional-dependencies") or name[:1] == ("dependency-groups",):
        return name[-1]
    if name == ("build-system", "requires"):
        return "build-system"
    if name[:1] == ("tool",) and name[-1].endswith(("dependencies", "dev-dependencies")):
        return "dev"
    return None


def _toml_versions(source: SourceText, form: str) -> Iterator[RequirementPlace]:
    """The tables of Cargo and Poetry: `name = "1.0"`, `name = {version = "1.0"}` and `[dependencies.name]`."""
    for pair in pairs_of(source):
        found = _of_table(pair.name, form)
        if found is None:
            continue
        group, rest = found
        if pair.value.type != "string" or not (len(rest) == 1 or (len(rest) == 2 and rest[1] == "version")):
            continue
        start, end = inner_span(source, pair.value)
        spec = source.data[start:end].decode("utf-8")
        yield RequirementPlace(source.path, rest[0], start, end, spec, form, group, pair.node)


def _of_table(name: tuple[str, ...], form: str) -> tuple[str, tuple[str, ...]] | None:
    """The group of a key in a table of requirements, and what follows the table's name."""
    for at, part in enumerate(name[:-1]):
        if form == "cargo" and part in _CARGO_GROUPS:
            return ("" if part == "dependencies" else part.removesuffix("-dependencies")), name[at + 1 :]
        if form == "poetry" and name[:2] == ("tool", "poetry") and part in ("dependencies", "dev-dependencies"):
            group = name[3] if name[2] == "group" else "dev" if part == "dev-dependencies" else ""
            return group, name[at + 1 :]
    return None


def _npm(source: SourceText) -> Iterator[RequirementPlace]:
    for pair in pairs_of(source):
        if len(pair.name) == 2 and pair.name[0] in _NPM_GROUPS and pair.value.type == "string":
            start, end = inner_span(source, pair.value)
            spec = source.data[start:end].decode("utf-8")
            group = "" if pair.name[0] == "dependencies" else pair.name[0].removesuffix("Dependencies")
            yield RequirementPlace(source.path, pair.name[1], start, end, spec, "npm", group, pair.node)


def _ini(source: SourceText) -> Iterator[RequirementPlace]:
    for value in ini_values(source):
        if value.key in _INI_LISTS or value.section == "options.extras_require":
            group = "" if value.key == "install_requires" else value.key if "extras" in value.section else "test"
            yield from _lines(source, value.start, value.text, group)


def _lines(source: SourceText, start: int, text: str, group: str) -> Iterator[RequirementPlace]:
    """Requirements on lines of their own."""
    at = start
    for row in text.split("\n"):
        size = len(row.encode("utf-8"))
        inner = re.sub(r"(?:^|\s)#.*", "", row).strip()
        shift = len(row[: len(row) - len(row.lstrip())].encode("utf-8"))
        plain = inner and not inner.startswith(("-", ".", "/")) and "://" not in inner
        body = re.sub(r"^[\w{},-]+:\s+", "", inner) if source.path.endswith("tox.ini") else inner
        if plain:
            begin = at + shift + len(inner[: len(inner) - len(body)].encode("utf-8"))
            found = _pep_508(source, begin, body, group, None, (at, at + size))
            if found is not None:
                yield found
        at += size + 1


def _setup(source: SourceText) -> Iterator[RequirementPlace]:
    """The strings of lists in `setup.py`."""
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop()
        pending.extend(reversed(node.named_children))
        if node.type != "string" or node.parent is None or node.parent.type not in ("list", "tuple", "set"):
            continue
        start, end = inner_span(source, node)
        group = _setup_group(source, node)
        text = source.data[start:end].decode("utf-8")
        found = _pep_508(source, start, text, group, node) if group is not None else None
        if found is not None:
            yield found


def _setup_group(source: SourceText, node: Node) -> str | None:
    """The group of a list in `setup.py`, by the names of what holds it; None where they don't speak of requirements."""
    current: Node | None = node
    key = ""
    while current is not None and current.type != "module":
        if current.type == "pair" and not key:
            label = current.child_by_field_name("key")
            key = source.slice(label).strip("\"'") if label is not None else ""
        label = current.child_by_field_name("name") or current.child_by_field_name("left")
        written = source.slice(label).lower() if label is not None else ""
        if current.type in ("keyword_argument", "assignment") and re.search(r"requir|depend", written):
            return key or ("" if re.search(r"install|^require|^depend", written) else "test")
        current = current.parent
    return None


def _matches(source: SourceText, pattern: re.Pattern[str], form: str) -> Iterator[RequirementPlace]:
    text = source.text
    for match in pattern.finditer(text):
        if match["spec"] is None:
            continue
        start, end = (len(text[:at].encode("utf-8")) for at in match.span("spec"))
        first = text.rfind("\n", 0, match.start("name")) + 1
        last = text.find("\n", match.end())
        line = (len(text[:first].encode("utf-8")), len(text[: last if last >= 0 else len(text)].encode("utf-8")))
        yield RequirementPlace(source.path, match["name"], start, end, match["spec"], form, "", None, line)


def same_requirement(one: str, other: str, form: str) -> bool:
    """Whether two names are those of one package."""
    if form in ("pep508", "poetry"):
        return _normal(one) == _normal(other)
    if form == "go":
        return one == other or one.endswith(f"/{other}") or re.sub(r"/v\d+$", "", one).endswith(f"/{other}")
    if form == "cargo":
        return one.replace("-", "_") == other.replace("-", "_")
    return one == other


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def is_pair(place: RequirementPlace) -> bool:
    """Whether a requirement is a key with a value."""
    return place.node is not None and place.node.type == "pair"
