"""One call of a tool by a small model, which may fill it only with what the task and the index hold.

The schema lets the model choose a tool and, for each argument, one of the names, paths and literals of the task. Code
accepts the call only where the index knows the arguments as what the tool needs: a definition to rename, a new name
that nothing has, a value that the code has. Grounding decides, not the wording.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repopilot.errors import UsageError
from repopilot.index.store import Index
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.prompts import render
from repopilot.tools.definitions import find_place
from repopilot.tools.set_value import SetValue, sites_of
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

MOST_TOKENS = 90
MOST_WORDS = 40
_CODE_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:[.:/-]+[\w$]+)*(?:\(\))?|-?\d[\w.]*")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")


@dataclass(frozen=True, slots=True)
class GroundedCall:
    """A call that the index knows the arguments of. `text` says how the task was read."""

    tool: str
    arguments: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class _Words:
    """What a task holds: `known` are names that something is defined as, `paths` files, `new` names that nothing has,
    `literals` values."""

    known: tuple[str, ...]
    paths: tuple[str, ...]
    new: tuple[str, ...]
    literals: tuple[str, ...]


async def grounded_call(task: str, workspace: Workspace, step: Step) -> GroundedCall | None:
    """Have the small model read a task as one call, and check it against the index.

    Args:
        task: as the user wrote it.
        workspace: the repository with the model.
        step: the reading is its child.

    Returns:
        The call; None where the task is none, or the index doesn't bear it out.

    Raises:
        ModelError: the model failed.
    """
    assert workspace.model is not None
    words = await asyncio.to_thread(_words_of, task, workspace.index)
    schema = _schema(words)
    if schema is None:
        return None
    async with step.child("read the task", "llm", task) as reading:
        options = ChatOptions(MOST_TOKENS, 0.0, schema=schema)
        try:
            reply = await stream.chat(workspace.model, _messages(task), reading, options)
            said = json.loads(reply)
        except ValueError:
            return None
        async with working_copy(workspace) as copy:
            found = await asyncio.to_thread(_accepted, said, words, copy)
        reading.note(accepted=found is not None)
    return found


def _messages(task: str) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    return [ChatMessage(role="system", content=render("read_call")), ChatMessage(role="user", content=task)]


def _words_of(task: str, index: Index) -> _Words:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(task)]
    plain = [word.removesuffix("()").rstrip(".:") for word in _CODE_WORD.findall(task)]
    every = list(dict.fromkeys([*quoted, *plain]))[: 4 * MOST_WORDS]
    paths = [word for word in every if word in index.files]
    known = [word for word in every if _defines(word, index)]
    shaped = [word for word in every if word in quoted or re.search(r"[a-z][A-Z]|_|\d|^[A-Z]{2}", word)]
    new = [w for w in shaped if w.isidentifier() and w not in known and not index.symbols(w)]
    new_paths = [w for w in every if re.fullmatch(r"[\w./-]+\.\w{1,4}", w) and w not in paths]
    literals = [w for w in every if w in quoted or re.fullmatch(r"-?\d[\w.]*|True|False|None|true|false|null", w)]
    return _Words(*(tuple(each[:MOST_WORDS]) for each in (known, [*paths, *new_paths], new, literals)))


def _defines(word: str, index: Index) -> bool:
    """Whether the index knows a word as a definition."""
    last = word.rpartition(".")[2]
    return last.isidentifier() and len(last) > 1 and any(word in (s.name, s.qualified) for s in index.symbols(last))


def _schema(words: _Words) -> dict[str, Any] | None:
    """The calls that the words of a task can fill; None where there are none but `other`."""
    forms: list[dict[str, Any]] = []

    def offer(tool: str, **choices: tuple[str, ...]) -> None:
        if all(choices.values()):
            fields = {name: {"enum": list(values)} for name, values in choices.items()}
            properties = {"tool": {"const": tool}, **fields}
            forms.append(
                {
                    "type": "object",
                    "properties": properties,
                    "required": list(properties),
                    "additionalProperties": False,
                }
            )

    offer("rename_symbol", name=words.known, new_name=words.new)
    offer("move_symbol", name=words.known, to_path=words.paths)
    offer("set_value", name=words.known, value=words.literals)
    if not forms:
        return None
    offer("other")
    return {"oneOf": forms}


def _accepted(said: Any, words: _Words, copy: WorkingCopy) -> GroundedCall | None:
    """The call, where the index knows its arguments as what the tool needs. Blocking."""
    if not isinstance(said, dict):
        return None
    tool, arguments = said.get("tool"), {key: str(value) for key, value in said.items() if key != "tool"}
    try:
        if tool == "rename_symbol":
            find_place(copy, arguments["name"])
            return GroundedCall(tool, arguments, f"rename `{arguments['name']}` to `{arguments['new_name']}`")
        if tool == "move_symbol":
            place = find_place(copy, arguments["name"])
            if place.path != arguments["to_path"]:
                return GroundedCall(tool, arguments, f"move `{arguments['name']}` to `{arguments['to_path']}`")
        if tool == "set_value":
            sites = sites_of(copy, SetValue(name=arguments["name"], value=arguments["value"], path=""))
            if len(sites) == 1 and sites[0].is_plain and sites[0].text.strip("\"'") != arguments["value"]:
                return GroundedCall(tool, arguments, f"set `{arguments['name']}` to `{arguments['value']}`")
    except (UsageError, KeyError):
        return None
    return None
