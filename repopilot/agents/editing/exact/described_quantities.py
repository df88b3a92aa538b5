"""Finds the number in the code that a task describes by value and by words: `a worker lives ten minutes, not five`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.agents.editing.exact.described import name_parts
from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, written_by_program
from repopilot.agents.editing.exact.values.measures import UNITS
from repopilot.agents.editing.exact.values.numbers_beside import correct_remark
from repopilot.agents.editing.exact.values.quantities import CodeNumber, code_numbers, exchanged_number
from repopilot.agents.editing.exact.wording.exchanged_quantities import ExchangedQuantity, exchanged_quantities
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of
from repopilot.code.languages import file_kind, is_example_path, is_test_path
from repopilot.index.tokens import expand, words
from repopilot.retrieval.query.french import english_words
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.retrieval.query.synonyms import SYNONYMS
from repopilot.types import Edit, Symbol

_ON_LINE, _AROUND, _ABOVE, _FILE, _IN_PATH = 2.0, 1.5, 1.0, 1.2, 0.7
"""What a word of the task counts on the number's line, in the names around it, in the comment above, in the name of the
file and in the rest of the path."""
_LIKE = 0.5
"""What a synonym counts, as a share."""
_NAMED = 3.0
"""What it counts that the code names a definition as the task writes it."""
_EXPLAINED, _SET = 1.0, 0.3
"""What it counts that the task explains all of the name that a number is given to, and that it is given to a name."""
_LEAST, _NEXT = 1.8, 0.8
"""The least score of a number that is meant, and the share of it that the next best may have."""
_LEAST_GUESSED, _NEXT_GUESSED = 2.6, 0.7
"""The same where the task doesn't say in so many words that a quantity is exchanged."""
_MOST_FILES = 3000
_SLOT = re.compile(r"(?P<name>[A-Za-z_$][\w$]*)[\"']?\]?\s*(?::[^=\n(){}]{0,40})?(?:=|:|:=|,)\s*$")
_COUNTS = re.compile(r"(?:[<>=!]=|[<>\[%])\s*$")
"""What stands before numbers that are compared or that count elements, not set."""
_GIVEN_TO = re.compile(r"([A-Za-z_$][\w$]*)[\"']?\]?\s*(?::[^=\n(){}]{0,40})?[=:(]+\s*$")
_MOST_BEFORE = 80
"""Characters of a line before a number that tell what it is."""
_DIGIT = re.compile(r"\d")
_INDEX = re.compile(r"\w\[\s*$")
_TEST = re.compile(r"tests?$|test_|Test[A-Z_]|Benchmark")
_COMMENT = re.compile(r"\s*(?:#|//|/?\*)")
_BEHIND = re.compile(r"\s*[,;)\]}]*\s*(?:#|//|/\*)\s*(?P<text>.*)")
_WEAK = frozenset("default max min maximum minimum number count limit size length amount time sec ms num".split())


@dataclass(frozen=True, slots=True)
class QuantitySite:
    """A number that may be meant.

    Attributes:
        path: of the file.
        line: from 1.
        number: as it is in that line.
        text: what it becomes.
        score: how much speaks for it.
        owner: the innermost definition around it, '' for none.
        certain: whether the task says in so many words that such a number is exchanged.
    """

    path: str
    line: int
    number: CodeNumber
    text: str
    score: float
    owner: str
    certain: bool


def described_quantity(task: str, sources: Sources) -> Patch | None:
    """Put another number where a task describes one.

    Args:
        task: on one line.
        sources: the files.

    Returns:
        The change; None where the task isn't clearly such a change, or several numbers fit alike.
    """
    sites = quantity_sites(task, sources)
    chosen = _chosen(sites, task)
    return quantity_patch(chosen, sources) if chosen else None


def quantity_sites(task: str, sources: Sources) -> list[QuantitySite]:
    """The numbers of the code that a task may want to be others.

    Args:
        task: on one line.
        sources: the files.

    Returns:
        The numbers outside of tests, each once, likeliest first; [] where the task doesn't exchange quantities.
    """
    wanted = exchanged_quantities(task)
    if not wanted:
        return []
    weights, names = _weights(task, sources), _code_names(task)
    files = _files(task, names, sources)
    found: dict[tuple[str, int, int], QuantitySite] = {}
    for path in files[:_MOST_FILES]:
        for site in _sites_of(path, wanted, weights, names, sources):
            place = (path, site.line, site.number.start)
            if place not in found or found[place].score < site.score:
                found[place] = site
    return sorted(found.values(), key=lambda s: (-s.score, s.path, s.line, s.number.start))


def _files(task: str, names: set[str], sources: Sources) -> list[str]:
    """The files that come into question; none where the task names what doesn't exist."""
    index = sources.workspace.index
    paths = [token.inner.strip("@/") for token in tokens_of(task) if token.is_path]
    if any(not index.symbols(name) and not sources.mentioning(name) for name in names):
        return []
    if any(path_named(path, index) is None and not any(path in known for known in index.files) for path in paths):
        return []
    named = [path for each in paths if (path := path_named(each, index)) is not None]
    code = [p for p in index.files if file_kind(p) == "code" and not is_test_path(p) and not is_example_path(p)]
    return named or code


def _sites_of(
    path: str, wanted: Sequence[ExchangedQuantity], weights: Mapping[str, float], names: set[str], sources: Sources
) -> Iterator[QuantitySite]:
    lines = (sources.workspace.index.text(path) or "").split("\n")
    found = list(_exchangeable(lines, wanted))
    source = sources.get(path) if found else None
    if source is None or written_by_program(source):
        return
    outline = sources.outline(path)
    own = source.text.split("\n")
    for at, number, new, exchange in found:
        if at >= len(own) or own[at] != lines[at]:  # it holds a secret, which the index doesn't
            continue
        owners = [s for s in outline if s.start_line <= at + 1 <= s.end_line]
        if any(_TEST.match(s.name) for s in owners):
            continue
        slot = _SLOT.search(lines[at][max(0, number.start - _MOST_BEFORE) : number.start])
        explained = slot is not None and _explained(slot["name"], weights)
        if exchange.old is None and exchange.certain and not explained:
            exchange = replace(exchange, certain=False)
        score = _score(path, lines, at, owners, weights, names)
        score += _EXPLAINED * explained + _SET * (slot is not None) + exchange.worth
        owner = owners[-1].qualified if owners else ""
        if _in_code(source, at, lines[at], number):
            yield QuantitySite(path, at + 1, number, new, score, owner, exchange.certain)


def _exchangeable(
    lines: Sequence[str], wanted: Sequence[ExchangedQuantity]
) -> Iterator[tuple[int, CodeNumber, str, ExchangedQuantity]]:
    """The numbers of lines that may be meant, and what they become."""
    texts: dict[tuple[str, str, int], str | None] = {}  # the same small numbers stand everywhere
    for at, line in enumerate(lines):
        if not _DIGIT.search(line) or _COMMENT.match(line):
            continue
        for number in code_numbers(line):
            before = line[max(0, number.start - _MOST_BEFORE) : number.start]
            unit = number.unit or _unit_said(before, line[number.end :])
            for rank, exchange in enumerate(wanted):
                if not _may_be_set(before, number, exchange):
                    continue
                key = (number.text, unit, rank)
                if key not in texts:
                    texts[key] = exchanged_number(number, unit, exchange.old, exchange.new)
                new = texts[key]
                if new is not None and new != number.text:
                    yield at, number, new, exchange
                    break


def _may_be_set(before: str, number: CodeNumber, exchange: ExchangedQuantity) -> bool:
    """Whether a number may be a value that somebody wants to be another, not an index, a count or a comparison."""
    if exchange.old is not None:
        return _INDEX.search(before) is None
    return not _COUNTS.search(before) and number.value not in (0, exchange.new.number)


def _unit_said(before: str, behind: str) -> str:
    """The unit in which code counts, by the name that a number is given or passed to, or by a comment behind it."""
    comment = _BEHIND.match(behind)
    said = re.match(r"(?:in )?([A-Za-z]+)", comment["text"]) if comment else None
    if said and len(said[1]) > 1 and said[1].lower() in UNITS:
        return UNITS[said[1].lower()]
    name = _GIVEN_TO.search(before)
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name[1])] if name else []
    units = {UNITS[part] for part in parts if part in UNITS and len(part) > 1 and part not in ("min", "go", "mo")}
    return units.pop() if len(units) == 1 else ""


def _explained(name: str, weights: Mapping[str, float]) -> bool:
    """Whether all that a name says is in the task, and not only that it is a limit or a default."""
    weak = {expand(word)[0] for word in _WEAK}
    parts = name_parts(name) - {expand(unit)[0] for unit in UNITS}
    return all(part in weights or part in weak for part in parts) and any(part in weights for part in parts - weak)


def _weights(task: str, sources: Sources) -> dict[str, float]:
    """What each word of a task tells, more where the repository has it less often; synonyms tell less."""
    lexical = sources.workspace.index.lexical
    top = max(float(lexical.rarity.max()) if len(lexical.rarity) else 1.0, 0.1)
    found: dict[str, float] = {}
    for word in words(task):
        if word.isdigit() or word.lower() in STOP_EN | STOP_FR:
            continue
        for stem in (s for each in (word, *english_words(word)) for s in expand(each)):
            token = lexical.tokens.get(stem)
            for other, share in ((stem, 1.0), *((s, _LIKE) for s in SYNONYMS.get(stem, ()))):
                number = token if other == stem else lexical.tokens.get(other)
                weight = share * float(lexical.rarity[number]) / top if number is not None else 0.0
                if weight:
                    found[other] = max(found.get(other, 0.0), weight)
    return found


def _in_code(source: SourceText, at: int, line: str, number: CodeNumber) -> bool:
    """Whether a number is no part of a text or a comment."""
    if source.root is None:
        return True
    column = len(line[: number.start].encode())
    node = source.root.descendant_for_point_range((at, column), (at, column + 1))
    return node is None or not re.search(r"string|comment|text|template", node.type)


def _code_names(task: str) -> set[str]:
    """The words of a task that can only be names."""
    words = re.findall(r"[A-Za-z_]\w+", task)
    return {w for w in words if ("_" in w or re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]", w)) and w.lower() not in UNITS}


def _score(
    path: str,
    lines: Sequence[str],
    at: int,
    owners: Sequence[Symbol],
    weights: Mapping[str, float],
    names: set[str],
) -> float:
    above = "\n".join(_comment_above(lines, at))
    around = " ".join(s.qualified for s in owners)
    folder, _, file = path.rpartition(".")[0].rpartition("/")
    parts = ((lines[at], _ON_LINE), (around, _AROUND), (above, _ABOVE), (file, _FILE), (folder, _IN_PATH))
    best: dict[str, float] = {}
    for text, factor in parts:
        for stem in {s for word in words(text) for s in expand(word)} & weights.keys():
            best[stem] = max(best.get(stem, 0.0), factor * weights[stem])
    named = names & set(re.findall(r"\w+", f"{around} {lines[at]}"))
    return sum(best.values()) + _NAMED * len(named)


def _comment_above(lines: Sequence[str], at: int) -> list[str]:
    found: list[str] = []
    while at > 0 and len(found) < 4 and _COMMENT.match(lines[at - 1]):
        at -= 1
        found.append(lines[at])
    return found


def _chosen(sites: Sequence[QuantitySite], task: str) -> list[QuantitySite]:
    """The sites that are meant: those of the best line, or of each of several functions that the task names."""
    names = re.findall(r"[A-Za-z_]\w+", task)
    named = dict.fromkeys(name for name in names if any(_is_in(site, name) for site in sites))
    if len(named) > 1:
        each = [_best([s for s in sites if _is_in(s, name)]) for name in named]
        return [site for some in each for site in some] if all(each) else []
    return _best(sites)


def _is_in(site: QuantitySite, name: str) -> bool:
    return name in site.owner.split(".") and ("_" in name or not name.islower())


def _best(sites: Sequence[QuantitySite]) -> list[QuantitySite]:
    """The sites of the line that scores clearly best; [] for none."""
    rows = rows_of(sites)
    if not rows:
        return []
    best = rows[0][0]
    least, share = (_LEAST, _NEXT) if best.certain else (_LEAST_GUESSED, _NEXT_GUESSED)
    if best.score < least or (len(rows) > 1 and rows[1][0].score > share * best.score):
        return []
    return rows[0]


def rows_of(sites: Sequence[QuantitySite]) -> list[list[QuantitySite]]:
    """The sites of each line, best line first."""
    lines: dict[tuple[str, int], list[QuantitySite]] = {}
    for site in sites:
        lines.setdefault((site.path, site.line), []).append(site)
    return sorted(lines.values(), key=lambda row: -max(site.score for site in row))


def quantity_patch(sites: Sequence[QuantitySite], sources: Sources) -> Patch:
    """The change that puts other numbers at sites.

    Args:
        sites: of `quantity_sites`.
        sources: the files.
    """
    patch = Patch()
    for site in sites:
        source = sources.get(site.path)
        assert source is not None
        _replace(site, source, patch)
        place = f"{site.path}:{site.line}"
        patch.notes.append(i18n.message("exact.number_found", old=site.number.text, new=site.text, place=place))
        patch.edits.append(Edit("set_value", site.path, site.owner or f"line {site.line}", site.text))
    return patch


def _replace(site: QuantitySite, source: SourceText, patch: Patch) -> None:
    """Replace a number, and what a comment behind it says of it."""
    line, before = source.line_text(site.line), source.start_of(site.line)
    start, end = (before + len(line[:column].encode()) for column in (site.number.start, site.number.end))
    patch.replace(site.path, start, end, site.text)
    correct_remark(patch, source, start, end, site.text)
