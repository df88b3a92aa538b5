"""Explanations as Markdown: the evidence with its lines, what was not found, how the code answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from repopilot import i18n
from repopilot.agents.explain.evidence_places import SHOWN
from repopilot.foreign_text import code_block, suffix_of
from repopilot.i18n.format import short_commit
from repopilot.index.store import Index
from repopilot.results import Explanation, Sentence
from repopilot.types import Citation, Evidence


def evidence_markdown(evidence: Sequence[Evidence], language: str, *, folded: bool = False, first: int = SHOWN) -> str:
    """The places with their lines, the first ones apart from the rest.

    Args:
        evidence: the places, best first.
        language: the language of the words around them.
        folded: whether the rest is named only, without its lines.
        first: how many come first.
    """
    parts = ["\n".join([_head(place), *_quoted(place)]) for place in evidence]
    if rest := evidence[first:]:
        parts.insert(first, i18n.text("explain.more_places", language))
    if rest and folded:
        parts[first + 1 :] = ["\n".join(map(_head, rest))]
    return "\n\n".join(parts)


def places_markdown(
    explained: Explanation, evidence: Sequence[Evidence], language: str, *, folded: bool = False
) -> str:
    """The places below an explanation: only their names for somebody who reads no code."""
    if explained.for_reader:
        return "\n".join(_head(replace(place, summary="", symbol="")) for place in evidence[: explained.cited or SHOWN])
    return evidence_markdown(evidence, language, folded=folded, first=explained.cited or SHOWN)


def marked(sentence: Sentence, text: str, mark: str) -> str:
    """A sentence with a mark after it, or below it where the sentence is code.

    Args:
        sentence: a sentence that isn't checked.
        text: the sentence as it is to be shown.
        mark: the note that it isn't checked, in Markdown.
    """
    if not sentence.is_code:
        return f"{text} {mark}"
    indent = text[: len(text) - len(text.lstrip())]
    return f"{text.rstrip()}\n\n{indent}{mark}\n\n"


def mark_words(sentence: Sentence, language: str) -> str:
    """Says that a sentence isn't checked, or is contradicted, and why."""
    status = i18n.text(f"explain.sentence.{sentence.status}", language)
    why = i18n.translated(sentence.why, language)
    return i18n.text("explain.sentence.mark", language, status=status, why=why)


def sentence_markdown(sentence: Sentence, language: str) -> str:
    """A sentence as plain Markdown: struck through where it is contradicted, and with the reason unless it is
    checked."""
    if sentence.status == "checked":
        return sentence.text
    struck = sentence.status == "contradicted" and not sentence.is_code
    text = f"~~{sentence.text}~~" if struck else sentence.text
    return marked(sentence, text, f"*({mark_words(sentence, language)})*")


def share_checked(sentences: Sequence[Sentence], language: str) -> str:
    """How many of the sentences code has checked."""
    checked = sum(each.status == "checked" for each in sentences)
    return i18n.text("explain.share_checked", language, checked=checked, count=len(sentences))


def absence_note(index: Index, names: Sequence[str], language: str, technologies: Sequence[str] = ()) -> str:
    """Say that the repository doesn't hold the answer, what was searched, and what comes below.

    Args:
        index: the repository's index.
        names: names in the question that occur nowhere.
        language: the language of the note.
        technologies: those named by the question, but neither by code nor by documentation.
    """
    scope = {"count": len(index.files), "commit": short_commit(index.commit)}
    parts = [i18n.text("explain.absent", language, **scope)]
    if names:
        parts.append(absent_names_note(names, index, language))
    if further := [name for name in technologies if name not in names]:
        parts.append(i18n.text("explain.absent_technologies", language, names=", ".join(further)))
    return "\n\n".join(parts)


def absent_names_note(names: Sequence[str], index: Index, language: str) -> str:
    """Say that names in the question occur nowhere in the repository.

    Args:
        names: the names.
        index: the repository's index.
        language: the language of the note.

    Returns:
        A sentence of Markdown, with the number of files and the commit that were searched.
    """
    listed = ", ".join(f"`{name}`" for name in names)
    scope = {"count": len(index.files), "commit": short_commit(index.commit)}
    return i18n.text("explain.absent_names", language, names=listed, **scope)


def citations_of(evidence: Sequence[Evidence], commit: str) -> tuple[Citation, ...]:
    """A citation for each place, at the commit of its origin, else at the given one. All count as supported: they are
    the repository's own lines."""
    found = ((e, e.origin.commit if e.origin else commit) for e in evidence)
    return tuple(Citation(e.number, e.path, e.start_line, e.end_line, at, e.symbol, True, e.origin) for e, at in found)


def _head(place: Evidence) -> str:
    head = f"[{place.number}] `{place.place}`"
    head += f" · `{place.symbol}`" if place.symbol else ""
    return f"{head}: {place.summary}" if place.summary else head


def _quoted(place: Evidence) -> Iterator[str]:
    if not place.lines:
        return
    width = len(str(place.lines[-1][0]))
    gaps = {after for (before, _), (after, _) in pairwise(place.lines) if after > before + 1}
    rows = []
    for number, line in place.lines:
        if number in gaps:
            rows.append(f"{'…':>{width}}")
        rows.append(f"{number:>{width}}  {line}".rstrip())
    if place.lines[-1][0] < place.end_line:
        rows.append(f"{'…':>{width}}")
    yield code_block("\n".join(rows), suffix_of(place.path))
