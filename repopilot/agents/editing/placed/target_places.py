"""Where a task wants its change: the definitions it names, by the index, else the places a search found for it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from repopilot.agents.editing.edit_request import Calls
from repopilot.agents.editing.placed.likely_places import likely_definitions
from repopilot.agents.editing.placed.object_literals import OBJECT, literal_around, object_literals, with_members
from repopilot.agents.editing.placed.wanted import CodeName, Wanted
from repopilot.agents.editing.places import EditTarget, last_files, load, named_paths
from repopilot.agents.exploration import Exploration
from repopilot.code.generated import generated_by_convention, generated_name
from repopilot.code.languages import file_kind, is_example_path, is_test_path, language_of
from repopilot.code.split import analyse
from repopilot.index.file_roles import is_vendored
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.types import Symbol, innermost
from repopilot.workspace import Workspace

CLASSES = frozenset({"class", "interface", "struct", "trait", "enum", "type"})
FUNCTIONS = frozenset({"function", "method", "macro"})
_MENTION = re.compile(r"(?<![\w.])@([\w./+-]+?\.\w+):([\w.]+\w)")
_MODULE = re.compile(r"^[a-z_][\w]*(?:\.[a-z_]\w*)*$")
_CHANGED = re.compile(
    r"(?:^\W*|\b(?:let|make|change|modify|rewrite|refactor|function|method|class|fonction|m[ée]thode|classe|laisse|fais|"
    r"modifie|changer?|corrige)\s+(?:the\s+|la\s+)?)`?$",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:next to|beside|near|alongside|along with|just (?:after|before)|right (?:after|before)|after|before|below|"
    r"above|"
    r"à côté de|près de|après|avant)\s+(?:the\s+|la\s+)?(?:function\s+|fonction\s+)?`?$",
    re.I,
)
"""What says that something new goes where another definition is; what it uses or is like may be anywhere."""
_OWNER = re.compile(
    r"\b(?:to|on|of|for|give|à|de|sur)\s+(?:the\s+|l[ea]\s+)?`?([A-Za-z_$][\w$]*)|"
    r"(?:^|[.:]\s+)(?:the\s+|l[ea]\s+)?`?([A-Za-z_$][\w$]*)`?\s+(?:object\s+|module\s+|prototype\s+)?"
    r"(?:needs?|lacks?|misses|should|must|could|has\s+no|manque|doit|devrait)\b",
    re.I,
)
"""What gets a new member: "to the request", "the request needs …"."""
MOST_CHOICES = 6
_FROM_HITS = 5
_FAMILY = 3
"""So many classes whose names end alike belong together."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A place that fits a task. `symbol` is None for a file; `score` says how well it fits; `owner` is an object with
    methods that has no definition of its own, ''; `named`: the task names it, rather than that a search found it."""

    path: str
    symbol: Symbol | None
    score: float
    owner: str = ""
    named: bool = True

    @property
    def text(self) -> str:
        """`path:Symbol`, of a file its path."""
        name = self.symbol.qualified if self.symbol else self.owner
        return f"{self.path}:{name}" if name else self.path


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """One place of one file.

    Attributes:
        target: the file.
        outline: its definitions.
        symbol: the class that gets the new member, or the definition that changes; None for the file itself.
        owner: qualified name of what owns the new member: of `symbol`, or of something without a definition of its own
            (an object with methods assigned to it); '' for a file.
    """

    target: EditTarget
    outline: tuple[Symbol, ...]
    symbol: Symbol | None = None
    owner: str = ""

    @property
    def path(self) -> str:
        """The file."""
        return self.target.path

    @property
    def language(self) -> str:
        """The file's language, '' for an unknown one."""
        return language_of(self.path) or ""

    @property
    def lines(self) -> list[str]:
        """The lines of the file as a model may read them."""
        return self.target.shown.split("\n")

    @property
    def members(self) -> list[Symbol]:
        """The members of the owner, or the definitions at the top of the file."""
        if not self.owner:
            return [s for s in self.outline if "." not in s.qualified]
        start = f"{self.owner}."
        return [s for s in self.outline if s.qualified.startswith(start) and "." not in s.qualified[len(start) :]]


def choices(
    task: str, wanted: Wanted, workspace: Workspace, found: Exploration | None, calls: Calls | None = None
) -> list[Choice]:
    """The places that fit a task, best first.

    Args:
        task: what to write or change.
        wanted: what it asks for.
        workspace: the repository.
        found: what a search found for it, None for nothing.
        calls: what a failing test ran, None where there is none.

    Returns:
        Places of one kind: classes for members, files for functions and classes, functions or methods for changes; []
        where the task names nothing that fits and nothing was found.
    """
    lookup = _Lookup(workspace.index, existing_paths(task, workspace.index), found, calls)
    mentioned = lookup.mentioned(task)
    if wanted.action == "add" and wanted.noun in ("method", "property", "field"):
        fitting = lookup.owners(task, wanted, mentioned)
    elif wanted.action == "add" and wanted.noun == "entry":
        fitting = lookup.lists(wanted)
    elif wanted.action == "add":
        fitting = lookup.files(task, wanted, mentioned)
    else:
        fitting = lookup.changed(task, wanted, mentioned)
    return sorted(fitting, key=lambda choice: -choice.score)[:MOST_CHOICES]


def existing_paths(task: str, index: Index) -> tuple[str, ...]:
    """The files of the index that a task names, by any ending of their path; of several those that are no tests."""
    found: list[str] = []
    for path in named_paths(task, index):
        ending = [p for p in index.files if p == path or p.endswith(f"/{path}")]
        found += [p for p in ending if not is_test_path(p)] or ending
    return tuple(dict.fromkeys(found))


def place_of(choice: Choice, wanted: Wanted, workspace: Workspace) -> TargetPlace:
    """A chosen place with its file's text and definitions; a file that the last answer changed counts as changed."""
    drafts = {f.path: f.content for f in last_files(workspace.turns) if f.change != "deleted"}
    target = load(choice.path, workspace, drafts.get(choice.path))
    outline: Sequence[Symbol] = target.outline
    if not outline and target.shown:
        outline = analyse(choice.path, target.shown, language_of(choice.path) or "", file_kind(choice.path)).symbols
    symbol = choice.symbol
    if wanted.action == "add":
        for literal in object_literals(choice.path, target.shown):
            outline = with_members(outline, literal)
    if symbol is not None:
        same = [s for s in outline if s.qualified == symbol.qualified]
        symbol = min(same, key=lambda s: abs(s.start_line - choice.symbol.start_line)) if same else None  # type: ignore[union-attr]
    owner = symbol.qualified if symbol is not None and wanted.action == "add" else choice.owner
    return TargetPlace(target, tuple(outline), symbol, owner)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Finds definitions for a task. `paths` are the files it names."""

    index: Index
    paths: tuple[str, ...]
    found: Exploration | None
    calls: Calls | None = None

    @property
    def _task_words(self) -> set[str]:
        return tokens_of(self.found.question) if self.found else set()

    def mentioned(self, task: str) -> list[Choice]:
        """The definitions that the task names with an @."""
        found = []
        for path, name in _MENTION.findall(task):
            files = [p for p in self.index.files if p == path or p.endswith("/" + path)]
            for file in files:
                defined = [*self.index.outline(file), *self._literals(file)]
                exact = [s for s in defined if s.qualified == name]
                found += [Choice(file, s, 100.0) for s in exact[:1]]
        return found

    def owners(self, task: str, wanted: Wanted, mentioned: Sequence[Choice]) -> list[Choice]:
        """Classes that may get a member."""
        named = [c for c in mentioned if c.symbol and c.symbol.kind in CLASSES | {OBJECT}]
        if named:
            return named
        classes = [s for name in self._owner_names(wanted) for s in self._symbols(name, CLASSES)]
        getting = {name.lower() for name in _owners_in_words(task)}
        told = [s for s in classes if s.name.lower() in getting]
        if classes:
            return self._scored(told if len({s.name for s in told}) == 1 else classes, wanted)
        classes = self._classes_in_words(task)
        literals = self._named_literals(task, wanted)
        if literals and not any(s.name.lower() in getting for s in classes):
            return literals
        if not classes:
            methods = [s for name in wanted.names for s in self._symbols(name.text, FUNCTIONS) if "." in s.qualified]
            classes = [c for m in methods if (c := self._class_of(m)) is not None]
        if classes or wanted.noun == "field":
            return self._scored(classes, wanted)
        return self._objects(task, wanted) or self._owners_of_hits(wanted)

    def _owners_of_hits(self, wanted: Wanted) -> list[Choice]:
        """Classes and objects of what a search found, in the named files; these where nothing was."""
        inside = [s for s in self._hit_symbols() if not self.paths or s.path in self.paths]
        classes = [c for s in inside if (c := s if s.kind in CLASSES else self._class_of(s))]
        if self.paths and not classes:
            return [Choice(path, None, 20.0 - rank) for rank, path in enumerate(self.paths)]
        return self._scored(classes[:_FROM_HITS], wanted, by_rank=True)

    def lists(self, wanted: Wanted) -> list[Choice]:
        """Dictionaries and lists that may get an entry: they end with a line of their own."""
        found = [s for name in wanted.names for s in self._symbols(name.text, ("variable", "field"))]
        ends = [(s, (self.index.lines(s.path, s.end_line, s.end_line) or "").strip()) for s in found]
        return self._scored([s for s, end in ends if end[:1] in ("}", "]", ")") and s.end_line > s.start_line], wanted)

    def files(self, task: str, wanted: Wanted, mentioned: Sequence[Choice]) -> list[Choice]:
        """Files that may get a function or a class."""
        paths = [c.path for c in mentioned] or [p for p in self.paths if p in self.index.files]
        modules = [*([wanted.owner] if wanted.owner else []), *(name.text for name in wanted.names)]
        paths = paths or [p for name in modules for p in _modules_called(self.index, name)]
        if paths:
            return [Choice(path, None, 50.0 - rank) for rank, path in enumerate(dict.fromkeys(paths))]
        paths = [p for p in self.index.files if self._holds_kind(p, wanted) and not p.endswith(".pyi")]
        if paths:
            return [Choice(path, None, 20.0, named=False) for path in paths]
        family = self._family(wanted)
        if family:
            return [Choice(family, None, 20.0, named=False)]
        near = [s for name in wanted.names for s in self._symbols(name.text, FUNCTIONS | CLASSES)]
        beside = wanted.noun == "class" or any(_BESIDE.search(task[: name.at]) for name in wanted.names)
        if near and beside:
            return _by_file(self._scored(near, wanted))
        wanted_kind = "doc" if wanted.noun == "text" else "code"
        hits = self.found.results.hits if self.found else ()
        paths = [
            h.chunk.path for h in hits if file_kind(h.chunk.path) == wanted_kind and is_source(self.index, h.chunk.path)
        ]
        paths = [p for p in paths if not p.endswith(".pyi")] or paths
        found = [Choice(path, None, 1.0 / (rank + 1), named=False) for rank, path in enumerate(dict.fromkeys(paths))]
        return found[:_FROM_HITS] or _by_file(self._scored(near, wanted))

    def _holds_kind(self, path: str, wanted: Wanted) -> bool:
        """Whether a module is called as the project calls such things: `filters.py` gets a new filter."""
        stem = PurePosixPath(path).stem.strip("_")
        called = {f"{word}s" for word in wanted.kind if len(word) > 3} & {stem}
        return bool(called) and file_kind(path) == "code" and is_source(self.index, path)

    def _family(self, wanted: Wanted) -> str:
        """The file that most classes are in whose names end as that of a new one does: `PortInvalid`, `UrlInvalid`."""
        last = re.search(r"[a-z0-9]([A-Z][a-z]{2,})$", wanted.name) if wanted.noun == "class" else None
        if last is None:
            return ""
        counts = self.index.derived(_classes_by_last_word).get(last[1], {})
        own = {path: n for path, n in counts.items() if is_source(self.index, path) and not path.endswith(".pyi")}
        best = max(own, key=lambda path: own[path], default="")
        return best if best and own[best] >= _FAMILY and own[best] * 2 > sum(own.values()) else ""

    def changed(self, task: str, wanted: Wanted, mentioned: Sequence[Choice]) -> list[Choice]:
        """Definitions that may change."""
        functions = [c for c in mentioned if c.symbol and c.symbol.kind in FUNCTIONS]
        if functions:
            return functions
        scope = [c.symbol for c in mentioned if c.symbol]
        scope += [s for name in wanted.names for s in self._symbols(name.text, CLASSES)]
        named = [s for name in wanted.names for s in self._symbols(name.text, FUNCTIONS)]
        words = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", task))
        inside = [s for owner in scope for s in self.index.outline(owner.path) if _is_member(s, owner)]
        named = [s for s in named if any(_is_member(s, owner) for owner in scope)] or named
        named = named or [s for s in inside if s.kind in FUNCTIONS and s.name in words]
        if not named:
            beside = re.findall(
                r"\b(?:method|function|m[ée]thode|fonction)\s+(\w+)|\b(\w+)\s+(?:method|function)\b", task, re.I
            )
            named = [s for pair in beside for word in pair if word for s in self._symbols(word, FUNCTIONS)]
        meant = {name.text for name in wanted.names if name.quoted}
        certain = [s for s in named if s.name in _first_line(task) or s.qualified in meant]
        if certain and self.calls is None:
            return self._scored(certain, wanted)
        likely = self._likely(task, wanted)
        if not certain:
            return likely
        first = sorted(self._scored(certain, wanted), key=lambda choice: -choice.score)
        places = {choice.text for choice in first}
        ordered = [*first, *(choice for choice in likely if choice.text not in places)]
        return [replace(choice, score=-float(rank)) for rank, choice in enumerate(ordered)]

    def _likely(self, task: str, wanted: Wanted) -> list[Choice]:
        """Definitions by what the search and a failing test say."""
        hits = self.found.results.hits if self.found else ()
        own = [h for h in hits if is_source(self.index, h.chunk.path)]
        own = [h for h in own if not self.paths or h.chunk.path in self.paths] or own
        found = likely_definitions(task, wanted.names, own, self.index, self.calls)
        return [Choice(each.symbol.path, each.symbol, each.score, named=False) for each in found[:MOST_CHOICES]]

    def _owner_names(self, wanted: Wanted) -> list[str]:
        return [*([wanted.owner] if wanted.owner else []), *(name.text for name in wanted.names)]

    def _symbols(self, name: str, kinds: Iterable[str]) -> list[Symbol]:
        plain = re.sub(r"::|#", ".", name)
        found = self.index.symbols(plain)
        if not found and "." in plain:  # written with its module: click.utils.echo
            last = plain.rpartition(".")[2]
            modules = set(_modules_called(self.index, plain.rpartition(".")[0]))
            found = [s for s in self.index.symbols(last) if s.path in modules]
        return [s for s in found if s.kind in kinds]

    def _classes_in_words(self, task: str) -> list[Symbol]:
        """Classes that the task names as ordinary words: "the context class", "la classe lease"."""
        words = re.findall(r"[^\W\d_]{3,}", task)
        names = dict.fromkeys([*(w for w in words if w[0].isupper()), *(w.capitalize() for w in words)])
        return [s for name in names for s in self.index.symbols(name) if s.name == name and s.kind in CLASSES]

    def _objects(self, task: str, wanted: Wanted) -> list[Choice]:
        """Objects that the task names and that have methods assigned to them, as `res` has by `res.send = function`."""
        names = [
            *self._owner_names(wanted),
            *_owners_in_words(task),
        ]
        hits = self.found.results.hits if self.found else ()
        files = dict.fromkeys([*self.paths, *(h.chunk.path for h in hits if is_source(self.index, h.chunk.path))])
        result = []
        for name in dict.fromkeys(names):
            for path in files:
                owned = sum(s.qualified.startswith(f"{name}.") for s in self.index.outline(path) if s.kind in FUNCTIONS)
                if owned:
                    result.append(Choice(path, None, 10.0 + 20.0 * (path in self.paths) + owned / 10, name))
        return result

    def _named_literals(self, task: str, wanted: Wanted) -> list[Choice]:
        """Object literals with methods that the task names, by their variable or by their file: "the request"."""
        names = {*_owners_in_words(task), *self._owner_names(wanted)}
        found = named_literals(self.index, names, self.paths)
        return [Choice(o.path, o, 30.0 + 20.0 * (o.path in self.paths)) for o in found]

    def _literals(self, path: str) -> list[Symbol]:
        return object_literals(path, self.index.text(path) or "")

    def _class_of(self, symbol: Symbol) -> Symbol | None:
        """The class, or the object literal, that a definition is a member of."""
        owner = symbol.qualified.rpartition(".")[0]
        found = (s for s in self.index.outline(symbol.path) if s.qualified == owner and s.kind in CLASSES)
        return next(found, None) or literal_around(self._literals(symbol.path), symbol)

    def _hit_symbols(self) -> list[Symbol]:
        """The innermost definitions around the best lines of the hits, best first."""
        found: dict[tuple[str, str], Symbol] = {}
        for hit in self.found.results.hits if self.found else ():
            if not is_source(self.index, hit.chunk.path):
                continue
            outline = [s for s in self.index.outline(hit.chunk.path) if s.kind in FUNCTIONS | CLASSES]
            lines = [first for first, _ in hit.lines[:3]] or [hit.chunk.start_line]
            for line in lines:
                symbol = innermost(outline, line)
                if symbol is not None:
                    found.setdefault((symbol.path, symbol.qualified), symbol)
        return list(found.values())

    def _scored(self, symbols: Sequence[Symbol], wanted: Wanted, by_rank: bool = False) -> list[Choice]:
        """Definitions with how well they fit: in a named file, with the other names near, found by the search."""
        hits = [h.chunk.path for h in self.found.results.hits] if self.found else []
        written = {re.sub(r"::|#", ".", name.text) for name in wanted.names}
        result: dict[tuple[str, str], Choice] = {}
        for rank, symbol in enumerate(symbols):
            score = 20.0 * (symbol.path in self.paths)
            score += 4.0 * (symbol.qualified in written) + 10.0 * is_source(self.index, symbol.path)
            score += 2.0 * (not symbol.path.endswith(".pyi"))
            score += 3.0 * sum(name.last in symbol.qualified.split(".") for name in wanted.names)
            score += 2.0 * (symbol.path in hits) - (
                0.0 if by_rank else 0.1 * min(10, hits.index(symbol.path)) if symbol.path in hits else 1.0
            )
            score -= 0.5 * rank - len(self._task_words & tokens_of(symbol.qualified)) if by_rank else 0.0
            result.setdefault((symbol.path, symbol.qualified), Choice(symbol.path, symbol, score, named=not by_rank))
        return list(result.values())


def _first_line(task: str) -> str:
    return task.strip().partition("\n")[0]


def _is_member(symbol: Symbol, owner: Symbol | None) -> bool:
    return owner is not None and symbol.path == owner.path and symbol.qualified.startswith(f"{owner.qualified}.")


def _by_file(found: Sequence[Choice]) -> list[Choice]:
    best: dict[str, Choice] = {}
    for choice in sorted(found, key=lambda c: -c.score):
        best.setdefault(choice.path, Choice(choice.path, None, choice.score))
    return list(best.values())


def is_generated(path: str, text: str) -> bool:
    """Whether a program wrote a file, so that a change of it would be lost."""
    return generated_name(path) or generated_by_convention(text)


def is_defined(index: Index, name: str) -> bool:
    """Whether the repository defines a name: a symbol, written in full or in part, something that has members, or a
    module."""
    plain = re.sub(r"::|#", ".", name)
    owner, _, last = plain.rpartition(".")
    if plain in index.derived(_owners) or index.symbols(plain):
        return True
    return any("." not in s.qualified and s.path in _modules_called(index, owner) for s in index.symbols(last))


def is_python_class(index: Index, name: str) -> bool:
    """Whether a name is that of a class in the Python code of the repository."""
    return any(s.kind in CLASSES and s.path.endswith(".py") for s in index.symbols(name))


def _owners(index: Index) -> frozenset[str]:
    """What has members: the qualified names before the last dot, and the names of modules."""
    found = {s.qualified.rpartition(".")[0] for analysis in index.analyses() for s in analysis.symbols}
    return frozenset(found - {""}) | {name for path in index.files for name in _module_names(path)}


def _owners_in_words(task: str) -> list[str]:
    return [name for pair in _OWNER.findall(task) for name in pair if name]


def named_literals(index: Index, names: Container[str], paths: Container[str] = ()) -> list[Symbol]:
    """The object literals with methods of the files that are called by one of some names, or are among `paths`."""
    result: list[Symbol] = []
    for path in index.files:
        if (path in paths or _called(PurePosixPath(path).stem, names)) and is_source(index, path):
            literals = object_literals(path, index.text(path) or "")
            result += [o for o in literals if o.name in names] or literals
    return result


def _called(stem: str, names: Container[str]) -> bool:
    """Whether one of some names means a module, in full or as it is usually shortened."""
    short = {"context": "ctx", "request": "req", "response": "res", "application": "app"}.get(stem)
    return stem in names or (short is not None and short in names)


def goes_into_literal(task: str, index: Index) -> bool:
    """Whether a task adds to an object that is written as a literal: "add f(x) to the request"."""
    return bool(named_literals(index, _owners_in_words(task)))


def _classes_by_last_word(index: Index) -> dict[str, dict[str, int]]:
    """How many classes of each file end with a word of their camel case."""
    found: dict[str, dict[str, int]] = {}
    for analysis in index.analyses():
        for symbol in analysis.symbols:
            last = re.search(r"[A-Z][a-z]{2,}$", symbol.name) if symbol.kind in CLASSES else None
            if last is not None:
                files = found.setdefault(last[0], {})
                files[symbol.path] = files.get(symbol.path, 0) + 1
    return found


def _module_names(path: str) -> list[str]:
    """A module as the last parts of its path name it: `utils`, `click.utils`."""
    if file_kind(path) != "code":
        return []
    parts = re.sub(r"(?:/__init__|/index|/mod)?\.\w+$", "", path).split("/")
    return [".".join(parts[-n:]) for n in range(1, len(parts) + 1)]


def _modules_called(index: Index, name: str) -> list[str]:
    """Files of code that a module's name means: `click.utils`, `utils`."""
    if not _MODULE.match(name):
        return []
    return [path for path in index.files if is_source(index, path) and name in _module_names(path)]


def is_module(index: Index, name: str) -> bool:
    """Whether a name is that of a module, and of nothing else: not of an object that the module is."""
    paths = _modules_called(index, name)
    return bool(paths) and not index.symbols(name) and not any(object_literals(p, index.text(p) or "") for p in paths)


def is_source(index: Index, path: str) -> bool:
    """Whether a path is that of the project's own code: a module that this code imports is no test, whatever its
    name (a template engine has `tests.py`)."""
    if is_example_path(path) or is_vendored(path) or generated_name(path):
        return False
    return not is_test_path(path) or path in index.derived(_imported_tests)


def _imported_tests(index: Index) -> frozenset[str]:
    """Files named like tests, but outside of folders of tests, that other code imports."""
    named = {PurePosixPath(p).stem: p for p in index.files if is_test_path(p) and not is_test_path(_with_other_name(p))}
    if not named:
        return frozenset()
    code = (path for path in index.files if not is_test_path(path) and file_kind(path) == "code")
    imported = {each.module.rpartition(".")[2] for path in code for each in index.imports(path)}
    return frozenset(path for stem, path in named.items() if stem in imported)


def _with_other_name(path: str) -> str:
    return str(PurePosixPath(path).with_name("module.py"))


def unknown_names(wanted: Wanted, index: Index) -> list[str]:
    """Names in the task that the repository doesn't define."""
    return [name.text for name in wanted.names if _is_code(name) and not is_defined(index, name.text)]


def is_subject(task: str, name: CodeName) -> bool:
    """Whether a task wants a name changed, rather than only mentioning it."""
    return _CHANGED.search(task[: name.at]) is not None and "\n\n" not in task.strip()


def _is_code(name: CodeName) -> bool:
    return name.quoted and re.fullmatch(r"[\w.]+", name.text) is not None
