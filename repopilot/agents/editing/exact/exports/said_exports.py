"""Reads a task that asks for an export by what of it exists: the definitions, their package, and words on exports."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.exports.python_packages import package_named
from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.wording.noun_phrases import bare_name
from repopilot.agents.editing.exact.wording.remarks import SaidImport, without_imports, without_neighbours
from repopilot.agents.editing.exact.wording.task_tokens import Token, tokens_of

_EXPORTING = re.compile(
    r"\b(?:re-?)?(?:export|expos)(?!s\b)\w*|\bimportable\b|\bpublic api\b"
    r"|\b(?:should|must|devrait|doit) (?:work|marcher)"
    r"|\bmakes?\b.*\b(?:work|possible)\b|\b(?:réexport|ré-export)\w*",
    re.I,
)
_WORDS = frozenset(
    "export exports exported exporting re-export re-exports re-exported reexport reexported expose exposes exposed "
    "importable import imports imported public api root top top-level toplevel level package package's packages "
    "module library namespace init list add include listed put it its in from at of to on our the a an this that so "
    "such you users people we i can could be should must work works possible please directly straight make do write "
    "just simply want need also too and both there here well i'd like would part by straight name names function class "
    "exception error helper constant entry offer available accessible have has 's i.e e.g ie eg user them "
    "exporte exporter exportez reexporte reexporter expose exposer le la les l l' d d' du de des depuis paquet aussi "
    "et rends rendre directement racine niveau à au aux dans devrait doit etre pour que qu qu' on puisse ecrire faire "
    "fonctionne marche liste ajoute liste-le fonction classe stp publique".split()
)
_AS_WELL = re.compile(r"\bas well\b|\bi\.e\.|\be\.g\.", re.I)


def said_exports(task: str, sources: Sources) -> list[ExactTask]:
    """The exports that a task asks for where each word of it is about exports, a definition or its package.

    Args:
        task: as the user wrote it.
        sources: the files.

    Returns:
        All of them together; [] where a word isn't understood.
    """
    if "\n" in task.strip() or _EXPORTING.search(task) is None:
        return []
    rest, imports = without_imports(_AS_WELL.sub(" ", task))
    said = [t for t in tokens_of(without_neighbours(rest)) if t.kind != "sign" and not _is_about_exports(t)]
    places = [path for t in said if (path := _package(bare_name(t), sources))]
    files = [file for t in said if t.is_path and (file := path_named(bare_name(t), sources.workspace.index))]
    names = [bare_name(t) for t in said if not t.is_path and not _package(bare_name(t), sources)]
    if len(imports) == 1:
        if any(name != imports[0].name for name in names):
            return []
        names, places = [imports[0].name], [*places, *_package_of(imports[0], sources)]
    places, modules = list(dict.fromkeys(places)), [f for f in files if f not in places]
    known = bool(names) and all(_is_defined(name, sources) for name in names)
    if not known or len(imports) > 1 or len(places) > 1 or len(modules) > 1 or (imports and not places):
        return []
    named = tuple(NamedPlace(path, "file") for path in (*places, *modules))
    return [ExactTask("export", name, places=named) for name in dict.fromkeys(names)]


def _is_about_exports(token: Token) -> bool:
    return token.low in _WORDS or token.inner in ("__all__", "__init__", "__init__.py")


def _package(name: str, sources: Sources) -> str:
    """The `__init__.py` of a package that a word names, '' for another word."""
    return package_named(name, sources) or ""


def _package_of(said: SaidImport, sources: Sources) -> list[str]:
    path = _package(said.package, sources)
    return [path] if path else []


def _is_defined(name: str, sources: Sources) -> bool:
    return any(symbol.qualified == name for symbol in sources.workspace.index.symbols(name))
