"""Answers which value a limit or default has that a question describes in its own words ("how many redirects are
followed at most?"): the number, in the files the search found, whose name and comment say what the question says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, sentence
from repopilot.agents.explain.forms.described.term_weights import TermWeights, term_weights
from repopilot.agents.explain.forms.known_symbols import is_program, symbol_around
from repopilot.agents.explain.forms.named_values import resolved
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax.bindings import Binding, binding_of
from repopilot.agents.explain.forms.syntax.occurrences import Occurrence
from repopilot.agents.explain.forms.syntax.syntax_nodes import ParsedFile, parsed_file
from repopilot.index.store import Index
from repopilot.types import Hit, Symbol

READ_HITS, READ_FILES = 8, 3
"""How many of the search's places are looked at, and how many files are read whole."""
_BINDS_NUMBER = re.compile(
    rb"#[ \t]*define[ \t]+(\w+)[ \t]+[^\n]*\d"
    rb"|([A-Za-z_$][\w$]*)[\])]?[ \t]*(?::[ \t]*[^=\n,]{1,60}?)?[:=]=?[ \t]*[^=\n]*\d"
)
_NUMBER = re.compile(r"(?<![\w\"'.])-?(?:0[xob])?\d[\d_]*(?:\.\d+)?")
_CALL_HEADS = re.compile(r"[\w.:!]+\(|time\.\w+|\.\w+\(\)|\b0[xob][\da-fA-F_]+|\d[\d_.]*\w*")
_VARIABLE = re.compile(r"\b[a-z_]\w+")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_TRIVIAL = re.compile(r"^[-+]?[01](?:\.0*)?[a-zA-Z]*$")
_DIGIT = re.compile(rb"\d")
_LONGEST_VALUE, _LONGEST_LINE = 60, 400
_UNIT_WORDS = {
    "duration": "age timeout time ttl duration interval delay second seconds millisecond milliseconds minute hour "
    "expiry expires ms period wait",
    "size": "size length len bytes byte capacity buffer kb mb width chars",
    "depth": "depth nest nesting level levels deep recursion",
    "count": "count number num total retries attempts workers threads redirects",
}
_LIMIT_WORDS = frozenset("max maximum limit default cap most threshold min minimum".split())
_SAID_BY_THE_FORM = frozenset(
    "combin mani often long time second minut hour maximum max minimum min limit default most temp level size length "
    "number total set config configur option chang".split()
)
"""Terms that say which kind of value is asked for, and nothing of what it is the value of."""
_CLEAR = 1.3
"""How much better than any other value the best must be."""
_LEAST_COVERED, _LEAST_NAMED, _LEAST_DIRECT = 0.3, 0.2, 0.1
"""The least share of the question's weight that the best must hold with what stands around it; where its name holds
some of it and is of the unit asked for; and with its name, comment and owner alone."""
_COMMENT = re.compile(r"^\s*(?:#|//|\*|/\*|--|\"\"\")|\s(?:#|//)\s")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A binding with a number, how much of the question it says, and whether it can be what is asked for."""

    binding: Binding
    score: float
    fits: bool


def answer_quantity(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer how many, how long or how large something is by default or at most."""
    weights = term_weights(inquiry.index, inquiry.results.query).without(_SAID_BY_THE_FORM)
    best = _clear_best(candidates(form, inquiry, weights))
    if best is None:
        return None
    binding = best.binding
    text = i18n.text("forms.value.one", inquiry.language, name=f"`{binding.name}`", value=code(binding.value))
    items = [_item(inquiry.index, binding)]
    constant = resolved(inquiry.index, binding)
    if constant is not None:
        text = i18n.text("forms.which_is", inquiry.language, text=text, value=code(constant.value))
        items.append(_item(inquiry.index, constant))
    return sentence(inquiry, "default", text, items, sure=False)


def candidates(form: Form, inquiry: Inquiry, weights: TermWeights) -> list[_Candidate]:
    """The numbers that may be asked for, in the files of the best places."""
    hits = [hit for hit in inquiry.results.hits[:READ_HITS] if is_program(hit.chunk.path)]
    paths = list(dict.fromkeys(hit.chunk.path for hit in hits))[:READ_FILES]
    found = []
    for path in paths:
        file = parsed_file(inquiry.index, path)
        if file is not None:
            known = _KnownFile(file, inquiry.index.outline(path), [h for h in hits if h.chunk.path == path])
            found += [_candidate(known, form, binding, weights) for binding in _numbers(file)]
    return found


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """A file with its definitions, and the search's places in it."""

    file: ParsedFile
    outline: Sequence[Symbol]
    hits: Sequence[Hit]


def _numbers(file: ParsedFile) -> Iterator[Binding]:
    """The bindings of a number in a file."""
    seen = set()
    at = 0
    for line in file.data.split(b"\n"):
        matches = list(_BINDS_NUMBER.finditer(line)) if len(line) < _LONGEST_LINE and _DIGIT.search(line) else []
        for match in matches:
            start, end = match.span(1) if match.group(1) else match.span(2)
            node = file.root.named_descendant_for_byte_range(at + start, at + end)
            named = node is not None and node.end_byte - node.start_byte == end - start
            binding = binding_of(Occurrence(file, node)) if node is not None and named else None
            if binding is not None and binding not in seen and _is_setting(binding):
                seen.add(binding)
                yield binding
        at += len(line) + 1


def _is_setting(binding: Binding) -> bool:
    """Whether a binding gives a number to a limit, a default or a constant, and not to a variable of a calculation."""
    value = _QUOTED.sub("", binding.value)
    if len(binding.value) > _LONGEST_VALUE or not _NUMBER.search(value) or _VARIABLE.search(_CALL_HEADS.sub("", value)):
        return False
    said = bool(set(_words(binding.name)) & _LIMIT_WORDS) or binding.name.isupper()
    if binding.role == "argument":
        return False
    if binding.role in ("attribute", "key", "local"):
        return said or (binding.in_constructor and binding.role != "local" and not _TRIVIAL.match(value))
    return said or not _TRIVIAL.match(value)


def _candidate(known: _KnownFile, form: Form, binding: Binding, weights: TermWeights) -> _Candidate:
    around = symbol_around(known.outline, binding.first)
    name = weights.of(binding.name)
    comment = weights.of(_comments(known.file, binding)) - name
    owner = weights.of(f"{around.qualified if around else ''} {binding.container} {binding.path}") - name - comment
    here = (h.chunk.text for h in known.hits if h.chunk.start_line <= binding.first <= h.chunk.end_line)
    near = weights.of(" ".join(here))
    words = set(_words(binding.name))
    unit = bool(words & set(_UNIT_WORDS.get(form.unit, "").split()))
    limit = bool(words & _LIMIT_WORDS)
    unit |= limit and form.unit in ("size", "count")
    score = weights.total_of(name) + weights.total_of(comment, 0.6) + weights.total_of(owner, 0.5)
    score += weights.total_of(near - name - comment - owner, 0.15)
    score *= 1.0 + 0.5 * unit + 0.2 * limit
    covered = weights.total_of(name | comment | owner | near)
    direct = weights.total_of(name | comment | owner)
    return _Candidate(binding, score, _fits(form, bool(name), unit, direct, covered, weights.total))


def _fits(form: Form, named: bool, unit: bool, direct: float, covered: float, total: float) -> bool:
    """Whether a number can be what is asked for at all: of its unit, or named by the question's words."""
    if form.unit in ("duration", "depth") and not unit:
        return False
    if unit:
        return covered >= (_LEAST_COVERED if not named else _LEAST_NAMED) * total and direct >= _LEAST_DIRECT * total
    return named and covered >= _LEAST_COVERED * total and direct >= _LEAST_COVERED * total


def _clear_best(found: Sequence[_Candidate]) -> _Candidate | None:
    ordered = sorted(found, key=lambda candidate: -candidate.score)
    best = ordered[0] if ordered else None
    if best is None or not best.fits or best.score <= 0:
        return None
    others = [c for c in ordered if c.binding.value != best.binding.value]
    return best if not others or best.score >= _CLEAR * others[0].score else None


def _comments(file: ParsedFile, binding: Binding) -> str:
    """The comment on the lines of a binding, and the lines of comment right above it."""
    lines = file.lines[max(0, binding.first - 7) : binding.last]
    above = lines[: len(lines) - (binding.last - binding.first + 1)]
    found = [line for line in lines[len(above) :] if _COMMENT.search(line)]
    found = [re.split(r"#|//", line, maxsplit=1)[-1] for line in found]
    for line in reversed(above):
        if not _COMMENT.match(line):
            break
        found.append(line)
    return " ".join(found)


def _item(index: Index, binding: Binding) -> Item:
    around = symbol_around(index.outline(binding.path), binding.first)
    return Item(
        "", binding.path, binding.first, min(binding.last, binding.first + 4), around.qualified if around else ""
    )


def _words(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
