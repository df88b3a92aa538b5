"""The tools that look: search, files, definitions, uses and call paths, in the working copy with the edits so far."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from repopilot.code.chunks.spans import with_comments
from repopilot.code.languages import reads_symbols
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.index.store import Index
from repopilot.repo import history as past
from repopilot.repo.paths.path_globs import matches
from repopilot.resolve.uses import call_graph
from repopilot.retrieval import skipped_files
from repopilot.retrieval.query.parse import parse
from repopilot.tools import result_types
from repopilot.tools.definitions import find_definition, unknown_symbol
from repopilot.tools.looking.printed_places import PrintedPlace, numbered, told
from repopilot.tools.looking.text_lines import MatchingLines, matching_lines
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

MOST_ROWS = 60
"""Most rows of a list; those left out are counted."""
MOST_LINES = 200
"""Lines of code in one reply."""
MOST_MATCHES = 500
"""Matching lines in one reply."""
_MOST_PASSAGES = 20
_MOST_SIMILAR = 3
_MOST_DECORATORS = 3
_LONGEST_DECORATOR = 60
_QUOTED = re.compile(r"""(["'`])(.+)\1""")
_QUALIFIERS = re.compile(r"::|#")
NAME = "a name, Class.method or path:Symbol"


class Search(Arguments):
    """What to search for."""

    query: str = Field(description="a question, a name, a quoted string or a traceback")
    k: int = Field(4, description="the most places, 1 to 20")


class Grep(Arguments):
    """Which lines to list."""

    pattern: str = Field(description="a regular expression of Python, looked for in each line")
    glob: str = Field("*", description="which files; * matches folders, too, {a,b} either; a folder means all in it")
    regex: bool = Field(True, description="false takes the pattern as plain text")
    limit: int = Field(50, description="the most lines to list; all are counted")


class Files(Arguments):
    """Which files."""

    glob: str = Field("*", description="a pattern for paths; * matches folders, too, {a,b} either")


class Path(Arguments):
    """A file."""

    path: str = Field(description="relative to the repository")


class Read(Path):
    """Lines of a file."""

    start: int = Field(1, description="the first line")
    end: int = Field(MOST_LINES, description="the last line")


class DefinitionName(Arguments):
    """A definition."""

    name: str = Field(description=NAME)
    path: str = Field("", description="the file it is in, where several have the name")


@in_thread
def search(arguments: Search, context: ToolContext) -> ToolResult:
    """Find where something is when you don't know its name or place: the best places for a question or traceback, two
    of them with their lines. A name or a quoted string is looked up exactly."""
    from repopilot.retrieval.result_page import search_page

    k = arguments.k
    if not 1 <= k <= _MOST_PASSAGES:
        raise UsageError(message("tools.passages", k=k, most=_MOST_PASSAGES))
    workspace = context.working_copy.workspace
    index = workspace.index
    if exact := _exactly(context.working_copy, arguments.query.strip(), k, context.shown):
        return exact
    found = search_page(index, arguments.query, k, embedder=workspace.embedder, documentation=True)
    places = [
        PrintedPlace(each.path, each.start_line, each.end_line, each.title, tuple(line.number for line in each.lines))
        for each in found.places
    ]
    notes = [*found.notes, *([message("tools.more_places", most=_MOST_PASSAGES)] if found.more else [])]
    return told(index, places, notes or ([] if places else [message("tools.nothing_found")]), context.shown)


def _exactly(copy: WorkingCopy, query: str, k: int, shown: Collection[str]) -> ToolResult | None:
    """The places of a query that is a name or a quoted string; None for other queries, or where it stands nowhere."""
    index = copy.workspace.index
    quoted = _QUOTED.fullmatch(query)
    wanted = (quoted[2] if quoted else query).removesuffix("()")
    is_name = parse(wanted).names == (wanted,) or _in_file(index, wanted)[1] != ""
    if is_name and (defined := _defined(index, wanted)):
        places = [_place(index, each) for each in defined]
        uses = len(index.references(defined[0].name))
        notes = [message("tools.further_uses", count=uses, name=defined[0].name)] if uses else []
        left = [message("tools.more_rows", count=len(places) - MOST_ROWS)] if len(places) > MOST_ROWS else []
        return told(index, places[:MOST_ROWS], [*left, *notes], shown)
    if not quoted and (not is_name or (wanted.isalpha() and wanted.islower())):
        return None  # a lower-case word may be an ordinary word
    pattern = re.escape(wanted) if quoted else rf"(?<!\w){re.escape(wanted)}(?!\w)"
    found = matching_lines(copy, pattern, limit=2 * k)
    rows = [
        {"path": row["path"], "start_line": row["line"], "end_line": row["line"], "symbol": "", "text": row["text"]}
        for row in found.rows
    ]
    return ToolResult(_listed(found), {"places": rows, "notes": []}) if rows else None


@in_thread
def grep(arguments: Grep, context: ToolContext) -> ToolResult:
    """List every line that matches a pattern, in code, documents and configuration. For all places of a text or name,
    and to be sure that something is nowhere."""
    asked = arguments
    if not asked.pattern or not 1 <= asked.limit <= MOST_MATCHES:
        raise UsageError(message("tools.no_grep", limit=asked.limit, most=MOST_MATCHES))
    found = matching_lines(context.working_copy, asked.pattern, asked.glob, regex=asked.regex, limit=asked.limit)
    lines = [{name: row[name] for name in ("path", "line", "text")} for row in found.rows]
    data = {"lines": lines, "total": found.total, "files": len(found.counts), "searched": found.read}
    return ToolResult(_listed(found) or message("tools.no_line", pattern=asked.pattern, count=found.read), data)


def _listed(found: MatchingLines) -> str:
    """Lines with their places, and how many are left out."""
    rows = [f"{row['path']}:{row['line']}: {row['text']}" for row in found.rows]
    if found.total > len(rows):
        of_files = sorted(found.counts.items(), key=lambda each: -each[1])
        most = ", ".join(f"{path} {count}" for path, count in of_files[:_MOST_PASSAGES])
        rows.append(message("tools.more_lines", count=found.total - len(rows), total=found.total, most=most))
    return joined(rows, "\n") if rows else ""


@in_thread
def files(arguments: Files, context: ToolContext) -> ToolResult:
    """List the paths that match a pattern, to see how the repository is laid out."""
    glob = arguments.glob
    found = sorted(path for path in context.working_copy.workspace.index.files if matches(path, glob))
    data = {"paths": found[:MOST_ROWS], "left_out": max(0, len(found) - MOST_ROWS)}
    none = joined([message("tools.no_match", glob=glob), message("tools.glob_hint")])
    return ToolResult(join_rows(found) or none, data)


@in_thread
def outline(arguments: Path, context: ToolContext) -> ToolResult:
    """List the definitions of a file with lines, decorators and signatures. Before you read a long file."""
    path = arguments.path
    index = context.working_copy.workspace.index
    _require_file(index, path)
    found = index.outline(path)
    lines = index.rows(path)
    symbols: list[result_types.OutlineRow] = [
        {
            "name": s.qualified,
            "start_line": s.start_line,
            "end_line": s.end_line,
            "signature": s.short_signature or s.name,
            "decorators": _decorators(lines, _start(index, s, found, lines), s),
        }
        for s in found
    ]
    rows = [
        " ".join((f"{s.start_line}-{s.end_line}{'  ' * s.qualified.count('.')}", *row["decorators"], row["signature"]))
        for s, row in zip(found, symbols, strict=True)
    ]
    data = {"path": path, "symbols": symbols[:MOST_ROWS], "left_out": max(0, len(found) - MOST_ROWS)}
    language = index.files[path].language
    none = "tools.no_symbols" if reads_symbols(language) else "tools.no_symbols_of"
    return ToolResult(join_rows(rows) or message(none, path=path, language=language), data)


def _decorators(lines: Sequence[str], start: int, symbol: Symbol) -> list[str]:
    """The decorators of a definition that its signature doesn't show, from a line on."""
    found: list[str] = []
    open_brackets = 0
    for number, line in enumerate(lines[start - 1 : symbol.end_line - 1], start):
        if open_brackets > 0:
            found[-1] += f" {line.strip()}"
        elif line.lstrip().startswith("@"):
            found.append(line.strip())
        elif number < symbol.start_line:
            continue
        else:
            break
        open_brackets += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
    found = [each for each in found if each not in symbol.signature]
    more = [f"+{len(found) - _MOST_DECORATORS}"] if len(found) > _MOST_DECORATORS else []
    return [*(textwrap.shorten(each, _LONGEST_DECORATOR, placeholder="…") for each in found[:_MOST_DECORATORS]), *more]


@in_thread
def symbol(arguments: DefinitionName, context: ToolContext) -> ToolResult:
    """Show a definition whole, with its comment, when you know its name."""
    path = arguments.path
    name = arguments.name
    index = context.working_copy.workspace.index
    found = _defined(index, name, path)
    if not found:
        inside, last = _in_file(index, name)
        raise unknown_symbol(index, last or name, path or inside)
    places = [_place(index, each) for each in found[:MOST_ROWS]]
    left = [message("tools.more_rows", count=len(found) - MOST_ROWS)] if len(found) > MOST_ROWS else []
    return told(index, places, left, context.shown, MOST_LINES // len(places[:2]))


def _in_file(index: Index, name: str) -> tuple[str, str]:
    """The path and the name of `path:Symbol`; two empty strings for anything else."""
    path, _, last = name.rpartition(":")
    return (path, last) if path in index.files else ("", "")


def _defined(index: Index, name: str, path: str = "") -> list[Symbol]:
    """The definitions of a name; only those with exactly that qualified name where there are any."""
    inside, last = _in_file(index, name)
    path = path or inside
    name = _QUALIFIERS.sub(".", last or name).removesuffix("()")
    found = [s for s in index.symbols(name) if path in ("", s.path)]
    return [s for s in found if s.qualified == name] or found


def _place(index: Index, found: Symbol) -> PrintedPlace:
    lines = index.rows(found.path)
    return PrintedPlace(
        found.path, _start(index, found, index.outline(found.path), lines), found.end_line, found.qualified
    )


def _start(index: Index, symbol: Symbol, outline: Sequence[Symbol], lines: Sequence[str]) -> int:
    """The first line of a definition with the comment above it; in Python without it, since docstrings stand inside."""
    if index.files[symbol.path].language == "python":
        return symbol.start_line
    before = (s for s in outline if s.start_line < symbol.start_line)
    ends = (s.end_line if s.end_line < symbol.start_line else s.start_line for s in before)
    return with_comments(lines, symbol.start_line, max(ends, default=0) + 1)


@in_thread
def read(arguments: Read, context: ToolContext) -> ToolResult:
    """Read numbered lines of a file, when you know which you need."""
    path = arguments.path
    start = arguments.start
    end = arguments.end
    index = context.working_copy.workspace.index
    _require_file(index, path)
    if end == MOST_LINES < start:
        end = start + MOST_LINES - 1
    lines = (index.text(path) or "").removesuffix("\n").split("\n")
    if not 1 <= start <= len(lines) or end < start:
        raise UsageError(message("tools.lines", path=path, last=len(lines), start=start, end=end))
    last = min(end, start + MOST_LINES - 1, len(lines))
    shown = lines[start - 1 : last]
    head = message("tools.of_lines", path=path, start=start, end=last, total=len(lines))
    cut = [message("tools.read_on", most=MOST_LINES, next=last + 1)] if last < min(end, len(lines)) else []
    text = joined([head, numbered(shown, start), *cut], "\n")
    return ToolResult(text, {"path": path, "start_line": start, "end_line": last, "total": len(lines), "lines": shown})


def _require_file(index: Index, path: str) -> None:
    if path not in index.files:
        if why := skipped_files.reason(index, path):
            raise UsageError(message("retrieval.skipped_file", path=path, reason=why))
        name = path.rpartition("/")[2]
        similar = [p for p in index.files if p.endswith(name)][:_MOST_SIMILAR] if name else []
        hint = message("tools.similar_files", paths=", ".join(similar)) if similar else ""
        raise UsageError(message("tools.unknown_file", path=path), hint)


def join_rows(rows: Sequence[str]) -> str:
    """Rows as lines, at most MOST_ROWS, and how many more there are."""
    more = [message("tools.more_rows", count=len(rows) - MOST_ROWS)] if len(rows) > MOST_ROWS else []
    return joined([*rows[:MOST_ROWS], *more], "\n") if rows else ""


class Related(Arguments):
    """A definition, and how far from it to look."""

    name: str = Field(description=NAME)
    depth: int = Field(1, description="how many hops to follow, 1 to 5")


class PastOf(Arguments):
    """Whose past."""

    path: str = Field("", description="a file; empty for the whole repository")
    name: str = Field("", description="a definition, whose file is meant")
    limit: int = Field(10, ge=1, le=100, description="the most commits")


class CallPath(Arguments):
    """Two ends of a path."""

    start: str = Field(description=NAME)
    end: str = Field(description=NAME)


@in_thread
def references(arguments: Related, context: ToolContext) -> ToolResult:
    """List every place where a name is used, with its line. Before you change or remove it."""
    return _related(context, arguments, call_graph.references)


@in_thread
def callers(arguments: Related, context: ToolContext) -> ToolResult:
    """List which definitions call, use or inherit from one, sure and unsure apart. To see whom a change concerns."""
    return _related(context, arguments, call_graph.callers)


@in_thread
def callees(arguments: Related, context: ToolContext) -> ToolResult:
    """List what a definition itself calls, uses or inherits from. To see what it relies on."""
    return _related(context, arguments, call_graph.callees)


@in_thread
def call_path(arguments: CallPath, context: ToolContext) -> ToolResult:
    """Show how one definition reaches another through calls, uses and imports, when you know both ends."""
    steps = call_graph.call_path(context.working_copy.workspace.index, arguments.start, arguments.end)
    text = "\n".join(map(str, steps)) or message("tools.no_path", start=arguments.start, end=arguments.end)
    return ToolResult(text, {"steps": list(map(asdict, steps))})


@in_thread
def history(arguments: PastOf, context: ToolContext) -> ToolResult:
    """List the last commits, of a file or of a definition's file: when, who, what. For why code is as it is."""
    rows = _commits(arguments, context)
    text = "\n".join(f"{row['sha'][:10]} {row['date']} {row['author']}: {row['subject']}" for row in rows)
    return ToolResult(text or message("look_tools.no_history"), {"commits": rows})


def _commits(arguments: PastOf, context: ToolContext) -> list[dict[str, str]]:
    workspace = context.workspace
    path = arguments.path
    if arguments.name:
        path = find_definition(context.working_copy, arguments.name, path).path
    elif path and path not in workspace.index.files:
        raise UsageError(message("tools.unknown_file", path=path))
    known = workspace.index.commits or past.commits(workspace.snapshot, workspace.settings.history_commits)
    found = [c for c in past.follow_renames(known) if not path or path in c.paths][: arguments.limit]
    authors = past.commit_authors(workspace.snapshot, [commit.sha for commit in found])
    return [
        {
            "sha": commit.sha,
            "date": datetime.fromtimestamp(commit.at, UTC).date().isoformat(),
            "author": authors.get(commit.sha, ""),
            "subject": commit.subject,
        }
        for commit in found
    ]


def _related(
    context: ToolContext, arguments: Related, find: Callable[[Index, str, int, Resolver], call_graph.Relations]
) -> ToolResult:
    """Places related to a definition, sure and unsure ones apart."""
    workspace = context.working_copy.workspace
    index = workspace.index
    name = arguments.name
    found = find(index, name, arguments.depth, workspace.resolver)
    sure = [each for each in found.places if each.sure]
    unsure = [each for each in found.places if not each.sure]
    uses = find is not call_graph.callees
    rows: list[str] = [join_rows([each.row(uses=uses) for each in sure])] if sure else []
    if not sure:
        nothing = call_graph.unused(index, name, found.usage) if uses else message("tools.uses_nothing", name=name)
        rows.append(nothing)
    if unsure:
        listed = join_rows([each.row(uses=uses) for each in unsure])
        rows += [message("look_tools.unsure", count=len(unsure)), listed]
    rows += list(found.usage.notes) if found.usage is not None else []
    data = {"sure": list(map(asdict, sure)), "unsure": list(map(asdict, unsure))}
    return ToolResult(joined(rows, "\n"), data)


TOOLS = (
    Tool("search", Search, "look", search, result_types.CodePlaces),
    Tool("grep", Grep, "look", grep, result_types.MatchedLines),
    Tool("files", Files, "look", files, result_types.MatchingPaths),
    Tool("outline", Path, "look", outline, result_types.Outline),
    Tool("read", Read, "look", read, result_types.Lines),
    Tool("symbol", DefinitionName, "look", symbol, result_types.CodePlaces),
    Tool("references", Related, "look", references, result_types.RelatedPlaces),
    Tool("callers", Related, "look", callers, result_types.RelatedPlaces),
    Tool("callees", Related, "look", callees, result_types.RelatedPlaces),
    Tool("call_path", CallPath, "look", call_path, result_types.CallSteps),
    Tool("history", PastOf, "look", history, result_types.Commits),
)
