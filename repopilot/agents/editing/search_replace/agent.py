"""The model replaces some of the lines that code has found for a task; code decides whether they may stand."""

from __future__ import annotations

import asyncio
import builtins
import keyword
import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.checked_change import checked_change
from repopilot.agents.editing.comment_changes import only_comments
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.recognise import sentence_edit
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.wording.reading import on_one_line
from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.placed.target_places import CLASSES, FUNCTIONS, is_defined, is_generated, is_source
from repopilot.agents.editing.placed.wanted import read_task, says_what_it_does
from repopilot.agents.editing.places import load, named_paths
from repopilot.agents.editing.search_replace.accepted import (
    LineReplacement,
    invented,
    is_finished,
    is_hopeless,
    new_code,
    replacements,
    unwritten,
)
from repopilot.agents.editing.search_replace.as_command import as_command, exchanged
from repopilot.agents.editing.search_replace.blocks import (
    END_OF_BLOCK,
    SearchReplaceBlock,
    block_grammar,
    block_schema,
    blocks_of_json,
    read_blocks,
)
from repopilot.agents.editing.search_replace.excerpts import LineExcerpt, choose_excerpts, code_of_task
from repopilot.agents.editing.unreachable import adds_unreachable
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import GenerationFailed, ModelError
from repopilot.index.store import Index
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.structured import REFUSED
from repopilot.prompts import render
from repopilot.retrieval.query.spelling import is_english
from repopilot.tools.new_errors import new_errors, unknown_members
from repopilot.trace import Step
from repopilot.types import Edit, FileChange, Symbol
from repopilot.workspace import Workspace

_CAN_BE_HELD = ("embedded", "ollama", "openai")
"""Kinds of models that take a grammar or a schema."""
_KEYWORDS = frozenset(
    "if else for while do switch case default break continue return function func fn const let var new this throw try "
    "catch finally true false null nil undefined typeof instanceof in of range struct interface type match mut "
    "self".split()
)
"""Words of other languages than Python that are no names."""
_LONGEST_TASK = 600
"""Characters; what is longer describes more than some lines."""
_LONGEST_REPLY = 400
"""Tokens."""
_MOST_UNWRITTEN = 0.25
"""Share of what looks like code that a task gives: some of it are words of its reasons."""
_MOST_FILES, _MOST_PER_NAME = 40, 12
_SHORTEST_NAME = 4
"""Letters of a word that may be a definition without looking like code."""
_OF_COMMENTS = re.compile(r"\b(?:comment\w*|doc\w*|typos?|spell\w*|mention\w*|wording|todo|fixme|note|says?)\b")
_OF_DOCUMENTS = re.compile(
    r"\b(?:doc\w*|readme|changelog|change log|history|news|release notes?|guide\w*|manual|tutorial|section\w*|"
    r"heading\w*|paragraph\w*|sentence\w*|text\w*|link\w*|badge\w*|licen[cs]e|typos?|phrase\w*|titre\w*|lien\w*)\b"
)
_LARGEST_FILE = 400_000
"""Characters."""
_OF_MORE = re.compile(
    r"\b(?:mov(?:e|es|ed|ing)|deplac\w*|"
    r"(?:remov|delet|drop|supprim|renam|renomm)\w* (?:\S+ ){0,2}(?:files?|fichiers?)|"
    r"(?:add|give|accept\w*|takes?|optional|new|extra|another|ajout\w*|nouveau)\b[^.;]*\b(?:param\w*|arg\w*))\b"
)
"""Tasks of whole files, of new parameters, and those in which what is cut out of the lines shown would be lost."""


async def replaced_lines(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Carry out a task that changes a few lines, wherever they are.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: gets the lines shown and the reply as children.

    Returns:
        The edit; None where the reply writes what neither the task nor the repository has, leaves out what the task
        gives, or can't be applied.

    Raises:
        ModelError: the model failed.
    """
    model = workspace.coder or workspace.model
    task = on_one_line(request.task.strip())
    if model is None or request.paths or request.drafts or request.feedback or len(task) > _LONGEST_TASK:
        return None
    if model.kind not in _CAN_BE_HELD or _OF_MORE.search(folded(task)):
        return None
    async with step.child("find the lines", "tool", task) as finding:
        excerpts = await asyncio.to_thread(_excerpts, request, task, workspace)
        await finding.write("\n".join(f"{e.path}:{e.first + 1}-{e.first + len(e.lines)}" for e in excerpts))
    if not excerpts:
        return None
    async with step.child("replace lines", "llm", task) as writing:
        blocks = await _blocks(model, task, excerpts, writing)
        outcome, why = await asyncio.to_thread(_outcome, blocks, excerpts, task, workspace)
        writing.note(accepted=outcome is not None, why=i18n.said(why, request.language) if why else "")
        if why:
            await writing.write(f"\n✗ {i18n.said(why, request.language)}")
    return outcome


def _excerpts(request: EditRequest, task: str, workspace: Workspace) -> list[LineExcerpt]:
    """The lines that the task is likely about."""
    index = workspace.index
    named = [path for path in named_paths(request.task, index) if path in index.files]
    definitions = _defined_words(task, index)
    if not named and any(_is_ambiguous(name, index) for name in definitions):
        return []  # the place is asked for elsewhere
    texts: dict[str, str] = {}
    for path in named or _files(request, task, definitions, workspace):
        text = index.text(path)
        if text is not None and len(text) <= _LARGEST_FILE and not is_generated(path, text):
            texts[path] = text
    found = choose_excerpts(task, texts, {path: index.outline(path) for path in texts}, named, definitions)
    return [excerpt for excerpt in found if any(excerpt.changeable)]


def _defined_words(task: str, index: Index) -> list[str]:
    """The words of a task that a sentence is about, or that aren't English, and that are names of definitions."""
    subjects = {name.text for name in read_task(task, lambda name: is_defined(index, name)).names}
    words = dict.fromkeys(re.findall(rf"(?<![\w./-])[A-Za-z_]\w{{{_SHORTEST_NAME - 1},}}(?![\w/-])", task))
    return [w for w in words if is_defined(index, w) and (w in subjects or not is_english(w))]


def _is_ambiguous(name: str, index: Index) -> bool:
    """Whether functions or classes of several files have a name."""
    found = [s for s in index.symbols(name) if s.kind in FUNCTIONS | CLASSES and not is_test_path(s.path)]
    return len({s.path for s in found if "." not in s.qualified}) > 1


def _files(request: EditRequest, task: str, definitions: Sequence[str], workspace: Workspace) -> list[str]:
    """The files that have names or words of the task, those of its definitions first."""
    index, sources = workspace.index, Sources(workspace)
    hits = request.found.results.hits if request.found else ()
    found = [symbol.path for name in definitions for symbol in index.symbols(name)][:_MOST_PER_NAME]
    found += [hit.chunk.path for hit in hits]
    for name in (*definitions, *code_of_task(task)):
        if re.fullmatch(r"\w{3,}", name):
            found += sources.mentioning(name)[:_MOST_PER_NAME]
    own = [path for path in dict.fromkeys(found) if path in index.files and is_source(index, path)]
    return own[:_MOST_FILES]


def _options(model: Model, excerpts: Sequence[LineExcerpt]) -> ChatOptions:
    """The options under which the reply is blocks."""
    if model.kind == "embedded":
        return ChatOptions(_LONGEST_REPLY, 0.0, grammar=block_grammar(excerpts))
    return ChatOptions(2 * _LONGEST_REPLY, 0.0, schema=block_schema(excerpts))


async def _blocks(model: Model, task: str, excerpts: Sequence[LineExcerpt], step: Step) -> list[SearchReplaceBlock]:
    """The blocks that the model makes of a task, [] from a server that refuses to be held to them."""
    from llama_index.core.llms import ChatMessage

    options = _options(model, excerpts)
    shown = "\n".join(f"{e.path}\n```\n{chr(10).join(e.lines)}\n```" for e in excerpts)
    messages = [
        ChatMessage(role="system", content=render("search_replace_system")),
        ChatMessage(role="user", content=render("search_replace_user", shown=shown, task=task)),
    ]

    async def finished(text: str) -> bool:
        if not text.rstrip("\n").endswith(END_OF_BLOCK):
            return False
        blocks = read_blocks(text)
        return is_finished(blocks, excerpts, task) or is_hopeless(blocks, excerpts, task)

    try:
        halt = finished if options.grammar else None
        reply = await stream.chat(model, messages, step, options, halt)
    except ModelError as error:
        if options.schema is None or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
        return []
    return read_blocks(reply) if options.grammar else blocks_of_json(reply)


def _outcome(
    blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], task: str, workspace: Workspace
) -> tuple[EditOutcome | None, str]:
    """The edit that blocks come to, or a message on why they can't stand."""
    made = replacements(blocks, excerpts, task)
    if not made:
        return None, i18n.message("search_replace.nothing")
    command = _command(made, task, workspace)
    if command:
        edit = sentence_edit(command, workspace)
        if edit is None:
            return None, i18n.message("search_replace.nothing")
        note = i18n.message("restated.read_as", sentence=command)
        return replace(edit, by_code=False, notes=(note, *edit.notes)), ""
    wanted = new_code(task, excerpts)
    sound = _sound(made, wanted, task, workspace)
    if not sound:
        names = invented(made, task, lambda path, name: _is_known(path, name, workspace))
        return None, i18n.message("search_replace.invented", names=", ".join(names[:5]))
    subject = _missed_subject(sound, task, workspace.index)
    if subject:
        return None, i18n.message("search_replace.elsewhere", name=subject)
    missing = unwritten(sound, wanted)
    if len(missing) > _MOST_UNWRITTEN * len(wanted):
        return None, i18n.message("search_replace.left_out", names=", ".join(missing))
    try:
        changes = _changes(sound, task, workspace)
    except GenerationFailed as error:
        return None, i18n.reason(error)
    if not changes or (not _OF_COMMENTS.search(folded(task)) and only_comments(changes, workspace.index)):
        return None, i18n.message("search_replace.nothing")
    wrong = [fault for change in changes for fault in _faults(change, task, workspace)]
    if wrong:
        return None, i18n.message("placed.fault.undefined", what="; ".join(wrong[:3]))
    if any(adds_unreachable(workspace.index.text(c.path) or "", c.content) for c in changes if c.path.endswith(".py")):
        return None, i18n.message("placed.fault.unreachable")
    if _strays_into_documents(changes, sound, task, workspace):
        return None, i18n.message("search_replace.documents")
    edits = tuple(Edit("change_block", each.path, "", "\n".join(each.new)) for each in sound)
    return EditOutcome(changes, edits), ""


def _missed_subject(made: Sequence[LineReplacement], task: str, index: Index) -> str:
    """The function or class that a sentence of the task is about, where nothing in it is replaced; '' for none."""
    for name in read_task(task, lambda name: is_defined(index, name)).names:
        found = [s for s in index.symbols(name.text) if s.kind in FUNCTIONS | CLASSES and not is_test_path(s.path)]
        if found and says_what_it_does(task, name) and not any(_is_inside(each, s) for each in made for s in found):
            return name.text
    return ""


def _is_inside(made: LineReplacement, symbol: Symbol) -> bool:
    return made.path == symbol.path and made.first < symbol.end_line and symbol.start_line - 1 < made.last


def _faults(change: FileChange, task: str, workspace: Workspace) -> list[str]:
    """What a file uses after a change that nothing defines; of members those that the task names, as `invented` finds
    the others."""
    before = workspace.index.text(change.path) or ""
    members = unknown_members(before, change.content, lambda name: bool(workspace.index.symbols(name)))
    named = [f"`{name}`" for name in members if re.search(rf"\b{name}\b", task)]
    return [*new_errors(change.path, before, change.content), *named]


def _strays_into_documents(
    changes: Sequence[FileChange], made: Sequence[LineReplacement], task: str, workspace: Workspace
) -> bool:
    """Whether lines are only added to documents, where neither a document nor its text is what the task is about."""
    if any(file_kind(change.path) != "doc" for change in changes) or _OF_DOCUMENTS.search(folded(task)):
        return False
    named = set(named_paths(task, workspace.index))
    only_adds = all(set(each.old) <= set(each.new) for each in made)
    return only_adds and not any(change.path in named for change in changes)


def _sound(
    made: Sequence[LineReplacement], wanted: Sequence[str], task: str, workspace: Workspace
) -> Sequence[LineReplacement]:
    """The replacements before the first with names from nowhere; all or none where nothing tells what is wanted."""
    for at, each in enumerate(made):
        if invented([each], task, lambda path, name: _is_known(path, name, workspace)):
            return made[:at] if wanted else ()
    return made


def _command(made: Sequence[LineReplacement], task: str, workspace: Workspace) -> str:
    """The command that replacements stand for; none where a name is put in another's place that exists already."""
    names = exchanged(made, task)
    if names is not None and _is_known(made[0].path, names[1], workspace):
        return ""
    return as_command(made, {each.path: workspace.index.outline(each.path) for each in made}, task)


def _is_known(path: str, name: str, workspace: Workspace) -> bool:
    text = workspace.index.text(path) or ""
    return (
        hasattr(builtins, name)
        or keyword.iskeyword(name)
        or name in _KEYWORDS
        or re.search(rf"\b{re.escape(name)}\b", text) is not None
        or bool(workspace.index.symbols(name))
    )


def _changes(made: Sequence[LineReplacement], task: str, workspace: Workspace) -> tuple[FileChange, ...]:
    """The changed files.

    Raises:
        GenerationFailed: a text can't be used.
    """
    changes = []
    for path in dict.fromkeys(each.path for each in made):
        target = load(path, workspace)
        lines = target.shown.split("\n")
        for each in sorted((r for r in made if r.path == path), key=lambda r: -r.first):
            lines[each.first : each.last] = each.new
        change = checked_change(target, "\n".join(lines), task, workspace.index)
        if change.diff:
            changes.append(change)
    return tuple(changes)
