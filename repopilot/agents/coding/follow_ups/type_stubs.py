"""Type stubs beside a Python module that still have an old signature."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_callers import named_function
from repopilot.agents.coding.follow_ups.changed_state import ChangedState
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit, Replacement
from repopilot.agents.coding.follow_ups.python_calls import Offsets, parameters

_RANK = 2


def type_stubs(state: ChangedState) -> Iterator[NeededEdit]:
    """Find the definitions of a module's `.pyi` file that differ from it since the change."""
    for code in state.code:
        path = f"{code.path}i"
        text = state.text(path) if code.path.endswith(".py") else ""
        for old, new in code.signatures if text else ():
            stub, written = named_function(text, old.qualified), named_function(code.new_text, new.qualified)
            if stub is None or written is None or _names(stub) == _names(written):
                continue
            reason = i18n.message("follow_ups.stub", name=old.qualified)
            yield NeededEdit(path, stub.lineno, reason, _RANK, _replacement(text, stub, written))


def _names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, str, bool]]:
    return [(p.name, p.kind, p.required) for p in parameters(function, False)]


def _replacement(
    text: str, stub: ast.FunctionDef | ast.AsyncFunctionDef, written: ast.FunctionDef | ast.AsyncFunctionDef
) -> Replacement | None:
    """The new signature in place of the old one; None where the code doesn't say the types."""
    arguments = [*written.args.posonlyargs, *written.args.args, *written.args.kwonlyargs]
    if not all(a.annotation or a.arg in ("self", "cls") for a in arguments) or len(stub.body) != 1:
        return None
    offsets = Offsets(text)
    start = offsets.at(stub.lineno, stub.col_offset)
    returned = f" -> {ast.unparse(written.returns)}" if written.returns else ""
    word = "async def" if isinstance(stub, ast.AsyncFunctionDef) else "def"
    head = f"{word} {stub.name}({ast.unparse(written.args)}){returned}: ..."
    end = offsets.at(stub.end_lineno or stub.lineno, stub.end_col_offset or 0)
    return Replacement(start, end, head)
