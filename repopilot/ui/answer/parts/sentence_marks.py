"""An agent model's answer on the page: its sentences, with a mark on each that isn't checked, saying why. Pure.

The sentence is put between `~~`, and after it comes a link to `#unchecked-<answer>-<number>` or `#contradicted-…`: the
style sheet turns them into a dotted line and a note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.explain.render import mark_words, marked, share_checked
from repopilot.results import Answer, Explanation, Sentence
from repopilot.types import Citation
from repopilot.ui.answer.parts.citations import linked
from repopilot.ui.trace.step_text import closed, inert, outside_code


def marked_answer(answer: Answer, explained: Explanation, anchor: str, language: str) -> str:
    """The text of an agent model, and below it how many sentences are checked.

    Args:
        answer: with its sentences.
        explained: its result, with the layout of the sentences.
        anchor: the id of the answer's message, for the links.
        language: of the page.

    Returns:
        Markdown.
    """
    # A sentence that isn't checked has a mark of its own.
    places = [replace(citation, supported=True) for citation in answer.citations]
    pieces = (
        linked(_literal(piece, "`"), places, anchor)
        if isinstance(piece, str)
        else _shown(answer.sentences[piece - 1], piece, places, anchor, language)
        for piece in explained.layout
    )
    return f"{''.join(pieces).strip()}\n\n{_share(answer.sentences, anchor, language)}"


def _shown(sentence: Sentence, number: int, places: Sequence[Citation], anchor: str, language: str) -> str:
    marks = sentence.status != "checked"
    if sentence.is_code:
        text = inert(closed(sentence.text))
    else:
        text = linked(_literal(sentence.text.rstrip("\\ "), "`~" if marks else "`"), places, anchor)
        text = f"~~{text}~~" if marks else text
    if not marks:
        return text
    why = _literal(inert(mark_words(sentence, language)), "`[]*_~")
    return marked(sentence, text, f"[{why}](#{sentence.status}-{anchor}-{number})")


def _literal(text: str, signs: str) -> str:
    """Markdown with some signs outside of code as entities: an unpaired backtick would turn the mark after it into
    code. They aren't escaped by a backslash, because after another backslash it would escape nothing."""
    text = text.replace("\\`", "&#92;&#96;")
    return outside_code(text, lambda prose: re.sub(f"[{re.escape(signs)}]", lambda sign: f"&#{ord(sign[0])};", prose))


def _share(sentences: Sequence[Sentence], anchor: str, language: str) -> str:
    """How many sentences are checked, and links to the others."""
    parts = [share_checked(sentences, language)]
    for status in ("unchecked", "contradicted"):
        links = [
            f"[{i18n.text('ui.sentences.nth', language, number=number)}](#to-{status}-{anchor}-{number})"
            for number, sentence in enumerate(sentences, 1)
            if sentence.status == status
        ]
        if links:
            parts.append(i18n.text(f"ui.sentences.{status}", language, links=", ".join(links)))
    return f"*{' '.join(parts)}*"
