"""What a task asks for, read from its words. Pure."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import distributed
from repopilot.agents.editing.exact.wording.clauses import clauses_of
from repopilot.agents.editing.exact.wording.frames.frame_table import edits_of
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name
from repopilot.agents.editing.exact.wording.plain_wording import plain_task, without_callers
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of

LONGEST_TASK = 600
_MOST_CLAUSES = 6
_SED = re.compile(
    r"^s(?P<sign>[/|#])(?P<old>(?:(?!(?P=sign)).)+)(?P=sign)(?P<new>(?:(?!(?P=sign)).)*)(?P=sign)g?"
    r"(?:\s+(?:in|dans)\s+(?P<path>\S+)|\s.*(?:package|everywhere|repo|code|project|partout).*)?$"
)


def read_task(task: str) -> list[list[ExactTask]]:
    """What a task asks for.

    Args:
        task: as the user wrote it, in English or French.

    Returns:
        For each thing that is asked for what it may be, likeliest first; [] where a part isn't understood.
    """
    text, mention = _without_mention(plain_task(on_one_line(task)))
    if not text or len(text) > LONGEST_TASK:
        return []
    sed = _SED.match(text)
    if sed:
        if not sed["path"] and sed["old"].isidentifier() and sed["new"].isidentifier():
            return [[ExactTask("rename", sed["old"], "", sed["new"])]]
        places = (NamedPlace(sed["path"], "file"),) if sed["path"] else ()
        return [[ExactTask("replace_text", "", "", sed["new"], sed["old"], places)]]
    for wording in dict.fromkeys((without_callers(text), text)):
        clauses = clauses_of(wording)
        found = [edits_of(each) for clause in clauses for each in distributed(clause)]
        if found and len(found) <= _MOST_CLAUSES and all(found):
            return [[_placed(replace(edit, mention=mention), wording) for edit in meanings] for meanings in found]
    several = _SEVERAL_PLACES.fullmatch(text)
    if several is None or mention:
        return []
    each = [read_task(f"{several['task']} {several[place]}") for place in ("first", "second")]
    return [meanings for task_ in each for meanings in task_] if all(each) else []


def _placed(edit: ExactTask, text: str) -> ExactTask:
    """A text that is replaced, in the one file that the task names anywhere."""
    paths = dict.fromkeys(bare_name(t) for t in tokens_of(text) if t.is_path)
    if edit.places or edit.kind not in ("replace_text", "change_message") or len(paths) != 1:
        return edit
    return replace(edit, places=(NamedPlace(next(iter(paths)), "file"),))


_PLACE = r"`[^`\s]+`|[A-Za-z_][\w.]*[._][\w.]*(?:\(\))?|[A-Za-z_]\w*\(\)"
_SEVERAL_PLACES = re.compile(
    rf"(?P<task>.*\s(?:in|of|dans|de))\s+(?:both\s+)?(?P<first>{_PLACE})\s+(?:and|et)\s+(?P<second>{_PLACE})", re.S
)


_BLOCK = re.compile(r"```\w*\n(?P<fenced>.*?)```|\n\s*\n(?P<indented>(?:(?:    |\t)[^\n]*\n?|[ \t]*\n)+)", re.S)


def on_one_line(task: str) -> str:
    """A task with its one block of code in backticks, so that it has no lines.

    Args:
        task: as the user wrote it.
    """
    blocks = list(_BLOCK.finditer(task.strip() + "\n"))
    if "\n" not in task.strip() or len(blocks) != 1:
        return task
    block = blocks[0]["fenced"] or blocks[0]["indented"] or ""
    if not block.strip() or "`" in block:
        return task
    code = textwrap.dedent(block.rstrip("\n")).strip("\n")
    before, after = task.strip()[: blocks[0].start()], task.strip()[blocks[0].end() :]
    return f"{before.rstrip().removesuffix(':')} `{code}` {after}"


_MENTION = re.compile(r"@(?P<path>[\w.~/-]+\.\w+):(?P<symbol>[\w$.]+)")


def _without_mention(text: str) -> tuple[str, str]:
    """A task without the one definition it mentions, or with its name in its place; and `path:Symbol`, '' for none."""
    found = list(_MENTION.finditer(text))
    if len(found) != 1:
        return text, ""
    match = found[0]
    before, after = text[: match.start()].rstrip(" ("), text[match.end() :].lstrip(" )")
    mention = f"{match['path']}:{match['symbol']}"
    if re.search(rf"(?<![\w.]){re.escape(match['symbol'].rpartition('.')[2])}(?![\w.])", before) or (
        not after and not _OPEN.search(before)
    ):
        inside = re.sub(r"\s+(?:in|of|from|at|dans|de)$", "", before)
        return " ".join(f"{inside} {after}".split()), mention
    return f"{before} {match['symbol']} {after}".strip(), mention


_OPEN = re.compile(r"\b(?:in|of|to|from|rename|set|delete|remove|move|change|add|on|for|dans|de|à|du)$", re.I)
