"""Turns a clause into the edits that it may ask for, by its verb. Pure.

A clause is an edit only when every word in it has a place in the edit; what is left over makes it none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.wording.clause import Clause, Part
from repopilot.agents.editing.exact.wording.frames.entry_frames import (
    added_line,
    addition,
    mapping,
    remove_member,
    sorting,
)
from repopilot.agents.editing.exact.wording.frames.frame import EditFrame, FrameOf, only_says_where
from repopilot.agents.editing.exact.wording.frames.import_frames import (
    add_export,
    add_import,
    export_of,
    remove_export,
    remove_import,
)
from repopilot.agents.editing.exact.wording.frames.name_frames import making, rename_of, rename_old
from repopilot.agents.editing.exact.wording.frames.parameter_frames import (
    add_parameter,
    by_keyword,
    no_default,
    parameter_of,
    remove_default,
    remove_parameter,
    reordering,
)
from repopilot.agents.editing.exact.wording.frames.removal_frames import deletion_of, move_of
from repopilot.agents.editing.exact.wording.frames.requirement_frames import (
    bump_part,
    bump_requirement,
    dependency_change,
    drop_support,
    project_field,
    requirement,
)
from repopilot.agents.editing.exact.wording.frames.text_frames import (
    comment_of,
    docstring_of,
    replace_code,
    text_change,
    use_of,
    worded_change,
)
from repopilot.agents.editing.exact.wording.frames.type_frames import annotation, base_change, decorator_change
from repopilot.agents.editing.exact.wording.frames.value_frames import by_amount, scaling, setting, switching
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name, noun_phrase
from repopilot.agents.editing.exact.wording.task_tokens import Token


def edits_of(clause: Clause) -> list[ExactTask]:
    """What a clause may ask for, likeliest first.

    Args:
        clause: of a task.
    """
    found: list[ExactTask] = []
    for frame_of in _FRAMES.get(clause.action, ()):
        parts = [p for p in clause.parts if not only_says_where(p)]
        frame = EditFrame(clause, parts, noun_phrase(clause.target))
        edits = list(frame_of(frame))
        if not frame.left_over:
            found += edits
    return found


def _have(frame: EditFrame) -> Iterator[ExactTask]:
    """`X should have Y`: Y is added to X."""
    part = frame.take("complement")
    name = frame.target.only_name
    if part is None or name is None or frame.target.described:
        return
    added = noun_phrase(part.tokens)
    if any(t.low in ("first", "last") for t in part.tokens) and added.only_name is not None:
        position = next(t.low for t in part.tokens if t.low in ("first", "last"))
        place = NamedPlace(bare_name(name), frame.target.what)
        places = (place, *frame.place_parts())
        yield ExactTask(
            "reorder_parameter", bare_name(added.only_name), "parameter", "", "", places, extra={"position": position}
        )
        return
    if "parameter" in added.whats or (
        name.text.endswith("()") and _PARAMETER_TEXT.fullmatch(frame.text(_code(part.tokens)))
    ):
        yield from parameter_of(frame, part.tokens, NamedPlace(bare_name(name), frame.target.what))
        return
    yield from _as_if(frame, "add", part.tokens, Part("to", frame.clause.target))


def _as_if(frame: EditFrame, verb: str, target: Sequence[Token], part: Part) -> Iterator[ExactTask]:
    """The edits of a clause put otherwise: `X should have Y` as `add Y to X`."""
    clause = Clause(verb, verb, tuple(target), (part, *frame.parts), frame.clause.text)
    frame.parts = []
    yield from edits_of(clause)


_PARAMETER_TEXT = re.compile(r"`?[A-Za-z_]\w*\s*(?::[^=`]+)?=\s*[^=`]+`?")


def _code(tokens: Sequence[Token]) -> list[Token]:
    kept = list(tokens)
    while kept and kept[0].kind == "word":
        kept.pop(0)
    return kept


def _give(frame: EditFrame) -> Iterator[ExactTask]:
    """`give f an optional parameter x=1`."""
    if frame.clause.verb not in ("give", "donne", "donner"):
        return
    tokens = list(frame.clause.target)
    to = frame.take("to", "à")
    if to is not None:
        head, rest = to.tokens, tokens
    else:
        at = next(
            (
                n
                for n, t in enumerate(tokens)
                if n and t.kind == "word" and (t.low in ("a", "an", "une", "un", "another", "one"))
            ),
            None,
        )
        if at is None:
            return
        head, rest = tuple(tokens[:at]), tokens[at:]
    yield from _as_if(frame, "add", rest, Part("to", tuple(head)))


def _remove_from(frame: EditFrame) -> Iterator[ExactTask]:
    part = frame.take("complement")
    if part is not None:
        yield from _as_if(frame, "remove", part.tokens, Part("from", frame.clause.target))


_SETTING: tuple[FrameOf, ...] = (
    _give,
    rename_old,
    reordering,
    making,
    base_change,
    decorator_change,
    dependency_change,
    docstring_of,
    annotation,
    text_change,
    use_of,
    project_field,
    bump_part,
    bump_requirement,
    by_amount,
    setting,
)


_FRAMES: dict[str, tuple[FrameOf, ...]] = {
    "rename": (rename_of,),
    "call": (rename_of,),
    "set": _SETTING,
    "be": _SETTING,
    "default": (setting,),
    "text": (text_change,),
    "": (worded_change, text_change, annotation, setting, rename_of),
    "raise": (use_of, bump_part, bump_requirement, by_amount, setting),
    "lower": (bump_requirement, by_amount, setting),
    "increment": (bump_part, scaling),
    "decrement": (scaling,),
    "multiply": (scaling,),
    "divide": (scaling,),
    "double": (scaling,),
    "triple": (scaling,),
    "halve": (scaling,),
    "enable": (switching,),
    "disable": (switching,),
    "add": (
        add_import,
        decorator_change,
        base_change,
        docstring_of,
        comment_of,
        annotation,
        add_parameter,
        dependency_change,
        add_export,
        addition,
        added_line,
    ),
    "map": (mapping,),
    "import": (add_import,),
    "remove": (
        remove_import,
        decorator_change,
        base_change,
        remove_export,
        drop_support,
        dependency_change,
        remove_parameter,
        remove_default,
        remove_member,
        deletion_of,
    ),
    "remove_from": (_remove_from,),
    "remove_requirement": (dependency_change,),
    "no_default": (no_default,),
    "explicit": (no_default,),
    "by_keyword": (by_keyword,),
    "move": (reordering, move_of),
    "replace": (text_change, base_change, replace_code),
    "export": (export_of,),
    "unexport": (export_of,),
    "require": (dependency_change, requirement),
    "have": (_have,),
    "use": (use_of,),
    "base": (base_change,),
    "annotate": (annotation,),
    "document": (docstring_of,),
    "decorate": (decorator_change,),
    "undecorate": (decorator_change,),
    "sort": (sorting,),
    "correct": (text_change,),
}
