"""Gives a new test the style of its module: unittest assertions, quotes. Pure."""

from __future__ import annotations

import ast
import io
import tokenize

from repopilot.code.python_ast import parse_python

_UNITTEST: dict[type[ast.cmpop], str] = {
    ast.Eq: "assertEqual",
    ast.NotEq: "assertNotEqual",
    ast.Is: "assertIs",
    ast.IsNot: "assertIsNot",
    ast.In: "assertIn",
    ast.NotIn: "assertNotIn",
}


def in_unittest_style(source: str) -> str:
    """The test with `self.assertEqual(a, b)` for `assert a == b` and `self.assertRaises` for `pytest.raises`."""
    lines = source.split("\n")
    for node in reversed(list(ast.walk(parse_python(source)))):
        if isinstance(node, ast.Assert) and node.lineno == node.end_lineno and node.msg is None:
            line = lines[node.lineno - 1]
            indent = line[: len(line) - len(line.lstrip())]
            lines[node.lineno - 1] = indent + _unittest_call(node.test, source)
    return "\n".join(lines).replace("pytest.raises(", "self.assertRaises(")


def _unittest_call(test: ast.expr, source: str) -> str:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _UNITTEST:
        sides = [ast.get_source_segment(source, side) for side in (test.left, test.comparators[0])]
        return f"self.{_UNITTEST[type(test.ops[0])]}({sides[0]}, {sides[1]})"
    return f"self.assertTrue({ast.get_source_segment(source, test)})"


def in_quotes_of(module: str, source: str) -> str:
    """The test with the quotes that its module prefers; texts that hold a quote or a backslash stay."""
    wanted = '"' if module.count('"') >= module.count("'") else "'"
    other = "'" if wanted == '"' else '"'
    lines = source.split("\n")
    for token in reversed(_texts(source)):
        body = token.string.lstrip("rbuRBU")
        plain = body[1:-1]
        if body[:1] == other and body[:3] != other * 3 and not {wanted, other, "\\"} & set(plain):
            row, first, last = token.start[0] - 1, token.start[1], token.end[1]
            prefix = token.string[: len(token.string) - len(body)]
            lines[row] = f"{lines[row][:first]}{prefix}{wanted}{plain}{wanted}{lines[row][last:]}"
    return "\n".join(lines)


def _texts(source: str) -> list[tokenize.TokenInfo]:
    """The string literals on one line; none where the source can't be read."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return []
    return [t for t in tokens if t.type == tokenize.STRING and t.start[0] == t.end[0]]
