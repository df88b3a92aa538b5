"""Scripts of tool calls that make a task's reference change: how a developer with the toolbox would do it. Pure.

A rename, a move or a changed signature is read from the definitions before and after the reference patch, what the
patch does beside it is a text replaced. So a script holds no more than the reference: whether the tools can do it is
what `bench.tools` measures.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from repopilot.code.python_ast import parse_python

Texts = Mapping[str, str | None]
LONGEST_WORD = 40
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
CONTEXT_LINES = 3
"""Around a hunk, as git shows it. What stands closer together is one hunk."""
MOST_CONTEXT = 20
"""Lines around a hunk that are taken in to tell its place from others."""


class Call(NamedTuple):
    """A tool and its arguments."""

    name: str
    arguments: dict[str, Any]


class Definition(NamedTuple):
    """A definition in Python: its parameters with their defaults, None where it is no function."""

    parameters: tuple[tuple[str, str | None], ...] | None


def refactorings(before: Texts, after: Texts) -> list[Call]:
    """The renames, moves and changed signatures of Python that lead from one state to the other.

    Args:
        before: the text of every file that the reference changes, by path; None for one that it adds.
        after: the same after the patch; None for one that it deletes.
    """
    files = [*_moved_files(before, after)]
    renamed = {call.arguments["path"]: call.arguments["new_path"] for call in files}
    before = {renamed.get(path, path): text for path, text in before.items() if text is not None}
    before |= dict.fromkeys(path for path in after if path not in before and path not in renamed)
    after = {path: text for path, text in after.items() if path not in renamed}
    old = {path: definitions(text) for path, text in before.items() if path.endswith(".py")}
    new = {path: definitions(text) for path, text in after.items() if path.endswith(".py")}
    gone = {(path, name) for path, names in old.items() for name in names.keys() - new[path].keys()}
    come = {(path, name) for path, names in new.items() for name in names.keys() - old[path].keys()}
    moves = [*_moves(gone, come)]
    taken = {(call.arguments["path"], call.arguments["name"]) for call in moves}
    renames = [*_renames(_tops(gone - taken), _tops(come), before, after)]
    return [*files, *moves, *renames, *_signatures(old, new)]


def definitions(text: str | None) -> dict[str, Definition]:
    """The functions, classes and assigned names of a module, by qualified name; {} for what doesn't parse."""
    try:
        tree = parse_python(text or "")
    except SyntaxError:
        return {}
    return dict(_defined(tree, ""))


def _defined(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, Definition(_parameters(child.args))
        elif isinstance(child, ast.ClassDef):
            yield prefix + child.name, Definition(None)
            yield from _defined(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from ((prefix + t.id, Definition(None)) for t in targets if isinstance(t, ast.Name))
        elif isinstance(child, ast.If | ast.Try):
            yield from _defined(child, prefix)


def _parameters(arguments: ast.arguments) -> tuple[tuple[str, str | None], ...]:
    plain = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(plain) - len(arguments.defaults))
    defaults = [*without, *map(ast.unparse, arguments.defaults)]
    keywords = [
        (each.arg, ast.unparse(d) if d else None)
        for each, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return (*((each.arg, d) for each, d in zip(plain, defaults, strict=True)), *keywords)


def _moved_files(before: Texts, after: Texts) -> Iterator[Call]:
    """Files that are gone and came elsewhere with nearly the same text."""
    come = {path: text for path, text in after.items() if text is not None and before.get(path) is None}
    for path, text in before.items():
        if text is not None and after.get(path) is None:
            near = max(come, key=lambda other: _likeness(text, come[other]), default="")
            if near and _likeness(text, come[near]) > 0.5:
                yield Call("move_file", {"path": path, "new_path": near})


def _moves(gone: set[tuple[str, str]], come: set[tuple[str, str]]) -> Iterator[Call]:
    for path, name in sorted(gone):
        to = [other for other, new in come if new == name and other != path]
        if "." not in name and to:
            yield Call("move_symbol", {"name": name, "to_path": to[0], "path": path})


def _tops(names: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without what is inside another one of them."""
    return sorted(n for n in names if not any(n[0] == o[0] and n[1].startswith(f"{o[1]}.") for o in names))


def _renames(gone: list[tuple[str, str]], come: list[tuple[str, str]], before: Texts, after: Texts) -> Iterator[Call]:
    """Each definition that is gone, with the most similar one that came in its place."""
    left = list(come)
    for path, name in gone:
        owner = name.rpartition(".")[0]
        rivals = [each for each in left if each[0] == path and each[1].rpartition(".")[0] == owner]
        if rivals:
            source = _source(before[path], name)
            best = max(rivals, key=lambda each: _likeness(source, _source(after[path], each[1])))
            left.remove(best)
            yield Call("rename_symbol", {"name": name, "new_name": best[1].rpartition(".")[2], "path": path})


def _source(text: str | None, name: str) -> str:
    node: ast.AST = parse_python(text or "")
    for part in name.split("."):
        named = (n for n in ast.walk(node) if getattr(n, "name", None) == part or part in _assigned(n))
        node = next(named, node)
    return ast.unparse(node)


def _assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _signatures(old: Mapping[str, dict[str, Definition]], new: Mapping[str, dict[str, Definition]]) -> Iterator[Call]:
    for path, names in old.items():
        for name, definition in names.items():
            changed = new[path].get(name)
            if changed is None or definition.parameters is None or changed.parameters is None:
                continue
            if call := _signature(name, path, dict(definition.parameters), dict(changed.parameters)):
                yield call


def _signature(name: str, path: str, before: dict[str, str | None], after: dict[str, str | None]) -> Call | None:
    removed, added = [p for p in before if p not in after], [p for p in after if p not in before]
    renamed = {}
    for one in list(removed):
        same = [p for p in added if list(after).index(p) == list(before).index(one) and after[p] == before[one]]
        if same:
            renamed[one] = same[0]
            removed.remove(one)
            added.remove(same[0])
    kept = [p for p in after if p in before]
    moved = [p for p, was in zip(kept, [p for p in before if p in after], strict=True) if p != was]
    if not (removed or added or renamed or moved):
        return None
    new = [{"name": p, "default": after[p] or ""} for p in added]
    return Call(
        "change_signature",
        {"name": name, "path": path, "add": new, "remove": removed, "rename": renamed, "order": moved},
    )


def replacements(now: Texts, after: Texts) -> list[Call]:
    """The calls that make texts of what they are into what they shall be, one for each hunk or file."""
    calls: list[Call] = []
    for path, wanted in sorted(after.items()):
        current = now.get(path)
        if wanted is None and current is not None:
            calls.append(Call("delete_file", {"path": path}))
        elif wanted is not None and current is None:
            calls.append(Call("create_file", {"path": path, "content": wanted}))
        elif wanted is not None and current is not None and wanted != current:
            calls += _everywhere(path, current, wanted) or _hunks(path, current, wanted)
    return calls


def _everywhere(path: str, current: str, wanted: str) -> list[Call]:
    """One call that replaces a text wherever it stands, where that is all the difference."""
    old, new = _difference(current, wanted)
    for more in range(len(current)):
        start = max(0, current.find(old) - more) if old else -1
        if start < 0 or more > LONGEST_WORD:
            return []
        word = current[start : start + more + len(old)]
        better = word[:more] + new
        if word.strip() and current.replace(word, better) == wanted:
            return [Call("replace_text", {"path": path, "old": word, "new": better, "count": current.count(word)})]
    return []


def _difference(current: str, wanted: str) -> tuple[str, str]:
    """The first word that differs, before and after."""
    matcher = difflib.SequenceMatcher(None, _WORD.findall(current), _WORD.findall(wanted), autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            return "".join(_WORD.findall(current)[i1:i2]), "".join(_WORD.findall(wanted)[j1:j2])
    return "", ""


def _hunks(path: str, current: str, wanted: str) -> Iterator[Call]:
    old, new = current.splitlines(keepends=True), wanted.splitlines(keepends=True)
    groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)
    for group in groups:
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        first, last = i1, i2
        more = 0
        while current.count("".join(old[first:last])) > 1 and more < MOST_CONTEXT:
            more += 1
            first, last = max(0, i1 - more), min(len(old), i2 + more)
        replaced = "".join([*old[first:i1], *new[j1:j2], *old[i2:last]])
        yield Call("replace_text", {"path": path, "old": "".join(old[first:last]), "new": replaced})
