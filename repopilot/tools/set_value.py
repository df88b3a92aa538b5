"""Sets a value where it is defined: a constant, a parameter's default, an attribute, a key of TOML, YAML or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import yaml
from pydantic import Field

from repopilot.code.formats.data_formats import from_toml
from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import file_kind, language_of
from repopilot.code.value_sites import DATA, ValueSite, keys_of, only_differs_at, sites_in
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.tools import result_types
from repopilot.tools.file_change import syntax_error
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.verifying.edit_check import faults, observed, told
from repopilot.tools.working_copy import WorkingCopy

MOST_NAMED = 20
_CONSTANTS = ("null", "none", "true", "false", "nil", "undefined")
_YAML_MARKS = tuple("[{&*!|>%@`\"'")
"""A value that begins with one of these isn't a plain scalar in YAML."""
_OPENING = re.compile(r"(\w{0,2}@?#*)(\"\"\"|'''|\"|'|`)")


class SetValue(Arguments):
    """What gets which value."""

    name: str = Field(description="a constant, Class.attribute, function.parameter, or a dotted key of a data file")
    value: str = Field(description="the new value, as code")
    path: str = Field("", description="the file, where several define the name")


@in_thread
def set_value(arguments: SetValue, context: ToolContext) -> ToolResult:
    """Set a constant, a parameter's default, an attribute or a key of a data file, when only a value changes."""
    copy = context.working_copy
    found = sites_of(copy, arguments)
    if not found:
        raise UsageError(message("value_tools.none", name=arguments.name), message("value_tools.none_hint"))
    if len(found) > 1:
        hint = message("refactor_tools.choose", names=", ".join(_told_apart(found, copy)[:MOST_NAMED]))
        raise UsageError(message("value_tools.several", name=arguments.name), hint)
    site = found[0]
    old = copy.text(site.path) or ""
    new = with_value(site, arguments.value, old)
    names = [key for key in site.keys[-1:] if file_kind(site.path) == "code" and key.isidentifier()]
    before = observed(copy, names, [site.path] if names else ())
    diff = shown_diffs(copy.edit({site.path: new}))
    wrong = faults(copy, before)
    line = old.encode()[: site.start].count(b"\n") + 1
    left = [{"path": one.path, "line": one.line, "text": one.said} for one in wrong]
    facts = {"path": site.path, "name": site.name, "line": line, "diff": diff, "left": left, "done": not wrong}
    said = [message("refactor_tools.newly_wrong"), *told(wrong)] if wrong else []
    return ToolResult("\n".join([diff or message("edit_tools.same"), *said]), facts)


def _told_apart(sites: list[ValueSite], copy: WorkingCopy) -> list[str]:
    """The names of several values, each with its file, and with its line where the file has several of that name."""
    names = [f"{site.path}:{site.name}" for site in sites]
    lines = [(copy.text(site.path) or "").encode().count(b"\n", 0, site.start) + 1 for site in sites]
    return [
        name if names.count(name) == 1 else message("value_tools.at_line", name=name, line=line)
        for name, line in zip(names, lines, strict=True)
    ]


def sites_of(copy: WorkingCopy, arguments: SetValue) -> list[ValueSite]:
    """The values that have the name; of several in one file only the one with exactly that full name. Blocking.

    Raises:
        UsageError: there is no file of that path.
    """
    path = arguments.path
    name = arguments.name
    before, colon, behind = name.partition(":")
    if colon and not path and before in copy.paths():
        path = before
        name = behind
    found = list(_sites(copy, name, path))
    whole = [site for site in found if ".".join(site.keys) == ".".join(keys_of(name))]
    return whole if len(whole) == 1 and len({site.path for site in found}) == 1 else found


def with_value(site: ValueSite, value: str, text: str) -> str:
    """A file's text with another value, and nothing else changed.

    Args:
        site: the value.
        value: the new value.
        text: of the file.

    Raises:
        UsageError: the file would not parse any more, or something else in it would change.
    """
    data = text.encode()
    for written in _candidates(value, site):
        new = (data[: site.start] + written.encode() + data[site.end :]).decode()
        if not only_differs_at(site, text, new, len(written.encode())):
            continue
        fine = _reads(site.path, new) or not _reads(site.path, text)
        if fine and (syntax_error(site.path, new) is None or syntax_error(site.path, text) is not None):
            return new
    raise UsageError(message("value_tools.no_value", value=value, path=site.path), message("value_tools.no_value_hint"))


def _reads(path: str, text: str) -> bool:
    """Whether the usual parser accepts a data file; True for other files."""
    bare = text.removeprefix("\ufeff")
    try:
        match language_of(path):
            case "toml":
                from_toml(bare.replace("\r\n", "\n"))
            case "json":
                json.loads(bare)
            case "yaml":
                for _ in yaml.compose_all(bare, yaml.SafeLoader):
                    pass
    except (ValueError, yaml.YAMLError, RecursionError):
        return False
    return True


def _candidates(value: str, site: ValueSite) -> Iterator[str]:
    """The ways to write a value in place of another, the likeliest first."""
    bare = value.strip()
    language = language_of(site.path) or ""
    unquoted = bare[1:-1] if _is_quoted(bare) else bare
    if language == "ini":
        yield as_written(unquoted, site)
        return
    header = re.match(r"[|>].*\n+([ \t]*)", site.text) if language == "yaml" else None
    if header is not None and not _is_quoted(bare):
        lines = value.strip("\n").split("\n")
        yield header[0] + "\n".join(header[1] + line if line else "" for line in lines).removeprefix(header[1])
        return
    yield as_written(bare, site)
    if language in DATA and (site.is_text or (language == "yaml" and bare[:1] not in _YAML_MARKS)):
        yield json.dumps(unquoted, ensure_ascii=False)


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] in "\"'`" and text[-1] == text[0]


def as_written(value: str, site: ValueSite) -> str:
    """A value as it is written in place of another: in the quotes of the old string, where it has none of its own."""
    bare = value.strip()
    if not site.is_text or bare.lower() in _CONSTANTS or _is_quoted(bare):
        return bare
    opening = _OPENING.match(site.text)
    if opening is None:
        return bare
    prefix = opening[1]
    mark = opening[2]
    language = language_of(site.path)
    closing = mark + "#" * prefix.count("#")
    if language == "yaml" and mark == "'":
        return f"'{bare.replace(mark, mark * 2)}'"
    as_it_is = "r" in prefix.lower() or "@" in prefix or mark == "`" or (mark == "'" and language == "toml")
    if as_it_is or len(mark) > 1:
        return f"{opening[0]}{bare}{closing}"
    inner = bare.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\n", "\\n")
    return f"{opening[0]}{inner}{mark}"


def _sites(copy: WorkingCopy, name: str, path: str) -> Iterator[ValueSite]:
    last = (keys_of(name) or (name,))[-1].partition("[")[0].rpartition(".")[2]
    for file in [path] if path else copy.paths():
        if not path and (file_kind(file) not in ("code", "config", "schema") or is_notebook(file)):
            continue
        text = copy.text(file) if path else copy.workspace.index.text(file)
        if text is None:
            if path:
                raise UsageError(message("tools.unknown_file", path=path))
            continue
        if last in text:
            yield from (site for site in sites_in(file, copy.text(file) or "") if site.is_called(name))


TOOLS = (Tool("set_value", SetValue, "edit", set_value, result_types.ValueSet),)
