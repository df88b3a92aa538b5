"""Adds classifiers to a Python project's manifests, or removes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import inf

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry, removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.manifests.manifest_tree import ini_values, inner_span, pairs_of, strings_in
from repopilot.agents.editing.exact.members import in_quotes_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_OF_PYTHON = "Programming Language :: Python :: "
_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
_VERB = r"(?:(?P<add>add|include|list|ajoute[rz]?)|remove|drop|delete|supprime[rz]?|retire[rz]?)"
_KIND = r"(?:(?:trove|pypi|python|missing) )*classifi(?:er|cateur)"
_SAID = re.compile(
    rf"{_VERB} (?:an? |the |le |un )?(?:{_KIND} (?:for|of|pour|de) python (?P<version>\d\.\d+)"
    rf"|{_KIND} [`\"'«]?\s?(?P<text>[\w-][^`\"'«»]* :: [^`\"'«»]*\w)\s?[`\"'»]?"
    r"|python (?P<other>\d\.\d+) classifier)"
    rf"(?: (?:to|from|in|au|du|dans) (?:the |our )?(?:(?:{_KIND}s?|metadata|manifest|[\w.]+\.(?:toml|cfg|py))))?",
    re.I,
)


def classifier_wish(task: str) -> list[ExactTask]:
    """The classifier that a task wants added or removed; [] for other tasks.

    Args:
        task: on one line.
    """
    match = _SAID.fullmatch(task.strip().rstrip(".! "))
    if match is None:
        return []
    version = match["version"] or match["other"]
    text = f"{_OF_PYTHON}{version}" if version else match["text"]
    return [ExactTask("add_classifier" if match["add"] else "remove_classifier", text, "", text)]


def change_classifiers(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a classifier beside those that are like it, or remove it, in every manifest that lists some.

    Args:
        task: of kind add_classifier or remove_classifier, the classifier in `new`.
        sources: the files.

    Returns:
        The changes; None where no manifest lists classifiers.

    Raises:
        GenerationFailed: it is there already, or isn't there.
    """
    patch = Patch()
    listed = False
    for path in _MANIFESTS:
        source = sources.get(path)
        changes = [*_in_lists(source, task), *_in_lines(source, task)] if source is not None else []
        for change in changes:
            listed = True
            if change is not None:
                patch.replace(path, *change)
        if any(changes):
            kind = "add_member" if task.kind == "add_classifier" else "remove_member"
            patch.edits.append(Edit(kind, path, "classifiers", task.new))
    if listed and not patch.edits:
        missing = task.kind == "remove_classifier"
        key = "exact.no_such_name_in" if missing else "exact.already_there"
        where = {"place": "classifiers"} if missing else {"path": "classifiers"}
        raise GenerationFailed(i18n.message(key, name=task.new, **where))
    return patch if patch.edits else None


_Change = tuple[int, int, str] | None
"""The bytes to replace and what replaces them; None for a list that is already as it should be."""


def _in_lists(source: SourceText, task: ExactTask) -> Iterator[_Change]:
    for entries in classifier_lists(source):
        container = entries[0].parent
        texts = [source.data[slice(*inner_span(source, entry))].decode("utf-8") for entry in entries]
        gone = {n for n, text in enumerate(texts) if text == task.new}
        if task.kind == "remove_classifier":
            spans = removed_spans(source.data, entries, gone)
            yield from ((start, end, "") for start, end in spans) if spans else (None,)
        elif gone or container is None:
            yield None
        else:
            text = in_quotes_of(f'"{task.new}"', [source.slice(e) for e in entries])
            yield added_entry(source.data, container, entries, _position(texts, task.new), text)


def _in_lines(source: SourceText, task: ExactTask) -> Iterator[_Change]:
    """The same in a `setup.cfg`, which has one on each line."""
    if posixpath.basename(source.path) != "setup.cfg":
        return
    for value in ini_values(source):
        rows = value.text.split("\n")
        texts = [row.strip() for row in rows]
        if value.key not in ("classifiers", "classifier") or not any(texts):
            continue
        starts = [value.start + len("\n".join([*rows[:n], ""]).encode("utf-8")) for n in range(len(rows))]
        there = texts.index(task.new) if task.new in texts else None
        if task.kind == "remove_classifier":
            yield (starts[there] - 1, starts[there] - 1 + len(f"\n{rows[there]}".encode()), "") if there else None
        elif there is not None:
            yield None
        else:
            first = next(n for n, text in enumerate(texts) if text)
            held = [text for text in texts[first:] if text]
            at = first + _position(held, task.new)
            indent = rows[first][: len(rows[first]) - len(rows[first].lstrip())]
            end = starts[at - 1] + len(rows[at - 1].encode("utf-8")) if at else value.start
            yield end, end, f"\n{indent}{task.new}"


def classifier_lists(source: SourceText) -> Iterator[Sequence[Node]]:
    """The lists of classifiers in a manifest that is TOML or Python: their entries.

    Args:
        source: the manifest.
    """
    if source.language == "toml":
        for pair in pairs_of(source):
            if pair.name[-1] == "classifiers" and pair.value.type == "array":
                yield strings_in(pair.value)
        return
    pending = [source.root] if source.root is not None else []
    while pending:
        node = pending.pop()
        if node.type in ("list", "tuple") and any("Programming Language ::" in source.slice(c) for c in node.children):
            yield [c for c in node.named_children if c.type != "comment"]
        else:
            pending.extend(node.named_children)


def _position(texts: Sequence[str], new: str) -> int:
    """Where a classifier belongs: among those that have most of its parts in common, by versions."""
    shared = [_shared(text.split(" :: "), new.split(" :: ")) for text in texts]
    most = max(shared, default=0)
    alike = [n for n, count in enumerate(shared) if count == most]
    smaller = [n for n in alike if _key(texts[n]) < _key(new)]
    return smaller[-1] + 1 if smaller else alike[0] if alike else len(texts)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two classifiers have in common from their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _key(text: str) -> tuple[tuple[float, str], ...]:
    """Sorts versions by their numbers, and before words."""
    parts = re.findall(r"\d+|[^\W\d]+", text)
    return tuple((int(part), "") if part.isdigit() else (inf, part.lower()) for part in parts)
