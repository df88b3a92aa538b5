"""Imports of a package's own modules written relatively or absolutely: `from .utils import x`."""

from __future__ import annotations

from collections.abc import Iterator

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, task_paths
from repopilot.agents.editing.exact.python.import_lines import top_imports
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit


def change_import_style(task: ExactTask, sources: Sources) -> Patch | None:
    """Write imports out of a file's own package relatively or absolutely.

    Args:
        task: of kind import_style: `relative` or `absolute` in `new`, the file as the place, perhaps one module as it
            is written in `name`.
        sources: the files.

    Returns:
        The change; None where the task names no single Python file.

    Raises:
        GenerationFailed: all are written so already.
    """
    paths = task_paths(task, sources)
    source = sources.get(paths[0]) if len(paths) == 1 else None
    if source is None or source.language != "python" or source.root is None:
        return None
    check_editable(source.path, task, sources)
    patch = Patch()
    for start, end, new in in_style(source.path, task.new, task.name, sources):
        patch.replace(source.path, start, end, new)
    if not patch.replacements:
        raise GenerationFailed(i18n.message("exact.already_there", name=f"{task.new} import", path=source.path))
    patch.edits.append(Edit("import_style", source.path, "imports"))
    return patch


def in_style(path: str, style: str, module: str, sources: Sources) -> Iterator[tuple[int, int, str]]:
    """The module names in a file's imports that have to be written otherwise.

    Args:
        path: the file.
        style: relative or absolute.
        module: one module as it is written, '' for all.
        sources: the files.

    Yields:
        (start, end, text): the bytes of a name, and what is to stand there.
    """
    source = sources.get(path)
    if source is None or source.root is None:
        return
    package = _package_of(source, sources)
    for statement in top_imports(source):
        node = statement.child_by_field_name("module_name")
        written = source.slice(node).replace(" ", "") if node is not None else ""
        if node is None or (module and written != module) or written.startswith(".") == (style == "relative"):
            continue
        new = _relative(written, package) if style == "relative" else _absolute(written, package)
        if new:
            yield node.start_byte, node.end_byte, new


def _package_of(source: SourceText, sources: Sources) -> list[str]:
    """The package that a file is in, by its parts."""
    name = modules_of(sources.workspace.index).name_of(source.path).split(".")
    return name if source.path.endswith("__init__.py") else name[:-1]


def _relative(module: str, package: list[str]) -> str:
    """A module as a file of a package imports it relatively; '' where it isn't in the same outermost package."""
    parts = module.split(".")
    same = next(
        (n for n, (a, b) in enumerate(zip(parts, package, strict=False)) if a != b), min(len(parts), len(package))
    )
    return "." * (len(package) - same + 1) + ".".join(parts[same:]) if same else ""


def _absolute(module: str, package: list[str]) -> str:
    """A relative module by its full name; '' where it leaves the package."""
    bare = module.lstrip(".")
    up = len(module) - len(bare) - 1
    return ".".join([*package[: len(package) - up], *([bare] if bare else [])]) if up < len(package) else ""
