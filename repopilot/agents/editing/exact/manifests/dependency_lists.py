"""Adds dependencies to the manifest of a project and removes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from repopilot import i18n
from repopilot.agents.editing.exact.entries import added_entry, removed_spans, sorted_position
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import task_paths
from repopilot.agents.editing.exact.manifests.config_additions import (
    add_json_object,
    add_pair,
    add_table,
    insert_json,
)
from repopilot.agents.editing.exact.manifests.manifest_tree import (
    ConfigPair,
    TomlTable,
    ini_values,
    pairs_of,
    tables_of,
)
from repopilot.agents.editing.exact.manifests.requirement_places import (
    RequirementPlace,
    places_in_manifest,
    requirement_places,
    same_requirement,
)
from repopilot.agents.editing.exact.manifests.requiring import (
    DEFAULT_OPERATORS,
    chosen_places,
    note_locks,
    same_group,
)
from repopilot.agents.editing.exact.manifests.version_specs import common_operator, following
from repopilot.agents.editing.exact.members import in_quotes_of
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.code.graph.import_resolver import family
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "Cargo.toml", "go.mod", "requirements.txt")


def add_dependency(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a dependency to the manifest of the project.

    Args:
        task: of kind add_dependency: the package in `name`, its version or requirement in `new`, perhaps the manifest
            in `places` and the group or extra in `extra`.
        sources: the files.

    Returns:
        The change; None where the project has no manifest that it could go into.

    Raises:
        GenerationFailed: it is there already, or its version has to be said.
    """
    named = [p for p in task_paths(task, sources) if sources.get(p) is not None]
    wanted = task.extra.get("group", "")
    for path, group in [(p, wanted) for p in named] or _candidates(wanted, sources):
        source = sources.get(path)
        adder = _adder(path)
        if source is None or adder is None:
            continue
        _check_absent(source, task, group)
        patch = Patch()
        if adder(source, task, group, patch):
            patch.edits.append(Edit("add_member", path, group or "dependencies", task.name))
            note_locks(list(places_in_manifest(source))[:1], sources, patch)
            return patch
    return None


def _candidates(group: str, sources: Sources) -> list[tuple[str, str]]:
    """The manifests and the group in each, likeliest first; tests may be among what development needs."""
    main = [(p, group) for p in _MANIFESTS if sources.get(p) is not None]
    if not group:
        return main
    found = []
    for name in (group, "dev") if same_group(group, "test") else (group,):
        files = [p for p in sources.workspace.index.files if re.search(r"requirements[^/]*(?:/[^/]+)?\.(?:txt|in)$", p)]
        of_group = sorted((p for p in files if same_group(re.split(r"[-_/.]", p)[-2], name)), key=len)
        own = ["pyproject.toml"] if _has_group(sources, "pyproject.toml", name) else []
        found += [(p, name) for p in [*own, *of_group]]
    return [*found, *main]


def _has_group(sources: Sources, path: str, group: str) -> bool:
    source = sources.get(path)
    if source is None:
        return False
    return _array(pairs_of(source), group) is not None or _poetry_table(source, group) is not None


def _check_absent(source: SourceText, task: ExactTask, group: str) -> None:
    for place in places_in_manifest(source):
        here = same_group(place.group, group) or (not group and place.group == "")
        if here and same_requirement(place.name, task.name, place.form):
            raise GenerationFailed(i18n.message("exact.already_there", name=task.name, path=source.path))


def _adder(path: str) -> Callable[[SourceText, ExactTask, str, Patch], bool] | None:
    name = posixpath.basename(path)
    adders = {
        "pyproject.toml": _add_to_pyproject,
        "setup.cfg": _add_to_ini,
        "setup.py": _add_to_setup,
        "package.json": _add_to_package,
        "Cargo.toml": _add_to_cargo,
        "go.mod": _add_to_go,
    }
    return adders.get(name) or (_add_line if name.endswith((".txt", ".in")) else None)


def _requirement(task: ExactTask, beside: Sequence[str], form: str) -> str:
    """The version of a new dependency in the way of the others; '' where the task says none."""
    default = common_operator((s for s in beside if s and s != "*"), DEFAULT_OPERATORS.get(form, ""))
    return following(task.new, "", default) or "" if task.new.strip() else ""


def _specs(source: SourceText, group: str) -> list[str]:
    found = [p for p in places_in_manifest(source) if p.form != "poetry" or p.name != "python"]
    return [p.spec for p in found if p.group == group] or [p.spec for p in found if p.group != "build-system"]


# Python


def _add_to_pyproject(source: SourceText, task: ExactTask, group: str, patch: Patch) -> bool:
    pairs = pairs_of(source)
    poetry = _poetry_table(source, group)
    array = _array(pairs, group)
    if array is None and poetry is not None:
        add_pair(source, poetry, task.name, f'"{_requirement(task, _specs(source, group), "poetry") or "*"}"', patch)
        return True
    text = task.name + _requirement(
        task, _specs(source, array.name[-1] if array is not None and group else ""), "pep508"
    )
    if array is not None:
        _add_to_array(source, array.value, text, patch)
        return True
    return _add_array(source, pairs, group, text, patch)


def _poetry_table(source: SourceText, group: str) -> TomlTable | None:
    """The table of Poetry that holds a group's dependencies."""
    for table in tables_of(source):
        if table.name[:2] != ("tool", "poetry") or table.name[-1] not in ("dependencies", "dev-dependencies"):
            continue
        own = table.name[3] if table.name[2] == "group" else "dev" if table.name[-1] == "dev-dependencies" else ""
        if own == group or (group and own and same_group(own, group)):
            return table
    return None


def _array(pairs: Sequence[ConfigPair], group: str) -> ConfigPair | None:
    """The array of a group or extra; for no group that of the project."""
    for pair in pairs:
        if pair.value.type != "array":
            continue
        if not group and pair.name == ("project", "dependencies"):
            return pair
        extra = pair.name[:2] == ("project", "optional-dependencies") or pair.name[:1] == ("dependency-groups",)
        if group and extra and same_group(pair.name[-1], group):
            return pair
    return None


def _add_to_array(source: SourceText, array: Node, text: str, patch: Patch) -> None:
    entries = [c for c in array.named_children if c.type != "comment"]
    written = [source.slice(e) for e in entries]
    names = [re.split(r"[^\w.-]", t.strip("\"'"))[0].lower() for t in written]
    at = sorted_position(names, re.split(r"[^\w.-]", text)[0].lower(), fewest=2)
    quoted = in_quotes_of(f'"{text}"', written)
    start, end, new = added_entry(source.data, array, entries, at, quoted)
    patch.replace(source.path, start, end, new)


def _add_array(source: SourceText, pairs: Sequence[ConfigPair], group: str, text: str, patch: Patch) -> bool:
    """Write the array of a group that has none yet, or of the project's dependencies."""
    tables = {t.name: t for t in tables_of(source)}
    if not group:
        project = tables.get(("project",))
        if project is None:
            return False
        before = [p for p in pairs if p.name[0] == "project" and p.name[-1] in ("requires-python", "classifiers")]
        last = max((p.node for p in before if len(p.name) == 2), key=lambda n: n.end_byte, default=None)
        add_pair(source, project, "dependencies", f'["{text}"]', patch, after=last)
        return True
    for name in (("dependency-groups",), ("project", "optional-dependencies")):
        if name in tables:
            add_pair(source, tables[name], group, f'["{text}"]', patch)
            return True
    if ("project",) not in tables:
        return False
    add_table(source, f'[dependency-groups]\n{group} = ["{text}"]', "project", patch)
    return True


def _add_to_setup(source: SourceText, task: ExactTask, group: str, patch: Patch) -> bool:
    """Add to a list of `setup.py` that has requirements already."""
    beside = [p for p in places_in_manifest(source) if p.node is not None and _fits(p.group, group)]
    holder = beside[0].node.parent if beside and beside[0].node is not None else None
    if holder is None:
        return False
    _add_to_array(source, holder, task.name + _requirement(task, [p.spec for p in beside], "pep508"), patch)
    return True


def _fits(own: str, group: str) -> bool:
    return own == group or bool(own and group and same_group(own, group))


def _add_to_ini(source: SourceText, task: ExactTask, group: str, patch: Patch) -> bool:
    for value in ini_values(source):
        runtime = not group and value.section == "options" and value.key == "install_requires"
        extra = group and value.section == "options.extras_require" and same_group(value.key, group)
        if (runtime or extra) and "\n" in value.text:
            text = task.name + _requirement(task, _specs(source, "" if runtime else value.key), "pep508")
            _add_row(source, value.start, value.text, text, patch)
            return True
    return False


def _add_row(source: SourceText, start: int, text: str, new: str, patch: Patch) -> None:
    """Add a line to a value of several lines, in its order where it has one."""
    rows = text.split("\n")
    used = [n for n, row in enumerate(rows) if row.strip() and not row.strip().startswith("#") and n]
    indent = rows[used[-1]][: len(rows[used[-1]]) - len(rows[used[-1]].lstrip())] if used else "    "
    names = [rows[n].strip().lower() for n in used]
    at = sorted_position(names, new.lower(), fewest=2)
    line = used[at] if at < len(used) else (used[-1] if used else 0) + 1
    offset = start + len("\n".join(rows[:line]).encode("utf-8"))
    patch.replace(source.path, offset, offset, f"\n{indent}{new}")


def _add_line(source: SourceText, task: ExactTask, _group: str, patch: Patch) -> bool:
    """Add a line to a file of requirements."""
    places = list(places_in_manifest(source))
    text = task.name + _requirement(task, [p.spec for p in places], "pep508")
    at = sorted_position([p.name.lower() for p in places], task.name.lower(), fewest=2)
    if at < len(places):
        patch.replace(source.path, places[at].line[0], places[at].line[0], f"{text}\n")
        return True
    end = places[-1].line[1] if places else len(source.data)
    gap = "\n" if source.data[:end] and not source.data[:end].endswith(b"\n") else ""
    patch.replace(source.path, end, end, f"{gap}{text}" + ("\n" if end == len(source.data) and not gap else ""))
    return True


# Other languages


def _add_to_package(source: SourceText, task: ExactTask, group: str, patch: Patch) -> bool:
    key = (
        "dependencies" if not group else group + "Dependencies" if group in ("peer", "optional") else "devDependencies"
    )
    text = f'"{task.name}": "{_requirement(task, _specs(source, _npm_group(key)), "npm") or "*"}"'
    pair = next((p for p in pairs_of(source) if p.name == (key,)), None)
    if pair is not None and pair.value.type == "object":
        entries = [c for c in pair.value.named_children if c.type == "pair"]
        names = [source.slice(e)[1:].partition('"')[0] for e in entries]
        at = sorted_position(names, task.name, fewest=2)
        insert_json(source, pair.value, entries, at, text, patch)
        return True
    return add_json_object(source, key, text, patch)


def _npm_group(key: str) -> str:
    return "" if key == "dependencies" else key.removesuffix("Dependencies")


def _add_to_cargo(source: SourceText, task: ExactTask, group: str, patch: Patch) -> bool:
    name = "dependencies" if not group else "build-dependencies" if group == "build" else "dev-dependencies"
    value = f'"{_requirement(task, _specs(source, ""), "cargo") or "*"}"'
    table = next((t for t in tables_of(source) if t.name == (name,)), None)
    if table is not None:
        add_pair(source, table, task.name, value, patch)
        return True
    end = len(source.data.rstrip(b"\n"))
    patch.replace(source.path, end, end, f"\n\n[{name}]\n{task.name} = {value}")
    return True


def _add_to_go(source: SourceText, task: ExactTask, _group: str, patch: Patch) -> bool:
    if not task.new.strip():
        raise GenerationFailed(i18n.message("exact.version_needed", name=task.name, path=source.path))
    version = task.new if task.new.startswith("v") else f"v{task.new}"
    places = [p for p in places_in_manifest(source) if p.line != (0, 0)]
    text = source.text
    block = re.search(r"^require\s*\(\n", text, re.M)
    if block is None:
        end = len(source.data.rstrip(b"\n"))
        patch.replace(source.path, end, end, f"\n\nrequire {task.name} {version}")
        return True
    first = len(text[: block.end()].encode("utf-8"))
    close = source.data.find(b"\n)", first - 1)
    inside = [p for p in places if first <= p.start < close]
    at = sorted_position([p.name for p in inside], task.name, fewest=2)
    offset = inside[at].line[0] if at < len(inside) else close + 1
    patch.replace(source.path, offset, offset, f"\t{task.name} {version}\n")
    return True


# Removal


def remove_dependency(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a dependency; where it stays, and what still imports it, is left open.

    Args:
        task: of kind remove_dependency: the package in `name`, perhaps the manifest and the group.
        sources: the files.

    Returns:
        The change; None where nothing requires it.

    Raises:
        GenerationFailed: the task names a manifest or group that doesn't have it.
    """
    every = [p for p in requirement_places(sources) if same_requirement(p.name, task.name, p.form)]
    found = chosen_places(every, task, sources)
    if not found:
        if every or task_paths(task, sources):
            where = ", ".join([*task_paths(task, sources), task.extra.get("group", "")]).strip(", ")
            raise GenerationFailed(i18n.message("exact.no_such_name_in", name=task.name, place=where))
        return None
    own = [p for p in found if p.group == ""]
    patch = Patch()
    for place in own or found:
        source = sources.get(place.path)
        if source is not None:
            start, end = _removed_span(source, place, own or found)
            patch.replace(place.path, start, end, "")
            patch.edits.append(Edit("remove_member", place.path, place.group or "dependencies", task.name))
    for other in every:
        source = sources.get(other.path)
        if other not in (own or found) and source is not None:
            patch.leave_open(source, other.start, i18n.message("exact.open.still_required"))
    _leave_imports_open(task.name, found[0].form, sources, patch)
    note_locks(own or found, sources, patch)
    return patch


def _removed_span(source: SourceText, place: RequirementPlace, gone: Sequence[RequirementPlace]) -> tuple[int, int]:
    """The bytes to remove for a requirement."""
    if place.node is None:
        return place.line[0], min(place.line[1] + 1, len(source.data))
    holder = place.node.parent
    if place.form in ("poetry", "cargo") and holder is not None and holder.type == "table":
        key = holder.named_child(0)
        if key is not None and source.slice(key).endswith(place.name):  # [dependencies.name]
            following_ = holder.next_named_sibling
            if following_ is not None:
                return holder.start_byte, following_.start_byte
            return len(source.data[: holder.start_byte].rstrip(b"\n")) + 1, len(source.data)
    if place.form in ("poetry", "cargo"):
        node = place.node
        while node.parent is not None and node.parent.type not in ("table", "document"):
            node = node.parent
        end = source.data.find(b"\n", node.end_byte)
        return node.start_byte, (end if end >= 0 else len(source.data) - 1) + 1
    entries = [c for c in holder.named_children if c.type != "comment"] if holder is not None else [place.node]
    at = next(n for n, e in enumerate(entries) if e.start_byte == place.node.start_byte)
    if place.form == "npm" and at == len(entries) - 1 and at:
        return entries[at - 1].end_byte, entries[at].end_byte
    return removed_spans(source.data, entries, {at})[0]


def _leave_imports_open(name: str, form: str, sources: Sources, patch: Patch) -> None:
    """List the imports of a package that is no longer required, where it is imported by its own name."""
    wanted = name.replace("-", "_").lower() if form in ("pep508", "poetry") else name
    reason = i18n.message("exact.open.no_longer_required", name=name)
    quoted = re.escape(name if form in ("npm", "go") else wanted)
    pattern = re.compile(
        rf"^[^\S\n]*(?:import|from|use)\s+{quoted}\b|\b(?:require\(|from|import)\s*['\"]{quoted}(?:/[^'\"]*)?['\"]|"
        rf"^[^\S\n]*(?:[\w.]+\s+)?\"{quoted}\"",
        re.M,
    )
    for path, info in sources.workspace.index.files.items():
        source = sources.get(path) if info.kind == "code" and family(info.language) else None
        for match in pattern.finditer(source.text) if source is not None and wanted in source.text else ():
            if source is not None:
                at = len(source.text[: match.end()].encode("utf-8"))
                patch.leave_open(source, at, reason)
