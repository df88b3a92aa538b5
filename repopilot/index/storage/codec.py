"""One analysed file as a row of the database, and back. Runs in worker processes: the parent only passes bytes on.

Text is deflated UTF-8; everything else is JSON without the file's own path. A chunk's text is omitted if it equals the
lines of the chunk. `digests` holds 8 bytes per chunk (BLAKE2b of its text), `defined` and `used` the CRC-32 of every
distinct name defined or referenced: enough to find the files a name occurs in.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from repopilot.code.file_analysis import FileAnalysis, Import, PassedValue, Table, Use, defined_in
from repopilot.code.generated import probably_generated
from repopilot.index.lexical import ChunkTerms, terms_of
from repopilot.redaction.redact import MARK
from repopilot.types import Chunk, SourceFile, Symbol


class Row(NamedTuple):
    """A file as stored. The columns of `files` first, then those of `contents`, then those of `terms`."""

    path: str
    hash: str
    language: str
    kind: str
    size: int
    lines: int
    parsed: bool
    chunk_count: int
    redactions: int
    text: bytes
    chunks: str
    symbols: str
    uses: str
    terms: str
    digests: bytes
    defined: bytes
    used: bytes


@dataclass(frozen=True, slots=True)
class FileInfo:
    """What is known of an indexed file. `size` in bytes; `parsed`: its symbols come from a syntax tree; `row` is the id
    of its row in the database."""

    path: str
    hash: str
    language: str
    kind: str
    size: int
    lines: int
    parsed: bool
    chunks: int
    row: int = field(default=0, compare=False)


def encode(file: SourceFile, text: str, analysis: FileAnalysis) -> Row:
    """The row of one analysed file.

    Args:
        file: the file, as listed.
        text: its text with LF line ends, secrets redacted.
        analysis: its chunks, symbols and uses.
    """
    lines = text.split("\n")
    generated = probably_generated(text)
    names = ([s.name for s in defined_in(chunk, analysis.symbols)] for chunk in analysis.chunks)
    terms = (terms_of(chunk, found, generated) for chunk, found in zip(analysis.chunks, names, strict=True))
    return Row(
        file.path,
        file.hash,
        file.language,
        file.kind,
        file.size,
        analysis.lines,
        analysis.parsed,
        len(analysis.chunks),
        text.count(MARK),
        zlib.compress(text.encode("utf-8"), 1),
        _dump([_chunk_fields(chunk, lines) for chunk in analysis.chunks]),
        _dump([(s.name, s.qualified, s.kind, s.start_line, s.end_line, s.signature) for s in analysis.symbols]),
        _dump(_facts(analysis)),
        _dump([_terms_fields(item) for item in terms]),
        b"".join(digest(chunk.text) for chunk in analysis.chunks),
        _checksums(s.name for s in analysis.symbols),
        _checksums(r.name for r in analysis.references),
    )


def _facts(analysis: FileAnalysis) -> list:
    return [
        analysis.uses,
        [(i.module, i.names, i.line, i.alias) for i in analysis.imports],
        analysis.package,
        [(t.name, t.columns, t.line, t.declared, t.model, t.refers) for t in analysis.tables],
        analysis.passed,
    ]


def digest(text: str) -> bytes:
    """The digest of a chunk's text, 8 bytes: the key of its vector."""
    return blake2b(text.encode("utf-8"), digest_size=8).digest()


def checksum(name: str) -> int:
    """The CRC-32 of a name, by which the files that contain it are found."""
    return zlib.crc32(name.encode("utf-8"))


def text_of(blob: bytes) -> str:
    """The text of a file from `Row.text`."""
    return zlib.decompress(blob).decode("utf-8")


def chunks_of(path: str, language: str, data: str, text: str) -> list[Chunk]:
    """The chunks of a file, in order.

    Args:
        path: the path of the file.
        language: its language.
        data: `Row.chunks`.
        text: the text of the file.
    """
    lines = text.split("\n")
    return [
        Chunk(id, path, start, end, language, kind, symbol, "\n".join(lines[start - 1 : end]) if body is None else body)
        for id, start, end, kind, symbol, body in json.loads(data)
    ]


@lru_cache(maxsize=256)
def symbols_of(path: str, data: str) -> tuple[Symbol, ...]:
    """The symbols of a file from `Row.symbols`, in order; those of the files used last are kept."""
    return tuple(
        Symbol(name, qualified, kind, path, start, end, signature)
        for name, qualified, kind, start, end, signature in json.loads(data)
    )


def uses_of(info: FileInfo, symbols: Iterable[Symbol], data: str) -> FileAnalysis:
    """The analysis of a file without its chunks, for graphs and references.

    Args:
        info: the file.
        symbols: its symbols, () where they aren't needed.
        data: `Row.uses`.
    """
    uses, imports, package, tables, passed = json.loads(data)
    return FileAnalysis(
        info.path,
        info.language,
        chunks=(),
        symbols=tuple(symbols),
        uses=tuple(Use(*use) for use in uses),
        passed=tuple(PassedValue(*value) for value in passed),
        imports=tuple(
            Import(module, tuple((name, local) for name, local in names), line, alias)
            for module, names, line, alias in imports
        ),
        tables=tuple(
            Table(name, tuple(columns), info.path, line, declared, model, tuple(refers))
            for name, columns, line, declared, model, refers in tables
        ),
        package=package,
        parsed=info.parsed,
        lines=info.lines,
    )


def terms_from(path: str, language: str, data: str) -> list[ChunkTerms]:
    """The terms of the chunks of a file, in order.

    Args:
        path: the path of the file.
        language: its language.
        data: `Row.terms`.
    """
    return [
        ChunkTerms(
            path,
            kind,
            language,
            (start, end),
            owner,
            tuple(names),
            *((tokens, counts.encode("latin-1")) for tokens, counts in bags),
        )
        for kind, start, end, owner, names, *bags in json.loads(data)
    ]


def _chunk_fields(chunk: Chunk, lines: Sequence[str]) -> tuple:
    exact = "\n".join(lines[chunk.start_line - 1 : chunk.end_line]) == chunk.text
    text = None if exact else chunk.text
    return chunk.id, chunk.start_line, chunk.end_line, chunk.kind, chunk.symbol, text


def _terms_fields(terms: ChunkTerms) -> tuple:
    bags = [(tokens, counts.decode("latin-1")) for tokens, counts in (terms.path, terms.symbols, terms.body)]
    return terms.kind, *terms.span, terms.owner, terms.names, *bags


def _checksums(names: Iterable[str]) -> bytes:
    return np.array([checksum(name) for name in set(names)], np.uint32).tobytes()


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
