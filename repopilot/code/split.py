"""One file's text into chunks, symbols, uses of names and imports, with one parse for all of them."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tree_sitter import Node, QueryCursor

from repopilot.code import languages, structure
from repopilot.code.import_statements import Import, read_imports
from repopilot.code.schema import Table, mentions, tables
from repopilot.code.sections import config_spans, doc_spans, plain_spans, schema_spans
from repopilot.code.spans import MAX_LINE_CHARS, OVERLAP, Span, fits, merged, trimmed, windows, with_comments
from repopilot.code.symbols import Definition, Use, definitions, uses
from repopilot.code.syntax import Tags, parse, tags, text_of
from repopilot.types import Chunk, ChunkKind, Reference, Symbol

VERSION = "2"  # of the recipe: an index built with another one is rebuilt
_CLASS_OPEN = 60
_PARSE_SECONDS = 5.0
_CPP_HEADER = re.compile(r"^\s*(?:class\s+\w|namespace\b|template\s*<|using\s+\w+\s*=|public:|private:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """Everything the text of one file says. Picklable.

    `parsed` is False where there is a grammar but the text has syntax errors or took too long; `notes` says which.
    `uses` is the compact form of `references`; with kind `table` it holds what SQL in the text names as tables.
    `tables` are those the file declares; `package` is its package or namespace, '' for none.
    """

    path: str
    language: str
    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    tables: tuple[Table, ...] = ()
    package: str = ""
    parsed: bool = True
    lines: int = 0
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """Uses, and imported names, as references in the order of the lines."""
        imported = [Reference(name, self.path, i.line, "import") for i in self.imports
                    for name in ([n for n, _ in i.names if n != "*"] or [_last_part(i.module)])]  # fmt: skip
        used = [Reference(u.name, self.path, u.line, u.kind, u.scope) for u in self.uses if u.kind != "table"]
        return tuple(sorted(imported + used, key=lambda r: r.line))


def analyse(path: str, text: str, language: str, kind: languages.FileKind,
            seconds: float = _PARSE_SECONDS) -> FileAnalysis:  # fmt: skip
    """Split and read one file. `text` has LF line ends. Never raises on any text.

    Parsing stops after `seconds`; the file is then cut by lines and a note says so. Chunks are ordered by their first
    line and together hold every line that isn't blank.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if kind != "code":
        return _plain(path, text, lines, language, kind)
    if language == "c" and path.endswith(".h") and _CPP_HEADER.search(text):
        language = "cpp"
    queries = tags(language)
    if queries is None:
        chunks = _chunks(path, lines, language, plain_spans(lines, "module"))
        return FileAnalysis(path, language, chunks, tables=_tables(path, text, language), lines=len(lines))
    data = text.encode("utf-8", "replace")
    tree = parse(data, language, seconds)
    if tree is None:
        chunks = _chunks(path, lines, language, plain_spans(lines, "module"))
        return FileAnalysis(path, language, chunks, parsed=False, lines=len(lines), notes=("parsing took too long",))
    return _parsed(path, text, lines, language, data, tree.root_node, queries)


def defined_in(chunk: Chunk, symbols: Sequence[Symbol]) -> list[Symbol]:
    """The symbols of the chunk's file whose definition begins inside the chunk. `symbols` ordered by first line."""
    first = bisect_left(symbols, chunk.start_line, key=lambda s: s.start_line)
    result = []
    for symbol in symbols[first:]:
        if symbol.start_line > chunk.end_line:
            break
        result.append(symbol)
    return result


def _plain(path: str, text: str, lines: list[str], language: str, kind: languages.FileKind) -> FileAnalysis:
    spans = _other_spans(lines, language, kind)
    symbols: tuple[Symbol, ...] = ()
    if kind == "schema":
        named = "table" if language in ("sql", "prisma") else "type"
        symbols = tuple(Symbol(s.symbol.rsplit(".", 1)[-1], s.symbol, named, path, s.start, s.end, _head(lines, s))
                        for s in spans if s.symbol)  # fmt: skip
    return FileAnalysis(path, language, _chunks(path, lines, language, spans), symbols,
                        tables=_tables(path, text, language), lines=len(lines))  # fmt: skip


def _parsed(
    path: str, text: str, lines: list[str], language: str, data: bytes, root: Node, queries: Tags
) -> FileAnalysis:
    found = definitions(root, queries, path, data)
    statements = QueryCursor(queries.imports).captures(root)
    nodes = sorted(statements.get("import", ()), key=lambda n: n.start_byte)
    imports = tuple(i for node in nodes for i in read_imports(node, data, language))
    bound = {name for i in imports for name in i.bound}
    # `const x = require(…)` is an import, not a definition.
    found = [d for d in found if d.symbol.kind != "variable" or d.symbol.qualified not in bound]
    hidden = [(n.start_byte, n.end_byte) for n in nodes if n.type not in ("call_expression", "call")]
    names = uses(root, queries, data, found, bound, hidden)
    names += [Use(name, line, "table", _scope_at(found, line), "") for name, line in mentions(text)]
    symbols = tuple(
        sorted((d.symbol for d in found if d.symbol.kind != "impl"), key=lambda s: (s.start_line, -s.end_line))
    )
    spans = _code_spans(lines, data, root, found, languages.grammar(language) or language)
    broken = root.has_error
    return FileAnalysis(
        path,
        language,
        chunks=_chunks(path, lines, language, spans),
        symbols=symbols,
        uses=tuple(names),
        imports=imports,
        tables=_tables(path, text, language, symbols),
        package=next((_package_name(text_of(n, data)) for n in statements.get("package", ())), ""),
        parsed=not broken,
        lines=len(lines),
        notes=("syntax errors",) if broken else (),
    )


def _tables(path: str, text: str, language: str, symbols: Sequence[Symbol] = ()) -> tuple[Table, ...]:
    return tuple(tables(path, text, language, symbols))


def _head(lines: Sequence[str], span: Span) -> str:
    """The first line of a span that names its symbol."""
    name = span.symbol.rsplit(".", 1)[-1]
    return next((line.strip()[:200] for line in lines[span.start - 1 : span.end] if name in line), "")


def _scope_at(found: Sequence[Definition], line: int) -> str:
    """The innermost definition around a line."""
    around = [d.symbol for d in found if not d.is_leaf and d.symbol.start_line <= line <= d.symbol.end_line]
    return min(around, key=lambda s: s.end_line - s.start_line).qualified if around else ""


def _package_name(text: str) -> str:
    words = text.replace(";", " ").split()
    return words[-1] if words else ""


def _last_part(module: str) -> str:
    for separator in ("::", "/", "\\", "."):
        if separator in module:
            return module.rstrip(separator).rsplit(separator, 1)[-1] or module
    return module


def _other_spans(lines: list[str], language: str, kind: languages.FileKind) -> list[Span]:
    if kind == "doc":
        return doc_spans(lines, language)
    if kind == "config":
        return config_spans(lines)
    return schema_spans(lines, language)


def _code_spans(lines: list[str], data: bytes, root: Node, found: Sequence[Definition], grammar: str) -> list[Span]:
    """The recipe: a definition with its comments is a span, small neighbours are merged, classes over 60 lines are
    opened, definitions over 80 lines are cut along their structure."""
    units = [d for d in found if not d.is_leaf]
    layout = _Layout(lines, data, root, units, grammar)
    return merged(layout.lay(1, len(lines), 0, len(units), "", "module"), lines)


@dataclass(frozen=True, slots=True)
class _Layout:
    lines: list[str]
    data: bytes
    root: Node
    units: list[Definition]  # in the order of the text: inner ones directly behind their outer one
    grammar: str

    def lay(self, first: int, last: int, begin: int, end: int, owner: str, kind: ChunkKind) -> list[Span]:
        """Spans over lines `first..last`, which hold the units `begin..end`."""
        spans: list[Span] = []
        line = first
        while begin < end:
            unit = self.units[begin]
            following = self._after(begin, end)
            start, stop = max(unit.symbol.start_line, line), min(unit.symbol.end_line, last)
            if stop >= line:
                start = with_comments(self.lines, start, line)
                spans += self._rest(line, start - 1, owner, kind, header=bool(owner) and not spans)
                spans += self._unit(unit, start, stop, begin + 1, following, owner)
                line = stop + 1
            begin = following
        return spans + self._rest(line, last, owner, kind, header=bool(owner) and not spans)

    def _after(self, index: int, end: int) -> int:
        """The index of the first unit that isn't inside unit `index`."""
        limit = self.units[index].end_byte
        index += 1
        while index < end and self.units[index].start_byte < limit:
            index += 1
        return index

    def _unit(self, unit: Definition, start: int, stop: int, inner: int, following: int, owner: str) -> list[Span]:
        symbol, size = unit.symbol, stop - start + 1
        kind: ChunkKind = "class" if unit.is_class or symbol.kind == "type" else "function"
        if unit.is_class and size > _CLASS_OPEN and inner < following:
            return self.lay(start, stop, inner, following, symbol.qualified, "class")
        if fits(self.lines, start, stop):
            return [Span(start, stop, kind, symbol.qualified, owner)]
        return [Span(a, b, kind, symbol.qualified, owner, fixed=True) for a, b in self._pieces(unit, start, stop)]

    def _pieces(self, unit: Definition, start: int, stop: int) -> list[tuple[int, int]]:
        node = self.root.descendant_for_byte_range(unit.start_byte, unit.end_byte)
        cut = structure.structural_windows(self.data, node, start, stop, self.grammar) if node is not None else []
        return cut or windows(self.lines, start, stop, overlap=OVERLAP)

    def _rest(self, first: int, last: int, owner: str, kind: ChunkKind, header: bool) -> list[Span]:
        """What lies between definitions. The head of a class stays by itself."""
        whole = trimmed(Span(first, last, kind, owner, owner, fixed=header), self.lines) if first <= last else None
        if whole is None:
            return []
        parts = windows(self.lines, whole.start, whole.end)
        return [Span(a, b, kind, owner, owner, whole.fixed or len(parts) > 1) for a, b in parts]


def _chunks(path: str, lines: Sequence[str], language: str, spans: Iterable[Span]) -> tuple[Chunk, ...]:
    result = []
    for span in spans:
        exact = trimmed(span, lines)
        if exact is None:
            continue
        body = "\n".join(line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + " …"
                         for line in lines[exact.start - 1 : exact.end])  # fmt: skip
        digest = hashlib.blake2b(
            f"{path}\0{exact.start}\0{exact.end}\0{body}".encode("utf-8", "replace"), digest_size=12
        )
        result.append(Chunk(digest.hexdigest(), path, exact.start, exact.end, language, exact.kind, exact.symbol, body))
    return tuple(result)
