"""Measures how well the citation check tells true citations from wrong ones that are within the file.

    python -m bench.citations [PACKAGE …]

From installed packages: each function's docstring (removed from the lines), its calls and its string constants make
true sentences about its lines. Each is then moved to every other stretch of the same file of the same length.
"""

from __future__ import annotations

import ast
import importlib.util
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repopilot.code.python_ast import parse_python
from repopilot.retrieval.cite import SUPPORTED, support
from repopilot.retrieval.claims import claim_of
from repopilot.types import Excerpt, Symbol

PACKAGES = ("pathspec", "click", "jinja2", "httpx", "starlette", "git", "tenacity", "filelock")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence, the excerpt it is true of, and one of the same file it is not true of."""

    kind: str
    sentence: str
    true: Excerpt
    moved: Excerpt
    symbols: dict[str, list[Symbol]]


def cases(packages: tuple[str, ...] = PACKAGES, seed: int = 7) -> list[Case]:
    """All cases of the packages that are installed, in a fixed order."""
    rng = random.Random(seed)
    return [case for package in packages for file in _files(package) for case in _file_cases(file, rng)]


def measure(found: list[Case]) -> dict[str, tuple[int, float, float]]:
    """Per kind and for `all`: number of cases, share of true citations accepted, share of moved ones rejected."""
    rows: dict[str, list[tuple[bool, bool]]] = {}
    for case in found:
        claim = claim_of(case.sentence)
        definitions = lambda name, known=case.symbols: known.get(name, [])  # noqa: E731
        accepted = support(claim, case.true, definitions) >= SUPPORTED
        rejected = support(claim, case.moved, definitions) < SUPPORTED
        for kind in (case.kind, "all"):
            rows.setdefault(kind, []).append((accepted, rejected))
    return {
        kind: (len(r), sum(k for k, _ in r) / len(r), sum(j for _, j in r) / len(r)) for kind, r in sorted(rows.items())
    }


def _files(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return []
    return sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))[:40]


def _file_cases(file: Path, rng: random.Random) -> Iterator[Case]:
    tree = parse_python(file.read_text("utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    lines = _blank_docstrings(file.read_text("utf-8").split("\n"), functions)
    symbols: dict[str, list[Symbol]] = {}
    for node in functions:
        symbol = Symbol(node.name, node.name, "function", file.name, node.lineno, node.end_lineno or node.lineno)
        symbols.setdefault(node.name, []).append(symbol)
    for node in functions:
        true = _excerpt(file, lines, node.lineno, node.end_lineno or node.lineno, node.name)
        if true.end_line - true.start_line < 3:
            continue
        moved = _moved(file, lines, true, functions, rng)
        for kind, sentence in _sentences(node):
            if moved is not None:
                yield Case(kind, sentence, true, moved, symbols)


def _sentences(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    calls = [
        c.func.attr if isinstance(c.func, ast.Attribute) else getattr(c.func, "id", "")
        for c in ast.walk(node)
        if isinstance(c, ast.Call)
    ]
    calls = [c for c in dict.fromkeys(calls) if len(c) > 3 and c != node.name][:2]
    if len(calls) == 2:
        yield "calls", f"The function `{node.name}` calls `{calls[0]}` and then `{calls[1]}`."
    doc = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ").strip()
    if 20 < len(doc) < 160:
        yield "docstring", f"`{node.name}`: {doc}"
    for constant in ast.walk(node):
        text = constant.value if isinstance(constant, ast.Constant) else None
        if (
            isinstance(text, str)
            and 12 < len(text) < 60
            and "\n" not in text
            and text not in (ast.get_docstring(node) or "")
        ):
            yield "quote", f'`{node.name}` uses the text "{text}" here.'
            return


def _excerpt(file: Path, lines: list[str], start: int, end: int, symbol: str = "") -> Excerpt:
    return Excerpt(1, file.name, start, end, symbol, "\n".join(lines[start - 1 : end]))


def _moved(file: Path, lines: list[str], true: Excerpt, functions: list, rng: random.Random) -> Excerpt | None:
    length = true.end_line - true.start_line
    starts = [s for s in range(1, len(lines) - length) if s > true.end_line or s + length < true.start_line]
    if not starts:
        return None
    start = rng.choice(starts)
    inside = [f.name for f in functions if f.lineno <= start and start + length <= (f.end_lineno or 0)]
    return _excerpt(file, lines, start, start + length, inside[-1] if inside else "")


def _blank_docstrings(lines: list[str], functions: list) -> list[str]:
    """The lines with docstrings emptied: the sentences must not be found by their own source."""
    for node in functions:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return lines


if __name__ == "__main__":
    for kind, (count, accepted, rejected) in measure(cases(tuple(sys.argv[1:]) or PACKAGES)).items():
        print(f"{kind:10} {count:6} cases   true accepted {accepted:.3f}   moved rejected {rejected:.3f}")
