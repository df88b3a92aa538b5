"""Answers questions about the repository as a whole: a compact map, and passages on its purpose and use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from repopilot.code import languages
from repopilot.code.languages import is_product_path
from repopilot.code.project.manifest import Manifest, is_manifest, read_manifest
from repopilot.retrieval.query.asked import Command
from repopilot.retrieval.query.parse import Query
from repopilot.types import Chunk

if TYPE_CHECKING:
    from repopilot.index.store import Index

README_CHUNKS, README_READ, MANIFESTS, ENTRIES, MAIN = 4, 30, 4, 6, 4
FOLDERS, FILES_OF_A_FOLDER, SYMBOLS_OF_A_FILE, DEPENDENCIES = 24, 12, 8, 25
ABOUT_TOKENS, LEAST_WORDS = 160, 4
# None of these looks for an end behind the next beginning: a README of beginnings would take hours.
_TARGET = r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])?"
_CODE_BLOCK = re.compile(r"<!--(?:(?!<!--).)*?-->|^(```|~~~).*?^\1|^\.\. code-block::.*?(?=^\S)", re.S | re.M)
_IMAGE = re.compile(rf"!\[[^\[\]]*\]{_TARGET}|^\.\. (?:image|_|\|).*$|\|[^|\n]+\|(?!\S)", re.M)
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}")
_MARKUP = re.compile(r"<[^<>]*>|[`*]|\b_|_\b|^[^\S\n]*[|>.=#~-]+", re.M)

_README = re.compile(r"(?:^|/)readme(?:\.\w+)?$", re.I)
_RUN_FILE = re.compile(
    r"(?:^|/)(?:makefile|justfile|dockerfile|docker-compose\.ya?ml|compose\.ya?ml|procfile|tox\.ini)$", re.I
)
_HOW_TO = re.compile(
    r"\b(?:install\w*|quick ?start|getting started|usage|set ?up|run(?:ning)?|deploy\w*|build(?:ing)?|examples?)\b",
    re.I,
)
"""Headings below which a README says how to use a project."""
_SCRIPT = re.compile(r"/|\.(?:[cm]?js|ts|rs|py)$")
_ENTRY = re.compile(
    r"(?:^|/)(?:__main__|main|cli|app|application|server|index|manage|lib|mod|program|startup)\.\w+$|(?:^|/)cmd/[^/]+/main\.go$",
    re.I,
)
_ASIDE = re.compile(r"licen[cs]e|donat|sponsor|contribut|code of conduct|badge|credits|changelog|thanks", re.I)


@dataclass(frozen=True, slots=True)
class OverviewPlace:
    """A passage that answers a question about the whole repository: its row, its role (readme, manifest, entry point,
    main code, run file) and its score, 0–1."""

    row: int
    role: str
    score: float


def overview_places(index: Index, query: Query) -> list[OverviewPlace]:
    """README, manifests, entry points, main code and run files, best first for the question.

    Args:
        index: the index.
        query: a query of kind `overview`; whether it asks how to run things decides the order.
    """
    how = query.wish in get_args(Command)
    files = index.derived(_files)
    found = [*_readme_places(index, how)]
    weights = {
        "manifest": 0.85 if how else 0.7,
        "entry point": 0.8,
        "main code": 0.5,
        "run file": 0.75 if how else 0.2,
    }
    groups = {
        "manifest": [path for path in files if is_manifest(path) and is_product_path(path) and path.count("/") <= 2][
            :MANIFESTS
        ],
        "entry point": _entry_points(index, files)[:ENTRIES],
        "main code": sorted(filter(_is_main, files), key=lambda path: -index.files[path].lines)[:MAIN],
        "run file": [path for path in files if _RUN_FILE.search(path) and path.count("/") <= 1][:MANIFESTS],
    }
    for role, paths in groups.items():
        for rank, path in enumerate(paths):
            rows = index.lexical.rows_of_file(path)
            if len(rows):
                found.append(OverviewPlace(int(rows[0]), role, weights[role] - 0.02 * rank - 0.05 * path.count("/")))
    unique: dict[int, OverviewPlace] = {}
    for place in sorted(found, key=lambda place: (-place.score, place.row)):
        unique.setdefault(place.row, replace(place, score=round(place.score, 3)))
    return list(unique.values())


def _files(index: Index) -> list[str]:
    """The files but those that are generated or vendored, those at the top first."""
    own = (path for path in index.files if not index.is_foreign(path))
    return sorted(own, key=lambda path: (path.count("/"), path))


def _readme_places(index: Index, how: bool) -> Iterator[OverviewPlace]:
    readme = readme_path(index)
    if readme is None:
        return
    rows = index.lexical.rows_of_file(readme).tolist()
    for place, row in enumerate(rows[:README_READ]):
        heading = _heading(index.chunks[row])
        explains = bool(_HOW_TO.search(heading))
        if place and _ASIDE.search(heading):
            continue
        if place < README_CHUNKS or (how and explains):
            yield OverviewPlace(row, "readme", (1.0 if how == explains or place == 0 else 0.75) - 0.02 * place)


def _heading(chunk: Chunk) -> str:
    return chunk.symbol.rpartition(" > ")[2] or chunk.text.lstrip().partition("\n")[0]


def _entry_points(index: Index, files: list[str]) -> list[str]:
    """Files that the manifests name, then files with telling names; no tests, examples or documentation."""
    declared = [path for manifest in _manifests(index) for path in _declared(manifest, files)]
    telling = [
        path for path in files if _ENTRY.search(path) and languages.file_kind(path) == "code" and is_product_path(path)
    ]
    packages = [path for path in files if path.endswith("/__init__.py") and path.count("/") <= 2]
    return list(dict.fromkeys((*declared, *telling, *filter(is_product_path, packages))))


def _declared(manifest: Manifest, files: list[str]) -> Iterator[str]:
    """The files of a manifest's entry points (`pkg.mod:function`, `./bin/x.js`)."""
    for target in manifest.entry_points.values():
        module = target.partition(":")[0].strip().removeprefix("./")
        stem = module if _SCRIPT.search(module) else module.replace(".", "/")
        names = (module, f"{stem}.py", f"{stem}/__init__.py", f"{stem}/__main__.py", f"{stem}.js", f"{module}/index.js")
        yield from (path for path in files if any(path == name or path.endswith(f"/{name}") for name in names))


def _manifests(index: Index) -> list[Manifest]:
    paths = [path for path in index.derived(_files) if is_manifest(path) and is_product_path(path)][:MANIFESTS]
    read = (read_manifest(path, index.text(path) or "") for path in paths)
    return [manifest for manifest in read if manifest is not None]


def overview(index: Index, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """A map of the repository for a model: what its README says, languages, manifests, entry points, and folders with
    their files and symbols, as many as fit.

    Args:
        index: the index.
        max_tokens: how long the text may be.
        count_tokens: counts the tokens of a text.
    """
    lines: list[str] = []
    left = max_tokens
    for line in _lines(index, count_tokens):
        cost = count_tokens(line + "\n")
        if cost > left:
            break
        lines.append(line)
        left -= cost
    return "\n".join(lines)


def _lines(index: Index, count_tokens: Callable[[str], int]) -> Iterator[str]:
    files = index.derived(_files)
    yield f"Repository {index.name} at {index.commit}: {len(index.files)} files. {_languages(index, files)}"
    readme = readme_path(index)
    if readme:
        yield f"{readme} says: {_about(index.text(readme) or '', count_tokens)}"
    for manifest in _manifests(index):
        yield _manifest_line(manifest)
    entries = _entry_points(index, files)[:ENTRIES]
    if entries:
        yield f"Entry points: {', '.join(entries)}"
    yield from _structure(index, files)


def _languages(index: Index, files: list[str]) -> str:
    lines: Counter[str] = Counter()
    for info in (index.files[path] for path in files):
        if info.kind == "code":
            lines[info.language] += info.lines
    return "Code: " + ", ".join(f"{language} {count} lines" for language, count in lines.most_common(5)) + "."


def _about(text: str, count_tokens: Callable[[str], int]) -> str:
    """The first paragraphs of a README that are sentences."""
    sentences: list[str] = []
    for plain in readme_paragraphs(text):
        sentences.append(plain)
        if count_tokens(" ".join(sentences)) > ABOUT_TOKENS:
            break
    return " ".join(sentences)[: ABOUT_TOKENS * 6]


def readme_path(index: Index) -> str | None:
    """The README nearest to the root."""
    return next((path for path in index.derived(_files) if _README.search(path)), None)


def readme_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a README that are sentences, without markup: no badges, images, code, headings, rules, lists.

    Args:
        text: of the README.
    """
    for paragraph in re.split(r"\n\s*\n", _CODE_BLOCK.sub("\n\n", text)):
        shown = _IMAGE.sub("", paragraph)
        plain = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", shown)).split())
        # A table of contents is nothing but links.
        if _words(plain) >= LEAST_WORDS and 2 * _words(_LINK.sub("", shown)) >= _words(plain):
            yield plain


def _words(text: str) -> int:
    return len(re.findall(r"[^\W\d_]{2,}", text))


def _manifest_line(manifest: Manifest) -> str:
    parts = [f"{manifest.path}: {manifest.ecosystem} {manifest.name}".rstrip()]
    for label, mapping in (("scripts", manifest.scripts), ("entry points", manifest.entry_points)):
        if mapping:
            parts.append(f"{label} " + ", ".join(f"{name} = {value}" for name, value in list(mapping.items())[:10]))
    if needs := list(dict.fromkeys(need.name for need in manifest.dependencies)):
        parts.append("needs " + ", ".join(needs[:DEPENDENCIES]))
    return "; ".join(parts)


def _structure(index: Index, files: list[str]) -> Iterator[str]:
    """Folders with their files and the symbols these define; those with most code first."""
    by_folder: dict[str, list[str]] = {}
    for path in files:
        by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    folders = sorted(by_folder, key=lambda folder: -_weight(index, by_folder[folder]))[:FOLDERS]
    for folder in folders:
        paths = by_folder[folder]
        yield f"{folder or '.'}/ ({len(paths)} files, {sum(index.files[path].lines for path in paths)} lines)"
        main = sorted(paths, key=lambda path: (not _is_main(path), -index.files[path].lines))
        for path in main[:FILES_OF_A_FOLDER] if _is_main(main[0]) else ():
            names = _top_symbols(index, path)
            yield f"  {path.rpartition('/')[2]}" + (f": {', '.join(names)}" if names else "")


def _weight(index: Index, paths: list[str]) -> float:
    return sum(index.files[path].lines * (1.0 if _is_main(path) else 0.05) for path in paths)


def _is_main(path: str) -> bool:
    return languages.file_kind(path) in ("code", "schema") and is_product_path(path)


def _top_symbols(index: Index, path: str) -> list[str]:
    symbols = [symbol for symbol in index.outline(path) if "." not in symbol.qualified]
    symbols.sort(key=lambda symbol: symbol.start_line - symbol.end_line)
    return list(dict.fromkeys(symbol.name for symbol in symbols))[:SYMBOLS_OF_A_FILE]
