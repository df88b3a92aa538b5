"""Generated files in a chat: shown as diffs, accepted or rejected one by one, downloaded. Only accepting writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import chainlit as cl

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.forge.contents import HostIssue
from repopilot.repo.patches.apply import apply_changes
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.repo.publish.branch import branch_name, create_branch
from repopilot.tools.file_change import change, deletion
from repopilot.types import FileChange
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.changes.diffs import ShownFiles, accepted, files_props, not_rejected
from repopilot.ui.changes.hunks import divisible, hunk_ids
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.elements import element, update
from repopilot.ui.stored_turns import change_exchange


def files_element(chat: Chat, answer_id: str) -> cl.CustomElement:
    """The diff view under an answer."""
    shown = chat.answers[answer_id]
    # The same element at every update: what the user unfolded stays.
    shown.element = element("DiffView", _props(chat, answer_id, shown), id=f"{answer_id}-files")
    return shown.element


@button
async def decide(chat: Chat, payload: dict) -> dict:
    """Accept or reject files or one hunk, or undo decisions. Accepted changes are written to a local folder; files of
    a clone are only marked.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, paths: [id of a file], hunk: the number of one hunk, null for the whole file,
            decision: `accepted`, `rejected`, or `undone` for files}.

    Returns:
        {done: a note on what was written, or ''}, or {error}, which says why nothing was written.
    """
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    decision = payload.get("decision")
    if shown.element is None or decision not in ("accepted", "rejected", "undone"):
        raise UsageError(i18n.message("ui.errors.files_gone"))
    ids = [id for id in payload.get("paths", ()) if id in shown.files]
    async with chat.deciding:  # each write includes what was accepted before
        decided = dict(shown.decisions)
        for id in ids:
            _decide_file(decided, id, shown.files, decision, payload.get("hunk"))
        changed = [id for id in ids if _result(id, shown, decided) != _result(id, shown, shown.decisions)]
        notes: tuple[str, ...] = ()
        if changed and shown.root is not None:
            notes = await asyncio.to_thread(_write, shown.root, changed, shown, decided)
            _update_index(chat, shown)
        shown.decisions.clear()
        shown.decisions.update(decided)
    await show_decisions(chat, str(payload["answer"]))
    await change_exchange(chat, shown, decisions=dict(shown.decisions))
    return {"done": " ".join(i18n.translated(note, chat.language) for note in notes)}


def _decide_file(
    decided: dict[str, str], id: str, files: Mapping[str, FileChange], decision: str, hunk: object
) -> None:
    """Record a decision on a file or one of its hunks. A file is decided on once all its hunks are."""
    file = files[id]
    hunks = hunk_ids(id, file)
    if decision == "undone":
        for each in (id, *hunks):
            decided.pop(each, None)
        return
    if isinstance(hunk, int) and 0 <= hunk < len(hunks) and divisible(file):
        decided[hunks[hunk]] = decision
    else:
        decided.update((each, decided.get(each, decision)) for each in hunks)
        decided[id] = decision
    if all(each in decided for each in hunks):
        decided[id] = "accepted" if any(decided[each] == "accepted" for each in hunks) else decision
    if decision == "accepted" and file.path != id and file.path in files:
        decided[file.path] = decision  # follow-up edits of a changed file contain its change


@button
async def edit_file(chat: Chat, payload: dict) -> dict:
    """Put the user's own text in place of a generated one, before it is decided on.

    Args:
        chat: where the text was edited.
        payload: {answer: id, path: of the file, content: the new text; absent to get the current one}.

    Returns:
        {content}, {}, or {error}.
    """
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    path = str(payload.get("path", ""))
    file = next((each for each in shown.answer.files if each.path == path), None)
    before = before_change(file) if file else None
    if file is None or file.change == "deleted" or (file.change == "modified" and before is None):
        raise UsageError(i18n.message("ui.errors.files_gone"))
    content = payload.get("content")
    if not isinstance(content, str):
        return {"content": file.content}
    edited = change(path, content, before)
    files = tuple(edited if each is file else each for each in shown.answer.files)
    note = i18n.text("ui.diff.edited", chat.language, path=path)
    answer = replace(shown.answer, files=files, degraded=tuple(dict.fromkeys((*shown.answer.degraded, note))))
    await change_exchange(chat, shown, answer=answer)
    await show_decisions(chat, str(payload["answer"]))
    return {}


@button
async def create_change_branch(chat: Chat, payload: dict) -> dict:
    """Commit the files of an answer on a new branch of the local repository, without those that were rejected. Work
    tree and HEAD stay as they are.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.

    Returns:
        {done: what was created}, or {error}.
    """
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    files = not_rejected(shown.files, shown.decisions)
    if shown.root is None or not files:
        raise UsageError(i18n.message("ui.errors.files_gone"))
    task = next((each.question for each in chat.exchanges if each.answer is shown.answer), "")
    return await commit_on_branch(chat, shown.root, files, task)


async def commit_on_branch(chat: Chat, root: Path, files: Iterable[FileChange], task: str) -> dict:
    """Commit files on a new branch named after their task; returns {done: what was created}. Raises as `create_branch`.

    Args:
        chat: where the button was pressed.
        root: the local folder.
        files: the files to commit.
        task: the task that they were made for, '' if it isn't known.
    """
    name = branch_name(task)
    await asyncio.to_thread(create_branch, root, name, files, task or name)
    return {"done": i18n.text("ui.plan.branch_done", chat.language, name=name)}


async def show_decisions(chat: Chat, answer_id: str) -> None:
    """Update the diff view: files may have been added or decided on meanwhile.

    Args:
        chat: where the files are shown.
        answer_id: of their answer.
    """
    shown = chat.answers.get(answer_id)
    if shown is not None and shown.element is not None and shown.element.name == "DiffView":
        await update(shown.element, _props(chat, answer_id, shown))


def _result(id: str, shown: ShownAnswer, decisions: Mapping[str, str]) -> FileChange | None:
    """A file with only its accepted hunks, by the given decisions; None if nothing of it is accepted."""
    file = shown.files[id]
    decided = (decisions.get(each) for each in (id, *hunk_ids(id, file)))
    return accepted(id, file, decisions) if "accepted" in decided else None


def _write(folder: Path, ids: list[str], shown: ShownAnswer, decided: Mapping[str, str]) -> tuple[str, ...]:
    """Write files as decided, merged with what others changed in them meanwhile.

    Returns:
        A note on the files that others had changed.

    Raises:
        UsageError, StorageError: as `apply_changes`.
    """
    texts = {shown.files[id].path: _text(shown.files[id].path, shown, decided) for id in ids}
    files = []
    for path, new in texts.items():
        # A version that was accepted while it was still being checked may have been replaced by another.
        old = shown.written[path] if path in shown.written else _text(path, shown, shown.decisions)
        if old != new:
            files.append(deletion(path, old or "") if new is None else change(path, new, old))
    notes = apply_changes(folder, files)
    shown.written.update(texts)
    return notes


def _text(path: str, shown: ShownAnswer, decisions: Mapping[str, str]) -> str | None:
    """The text of a file by the given decisions, None for no file. A follow-up includes the change of the same file."""
    files = [(id, file) for id, file in shown.files.items() if file.path == path]
    for id, _ in reversed(files):
        made = _result(id, shown, decisions)
        if made is not None:
            return None if made.change == "deleted" else made.content
    _, first = files[0]
    before = before_change(first)
    return before if before is not None or first.change == "added" else shown.index.text(path)


def _update_index(chat: Chat, shown: ShownAnswer) -> None:
    """Index the answer's folder again, since accepted files have changed it."""
    opening = chat.opening_of(shown.index)
    if opening is not None:
        chat.process.openings.retry(opening)


def _props(chat: Chat, answer_id: str, shown: ShownAnswer) -> dict:
    reasons = {id: each.reason for id, each in shown.follow_ups.items()}
    earlier: dict[str, list[FileChange]] = {}
    for id, each in chat.answers.items():
        if id == answer_id:
            break
        for file in each.answer.files:
            earlier.setdefault(file.path, []).append(file)
    files = ShownFiles(answer_id, shown.files, shown.decisions, reasons, earlier)
    props = files_props(files, str(shown.root) if shown.root else "", chat.language)
    item, issue = chat.process.about.get(shown.request, (None, None))
    if item is not None and (item.kind == "pull" or getattr(issue, "own_pull", None)):
        props["words"] |= {
            "pull": i18n.text("forge.push_pull", chat.language),
            "pull_confirm": i18n.text("forge.push_pull_confirm", chat.language),
        }
    elif item is not None and isinstance(issue, HostIssue) and not issue.may_push:
        props["words"]["pull_confirm"] = i18n.text("forge.fork.confirm", chat.language, project=item.project)
    return {**props, "pull": isinstance(issue, HostIssue)}
