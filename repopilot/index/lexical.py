"""The lexical index: postings of every chunk over a few fields, in flat numpy arrays that can be memory-mapped.

`terms_of` runs in worker processes and gives a small, picklable value per chunk; `LexicalIndex.build` turns those
values into postings. An index is never changed in place. Relevance is computed in retrieval/rank.py.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from repopilot import i18n
from repopilot.errors import IndexFailed
from repopilot.index.file_roles import ROLES, roles_of
from repopilot.index.ragged import starts_of
from repopilot.index.tokens import expand, words
from repopilot.types import Chunk

VERSION = 5
FIELDS = ("path", "symbols", "body")
TABLES = {"name_rows": ("names", "rows"), "name_tokens": ("tokens", "names"), "file_words": ("tokens", "files")}
"""Further postings: what each is looked up by, and what it returns."""
LABELS = {"file_of": "files", "kind_of": "kinds", "language_of": "languages"}
"""Arrays with the number of a text per row, and the field that holds those texts."""
FILE_ARRAYS = ("roles",)
"""Arrays with a value per file."""
ROW_ARRAYS = ("spans", "owners")
"""Arrays with a value per row that is stored as it is."""
PLAIN_ARRAYS = (*LABELS, *FILE_ARRAYS, *ROW_ARRAYS)
MOST_OCCURRENCES = 255
GENERATED = "@generated"
"""The token added to the body of a generated file's chunks; no word of a text yields it."""

Bag = tuple[str, bytes]
"""Distinct tokens joined by spaces, and how often each occurs (at most 255)."""


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The terms of one chunk.

    `names` are the symbols defined in it, in lower case, unqualified; `span` its first and last line; `owner` the
    CRC-32 of the name of the outermost definition around it, 0 for none.
    """

    file: str
    kind: str
    language: str
    span: tuple[int, int]
    owner: int
    names: tuple[str, ...]
    path: Bag
    symbols: Bag
    body: Bag


def terms_of(chunk: Chunk, defined: Sequence[str], generated: bool = False) -> ChunkTerms:
    """The terms of one chunk.

    Args:
        chunk: the chunk.
        defined: the names, plain or qualified, of the symbols whose definition starts in it.
        generated: whether its file says that a program wrote it; marking one chunk of the file is enough.
    """
    names = tuple(dict.fromkeys(_tail(name) for name in (*defined, chunk.symbol) if name))
    return ChunkTerms(
        file=chunk.path,
        kind=chunk.kind,
        language=chunk.language,
        span=(chunk.start_line, chunk.end_line),
        owner=_owner(chunk),
        names=tuple(name for name in names if name),
        path=_path_bag(chunk.path),
        symbols=_bag(words(" ".join(dict.fromkeys((*defined, chunk.symbol))))),
        body=_body(chunk, generated),
    )


def _owner(chunk: Chunk) -> int:
    """The CRC-32 of the name of a chunk's outermost definition, such as its class or the function itself; 0 for
    none."""
    outermost = re.split(r"\.|::", chunk.symbol, maxsplit=1)[0] if chunk.kind in ("function", "class") else ""
    return zlib.crc32(outermost.encode("utf-8")) if outermost else 0


def _body(chunk: Chunk, generated: bool) -> Bag:
    tokens, counts = _bag(words(chunk.text))
    if generated:
        return f"{tokens} {GENERATED}".strip(), counts + b"\1"
    return tokens, counts


def _tail(name: str) -> str:
    return name.replace("::", ".").rpartition(".")[2].lower()


@lru_cache(maxsize=1)
def _path_bag(path: str) -> Bag:
    """The bag of a path: chunks come file by file."""
    return _bag(words(path))


def _bag(found: Iterable[str]) -> Bag:
    counts: defaultdict[str, int] = defaultdict(int)
    for word, count in Counter(found).items():
        for token in expand(word):
            counts[token] += count
    most = max(counts.values(), default=0)
    limited = counts.values() if most <= MOST_OCCURRENCES else [min(n, MOST_OCCURRENCES) for n in counts.values()]
    return " ".join(counts), bytes(limited)


@dataclass(frozen=True, slots=True)
class Postings:
    """Rows by token: those of token t are `rows[starts[t]:starts[t + 1]]`, ascending. `lengths` is per row."""

    starts: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    def of(self, token: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and counts of one token."""
        span = slice(self.starts[token], self.starts[token + 1])
        return self.rows[span], self.counts[span]


@dataclass(frozen=True)
class LexicalIndex:
    """Postings per field over n chunks; row i belongs to chunk i of the index.

    `files` are the distinct paths, `file_of[i]` the number of the file of row i; likewise `kinds` and `languages`.
    `names` are the distinct names of defined symbols: `name_rows` gives the rows by name, `name_tokens` the names by
    token. `file_words` gives the files by the tokens of their name without folder and suffix. `roles` is a bit mask per
    file, see file_roles.py. `spans` is int32 (rows, 2): the first and last line of each; `owners` uint32 (rows,), see
    `ChunkTerms.owner`.
    """

    tokens: dict[str, int]
    fields: Mapping[str, Postings]
    files: tuple[str, ...]
    kinds: tuple[str, ...]
    languages: tuple[str, ...]
    names: tuple[str, ...]
    file_of: np.ndarray
    kind_of: np.ndarray
    language_of: np.ndarray
    roles: np.ndarray
    spans: np.ndarray
    owners: np.ndarray
    file_words: Postings
    name_rows: Postings
    name_tokens: Postings

    def __len__(self) -> int:
        return len(self.file_of)

    @classmethod
    def build(cls, items: Iterable[ChunkTerms]) -> LexicalIndex:
        """The index over `items`, whose order gives the row numbers."""
        numbers = {name: _Numbers() for name in ("tokens", "files", "kinds", "languages", "names")}
        bags: dict[str, _Bags] = {name: _Bags() for name in FIELDS}
        name_rows = _Bags()
        columns: dict[str, list[int]] = {"files": [], "kinds": [], "languages": [], "owners": []}
        spans: list[tuple[int, int]] = []
        for item in items:
            columns["files"].append(numbers["files"][item.file])
            columns["kinds"].append(numbers["kinds"][item.kind])
            columns["languages"].append(numbers["languages"][item.language])
            columns["owners"].append(item.owner)
            spans.append(item.span)
            for name in FIELDS:
                text, counts = getattr(item, name)
                bags[name].add([numbers["tokens"][token] for token in text.split()], counts)
            name_rows.add([numbers["names"][name] for name in item.names], b"\1" * len(item.names))
        name_tokens = _Bags()
        for name in numbers["names"]:
            tokens, counts = _bag(words(name))
            name_tokens.add([numbers["tokens"][token] for token in tokens.split()], counts)
        size = len(numbers["tokens"])
        fields = {name: bags.pop(name).postings(size) for name in FIELDS}
        file_of = np.array(columns["files"], np.int32)
        generated = fields["body"].of(numbers["tokens"][GENERATED])[0] if GENERATED in numbers["tokens"] else ()
        return cls(
            tokens=dict(numbers["tokens"]),
            fields=fields,
            files=tuple(numbers["files"]),
            kinds=tuple(numbers["kinds"]),
            languages=tuple(numbers["languages"]),
            names=tuple(numbers["names"]),
            file_of=file_of,
            kind_of=np.array(columns["kinds"], np.uint8),
            language_of=np.array(columns["languages"], np.uint8),
            roles=roles_of(tuple(numbers["files"]), {int(file_of[row]) for row in generated}),
            spans=np.array(spans, np.int32).reshape(-1, 2),
            owners=np.array(columns["owners"], np.uint32),
            file_words=_file_words(numbers["files"], numbers["tokens"], size),
            name_rows=name_rows.postings(len(numbers["names"])),
            name_tokens=name_tokens.postings(size),
        )

    def save(self, folder: Path) -> None:
        """Write the index as flat files into `folder`, which is created. Raises OSError when it can't be written."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in self._arrays():
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
        texts = {
            "version": VERSION,
            "tokens": list(self.tokens),
            **{name: getattr(self, name) for name in ("files", "kinds", "languages", "names")},
        }
        (folder / "texts.json").write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, mmap: bool = True) -> LexicalIndex:
        """The index saved in `folder`, memory-mapped if `mmap`. Raises IndexFailed when it is broken or old."""
        try:
            texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
            if texts["version"] != VERSION:
                raise IndexFailed(i18n.message("index.lexical_other_version"), i18n.message("index.rebuilt_next_time"))
            return cls(
                tokens={token: number for number, token in enumerate(texts["tokens"])},
                fields={name: _load_postings(folder, name, mmap) for name in FIELDS},
                files=tuple(texts["files"]),
                kinds=tuple(texts["kinds"]),
                languages=tuple(texts["languages"]),
                names=tuple(texts["names"]),
                file_of=_load(folder, "file_of", mmap),
                kind_of=_load(folder, "kind_of", mmap),
                language_of=_load(folder, "language_of", mmap),
                roles=_load(folder, "roles", mmap),
                spans=_load(folder, "spans", mmap),
                owners=_load(folder, "owners", mmap),
                name_rows=_load_postings(folder, "name_rows", mmap),
                name_tokens=_load_postings(folder, "name_tokens", mmap),
                file_words=_load_postings(folder, "file_words", mmap),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IndexFailed(
                i18n.message("index.lexical_unreadable", error=str(error)), i18n.message("index.rebuilt_next_time")
            ) from error

    @cached_property
    def file_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(starts, rows): the rows of file f are `rows[starts[f]:starts[f + 1]]`, ascending."""
        rows = np.argsort(self.file_of, kind="stable").astype(np.int32)
        return starts_of(np.bincount(self.file_of, minlength=len(self.files))), rows

    @cached_property
    def first_of_file(self) -> np.ndarray:
        """bool (rows,): whether it is the first row of its file."""
        starts, rows = self.file_rows
        result = np.zeros(len(self), bool)
        result[rows[starts[:-1]]] = True
        return result

    @cached_property
    def group_of(self) -> np.ndarray:
        """int32 (rows,): a number per row, shared by all rows of a file with the same outermost definition."""
        keys = self.file_of.astype(np.int64) << 32 | self.owners
        keys = np.where(self.owners > 0, keys, -1 - np.arange(len(keys), dtype=np.int64))
        return np.unique(keys, return_inverse=True)[1].astype(np.int32)

    @cached_property
    def file_lengths(self) -> Mapping[str, np.ndarray]:
        """float64 (files,) by field: the word count of each file. Its path, which every row repeats, counts once."""
        found = {
            name: np.bincount(self.file_of, postings.lengths, minlength=len(self.files))
            for name, postings in self.fields.items()
        }
        found["path"][self.file_of] = self.fields["path"].lengths
        return found

    @cached_property
    def file_numbers(self) -> dict[str, int]:
        """The number of each file by its path."""
        return {path: number for number, path in enumerate(self.files)}

    @cached_property
    def name_numbers(self) -> dict[str, int]:
        """The number of each defined name, in lower case."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def rarity(self) -> np.ndarray:
        """float32 per token: its inverse document frequency over bodies."""
        matching = np.diff(self.fields["body"].starts)
        return np.log1p((len(self) - matching + 0.5) / (matching + 0.5)).astype(np.float32)

    @cached_property
    def median_rarity(self) -> float:
        """The median of `rarity`, 0 for an index without words."""
        count = len(self.rarity)
        # numpy's median imports its masked arrays, which takes longer than a search.
        return float(np.sort(self.rarity)[(count - 1) // 2 : count // 2 + 1].mean()) if count else 0.0

    @cached_property
    def name_mass(self) -> np.ndarray:
        """float32 per name: the summed rarity of its tokens."""
        tokens = np.repeat(np.arange(len(self.tokens)), np.diff(self.name_tokens.starts))
        return np.bincount(self.name_tokens.rows, self.rarity[tokens], minlength=len(self.names)).astype(np.float32)

    def role(self, name: str) -> np.ndarray:
        """bool per file: whether it has this role."""
        return (self.roles >> ROLES.index(name) & 1).astype(bool)

    def rows_of_file(self, path: str) -> np.ndarray:
        """The rows of one file, ascending; none for an unknown path."""
        number = self.file_numbers.get(path)
        if number is None:
            return np.empty(0, np.int32)
        starts, rows = self.file_rows
        return rows[starts[number] : starts[number + 1]]

    def rows_defining(self, name: str) -> np.ndarray:
        """The rows in which a symbol of this unqualified name is defined, ignoring case."""
        number = self.name_numbers.get(name.lower())
        return np.empty(0, np.int32) if number is None else self.name_rows.of(number)[0]

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        for name in PLAIN_ARRAYS:
            yield name, getattr(self, name)
        tables = chain(self.fields.items(), ((name, getattr(self, name)) for name in TABLES))
        for name, postings in tables:
            for part in ("starts", "rows", "counts", "lengths"):
                yield f"{name}.{part}", getattr(postings, part)


class _Numbers(dict[str, int]):
    """Consecutive numbers for strings in order of first use."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class _Bags:
    """Bags of numbered tokens, row by row, to be turned into postings."""

    def __init__(self) -> None:
        # Flat arrays: one object per bag would double the memory.
        self._sizes = array("i")
        self._numbers = array("i")
        self._counts = bytearray()

    def add(self, numbers: Sequence[int], counts: bytes) -> None:
        self._sizes.append(len(numbers))
        self._numbers.extend(numbers)
        self._counts += counts

    def postings(self, size: int) -> Postings:
        """Postings over `size` tokens."""
        sizes = np.frombuffer(self._sizes, np.int32)
        tokens = np.frombuffer(self._numbers, np.int32)
        counts = np.frombuffer(self._counts, np.uint8)
        rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        lengths = np.bincount(rows, counts, minlength=len(sizes)).astype(np.float32)
        order = np.argsort(tokens, kind="stable")
        return Postings(starts_of(np.bincount(tokens, minlength=size)), rows[order], counts[order], lengths)


def _file_words(files: Iterable[str], tokens: Mapping[str, int], size: int) -> Postings:
    bags = _Bags()
    for path in files:
        stem = path.rpartition("/")[2].partition(".")[0]
        found, counts = _bag(words(stem))
        known = [tokens[token] for token in found.split() if token in tokens]
        bags.add(known, counts[: len(known)])
    return bags.postings(size)


def _load(folder: Path, name: str, mmap: bool) -> np.ndarray:
    # Slicing a memmap costs several times as much as slicing a plain array over the same memory.
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r" if mmap else None, allow_pickle=False))


def _load_postings(folder: Path, name: str, mmap: bool) -> Postings:
    return Postings(*(_load(folder, f"{name}.{part}", mmap) for part in ("starts", "rows", "counts", "lengths")))
