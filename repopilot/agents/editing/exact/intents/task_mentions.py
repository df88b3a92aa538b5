"""What of a task is in the code: definitions, files, and names that nothing has yet."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from repopilot.agents.editing.exact.declared_fields import declared_fields
from repopilot.agents.editing.exact.described import name_parts
from repopilot.agents.editing.exact.exact_task import NamedPlace
from repopilot.agents.editing.exact.grounded_shapes import parameter_names
from repopilot.agents.editing.exact.locate import dotted, is_name, path_named
from repopilot.agents.editing.exact.polyglot import identifiers_named
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.wording.constraints import without_constraints
from repopilot.agents.editing.exact.wording.task_tokens import Token, folded, tokens_of
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.index.store import Index
from repopilot.types import Symbol

_MOST_PARAMETERS = 40
_MOST_NAMES = 2000
"""Definitions among which one that words describe is looked for."""
_SHORTEST_NAME = 3
_MOST_FILES = 20
"""Files with a word in which it is looked for as a name."""
_SHORTEST_PART, _STEM = 2, 5
"""Letters of a part of a name that tells something, and of a word that stand for all its forms."""
_FUNCTIONS = ("function", "method", "class", "macro")
ALL_OF_THEM = re.compile(r"\b(?:all|every\w*|throughout|each|both|implement\w*|tou(?:s|te|tes)|partout|chaque|deux)\b")
"""What says that all definitions of a name are meant."""
_ENDS = frozenset(".!?;")
_KIND_BEFORE = re.compile(
    r"\b(?:function|method|class|helper|constant|module|module-level|type|struct|interface|exception|decorator|in|of|"
    r"for|from|to|dans|de|classe|fonction|méthode|constante|exception)\s+$",
    re.I,
)
_KIND_AFTER = re.compile(
    r"\s+(?:function|method|class|helper|constant|type|struct|interface|exception|decorator|should|must|could|takes|"
    r"needs|has|devrait|doit|prend)\b|\s*:|\s+\(?(?:in|from|of|dans|de|du)?\s*`?[\w./-]+\.[a-z]{1,4}\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or path in a task.

    Attributes:
        name: as written, without quotes and parentheses.
        start, end: its characters in the task.
        sentence: the number of its sentence.
        symbols: the definitions that it may mean.
        path: the file that it means, or would be.
        is_code: it can't be a word of prose.
    """

    name: str
    start: int
    end: int
    sentence: int
    symbols: tuple[Symbol, ...] = ()
    path: str = ""
    is_code: bool = True

    @property
    def last(self) -> str:
        """The name without what it belongs to."""
        return dotted(self.name).rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class TaskMentions:
    """A task with what it mentions.

    Attributes:
        text: the task on one line.
        words: the same, folded.
        definitions: mentions of what the code defines, in their order.
        files: mentions of files that exist, or could.
        unknown: names that no definition has.
        sentences: where each sentence begins and ends.
        kept: names that the task says shall stay as they are.
        fresh: those of `unknown` that nothing in the repository's code is called by.
        sources: the files.
        intent: the kind of edit that the words surely ask for, '' for none.
    """

    text: str
    words: str
    definitions: tuple[Mention, ...]
    files: tuple[Mention, ...]
    unknown: tuple[Mention, ...]
    sentences: tuple[tuple[int, int], ...]
    kept: tuple[str, ...]
    fresh: tuple[Mention, ...]
    sources: Sources
    intent: str = ""

    def asks(self, telling: re.Pattern[str]) -> bool:
        """Whether the task asks for what a reader reads: by its intent, or where that isn't known by telling words."""
        return bool(self.intent) or telling.search(self.words) is not None

    def is_kept(self, mention: Mention) -> bool:
        """Whether the task says that a name stays."""
        return mention.name in self.kept

    def sentence_of(self, at: int) -> int:
        """The number of the sentence that a character is in."""
        return next((n for n, (_, end) in enumerate(self.sentences) if at < end), len(self.sentences) - 1)

    def sentence(self, number: int) -> str:
        """A sentence, folded."""
        start, end = self.sentences[number]
        return folded(self.text[start:end])

    def parameters_said(self, symbol: Symbol, text: str) -> list[str]:
        """The parameters of a function that a part of the task names."""
        known = [name for name in parameters_of(symbol, self.sources) if name != symbol.name]
        return [name for name in known if is_written(name, text)]

    def functions(self) -> list[Mention]:
        """The mentions of functions, methods and classes."""
        return [m for m in self.definitions if any(s.kind in _FUNCTIONS for s in m.symbols)]


def mentions_of(task: str, sources: Sources) -> TaskMentions:
    """What a task mentions.

    Args:
        task: on one line.
        sources: the files.
    """
    tokens = tokens_of(task)
    sentences = _sentences(tokens, task)
    found = [m for t in tokens if (m := _mention(t, task, sentences, sources)) is not None]
    found = sorted((*found, *_listed(tokens, found, sources)), key=lambda m: m.start)
    found = [_in_named_files(_with_defining_path(m, found), found) for m in found]
    unknown = tuple(m for m in found if not m.symbols and not m.path)
    return TaskMentions(
        task,
        folded(task),
        tuple(m for m in found if m.symbols),
        tuple(m for m in found if m.path),
        unknown,
        sentences,
        _kept(task),
        tuple(m for m in unknown if _is_fresh(m.last, sources)),
        sources,
    )


def _with_defining_path(mention: Mention, others: Sequence[Mention]) -> Mention:
    """The mention of a file as that of the one which defines what the task names, where its path ends so."""
    defining = {s.path for m in others for s in m.symbols if m.is_code and f"/{s.path}".endswith(f"/{mention.name}")}
    return replace(mention, path=defining.pop()) if mention.path and len(defining) == 1 else mention


def _in_named_files(mention: Mention, others: Sequence[Mention]) -> Mention:
    """The mention of a name that several files define as that of those which the task names."""
    paths = {other.path for other in others if other.path}
    near = tuple(s for s in mention.symbols if s.path in paths)
    return replace(mention, symbols=near) if near and len(near) < len(mention.symbols) else mention


def _is_fresh(name: str, sources: Sources) -> bool:
    """Whether nothing in the code is called by a name: texts may have it as a word."""
    paths = sources.mentioning(name)
    if len(paths) > _MOST_FILES or (paths and name.isupper()):  # an abbreviation
        return not paths
    code = (sources.get(path) for path in paths if file_kind(path) == "code")
    return all(s.root is not None and not any(identifiers_named(s, name)) for s in code if s is not None)


def parts_of(task: TaskMentions) -> Iterator[tuple[str, str]]:
    """The parts of a task as the classifier of intents takes them.

    Args:
        task: with its mentions.
    """
    known = task.sources.workspace.index.files
    spans = {m.start: (m.end, "DEF") for m in (*task.unknown, *task.definitions) if m.is_code or m.name[:1].isupper()}
    spans |= {m.start: (m.end, "NEW") for m in task.fresh}
    spans |= {m.start: (m.end, "FILE" if m.path in known else "NEWFILE") for m in task.files}
    tokens = tokens_of(task.text)
    spans |= {t.start: (t.end, "LIT") for t in tokens if t.kind == "literal"}
    spans |= {t.start: (t.end, "NEW") for t in _new_words(tokens, task) if t.start not in spans}
    passed = {(m.last, name) for m in task.functions() for s in m.symbols for name in parameters_of(s, task.sources)}
    for name in {name for function, name in passed if name != function}:
        for match in re.finditer(rf"(?<![\w.])`?{re.escape(name)}`?(?!\w|\.\w)", task.text):
            if spans.get(match.start(), (0, ""))[1] in ("", "DEF", "FILE", "NEW"):
                spans[match.start()] = (match.end(), "PARAM")
    at = 0
    for start, (end, slot) in sorted(spans.items()):
        if start < at:
            continue
        yield "", task.text[at:start]
        yield slot, task.text[start:end]
        at = end
    yield "", task.text[at:]


_NAMED_SO = re.compile(
    r"(?:\b(?:called|named|spelled|becomes?|call (?:it|them|this|that)|devient|devenir|nommer?|appeler|appelle\w*)|"
    r"->|→)\s+$"
)
_RENAMED_TO = re.compile(r"\b(?:re-?nam\w+|renomm\w+)\b.*\b(?:to|as|into|en)\s+$")
_PHRASE_ENDS = re.compile(
    r"\s*(?:$|[,;:!?)]|\.(?!\w)|(?:in|throughout|everywhere|instead|please|for|and|dans|partout|pour|et)\b)"
)
_NO_NAMES = frozenset(
    "it that this them out here there too only also now again instead true false none everywhere one all name "
    "names".split()
)


def _new_words(tokens: Sequence[Token], task: TaskMentions) -> list[Token]:
    """The words of prose that stand where a new name would, and that nothing is defined as."""
    symbols = task.sources.workspace.index.symbols
    return [
        token
        for token in tokens
        if token.kind == "word"
        and len(token.text) >= _SHORTEST_NAME
        and token.low not in _NO_NAMES
        and (_NAMED_SO.search(task.words[: token.start]) or _RENAMED_TO.search(task.words[: token.start]))
        and _PHRASE_ENDS.match(task.text[token.end :])
        and not symbols(token.text)
    ]


_SEPARATORS = frozenset((",", "and", "et", "or", "ou", "/", "&"))


def _listed(tokens: Sequence[Token], found: Sequence[Mention], sources: Sources) -> list[Mention]:
    """Words in a list with names that are surely code, where the same file defines them: `add, incr and add_all`."""
    known = {m.start: m for m in found if m.symbols and m.is_code}
    listed: list[Mention] = []
    for order in (tokens, tokens[::-1]):
        last: Mention | None = None
        separated = False
        for token in order:
            if token.low in _SEPARATORS or token.text in _SEPARATORS:
                separated = True
                continue
            mention = known.get(token.start)
            if mention is None and last is not None and separated and token.kind == "word":
                mention = _beside(token, last, sources)
                if mention is not None:
                    known[token.start] = mention
                    listed.append(mention)
            last, separated = mention, False
    return [m for m in listed if m.start not in {other.start for other in found}]


def _beside(token: Token, other: Mention, sources: Sources) -> Mention | None:
    """A word as a mention of what the file of another one defines, None for any other word."""
    paths = {symbol.path for symbol in other.symbols}
    symbols = tuple(s for s in _definitions(token.text, sources) if s.path in paths and s.name == token.text)
    return Mention(token.text, token.start, token.end, other.sentence, symbols) if symbols else None


_KEEPING = re.compile(
    r"(?P<names>(?:(?:`[^`\n]+`|[\w.$]+)(?:,? (?:and|et) |, )?){1,6})\s+(?:(?:both|also|all|should|must|doi\w+)\s+)?"
    r"(?:keeps?|stays?|remains?|gardent?|restent?|conservent?|(?:does|do) not change|ne changent? pas)\b",
    re.I,
)


def _kept(task: str) -> tuple[str, ...]:
    """The names that a task says shall stay."""
    names = list(without_constraints(task)[1])
    for match in _KEEPING.finditer(task):
        names += [name.strip("`") for name in re.findall(r"`[^`]+`|[\w.$]+", match["names"])]
    return tuple(dict.fromkeys(names))


def _sentences(tokens: Sequence[Token], task: str) -> tuple[tuple[int, int], ...]:
    starts = [0]
    for token, following in itertools.pairwise(tokens):
        if token.kind == "sign" and token.text in _ENDS and not following.glued:
            starts.append(following.start)
    return tuple(zip(starts, [*starts[1:], len(task)], strict=True))


def _mention(token: Token, task: str, sentences: Sequence[tuple[int, int]], sources: Sources) -> Mention | None:
    """The name or path that a token is, None for words, values and texts."""
    index = sources.workspace.index
    name = re.sub(r"\(.*\)$", "", token.inner.strip().lstrip("@"), flags=re.S)
    number = next(n for n, (_, end) in enumerate(sentences) if token.start < end)
    if token.is_path:
        path = path_named(name, index) or _likeliest_path(name, index) or name
        return Mention(name, token.start, token.end, number, path=path)
    if token.kind == "word":
        symbols = _definitions(name, sources) if _may_be_code(token, task) else ()
        return Mention(name, token.start, token.end, number, symbols, is_code=False) if symbols else None
    if token.kind not in ("name", "quoted") or not is_name(name) or (token.kind == "quoted" and not token.is_code):
        return None
    symbols = _definitions(name, sources)
    path = module_path(name, sources) if not symbols else ""
    return Mention(name, token.start, token.end, number, symbols, path)


def _likeliest_path(name: str, index: Index) -> str:
    """Of several files with the end of a path the one of code that is nearest to the top, '' for none."""
    found = [p for p in index.files if p.endswith(f"/{name}")]
    code = [p for p in found if file_kind(p) == "code" and not is_test_path(p) and not is_example_path(p)]
    return min(code or found, key=lambda p: (p.count("/"), p), default="")


def _may_be_code(token: Token, task: str) -> bool:
    """Whether a word stands where a name would: beside what it is, or with a capital within a sentence."""
    if len(token.text) < 3:
        return False
    if token.text[0].isupper() and not token.text.isupper():
        return True
    before, after = task[: token.start], task[token.end :]
    return _KIND_BEFORE.search(before) is not None or _KIND_AFTER.match(after) is not None or not before.strip()


def _definitions(name: str, sources: Sources) -> tuple[Symbol, ...]:
    """What a name is defined as; outside of tests and examples where there is such."""
    index = sources.workspace.index
    plain = dotted(name)
    found = list(index.symbols(plain))
    if not found and "." in plain:
        owner, _, last = plain.rpartition(".")
        inside = owner.rpartition(".")[2]
        named = index.symbols(last)
        found = [s for s in named if s.path.rpartition("/")[2].partition(".")[0] == inside]
        found = found or (list(named) if len(named) == 1 and index.symbols(owner) else [])  # it is inherited
    if not found and not plain.islower():
        owner = plain.rpartition(".")[0]
        found = [s for s in declared_fields(plain, sources) if s.qualified.startswith(f"{owner}.") or not owner]
    own = [s for s in found if not is_test_path(s.path) and not is_example_path(s.path)]
    return tuple(own or found)


def module_path(name: str, sources: Sources) -> str:
    """The file of a module's name, '' for none or several."""
    stem = dotted(name).replace(".", "/")
    files = [p for p in sources.workspace.index.files if file_kind(p) == "code" and not is_test_path(p)]
    found = [p for p in files if f"/{p.rpartition('.')[0]}".endswith(f"/{stem}")]
    return found[0] if len(found) == 1 else ""


def described_functions(task: TaskMentions) -> list[Symbol]:
    """The one function, or class, whose name is made of words of the task; [] for none or several.

    Args:
        task: with its mentions; one that names no function.
    """
    words = set(re.findall(r"[a-z]{3,}", task.words))
    fits: dict[tuple[str, str], tuple[int, Symbol]] = {}
    for path in _defining_one_of(words, task.sources.workspace.index):
        for symbol in task.sources.outline(path):
            parts = [part for part in name_parts(symbol.name) if len(part) > _SHORTEST_PART]
            if symbol.kind in _FUNCTIONS and parts and all(_is_said(part, words) for part in parts):
                fits[path, symbol.qualified] = (len(parts), symbol)
    best = max((count for count, _ in fits.values()), default=0)
    found = [symbol for count, symbol in fits.values() if count == best]
    return found if len(found) == 1 else []


def _defining_one_of(words: Collection[str], index: Index) -> list[str]:
    """The files of code that define a name with one of some words in it; [] for too many to look into."""
    telling = {word[: _STEM - 1] for word in words if len(word) >= _STEM - 1}
    names = [name for name in index.lexical.names if any(word in name for word in telling)]
    rows = (row for name in names[:_MOST_NAMES] for row in index.lexical.rows_defining(name).tolist())
    paths = dict.fromkeys(index.chunks[row].path for row in rows)
    own = [p for p in paths if file_kind(p) == "code" and not is_test_path(p) and not is_example_path(p)]
    return own if len(names) <= _MOST_NAMES else []


def _is_said(part: str, words: Collection[str]) -> bool:
    """Whether a part of a name is a word, or as much of one as names have."""
    return any(word.startswith(part[:_STEM]) and (part.startswith(word[:_STEM]) or len(part) < _STEM) for word in words)


def parameters_of(symbol: Symbol, sources: Sources) -> list[str]:
    """The names of the parameters of a function, of a class those of its constructor, without the object itself."""
    if symbol.kind == "class":
        outline = sources.outline(symbol.path)
        made = next((s for s in outline if s.qualified == f"{symbol.qualified}.__init__"), None)
        return parameter_names(made.signature, _MOST_PARAMETERS) if made is not None else []
    return parameter_names(symbol.signature, _MOST_PARAMETERS)


def place_of(symbol: Symbol) -> tuple[NamedPlace, NamedPlace]:
    """A function, and the file that it is in, as the place of an edit of one of its parameters."""
    return NamedPlace(symbol.qualified, "function"), NamedPlace(symbol.path, "file")


def is_written(name: str, text: str) -> bool:
    """Whether a text has a name as a word, and not as a part of a dotted one."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
