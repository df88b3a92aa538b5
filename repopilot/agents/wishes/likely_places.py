"""The parts of a plan where no model uses tools: the places that a task probably has to change, with reasons, code
before its documentation. Pure over the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.wishes.touched_files import (
    FileEvidence,
    Past,
    Role,
    named_files,
    role_of,
    touched_files,
    voters_of,
)
from repopilot.code.graph.graph import DEPENDING, Graph
from repopilot.code.graph.nodes import Node
from repopilot.code.languages import file_kind, is_doc_path, is_test_path
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.index.tokens import stems
from repopilot.repo.history import follow_renames
from repopilot.results import PlanPart, PlanQuestion
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.ranking.past_commits import similar_commits
from repopilot.retrieval.search import search
from repopilot.types import Hit, Risk, Symbol, innermost

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder

PASSAGES = 60
MOST_SIMILAR_COMMITS = 15
MOST_FILES = 9
MOST_TESTS = 2
MOST_OPTIONS = 4
LEAST = 0.22
"""How likely a file must be touched to become a part."""
STANDS_OUT = 0.4
"""How likely the best source file must be touched for a plan without a question."""
MOST_WORDS = 2 / 3
WIDELY_USED = 20
"""Where a file's names have at least this many uses, changing it is a high risk."""
_ORDER: tuple[Role, ...] = ("source", "vendored", "exports", "config", "tests", "docs", "changelog")
CODE = ("source", "exports")
_LONGEST_TOPIC = 72
_THINGS = ("class", "table")


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """What is known about where a task has to change the repository.

    Attributes:
        symbols: the definitions that it names.
        hits: the passages of the search, best first.
        past: the history.
        graph: the code graph.
        files: what speaks for each file, the likeliest first.
    """

    symbols: tuple[Symbol, ...]
    hits: tuple[Hit, ...]
    past: Past
    graph: Graph
    files: list[FileEvidence]


def evidence_of(task: str, index: Index, embedder: Embedder | None = None) -> TaskEvidence:
    """Search, read the history and the code graph for a task.

    Args:
        task: as the user wrote it.
        index: the repository.
        embedder: makes vectors, None for lexical search alone.

    Returns:
        The evidence.

    Raises:
        IndexFailed: the index is damaged.
    """
    results = search(index, task, PASSAGES, embedder=embedder)
    commits = follow_renames(index.commits)
    past = Past(commits, similar_commits(index, results.query, commits, MOST_SIMILAR_COMMITS))
    names = parse(task).names
    graph = graph_of(index)
    files = touched_files(results.files, past, graph, named_files(task, names, index))
    symbols = tuple(symbol for name in names for symbol in index.symbols(name))
    return TaskEvidence(symbols, results.hits, past, graph, files)


def question_of(task: str, evidence: TaskEvidence, index: Index, language: str) -> PlanQuestion | None:
    """Which place to change first, with places to choose from, where nothing is sure.

    Args:
        task: as the user wrote it.
        evidence: what is known about it.
        index: the repository.
        language: the language of the question.

    Returns:
        The question; None where the task names a place, or one is likely enough.
    """
    sources = [f for f in evidence.files if f.role in CODE]
    if any(f.named for f in evidence.files) or any(f.probability >= STANDS_OUT for f in sources):
        return None
    places = [_place(f, evidence, index) for f in sources] or _most_used(evidence.graph)
    options = tuple(f"@{place}" for place in places[:MOST_OPTIONS])
    return PlanQuestion(i18n.text("planning.missing_place", language, topic=_topic(task)), options) if options else None


def code_touched(task: str, evidence: TaskEvidence, index: Index) -> tuple[str, ...]:
    """The places in code that a task would change.

    Args:
        task: as the user wrote it.
        evidence: what is known about it.
        index: the repository.

    Returns:
        `path:Symbol` or a path each: the types and tables that the task mentions, and the likely files that use them;
        where it mentions none, all likely files. A place on which search and history agree comes first.
    """
    spoken = things_named(task, evidence.graph)
    likely = [f for f in _likely(evidence) if f.role in CODE] or [f for f in evidence.files if f.role in CODE][:1]
    paths = {node.path for node in spoken}
    users = {path for used in paths for path in _files_using(used, evidence.graph)}
    agreed = agreed_file(task, evidence, index)
    wanted = {agreed, *users} - paths
    further = [_place(f, evidence, index) for f in likely if not spoken or f.path in wanted]
    places = dict.fromkeys([*(f"{node.path}:{node.name}" for node in spoken), *further])
    return tuple(sorted(places, key=lambda place: place.partition(":")[0] != agreed))


def agreed_file(task: str, evidence: TaskEvidence, index: Index) -> str:
    """The file on which search and history agree: the likeliest source file, where the most similar commits touched it
    and it has most words of the task; '' where there is none. `bench/wishes.py` measures how often that is right."""
    sources = [f for f in evidence.files if f.role in CODE]
    most = max((f.share for f in sources), default=0.0)
    if not most or sources[0].probability < STANDS_OUT or sources[0].share < most:
        return ""
    path = sources[0].path
    said = parse(task).terms.keys()
    has = {*stems(path), *stems(index.text(path) or "")}
    return path if len(said & has) >= MOST_WORDS * len(said) else ""


def things_named(task: str, graph: Graph) -> list[Node]:
    """The types and tables that a task mentions in plain words: it contains all words of their names ("the pets" is
    `Pet`). Longer names come first, then types before tables."""
    said = parse(task).terms.keys()
    things = (node for node in graph.nodes if node.kind in _THINGS and role_of(node.path) == "source")
    named = [node for node in things if set(stems(node.name)) <= said]
    return sorted(named, key=lambda node: (-len(stems(node.name)), node.kind, node.path))


def parts_of(task: str, evidence: TaskEvidence, index: Index, language: str) -> tuple[PlanPart, ...]:
    """One part for each file that is likely touched.

    Args:
        task: as the user wrote it.
        evidence: what is known about it.
        index: the repository.
        language: the language of the titles.

    Returns:
        The parts, ordered and numbered.
    """
    files = sorted(_likely(evidence), key=lambda f: _ORDER.index(f.role))
    parts: list[PlanPart] = []
    for number, file in enumerate(files, 1):
        place = _place(file, evidence, index)
        earlier = [other for other in parts if _needs(file, other.files[0], evidence.graph)]
        parts.append(
            PlanPart(
                number,
                _title(task, file, place, language),
                (file.path,),
                risk_of(file.path, index),
                tuple(part.number for part in earlier),
                place=place,
                reasons=_reasons(file, evidence),
            )
        )
    return tuple(parts)


def risk_of(path: str, index: Index) -> Risk:
    """HIGH for a schema or a file whose names are used in many places, MEDIUM for other existing code, LOW for new
    files, tests and documents."""
    if path not in index.files or is_test_path(path) or is_doc_path(path):
        return "LOW"
    return "HIGH" if file_kind(path) == "schema" or _users(path, index) >= WIDELY_USED else "MEDIUM"


def file_rows(evidence: TaskEvidence, most: int) -> list[dict[str, object]]:
    """The likeliest files with what speaks for them, as JSON for the trace."""
    return [{key: value for key, value in asdict(file).items() if value} for file in evidence.files[:most]]


def confidence_note(task: str, evidence: TaskEvidence, index: Index, language: str) -> str:
    """How far the places of a plan can be trusted; '' where the task names one."""
    if any(f.named for f in evidence.files):
        return ""
    return i18n.text("planning.agreed" if agreed_file(task, evidence, index) else "planning.uncertain", language)


def _likely(evidence: TaskEvidence) -> list[FileEvidence]:
    """The files that are likely touched; where the task names code, other code only where it uses that."""
    likely = [f for f in evidence.files if f.probability >= LEAST or f.named][:MOST_FILES]
    named = [f.path for f in likely if f.named and f.role in CODE]
    if named:
        users = {path for used in named for path in _files_using(used, evidence.graph)}
        likely = [f for f in likely if f.role not in CODE or f.path in named or f.path in users]
    own = [f for f in evidence.files if f.tests_main]
    tests = (own or [f for f in likely if f.role == "tests"])[:MOST_TESTS]
    return [f for f in likely if f.role != "tests" or f.named] + [f for f in tests if not f.named]


def _files_using(path: str, graph: Graph) -> set[str]:
    file = graph.by_path.get(path)
    nodes = [] if file is None else [file, *graph.inside(file)]
    return {graph.nodes[graph.file_of(link.node)].path for n in nodes for link in graph.incoming(n, DEPENDING)}


def _needs(file: FileEvidence, earlier: str, graph: Graph) -> bool:
    """Whether a part has to wait for that of an earlier file: code waits for code it uses, all else for any code."""
    if role_of(earlier) != "source":
        return False
    return file.role != "source" or file.path in _files_using(earlier, graph)


def _place(file: FileEvidence, evidence: TaskEvidence, index: Index) -> str:
    """`path:Symbol` of the definition that the task names, else of the best one that the search found in a file."""
    outline = index.outline(file.path)
    named = (s.qualified for s in evidence.symbols if s.path == file.path)
    found = (_symbol(hit, outline) for hit in evidence.hits if hit.chunk.path == file.path)
    symbol = next(named, "") or next(filter(None, found), "")
    return f"{file.path}:{symbol}" if symbol else file.path


def _symbol(hit: Hit, outline: Sequence[Symbol]) -> str:
    """The innermost definition around the best line of a passage, else the one that the passage is named after."""
    around = innermost(outline, hit.lines[0][0] if hit.lines else hit.chunk.start_line)
    return around.qualified if around else next((s.qualified for s in outline if s.qualified == hit.chunk.symbol), "")


def _title(task: str, file: FileEvidence, place: str, language: str) -> str:
    where = place.partition(":")[2] if file.role in CODE else ""
    key = "source" if file.role in ("source", "vendored") else file.role
    return i18n.text(f"planning.part.{key}", language, topic=_topic(task), place=where or file.path)


def _topic(task: str) -> str:
    first = " ".join(task.strip().split("\n")[0].split())
    return first if len(first) <= _LONGEST_TOPIC else f"{first[: _LONGEST_TOPIC - 1].rstrip()}…"


def _reasons(file: FileEvidence, evidence: TaskEvidence) -> tuple[str, ...]:
    """Why a file has to change, the strongest evidence first."""
    found: list[str] = []
    if file.named:
        found.append(i18n.message("planning.reason.named"))
    if file.similar:
        subject = next(v.commit.subject for v in voters_of(evidence.past) if file.path in v.commit.paths)
        found.append(i18n.message("planning.reason.similar", count=file.similar, of=file.of, subject=_topic(subject)))
    if file.tests_main:
        found.append(i18n.message("planning.reason.tests"))
    if file.together > 1:
        values = {"count": file.together, "of": file.changes, "path": file.main}
        found.append(i18n.message("planning.reason.together", **values))
    if file.rank and (not found or file.rank <= 3):
        found.append(i18n.message("planning.reason.found", rank=file.rank))
    if not found and file.linked:
        found.append(i18n.message("planning.reason.linked"))
    return tuple(found[:3])


def _most_used(graph: Graph) -> list[str]:
    """The source files, those that most others use first."""
    sources = [path for path in graph.by_path if role_of(path) == "source"]
    return sorted(sources, key=lambda path: (-len(_files_using(path, graph)), path))


def _users(path: str, index: Index) -> int:
    names = [s.name for s in index.outline(path) if "." not in s.qualified][:20]
    return sum(r.path != path for name in names for r in index.references(name))


def ordered(parts: Sequence[PlanPart]) -> tuple[PlanPart, ...]:
    """The parts numbered from 1, each after those it depends on; unknown and circular dependencies are dropped."""
    known = {p.number for p in parts}
    left = list(parts)
    placed: list[PlanPart] = []
    while left:
        done = {p.number for p in placed}
        free = next((p for p in left if not (set(p.depends_on) & known) - done - {p.number}), left[0])
        placed.append(free)
        left = [p for p in left if p is not free]
    numbers = {p.number: position for position, p in enumerate(placed, 1)}
    return tuple(
        replace(
            p,
            number=numbers[p.number],
            depends_on=tuple(sorted(numbers[d] for d in set(p.depends_on) & known if numbers[d] < numbers[p.number])),
        )
        for p in placed
    )
