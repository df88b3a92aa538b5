"""Scores of an answer against its question's gold, and their summary. Pure; bench/answers.py asks the questions."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bench.metrics import Place, overlap_at
from repopilot.agents.explain.evidence_places import SHOWN
from repopilot.retrieval.claims import split_sentences

FIRST = SHOWN
"""Places that count as found: those that are shown unfolded."""
SHARES = (
    "right",
    "right_lead",
    "place",
    "wrong_supported",
    "wrong_by_code",
    "broken",
    "false_absent",
    "not_explained",
)
TIMES = ("evidence_s", "first_sentence_s", "end_s")

_MARKS = re.compile(r"\s*[\[【]\s*\d[\d\s,;&–-]*\??\s*[\]】]")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
_ENDED = re.compile(r"[.!?…:][\"”»)*_]*$")
_OPEN_END = re.compile(r"[(\[{<«“=,;/&+–—-]$")
_HEADING = re.compile(r"\*\*[^*]+\*\*|\d+ [^.!?]*:")
"""What stands above a list is no sentence."""
_NUMBER_END = re.compile(r"(?<![\w.`-])\d[\d.,]*$")
_WORD = re.compile(r"`[^`]+`|[^\W\d_]+")
_DANGLING = frozenset(
    """a an and are as at be by called for from has have in into is its named of on or than that the their to was were
    when where which with à au aux avec ce cette dans de des du en est et la le les ou par pour que qui sa ses son sont
    sur un une""".split()
)


def matches(gold: Iterable[Iterable[str]], text: str) -> bool:
    """Whether a text matches an alternative of every group."""
    return all(any(re.search(pattern, text, re.I) for pattern in group) for group in gold)


def broken_sentences(lead: str, known: str = "") -> list[str]:
    """The sentences of a lead that no one should be shown.

    Args:
        lead: Markdown, without the evidence.
        known: the text of the evidence: a number from it may end a sentence.

    Returns:
        Those that are fragments, end in an opening bracket, in a word that wants another, or in a number that is
        nowhere in the evidence, or repeat an earlier one.
    """
    found, earlier = [], set()
    for piece, prose in split_sentences(lead):
        if not prose or not piece.strip():
            continue
        key = " ".join(_WORD.findall(_MARKS.sub("", piece))).lower()
        if _is_broken(piece, known) or key in earlier:
            found.append(piece.strip())
        earlier.add(key)
    return found


def _is_broken(piece: str, known: str) -> bool:
    text = piece.strip()
    bare = _MARKS.sub("", _LIST_MARK.sub("", text)).strip().strip("*_").strip()
    body = re.sub(r"[\s.!?…*_]+$", "", bare)
    if _HEADING.fullmatch(text):
        return False
    listed, cited = bool(_LIST_MARK.match(text)), bool(_MARKS.search(text))
    found = _WORD.findall(body)
    if not listed and (len(found) < 2 or not (cited or _ENDED.search(bare))):
        return True
    if _OPEN_END.search(body) or (found and body.endswith(found[-1]) and found[-1].lower() in _DANGLING):
        return True
    number = _NUMBER_END.search(body)
    return bool(number) and number.group(0).rstrip(".,") not in known  # type: ignore[union-attr]


def scored(question: Mapping, given: Mapping) -> dict[str, object]:
    """The scores of one answer.

    Args:
        question: in the form of bench/data/answers/README.md.
        given: the answer: `text`, `lead`, `origin`, `code_form`, `intent`, `cites`, `places` and `evidence_text`.

    Returns:
        For each of SHARES whether it holds, None where it doesn't apply to the question.
    """
    answerable, form = question["answerable"], question["form"]
    absent = given["origin"] == "absent"
    unanswerable = form == "unanswerable"
    right = absent if unanswerable else matches(question["gold"], given["text"])
    in_lead = absent if unanswerable else matches(question["gold"], given["lead"])
    if form == "false_premise":  # denying it is right as well
        right, in_lead = right or absent, in_lead or absent
    broken = broken_sentences(given["lead"], given["evidence_text"]) if given["lead"] else []
    return {
        "right": right,
        "right_lead": in_lead,
        "place": _place(question["places"], given["places"]),
        "wrong_supported": given["origin"] == "model" and given["cites"] and not in_lead,
        "wrong_by_code": bool(given["code_form"]) and not right,
        "broken": bool(broken),
        "false_absent": absent if answerable else None,
        "not_explained": given["intent"] != "EXPLAIN",
        "broken_sentences": broken,
    }


def _place(gold: Sequence[Place], places: Sequence[Place]) -> bool | None:
    return overlap_at(places, gold, FIRST) if gold else None


def summary(rows: Sequence[Mapping]) -> dict[str, float | int | None]:
    """Shares over the rows to which each score applies, and times at the median and the 90th percentile."""
    found: dict[str, float | int | None] = {"questions": len(rows)}
    for name in SHARES:
        values = [row[name] for row in rows if row[name] is not None]
        found[name] = round(sum(values) / len(values), 3) if values else None
    for name in TIMES:
        values = sorted(row[name] for row in rows if row[name] is not None)
        found[f"{name}_median"] = round(statistics.median(values), 2) if values else None
        found[f"{name}_p90"] = round(values[int(0.9 * (len(values) - 1))], 2) if values else None
    return found


def grouped(rows: Sequence[Mapping], by: Callable[[Mapping], str]) -> Iterator[tuple[str, dict]]:
    """A summary for each group of rows, in the order of their first row."""
    for name in dict.fromkeys(map(by, rows)):
        yield name, summary([row for row in rows if by(row) == name])
