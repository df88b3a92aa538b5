"""A task as plain words with a mark for each piece of code, so that one pattern can read all of it. Pure.

`Let Parser take a `strict` flag` has the shape `let <c0> take a <n1> flag`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from repopilot.agents.editing.exact.wording.noun_phrases import bare_name
from repopilot.agents.editing.exact.wording.task_tokens import Token, tokens_of
from repopilot.code.python_ast import parse_expression

PATH, CLASS, NAME, ATTRIBUTE, LITERAL, TEXT, WITH_DEFAULT = "pcnaltd"
"""What a mark is: a file or module, a class, another name, `self.name`, a constant, a quoted text, `name=constant`."""
_FIRST_WORDS = frozenset("let give make have add allow enable extend introduce in".split())
_ATTRIBUTE = re.compile(r"(?:self)?\.([A-Za-z_]\w*)")
_DEFAULTED = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>[^=]+?)\s*)?=\s*(?P<value>.+)")
_CONSTANTS = {"none": "None", "true": "True", "false": "False", "vrai": "True", "faux": "False"}
_PAUSES = frozenset("( ) , ; : . — – ! ?".split())
MARK = re.compile(r"<([a-z])(\d+)>")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What names mean in a repository.

    Attributes:
        is_class: whether a name is that of a class.
        is_place: whether a path or dotted name is that of a file.
    """

    is_class: Callable[[str], bool]
    is_place: Callable[[str], bool]


@dataclass(slots=True)
class Shape:
    """A task with marks for code.

    Attributes:
        words: the words in lower case without accents, with marks and a comma for each pause.
        code: what each mark stands for, by its number.
    """

    words: str = ""
    code: dict[int, str] = field(default_factory=dict)

    def of(self, mark: str | None) -> str:
        """The code that a mark stands for; a plain word as it is, '' for nothing."""
        found = MARK.fullmatch(mark or "")
        return self.code[int(found[2])] if found else (mark or "")

    def kind(self, mark: str | None) -> str:
        """The kind of a mark, '' for a word."""
        found = MARK.fullmatch(mark or "")
        return found[1] if found else ""


def shape_of(task: str, names: KnownNames) -> Shape:
    """The shape of a task.

    Args:
        task: on one line.
        names: what names mean.
    """
    shape = Shape()
    found: list[str] = []
    for number, token in enumerate(tokens_of(task)):
        kind, code = _marked(token, names)
        if kind:
            shape.code[number] = code
            found.append(f"<{kind}{number}>")
            found += ["constructor"] if kind == CLASS and token.inner.rstrip("()").endswith(".__init__") else []
        elif token.text in _PAUSES:
            found += [","] if found and found[-1] != "," else []
        else:
            found.append(token.low)
    shape.words = " ".join(found).strip(" ,")
    return shape


def _marked(token: Token, names: KnownNames) -> tuple[str, str]:
    """The kind and the code of a token; '' for a word, `x` for what no pattern reads."""
    inner = bare_name(token)
    attribute = _ATTRIBUTE.fullmatch(inner)
    if attribute is not None:
        return ATTRIBUTE, attribute[1]
    if token.is_path:
        return (PATH, inner) if names.is_place(inner) else ("x", inner)
    if token.kind == "literal":
        constant = constant_of(_CONSTANTS.get(token.low, token.text))
        return (LITERAL, constant) if constant else ("x", token.text)
    if token.kind == "quoted" and not token.is_code:
        return TEXT, token.inner
    if token.kind == "word":
        known = token.text[:1].isupper() and names.is_class(token.text)
        return (CLASS, token.text) if known and not (token.start == 0 and token.low in _FIRST_WORDS) else ("", "")
    if token.kind in ("quoted", "name"):
        return _named(inner.strip(), names)
    return "", ""


def _named(inner: str, names: KnownNames) -> tuple[str, str]:
    """The kind of what is written as code."""
    if constant := constant_of(inner):
        return LITERAL, constant
    defaulted = _DEFAULTED.fullmatch(inner)
    if defaulted is not None:
        return (WITH_DEFAULT, inner) if constant_of(defaulted["value"]) else ("x", inner)
    name = inner.removesuffix(".__init__")
    if re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", name) is None:
        return "x", inner
    if names.is_class(name):
        return CLASS, name
    return (PATH, name) if "." in name and names.is_place(name) else (NAME, name)


def with_default(code: str) -> tuple[str, str, str]:
    """The name, type ('' for none) and constant of `name: type = constant`."""
    found = _DEFAULTED.fullmatch(code)
    assert found is not None
    return found["name"], found["type"] or "", constant_of(found["value"])


def constant_of(text: str) -> str:
    """A constant of Python as it is written in code, '' for anything else."""
    try:
        tree = parse_expression(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    negative = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub)
    inner = tree.operand if isinstance(tree, ast.UnaryOp) and negative else tree
    plain = isinstance(inner, ast.Constant) and not isinstance(inner.value, bytes | complex) and inner.value != ...
    return text.strip() if plain else ""
