"""A definition, and the file that it belongs into."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.intents.task_mentions import Mention, TaskMentions, module_path
from repopilot.agents.editing.exact.sources import Sources
from repopilot.code.languages import is_test_path
from repopilot.types import Symbol

_MOVING = re.compile(
    r"\b(?:mov(?:e|es|ed|ing)|liv(?:e|es|ing)|belongs?|sits?|home|own file|own module|go(?:es)? (?:in|into|to|next)|"
    r"relocat\w+|extract\w*|put|place[dr]?|split\w*|separat\w+|pull\w*|sitting|happier|better off|fits? (?:better )?in|"
    r"sort(?:ir|ez|i|ie|ons)|isol\w+|separ\w+|extrai\w+|deplac\w+|vivre|vit|appartien\w+|rang\w+|transfer\w+|mets|"
    r"mettre|sa place)\b"
)
_FROM = re.compile(
    r"\b(?:from|out of|not in|instead of(?: in)?|de|hors de|depuis|au lieu de)\s+(?:the\s+|le\s+|la\s+)?`?$"
)
_INTO = re.compile(
    r"\b(?:to|into|in|inside|towards?|vers|dans|en|of (?:its|their) own,?)\s+"
    r"(?:(?:an?|its|their|the|une?|le|la|son|leur)\s+)?(?:(?:new|own|separate|nouve\w+|propre)\s+)*"
    r"(?:(?:file|module|fichier)\b,?\s*)?(?:called\s+|named\s+|nomme\w*\s+)?`?$"
)
_BESIDE = re.compile(
    r"\b(?:next to|beside|besides|near|alongside|below|above|under|after|before|"
    r"(?<!together )(?<!along )with (?:the )?other|a cote de|pres de|sous|apres)\s+"
    r"(?:the\s+|le\s+|la\s+)?(?:class\s+|function\s+)?`?$"
)


_WHAT_THEY_USE = re.compile(
    r"\b(?:they|it|these|those|ils?|elles?|only)\s+(?:alone\s+|both\s+)?(?:uses?|needs?|utilise(?:nt)?|works? on)\b|"
    r"\b(?:its|their|ses|leurs?|son|sa)\s+(?:own\s+|private\s+|few\s+)*(?:constants?|helpers?|private\w*|regex\w*|"
    r"patterns?|constantes?|auxiliaires?)\b"
)
"""What says that more goes along."""
_DEFINED = re.compile(r"\b(?:function|class|constant|variable|helper|module-level|fonction|classe|constante)\s+`?$")
_IS_ONE = re.compile(r"`?\s+(?:function|class|constant|variable|helper|fonction|classe|constante)\b")
_MODULE_SAID = re.compile(r"\b(?P<before>[a-z_]\w+) module\b|\bmodule (?P<after>[a-z_]\w+)\b")
_TOGETHER = re.compile(r"\b(?:together with|along with|and|with|plus|ainsi que|avec|et)\s+(?:[\w-]+\s+){0,2}`?$")


def move_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The moves that a task may ask for.

    Args:
        task: with its mentions.
    """
    if not task.asks(_MOVING):
        return
    movable = [(m, symbol.path) for m in task.definitions if (symbol := _single(m)) is not None]
    movable = [(m, path) for m, path in movable if m.is_code or m.name[:1].isupper() or _is_called_so(m, task)]
    movable = movable if any(m.is_code for m, _ in movable) else movable[:1]
    for path, beside in _destinations(task):
        sources = {found for _, found in movable if found != path}
        if len(sources) != 1:
            continue
        moved = [m for m, found in movable if found in sources and m.last != beside]
        moved = [m for m in moved if not _BESIDE.search(task.words[: m.start])]
        first = min((m.sentence for m in moved), default=0)
        names = list(dict.fromkeys(m.last for m in moved if m.sentence == first))
        create = {} if path in task.sources.workspace.index.files else {"create": "yes"}
        source = NamedPlace(sources.pop(), "file")
        others = _names_beginning_with(task, moved, source.name)
        if names and others is not None:
            names = [*names, *others]
            names += _only_used_by(names, source.name, task.sources) if _WHAT_THEY_USE.search(task.words) else []
            together = ", ".join(dict.fromkeys(names))
            yield [ExactTask("move", together, "", path, "", (source,), extra=create)]


def _is_called_so(mention: Mention, task: TaskMentions) -> bool:
    """Whether a word of prose is said to be a definition."""
    before, after = task.words[: mention.start], task.words[mention.end :]
    return _DEFINED.search(before) is not None or _IS_ONE.match(after) is not None


def _only_used_by(names: Sequence[str], path: str, sources: Sources) -> list[str]:
    """What the top level of a file defines for some of its definitions alone, and for what these use in their turn."""
    source = sources.get(path)
    top = [s for s in sources.outline(path) if "." not in s.qualified] if source is not None else []
    lines = source.text.split("\n") if source is not None else []
    found: list[str] = []
    while True:
        own = [s for s in top if s.name in (*names, *found)]
        inside = {n for s in own for n in range(s.start_line, s.end_line + 1)}
        more = [
            s.name for s in top if s not in own and _is_used_only(s, lines, inside) and not _is_elsewhere(s, sources)
        ]
        if not more:
            return found
        found += more


def _is_used_only(symbol: Symbol, lines: Sequence[str], inside: Collection[int]) -> bool:
    """Whether some lines of a file use a definition, and no others do."""
    own = range(symbol.start_line, symbol.end_line + 1)
    word = re.compile(rf"(?<![\w.]){re.escape(symbol.name)}(?!\w)")
    used = [n for n, line in enumerate(lines, 1) if n not in own and word.search(line)]
    return bool(used) and all(n in inside for n in used)


def _is_elsewhere(symbol: Symbol, sources: Sources) -> bool:
    return any(path != symbol.path for path in sources.mentioning(symbol.name))


def _names_beginning_with(task: TaskMentions, moved: Sequence[Mention], path: str) -> list[str] | None:
    """What a task means beside the names it moves by a beginning of names: `the two cache variables`; None where the
    file has no such."""
    sentences = {mention.sentence for mention in moved}
    beside = [m.name for m in task.unknown if m.sentence in sentences and _TOGETHER.search(task.words[: m.start])]
    top = [s.name for s in task.sources.outline(path) if "." not in s.qualified]
    begun = [[name for name in top if name.startswith(start)] for start in beside if "." not in start]
    return [name for names in begun for name in names] if all(begun) else None


def _single(mention: Mention) -> Symbol | None:
    """The one definition at the top of a file that a mention means."""
    found = {(s.path, s.qualified): s for s in mention.symbols if "." not in s.qualified and not is_test_path(s.path)}
    return next(iter(found.values())) if len({path for path, _ in found}) == 1 else None


def _destinations(task: TaskMentions) -> Iterator[tuple[str, str]]:
    """The files that something may be moved to, likeliest first, each with the definition beside which it goes."""
    files = [m for m in task.files if not _FROM.search(task.words[: m.start]) and not m.path.startswith("/")]
    told = [m for m in files if _INTO.search(task.words[: m.start])]
    for mention in dict.fromkeys([*told, *files]):
        yield mention.path, ""
    for match in _MODULE_SAID.finditer(task.words):
        path = module_path(match["before"] or match["after"], task.sources)
        if path and not _FROM.search(task.words[: match.start()]):
            yield path, ""
    for mention in task.definitions:
        symbol = _single(mention)
        if symbol is not None and _BESIDE.search(task.words[: mention.start]):
            yield symbol.path, mention.last
