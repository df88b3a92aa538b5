"""What a model's reply may look like: sentences that end in the number of an excerpt and name only code that is there.

Pure: from excerpts to a grammar in GBNF, the notation of llama.cpp, or to a JSON schema.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from repopilot.retrieval.claims import word_stems
from repopilot.types import Excerpt

MOST_SENTENCES = 4
MOST_NAMES = 300
"""Alternatives between backticks; the sampler keeps one state for each that fits what is written so far."""
LEAST_PIECES = 16
"""The minimum number of characters and names in a sentence."""
LONGEST_NAME = 60
ABSENT = "NOT IN THIS REPOSITORY"
"""What the model replies when the excerpts don't hold the answer, where it is allowed to."""

_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_$@]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*[?!]?")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_NUMBER = re.compile(r"(?<![\w.])\d[\w.]*(?<![.])")
_QUOTED = re.compile(r"\"([^\"\n`]{1,40})\"|'([^'\n`]{1,40})'")
_ASSIGNED = re.compile(
    r"[A-Za-z_][\w.]*(?:\s*:\s*[\w\[\]. |*&<>?]{1,30}?)?\s*(?::=|=)\s*(?:\"[^\"\n`]*\"|'[^'\n`]*'|[\w.]+)"
)
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]{1,5}\b")
_CODE_LIKE = re.compile(r"[_./:$@(=\d-]|[a-z][A-Z]")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f`\ud800-\udfff]|[^\u0000-\uffff]")

_RULES = """\
sentence ::= start piece{%d,} ". [" number "]"
start ::= [A-ZÀ-ÖØ-Þ] | code
piece ::= [^.`_\\[\\]{}<>\\n\\r!?*#|~] | "." [a-z0-9/] | code
code ::= "`" name "()"? "`"
"""


def sentence_grammar(
    excerpts: Sequence[Excerpt], question: str, *, absence: bool = False, most_names: int = MOST_NAMES
) -> str:
    """The grammar of a reply about excerpts.

    Args:
        excerpts: those in the prompt, at least one.
        question: where there are too many names, those that share words with it are kept.
        absence: whether the reply may be `ABSENT`.
        most_names: how many names may stand in backticks.

    Returns:
        A grammar under which the reply is one to `MOST_SENTENCES` sentences, each ending in the number of an excerpt,
        with only identifiers, paths and literals of the excerpts in backticks. Without any such name the reply has no
        backticks.
    """
    numbers = " | ".join(_quoted(str(e.number)) for e in excerpts)
    names = names_of(excerpts, question)[:most_names]
    rules = _RULES % LEAST_PIECES
    if not names:
        rules = rules.replace(" | code", "").rpartition("code ::=")[0]
    root = f'sentence (" " sentence){{0,{MOST_SENTENCES - 1}}}'
    lines = [f"root ::= {root}" + (f" | {_quoted(ABSENT)}" if absence else ""), rules.rstrip(), f"number ::= {numbers}"]
    return "\n".join([*lines, *_trie_rules("name", names)]) + "\n"


def sentence_schema(excerpts: Sequence[Excerpt]) -> dict[str, Any]:
    """The JSON schema of a reply about excerpts: sentences as objects, each with the number of an excerpt.

    Args:
        excerpts: those in the prompt.
    """
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "citation": {"type": "integer", "enum": [e.number for e in excerpts]},
        },
        "required": ["text", "citation"],
        "additionalProperties": False,
    }
    sentences = {"type": "array", "items": sentence, "minItems": 1, "maxItems": MOST_SENTENCES}
    return {
        "type": "object",
        "properties": {"sentences": sentences},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def names_of(excerpts: Sequence[Excerpt], question: str) -> list[str]:
    """Identifiers, paths and literals of excerpts, those that matter most for a question first.

    Args:
        excerpts: the excerpts, best first.
        question: what is asked.

    Returns:
        Each name once. Names score higher where they share words with the question, look like code, or come from the
        first excerpts.
    """
    wanted = word_stems(question)
    scores: dict[str, float] = defaultdict(float)
    for rank, excerpt in enumerate(excerpts, 1):
        for name in dict.fromkeys(_names(excerpt)):
            if len(name) <= LONGEST_NAME and not _UNSAFE.search(name):
                scores[name] += _relevance(name, wanted) / rank
    return sorted(scores, key=lambda name: -scores[name])


def _relevance(name: str, wanted: Collection[str]) -> float:
    """1 for a plain word; more for what looks like code and for what shares words with the question."""
    shared = sum(stem in wanted for stem in word_stems(name))
    return 1.0 + 2.0 * bool(_CODE_LIKE.search(name)) + 2.0 * shared


def _names(excerpt: Excerpt) -> Iterator[str]:
    yield excerpt.path
    yield excerpt.path.rpartition("/")[2]
    for text in (excerpt.symbol, excerpt.text):
        for match in _DOTTED.finditer(text):
            yield from _with_parts(match.group(0))
    for pattern in (_OPTION, _NUMBER, _PATH):
        yield from pattern.findall(excerpt.text)
    for match in _ASSIGNED.finditer(excerpt.text):
        yield match.group(0)
    for match in _QUOTED.finditer(excerpt.text):
        yield match.group(0)
        yield (match.group(1) or match.group(2)).strip() or match.group(0)


def _with_parts(name: str) -> Iterator[str]:
    """A qualified name and its parts."""
    yield name
    yield from (part for part in re.split(r"\.|::|->|#", name) if part)


def _trie_rules(root: str, names: Iterable[str]) -> Iterator[str]:
    """Rules for a choice of names with common prefixes merged, so that the sampler has one state at each character."""
    trie: dict[str, Any] = {}
    for name in sorted(set(names)):
        node = trie
        for character in name:
            node = node.setdefault(character, {})
        node[""] = {}
    if trie:
        yield from _node_rules(root, trie)


def _node_rules(rule: str, node: dict[str, Any]) -> Iterator[str]:
    alternatives: list[str] = []
    further: list[tuple[str, dict[str, Any]]] = []
    for character, below in sorted(node.items()):
        text = character
        while len(below) == 1 and "" not in below:  # a run without a branch
            ((following, below),) = below.items()
            text += following
        if character == "":
            alternatives.append('""')
        elif below == {"": {}}:
            alternatives.append(_quoted(text))
        else:
            branch = f"{rule}-{len(further)}"
            further.append((branch, below))
            alternatives.append(f"{_quoted(text)} {branch}")
    yield f"{rule} ::= " + " | ".join(alternatives)
    for branch, below in further:
        yield from _node_rules(branch, below)


def _quoted(text: str) -> str:
    """A literal of the grammar."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
