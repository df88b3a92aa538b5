"""Sets what a project's manifests say about it: description, license, author, addresses, keywords, scripts."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import task_paths
from repopilot.agents.editing.exact.manifests.config_additions import add_json_object, add_pair, add_table, insert_json
from repopilot.agents.editing.exact.manifests.manifest_tree import (
    ConfigPair,
    ini_values,
    inner_span,
    pairs_of,
    strings_in,
    tables_of,
)
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.values.literals import same_value
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_FIELDS = {
    "description": "description", "summary": "description", "license": "license", "licence": "license",
    "author": "author", "authors": "author", "homepage": "homepage", "home page": "homepage", "url": "homepage",
    "website": "homepage", "repository": "repository", "documentation": "documentation", "keywords": "keywords",
    "name": "name", "readme": "readme", "script": "script", "scripts": "script", "entry point": "script",
    "command": "script",
}  # fmt: skip
_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "Cargo.toml")
_URLS = {
    "homepage": ("homepage", "home", "website", "home-page"),
    "repository": ("repository", "source", "source code", "github", "code", "source-code"),
    "documentation": ("documentation", "docs"),
}
_SETUP_NAMES = {"homepage": "url", "readme": "long_description"}
_BEFORE = ("version", "name", "description", "readme", "requires-python", "license")


class FieldTask(NamedTuple):
    """A field, its new value, and the old one that the task expects ('' for any)."""

    field: str
    new: str
    old: str


def project_field(task: ExactTask, sources: Sources) -> Patch | None:
    """Set a field of the project's manifests, or add it.

    Args:
        task: of kind project_field: the field in `name`, its value in `new`; for a script `name = what it runs`.
        sources: the files.

    Returns:
        The changes; None for another field, or where no manifest has a place for it.

    Raises:
        GenerationFailed: it has that value already, or another than the task says.
    """
    field = _FIELDS.get(task.name.lower().strip())
    new = re.sub(r"^`([^`]*)`$", r"\1", task.new.strip()).strip()
    if field is None or not new:
        return None
    wanted = FieldTask(field, new, task.old.strip().strip("`"))
    paths = task_paths(task, sources) or [p for p in _MANIFESTS if sources.get(p) is not None]
    patch, same = Patch(), ""
    found = [source for p in paths if (source := sources.get(p)) is not None]
    for source in found:
        spots = list(_spots(source, wanted))
        for start, end, text in spots:
            old = source.data[start:end].decode("utf-8")
            _check_old(wanted, old)
            if old == text:
                same = source.path
            else:
                patch.replace(source.path, start, end, text)
                patch.edits.append(Edit("set_value", source.path, field, text))
    if same and not patch.edits:
        raise GenerationFailed(i18n.message("exact.already_there", name=new, path=same))
    if not patch.edits:
        added = next((source for source in found if _add(source, wanted, patch)), None)
        if added is None:
            return None
        patch.edits.append(Edit("set_value", added.path, field, new))
    return patch


def _check_old(wanted: FieldTask, old: str) -> None:
    if wanted.old and not same_value(wanted.old, old) and wanted.old not in old:
        raise GenerationFailed(
            i18n.message("exact.other_value", name=wanted.field, value=old[:80], expected=wanted.old)
        )


def _spots(source: SourceText, wanted: FieldTask) -> Iterator[tuple[int, int, str]]:
    """The bytes of the field in a manifest, and the text that they become."""
    name = posixpath.basename(source.path)
    if name == "setup.cfg":
        yield from _in_ini(source, wanted)
    elif name == "setup.py":
        yield from _in_setup(source, wanted)
    else:
        for pair in pairs_of(source):
            if _is_field(source, pair, wanted):
                yield from _value(source, pair, wanted)


def _root(name: str) -> tuple[tuple[str, ...], ...]:
    """The tables of a manifest that describe the project."""
    return {
        "pyproject.toml": (("project",), ("tool", "poetry")),
        "Cargo.toml": (("package",), ("workspace", "package")),
    }.get(name, ((),))


def _is_field(source: SourceText, pair: ConfigPair, wanted: FieldTask) -> bool:
    for root in _root(posixpath.basename(source.path)):
        if pair.name[: len(root)] != root:
            continue
        rest = pair.name[len(root) :]
        if wanted.field == "script":
            key, _ = _script(wanted.new)
            return rest in (("scripts", key), ("gui-scripts", key))
        if wanted.field == "author":
            return rest in (("author",), ("authors",))
        if wanted.field in _URLS and len(rest) == 2 and rest[0] == "urls":
            return rest[1].lower() in _URLS[wanted.field]
        if rest in ((wanted.field,), (wanted.field, "text"), (wanted.field, "url")):
            return True
    return False


def _script(text: str) -> tuple[str, str]:
    """The name of a script, and what it runs."""
    match = re.fullmatch(r"[\"']?(?P<name>[\w.:-]+?)[\"']?\s*(?:=|:\s|->|=>)\s*(?P<runs>.+)", text, re.S)
    return (match["name"], match["runs"].strip().strip("\"'")) if match else ("", "")


def _value(source: SourceText, pair: ConfigPair, wanted: FieldTask) -> Iterator[tuple[int, int, str]]:
    value = pair.value
    if wanted.field == "keywords" and value.type == "array":
        yield value.start_byte, value.end_byte, _array(source, value, _keywords(wanted.new))
    elif wanted.field == "author":
        yield from _author(source, value, wanted)
    elif value.type == "string":
        start, end = inner_span(source, value)
        new = _script(wanted.new)[1] if wanted.field == "script" else _plain(wanted.new)
        yield start, end, _escaped(new, source.data[value.start_byte : value.start_byte + 1] == b"'")


def _plain(text: str) -> str:
    match = re.fullmatch(r"([\"'])(.*)\1", text, re.S)
    return match[2] if match else text


def _escaped(text: str, literal: bool) -> str:
    return text if literal else text.replace("\\", "\\\\").replace('"', '\\"')


def _keywords(text: str) -> list[str]:
    inside = text.strip("[]")
    return [_plain(part.strip()) for part in inside.split(",") if part.strip()]


def _array(source: SourceText, array: Node, words: Sequence[str]) -> str:
    """An array in the way of an old one: on one line, or a line for each entry."""
    old = strings_in(array)
    quote = source.slice(old[0])[0] if old else '"'
    quoted = [f"{quote}{w}{quote}" for w in words]
    if array.start_point[0] == array.end_point[0] or not old:
        return f"[{', '.join(quoted)}]"
    row = source.line_text(old[0].start_point[0] + 1)
    indent = row[: len(row) - len(row.lstrip())]
    tail = source.data[old[-1].end_byte : array.end_byte].decode("utf-8")
    comma = "," if "," in tail else ""
    last = source.line_text(array.end_point[0] + 1)
    close = last[: len(last) - len(last.lstrip())]
    return "[\n" + ",\n".join(f"{indent}{q}" for q in quoted) + f"{comma}\n{close}]"


def _author(source: SourceText, value: Node, wanted: FieldTask) -> Iterator[tuple[int, int, str]]:
    """The one author of a project; where there are several it isn't clear who is to go."""
    name, email = _person(wanted.new)
    if value.type == "string":
        start, end = inner_span(source, value)
        yield start, end, _plain(wanted.new)
        return
    entries = [c for c in value.named_children if c.type != "comment"] if value.type == "array" else []
    if len(entries) == 1 and entries[0].type == "string":
        start, end = inner_span(source, entries[0])
        yield start, end, _plain(wanted.new)
    elif len(entries) == 1 and entries[0].type == "inline_table":
        written = f'{{ name = "{name}"' + (f', email = "{email}"' if email else "") + " }"
        spaced = source.slice(entries[0]).startswith("{ ")
        yield (
            entries[0].start_byte,
            entries[0].end_byte,
            written if spaced else written.replace("{ ", "{").replace(" }", "}"),
        )


def _person(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"(?P<name>[^<]*?)\s*(?:<(?P<email>[^>]+)>)?", _plain(text))
    return (match["name"], match["email"] or "") if match else (text, "")


def _in_ini(source: SourceText, wanted: FieldTask) -> Iterator[tuple[int, int, str]]:
    key = _SETUP_NAMES.get(wanted.field, wanted.field)
    for value in ini_values(source):
        if value.section == "metadata" and value.key in (key, wanted.field) and "\n" not in value.text:
            yield value.start, value.end, _plain(wanted.new)


def _in_setup(source: SourceText, wanted: FieldTask) -> Iterator[tuple[int, int, str]]:
    """A keyword argument of `setup()` that is a plain string."""
    key = _SETUP_NAMES.get(wanted.field, wanted.field)
    pattern = re.compile(rb"^[ \t]+" + key.encode() + rb"[ \t]*=[ \t]*([\"'])(?P<value>[^\"'\n]*)\1", re.M)
    for match in pattern.finditer(source.data):
        quote = match[1].decode("utf-8")
        yield *match.span("value"), _plain(wanted.new).replace("\\", "\\\\").replace(quote, f"\\{quote}")


def _add(source: SourceText, wanted: FieldTask, patch: Patch) -> bool:
    """Add a field that a manifest doesn't have."""
    name = posixpath.basename(source.path)
    if any(_is_field(source, pair, wanted) for pair in pairs_of(source)):
        return False  # it has it, in a form that isn't clear
    if name == "package.json":
        return _add_to_json(source, wanted, patch)
    if name not in ("pyproject.toml", "Cargo.toml"):
        return False
    tables = {t.name: t for t in tables_of(source)}
    root = next((r for r in _root(name) if r in tables), None)
    if root is None:
        return False
    if wanted.field == "script" or (wanted.field in _URLS and root == ("project",)):
        return _add_to_table(source, wanted, root, patch)
    key = "authors" if wanted.field == "author" else wanted.field
    pairs = [c for c in tables[root].node.named_children if c.type == "pair"]
    before = [p for p in pairs if source.slice(p.named_children[0]) in _BEFORE]
    add_pair(source, tables[root], key, _toml_value(wanted, root), patch, after=before[-1] if before else pairs[-1])
    return True


def _toml_value(wanted: FieldTask, root: tuple[str, ...]) -> str:
    if wanted.field == "keywords":
        return json.dumps(_keywords(wanted.new), ensure_ascii=False)
    if wanted.field == "author" and root == ("project",):
        name, email = _person(wanted.new)
        return f'[{{ name = "{name}"' + (f', email = "{email}"' if email else "") + " }]"
    quoted = f'"{_escaped(_plain(wanted.new), False)}"'
    return f"[{quoted}]" if wanted.field == "author" else quoted


def _add_to_table(source: SourceText, wanted: FieldTask, root: tuple[str, ...], patch: Patch) -> bool:
    """Into the table of scripts or addresses, which is made where there is none."""
    if wanted.field == "script":
        key, new = _script(wanted.new)
        table = "scripts"
        if not key or root[0] not in ("project", "tool"):
            return False
    else:
        key, new, table = wanted.field.capitalize(), _plain(wanted.new), "urls"
    full = (*root, table)
    found = next((t for t in tables_of(source) if t.name == full), None)
    if found is not None:
        pairs = [c for c in found.node.named_children if c.type == "pair"]
        lower = bool(pairs) and all(source.slice(p.named_children[0]).strip('"')[:1].islower() for p in pairs)
        add_pair(source, found, key.lower() if lower and table == "urls" else key, f'"{new}"', patch)
        return True
    add_table(source, f'[{".".join(full)}]\n{key} = "{new}"', ".".join(root), patch)
    return True


def _add_to_json(source: SourceText, wanted: FieldTask, patch: Patch) -> bool:
    pairs = pairs_of(source)
    if wanted.field == "script":
        key, runs = _script(wanted.new)
        holder = next((p.value for p in pairs if p.name == ("scripts",) and p.value.type == "object"), None)
        text = f'"{key}": {json.dumps(runs, ensure_ascii=False)}'
        if not key:
            return False
        if holder is None:
            return add_json_object(source, "scripts", text, patch)
        entries = [c for c in holder.named_children if c.type == "pair"]
        insert_json(source, holder, entries, len(entries), text, patch)
        return True
    top = [p for p in pairs if len(p.name) == 1]
    before = [n for n, p in enumerate(top) if p.name[0] in _BEFORE]
    if not top or top[0].node.parent is None:
        return False
    value: str | list[str] = _keywords(wanted.new) if wanted.field == "keywords" else _plain(wanted.new)
    text = f'"{wanted.field}": {json.dumps(value, ensure_ascii=False)}'
    at = before[-1] + 1 if before else len(top)
    start, end, new = added_entry(source.data, top[0].node.parent, [p.node for p in top], at, text)
    patch.replace(source.path, start, end, new)
    return True
