"""Generated files in a chat: shown as diffs, accepted or rejected one by one, downloaded. Only accepting writes."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import chainlit as cl

from repopilot import i18n
from repopilot.errors import RepoPilotError, UsageError
from repopilot.repo.apply import safe_target, write_files
from repopilot.types import FileChange
from repopilot.ui.answer.diffs import ShownFiles, blob_id, files_props, not_rejected, patch, zipped
from repopilot.ui.answer.report_props import review_of, sarif
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.elements import element, update
from repopilot.ui.error_text import error_line


def files_element(chat: Chat, answer_id: str) -> cl.CustomElement:
    """The diff view under an answer."""
    shown = chat.answers[answer_id]
    # The same element at every update: what the user unfolded stays.
    shown.element = element("DiffView", _props(answer_id, shown, chat.language), id=f"{answer_id}-files")
    return shown.element


async def decide(chat: Chat, payload: dict) -> dict:
    """Accept or reject files. Accepting writes into a local folder; files of a clone are only marked.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, paths: [id of a file], decision: `accepted` or `rejected`}.

    Returns:
        {}, or {error}, which says why nothing was written.
    """
    answer_id = str(payload.get("answer", ""))
    shown = chat.answers.get(answer_id)
    decision = payload.get("decision")
    if shown is None or shown.element is None or decision not in ("accepted", "rejected"):
        return {"error": i18n.text("ui.errors.files_gone", chat.language)}
    ids = [id for id in payload.get("paths", ()) if id in shown.files]
    files = [shown.files[id] for id in ids]
    try:
        if decision == "accepted" and shown.root is not None:
            await asyncio.to_thread(_write, shown.root, files, shown)
            _update_index(chat)
    except RepoPilotError as error:
        return {"error": error_line(error, chat.language)}
    shown.decisions.update((id, decision) for id in ids)
    if decision == "accepted":
        # Follow-up edits of a changed file contain its change.
        shown.decisions.update((file.path, decision) for file in files if file.path in shown.files)
    await show_decisions(chat, answer_id)
    return {}


async def show_decisions(chat: Chat, answer_id: str) -> None:
    """Show what the user has decided on: more of the answer may have come, or been decided on, meanwhile.

    Args:
        chat: where the files are shown.
        answer_id: of their answer.
    """
    shown = chat.answers.get(answer_id)
    if shown is not None and shown.element is not None and shown.element.name == "DiffView":
        await update(shown.element, _props(answer_id, shown, chat.language))


async def download(chat: Chat, payload: dict) -> dict:
    """Give the browser a file to save.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, form: `zip`, `patch`, `file`, `sarif` or `markdown`, path: the id of the file for `file`}.

    Returns:
        {name, mime, base64: the content}, or {error}.
    """
    shown = chat.answers.get(str(payload.get("answer", "")))
    if shown is None:
        return {"error": i18n.text("ui.errors.files_gone", chat.language)}
    try:
        name, mime, content = await asyncio.to_thread(_packed, shown, payload)
    except RepoPilotError as error:
        return {"error": error_line(error, chat.language)}
    return {"name": name, "mime": mime, "base64": base64.b64encode(content).decode()}


def _packed(shown: ShownAnswer, payload: dict) -> tuple[str, str, bytes]:
    files = not_rejected(shown.files, shown.decisions)
    if payload.get("form") == "zip":
        return "repopilot.zip", "application/zip", zipped(files)
    if payload.get("form") == "patch":
        return "repopilot.patch", "text/x-patch", patch(files).encode()
    if payload.get("form") == "sarif" and (review := review_of(shown.answer)):
        return "repopilot.sarif", "application/sarif+json", sarif(review).encode()
    if payload.get("form") == "markdown":
        return "repopilot.md", "text/markdown", shown.answer.text.encode()
    file = shown.files.get(str(payload.get("path", "")))
    if file is None:
        raise UsageError(i18n.message("ui.errors.no_such_file"))
    return Path(file.path).name, "text/plain", file.content.encode()


def _write(folder: Path, files: list[FileChange], shown: ShownAnswer) -> None:
    """Write, unless the folder has changed since it was indexed. Raises UsageError, StorageError."""
    for file in files:
        _check_unchanged(safe_target(folder, file.path), file, shown)
    write_files(folder, files)


def _check_unchanged(target: Path, file: FileChange, shown: ShownAnswer) -> None:
    """What the user has changed since the index was built would be lost. Raises UsageError."""
    hint = i18n.message("ui.errors.changed_hint", button=i18n.message("ui.opening.words.update"))
    if file.change == "added":
        if target.exists() and shown.decisions.get(file.path) != "accepted":
            raise UsageError(i18n.message("ui.errors.exists", path=file.path), hint)
        return
    known = shown.index.files.get(file.path)
    on_disk = blob_id(target.read_bytes()) if target.is_file() else None
    written = {blob_id(shown.files[id].content.encode()) for id, said in shown.decisions.items() if said == "accepted"}
    if known is None or on_disk not in {known.hash, *written}:
        raise UsageError(i18n.message("ui.errors.changed", path=file.path), hint)


def _update_index(chat: Chat) -> None:
    """The accepted files have changed the folder: index it again."""
    if chat.opening is not None:
        chat.process.openings.retry(chat.opening)


def _props(answer_id: str, shown: ShownAnswer, language: str) -> dict:
    reasons = {id: each.reason for id, each in shown.follow_ups.items()}
    files = ShownFiles(answer_id, shown.files, shown.decisions, reasons)
    return files_props(files, str(shown.root) if shown.root else "", language)
