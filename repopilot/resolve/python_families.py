"""Ties Python occurrences that belong together beyond what a server says of each: the variables of a scope, members of
one class, overriding methods, stubs, `__all__`, string literals that name an attribute, fixtures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable
from itertools import combinations
from typing import TYPE_CHECKING

from repopilot.resolve.fixture_members import Fixture, nearest
from repopilot.resolve.meanings import TargetReader
from repopilot.resolve.probes import Probe, probed
from repopilot.resolve.python_scopes import (
    MODULE,
    VARIABLES,
    CharacterOffsets,
    PythonName,
    PythonScope,
    python_names,
    python_tree,
)
from repopilot.resolve.python_texts import Function, PythonText, pytest_functions, python_texts
from repopilot.resolve.values import Meaning, NameSpan, Resolved

if TYPE_CHECKING:
    from repopilot.resolve.families import Ties
    from repopilot.resolve.names import Resolver

_Places = dict[NameSpan, tuple[Resolved, PythonName]]


class PythonTies:
    """Ties what belongs together among the occurrences of a name in Python files.

    Args:
        resolver: of the repository.
        name: the name.
        found: the occurrences in code.
        texts: the occurrences in string literals.
        ties: gets what belongs together, what can't be told, and what comes from outside.
    """

    def __init__(self, resolver: Resolver, name: str, found: list[Resolved], texts: list[Resolved], ties: Ties) -> None:
        self.resolver = resolver
        self.name = name
        self.ties = ties
        self.texts = texts
        self.places: _Places = {}
        self.classes: dict[Hashable, tuple[str, PythonScope]] = {}
        by_path: dict[str, list[Resolved]] = defaultdict(list)
        for one in found:
            by_path[one.occurrence.span.path].append(one)
        for path, group in by_path.items():
            names = {one.start: one for one in python_names(self.text(path), name)}
            for one in group:
                known = names.get(one.occurrence.span.start)
                if known is None:
                    ties.plain(one)
                else:
                    self.places[one.occurrence.span] = (one, known)

    def text(self, path: str) -> str:
        return self.resolver.text(path) or ""

    def tie(self) -> None:
        """Tie them."""
        for span, (one, known) in self.places.items():
            self._tie_name(span, one, known)
        self._tie_patterns_and_copies()
        self._tie_stubs()
        self._tie_texts()
        self._tie_fixtures()
        self._list_hooks()
        self._tie_hierarchies()

    def _tie_name(self, span: NameSpan, one: Resolved, known: PythonName) -> None:
        home = known.home
        meaning = one.meaning
        if known.role == "module":
            return
        if home is not None and known.role in (*VARIABLES, "imported"):
            variable = self._variable(span.path, home)
            elsewhere = (
                known.open and meaning.known and not any(self._is_of(s, span.path, home) for s in meaning.inside)
            )
            if not elsewhere:
                self.ties.join(span, variable)
            elif meaning.inside:
                self.ties.plain(one)
            if known.role == "imported":
                self._tie_import(span, one, known)
            return
        if known.member_of is not None:
            self.ties.join(span, self._variable(span.path, known.member_of))
        if known.role == "imported" and not meaning.inside:
            self._list_import(span, one, known)
            return
        if known.role == "imported" and self._imports_as_itself(span.path, known):
            self.ties.join(span, self._variable(span.path, known.scope))
        if known.role != "pattern":
            self.ties.plain(one, sure=known.member_of is not None)

    def _imports_as_itself(self, path: str, known: PythonName) -> bool:
        """Whether an import is `name as name`, which re-exports the name from a stub or typed module (PEP 484)."""
        return re.match(rf"\s+as\s+{self.name}\b", self.text(path)[known.end :]) is not None

    def _tie_import(self, span: NameSpan, one: Resolved, known: PythonName) -> None:
        if one.meaning.inside:
            self.ties.join(span, *one.meaning.inside)
        else:
            self.ties.kept.add(span)
            self._list_import(span, one, known)

    def _list_import(self, span: NameSpan, one: Resolved, known: PythonName) -> None:
        """List an unresolved import as unsure where its module may belong to the repository."""
        module = known.object
        if not one.meaning.known and (module.startswith(".") or _is_module(module, self.resolver.paths())):
            self.ties.unsure[span] = one

    def _variable(self, path: str, home: PythonScope) -> Hashable:
        """The element that represents the variable of a scope; a class is remembered, since its variables are
        members."""
        element = (path, home.start)
        if home.kind == "class":
            self.classes[element] = (path, home)
        return element

    def _is_of(self, span: NameSpan, path: str, home: PythonScope) -> bool:
        """Whether a definition is a binding in a scope, or comes in by an import there."""
        there = ((at, known) for at, (_, known) in self.places.items() if at.path == path and known.home is home)
        return any(at == span or known.role == "imported" for at, known in there)

    def _tie_patterns_and_copies(self) -> None:
        """Tie keywords of class patterns and of calls that copy an object with changed fields."""
        probes: dict[Probe, list[Resolved]] = defaultdict(list)
        for span, (one, known) in self.places.items():
            if known.role == "pattern" or (known.role == "keyword" and not one.meaning.inside):
                probe = self._field(span, known)
                if probe is not None:
                    probes[probe].append(one)
        self._take_all(probes)

    def _take_all(self, probes: dict[Probe, list[Resolved]]) -> None:
        meant = probed(self.resolver, list(probes))
        for probe, group in probes.items():
            for one in group:
                self._take(one, meant.get(probe, Meaning()))

    def _take(self, one: Resolved, meaning: Meaning) -> None:
        """Tie an occurrence to what a probe found, or list it."""
        if meaning.inside:
            self.ties.join(one.occurrence.span, *meaning.inside)
            self.ties.unsure.pop(one.occurrence.span, None)
        elif not meaning.outside:
            self.ties.unsure[one.occurrence.span] = Resolved(one.occurrence, Meaning())

    def _field(self, span: NameSpan, known: PythonName) -> Probe | None:
        """A probe of `object.name`, for `replace(object, name=…)`, `object._replace(name=…)`, `case Class(name=…)`;
        else None."""
        end = len(self.text(span.path))
        if known.role == "pattern":
            return Probe(span.path, end, end, f"\ndef _probe(_of: {known.object}):\n    _of.{self.name}", "\n")
        return Probe(span.path, *known.call, f"({known.object}).{self.name}") if known.object else None

    def _tie_stubs(self) -> None:
        """Tie each stub to the module that it describes."""
        homes = {
            (span.path, known.home.qualified, known.home.kind): known.home
            for span, (_, known) in self.places.items()
            if known.home is not None and known.home.kind in ("module", "class")
        }
        for (path, qualified, kind), home in homes.items():
            source = homes.get((path.removesuffix("i"), qualified, kind)) if path.endswith(".pyi") else None
            if source is not None:
                self.ties.join(self._variable(path, home), self._variable(path.removesuffix("i"), source))

    def _tie_texts(self) -> None:
        by_path: dict[str, list[Resolved]] = defaultdict(list)
        for one in self.texts:
            by_path[one.occurrence.span.path].append(one)
        probes: dict[Probe, list[Resolved]] = defaultdict(list)
        for path, group in by_path.items():
            spans = [(one.occurrence.span.start, one.occurrence.span.end) for one in group]
            for one, known in zip(group, python_texts(self.text(path), spans), strict=True):
                probe = self._tie_text(path, one, known)
                if probe is not None:
                    probes[probe].append(one)
        self._take_all(probes)

    def _tie_text(self, path: str, one: Resolved, known: PythonText) -> Probe | None:
        span = one.occurrence.span
        text = self.text(path)
        if one.meaning.inside:
            self.ties.join(span, *one.meaning.inside)
        elif known.use in ("exported", "doctest") and self._module_has(path):
            self.ties.join(span, (path, MODULE))
        elif known.use == "exported":
            return Probe(path, len(text), len(text), f"\n{self.name}", "\n")
        elif known.use == "slot" or known.use == "parameter":
            self.ties.join(span, (path, known.owner))
        elif known.use == "attribute":
            return Probe(path, *known.call, f"({known.object}).{self.name}")
        elif known.use == "target":
            return self._target(path, known)
        elif known.use == "dotted" and self._is_path(known.object):
            self.ties.unsure[span] = one
        elif known.use in ("dotted", "prose"):
            self.ties.mentions.append(one.occurrence)
        elif known.use != "fixture":
            self.ties.unsure[span] = one
        return None

    def _is_path(self, before: str) -> bool:
        """Whether the part of a dotted name before the name is a module, or ends in a class that has the name."""
        parts = [part for part in re.split(r"[.:]", before) if part]
        owners = {scope.qualified.rpartition(".")[2] for _, scope in self.classes.values()}
        return bool(parts) and (parts[-1] in owners or _is_module(".".join(parts), self.resolver.paths()))

    def _module_has(self, path: str) -> bool:
        return any(
            s.path == path and k.home is not None and k.home.start == MODULE for s, (_, k) in self.places.items()
        )

    def _target(self, path: str, known: PythonText) -> Probe:
        """A probe of a patch's dotted target, after imports of the modules in it."""
        parts = known.object.split(".")
        dotted = [".".join(parts[:n]) for n in range(1, len(parts))]
        files = self.resolver.paths()
        modules = [m for m in dotted if _is_module(m, files)]
        imports = "".join(f"    import {module}\n" for module in modules)
        end = len(self.text(path))
        return Probe(path, end, end, f"\ndef _probe():\n{imports}    {known.object}", "\n")

    def _tie_fixtures(self) -> None:
        """Tie the parameters of tests and fixtures to the fixtures that fill them."""
        paths = {s.path for s in self.places} | {one.occurrence.span.path for one in self.texts}
        functions = {path: list(pytest_functions(text)) for path in paths if "fixture" in (text := self.text(path))}
        fixtures = [
            Fixture(path, function)
            for path, group in functions.items()
            for function in group
            if function.fixture is not None and self.text(path)[slice(*function.fixture)] == self.name
        ]
        if not fixtures:
            return
        functions |= {path: list(pytest_functions(self.text(path))) for path in paths if path not in functions}
        for path, function in fixtures:
            assert function.fixture is not None
            self._tie_to_fixture(path, fixtures, NameSpan(path, *function.fixture), function)
        for span, (_, known) in self.places.items():
            user = next((f for f in functions.get(span.path, ()) if f.start == known.scope.start), None)
            is_parameter = user is not None and known.role == "bind" and known.home is known.scope
            if (
                is_parameter
                and user is not None
                and (user.is_test or user.fixture)
                and self.name not in user.parametrized
            ):
                self._tie_to_fixture(span.path, fixtures, span, user)
        for one in self.texts:
            span = one.occurrence.span
            use = python_texts(self.text(span.path), [(span.start, span.end)])[0].use
            if use == "fixture" and span not in [NameSpan(p, *f.fixture) for p, f in fixtures if f.fixture]:
                self._tie_to_fixture(span.path, fixtures, span, None)

    def _tie_to_fixture(self, path: str, fixtures: list[Fixture], span: NameSpan, user: Function | None) -> None:
        """Tie a place to the nearest fixture that is visible there and isn't itself."""
        found = nearest(path, (each for each in fixtures if each.function is not user))
        if found is not None:
            assert found.function.fixture is not None
            self.ties.join(span, NameSpan(found.path, *found.function.fixture))
        elif user is None or user.fixture is None:
            known = self.places.get(span)
            if known is not None:
                self.ties.unsure[span] = Resolved(known[0].occurrence, Meaning())

    def _list_hooks(self) -> None:
        """List hooks as bound outside: pytest finds them by their names."""
        if self.name.startswith("pytest_"):
            for span, (_, known) in self.places.items():
                if known.role == "bind" and known.home is not None and known.home.kind == "module":
                    self.ties.outside[self._variable(span.path, known.home)].add("pytest")

    def _tie_hierarchies(self) -> None:
        """Tie the members of classes that derive from one another or have a common subclass."""
        if is_private(self.name):
            return  # each class has its own
        probes = {probe: one for one in self.classes if (probe := self._bases(*self.classes[one])) is not None}
        told = probed(self.resolver, list(probes))
        members = {one.occurrence.span: element for one, element, _ in self._members()}
        derived = set()
        for probe, meaning in told.items():
            if meaning.inside:
                self.ties.join(probes[probe], *meaning.inside)
            if {*map(members.get, meaning.inside)} - {None, probes[probe]}:
                derived.add(probes[probe])  # its subclasses derive from the class above it, too
            for name in meaning.outside:
                self.ties.outside[probes[probe]].add(name)
        below = self._subclasses([element for element in self.classes if element not in derived])
        for (one, classes), (other, others) in combinations(below.items(), 2):
            if classes and others and classes & others:
                self.ties.join(one, other)
        self._tie_supers()
        untold = [element for element, classes in below.items() if classes is None]
        self._list_fitting({*untold, *(probes[probe] for probe in probes.keys() - told.keys())})

    def _members(self) -> list[tuple[Resolved, Hashable, PythonScope]]:
        """The definitions of the name in classes, each with its class."""
        return [
            (one, (span.path, home.start), home)
            for span, (one, known) in self.places.items()
            if (home := known.member_of or (known.home if known.role == "bind" else None)) and home.kind == "class"
        ]

    def _list_fitting(self, untold: Collection[Hashable]) -> None:
        """List pairs of members that may stand for each other: of a protocol and another class, and of classes that may
        derive from one another where no server tells."""
        members = [
            (one, element, self._is_protocol(one.occurrence.span.path, home)) for one, element, home in self._members()
        ]
        for one, element, is_protocol in members:
            for other, owner, is_other in members:
                may_derive = element != owner and (element in untold or owner in untold)
                if may_derive or is_protocol != is_other:
                    self.ties.structural.append((one.occurrence.span, other))

    def _is_protocol(self, path: str, scope: PythonScope) -> bool:
        data, _ = python_tree(self.text(path))
        return scope.bases is not None and re.search(rb"\bProtocol\b", data[slice(*scope.bases)]) is not None

    def _tie_supers(self) -> None:
        """Tie `super().name` that no base of its class has, but a class that follows it in a common subclass's method
        resolution order."""
        tied: dict[Hashable, int] = defaultdict(int)
        for element in self.classes:
            tied[self.ties.leader(element)] += 1
        for span, (_, known) in self.places.items():
            owner = known.super_of
            element = (span.path, owner.start) if owner is not None else None
            if span in self.ties.unsure and element in self.classes and tied[self.ties.leader(element)] > 1:
                self.ties.join(span, element)
                del self.ties.unsure[span]

    def _subclasses(self, elements: Collection[Hashable]) -> dict[Hashable, frozenset[NameSpan] | None]:
        """The names of each class and its subclasses, None where no server tells; empty for fewer than two classes."""
        owners = {element: owner for element in elements if (owner := self._owner(*self.classes[element])) is not None}
        if len(owners) < 2:
            return {}
        places = [(owner.path, owner.start) for owner in owners.values()]
        told = self.resolver.at_server(places[0][0], lambda session: session.implementations(places))
        if told is None:
            return dict.fromkeys(owners)
        reader = TargetReader(self.resolver.text, frozenset(self.resolver.paths()))
        found = [frozenset(span for target in targets if (span := reader.span(target)) is not None) for targets in told]
        return {element: spans | {owner} for (element, owner), spans in zip(owners.items(), found, strict=True)}

    def _owner(self, path: str, scope: PythonScope) -> NameSpan | None:
        if scope.owner is None:
            return None
        text = self.text(path)
        places = CharacterOffsets(python_tree(text)[0], text)
        return NameSpan(path, *map(places.at, scope.owner))

    def _bases(self, path: str, scope: PythonScope) -> Probe | None:
        """A probe of the name as a member of a class's bases, placed after the class; None for a class without
        bases."""
        text = self.text(path)
        data, _ = python_tree(text)
        if scope.bases is None or not data[slice(*scope.bases)].strip(b"() \r\n"):
            return None
        bases = data[slice(*scope.bases)].decode("utf-8", "surrogatepass")
        begin = data.rfind(b"\n", 0, scope.start) + 1
        indent = re.match(r"[ \t]*", data[begin : scope.start].decode("utf-8", "replace"))
        margin = indent[0] if indent else ""
        end = CharacterOffsets(data, text).at(scope.end)
        probe = f"_Probe{scope.start}"  # several stand in one file
        code = f"\n{margin}class {probe}{bases}: pass\n{margin}def _probe(_of: {probe}): _of.{self.name}"
        return Probe(path, end, end, code, "")


def is_private(name: str) -> bool:
    """Whether Python mangles a name within a class."""
    return name.startswith("__") and not name.endswith("__")


def _is_module(dotted: str, paths: Collection[str]) -> bool:
    """Whether a dotted name is a module of the repository, counted from a folder that is no package itself."""
    file = dotted.replace(".", "/")
    ends = (f"{file}.py", f"{file}/__init__.py", f"{file}.pyi")
    found = [path for path in paths if path.endswith(ends)]
    folders = [path.removesuffix(end) for path in found for end in ends if path.endswith(end)]
    return any(not folder or (folder.endswith("/") and f"{folder}__init__.py" not in paths) for folder in folders)
