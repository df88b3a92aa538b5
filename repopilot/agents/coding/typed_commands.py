"""Typed commands: a tool with its arguments, such as `/rename old new`. Renaming, setting and moving can also be typed
in a plain form, in English and in French.

There is one plain form each, without synonyms: understanding sentences is a model's job.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repopilot.code.languages import dotted
from repopilot.errors import UsageError
from repopilot.i18n import message

_LABEL = r"(?:\[[^\[\]\n]{1,40}\]:?\s*|\w{1,20}(?:\([^()\n]{1,40}\))?!?:\s+)*"
"""Labels at the start of the title of an issue or a commit: `[Feature] `, `refactor(core)!: `."""
_SYMBOL_KIND = (
    r"(?:(?:the )?(?:function|method|class|variable|constant|field|attribute|property|fixture|type|interface|struct|"
    r"enum|trait|macro) |(?:la |le |l['’])?(?:fonction|méthode|classe|variable|constante|champ|attribut|propriété|type|"
    r"interface|structure|énumération|trait|macro) )?"
)
_SUBJECT = rf"{_SYMBOL_KIND}(?P<name>\S+)(?: (?:in|dans) (?P<path>\S*[./]\S*))?"
_NEW_NAME = r"(?P<new>\S+?)"
_NEW_VALUE = r"""(?P<new>\S+?|"[^"]*"|'[^']*'|\[.*\]|\{.*\}|\(.*\))"""
_NEW_PLACE = r"(?P<new>\S*[./]\S*[^\s.])"
_PLAIN = tuple(
    (
        command,
        re.compile(rf"{_LABEL}(?:{verb}) {_SUBJECT} (?:{word}) {new}(?: (?:in|dans) (?P<file>\S*?[./]\S*?))?\.?", re.I),
    )
    for command, verb, word, new in (
        ("rename", "rename|renomme[rz]?", "to|into|as|en|->|=>|→", _NEW_NAME),
        ("set", "set|mets|mettre|mettez", "to|à", _NEW_VALUE),
        ("move", "move|d[ée]place[rz]?", "to|into|vers|dans", _NEW_PLACE),
    )
)
"""The plain forms: verb, name, file, and new name, value or place; the file may also come last."""
_QUOTES = "`'\"“”‘’«»"
_NAME = re.compile(rf"[{_QUOTES}]?(?:@?[\w./-]+:)?(?:[\w.$/-]|::|->|#)*\w(?:\(\))?[{_QUOTES}]?")
_GREP_OPTION = re.compile(r"(?:-[iF]|-g\s+(\S+))\s+")
_SLASH = re.compile(r"/(\w+)(?:\s+(.*))?\Z", re.S)


@dataclass(frozen=True, slots=True)
class Command:
    """A call of a tool that a message asks for. `text` is the command as it would be typed, or says how a small model
    has read the message."""

    tool: str
    arguments: Mapping[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class CommandForm:
    """How a command is typed.

    Attributes:
        tool: the tool that it calls.
        usage: shows how it is typed.
        read: turns its words into arguments.
        icon: a Lucide name.
        completed: how many of its first words name existing things; only these are completed while they are typed.
        words: splits the text behind the command into words.
    """

    tool: str
    usage: str
    read: Callable[[list[str]], dict[str, Any]]
    icon: str
    completed: int = 1
    words: Callable[[str], list[str]] = shlex.split


def read_command(text: str) -> Command | None:
    """The command that a message is; None for any other message.

    Args:
        text: as the user typed it.

    Raises:
        UsageError: it begins like a command and isn't one; the hint shows how it is typed.
    """
    typed = text.strip()
    plain = ((command, pattern.fullmatch(typed)) for command, pattern in _PLAIN)
    typed = next((_slashed(command, found) for command, found in plain if found), typed)
    found = _SLASH.fullmatch(typed)
    form = FORMS.get(found[1]) if found else None
    if found is None or form is None:
        return None
    rest = (found[2] or "").strip()
    try:
        return Command(form.tool, form.read([word for word in form.words(rest) if word]), typed)
    except (ValueError, IndexError) as error:
        raise UsageError(message("commands.wrong", command=f"/{found[1]}"), form.usage) from error


def is_command(text: str) -> bool:
    """Whether a text is a command, or begins like one."""
    try:
        return read_command(text) is not None
    except UsageError:
        return True


def _slashed(command: str, found: re.Match[str]) -> str:
    """The slash command for a plain form; the text itself where a name isn't a name of code, or two files are named."""
    new = found["new"]
    paths = [path for path in (found["path"], found["file"]) if path]
    named = [*paths, found["name"], *([] if command == "set" else [new])]
    if len(paths) > 1 or not all(_NAME.fullmatch(name) for name in named):
        return found[0]
    bare = [name.strip(_QUOTES).removesuffix("()") for name in named]
    subject = ":".join(bare[: len(paths) + 1])
    return f"/{command} {subject} {new if command == 'set' else bare[-1]}"


def _named(words: list[str], *names: str) -> dict[str, Any]:
    """The words as arguments of these names; a place `path:Symbol` gives the path as well."""
    if len(words) != len(names):
        raise ValueError(words)
    given = dict(zip(names, words, strict=True))
    path, colon, name = dotted(given.get("name", "").lstrip("@")).rpartition(":")
    return {**given, "name": name, "path": path} if colon else given


def _grep(words: list[str]) -> dict[str, Any]:
    """The options as in ripgrep, and the pattern as typed, without quotes around all of it."""
    (rest,) = words
    options: dict[str, str] = {}
    while found := _GREP_OPTION.match(rest):
        options[found[0][:2]] = found[1] or ""
        rest = rest[found.end() :]
    pattern = rest[1:-1] if len(rest) > 2 and rest[0] == rest[-1] and rest[0] in "\"'" else rest
    regex = "-F" not in options
    if "-i" in options:
        pattern = f"(?i){pattern if regex else re.escape(pattern)}"
        regex = True
    return {"pattern": pattern, "glob": options.get("-g", "*"), "regex": regex}


def _related(words: list[str]) -> dict[str, str]:
    (name,) = words
    return {"name": name.lstrip("@")}


def _signature(words: list[str]) -> dict[str, Any]:
    """`function +new=default -gone old:new`."""
    given = _named(words[:1], "name")
    changes: dict[str, Any] = {"add": [], "remove": [], "rename": {}}
    for word in words[1:]:
        if word.startswith("+"):
            name, _, default = word[1:].partition("=")
            changes["add"].append({"name": name, "default": default})
        elif word.startswith("-"):
            changes["remove"].append(word[1:])
        else:
            old, colon, new = word.partition(":")
            if not colon:
                raise ValueError(word)
            changes["rename"][old] = new
    return given | {key: value for key, value in changes.items() if value}


FORMS: Mapping[str, CommandForm] = {
    "rename": CommandForm(
        "rename_symbol", "/rename OLD NEW", lambda words: _named(words, "name", "new_name"), "pencil"
    ),
    "set": CommandForm(
        "set_value",
        "/set NAME VALUE",
        lambda words: _named(words, "name", "value"),
        "equal",
        words=lambda rest: rest.split(maxsplit=1),
    ),
    "move": CommandForm(
        "move_symbol", "/move NAME PATH", lambda words: _named(words, "name", "to_path"), "move-right", completed=2
    ),
    "signature": CommandForm(
        "change_signature", "/signature NAME +NEW=DEFAULT -GONE OLD:NEW", _signature, "parentheses"
    ),
    "imports": CommandForm("organize_imports", "/imports PATH", lambda words: _named(words, "path"), "list-ordered"),
    "grep": CommandForm("grep", "/grep [-i] [-F] [-g GLOB] PATTERN", _grep, "regex", 0, lambda rest: [rest]),
    "callers": CommandForm("callers", "/callers NAME", _related, "corner-down-left"),
    "callees": CommandForm("callees", "/callees NAME", _related, "corner-down-right"),
    "references": CommandForm("references", "/references NAME", _related, "link"),
    "wiki": CommandForm("wiki", "/wiki", _named, "book-marked", 0),
    "history": CommandForm("history", "/history PATH", lambda words: _named(words, "path"), "history"),
}
"""The commands by the word behind the slash."""
EDITS = frozenset(("rename_symbol", "set_value", "move_symbol", "change_signature", "organize_imports"))
