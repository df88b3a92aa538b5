"""Marks Python functions and classes as deprecated: whoever calls them is warned."""

from __future__ import annotations

import re

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.definitions.named_definition import (
    NamedDefinition,
    decorated,
    indent_of,
    line_end,
    named_symbol,
    project_of,
    python_definition,
)
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.members import docstring_of
from repopilot.agents.editing.exact.python.calls import FunctionPlace, function_definition, signature_of
from repopilot.agents.editing.exact.python.import_lines import WantedImport, add_import
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_NAME = r"`?(?P<{}>[A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`?"
_KIND = r"(?:the |la |le )?(?:(?:function|method|class|helper|fonction|m[ée]thode|classe) )?"
_INSTEAD = (
    r"(?:[,;:]? (?:(?:and )?(?:tell|ask) (?:people|users|callers) to use|in favou?r of|(?:and )?use|point(?:ing)? to|"
    rf"au profit de|en faveur de) {_KIND}{_NAME.format('new')}(?: instead)?)?"
)
_SAID = re.compile(
    rf"(?:(?:deprecate|d[ée]pr[ée]cie[rz]?) {_KIND}{_NAME.format('plain')}"
    rf"|(?:mark|marque[rz]?) {_KIND}{_NAME.format('marked')} (?:as |comme )?"
    r"(?:deprecated|obsol[èe]te|d[ée]pr[ée]ci[ée]e?)"
    rf"|{_KIND}{_NAME.format('subject')} (?:should|must|is to|needs to) be (?:marked (?:as )?)?deprecated)"
    rf"{_INSTEAD}",
    re.I,
)
_OTHER_WAYS = re.compile(rb"^\s*@(?:\w+\.)*\w*deprecat\w*|\b(?:\w*_)?(?:warn_)?deprecat\w*\(", re.M | re.I)
"""How a project may say it that has a way of its own."""
_WARNING = re.compile(rb"\bwarn\([^()]*(?:\([^()]*\)[^()]*)*\bDeprecationWarning\b")
_LONGEST_LINE = 88


def deprecation_wish(task: str) -> list[ExactTask]:
    """The definition that a task wants deprecated, with what is to be used instead; [] for other tasks.

    Args:
        task: on one line.
    """
    match = _SAID.fullmatch(task.strip().rstrip(".! "))
    if match is None:
        return []
    name = match["plain"] or match["marked"] or match["subject"]
    return [ExactTask("deprecate", name, new=match["new"] or "")]


def deprecate(task: ExactTask, sources: Sources) -> Patch | None:
    """Let a function, or a class's constructor, warn whoever calls it; the calls in the repository are left open.

    Args:
        task: of kind deprecate: the definition in `name`, what to use instead in `new`.
        sources: the files.

    Returns:
        The change; None for a generator, whose body doesn't run when it is called, for a class without a constructor,
        and in a project that marks deprecated code otherwise.

    Raises:
        PlaceAmbiguous: several definitions have the name.
        GenerationFailed: it is deprecated already, or nothing has one of the names.
    """
    symbol = named_symbol(task, sources)
    definition = python_definition(symbol, sources) if symbol is not None else None
    place = function_definition(project_of(sources), symbol.path, definition.node) if symbol and definition else None
    if definition is None or place is None or _has_other_ways(sources):
        return None
    source, body = definition.source, place.node.child_by_field_name("body")
    if body is None or _yields(body) or source.line_of(body.start_byte) == source.line_of(place.node.start_byte):
        return None
    if "DeprecationWarning" in source.slice(body):
        raise GenerationFailed(i18n.message("exact.deprecated_already", name=task.name, path=source.path))
    if task.new and not sources.workspace.index.symbols(task.new.rpartition(".")[2]):
        return None
    patch = Patch()
    project = project_of(sources)
    _warn(place.node, body, _message(definition, place, task.new), source, patch)
    add_import(project, source, WantedImport("warnings"), patch)
    for call in signature_of(project, place).calls:
        calling = sources.get(call.path)
        if calling is not None and not is_test_path(call.path):
            patch.leave_open(calling, call.arguments.start_byte, i18n.message("exact.open.deprecated"))
    patch.edits.append(Edit("change_function", source.path, definition.symbol.qualified))
    return patch


def _has_other_ways(sources: Sources) -> bool:
    """Whether code outside of tests marks something as deprecated by a decorator or a function, and nowhere warns."""
    names = ("deprecated", "deprecate", "DeprecationWarning")
    paths = dict.fromkeys(p for name in names for p in sources.mentioning(name, ("python",)) if not is_test_path(p))
    found = [source for path in paths if (source := sources.get(path)) is not None]
    if any(_WARNING.search(source.data) for source in found):
        return False
    return any(_OTHER_WAYS.search(source.data) for source in found)


def _yields(body: Node) -> bool:
    """Whether a function is a generator."""
    pending = [body]
    while pending:
        node = pending.pop()
        if node.type == "yield":
            return True
        pending += [c for c in node.children if c.type not in ("function_definition", "lambda", "class_definition")]
    return False


def _message(definition: NamedDefinition, place: FunctionPlace, instead: str) -> str:
    """What is said of a definition: with parentheses where it is called."""
    around = decorated(definition.node)
    texts = [definition.source.slice(c) for c in around.named_children if c.type == "decorator"]
    is_class = definition.node.id != place.node.id
    is_called = not is_class and not any(re.search(r"property\b", text) for text in texts)
    call = "()" if is_called else ""
    rest = f", use {instead}{call} instead" if instead else ""
    return f"{definition.symbol.qualified}{call} is deprecated{rest}"


def _warn(function: Node, body: Node, message: str, source: SourceText, patch: Patch) -> None:
    """Warn at the begin of a body, behind its docstring."""
    docstring = docstring_of(function)
    statements = [c for c in body.named_children if c.type != "comment"]
    indent = indent_of(source, statements[0])
    quote = "'" if source.data.count(b"'") > source.data.count(b'"') else '"'
    arguments = (f"{quote}{message}{quote}", "DeprecationWarning", "stacklevel=2")
    call = f"warnings.warn({', '.join(arguments)})"
    if len(indent) + len(call) > _LONGEST_LINE:
        call = "\n".join(("warnings.warn(", *(f"{indent}    {a}," for a in arguments), f"{indent})"))
    if docstring is not None:
        at = line_end(source, docstring.end_byte)
        blank = "\n" if source.data[at : at + 2] == b"\n\n" else ""
        patch.replace(source.path, at, at, f"{blank}\n{indent}{call}")
    else:
        at = body.named_children[0].start_byte
        patch.replace(source.path, at, at, f"{call}\n{indent}")
