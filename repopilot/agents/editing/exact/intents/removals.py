"""What is to go: a definition, a parameter, an import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repopilot.agents.editing.exact.described import name_parts, terms_of
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.intents.task_mentions import Mention, TaskMentions, place_of
from repopilot.code.languages import file_kind, is_test_path
from repopilot.types import Symbol

_REMOVING = (
    r"(?:remov\w+|delet\w+|drop\w*|get rid of|rid of|kill|strip|supprim\w+|enlev\w+|retir\w+|effac\w+|vir(?:e|er|ez)|"
    r"jet\w+)"
)
_REMOVAL = re.compile(rf"\b{_REMOVING}\b|\bcan go\b|\bmust go\b|\bshould go\b|\bpeut (?:partir|disparaitre)\b")
_REMOVED = re.compile(
    rf"\b{_REMOVING}\s+(?:the\s+|our\s+|that\s+|this\s+|la\s+|le\s+|les\s+|l['’])?(?:[\w-]+\s+){{0,3}}?[`\"']?$"
)
_GOES = re.compile(
    r"[`)\"'\s]*(?:(?:can|could|should|may|must|peut|doit|devrait)\s+(?:now\s+|simply\s+|just\s+)?"
    r"(?:go\b|be (?:removed|deleted|dropped)|disappear|partir|disparaitre|etre (?:supprim|retir|enlev)))"
)
_REMOVE_IT = re.compile(rf"\b{_REMOVING}(?:\s+|-)(?:it|this one|le|la)\b")
_NOT_WHOLE = re.compile(
    r"\b(?:files?|fichiers?|modules?|param\w*|arg(?:ument)?s?|kwargs?|keyword|imports?|entr(?:y|ies|ee|ees)|"
    r"options?|flags?|keys?|items?|elements?|from|de la liste|list|decorator\w*|decorateur|base class|lines?|lignes?|"
    r"branch\w*|"
    r"calls?|appels?|default|sentence|phrase|comments?|commentaires?|along with|together with|as well as|"
    r"and (?:its|the|their)|ainsi que|et (?:son|sa|ses|la|le)|checks?|conditions?|prefix|suffix|parenthes\w+|"
    r"raise|type|docstrings?|annotations?|hints?|bod(?:y|ies)|implementations?)\b"
)
"""What says that only a part of something goes."""
_OF_IT = re.compile(r"[`)]*'s?\s+\w")
"""What says, behind a name, that something of it goes: `load's docstring`."""
_CLEANING = re.compile(r"\bclean(?:ing)? up\b|\bunused\b|\bnettoi\w+|\binutilise\w*")
_LISTED = re.compile(r"[\w`]+, [\w`]+(?:, [\w`]+)*,? (?:and|et) [\w`]+|[\w`]+ (?:and|et) [\w`]+")
_UNUSED = re.compile(
    r"\b(?:unused|redundant|dead|nobody|no one|nothing|no longer (?:used|needed)|obsolete|inutilise\w*|"
    r"inutiles?|mort\w*|personne|plus rien)\b"
)
"""What says that nothing needs what goes."""
_PARAMETER = re.compile(r"\b(?:param\w*|arg(?:ument)?s?|kwargs?|keyword|flag|option)\b")
_THAT_PARAMETER = re.compile(
    rf"\b{_REMOVING}\s+(?:it\b|(?:that|this|the|ce|cet|le|l['’]) ?(?:\w+ )?(?:param|arg|flag|option|keyword))"
)
"""What removes a parameter that another sentence names."""
_IMPORT = re.compile(r"\bimport\w*\b")


def deletion_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The definition that a task may want deleted.

    Args:
        task: with its mentions.
    """
    if not task.asks(_REMOVAL) or not (_REMOVAL.search(task.words) or _UNUSED.search(task.words)):
        return
    only = len({m.last for m in task.definitions if m.is_code}) == 1 and not task.files
    for mention in task.definitions:
        removed = _is_removed(mention, task) or (bool(task.intent) and only and mention.is_code)
        whole = not _OF_IT.match(task.words[mention.end :])
        if removed and whole and len(mention.symbols) == 1 and not task.is_kept(mention):
            symbol = mention.symbols[0]
            extra = {"unused": "yes"} if _UNUSED.search(task.words) else {}
            yield [ExactTask("delete", symbol.qualified, extra=extra)]
            return


def _is_removed(mention: Mention, task: TaskMentions) -> bool:
    """Whether a mention is what a verb of removing is said of."""
    asking = {task.sentence_of(match.start()) for match in _REMOVAL.finditer(task.words)}
    if not mention.is_code or any(_NOT_WHOLE.search(task.sentence(n)) for n in asking | {mention.sentence}):
        return False
    before, after = task.words[: mention.start], task.words[mention.end :]
    only = len({m.last for m in task.definitions if m.is_code}) == 1
    return (
        _REMOVED.search(before) is not None
        or _GOES.match(after) is not None
        or (only and _REMOVE_IT.search(task.words) is not None)
    )


def parameter_removal_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The parameter of a function that a task may want removed.

    Args:
        task: with its mentions.
    """
    if not task.asks(_REMOVAL) or not (task.intent or _PARAMETER.search(task.words)):
        return
    cues = {task.sentence_of(m.start()) for m in _REMOVAL.finditer(task.words)}
    said = " ".join(task.text[slice(*task.sentences[n])] for n in sorted(cues))
    found = _said_of(task, said)
    if not found and (task.intent or _THAT_PARAMETER.search(task.words)):
        found = _said_of(task, task.text)
    if len({(symbol.name, name) for symbol, name in found}) == 1:  # overrides of a method follow it
        symbol, name = min(found, key=lambda pair: (pair[0].path, pair[0].start_line))
        place = place_of(symbol) if len(found) == 1 else (NamedPlace(symbol.name, "function"),)
        yield [ExactTask("remove_parameter", name, "parameter", "", "", place)]


def _said_of(task: TaskMentions, text: str) -> set[tuple[Symbol, str]]:
    """The functions that a task mentions with their parameters that a part of it names."""
    return {(s, n) for m in task.functions() for s in m.symbols for n in task.parameters_said(s, text)}


def import_removal_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The import that a task may want removed from a file that it names or describes.

    Args:
        task: with its mentions.
    """
    if not (_REMOVAL.search(task.words) or _CLEANING.search(task.words)) or not _IMPORT.search(task.words):
        return
    paths = [m.path for m in task.files if m.path in task.sources.workspace.index.files] or _described_files(task)
    for path in dict.fromkeys(paths):
        imported = {name for found in task.sources.workspace.index.imports(path) for name in found.bound}
        said = [name for name in sorted(imported) if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]*\w)", task.text)]
        if said and (len(said) == 1 or _LISTED.search(task.text)):
            yield [ExactTask("remove_import", name, "", places=(NamedPlace(path, "file"),)) for name in said]
            return


def _described_files(task: TaskMentions) -> list[str]:
    """The file whose name has a word of the task beside `module` or `file`; [] for none or several."""
    near = re.findall(r"\b(?:module|fichier|file) (?:de |du |d')?([a-z]\w+)|\b([a-z]\w+) (?:module|file)\b", task.words)
    words = [first or second for first, second in near]
    wanted = terms_of(" ".join(words)) if words else []
    files = task.sources.workspace.index.files
    code = [p for p in files if file_kind(p) == "code" and not is_test_path(p)]
    found = [p for p in code if any(terms & name_parts(PurePosixPath(p).stem) for terms in wanted)]
    return found if len(found) == 1 else []
