"""Passages that answer questions about the repository as a whole: its purpose, its entry points and its use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from repopilot.code import languages
from repopilot.code.languages import is_product_path
from repopilot.index.manifests import manifests
from repopilot.project.manifest import Manifest, is_manifest
from repopilot.retrieval.query.asked import Command
from repopilot.retrieval.query.parse import Query
from repopilot.types import Chunk

if TYPE_CHECKING:
    from repopilot.index.store import Index

README_CHUNKS = 4
README_READ = 30
MANIFESTS = 4
ENTRIES = 6
MAIN = 4
LEAST_WORDS = 4
# None of these searches for an end past the next beginning: a README full of beginnings would take hours.
_TARGET = r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])?"
_CODE_BLOCK = re.compile(r"<!--(?:(?!<!--).)*?-->|^(```|~~~).*?^\1|^\.\. code-block::.*?(?=^\S)", re.S | re.M)
_BLOCK = re.compile(
    r"<(?P<raw>script|style)\b(?:(?!<(?:script|style)\b).)*?</(?P=raw)>|</?(?:div|p|h[1-6]|li|[ou]l|table|tr|center)\b[^<>]*>",
    re.S | re.I,
)
"""Blocks of HTML: scripts and styles, and the tags that enclose a paragraph."""
_IMAGE = re.compile(rf"!\[[^\[\]]*\]{_TARGET}|^\.\. (?:image|_|\|).*$|\|[^|\n]+\|(?!\S)", re.M)
_HEADING = re.compile(r"^#{1,6}[^\S\n].*$", re.M)
_FIELDS = re.compile(r"^:[^:\n]+:(?: .*)?$(?:\n[ \t]+\S.*)*", re.M)
"""The fields at the head of a document in reStructuredText, with the lines that continue them."""
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}")
_MARKUP = re.compile(r"<[^<>]*>|[`*]|\b_|_\b|^[^\S\n]*[|>.=#~-]+", re.M)
_PAIR = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{2}")
"""Two characters of a script without spaces."""

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
    """All files except generated and vendored ones, those nearest to the root first."""
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
    own = [each for each in manifests(index) if index.is_own(each.path)]
    declared = [path for manifest in own[:MANIFESTS] for path in _declared(manifest, files)]
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


def readme_path(index: Index) -> str | None:
    """The README nearest to the root."""
    return next((path for path in index.derived(_files) if _README.search(path)), None)


def readme_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a README that are sentences, without markup: no badges, images, code, headings, rules, lists.

    Args:
        text: of the README.
    """
    apart = _HEADING.sub(r"\n\n\g<0>\n\n", _BLOCK.sub("\n\n", _CODE_BLOCK.sub("\n\n", text)))
    for paragraph in re.split(r"\n\s*\n", apart):
        shown = _IMAGE.sub("", _FIELDS.sub("", paragraph))
        plain = " ".join(_MARKUP.sub("", _LINK.sub(r"\1", shown)).split())
        # A table of contents is nothing but links.
        if _letters(plain) >= LEAST_WORDS and 2 * _letters(_LINK.sub("", shown)) >= _letters(plain):
            yield plain


def word_count(text: str) -> int:
    """How many words a text has; in scripts without spaces two characters count as one."""
    return len(_PAIR.sub(r" \g<0> ", text).split())


def _letters(text: str) -> int:
    """How many words of letters a text has."""
    return len(re.findall(r"[^\W\d_]{2,}", _PAIR.sub(r" \g<0> ", text)))


def _is_main(path: str) -> bool:
    return languages.file_kind(path) in ("code", "schema") and is_product_path(path)
