"""Generate: new or changed files for a task, checked before anyone sees them. Nothing is written to disk.

Small files come whole from the model, in large ones it replaces symbols that code locates. What does not parse is
sent back once, then given up with a clear error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from repopilot.agents.exploration import Exploration
from repopilot.agents.generate import edits
from repopilot.agents.generate.import_fixer import with_imports
from repopilot.agents.generate.places import EditTarget, choose, load
from repopilot.agents.generate.preserve import restore_header_and_footer, unrequested_removals
from repopilot.agents.generate.reply_parser import assigned, blocks
from repopilot.agents.testing.candidates import whole_lines
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.llm import stream
from repopilot.llm.model import Model
from repopilot.prompts import defused, nonce, render
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

SPARE_TOKENS = 500
"""What a reply may be longer than the text it replaces."""
_DELETE = re.compile(
    r"^\W*(?:please )?(?:delete|remove|supprime)(?: the| le)?(?: file| fichier)? @?(\S+\.\w+)\W*$", re.I
)
_MARK = re.compile(r"[0-9a-f]{8}")
"""A delimiter of `prompts.nonce`."""
_CONTEXT_EXCERPTS, _CONTEXT_CHARS = 4, 4000


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One call of the generator. `paths` says outright which files to write; `reading` are texts by path that the model
    may need to see and must not change. `feedback` are reasons to write another version of `drafts`."""

    task: str
    found: Exploration | None = None
    paths: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    feedback: tuple[str, ...] = ()
    drafts: tuple[FileChange, ...] = ()
    seed: int = 0


class _Reply(NamedTuple):
    text: str
    cut: bool


class _Checked(NamedTuple):
    """The changes of a reply, or () and the `problem` with it; `lost` are definitions gone without being asked for."""

    changes: tuple[FileChange, ...]
    problem: str
    lost: tuple[str, ...] = ()

    @property
    def complaint(self) -> str:
        """What the model is to correct, '' for nothing."""
        gone = f"it loses {', '.join(self.lost[:5])}, which the task does not ask for" if self.lost else ""
        return self.problem or gone


async def generate_files(request: GenerationRequest, workspace: Workspace, step: Step) -> tuple[FileChange, ...]:
    """The changed and new files, at least one, each parsed and with a diff against the snapshot.

    Streams into steps below `step`. Raises GenerationFailed, ModelError.
    """
    if not request.task.strip():
        raise GenerationFailed("There is no task.", "Say what to write or change.")
    deleted = _deletion(request.task, workspace)
    if deleted is not None:
        return (deleted,)
    if workspace.model is None:
        raise GenerationFailed(
            "No language model answers, so nothing can be written.",
            "Start Ollama or fetch a model: repopilot models pull.",
        )
    async with step.child("choose files", "tool", request.task) as choosing:
        targets = await asyncio.to_thread(_targets, request, workspace)
        choosing.note(files=[t.path for t in targets], new=[t.path for t in targets if t.stored is None])
        await choosing.write(", ".join(t.path + ("" if t.stored is not None else " (new)") for t in targets))
    messages = _messages(request, workspace, targets)
    room = _room(workspace.model, targets)
    reply = await _reply(messages, workspace.model, room, request, step, "write")
    first = await _checked(reply, targets, request.task, step, workspace)
    if not first.complaint:
        return first.changes
    step.note(repaired=first.complaint)
    again = [*messages, *_complaint(reply, first.complaint)]
    reply = await _reply(again, workspace.model, room, replace(request, seed=request.seed + 1), step, "repair")
    second = await _checked(reply, targets, request.task, step, workspace)
    kept = min(first, second, key=lambda checked: (bool(checked.problem), len(checked.lost)))
    if kept.problem:
        raise GenerationFailed(
            f"The model's code can't be used: {second.problem}.", "Try again, or ask for a smaller change."
        )
    if kept.lost:
        step.degrade(f"gone without being asked for: {', '.join(kept.lost[:5])}")
    return kept.changes


def _targets(request: GenerationRequest, workspace: Workspace) -> list[EditTarget]:
    if request.paths:
        return [load(edits.safe_path(path), workspace) for path in request.paths]
    if not request.drafts:
        return choose(request.task, workspace, request.found)
    return [load(d.path, workspace, d.content) for d in request.drafts if d.change != "deleted"]


def _deletion(task: str, workspace: Workspace) -> FileChange | None:
    """A task that only deletes a file of the index needs no model."""
    match = _DELETE.match(task.strip())
    if not match:
        return None
    target = load(edits.safe_path(match[1]), workspace)
    return edits.deletion(target.path, target.stored) if target.stored is not None else None


async def _reply(
    messages: Sequence[ChatMessage], model: Model, room: int, request: GenerationRequest, step: Step, name: str
) -> _Reply:
    async with step.child(name, "llm", request.task) as writing:
        temperature = 0.2 if not request.seed else 0.6
        text = await stream.chat(model, messages, writing, max_tokens=room, temperature=temperature, seed=request.seed)
        return _Reply(_without_marks(text, messages), writing.data.get("finish") == "length")


def _without_marks(reply: str, messages: Sequence[ChatMessage]) -> str:
    """Small models copy the marks around what they were shown: lines that are one of them go."""
    shown = {line for m in messages for line in (m.content or "").split("\n") if _MARK.fullmatch(line)}
    return "\n".join(line for line in reply.split("\n") if line.strip() not in shown)


async def _checked(
    reply: _Reply, targets: Sequence[EditTarget], task: str, step: Step, workspace: Workspace
) -> _Checked:
    """The changes in a reply, or what is wrong with it, fit for model and user."""
    async with step.child("check syntax", "tool") as checking:
        try:
            changes = await asyncio.to_thread(_changes, reply, targets, task, workspace)
            checked = _Checked(changes, "" if changes else "it changes nothing", _losses(changes, targets, task))
        except GenerationFailed as error:
            checked = _Checked((), error.message.rstrip("."))
        checking.note(ok=not checked.problem, files=[c.path for c in checked.changes], lost=list(checked.lost))
        parsed = f"parses: {', '.join(c.path for c in checked.changes)}" if checked.changes else ""
        await checking.write("; ".join(filter(None, (parsed, checked.complaint))))
    return checked


def _losses(changes: Sequence[FileChange], targets: Sequence[EditTarget], task: str) -> tuple[str, ...]:
    before = {t.path: t.shown for t in targets}
    return tuple(n for c in changes for n in unrequested_removals(c.path, c.content, before.get(c.path, ""), task))


def _changes(reply: _Reply, targets: Sequence[EditTarget], task: str, workspace: Workspace) -> tuple[FileChange, ...]:
    found = blocks(reply.text)
    if not found:
        raise GenerationFailed("the reply holds no code block" if reply.text.strip() else "the reply is empty")
    known = {t.path: t for t in targets}
    if len(targets) == 1 and targets[0].large and targets[0].outline:
        code = "\n".join(b.body for b in found)
        text, _ = edits.with_symbols(targets[0].path, targets[0].shown, targets[0].outline, code)
        return _only_real([_change(targets[0], text, task, workspace.index)])
    changes = []
    for path, block in assigned(found, list(known)).items():
        path = edits.safe_path(path)
        target = known.get(path) or load(path, workspace)
        text = block.body
        if not block.closed and (reply.cut or not _whole(text, target)):
            text = _salvaged(text, target)
        changes.append(_change(target, text, task, workspace.index))
    if not changes:
        raise GenerationFailed("no code block says which file it is for")
    return _only_real(changes)


def _salvaged(text: str, target: EditTarget) -> str:
    """What is whole of a text cut off at its end: a new file of tests is as good without the last of them."""
    kept = whole_lines(text) if target.path.endswith(".py") and is_test_path(target.path) and not target.shown else ""
    if not kept:
        raise GenerationFailed(f"the reply was cut off inside {target.path}")
    return kept


def _place_of(name: str, index: Index) -> str | None:
    """The one Python file of the code that defines a name at its top level; None for none or several."""
    places = {s.path for s in index.symbols(name) if s.qualified == name and s.path.endswith(".py")}
    places = {path for path in places if not is_test_path(path)}
    return places.pop() if len(places) == 1 else None


def _change(target: EditTarget, text: str, task: str, index: Index) -> FileChange:
    """Checked for syntax and left-out code, with forgotten imports, head and secrets back in place, stored as the old
    file was."""
    text = with_imports(target.path, text, lambda name: _place_of(name, index))
    text = restore_header_and_footer(target.path, text, target.shown, task)
    if target.large and target.stored is not None and len(text) < len(target.shown) // 2:
        raise GenerationFailed(f"{target.path} came back with less than half its text")
    problem = edits.problem_of(target.path, text, target.shown or None)
    if problem is not None:
        raise GenerationFailed(f"{target.path}: {problem.message}")
    plain = target.raw.removeprefix("\ufeff").replace("\r\n", "\n")
    new = edits.as_stored(edits.restored(text, target.shown, plain), target.stored or "")
    return edits.change(target.path, new, target.stored)


def _only_real(changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
    return tuple(c for c in changes if c.diff)


def _whole(text: str, target: EditTarget) -> bool:
    """A block without its closing fence may still be whole: it parses and is as long as what it replaces."""
    return len(text) >= 0.8 * len(target.shown) and edits.syntax_error(target.path, text) is None


def _room(model: Model, targets: Sequence[EditTarget]) -> int:
    """Tokens the reply may have: the files once more and some, at most half the window."""
    shown = sum(model.count_tokens(t.shown) for t in targets if not t.large)
    return min(
        shown + SPARE_TOKENS + (SPARE_TOKENS if any(t.stored is None or t.large for t in targets) else 0),
        model.context_window // 2,
    )


def _messages(request: GenerationRequest, workspace: Workspace, targets: Sequence[EditTarget]) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    large = targets[0].large and bool(targets[0].outline)
    mark = nonce()
    system = render("generate_symbols_system" if large else "generate_system", name=workspace.snapshot.name)
    wanted = f"the changed definitions of {targets[0].path}" if large else ", ".join(t.path for t in targets)
    files = "".join(_shown(t, mark, request, workspace) for t in targets)
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


def _context(request: GenerationRequest, targets: set[str]) -> str:
    """What the new code may call or must fit: the texts to read, and the best excerpts of other files."""
    found = request.found
    others = {e.path: e.text for e in found.pack.excerpts if e.path not in targets} if found else {}
    texts = {**dict(list(others.items())[:_CONTEXT_EXCERPTS]), **request.reading}
    if not texts:
        return ""
    mark = found.pack.mark if found else nonce()
    shown = "".join(f"{mark} {path}\n{defused(text, mark)[:_CONTEXT_CHARS]}\n" for path, text in texts.items())
    return f"For reference, do not change these:\n{shown}{mark}\n\n"


def _shown(target: EditTarget, mark: str, request: GenerationRequest, workspace: Workspace) -> str:
    if not target.shown.strip():
        return f"{target.path} does not exist yet.\n\n"
    if not (target.large and target.outline):
        return f"{target.path} as it is:\n{mark}\n{defused(target.shown, mark)}{mark}\n\n"
    model = workspace.model
    budget = (model.context_window if model else 8192) * 3 // 2  # characters: half the window's tokens
    names = "\n".join(f"{'  ' * s.qualified.count('.')}{s.signature or s.name}"[:120] for s in target.outline)[
        : budget // 3
    ]
    chosen = "\n\n".join(relevant_symbols(target, request, budget))
    return f"{target.path} defines:\n{names}\n\nIts parts for this task:\n{mark}\n{defused(chosen, mark)}\n{mark}\n\n"


def relevant_symbols(target: EditTarget, request: GenerationRequest, budget: int) -> list[str]:
    """The texts of the symbols a task names or the exploration hit, in the file's order, at most `budget` long."""
    words = set(re.findall(r"\w+", request.task))
    hits = request.found.results.hits if request.found else ()
    hit_lines = [(h.chunk.start_line, h.chunk.end_line) for h in hits if h.chunk.path == target.path]

    def worth(symbol) -> int:
        inside = any(start <= symbol.end_line and symbol.start_line <= end for start, end in hit_lines)
        return 2 * (symbol.name in words) + inside

    lines = target.shown.split("\n")
    spans = sorted((s for s in target.outline if worth(s) and s.kind != "class"), key=lambda s: -worth(s))
    spans = spans or [s for s in target.outline if s.kind != "class"]
    kept = []
    for symbol in spans:
        text = "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
        if len(text) <= budget:
            kept.append((symbol.start_line, text))
            budget -= len(text)
    return [text for _, text in sorted(kept)]


def _complaint(reply: _Reply, problem: str) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    return [
        ChatMessage(role="assistant", content=reply.text[:6000] or "(nothing)"),
        ChatMessage(role="user", content=render("generate_repair", problem=problem)),
    ]
