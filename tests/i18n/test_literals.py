"""Every word a user reads comes from the catalogue: no prose is left in the code where users get words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from repopilot import errors, i18n
from repopilot.code.python_ast import parse_python

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "repopilot"
ELEMENTS = sorted((ROOT / "public" / "elements").glob("*.jsx"))

ALLOWED: dict[str, str] = {
    "file mode 100": "a line of a patch, as git writes it",
    "No newline at end of file": "a line of a patch, as git writes it",
    "Translated markdown file": "a log line of Chainlit's that is dropped",
    "<script nonce": "HTML",
    "'self' data:": "a content security policy",
    **dict.fromkeys(
        (
            "CREATE TABLE ",
            "SELECT ",
            "INSERT INTO ",
            "INSERT OR ",
            "DELETE FROM ",
            "PRAGMA ",
            "UPDATE ",
            "ALTER TABLE ",
        ),
        "SQL",
    ),
    "RepoPilot: http": "the product's name and an address",
}
"""Parts of literals that look like prose, with the reason why they are none."""

PROSE = re.compile(r"[A-Za-zÀ-ÿ]{2,}[,;:]? (?:\{\} )?[A-Za-zÀ-ÿ]{2,}")
ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
READ_METHODS = {"degrade", "send_toast"}
STRICT = ERRORS | {"Skip", "degrade"}
"""Calls whose own strings are words for the user, be it a single one."""
READ_CALLS = {"Progress", "Message", "ErrorMessage", "Action", "TextInput", "Select"}
READ_KEYWORDS = {"hint", "label", "tooltip", "placeholder", "content", "note"}
MESSAGE_AT = {"Finding": 4, "finding": 4, "Rule": 8}
"""Calls with a message, and its position among the arguments."""
READ_VALUES = {"Match", "at"}
"""Calls whose arguments fill the placeholders of a message."""
LOGGED = {"debug", "info", "warning", "error", "exception", "critical", "basicConfig", "getLogger"}
PROGRAMMING_ERRORS = {"KeyError", "ValueError", "TypeError", "AssertionError", "NotImplementedError", "RuntimeError"}
NOT_WORDS = {"compile", "text", "message", "term", "section", "Field", "TypeVar", "getMessage"}
"""Calls whose strings are patterns, keys, or documentation of an option."""


def called(node: ast.AST) -> str:
    """The last name of what a call calls."""
    function = node.func if isinstance(node, ast.Call) else node
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def literal(node: ast.AST) -> str:
    """The text of a string or an f-string, with `{}` for what is filled in; '' for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "{}" for part in node.values)
    return ""


def prose(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The literals below a node that read like a sentence, but for those nobody is shown."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Assert):
        return
    if isinstance(node, ast.Call) and called(node) in LOGGED | PROGRAMMING_ERRORS | NOT_WORDS:
        return
    text = literal(node)
    if text:
        if PROSE.search(text) and not any(part in text for part in ALLOWED):
            yield node.lineno, text  # type: ignore[attr-defined]
        return
    for child in ast.iter_child_nodes(node):
        yield from prose(child)


def own_words(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The literals an argument consists of, not those it only passes on to another call."""
    text = literal(node)
    if re.search(r"[A-Za-zÀ-ÿ]{3,}", text) and not any(part in text for part in ALLOWED):
        yield node.lineno, text  # type: ignore[attr-defined]
    elif isinstance(node, ast.BinOp | ast.IfExp | ast.BoolOp):
        for child in ast.iter_child_nodes(node):
            yield from own_words(child)


def shown(tree: ast.AST, *, command_line: bool) -> Iterator[tuple[int, str]]:
    """The prose at the places where users get words: errors, fallbacks, progress, labels, prints."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        method = isinstance(node.func, ast.Attribute) and name in READ_METHODS
        if name in STRICT:
            for argument in (*node.args, *(k.value for k in node.keywords)):
                yield from own_words(argument)
        if name in MESSAGE_AT:
            given = [k.value for k in node.keywords if k.arg == "message"]
            for argument in (*given, *node.args[MESSAGE_AT[name] :][:1]):
                yield from own_words(argument)
        if method or name in STRICT | READ_CALLS | READ_VALUES or (command_line and name == "print"):
            yield from prose(ast.Tuple([*node.args, *(k.value for k in node.keywords)]))
        else:
            for keyword in node.keywords:
                if keyword.arg in READ_KEYWORDS:
                    yield from prose(keyword.value)


def area(path: Path) -> str:
    """The package or module below `repopilot` that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


AREAS = sorted({area(path) for path in PACKAGE.rglob("*.py")} - {"app"})


@pytest.mark.slow
@pytest.mark.parametrize("name", AREAS)
def test_no_words_for_users_are_left_in_the_code(name: str) -> None:
    left = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if area(path) == name:
            tree = parse_python(path.read_text("utf-8"))
            found = prose(tree) if name == "ui" else shown(tree, command_line=name == "cli")
            left += [f"{path.relative_to(ROOT)}:{line}: {text}" for line, text in found]
    assert not left, "move these to the catalogue:\n" + "\n".join(sorted(set(left)))


def text_of_element(source: str) -> list[str]:
    """The words between tags, in attributes that are shown and in strings of several words, outside of comments."""
    source = re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)
    between = re.findall(r">\s*([^<>{}=;()]*[A-Za-zÀ-ÿ]{2,}[^<>{}=;()]*)\s*[<{]", source)
    attributes = re.findall(r"(?:title|alt|placeholder|aria-label)=\"([^\"]*)\"", source)
    strings = [text for text in re.findall(r"'([^'\n]*)'", source) if PROSE.search(text)]
    return [text.strip() for text in (*between, *attributes, *strings) if not is_markup(text)]


def is_markup(text: str) -> bool:
    """Whether a string is class names (`rp-button rp-primary`), or the product's name."""
    return text.strip() == "RepoPilot" or all(word.startswith("rp-") for word in text.split())


@pytest.mark.parametrize("path", ELEMENTS, ids=lambda path: path.stem)
def test_no_words_are_left_in_an_element(path: Path) -> None:
    assert text_of_element(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", ELEMENTS, ids=lambda path: path.stem)
def test_an_element_uses_the_words_it_is_given(path: Path) -> None:
    prefix = {"Welcome": "ui.welcome", "DiffView": "ui.diff.words", "IndexProgress": "ui.opening.words"}
    given = set(i18n.section(prefix.get(path.stem, f"ui.{path.stem.lower()}.words"), "en"))
    source = path.read_text("utf-8")
    used = set(re.findall(r"\bwords\.(\w+)", source))
    assert used <= given, "no such words"
    dynamic = {"cancel", "stop", "retry", "update", "reindex"} if path.stem == "IndexProgress" else set()
    assert given == used | dynamic, "words that nobody uses"


@pytest.mark.slow
def test_prose_is_distinguished_from_keys_patterns_and_logs() -> None:
    code = '''
"""A docstring of several words."""
log.info("opening %s has started", name)
pattern = re.compile("two words")
raise SourceError(f"There is nothing at {path} now.", i18n.message("repo.hint"))
step.degrade("no model answers")
step.degrade(f"{what} failed: {error}")
Skip(path, "binary" if path else row.get("reason"))
raise KeyError("this is a programming error")
Finding(path, 1, "high", "rule-id", "Unsafe.", "checks")
code.finding(1, "high", "style", "rule-id", message=f"Unsafe {name}.")
Rule("rule-id", "style", "high", PYTHON, find, bad="x = 1", good="y = 2", message="Wrong.")
Match(3, {"why": "it is wrong"}, variant="other")
'''
    assert dict.fromkeys(text for _, text in shown(parse_python(code), command_line=False)) == dict.fromkeys(
        [
            *("There is nothing at {} now.", "no model answers", "{} failed: {}", "binary"),
            *("Unsafe.", "Unsafe {}.", "Wrong.", "it is wrong"),
        ]
    )
    assert text_of_element("<b className='rp-a rp-b'>Open it</b> // no words here") == ["Open it"]
