"""Finds the definition that a task names, or says which there are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.python.classes import ClassPlace, PythonProject, class_nodes
from repopilot.agents.editing.exact.python.modules import modules_of
from repopilot.agents.editing.exact.sources import Sources, SourceText, written_by_program
from repopilot.code.languages import is_example_path, is_test_path, language_of
from repopilot.errors import GenerationFailed, NameUndefined, PlaceAmbiguous
from repopilot.index.store import Index
from repopilot.types import Symbol

_LIKE_CODE = re.compile(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?$")
_COMPOUND = re.compile(r"[_.\d$]|::|[a-z][A-Z]|^[A-Z]{2,}$|^[A-Z][a-z]+[A-Z]|\(\)$")
_MOST_CHOICES = 12


def is_name(text: str) -> bool:
    """Whether a text can be the name of a definition."""
    return _LIKE_CODE.match(text) is not None


def is_code_name(text: str) -> bool:
    """Whether a text can only be a name: no word of a language is written like that."""
    return is_name(text) and _COMPOUND.search(text) is not None


def dotted(name: str) -> str:
    """A qualified name with dots only, without parentheses."""
    return re.sub(r"::|#|->", ".", name.removesuffix("()"))


def path_named(text: str, index: Index) -> str | None:
    """The one file of the index that a text names by its path or the end of it; None for none or several."""
    written = text.lstrip("@").removeprefix("./")
    if written in index.files:
        return written
    if not re.search(r"\.\w+$|/", written) and language_of(written) is None:
        return None
    endings = [p for p in index.files if p.endswith("/" + written)]
    if written.upper() in ("README", "CHANGELOG", "CONTRIBUTING", "LICENSE"):
        endings = [p for p in index.files if re.fullmatch(rf"{written}\.\w+", p, re.I)] or endings
    return endings[0] if len(endings) == 1 else None


def split_mention(mention: str, index: Index) -> tuple[str, str]:
    """`path:Symbol` as the file's path and the name; '' for what it doesn't give."""
    path, _, name = mention.lstrip("@").replace("::", ":", 1).partition(":")
    found = path_named(path, index)
    return (found, name) if found else ("", name or path)


def task_paths(task: ExactTask, sources: Sources) -> list[str]:
    """The files that the places of a task name; also those that are in the repository, but not in the index.

    Raises:
        GenerationFailed: a place is written like a path, but there is no such file.
    """
    index = sources.workspace.index
    found = []
    for place in task.places:
        path = path_named(place.name, index) or _defining(place.name, task.name, index)
        like_path = place.what == "file" or re.search(r"/[\w.-]+\.\w+$", place.name) is not None
        if path is not None:
            found.append(path)
        elif like_path and sources.get(place.name) is not None:
            found.append(place.name)
        elif like_path:
            raise _no_file(place.name, index)
    if task.mention:
        path, _ = split_mention(task.mention, index)
        if path:
            found.insert(0, path)
    return list(dict.fromkeys(found))


def _defining(written: str, name: str, index: Index) -> str | None:
    """The one of several files with a path's end that defines a name: `toc.py` for what only one of them has."""
    end = "/" + written.lstrip("@").removeprefix("./")
    found = {s.path for s in index.symbols(dotted(name)) if s.path.endswith(end)} if is_name(name) else set()
    return found.pop() if len(found) == 1 else None


def _no_file(written: str, index: Index) -> GenerationFailed:
    endings = [p for p in index.files if p.endswith("/" + written.removeprefix("./"))]
    if endings:
        return PlaceAmbiguous(
            i18n.message("exact.several_files", name=written),
            i18n.message("exact.choose_place"),
            tuple(endings[:_MOST_CHOICES]),
        )
    near = difflib.get_close_matches(written, list(index.files), 3, 0.6)
    hint = i18n.message("exact.nearest", names=", ".join(near)) if near else ""
    return GenerationFailed(i18n.message("exact.no_file", path=written), hint)


def owners(task: ExactTask, index: Index) -> list[NamedPlace]:
    """The places of a task that are no files."""
    plain = [p for p in task.places if "/" not in p.name and is_name(p.name)]
    return [p for p in plain if (path_named(p.name, index) or _defining(p.name, task.name, index)) is None]


def candidates(name: str, task: ExactTask, sources: Sources) -> list[Symbol]:
    """The definitions that a name may mean, within the places that the task names.

    Args:
        name: plain or qualified, by a class or a module.
        task: the task.
        sources: the files.

    Returns:
        Those of the code where there are any, else those of tests and examples; each place once.
    """
    index = sources.workspace.index
    if task.mention:
        path, symbol = split_mention(task.mention, index)
        inside = index.outline(path) if path else []
        found = [s for s in inside if s.qualified == dotted(symbol)] if symbol else []
        if found:
            return found[:1]
    wanted = dotted(name)
    found = index.symbols(wanted)
    if not found and "." in wanted:
        found = _by_module(wanted, index) or _inherited(wanted, sources)
    paths = task_paths(task, sources)
    if paths:
        found = [s for s in found if s.path in paths]
        outside = (s for path in paths if path not in index.files for s in sources.outline(path))
        found += [s for s in outside if f".{s.qualified}".endswith(f".{wanted}")]
    for owner in owners(task, index):
        narrowed = [s for s in found if _is_inside(s, dotted(owner.name), index)]
        found = narrowed or ([] if is_code_name(owner.name) else found)
    return _preferred(_distinct(found), named=bool(paths))


def _by_module(wanted: str, index: Index) -> list[Symbol]:
    """Definitions whose module or package is named before them: `http.parse_date`."""
    found: list[Symbol] = []
    parts = wanted.split(".")
    for cut in range(1, len(parts)):
        module, rest = "/".join(parts[:cut]), ".".join(parts[cut:])
        for symbol in index.symbols(rest):
            stem = re.sub(r"(/__init__)?\.\w+$", "", symbol.path)
            if symbol.qualified == rest and f"/{stem}".endswith(f"/{module}"):
                found.append(symbol)
    return found


def _inherited(wanted: str, sources: Sources) -> list[Symbol]:
    """The member that a class has from a class above it."""
    index = sources.workspace.index
    around, _, last = wanted.rpartition(".")
    members = [s for s in index.symbols(last) if s.name == last and s.path.endswith(".py")] if around else []
    found = []
    for owner in index.symbols(around) if members else ():
        project = PythonProject(sources, modules_of(index))
        source = sources.get(owner.path) if owner.kind == "class" and owner.path.endswith(".py") else None
        for node in class_nodes(source.root) if source is not None and source.root is not None else ():
            if owner.start_line <= node.start_point[0] + 1 <= owner.end_line and _is_named(source, node, owner.name):
                inherited = project.members(ClassPlace(owner.path, node.start_byte), last)[:1]
                found += [s for p, n in inherited for s in members if p == s.path and _same_line(s, n)]
    return found


def attribute_owner(project: PythonProject, task: ExactTask) -> ClassPlace | None:
    """The class whose methods set the attribute that a task names, where no definition in its body declares it.

    Args:
        project: the repository.
        task: with the attribute in `name`, with the class before it or in the places.

    Returns:
        The topmost such class; None where there is none.

    Raises:
        PlaceAmbiguous: several classes have such an attribute.
    """
    sources = project.sources
    mentioned = split_mention(task.mention, sources.workspace.index) if task.mention else ("", "")
    owner, _, name = dotted(mentioned[1] if "." in mentioned[1] else task.name).rpartition(".")
    wanted = {n for n in (owner, *(p.name for p in owners(task, sources.workspace.index))) if n not in ("", "self")}
    paths = [mentioned[0]] if mentioned[0] else task_paths(task, sources)
    tops: dict[ClassPlace, None] = {}
    for path in project.sources.mentioning(name, ("python",)):
        source = sources.get(path)
        if source is None or source.root is None or (paths and path not in paths):
            continue
        for node in class_nodes(source.root):
            place = ClassPlace(path, node.start_byte)
            if not wanted or project.class_name(place) in {dotted(w).rpartition(".")[2] for w in wanted}:
                _note_top(project, place, name, tops)
    found = [t for t in tops if not is_test_path(t.path)] or list(tops)
    if len(found) > 1:
        choices = tuple(f"{p.path}:{project.class_name(p)}.{name}" for p in found[:_MOST_CHOICES])
        message = i18n.message("exact.several_places", name=name, count=len(found))
        raise PlaceAmbiguous(message, i18n.message("exact.choose_place"), choices)
    return found[0] if found else None


def _note_top(project: PythonProject, place: ClassPlace, name: str, tops: dict[ClassPlace, None]) -> None:
    """Note the topmost class that sets an attribute which a class has."""
    setting = [
        c
        for c in (place, *project.ancestors(place))
        if any(
            p == c.path and project.class_node(c).start_byte <= n.start_byte < project.class_node(c).end_byte
            for p, n in project.assigned_attributes(c, name)
        )
    ]
    if setting and not project.members(place, name):
        tops[setting[-1]] = None


def _is_named(source: SourceText | None, node: Node, name: str) -> bool:
    label = node.child_by_field_name("name")
    return source is not None and label is not None and source.slice(label) == name


def _same_line(symbol: Symbol, node: Node) -> bool:
    return symbol.start_line <= node.start_point[0] + 1 <= symbol.end_line


def _is_inside(symbol: Symbol, owner: str, index: Index) -> bool:
    """Whether a definition is inside a class, function or module of a name."""
    around = symbol.qualified.rpartition(".")[0]
    if f".{around}".endswith(f".{owner}"):
        return True
    stem = re.sub(r"(/__init__)?\.\w+$", "", symbol.path)
    return "." not in symbol.qualified and f"/{stem}".endswith("/" + owner.replace(".", "/"))


def _distinct(found: Iterable[Symbol]) -> list[Symbol]:
    """Each place once: overloads and alternatives of one name count as one, and a stub as its module."""
    kept = {(s.path, s.qualified): s for s in reversed(list(found)) if s.kind not in ("export", "declaration")}
    stubs = {key for key in kept if key[0].endswith((".pyi", ".d.ts"))}
    only_stubs = len(stubs) == len(kept)
    kept_places = (s for key, s in kept.items() if only_stubs or key not in stubs)
    return sorted(kept_places, key=lambda s: (s.path, s.start_line))


def _preferred(found: list[Symbol], *, named: bool) -> list[Symbol]:
    if named:
        return found
    code = [s for s in found if not is_test_path(s.path) and not is_example_path(s.path)]
    return code or found


def one_definition(name: str, task: ExactTask, sources: Sources) -> Symbol | None:
    """The definition that a name means.

    Args:
        name: plain or qualified.
        task: the task.
        sources: the files.

    Returns:
        The definition; None where there is none and the name may be an ordinary word.

    Raises:
        PlaceAmbiguous: several are meant.
        GenerationFailed: there is none of a name that can only be code, or it is in a generated file.
    """
    found = candidates(name, task, sources)
    if len(found) > 1 and task.kind in _WITH_OVERRIDES:
        found = _overridden(found, sources) or found
    if len(found) > 1:
        raise ambiguous(name, found)
    if not found:
        return None
    check_editable(found[0].path, task, sources)
    return found[0]


_WITH_OVERRIDES = frozenset(
    "rename rename_parameter remove_parameter add_parameter keyword_only positional_only require_parameter "
    "reorder_parameter".split()
)
"""Kinds of edits that change the overrides of a method along with it."""


def _overridden(found: Sequence[Symbol], sources: Sources) -> list[Symbol]:
    """The method that all others of some methods override, [] where there is none."""
    if any(s.kind != "method" or not s.path.endswith(".py") for s in found):
        return []
    project = PythonProject(sources, modules_of(sources.workspace.index))
    owners_ = {place: s for s in found if (place := _class_of(s, sources)) is not None}
    if len(owners_) != len(found):
        return []
    above = {place: set(project.ancestors(place)) for place in owners_}
    tops = [place for place in owners_ if all(other == place or place in above[other] for other in owners_)]
    return [owners_[place] for place in tops]


def _class_of(symbol: Symbol, sources: Sources) -> ClassPlace | None:
    """The innermost class that a method is in."""
    source = sources.get(symbol.path)
    nodes = list(class_nodes(source.root)) if source is not None and source.root is not None else []
    around = [n for n in nodes if n.start_point[0] + 1 <= symbol.start_line and symbol.end_line <= n.end_point[0] + 1]
    return ClassPlace(symbol.path, max(around, key=lambda n: n.start_byte).start_byte) if around else None


def ambiguous(name: str, found: Sequence[Symbol]) -> PlaceAmbiguous:
    """The error that asks which of several definitions is meant."""
    choices = tuple(f"{s.path}:{s.qualified}" for s in found[:_MOST_CHOICES])
    return PlaceAmbiguous(
        i18n.message("exact.several_places", name=name, count=len(found)), i18n.message("exact.choose_place"), choices
    )


def not_found(name: str, task: ExactTask, index: Index) -> NameUndefined:
    """The error for a name that nothing has, with the names most like it."""
    near = nearest(name, task, index)
    where = ", ".join(p.name for p in task.places)
    message = (
        i18n.message("exact.no_such_name_in", name=name, place=where)
        if where
        else i18n.message("exact.no_such_name", name=name)
    )
    return NameUndefined(message, i18n.message("exact.nearest", names=", ".join(near)) if near else "", name)


def nearest(name: str, task: ExactTask, index: Index) -> list[str]:
    """The names of definitions most like a name, best first."""
    last = dotted(name).rpartition(".")[2]
    paths = [p for place in task.places if (p := path_named(place.name, index)) is not None]
    if paths:
        known = list(dict.fromkeys(s.name for p in paths for s in index.outline(p)))
        return difflib.get_close_matches(last, known, 5, 0.6)
    lowered = difflib.get_close_matches(last.lower(), index.lexical.names, 5, 0.7)
    found = []
    for low in lowered:
        rows = index.lexical.rows_defining(low)[:1].tolist()
        outline = index.outline(index.chunks[rows[0]].path) if rows else []
        found += [next((s.name for s in outline if s.name.lower() == low), low)]
    return list(dict.fromkeys(found))


def check_editable(path: str, task: ExactTask, sources: Sources) -> None:
    """Refuse a generated or vendored file that the task doesn't name by its path.

    Raises:
        GenerationFailed: it is such a file.
    """
    source = sources.get(path)
    if source is None or not written_by_program(source):
        return
    if path not in task_paths(task, sources):
        raise GenerationFailed(i18n.message("exact.generated", path=path), i18n.message("exact.generated_hint"))
