"""Answers which tests cover something: by the code graph where it has a name, else by what the tests say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.cited_places import CitedPlaces
from repopilot.agents.explain.forms.project.question_subject import Subject, subject_of
from repopilot.agents.explain.forms.project.single_tests import SingleTest, tests_in
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.languages import is_test_path
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.rank import ranking
from repopilot.retrieval.search import listed
from repopilot.types import Chunk, Symbol

_ASKS = re.compile(
    r"\b(?:which|what) (?:unit |integration |existing )?(?:tests?|specs?|test (?:cases?|functions?|files?)|"
    r"files?)\b[^.?]{0,20}?"
    r"\b(?:cover|exercis|check|test|verif|assert|hold the tests|has the tests|contains? the tests)\w*|"
    r"\bis there (?:a|any) (?:unit |integration )?(?:tests?|specs?)\b|\bare there (?:any )?(?:unit |"
    r"integration )?(?:tests|specs)\b|"
    r"\bwhere (?:are|is|do|can)\b[^.?]{0,25}\b(?:tests?|specs?)\b|\bin (?:which|what) (?:test )?(?:file|module|"
    r"class)s? (?:are|is) the tests?\b|"
    r"\b(?:which|what) (?:file|class|module)s? (?:holds?|has|contains?|tests?)\b[^.?]{0,12}\b(?:tests?|that|whether)\b|"
    r"\b(?:where|how) (?:is|are)\b[^.?]*\btested\b|\bby (?:which|what) tests?\b|"
    r"\bquels? (?:tests?|fichiers? de tests?)\b|\boù (?:sont|est|se trouvent|se trouve)\b[^.?]{0,20}\btests?\b|"
    r"\by a-t-il (?:un|des) tests?\b|\b(?:où|comment) (?:est|sont)\b[^.?]*\btestée?s?\b|"
    r"\bdans quels? fichiers?\b[^.?]{0,20}\btests?\b",
    re.I,
)
FORM_WORDS = re.compile(
    r"\b(?:which|what|where|are|is|there|any|tests?|tested|testing|specs?|files?|classes|class|modules?|"
    r"functions?|cases?|cover(?:s|ed|ing)?|"
    r"exercises?d?|checks?|checked|verif(?:y|ies)|that|holds?|contains?|called|name|quels?|fichiers?|tests?|où|"
    r"vérifient?|couvre(?:nt)?|"
    r"testée?s?|unit|integration|whether)\b",
    re.I,
)
"""The words that only say that tests are asked for."""
_SHOWN = 4
_LEAST, _SURE, _CLEAR = 0.2, 0.5, 0.1
_HITS = 16
_NEAR = 0.8
_RANKED = 0.95
"""What a test counts in the passage that the search found second, one in the first being 1."""
_LEAST_CONFIDENCE = 0.5


def asks_for_tests(question: str) -> bool:
    """Whether a question asks which tests cover something."""
    return _ASKS.search(question) is not None


def answer_tests(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which tests cover something.

    Args:
        inquiry: the question.

    Returns:
        The tests; None for other questions, and where no test fits.
    """
    if not asks_for_tests(inquiry.question):
        return None
    return _by_graph(inquiry) or _by_words(inquiry)


def _by_graph(inquiry: Inquiry) -> CodeAnswer | None:
    index = inquiry.index
    for name in inquiry.results.query.names:
        defined = [s for s in index.symbols(name) if not is_test_path(s.path)]
        if defined and len(defined) <= 3:
            found = _covering(index, graph_of(index), defined)
            if found:
                return _told_covering(inquiry, name, found)
    return None


def _covering(index: Index, graph: Graph, defined: Sequence[Symbol]) -> list[tuple[int, SingleTest]]:
    """(hops, test) of the tests that call, use or inherit from definitions, directly or through one other."""
    start = [
        node
        for symbol in defined
        for node in graph.inside(graph.by_path[symbol.path])
        if graph.nodes.name(node) == symbol.qualified
    ]
    found: dict[int, int] = {}
    frontier, seen = start, set(start)
    for hops in (1, 2):
        following = []
        for node in frontier:
            for link in graph.incoming(node, (Edge.CALLS, Edge.USES, Edge.INHERITS)):
                if link.node in seen or link.confidence < _LEAST_CONFIDENCE:
                    continue
                seen.add(link.node)
                if is_test_path(graph.nodes[link.node].path):
                    found[link.node] = hops
                elif graph.nodes[link.node].kind != "file":
                    following.append(link.node)
        frontier = following
    tests = []
    for node, hops in found.items():
        place = graph.nodes[node]
        name = place.path if place.kind == "file" else place.name
        tests.append((hops, SingleTest(name, place.path, max(1, place.line), max(1, place.line, place.end_line))))
    return sorted(tests, key=lambda pair: (pair[0], pair[1].path, pair[1].start_line))


def _told_covering(inquiry: Inquiry, name: str, found: Sequence[tuple[int, SingleTest]]) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    direct = [test for hops, test in found if hops == 1] or [test for _, test in found]
    shown = direct[: 2 * _SHOWN]
    key = "project_forms.tests.direct" if found[0][0] == 1 else "project_forms.tests.indirect"
    rows = [f"- `{t.name}` {cited.cite(t.path, t.start_line, t.end_line, t.name)}: `{t.path}`" for t in shown]
    left_out = len(direct) - len(shown)
    parts = [i18n.text(key, language, name=name, count=len(direct)), *rows]
    if left_out:
        parts.append(i18n.text("project_forms.left_out", language, count=left_out))
    return CodeAnswer("tests", "\n".join(parts), cited.places, True, left_out)


def _by_words(inquiry: Inquiry) -> CodeAnswer | None:
    index, query = inquiry.index, inquiry.results.query
    subject = subject_of(query, index.lexical, FORM_WORDS)
    mask = index.lexical.role("test")[index.lexical.file_of]
    if not subject or not mask.any():
        return None
    rest = parse(FORM_WORDS.sub(" ", query.text))
    found = ranking(index.lexical, index.chunks, replace(rest, asks=False), mask, None)
    if found is None:
        return None
    units: dict[SingleTest, float] = {}
    for rank, hit in enumerate(listed(index, found, _HITS)[0]):
        for unit in _units_at(index, hit.chunk):
            units.setdefault(unit, _RANKED**rank)
    scored = [(_fit(index, unit, subject) * factor, unit) for unit, factor in units.items()]
    scored.sort(key=lambda pair: -pair[0])
    if not scored or scored[0][0] < _LEAST:
        return None
    best = [(fit, unit) for fit, unit in scored if fit >= _NEAR * scored[0][0]][:_SHOWN]
    clear = len(best) == 1 or best[0][0] - best[1][0] >= _CLEAR or len({unit.path for _, unit in best}) == 1
    return _told_units(inquiry, [unit for _, unit in best], clear and best[0][0] >= _SURE)


def _units_at(index: Index, chunk: Chunk) -> list[SingleTest]:
    """The tests in a passage; all of its file where it has none of its own."""
    path = chunk.path
    units = tests_in(path, index.text(path) or "", index.outline(path))
    inside = [u for u in units if u.start_line <= chunk.end_line and chunk.start_line <= u.end_line]
    return inside or units[:_SHOWN]


def _fit(index: Index, unit: SingleTest, subject: Subject) -> float:
    """How well a test fits what is asked for, 0–1: its title counts most, then its lines, then its file."""
    title = tokens_of(unit.name)
    body = tokens_of(index.lines(unit.path, unit.start_line, unit.end_line) or "")
    file = tokens_of(unit.path)
    return 0.4 * subject.share_of(title | file) + 0.6 * subject.share_of(title | body | file)


def _told_units(inquiry: Inquiry, units: Sequence[SingleTest], sure: bool) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    first = units[0]
    values = {"name": first.name, "path": first.path}
    place = cited.cite(first.path, first.start_line, first.end_line, first.name)
    parts = [i18n.text("project_forms.tests.best", language, **values, cite=place)]
    if units[1:]:
        rows = [f"- `{u.name}` {cited.cite(u.path, u.start_line, u.end_line, u.name)}: `{u.path}`" for u in units[1:]]
        parts.append("\n".join([i18n.text("project_forms.tests.near", language), *rows]))
    return CodeAnswer("tests", "\n\n".join(parts), cited.places, sure)
