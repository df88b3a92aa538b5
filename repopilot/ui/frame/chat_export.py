"""A chat as a document to keep: Markdown to read, JSON for programs, rated answers for a benchmark. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import TypeAdapter

from repopilot.foreign_text import fence_of
from repopilot.ui.answer.parts.citations import answer_markdown
from repopilot.ui.chats.chat_list import ListedChat
from repopilot.ui.chats.chat_store import Exchange

_EXCHANGES = TypeAdapter(list[Exchange])


def as_markdown(chat: ListedChat, exchanges: Sequence[Exchange]) -> str:
    """A chat as Markdown: each question a heading, its answer, the places it cites, its changes as diffs."""
    parts = [f"# {chat.title}", chat.address]
    for exchange in exchanges:
        command = f"/{exchange.command} " if exchange.command else ""
        parts.append(f"## {command}{' '.join(exchange.question.split())}")
        parts.append(answer_markdown(exchange.answer, "").strip())
        diffs = [file.diff.strip() for file in exchange.answer.files if file.diff]
        parts += [f"{(fence := fence_of(diff, least=4))}diff\n{diff}\n{fence}" for diff in diffs]
        parts.append(f"*{exchange.footer}*" if exchange.footer else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(chat: ListedChat, exchanges: Sequence[Exchange]) -> str:
    """A chat as JSON: {title, repository, exchanges}."""
    said = _EXCHANGES.dump_python(list(exchanges), mode="json")
    return json.dumps(
        {"title": chat.title, "repository": chat.address, "exchanges": said}, ensure_ascii=False, indent=1
    )


def as_benchmark(chat: ListedChat, exchanges: Sequence[Exchange]) -> str:
    """The rated answers of a chat as JSON Lines in the form of bench/data/answers, with the rating and the remark.

    `gold`, what an answer must contain, is left empty; the places are those cited by an answer rated as good.
    """
    rows = (
        {
            "question": each.question,
            "answerable": True,
            "gold": [],
            "places": [[c.path, c.start_line, c.end_line] for c in each.answer.citations if each.rating > 0],
            "note": each.remark,
            "rating": each.rating,
            "repository": chat.address,
            "commit": each.commit,
        }
        for each in exchanges
        if each.rating
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
