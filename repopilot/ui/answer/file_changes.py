"""Generated files in a chat: shown as diffs, accepted or rejected one by one, downloaded. Nothing is written before."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import chainlit as cl

from repopilot.errors import RepoPilotError, UsageError
from repopilot.repo.apply import safe_target, write_files
from repopilot.types import FileChange
from repopilot.ui.answer.diffs import blob_id, chosen, files_props, patch, zipped
from repopilot.ui.answer.report_props import sarif
from repopilot.ui.chat import Chat, Shown, process
from repopilot.ui.elements import element, update

GONE = "These files are from before the page was reloaded. Ask again to get them back."


def files_element(chat: Chat, answer_id: str) -> cl.CustomElement:
    """The diff view under an answer."""
    shown = chat.shown[answer_id]
    shown.element = element("DiffView", _props(answer_id, shown))
    return shown.element


async def decide(chat: Chat, payload: dict) -> dict:
    """Accept or reject files: payload {answer, paths, decision: accepted|rejected}. Accepting writes into a local
    folder, and only marks the files of a clone. {error} says why nothing was written."""
    answer_id = str(payload.get("answer", ""))
    shown = chat.shown.get(answer_id)
    decision = payload.get("decision")
    if shown is None or decision not in ("accepted", "rejected"):
        return {"error": GONE}
    files = [shown.files[path] for path in payload.get("paths", ()) if path in shown.files]
    try:
        if decision == "accepted" and shown.root is not None:
            await asyncio.to_thread(_write, shown.root, files, shown)
            _look_again(chat)
    except RepoPilotError as error:
        return {"error": str(error)}
    shown.decided.update((file.path, decision) for file in files)
    await update(shown.element, _props(answer_id, shown))
    return {}


async def download(chat: Chat, payload: dict) -> dict:
    """A file for the browser to save: {name, mime, base64}. payload {answer, path, form:
    zip|patch|file|sarif|markdown}."""
    shown = chat.shown.get(str(payload.get("answer", "")))
    if shown is None:
        return {"error": GONE}
    try:
        name, mime, content = await asyncio.to_thread(_packed, shown, payload)
    except RepoPilotError as error:
        return {"error": str(error)}
    return {"name": name, "mime": mime, "base64": base64.b64encode(content).decode()}


def _packed(shown: Shown, payload: dict) -> tuple[str, str, bytes]:
    files = chosen(shown.files, shown.decided)
    if payload.get("form") == "zip":
        return "repopilot.zip", "application/zip", zipped(files)
    if payload.get("form") == "patch":
        return "repopilot.patch", "text/x-patch", patch(files).encode()
    if payload.get("form") == "sarif":
        return "repopilot.sarif", "application/sarif+json", sarif(shown.answer, shown.index.commit).encode()
    if payload.get("form") == "markdown":
        return "repopilot.md", "text/markdown", shown.answer.text.encode()
    file = shown.files.get(str(payload.get("path", "")))
    if file is None:
        raise UsageError("There is no such file in this answer.")
    return Path(file.path).name, "text/plain", file.content.encode()


def _write(folder: Path, files: list[FileChange], shown: Shown) -> None:
    """Write, unless the folder has moved on since it was indexed. Raises UsageError, StorageError."""
    for file in files:
        _check_unchanged(safe_target(folder, file.path), file, shown)
    write_files(folder, files)


def _check_unchanged(target: Path, file: FileChange, shown: Shown) -> None:
    """What the user changed since, this change knows nothing of: it would be lost."""
    hint = "Press “Fetch what is new”, then ask again; or download the patch."
    if file.change == "added":
        if target.exists() and shown.decided.get(file.path) != "accepted":
            raise UsageError(f"{file.path} exists already; it is not overwritten.", hint)
        return
    known = shown.index.files.get(file.path)
    on_disk = blob_id(target.read_bytes()) if target.is_file() else None
    if known is None or on_disk != known.hash:
        raise UsageError(f"{file.path} has changed on disk since it was indexed; it is not overwritten.", hint)


def _look_again(chat: Chat) -> None:
    """The folder has changed by our own hand: bring the index up to date."""
    if chat.opening is not None:
        process().openings.retry(chat.opening)


def _props(answer_id: str, shown: Shown) -> dict:
    return files_props(answer_id, shown.files, shown.decided, str(shown.root) if shown.root else "")
