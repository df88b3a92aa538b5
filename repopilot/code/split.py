"""Splits one file into chunks and finds its definitions, uses of names and imports, parsing it once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node, QueryCursor, Tree

from repopilot import i18n
from repopilot.code import languages
from repopilot.code.chunks.code_splitter import structural_windows
from repopilot.code.chunks.spans import MAX_LINE_CHARS, OVERLAP, Span, fits, merged, trimmed, windows, with_comments
from repopilot.code.chunks.text_spans import config_spans, doc_spans, plain_spans, schema_spans
from repopilot.code.file_analysis import Definition, FileAnalysis, Table, Use
from repopilot.code.formats.components import script_of
from repopilot.code.formats.schema import mentions, tables
from repopilot.code.import_statements import read_export, read_imports
from repopilot.code.languages import COMPONENTS
from repopilot.code.symbols import Bindings, definitions, uses
from repopilot.code.syntax import Tags, parse, tags, text_of
from repopilot.types import Chunk, ChunkKind, Symbol, innermost

_DIVIDED_CLASS = 60  # lines; a longer class is divided into its members
_PARSE_SECONDS = 5.0
_CPP_HEADER = re.compile(
    r"^[^\S\n]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w+\s*=|public:|private:)", re.MULTILINE
)


@lru_cache(maxsize=128)
def analysed(path: str, text: str) -> FileAnalysis:
    """The analysis of one version of a file without its chunks, which take most of the time.

    Args:
        path: the file's path, which tells its language and its kind.
        text: its text, with LF line ends.
    """
    return analyse(path, text, languages.language_of(path) or "", languages.file_kind(path), chunked=False)


def analyse(
    path: str,
    text: str,
    language: str,
    kind: languages.FileKind,
    seconds: float = _PARSE_SECONDS,
    *,
    chunked: bool = True,
) -> FileAnalysis:
    """Split one file into chunks and read its definitions, uses, imports and tables.

    Args:
        path: the file's path, from the repository's root.
        text: its text, with LF line ends.
        language: as `languages.language_of` names it. A `.h` file is parsed as C++ where it looks like it, a component
            as the language of its scripts.
        kind: the kind of file.
        seconds: time limit of the parser; afterwards the file is cut by lines and a note says so.
        chunked: whether it is split.

    Returns:
        The analysis. Its chunks are ordered by their first line and together hold every line that isn't blank; each
        has `language` as given.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    file = _File(path, text, lines, language, kind, chunked)
    grammar, source = parsed_as(path, text, language)
    queries = tags(grammar)
    if queries is None:
        return _analyse_unparsed(file)
    data = source.encode("utf-8", "replace")
    tree = parse(data, grammar, seconds)
    if tree is None:
        note = i18n.message("code.parsing_timed_out")
        return FileAnalysis(
            path, grammar, _chunks(file, _line_spans(file)), parsed=False, lines=len(lines), notes=(note,)
        )
    in_cpp = header_in_cpp(path, data, tree, grammar, seconds)
    if in_cpp is not None and (queries_of_cpp := tags("cpp")) is not None:
        return _analyse_code(file, _ParsedCode(data, in_cpp.root_node, "cpp", queries_of_cpp))
    return _analyse_code(file, _ParsedCode(data, tree.root_node, grammar, queries))


@dataclass(frozen=True, slots=True)
class _File:
    """A file to analyse. `language` is that of its path, `chunked` whether it is split."""

    path: str
    text: str
    lines: list[str]
    language: str
    kind: languages.FileKind
    chunked: bool


@dataclass(frozen=True, slots=True)
class _ParsedCode:
    """A file's syntax tree. `data` is the parsed text as UTF-8, line for line that of the file; `language` is the one
    it was parsed as."""

    data: bytes
    root: Node
    language: str
    queries: Tags


def parsed_as(path: str, text: str, language: str) -> tuple[str, str]:
    """The language that a code file is parsed as, and the text to parse: the file's, or only its scripts, the rest
    blanked.

    Args:
        path: the file.
        text: its text, with LF line ends.
        language: as `languages.language_of` names it.
    """
    script = script_of(text) if language in COMPONENTS else None
    if script is not None:
        return script.language, script.text
    in_cpp = language == "c" and path.endswith(".h") and _CPP_HEADER.search(text)
    return "cpp" if in_cpp else language, text


def header_in_cpp(path: str, data: bytes, tree: Tree, language: str, seconds: float) -> Tree | None:
    """The C++ tree of a header that has syntax errors as C but none as C++; None for any other file.

    Args:
        path: the file.
        data: its text as UTF-8.
        tree: its tree in the language that `parsed_as` gives.
        language: that language.
        seconds: time limit of the parser.
    """
    if language != "c" or not path.endswith(".h") or not tree.root_node.has_error:
        return None
    in_cpp = parse(data, "cpp", seconds)
    return in_cpp if in_cpp is not None and not in_cpp.root_node.has_error else None


def _analyse_unparsed(file: _File) -> FileAnalysis:
    """Analyse a file of a language without a grammar: documentation, configuration, a schema, or code as text."""
    path = file.path
    lines = file.lines
    language = file.language
    spans = _line_spans(file)
    symbols: tuple[Symbol, ...] = ()
    if file.kind == "schema":
        symbol_kind = "table" if language in ("sql", "prisma") else "type"
        symbols = tuple(
            Symbol(
                s.symbol.rsplit(".", 1)[-1], s.symbol, symbol_kind, path, s.start, s.end, _declaration_line(lines, s)
            )
            for s in spans
            if s.symbol
        )
    tables = _tables(file, language)
    return FileAnalysis(path, language, _chunks(file, spans), symbols, tables=tables, lines=len(lines))


def _analyse_code(file: _File, code: _ParsedCode) -> FileAnalysis:
    """Analyse a file by its syntax tree."""
    found = definitions(code.root, code.queries, file.path, code.data)
    statements = QueryCursor(code.queries.imports).captures(code.root)
    nodes = sorted(statements.get("import", ()), key=lambda n: n.start_byte)
    imports = tuple(i for node in nodes for i in read_imports(node, code.data, code.language))
    exports = (read_export(node, code.data) for node in statements.get("export", ()))
    imports += tuple(each for each in exports if each is not None)
    bound = {name for i in imports if i.module for name in i.bound}
    # `const x = require(…)` is an import, not a definition.
    found = [d for d in found if d.symbol.kind != "variable" or d.symbol.qualified not in bound]
    import_ranges = [(n.start_byte, n.end_byte) for n in nodes if n.type not in ("call_expression", "call")]
    bindings = Bindings(found, bound, import_ranges, code.language)
    names, passed = uses(code.root, code.queries, code.data, bindings)
    names += [Use(name, line, "table", _scope_at(found, line), "") for name, line in mentions(file.text)]
    symbols = tuple(
        sorted((d.symbol for d in found if d.symbol.kind != "impl"), key=lambda s: (s.start_line, -s.end_line))
    )
    broken = code.root.has_error
    return FileAnalysis(
        file.path,
        code.language,
        chunks=_chunks(file, _code_spans(file.lines, code, found) if file.kind == "code" else _line_spans(file))
        if file.chunked
        else (),
        symbols=symbols,
        uses=tuple(names),
        passed=tuple(passed),
        imports=imports,
        tables=_tables(file, code.language, symbols),
        package=next((_package_name(text_of(n, code.data)) for n in statements.get("package", ())), ""),
        parsed=not broken,
        lines=len(file.lines),
        notes=(i18n.message("code.syntax_errors"),) if broken else (),
    )


def _tables(file: _File, language: str, symbols: Sequence[Symbol] = ()) -> tuple[Table, ...]:
    return tuple(tables(file.path, file.text, language, symbols))


def _declaration_line(lines: Sequence[str], span: Span) -> str:
    """The first line of a span that names its symbol."""
    name = span.symbol.rsplit(".", 1)[-1]
    return next((line.strip()[:200] for line in lines[span.start - 1 : span.end] if name in line), "")


def _scope_at(found: Sequence[Definition], line: int) -> str:
    """The innermost definition around a line."""
    inner = innermost((each.symbol for each in found if not each.is_leaf), line)
    return inner.qualified if inner else ""


def _package_name(text: str) -> str:
    words = text.replace(";", " ").split()
    return words[-1] if words else ""


def _line_spans(file: _File) -> list[Span]:
    """Spans of a file found from its lines, without a syntax tree."""
    if file.kind == "code":
        return plain_spans(file.lines, "module")
    if file.kind == "doc":
        return doc_spans(file.lines, file.language)
    if file.kind == "config":
        return config_spans(file.lines)
    return schema_spans(file.lines, file.language)


def _code_spans(lines: list[str], code: _ParsedCode, found: Sequence[Definition]) -> list[Span]:
    """Spans of code: a definition with its comments is one, small neighbours are merged, classes of more than 60 lines
    are divided into their members, definitions of more than 80 lines are cut along their structure."""
    units = [d for d in found if not d.is_leaf]
    divider = _Divider(lines, code, units)
    return merged(divider.spans(1, len(lines), 0, len(units), _Owner("", "module")), lines)


class _Owner(NamedTuple):
    """The definition that is being divided, and the kind of chunk of the text between its members."""

    name: str
    kind: ChunkKind


@dataclass(frozen=True, slots=True)
class _Divider:
    """Divides the lines of a file among its definitions (`units`: inner ones directly after their outer one)."""

    lines: list[str]
    code: _ParsedCode
    units: list[Definition]

    def spans(self, first: int, last: int, begin: int, end: int, owner: _Owner) -> list[Span]:
        """Spans over lines `first..last`, which hold the units `begin..end` (exclusive)."""
        spans: list[Span] = []
        line = first
        while begin < end:
            unit = self.units[begin]
            following = self._after(begin, end)
            start = max(unit.symbol.start_line, line)
            stop = min(unit.symbol.end_line, last)
            if stop >= line:
                start = with_comments(self.lines, start, line)
                spans += self._between(line, start - 1, owner, header=bool(owner.name) and not spans)
                spans += self._unit(begin, following, start, stop, owner.name)
                line = stop + 1
            begin = following
        return spans + self._between(line, last, owner, header=bool(owner.name) and not spans)

    def _after(self, index: int, end: int) -> int:
        """The index of the first unit that isn't inside unit `index`."""
        limit = self.units[index].end_byte
        index += 1
        while index < end and self.units[index].start_byte < limit:
            index += 1
        return index

    def _unit(self, number: int, following: int, start: int, stop: int, owner: str) -> list[Span]:
        """Spans of one unit, which with its comments fills lines `start..stop`."""
        unit = self.units[number]
        symbol = unit.symbol
        size = stop - start + 1
        kind: ChunkKind = "class" if unit.is_class or symbol.kind == "type" else "function"
        if unit.is_class and size > _DIVIDED_CLASS and number + 1 < following:
            return self.spans(start, stop, number + 1, following, _Owner(symbol.qualified, "class"))
        if fits(self.lines, start, stop):
            return [Span(start, stop, kind, symbol.qualified, owner)]
        return [Span(a, b, kind, symbol.qualified, owner, fixed=True) for a, b in self._pieces(unit, start, stop)]

    def _pieces(self, unit: Definition, start: int, stop: int) -> list[tuple[int, int]]:
        """Parts of a definition that is too long for one chunk, as first and last line."""
        node = self.code.root.descendant_for_byte_range(unit.start_byte, unit.end_byte)
        grammar = languages.grammar(self.code.language) or self.code.language
        cut = structural_windows(self.code.data, node, start, stop, grammar) if node is not None else []
        return cut or windows(self.lines, start, stop, overlap=OVERLAP)

    def _between(self, first: int, last: int, owner: _Owner, header: bool) -> list[Span]:
        """Spans of the text between definitions. The head of a class (`header`) is not merged with what follows."""
        name, kind = owner
        whole = trimmed(Span(first, last, kind, name, name, fixed=header), self.lines) if first <= last else None
        if whole is None:
            return []
        parts = windows(self.lines, whole.start, whole.end)
        return [Span(a, b, kind, name, name, whole.fixed or len(parts) > 1) for a, b in parts]


def _chunks(file: _File, spans: Iterable[Span]) -> tuple[Chunk, ...]:
    chunks = []
    for span in spans:
        exact = trimmed(span, file.lines)
        if exact is None:
            continue
        lines = file.lines[exact.start - 1 : exact.end]
        if max(map(len, lines)) > MAX_LINE_CHARS:
            lines = [line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + " …" for line in lines]
        chunks.append(_chunk(file, exact, "\n".join(lines)))
    return tuple(chunks)


def _chunk(file: _File, span: Span, text: str) -> Chunk:
    content = f"{file.path}\0{span.start}\0{span.end}\0{text}".encode("utf-8", "replace")
    id_ = hashlib.blake2b(content, digest_size=12).hexdigest()
    return Chunk(id_, file.path, span.start, span.end, file.language, span.kind, span.symbol, text)
