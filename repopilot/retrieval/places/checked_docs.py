"""What documentation says first, where the code bears it out; and whether a definition is deprecated. Sync.

A comment may be older than the code below it, or copied from elsewhere. A sentence is left out where it names code that
is gone, or describes another definition.
"""

from __future__ import annotations

import builtins
import re
from functools import lru_cache

from repopilot.index.store import Index
from repopilot.project.licence_text import licence_in
from repopilot.retrieval.claims import claim_of, identifiers, last_name, word_stems
from repopilot.retrieval.places.doc_summary import documentation, first_sentence
from repopilot.types import Symbol

LINES_WITH_DOCS = 12
"""The first lines of a definition, in which its documentation begins."""
SAME_WORDS = 0.7
"""The share of the words of a sentence that one with the same meaning has, too."""
_MODULE = re.compile(r"[A-Za-z_][\w-]*")
_NO_NAME = re.compile(r"..?|[A-Z]+s")
"""What is too short for a name that says something, and the plural of an acronym."""
_URL = re.compile(r"\b(?:https?://|www\.)\S+")
_NO_CODE = re.compile(r"(\"\"\"|''').*?\1|/\*.*?\*/|(?://|#)[^\n]*", re.S)
_CONSTRUCTORS = ("__init__", "constructor", "initialize", "__construct")
_DEPRECATED = re.compile(r"^\W*deprecated\b|@deprecated\b", re.I | re.M)
_MARKED = re.compile(r"^\s*(?:@|#?\[)\W*(?:[\w.]+\.)?(?:deprecated|obsolete)\b", re.I | re.M)
_WARNING = re.compile(
    r"^(?P<indent>[ \t]+)\W*(?:[\w.:]+[.:])?(?:warn\w*|trigger_error|deprecat\w*)\b(?:.*\n){0,5}?.*deprecat",
    re.I | re.M,
)


def said_of(index: Index, symbol: Symbol) -> str:
    """The first sentence of a definition's documentation; '' for none, or where the code refutes it. A comment above a
    line is about the first definition on it.

    Args:
        index: the repository.
        symbol: the definition.
    """
    said = said_in(index, symbol.path, _first_sentence(index, symbol), symbol.qualified)
    on_the_line = [s.qualified for s in index.outline(symbol.path) if s.start_line == symbol.start_line]
    refuted = said and (symbol.qualified not in on_the_line[:1] or _is_copied(index, said, symbol))
    return "" if refuted else said


def said_in(index: Index, path: str, said: str, qualified: str = "") -> str:
    """A sentence, '' where it names code that the repository neither defines nor uses. The name of a product that the
    file or the definition is named after (RabbitMQ of `RabbitmqBroker`) is none.

    Args:
        index: the repository.
        path: the file of the sentence, which may be a document or a manifest.
        said: the sentence.
        qualified: the name of the definition that it is about, '' for the file itself.
    """
    prose = _URL.sub("", said.replace("``", "`"))
    own = re.sub(r"\W|_", "", path + qualified).lower()
    names = (a.text for a in claim_of(prose).anchors if a.kind == "name" and a.text.lower() not in own)
    return said if all(_is_known(index, name, path) for name in names) else ""


def is_deprecated(index: Index, symbol: Symbol) -> bool:
    """Whether a definition is deprecated: by its documentation, a decorator or an attribute, or because each call or
    each construction warns of it.

    Args:
        index: the repository.
        symbol: the definition.
    """
    start, end = symbol.start_line, symbol.end_line
    lines = index.rows(symbol.path)
    made_by = {f"{symbol.qualified}.{name}" for name in _CONSTRUCTORS}
    bodies = [symbol] if symbol.kind != "class" else [s for s in index.outline(symbol.path) if s.qualified in made_by]
    return bool(
        _DEPRECATED.search(documentation(lines, start, min(end, start + LINES_WITH_DOCS)))
        or _MARKED.search("\n".join(lines[max(0, start - 3) : start + 1]))
        or any(_warns("\n".join(lines[body.start_line : body.end_line])) for body in bodies)
    )


def _warns(body: str) -> bool:
    """Whether a statement of a body, not one inside another, warns that something is deprecated."""
    code = _NO_CODE.sub("", body)
    least = min(re.findall(r"^[ \t]+(?=\S)", code, re.M), key=len, default="")
    return any(found["indent"] == least for found in _WARNING.finditer(code))


def _first_sentence(index: Index, symbol: Symbol) -> str:
    return _summary(index.text(symbol.path) or "", symbol.start_line, symbol.end_line)


@lru_cache(maxsize=10_000)
def _summary(text: str, start: int, end: int) -> str:
    said = documentation(text.split("\n"), start, min(end, start + LINES_WITH_DOCS))
    return "" if licence_in(said) else first_sentence(said)


def _is_known(index: Index, name: str, path: str) -> bool:
    last = last_name(name)
    first = _MODULE.match(name)
    modules = {part for each in index.imports(path) for part in re.split(r"\W+", each.module)} if "." in name else set()
    return (
        _NO_NAME.fullmatch(last) is not None
        or hasattr(builtins, last)
        or any(index.symbols(each) or index.references(each) for each in {last, last.removesuffix("s")})
        or last in _identifiers_in_code(index.text(path) or "")
        or (first is not None and first[0] in index.derived(imported_names) | modules)
    )


@lru_cache(maxsize=64)
def _identifiers_in_code(text: str) -> frozenset[str]:
    return identifiers(_NO_CODE.sub(" ", text))


def imported_names(index: Index) -> frozenset[str]:
    """The top-level names of the external modules that the repository imports, and the names it imports from them."""
    own = {part.partition(".")[0] for path in index.files for part in path.split("/")}
    found: set[str] = set()
    for each in (imported for path in index.files for imported in index.imports(path)):
        first = _MODULE.match(each.module)
        if first is not None and first.group(0) not in own:
            found.update((first.group(0), *each.bound))
    return frozenset(found)


def _is_copied(index: Index, said: str, symbol: Symbol) -> bool:
    """Whether the sentence also documents another definition and speaks of that one's owner (`Tasks.all` and
    `Vars.all`: "all tasks") or of what that one does (`insert` and `format`: "inserts"), which the code below it
    doesn't contain."""
    owner, _, name = symbol.qualified.rpartition(".")
    stems = word_stems(said)
    outline = index.outline(symbol.path)
    twins = [(owner, s.qualified.rpartition(".")[0], s) for s in index.symbols(name) if owner]
    same = (s for s in outline if _first_sentence(index, s) == said)
    twins += [(name, s.name, s) for s in same if s.qualified.rpartition(".")[0] == owner]
    for own, its, twin in twins:
        others = word_stems(_first_sentence(index, twin))
        mine, theirs = word_stems(own) - word_stems(its), word_stems(its) - word_stems(own)
        is_meant = own == name and (not mine or _speaks_of(stems, mine))
        is_near = len(stems & others) >= SAME_WORDS * len(stems)
        if is_near and not is_meant and _speaks_of(stems, theirs) and not _speaks_of(others, mine):
            ground = [symbol, *(s for s in outline if s.qualified == own and own == owner)]
            if not _speaks_of(word_stems(" ".join(_code_of(index, each) for each in ground)), theirs):
                return True
    return False


def _code_of(index: Index, symbol: Symbol) -> str:
    """The text of a definition without its comments."""
    return _NO_CODE.sub(" ", index.lines(symbol.path, symbol.start_line, symbol.end_line) or "")


def _speaks_of(stems: frozenset[str], name: frozenset[str]) -> bool:
    """Whether each word of a name, which may be shortened (`Vars`, variables), begins one of some words."""
    return bool(name) and all(any(stem.startswith(part) for stem in stems) for part in name)
