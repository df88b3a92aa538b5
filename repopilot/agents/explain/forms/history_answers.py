"""Answers when, why and by whom something changed: the commits to the file that is named, else those most like the
question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from repopilot import i18n
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.recognise import Form
from repopilot.index.store import Index
from repopilot.repo.history import Commit, commit_authors, follow_renames
from repopilot.retrieval.ranking.past_commits import similar_commits

MOST_SHOWN = 6
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""An HTML comment, which programs leave in commit messages."""
_LONGEST_BODY = 300


def answer_history(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer what changed something, when and by whom."""
    index = inquiry.index
    language = inquiry.language
    commits = follow_renames(index.commits)
    path = _named_path(form.names, index)
    if path:
        found: Sequence[Commit] = [commit for commit in commits if path in commit.paths]
        found = found[::-1] if form.kind == "added" else found
    else:
        found = [each.commit for each in similar_commits(index, inquiry.results.query, commits, MOST_SHOWN)]
    if not found:
        return None
    shown = found[:MOST_SHOWN]
    authors = commit_authors(inquiry.workspace.snapshot, [commit.sha for commit in shown])
    key = "of_path" if path else "alike"
    parts = [i18n.text(f"forms.history.{key}", language, path=path, count=len(found))]
    parts.append("\n".join(f"- {_row(commit, authors.get(commit.sha, ''))}" for commit in shown))
    if body := " ".join(_COMMENT.sub(" ", shown[0].body)[:_LONGEST_BODY].split()):
        parts.append(f"> {body}")
    touched = path or next((p for p in shown[0].paths if p in index.files), "")
    places = (evidence_of_lines(index, 1, (touched, 1, 1)),) if touched in index.files else ()
    text = "\n\n".join(parts) + (" [1]" if places else "")
    return CodeAnswer("reason" if form.kind == "reason" else "history", text, places, sure=bool(path))


def _named_path(names: Sequence[str], index: Index) -> str:
    """The file that one of the names means: the one with that path, else the only one whose path ends in it, else the
    only one that defines the name; '' for none."""
    for name in names:
        paths = index.files_named(name) or sorted({symbol.path for symbol in index.symbols(name)})
        if len(paths) == 1:
            return paths[0]
    return ""


def _row(commit: Commit, author: str) -> str:
    date = datetime.fromtimestamp(commit.at, UTC).date().isoformat()
    return f"{date}, `{commit.sha[:10]}`{f', {author}' if author else ''}: {commit.subject[:200]}"
