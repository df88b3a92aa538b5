"""Who expects a Python definition to have its name, without naming it: bases, decorators, names put together."""

from __future__ import annotations

import builtins
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject, decorator_names
from repopilot.agents.editing.exact.python.modules import imported_names, statement_around
from repopilot.agents.editing.exact.sources import SourceText
from repopilot.errors import GenerationFailed

_DUNDER = re.compile(r"__\w+__$")
_COMPOSED = re.compile(rb"""(?P<quote>[fF]?["'])(?P<prefix>[A-Za-z_]\w{2,}_)(?:\{|%[sr]|(?<=_)["']\s*(?:\+|%))""")
_LOOK_UPS = re.compile(rb"\bgetattr\(|\bglobals\(\)|\battrgetter\(|\bmethodcaller\(")
_OF_SELF = re.compile(rb"\bgetattr\(\s*(?:self|cls)\s*,\s*")
_PREFIXES = {
    "NodeVisitor": ("visit_",),
    "NodeTransformer": ("visit_",),
    "Cmd": ("do_", "help_", "complete_"),
    "BaseHTTPRequestHandler": ("do_",),
}
_MEMBERS = {
    "Handler": frozenset("emit handle format flush close acquire release createLock setLevel setFormatter".split()),
    "Formatter": frozenset("format formatTime formatException formatMessage usesTime formatStack".split()),
    "TestCase": frozenset("setUp tearDown setUpClass tearDownClass run id assertEqual subTest".split()),
    "Thread": frozenset("run start join name daemon is_alive".split()),
    "JSONEncoder": frozenset("default encode iterencode".split()),
    "HTMLParser": frozenset("feed close handle_starttag handle_endtag handle_data handle_comment".split()),
    "Mapping": frozenset(("get", "items", "keys", "values")),
    "MutableMapping": frozenset("get items keys values pop popitem clear update setdefault".split()),
    "UserDict": frozenset("get items keys values pop popitem clear update setdefault data copy fromkeys".split()),
}
_NOT_IMPORTED = frozenset("antigravity this idlelib turtle turtledemo tkinter test lib2to3 __main__".split())
_NAMELESS = frozenset(
    "staticmethod classmethod property cached_property setter getter deleter contextmanager asynccontextmanager "
    "lru_cache cache wraps overload override abstractmethod final deprecated no_type_check dataclass define frozen "
    "mutable s attrs attributes total_ordering runtime_checkable unique singledispatch singledispatchmethod "
    "parametrize skip skipif xfail usefixtures fixture patch given settings mark asyncio anyio trio".split()
)
"""Decorators that don't look at the name."""


def check_outside(project: PythonProject, family: Iterable[ClassPlace], name: str) -> None:
    """Refuse to rename what code outside of the repository calls by its name.

    Args:
        project: the repository.
        family: the classes that share the member.
        name: the member.

    Raises:
        GenerationFailed: the language, or a class that the standard library has, expects that name.
    """
    if _DUNDER.match(name):
        raise GenerationFailed(i18n.message("exact.special_name", name=name))
    for place in sorted(family):
        for base in project.outside_bases(place):
            last = base.partition("[")[0].rpartition(".")[2]
            expected = name in _MEMBERS.get(last, ()) or name.startswith(_PREFIXES.get(last, ("\0",)))
            if expected or name in (_members_of(project, place, base) or ()):
                raise GenerationFailed(i18n.message("exact.outside_member", name=name, base=base))


def _members_of(project: PythonProject, place: ClassPlace, base: str) -> frozenset[str] | None:
    """The members of a class that Python itself has; None for another."""
    found = getattr(builtins, base, None)
    if isinstance(found, type):
        return frozenset(dir(found))
    first, _, rest = base.partition("[")[0].partition(".")
    for owner in (place, *project.ancestors(place)):
        source, table = project.sources.get(owner.path), project.table(owner.path, first)
        for use in table.uses if table is not None else ():
            statement = statement_around(use.node)
            for item in imported_names(source, statement) if source is not None and statement is not None else ():
                if item.local == first and item.module.partition(".")[0] in sys.stdlib_module_names:
                    path = ".".join(p for p in (item.name, rest) if p)
                    return _members_in(item.module, path)
    return None


def members_of_module(name: str) -> frozenset[str] | None:
    """What a module of the standard library offers; None for another name."""
    if not re.fullmatch(r"\w+(?:\.\w+)*", name) or name.partition(".")[0] not in sys.stdlib_module_names:
        return None
    return _members_in(name, "")


@cache
def _members_in(module: str, path: str) -> frozenset[str] | None:
    if module.partition(".")[0] in _NOT_IMPORTED:
        return None
    try:
        found: object = importlib.import_module(module)
        for part in path.split(".") if path else ():
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return frozenset(dir(found))


def expecting_bases(project: PythonProject, family: Iterable[ClassPlace], name: str) -> Iterator[tuple[str, int, str]]:
    """The classes with a base that neither the repository nor Python defines, which may expect the name of a member.

    Args:
        project: the repository.
        family: the classes that share the member.
        name: the member.

    Yields:
        File, first byte and message.
    """
    for place in sorted(family):
        bases = [b for b in project.outside_bases(place) if _members_of(project, place, b) is None]
        if bases and not name.startswith("_") and not _is_stdlib_like(bases):
            yield place.path, place.start, i18n.message("exact.open.outside_base", base=bases[0], name=name)


def _is_stdlib_like(bases: list[str]) -> bool:
    return all(b.rpartition(".")[2] in _MEMBERS for b in bases)


def naming_decorators(project: PythonProject, path: str, function: Node) -> Iterator[tuple[str, int, str]]:
    """The decorators from elsewhere that may use the name of a function: as a command, an end point, a hook.

    Args:
        project: the repository.
        path: the file.
        function: the definition.

    Yields:
        File, first byte and message.
    """
    source, around = project.sources.get(path), function.parent
    if source is None or around is None or not decorator_names(source, function) - _NAMELESS:
        return
    for node in around.children:
        head = node.named_children[0] if node.type == "decorator" and node.named_children else None
        called = head.child_by_field_name("function") if head is not None and head.type == "call" else head
        written = source.slice(called) if called is not None else ""
        if called is None or written.rpartition(".")[2] in _NAMELESS or ".mark." in f".{written}":
            continue
        known = project.known(path, called)
        if known is None or known.kind == "other":
            yield path, node.start_byte, i18n.message("exact.open.decorated_name")


def composed_names(project: PythonProject, name: str, *, of_member: bool) -> Iterator[tuple[SourceText, int]]:
    """Where code puts names together that begin like one, in files that look up attributes by such names.

    Args:
        project: the repository.
        name: the name.
        of_member: whether it is that of a class's member, which `getattr(self, …)` may look up.

    Yields:
        The file and the byte.
    """
    index = project.sources.workspace.index
    if "_" not in name.strip("_"):
        return
    for path in [p for p, info in index.files.items() if info.language == "python"]:
        source = project.sources.get(path)
        if source is None or not _LOOK_UPS.search(source.data):
            continue
        for match in _COMPOSED.finditer(source.data):
            prefix = match["prefix"].decode("utf-8")
            own = _OF_SELF.search(source.data, source.data.rfind(b"\n", 0, match.start()) + 1, match.start())
            if name.startswith(prefix) and name != prefix and (of_member or not own):
                yield source, match.start()
