"""Links uses of names to the definitions they refer to, with a confidence. Pure.

Names are looked up where the language would look first (the scope, the file, its imports, its package), then, as a
guess, anywhere in the repository.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import chain

from repopilot.code.file_analysis import FileAnalysis, PassedValue, Use
from repopilot.code.graph.import_resolver import OwnPackage, file_lookup, resolve
from repopilot.code.languages import family, is_test_path
from repopilot.types import Symbol, innermost


class Resolution(IntEnum):
    """How a reference was resolved, surest first."""

    SAME_FILE = 0
    IMPORTED = 1
    INFERRED = 2
    UNIQUE = 3
    AMBIGUOUS = 4
    OUTSIDE = 5

    @property
    def sure(self) -> bool:
        """Whether scope, imports or a written type leave no other meaning."""
        return self <= Resolution.IMPORTED

    @property
    def outside(self) -> bool:
        """Whether it certainly refers to no known definition of the repository."""
        return self == Resolution.OUTSIDE


CONFIDENCE = {
    Resolution.SAME_FILE: 0.95,
    Resolution.IMPORTED: 0.9,
    Resolution.INFERRED: 0.7,
    Resolution.UNIQUE: 0.6,
    Resolution.AMBIGUOUS: 0.4,
}
"""Confidence of a reference; that of an ambiguous one is divided by the number of candidates. The type of an inferred
one isn't written: it is the type of the values that the repository passes."""

_SELF = frozenset(("self", "this", "cls", "super", "Self", "$this", "static", "parent", "@"))
_ABOVE = frozenset(("super", "super()", "parent"))
_CLASSES = frozenset(("class", "interface", "struct", "trait", "enum", "type"))
_FUNCTIONS = frozenset(("function", "method", "declaration"))
_IMPLICIT_THIS = frozenset(("java", "csharp", "cpp", "c", "kotlin", "scala", "swift", "ruby"))
"""Languages in which a bare name may be a member of the class around it."""
_MADE_BY_FUNCTION = frozenset(("rust", "ruby"))
"""Families in which a class function without a definition is taken to return an object: `new`, or a derived one."""
_CLOSED = frozenset(("python", "c"))
"""Families of languages in which a class has no members but its own and those of its bases."""
_CONSTRUCTORS = {"python": "__init__", "js": "constructor", "ruby": "initialize"}
"""The constructors of classes, by family of languages."""
_ALIAS = re.compile(r"(?:static\s+)?\w+\s*=\s*([\w.]+)")
_MOST_VALUES = 20
"""A parameter that gets more different values is taken to have no type."""
_PASSES_ON = frozenset(("python", "rust"))
"""Languages in which a star import brings what the module itself imported, too."""
_IN_SEVERAL_FILES = frozenset(("go", "c", "csharp", "rust", "swift", "jvm"))
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
_BEHIND_ITS_TYPE = re.compile(r"[\w>\]][\s*&]+(\w+)\s*(?:\[\])?\s*(?=[,)=])")
_PARAMETERS = {
    "go": re.compile(r"[,(]\s*(\w+)(?=\s*,|\s+[\w*.\[(])"),
    **dict.fromkeys(("c", "csharp"), _BEHIND_ITS_TYPE),
    "jvm": re.compile(rf"{_BEHIND_ITS_TYPE.pattern}|[,(]\s*(?:va[lr]\s+)?(\w+)\s*:"),
}
_MOST_CANDIDATES = 6
_COMMON = 200  # a name with more definitions is not guessed
DEPTH = 4
"""Through how many files a name is followed when each imports it from the next."""


_TYPE_AFTER = re.compile(r"\s*\??\s*:?\s*(?:&|\*|mut |\[\]|'\w+ |Optional\[|\"|impl |dyn )*((?:\w+\.)*[A-Z]\w*)")
_TYPE_BEFORE = re.compile(r"(?:^|[(,<\s])((?:\w+\.)*[A-Z]\w*)(?:<[^()]*>)?[\s&*?]+$")
_RETURNED = re.compile(
    r"\)\s*(?:->|:)?\s*(?:&|\*|\"|'|Promise<|Optional\[)*((?:\w+\.)*[A-Z]\w*)"
    r"(?:<.*>|\[.*\])?(?:\s*\|\s*(?:None|null|undefined))?\W*$"
)
_RETURNED_BEFORE = re.compile(r"(?:^|[\s:])([A-Z]\w*)[\s&*]+(?:\w+(?:::|\.))*\w+\s*\(")
_ENDED = re.compile(r"\s*(?:[,)=;]|$)")
_TYPE_OF_FUNCTION = re.compile(r"(?:[:|&<]\s*\(*|\bfunc|\))\Z")
"""The text before the parentheses of a function type: `(c: Context) => void`, `func(c Context)`, `void (*)(Context
c)`."""


@lru_cache(maxsize=1 << 14)
def _declared_type(signature: str, variable: str) -> str:
    """The declared type of a parameter (`c: Context`, `c *Context`, `Context c`); '' for none."""
    places = [at for at in _occurrences(signature, variable) if not _in_type_of_function(signature, at)]
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


def _in_type_of_function(signature: str, at: int) -> bool:
    """Whether a place is among the parameters of a function type."""
    open_ = 0
    for before in range(at - 1, -1, -1):
        open_ += (signature[before] == "(") - (signature[before] == ")")
        if open_ > 0:
            return _TYPE_OF_FUNCTION.search(signature[max(0, before - 8) : before]) is not None
    return False


@lru_cache(maxsize=1 << 14)
def _returned_type(signature: str) -> str:
    """The type that a function is declared to return (`-> Client`, `): Client`, `Client* make()`); '' for none."""
    after = _RETURNED.search(signature)
    if after:
        return after[1]
    before = _RETURNED_BEFORE.search(signature)
    return before[1] if before else ""


def may_mean(kind: str, family_: str, member: bool) -> bool:
    """Whether a use by a bare name, or as a member of something, may refer to a definition of a kind at all."""
    is_member = kind in ("method", "field")
    # A bare name never refers to a method or field; in Go a selector, unless of a package, refers only to these.
    return is_member == member if family_ == "go" else member or not is_member


def _occurrences(text: str, part: str) -> list[int]:
    """Where `part` begins in `text`, overlapping occurrences included."""
    found = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


@lru_cache(maxsize=1 << 14)
def _parameters(signature: str, family_: str) -> tuple[str, ...]:
    """The parameters of a signature in order: names before `:`, `=`, `,` or the end; in some languages, names after or
    before their types."""
    pattern = _PARAMETERS.get(family_, _PARAMETER)
    found = pattern.finditer(signature[signature.find("(") :])
    return tuple(match[match.lastindex or 0] for match in found)


@dataclass(slots=True)
class Names:
    """All definitions, by every name that can refer to them. Symbols are numbered across all files in order.

    `by_name` maps unqualified names to symbols, `by_qualified` qualified ones; `file_of` is the file of each symbol and
    `families` the family of each file's language; by file, `in_file` maps qualified names to symbols and `tails`
    unqualified ones.
    """

    symbols: list[Symbol] = field(default_factory=list)
    file_of: list[int] = field(default_factory=list)
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_qualified: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
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
            found.by_qualified[symbol.qualified].append(at)
            # A declaration gives way to the definition of the same name.
            if symbol.qualified not in qualified or found.symbols[qualified[symbol.qualified]].kind == "declaration":
                qualified[symbol.qualified] = at
            tails.setdefault(symbol.name, []).append(at)
        found.in_file.append(qualified)
        found.tails.append(tails)
        found.families.append(family(file.language))
    return found


_Binding = tuple[tuple[int, ...], str]
"""What an import binds a name to: files, and the name in them, '' for the module itself."""
_UNBOUND: _Binding = ((), "")
_Found = tuple[Sequence[int], "Resolution | None"]
_Scopes = tuple[list[tuple[str, Collection[str], bool]], frozenset[str]]
"""The scopes around a use, the innermost first: the prefix of the names in each, the parameters of its function, and
whether a bare name can mean what it holds. Then the parameters of all of them."""
_NOTHING: _Found = ((), None)
_ELSEWHERE: _Found = ((), Resolution.OUTSIDE)


class Linker:
    """Resolves uses of names, file by file.

    `lookup` are the files, `names` their definitions, `targets[n]` the resolved imports of file n, and `bound[n]` what
    these bind. Results are cached: links and guesses for the current file, everything else for all files.
    """

    def __init__(self, files: Sequence[FileAnalysis], manifests: Iterable[OwnPackage] = ()) -> None:
        """Resolve the imports of all files.

        Args:
            files: their analyses; chunks are not needed.
            manifests: those that name packages of the repository itself.
        """
        self.lookup = file_lookup(files, manifests)
        self.names = names(files)
        self.targets = [resolve(self.lookup, number) for number in range(len(files))]
        self.bound = [{k: v for t in found for k, v in t.bound.items()} for found in self.targets]
        self._rebound = [self._bound_twice(number) for number in range(len(files))]
        self._outside = [
            frozenset(local for item in file.imports if item.module for local in item.bound if local not in bound)
            for file, bound in zip(files, self.bound, strict=True)
        ]
        self._tests = [is_test_path(file.path) for file in files]
        self._in_namespaces = self._all_in_namespaces()
        self._fitting: dict[tuple[str, bool, str, bool], list[int]] = {}
        self._packages: dict[int, dict[int, int]] = {}
        self._bases: dict[int, tuple[list[int], bool]] = {}
        self._inferred = False
        self._values: dict[tuple[int, str], dict[tuple[int, str, str], None]] = {}
        self._given: dict[tuple[int, str], Sequence[int]] = {}
        self._start_file(-1)
        self._values = self._all_values()

    def link(self, number: int, use: Use) -> tuple[Sequence[int], Resolution | None]:
        """Resolve a use of a name.

        Args:
            number: the number of the file that uses it.
            use: the use.

        Returns:
            The numbers of the symbols it may refer to, and how they were found; ((), Resolution.OUTSIDE) when it
            certainly refers to none, ((), None) when none fits.
        """
        if number != self._file:
            self._start_file(number)
        key = (use.name, use.receiver, use.scope)
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = self._find(number, use)
        return found

    def _start_file(self, number: int) -> None:
        self._file = number
        self._links: dict[tuple[str, str, str], _Found] = {}
        self._guesses: dict[tuple[str, str], _Found] = {}
        self._scopes: dict[tuple[int, str], _Scopes] = {}
        self._receivers: dict[tuple[str, str], tuple[Sequence[int], bool]] = {}

    def path(self, at: int) -> str:
        """The file of a symbol."""
        return self.lookup.files[self.names.file_of[at]].path

    def numbers(self, symbol: Symbol) -> list[int]:
        """The numbers of a definition, including its overloads."""
        named = self.names.by_name.get(symbol.name, ())
        wanted = (symbol.path, symbol.qualified)
        return [at for at in named if (self.path(at), self.names.symbols[at].qualified) == wanted]

    def declarations(self, at: int) -> list[int]:
        """The same class member in other files, when one file declares it and another defines it."""
        symbol = self.names.symbols[at]
        number = self.names.file_of[at]
        if self.names.families[number] not in _IN_SEVERAL_FILES:
            return []
        file_of = self.names.file_of
        others = (n for n in self.names.by_qualified[symbol.qualified] if file_of[n] != number)
        return [n for n in others if self._sees(file_of[n], number) or self._sees(number, file_of[n])]

    def overridden(self, at: int) -> tuple[list[int], bool]:
        """The members of base classes that a method overrides, and whether all bases are known."""
        symbol = self.names.symbols[at]
        number = self.names.file_of[at]
        owner = self.names.in_file[number].get(symbol.qualified.rpartition(".")[0])
        if owner is None or not self._is_class(owner):
            return [], True
        bases, known = self._bases_of(owner)
        found: list[int] = []
        for base in bases:
            found += self._members(base, symbol.name)[0]
            known = known and self._bases_of(base)[1]
        return found, known

    def imported(self, number: int, name: str, local: str) -> Sequence[int]:
        """The symbols that an import of a file binds to `local`; where it binds a module, those of `name` in it."""
        files, original = self.bound[number].get(local, ((), ""))
        path = original or name
        return self._in_files(files, path, path.rpartition(".")[2]) if files else ()

    def _find(self, number: int, use: Use) -> _Found:
        found = self._member(number, use) if use.receiver else self._bare(number, use.name, use.scope)
        return self._anywhere(number, use) if found == _NOTHING else found

    def _bound_twice(self, number: int) -> dict[str, list[tuple[str, _Binding]]]:
        """The names that imports of a file bind to different things, with the scope of each import."""
        bound: dict[str, list[tuple[int, _Binding]]] = defaultdict(list)
        for target in self.targets[number]:
            for name, binding in target.bound.items():
                bound[name].append((target.line, binding))
        several = {name: found for name, found in bound.items() if len({binding for _, binding in found}) > 1}
        return {
            name: [(self._function_around(number, line), binding) for line, binding in found]
            for name, found in several.items()
        }

    def _function_around(self, number: int, line: int) -> str:
        """The innermost function that holds a line, by its qualified name; '' for none."""
        found = innermost((s for s in self.lookup.files[number].symbols if s.kind in _FUNCTIONS), line)
        return found.qualified if found else ""

    def _binding(self, number: int, name: str, scope: str) -> _Binding:
        """What a name is bound to by imports in a scope: one inside of a function holds there alone."""
        several = self._rebound[number].get(name)
        if several is None:
            return self.bound[number].get(name, _UNBOUND)
        in_scope = [each for each in several if not each[0] or f"{scope}.".startswith(f"{each[0]}.")]
        # Of two imports in one scope the later one counts, as when `except ImportError` imports a substitute.
        return max(reversed(in_scope), key=lambda each: len(each[0]))[1] if in_scope else _UNBOUND

    # Bare names

    def _bare(self, number: int, name: str, scope: str) -> _Found:
        found = self._in_scopes(number, name, scope)
        if found is None or found:
            return (found, Resolution.SAME_FILE) if found else _ELSEWHERE
        files, original = self._binding(number, name, scope)
        if files:
            found = self._in_files(files, original or name, name if original == "default" else original or name)
            return (found, Resolution.IMPORTED) if found else _NOTHING
        if name in self._outside[number]:
            return _ELSEWHERE
        found = self._in_package(number, name) or self._constant(number, name, scope)
        around = self._class_around(number, scope) if not found and self._implicit(number) else None
        if around is not None:
            found = self._members(around, name)[0]
        return (found, Resolution.IMPORTED) if found else _NOTHING

    def _in_scopes(self, number: int, name: str, scope: str) -> Sequence[int] | None:
        """What a bare name means in the scopes around it; None for a parameter, which hides any definition."""
        qualified = self.names.in_file[number]
        scopes, hidden = self._scopes_around(number, scope)
        if name not in self.names.tails[number]:  # the file defines nothing of this name
            return None if name in hidden else ()
        for prefix, parameters, shows in scopes:
            if name in parameters:
                return None
            at = qualified.get(prefix + name)
            if at is not None and shows:
                return self._overloads(at)
        # In C++ and C# definitions are in a namespace, which uses need not name.
        inside = [at for at in self.names.tails[number][name] if self._is_in_namespace(number, at)]
        return inside if len({self.names.symbols[at].qualified for at in inside}) == 1 else ()

    def _scopes_around(self, number: int, scope: str) -> _Scopes:
        known = self._scopes.get((number, scope))
        if known is not None:
            return known
        found: list[tuple[str, Collection[str], bool]] = []
        inner = scope
        while inner:
            at = self.names.in_file[number].get(inner)
            around = self.names.symbols[at] if at is not None else None
            parameters: Collection[str] = ()
            if around is not None and around.kind in _FUNCTIONS:
                parameters = _parameters(around.signature, self.names.families[number])
            shows = around is None or around.kind not in _CLASSES or self._sees_members(number, inner == scope)
            found.append((f"{inner}.", parameters, shows))
            inner = inner.rpartition(".")[0]
        found.append(("", (), True))
        hidden = frozenset[str]().union(*(parameters for _, parameters, _ in found))
        self._scopes[number, scope] = found, hidden
        return found, hidden

    def _sees_members(self, number: int, directly: bool) -> bool:
        """Whether a bare name in a class can be a member of it: in Python only in the class body, not in methods."""
        return self._implicit(number) or (directly and self.lookup.files[number].language == "python")

    def _implicit(self, number: int) -> bool:
        return self.lookup.files[number].language in _IMPLICIT_THIS

    def _is_in_namespace(self, number: int, at: int) -> bool:
        outer = self.names.symbols[at].qualified.rpartition(".")[0]
        while outer:
            around = self.names.in_file[number].get(outer)
            if around is None or self.names.symbols[around].kind != "module":
                return False
            outer = outer.rpartition(".")[0]
        return True

    def _package_of(self, number: int) -> dict[int, int]:
        """The files whose names are in scope without a prefix, in order and by rank: those of star imports and of the
        same package."""
        known = self._packages.get(number)
        if known is not None:
            return known
        file = self.lookup.files[number]
        found: list[int] = [f for t in self.targets[number] if t.star for f in t.files]
        if file.language == "go":
            folder = file.path.rpartition("/")[0]
            found += [n for n in self.lookup.by_folder[folder] if self.lookup.files[n].language == "go"]
        elif file.language in SHARED_PACKAGE and file.package:
            found += self.lookup.by_package[file.package]
        elif self.names.families[number] == "c":
            found += [f for n in found for t in self.targets[n] for f in t.files]
        self._packages[number] = {f: rank for rank, f in enumerate(dict.fromkeys(found))}
        return self._packages[number]

    def _in_package(self, number: int, path: str) -> Sequence[int]:
        ranks = self._package_of(number)
        if not ranks:
            return ()
        found: list[int] = []
        if path in self.names.by_qualified:
            defining = {self.names.file_of[at] for at in self.names.by_qualified[path]}
            files = sorted((f for f in defining if f in ranks and f != number), key=ranks.__getitem__)
            found = [self.names.in_file[f][path] for f in files]
        if not found and self.lookup.files[number].language in _PASSES_ON:
            first = path.partition(".")[0]
            stars = [f for t in self.targets[number] if t.star for f in t.files if first in self.bound[f]]
            found = list(self._in_files(stars, path, path.rpartition(".")[2])) if stars else []
        if not found and path in self._in_namespaces:
            inside = (at for at in self._in_namespaces[path] if self.names.file_of[at] in ranks)
            others = (at for at in inside if self.names.file_of[at] != number)
            found = sorted(others, key=lambda at: ranks[self.names.file_of[at]])
        return found[:_MOST_CANDIDATES]

    def _all_in_namespaces(self) -> dict[str, list[int]]:
        """The definitions in files and namespaces, but not in classes or functions, by their unqualified names."""
        found = defaultdict[str, list[int]](list)
        for at, symbol in enumerate(self.names.symbols):
            if self._is_in_namespace(self.names.file_of[at], at):
                found[symbol.name].append(at)
        return found

    def _in_files(self, files: Sequence[int], path: str, name: str, depth: int = 0) -> Sequence[int]:
        """Definitions with the qualified name `path`, else with the name `name`, in files or what these import."""
        found = [
            at for f in files if path in self.names.in_file[f] for at in self._overloads(self.names.in_file[f][path])
        ]
        if found:
            return found[:_MOST_CANDIDATES]
        first, _, rest = path.partition(".")
        if first == "default" and not any("default" in self.bound[f] for f in files):
            return self._in_files(files, rest or name, name, depth) if (rest or name) != "default" else ()
        for file in files if depth < DEPTH else ():
            bound = self.bound[file]
            again, original = bound.get(first, ((), ""))
            if again == (file,) and original in ("", first):
                continue
            again = again or tuple(f for t in self.targets[file] if t.star for f in t.files if f != file)
            if again:
                inner = ".".join(p for p in (original or ("" if first in bound else first), rest) if p)
                found = list(self._in_files(again[:_MOST_CANDIDATES], inner or name, name, depth + 1))
                if found:
                    return found
        tails = [
            at
            for f in files[:_MOST_CANDIDATES]
            for at in self.names.tails[f].get(name, ())
            if self.names.families[f] != "python" or self.names.symbols[at].kind not in ("method", "field")
        ]
        return tails if len({self.names.symbols[at].qualified for at in tails}) == 1 else ()

    def _overloads(self, at: int) -> Sequence[int]:
        """A definition and the others in the file with its qualified name."""
        symbol = self.names.symbols[at]
        number = self.names.file_of[at]
        same = [n for n in self.names.tails[number][symbol.name] if self.names.symbols[n].qualified == symbol.qualified]
        return same if len(same) > 1 else (at,)

    # Members

    def _member(self, number: int, use: Use) -> _Found:
        """Resolve a member of a receiver that is an object of a class, a class, or a module."""
        key = (use.receiver, use.scope)
        known = self._receivers.get(key)
        if known is None:
            self._inferred = False
            known = self._receivers[key] = (self._classes_of(number, use.receiver, use.scope), self._inferred)
        classes, inferred = known
        if classes:
            is_made = use.name == "new" and self.names.families[number] == "ruby"
            members = [self._members(each, "initialize" if is_made else use.name) for each in classes]
            found = list(dict.fromkeys(at for inside, _ in members for at in inside))
            if inferred:
                return (found, Resolution.INFERRED) if len({*map(self._place, found)}) == 1 else _NOTHING
            if found:
                own = all(self.names.file_of[at] == number for at in found)
                return found, Resolution.SAME_FILE if own else Resolution.IMPORTED
            return _ELSEWHERE if all(closed for _, closed in members) else _NOTHING
        first = use.receiver.partition(".")[0]
        if first in self._outside[number] and self._in_scopes(number, first, use.scope) == ():
            return _ELSEWHERE
        if use.receiver.endswith(")"):
            return _NOTHING
        named = self._named(number, f"{use.receiver}.{use.name}", use.scope)
        return (named, Resolution.IMPORTED) if named else _NOTHING

    def _named(self, number: int, path: str, scope: str, depth: int = 0) -> Sequence[int]:
        """The definitions that a dotted name certainly means; () for a variable."""
        at = self.names.in_file[number].get(path)
        if at is not None:
            return (at,)
        first, _, rest = path.partition(".")
        hidden = self._in_scopes(number, first, scope)
        files, original = self._binding(number, first, scope)
        if files and hidden == ():
            inner = ".".join(p for p in (original, rest) if p) or first
            return self._in_files(files, inner, first if inner == "default" else inner.rpartition(".")[2])
        if not rest:
            found, how = self._bare(number, path, scope)
            return found if how in (Resolution.SAME_FILE, Resolution.IMPORTED) else ()
        found = self._in_package(number, path) or self._constant(number, path, scope)
        if found or hidden is None or depth >= DEPTH:
            return found
        owner, _, name = path.rpartition(".")
        owners = self._named(number, owner, scope, depth + 1) or self._packaged(number, owner)
        return [at for each in owners if self._is_class(each) for at in self._members(each, name)[0]]

    def _packaged(self, number: int, path: str) -> Sequence[int]:
        """A class that is named with its package."""
        package, _, name = path.rpartition(".")
        files = self.lookup.packaged.get((package, name), ()) if package else ()
        return [self.names.in_file[f][name] for f in files if name in self.names.in_file[f]]

    def _constant(self, number: int, path: str, scope: str) -> Sequence[int]:
        """A Ruby constant, which every file sees: the one in the innermost module around the use."""
        if self.names.families[number] != "ruby" or not path[:1].isupper():
            return ()
        named = [at for at in self.names.by_name.get(path.rpartition(".")[2], ()) if self._fits(at, "ruby", False)]
        outer = [".".join(parts[:length]) for parts in [scope.split(".")] for length in range(len(parts), 0, -1)]
        wanted = [*(f"{module}.{path}" for module in outer if module), path]
        found = ([at for at in named if self.names.symbols[at].qualified == each] for each in wanted)
        return next(filter(None, found), [])[:_MOST_CANDIDATES]

    def _is_class(self, at: int) -> bool:
        return self.names.symbols[at].kind in _CLASSES

    def _class_around(self, number: int, scope: str) -> int | None:
        """The class, or the object with functions, that `self` refers to in a scope."""
        qualified = self.names.in_file[number]
        while scope:
            at = qualified.get(scope)
            if at is not None and self.names.symbols[at].kind not in _FUNCTIONS:
                return at
            outer = scope.rpartition(".")[0]
            if at is not None and outer and outer not in qualified:  # a method in another file than its class
                found = [each for each in self._in_package(number, outer) if self._is_class(each)]
                found = found or [c for c in self._all_near(number, outer) if self._is_class(c)]
                return found[0] if found else None
            scope = outer
        return None

    def _all_near(self, number: int, qualified: str) -> list[int]:
        near = (f for t in self.targets[number] for f in t.files)
        return [self.names.in_file[f][qualified] for f in near if qualified in self.names.in_file[f]]

    def _classes_of(self, number: int, receiver: str, scope: str, depth: int = 0) -> Sequence[int]:
        """The classes that a receiver is an instance of, or that it names; () where the code doesn't state them."""
        if depth > DEPTH:
            return ()
        if receiver in _SELF or receiver == "super()":
            around = self._class_around(number, scope)
            if around is None:
                return ()
            return self._bases_of(around)[0] if receiver in _ABOVE else (around,)
        if receiver.endswith("()"):
            return self._results(number, receiver[:-2], scope, depth)
        owner, _, name = receiver.rpartition(".")
        if not owner:
            return self._of_variable(number, receiver, scope, depth)
        found = [at for at in self._named(number, receiver, scope) if self._is_class(at)]
        if found:
            return found
        owners = self._classes_of(number, owner, scope, depth + 1)
        fields = [at for each in owners for at in self._members(each, name)[0]]
        declared = [c for at in fields for c in self._declared(at, name, depth)]
        return declared or [c for each in owners for c in self._of_attribute(each, name, depth)]

    def _of_variable(self, number: int, name: str, scope: str, depth: int) -> Sequence[int]:
        inner = scope
        while inner:
            at = self.names.in_file[number].get(inner)
            if at is not None and self.names.symbols[at].kind in _FUNCTIONS:
                signature = self.names.symbols[at].signature
                type_ = _declared_type(signature, name)
                if type_ or name in _parameters(signature, self.names.families[number]):
                    return self._class_named(number, type_, scope, depth) if type_ else self._of_values(at, name)
            inner = inner.rpartition(".")[0]
        found = self._named(number, name, scope)
        return [c for at in found for c in ((at,) if self._is_class(at) else self._declared(at, name, depth))]

    def _declared(self, at: int, name: str, depth: int) -> Sequence[int]:
        """The class of a field or variable by its declaration, of a property by its return type."""
        symbol = self.names.symbols[at]
        number = self.names.file_of[at]
        scope = symbol.qualified.rpartition(".")[0]
        type_ = (
            _returned_type(symbol.signature) if symbol.kind in _FUNCTIONS else _declared_type(symbol.signature, name)
        )
        return self._class_named(number, type_, scope, depth) if type_ else ()

    def _results(self, number: int, callee: str, scope: str, depth: int) -> Sequence[int]:
        """The classes of a call's result: the called class itself, or a function's declared return type."""
        found = list(self._named(number, callee, scope))
        if not found and "." in callee:
            owner, _, name = callee.rpartition(".")
            owners = self._classes_of(number, owner, scope, depth + 1)
            found = [a for c in owners for a in self._members(c, name)[0]]
            if not found and self.names.families[number] in _MADE_BY_FUNCTION:
                found = [at for at in self._named(number, owner, scope) if self._is_class(at)]
        elif not found:  # an object that is called
            called = self._of_variable(number, callee, scope, depth + 1)
            found = [a for c in called for a in self._members(c, "__call__")[0]]
        result = [c for at in found for c in ((at,) if self._is_class(at) else self._declared(at, "", depth))]
        return list(dict.fromkeys(result))

    def _class_named(self, number: int, type_: str, scope: str, depth: int) -> Sequence[int]:
        if type_ in _SELF:
            around = self._class_around(number, scope)
            return () if around is None else (around,)
        return [at for at in self._named(number, type_, scope, depth) if self._is_class(at)]

    def _members(self, owner: int, name: str, depth: int = 0) -> tuple[Sequence[int], bool]:
        """The members with a name that a class has or inherits, and whether it certainly has no others."""
        number = self.names.file_of[owner]
        qualified = self.names.symbols[owner].qualified
        at = self.names.in_file[number].get(f"{qualified}.{name}")
        found = [*(self._overloads(at) if at is not None else ()), *self._elsewhere(owner, name)]
        if found:
            return found, True
        bases, closed = self._bases_of(owner)
        for base in bases if depth < DEPTH * 2 else ():
            inherited, known = self._members(base, name, depth + 1)
            closed = closed and known
            if inherited:
                return inherited, True
        return (), closed and self.names.families[number] in _CLOSED

    def _elsewhere(self, owner: int, name: str) -> list[int]:
        """Members of a class in other files: methods of Go and C++, parts of partial classes."""
        number = self.names.file_of[owner]
        wanted = f"{self.names.symbols[owner].qualified}.{name}"
        if self.names.families[number] not in _IN_SEVERAL_FILES:
            return []
        others = self.names.by_qualified.get(wanted, ())
        return [at for at in others if (f := self.names.file_of[at]) != number and self._sees(f, number)]

    def _sees(self, number: int, other: int) -> bool:
        if other in self._package_of(number):
            return True
        # In Go, all parts of a type are in one package.
        return self.names.families[number] != "go" and any(other in t.files for t in self.targets[number])

    def _bases_of(self, owner: int) -> tuple[list[int], bool]:
        """The known base classes of a class, and whether all are known."""
        known = self._bases.get(owner)
        if known is not None:
            return known
        self._bases[owner] = ([], False)  # ends the recursion of a class that is its own base
        number = self.names.file_of[owner]
        qualified = self.names.symbols[owner].qualified
        outer = qualified.rpartition(".")[0]
        found = list[int]()
        closed = True
        for use in self._inheriting(number).get(qualified, ()):
            bases = self._named(number, ".".join(filter(None, (use.receiver, use.name))), outer)
            found += [at for at in bases if self._is_class(at) and at != owner]
            closed = closed and bool(bases)
        self._bases[owner] = (found, closed)
        return self._bases[owner]

    def _inheriting(self, number: int) -> dict[str, list[Use]]:
        found: dict[str, list[Use]] = {}
        for use in self.lookup.files[number].uses:
            if use.kind == "inherit":
                found.setdefault(use.scope, []).append(use)
        return found

    # Types of the values that are passed

    def _all_values(self) -> dict[tuple[int, str], dict[tuple[int, str, str], None]]:
        """The values of parameters and attributes, by the function or class and the name; each with its file and
        scope. Tests don't count: they pass substitutes."""
        found = defaultdict[tuple[int, str], dict[tuple[int, str, str], None]](dict)
        for number, file in enumerate(self.lookup.files):
            for passed in file.passed if not self._tests[number] else ():
                for at, name in self._receiving(number, passed):
                    found[at, name][number, passed.scope, passed.value] = None
        self._file = -1
        self._given = {}
        return found

    def _receiving(self, number: int, passed: PassedValue) -> Iterator[tuple[int, str]]:
        """The parameters of functions, or the attribute of a class, that get a value."""
        if not passed.name:
            around = self._class_around(number, passed.scope)
            if around is not None:
                yield around, str(passed.target)
            return
        if passed.name not in self.names.by_name and passed.name != "new":
            return
        found, how = self.link(number, Use(passed.name, 0, "call", passed.scope, passed.receiver))
        for at in found if how is not None and how.sure else ():
            for function in self._run_by(at):
                names = _parameters(self.names.symbols[function].signature, self.names.families[number])
                first = (
                    names[:1]
                    and names[0] in _SELF
                    and (passed.name not in _CONSTRUCTORS.values() or passed.receiver in _ABOVE)
                )
                names = names[1:] if first else names
                if isinstance(passed.target, str) or passed.target < len(names):
                    yield function, passed.target if isinstance(passed.target, str) else names[passed.target]

    def _run_by(self, called: int) -> Sequence[int]:
        """The functions that a call runs: the called one, or the constructor of a class, also of one that is held by a
        variable."""
        symbol = self.names.symbols[called]
        alias = _ALIAS.match(symbol.signature) if symbol.kind in ("field", "variable") else None
        if alias:
            number = self.names.file_of[called]
            made = self._named(number, alias[1], symbol.qualified.rpartition(".")[0])
        else:
            made = (called,)
        if not made or not self._is_class(made[0]):
            return (called,)
        constructor = _CONSTRUCTORS.get(self.names.families[self.names.file_of[made[0]]], "")
        return self._members(made[0], constructor)[0]

    def _of_attribute(self, owner: int, name: str, depth: int) -> Sequence[int]:
        """The classes of the values of an attribute that a class or its nearest base class sets."""
        found = self._of_values(owner, name)
        bases = self._bases_of(owner)[0] if not found and depth < DEPTH else ()
        return found or next(filter(None, (self._of_attribute(base, name, depth + 1) for base in bases)), ())

    def _of_values(self, at: int, name: str) -> Sequence[int]:
        """The classes of the values that a parameter or an attribute is known to get."""
        found = self._given.get((at, name))
        if found is None:
            self._given[at, name] = ()  # ends the recursion of a value that is passed on to itself
            values = self._values.get((at, name), ())
            known = (self._classes_of(number, value, scope) for number, scope, value in values)
            found = list(dict.fromkeys(chain.from_iterable(known))) if len(values) <= _MOST_VALUES else ()
            self._given[at, name] = found
        self._inferred = self._inferred or bool(found)
        return found

    def _place(self, at: int) -> tuple[int, str]:
        return self.names.file_of[at], self.names.symbols[at].qualified

    # Guesses

    def _anywhere(self, number: int, use: Use) -> _Found:
        candidates = self.names.by_name.get(use.name, ())
        if not candidates or len(candidates) > _COMMON:
            return _NOTHING
        if use.receiver and use.name in _EVERYWHERE:
            return _NOTHING
        # Only this much of the receiver matters here.
        key = (use.name, "" if not use.receiver else "self" if use.receiver in _SELF else ")")
        found = self._guesses.get(key)
        if found is None:
            found = self._guesses[key] = self._guess(number, use)
        return found

    def _guess(self, number: int, use: Use) -> _Found:
        fitting = self._all_fitting(use.name, bool(use.receiver), self.names.families[number], self._tests[number])
        near = {number, *(f for t in self.targets[number] for f in t.files), *self._package_of(number)}
        close = [c for c in fitting if self.names.file_of[c] in near]
        # A member of `self` that its class doesn't define comes from a base class, which is imported.
        fitting = close if close or use.receiver in _SELF else fitting
        if not fitting or len(fitting) > _MOST_CANDIDATES:
            return _NOTHING
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
        return may_mean(self.names.symbols[candidate].kind, family_, member)
