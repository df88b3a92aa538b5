"""What a model's command for a task comes to: sentences for the rules that use everything of the task. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot.agents.editing.exact.wording.list_wording import names_several_lists
from repopilot.agents.editing.exact.wording.pronouns import takes_out_something_else
from repopilot.agents.editing.exact.wording.remarks import without_imports, without_neighbours
from repopilot.agents.editing.exact.wording.task_tokens import folded
from repopilot.agents.editing.restated.command_forms import Command, read_command
from repopilot.agents.editing.restated.pieces import Piece, bare, left_out, pieces_of
from repopilot.agents.editing.restated.sentences import sentences

_MORE_WORK = re.compile(
    r"\b(?:unless|whenever|every time|each time|log a|warn|deprecat\w+ (?:it|them)|fall back|fallback|except|"
    r"besides|but not|write a test|add a test|implement|such that|if (?:the|it|a|there)|when (?:the|it|a|there)|"
    r"lorsque|quand|sauf|si (?:le|la|un|une|on)|method that|function that|"
    r"(?:and|then|et) (?:\w+ (?:it|them)|use|utilis\w+)|use (?:it|that|them) (?:in|for|there))\b"
)


_LONGEST = 240
"""Characters; the tasks of the open sets that are one edit are shorter."""


def may_be_one_command(task: str) -> bool:
    """Whether it is worth asking a model for a command.

    Args:
        task: without spaces around it.
    """
    return bool(task) and "\n" not in task and len(task) <= _LONGEST and not _MORE_WORK.search(folded(task))


def meanings(reply: str, task: str) -> list[str]:
    """The sentences that a restated task may be.

    Args:
        reply: the model's command.
        task: on one line.

    Returns:
        Sentences, likeliest first; [] where the reply is no command, or leaves out code or values of the task.
    """
    command = read_command(reply)
    if command is None or not may_be_one_command(task) or _asks_for_two(command, task):
        return []
    command = _mended(command)
    if command.form.startswith(("add", "remove")) and names_several_lists(task):
        return []  # a command has one list, and half of what is asked for is wrong
    if command.form.startswith("delete") and takes_out_something_else(task):
        return []
    if len(set(command.slots.values())) < len(command.slots):
        return []
    if command.form.startswith("export"):
        task = _without_repetition(command, task)
    pieces = pieces_of(task)
    if not _plausible(command, pieces):
        return []
    rest = left_out(task, pieces, tuple(command.slots.values()))
    old, place, path = "", "", ""
    moves = command.form.startswith("move")  # what it is moved from
    for piece in {bare(p.text): p for p in rest}.values():
        if _may_be_place(piece) and not place and "place" not in command.slots:
            place = piece.text
        elif piece.token.is_path and not path and not _is_path(command.slots.get("place", "")):
            path = piece.text  # the file of the place
        elif not old and "old" not in command.slots and (piece.token.kind != "path" or moves):
            old = piece.text
        else:
            return []
    found = [s for s in sentences(command, task, old, place) if bare(old) in s and bare(place) in s]
    return [f"{s} in `{bare(path)}`" for s in found] if path else found


def _without_repetition(command: Command, task: str) -> str:
    """A task to export something without the names beside it and the import of it that shall work."""
    rest, imports = without_imports(without_neighbours(task))
    name, package = (bare(command.slots[slot]) for slot in ("name", "place"))
    same = all(said.name == name and (said.package == package or package in _ROOTS) for said in imports)
    return rest if same else without_neighbours(task)


_ROOTS = frozenset(("root", "package root", "the package root", "top level", "top-level", "package"))
_ACTIONS = tuple(re.compile(rf"\b(?:{words})\b") for words in (
    r"re-?nam\w+|renomm\w+",
    r"remov\w+|delet\w+|drop\w*|supprim\w+|retir\w+|enlev\w+",
    r"move[sd]?|moving|deplac\w+",
    r"replac\w+|remplac\w+",
    r"sort|trie\w*",
    r"adds?|append|insert|ajout\w+",
))  # fmt: skip
_JOINING = re.compile(r"->|=>|→|\bto\b|\binto\b|\ben\b")


def _asks_for_two(command: Command, task: str) -> bool:
    """Whether the words of a task besides the command's slots say two things to do, of which it can only be one."""
    rest = task
    for text in command.slots.values():
        rest = rest.replace(text, " ")
    rest = folded(rest)
    twice = command.form.startswith(("rename", "set", "replace")) and len(_JOINING.findall(rest)) > 1
    return twice or sum(bool(action.search(rest)) for action in _ACTIONS) > 1


def _mended(command: Command) -> Command:
    """A command without a place that is what it is about."""
    slots = dict(command.slots)
    if slots.get("place") in [text for slot, text in slots.items() if slot != "place"]:
        del slots["place"]
    return Command(command.form, slots)


def _plausible(command: Command, pieces: Sequence[Piece]) -> bool:
    """Whether the slots can be what they are said to be, by how the task writes them.

    An argument of a call that the task quotes is no new value; a plain word replaces no text, and another word only in
    a definition.
    """
    whole = {bare(piece.text): piece.token for piece in pieces if piece.first}
    inside = {bare(piece.text) for piece in pieces if not piece.first} - set(whole)
    verb, slots = command.form.partition(" ")[0], command.slots
    if verb == "set":
        return bare(slots["new"]) not in inside
    if verb == "replace":
        kinds = [token.kind for slot in ("old", "new") if (token := whole.get(bare(slots[slot]))) is not None]
        place = whole.get(bare(slots.get("place", "")))
        alike = "quoted" not in kinds and "literal" not in kinds
        return "word" not in kinds or (
            alike and place is not None and place.kind in ("name", "quoted") and not place.is_path
        )
    return True


def _is_path(text: str) -> bool:
    return re.search(r"/|\.[a-z]{1,5}$", bare(text)) is not None


def _may_be_place(piece: Piece) -> bool:
    return piece.token.is_path or piece.token.kind == "name"
