"""Which definition a tool is asked about, and where else its name stands."""

from __future__ import annotations

import difflib
import re

import numpy as np

from repopilot.code.languages import dotted
from repopilot.errors import SeveralFit, UsageError
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.uses.usage import name_span
from repopilot.resolve.values import NameSpan
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import Symbol

NAME = "the definition, plain or Class.method"
IN_FILE = "the file that defines it, where several have the name"
LONGEST_LINE = 120
MOST_NAMED = 20


def find_definition(copy: WorkingCopy, name: str, path: str = "") -> Symbol:
    """The one definition of a name. Blocking.

    Args:
        copy: the working copy.
        name: plain, `Class.method`, `module.Class` or `path:Symbol`, in the notation of any language.
        path: the file that defines it, '' for any.

    Raises:
        UsageError: there is none or several; the hint says which there are.
    """
    name = dotted(name)
    if ":" in name and not path:
        path, _, name = name.rpartition(":")
    found = _symbols(copy, name, path)
    if len(found) == 1:
        return found[0]
    if found:
        choices = tuple(f"{s.path}:{s.qualified}" for s in found[:MOST_NAMED])
        hint = message("refactor_tools.choose", names=", ".join(choices))
        raise SeveralFit(message("refactor_tools.several", name=name), hint, choices)
    raise unknown_symbol(copy.workspace.index, name, path)


def _symbols(copy: WorkingCopy, name: str, path: str) -> list[Symbol]:
    index = copy.workspace.index
    known = index.outline(path) if path else index.symbols(name.rpartition(".")[2])
    exact = [s for s in known if s.qualified == name]
    inside = exact or [s for s in known if s.name == name or s.qualified.endswith(f".{name}")]
    return _first_of_overloads(inside or ([] if path else index.symbols_in(name)))


def _first_of_overloads(found: list[Symbol]) -> list[Symbol]:
    """One symbol for each path and qualified name: the last one, but a method rather than a field."""
    found = sorted(found, key=lambda s: s.kind != "field")
    return list({(s.path, s.qualified): s for s in found}.values())


def unknown_symbol(index: Index, name: str, path: str = "") -> UsageError:
    """The error for a name that no definition has; the hint names the most similar ones."""
    files = [path] if path else list(index.files)[:2000]
    known = sorted({each for file in files for s in index.outline(file) for each in (s.name, s.qualified)})
    near = difflib.get_close_matches(name, known, 3, 0.6)
    hint = message("tools.there_are", names=", ".join(near)) if near else message("tools.unknown_symbol_hint")
    key = "tools.unknown_symbol_in" if path else "tools.unknown_symbol"
    return UsageError(message(key, name=name, path=path), hint)


def name_at(text: str, symbol: Symbol) -> NameSpan:
    """Where the name of a definition stands in its file.

    Raises:
        UsageError: it isn't there.
    """
    found = name_span(text, symbol)
    if found is None:
        raise UsageError(message("tools.unknown_symbol_in", name=symbol.name, path=symbol.path))
    return found


def files_with(name: str, index: Index) -> list[str]:
    """The files that have a name anywhere: in code, comments or strings. Blocking."""
    lexical = index.lexical
    token = next(iter(expand(name)), "")
    if token not in lexical.tokens:
        return []
    rows = np.concatenate([postings.of(lexical.tokens[token])[0] for postings in lexical.fields.values()])
    files = (lexical.files[number] for number in sorted(set(lexical.file_of[rows].tolist())))
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [path for path in files if word.search(index.text(path) or "")]
