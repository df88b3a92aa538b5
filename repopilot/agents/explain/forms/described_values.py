"""Answers which value a limit or default has that a question describes in its own words ("how many redirects are
followed at most?"): the number, in the places the search found, whose name and comment say what the question says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.bindings import BINDING_TYPES, Binding, binding_of, name_node
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.compose import Item, code, sentence
from repopilot.agents.explain.forms.known_symbols import is_program, symbol_around
from repopilot.agents.explain.forms.occurrences import Occurrence
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.explain.forms.syntax_nodes import first_line, parsed_file, walk
from repopilot.agents.explain.forms.term_weights import TermWeights, term_weights
from repopilot.agents.explain.forms.values import resolved
from repopilot.index.store import Index
from repopilot.types import Hit

READ_HITS = 8
"""Of the search's places, how many are looked through."""
_NUMBER = re.compile(r"(?<![\w\"'.])-?(?:0[xob])?\d[\d_]*(?:\.\d+)?")
_CALCULATED = re.compile(r"^[\w\s.:*/+<>()|?-]+$")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_TRIVIAL = re.compile(r"^[-+]?[01](?:\.0*)?[a-zA-Z]*$")
_LONGEST_VALUE = 60
_UNIT_WORDS = {
    "duration": "age timeout time ttl duration interval delay second millisecond minute hour expire ms period wait",
    "size": "size length len bytes byte capacity buffer kb mb width large",
    "depth": "depth nest level deep recursion",
    "count": "max limit count number num maximum total retry retries attempt worker thread",
}
_LIMIT_WORDS = frozenset("max maximum limit default cap most threshold min minimum".split())
_CLEAR = 1.4
"""How much better than any other value the best must be."""
_LEAST_SHARE = 0.2
"""The least share of the question's weight that the best must hold."""
_COMMENT = re.compile(r"^\s*(?:#|//|\*|/\*|--|\"\"\")|\s(?:#|//)\s")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A binding with a number, and how well it fits the question."""

    binding: Binding
    score: float
    named: bool


def answer_quantity(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer how many, how long or how large something is by default or at most."""
    weights = term_weights(inquiry.index, inquiry.results.query)
    hits = [hit for hit in inquiry.results.hits[:READ_HITS] if is_program(hit.chunk.path)]
    found = [
        _candidate(inquiry.index, form, binding, weights) for hit in hits for binding in _numbers(inquiry.index, hit)
    ]
    best = _clear_best(found, weights)
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


def _numbers(index: Index, hit: Hit) -> Iterator[Binding]:
    """The bindings with a number in a place."""
    file = parsed_file(index, hit.chunk.path)
    if file is None:
        return
    for node in walk(file.root):
        if node.type not in BINDING_TYPES or not hit.chunk.start_line <= first_line(node) <= hit.chunk.end_line:
            continue
        name = name_node(node)
        binding = binding_of(Occurrence(file, name)) if name is not None else None
        if binding is not None and _is_setting(binding):
            yield binding


def _is_setting(binding: Binding) -> bool:
    value = _QUOTED.sub("", binding.value)
    if (
        len(binding.value) > _LONGEST_VALUE
        or not _NUMBER.search(value)
        or not _CALCULATED.match(value.replace("[]", ""))
    ):
        return False
    words = set(_words(binding.name))
    said = bool(words & _LIMIT_WORDS) or binding.name.isupper()
    if binding.role in ("attribute", "key", "local"):
        return said or (binding.in_constructor and binding.role != "local" and not _TRIVIAL.match(value))
    return said or not _TRIVIAL.match(value)


def _candidate(index: Index, form: Form, binding: Binding, weights: TermWeights) -> _Candidate:
    around = symbol_around(index, binding.path, binding.first)
    name = weights.of(binding.name)
    comment = weights.of(_comments(index, binding))
    owner = weights.of(f"{around.qualified if around else ''} {binding.container} {binding.path.rpartition('/')[2]}")
    words = set(_words(binding.name))
    unit = bool(words & set(_UNIT_WORDS.get(form.unit, "").split()))
    limit = bool(words & _LIMIT_WORDS)
    score = weights.total_of(name, 1.0) + weights.total_of(comment - name, 0.6)
    score += weights.total_of(owner - name - comment, 0.5)
    score *= 1.0 + 0.5 * unit + 0.2 * limit
    return _Candidate(binding, score, bool(name) or unit)


def _clear_best(found: Sequence[_Candidate], weights: TermWeights) -> _Candidate | None:
    ordered = sorted(found, key=lambda candidate: -candidate.score)
    if not ordered or not ordered[0].named or ordered[0].score < _LEAST_SHARE * weights.total:
        return None
    best = ordered[0]
    others = [c for c in ordered[1:] if c.binding.value != best.binding.value]
    return best if not others or best.score >= _CLEAR * others[0].score else None


def _comments(index: Index, binding: Binding) -> str:
    """The comment on the line of a binding, and the lines of comment right above it."""
    lines = (index.lines(binding.path, max(1, binding.first - 6), binding.last) or "").split("\n")
    above = lines[: len(lines) - (binding.last - binding.first + 1)]
    found = [line for line in lines[len(above) :] if _COMMENT.search(line)]
    found = [re.split(r"#|//", line, maxsplit=1)[-1] for line in found]
    for line in reversed(above):
        if not _COMMENT.match(line):
            break
        found.append(line)
    return " ".join(found)


def _item(index: Index, binding: Binding) -> Item:
    around = symbol_around(index, binding.path, binding.first)
    return Item(
        "", binding.path, binding.first, min(binding.last, binding.first + 4), around.qualified if around else ""
    )


def _words(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
