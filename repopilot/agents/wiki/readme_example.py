"""The first example of a README in the language of the repository's own code. Sync."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Set
from typing import NamedTuple

from repopilot.agents.overview.own_code import code_files, main_languages
from repopilot.code.languages import family, language_of, suffix_of
from repopilot.code.source_positions import line_at
from repopilot.code.split import analysed
from repopilot.foreign_text import FENCED
from repopilot.index.manifests import facts
from repopilot.index.store import Index
from repopilot.retrieval.repo_map import readme_path

_DIRECTIVE = re.compile(
    r"^\.\. (?:code-block|code|sourcecode):: *(?P<label>[\w+#-]+) *\n(?: +:[^\n]*\n)*\s*?\n"
    r"(?P<code>(?:(?: +[^\n]*)?\n)+)",
    re.M,
)
MOST_LINES = 40
"""A longer example is for a page of its own."""


class Example(NamedTuple):
    """Code of a document: its label there, its text, and its first and last line, 1-based."""

    label: str
    text: str
    path: str
    start: int
    end: int


def readme_example(index: Index) -> Example | None:
    """The first block of code in the README that is in a main language of the repository and imports what it holds.
    Where no block imports anything, the first one, since none can be for another package. None where there is no block.

    Args:
        index: the repository.
    """
    found = list(_examples(index))
    modules = [_imported(each) for each in found]
    declared = {fact.value.lower() for fact in facts(index, "name")} or {index.name.rpartition("/")[2].lower()}
    held = {part.partition(".")[0].lower() for path in index.files for part in path.split("/")}
    fitting = (each for each, names in zip(found, modules, strict=True) if _names_one(names, declared, held))
    return next(fitting, None if any(modules) else next(iter(found), None))


def _examples(index: Index) -> Iterator[Example]:
    """The blocks of code in the README that are in a main language of the repository, without long ones."""
    path = readme_path(index) or ""
    text = (index.text(path) or "") if path else ""
    own = set(map(family, main_languages(index, code_files(index))))
    for block in sorted((*FENCED.finditer(text), *_DIRECTIVE.finditer(text)), key=re.Match.start):
        code = textwrap.dedent(block["code"]).strip("\n")
        suffix = suffix_of(block["label"].lower())
        language = language_of(f"x{suffix}") if suffix else None
        if code and language and family(language) in own and code.count("\n") < MOST_LINES:
            start = line_at(text, block.start("code"))
            lead = len(block["code"]) - len(block["code"].lstrip("\n"))
            yield Example(block["label"], code, path, start + lead, start + lead + code.count("\n"))


def _imported(example: Example) -> set[str]:
    suffix = suffix_of(example.label.lower())
    return {each.module.lower() for each in analysed(f"x{suffix}", f"{example.text}\n").imports}


def _names_one(modules: Collection[str], declared: Collection[str], held: Set[str]) -> bool:
    """Whether one of the modules is a package that the repository declares, or one of the folders or files it holds."""
    parts = {part for module in modules for part in re.split(r"[./:\\]+", module) if part}
    named = any(f"{module}/".startswith(f"{name}/") for module in modules for name in declared)
    return named or not parts.isdisjoint(held)
