"""Reads a task by what of it is in the repository: of two names the one that exists is the old one.

For tasks in whose sentences no form is found. Each hypothesis must use every piece of code and every value in the task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.grounded_shapes import hoisted_import, reordered_parameters
from repopilot.agents.editing.exact.locate import dotted, is_name, path_named
from repopilot.agents.editing.exact.sources import Sources, word_pattern
from repopilot.agents.editing.exact.wording.lexicon import NUMBERS
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name
from repopilot.agents.editing.exact.wording.plain_wording import plain_task
from repopilot.agents.editing.exact.wording.task_tokens import Token, folded, tokens_of
from repopilot.code.languages import file_kind, is_test_path

_WORDING = re.compile(
    r"\b(?:make|should|replace|change|say|says|read|reads|reword|rephrase|typo|spelling|fix|correct|use|instead|"
    r"better|become|mettre|mets|"
    r"remplace\w*|corrige\w*|change\w*|devrait|doit|dire|plutot)\b|→|->|=>"
)
_ADDING = re.compile(
    r"\b(?:miss\w*|manqu\w*|absent\w*|add|adds|include|list|listed|register\w*|belongs?|should|doesn't|isn't|aren't|"
    r"not in|forgot\w*|oubli\w*|"
    r"ajout\w*|map|maps|associ\w*|handle|support|know)\b"
)
_USING = re.compile(
    r"\b(?:use|using|instead|replace|should|switch|prefer|utilis\w*|remplac\w*|devrait|doit|plutot|au lieu|not|"
    r"raise|lower|reduce|increase|from)\b|→|->|=>"
)
_MAKING = re.compile(r"\b(?:introduce|define|create|extract|add|constant|ajout\w*|introdui\w*|defini\w*|constante)\b")
_MORE_WORK = re.compile(
    r"\b(?:unless|whenever|every time|each time|log a|warn|deprecat\w+|fall back|fallback|also (?:add|write|log|"
    r"handle)|write a test|"
    r"add a test|implement|so that|such that|if (?:the|it|a|there|[\w.]+ (?:is|are|was))|"
    r"(?:raise|throw)s? an? |when (?:the|it|a|there)|lorsque|quand|si (?:le|la|"
    r"un|une|on)|"
    r"keep|leave|alias|deprecat\w+|except|unchanged|takes?|returns?|method that|function that)\b"
)
_BESIDE = re.compile(
    r"\b(?:also|besides?|in addition|additionally|as an alternative|accept\w*|recogni[sz]e\w*|egalement)\b"
)
"""What comes beside something replaces nothing."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What of a task is code, in its order, each once."""

    words: str
    names: tuple[str, ...]
    texts: tuple[str, ...]
    literals: tuple[str, ...]
    values: tuple[str, ...]
    places: tuple[NamedPlace, ...]


def grounded_edits(task: str, sources: Sources) -> list[list[ExactTask]]:
    """What a task may ask for, by what of it exists.

    Args:
        task: as the user wrote it.
        sources: the files.

    Returns:
        Hypotheses, likeliest first; each is all the edits that it takes.
    """
    if "\n" in task.strip() or len(task) > 600:
        return []
    pieces = _pieces(tokens_of(plain_task(task)), sources, folded(task))
    shaped = [*reordered_parameters(task, sources), *hoisted_import(task, sources)]
    if shaped:
        return [[edit] for edit in shaped]
    if _MORE_WORK.search(pieces.words):
        return []
    single = (
        *_like_siblings(pieces, sources),
        *_texts(pieces, sources),
        *_values(pieces, sources),
        *_code(pieces, sources),
    )
    entries = list(_entries(pieces, sources))
    return [*([edit] for edit in single), *([entries] if entries else [])]


def _pieces(tokens: Sequence[Token], sources: Sources, words: str) -> Pieces:
    names: list[str] = []
    texts: list[str] = []
    literals: list[str] = []
    values: list[str] = []
    places: list[NamedPlace] = []
    index = sources.workspace.index
    for token in tokens:
        inner = bare_name(token)
        if token.is_path and path_named(inner, index) is not None:
            places.append(NamedPlace(inner, "file"))
        elif token.kind == "literal" or (token.kind == "sign" and token.text in _OPERATORS):
            literals.append(token.text)
            values.append(token.text)
        elif token.kind == "quoted" and not (token.is_code and is_name(inner)):
            texts.append(token.inner)
            values.append(f'"{token.inner}"')
        elif token.kind in ("name", "quoted", "path"):
            names.append(inner)
        elif token.kind == "word" and token.text[:1].isupper() and token.start > 0 and index.symbols(token.text):
            names.append(token.text)
    return Pieces(
        words,
        tuple(dict.fromkeys(names)),
        tuple(dict.fromkeys(texts)),
        tuple(dict.fromkeys(literals)),
        tuple(dict.fromkeys(values)),
        tuple(dict.fromkeys(places)),
    )


def _defined(name: str, sources: Sources) -> bool:
    index = sources.workspace.index
    plain = dotted(name)
    return bool(index.symbols(plain) or ("." in plain and index.symbols(plain.rpartition(".")[2])))


def _places(pieces: Pieces, names: Sequence[str]) -> tuple[NamedPlace, ...]:
    return (*(NamedPlace(n) for n in names), *pieces.places)


def _texts(pieces: Pieces, sources: Sources) -> Iterator[ExactTask]:
    """Two texts, of which one is in the code."""
    if len(pieces.texts) != 2 or pieces.literals or not _WORDING.search(pieces.words) or _BESIDE.search(pieces.words):
        return
    if not all(_defined(n, sources) for n in pieces.names) or len(pieces.names) > 2:
        return
    old, new = pieces.texts
    places = _places(pieces, pieces.names)
    for kind in ("change_message", "replace_text"):
        yield ExactTask(kind, "", "", new, old, places)


def _occurs(name: str, sources: Sources) -> bool:
    last = dotted(name).rpartition(".")[2]
    return bool(sources.workspace.index.symbols(last) or sources.mentioning(last))


def _values(pieces: Pieces, sources: Sources) -> Iterator[ExactTask]:
    """A name whose value is one of two literals: the other is the new one."""
    literals = [*pieces.literals, *(NUMBERS[w] for w in re.findall(r"[a-z]+", pieces.words) if w in NUMBERS)]
    literals = list(dict.fromkeys(literals))
    if pieces.texts or len(literals) != 2 or not 1 <= len(pieces.names) <= 2:
        return
    if not all(_defined(n, sources) or len(pieces.names) > 1 for n in pieces.names):
        return
    for name in pieces.names:
        places = _places(pieces, [n for n in pieces.names if n != name])
        for old, new in (literals, literals[::-1]):
            for kind in ("set_value", "set_default"):
                yield ExactTask(kind, name, "", new, old, places, extra={"sure_old": "yes"})


_OPERATORS = ("==", "!=", "<=", ">=", "<", ">")


def _code(pieces: Pieces, sources: Sources) -> Iterator[ExactTask]:
    """A function, and two pieces of code of which one is in it; a file, and two literals."""
    if not _USING.search(pieces.words) or _MAKING.search(pieces.words) or _BESIDE.search(pieces.words):
        return
    fragments = [*pieces.texts, *pieces.literals]
    owners = [n for n in pieces.names if _defined(n, sources)]
    others = [n for n in pieces.names if n not in owners]
    if len(fragments) + len(others) != 2 or len(owners) > 1 or not (owners or pieces.places):
        return
    first, second = [*fragments, *others]
    places = _places(pieces, owners)
    for old, new in ((first, second), (second, first)):
        if not _both_there(old, new, pieces, sources):
            yield ExactTask(
                "replace_code" if owners else "replace_text", "", "", new, old, places, extra={"once": "yes"}
            )


def _both_there(old: str, new: str, pieces: Pieces, sources: Sources) -> bool:
    for place in pieces.places:
        path = path_named(place.name, sources.workspace.index)
        source = sources.get(path) if path else None
        if source is not None and word_pattern(old).search(source.data) and word_pattern(new).search(source.data):
            return True
    return False


def _entries(pieces: Pieces, sources: Sources) -> Iterator[ExactTask]:
    """A list or the like that exists, and what is missing in it."""
    if not _ADDING.search(pieces.words) or re.search(r"\b(?:remove|delete|drop|supprim\w+|retir\w+)\b", pieces.words):
        return
    containers = [n for n in pieces.names if n == "__all__" or (n.isupper() and _defined(n, sources))]
    if len(containers) != 1:
        return
    files = [n for n in pieces.names if _DOT_FILE.fullmatch(n)]  # `.venv` is an entry, no module
    items = files or [n for n in pieces.names if n not in containers and "." not in n and n[:1] != "-"]
    modules = [n for n in pieces.names if "." in n and n not in (*containers, *files)]
    texts = [f'"{t}"' for t in pieces.texts]
    if pieces.literals or not (items or texts) or (items and texts) or len(modules) > 1:
        return
    places = _places(pieces, modules)
    for item in items or texts:
        yield ExactTask("add_member", containers[0], "list", item, "", places)


def _like_siblings(pieces: Pieces, sources: Sources) -> Iterator[ExactTask]:
    """A new name with values like those of the members of one class: `add the code 420 "Calm" as CALM`."""
    if len(pieces.names) != 1 or not pieces.values or not _ADDING.search(pieces.words):
        return
    name = pieces.names[0]
    if not name.isidentifier() or _occurs(name, sources):
        return
    wanted = [_shape(v) for v in pieces.values]
    paths = [p for place in pieces.places if (p := path_named(place.name, sources.workspace.index))]
    alike = Counter(
        (path, symbol.qualified.rpartition(".")[0])
        for path in paths or sources.workspace.index.files
        if file_kind(path) == "code" and not is_test_path(path)
        for symbol in sources.outline(path)
        if symbol.kind == "field" and symbol.name.isupper() == name.isupper() and _shapes(symbol.signature) == wanted
    )
    found = [place for place, count in alike.items() if count >= _SIBLINGS]
    if len(found) == 1:
        path, owner = found[0]
        text = f"{name} = {', '.join(pieces.values)}"
        yield ExactTask("add_member", owner, "class", text, "", (NamedPlace(path, "file"),))


_SIBLINGS = 3
_DOT_FILE = re.compile(r"\.[A-Za-z][\w-]*")


def _shape(value: str) -> str:
    return "text" if value[:1] in "\"'" else "number" if value[:1].isdigit() else "name"


def _shapes(signature: str) -> list[str]:
    """What the values of an assignment are, in order."""
    _, equals, values = signature.partition("=")
    items = re.findall(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[\w.]+", values)
    return [_shape(item) for item in items] if equals else []
