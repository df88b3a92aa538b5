"""Answers when, why and by whom something changed, from the change log and the stored commits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log

import numpy as np

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.change_question import BEGINS, FORM_WORDS, Asked, asked_about
from repopilot.agents.explain.forms.project.changelog import ChangeEntry, entries_in, is_changelog
from repopilot.agents.explain.forms.project.cited_places import CitedPlaces
from repopilot.agents.explain.forms.project.question_subject import Subject, subject_of
from repopilot.index.history import commit_index, commit_store
from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.repo.history import Commit, commit_authors, follow_renames

_SHOWN = 5
_LEAST, _SURE = 0.5, 0.7
_NEAR = 0.75
"""A commit with this share of the best one's words counts as being about the same."""
_NEAR_BEGINNING = 0.6
"""The same where the first of several changes is asked for: later ones tell more about it."""
_BODY, _BODY_OF_FIRST = 0.6, 0.3
"""What a word in the body of a commit counts, one of its subject being 1."""
_LITERAL = re.compile(r"\b\d+(?:\.\d+)+\b|`([^`\n]+)`")
_LONGEST_BODY = 400


def answer_change(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer when, in which release, why or by whom something changed, or what changed last.

    Args:
        inquiry: the question.

    Returns:
        The answer; None for other questions, and where neither change log nor commits hold it.
    """
    asked = asked_about(inquiry.question)
    if asked is None:
        return None
    if asked == "last":
        return _last(inquiry)
    if asked == "release":
        return _release(inquiry)
    return _commit(inquiry, asked) or (_release(inquiry) if asked == "when" else None)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a change log and its path."""

    path: str
    entry: ChangeEntry
    tokens: frozenset[str]


def _entries(index: Index) -> tuple[_Entry, ...]:
    paths = sorted((p for p in index.files if is_changelog(p)), key=lambda p: (p.count("/"), p))
    found = ((path, entry) for path in paths[:3] for entry in entries_in(index.text(path) or ""))
    return tuple(_Entry(path, entry, frozenset(tokens_of(entry.text))) for path, entry in found)


def _release(inquiry: Inquiry) -> CodeAnswer | None:
    index = inquiry.index
    subject = subject_of(inquiry.results.query, index.lexical, FORM_WORDS)
    literals = [match[1] or match[0] for match in _LITERAL.finditer(inquiry.question)]
    if not subject:
        return None
    known = [e for e in index.derived(_entries) if all(text.lower() in e.entry.text.lower() for text in literals)]
    scored = [(subject.share_of(e.tokens), -len(e.tokens), -number, e) for number, e in enumerate(known)]
    scored.sort(key=lambda row: row[:3], reverse=True)
    best = [row for row in scored if row[0] >= max(_LEAST, 0.9 * scored[0][0])] if scored else []
    if not best:
        return None
    if BEGINS.search(inquiry.question):
        # Of entries that fit alike the oldest, for change logs begin with the newest.
        best.sort(key=lambda row: (round(-row[0], 2), row[2]))
    share, _, _, found = best[0]
    return _told_release(inquiry, found, share >= _SURE, [row[3] for row in best[1:4]])


def _told_release(inquiry: Inquiry, found: _Entry, sure: bool, others: Sequence[_Entry]) -> CodeAnswer:
    cited, language = CitedPlaces(inquiry.index), inquiry.language

    def row(item: _Entry) -> str:
        entry = item.entry
        version = f"**{entry.version}**" if entry.version else i18n.text("project_forms.changes.unreleased", language)
        when = f" ({entry.date})" if entry.date else ""
        heading = cited.cite(item.path, entry.heading)
        return f"{version}{when} {heading}: {entry.text[:300]} {cited.cite(item.path, entry.line, entry.last_line)}"

    text = i18n.text("project_forms.changes.release", language, row=row(found), path=found.path)
    if others and not sure:
        text = "\n".join(
            [text, "", i18n.text("project_forms.changes.others", language), *(f"- {row(other)}" for other in others)]
        )
    return CodeAnswer("release", text, cited.places, sure)


def _matching(index: Index, subject: Subject, commits: Sequence[Commit], body: float) -> list[tuple[float, Commit]]:
    """The commits that hold at least _LEAST of a subject, with their shares, newest first."""
    searchable = commit_store.open_index(index.folder.parent)
    if searchable is None or len(searchable.at) != len(commits):
        return []
    size = len(commits)
    total, shares = 0.0, np.zeros(size)
    for any_of in subject.alternatives:
        held = np.zeros(size)
        for token in any_of:
            key = np.uint64(commit_index.token_key(token))
            place = int(np.searchsorted(searchable.tokens, key))
            if place < len(searchable.tokens) and searchable.tokens[place] == key:
                rows, _ = commit_index.postings(searchable, np.array([place]))
                own = np.where(searchable.subject[rows] > 0, 1.0, body)
                np.maximum.at(held, searchable.commits[rows], own)
        occurring = int((held > 0).sum())
        if occurring:
            weight = log(1 + (size - occurring + 0.5) / (occurring + 0.5))
            total += weight
            shares += weight * held
    if not total:
        return []
    shares /= total
    return [(float(shares[n]), commits[n]) for n in np.flatnonzero(shares >= _LEAST).tolist()]


def _commit(inquiry: Inquiry, asked: Asked) -> CodeAnswer | None:
    index = inquiry.index
    commits = index.commits
    subject = subject_of(inquiry.results.query, index.lexical, FORM_WORDS)
    if not commits or not subject:
        return None
    literals = [match[1] or match[0] for match in _LITERAL.finditer(inquiry.question)]
    begins = BEGINS.search(inquiry.question) is not None
    matching = _matching(index, subject, commits, _BODY_OF_FIRST if begins else _BODY)
    matching = [(s, c) for s, c in matching if all(t.lower() in f"{c.subject} {c.body}".lower() for t in literals)]
    if not matching:
        return None
    best = max(share for share, _ in matching)
    least = best * (_NEAR_BEGINNING if begins else _NEAR)
    near = [(share, commit) for share, commit in matching if share >= least]
    first = near[-1] if begins else max(near, key=lambda pair: pair[0])
    others = [commit for _, commit in sorted(near, key=lambda pair: -pair[0]) if commit is not first[1]]
    return _told_commit(inquiry, asked, first[1], others[: _SHOWN - 1], first[0] >= _SURE and len(near) <= _SHOWN)


def _told_commit(inquiry: Inquiry, asked: Asked, found: Commit, others: Sequence[Commit], sure: bool) -> CodeAnswer:
    cited, language = CitedPlaces(inquiry.index), inquiry.language
    authors = commit_authors(inquiry.workspace.snapshot, [found.sha]) if asked == "who" else {}
    values = {"row": _row(inquiry, cited, found), "author": authors.get(found.sha, "?")}
    if asked == "who" and found.sha not in authors:
        return CodeAnswer(
            "history", i18n.text("project_forms.changes.no_author", language, **values), cited.places, False
        )
    parts = [i18n.text(f"project_forms.changes.{asked}", language, **values)]
    if found.body and asked in ("why", "when"):
        body = " ".join(found.body[:_LONGEST_BODY].split())
        parts.append(f"> {body}" + ("…" if len(found.body) > _LONGEST_BODY else ""))
    if others:
        rows = [f"- {_row(inquiry, cited, commit)}" for commit in others]
        parts.append("\n".join([i18n.text("project_forms.changes.related", language), *rows]))
    parts.append(_known(inquiry))
    return CodeAnswer("history", "\n\n".join(parts), cited.places, sure)


def _row(inquiry: Inquiry, cited: CitedPlaces, commit: Commit) -> str:
    path = next((p for p in commit.paths if p in inquiry.index.files), "")
    where = f" {cited.cite(path, 1)}" if path else ""
    return f"{_date(commit)}, `{commit.sha[:10]}`: {commit.subject[:200]}{where}"


def _date(commit: Commit) -> str:
    return datetime.fromtimestamp(commit.at, UTC).strftime("%Y-%m-%d")


def _known(inquiry: Inquiry) -> str:
    """How far the known history goes."""
    commits = inquiry.index.commits
    values = {"count": len(commits), "date": _date(commits[-1])}
    return i18n.text("project_forms.changes.known", inquiry.language, **values)


def _last(inquiry: Inquiry) -> CodeAnswer | None:
    """The newest commits to the file or folder that the question names, or to all of the repository."""
    index, language = inquiry.index, inquiry.language
    commits = follow_renames(index.commits)
    path, symbol, line = _named_place(inquiry)
    if path is None or not commits:
        return None
    touching = [c for c in commits if not path or any(p == path or p.startswith(f"{path}/") for p in c.paths)]
    if not touching:
        return None
    cited = CitedPlaces(index)
    where = (
        f"`{path}` {cited.cite(path, line)}"
        if path in index.files
        else f"`{path}/`"
        if path
        else inquiry.workspace.snapshot.name
    )
    shown = touching[:_SHOWN]
    authors = commit_authors(inquiry.workspace.snapshot, [c.sha for c in shown])
    rows = []
    for commit in shown:
        by = f", {authors[commit.sha]}" if commit.sha in authors else ""
        rows.append(f"{_date(commit)}, `{commit.sha[:10]}`{by}: {commit.subject[:200]}")
    parts = [i18n.text("project_forms.changes.last", language, where=where, row=rows[0])]
    if symbol:
        parts.append(i18n.text("project_forms.changes.by_file", language, name=symbol, path=path))
    if rows[1:]:
        before = i18n.text("project_forms.changes.before", language)
        parts.append("\n".join([before, *(f"- {row}" for row in rows[1:])]))
    left_out = len(touching) - len(shown)
    if left_out:
        parts.append(i18n.text("project_forms.left_out", language, count=left_out))
    parts.append(_known(inquiry))
    return CodeAnswer("history", "\n\n".join(parts), cited.places, True, left_out)


def _named_place(inquiry: Inquiry) -> tuple[str | None, str, int]:
    """(path, symbol, line) of what a question names: '' for the whole repository, None where that is unclear."""
    index, query = inquiry.index, inquiry.results.query
    for named in query.paths:
        matching = [p for p in index.files if p == named or p.endswith(f"/{named}")]
        if len(matching) == 1:
            return matching[0], "", 1
        folder = named.strip("/")
        if not matching and any(p.startswith(f"{folder}/") for p in index.files):
            return folder, "", 1
    for name in query.names:
        symbols = index.symbols(name)
        if len({s.path for s in symbols}) == 1:
            return symbols[0].path, name, symbols[0].start_line
    if query.paths or query.names:
        return None, "", 0
    subject = subject_of(query, index.lexical, FORM_WORDS)
    return ("" if not subject else None), "", 0
