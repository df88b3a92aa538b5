"""Write new or changed files for a task, checked before anyone sees them. Nothing is written to disk.

The model writes new and small files in full. A reply that does not parse is sent back once; after that there is a
clear error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from repopilot import i18n
from repopilot.agents.coding.checks import edits
from repopilot.agents.coding.checks.allowed_files import may_write
from repopilot.agents.coding.checks.checked_change import checked_change
from repopilot.agents.coding.checks.preserve import unrequested_removals
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.places import EditTarget, choose, load
from repopilot.agents.coding.replies.reply_parser import blocks, blocks_by_path
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.prompts import nonce, render, sanitized
from repopilot.tools import file_change
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

SPARE_TOKENS = 500
"""How much longer a reply may be than the text it replaces."""
_MARK = re.compile(r"[0-9a-f]{8}")
"""A delimiter of `prompts.nonce`."""
_CONTEXT_EXCERPTS, _CONTEXT_CHARS = 4, 4000


class _Reply(NamedTuple):
    """`cut_off`: the reply reached the limit of its length."""

    text: str
    cut_off: bool


class _CheckedReply(NamedTuple):
    """The changes of a reply, or () and the `problem` with it. `removed` are definitions that the task doesn't ask to
    remove, `refused` the paths of files that the model may not write."""

    changes: tuple[FileChange, ...]
    problem: str
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def complaint(self) -> str:
        """What the model is to correct, '' for nothing."""
        if self.problem or not self.removed:
            return self.problem
        return i18n.message("generate.problem.removes", names=", ".join(self.removed[:5]))


async def write_whole_files(request: EditRequest, workspace: Workspace, step: Step) -> file_change.Changes:
    """Write the files a task asks for, each in full.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: the reply is streamed into its children.

    Returns:
        The changed and new files, at least one, each parsed and with a diff against the snapshot.

    Raises:
        GenerationFailed: there is no usable reply.
        ModelError: the model failed.
    """
    if workspace.model is None:
        raise GenerationFailed(i18n.message("generate.no_model"), i18n.message("generate.no_model_hint"))
    async with step.child("choose files", "tool", request.task) as choosing:
        targets = await asyncio.to_thread(_targets, request, workspace)
        choosing.note(files=[t.path for t in targets], new=[t.path for t in targets if t.stored is None])
        await choosing.write(", ".join(_target_text(target, request.language) for target in targets))
    messages = _messages(request, workspace, targets)
    reply = await _reply(messages, workspace.model, targets, request, step)
    first = await _check(reply, targets, request, step, workspace)
    if not first.complaint:
        return first.changes
    step.note(repaired=first.complaint)
    again = [*messages, *_repair_messages(reply, first.complaint)]
    reply = await _reply(again, workspace.model, targets, replace(request, seed=request.seed + 1), step, "repair")
    second = await _check(reply, targets, request, step, workspace)
    best = min(first, second, key=lambda checked: (bool(checked.problem), len(checked.removed)))
    if best.problem:
        unusable = i18n.message("generate.unusable", problem=second.problem)
        raise GenerationFailed(unusable, i18n.message("generate.unusable_hint"))
    if best.removed:
        step.degrade(i18n.message("generate.unrequested_removals", names=", ".join(best.removed[:5])))
    return best.changes


def _target_text(target: EditTarget, language: str) -> str:
    return target.path if target.stored is not None else i18n.text("generate.new_file", language, path=target.path)


def _targets(request: EditRequest, workspace: Workspace) -> list[EditTarget]:
    if request.paths:
        return [load(file_change.safe_path(path), workspace) for path in request.paths]
    if not request.drafts:
        return choose(request.task, workspace, request.found)
    return [load(d.path, workspace, d.content) for d in request.drafts if d.change != "deleted"]


async def _reply(
    messages: Sequence[ChatMessage],
    model: Model,
    targets: Sequence[EditTarget],
    request: EditRequest,
    step: Step,
    name: str = "write",
) -> _Reply:
    async with step.child(name, "llm", request.task) as writing:
        options = ChatOptions(_reply_tokens(model, targets), 0.6 if request.seed else 0.2, seed=request.seed)
        text = await stream.chat(model, messages, writing, options)
        return _Reply(_without_marks(text, messages), writing.data.get("finish") == "length")


def _without_marks(reply: str, messages: Sequence[ChatMessage]) -> str:
    """The reply without lines that are a delimiter of the prompt: small models copy those."""
    marks = {line for m in messages for line in (m.content or "").split("\n") if _MARK.fullmatch(line)}
    return "\n".join(line for line in reply.split("\n") if line.strip() not in marks)


async def _check(
    reply: _Reply, targets: Sequence[EditTarget], request: EditRequest, step: Step, workspace: Workspace
) -> _CheckedReply:
    """The changes in a reply, or what is wrong with it, fit for model and user."""
    async with step.child("check syntax", "tool") as checking:
        try:
            changes, refused = await asyncio.to_thread(_changes, reply, targets, request.task, workspace)
            problem = "" if changes else i18n.message("generate.problem.no_change")
            checked = _CheckedReply(changes, problem, _unrequested_removals(changes, targets, request.task), refused)
        except GenerationFailed as error:
            checked = _CheckedReply((), error.message)
        if checked.refused:
            checking.degrade(i18n.message("generate.refused_files", files=", ".join(checked.refused)))
        checking.note(ok=not checked.problem, files=[c.path for c in checked.changes], lost=list(checked.removed))
        paths = ", ".join(c.path for c in checked.changes)
        parsed = i18n.text("generate.parses", request.language, files=paths) if paths else ""
        complaint = i18n.said(checked.complaint, request.language)
        await checking.write("; ".join(filter(None, (parsed, complaint))))
    return checked


def _unrequested_removals(changes: file_change.Changes, targets: Sequence[EditTarget], task: str) -> tuple[str, ...]:
    before = {t.path: t.shown for t in targets}
    return tuple(n for c in changes for n in unrequested_removals(c.path, c.content, before.get(c.path, ""), task))


def _changes(
    reply: _Reply, targets: Sequence[EditTarget], task: str, workspace: Workspace
) -> tuple[file_change.Changes, tuple[str, ...]]:
    """The changes in a reply, and the paths of those that are refused."""
    found = blocks(reply.text)
    if not found:
        kind = "no_code" if reply.text.strip() else "empty"
        raise GenerationFailed(i18n.message(f"generate.problem.{kind}"))
    known = {t.path: t for t in targets}
    changes, refused = [], []
    for path, block in blocks_by_path(found, list(known)).items():
        if path not in known and not may_write(path, task, workspace.index.files):
            refused.append(path)
            continue
        path = file_change.safe_path(path)
        target = known.get(path) or load(path, workspace)
        text = block.body
        if not block.closed and (reply.cut_off or not _is_complete(text, target)):
            text = _salvaged(text, target)
        changes.append(checked_change(target, text, task, workspace.index))
    if not changes:
        raise GenerationFailed(i18n.message("generate.problem.no_path"))
    return _without_unchanged(changes), tuple(refused)


def _salvaged(text: str, target: EditTarget) -> str:
    """The usable beginning of a text cut off at its end: a new file of tests is as good without the last of them."""
    new_tests = target.path.endswith(".py") and is_test_path(target.path) and not target.shown
    tests = edits.complete_tests(text) if new_tests else ""
    if not tests:
        raise GenerationFailed(i18n.message("generate.problem.cut_off", path=target.path))
    return tests


def _without_unchanged(changes: Sequence[FileChange]) -> file_change.Changes:
    return tuple(c for c in changes if c.diff)


def _is_complete(text: str, target: EditTarget) -> bool:
    """Whether a block without its closing fence is complete: it parses and is about as long as what it replaces."""
    return len(text) >= 0.8 * len(target.shown) and file_change.syntax_error(target.path, text) is None


def _reply_tokens(model: Model, targets: Sequence[EditTarget]) -> int:
    """How many tokens the reply may have: as many as the files and some more, at most half the context window."""
    shown = sum(model.count_tokens(t.shown) for t in targets)
    spare = SPARE_TOKENS * (2 if any(t.stored is None for t in targets) else 1)
    return min(shown + spare, model.context_window // 2)


def _messages(request: EditRequest, workspace: Workspace, targets: Sequence[EditTarget]) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    mark = nonce()
    system = render("generate_system", name=workspace.snapshot.name)
    wanted = ", ".join(t.path for t in targets)
    files = "".join(_file_shown(t, mark) for t in targets)
    feedback = "".join(f"- {reason}\n" for reason in request.feedback)
    user = render(
        "generate_user",
        context=_context(request, {t.path for t in targets}),
        files=files,
        feedback=f"The last version must be corrected:\n{feedback}\n" if feedback else "",
        task=request.task[:4000],
        wanted=wanted,
    )
    return [ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)]


def _context(request: EditRequest, targets: set[str]) -> str:
    """What the new code may call or must fit: the texts to read, and the best excerpts of other files."""
    found = request.found
    others = {e.path: e.text for e in found.pack.excerpts if e.path not in targets} if found else {}
    texts = {**dict(list(others.items())[:_CONTEXT_EXCERPTS]), **request.reading}
    if not texts:
        return ""
    mark = found.pack.mark if found else nonce()
    shown = "".join(f"{mark} {path}\n{sanitized(text, mark)[:_CONTEXT_CHARS]}\n" for path, text in texts.items())
    return f"For reference, do not change these:\n{shown}{mark}\n\n"


def _file_shown(target: EditTarget, mark: str) -> str:
    if not target.shown.strip():
        return f"{target.path} does not exist yet.\n\n"
    return f"{target.path} as it is:\n{mark}\n{sanitized(target.shown, mark)}{mark}\n\n"


def _repair_messages(reply: _Reply, problem: str) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    return [
        ChatMessage(role="assistant", content=reply.text[:6000] or "(nothing)"),
        ChatMessage(role="user", content=render("generate_repair", problem=problem.rstrip("."))),
    ]
