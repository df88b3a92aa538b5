"""Documentation → function: the first paragraph of its documentation is the query, the function the answer.

The tree that is searched (`tree-nodoc/`) has blank lines where documentation was, so every line keeps its number. In
Python documentation means docstrings; in other languages the comments right above a definition and every `/** … */`.
A name of the function at the beginning of its documentation, as Go has it, is left out of the query.
"""

from __future__ import annotations

import ast
import random
import re
import shutil
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.datasets.functions import Function, defined, functions_in
from bench.datasets.repository import files_below, is_source
from repopilot.code.languages import language_of
from repopilot.code.python_ast import parse_python

LEAST_WORDS, MOST_WORDS, WANTED = 5, 40, 100
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_LINE_MARK = {"ruby": r"#", "python": r"#"}
_LINE_COMMENT = {language: re.compile(rf"\s*{mark}(?!!)") for language, mark in _LINE_MARK.items()}
_SLASHES = re.compile(r"\s*//")
_BETWEEN = re.compile(r"\s*(?:#!?\[|@\w|\[\w+.*\]\s*$|template\s*<)")
"""Lines that may stand between the documentation of a definition and the definition."""
_BLOCK = re.compile(r"/\*\*(?!/).*?\*/", re.DOTALL)
_TAG = re.compile(
    r"^\s*(?:[@\\](?!code|link|brief)\w+|#+ |```|:\w+|Example|<(?:param|returns|remarks|example))", re.MULTILINE
)
_MARKUP = re.compile(
    r"</?(?:summary|p|c|code|em|b|i|a|li|ul|br|tt|pre|para|see|paramref)\b[^<>]*>|[@\\]brief\b|\{@\w+\s+([^}]*)\}"
)


@dataclass(frozen=True)
class Described:
    """A function by the first paragraph of its documentation. `line` is that of its `def`, `last` its last one."""

    docstring: str
    path: str
    line: int
    last: int


def docstring_set(package: str, folder: Path) -> tuple[Path, list[Described]]:
    """Write an installed Python package without docstrings below `folder`, every line in its place.

    Returns:
        The root, and a fixed sample of the docstrings that name one function only.
    """
    source, root = Path(sysconfig.get_path("purelib")) / package, folder / package
    names = [path.relative_to(source.parent).as_posix() for path in sorted(source.rglob("*.py"))]
    found = strip_files(source.parent, root, names)
    return root, sample(found)


def docstrings(tree: Path, target: Path) -> list[dict]:
    """The queries of a laid out tree, whose copy without documentation is written to `target`.

    Returns:
        {"query", "gold": [[path, first line, last line]]}.
    """
    shutil.copytree(tree, target, symlinks=True, ignore_dangling_symlinks=True)
    found = strip_files(tree, target, [path for path in files_below(tree) if is_source(path)])
    return [{"query": item.docstring, "gold": [[item.path, item.line, item.last]]} for item in sample(found)]


def strip_files(source: Path, root: Path, names: Iterable[str]) -> list[Described]:
    """Write files without documentation below `root`. Returns the functions described in those that are no tests."""
    found: list[Described] = []
    for name in names:
        try:
            text, described = stripped((source / name).read_bytes().decode("utf-8"), name)
        except (SyntaxError, UnicodeDecodeError):
            continue
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        if "/tests/" not in name:
            found += described
    return found


def sample(found: Sequence[Described]) -> list[Described]:
    """A fixed sample of the descriptions that name one function only."""
    often = Counter(item.docstring for item in found)
    unique = [item for item in found if often[item.docstring] == 1]
    return random.Random(3).sample(unique, min(WANTED, len(unique)))


def stripped(text: str, name: str) -> tuple[str, list[Described]]:
    """The text without documentation, every line in its place, and the functions this described."""
    return _python(text, name) if language_of(name) == "python" else _commented(text, name)


def _python(text: str, name: str) -> tuple[str, list[Described]]:
    """Source with blank lines, or `pass`, in place of its docstrings."""
    lines, found = text.split("\n"), []
    with warnings.catch_warnings(action="ignore"):
        tree = parse_python(text)
    for node in ast.walk(tree):
        if not isinstance(node, (*_FUNCTION, ast.ClassDef, ast.Module)) or not ast.get_docstring(node):
            continue
        first = node.body[0]
        lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
        lines[first.lineno - 1] = " " * first.col_offset + ("pass" if len(node.body) == 1 else "")
        summary = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        if isinstance(node, _FUNCTION) and LEAST_WORDS <= len(summary.split()) <= MOST_WORDS:
            found.append(Described(summary, name, node.lineno, node.end_lineno or node.lineno))
    return "\n".join(lines), found


def _commented(text: str, name: str) -> tuple[str, list[Described]]:
    """Source with blank lines in place of the comments above its definitions."""
    lines, found = text.split("\n"), []
    blank = {n for match in _BLOCK.finditer(text) for n in _lines_of(text, match) if _only_comment(text, match)}
    by_line = {function.first: function for function in functions_in(name, text)}
    for first in defined(name, text):
        comment = list(_comment_above(lines, first, language_of(name) or ""))
        blank.update(comment)
        summary = summary_of([lines[n - 1] for n in reversed(comment)], by_line.get(first))
        if first in by_line and LEAST_WORDS <= len(summary.split()) <= MOST_WORDS:
            found.append(Described(summary, name, first, by_line[first].last))
    return "\n".join("" if n in blank else line for n, line in enumerate(lines, start=1)), found


def _lines_of(text: str, match: re.Match[str]) -> range:
    first = text.count("\n", 0, match.start()) + 1
    return range(first, first + match[0].count("\n") + 1)


def _only_comment(text: str, match: re.Match[str]) -> bool:
    """Whether nothing but the comment stands on its lines."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after = text[match.end() : (text + "\n").find("\n", match.end())]
    return not before.strip() and not after.strip()


def _comment_above(lines: Sequence[str], first: int, language: str) -> Iterator[int]:
    """The numbers of the comment lines right above a line, from below."""
    mark = _LINE_COMMENT.get(language, _SLASHES)
    number = first - 1
    while number > 0 and _BETWEEN.match(lines[number - 1]):
        number -= 1
    if number > 1 and not lines[number - 1].strip() and lines[number - 2].rstrip().endswith("*/"):
        number -= 1
    if number > 0 and lines[number - 1].rstrip().endswith("*/"):
        while number > 0:
            yield number
            if "/*" in lines[number - 1]:
                return
            number -= 1
    while number > 0 and mark.match(lines[number - 1]):
        yield number
        number -= 1


def summary_of(comment: Sequence[str], function: Function | None) -> str:
    """The first paragraph of a documentation comment, without marks, tags and the function's own name in front."""
    plain = "\n".join(re.sub(r"^\s*(?:/\*+|\*+/|\*|//[/!]?|#)\s?|\s*\*+/\s*$", "", line) for line in comment).strip()
    plain = _MARKUP.sub(lambda match: match[1] or "", plain).strip()
    paragraph = re.split(r"\n\s*\n", plain)[0] if plain else ""
    tag = _TAG.search(paragraph)
    words = (paragraph[: tag.start()] if tag else paragraph).split()
    if function and words and words[0].strip("`'\"():") == function.name:
        words = words[1:]
    return " ".join(words)
