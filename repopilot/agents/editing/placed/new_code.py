"""Where something new goes, and what code writes of it: decorators, the `def` line, indentation. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.editing.placed.block import section
from repopilot.agents.editing.placed.object_literals import OBJECT
from repopilot.agents.editing.placed.signature import docstring_end, signature_end
from repopilot.agents.editing.placed.slot import Slot, Unit
from repopilot.agents.editing.placed.target_places import CLASSES, FUNCTIONS, TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted
from repopilot.types import Symbol

_TYPE_FIRST = frozenset({"java", "c_sharp", "csharp", "c", "cpp", "kotlin_", "dart"})
"""Languages that write the type of a result before the name."""
_NO_HEAD = frozenset({"field", "entry", "text"})
_MODIFIERS = re.compile(
    r"^(\s*(?:(?:export|pub(?:\([\w:]+\))?|public|protected|private|internal|default|open|suspend)\s+)*)"
)


_OFFERED = re.compile(r"\s*(?:export\b|(?:module\.)?exports\.|pub\b|public\b)")
_CALLED = re.compile(r"\w\(")
_GETTER = re.compile(r"^\s*(?:static\s+)?get\s+\w|\w*getter\w*\(", re.I)
_GET = frozenset({"javascript", "typescript", "tsx"})
"""Languages that say of a property that it is one by a word before its name."""
_IN_BODY = re.compile(r"\s*(?:(?:static|async|get|set|public|private|protected|readonly)\s+)*[\w$#]+")
"""The first line of a method in the body of a class or of an object literal, up to its name."""
_SHORTEST_KIN = 5
_FIRST_WORD = re.compile(r"(?:[iI]s|[hH]as|[cC]an)(?=[A-Z_])")
_MAIN = re.compile(r"^if __name__\b")


def new_slot(place: TargetPlace, wanted: Wanted, task: str) -> Slot:
    """The slot of something new.

    Args:
        place: the owner it goes to.
        wanted: what is known of it.
        task: its words decide which section of a document gets a text.
    """
    if wanted.noun == "text":
        return _text_slot(place, task)
    head = head_of_new(place, wanted)
    leaf = wanted.noun in ("field", "entry")
    owned = ".".join(filter(None, (place.owner, wanted.name)))
    at = _insertion(place, head, leaf)
    named = wanted.noun == "field" and place.language == "python"
    text = head.indent + (wanted.name if named else "") if leaf else head.text
    blank = 0 if leaf else 2 if place.language == "python" and not head.indent else 1
    unit: Unit = "entry" if leaf else "definition"
    in_literal = place.symbol is not None and place.symbol.kind == OBJECT
    lines = _with_comma(place.lines, at) if wanted.noun == "entry" or in_literal else tuple(place.lines)
    comma = "," if in_literal and (not _closes(place, at) or lines[at - 1] == place.lines[at - 1]) else ""
    return Slot(f"add_{wanted.noun}", owned, lines, at, at, text, head.indent, unit, blank, comma=comma)


def _closes(place: TargetPlace, at: int) -> bool:
    """Whether nothing but a bracket follows a line."""
    return next((line for line in place.lines[at:] if line.strip()), "").lstrip()[:1] in ("}", "]", ")")


def entry_slot(place: TargetPlace, table: Symbol) -> Slot:
    """The end of a list or a table that stands on several lines.

    Args:
        place: its file.
        table: the list.
    """
    at = table.end_line - 1
    indent = _space(place.lines[at - 1])
    return Slot("add_entry", table.qualified, _with_comma(place.lines, at), at, at, indent, indent, "entry")


def _text_slot(place: TargetPlace, task: str) -> Slot:
    """The end of the section of a document that a task is about."""
    start, end = section(place.lines, task)
    while end > start and not place.lines[end - 1].strip():
        end -= 1
    heading = place.lines[start].strip("# \t") if place.lines else ""
    return Slot("change_text", heading, tuple(place.lines), end, end, "", "", "block", 1)


def _with_comma(lines: Sequence[str], at: int) -> tuple[str, ...]:
    """The lines with a comma behind the entry before a new one."""
    number = next((n for n in range(at, 0, -1) if lines[n - 1].strip()), at)
    last = lines[number - 1]
    closed = last if re.search(r"[,\[({]\s*(?:#.*|//.*)?$", last) else last.rstrip() + ","
    return (*lines[: number - 1], closed, *lines[number:])


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of new lines.

    Attributes:
        text: complete lines and the beginning of the next one; '' for nothing.
        indent: white space before each new line.
        behind: the definition that the new one is put behind, None for the end of the owner.
    """

    text: str
    indent: str
    behind: Symbol | None


def head_of_new(place: TargetPlace, wanted: Wanted) -> Head:
    """The beginning of a new member, function or class.

    Args:
        place: the owner it goes to.
        wanted: what is known of it.

    Returns:
        As much of it as is certain.
    """
    behind = sibling_before(place, wanted)
    indent = member_indent(place, behind)
    if wanted.noun in _NO_HEAD or (behind is None and place.language != "python"):
        return Head("" if place.language != "python" else indent, indent, behind)
    if place.language == "python":
        return Head(_python(place, wanted, indent), indent, behind)
    return Head(_like_sibling(place, wanted, behind), indent, behind)


def _public(place: TargetPlace, fitting: Sequence[Symbol]) -> list[Symbol]:
    """Those that others may use, where the language says so in the definition; all where none is."""
    found = [s for s in fitting if _OFFERED.match(_name_line(place.lines[s.start_line - 1 : s.end_line], s.name))]
    return found or list(fitting)


def sibling_before(place: TargetPlace, wanted: Wanted) -> Symbol | None:
    """The definition behind which a new one belongs: one that the task names, the last property for a property, the
    last field for a field, else the last definition of its kind."""
    kinds = {"field": frozenset({"field", "variable"}), "class": CLASSES | FUNCTIONS}.get(wanted.noun, FUNCTIONS)
    if not place.owner:
        kinds = CLASSES | FUNCTIONS
    fitting = [s for s in place.members if s.kind in kinds]
    if place.language != "python" and not wanted.name.startswith("_"):
        fitting = _public(place, fitting)
    fitting = _at_the_outside(place, fitting)
    named = {name.last for name in wanted.names}
    liked = [s for s in fitting if s.name in named and s.kind in FUNCTIONS]
    alike = [s for s in fitting if wanted.noun == "property" and is_property(place, s)]
    usual = [] if place.language == "python" or place.owner else _usual(place, fitting)
    for group in (liked, alike, usual, fitting):
        if group:
            last = group[-1]
            same = [s for s in fitting if s.name == last.name]  # a setter stands behind its property
            return same[-1]
    return None


def _at_the_outside(place: TargetPlace, fitting: Sequence[Symbol]) -> list[Symbol]:
    """Those that are no further inside than the others: not below an `if` of the class."""
    depths = {s.qualified: len(_space(place.lines[s.start_line - 1]).expandtabs(4)) for s in fitting}
    least = min(depths.values(), default=0)
    return [s for s in fitting if depths[s.qualified] == least]


def _usual(place: TargetPlace, fitting: Sequence[Symbol]) -> list[Symbol]:
    """The definitions that begin as most do, but for their names: `res.send = function send(`."""

    def form(symbol: Symbol) -> str:
        line = _name_line(place.lines[symbol.start_line - 1 : symbol.end_line], symbol.name)
        return re.sub(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", "", line).partition("(")[0]

    forms = Counter(form(s) for s in fitting)
    return [s for s in fitting if form(s) == forms.most_common(1)[0][0]] if forms else []


def is_property(place: TargetPlace, symbol: Symbol) -> bool:
    """Whether a function is read like a field: a property in Python, `get x()` or `defineGetter(…)` elsewhere."""
    if place.language == "python":
        head = place.lines[symbol.start_line - 1 : symbol.start_line + 2]
        return any(re.match(r"\s*@(?:\w+\.)?\w*property\b", line) for line in head)
    line = _name_line(place.lines[symbol.start_line - 1 : symbol.end_line], symbol.name)
    return _GETTER.search(line.partition("function")[0]) is not None


def member_indent(place: TargetPlace, behind: Symbol | None) -> str:
    """The white space before a new definition."""
    if behind is not None:
        return _space(place.lines[behind.start_line - 1])
    if place.symbol is None:
        return ""
    inner = place.lines[place.symbol.start_line : place.symbol.end_line]
    outer = _space(place.lines[place.symbol.start_line - 1])
    deeper = (_space(line) for line in inner if line.strip() and len(_space(line)) > len(outer))
    return next(deeper, outer + ("\t" if "\t" in outer else "    "))


def _python(place: TargetPlace, wanted: Wanted, indent: str) -> str:
    if wanted.noun == "class":
        return f"{indent}class {wanted.name}" + (f"({wanted.base}):\n" if wanted.base else "")
    in_class = bool(place.owner)
    lines = []
    if wanted.noun == "property":
        lines.append(indent + ("@cached_property" if "cached" in wanted.modifiers else "@property"))
    for name in ("classmethod", "staticmethod"):
        if name in wanted.modifiers and in_class:
            lines.append(f"{indent}@{name}")
    start = indent + ("async def " if "async" in wanted.modifiers else "def ")
    return "\n".join(
        [*lines, start + (wanted.name + _python_parameters(place, wanted, in_class) if wanted.name else "")]
    )


def _python_parameters(place: TargetPlace, wanted: Wanted, in_class: bool) -> str:
    bound = (
        ""
        if not in_class or "staticmethod" in wanted.modifiers
        else "cls"
        if "classmethod" in wanted.modifiers
        else "self"
    )
    given = None if wanted.parameters is None else _without_bound(wanted.parameters)
    if given is None and wanted.noun != "property":
        given = _parameters_of_kin(place, wanted)
    if wanted.noun == "property":
        return "(self) -> " if _annotated(place) else "(self):\n"
    if given is None:
        return f"({bound}"
    if given and ":" not in given and _annotated(place):
        first = re.match(r"\w*", given)
        return f"({', '.join(filter(None, (bound, first[0] if first else '')))}"
    closed = f"({', '.join(filter(None, (bound, given)))})"
    return f"{closed} -> " if _annotated(place) else f"{closed}:\n"


def kin_of(place: TargetPlace, name: str) -> Symbol | None:
    """The function beside a new one whose name the new name begins or ends with: `methodkey` of `typedmethodkey`."""
    kin = [s for s in place.members if s.kind in FUNCTIONS and len(s.name) >= _SHORTEST_KIN and s.name != name]
    kin = [s for s in kin if name.endswith(s.name) or name.startswith(s.name)]
    return max(kin, key=lambda s: len(s.name), default=None)


def _parameters_of_kin(place: TargetPlace, wanted: Wanted) -> str | None:
    """The parameters of its kin, where that takes any arguments: what has a name like it is used like it."""
    kin = kin_of(place, wanted.name) if wanted.name else None
    inside = re.search(r"\((.*)\)", kin.signature, re.S) if kin is not None else None
    text = " ".join(inside[1].split()) if inside else ""
    return (_without_bound(text) if place.owner else text) if "*" in text else None


def _without_bound(parameters: str) -> str:
    return re.sub(r"^\s*(?:self|cls)\s*(?:,\s*|$)", "", parameters).strip()


def _annotated(place: TargetPlace) -> bool:
    """Whether most functions around declare what they return."""
    functions = [s for s in place.members if s.kind in FUNCTIONS] or [s for s in place.outline if s.kind in FUNCTIONS]
    return sum("->" in s.signature for s in functions) * 2 > len(functions)


def _like_sibling(place: TargetPlace, wanted: Wanted, behind: Symbol | None) -> str:
    """The sibling's first line up to its parameters, with the new name."""
    if behind is None or not wanted.name:
        return ""
    line = _name_line(place.lines[behind.start_line - 1 : behind.end_line], behind.name)
    modifiers = _MODIFIERS.match(line)[1]  # type: ignore[index]
    if behind.kind not in FUNCTIONS or wanted.noun == "class" or place.language in _TYPE_FIRST:
        return modifiers
    match = re.search(rf"(?<![\w$]){re.escape(behind.name)}(?![\w$])", line)
    if match is None:
        return modifiers
    match = (
        list(re.finditer(rf"(?<![\w$]){re.escape(behind.name)}(?![\w$])", line))[-1]
        if _CALLED.search(line[: match.start()])
        else match
    )
    before = re.sub(r"\b(?:async|static|get|set)\s+", "", line[: match.start()])
    if wanted.noun == "property" and place.language in _GET and _IN_BODY.fullmatch(line[: match.end()]):
        result = f": {wanted.result} {{\n" if wanted.result else ": " if place.language != "javascript" else " {\n"
        return f"{before}get {wanted.name}{_space(line[match.end() :])}(){result}"
    before = re.sub(r"\bexport\s+default\b", "export", before)  # a module has one default
    before = re.sub(rf"(?<![\w$]){re.escape(behind.name)}(?![\w$])", wanted.name, before)
    if "async" in wanted.modifiers and "function" not in before:
        before = f"{_space(before)}async {before.lstrip()}"
    after = line[match.end() :]
    if after.lstrip(" ").startswith("("):
        apart = after[: len(after) - len(after.lstrip(" "))]
        given = given_signature(wanted, after.lstrip(" "), place.language)
        return f"{before}{wanted.name}{apart}" + (given or _signature_of_questions(place, wanted) or "(")
    assigned = re.match(r"\s*[=:]\s*(?:async\s+)?(?:function\s*(?:[\w$]+\s*)?\(|\()", after)
    if assigned:
        head = before + wanted.name + re.sub(r"function\s+[\w$]+", f"function {wanted.name}", assigned[0])
        given = given_signature(wanted, after[assigned.end() - 1 :], place.language) if "function" in head else ""
        return head.removesuffix("(") + given if given else head
    return f"{before}{wanted.name}"


def given_signature(wanted: Wanted, sibling: str, language: str) -> str:
    """The signature that the task gives, up to the brace as far as it is certain; '' where it gives none.

    Args:
        wanted: what is known of the new function.
        sibling: the line of a function like it, from its parameters on.
        language: decides whether parameters need types.
    """
    if not wanted.parameters and not wanted.result:  # `close()` may only say that it is called
        return ""
    bound = re.match(r"\(\s*(&?(?:'\w+\s+)?(?:mut\s+)?self)\b", sibling) if language == "rust" else None
    given = re.sub(r"^&?(?:mut\s+)?self\s*,?\s*", "", (wanted.parameters or "").strip())
    parts = [p.strip() for p in given.split(",") if p.strip()]
    typed = language == "javascript" or all(re.search(r"\w\s*:|\w\s+[\w*\[]|\.\.\.", p) for p in parts)
    texts = [*([bound[1]] if bound else []), *parts]
    if not typed:
        first = re.match(r"\w+", parts[0])
        return "(" + ", ".join([*texts[: len(texts) - len(parts)], first[0]]) if first else ""
    signature = f"({', '.join(texts)})"
    if language == "javascript":
        return f"{signature} {{\n"
    result = wanted.result
    if not result:
        return signature
    return f"{signature}{_BEFORE_RESULT.get(language, ' ')}{result} {{\n"


_BEFORE_RESULT = {"rust": " -> ", "typescript": ": ", "tsx": ": "}


def _signature_of_questions(place: TargetPlace, wanted: Wanted) -> str:
    """The empty parameters and the result that all siblings have whose names begin with the same word, as in `IsX`."""
    word = _FIRST_WORD.match(wanted.name)
    alike = [
        s
        for s in place.members
        if word and s.kind in FUNCTIONS and (m := _FIRST_WORD.match(s.name)) and m[0] == word[0]
    ]
    lines = [_name_line(place.lines[s.start_line - 1 : s.end_line], s.name).partition(s.name)[2] for s in alike]
    ends = {line.rstrip() for line in lines}
    end = ends.pop() if len(ends) == 1 and wanted.parameters is None else ""
    return f"{end}\n" if end.startswith("()") and end.endswith("{") else ""


def _name_line(lines: Sequence[str], name: str) -> str:
    """The first line of a definition that has its name: decorators and comments stand above it."""
    return next((line for line in lines if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line)), lines[0])


def _space(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _insertion(place: TargetPlace, head: Head, leaf: bool) -> int:
    """Behind which line something new belongs."""
    if head.behind is not None:
        return head.behind.end_line
    if place.symbol is None:
        lines = place.lines
        main = next((i for i, line in enumerate(lines) if _MAIN.match(line)), len(lines))
        while main and not lines[main - 1].strip():
            main -= 1
        return main
    if place.language == "python" and place.symbol.kind in CLASSES:
        return _first_field(place, place.symbol) if leaf else place.symbol.end_line
    return place.symbol.end_line - 1


def _first_field(place: TargetPlace, owner: Symbol) -> int:
    """The line behind the docstring of a class without fields."""
    end = signature_end(place.lines, owner.start_line - 1)
    return docstring_end(place.lines, end)
