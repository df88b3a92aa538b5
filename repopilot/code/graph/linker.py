"""What a use of a name refers to: definitions in the repository, and how sure that is. Pure.

Names are looked for where the language would look first (the scope, the file, its imports, its package), then, as a
guess, anywhere in the repository.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from repopilot.code.graph.import_resolver import ImportTarget, Places, family
from repopilot.code.languages import is_test_path
from repopilot.code.split import FileAnalysis
from repopilot.code.symbols import Use
from repopilot.types import Symbol


class How(IntEnum):
    """How a reference was resolved, surest first."""

    SAME_FILE = 0
    IMPORTED = 1
    UNIQUE = 2
    AMBIGUOUS = 3


CONFIDENCE = {How.SAME_FILE: 0.95, How.IMPORTED: 0.9, How.UNIQUE: 0.6, How.AMBIGUOUS: 0.4}
"""Confidence of a reference; that of an ambiguous one is divided by the number of candidates."""

_SELF = frozenset(("self", "this", "cls", "super", "Self", "$this", "static", "parent", "@"))
SHARED_PACKAGE = frozenset(("go", "java", "kotlin", "scala", "csharp", "php"))
_EVERYWHERE = frozenset(
    "append add get set pop push put remove update clear copy sort index count find keys values items join split strip "
    "trim replace format encode decode upper lower startswith endswith read write close open send next map filter "
    "reduce forEach slice concat includes indexOf has delete length size len toString equals hashCode contains isEmpty "
    "then catch call apply bind clone unwrap expect iter into as_str to_string Error String Close Read Write Len "
    "Get Set Add".split()
)
"""Methods of the built-in types: on an object of unknown type they mean no definition of the repository."""
_PARAMETER = re.compile(r"(?:^|[,(*])\s*(\w+)\s*(?=[,:=)?]|$)")
_MANY = 6
_COMMON = 200
DEPTH = 4


_TYPE_AFTER = re.compile(r"\s*\??\s*:?\s*(?:&|\*|mut |\[\]|'\w+ |Optional\[|\"|impl |dyn )*(?:\w+\.)*([A-Z]\w*)")
_TYPE_BEFORE = re.compile(r"(?:^|[(,<\s])(?:\w+\.)*([A-Z]\w*)(?:<[^()]*>)?[\s&*?]+$")
_ENDED = re.compile(r"\s*[,)=]")


@lru_cache(maxsize=1 << 14)
def _declared_type(signature: str, variable: str) -> str:
    """The type of a parameter: `c: Context`, `c *Context`, `Context c`; '' where none is written."""
    places = _occurrences(signature, variable)
    for at in places:
        own = at == 0 or not (signature[at - 1].isalnum() or signature[at - 1] in "_.")
        after = _TYPE_AFTER.match(signature, at + len(variable)) if own else None
        if after:
            return after[1]
    ends = (
        at for at in places if at and signature[at - 1] in " \t\n&*?" and _ENDED.match(signature, at + len(variable))
    )
    before = [found for at in ends if (found := _TYPE_BEFORE.search(signature[:at]))]
    return min(before, key=re.Match.start)[1] if before else ""


def _occurrences(text: str, part: str) -> list[int]:
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


@lru_cache(maxsize=1 << 14)
def _parameters(signature: str) -> frozenset[str]:
    """The names before a `:`, `=`, `,` or the end, as Python and JavaScript write parameters; no types among them."""
    return frozenset(_PARAMETER.findall(signature.partition("(")[2]))


@dataclass(slots=True)
class Names:
    """Every definition, by the ways it can be named. Symbol numbers count over all files in order."""

    symbols: list[Symbol] = field(default_factory=list)
    file_of: list[int] = field(default_factory=list)
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    in_file: list[dict[str, int]] = field(default_factory=list)
    tails: list[dict[str, list[int]]] = field(default_factory=list)
    families: list[str] = field(default_factory=list)


def names(files: Sequence[FileAnalysis]) -> Names:
    """Index the definitions of all files."""
    found = Names()
    for number, file in enumerate(files):
        qualified: dict[str, int] = {}
        tails: dict[str, list[int]] = {}
        for symbol in file.symbols:
            at = len(found.symbols)
            found.symbols.append(symbol)
            found.file_of.append(number)
            found.by_name[symbol.name].append(at)
            # A declaration gives way to the definition of the same name.
            if symbol.qualified not in qualified or found.symbols[qualified[symbol.qualified]].kind == "declaration":
                qualified[symbol.qualified] = at
            tails.setdefault(symbol.name, []).append(at)
        found.in_file.append(qualified)
        found.tails.append(tails)
        found.families.append(family(file.language))
    return found


_Found = tuple[Sequence[int], "How | None"]


@dataclass(slots=True)
class Linker:
    """Resolves the uses of one file after the other. `targets[n]` are the imports of file n.

    What was found is remembered: names of the repository for all files, everything else for the file at hand.
    """

    where: Places
    names: Names
    targets: Sequence[Sequence[ImportTarget]]
    _bound: list[dict[str, tuple[tuple[int, ...], str]]] = field(init=False)
    _tests: list[bool] = field(init=False)
    _fitting: dict[tuple[str, bool, str, bool], list[int]] = field(default_factory=dict)
    _file: int = -1
    _near: frozenset[int] = frozenset()
    _package: tuple[int, ...] = ()
    _links: dict[tuple[str, str, str], _Found] = field(default_factory=dict)
    _guesses: dict[tuple[str, str], _Found] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bound = [{k: v for t in found for k, v in t.bound.items()} for found in self.targets]
        self._tests = [is_test_path(file.path) for file in self.where.files]

    def link(self, number: int, use: Use) -> tuple[Sequence[int], How | None]:
        """The symbols a use may refer to, and how that was found; ((), None) when nothing here fits."""
        if number != self._file:
            self._turn_to(number)
        key = (use.name, use.receiver, use.scope)
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = self._find(number, use)
        return found

    def _turn_to(self, number: int) -> None:
        self._file, self._package = number, self._package_of(number)
        self._near = frozenset((number, *(f for t in self.targets[number] for f in t.files), *self._package))
        self._links, self._guesses = {}, {}

    def _find(self, number: int, use: Use) -> _Found:
        if not use.receiver and self._is_parameter(number, use):
            return (), None
        found = self._scoped(number, use)
        if found:
            return found, How.SAME_FILE
        found = self._imported(number, use) or self._typed(number, use)
        if found:
            return found, How.IMPORTED
        return self._anywhere(number, use)

    def _is_parameter(self, number: int, use: Use) -> bool:
        """Whether a bare name is a parameter of a function around it, which hides any definition of that name."""
        scope, qualified = use.scope, self.names.in_file[number]
        while scope:
            at = qualified.get(scope)
            found = self.names.symbols[at] if at is not None else None
            if found and found.kind in ("function", "method") and use.name in _parameters(found.signature):
                return True
            scope = scope.rpartition(".")[0]
        return False

    def _package_of(self, number: int) -> tuple[int, ...]:
        """The files whose names are in scope without an import: the package's, or all of a star import."""
        file = self.where.files[number]
        found: list[int] = [f for t in self.targets[number] if t.star for f in t.files]
        if file.language == "go":
            folder = file.path.rpartition("/")[0]
            found += [n for n in self.where.by_folder[folder] if self.where.files[n].language == "go"]
        elif file.language in SHARED_PACKAGE and file.package:
            found += self.where.by_package[file.package]
        return tuple(dict.fromkeys(found))

    def _scoped(self, number: int, use: Use) -> Sequence[int]:
        qualified = self.names.in_file[number]
        if use.receiver and use.receiver not in _SELF:
            at = qualified.get(f"{use.receiver}.{use.name}")
            return () if at is None else (at,)
        scope = use.scope
        while True:
            at = qualified.get(f"{scope}.{use.name}" if scope else use.name)
            if at is not None:
                return (at,)
            if not scope:
                break
            scope = scope.rpartition(".")[0]
        # C++ and C# hold their definitions in a namespace: any top name of the file will do.
        inside = self.names.tails[number].get(use.name, ())
        return inside[:1] if len(inside) == 1 and not use.receiver else ()

    def _imported(self, number: int, use: Use) -> Sequence[int]:
        bound = self._bound[number]
        if use.receiver:
            first, _, rest = use.receiver.partition(".")
            files, name = bound.get(first, ((), ""))
            path = ".".join(p for p in (name, rest, use.name) if p)
            return self._in_files(files, path, use.name) if files else self._in_package(number, use)
        files, name = bound.get(use.name, ((), ""))
        if files:
            return self._in_files(files, name or use.name, name or use.name)
        return self._in_package(number, use)

    def _typed(self, number: int, use: Use) -> Sequence[int]:
        """A member of the type that the enclosing function's signature gives the receiver."""
        if not use.receiver or not use.scope or use.receiver in _SELF:
            return ()
        variable = use.receiver.partition(".")[0]
        scope = self.names.in_file[number].get(use.scope)
        if scope is None or "." in use.receiver:
            return ()
        type_ = _declared_type(self.names.symbols[scope].signature, variable)
        if not type_:
            return ()
        typed = use._replace(receiver=type_)
        found = self._scoped(number, typed) or self._imported(number, typed)
        if found:
            return found
        ending = f".{type_}.{use.name}"
        everywhere = [
            c for c in self.names.by_name.get(use.name, ()) if f".{self.names.symbols[c].qualified}".endswith(ending)
        ]
        return everywhere if len(everywhere) == 1 else ()

    def _in_package(self, number: int, use: Use) -> Sequence[int]:
        files = self._package
        if not files or (use.receiver and use.receiver.partition(".")[0] not in self.names.by_name):
            return ()
        path = f"{use.receiver}.{use.name}" if use.receiver and use.receiver not in _SELF else use.name
        found = [self.names.in_file[f][path] for f in files if f != number and path in self.names.in_file[f]]
        return found[:_MANY]

    def _in_files(self, files: Sequence[int], path: str, name: str, depth: int = 0) -> Sequence[int]:
        """Definitions called `path` (or, failing that, just `name`) in files, through what those import themselves."""
        found = [self.names.in_file[f][path] for f in files if path in self.names.in_file[f]]
        if found:
            return found[:_MANY]
        if depth < DEPTH:
            first, _, rest = path.partition(".")
            for file in files:
                again, original = self._bound[file].get(first, ((), ""))
                again = tuple(f for f in again if f != file) or tuple(
                    f for t in self.targets[file] if t.star for f in t.files if f != file
                )
                if again:
                    inner = ".".join(p for p in (original or ("" if first in self._bound[file] else first), rest) if p)
                    found = list(self._in_files(again[:_MANY], inner or name, name, depth + 1))
                    if found:
                        return found
        tails = [at for f in files[:_MANY] for at in self.names.tails[f].get(name, ())]
        return tails if len(tails) == 1 else ()

    def _anywhere(self, number: int, use: Use) -> _Found:
        candidates = self.names.by_name.get(use.name, ())
        if not candidates or len(candidates) > _COMMON:
            return (), None
        if use.receiver and use.name in _EVERYWHERE:
            return (), None
        # Only these two things of a receiver matter here.
        key = (use.name, "" if not use.receiver else "self" if use.receiver in _SELF else ")")
        found = self._guesses.get(key)
        if found is None:
            found = self._guesses[key] = self._guess(number, use)
        return found

    def _guess(self, number: int, use: Use) -> _Found:
        fitting = self._all_fitting(use.name, bool(use.receiver), self.names.families[number], self._tests[number])
        close = [c for c in fitting if self.names.file_of[c] in self._near]
        # What `self` has and its class doesn't define comes from a base class, which is imported.
        fitting = close if close or use.receiver in _SELF else fitting
        if not fitting or len(fitting) > _MANY:
            return (), None
        return fitting, How.UNIQUE if len(fitting) == 1 else How.AMBIGUOUS

    def _all_fitting(self, name: str, member: bool, family_: str, test: bool) -> list[int]:
        """The definitions of a name that code of this family may mean; what is not a test means none in a test."""
        key = (name, member, family_, test)
        found = self._fitting.get(key)
        if found is None:
            found = self._fitting[key] = [
                c
                for c in self.names.by_name[name]
                if self._fits(c, family_, member) and (test or not self._tests[self.names.file_of[c]])
            ]
        return found

    def _fits(self, candidate: int, family_: str, member: bool) -> bool:
        if self.names.families[self.names.file_of[candidate]] != family_:
            return False
        # A bare name never means somebody's method or field.
        return member or self.names.symbols[candidate].kind not in ("method", "field")
