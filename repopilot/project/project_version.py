"""The version of a project, and the files that its build would write it into. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from packaging.version import Version

from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.project.declaration_parts import Read
from repopilot.project.setup_files import config_sections

_ASSIGNED = re.compile(
    r"""^[^\S\n]*(?:__version__|VERSION|version|__VERSION__)\b[^=\n]*=\s*(?:\w+\s*=\s*)?["']([^"'\n]+)["']""", re.M
)
UNKNOWN_VERSION = "0.0.0"
_MODULES = ("__init__", "_version", "__about__", "version", "__version__", "about", "_metadata")


def declared_version(name: str, read: Read) -> str:
    """The version that the files of a project state, '' where it is computed at build time.

    Args:
        name: the project's name.
        read: gives the texts of files.
    """
    for path in _candidates(name, read):
        text = read(path)
        found = _ASSIGNED.search(text) if text else None
        stated = found[1] if found else (text or "").strip() if not path.endswith(".py") else ""
        if stated and _is_version(stated):
            return stated
    return ""


def built_files(version: str, read: Read) -> dict[str, str]:
    """The texts by path of the files that the build writes the version into (setuptools_scm, hatch-vcs, pdm).

    Args:
        version: of the project.
        read: gives the texts of files.
    """
    tool = _tool(read)
    hooks = table(table(table(tool.get("hatch")).get("build")).get("hooks"))
    scm = table(tool.get("setuptools_scm") or tool.get("setuptools-scm"))
    source = table(table(tool.get("pdm")).get("version"))
    pairs = [
        (table(hooks.get("vcs")).get("version-file"), table(hooks.get("vcs")).get("template")),
        (
            scm.get("version_file") or scm.get("write_to"),
            scm.get("version_file_template") or scm.get("write_to_template"),
        ),
        (source.get("write_to"), source.get("write_template")),
    ]
    setup = read("setup.py") or ""
    written = re.search(r"""["']?(?:write_to|version_file)["']?\s*[:=]\s*["']([^"']+)["']""", setup)
    if written:
        pairs.append((written[1], None))
    return {
        path: _version_file(version, template if isinstance(template, str) else "")
        for path, template in pairs
        if isinstance(path, str) and path.endswith(".py")
    }


def _candidates(name: str, read: Read) -> Iterator[str]:
    """Paths of files that may state the version, the declared ones first."""
    tool = _tool(read)
    for source in (table(tool.get("hatch")).get("version"), table(tool.get("pdm")).get("version")):
        path = table(source).get("path")
        if isinstance(path, str):
            yield path
    dynamic = table(table(table(tool.get("setuptools")).get("dynamic")).get("version"))
    configured = config_sections(read("setup.cfg") or "").get("metadata", {}).get("version", "")
    attribute = dynamic.get("attr")
    file = dynamic.get("file")
    if configured.startswith("attr:"):
        attribute = configured[5:].strip()
    if isinstance(attribute, str):
        place = attribute.rpartition(".")[0].replace(".", "/")
        yield from (f"{top}{place}{suffix}" for top in ("", "src/") for suffix in (".py", "/__init__.py"))
    if isinstance(file, str):
        yield file
    package = re.sub(r"[-.]+", "_", name)
    names = dict.fromkeys((package, package.lower(), package.lower().removeprefix("python_"), name.replace("-", "")))
    for top in ("src/", ""):
        for folder in names:
            yield from (f"{top}{folder}/{module}.py" for module in _MODULES)
            yield f"{top}{folder}.py"


def _tool(read: Read) -> Mapping[str, object]:
    return table(toml_tables(read("pyproject.toml") or "").get("tool"))


def _version_file(version: str, template: str) -> str:
    numbers = ", ".join(re.findall(r"\d+", version.partition("+")[0])[:3])
    if template:
        try:
            return template.format(version=version, version_tuple=f"({numbers})")
        except (KeyError, IndexError, ValueError, AttributeError):
            pass  # a template for more than the version: the plain form has the usual names
    return f'__version__ = version = "{version}"\n__version_tuple__ = version_tuple = ({numbers},)\n'


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except ValueError:  # InvalidVersion, and numbers too long to be read
        return False
    return True
