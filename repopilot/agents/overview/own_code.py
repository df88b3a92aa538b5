"""The repository's own code: neither tests, examples, benchmarks and documentation nor what others wrote. Sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from repopilot.code.languages import file_kind, is_product_path, reads_symbols
from repopilot.index.store import Index

LEAST_SHARE = 0.03


def own_code(index: Index) -> dict[str, int]:
    """The files with the repository's own code in languages whose symbols are read, with their lines.

    Args:
        index: the repository.

    Returns:
        Lines by path. Where all code stands in tests or examples, those.
    """
    code = {
        path: info.lines
        for path, info in index.files.items()
        if file_kind(path) == "code" and reads_symbols(info.language) and not index.is_foreign(path)
    }
    own = {path: lines for path, lines in code.items() if is_product_path(path)} or code
    main = main_languages(index, own)
    return {path: lines for path, lines in own.items() if index.files[path].language in main}


def main_languages(index: Index, lines: Mapping[str, int]) -> dict[str, float]:
    """The languages with a share of the code that counts, the largest first: a Makefile beside a library doesn't."""
    shares: Counter[str] = Counter()
    for path, count in lines.items():
        shares[index.files[path].language] += count
    total = max(1, shares.total())
    return {language: count / total for language, count in shares.most_common() if count >= LEAST_SHARE * total}
