"""One tool call by a small model, whose arguments must come from the task and be confirmed by the index.

The schema lets the model choose a tool and, for each argument, one of the names, paths and literals of the task. Code
accepts the call only where the index confirms that the arguments are what the tool needs: an existing definition to
rename, an unused new name, a value that the code has. Grounding decides, not the wording.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repopilot.agents.coding.edit_kinds import asked_for
from repopilot.agents.coding.typed_commands import Command
from repopilot.code.languages import is_test_path
from repopilot.code.value_sites import ValueSite
from repopilot.errors import PlaceAmbiguous, SeveralFit, UsageError
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.prompts import render
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.tools.definitions import files_with, find_definition
from repopilot.tools.set_value import SetValue, sites_of
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.trace import Step
from repopilot.types import Symbol
from repopilot.workspace import Workspace

MOST_TOKENS = 90
MOST_WORDS = 30
MOST_FILES = 40
"""The most files that are searched for a parameter."""
NEW_DEFINITION = "new_definition"
"""Not a tool of the toolbox: the new code has to be written first."""
_CODE_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:[.:/-]+[\w$]+)*(?:\(\))?|-?\d[\w.]*")
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_SHAPED = re.compile(r"[a-z][A-Z]|_|\d|^[A-Z]{2}")
_LITERAL = re.compile(r"-?\d[\w.]*|True|False|None|true|false|null|nil")
_PATH = re.compile(r"[\w./-]+\.[a-z]\w{0,4}")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a task: `known` are names of definitions, `parameters` those of functions, `paths` those of files;
    `new_paths` and `new` are unused paths and names, `made` names that a new definition may get, `literals` values, and
    `quoted` texts in quotes."""

    every: frozenset[str]
    known: tuple[str, ...]
    parameters: tuple[str, ...]
    paths: tuple[str, ...]
    new_paths: tuple[str, ...]
    new: tuple[str, ...]
    made: tuple[str, ...]
    literals: tuple[str, ...]
    quoted: tuple[str, ...]


async def grounded_call(task: str, workspace: Workspace, step: Step) -> Command | None:
    """Have the small model read a task as one call, and check it against the index.

    Args:
        task: as the user wrote it.
        workspace: the repository with the model.
        step: the reading is its child.

    Returns:
        The call; None where the task isn't one, or the index doesn't confirm it.

    Raises:
        ModelError: the model failed.
        PlaceAmbiguous: several places fit.
    """
    assert workspace.model is not None
    words = await asyncio.to_thread(_words_of, task, workspace.index)
    schema = _schema(words, asked_for(task))
    if schema is None:
        return None
    async with step.child("read the task", "llm", task) as reading:
        options = ChatOptions(MOST_TOKENS, 0.0, schema=schema)
        try:
            prompt = stream.prompt_of(render("read_call"), task)
            reply = await stream.chat(workspace.model, prompt, reading, options)
            said = json.loads(reply)
        except ValueError:
            return None
        if not _fits(said, schema):
            return None
        async with working_copy(workspace) as copy:
            found = await asyncio.to_thread(_accepted, said, words, copy)
        reading.note(accepted=found is not None)
    return found


def _words_of(task: str, index: Index) -> _Words:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(task)]
    plain = [word.removesuffix("()").rstrip(".:") for word in _CODE_WORD.findall(task)]
    every = list(dict.fromkeys([*(word.removesuffix("()") for word in quoted), *plain]))[: 4 * MOST_WORDS]
    paths = [index.file_named(word) for word in every if _PATH.fullmatch(word) or word in index.files]
    known = [word for word in every if _defines(word, index)]
    names = [w for w in every if w.isidentifier() and w not in known and not index.symbols(w)]
    parameters = [w for w in names if w.islower() and w not in STOP_EN | STOP_FR and any(_functions_with(w, index))]
    new = [w for w in names if len(w) > 2 and (w in quoted or _SHAPED.search(w)) and not hasattr(builtins, w)]
    heads = [match[0] for text in quoted if (match := re.match(r"[A-Za-z_]\w*(?=$|\()", text))]
    called = [word.removesuffix("()") for word in _CODE_WORD.findall(task) if word.endswith("()")]
    made = dict.fromkeys([*heads, *called, *(w for w in every if w.isidentifier() and _SHAPED.search(w))])
    new_paths = [w for w in every if _PATH.fullmatch(w) and not index.files_named(w)]
    literals = [w for w in every if w in quoted or _LITERAL.fullmatch(w)]
    owned = [f"{owner}.{name}" for owner in known for name in known if _defines(f"{owner}.{name}", index)]
    lists = ([*owned, *known], parameters, dict.fromkeys(filter(None, paths)), new_paths, new, made, literals, quoted)
    return _Words(frozenset(every), *(tuple(each)[:MOST_WORDS] for each in lists))


def _defines(word: str, index: Index) -> bool:
    """Whether the index knows a word as a definition."""
    last = word.rpartition(".")[2]
    return last.isidentifier() and len(last) > 1 and bool(index.symbols(word))


def _functions_with(parameter: str, index: Index) -> Iterator[Symbol]:
    """The functions outside tests that have a parameter with this name."""
    word = re.compile(rf"[(,*]\s*{re.escape(parameter)}\s*[,:=)]")
    for path in files_with(parameter, index)[:MOST_FILES]:
        yield from (s for s in index.outline(path) if word.search(s.signature) and not is_test_path(path))


def _schema(words: _Words, kinds: frozenset[str]) -> dict[str, Any] | None:
    """The schema of the calls that fit the kinds a task asks for and that its words can fill; None for none."""
    forms: list[dict[str, Any]] = []

    def offer(tool: str, **choices: Iterable[str]) -> None:
        fields = {name: {"enum": list(values)} for name, values in choices.items()}
        if _KINDS.get(tool, kinds) & kinds and all(field["enum"] for field in fields.values()):
            properties = {"tool": {"const": tool}, **fields}
            kind = {"type": "object", "properties": properties, "required": list(properties)}
            forms.append({**kind, "additionalProperties": False})

    offer("rename_symbol", name=words.known, new_name=words.new)
    offer("rename_parameter", name=words.parameters, new_name=[w for w in words.new if w not in words.parameters])
    offer("remove_parameter", name=words.parameters)
    offer("move_symbol", name=words.known, to_path=[*words.paths, *words.new_paths])
    offer("move_file", path=words.paths, new_path=words.new_paths)
    offer("set_value", name=[*words.known, *words.new], value=words.literals)
    offer("replace_text", old=words.quoted, new=words.quoted)
    offer("delete_symbol", name=words.known)
    offer(NEW_DEFINITION, name=words.made, place=[*words.known, *words.paths])
    if not forms:
        return None
    offer("other")
    return {"oneOf": forms}


def _fits(said: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a reply is a call that was offered: a server may ignore the schema."""
    forms = {form["properties"]["tool"]["const"]: form["properties"] for form in schema["oneOf"]}
    if not isinstance(said, dict) or said.get("tool") not in forms:
        return False
    return all(said.get(key) in field.get("enum", [said["tool"]]) for key, field in forms[said["tool"]].items())


def _accepted(said: Mapping[str, Any], words: _Words, copy: WorkingCopy) -> Command | None:
    """The call; None where the index doesn't confirm its arguments. Blocking. Raises PlaceAmbiguous."""
    if said["tool"] not in _READERS:
        return None
    try:
        return _READERS[said["tool"]]({key: str(value) for key, value in said.items()}, words, copy)
    except (UsageError, KeyError):
        return None


def _rename(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    place = _place(said["name"], words, copy)
    new = said["new_name"]
    if new not in words.new or files_with(new, copy.workspace.index) or _form(new) != _form(place.name):
        return None
    # A name that isn't an ordinary word refers to the definition in comments and documents, too.
    everywhere = _SHAPED.search(place.name) is not None
    call = {"name": place.qualified, "new_name": new, "path": place.path, "everywhere": everywhere}
    return Command("rename_symbol", call, f"rename `{said['name']}` to `{said['new_name']}`")


def _form(name: str) -> str:
    """The case of a name, which differs between constants, types and functions."""
    bare = name.strip("_")
    return "upper" if bare.isupper() and len(bare) > 1 else "capital" if bare[:1].isupper() else "lower"


def _remove_parameter(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    function = _function_with(said["name"], words, copy)
    call = {"name": function.qualified, "remove": [said["name"]], "path": function.path}
    return Command("change_signature", call, f"remove the parameter `{said['name']}` of `{function.qualified}`")


def _rename_parameter(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    new = said["new_name"]
    if _form(new) != _form(said["name"]):
        return None
    function = _function_with(said["name"], words, copy)
    call = {"name": function.qualified, "rename": {said["name"]: new}, "path": function.path}
    read = f"rename the parameter `{said['name']}` of `{function.qualified}` to `{new}`"
    return Command("change_signature", call, read)


def _function_with(parameter: str, words: _Words, copy: WorkingCopy) -> Symbol:
    """The function with a parameter; among several, the one that the task names. Raises PlaceAmbiguous, UsageError."""
    every = list(_functions_with(parameter, copy.workspace.index))
    told = [s for s in every if words.every & {*s.qualified.split("."), s.path}] or every
    _require_one([f"{s.path}:{s.qualified}" for s in told], parameter)
    return told[0]


def _move(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    place = _place(said["name"], words, copy)
    if place.path == said["to_path"]:
        return None
    call = {"name": place.qualified, "to_path": said["to_path"], "path": place.path}
    return Command("move_symbol", call, f"move `{said['name']}` to `{said['to_path']}`")


def _move_file(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    new = said["new_path"] if "/" in said["new_path"] else f"{said['path'].rpartition('/')[0]}/{said['new_path']}"
    call = {"path": said["path"], "new_path": new.lstrip("/")}
    return Command("move_file", call, f"move `{call['path']}` to `{call['new_path']}`")


def _set(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    sites = sites_of(copy, SetValue(name=said["name"], value=said["value"], path=""))
    told = [site for site in sites if not is_test_path(site.path)] or sites
    told = [s for s in told if words.every & {s.path, *s.keys[:-1]}] or told
    told = [s for s in told if _bare(s) in words.literals] or told
    if not told:
        return None
    _require_one([f"{s.path}:{s.name}" for s in told], said["name"])
    if not told[0].is_plain or _bare(told[0]) == said["value"]:
        return None
    call = {"name": told[0].name, "value": said["value"], "path": told[0].path}
    return Command("set_value", call, f"set `{told[0].name}` to `{said['value']}`")


def _bare(site: ValueSite) -> str:
    return site.text.strip("\"'`")


def _replace_text(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    old = said["old"]
    new = said["new"]
    index = copy.workspace.index
    found = [(path, n) for path in index.files if (n := (index.text(path) or "").count(old))] if len(old) > 3 else []
    told = [each for each in found if each[0] in words.paths] or found
    if old == new or len(told) != 1:
        return None
    call = {"path": told[0][0], "old": old, "new": new, "count": told[0][1]}
    return Command("replace_text", call, f"replace `{old}` by `{new}` in `{told[0][0]}`")


def _delete(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    place = _place(said["name"], words, copy)
    call = {"path": place.path, "name": place.qualified, "code": ""}
    return Command("replace_symbol", call, f"delete `{said['name']}`")


def _new_definition(said: Mapping[str, str], words: _Words, copy: WorkingCopy) -> Command | None:
    index = copy.workspace.index
    if said["place"] in index.files:
        path = said["place"]
        owner = ""
    else:
        try:
            place = _place(said["place"], words, copy)
        except PlaceAmbiguous:
            return None
        path = place.path
        owner = place.qualified
    taken = {s.qualified for s in index.outline(path)}
    if f"{owner}.{said['name']}".lstrip(".") in taken or index.files[path].language not in _WRITTEN:
        return None
    call = {"path": path, "anchor": owner, "name": said["name"]}
    return Command(NEW_DEFINITION, call, f"add `{said['name']}` to `{owner or path}`")


def _place(name: str, words: _Words, copy: WorkingCopy) -> Symbol:
    """The definition with a name; among several, the one whose class, module or file the task names too.

    Raises:
        PlaceAmbiguous: several definitions are left.
        UsageError: no definition has the name.
    """
    try:
        return find_definition(copy, name)
    except SeveralFit as error:
        program = [c for c in error.choices if not is_test_path(c.partition(":")[0])] or list(error.choices)
        told = [c for c in program if words.every & {*re.split(r"[.:/]", c)[:-1], c.partition(":")[0]} - {name}]
        left = told or program
        _require_one(left, name)
        return find_definition(copy, left[0])


def _require_one(choices: list[str], name: str) -> None:
    if len(choices) != 1:
        hint = message("refactor_tools.choose", names=", ".join(choices[:MOST_WORDS]))
        raise PlaceAmbiguous(message("refactor_tools.several", name=name), hint, tuple(choices[:MOST_WORDS]))


_KINDS: Mapping[str, frozenset[str]] = {
    "rename_symbol": frozenset(("rename",)),
    "rename_parameter": frozenset(("rename", "change_signature")),
    "remove_parameter": frozenset(("change_signature", "delete")),
    "move_symbol": frozenset(("move",)),
    "move_file": frozenset(("move", "rename")),
    "delete_symbol": frozenset(("delete",)),
    NEW_DEFINITION: frozenset(("add",)),
}
"""The kinds of edit that a tool makes. A tool that isn't listed is offered for any kind: its arguments hold the old
text, which the index can confirm."""
_WRITTEN = ("python", "javascript", "typescript", "tsx", "go", "rust", "java", "ruby", "csharp", "kotlin", "php")
_Reader = Callable[[Mapping[str, str], _Words, WorkingCopy], Command | None]
_READERS: Mapping[str, _Reader] = {
    "rename_symbol": _rename,
    "rename_parameter": _rename_parameter,
    "remove_parameter": _remove_parameter,
    "move_symbol": _move,
    "move_file": _move_file,
    "set_value": _set,
    "replace_text": _replace_text,
    "delete_symbol": _delete,
    NEW_DEFINITION: _new_definition,
}
