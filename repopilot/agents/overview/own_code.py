"""The repository's own code, without tests, examples, benchmarks, documentation and third-party code. Sync."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from itertools import chain

from repopilot.agents.overview.uses import STUBS, reached, successors
from repopilot.code.languages import file_kind, is_product_path, is_test_path, language_of, reads_symbols
from repopilot.index.store import Index

LEAST_SHARE = 0.03
_LEAST_PRODUCT = 0.5
CALL = re.compile(r"\b(\w++)\(")
_CHANGELOG = re.compile(r"change|history|news|release", re.I)
"""Documents about the past."""
BUILD_FILES = frozenset(("make", "dockerfile"))
"""Languages of files that say how code is built."""
_BUILDS = re.compile(
    r"(?:^|/)(?:\.[^/]+|[\w.-]+\.config\.[cm]?[jt]sx?|[\w.-]+\.gradle\.kts|[\w.-]+\.gemspec|(?:gem|rake)file"
    r"|(?:gulp|grunt)file\.\w+|(?:setup|noxfile|conftest)\.py|build\.rs|build\.sbt)$",
    re.I,
)
"""Files in a language of the product that configure its build or its tools."""


def code_files(index: Index) -> dict[str, int]:
    """The files in languages whose symbols are read, with their lines, without third-party code.

    Scripts without a suffix, and those for a shell, count only in the main language: in others they are tools, such as
    wrappers of a build, installers and completions.

    Args:
        index: the repository.
    """
    found = {
        path: info.lines
        for path, info in index.files.items()
        if file_kind(path) == "code"
        and reads_symbols(info.language)
        and info.language not in BUILD_FILES
        and not index.is_foreign(path)
    }
    main = next(iter(main_languages(index, found)), "")
    languages = {path: index.files[path].language for path in found}
    is_tool = {
        path for path in found if languages[path] != main and (not language_of(path) or languages[path] == "bash")
    }
    return {path: lines for path, lines in found.items() if path not in is_tool}


def own_code(index: Index, code: Mapping[str, int], uses: Iterable[tuple[str, str]]) -> dict[str, int]:
    """The files with the repository's own code, with their lines.

    What the product uses is part of it, whatever its folder is called: `benchmark` in a tool that measures. What
    configures its build isn't, and type stubs beside the code that they describe aren't.

    Args:
        index: the repository.
        code: as `code_files` gives it.
        uses: which of these files use which.

    Returns:
        Lines by path. Where there is only code of tests or examples, that counts as own.
    """
    products = [path for path in code if is_product_path(path) and not _BUILDS.search(path)]
    used = successors((user, other) for user, other in uses if not is_test_path(other))
    own = {*products, *reached(products, used)} or set(code)
    own -= {path for path in own if path.endswith(STUBS) and _beside(path, code)}
    lines = {path: count for path, count in code.items() if path in own}
    main = main_languages(index, lines)
    languages = _languages(index, lines)
    return {path: count for path, count in lines.items() if languages[path] in main}


def _beside(stub: str, code: Container[str]) -> bool:
    stem = stub.removesuffix(".pyi").removesuffix(".d.ts")
    return any(f"{stem}{suffix}" in code for suffix in (".py", ".js", ".mjs", ".cjs", ".jsx"))


def product_code(
    lines: Mapping[str, int], entries: Collection[str], uses: Collection[tuple[str, str]]
) -> dict[str, int]:
    """The code in the top-level folders with entry points, and in those that these use: scripts for developers are
    elsewhere, or have no suffix and no user.

    Args:
        lines: lines of its own code by path.
        entries: the files in which it is entered.
        uses: which of these files use which.

    Returns:
        Lines by path; all of them where that would be less than half of the code.
    """
    shared = {*entries, *(other for _, other in uses)}
    entered = {_outermost(path) for path in entries}
    roots = entered | reached(entered, successors((_outermost(user), _outermost(other)) for user, other in uses))
    kept = (path for path in lines if language_of(path) or path in shared)
    found = {path: lines[path] for path in kept if "" in roots or _outermost(path) in roots}
    return found if sum(found.values()) >= _LEAST_PRODUCT * sum(lines.values()) else dict(lines)


def _outermost(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def called_by_name(index: Index) -> Counter[str]:
    """How often documents, tests and examples call each name, as a measure of what users of the code know."""
    found: Counter[str] = Counter()
    outside = (path for path, info in index.files.items() if info.kind == "code" and not is_product_path(path))
    for path in chain(documents(index), (path for path in outside if not index.is_foreign(path))):
        found.update(CALL.findall(index.text(path) or ""))
    return found


def documents(index: Index) -> list[str]:
    """The repository's own documents, without changelogs."""
    told = (path for path, info in index.files.items() if info.kind == "doc" and not index.is_foreign(path))
    return [path for path in told if not _CHANGELOG.match(posixpath.basename(path))]


def main_languages(index: Index, lines: Mapping[str, int]) -> dict[str, float]:
    """The languages with at least LEAST_SHARE of the code, the largest first: no Makefile beside a library counts."""
    shares: Counter[str] = Counter()
    for path, language in _languages(index, lines).items():
        shares[language] += lines[path]
    total = max(1, shares.total())
    return {language: count / total for language, count in shares.most_common() if count >= LEAST_SHARE * total}


def _languages(index: Index, paths: Iterable[str]) -> dict[str, str]:
    """The language of each file. A header belongs to C++ where more sources do than to C."""
    found = {path: index.files[path].language for path in paths}
    sources = Counter(language for path, language in found.items() if not path.endswith(".h"))
    if sources["cpp"] > sources["c"]:
        found.update((path, "cpp") for path in found if path.endswith(".h"))
    return found
