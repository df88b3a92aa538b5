"""The model only reads a task: it restates it as one command in the task's own words, and code carries that out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.recognise import sentence_edit
from repopilot.agents.editing.exact.wording.reading import on_one_line
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.restated.command_forms import command_of_choice, command_rules, command_schema
from repopilot.agents.editing.restated.meaning import may_be_one_command, meanings
from repopilot.agents.editing.restated.pieces import pieces_of, span_rules, spans_of
from repopilot.errors import ModelError
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.structured import REFUSED
from repopilot.prompts import render
from repopilot.trace import Step
from repopilot.workspace import Workspace

_LONGEST_REPLY = 60
"""Tokens."""


async def restated_edit(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Carry out a task by code whose wording only a model reads.

    Nothing can be invented: every slot of the command is a piece of the task, all code and values of the task are
    used, and the code of the repository decides whether the command fits.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: gets the command as a child.

    Returns:
        The edit, with a note of how the task was read; None where it isn't read as one that code can make.

    Raises:
        ModelError: the model failed.
    """
    model = workspace.coder or workspace.model
    task = on_one_line(request.task.strip())
    if model is None or request.paths or request.drafts or request.feedback or not may_be_one_command(task):
        return None
    options = _options(model, task)
    if options is None:
        return None
    async with step.child("restate the task", "agent", task) as reading:
        command = await _command(model, task, options, reading)
        for sentence in meanings(command, task):
            edit = await asyncio.to_thread(sentence_edit, sentence, workspace)
            if edit is not None:
                reading.note(read_as=sentence)
                note = i18n.message("restated.read_as", sentence=sentence)
                return replace(edit, by_code=False, notes=(note, *edit.notes))
    return None


def _options(model: Model, task: str) -> ChatOptions | None:
    """The options under which the reply is a command; None for a server that can't be held to it."""
    pieces = pieces_of(task)
    if model.kind == "embedded":
        grammar = "\n".join([*command_rules(), *span_rules(task, pieces)]) + "\n"
        return ChatOptions(_LONGEST_REPLY, 0.0, grammar=grammar)
    if model.kind in ("ollama", "openai"):
        return ChatOptions(4 * _LONGEST_REPLY, 0.0, schema=command_schema(spans_of(task, pieces)))
    return None


async def _command(model: Model, task: str, options: ChatOptions, step: Step) -> str:
    """The command that the model makes of a task, '' from a server that refuses to be held to one."""
    from llama_index.core.llms import ChatMessage

    messages = [ChatMessage(role="system", content=render("restate_system")), ChatMessage(role="user", content=task)]
    try:
        reply = await stream.chat(model, messages, step, options)
    except ModelError as error:
        if options.schema is None or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
        return ""
    return command_of_choice(reply) if options.schema is not None else reply
