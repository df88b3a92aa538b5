"""What the model is shown of a place: the class or file in outline, its nearest siblings in full, what the task names.

Pure but for the index, which knows base classes and what is defined elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from repopilot.agents.editing.placed.block import section
from repopilot.agents.editing.placed.new_code import is_property, kin_of
from repopilot.agents.editing.placed.signature import shortened
from repopilot.agents.editing.placed.target_places import CLASSES, FUNCTIONS, TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.types import Symbol

BUDGET, AROUND_CHANGE = 330, 130
"""Tokens of what is around new code, and around code that changes."""
LONGEST_SIBLING, LONGEST_HELPER, _THIN = 20, 26, 4
"""Lines without docstring. A longer one is no good model for a few new lines."""
_HELPS = 4.0
"""What a definition is worth in the list that those shown in full use."""
_KEPT_LISTED = 4
"""A second definition in full is worth less than so many names."""
MOST_SIBLINGS, MOST_LISTED, MOST_ASSIGNED, MOST_NAMED, MOST_INHERITED = 2, 24, 10, 3, 20
_RARE = 2.0
"""What a word of the task is worth that only one of the siblings has."""
_USUAL, _LEAST_USUAL, _USUAL_SHARE = 2.0, 3, 0.3
"""What a sibling is worth that calls what many call; how many, and which share of all, that is."""
_OWN_CALL = re.compile(r"\b(?:self|this|cls)\.(\w+)\(")
_LEAST_COMMON, _LONGEST_LISTED, _LONGEST_LIST = 3, 80, 20
_ASSIGNED = re.compile(r"^\s+(?:self|this)\.(\w+)(?:\s*:\s*[^=]+?)?\s*=(?!=)")
_FIELD = re.compile(r"^(?:\t|    ?)(?![ \t])(?!//|\*|/\*|\})[\w\s]+\w[^(){}]*[\w;,\]>]$")
_BASES = re.compile(r"^class \w+(?:\[.*?\])?\((.*)\)", re.S)
_IMPORT = re.compile(r"^(?:from|import|use|const \w+ = require|#include)\b")

CountTokens = Callable[[str], int]


def surroundings(place: TargetPlace, wanted: Wanted, task: str, index: Index, count: CountTokens) -> str:
    """The outline of the place as code.

    Args:
        place: where the change will be.
        wanted: what the task asks for.
        task: its words decide what is shown in full.
        index: knows what is defined elsewhere.
        count: counts the model's tokens.

    Returns:
        Code within the budget, most of it elided; '' where there is nothing worth showing.
    """
    if wanted.noun in ("text", "entry"):
        return "\n".join(_end_of_list(place, wanted, task))
    words = set(tokens_of(task))
    changes = wanted.action == "change"
    shown = _owner(place) if changes else place.symbol
    budget = AROUND_CHANGE if changes else BUDGET
    if changes and place.symbol is not None:
        words |= set(tokens_of("\n".join(place.lines[place.symbol.start_line - 1 : place.symbol.end_line])))
    members = [s for s in _members(place, shown) if s != place.symbol]
    full = _siblings(place, members, wanted, words) if wanted.action == "add" else []
    helping = _names_used(full, place)
    listed = sorted(members, key=lambda s: -_overlap(s, place, words) - _HELPS * (s.name in helping))[:MOST_LISTED]
    while True:
        text = _outline(place, shown, full, listed, words, index)
        if count(text) <= budget or not (listed or full):
            return text
        if len(listed) > (_KEPT_LISTED if len(full) > 1 else 0):
            listed = listed[: max(0, len(listed) - 4)]
        else:
            full = full[:-1]


def _names_used(shown: Sequence[Symbol], place: TargetPlace) -> set[str]:
    """The names in the bodies of definitions that are shown: what does their work may do that of a new one."""
    return {name for s in shown for line in _full(s, place.lines) for name in re.findall(r"[A-Za-z_]\w*", line)}


def _end_of_list(place: TargetPlace, wanted: Wanted, task: str) -> list[str]:
    """The first and the last lines of the section or the list that gets something more."""
    if place.symbol is None or wanted.noun == "text":
        start, end = section(place.lines, task)
    else:
        start, end = place.symbol.start_line - 1, place.symbol.end_line
    body = place.lines[start:end]
    return body if len(body) <= _LONGEST_LIST else [*body[:3], "...", *body[3 - _LONGEST_LIST :]]


def named_elsewhere(place: TargetPlace, wanted: Wanted, index: Index) -> str:
    """A line for each definition outside of the place that the task names: its signature and its file."""
    lines = []
    for name in wanted.names:
        found = [s for s in index.symbols(name.text) if s.kind in CLASSES | FUNCTIONS]
        inside = place.symbol is not None and any(s.qualified == place.symbol.qualified for s in found)
        if found and not inside and not any(s.path == place.path for s in found):
            lines.append(f"{found[0].short_signature}  ({found[0].path})")
    return "\n".join(dict.fromkeys(lines[:MOST_NAMED]))


def twin(place: TargetPlace) -> str:
    """The definition of the same name in another class of the file, which may have the change already; '' for none, for
    several, and for a long one."""
    symbol = place.symbol
    if symbol is None or symbol.kind not in FUNCTIONS or symbol.name.startswith("__"):
        return ""
    found = [
        s for s in place.outline if s.name == symbol.name and s.kind in FUNCTIONS and s.qualified != symbol.qualified
    ]
    text = _full(found[0], place.lines) if len(found) == 1 else []
    return "\n".join([f"# {found[0].qualified}", *text]) if 0 < len(text) <= LONGEST_HELPER else ""


def _owner(place: TargetPlace) -> Symbol | None:
    """The class around the definition that changes."""
    if place.symbol is None:
        return None
    name = place.symbol.qualified.rpartition(".")[0]
    around = (s for s in place.outline if s.qualified == name and s.kind in CLASSES)
    return next(around, None)


def _members(place: TargetPlace, owner: Symbol | None) -> list[Symbol]:
    if place.owner:
        return place.members
    start = f"{owner.qualified}." if owner else ""
    return [s for s in place.outline if s.qualified.startswith(start) and "." not in s.qualified[len(start) :]]


def _siblings(place: TargetPlace, members: Sequence[Symbol], wanted: Wanted, words: set[str]) -> list[Symbol]:
    """The definitions most like what is new, short ones, in full."""
    kinds = CLASSES if wanted.noun == "class" else FUNCTIONS if wanted.noun != "field" else frozenset({"field"})
    named = {name.last for name in wanted.names}

    texts = {s: tokens_of("\n".join(place.lines[s.start_line - 1 : s.end_line])) for s in members if s.kind in kinds}
    spread = Counter(word for text in texts.values() for word in text & words)

    kin = kin_of(place, wanted.name) if wanted.name else None
    usual = _usual_calls(place, [s for s in members if s.kind in FUNCTIONS])

    def worth(symbol: Symbol) -> float:
        length = len(_full(symbol, place.lines))
        alike = is_property(place, symbol) == (wanted.noun == "property")
        special = symbol.name.startswith("__") and not wanted.name.startswith("__")
        begin = bool(wanted.name) and symbol.name.startswith(wanted.name[:_LEAST_COMMON])
        derived = bool(wanted.base) and re.search(rf"\b{re.escape(wanted.base)}\b", symbol.signature) is not None
        points = (
            1.5 * derived
            + 6.0 * (symbol.name == wanted.base != "")
            + 3.0 * (symbol == kin)
            + 3.0 * (symbol.name in named)
            + 2.0 * alike
            + begin
            + _USUAL * bool(usual & _called(symbol, place))
            - special
        )
        points += _RARE * sum(1.0 / spread[word] for word in texts[symbol] & words)
        return points + _overlap(symbol, place, words) - length / 16

    fitting = [s for s in members if s.kind in kinds and len(_full(s, place.lines)) <= LONGEST_SIBLING]
    found = sorted(fitting, key=lambda s: -worth(s))[:MOST_SIBLINGS]
    helper = next((h for s in found if (h := _helper(s, place, members)) is not None), None)
    return found if helper is None or helper in found else [found[0], helper]


def _usual_calls(place: TargetPlace, functions: Sequence[Symbol]) -> set[str]:
    """The methods of the object itself that many of its functions call: new ones are built on them, too."""
    own = {s.name for s in functions}
    spread = Counter(name for s in functions for name in _called(s, place) & own)
    return {name for name, n in spread.items() if n >= _LEAST_USUAL and n >= _USUAL_SHARE * len(functions)}


def _called(symbol: Symbol, place: TargetPlace) -> set[str]:
    """The methods that a function calls by `self.` or `this.`."""
    return set(_OWN_CALL.findall("\n".join(place.lines[symbol.start_line - 1 : symbol.end_line])))


def _helper(symbol: Symbol, place: TargetPlace, members: Sequence[Symbol]) -> Symbol | None:
    """The definition beside a sibling that does its work: a sibling of one line tells nothing without it."""
    body = _full(symbol, place.lines)
    if symbol.kind not in FUNCTIONS or not 0 < len(body) <= _THIN:
        return None
    called = re.search(r"\breturn\s+(?:self\.|this\.)?(\w+)\(", body[-1])
    found = (s for s in members if called and s.name == called[1] and s.kind in CLASSES | FUNCTIONS)
    return next((s for s in found if len(_full(s, place.lines)) <= LONGEST_HELPER), None)


def _overlap(symbol: Symbol, place: TargetPlace, words: set[str]) -> float:
    """How much a definition has to do with the task: words of its name count more than those of its text."""
    body = " ".join(place.lines[symbol.start_line - 1 : min(symbol.end_line, symbol.start_line + 30)])
    name = set(tokens_of(symbol.name))
    return 2.5 * len(name & words) + 0.5 * min(4, len(set(tokens_of(body)) & words))


def _outline(
    place: TargetPlace,
    owner: Symbol | None,
    full: Sequence[Symbol],
    listed: Sequence[Symbol],
    words: set[str],
    index: Index,
) -> str:
    lines = place.lines
    mark = "#" if place.language == "python" else "//"
    head = _head(owner, lines, words, mark) if owner is not None else _imports(lines, words)
    inherited = _inherited(owner, words, index) if owner is not None and mark == "#" else []
    space = "    " if owner is not None else ""
    others = [_listed(symbol, place) for symbol in listed if symbol not in full]
    other_names = [f"{space}{mark} also there: {'; '.join(others)}"] if others else []
    whole = [line for s in sorted(full, key=lambda s: s.start_line) for line in _full(s, lines)]
    return "\n".join([*head, *inherited, *other_names, *whole])


def _full(symbol: Symbol, lines: Sequence[str]) -> list[str]:
    """A definition with its docstring shortened and without blank lines."""
    return [line for line in shortened(lines[symbol.start_line - 1 : symbol.end_line]) if line.strip()]


def _listed(symbol: Symbol, place: TargetPlace) -> str:
    """A definition in a list: without its body, which small models would copy as one that is elided."""
    if symbol.kind not in FUNCTIONS:
        line = place.lines[symbol.start_line - 1].strip()
        return line if symbol.kind == "field" and len(line) <= _LONGEST_LISTED else symbol.name
    if is_property(place, symbol):
        return f"{symbol.name} (property)"
    bare = re.sub(r"^(?:(?:async|def|function|func|fn|pub|public|export)\s+)+", "", symbol.signature)
    bare = re.sub(r"\s*#.*", "", re.sub(r"\(\s*(?:self|cls)(?:,\s*)?", "(", bare))
    return bare if len(bare) <= _LONGEST_LISTED else f"{symbol.name}(...)"


def _head(owner: Symbol, lines: Sequence[str], words: set[str], mark: str) -> list[str]:
    """The line of a class, and the attributes that its methods set, those of the task's words first."""
    body = lines[owner.start_line - 1 : owner.end_line]
    at = next(
        (
            i
            for i, line in enumerate(body)
            if re.match(r"\s*(?:\w+\s+)*(?:class|struct|enum|trait|interface|type)\b", line)
        ),
        0,
    )
    assigned: dict[str, str] = {}
    for line in body:
        match = _ASSIGNED.match(line)
        if match:
            assigned.setdefault(match[1], line.strip()[:100])
    wanted = sorted(assigned, key=lambda name: -len(set(tokens_of(assigned[name])) & words))[:MOST_ASSIGNED]
    if not assigned and mark != "#":
        return _declared(body[at:], words)
    inner = re.match(r"\s*", body[at])[0] + "    "  # type: ignore[index]
    return [*body[: at + 1], *(f"{inner}{mark} {assigned[name]}" for name in assigned if name in wanted)]


def _declared(body: Sequence[str], words: set[str]) -> list[str]:
    """The first line of a type and the fields that its body declares, those of the task's words first."""
    fields = [line for line in body[1:] if _FIELD.match(line)]
    wanted = sorted(fields, key=lambda line: -len(set(tokens_of(line)) & words))[:MOST_ASSIGNED]
    return [body[0], *(line for line in fields if line in wanted)]


def _inherited(owner: Symbol, words: set[str], index: Index) -> list[str]:
    """Members of the base classes as comments: those that share a word with the task, and the names of others."""
    bases = _BASES.match(owner.signature)
    found: dict[str, Symbol] = {}
    for base in re.findall(r"[A-Za-z_]\w*", bases[1]) if bases else ():
        for symbol in index.symbols(base)[:2]:
            if symbol.kind in CLASSES and symbol.qualified != owner.qualified:
                start = f"{symbol.qualified}."
                inside = (
                    s for s in index.outline(symbol.path) if s.qualified.startswith(start) and s.kind in FUNCTIONS
                )
                found |= {s.name: s for s in inside if not s.name.startswith("_")}
    told = [s for s in found.values() if set(tokens_of(s.name)) & words][:4]
    others = [name for name, s in found.items() if s not in told][:MOST_INHERITED]
    lines = [f"    # inherited: {s.short_signature}" for s in told]
    return [*lines, f"    # inherited: {', '.join(others)}"] if others else lines


def _imports(lines: Sequence[str], words: set[str]) -> list[str]:
    found = [line for line in lines[:80] if _IMPORT.match(line) and not line.rstrip().endswith("(")]
    return sorted(found, key=lambda line: -len(set(tokens_of(line)) & words))[:8]
