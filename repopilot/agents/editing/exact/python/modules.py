"""Python modules of a repository: the files that imports name."""

from __future__ import annotations

import posixpath
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from repopilot.agents.editing.exact.sources import SourceText
from repopilot.code.graph.import_resolver import python_module
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.index.codec import FileInfo
from repopilot.index.store import Index


@dataclass(frozen=True, slots=True)
class Modules:
    """Files by the full names of their modules."""

    paths: Mapping[str, FileInfo]
    by_name: Mapping[str, Sequence[str]]

    def name_of(self, path: str) -> str:
        """The full name of a file's module."""
        return python_module(path, self.paths)

    def names_of(self, path: str) -> set[str]:
        """The names that a file's module may have in texts: empty `__init__` files aren't indexed, folders are."""
        folders = posixpath.splitext(path)[0].removesuffix("/__init__").replace("/", ".")
        return {self.name_of(path), folders} - {""}

    def find(self, importer: str, module: str) -> str | None:
        """The file of a module as an import names it.

        Args:
            importer: the path of the importing file.
            module: the module as written, with the leading dots of a relative import.

        Returns:
            The path; None for a module outside of the repository, or where several files may be meant.
        """
        if module.startswith("."):
            return self._relative(importer, module)
        folder = posixpath.dirname(importer)
        found = self.by_name.get(module, ())
        if module.partition(".")[0] in sys.stdlib_module_names - {"test"}:
            found = [p for p in found if posixpath.dirname(p) in ("", "src", "lib")]
            return found[0] if len(found) == 1 else None
        near = [p for p in found if posixpath.dirname(p) == folder]
        if len(found) == 1 or near:
            return (near or found)[0]
        if found:
            code = [p for p in found if not is_test_path(p) and not is_example_path(p)]
            return code[0] if len(code) == 1 else None
        tail = module.replace(".", "/")
        package = f"{folder}/__init__.py" in self.paths
        roots = ("", "src/", f"{folder}/" if folder and not package else "")
        return next((p for root in roots if (p := self._file(root + tail)) is not None), None)

    def may_be_inside(self, importer: str, package: str) -> bool:
        """Whether a package that a file imports may be one of the repository: a folder or file of that name at the top,
        above the importing file, or in a folder that holds no module itself and so may be on the path."""
        at = f"/{package}"
        parents = {
            f"/{path}"[: f"/{path}".index(found)].strip("/")
            for path in self.paths
            if path.endswith((".py", ".pyi"))
            for found in (f"{at}/", f"{at}.py")
            if found in f"/{path}"
        }
        modules = {posixpath.dirname(path) for path in self.paths if path.endswith(".py")}
        return any(f"{importer}/".startswith(f"{p}/") or not p or p not in modules for p in parents)

    def _relative(self, importer: str, module: str) -> str | None:
        bare = module.lstrip(".")
        folder = posixpath.dirname(importer)
        for _ in range(len(module) - len(bare) - 1):
            folder = posixpath.dirname(folder)
        base = posixpath.join(folder, bare.replace(".", "/")).rstrip("/")
        return self._file(base) if base else self._file("__init__")

    def _file(self, base: str) -> str | None:
        return next((p for p in (f"{base}.py", f"{base}/__init__.py", f"{base}.pyi") if p in self.paths), None)


def modules_of(index: Index) -> Modules:
    """The Python modules of an index."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path, info in index.files.items():
        if info.language == "python" and not path.endswith(".pyi"):
            by_name[python_module(path, index.files)].append(path)
    return Modules(index.files, dict(by_name))


@dataclass(frozen=True, slots=True)
class ImportedName:
    """One name that an import statement binds: `module` as written, `name` in it ('' for the module itself), `local`
    the name it is bound to."""

    module: str
    name: str
    local: str
    statement: Node


def imported_names(source: SourceText, statement: Node) -> list[ImportedName]:
    """What an import statement binds; a star import binds `*`.

    Args:
        source: the file.
        statement: an `import` or `from … import` statement.
    """
    if statement.type == "import_statement":
        return [_plain_import(source, item, statement) for item in statement.children_by_field_name("name")]
    module = statement.child_by_field_name("module_name")
    written = source.slice(module).replace(" ", "") if module is not None else "__future__"
    if any(c.type == "wildcard_import" for c in statement.children):
        return [ImportedName(written, "*", "*", statement)]
    found = []
    for item in statement.children_by_field_name("name"):
        name, local = _name_and_local(source, item)
        found.append(ImportedName(written, name, local, statement))
    return found


def _plain_import(source: SourceText, item: Node, statement: Node) -> ImportedName:
    name, local = _name_and_local(source, item)
    if item.type == "aliased_import":
        return ImportedName(name, "", local, statement)
    return ImportedName(name.split(".")[0], "", name.split(".")[0], statement)


def _name_and_local(source: SourceText, item: Node) -> tuple[str, str]:
    if item.type == "aliased_import":
        name, alias = item.child_by_field_name("name"), item.child_by_field_name("alias")
        assert name is not None
        return source.slice(name), source.slice(alias) if alias is not None else ""
    return source.slice(item), source.slice(item)


def statement_around(node: Node) -> Node | None:
    """The import statement that a node is part of."""
    current: Node | None = node
    while current is not None and current.type not in (
        "import_statement",
        "import_from_statement",
        "future_import_statement",
    ):
        current = current.parent
    return current
