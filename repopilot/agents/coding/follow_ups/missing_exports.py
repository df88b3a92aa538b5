"""New public names that a package doesn't export, where it exports the names beside them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_state import ChangedState
from repopilot.agents.coding.follow_ups.code_changes import CodeChanges
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit
from repopilot.code.python_ast import read_python
from repopilot.code.source_positions import Replacement, SourcePositions, line_at
from repopilot.types import Symbol

_FEWEST, _SHARE = 2, 0.5
"""How many of the names beside a new one must be exported, and which share of them."""
_RANK = 2
_SCRIPT_INDEX = ("index.ts", "index.tsx", "index.js", "index.mjs")


def missing_exports(state: ChangedState) -> Iterator[NeededEdit]:
    """Find the export lists that lack a new public name."""
    for code in state.code:
        added = [s for s in code.added if _public(s)]
        for symbol in added:
            beside = [s.name for s in code.before.values() if _public(s) and s.kind == symbol.kind]
            if code.path.endswith(".py"):
                yield from _in_all(code.path, state.text(code.path), symbol.name, beside)
                yield from _of_package(state, code, symbol, beside)
            elif code.path.endswith((".ts", ".tsx", ".js", ".mjs")):
                yield from _of_script_index(state, code, symbol, beside)


def _public(symbol: Symbol) -> bool:
    return "." not in symbol.qualified and not symbol.name.startswith("_") and symbol.kind in ("class", "function")


def _mostly(exported: Sequence[str], beside: Sequence[str]) -> bool:
    shared = len(set(exported) & set(beside))
    return shared >= _FEWEST and shared >= _SHARE * len(beside)


def _in_all(path: str, text: str, name: str, beside: Sequence[str]) -> Iterator[NeededEdit]:
    tree = read_python(text)
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not (isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node, ast.Assign)):
            continue
        listed = _strings(node.value)
        names = [str(item.value) for item in listed]
        if name not in names and _mostly(names, beside):
            spans = [SourcePositions(text).span(item) for item in listed]
            quote = text[spans[0][0]]
            spot = _inserted(text, f"{quote}{name}{quote}", name, names, spans)
            yield NeededEdit(path, line_at(text, spot.start), _reason("all", name, path), _RANK, spot)


def _strings(node: ast.expr) -> list[ast.Constant]:
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [item for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def _inserted(
    text: str, written: str, name: str, names: Sequence[str], spans: Sequence[tuple[int, int]]
) -> Replacement:
    """Where a name goes into a list: in alphabetical order if it is in one, else to its end."""
    starts = [start for start, _ in spans]
    before = next((n for n, other in enumerate(names) if other > name), None) if names == sorted(names) else None
    if before is not None:
        at = starts[before]
        return Replacement(at, at, f"{written}," + _gap(text, starts, at))
    at = spans[-1][1]
    return Replacement(at, at, "," + _gap(text, starts, starts[-1]) + written)


def _gap(text: str, starts: Sequence[int], at: int) -> str:
    """What separates items: a line break with the item's indentation where each has a line of its own."""
    line_start = text.rfind("\n", 0, at) + 1
    own_line = not text[line_start:at].strip()
    return "\n" + text[line_start:at] if own_line and len(starts) > 1 else " "


def _of_package(state: ChangedState, code: CodeChanges, symbol: Symbol, beside: Sequence[str]) -> Iterator[NeededEdit]:
    """The `__init__.py` of the module's package."""
    module = PurePosixPath(code.path)
    path = str(module.parent / "__init__.py")
    text = state.text(path) if module.name != "__init__.py" else ""
    tree = read_python(text)
    imports = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and f".{node.module}".endswith(f".{module.stem}")
        and node.names[0].name != "*"
    ]
    names = [alias.name for node in imports for alias in node.names]
    if not imports or symbol.name in names or not _mostly(names, beside):
        return
    spot = _import_spot(text, symbol.name, imports)
    yield NeededEdit(path, line_at(text, spot.start), _reason("package", symbol.name, path), _RANK, spot)
    yield from _in_all(path, text, symbol.name, beside)


def _import_spot(text: str, name: str, imports: Sequence[ast.ImportFrom]) -> Replacement:
    """The new import in the style of the old ones: a line each, or one list of names."""
    lines = text.split("\n")
    last = imports[-1]
    if len(imports) > 1 or (len(last.names) == 1 and last.lineno == last.end_lineno):
        after = [node for node in imports if node.names[0].name < name] or [imports[-1]]
        model = after[-1]
        alias = model.names[0]
        written = lines[model.lineno - 1 : model.end_lineno or model.lineno]
        new = re.sub(rf"\b{re.escape(alias.name)}\b(?!.*\bimport\b)", name, "\n".join(written))
        at = sum(len(line) + 1 for line in lines[: model.end_lineno or model.lineno])
        return Replacement(at, at, new + "\n")
    twice = all(alias.asname == alias.name for alias in last.names)
    spans = [SourcePositions(text).span(alias) for alias in last.names]
    shown = f"{name} as {name}" if twice else name
    return _inserted(text, shown, name, [alias.name for alias in last.names], spans)


def _of_script_index(
    state: ChangedState, code: CodeChanges, symbol: Symbol, beside: Sequence[str]
) -> Iterator[NeededEdit]:
    """The `index` of the module's folder: `export { A, B } from './module'`."""
    module = PurePosixPath(code.path)
    if not re.search(rf"\bexport\b[^\n]*\b{re.escape(symbol.name)}\b", code.new_text):
        return
    for name in _SCRIPT_INDEX:
        path = str(module.parent / name)
        text = state.text(path) if path != code.path else ""
        pattern = rf"export\s*\{{(?P<names>[^}}]*)\}}\s*from\s*['\"]\./{re.escape(module.stem)}(?:\.\w+)?['\"]"
        match = re.search(pattern, text)
        names = re.findall(r"[\w$]+(?=\s*(?:,|$))", match["names"]) if match else []
        if match and symbol.name not in names and _mostly(names, beside):
            at = match.start("names") + len(match["names"].rstrip().rstrip(","))
            spot = Replacement(at, at, ("," + _last_gap(match["names"]) + symbol.name))
            yield NeededEdit(path, line_at(text, at), _reason("package", symbol.name, path), _RANK, spot)


def _last_gap(names: str) -> str:
    gaps = re.findall(r",(\s+)\S", names)
    return gaps[-1] if gaps else " "


def _reason(key: str, name: str, path: str) -> str:
    return i18n.message(f"follow_ups.export_{key}", name=name, path=path)
