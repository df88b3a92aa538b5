"""Docstrings as a repository writes them: which style it has, and a skeleton in it. Pure but for reading files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from repopilot.agents.editing.exact.python.calls import is_variadic, parameter_name, parameters_of
from repopilot.agents.editing.exact.python.name_uses import FUNCTIONS
from repopilot.agents.editing.exact.python.string_values import string_content
from repopilot.agents.editing.exact.sources import Sources, SourceText
from repopilot.code.languages import is_test_path

DocStyle = Literal["google", "numpy", "sphinx", "plain"]
_PATTERNS: tuple[tuple[DocStyle, re.Pattern[str]], ...] = (
    ("google", re.compile(r"^[ \t]*(?:Args|Arguments|Returns|Raises|Yields):[ \t]*$", re.M)),
    ("numpy", re.compile(r"^[ \t]*(?:Parameters|Returns|Raises|Yields)\n[ \t]*-{4,}[ \t]*$", re.M)),
    ("sphinx", re.compile(r"^[ \t]*:(?:param|return|returns|raises|raise|rtype|type)\b", re.M)),
)
_MOST_FILES = 150


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """What a skeleton says of a function: its parameters and the type of its result as written ('' for none), what it
    raises and when, and whether it is a generator."""

    parameters: tuple[tuple[str, str], ...]
    result: str
    raises: tuple[tuple[str, str], ...]
    generates: bool = False


def style_of(source: SourceText, sources: Sources) -> DocStyle:
    """The style that a file's docstrings have most, else those of the repository; plain where none has parts."""
    own = _counted(source.text)
    if own:
        return own.most_common(1)[0][0]
    found: Counter[DocStyle] = Counter()
    files = sources.workspace.index.files
    for path in [p for p, info in files.items() if info.language == "python" and not is_test_path(p)][:_MOST_FILES]:
        other = sources.get(path)
        found += _counted(other.text) if other is not None else Counter()
    return found.most_common(1)[0][0] if found else "plain"


def _counted(text: str) -> Counter[DocStyle]:
    return Counter({style: count for style, pattern in _PATTERNS if (count := len(pattern.findall(text)))})


def quotes_of(source: SourceText) -> str:
    """The quotes of a file's docstrings."""
    return "'''" if source.data.count(b"'''") > source.data.count(b'"""') else '"""'


def begins_on_next_line(source: SourceText) -> bool:
    """Whether most docstrings of several lines begin on the line below their quotes."""
    below = len(re.findall(r'(?:"""|\'\'\')[ \t]*\n[ \t]+\w', source.text))
    beside = len(re.findall(r'^[ \t]+(?:"""|\'\'\')\w[^\n"\']*\n', source.text, re.M))
    return below > beside


def facts_of(source: SourceText, function: Node) -> FunctionFacts:
    """What a function's signature and body say."""
    listed = []
    for number, parameter in enumerate(parameters_of(function)):
        name = parameter_name(source, parameter)
        declared = parameter.child_by_field_name("type")
        if name and not (number == 0 and name in ("self", "cls", "mcs")):
            listed.append((is_variadic(parameter) + name, source.slice(declared) if declared is not None else ""))
    result = function.child_by_field_name("return_type")
    written = source.slice(result) if result is not None else ""
    raises, returns, yields = _body_facts(source, function)
    if not written and returns:
        written = "?"
    generated = re.match(r"(?:\w+\.)?(?:Iterator|Generator|Iterable|AsyncIterator|AsyncGenerator)\[([^\],]+)", written)
    if yields and generated:
        written = generated[1]
    return FunctionFacts(tuple(listed), "" if written in ("None", "NoReturn", "Never") else written, raises, yields)


def _body_facts(source: SourceText, function: Node) -> tuple[tuple[tuple[str, str], ...], bool, bool]:
    """What a function's own body raises, and whether it returns a value or yields."""
    body = function.child_by_field_name("body")
    pending = list(reversed(body.named_children)) if body is not None else []
    raised: dict[str, str] = {}
    returns = yields = False
    while pending:
        node = pending.pop()
        if node.type in FUNCTIONS or node.type == "class_definition":
            continue
        if node.type == "raise_statement" and node.named_child_count:
            name = re.match(r"[A-Za-z_][\w.]*", source.slice(node.named_children[0]))
            if name is not None and (name[0][:1].isupper() or "." in name[0]):
                raised.setdefault(name[0], _condition(source, node))
        returns = returns or (node.type == "return_statement" and node.named_child_count > 0)
        yields = yields or node.type == "yield"
        pending.extend(reversed(node.named_children))
    return tuple(raised.items()), returns, yields


def _condition(source: SourceText, statement: Node) -> str:
    """The condition that a statement stands directly below, '' for none of one short line."""
    block = statement.parent
    around = block.parent if block is not None else None
    condition = (
        around.child_by_field_name("condition") if around is not None and around.type == "if_statement" else None
    )
    text = source.slice(condition) if condition is not None else ""
    return text if "\n" not in text and len(text) <= 60 else ""


def summary_of(name: str) -> str:
    """A first sentence from a name: `parse_date` is “Parse date.”"""
    words = re.sub(r"(?<=[a-z\d])(?=[A-Z])", "_", name.strip("_")).replace("_", " ").lower().split()
    text = " ".join(words) or name
    return f"{text[:1].upper()}{text[1:]}."


def skeleton(summary: str, facts: FunctionFacts | None, style: DocStyle) -> list[str]:
    """The lines of a docstring without indentation.

    Args:
        summary: its first sentence.
        facts: of a function, None for a class or module.
        style: the style.
    """
    if facts is None or not (facts.parameters or facts.result or facts.raises):
        return [summary]
    parts = {"google": _google, "numpy": _numpy, "sphinx": _sphinx}.get(style)
    return [summary, "", *parts(facts)] if parts is not None else [summary]


def _said(name: str) -> str:
    words = name.lstrip("*").replace("_", " ").strip()
    return f"The {words}."


def _when(condition: str) -> str:
    return f"If `{condition}`." if condition else "On failure."


def _result(facts: FunctionFacts) -> str:
    type_ = _plain_type(facts.result)
    return f"The {type_}." if re.fullmatch(r"[A-Z]\w+", type_) else "The result."


def _plain_type(text: str) -> str:
    return text.strip("\"'")


def _google(facts: FunctionFacts) -> list[str]:
    rows: list[str] = []
    if facts.parameters:
        rows += ["Args:", *(f"    {name}: {_said(name)}" for name, _ in facts.parameters), ""]
    if facts.result or facts.generates:
        rows += ["Yields:" if facts.generates else "Returns:", f"    {_result(facts)}", ""]
    if facts.raises:
        rows += ["Raises:", *(f"    {name}: {_when(condition)}" for name, condition in facts.raises), ""]
    return rows[:-1]


def _numpy(facts: FunctionFacts) -> list[str]:
    rows: list[str] = []
    if facts.parameters:
        rows += ["Parameters", "----------"]
        for name, type_ in facts.parameters:
            rows += [f"{name} : {_plain_type(type_)}" if type_ else name, f"    {_said(name)}"]
        rows.append("")
    if facts.result or facts.generates:
        title = "Yields" if facts.generates else "Returns"
        type_ = facts.result if facts.result != "?" else ""
        rows += [title, "-" * len(title), *([_plain_type(type_), "    The result."] if type_ else ["The result."]), ""]
    if facts.raises:
        rows += ["Raises", "------"]
        for name, condition in facts.raises:
            rows += [name, f"    {_when(condition)}"]
        rows.append("")
    return rows[:-1]


def _sphinx(facts: FunctionFacts) -> list[str]:
    rows = [f":param {name.lstrip('*')}: {_said(name)}" for name, _ in facts.parameters]
    if facts.result or facts.generates:
        rows.append(f":return: {_result(facts)}")
    rows += [f":raises {name}: {_when(condition)}" for name, condition in facts.raises]
    return rows


def docstring_node(source: SourceText, node: Node) -> Node | None:
    """The docstring of a function, class or module, as the statement that it is; None where it has none."""
    body = node if node.type == "module" else node.child_by_field_name("body")
    first = next((c for c in body.named_children if c.type != "comment"), None) if body is not None else None
    inner = first.named_child(0) if first is not None and first.type == "expression_statement" else first
    return first if inner is not None and inner.type in ("string", "concatenated_string") else None


def existing_docstring(source: SourceText, node: Node) -> str:
    """The text of a docstring, '' for none."""
    found = docstring_node(source, node)
    inner = found.named_child(0) if found is not None and found.type == "expression_statement" else found
    return string_content(source, inner) if inner is not None else ""
