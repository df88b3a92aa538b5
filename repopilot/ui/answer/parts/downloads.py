"""The parts of an answer that can be saved as a file."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.results import ReviewReport, Wiki
from repopilot.retrieval.context_pack import pack_of, real_tokenizer, rendered
from repopilot.ui.answer.parts.citations import answer_markdown
from repopilot.ui.answer.parts.report_props import sarif
from repopilot.ui.answer.wiki_view import wiki_files
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.changes.diffs import not_rejected, patch, zipped
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.repository.registry import Opening
from repopilot.ui.trace.trace_panel import steps_json


@button
async def download(chat: Chat, payload: dict) -> dict:
    """Give the browser a file to save.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, form: `zip`, `patch`, `file`, `sarif`, `markdown`, `pack`, `wiki` or `steps`, path: the
            id of the file for `file`}.

    Returns:
        {name, mime, base64: the content}, or {error}.
    """
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    name, mime, content = await asyncio.to_thread(_packed, shown, payload, chat.opening_of(shown.index))
    return {"name": name, "mime": mime, "base64": base64.b64encode(content).decode()}


def _packed(shown: ShownAnswer, payload: dict, opening: Opening | None) -> tuple[str, str, bytes]:
    files = not_rejected(shown.files, shown.decisions)
    if payload.get("form") == "zip":
        return "repopilot.zip", "application/zip", zipped(files)
    if payload.get("form") == "wiki" and (wiki := shown.answer.brings(Wiki)) and opening and opening.snapshot:
        files = wiki_files(wiki, shown.index, opening.source.url)
        return "wiki.zip", "application/zip", zipped(files)
    if payload.get("form") == "patch":
        return "repopilot.patch", "text/x-patch", patch(files).encode()
    if payload.get("form") == "sarif" and (review := shown.answer.brings(ReviewReport)):
        return "repopilot.sarif", "application/sarif+json", sarif(review).encode()
    if payload.get("form") == "markdown":
        return "repopilot.md", "text/markdown", answer_markdown(shown.answer, "").encode()
    if payload.get("form") == "pack":
        made = pack_of(shown.index, shown.question, shown.answer.evidence, real_tokenizer())
        return "context.md", "text/markdown", rendered(made, "markdown").encode()
    if payload.get("form") == "steps":
        return "steps.json", "application/json", steps_json(shown).encode()
    file = shown.files.get(str(payload.get("path", "")))
    if file is None:
        raise UsageError(i18n.message("ui.errors.no_such_file"))
    return Path(file.path).name, "text/plain", file.content.encode()
