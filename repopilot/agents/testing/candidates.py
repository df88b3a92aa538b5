"""Candidate programs as text: found in a model's reply, checked, compared, and one function replaced. Pure."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Iterator, Sequence

from repopilot import i18n
from repopilot.code.python_ast import (
    DEFINITIONS,
    FUNCTIONS,
    first_line,
    parse_python,
    parses,
    python_lines,
    read_python,
)
from repopilot.code.source_positions import rows_of
from repopilot.foreign_text import FENCED


def code_in_reply(reply: str) -> str:
    """The Python program of a model's reply.

    Returns:
        The longest fenced block that parses. Without fences, the reply if it parses; where no block parses, the longest
        one, without its last definition where the reply was cut off inside that. '' when there is no code.
    """
    blocks = python_blocks(reply)
    parsed = [block for block in blocks if parses(block)]
    if parsed:
        return max(parsed, key=len)
    if not blocks:
        program = reply.strip() + "\n"
        return program if parses(program) and parse_python(program).body and public_names(program) else ""
    return _without_cut_off_end(max(blocks, key=len))


def python_blocks(text: str) -> list[str]:
    """The fenced blocks of a text that are Python or of no named language."""
    return [block for language, block in fenced_blocks(text) if language in ("", "python", "py", "python3")]


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a text that aren't blank, each after the name of its language, '' for none."""
    found = ((m["label"].lower(), textwrap.dedent(m["code"])) for m in FENCED.finditer(text))
    return [(language, block.strip("\n") + "\n") for language, block in found if block.strip()]


def without_blocks(text: str) -> str:
    """A text without its fenced blocks."""
    return FENCED.sub("", text)


def imports(code: str) -> Iterator[tuple[str, set[str]]]:
    """The modules that a program imports by their whole names, each with the names that are imported from it."""
    for node in ast.walk(read_python(code)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, set[str]()) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, {alias.name for alias in node.names}


def public_names(code: str) -> tuple[str, ...]:
    """Names of top-level functions and classes that don't begin with an underscore; () for bad syntax."""
    return tuple(n.name for n in read_python(code).body if isinstance(n, DEFINITIONS) and not n.name.startswith("_"))


def names_written(code: str) -> tuple[str, ...]:
    """The public names that code defines at the beginning of lines; it needn't parse."""
    return tuple(re.findall(r"^(?:async +def|def|class) +([^\W_]\w*)", code, re.M))


def problem_of(candidate: str, wanted: Sequence[str]) -> str:
    """Why a candidate is not worth running, '' when it is. `wanted` are the names it must define."""
    if not candidate.strip():
        return i18n.message("testing.iteration.no_code")
    if not parses(candidate):
        return i18n.message("testing.iteration.invalid")
    defined = {name for node in parse_python(candidate).body for name in _names_bound(node)}
    missing = [name for name in wanted if name not in defined]
    return i18n.message("testing.iteration.undefined", names=", ".join(missing)) if missing else ""


def same_program(one: str, other: str) -> bool:
    """Whether two programs are equal apart from comments and layout."""
    if not (parses(one) and parses(other)):
        return one.strip() == other.strip()
    return ast.dump(parse_python(one)) == ast.dump(parse_python(other))


def signatures(code: str) -> str:
    """The public interface: classes and functions with their docstrings, without bodies; '' for bad syntax."""
    return "\n\n".join(_signature(node) for node in read_python(code).body if isinstance(node, DEFINITIONS))


def function_names(code: str, prefix: str = "") -> tuple[str, ...]:
    """Qualified names of the functions and methods whose own name begins with `prefix`; () for bad syntax."""
    return tuple(name for name, node in _functions(code) if node.name.startswith(prefix))


def function_at(code: str, line: int) -> str:
    """The qualified name of the innermost function around a line (1-based), '' outside of any."""
    around = [(name, node) for name, node in _functions(code) if first_line(node) <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda pair: pair[1].lineno)[0] if around else ""


def replace_function(code: str, symbol: str, reply: str) -> str:
    """`code` with one function replaced by the one of the same name in `reply`; every other byte stays.

    Args:
        code: the program.
        symbol: the qualified name of the function to replace.
        reply: a program that holds the new function.

    Returns:
        The new program, '' when either function is missing.
    """
    old = dict(_functions(code)).get(symbol)
    name = symbol.rpartition(".")[2]
    new = next((node for key, node in _functions(reply) if key.rpartition(".")[2] == name), None)
    if old is None or new is None:
        return ""
    text = _source(reply, new)
    indented = re.sub(r"^(?=.*\S)", " " * old.col_offset, textwrap.dedent(text), flags=re.M)
    lines = python_lines(code)
    return "".join([*lines[: first_line(old) - 1], indented + "\n", *lines[old.end_lineno :]])


def function_source(code: str, symbol: str) -> str:
    """The text of a function by its name or `Class::name`, '' when it isn't there."""
    wanted = symbol.replace("::", ".")
    node = dict(_functions(code)).get(wanted)
    return _source(code, node) if node else ""


def without_definitions(code: str, names: Sequence[str]) -> str:
    """`code` without the top-level functions and classes of these names; unchanged where its syntax is bad."""
    lines = python_lines(code)
    for node in read_python(code).body:
        if isinstance(node, DEFINITIONS) and node.name in names:
            for number in range(first_line(node) - 1, node.end_lineno or node.lineno):
                lines[number] = ""
    return "".join(lines)


def change_between(old: str, new: str) -> str:
    """What changed, in words: the number of lines and the functions."""
    added = removed = 0
    for line in difflib.ndiff(rows_of(old), rows_of(new)):
        added += line.startswith("+ ")
        removed += line.startswith("- ")
    if not added and not removed:
        return i18n.message("testing.iteration.nothing")
    before, after = (dict(_functions(code)) for code in (old, new))
    touched = [name for name, node in after.items() if name not in before or ast.dump(before[name]) != ast.dump(node)]
    if not touched:
        return i18n.message("testing.iteration.lines", added=added, removed=removed)
    return i18n.message("testing.iteration.lines_in", added=added, removed=removed, names=", ".join(touched[:4]))


def _functions(code: str) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions at the top level and in classes, with qualified names."""

    def visit(body: list[ast.stmt], prefix: str) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
        for node in body:
            if isinstance(node, FUNCTIONS):
                found.append((prefix + node.name, node))
            elif isinstance(node, ast.ClassDef):
                found += visit(node.body, f"{prefix}{node.name}.")
        return found

    return visit(read_python(code).body, "")


def _source(code: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The lines of a function, with its decorators."""
    lines = python_lines(code)[first_line(node) - 1 : node.end_lineno]
    return "\n".join(line.rstrip("\r\n") for line in lines)


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, DEFINITIONS):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _signature(node: ast.stmt, indent: str = "") -> str:
    assert isinstance(node, DEFINITIONS)
    documentation = ast.get_docstring(node)
    doc = textwrap.indent(f'"""{documentation}"""', indent + "    ") + "\n" if documentation else ""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        inner = [
            _signature(n, indent + "    ")
            for n in node.body
            if isinstance(n, FUNCTIONS) and (not n.name.startswith("_") or n.name == "__init__")
        ]
        return f"{indent}class {node.name}{f'({bases})' if bases else ''}:\n{doc}" + "\n".join(inner)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{indent}{keyword} {node.name}({ast.unparse(node.args)}){returns}:\n{doc}".rstrip("\n") + (
        " ..." if not doc else ""
    )


def _without_cut_off_end(code: str) -> str:
    """A reply cut at its length limit: without the last definition, if the rest parses; else as it is."""
    lines = python_lines(code)
    for last in range(len(lines) - 1, 0, -1):
        if not lines[last].startswith((" ", "\t", "\n", ")", "]", "}")) and parses("".join(lines[:last])):
            shorter = "".join(lines[:last])
            return shorter if public_names(shorter) else code
    return code
