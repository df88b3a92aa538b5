"""Sets keys of TOML, YAML, JSON and INI files; all but the value stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import dotted, path_named, split_mention
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.agents.editing.exact.values.literals import OldValue, same_value, scaled, value_text
from repopilot.code.languages import file_kind
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.index.store import Index
from repopilot.types import Edit

_FORMATS = ("toml", "yaml", "json", "ini")
_TOML_KEY = re.compile(r"""\s*(?P<key>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*""")
_TOML_TABLE = re.compile(r"\s*\[{1,2}\s*(?P<table>[^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_INI_KEY = re.compile(r"(?P<key>[^\s=:#;\[][^=:]*?)\s*[=:]\s*(?P<value>.*?)(?P<comment>\s+[#;].*)?$")
_INI_SECTION = re.compile(r"\[(?P<section>[^\]]+)\]")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')


class ConfigKey(NamedTuple):
    """A key with a value of one line: its full name, and the characters of the value."""

    name: tuple[str, ...]
    start: int
    end: int


def config_value(task: ExactTask, sources: Sources) -> Patch | None:
    """Set a key of a configuration file that the task names.

    Args:
        task: of kind set_value.
        sources: the files.

    Returns:
        The change; None where the task names no such file, or the file has no such key.

    Raises:
        PlaceAmbiguous: several keys of the file end with the name.
        GenerationFailed: the value isn't what the task says it is.
    """
    path, wanted = _file_and_key(task, sources)
    source = sources.get(path) if path else None
    if source is None or task.kind == "set_default":
        return None
    text = source.text
    tables = [p.name.strip("[]") for p in task.places if path_named(p.name, sources.workspace.index) != path]
    found = [key for key in keys_of(text, source.language) if _fits(key, wanted, tables)]
    exact = [key for key in found if ".".join(key.name) == wanted] or found
    if len(exact) > 1:
        raise _ambiguous_key(path, wanted, exact)
    if not exact:
        return None
    return _with_value(exact[0], path, task, sources)


def _with_value(key: ConfigKey, path: str, task: ExactTask, sources: Sources) -> Patch | None:
    source = sources.get(path)
    assert source is not None
    text = source.text
    old = text[key.start : key.end]
    if task.old and not same_value(old, task.old):
        raise GenerationFailed(i18n.message("exact.other_value", name=task.name, value=old, expected=task.old))
    by = task.extra.get("by")
    new = scaled(old, by, task.new) if by else _new_value(task.new, old, source.language)
    if new is None:
        return None
    patch = Patch()
    start, end = (len(text[:at].encode("utf-8")) for at in (key.start, key.end))
    patch.replace(path, start, end, new)
    patch.edits.append(Edit("set_value", path, ".".join(key.name), new))
    return patch


def _new_value(new: str, old: str, language: str) -> str | None:
    if language == "ini" or (language == "yaml" and old[:1] not in "\"'[{"):
        plain = new.strip()
        if language == "yaml" and re.search(r"^[&*!|>%@`\[{]|: |\s#|:$", plain):
            return None
        return plain if "\n" not in plain else None
    return value_text(new, OldValue(old, language))


def _file_and_key(task: ExactTask, sources: Sources) -> tuple[str, str]:
    """The configuration file a task names, and the key."""
    index = sources.workspace.index
    if task.mention:
        path, name = split_mention(task.mention, index)
        if path and index.files[path].language in _FORMATS:
            return path, name or task.name
    for place in task.places:
        path_ = path_named(place.name, index)
        if path_ is not None and index.files[path_].language in _FORMATS and file_kind(path_) == "config":
            return path_, re.sub(r"\[[\"']?([^\]\"']+)[\"']?\]", r".\1", task.name).strip("\"'")
    name = dotted(task.name)
    if "." in name and not task.places and "pyproject.toml" in index.files and name.startswith(("tool.", "project.")):
        return "pyproject.toml", name
    known = "." not in name or task.places or index.symbols(name.rpartition(".")[2])
    holding = [] if known else [path for path in _root_files(index) if _has_key(path, name, sources)]
    return (holding[0], name) if len(holding) == 1 else ("", "")


def _root_files(index: Index) -> list[str]:
    return [p for p in index.files if "/" not in p and index.files[p].language in _FORMATS and file_kind(p) == "config"]


def _has_key(path: str, name: str, sources: Sources) -> bool:
    source = sources.get(path)
    return source is not None and any(".".join(key.name) == name for key in keys_of(source.text, source.language))


def _fits(key: ConfigKey, wanted: str, tables: list[str]) -> bool:
    full = ".".join(key.name)
    if not (full == wanted or full.endswith("." + wanted) or key.name[-1] == wanted):
        return False
    return all(full.startswith(f"{table}.") or f".{table}." in full for table in tables)


def _ambiguous_key(path: str, wanted: str, found: list[ConfigKey]) -> PlaceAmbiguous:
    return PlaceAmbiguous(
        i18n.message("exact.several_places", name=wanted, count=len(found)),
        i18n.message("exact.choose_place"),
        tuple(dict.fromkeys(f"{path}:{'.'.join(key.name)}" for key in found))[:12],
    )


def keys_of(text: str, language: str) -> Iterator[ConfigKey]:
    """The keys of a configuration whose values stand on one line.

    Args:
        text: of the file.
        language: toml, yaml, json or ini.
    """
    if language == "toml":
        yield from _toml_keys(text)
    elif language == "ini":
        yield from _ini_keys(text)
    elif language in ("yaml", "json"):
        yield from _yaml_keys(text)


def _toml_keys(text: str) -> Iterator[ConfigKey]:
    table: tuple[str, ...] = ()
    at = 0
    closing = ""
    for line in text.split("\n"):
        if closing:
            closing = "" if closing in line else closing
        elif header := _TOML_TABLE.match(line):
            table = _toml_name(header["table"])
        elif match := _TOML_KEY.match(line):
            end = _toml_end(line, match.end())
            value = line[match.end() : end]
            if opened := next((q for q in ('"""', "'''") if value.startswith(q) and value.count(q) == 1), ""):
                closing = opened
            elif value and not (value[0] in "[{" and value[-1] not in "]}"):
                yield ConfigKey((*table, *_toml_name(match["key"])), at + match.end(), at + end)
        at += len(line) + 1


def _toml_name(written: str) -> tuple[str, ...]:
    return tuple(p[1:-1] if p[0] in "\"'" else p for p in re.findall(r"\"[^\"]*\"|'[^']*'|[\w-]+", written))


def _toml_end(line: str, start: int) -> int:
    """Where a value ends: before a comment."""
    at = start
    while at < len(line):
        string = _STRING.match(line, at)
        if string:
            at = string.end()
        elif line[at] == "#":
            break
        else:
            at += 1
    return start + len(line[start:at].rstrip())


def _ini_keys(text: str) -> Iterator[ConfigKey]:
    section: tuple[str, ...] = ()
    at = 0
    for line in text.split("\n"):
        header = _INI_SECTION.match(line)
        match = None if header or line[:1].isspace() else _INI_KEY.match(line)
        if header:
            section = (header["section"],)
        elif match and match["value"]:
            yield ConfigKey((*section, match["key"].strip()), at + match.start("value"), at + match.end("value"))
        at += len(line) + 1


def _yaml_keys(text: str) -> Iterator[ConfigKey]:
    import yaml

    try:
        # Tabs may indent JSON, but not YAML; all positions stay as they are.
        documents = list(yaml.compose_all(text.replace("\t", " "), Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError):
        return
    pending: list[tuple[tuple[str, ...], yaml.Node]] = [((), d) for d in documents if d is not None]
    while pending:
        name, node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            pending += [((*name, str(k.value)), v) for k, v in reversed(node.value)]
        elif isinstance(node, yaml.SequenceNode) and node.start_mark.line != node.end_mark.line:
            pending += [((*name, str(number)), v) for number, v in reversed(list(enumerate(node.value)))]
        elif name and node.start_mark.line == node.end_mark.line and node.start_mark.index < node.end_mark.index:
            yield ConfigKey(name, node.start_mark.index, node.end_mark.index)
