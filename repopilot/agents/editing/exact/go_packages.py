"""Which selectors of Go code name something of a package from outside of the repository."""

from __future__ import annotations

import posixpath
import re

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import Sources, SourceText

_IMPORT = re.compile(rb'(?m)^[^\S\n]*(?:import\s+)?(?P<alias>[\w.]+\s+)?"(?P<path>[\w./~-]+)"\s*$')

_DECLARED = rb"(?m)(?:(?:^[^\S\n]*|[(,]\s*|\bvar\s+)%(name)b\s+\**|(?<![.\w])%(name)b\s*:=\s*&?)(?P<of>\w+)(?P<dot>\.)?"

_CLAUSE = re.compile(rb"^package\s+(\w+)", re.M)


def package_files(source: SourceText, name: str, sources: Sources) -> list[SourceText]:
    """The files of a Go package that have a name.

    Args:
        source: a file of the package.
        name: the name.
        sources: the files.
    """
    folder = posixpath.dirname(source.path)
    paths = [path for path in sources.mentioning(name, ("go",)) if posixpath.dirname(path) == folder]
    found = [other for path in paths if (other := sources.get(path)) is not None]
    return [other for other in found if _clause(other) == _clause(source)]


def _clause(source: SourceText) -> str:
    match = _CLAUSE.search(source.data)
    return match[1].decode("utf-8") if match else ""


class OtherPackages:
    """Answers for the Go files of one repository, each of which is read once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        manifest = sources.get("go.mod")
        found = re.search(r"(?m)^module\s+(\S+)", manifest.text) if manifest is not None else None
        self._module = found[1] if found else ""
        self._folders = {posixpath.dirname(path) for path in sources.workspace.index.files}
        self._imports: dict[str, frozenset[str]] = {}

    def is_member(self, source: SourceText, name: Node) -> bool:
        """Whether a name is selected from such a package, or from something declared with a type of one.

        Args:
            source: the file.
            name: the identifier.
        """
        selector = name.parent
        field = selector.child_by_field_name("field") if selector is not None else None
        if selector is None or selector.type != "selector_expression" or field is None or field.id != name.id:
            return False
        operand = selector.child_by_field_name("operand")
        held = re.search(r"(\w+)$", source.slice(operand)) if operand is not None else None
        if held is None:
            return False
        return held[1] in self._names(source) or self._is_declared_with(held[1])

    def _names(self, source: SourceText) -> frozenset[str]:
        """The names of the packages from outside that a file imports."""
        if source.path not in self._imports:
            found = set()
            for match in _IMPORT.finditer(source.data):
                path = match["path"].decode("utf-8")
                alias = (match["alias"] or b"").strip().decode("utf-8")
                if not self._is_own(path):
                    found.add(alias or re.sub(r"^go-|/v\d+$|\.v\d+$", "", path).rpartition("/")[2])
            self._imports[source.path] = frozenset(found)
        return self._imports[source.path]

    def _is_own(self, path: str) -> bool:
        if self._module:
            return path == self._module or path.startswith(f"{self._module}/")
        return any(folder and f"/{path}".endswith(f"/{folder}") for folder in self._folders)

    def _is_declared_with(self, name: str) -> bool:
        """Whether every declaration of a variable or field has a type of a package from outside."""
        declared = re.compile(_DECLARED % {b"name": re.escape(name.encode("utf-8"))})
        found = []
        for path in self._sources.mentioning(name, ("go",)):
            source = self._sources.get(path)
            if source is None:
                continue
            names = self._names(source)
            found += [m["dot"] is not None and m["of"].decode("utf-8") in names for m in declared.finditer(source.data)]
        return bool(found) and all(found)
