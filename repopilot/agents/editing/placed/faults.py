"""What speaks against a candidate: names that don't exist, code that does nothing. Code decides, no model."""

from __future__ import annotations

import builtins
import io
import re
import sys
import threading
import types
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from repopilot import i18n
from repopilot.agents.editing.placed.new_code import is_property
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.target_places import CLASSES, FUNCTIONS, TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted, quoted_texts
from repopilot.agents.editing.unreachable import adds_unreachable
from repopilot.code.languages import file_kind, is_test_path
from repopilot.code.syntax import parse
from repopilot.index.store import Index
from repopilot.tools.new_errors import new_errors
from repopilot.types import FileChange, Symbol

_PARSE_S = 5.0
_ATTRIBUTE = re.compile(r"(?:(?<!\w)(?=([A-Za-z_]\w*)\s*\.\s*([A-Za-z_]\w*))|(?=([)\]])\s*\.\s*([A-Za-z_]\w*)))")
_OWN = frozenset({"self", "cls", "this"})
_TODO = re.compile(r"#\s*(?:TODO|FIXME|your code|implement)|NotImplementedError|todo!\(|unimplemented!\(", re.I)
_REMOVING = re.compile(
    r"\b(?:remov\w+|drop\w*|delet\w+|simplif\w+|refactor\w*|rewrit\w+|replac\w+|shorten\w*|inlin\w+|stop|no longer|"
    r"supprim\w+|enl[èe]v\w+|remplac\w+|réécri\w+)",
    re.I,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d{2,}(?:\.\d+)?(?![\w.])")
_LIKE = re.compile(
    r"\b(?:like|as|similar to|comme)\s+(?:the\s+)?(?:other\s+)?[`\w.]+(?:\s+(?:and|or|et|ou)\s+[`\w.]+)?", re.I
)
_USED = re.compile(
    r"\b(?:names of|with|using|use|uses|via|by|through|calls?|from|returns?|raises?|avec|par|utilise\w*|lève|"
    r"renvoie)\s+(?:an?\s+|the\s+|une?\s+)?`?$",
    re.I,
)
_EMPTY = re.compile(r"^\s*(?:pass|\.\.\.|return\s*;?)\s*$")
_STATEMENTS = frozenset({"block", "module", "expression_statement"})
_STUB = re.compile(r"^\s*(?:async )?def .*:\s*(?:\.\.\.|pass)\s*$")
_TYPES = (
    *(str, bytes, list, dict, set, int, float, tuple, type, BaseException, deque, Counter, Decimal, Path),
    *(datetime, timedelta, re.Pattern, re.Match, io.StringIO, io.BytesIO, threading.Thread, types.FunctionType),
)
_BUILTIN = frozenset(name for value in _TYPES for name in dir(value)) | frozenset(dir(builtins))


def faults(
    place: TargetPlace, slot: Slot, lines: Sequence[str], change: FileChange, task: str, index: Index
) -> tuple[str, ...]:
    """What is wrong with new lines that parse.

    Args:
        place: where they go.
        slot: what they replace.
        lines: the new lines.
        change: the file with them.
        task: may name what doesn't exist yet.
        index: knows the names that exist.

    Returns:
        Messages, the weightiest first; () for nothing.
    """
    found = []
    stands_there = slot.lines[slot.first : slot.first + len(lines) if slot.inserts else slot.last]
    if list(lines) == list(stands_there) or not change.diff:
        found.append(i18n.message("placed.fault.unchanged"))
    if file_kind(place.path) != "code":
        return tuple(found)
    if _does_nothing(lines, slot):
        found.append(i18n.message("placed.fault.empty"))
    dropped = _dropped(lines, slot, task)
    if dropped:
        found.append(i18n.message("placed.fault.dropped", count=dropped))
    if place.language == "python" and adds_unreachable(place.target.shown, change.content):
        found.append(i18n.message("placed.fault.unreachable"))
    undefined = new_errors(place.path, place.target.shown, change.content)
    if undefined:
        found.append(i18n.message("placed.fault.undefined", what="; ".join(undefined[:3])))
    called = _called_properties(place, lines)
    if called:
        found.append(i18n.message("placed.fault.called", names=", ".join(called)))
    unknown = _unknown_attributes(place, lines, task, index)
    if unknown:
        found.append(i18n.message("placed.fault.unknown", names=", ".join(unknown[:4])))
    return tuple(found)


def left_out(lines: Sequence[str], task: str, wanted: Wanted, place: TargetPlace, index: Index) -> tuple[str, ...]:
    """What the task gives and new lines don't have: numbers, texts in quotes, definitions to be used.

    That may be right (a constant stands for the number), so it only puts versions in order.

    Args:
        lines: the new lines.
        task: as the user wrote it.
        wanted: what it asks for.
        place: its names aren't expected in the lines.
        index: knows the definitions.
    """
    own = {wanted.name, *re.split(r"\W+", wanted.owner), *re.split(r"\W+", place.owner)}
    own |= set(place.symbol.qualified.split(".")) if place.symbol else set()
    text = "\n".join(lines)
    outside = _LIKE.sub(" ", re.sub(r"\([^()]*\)", " ", task) if wanted.parameters is not None else task)
    given = [*_NUMBER.findall(outside), *quoted_texts(outside)]
    used = [
        name.last
        for name in wanted.names
        if name.text in outside and name.last not in own and _USED.search(task[: name.at])
    ]
    used = [name for name in used if index.symbols(name) or name.islower()]
    missing = [each for each in given if each not in text and each not in own]
    missing += _other_truth_value(outside, text)
    return tuple(
        dict.fromkeys([*missing, *(name for name in used if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))])
    )


def _other_truth_value(task: str, text: str) -> list[str]:
    """Of the two truth values of a task the one that lines don't have, where they have the other."""
    given, written = ({v for v in ("True", "False") if re.search(rf"\b{v}\b", each)} for each in (task, text))
    return sorted(given - written) if len(given) == 2 and written else []


def normal_form(text: str, language: str) -> str:
    """The tokens of a text without comments, docstrings and white space: equal for candidates that say the same."""
    tree = parse(text.encode("utf-8", "replace"), language, _PARSE_S)
    if tree is None:
        return " ".join(text.split())
    tokens: list[str] = []
    stack = [tree.root_node]
    data = text.encode("utf-8", "replace")
    while stack:
        node = stack.pop()
        if "comment" in node.type or (node.type == "string" and node.parent and node.parent.type in _STATEMENTS):
            continue
        if node.children and node.type != "string":
            stack.extend(reversed(node.children))
        else:
            tokens.append(data[node.start_byte : node.end_byte].decode("utf-8", "replace").replace('"', "'"))
    return " ".join(tokens)


def _dropped(lines: Sequence[str], slot: Slot, task: str) -> int:
    """How many lines a version leaves out of what it replaces, where that is more than a change of this size may."""
    if slot.inserts or _REMOVING.search(task):
        return 0
    before = [line.strip() for line in slot.lines[slot.first : slot.last] if line.strip()]
    gone = list((Counter(before) - Counter(line.strip() for line in lines)).elements())
    new = len([line for line in lines if line.strip() and line.strip() not in before])
    return len(gone) - new if len(gone) > new else 0


def _does_nothing(lines: Sequence[str], slot: Slot) -> bool:
    """Whether the new lines are a stub: left to be done, or a body of `pass` where there was none before."""
    before = "\n".join(slot.lines[slot.first : slot.last])
    if any(_TODO.search(line) for line in lines) and not _TODO.search(before):
        return True
    code = [line for line in lines if line.strip() and not re.match(r"\s*(?:#|//|@|\"\"\"|''')", line)]
    if slot.unit == "definition" and not before and code and _STUB.search(code[-1]):
        return True
    return slot.unit == "definition" and not before and len(code) > 1 and all(_EMPTY.match(line) for line in code[1:])


def _called_properties(place: TargetPlace, lines: Sequence[str]) -> list[str]:
    """Properties of the file that new lines call like methods of the object itself."""
    called = set(re.findall(r"\b(?:self|this)\.(\w+)\(\)", "\n".join(_code(lines))))
    near = [s for s in place.outline if s.name in called and s.kind in FUNCTIONS]
    methods = {s.name for s in near if not is_property(place, s) or f".{s.name}()" in place.target.shown}
    return sorted({s.name for s in near} - methods)


def _unknown_attributes(place: TargetPlace, lines: Sequence[str], task: str, index: Index) -> list[str]:
    """Attributes that nothing in the repository has: of the object itself those that its classes don't have.

    Of other objects only in Python: what other languages have built in isn't known here.
    """
    text = "\n".join(_code(lines))
    own = _own_names(place, index)
    bound = set(re.findall(r"\b(?:self|this|cls)\.(\w+)\s*(?::[^=\n]+)?=(?!=)", text))
    near = set(re.findall(r"\w+", place.target.shown)) | set(re.findall(r"\w+", task))
    unknown = []
    for found in dict.fromkeys(_ATTRIBUTE.findall(text)):
        receiver, name = found[:2] if found[0] else found[2:]
        if receiver in _OWN:
            known = not own or name in own or name in bound or name.startswith("__")
        else:
            known = (
                place.language != "python" or name in near or name in _BUILTIN or receiver in sys.stdlib_module_names
            )
            known = known or bool(index.symbols(name)) or bool(index.references(name))
        if not known:
            unknown.append(f"{receiver}.{name}")
    return unknown


def _code(lines: Iterable[str]) -> list[str]:
    """Lines without strings and comments."""
    joined = re.sub(r"(\"\"\"|''').*?\1", '""', "\n".join(lines), flags=re.S)
    bare = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", '""', joined)
    return [re.sub(r"(?:#|//).*", "", line) for line in bare.split("\n")]


def _own_names(place: TargetPlace, index: Index) -> set[str]:
    """The words of the class around a place and of its base classes; empty where a base class is unknown."""
    name = place.owner or (place.symbol.qualified.rpartition(".")[0] if place.symbol else "")
    owner = next((s for s in place.outline if s.qualified == name and s.kind in CLASSES), None)
    if owner is None:
        return set()
    names: set[str] = set()
    waiting, seen = [owner], {owner.qualified}
    while waiting:
        current = waiting.pop()
        text = index.lines(current.path, current.start_line, current.end_line) if current is not owner else None
        text = text or "\n".join(place.lines[owner.start_line - 1 : owner.end_line])
        names |= set(re.findall(r"\w+", text))
        for base in _bases(current):
            found = [s for s in index.symbols(base) if s.kind in CLASSES and s.qualified == base]
            found = [s for s in found if s.path == current.path] or [s for s in found if not is_test_path(s.path)]
            if not found and base not in _HARMLESS:
                return set()
            waiting += [s for s in found if s.qualified not in seen]
            seen |= {s.qualified for s in found}
    return names


_HARMLESS = frozenset("object Generic Protocol T K V P Any ABC metaclass Enum Exception ValueError KeyError".split())


def _bases(symbol: Symbol) -> list[str]:
    inside = re.search(r"\((.*)\)|extends\s+([\w.]+)", symbol.signature)
    return re.findall(r"[A-Za-z_]\w*", inside[1] or inside[2] or "") if inside else []
