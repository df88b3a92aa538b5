"""Answers which members a set has (formats, modes, kinds, hooks) from the list in the code that fits best."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from repopilot import i18n
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.cited_places import CitedPlaces
from repopilot.agents.explain.forms.project.list_question import MEMBER_WORDS, asks_for_several, list_question
from repopilot.agents.explain.forms.project.question_subject import Subject, subject_of
from repopilot.code.declared.named_lists import Member, NamedList, compared_literals, named_lists
from repopilot.code.languages import is_test_path
from repopilot.index.store import Index
from repopilot.index.tokens import expand, tokens_of
from repopilot.types import Evidence, Hit

_MOST_MEMBERS = 40
_HITS = 8
_LEAST, _SURE = 0.7, 0.95
_CLEAR_LEAD = 1.2
_LIKELY, _MOST_LIKELY, _FEWEST_LIKELY = 0.35, 2, 3
_HIT_WEIGHT = 0.35
_NAMED_LIKE = 0.3
_MOST_FILES = 20
_NAME_WEIGHT = 0.5
_LONGEST_HELP = 80


def answer_members(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which members a set has that the question describes.

    Args:
        inquiry: the question.

    Returns:
        All members of the list that fits best; None for other questions, and where none fits clearly.
    """
    asked = list_question(inquiry.question)
    if asked is None or asked.kind != "members":
        return None
    subject = subject_of(inquiry.results.query, inquiry.index.lexical, MEMBER_WORDS)
    if not subject:
        return None
    scored = sorted(
        ((_fit(item, hit, subject, inquiry), item) for item, hit in _lists(inquiry)), key=lambda pair: -pair[0]
    )
    if not scored or scored[0][0] < _LEAST:
        return None
    best, item = scored[0]
    others = [fit for fit, other in scored[1:] if not _same(item, other)]
    if others and best < _CLEAR_LEAD * others[0]:
        return None
    return _told(inquiry, item, best >= _SURE)


def likely_lists(inquiry: Inquiry) -> tuple[Evidence, ...]:
    """The lists in the code that may be what a question asks for, whole: no one is sure, so the reader chooses.

    Args:
        inquiry: a question for several things.

    Returns:
        At most _MOST_LIKELY places, numbered from 1, the likeliest first.
    """
    if not asks_for_several(inquiry.question):
        return ()
    subject = subject_of(inquiry.results.query, inquiry.index.lexical, MEMBER_WORDS)
    several = ((item, hit) for item, hit in _lists(inquiry) if len(item.members) >= _FEWEST_LIKELY)
    scored = [(_fit(item, hit, subject, inquiry), item) for item, hit in several]
    likely = sorted((pair for pair in scored if pair[0] >= _LIKELY), key=lambda pair: -pair[0])
    chosen: list[NamedList] = []
    for _, item in likely:
        if not any(_same(item, other) for other in chosen):
            chosen.append(item)
    return tuple(
        evidence_of_lines(inquiry.index, number, (item.path, item.start_line, item.end_line), item.name, _MOST_MEMBERS)
        for number, item in enumerate(chosen[:_MOST_LIKELY], 1)
    )


def _lists(inquiry: Inquiry) -> Iterator[tuple[NamedList, float]]:
    """The lists near what the search found, each with how well the passage it lies in was ranked, 0–1."""
    index, hits = inquiry.index, [h for h in inquiry.results.hits if not is_test_path(h.chunk.path)][:_HITS]
    top = max((hit.score for hit in hits), default=1.0) or 1.0
    seen: dict[tuple[str, int, int], tuple[NamedList, float]] = {}
    for hit in hits:
        if index.files[hit.chunk.path].kind != "code":
            continue
        for item in (*_lists_of(index, hit.chunk.path), *_compared(index, hit)):
            inside = item.start_line <= hit.chunk.end_line and hit.chunk.start_line <= item.end_line
            rank = hit.score / top * (1.0 if inside else 0.3)
            key = (item.path, item.start_line, item.end_line)
            if key not in seen or seen[key][1] < rank:
                seen[key] = (item, rank)
    for item in _named_like(inquiry, {path for path, _, _ in seen}):
        seen.setdefault((item.path, item.start_line, item.end_line), (item, _NAMED_LIKE))
    yield from seen.values()


def _named_like(inquiry: Inquiry, searched: Collection[str]) -> Iterator[NamedList]:
    """The lists in other files whose name has the word for what is asked for: `AllLevels` for "which levels exist"."""
    asked, index = list_question(inquiry.question), inquiry.index
    token = expand(asked.noun.split()[-1])[0] if asked and asked.noun else ""
    number = index.lexical.tokens.get(token)
    if number is None:
        return
    names = index.lexical.name_tokens.of(number)[0].tolist()
    rows = (row for name in names for row in index.lexical.name_rows.of(name)[0].tolist())
    paths = dict.fromkeys(index.lexical.files[file] for file in index.lexical.file_of[list(rows)].tolist())
    own = (p for p in paths if p not in searched and index.files[p].kind == "code" and not is_test_path(p))
    for path in islice(own, _MOST_FILES):
        yield from (item for item in _lists_of(index, path) if token in tokens_of(item.name))


def _lists_of(index: Index, path: str) -> tuple[NamedList, ...]:
    return _read(path, index.files[path].hash, index.text(path) or "", index.files[path].language)


@lru_cache(maxsize=64)
def _read(path: str, hash_: str, text: str, language: str) -> tuple[NamedList, ...]:
    return tuple(named_lists(path, text, language))


def _compared(index: Index, hit: Hit) -> Iterator[NamedList]:
    """The literals that the functions of a passage compare."""
    for symbol in index.outline(hit.chunk.path):
        overlaps = symbol.start_line <= hit.chunk.end_line and hit.chunk.start_line <= symbol.end_line
        if overlaps and symbol.kind in ("function", "method"):
            found = compared_literals(
                symbol.path, index.lines(symbol.path, symbol.start_line, symbol.end_line) or "", symbol.start_line
            )
            if found:
                yield replace(found, name=symbol.name)


def _fit(item: NamedList, hit: float, subject: Subject, inquiry: Inquiry) -> float:
    """How well a list fits: its name and comment, then its members and the lines around, then the search."""
    owner = next(
        (s.qualified for s in inquiry.index.outline(item.path) if s.start_line <= item.start_line <= s.end_line), ""
    )
    name = f"{item.name} {item.about}"
    everything = f"{name} {owner} {item.path} " + " ".join(f"{m.name} {m.help}" for m in item.members)
    share = _NAME_WEIGHT * subject.share(name) + (1 - _NAME_WEIGHT) * subject.share(everything)
    return share + _HIT_WEIGHT * hit


def _same(one: NamedList, other: NamedList) -> bool:
    """Whether two lists overlap, or have mostly the same members."""
    if one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line:
        return True
    names, others = ({m.name.lower() for m in item.members} for item in (one, other))
    return len(names & others) > 0.5 * min(len(names), len(others))


def _told(inquiry: Inquiry, item: NamedList, sure: bool) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    place = cited.cite(item.path, item.start_line, item.end_line, item.name)
    values = {"name": item.name, "path": item.path, "cite": place, "count": len(item.members)}
    key = "project_forms.members.named" if item.name else "project_forms.members.here"
    rows = [i18n.text(key, language, **values), *(f"- {_member(m)}" for m in item.members[:_MOST_MEMBERS])]
    left_out = max(0, len(item.members) - _MOST_MEMBERS)
    if left_out:
        rows.append(i18n.text("project_forms.left_out", language, count=left_out))
    return CodeAnswer("list", "\n".join(rows), cited.places, sure, left_out)


def _member(member: Member) -> str:
    told = member.help.replace("`", "")[:_LONGEST_HELP].strip()
    return f"`{member.name}`" + (f": {told}" if told else "")
