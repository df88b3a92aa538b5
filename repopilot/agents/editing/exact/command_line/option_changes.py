"""Changes options that Python declares for the command line with argparse, optparse, click or typer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry, removed_spans
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, task_paths
from repopilot.agents.editing.exact.members import in_quotes_of
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.python.calls import arguments_of, keyword_of
from repopilot.agents.editing.exact.python.name_uses import name_table
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.literals import OldValue, is_number, is_string, same_value, value_text
from repopilot.code.languages import is_example_path, is_test_path
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_DECLARING = re.compile(r"(?:^|\.)(?:add_argument|add_option|option|Option|make_option)$")
_IN_HELP = r"(?P<said>\bdefault(?:s to|ing to|:| is|=)? *[:=(]? *[`'\"]{{0,2}}){}(?P<end>[`'\"]{{0,2}}(?![\w.]*\w))"


class DeclaredOption(NamedTuple):
    """An option: its file, the call that declares it, its spellings, and the call's other arguments by name."""

    source: SourceText
    call: Node
    spellings: tuple[Node, ...]
    given: dict[str, Node]

    def text(self, name: str) -> str:
        """The value of an argument as it is written; '' where it isn't given."""
        return self.source.slice(self.given[name]) if name in self.given else ""

    @property
    def listed(self) -> Node:
        """The argument list of the call."""
        listed = self.call.child_by_field_name("arguments")
        assert listed is not None
        return listed

    @property
    def arguments(self) -> list[Node]:
        """All arguments of the call."""
        return arguments_of(self.listed)


def change_option(task: ExactTask, sources: Sources) -> Patch | None:
    """Change the option that a task names.

    Args:
        task: of one of the kinds that `option_wish` reads.
        sources: the files.

    Returns:
        The change; None where no Python code declares the option, or several places do, or the value doesn't fit.

    Raises:
        GenerationFailed: it is so already.
    """
    paths = task_paths(task, sources)
    found = [option for option in declared_options(task.name, sources) if not paths or option.source.path in paths]
    commands = [place.name for place in task.places if place.what == "function"]
    found = [option for option in found if not commands or _command_of(option) in commands]
    if len(found) != 1:
        return None
    option = found[0]
    check_editable(option.source.path, task, sources)
    patch = Patch()
    change = {
        "option_default": _set_default,
        "option_help": _set_help,
        "option_alias": _add_alias,
        "option_rename": _rename,
        "option_required": _require,
        "option_optional": _make_optional,
        "option_choice": _add_choice,
    }[task.kind]
    kind = change(option, task, sources, patch)
    if not kind:
        return None
    patch.edits.append(Edit(kind, option.source.path, task.name, task.new))
    return patch


def declared_options(flag: str, sources: Sources) -> Iterator[DeclaredOption]:
    """Where Python code outside of tests declares an option.

    Args:
        flag: one of its spellings.
        sources: the files.
    """
    for path in sources.mentioning(flag, ("python",)):
        source = sources.get(path) if not is_test_path(path) and not is_example_path(path) else None
        for match in _spelling(flag).finditer(source.data) if source is not None else ():
            option = _option_around(source, match.start()) if source is not None else None
            if option is not None and any(_spelled(option, s) == flag for s in option.spellings):
                yield option


def is_declared(flag: str, sources: Sources) -> bool:
    """Whether Python code outside of tests declares an option."""
    return any(True for _ in declared_options(flag, sources))


def _command_of(option: DeclaredOption) -> str:
    """The command that an option is declared for: the decorated function, or what its parser is called for."""
    source, around = option.source, option.call.parent
    while around is not None and around.type != "decorated_definition":
        around = around.parent
    definition = around.child_by_field_name("definition") if around is not None else None
    label = definition.child_by_field_name("name") if definition is not None else None
    if label is not None:
        return source.slice(label)
    function = option.call.child_by_field_name("function")
    parser = source.slice(function).rpartition(".")[0] if function is not None else ""
    made = (
        re.search(rf"\b{re.escape(parser)}\s*=\s*[\w.]+\.add_parser\(\s*[\"']([\w-]+)", source.text) if parser else None
    )
    return made[1] if made is not None else ""


def _spelling(flag: str) -> re.Pattern[bytes]:
    """Finds an option in text, and no longer one."""
    return re.compile(rb"(?<![\w-])%b(?![\w-])" % re.escape(flag.encode("utf-8")))


def _spelled(option: DeclaredOption, node: Node) -> str:
    return option.source.slice(node).strip("\"'")


def _option_around(source: SourceText, at: int) -> DeclaredOption | None:
    node = source.root.descendant_for_byte_range(at, at) if source.root is not None else None
    while node is not None and node.type in ("string", "string_content", "string_start"):
        node = node.parent
    call = node.parent if node is not None and node.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    if call is None or node is None or function is None or not _DECLARING.search(source.slice(function)):
        return None
    arguments = arguments_of(node)
    plain = [a for a in arguments if a.type == "string"]
    named = {k: v for a in arguments if (k := keyword_of(source, a)) and (v := a.child_by_field_name("value"))}
    return DeclaredOption(source, call, tuple(plain), named)


def _set_default(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    old = option.text("default")
    new = _default_text(option, task.new, old)
    if not new:
        return ""
    if same_value(old, new):
        raise GenerationFailed(i18n.message("exact.already_there", name=new, path=option.source.path))
    _put(option, "default", new, patch)
    helped = option.given.get("help")
    if helped is not None and old:
        said = re.compile(_IN_HELP.format(re.escape(old.strip("\"'"))), re.I)
        text = option.source.slice(helped)
        changed = said.sub(lambda m: f"{m['said']}{new.strip(chr(34) + chr(39))}{m['end']}", text)
        if changed != text:
            patch.replace(option.source.path, helped.start_byte, helped.end_byte, changed)
    return "set_value"


def _default_text(option: DeclaredOption, written: str, old: str) -> str:
    """A default as code; '' where it isn't clear which type it has."""
    value = written.strip("`")
    if old and old != "None":
        return value_text(value, OldValue(old, "python")) or ""
    if is_number(value) or is_string(value) or value in ("True", "False", "None"):
        return value
    of_text = option.text("type") in ("", "str") and not option.text("action").strip("\"'").startswith("store_")
    return in_quotes_of(f'"{value}"', [option.source.slice(s) for s in option.spellings]) if of_text else ""


def _set_help(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    text = task.new[1:-1].strip()  # without its quotes
    old = option.given.get("help")
    value = _constant(option, old) or old if old is not None else None
    beside = [option.source.slice(node) for node in ((value,) if value is not None else option.spellings)]
    beside = beside if any(map(is_string, beside)) else [option.source.slice(s) for s in option.spellings]
    literal = in_quotes_of(f'"{text}"', beside) if not re.search(r"[\"'\\]", text) else repr(text)
    if same_value(option.text("help"), literal):
        raise GenerationFailed(i18n.message("exact.already_there", name=literal, path=option.source.path))
    _put(option, "help", literal, patch)
    return "change_text"


def _require(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    if option.text("required") == "True":
        raise GenerationFailed(i18n.message("exact.already_there", name="required=True", path=option.source.path))
    if "default" in option.given and option.text("default") != "None":
        return ""  # a default that nobody gets any more
    _put(option, "required", "True", patch)
    return "set_value"


def _make_optional(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    if option.text("required") != "True":
        raise GenerationFailed(i18n.message("exact.already_there", name="required=False", path=option.source.path))
    gone = {n for n, a in enumerate(option.arguments) if keyword_of(option.source, a) == "required"}
    for start, end in removed_spans(option.source.data, option.arguments, gone):
        patch.replace(option.source.path, start, end, "")
    return "set_value"


def _put(option: DeclaredOption, name: str, text: str, patch: Patch) -> None:
    """Give an argument of the declaration a value."""
    source, value = option.source, option.given.get(name)
    if value is not None:
        value = _constant(option, value) or value
        patch.replace(source.path, value.start_byte, value.end_byte, text)
        return
    _insert(option, len(option.arguments), f"{name}={text}", patch)


def _insert(option: DeclaredOption, at: int, text: str, patch: Patch) -> None:
    """Add an argument to the declaration, as the one of a number."""
    source = option.source
    patch.replace(source.path, *added_entry(source.data, option.listed, option.arguments, at, text))


def _constant(option: DeclaredOption, value: Node) -> Node | None:
    """What a name stands for that the file gives a text or number at its top, and that only this option uses."""
    if value.type != "identifier":
        return None
    table = name_table(option.source, option.source.slice(value))
    bound = [use.node.parent for use in table.uses if use.binds]
    assigned = bound[0] if len(bound) == 1 and len(table.uses) == 2 else None
    right = assigned.child_by_field_name("right") if assigned is not None and assigned.type == "assignment" else None
    literals = ("string", "integer", "float", "concatenated_string", "parenthesized_expression")
    return right if right is not None and right.type in literals else None


def _add_alias(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    """Add a spelling where other options have theirs: a short one before or behind the long one."""
    source = option.source
    alias = task.new.strip("`\"'")
    taken = [o for o in declared_options(alias, sources) if o.source.path == source.path]
    if taken:
        raise GenerationFailed(i18n.message("exact.already_there", name=alias, path=source.path))
    own = next(s for s in option.spellings if _spelled(option, s) == task.name)
    flags = [s for s in option.spellings if _spelled(option, s).startswith("-")]
    first = _is_short(alias) and _short_ones_first(source)
    at = option.arguments.index(flags[0]) if first else option.arguments.index(flags[-1]) + 1
    _insert(option, at, in_quotes_of(f'"{alias}"', [source.slice(own)]), patch)
    return "add_member"


def _is_short(flag: str) -> bool:
    return not flag.startswith("--")


def _short_ones_first(source: SourceText) -> bool:
    """Whether a file writes `"-o", "--output"` and not the other way round."""
    flag = r"[\"']{}[A-Za-z][\w-]*[\"']"
    short, long = flag.format("-"), flag.format("--")
    count = [len(re.findall(rf"{a}\s*,\s*{b}", source.text)) for a, b in ((short, long), (long, short))]
    return count[0] >= count[1]


def _rename(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    """Rename an option in all texts but those of past releases; the variable that holds its value keeps its name.

    A name of one word is that of other programs' options, too: where it stands is left to the user.
    """
    new = task.new.strip("`\"'")
    if is_declared(new, sources):
        raise GenerationFailed(i18n.message("exact.already_there", name=new, path=option.source.path))
    if _is_short(task.name) != _is_short(new):
        return ""
    _keep_variable(option, task.name, new, patch)
    spelling = _spelling(task.name)
    own = next(s for s in option.spellings if _spelled(option, s) == task.name)
    patch.replace(option.source.path, own.start_byte + 1, own.end_byte - 1, new)
    for path in sources.mentioning(task.name) if not _is_short(task.name) else ():
        other = sources.get(path) if not is_history(path) else None
        for match in spelling.finditer(other.data) if other is not None else ():
            if "-" in task.name.lstrip("-"):
                patch.replace(path, match.start(), match.end(), new)
            elif other is not None and (path, match.start()) != (option.source.path, own.start_byte + 1):
                patch.leave_open(other, match.start(), i18n.message("exact.open.option"))
    return "rename"


def _keep_variable(option: DeclaredOption, flag: str, new: str, patch: Patch) -> None:
    """Say the name of the variable where it would follow the option's: the first long one, of click the longest."""
    source = option.source
    spelled = [_spelled(option, s) for s in option.spellings]
    after = [new if s == flag else s for s in spelled]
    if "dest" in option.given or any(s.isidentifier() for s in spelled):
        return
    function = option.call.child_by_field_name("function")
    of_parser = function is not None and source.slice(function).endswith(("add_argument", "add_option"))
    before, now = (_variable(flags, longest=not of_parser) for flags in (spelled, after))
    if before == now:
        return
    name = in_quotes_of(f'"{before}"', [source.slice(option.spellings[0])])
    if of_parser:
        _put(option, "dest", name, patch)
        return
    _insert(option, option.arguments.index(option.spellings[-1]) + 1, name, patch)


def _variable(flags: Sequence[str], *, longest: bool) -> str:
    """The name by which code gets an option's value, where the declaration doesn't say it."""
    long = [flag for flag in flags if not _is_short(flag)] or list(flags)
    chosen = max(long, key=len) if longest else long[0]
    return chosen.lstrip("-").replace("-", "_")


def _add_choice(option: DeclaredOption, task: ExactTask, sources: Sources, patch: Patch) -> str:
    listed = _choices(option)
    if listed is None:
        return ""
    entries: Sequence[Node] = [c for c in listed.named_children if c.type != "comment"]
    texts = [option.source.slice(e) for e in entries]
    value = task.new.strip("`")
    if texts and all(is_string(t) for t in texts):
        value = in_quotes_of(value if is_string(value) else f'"{value}"', texts)
    elif not is_number(value):
        return ""
    if any(same_value(value, text) for text in texts):
        raise GenerationFailed(i18n.message("exact.already_there", name=value, path=option.source.path))
    patch.replace(option.source.path, *added_entry(option.source.data, listed, entries, len(entries), value))
    return "add_member"


def _choices(option: DeclaredOption) -> Node | None:
    """The list of what an option accepts: of argparse, or in `click.Choice`."""
    value = option.given.get("choices") or option.given.get("type")
    if value is not None and value.type == "call" and option.source.slice(value).partition("(")[0].endswith("Choice"):
        arguments = value.child_by_field_name("arguments")
        value = arguments.named_child(0) if arguments is not None else None
    return value if value is not None and value.type in ("list", "tuple", "set") else None
