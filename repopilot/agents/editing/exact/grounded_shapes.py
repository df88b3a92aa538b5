"""Reads some kinds of tasks by what of their words is in the code: names listed or misspelt, texts, another order of
parameters, an import moved up.

The rest of the task may say anything but a condition.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from repopilot.agents.editing.exact.declared_fields import declared_field
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.import_hoisting import function_around, imports_in_functions
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.text_replacing import text_pattern
from repopilot.agents.editing.exact.wording.task_tokens import folded, tokens_of
from repopilot.code.languages import file_kind, is_test_path
from repopilot.types import Symbol

_REORDERING = re.compile(
    r"\b(?:swap\w*|exchang\w+|interchang\w+|revers\w+|re-?order\w*|order of|wrong way round|followed by|"
    r"interverti\w*|invers\w+|echang\w+|permut\w+|"
    r"(?:as|be|comes?|goes?|en) (?:its |the |le )?(?:first|second|last|premier|dernier))\b"
)
_NAME_LISTED = r"`?[A-Za-z_][\w.]*`?(?:\(\))?"
_LISTED_NAME = re.compile(r"\b(?!(?:and|et)\b)[A-Za-z_][\w.]*")
_NAMES = rf"{_NAME_LISTED}(?:, {_NAME_LISTED})*,? (?:and|et) {_NAME_LISTED}"
_PAIRED = re.compile(
    rf"^(?:please )?(?:rename|renomme\w*) (?:the )?(?:\w+s )?(?P<old>{_NAMES}) (?:to|into|as|en) (?P<new>{_NAMES})"
    r"(?:,? respectively|,? respectivement)?[.!]?$",
    re.I,
)
_SWAPPING = re.compile(
    r"\b(?:swap\w*|exchang\w+|interchang\w+|revers\w+|wrong way round|interverti\w*|invers\w+|echang\w+)\b"
)
_PARAMETERS = re.compile(r"\b(?:param\w*|arg\w*|signature|order|swap\w*)\b")
_MOVING_UP = re.compile(
    r"\b(?:hoist\w*|lift\w*|mov\w+|pull\w*|put|promot\w+|remont\w+|deplac\w+|sor[st]\w*)\b.*"
    r"\b(?:top|module[- ]level|level of the (?:module|file)|global scope|en tete|en haut|haut|"
    r"niveau (?:du|de) (?:module|fichier))\b",
    re.S,
)
_CALL = re.compile(r"\w\([A-Za-z_]\w*(?:, *[A-Za-z_]\w*)+\)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_FUNCTIONS = ("function", "method")
_MOST_PARAMETERS = 8
_OWN = ("self", "cls", "mut", "this")
_STAYING = re.compile(r"\b(?:leave|alone|untouched|unchanged|touch|stays?|keeps?|laisse\w*|touche\w*|garde\w*)\b", re.I)
_CONDITION = re.compile(
    r"\b(?:alias\w*|deprecat\w*|except|unless|only (?:in|for|where|when)|but not|keep(?:s|ing)? (?:the )?old|sauf|"
    r"temporar\w*|backwards?|also|too|as well|aussi|both|add|"
    r"create|delete|remove|move|ajout\w*|supprim\w*|d[ée]plac\w*)\b",
    re.I,
)


_MISSPELT = re.compile(
    r"\b(?:mis-?sp\w+|typos?|spell\w*|faute|orthograph\w*|coquille|mal (?:écrit|orthographié)\w*)\b", re.I
)
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)")
_SHORTEST_MISSPELT, _ALIKE = 5, 0.8
"""Characters of a name, and how much of it is right."""


def misspelt_names(task: str, sources: Sources) -> list[ExactTask]:
    """The renames of all definitions whose name a task calls misspelt.

    Args:
        task: as the user wrote it; it has the right name, too.
        sources: the files.

    Returns:
        One for each definition; [] where the task speaks of no such name.
    """
    if not _MISSPELT.search(task):
        return []
    names = list(dict.fromkeys(name for name in _IDENTIFIER.findall(task) if len(name) >= _SHORTEST_MISSPELT))
    known = {name: _definitions(name, sources) for name in names}
    pairs = [
        (old, new) for old in names for new in names if known[old] and not known[new] and likeness(old, new) >= _ALIKE
    ]
    closest = {old: max((p for p in pairs if p[0] == old), key=lambda pair: likeness(*pair))[1] for old, _ in pairs}
    if len(set(closest.values())) != len(closest):
        return []
    found = [(s, new) for old, new in closest.items() for s in known[old] if s.name == old]
    return [ExactTask("rename", s.qualified, "", new, "", (NamedPlace(s.path, "file"),)) for s, new in found]


def paired_renames(task: str) -> list[ExactTask]:
    """The renames of several names that a task lists with as many new ones: `rename a and b to c and d`.

    Args:
        task: on one line.
    """
    match = _PAIRED.search(task)
    if match is None:
        return []
    old, new = (_LISTED_NAME.findall(match[part]) for part in ("old", "new"))
    if len(old) != len(new) or len(old) < 2 or len({*old, *new}) < 2 * len(old):
        return []
    return [ExactTask("rename", name, "", to) for name, to in zip(old, new, strict=True)]


def likeness(one: str, other: str) -> float:
    """How much of two names is the same, 0 to 1."""
    return difflib.SequenceMatcher(None, one, other).ratio()


def _definitions(name: str, sources: Sources) -> list[Symbol]:
    """What a name is defined as, fields that aren't in the index as well."""
    found = sources.workspace.index.symbols(name)
    field = declared_field(name, sources) if not found and not name.islower() else None
    return [field] if field is not None else list(found)


def misspelt_text(task: str, sources: Sources) -> Iterator[ExactTask]:
    """A text with one of its words put right, where a task quotes both: `"without a tset" should be "test"`.

    Args:
        task: as the user wrote it.
        sources: the files.
    """
    quoted = [t.inner.strip() for t in tokens_of(task) if t.kind == "quoted"]
    said = _without(task, quoted)
    if len(quoted) != 2 or _EXCHANGING.search(folded(said)) or _CONDITION.search(said):
        return
    right, text = sorted(quoted, key=lambda q: len(q.split()))
    words = re.findall(r"[^\W\d_]+", text)
    near = difflib.get_close_matches(right, words, n=2, cutoff=_ALIKE)
    if len(right.split()) != 1 or len(words) < _LEAST_WORDS or right in words or len(near) != 1:
        return
    held = _files_with(text, sources)
    place = _place_in(said, held, sources) if len(held) > 1 else ""
    places = (NamedPlace(place, "file"),) if place else ()
    if held and words.count(near[0]) == 1:
        yield ExactTask("replace_text", "", "", re.sub(rf"\b{near[0]}\b", right, text), text, places)


_EXCHANGING = re.compile(r"\b(?:replac|exchang|substitut|remplac)\w*|\b(?:for|with|by|instead|par)\b|->|→")


def replaced_text(task: str, sources: Sources) -> Iterator[ExactTask]:
    """One text for another, where a task quotes two of several words and the code has the one.

    What both have at their end, as an example of a value, may be missing in the code.

    Args:
        task: as the user wrote it.
        sources: the files.
    """
    quoted = [t.inner.strip() for t in tokens_of(task) if t.kind == "quoted" and not t.is_code]
    said = _without(task, quoted)
    if (
        len(quoted) != 2
        or not all(" " in q or _ends_sentence(q) for q in quoted)
        or _CONDITION.search(said)
        or _STAYING.search(said)
    ):
        return
    for old, new in _directions(task, quoted):
        old, new = _without_example(old, new, sources)
        if len(old.split()) < _LEAST_WORDS or not _files_with(old, sources) or _files_with(new, sources):
            continue
        held = (_holding_documents(old, sources) if _IN_DOCUMENT.search(said) else []) or _files_with(old, sources)
        place = _place_in(said, held, sources) if len(held) > 1 or _IN_DOCUMENT.search(said) else ""
        around = _definition_said(task[: task.find(old)], old, held, sources) if len(held) == 1 else ""
        extra = {"around": around} if around else {}
        for kind in ("change_message", "replace_text"):
            yield ExactTask(kind, "", "", new, old, (NamedPlace(place, "file"),) if place else (), extra=extra)


def _ends_sentence(text: str) -> bool:
    """Whether a text is a sentence, if of one word: `Stopping...`."""
    return text[:1].isupper() and text.endswith(_ENDS)


def _definition_said(before: str, old: str, held: Sequence[str], sources: Sources) -> str:
    """The last definition that a task names before a text, of those whose code has it; '' for none."""
    for name in reversed(re.findall(r"[A-Za-z_]\w*(?:\.\w+)*", before)):
        for symbol in sources.workspace.index.symbols(name) if _text(held[0], sources).count(old) > 1 else ():
            body = sources.workspace.index.lines(symbol.path, symbol.start_line, symbol.end_line) or ""
            if symbol.path == held[0] and old in body and symbol.kind in ("function", "method"):
                return symbol.qualified
    return ""


_IN_DOCUMENT = re.compile(r"^\W*readme\b|\b(?:in|of|dans|du|de) (?:the |our |le |l['’])?readme\b", re.I)
_FORWARD = re.compile(
    r"\b(?:by|with|to|into|becomes?|par|en|should|must|ought|needs|has to|is|doit|devrait|devient)\b|->|→|=>", re.I
)
_BACKWARD = re.compile(r"\b(?:instead of|rather than|in place of|au lieu de|plut[oô]t que|not)\b", re.I)


def _directions(task: str, quoted: Sequence[str]) -> list[Sequence[str]]:
    """(old, new) of two texts that a task quotes, as what stands between them says; both ways where it says nothing."""
    between = task.partition(quoted[0])[2].partition(quoted[1])[0]
    if _BACKWARD.search(between):
        return [quoted[::-1]]
    return [quoted] if _FORWARD.search(between) else [quoted, quoted[::-1]]


def replaced_word(task: str, sources: Sources) -> Iterator[ExactTask]:
    """One word or version for another in a document: where the task speaks of documents, and one of them has it once.

    Args:
        task: as the user wrote it.
        sources: the files.
    """
    quoted = [t.inner.strip() for t in tokens_of(task) if t.kind == "quoted"]
    versions = _VERSIONS.search(task) if not quoted else None
    pair = [versions["old"], versions["new"]] if versions is not None else quoted
    said = _without(task, pair)
    if (
        len(pair) != 2
        or not all(pair)
        or not _DOCUMENT.search(said)
        or _CONDITION.search(said)
        or _STAYING.search(said)
    ):
        return
    for old, new in _directions(task, pair) if versions is None else (pair,):
        held = [p for p in _holding_documents(old, sources) if not _is_in_document(new, p, sources)]
        path = held[0] if len(held) == 1 else _place_in(said, held, sources)
        if path:
            yield ExactTask("replace_text", "", "", new, old, (NamedPlace(path, "file"),), extra={"once": "yes"})
            return


_DOCUMENT = re.compile(
    r"\b(?:docs?|documentation|readme|guide|tutorial|manual|page|handbook|faq)\b|\.(?:md|rst|txt|adoc)\b", re.I
)
_VERSIONS = re.compile(
    r"(?<![\w.])(?:from\s+)?(?P<old>v?\d+(?:\.\d+)+)\s+(?:to|into|by|with|->|→|à|en|par)\s+(?P<new>v?\d+(?:\.\d+)+)(?![\w.]*\w)",
    re.I,
)


def _holding_documents(text: str, sources: Sources) -> list[str]:
    words = sorted(re.findall(r"\w+", text), key=len)[-2:]
    found = dict.fromkeys(p for w in words for p in sources.mentioning(w))
    return [p for p in found if file_kind(p) == "doc" and _is_in_document(text, p, sources)]


def _place_in(said: str, held: Sequence[str], sources: Sources) -> str:
    """The one of some files that a task names by its path, by names of code in it, or as a word; '' for none."""
    names = {name for name in _NAME.findall(said) if "_" in name or not name.islower()} - {"README"}
    words = set(re.findall(r"[\w-]+", said.lower()))
    for fits in (
        lambda path: path in said,
        lambda path: PurePosixPath(path).name in said,
        lambda path: any(re.search(rf"\b{re.escape(name)}\b", _text(path, sources)) for name in names),
        lambda path: PurePosixPath(path).stem.lower() in words,
    ):
        best = [path for path in held if fits(path)]
        top = [path for path in best if "/" not in path]  # of `README.md` and `docs/README.md` the first
        if len(best) == 1 or len(top) == 1:
            return (top or best)[0]
    return ""


_LEAST_WORDS = 2
_ENDS = (".", "!", "?", ":")


def _without(task: str, texts: Sequence[str]) -> str:
    for text in texts:
        task = task.replace(text, " ")
    return task


def _without_example(old: str, new: str, sources: Sources) -> tuple[str, str]:
    """Two texts as far as the code has the old one, without the words at their end that both have."""
    if old.endswith(("...", "…")):
        old, new = old.rstrip(".… "), new.rstrip(".… ")
        new = _without_what_follows(old, new, sources)
    elif new[-1:] in _ENDS and old[-1:] not in _ENDS:
        behind = _without_what_follows(old, new, sources)
        new = behind if len(behind) == len(new) - 1 else new
    first, second = old.split(" "), new.split(" ")
    while len(first) > _LEAST_WORDS and first[-1] == second[-1] and not _files_with(" ".join(first), sources):
        first, second = first[:-1], second[:-1]
    return " ".join(first), " ".join(second)


def _without_what_follows(old: str, new: str, sources: Sources) -> str:
    """A new text without its end that the code has behind the old one, which a task only begins: `old …`."""
    for path in _files_with(old, sources)[:1]:
        text = _text(path, sources)
        behind = text[text.index(old) + len(old) :][: len(new)] if old in text else ""
        same = next((n for n in range(len(behind), 0, -1) if new.endswith(behind[:n])), 0)
        return new[: len(new) - same]
    return new


def _text(path: str, sources: Sources) -> str:
    source = sources.get(path)
    return source.text if source is not None else ""


def _files_with(text: str, sources: Sources) -> list[str]:
    """The files of code, tests apart, that have a text; where none has it, the documents."""
    words = sorted(re.findall(r"\w+", text), key=len)[-2:]
    found = [p for p in dict.fromkeys(p for w in words for p in sources.mentioning(w)) if not is_test_path(p)]
    code = [path for path in found if file_kind(path) == "code" and text in _text(path, sources)]
    return code or _holding_documents(text, sources)


def _is_in_document(text: str, path: str, sources: Sources) -> bool:
    source = sources.get(path)
    return source is not None and not is_history(path) and text_pattern(text, path).search(source.data) is not None


def reordered_parameters(task: str, sources: Sources, *, written: bool = False) -> Iterator[ExactTask]:
    """The parameters of a function in the order in which a task names them; of two the other one.

    Args:
        task: as the user wrote it.
        sources: the files.
        written: only where it writes the order as a call, `f(b, a)`.
    """
    words = folded(task)
    said = not written and _REORDERING.search(words) and _PARAMETERS.search(words)
    for symbol in _functions_named(task, sources) if said or _CALL.search(task) else ():
        known = parameter_names(symbol.signature)
        wanted = _order_in(task, symbol.name, known, said=bool(said))
        if wanted is None and said and len(known) == 2 and _SWAPPING.search(words):
            wanted = known[::-1]
        if wanted is None:
            continue
        name, position = single_move(known, wanted) or (", ".join(wanted), "listed")
        mention = f"{symbol.path}:{symbol.qualified}"
        place = NamedPlace(symbol.qualified, symbol.kind)
        yield ExactTask("reorder_parameter", name, "parameter", "", "", (place,), mention, extra={"position": position})


def parameter_names(signature: str, most: int = _MOST_PARAMETERS) -> list[str]:
    """The names of the parameters in a signature, without the object itself; [] for more than `most`, or odd ones."""
    parts = _split(_balanced(signature))
    given = [part for part in parts if re.split(r"\W", part.lstrip("& "))[0] not in _OWN and part not in ("/", "*")]
    names = [re.match(r"[A-Za-z_$][\w$]*", part.removeprefix("mut ")) for part in given]
    return [name[0] for name in names if name is not None] if len(given) <= most and all(names) else []


def _balanced(signature: str) -> str:
    """What stands in the parentheses of the parameters: the first ones, or those behind a receiver in Go."""
    start = signature.find("(")
    if re.match(r"func\s*\(", signature):
        start = signature.find("(", _closing(signature, start))
    return signature[start + 1 : _closing(signature, start)] if start >= 0 else ""


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(max(start, 0), len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def _split(inside: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(inside):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(inside[start:at].strip())
            start = at + 1
    return [part for part in (*parts, inside[start:].strip()) if part]


def _functions_named(task: str, sources: Sources) -> list[Symbol]:
    """The functions that a task names by a name that only one definition has."""
    found = {}
    for match in _NAME.finditer(task):
        name = match[0]
        symbols = [s for s in sources.workspace.index.symbols(name.rpartition(".")[2]) if s.kind in _FUNCTIONS]
        symbols = [s for s in symbols if not is_test_path(s.path) and ("." not in name or s.qualified.endswith(name))]
        named = re.search(rf"\b(?:of|in|for|de|dans) {re.escape(name)}\b", task)
        if len(symbols) == 1 and ("_" in name or not name.islower() or f"`{name}" in task or named):
            found[symbols[0].path, symbols[0].qualified] = symbols[0]
    return list(found.values()) if len(found) == 1 else []


def _order_in(task: str, function: str, known: Sequence[str], *, said: bool) -> list[str] | None:
    """The order in which a task names all parameters, last as `f(b, a)`; None where it is the order they have."""
    calls = [_split(inside) for inside in re.findall(rf"{re.escape(function)}\(([^()]*)\)", task)]
    for call in reversed(calls):
        if sorted(call) == sorted(known) and call != list(known):
            return call
    if not said:
        return None
    rest = task.replace(f"`{function}`", " ", 1)
    # The last mention: `to` and `from` are words of sentences, too.
    places = [[m.start() for m in re.finditer(rf"(?<![\w.]){re.escape(name)}(?!\w)", rest)] for name in known]
    if len(known) < 2 or not all(places):
        return None
    order = [name for _, name in sorted(zip([found[-1] for found in places], known, strict=True))]
    return order if order != list(known) and not _SWAPPING.search(folded(task)) else None


def single_move(known: Sequence[str], wanted: Sequence[str]) -> tuple[str, str] | None:
    """The parameter, and its position, that make the wanted order of the known one; None where it takes several.

    Args:
        known: the names of the parameters.
        wanted: the same names.

    Returns:
        The name, and `first` or `after:NAME`.
    """
    for name in known:
        rest = [each for each in known if each != name]
        at = list(wanted).index(name)
        if [*rest[:at], name, *rest[at:]] == list(wanted):
            return name, "first" if at == 0 else f"after:{rest[at - 1]}"
    return None


def hoisted_import(task: str, sources: Sources) -> Iterator[ExactTask]:
    """An import inside of a function that a task wants at the top of its file.

    Args:
        task: as the user wrote it.
        sources: the files.
    """
    words = folded(task)
    if "import" not in words or not _MOVING_UP.search(words):
        return
    said = set(re.findall(r"[A-Za-z_]\w*", task))
    found = set()
    for path in _files_named(task, said, sources):
        source = sources.get(path)
        for statement, item in imports_in_functions(source) if source is not None and source.root is not None else ():
            if source is not None and item.local in said:
                found.add((path, item.local, function_around(source, statement)))
    functions = {entry for entry in found if entry[2] in said} or found
    if len({entry[:2] for entry in functions}) == 1:
        path, name, function = min(functions)
        places = (NamedPlace(path, "file"), *((NamedPlace(function, "function"),) if len(functions) == 1 else ()))
        yield ExactTask("hoist_import", name, "", "", "", places)


def _files_named(task: str, said: set[str], sources: Sources) -> list[str]:
    """The Python files that a task names: by path, by a function in them, or by their name without its ending."""
    files = [path for path in sources.workspace.index.files if path.endswith(".py") and not is_test_path(path)]
    by_path = [path for path in files if re.search(rf"(?<![\w/]){re.escape(PurePosixPath(path).name)}\b", task)]
    named = {s.path for word in said for s in sources.workspace.index.symbols(word) if s.kind in _FUNCTIONS}
    by_function = [path for path in files if path in named]
    by_stem = [path for path in files if PurePosixPath(path).stem in said]
    both = [path for path in by_path if path in by_function]
    return both or by_path or by_stem or by_function
