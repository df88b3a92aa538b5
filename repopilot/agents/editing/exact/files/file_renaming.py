"""Renames files that are no Python modules, with what imports or names them."""

from __future__ import annotations

import posixpath
import re

from repopilot import i18n
from repopilot.agents.editing.exact.braces.containers import SCRIPTS
from repopilot.agents.editing.exact.braces.script_modules import module_file, module_names, renamed_module
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.files.file_deleting import script_imports
from repopilot.agents.editing.exact.files.path_mentions import mend_mentions
from repopilot.agents.editing.exact.files.rust_module_paths import module_declaration, module_uses
from repopilot.agents.editing.exact.renaming import rename
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, merge
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_BUILD_TAGS = re.compile(
    r"_(?:test|windows|linux|darwin|freebsd|netbsd|openbsd|solaris|android|ios|js|wasm|plan9|unix|aix|dragonfly|"
    r"illumos|amd64|386|arm|arm64|riscv64|ppc64|ppc64le|s390x|mips|mips64|mipsle|mips64le)(?=[_.])"
)
_FIXED = ("main.rs", "lib.rs", "mod.rs", "build.rs", "package-info.java", "module-info.java", "package.json", "go.mod")


def rename_other_file(old: str, new: str, sources: Sources) -> Patch | None:
    """Rename a file that is no Python module.

    Args:
        old: its path.
        new: its new path, where there is no file yet.
        sources: the files.

    Returns:
        The changes; None where code doesn't know what the name means to others.

    Raises:
        GenerationFailed: the new name can't be that of a module or class.
    """
    source = sources.get(old)
    if source is None or posixpath.basename(old) in _FIXED or new.endswith(".py"):
        return None
    patch = Patch(moved={old: new})
    patch.edits.append(Edit("rename_file", old, posixpath.basename(old), new))
    known = True
    if source.language in SCRIPTS:
        _script(source, new, sources, patch)
    elif source.language == "go":
        known = posixpath.dirname(old) == posixpath.dirname(new) and _tags(old) == _tags(new)
    elif source.language == "rust":
        known = _rust(old, new, sources, patch)
    elif source.language == "java":
        known = _java(source, new, sources, patch)
    if not known:
        return None
    mend_mentions(old, new, sources, patch)
    return patch


def _tags(path: str) -> list[str]:
    return _BUILD_TAGS.findall(posixpath.basename(path))


def _script(source: SourceText, new: str, sources: Sources, patch: Patch) -> None:
    """Mend the relative imports of a file, and those in it where it gets into another folder."""
    old, files = source.path, sources.workspace.index.files
    for other, name in script_imports(old, sources):
        written = other.slice(name)[1:-1]
        base = new if other.path == old else other.path
        patch.replace(other.path, name.start_byte + 1, name.end_byte - 1, renamed_module(base, written, new))
        line = i18n.message("exact.line", line=other.line_of(name.start_byte))
        patch.edits.append(Edit("rename_file", other.path, line, new))
    if posixpath.dirname(old) == posixpath.dirname(new):
        return
    for name in module_names(source):
        written = source.slice(name)[1:-1]
        target = module_file(old, written, files)
        if target is not None and target != old:
            patch.replace(old, name.start_byte + 1, name.end_byte - 1, renamed_module(new, written, target))


def _rust(old: str, new: str, sources: Sources, patch: Patch) -> bool:
    """Rename the module of a file, with the files below it; whether that is possible."""
    if posixpath.dirname(old) != posixpath.dirname(new):
        return False
    name = posixpath.basename(new).removesuffix(".rs")
    declared = module_declaration(old, sources)
    if declared is None:  # a test, an example or a program of its own
        return re.search(r"(?:^|/)(?:tests|examples|benches|bin)/[^/]+$", old) is not None
    if not re.fullmatch(r"[a-z_]\w*", name):
        raise GenerationFailed(i18n.message("exact.no_identifier", name=name))
    source, _, label = declared
    patch.replace(source.path, label.start_byte, label.end_byte, name)
    for other, node, sure in module_uses(old, sources):
        if sure:
            patch.replace(other.path, node.start_byte, node.end_byte, name)
        else:
            patch.leave_open(other, node.start_byte, i18n.message("exact.open.module"))
    folder = old.removesuffix(".rs")
    for path in sources.workspace.index.files:
        if path.startswith(f"{folder}/"):
            patch.moved[path] = f"{new.removesuffix('.rs')}{path[len(folder) :]}"
    return True


def _java(source: SourceText, new: str, sources: Sources, patch: Patch) -> bool:
    """Rename the class that a file is called by; whether that is possible."""
    if posixpath.dirname(source.path) != posixpath.dirname(new):
        return False
    before, after = (posixpath.basename(p).removesuffix(".java") for p in (source.path, new))
    place = (NamedPlace(source.path, "file"),)
    kinds = ("class", "interface", "enum")
    own = [s for s in sources.outline(source.path) if s.qualified == before and s.kind in kinds]
    if not own:
        return True
    task = ExactTask("rename", before, "class", after, places=place, mention=f"@{source.path}:{before}")
    renamed = rename(task, sources)
    if renamed is None:
        return False
    merge(patch, renamed)
    return True
