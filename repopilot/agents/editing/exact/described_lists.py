"""Adds an entry to a list that a task describes, or removes one: the list is found by its words and its entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from tree_sitter import Node

from repopilot.agents.editing.exact.described import name_parts, terms_of
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, shared_object, sorted_position
from repopilot.agents.editing.exact.members import in_quotes_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText, merge, written_by_program
from repopilot.agents.editing.exact.values.literals import is_string
from repopilot.agents.editing.exact.wording.list_wording import GENERIC, list_edit
from repopilot.code.languages import file_kind, is_doc_path, is_example_path, is_test_path
from repopilot.types import Edit

_LISTS = frozenset(("list", "tuple", "set", "array"))
_AROUND = frozenset(
    "class_definition class_declaration function_definition function_declaration method_definition assignment "
    "variable_declarator pair lexical_declaration public_field_definition field_definition".split()
)
_NO_LISTS = re.compile(r"__\w+__$")
_SPHINX = "conf.py"
"""Code that only builds the documentation."""
_FEWEST, _FEWEST_WORDS = 2, 2
"""Entries that a list must have, to be known by them; words that tell which of the lists without a name is meant."""
_MOST_FILES = 120
_CLEAR = 0.5
"""How much worse the next list must fit."""


class _Found(NamedTuple):
    """A list, what it is called, how well the description fits, and whether it has all words of the name."""

    source: SourceText
    node: Node
    entries: tuple[Node, ...]
    texts: tuple[str, ...]
    name: str
    score: float
    explained: bool


def described_entry(task: str, sources: Sources) -> Patch | None:
    """Add or remove the entry that a task speaks of.

    Args:
        task: on one line.
        sources: the files.

    Returns:
        The change; None where the task isn't one of these, or no list or several fit.
    """
    asked = list_edit(task)
    if asked is None:
        return None
    whole = Patch()
    for words in asked.lists:
        found = _list_meant(words, asked.item, sources, removed=asked.action == "remove")
        if found is None:
            return None
        merge(whole, (_removed if asked.action == "remove" else _added)(found, asked.item))
    return whole


def _list_meant(words: Sequence[str], item: str, sources: Sources, *, removed: bool) -> _Found | None:
    """The one list that words describe and that has, or could have, an entry."""
    wanted = terms_of(" ".join(word.lower() for word in words))
    found: list[_Found] = []
    for path in _searched(wanted, item, sources, removed=removed):
        source = sources.get(path)
        if source is None or source.root is None or (written_by_program(source) and not _is_named(path, words)):
            continue
        for node, entries in _lists_of(source.root):
            texts = tuple(_text(source, entry) for entry in entries)
            holds = item.isidentifier() if entries[0].type == "attribute" else _could_hold(texts, item)
            if (item in texts) if removed else holds:
                found.append(_Found(source, node, entries, texts, *_fit(source, node, wanted)))
    needed = 0.5 if removed and len(found) == 1 else 1.0  # an entry that only one list has tells which is meant
    fitting = sorted((f for f in found if f.score >= needed), key=lambda f: -f.score)
    if not fitting or not fitting[0].explained or (len(fitting) > 1 and fitting[1].score > fitting[0].score - _CLEAR):
        return None
    return fitting[0] if removed or item not in fitting[0].texts else None


def _is_named(path: str, words: Sequence[str]) -> bool:
    """Whether words have the name of a file, or of a folder it is in: then others' code is meant, too."""
    return any(part in words for part in path.rpartition(".")[0].split("/"))


def _searched(wanted: Sequence[frozenset[str]], item: str, sources: Sources, *, removed: bool) -> list[str]:
    """The files of code that have the entry, or all words of the description."""
    index = sources.workspace.index
    paths = sources.mentioning(item) if removed else list(index.files)
    code = [p for p in paths if file_kind(p) == "code" and not is_test_path(p) and not is_example_path(p)]
    code = [p for p in code if not is_doc_path(p) and PurePosixPath(p).name != _SPHINX]
    if removed:
        return code
    return [p for p in code if _has_words(f"{p}\n{index.text(p) or ''}".lower(), wanted)][:_MOST_FILES]


def _has_words(text: str, wanted: Sequence[frozenset[str]]) -> bool:
    return all(any(term in text for term in terms) for terms in wanted)


def _lists_of(root: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """The lists of a file whose entries are texts, or attributes of one object."""
    pending = [root]
    while pending:
        node = pending.pop()
        pending.extend(node.named_children)
        entries = tuple(c for c in node.named_children if c.type != "comment") if node.type in _LISTS else ()
        if len(entries) >= _FEWEST and (all(e.type == "string" for e in entries) or shared_object(entries)):
            yield node, entries


def _text(source: SourceText, entry: Node) -> str:
    attribute = entry.child_by_field_name("attribute")
    written = source.slice(attribute or entry)
    return written[1:-1] if is_string(written) else written


def _could_hold(texts: Sequence[str], item: str) -> bool:
    """Whether a text is written like entries of a list, or is one. Where entries repeat, their positions count."""
    if len(set(texts)) < len(texts):
        return False
    return item in texts or [_shape(text) for text in texts].count(_shape(item)) >= _FEWEST


def _shape(text: str) -> str:
    plain = re.sub(r"[^\W\d_]+", lambda m: "A" if m[0].isupper() else "a" if m[0].islower() else "Aa", text)
    return re.sub(r"\d+", "0", plain)


@cache
def _generic_parts() -> frozenset[str]:
    return frozenset(name_parts("_".join(GENERIC)))


def _fit(source: SourceText, node: Node, wanted: Sequence[frozenset[str]]) -> tuple[str, float, bool]:
    """A list's name, how many of the words are in its names, of which nearer ones count more, and whether all words of
    its name are said."""
    name, *others = _names_around(source, node)
    unnamed = name == _NO_NAME  # in a condition: what it decides is said beside it
    own = name_parts(_condition_text(source, node) if unnamed else name)
    outer = {part for other in others for part in name_parts(other)}
    path = name_parts(source.path.rpartition(".")[0])
    covered = [1.0 if terms & (own | outer) else 0.9 if terms & path else 0.0 for terms in wanted]
    named = sum(bool(terms & own) for terms in wanted)
    near = any(terms & (own | outer) for terms in wanted)
    known = (len(wanted) >= _FEWEST_WORDS and named > 0) if unnamed else not _NO_LISTS.match(name)
    unexplained = len(own - _generic_parts() - frozenset().union(*wanted))
    extra = named - 0.1 * min(unexplained, 3) if near else 0.0
    share = sum(bool(c) for c in covered) / len(covered) if near and known else 0.0
    full = share if share < 1 else 1.0 + max(extra, 0.0)
    return name, full, unnamed or not unexplained


_NO_NAME = "?"


def _names_around(source: SourceText, node: Node) -> list[str]:
    """What a list is assigned to ('?' for nothing), and the names of what that is in, innermost first."""
    found: list[str] = []
    child, parent = node, node.parent
    while parent is not None:
        label = next(
            (n for f in ("name", "left", "key", "property") if (n := parent.child_by_field_name(f)) is not None), None
        )
        if parent.type in _AROUND and label is not None and label.id != child.id:
            inside = parent.type.startswith(("class", "function", "method"))
            found += [_NO_NAME] if inside and not found else []
            found.append(source.slice(label))
        child, parent = parent, parent.parent
    return found or [_NO_NAME]


def _condition_text(source: SourceText, node: Node) -> str:
    """The names in the conditions around a list."""
    found: list[str] = []
    parent = node.parent
    while parent is not None and not parent.type.startswith(("class", "function", "method")):
        condition = parent.child_by_field_name("condition")
        found += re.findall(r"\w+", source.slice(condition)) if condition is not None else []
        parent = parent.parent
    return ".".join(found)


def _added(found: _Found, item: str) -> Patch:
    source = found.source
    owner = shared_object(found.entries)
    text = f"{owner}.{item}" if owner else in_quotes_of(f'"{item}"', [source.slice(e) for e in found.entries])
    at = sorted_position(found.texts, item)
    patch = Patch()
    patch.replace(source.path, *added_entry(source.data, found.node, found.entries, at, text))
    patch.edits.append(Edit("add_member", source.path, found.name, text))
    return patch


def _removed(found: _Found, item: str) -> Patch:
    source = found.source
    gone = {n for n, text in enumerate(found.texts) if text == item}
    patch = Patch()
    for start, end in removed_spans(source.data, found.entries, gone):
        lone = found.node.type == "tuple" and len(found.entries) - len(gone) == 1 and max(gone) > 0
        patch.replace(source.path, start, end, "," if lone else "")
    patch.edits.append(Edit("remove_member", source.path, found.name))
    return patch
