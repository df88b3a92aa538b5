"""Which imports a piece of Python needs, where that is certain, and which are unused without another."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import re
import sys
import typing
from collections.abc import Collection, Iterable, Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.deletion import item_is_plain
from repopilot.agents.editing.exact.members import import_path
from repopilot.agents.editing.exact.python.classes import PythonProject
from repopilot.agents.editing.exact.python.import_lines import WantedImport, add_import, remove_names, top_imports
from repopilot.agents.editing.exact.python.modules import imported_names
from repopilot.agents.editing.exact.python.name_uses import NameUse, name_table, scope_of
from repopilot.agents.editing.exact.python.references import in_all
from repopilot.agents.editing.exact.sources import Patch, SourceText
from repopilot.code.languages import is_test_path
from repopilot.code.python_ast import parse_python

_FROM = {
    "abc": "ABC abstractmethod ABCMeta",
    "collections": "Counter OrderedDict defaultdict deque namedtuple ChainMap",
    "contextlib": "contextmanager asynccontextmanager suppress ExitStack AsyncExitStack closing nullcontext",
    "dataclasses": "dataclass",
    "decimal": "Decimal",
    "enum": "Enum IntEnum StrEnum Flag IntFlag",
    "fractions": "Fraction",
    "functools": "partial wraps lru_cache cached_property total_ordering singledispatch cache",
    "pathlib": "Path PurePath PosixPath PurePosixPath",
    "uuid": "UUID uuid4",
    "types": "SimpleNamespace MappingProxyType TracebackType ModuleType",
}
_MODULE_OF = {name: module for module, names in _FROM.items() for name in names.split()}
_OF_DATETIME = ("datetime", "date", "time", "timedelta", "timezone", "tzinfo", "UTC", "MINYEAR", "MAXYEAR")
_SUBMODULES = frozenset(
    "collections.abc concurrent.futures email.message email.utils http.client http.server importlib.metadata "
    "importlib.resources importlib.util logging.config logging.handlers unittest.mock urllib.error urllib.parse "
    "urllib.request xml.etree".split()
)
"""Modules that the import of their package doesn't load."""
_ABSTRACT = frozenset(collections.abc.__all__)
_TYPING = frozenset(typing.__all__) - _ABSTRACT


def names_in(text: str) -> set[str]:
    """The names that a piece of Python looks up; those of the words in it where it can't be parsed alone."""
    dummy = "__other__"
    forms = (
        text,
        f"{text}\n    pass",
        f"({text})",
        f"{dummy} {text}",
        f"try: pass\n{text}\n    pass",
        f"{dummy} {text} {dummy}",
        f"{text}\ndef {dummy}(): pass",
        f"class {dummy}({text}): pass",
    )
    for form in forms:
        try:
            tree = parse_python(form)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - {dummy}
    return set()


def import_for(project: PythonProject, source: SourceText, name: str, text: str) -> WantedImport | None:
    """The import that certainly gives a name its meaning; None where that isn't known.

    Args:
        project: the repository.
        source: the file that needs it.
        name: the name.
        text: the code that uses it.
    """
    index = project.sources.workspace.index
    places = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
    places = {p for p in places if not is_test_path(p)} or places
    known = name in _ABSTRACT or name in _TYPING or name in _MODULE_OF
    if len(places) == 1 and not known:
        return WantedImport(_module_text(project, source, places.pop()), name)
    if places:
        return None
    if name in _ABSTRACT:
        old = any(
            i.module == "typing" for s in top_imports(source) for i in imported_names(source, s) if i.name in _ABSTRACT
        )
        return WantedImport("typing" if old else "collections.abc", name)
    if name in _TYPING:
        return WantedImport("typing", name)
    if name in _MODULE_OF:
        return WantedImport(_MODULE_OF[name], name)
    member = re.search(rf"\b{re.escape(name)}\.(\w+)", text)
    if name == "datetime" and (member is None or member[1] not in _OF_DATETIME):
        return WantedImport("datetime", "datetime")
    if name not in sys.stdlib_module_names or member is None:
        return None
    return WantedImport(f"{name}.{member[1]}" if f"{name}.{member[1]}" in _SUBMODULES else name)


def _module_text(project: PythonProject, source: SourceText, path: str) -> str:
    """How a file names a module: as it does already, if it imports from it."""
    for statement in top_imports(source):
        module = statement.child_by_field_name("module_name")
        written = source.slice(module).replace(" ", "") if module is not None else ""
        if written and project.modules.find(source.path, written) == path:
            return written
    return import_path(project, source, path)


def missing_imports(
    project: PythonProject, source: SourceText, text: str, patch: Patch, known: Iterable[str] = ()
) -> list[WantedImport]:
    """The imports that a file needs for new code; for names that no import is certain for there is a note.

    Args:
        project: the repository.
        source: the file.
        text: the new code.
        known: the names in it that need none.
        patch: receives the notes.
    """
    found = []
    for name in sorted(names_in(text) - set(known)):
        if source.root is None or hasattr(builtins, name) or _is_bound(source, source.root, name):
            continue
        wanted = import_for(project, source, name, text)
        if wanted is None:
            patch.notes.append(i18n.message("exact.not_imported", name=name, path=source.path))
        else:
            found.append(wanted)
    return found


def is_unknown_class(project: PythonProject, source: SourceText, name: str) -> bool:
    """Whether a name is written like a class, and neither Python, the repository nor the file has one of that name."""
    if not re.match(r"_*[A-Z]+[a-z]", name) or hasattr(builtins, name) or source.root is None:
        return False
    known = name in _ABSTRACT or name in _TYPING or name in _MODULE_OF
    return not (known or _is_bound(source, source.root, name) or project.sources.workspace.index.symbols(name))


def _is_bound(source: SourceText, root: Node, name: str) -> bool:
    """Whether a file binds a name at its top level, or may do so by a star import."""
    stars = any(i.local == "*" for s in top_imports(source) for i in imported_names(source, s))
    return root.id in name_table(source, name).bound or stars


def names_known_at(source: SourceText, text: str, offsets: Sequence[int]) -> set[str]:
    """The names in a piece of code that already mean something wherever it is put.

    Args:
        source: a parsed file.
        text: the code.
        offsets: the bytes where it is put.
    """
    root = source.root
    places = [root.descendant_for_byte_range(at, at) for at in offsets] if root is not None else []
    scopes = [scope_of(place) for place in places if place is not None]
    found = set()
    for name in names_in(text):
        table = name_table(source, name)
        if table.uses and all(table.lookup(scope) is not None for scope in scopes):
            found.add(name)
    return found


def unused_without(source: SourceText, spans: Sequence[tuple[int, int]], names: Collection[str]) -> dict[str, Node]:
    """The imports of a file that only some bytes of it use.

    Args:
        source: the file.
        spans: the bytes.
        names: the names that may be unused then.

    Returns:
        The names, with the statements that import them.
    """
    found = {}
    for statement in top_imports(source):
        for item in imported_names(source, statement):
            if item.local not in names or not item_is_plain(source, statement):
                continue
            uses = [u for u in name_table(source, item.local).uses if _is_use(source, u)]
            binds = [u for u in name_table(source, item.local).uses if u.binds]
            inside = [u for u in uses if any(a <= u.start < b for a, b in spans)]
            if inside and len(inside) == len(uses) and len(binds) == 1:
                found[item.local] = statement
    return found


def _is_use(source: SourceText, use: NameUse) -> bool:
    """Whether a name is used, not only mentioned in a text."""
    return use.role in ("load", "declared") or (use.role == "string" and in_all(source, use.node))


def swap_imports(
    project: PythonProject, source: SourceText, added: Sequence[WantedImport], gone: dict[str, Node], patch: Patch
) -> None:
    """Add imports and remove others; one that takes the place of another of its module stands where that was.

    Args:
        project: the repository.
        source: the file.
        added: what to import.
        gone: the names no longer used, with their statements.
        patch: receives the changes.
    """
    left = dict(gone)
    for wanted in added:
        pair = next((n for n, s in left.items() if wanted.name and _imports_from(source, s, wanted.module)), None)
        if pair is None:
            add_import(project, source, wanted, patch)
            continue
        statement = left.pop(pair)
        items = imported_names(source, statement)
        names = statement.children_by_field_name("name")
        node = next(n for n, item in zip(names, items, strict=False) if item.local == pair)
        patch.replace(source.path, node.start_byte, node.end_byte, wanted.item)
    by_statement: dict[int, tuple[Node, set[str]]] = {}
    for name, statement in left.items():
        by_statement.setdefault(statement.id, (statement, set()))[1].add(name)
    for statement, names_ in by_statement.values():
        remove_names(source, statement, names_, patch)


def _imports_from(source: SourceText, statement: Node, module: str) -> bool:
    written = statement.child_by_field_name("module_name")
    return written is not None and source.slice(written).replace(" ", "") == module
