"""Mutants: texts of code with one deliberate fault each, and code with a fault in each function. Pure.

They are controls of a test run: a fault in the change, or in each function, must turn a test red. They also judge
tests.
"""

from __future__ import annotations

import difflib
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import PurePosixPath

from tree_sitter import Node

from repopilot.code.languages import is_test_path, language_of
from repopilot.code.python_ast import parses
from repopilot.code.source_positions import rows_of
from repopilot.code.syntax import parse, text_of
from repopilot.sandbox.controls.fault_sites import BOUNDS, MUTATED, RANK, Site, sites

MOST_MUTANTS = 12
LONGEST_SHOWN = 48
"""Characters of code shown on one line."""
_PARSE_S = 2.0
_MOST_SITES = 400
_WORDS = re.compile(r"\w+|\s+|.", re.S)
_MOST_FILES = 12
_HOLDS_DEFINITIONS = frozenset(
    "module block decorated_definition if_statement elif_clause else_clause try_statement except_clause".split()
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that differs from another in one place.

    Attributes:
        operator: the kind of fault, for example `operator`.
        line: of the fault, 1-based.
        before, after: the code at that place without and with the fault.
        text: the whole text with the fault.
        start, end: of the fault, in bytes of the text without it.
    """

    operator: str
    line: int
    before: str
    after: str
    text: str
    start: int = 0
    end: int = 0


def one_line(code: str) -> str:
    """Code on one line, cut off where it is long."""
    line = " ".join(code.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}…"


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The 1-based lines of a text that differ from an older one; for removed lines, their neighbours."""
    old = rows_of(before)
    new = rows_of(after)
    found: set[int] = set()
    for kind, _, _, first, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            found |= {first, first + 1}
        elif kind != "equal":
            found |= set(range(first + 1, end + 1))
    return frozenset(line for line in found if 1 <= line <= len(new))


def new_ranges(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Byte ranges of a text that an older one doesn't have, compared by words."""
    found: list[tuple[int, int]] = []
    new = after.splitlines(keepends=True)
    old = before.splitlines(keepends=True)
    starts = list(accumulate((len(line.encode("utf-8", "surrogatepass")) for line in new), initial=0))
    for kind, a, b, first, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind in ("equal", "delete"):
            continue
        removed = _WORDS.findall("".join(old[a:b]))
        words = _WORDS.findall("".join(new[first:end]))
        lengths = (len(word.encode("utf-8", "surrogatepass")) for word in words)
        places = list(accumulate(lengths, initial=starts[first]))
        parts = difflib.SequenceMatcher(None, removed, words, autojunk=False).get_opcodes()
        found += [(places[i], places[j]) for how, _, _, i, j in parts if how in ("insert", "replace")]
    return tuple(found)


def line_mutants(source: str, path: str, lines: Collection[int], most: int) -> tuple[Mutant, ...]:
    """Make mutants of some lines.

    Args:
        source: the text of a file.
        path: its path, which tells the language.
        lines: 1-based, where faults may begin.
        most: how many at most.

    Returns:
        The mutants most likely to be noticed come first, one per line in turn. Each parses as well as the source. Empty
        for an unsupported language.
    """
    language = language_of(path) or ""
    data = source.encode("utf-8", "surrogatepass")
    tree = parse(data, language, _PARSE_S) if lines and language in MUTATED else None
    if tree is None:
        return ()
    found = islice(sites(tree.root_node, data, language, frozenset(lines)), _MOST_SITES)
    ordered = sorted(found, key=lambda site: (RANK.index(site.operator), site.start))
    return tuple(islice(_made(ordered, data, language, broken=tree.root_node.has_error), most))


def mutants(source: str, symbol: str, most: int = MOST_MUTANTS, seed: int = 0) -> tuple[Mutant, ...]:
    """Make mutants of a Python function, a method, or all methods of a class.

    Args:
        source: the text of a module.
        symbol: the qualified name of the definition.
        most: how many at most.
        seed: decides which, where there are more; the same seed gives the same mutants.

    Returns:
        Ordered by line, from as many different lines as possible. Every text parses. Empty where the source does not
        parse, defines no such function, or has nothing to change.
    """
    data = source.encode("utf-8", "surrogatepass")
    bodies = [body for name, body in _functions(data) if symbol in (name, name.rpartition(".")[0])]
    found = sorted({site for body in bodies for site in sites(body, data, "python")})
    random.Random(seed).shuffle(found)
    return tuple(sorted(islice(_made(found, data, "python"), most), key=lambda each: (each.line, each.text)))


def with_faults(files: Mapping[str, str], seed: int, most: int = 1) -> dict[str, str]:
    """Put faults into each Python function of the code under test.

    Args:
        files: texts by path, tests among them.
        seed: decides which faults.
        most: most faults per function; a single fault may happen to change nothing.

    Returns:
        The changed texts by path; empty where there is no function to change.
    """
    code = [path for path in files if PurePosixPath(path).suffix == ".py" and not is_test_path(path)]
    changed = {path: faults_in_each_function(files[path], seed, most) for path in code[:_MOST_FILES]}
    return {path: text for path, text in changed.items() if text != files[path]}


def faults_in_each_function(source: str, seed: int = 0, most: int = 1) -> str:
    """The text of a Python module with faults in each of its functions and methods that can have one.

    Args:
        source: the text; returned as it is where it doesn't parse.
        seed: decides which faults.
        most: most faults per function.
    """
    data = source.encode("utf-8", "surrogatepass")
    rng = random.Random(seed)
    chosen: list[Site] = []
    for _, body in sorted(_functions(data), key=lambda each: -each[1].start_byte):
        found = sorted(sites(body, data, "python"))
        rng.shuffle(found)
        found.sort(key=lambda site: site.after in BOUNDS)  # tests hardly notice these: overlapping sites go first
        chosen += _apart(found, most)
    return _with_all(chosen, data).decode("utf-8", "surrogatepass")


def _with_all(chosen: Sequence[Site], data: bytes) -> bytes:
    """Apply changes, given in reverse source order, without those that break parsing."""
    changed = data
    for site in chosen:
        changed = _with(site, changed)
    if not chosen or parses(changed.decode("utf-8", "replace")):
        return changed
    middle = len(chosen) // 2
    return _with_all(chosen[middle:], _with_all(chosen[:middle], data)) if middle else data


def _apart(found: Iterable[Site], most: int) -> list[Site]:
    """The first sites that don't overlap, in reverse source order."""
    chosen: list[Site] = []
    for site in found:
        if len(chosen) < most and all(site.end <= other.start or site.start >= other.end for other in chosen):
            chosen.append(site)
    return sorted(chosen, reverse=True, key=lambda site: site.start)


def _functions(data: bytes) -> Iterator[tuple[str, Node]]:
    """Qualified names and bodies of a Python module's functions, without nested ones; none if it doesn't parse."""
    tree = parse(data, "python", _PARSE_S) if parses(data.decode("utf-8", "replace")) else None
    left = [("", tree.root_node)] if tree is not None else []
    while left:
        prefix, node = left.pop()
        for child in node.children:
            name = child.child_by_field_name("name")
            body = child.child_by_field_name("body")
            if child.type == "function_definition" and name is not None and body is not None:
                yield prefix + text_of(name, data), body
            elif child.type == "class_definition" and name is not None and body is not None:
                left.append((f"{prefix}{text_of(name, data)}.", body))
            elif child.type in _HOLDS_DEFINITIONS:
                left.append((prefix, child))


def _with(site: Site, data: bytes) -> bytes:
    return data[: site.start] + site.after.encode() + data[site.end :]


def _made(found: Sequence[Site], data: bytes, language: str, *, broken: bool = False) -> Iterator[Mutant]:
    """The mutants of some sites that parse as well as the source, one per line in turn."""
    starts = [0, *(number + 1 for number, byte in enumerate(data) if byte == 10)]
    taken: Counter[int] = Counter()
    rounds = []
    for site in found:
        line = bisect_right(starts, site.start)
        rounds.append((taken[line], line, site))
        taken[line] += 1
    for _, line, site in sorted(rounds, key=lambda each: each[0]):
        text = _with(site, data)
        if text != data and _parses_as_well(text, language, broken=broken):
            faulty = text.decode("utf-8", "replace")
            yield Mutant(site.operator, line, *_shown(site, data), faulty, site.start, site.end)


def _shown(site: Site, data: bytes) -> tuple[str, str]:
    """The code at a site without and with its fault; for an insertion into a string, the whole string with its
    quotes."""
    if site.start < site.end:
        return data[site.start : site.end].decode("utf-8", "replace"), site.after
    quote = data[site.start - 1 : site.start]
    end = data.find(quote, site.start) + 1
    first, rest = (each.decode("utf-8", "replace") for each in (quote, data[site.start : end]))
    return first + rest, first + site.after + rest


def _parses_as_well(data: bytes, language: str, *, broken: bool) -> bool:
    if language == "python" and not broken:
        return parses(data.decode("utf-8", "replace"))
    tree = parse(data, language, _PARSE_S)
    return tree is not None and (broken or not tree.root_node.has_error)
