"""Options and subcommands that Python declares with argparse, click and typer, read from its syntax tree. Pure.

Options that several commands share are given the owner `@name` of the function, list or parser that adds them, and a
command that uses those a declaration of that name: `command_line.of_command` puts them together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from repopilot.code.python_ast import parse_python

Found = tuple[int, str, str, str, str, str]
"""(line, kind, name, help, owner, other spellings)"""

_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_python(text: str) -> Iterator[Found]:
    """The options and commands of a module, in no order; nothing of one that isn't valid Python."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if "add_argument" in text or "add_parser" in text or "add_option" in text:
        yield from _argparse(tree.body, {})
    if "click" in text or "typer" in text:
        yield from _click(tree)


def flags(names: Sequence[str]) -> tuple[str, str]:
    """The long name first, and the other spellings."""
    ordered = sorted(names, key=lambda name: (not name.startswith("--"), names.index(name)))
    return ordered[0], ", ".join(ordered[1:])


def _argparse(statements: Iterable[ast.AST], known: dict[str, str]) -> Iterator[Found]:
    """What statements declare in their order; `known` are the commands of the variables so far."""
    for node in statements:
        if isinstance(node, _Function):
            parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in ("self", "cls")]
            yield from _argparse(node.body, {**known, **dict.fromkeys(parameters, f"@{node.name}")})
            continue
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = ast.unparse(node.targets[0])
            known[target] = _owner_of(node.value, target, known)
        for child in ast.iter_child_nodes(node):
            yield from _calls(child, known) if isinstance(child, ast.expr) else _argparse([child], known)


def _owner_of(call: ast.Call, target: str, known: Mapping[str, str]) -> str:
    """The command that a new parser or group of options belongs to."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method == "add_parser":
        return _text(call.args[0]) if call.args else ""
    if method in _GROUPS and isinstance(call.func, ast.Attribute):
        return known.get(ast.unparse(call.func.value), "")
    without_help = any(k.arg == "add_help" and not getattr(k.value, "value", True) for k in call.keywords)
    return f"@{target}" if _last_name(call).endswith("ArgumentParser") and without_help else ""


def _calls(node: ast.expr, known: Mapping[str, str]) -> Iterator[Found]:
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        name = _last_name(call)
        names = _leading_texts(call.args)
        if name == "add_parser" and names:
            yield call.lineno, "command", names[0], _help(call), "", ""
            parents = next((k.value for k in call.keywords if k.arg == "parents"), None)
            for parent in parents.elts if isinstance(parents, ast.List | ast.Tuple) else ():
                yield call.lineno, "option", f"@{ast.unparse(parent)}", "", names[0], ""
        elif name in ("add_argument", "add_option") and isinstance(call.func, ast.Attribute):
            if names and all(re.fullmatch(r"-{0,2}[\w?#][\w.:-]*", n) for n in names):
                long, form = flags(names)
                yield call.lineno, "option", long, _help(call), known.get(ast.unparse(call.func.value), ""), form
        elif not isinstance(call.func, ast.Call):
            for argument in call.args:
                owner = known.get(ast.unparse(argument), "") if isinstance(argument, ast.Name | ast.Attribute) else ""
                if owner and owner != f"@{name}":
                    yield call.lineno, "option", f"@{name}", "", owner, ""


def _click(tree: ast.Module) -> Iterator[Found]:
    decorators = set()
    for function in (n for n in ast.walk(tree) if isinstance(n, _Function)):
        command = next((c for d in function.decorator_list if (c := _command_name(d, function))), "")
        if command:
            line = function.lineno
            yield line, "command", command, (ast.get_docstring(function) or "").split("\n\n")[0], "", ""
            yield from _parameters(function, command)
        for decorator in function.decorator_list:
            if _is_option(decorator):
                decorators.add(decorator)
                yield from _option(decorator, command)
            elif command and not _command_name(decorator, function):
                yield decorator.lineno, "option", f"@{_last_name(decorator)}", "", command, ""
    yield from _shared(tree, decorators)


def _shared(tree: ast.Module, decorators: set[ast.expr]) -> Iterator[Found]:
    """The options that lists and decorators of the module hold, and which of those use others."""
    named: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, _Function):
            named[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named |= {t.id: node for t in targets if isinstance(t, ast.Name)}
    options = {
        name: [n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_option(n) and n not in decorators]
        for name, node in named.items()
    }
    uses = {
        name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in named and n.id != name}
        for name, node in named.items()
    }
    holding = {name for name, found in options.items() if found}
    while more := {name for name, used in uses.items() if used & holding} - holding:
        holding |= more
    for name in holding:
        for option in options[name]:
            yield from _option(option, f"@{name}")
        for used in uses[name] & holding:
            yield named[name].lineno, "option", f"@{used}", "", f"@{name}", ""


def _command_name(decorator: ast.expr, function: _Function) -> str:
    """The command that a decorator makes of a function; '' for none."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(called, ast.Attribute) or called.attr not in ("command", "group"):
        return ""
    if isinstance(decorator, ast.Call):
        given = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "name")]
        named = next((t for g in given if (t := _text(g))), "")
        if named:
            return named
    return re.sub(r"_(?:command|cmd|group)$", "", function.name).replace("_", "-")


def _is_option(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node) in ("option", "argument")


def _option(call: ast.expr, owner: str) -> Iterator[Found]:
    assert isinstance(call, ast.Call)
    names = [part.strip() for name in _leading_texts(call.args) for part in name.split("/") if part.strip()]
    chosen = [name for name in names if name.startswith("-")] or names[:1]
    if chosen:
        name, form = flags(chosen)
        yield call.lineno, "option", name, _help(call), owner, form


def _parameters(function: _Function, command: str) -> Iterator[Found]:
    """The options that typer makes of parameters: `force: bool = typer.Option(False, "--force")`."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(
        (*positional, *arguments.kwonlyargs), (*defaults, *arguments.kw_defaults), strict=True
    ):
        spots = [n for n in (default, argument.annotation) if n is not None]
        calls = [n for spot in spots for n in ast.walk(spot) if isinstance(n, ast.Call) and _last_name(n) == "Option"]
        if calls:
            names = [t for a in calls[0].args if (t := _text(a)).startswith("-")]
            written = [part for name in names for part in name.split("/")]
            name, form = flags(written or [f"--{argument.arg.replace('_', '-')}"])
            yield argument.lineno, "option", name, _help(calls[0]), command, form


def _leading_texts(arguments: Sequence[ast.expr]) -> list[str]:
    found = []
    for argument in arguments:
        if not (text := _text(argument)):
            break
        found.append(text)
    return found


def _last_name(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _help(call: ast.Call) -> str:
    return next((_text(k.value) for k in call.keywords if k.arg in ("help", "description")), "")


def _text(node: ast.expr) -> str:
    """The text of a string, of one that is translated, or of what is constant in a formatted one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right) if isinstance(node.op, ast.Add) else _text(node.left)
    return _text(node.args[0]) if isinstance(node, ast.Call) and len(node.args) == 1 else ""
