"""A pack of whole folders: a tree with the tokens of each file, then every file whole, in the order of the paths.

The files are those of the index: files that it skips are counted, not packed. Packs of the same commit, folders and
budget are byte-identical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.index.store import Index
from repopilot.redaction.redact import redacted
from repopilot.repo.paths.path_rules import usefulness
from repopilot.retrieval.context_pack import ContextPack, piece, with_tokens
from repopilot.retrieval.pack import CountTokens
from repopilot.types import Excerpt


def folder_pack(
    index: Index, folders: Sequence[str], empty: ContextPack, count_tokens: CountTokens, form: str = "markdown"
) -> ContextPack:
    """Make a pack of every indexed file in some folders.

    Args:
        index: the index of the files.
        folders: their paths, or those of files; `.` is the whole repository.
        empty: the pack without files, see `empty_pack`. No file is cut to fit its budget: one that doesn't fit is left
            out, and the most useful folders come first.
        count_tokens: counts the tokens of a text.
        form: `markdown`, `xml` or `json`, which the pack is to be rendered in.

    Raises:
        UsageError: there is no such folder, or not even the tree fits.
    """
    wanted = tuple(dict.fromkeys(_plain(folder) for folder in folders))
    skips = [skip for skip in index.report.skipped if _inside(skip.path, wanted)]
    paths = sorted((path for path in index.files if _inside(path, wanted)), key=lambda path: path.split("/"))
    for folder in wanted:
        if not any(_inside(path, (folder,)) for path in (*paths, *(skip.path for skip in skips))):
            raise UsageError(i18n.message("repo.no_such_folder", folder=folder), i18n.message("repo.check_spelling"))
    files = {path: _whole(number, path, index.text(path) or "") for number, path in enumerate(paths, 1)}
    costs = {path: count_tokens(piece(each, form)) for path, each in files.items()}
    reasons = Counter(i18n.translated(skip.reason, "en") for skip in skips)
    notes = [_note("pack_skipped", count=count, reason=reason) for reason, count in sorted(reasons.items())]
    empty = replace(empty, folders=wanted, files=costs)
    budget = empty.budget

    def packed(chosen: Collection[str]) -> ContextPack:
        left_out = costs.keys() - set(chosen)
        said = [_note("pack_left_out", count=len(left_out), budget=budget)] if left_out else []
        excerpts = tuple(each for path, each in files.items() if path not in left_out)
        made = replace(empty, excerpts=excerpts, left_out=len(left_out), notes=(*said, *notes))
        return with_tokens(replace(made, tree=token_tree(costs, left_out)), count_tokens, form)

    if not budget or sum(costs.values()) <= budget:
        whole = packed(costs)
        if not budget or whole.tokens <= budget:
            return whole
    bare = packed(())
    if bare.tokens > budget:
        raise UsageError(i18n.message("retrieval.pack_tree_too_large", tokens=bare.tokens, budget=budget))
    made = packed(chosen := _fitting(costs, budget - bare.tokens))
    while made.tokens > budget:  # the separators between files cost a little, too
        made = packed(chosen := chosen[:-1])
    return made


def token_tree(costs: Mapping[str, int], left_out: Collection[str] = ()) -> tuple[str, ...]:
    """A line for each folder and file, indented: its tokens, and its share if that is at least 1 %.

    Args:
        costs: the tokens of each file by its path, in the order of the tree.
        left_out: the files that are marked as left out.
    """
    sums = Counter(costs)
    for path, tokens in costs.items():
        sums.update(dict.fromkeys(_folders(path), tokens))
    total = max(1, sum(costs.values()))
    lines = {}
    for path in costs:
        for each in (*_folders(path), path):
            name = each.rstrip("/").rpartition("/")[2] + "/" * each.endswith("/")
            depth = each.rstrip("/").count("/")
            share = f" ({sums[each] / total:.0%})" if sums[each] * 100 >= total else ""
            lines[each] = f"{'  ' * depth}{name} {sums[each]:,}{share}{', left out' * (each in left_out)}"
    return tuple(lines.values())


def _fitting(costs: Mapping[str, int], room: int) -> list[str]:
    """The files that fit, most useful first."""
    chosen = []
    for path in sorted(costs, key=usefulness):
        if costs[path] <= room:
            chosen.append(path)
            room -= costs[path]
    return chosen


def _whole(number: int, path: str, text: str) -> Excerpt:
    lines = redacted(text).removesuffix("\n")
    return Excerpt(number, path, 1, lines.count("\n") + 1, "", lines)


def _plain(folder: str) -> str:
    return "/".join(part for part in folder.replace("\\", "/").split("/") if part not in ("", ".")) or "."


def _inside(path: str, folders: Sequence[str]) -> bool:
    return any(folder == "." or f"{path}/".startswith(f"{folder}/") for folder in folders)


def _folders(path: str) -> list[str]:
    """The folders around a file, outermost first, each with a slash at its end."""
    return [path[: at + 1] for at, character in enumerate(path) if character == "/"]


def _note(key: str, **values: object) -> str:
    return i18n.text(f"retrieval.{key}", "en", **values)
