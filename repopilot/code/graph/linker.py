"""Links uses of names to the definitions they refer to, with a confidence. Pure.

Names are looked up where the language would look first (the scope, the file, its imports, its package), then, as a
guess, anywhere in the repository.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from repopilot.code.graph.import_resolver import FileLookup, ImportTarget, family
from repopilot.code.languages import is_test_path
from repopilot.code.split import FileAnalysis
from repopilot.code.symbols import Use
from repopilot.types import Symbol


class Resolution(IntEnum):
    """How a reference was resolved, surest first."""

    SAME_FILE = 0
    IMPORTED = 1
    UNIQUE = 2
    AMBIGUOUS = 3


CONFIDENCE = {Resolution.SAME_FILE: 0.95, Resolution.IMPORTED: 0.9, Resolution.UNIQUE: 0.6, Resolution.AMBIGUOUS: 0.4}
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
"""Methods of built-in types: on an object of unknown type they refer to no definition of the repository."""
_PARAMETER = re.compile(r"(?:^|[,(*])\s*(\w+)\s*(?=[,:=)?]|$)")
_MOST_CANDIDATES = 6
_COMMON = 200  # a name with more definitions is not guessed
DEPTH = 4
"""How many files names are followed through that import them in turn."""


_TYPE_AFTER = re.compile(r"\s*\??\s*:?\s*(?:&|\*|mut |\[\]|'\w+ |Optional\[|\"|impl |dyn )*(?:\w+\.)*([A-Z]\w*)")
_TYPE_BEFORE = re.compile(r"(?:^|[(,<\s])(?:\w+\.)*([A-Z]\w*)(?:<[^()]*>)?[\s&*?]+$")
_ENDED = re.compile(r"\s*[,)=]")


@lru_cache(maxsize=1 << 14)
def _declared_type(signature: str, variable: str) -> str:
    """The declared type of a parameter (`c: Context`, `c *Context`, `Context c`); '' for none."""
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
    """Where `part` begins in `text`, overlapping occurrences included."""
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


@lru_cache(maxsize=1 << 14)
def _parameters(signature: str) -> frozenset[str]:
    """The parameters of a signature as Python and JavaScript write them: names before `:`, `=`, `,` or the end."""
    return frozenset(_PARAMETER.findall(signature.partition("(")[2]))


@dataclass(slots=True)
class Names:
    """All definitions, by everything they can be named by. Symbols are numbered across all files in order.

    `file_of` is the file of each symbol and `families` the family of each file's language; by file, `in_file` maps
    qualified names to symbols and `tails` unqualified ones.
    """

    symbols: list[Symbol] = field(default_factory=list)
    file_of: list[int] = field(default_factory=list)
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    in_file: list[dict[str, int]] = field(default_factory=list)
    tails: list[dict[str, list[int]]] = field(default_factory=list)
    families: list[str] = field(default_factory=list)


def names(files: Sequence[FileAnalysis]) -> Names:
    """Index the definitions of all files for `Linker`."""
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


_Found = tuple[Sequence[int], "Resolution | None"]


@dataclass(slots=True)
class Linker:
    """Resolves uses of names, file by file. `targets[n]` are the resolved imports of file n.

    Results are cached: guesses about names for all files, everything else for the current file.
    """

    lookup: FileLookup
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
        self._tests = [is_test_path(file.path) for file in self.lookup.files]

    def link(self, number: int, use: Use) -> tuple[Sequence[int], Resolution | None]:
        """Resolve a use of a name.

        Args:
            number: the number of the file that uses it.
            use: the use.

        Returns:
            The numbers of the symbols it may refer to, and how they were found; ((), None) when none fits.
        """
        if number != self._file:
            self._start_file(number)
        key = (use.name, use.receiver, use.scope)
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = self._find(number, use)
        return found

    def _start_file(self, number: int) -> None:
        self._file, self._package = number, self._package_of(number)
        self._near = frozenset((number, *(f for t in self.targets[number] for f in t.files), *self._package))
        self._links, self._guesses = {}, {}

    def _find(self, number: int, use: Use) -> _Found:
        if not use.receiver and self._is_parameter(number, use):
            return (), None
        found = self._scoped(number, use)
        if found:
            return found, Resolution.SAME_FILE
        found = self._imported(number, use) or self._typed(number, use)
        if found:
            return found, Resolution.IMPORTED
        return self._anywhere(number, use)

    def _is_parameter(self, number: int, use: Use) -> bool:
        """Whether a bare name is a parameter of an enclosing function, which hides any definition of that name."""
        scope, qualified = use.scope, self.names.in_file[number]
        while scope:
            at = qualified.get(scope)
            found = self.names.symbols[at] if at is not None else None
            if found and found.kind in ("function", "method") and use.name in _parameters(found.signature):
                return True
            scope = scope.rpartition(".")[0]
        return False

    def _package_of(self, number: int) -> tuple[int, ...]:
        """The files whose names are in scope without a prefix: those of star imports and of the same package."""
        file = self.lookup.files[number]
        found: list[int] = [f for t in self.targets[number] if t.star for f in t.files]
        if file.language == "go":
            folder = file.path.rpartition("/")[0]
            found += [n for n in self.lookup.by_folder[folder] if self.lookup.files[n].language == "go"]
        elif file.language in SHARED_PACKAGE and file.package:
            found += self.lookup.by_package[file.package]
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
        # In C++ and C# definitions are in a namespace, which uses need not name.
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
        """A member of the type that the signature of the enclosing function declares for the receiver."""
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
        return found[:_MOST_CANDIDATES]

    def _in_files(self, files: Sequence[int], path: str, name: str, depth: int = 0) -> Sequence[int]:
        """Definitions with the qualified name `path`, else with the name `name`, in files or what these import."""
        found = [self.names.in_file[f][path] for f in files if path in self.names.in_file[f]]
        if found:
            return found[:_MOST_CANDIDATES]
        if depth < DEPTH:
            first, _, rest = path.partition(".")
            for file in files:
                again, original = self._bound[file].get(first, ((), ""))
                again = tuple(f for f in again if f != file) or tuple(
                    f for t in self.targets[file] if t.star for f in t.files if f != file
                )
                if again:
                    inner = ".".join(p for p in (original or ("" if first in self._bound[file] else first), rest) if p)
                    found = list(self._in_files(again[:_MOST_CANDIDATES], inner or name, name, depth + 1))
                    if found:
                        return found
        tails = [at for f in files[:_MOST_CANDIDATES] for at in self.names.tails[f].get(name, ())]
        return tails if len(tails) == 1 else ()

    def _anywhere(self, number: int, use: Use) -> _Found:
        candidates = self.names.by_name.get(use.name, ())
        if not candidates or len(candidates) > _COMMON:
            return (), None
        if use.receiver and use.name in _EVERYWHERE:
            return (), None
        # Of the receiver only this matters here.
        key = (use.name, "" if not use.receiver else "self" if use.receiver in _SELF else ")")
        found = self._guesses.get(key)
        if found is None:
            found = self._guesses[key] = self._guess(number, use)
        return found

    def _guess(self, number: int, use: Use) -> _Found:
        fitting = self._all_fitting(use.name, bool(use.receiver), self.names.families[number], self._tests[number])
        close = [c for c in fitting if self.names.file_of[c] in self._near]
        # A member of `self` that its class doesn't define comes from a base class, which is imported.
        fitting = close if close or use.receiver in _SELF else fitting
        if not fitting or len(fitting) > _MOST_CANDIDATES:
            return (), None
        return fitting, Resolution.UNIQUE if len(fitting) == 1 else Resolution.AMBIGUOUS

    def _all_fitting(self, name: str, member: bool, family_: str, test: bool) -> list[int]:
        """The definitions of a name that code of a family may refer to; only tests refer to definitions in tests."""
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
        is_member = self.names.symbols[candidate].kind in ("method", "field")
        # A bare name never refers to a method or field; in Go a selector that isn't of a package only to these.
        return is_member == member if family_ == "go" else member or not is_member
