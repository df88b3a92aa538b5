"""Normalizes questions for the router: strips politeness, code, tracebacks and paths, and hashes n-grams. Pure."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from repopilot.retrieval.query.stack_frames import without_traces

HEAD, TAIL = 1500, 700
LEXICAL_BUCKETS = 4096

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)
_INLINE = re.compile(r"`[^`\n]{1,200}`")
_TRACE_LINE = re.compile(
    r"^\s*(?:Traceback \(|File [\"'].*?[\"'], line|at \S+ ?\(|at \S+:\d|\S*(?:Error|Exception|panic|panicked)\b.*[:(]|"
    r"goroutine \d|caused by:|E  +\S|FAILED |error(?:\[\w+\]| \w+\d+)?:|thread '.*panicked|\t\S|\.{3} \d+ more).*$",
    re.M | re.I,
)
_PATH = re.compile(r"@[\w./\\-]+|\b[\w.-]+(?:/[\w.-]+)+/?|\b\w+\.(?:[a-z]{1,4})\b(?=[\s?,:;!)]|$)")
_CALL = re.compile(r"\b[\w.]+\(\)")
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|thanks|thank you|ok(?:ay)?|yes|so|well|please|pls|plz|just|now|then|and|also|quick question|"
    r"no(?=[,;:.!])|non(?= ?[,;:.!])|nope|bonjour|salut|merci|maintenant|et|alors|"
    r"s'?il (?:te|vous) plait|stp|svp)\b[\s,!.:-]*"
    r"|(?:can|could|would|will|cna) you (?:please |kindly |just |quickly |mind )*"
    r"|(?:i (?:want|need|would like)|i'd like|we (?:want|need)) you to "
    r"|(?:help me (?:to )?|let's |go ahead and |i'm trying to )"
    r"|(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous) (?:m'|me )?(?:aider a )?)+"
)
_TRAILING = re.compile(r"[\s,]*\b(?:please|pls|plz|thanks|thank you|s'?il (?:te|vous) plait|stp|svp|merci)[\s.!?]*$")
_CONTRACTIONS = (("’", "'"), ("what's", "what is"), ("where's", "where is"), ("who's", "who is"), ("how's", "how is"))


@dataclass(frozen=True, slots=True)
class NormalizedQuestion:
    """A question as the router reads it.

    `raw` is the shortened text, `core` the request itself, folded, without code, paths and politeness. The flags say
    whether the text contains code, a traceback, a path, a question mark.
    """

    raw: str
    core: str
    code: bool
    trace: bool
    path: bool
    question_mark: bool


def shorten(text: str) -> str:
    """Head and tail of a long message: the request comes before or after what was pasted."""
    text = text.replace("\0", " ")
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def fold(text: str) -> str:
    """Convert to lower case, without accents and typographic apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'").lower())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def read(text: str) -> NormalizedQuestion:
    """Normalize a question."""
    raw = shorten(text)
    bare = _FENCE.sub(" ", raw)
    no_trace = _TRACE_LINE.sub(" ", without_traces(bare))
    trace = no_trace != bare or without_traces(raw) != raw
    plain = _CALL.sub(" name ", _INLINE.sub(" name ", no_trace))
    pathless = _PATH.sub(" file ", plain)
    core = " ".join(fold(pathless).split())
    for short, full in _CONTRACTIONS:
        core = core.replace(short, full)
    core = _TRAILING.sub("", _POLITE.sub("", core)).strip(" ,.;:!-") or core
    return NormalizedQuestion(raw, core, "```" in raw or "`" in raw, trace, pathless != plain, "?" in bare)


def reads_as_latin(core: str) -> bool:
    """Whether at least a third of the letters are ASCII after folding, as rules and classifier expect."""
    letters = [c for c in core if c.isalpha()]
    return not core or 3 * sum(c.isascii() for c in letters) >= max(1, len(letters))


def lexical_features(reading: NormalizedQuestion) -> dict[int, float]:
    """Hashed word 1–3-grams and character 3–5-grams of the core, L2-normalised: bucket → weight."""
    counts: dict[int, float] = {}
    for gram in _grams(reading.core[:600]):
        bucket = zlib.crc32(gram.encode()) % LEXICAL_BUCKETS
        counts[bucket] = counts.get(bucket, 0.0) + (1.0 if gram[0] == "w" else 0.35)
    norm = sum(v * v for v in counts.values()) ** 0.5 or 1.0
    return {bucket: value / norm for bucket, value in counts.items()}


def _grams(text: str) -> Iterator[str]:
    words = ["^", *re.findall(r"[^\W_]+|[?:]", text), "$"]
    for size in (1, 2, 3):
        for start in range(len(words) - size + 1):
            yield "w" + " ".join(words[start : start + size])
    padded = f" {text} "
    for size in (3, 4, 5):
        for start in range(len(padded) - size + 1):
            yield "c" + padded[start : start + size]
