"""The tool that renames a definition, with everything that must keep the same name."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic import Field

from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import TYPESCRIPT, dotted, file_kind, language_in, language_of
from repopilot.code.source_positions import line_at
from repopilot.errors import SeveralFit, UsageError
from repopilot.i18n import message
from repopilot.resolve.families import Ties, family_in
from repopilot.resolve.names import SYNTAX
from repopilot.resolve.python_families import is_private
from repopilot.resolve.python_scopes import PythonName, python_names, python_tree
from repopilot.resolve.uses.built_names import built_names
from repopilot.resolve.values import Family, NameSpan, Occurrence
from repopilot.tools import result_types
from repopilot.tools.definitions import IN_FILE, NAME, find_definition, name_at
from repopilot.tools.file_change import syntax_error
from repopilot.tools.refactoring import rename_by_server, rename_by_syntax
from repopilot.tools.refactoring.refactored import MOST_LISTED, Rest, applied, edited, line_of, result_of, rows_of
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.verifying.edit_check import observed
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

_FUNCTIONS = ("function", "method")


class RenameSymbol(Arguments):
    """A definition and its new name."""

    name: str = Field(description=NAME)
    new_name: str = Field(description="the new name, plain")
    path: str = Field("", description=IN_FILE)
    everywhere: bool = Field(False, description="also in comments, texts, documents, and on objects of unknown class")


@in_thread
def rename_symbol(arguments: RenameSymbol, context: ToolContext) -> ToolResult:
    """Rename a definition and all references to it, in place of many edits. Where the name stands otherwise is listed,
    and left as it is unless `everywhere` is true."""
    copy = context.working_copy
    symbol = _named(copy, _place(copy, arguments.name, arguments.path))
    owner = symbol.qualified.rpartition(".")[0]
    typed = dotted(arguments.name).rpartition(":")[2].rpartition(".")[0]
    around, _, new = dotted(arguments.new_name).rpartition(".")
    new = new if around in (owner, typed) else arguments.new_name
    arguments = arguments.model_copy(update={"new_name": new})
    if not new.isidentifier() or keyword.iskeyword(new):
        raise UsageError(message("refactor_tools.no_identifier", name=new))
    if symbol.name == new:
        raise UsageError(message("refactor_tools.same_name", name=new))
    for special in (symbol.name, new):
        if language_of(symbol.path) == "python" and re.fullmatch(r"__\w+__", special):
            raise UsageError(message("refactor_tools.special", name=special))
    taken = f"{owner}.{new}".lstrip(".")
    if any(s.qualified == taken for s in copy.workspace.index.outline(symbol.path)):
        raise UsageError(message("refactor_tools.taken", name=taken, path=symbol.path))
    if language_of(symbol.path) != "python":
        return _elsewhere(copy, symbol, arguments)
    return _in_python(copy, symbol, arguments)


def _place(copy: WorkingCopy, name: str, path: str) -> Symbol:
    """The definition, the first place of one that has several, or where a method of a Python class sets an attribute.

    Raises:
        UsageError: there is none or several.
    """
    try:
        return find_definition(copy, name, path)
    except SeveralFit as several:
        places = [find_definition(copy, choice) for choice in several.choices]
        if rename_by_syntax.is_one(copy, places):
            return places[0]
        raise
    except UsageError:
        owner, _, attribute = dotted(name).rpartition(".")
        found = None
        if owner:
            with suppress(UsageError):
                found = _attribute(copy, find_definition(copy, owner, path), attribute)
        if found is None:
            raise
        return found


def _attribute(copy: WorkingCopy, class_: Symbol, attribute: str) -> Symbol | None:
    """Where a method of a Python class sets an attribute, None for nowhere."""
    text = copy.resolver.text(class_.path) or ""
    for one in python_names(text, attribute) if language_of(class_.path) == "python" else ():
        home = one.member_of or (one.home if one.role == "bind" else None)
        if home is not None and home.qualified == class_.qualified:
            line = line_at(text, one.start)
            own = f"{class_.qualified}.{attribute}"
            return replace(class_, name=attribute, qualified=own, start_line=line, end_line=line)
    return None


def _named(copy: WorkingCopy, symbol: Symbol) -> Symbol:
    """The class, for a constructor with the class's name; any other definition itself."""
    owner = symbol.qualified.rpartition(".")[0]
    if owner.rpartition(".")[2] != symbol.name:
        return symbol
    of_class = _place(copy, owner, symbol.path)
    return of_class if rename_by_syntax.is_one(copy, (symbol, of_class)) else symbol


def _elsewhere(copy: WorkingCopy, symbol: Symbol, arguments: RenameSymbol) -> ToolResult:
    """Rename in languages other than Python, where the syntax or the language's server resolves all places."""
    new = arguments.new_name
    try:
        edits, known = rename_by_syntax.renamed(copy, symbol, new)
    except UsageError:
        by_server = rename_by_server.renamed(copy, symbol, new)
        if by_server is None:
            raise
        edits = by_server.edits
        known = by_server.left
    named = [one for one in copy.resolver.occurrences(symbol.name) if one.kind in ("text", "comment", "document")]
    named = [one for one in named if one.span not in edits and one not in known]
    read = [one for one in named if _is_read(copy, symbol, one)]
    if language_of(symbol.path) in TYPESCRIPT and copy.resolver.engine(symbol.path) != SYNTAX:
        # Types show that no other string is the name.
        read = [one for one in read if language_of(one.span.path) in ("javascript", "json")]
    left = rows_of(copy, (one.span for one in [*known, *read, *rename_by_syntax.read_by_programs(copy, symbol, named)]))
    if arguments.everywhere:
        settings = [one for one in named if file_kind(one.span.path) not in ("code", "doc")]
        edits |= {one.span: new for one in named if one not in settings}
        named = settings
    rows = [row for row in rows_of(copy, (one.span for one in named)) if row not in left]
    made = copy.edit(rename_by_syntax.new_texts(copy, symbol, new, edits))
    return result_of(copy, made, Rest(left, rows))


def _is_read(copy: WorkingCopy, symbol: Symbol, one: Occurrence) -> bool:
    """Whether a string or a key in data is the name of a class or member, by which the program may look it up."""
    text = copy.resolver.text(one.span.path) or ""
    before = text[max(0, one.span.start - 1) : one.span.start]
    after = text[one.span.end : one.span.end + 2]
    is_own = one.span.path == symbol.path and symbol.start_line - 3 <= one.line <= symbol.end_line
    is_text = before in ('"', "'", "`") and after[:1] == before
    is_key = file_kind(one.span.path) == "config" and after[:1] in (":", "=") and before not in ("-", ".", "/")
    looked_up = "." in symbol.qualified or symbol.kind not in ("function", "variable")
    return looked_up and not is_own and one.kind != "comment" and (is_text or is_key)


def _in_python(copy: WorkingCopy, symbol: Symbol, arguments: RenameSymbol) -> ToolResult:
    old = symbol.name
    new = arguments.new_name
    if syntax_error(symbol.path, copy.resolver.text(symbol.path) or "") is not None:
        raise UsageError(message("refactor_tools.no_parse", path=symbol.path))
    before = observed(copy, (old, new), language="python")
    ties = before.ties[old]
    family = family_in(ties, _definition(copy.resolver.text(symbol.path) or "", symbol))
    code = {one.span: one for one in copy.resolver.occurrences(old) if one.kind == "code"}
    unread = [path for path in sorted({s.path for s in code}) if _unread(path, before.texts[path] or "")]
    books = sorted(s for s in family.members if is_notebook(s.path))
    members = frozenset(s for s in family.members if s.path not in unread and s not in books)
    broken = [one for s, one in code.items() if s.path in unread]
    left = [*(code[s] for s in books), *_left(copy, family, ties, symbol, broken)]
    named = [one for one in (*ties.mentions, *_texts(family)) if one not in left]
    _require_server(copy, symbol, left)
    _require_one_class(copy, members, new)
    more: list[NameSpan] = []
    if arguments.everywhere:
        settings = [one for one in (*left, *named) if file_kind(one.span.path) not in ("code", "doc")]
        more = [one.span for one in (*left, *named) if one not in settings]
        left = settings
        named = []
    as_alias = dict.fromkeys(family.kept, f"{old} as {new}")
    texts = edited(copy, (dict.fromkeys([*members, *more], new) | as_alias).items())
    where = ", ".join(sorted(family.outside))
    rest = Rest(
        rows_of(copy, (one.span for one in left)),
        rows_of(copy, (one.span for one in named)),
        unread,
        message("refactor_tools.overrides", name=symbol.qualified, where=where) if where else "",
    )
    return applied(copy, texts, before, rest, {*unread, *(s.path for s in books)})


def _require_server(copy: WorkingCopy, symbol: Symbol, left: Sequence[Occurrence]) -> None:
    """Refuse to leave places that a language server would have resolved. Raises UsageError."""
    if left and (copy.resolver.engine(symbol.path) == SYNTAX or copy.resolver.notes):
        places = "\n".join(map(line_of, rows_of(copy, (one.span for one in left))[:MOST_LISTED]))
        said = message("refactor_tools.no_server", name=symbol.qualified, count=len(left))
        raise UsageError(said, message("refactor_tools.no_server_hint", places=places))


def _unread(path: str, text: str) -> bool:
    if is_notebook(path) or language_of(path) != "python":
        return False
    _, tree = python_tree(text)
    return (tree is None or tree.root_node.has_error) and syntax_error(path, text) is not None


def _definition(text: str, symbol: Symbol) -> NameSpan:
    """Where the name of a definition stands."""
    for one in python_names(text, symbol.name):
        line = line_at(text, one.start)
        if (one.role == "bind" or one.member_of) and symbol.start_line <= line <= symbol.end_line:
            return NameSpan(symbol.path, one.start, one.end)
    return name_at(text, symbol)


def _left(
    copy: WorkingCopy, family: Family, ties: Ties, symbol: Symbol, broken: Sequence[Occurrence]
) -> list[Occurrence]:
    """The unresolved places that may mean the definition, including those in files that can't be parsed."""
    known = _name_at(copy, _definition(copy.resolver.text(symbol.path) or "", symbol))
    kind = symbol.kind
    home = known.home.kind if known is not None and known.home is not None else "class"
    unsure = [one.occurrence for one in family.unsure if one.occurrence.kind == "code" and one.occurrence not in broken]
    unsure = [*unsure, *broken]
    unsure = [one for one in unsure if _can_mean(copy, one, home, is_field=kind not in _FUNCTIONS)]
    texts = [one for one in _texts(family) if home == "class" or kind == "class" or _is_dotted(copy, one)]
    dynamic = built_names(copy.resolver, symbol.name) if home in ("class", "module") else []
    return [*unsure, *texts, *dynamic, *(one for one in ties.mentions if _is_program(copy, one))]


def _require_one_class(copy: WorkingCopy, members: Iterable[NameSpan], new: str) -> None:
    """Refuse a private name, which Python mangles, where it is used in several classes, or in a class and outside.

    Raises:
        UsageError: the new name means something else somewhere.
    """
    if not is_private(new):
        return
    classes: dict[tuple[str, str] | None, NameSpan] = {}
    for span in sorted(members):
        known = _name_at(copy, span)
        scope = known.scope if known is not None else None
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        classes.setdefault((span.path, scope.qualified) if scope is not None else None, span)
    if len(classes) > 1:
        rows = [f"{s.path}:{line_at(copy.resolver.text(s.path) or '', s.start)}" for s in classes.values()]
        places = message("edit_check.places", places="\n".join(rows))
        raise UsageError(message("refactor_tools.private", name=new), places)


def _texts(family: Family) -> list[Occurrence]:
    """The strings that are the name, or a dotted name with it."""
    return [one.occurrence for one in family.unsure if one.occurrence.kind == "text"]


def _is_dotted(copy: WorkingCopy, one: Occurrence) -> bool:
    text = copy.resolver.text(one.span.path) or ""
    return (
        text[max(0, one.span.start - 1) : one.span.start] in (".", ":") or text[one.span.end : one.span.end + 1] == "."
    )


def _name_at(copy: WorkingCopy, span: NameSpan) -> PythonName | None:
    text = copy.resolver.text(span.path) or ""
    return next((n for n in python_names(text, text[span.start : span.end]) if n.start == span.start), None)


def _can_mean(copy: WorkingCopy, one: Occurrence, kind: str, *, is_field: bool) -> bool:
    """Whether an unresolved occurrence can be a member, a module's name or a local name, as `kind` says."""
    path = one.span.path
    if is_notebook(path):
        return kind in ("class", "module")
    if language_in(path, copy.resolver.text(path) or "") != "python":
        return False
    known = _name_at(copy, one.span)
    if known is None:
        return kind in ("class", "module")
    if kind == "class":
        return known.role in ("member", "pattern", "bind") or (known.role == "keyword" and is_field)
    if kind == "module" and known.role == "member":
        first = re.escape(known.object.split(".")[0])
        return (
            re.search(rf"^\s*(?:from|import)\b.*\b{first}\b", copy.resolver.text(one.span.path) or "", re.M) is not None
        )
    return kind == "module" and known.role != "keyword"


def _is_program(copy: WorkingCopy, one: Occurrence) -> bool:
    """Whether a program may read a mention: as part of a dotted name in configuration or a template."""
    if one.kind != "document" or file_kind(one.span.path) == "doc":
        return False
    return _is_dotted(copy, one)


TOOLS = (Tool("rename_symbol", RenameSymbol, "edit", rename_symbol, result_types.Refactored),)
