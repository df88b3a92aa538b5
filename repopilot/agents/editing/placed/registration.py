"""Where a module lists its own definitions: `__all__`, and tables by name such as `FILTERS = {"upper": do_upper}`.

What is new has to be listed beside its siblings, or nobody finds it. Pure.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from repopilot.code.python_ast import parse_python
from repopilot.index.tokens import tokens_of

_FEWEST, _SHARE = 3, 0.35
"""How many entries name definitions of the module, and which share of them, in a list of definitions."""
_MOST = 0.6
"""Which share of the public definitions `__all__` has to name, to name a new one as well."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of definitions.

    Attributes:
        name: of the variable.
        entries: the first and last line of each entry, from 1.
        keys: the keys of a table, else the names as they are listed.
        values: the names of the definitions.
        table: whether it has keys.
    """

    name: str
    entries: tuple[tuple[int, int], ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]
    table: bool

    @property
    def affixes(self) -> tuple[str, str] | None:
        """How the names of definitions begin and end where the keys don't: `do_`, or `Converter`; None where names
        and keys have nothing in common."""
        found: Counter[tuple[str, str]] = Counter()
        for key, value in zip(self.keys, self.values, strict=True):
            start, middle, end = value.lower().partition(key.lower())
            if middle and value and not (start and end):
                found[value[: len(start)], value[len(value) - len(end) :] if end else ""] += 1
        best, count = found.most_common(1)[0] if found else (("", ""), 0)
        return best if count >= _FEWEST and count * 2 > sum(1 for value in self.values if value) else None

    @property
    def affix(self) -> str:
        """What begins the names of its definitions; ''."""
        return self.affixes[0] if self.table and self.affixes else ""

    def key_of(self, name: str) -> str | None:
        """The key of a definition; None where the table doesn't tell."""
        if not self.table:
            return name
        if self.affixes is None:
            return None
        start, end = self.affixes
        key = name.removeprefix(start).removesuffix(end)
        return key.lower() if all(k == k.lower() for k in self.keys) else key


def listings(text: str) -> list[Listing]:
    """The lists of its own definitions in the text of a Python module; [] for a text that can't be parsed."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return [found for node in tree.body if (found := _listing(node, defined)) is not None]


def _listing(node: ast.stmt, defined: Collection[str]) -> Listing | None:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return None
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name):
        return None
    pairs = list(_entries(node.value))
    known = [value for _, value, _, _ in pairs if value in defined]
    if len(known) < _FEWEST or len(known) < _SHARE * len(pairs):
        return None
    spans = tuple((first, last) for _, _, first, last in pairs)
    keys, values = tuple(key for key, *_ in pairs), tuple(value for _, value, *_ in pairs)
    return Listing(target.id, spans, keys, values, isinstance(node.value, ast.Dict))


def _entries(value: ast.expr | None) -> Iterator[tuple[str, str, int, int]]:
    """Key, name of the definition, first and last line of each entry of a literal."""
    if isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                name = item.id if isinstance(item, ast.Name) else ""
                yield key.value, name, key.lineno, item.end_lineno or item.lineno
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        for item in value.elts:
            name = item.id if isinstance(item, ast.Name) else str(item.value) if isinstance(item, ast.Constant) else ""
            yield name, name, item.lineno, item.end_lineno or item.lineno


def affixed(text: str, name: str, task: str) -> str:
    """The name of a new definition as those beside it are called that are listed under such names.

    Args:
        text: of the module.
        name: as the task has it.
        task: says whether it belongs to a list: "a filter `reverse`" is one of `FILTERS`.
    """
    fitting = [each for each in listings(text) if each.table and each.affix and _is_about(each, name, task)]
    affix = fitting[0].affix if fitting else ""
    return name if name.startswith(affix) else affix + name


def registered(text: str, name: str, task: str) -> str:
    """The text of a module with a new definition in its lists.

    Args:
        text: of the module, with the definition.
        name: of the definition.
        task: says to which tables it belongs.

    Returns:
        The text; unchanged where the definition belongs to none, or where it is listed already.
    """
    for found in listings(text):
        if name in found.values or (name.startswith("_") and found.name == "__all__"):
            continue
        if found.name == "__all__" and f"{found.name}" not in task and not _lists_most(found, text):
            continue
        if found.key_of(name) and (found.name == "__all__" or _is_about(found, name, task)):
            text = _with_entry(text, found, name)
    return text


def _is_about(found: Listing, name: str, task: str) -> bool:
    words = tokens_of(re.sub(r"[`\"'][^`\"']*[`\"']", "", task))
    named = tokens_of(found.name)
    return bool(named & words) or found.name in task or bool(found.affix and name.startswith(found.affix))


def _lists_most(found: Listing, text: str) -> bool:
    """Whether a list has most of the public definitions of its module."""
    public = {
        n.name
        for n in parse_python(text).body
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not n.name.startswith("_")
    }
    return len(public & set(found.values)) > _MOST * (len(public) - 1)


def _with_entry(text: str, found: Listing, name: str) -> str:
    """The text with the entry of a sibling once more, for another name."""
    key = found.key_of(name) or name
    at = _model_entry(found, key)
    first, last = found.entries[at]
    lines = text.split("\n")
    alone = sum(start == first for start, _ in found.entries) == 1 and lines[first - 1].strip()[:1] not in (
        "",
        "[",
        "(",
    )
    alone = alone and re.match(r"\s*(?:[\w:. \[\],|]+=\s*)?[\[({]", lines[first - 1]) is None
    old_key, old_value = found.keys[at], found.values[at]
    before = at == 0 and key < found.keys[0] and _is_sorted(found.keys)
    if alone:
        entry = _renamed("\n".join(lines[first - 1 : last]), old_key, old_value, key, name)
        if not re.search(r",\s*(?:#.*)?$", lines[last - 1]):
            lines[last - 1] = lines[last - 1].rstrip() + ","
        at_line = first - 1 if before else last
        closed = entry if re.search(r",\s*(?:#.*)?$", entry) else entry + ","
        return "\n".join([*lines[:at_line], closed, *lines[at_line:]])
    return _inline(lines, found, at, name)


def _inline(lines: Sequence[str], found: Listing, at: int, name: str) -> str:
    """A new item behind another one on the same line; only lists of strings or names are written so."""
    line = found.entries[at][1] - 1
    old = found.values[at]
    pattern = re.compile(rf"([\"']?)(?<!\w){re.escape(old)}(?!\w)\1")
    if found.table or not pattern.search(lines[line]):
        return "\n".join(lines)
    new = pattern.sub(lambda m: f"{m[0]}, {m[1]}{name}{m[1]}", lines[line], count=1)
    return "\n".join([*lines[:line], new, *lines[line + 1 :]])


def _model_entry(found: Listing, key: str) -> int:
    """The entry behind which a new one belongs: in alphabetical order where the list is in one, else the last."""
    own = [n for n, value in enumerate(found.values) if value]
    if not _is_sorted(found.keys):
        return own[-1]
    return max((n for n in own if found.keys[n] < key), default=own[0])


def _is_sorted(keys: Sequence[str]) -> bool:
    return len(keys) > 1 and list(keys) == sorted(keys)


def _renamed(entry: str, old_key: str, old_value: str, key: str, name: str) -> str:
    new = re.sub(rf"(?<!\w){re.escape(old_value)}(?!\w)", name, entry)
    return new if old_key == old_value else re.sub(rf"([\"']){re.escape(old_key)}\1", rf"\g<1>{key}\1", new)
