"""The version of everything that decides what is read from a file. Kept apart from the splitter, so that an index
is read without loading it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from zlib import crc32

from repopilot.code import languages

_RULES = "13"
"""Raised with every change of how files are split or read."""


@cache
def version() -> str:
    """The version of the rules, the languages and their queries: an index built with another version is rebuilt."""
    folder = resources.files("repopilot.code").joinpath("tags")
    queries = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".scm"))
    grammars = [(language, languages.grammar(language)) for language in languages.languages()]
    return f"{_RULES}-{crc32(repr((queries, grammars)).encode()):08x}"
