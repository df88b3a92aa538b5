"""The parts of a plan: concrete edits at named places with their reasons, in the order of their dependencies. Pure over
the index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.agents.planning.edit_places import EditPlace, Task, other_place, sibling_of, source_places, task_of
from repopilot.agents.planning.requirements import Requirements
from repopilot.agents.planning.task_evidence import TaskEvidence
from repopilot.agents.planning.touched_files import FileEvidence, Role, role_of, voters_of
from repopilot.code.graph.graph import DEPENDING, Graph
from repopilot.code.languages import file_kind, is_doc_path, is_test_path, language_of
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words
from repopilot.results import PlanPart
from repopilot.types import Risk

MOST_PARTS = 12
MOST_FILES, MOST_TESTS = 9, 2
LEAST = 0.22
"""How likely a file must be touched to become a part."""
LEAST_TEST = 0.04
"""The same for the best file of tests, where code is changed."""
WIDELY_USED = 20
"""From so many uses of a file's names on, changing it is a high risk."""
_BUILDING = (None, "make", "cmake", "dockerfile")
"""Languages of files that no feature goes into unless the task names them."""
_TEST_OF = re.compile(r"^tests?_|[._]tests?$|\.spec$")
_ALSO_WRITTEN = re.compile(
    r",?\s+(?:and|then|et|puis)\s+(?:(?:document|mention|test|note|document\w*|mentionn\w*|teste\w*)\b"
    r"|(?:add|write|ajout\w*|[ée]cri\w*)\b.*\b(?:changelog|docs?|documentation|tests?|entry|entr[ée]e)\b).*$",
    re.I,
)
"""What a task says of its documents and tests after what it is about."""
_ORDER: tuple[Role, ...] = ("source", "vendored", "exports", "config", "tests", "docs", "changelog")
_ADDING = ("add_member", "add_function", "add_class")
_FRAGMENTS, _LEAST_FRAGMENTS, _FRAGMENT_SHARE = 60, 5, 0.35


@dataclass(frozen=True, slots=True)
class _Draft:
    """A part before it has a number. `new`: its file does not exist yet; `defines`: it defines what the others use,
    beside the definition of the most similar name where there is a `sibling`."""

    file: FileEvidence
    place: EditPlace
    new: bool = False
    defines: bool = False
    sibling: bool = False


def parts_of(wanted: Requirements, evidence: TaskEvidence, index: Index, language: str) -> list[PlanPart]:
    """The parts of a goal.

    Args:
        wanted: the goal.
        evidence: what is known about where it has to change the repository.
        index: the repository.
        language: of the titles.

    Returns:
        The parts, ordered and numbered.
    """
    task = task_of(wanted, evidence.names, index)
    drafts = _drafts(task, evidence, index)
    order = _by_dependency(drafts, evidence.graph)
    numbered = list(enumerate(order, 1))
    parts = []
    for number, draft in numbered:
        needs = tuple(n for n, other in numbered[: number - 1] if _needs(draft, other, evidence.graph))
        path = draft.place.path
        parts.append(
            PlanPart(
                number,
                title_of(draft.place, draft.file.role, task, language),
                (path,),
                risk_of((path,), index),
                needs,
                place=draft.place.name,
                edit=draft.place.kind,
                reasons=_reasons(draft, evidence),
            )
        )
    return _with_acceptance(parts, wanted.points)


def _drafts(task: Task, evidence: TaskEvidence, index: Index) -> list[_Draft]:
    fragments = fragment_folder(evidence)
    likely = _likely(evidence.files)
    likely = [f for f in likely if not fragments or not f.path.startswith(f"{fragments}/")]
    likely = [f for f in likely if f.role != "source" or f.named or language_of(f.path) not in _BUILDING]
    found = [_Draft(f, p) for f in likely if f.role == "source" for p in source_places(f, evidence.hits, task, index)]
    found = _tied_to_named(found, evidence.graph)
    found = _with_definition(found, task, evidence, index)
    changed = [d.place.symbol for d in found if d.place.symbol]
    found += [_Draft(f, other_place(f, evidence.hits, index, changed)) for f in likely if f.role != "source"]
    if fragments:
        path = f"{fragments}/{_slug(task.wanted.topic)}{_fragment_suffix(fragments, evidence)}"
        file = FileEvidence(path, "changelog")
        found.append(_Draft(file, EditPlace(path, "", "add_file"), new=True))
    return found[:MOST_PARTS]


def _likely(files: Sequence[FileEvidence]) -> list[FileEvidence]:
    """The files that are likely touched, and the best test of code that is."""
    likely = [f for f in files if f.probability >= LEAST or f.named][:MOST_FILES]
    own = _tests_of_named(files)
    tests = [f for f in likely if f.role == "tests" and f not in own]
    likely = [f for f in likely if f not in tests[0 if own else MOST_TESTS :] or f.named]
    likely += [f for f in own if f not in likely]
    if any(f.role == "source" for f in likely) and not any(f.role == "tests" for f in likely):
        likely += [f for f in files if f.role == "tests" and f.probability >= LEAST_TEST][:1]
    return likely


def _tests_of_named(files: Sequence[FileEvidence]) -> list[FileEvidence]:
    """The tests that are called after the source files that the task names: `test_signer.py` of `signer.py`."""
    stems = {PurePosixPath(f.path).stem for f in files if f.named and f.role == "source"}
    return [
        f for f in files if f.role == "tests" and f.tests_main and _TEST_OF.sub("", PurePosixPath(f.path).stem) in stems
    ]


def _tied_to_named(drafts: Sequence[_Draft], graph: Graph) -> list[_Draft]:
    """The places that the task names first, then of the others those in files that use what is changed there; all where
    none is named. That a past commit touched a file doesn't make it part of a change whose place is known."""
    named = [d for d in drafts if d.place.exact]
    if not named:
        return list(drafts)
    changed = [draft.place for draft in named if draft.place.kind not in _ADDING]
    users = {path for place in changed for path in _files_using(place, graph)}
    return [*named, *(d for d in drafts if d not in named and d.place.path in users)]


def _files_using(place: EditPlace, graph: Graph) -> set[str]:
    """The files that use a definition or a member of it, by the code graph."""
    file = graph.by_path.get(place.path)
    inside = [] if file is None else graph.inside(file)
    own = [n for n in inside if f"{graph.nodes.name(n)}.".startswith(f"{place.symbol}.")]
    return {graph.nodes[graph.file_of(link.node)].path for n in own for link in graph.incoming(n, DEPENDING)}


def _with_definition(drafts: Sequence[_Draft], task: Task, evidence: TaskEvidence, index: Index) -> list[_Draft]:
    """The places with only one where what is new is defined: beside its siblings, else the first. The others use it."""
    defining = [d for d in drafts if d.place.kind in ("add_class", "add_function")]
    if not defining:
        return list(drafts)
    sibling = sibling_of(task, evidence.files, evidence.graph, index)
    rest = [d if d not in defining else replace(d, place=replace(d.place, kind="change_function")) for d in drafts]
    if sibling is None:
        first = replace(defining[0], defines=True)
        return [first, *(d for d in rest if d.place.name != first.place.name)]
    known = next((f for f in evidence.files if f.path == sibling.path), FileEvidence(sibling.path, "source"))
    place = EditPlace(sibling.path, sibling.qualified, defining[0].place.kind)
    return [_Draft(known, place, defines=True, sibling=True), *(d for d in rest if d.place.name != place.name)]


def fragment_folder(evidence: TaskEvidence) -> str:
    """The folder into which most changes of code put a new file of their own, such as a news fragment; '' for none."""
    recent = [c for c in evidence.past.commits if any(role_of(p) == "source" for p in c.paths)][:_FRAGMENTS]
    touched = Counter(path for commit in recent for path in commit.paths)
    folders = Counter(
        folder
        for commit in recent
        for folder in {p.rpartition("/")[0] for p in commit.paths if touched[p] == 1 and role_of(p) != "source"}
        if folder and not is_test_path(f"{folder}/x")
    )
    for folder, count in folders.most_common(1):
        if count >= _LEAST_FRAGMENTS and count >= _FRAGMENT_SHARE * len(recent):
            return folder
    return ""


def _fragment_suffix(folder: str, evidence: TaskEvidence) -> str:
    names = [p for c in evidence.past.commits for p in c.paths if p.rpartition("/")[0] == folder]
    suffixes = Counter("".join(PurePosixPath(p).suffixes) for p in names[:20])
    return suffixes.most_common(1)[0][0] if suffixes else ".md"


def _slug(topic: str) -> str:
    return "-".join(w.lower() for w in words(topic)[:5]) or "change"


def title_of(place: EditPlace, role: Role, task: Task, language: str) -> str:
    """One sentence in the imperative: what to do at a place.

    Args:
        place: the place.
        role: of its file.
        task: the goal.
        language: of the sentence.
    """
    goal = _ALSO_WRITTEN.sub("", task.wanted.goal).strip(" .,")
    key = {"tests": "test", "changelog": "changelog", "exports": "export", "config": "config", "docs": "docs"}.get(role)
    key = "add_file" if place.kind == "add_file" else key or place.kind
    new = task.new if key in ("add_class", "add_function", "add_member") else ""
    where = "named" if new and place.symbol else "symbol" if place.symbol else "file"
    topic = _sentence(goal) if key == "changelog" else _short(_ALSO_WRITTEN.sub("", task.wanted.topic), 80)
    values = {"topic": topic, "symbol": place.symbol, "path": place.path, "name": new}
    return i18n.text(f"planning.edit.{key}.{where}", language, **values)


def _sentence(goal: str) -> str:
    """A goal as the entry of a changelog."""
    return (goal[:1].upper() + goal[1:]).replace('"', "'")


def _by_dependency(drafts: Sequence[_Draft], graph: Graph) -> list[_Draft]:
    """Definitions before their users, code before exports, tests and documents."""
    by_role = sorted(drafts, key=lambda d: _ORDER.index(d.file.role))
    placed: list[_Draft] = []
    left = by_role
    while left:
        free = next((d for d in left if not any(_uses(d, o, graph) and not _uses(o, d, graph) for o in left)), left[0])
        same_role = free.file.role == left[0].file.role
        chosen = free if same_role else left[0]
        placed.append(chosen)
        left = [d for d in left if d is not chosen]
    return placed


def _uses(user: _Draft, used: _Draft, graph: Graph) -> bool:
    """Whether a place, or its file, uses another one, by the code graph."""
    if user is used or user.file.role != "source" or used.file.role != "source" or user.defines:
        return False
    if used.defines:
        return True
    first, second = graph.by_path.get(user.place.path), graph.by_path.get(used.place.path)
    if first is None or second is None:
        return False
    if first == second:
        return _calls(graph, first, user.place.symbol, used.place.symbol)
    nodes = [first, *graph.inside(first)]
    return any(graph.file_of(link.node) == second for node in nodes for link in graph.outgoing(node, DEPENDING))


def _calls(graph: Graph, file: int, user: str, used: str) -> bool:
    by_name = {graph.nodes.name(n): n for n in graph.inside(file)}
    if user not in by_name or used not in by_name:
        return False
    return any(link.node == by_name[used] for link in graph.outgoing(by_name[user], DEPENDING))


def _needs(draft: _Draft, earlier: _Draft, graph: Graph) -> bool:
    """Whether a part has to wait for an earlier one."""
    if draft.file.role == "source":
        return _uses(draft, earlier, graph)
    return earlier.file.role == "source"


def _reasons(draft: _Draft, evidence: TaskEvidence) -> tuple[str, ...]:
    """Why a place, the strongest evidence first."""
    file = draft.file
    if draft.new:
        return (i18n.message("planning.reason.fragments", folder=draft.place.path.rpartition("/")[0]),)
    found: list[str] = []
    if draft.sibling:
        found.append(i18n.message("planning.reason.sibling", symbol=draft.place.symbol))
    if file.named:
        found.append(i18n.message("planning.reason.named"))
    if file.similar:
        subject = next(v.commit.subject for v in voters_of(evidence.past) if file.path in v.commit.paths)
        found.append(i18n.message("planning.reason.similar", count=file.similar, of=file.of, subject=_short(subject)))
    of_kind = sum(file.path in c.paths for c in evidence.past.of_kind)
    if of_kind > 1:
        values = {"count": of_kind, "of": len(evidence.past.of_kind), "subject": evidence.past.of_kind[0].subject}
        found.append(i18n.message("planning.reason.of_kind", **values))
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


def _short(text: str, most: int = 72) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _with_acceptance(parts: Sequence[PlanPart], points: Sequence[str]) -> list[PlanPart]:
    """The parts with the conditions of the task: each at the code it speaks of, else at the first part of code, and at
    the first part of tests."""
    code = [p for p in parts if p.files and role_of(p.files[0]) == "source"] or list(parts[:1])
    tests = next((p for p in parts if p.files and role_of(p.files[0]) == "tests"), None)
    chosen: dict[int, list[str]] = {}
    for point in points:
        wanted = _tokens(point)
        best = max(code, key=lambda p: len(wanted & _tokens(p.place)), default=None)
        for part in (best, tests):
            if part is not None:
                chosen.setdefault(part.number, []).append(point)
    return [replace(p, acceptance=tuple(chosen.get(p.number, ()))) for p in parts]


def _tokens(text: str) -> frozenset[str]:
    return frozenset(token for word in words(text) for token in expand(word))


def risk_of(files: Sequence[str], index: Index) -> Risk:
    """HIGH for a schema or a file whose names are used in many places, MEDIUM for other existing code, LOW for new
    files, tests and documents, UNKNOWN without files."""
    if not files:
        return "UNKNOWN"
    existing = [f for f in files if f in index.files and not is_test_path(f) and not is_doc_path(f)]
    if any(file_kind(f) == "schema" or _users(f, index) >= WIDELY_USED for f in existing):
        return "HIGH"
    return "MEDIUM" if existing else "LOW"


def _users(path: str, index: Index) -> int:
    names = [s.name for s in index.outline(path) if "." not in s.qualified][:20]
    return sum(r.path != path for name in names for r in index.references(name))


def joined(groups: Iterable[Sequence[PlanPart]]) -> tuple[PlanPart, ...]:
    """The parts of several goals as one plan: later goals come after earlier ones; of parts at the same place that are
    no code only the last is kept.

    Args:
        groups: the parts of each goal, numbered from 1 each.

    Returns:
        The parts, numbered anew.
    """
    result: list[PlanPart] = []
    for group in groups:
        start = max((p.number for p in result), default=0)
        result += [
            replace(p, number=start + p.number, depends_on=tuple(start + d for d in p.depends_on)) for p in group
        ]
    last = {p.place: p.number for p in result}
    kept = [p for p in result if (p.files and role_of(p.files[0]) == "source") or last[p.place] == p.number]
    return ordered(kept)


def ordered(parts: Iterable[PlanPart]) -> tuple[PlanPart, ...]:
    """The parts numbered from 1, each behind those it depends on; unknown and circular dependencies go."""
    given = list(parts)[:MOST_PARTS]
    known = {p.number for p in given}
    left = given
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
