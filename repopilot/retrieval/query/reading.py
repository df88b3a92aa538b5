"""Questions as the router's classifier reads them: names of code, paths, code and stack traces masked, n-grams hashed.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator

from repopilot.retrieval.query.stack_frames import without_traces

BUCKETS = 32768
HEAD = 1500
TAIL = 700
_READ = 600
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
_NAME = re.compile(
    r"`[^`\n]{1,200}`|\b[\w.]+\(\)|\b[A-Za-z]\w*(?:\.\w+)+|(?<!\w)--?[a-z][\w-]+|\b_\w+|\b\w*[a-z0-9]_\w+|\b[a-z]+[A-Z]\w*|"
    r"\b[A-Z]\w*[a-z]\w*[A-Z]\w*|\b[A-Z]{2,}[a-z]{2,}\w*"
)
_PATH = re.compile(r"@[\w./\\-]+|\b[\w.-]+(?:/[\w.-]+)+/?|(?<!\w)\.?/[\w./-]+|\b\w+\.[a-zA-Z]\w{0,3}\b(?=[\s?,:;!)]|$)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+|[?:]")


def masked(text: str) -> str:
    """The head and tail of a question in one line, with each name, path, block of code and trace replaced by one word.

    Args:
        text: as the user wrote it.
    """
    text = text.replace("\0", " ")
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    prose = without_traces(text)
    trace = " trace" if prose != text else ""
    prose = _NAME.sub(" name ", _PATH.sub(" file ", _FENCE.sub(" code ", prose)))
    return " ".join((prose + trace).split())


def ngrams(text: str) -> dict[int, float]:
    """Hashed n-grams of one to three words and of three to five characters, and how each sentence begins and ends,
    L2-normalised: bucket → weight.

    Args:
        text: as `masked` gives it. Case and accents don't count.
    """
    counts: dict[int, float] = {}
    for gram, weight in _grams(_folded(text)[:_READ]):
        bucket = zlib.crc32(gram.encode()) % BUCKETS
        counts[bucket] = counts.get(bucket, 0.0) + weight
    norm = sum(value * value for value in counts.values()) ** 0.5
    return {bucket: value / norm for bucket, value in counts.items()}


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'").lower())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _grams(text: str) -> Iterator[tuple[str, float]]:
    words = ["^", *_WORD.findall(text), "$"]
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            yield "w" + " ".join(words[start : start + size]), 1.0
    for sentence in _SENTENCE.split(text):
        said = _WORD.findall(sentence)
        for size in (1, 2):
            yield f"s{' '.join(said[:size])} {sentence[-1:]}", 1.5
    padded = f" {text} "
    for size in (3, 4, 5):
        for start in range(len(padded) - size + 1):
            yield "c" + padded[start : start + size], 0.35
