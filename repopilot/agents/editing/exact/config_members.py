"""Adds entries to the lists and tables of JSON, TOML and YAML files, and removes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.deletion import delete
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, sorted_position
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.lines.removing_lines import remove_line
from repopilot.agents.editing.exact.locate import check_editable, dotted, path_named, task_paths
from repopilot.agents.editing.exact.manifests.manifest_tree import pairs_of, tables_of
from repopilot.agents.editing.exact.members import add_member, remove_member
from repopilot.agents.editing.exact.sources import ByteEdit, Patch, Sources, SourceText, spliced
from repopilot.agents.editing.exact.values.literals import is_number, is_string
from repopilot.code.syntax import parse_data
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.tools.file_change import PARSE_S
from repopilot.types import Edit

_PAIR = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w./@:*-]+?)\s*(?::\s+|:(?=[\"'\[{])|->|=>|=)\s*(?P<value>.+)", re.S)
_LITERAL = re.compile(r"true|false|null|\[.*\]|\{.*\}", re.S)
_WRITTEN = {"json", "toml", "yaml"}


class Listed(NamedTuple):
    """A list or table: its full name, the node that has the entries, and these."""

    name: str
    holder: Any
    entries: tuple[Any, ...]
    is_map: bool


def add_entry(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a member to a definition, or an entry to a configuration: see `add_config_member` and `add_member`."""
    return add_config_member(task, sources) or add_member(task, sources)


def remove_entry(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a member of a definition, or an entry of a configuration."""
    return remove_config_member(task, sources) or remove_member(task, sources)


def delete_key(task: ExactTask, sources: Sources) -> Patch | None:
    """Delete the only key of a name, plain or dotted, from a configuration file that the task names.

    Args:
        task: of kind delete or remove_line: the key in `new` or `name`, the file in `places` or `name`.
        sources: the files.

    Returns:
        The change; None where the task names no such file, or the file has no such key or several.
    """
    index = sources.workspace.index
    own = path_named(task.name, index)
    names = [task.new] if own is not None else [task.name]
    for path in [own] if own is not None else [path_named(p.name, index) for p in task.places]:
        source = sources.get(path) if path is not None else None
        if source is None or path is None or source.language not in _WRITTEN:
            continue
        wanted = names[0].strip("\"'` ")
        found = [
            (listed, at)
            for listed in _all(source)
            for at, key in enumerate(_names(source, listed) if listed.is_map else ())
            if key == wanted or (listed.name and f".{listed.name}.{key}".endswith(f".{wanted}") and "." in wanted)
        ]
        if len(found) == 1:
            check_editable(path, task, sources)
            listed, at = found[0]
            return _patched("remove_member", source, listed, _removed(source, listed, at), "")
    return None


def delete_entry(task: ExactTask, sources: Sources) -> Patch | None:
    """Delete a definition, or a key of a configuration."""
    return delete_key(task, sources) or delete(task, sources)


def remove_entry_line(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a line, or a key where the file is a configuration with a syntax of its own."""
    path = path_named(task.name, sources.workspace.index)
    source = sources.get(path) if path is not None else None
    if source is not None and source.language in _WRITTEN:
        return delete_key(task, sources)
    return remove_line(task, sources)


def add_config_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Add an entry to a list or table of a configuration file that the task names.

    Args:
        task: the entry in `new`, the list or table in `name`, the file in `places`.
        sources: the files.

    Returns:
        The change; None where the task names no such file or list, or the entry isn't certain.

    Raises:
        PlaceAmbiguous: several lists of the file have the name.
        GenerationFailed: the entry is there already.
    """
    found = _place(task, sources)
    if found is None:
        return None
    source, listed = found
    text = _entry_text(task.new.strip(), source, listed)
    if text is None:
        return None
    return _patched("add_member", source, listed, _added(source, listed, text), text)


def remove_config_member(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove an entry from a list or table of a configuration file that the task names.

    Args:
        task: the entry in `new`, the list or table in `name`, the file in `places`.
        sources: the files.

    Returns:
        The change; None where the task names no such file or list.

    Raises:
        PlaceAmbiguous: several lists of the file have the name.
        GenerationFailed: there is no such entry.
    """
    found = _place(task, sources)
    if found is None:
        return None
    source, listed = found
    wanted = _plain(task.new.strip())
    at = [n for n, name in enumerate(_names(source, listed)) if name == wanted]
    if not at:
        raise GenerationFailed(i18n.message("exact.no_such_name_in", name=wanted, place=listed.name or source.path))
    return _patched("remove_member", source, listed, _removed(source, listed, at[0]), "") if len(at) == 1 else None


def _patched(kind: str, source: SourceText, listed: Listed, change: ByteEdit | None, text: str) -> Patch | None:
    if change is None or not _is_sound(source, change):
        return None
    patch = Patch()
    patch.replace(source.path, *change)
    patch.edits.append(Edit(kind, source.path, listed.name, text))
    return patch


def _is_sound(source: SourceText, change: ByteEdit) -> bool:
    """Whether a configuration can be read after a change."""
    after = spliced(source.data, [change])
    if source.language == "yaml":
        return _yaml_root(after.decode("utf-8")) is not None
    tree = parse_data(after, "toml" if source.language == "toml" else "json", PARSE_S)
    return tree is not None and not tree.root_node.has_error


def _place(task: ExactTask, sources: Sources) -> tuple[SourceText, Listed] | None:
    """The file and the list that a task names."""
    index = sources.workspace.index
    name = task.name.strip("\"'[]")
    own = path_named(task.name, index)
    paths = [own] if own is not None else task_paths(task, sources)
    if not paths and dotted(name).startswith(("tool.", "project.")):
        paths = ["pyproject.toml"]
    for path in paths:
        source = sources.get(path)
        if source is None or source.language not in _WRITTEN:
            continue
        around = [p.name.strip("[]\"'") for p in task.places if path_named(p.name, index) is None]
        found = [x for x in _all(source) if _fits(x.name, "" if own is not None else name, around)]
        exact = [x for x in found if x.name == name] or found
        if len(exact) > 1:
            raise PlaceAmbiguous(
                i18n.message("exact.several_places", name=name, count=len(exact)),
                i18n.message("exact.choose_place"),
                tuple(f"{path}:{x.name}" for x in exact[:12]),
            )
        if exact:
            check_editable(path, task, sources)
            return source, exact[0]
    return None


def _fits(full: str, wanted: str, around: Sequence[str]) -> bool:
    return (full == wanted or (bool(wanted) and full.endswith(f".{wanted}"))) and all(
        f".{full}.".find(f".{owner}.") >= 0 for owner in around
    )


def _all(source: SourceText) -> list[Listed]:
    if source.language == "yaml":
        root = _yaml_root(source.text)
        return list(_yaml_lists(root, ())) if root is not None else []
    found = []
    for pair in pairs_of(source):
        entries = tuple(c for c in pair.value.named_children if c.type != "comment")
        if pair.value.type in ("array", "object", "inline_table"):
            found.append(Listed(".".join(pair.name), pair.value, entries, pair.value.type != "array"))
    for table in tables_of(source):
        pairs = tuple(c for c in table.node.named_children if c.type == "pair")
        if table.node.type == "table":
            found.append(Listed(".".join(table.name), table.node, pairs, True))
    if source.language == "json" and (top := _json_top(source)) is not None:
        entries = tuple(c for c in top.named_children if c.type != "comment")
        found.append(Listed("", top, entries, top.type == "object"))
    return found


def _json_top(source: SourceText) -> Node | None:
    pairs = pairs_of(source)
    return pairs[0].node.parent if pairs else None


def _names(source: SourceText, listed: Listed) -> list[str]:
    if source.language == "yaml":
        return [str((e[0] if listed.is_map else e).value) for e in listed.entries]
    keys = [e.named_children[0] if listed.is_map and e.named_children else e for e in listed.entries]
    return [_plain(source.slice(k)) for k in keys]


def _plain(text: str) -> str:
    match = _PAIR.fullmatch(text)
    text = match["key"] if match is not None and not is_string(text) and not re.match(r"\w+://", text) else text
    return text[1:-1] if is_string(text) else text


def _entry_text(new: str, source: SourceText, listed: Listed) -> str | None:
    """The text of a new entry as its siblings are written; None where it isn't clear."""
    names = _names(source, listed)
    if not listed.is_map:
        texts = _texts(source, listed.entries)
        text = _value(new, texts, source)
        if text is not None and (text[1:-1] if is_string(text) else text) in names:
            raise GenerationFailed(i18n.message("exact.already_there", name=text, path=source.path))
        return text
    match = _PAIR.fullmatch(new)
    if match is None:
        return None
    key = match["key"].strip("\"'")
    if key in names:
        raise GenerationFailed(i18n.message("exact.already_there", name=key, path=source.path))
    values = (
        [e[1] for e in listed.entries] if source.language == "yaml" else [e.named_children[-1] for e in listed.entries]
    )
    value = _value(match["value"].strip(), _texts(source, values), source)
    if value is None:
        return None
    if source.language == "json":
        return f'"{key}": {value}'
    if source.language == "yaml":
        return f"{key}: {value}" if re.fullmatch(r"[\w./-]+", key) else f'"{key}": {value}'
    return f"{key} = {value}" if re.fullmatch(r"[\w-]+", key) else f'"{key}" = {value}'


def _texts(source: SourceText, nodes: Sequence[Any]) -> list[str]:
    if source.language == "yaml":
        return [source.text[n.start_mark.index : n.end_mark.index].rstrip() for n in nodes]
    return [source.slice(n) for n in nodes]


def _value(new: str, siblings: Sequence[str], source: SourceText) -> str | None:
    """A value: a string in the quotes of its siblings, unless it is clearly something else."""
    quotes = [t[-1] for t in siblings if is_string(t)]
    plain = new[1:-1] if is_string(new) else new
    literal = not is_string(new) and (is_number(new) or _LITERAL.fullmatch(new) is not None)
    if literal and not (siblings and len(quotes) == len(siblings)):
        return new
    if literal and new[0] in "[{":
        return None
    if "\n" in plain or "\\" in plain:
        return None
    if source.language == "yaml":
        if siblings and len(quotes) == len(siblings):
            return f"{quotes[-1]}{plain}{quotes[-1]}" if quotes[-1] not in plain else None
        special = re.search(r"^[-?:,\[\]{}#&*!|>'\"%@`\s]|: |\s#|[:\s]$", plain)
        ambiguous = is_number(plain) or re.fullmatch(r"true|false|null|yes|no|on|off|~", plain, re.I)
        return f'"{plain}"' if (special or (ambiguous and is_string(new))) and '"' not in plain else plain
    quote = max(set(quotes), key=quotes.count) if quotes and source.language == "toml" else '"'
    return f"{quote}{plain}{quote}" if quote not in plain else None


def _added(source: SourceText, listed: Listed, text: str) -> ByteEdit | None:
    names = _names(source, listed)
    key = text.partition("=" if source.language == "toml" else ":")[0] if listed.is_map else text
    at = sorted_position(names, key.strip().strip("\"'"), fewest=4)
    if source.language == "yaml":
        return _into_yaml(source, listed, at, text)
    if listed.holder.type == "table":
        return _into_table(source, listed, at, text)
    if not listed.entries and listed.holder.type == "object":
        return None
    return ByteEdit(*added_entry(source.data, listed.holder, listed.entries, at, text))


def _into_table(source: SourceText, listed: Listed, at: int, text: str) -> ByteEdit | None:
    if not listed.entries:
        end = source.data.find(b"\n", listed.holder.start_byte)
        return ByteEdit(end, end, f"\n{text}") if end >= 0 else None
    if at < len(listed.entries):
        start = source.data.rfind(b"\n", 0, listed.entries[at].start_byte) + 1
        return ByteEdit(start, start, f"{text}\n")
    end = source.data.find(b"\n", listed.entries[-1].end_byte)
    end = end if end >= 0 else len(source.data)
    return ByteEdit(end, end, f"\n{text}")


def _removed(source: SourceText, listed: Listed, at: int) -> ByteEdit | None:
    if source.language == "yaml":
        return _out_of_yaml(source, listed, at)
    if listed.holder.type == "table":
        entry = listed.entries[at]
        start = source.data.rfind(b"\n", 0, entry.start_byte) + 1
        end = source.data.find(b"\n", entry.end_byte)
        return ByteEdit(start, end + 1 if end >= 0 else len(source.data), "")
    if at == len(listed.entries) - 1 and at and source.language == "json":
        return ByteEdit(listed.entries[at - 1].end_byte, listed.entries[at].end_byte, "")
    start, end = removed_spans(source.data, listed.entries, {at})[0]
    return ByteEdit(start, end, "")


# YAML


def _yaml_root(text: str) -> Any | None:
    import yaml

    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError):
        return None
    return documents[0] if len(documents) == 1 else None


def _yaml_lists(root: Any, name: tuple[str, ...]) -> Any:
    import yaml

    if isinstance(root, yaml.MappingNode):
        yield Listed(".".join(name), root, tuple(root.value), True)
        for key, value in root.value:
            yield from _yaml_lists(value, (*name, str(key.value)))
    elif isinstance(root, yaml.SequenceNode):
        yield Listed(".".join(name), root, tuple(root.value), False)
        for number, value in enumerate(root.value):
            yield from _yaml_lists(value, (*name, str(number)))


def _last_mark(node: Any) -> Any:
    """Where the text of a node ends: that of its last part."""
    import yaml

    if node.value and not isinstance(node, yaml.ScalarNode) and not node.flow_style:
        last = node.value[-1]
        return _last_mark(last[1] if isinstance(last, tuple) else last)
    return None if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") else node.end_mark


def _into_yaml(source: SourceText, listed: Listed, at: int, text: str) -> ByteEdit | None:
    entries = [e[0] if listed.is_map else e for e in listed.entries]
    whole = source.text
    if not entries:
        return None
    if listed.holder.flow_style:
        if at < len(entries):
            start = _offset(whole, entries[at].start_mark.index)
            return ByteEdit(start, start, f"{text}, ")
        last = listed.entries[-1][1] if listed.is_map else entries[-1]
        end = _offset(whole, last.end_mark.index)
        one_line = listed.holder.start_mark.line == listed.holder.end_mark.line
        return ByteEdit(end, end, f", {text}") if one_line else None
    row = whole.split("\n")[entries[0].start_mark.line]
    prefix = row[: entries[0].start_mark.column]
    if not re.fullmatch(r"\s*" if listed.is_map else r"\s*-\s+", prefix):
        return None
    if at < len(entries):
        start = _offset(whole, whole.rfind("\n", 0, entries[at].start_mark.index) + 1)
        return ByteEdit(start, start, f"{prefix}{text}\n")
    mark = _last_mark(listed.holder)
    if mark is None:
        return None
    end = whole.find("\n", mark.index)
    end = _offset(whole, end if end >= 0 else len(whole))
    return ByteEdit(end, end, f"\n{prefix}{text}")


def _out_of_yaml(source: SourceText, listed: Listed, at: int) -> ByteEdit | None:
    whole = source.text
    first, last = listed.entries[at] if listed.is_map else (listed.entries[at],) * 2
    if len(listed.entries) == 1:
        return None
    if listed.holder.flow_style:
        if at:
            before = listed.entries[at - 1]
            start = (before[1] if listed.is_map else before).end_mark.index
            return ByteEdit(_offset(whole, start), _offset(whole, last.end_mark.index), "")
        after = listed.entries[1][0] if listed.is_map else listed.entries[1]
        return ByteEdit(_offset(whole, first.start_mark.index), _offset(whole, after.start_mark.index), "")
    mark = _last_mark(last)
    start = whole.rfind("\n", 0, first.start_mark.index) + 1
    before_text = whole[start : first.start_mark.index]
    if mark is None or not re.fullmatch(r"\s*(?:-\s+)?", before_text) or (listed.is_map and "-" in before_text):
        return None
    end = whole.find("\n", mark.index)
    return ByteEdit(_offset(whole, start), _offset(whole, end + 1 if end >= 0 else len(whole)), "")


def _offset(text: str, at: int) -> int:
    return len(text[:at].encode("utf-8"))
