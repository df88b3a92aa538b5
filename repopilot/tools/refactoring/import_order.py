"""Which modules of a repository run when one of them is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools.file_change import syntax_error
from repopilot.tools.refactoring.python_imports import Bound, ModuleText, is_package, plain
from repopilot.tools.working_copy import WorkingCopy


class ImportOrder:
    """The imports of a repository's modules, read on demand.

    Args:
        copy: the working copy.
        packages: the folders that are packages.
    """

    def __init__(self, copy: WorkingCopy, packages: frozenset[str]) -> None:
        self._copy = copy
        self._packages = packages
        files = [path for path in copy.searched() if path.endswith(".py")]
        self._files = frozenset(files)
        folders = {str(PurePosixPath(path).parent) for path in files}
        self._roots = ["", *sorted(f for f in folders if f != "." and f not in packages)]

    def require_acyclic(self, texts: Mapping[str, str | None], target: str) -> None:
        """Refuse new texts that add a circular import: a module would run before the names that it imports exist.

        Args:
            texts: the new texts by path.
            target: the module that others newly import.

        Raises:
            UsageError: they add one.
        """
        files = self._files | {target}
        for path, text in texts.items():
            if text is None or not path.endswith(".py"):
                continue
            before = {bound for bound, _ in self._imports(path, self._text(path, {}), files)}
            for bound, module in self._imports(path, text, files):
                if bound in before or module == path:
                    continue
                if bound[1] and self._reaches(module, path, texts, files):
                    raise UsageError(message("moves.circle", one=path, other=module))

    def _text(self, path: str, texts: Mapping[str, str | None]) -> str:
        text = plain(texts[path] if path in texts else self._copy.resolver.text(path))
        return text if syntax_error(path, text) is None else ""

    def _imports(self, path: str, text: str, files: frozenset[str]) -> Iterator[tuple[tuple[str, str], str]]:
        """The imports of a module at run time: the module's name as written with the name taken from it, and the
        file."""
        for bound in ModuleText(path, text, self._packages).imports:
            if bound.lazy or bound.typing:
                continue
            for name, taken in _modules(bound):
                for module in self._found(path, name, files):
                    yield (name, taken), module

    def _found(self, path: str, name: str, files: frozenset[str]) -> Iterator[str]:
        own = str(PurePosixPath(path).parent)
        roots = [""] if name.startswith("/") else self._roots
        for root in roots:
            inner = name[1:] if name.startswith("/") else name.replace(".", "/")
            base = f"{root}/{inner}" if root else inner
            for file in (f"{base}.py", f"{base}/__init__.py"):
                around = is_package(file) and (f"{own}/".startswith(f"{base}/"))
                if file in files and not around:
                    yield file

    def _reaches(self, start: str, goal: str, texts: Mapping[str, str | None], files: frozenset[str]) -> bool:
        waiting = [start]
        seen = {start}
        while waiting:
            path = waiting.pop()
            for _, module in self._imports(path, self._text(path, texts), files):
                if module == goal:
                    return True
                if module not in seen:
                    seen.add(module)
                    waiting.append(module)
        return False


def _modules(bound: Bound) -> Iterator[tuple[str, str]]:
    """The modules that an import runs, each with the name that must exist in it at once, '' for none."""
    if isinstance(bound.node, ast.Import):
        parts = bound.alias.name.split(".")
        yield from ((".".join(parts[: n + 1]), "") for n in range(len(parts)))
        return
    glue = "/" if bound.module.startswith("/") else "."
    parts = bound.module.split(glue)
    if glue == ".":
        yield from ((glue.join(parts[:n]), "") for n in range(1, len(parts)))
    yield bound.module, bound.alias.name
    yield bound.whole, ""
