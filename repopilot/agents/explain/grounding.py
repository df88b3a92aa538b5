"""Which parts of a model's text the repository supports: names that exist, code that is the model's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.exploration import Exploration
from repopilot.index.store import Index
from repopilot.retrieval.cite import Excerpt
from repopilot.retrieval.claims import Anchor, claim_of, identifiers, split_sentences

COPIED_SHARE = 0.5
"""A reply of which this share of lines stands word for word in the excerpts explains nothing."""
_LINES_BEFORE_CHECK = 8
"""Lines of a reply before it is checked for copying while it streams."""
_LEAST_LINES, _LEAST_CHARS = 4, 12
"""A reply with fewer lines that are longer than this is too short to be called copied."""
_LEAST_SENTENCE = 20
"""Characters. A shorter sentence may be repeated."""


def last_name(name: str) -> str:
    """The last part of a qualified name, in the notation of any language."""
    return re.split(r"\.|::|->|#", name)[-1]


def absent_names(question: str, index: Index, found: Exploration) -> list[str]:
    """Names in a question that the repository doesn't have.

    Args:
        question: as the user asked it.
        index: the repository's index.
        found: the exploration; what occurs in its hits exists.

    Returns:
        Identifiers that are neither defined nor used anywhere.
    """
    names = [a for a in claim_of(question).anchors if a.kind == "name"]
    known = identifiers("\n".join(h.chunk.text for h in found.results.hits))
    return [n.text for n in names if not _exists(n, index, known)]


def without_invented_names(text: str, index: Index, excerpts: Sequence[Excerpt]) -> tuple[str, int]:
    """Drop sentences that mostly name code which exists nowhere in the repository.

    Args:
        text: the model's text.
        index: the repository's index.
        excerpts: what the model was given.

    Returns:
        The rest of the text, and how many sentences were dropped.
    """
    known = identifiers("\n".join(e.text for e in excerpts))
    supported, dropped = [], 0
    for piece, prose in split_sentences(text):
        anchors = [a for a in claim_of(piece).anchors if a.kind != "quote"] if prose else []
        unknown = sum(not _exists(a, index, known) for a in anchors)
        if unknown and 2 * unknown >= len(anchors):
            dropped += 1
        else:
            supported.append(piece)
    return "".join(supported), dropped


def mark_own_snippets(text: str, excerpts: Sequence[Excerpt], language: str) -> str:
    """Add a note below each code block that the model wrote itself.

    Args:
        text: the answer, in Markdown.
        excerpts: what the model was given.
        language: of the note.

    Returns:
        The text, with a note below each block less than half of whose lines are in the excerpts.
    """
    known = _lines_of(excerpts)

    def marked(block: re.Match[str]) -> str:
        lines = [line.strip() for line in block.group(0).split("\n")[1:-1] if line.strip()]
        own = not lines or 2 * sum(line in known for line in lines) < len(lines)
        return f"{block.group(0)}\n{i18n.text('explain.own_snippet', language)}" if own else block.group(0)

    return re.sub(r"^```.*?^```[ \t]*$", marked, text, flags=re.S | re.M)


def copies_excerpts(text: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether the reply consists, outside code blocks, mostly of the excerpts' own lines."""
    prose = [line.strip() for line in re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.S).split("\n")]
    lines = [line for line in prose if len(line) > _LEAST_CHARS]
    known = _lines_of(excerpts)
    return len(lines) >= _LEAST_LINES and sum(line in known for line in lines) / len(lines) >= COPIED_SHARE


def should_stop(text: str, excerpts: Sequence[Excerpt]) -> bool:
    """Whether a reply that is still being streamed repeats itself or only copies the excerpts."""
    if repeats_itself(text):
        return True
    line_ended = text.endswith("\n") and text.count("\n") >= _LINES_BEFORE_CHECK
    return line_ended and copies_excerpts(text, excerpts)


def repeats_itself(text: str) -> bool:
    """Whether the text ends with a sentence that it already holds."""
    if not text.rstrip("*_` \n").endswith((".", "!", "?", "]")):
        return False
    sentences = [_plain(piece) for piece, prose in split_sentences(text) if prose]
    return bool(sentences) and len(sentences[-1]) > _LEAST_SENTENCE and sentences[-1] in sentences[:-1]


def _plain(sentence: str) -> str:
    """A sentence without its citations and with single spaces."""
    return re.sub(r"\s*\[[\d, ]+\]|\s+", " ", sentence).strip(" .")


def _lines_of(excerpts: Sequence[Excerpt]) -> set[str]:
    return {line.strip() for e in excerpts for line in e.text.split("\n")}


def _exists(anchor: Anchor, index: Index, known: frozenset[str]) -> bool:
    """Whether a name or path exists in the repository; `known` are identifiers already seen there."""
    if anchor.kind == "path":
        if "/" not in anchor.text:
            return True  # as likely a file the program makes as one of the repository
        return any(path.endswith(anchor.text.lstrip("./")) for path in index.files)
    last = last_name(anchor.text)
    return last in known or bool(index.symbols(last)) or bool(index.references(last))
