"""Turns the doctest examples of a docstring into tests: exact, without a model. Pure."""

from __future__ import annotations

import ast
import doctest
import textwrap
from collections.abc import Sequence

from repopilot.code.mutation.mutants import functions_of
from repopilot.code.python_ast import parse_expression, parse_python


def doctest_body(text: str, symbol: str, call: str) -> str:
    """The body of a test that checks the examples of a definition's docstring.

    Args:
        text: of the module.
        symbol: the qualified name of the definition.
        call: how the test writes it; examples that write it by its own name are changed to that.

    Returns:
        Lines without indentation; '' where there are no examples, or one of them prints, skips or can't be checked.
    """
    try:
        tree = parse_python(text)
        classes = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == symbol)
        nodes = [*classes, *(n for n in functions_of(tree, symbol) if n.name == symbol.rpartition(".")[2])]
        documentation = next((doc for n in nodes if (doc := ast.get_docstring(n))), "")
        examples = doctest.DocTestParser().get_examples(documentation)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    written = [_checked(example) for example in examples]
    if not any(example.want for example in examples) or not all(written):
        return ""
    body = "\n".join(written)
    return _with_call(body, symbol.partition(".")[0], call.removesuffix(symbol[len(symbol.partition(".")[0]) :]))


def _checked(example: doctest.Example) -> str:
    """The lines for one example; '' where it can't be said as an assertion."""
    source, want = example.source.strip(), example.want.strip()
    if example.options or ("..." in want and not example.exc_msg):
        return ""
    if example.exc_msg:
        name = example.exc_msg.partition(":")[0].strip().rpartition(".")[2]
        return f"with pytest.raises({name}):\n{textwrap.indent(source, '    ')}"
    if not want:
        return source
    try:
        expression = parse_expression(source).body
    except SyntaxError:
        return ""
    if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "print":
        return ""
    try:
        value = ast.literal_eval(want)
    except (ValueError, SyntaxError):
        return f"assert repr({source}) == {want!r}" if "\n" not in want else ""
    return f"assert {source} {'is' if value is None or isinstance(value, bool) else '=='} {want}"


def _with_call(body: str, name: str, call: str) -> str:
    """The body with a name written as the test module knows it, for example `click.echo` for `echo`."""
    if call == name:
        return body
    try:
        tree = parse_python(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    places = [(n.lineno, n.col_offset) for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
    lines: Sequence[str] = body.split("\n")
    changed = list(lines)
    for line, column in sorted(places, reverse=True):
        data = changed[line - 1].encode()
        changed[line - 1] = (data[:column] + call.encode() + data[column + len(name.encode()) :]).decode()
    return "\n".join(changed)
