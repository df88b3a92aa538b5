"""How the parameters of a function are passed, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.described import name_parts, terms_of
from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.grounded_shapes import single_move
from repopilot.agents.editing.exact.intents.task_mentions import (
    ALL_OF_THEM,
    Mention,
    TaskMentions,
    described_functions,
    is_written,
    parameters_of,
)
from repopilot.types import Symbol

_BY_NAME = re.compile(
    r"\b(?:keyword[- ]only|(?:only )?by (?:keyword|name)|as (?:a )?keywords?|nam(?:e|ed) (?:it|them) explicitly|"
    r"keyword arguments? only|have to name|must (?:be )?name[d]?|should be named|par (?:mot[- ]cle|leur nom|son nom)|"
    r"mots?[- ]cles?|nommes? (?:seulement|uniquement)|uniquement nommes?|keyword-only)\b"
)
_ALL_BUT = re.compile(
    r"\b(?:only|apart from|except(?: for)?|but|besides|other than|seule?|sauf|hormis|a part)\s+"
    r"(?:the\s+|le\s+|la\s+|for\s+)?[`']?(?P<name>[a-z_]\w*)[`']?"
)
_REST = re.compile(r"\b(?:rest|everything|all|others?|everything else|tout|tous|le reste|les autres)\b")
_AFTER = re.compile(r"\b(?:after|behind|following|apres|a partir de)\s+(?:the\s+)?[`']?(?P<name>[A-Za-z_]\w*)")
_ORDER = re.compile(
    r"\b(?:swap\w*|exchang\w+|interchang\w+|revers\w+|re-?order\w*|order|wrong way round|other way (?:a)?round|first|"
    r"second|last|front|before|after|next to|ahead|interverti\w*|invers\w+|echang\w+|permut\w+|ordre|premier|second|"
    r"deuxieme|dernier|avant|apres|devant|->|→)\b"
)
_SWAP = re.compile(
    r"\b(?:swap\w*|exchang\w+|interchang\w+|revers\w+|flip\w*|other way (?:a)?round|wrong way round|"
    r"interverti\w*|invers\w+|echang\w+|permut\w+)\b"
)
_LINKS = r"(?:should |must |doit |is |be |comes? |goes? |as |in |en |its |the )*"
_PLACED = re.compile(
    rf"(?P<words>[\w`'-]+(?: [\w`'-]+){{0,2}}?) {_LINKS}(?P<where>first|second|last|front|premi|deuxi|derni|"
    r"at the end)",
    re.I,
)
_WHERE = {"front": "first", "premi": "first", "deuxi": "second", "derni": "last", "at the end": "last"}
_TWO = 2
_NEW_DEFAULT = re.compile(
    r"\bthat defaults to\b|\bwith (?:a|the) default\b|\bmandatory\b|\brequired\b|\bobligatoire\b|"
    r"\bwithout (?:a )?default\b"
)
"""What wants more of a parameter than that it is passed by name."""


def keyword_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The parameters that a task may want passed by name only.

    Args:
        task: with its mentions.
    """
    if not task.asks(_BY_NAME) or _NEW_DEFAULT.search(task.words):
        return
    said = _BY_NAME.search(task.words)
    cue = task.sentence_of(said.start() if said is not None else len(task.text) - 1)
    found = [(symbol, names) for symbol, known in _functions(task) if (names := _by_name(task, symbol, known, cue))]
    found = found or list(_in_files(task, cue))
    edits = {}
    for symbol, names in found:
        first, same = found[0][0], names == found[0][1]
        every = symbol.name == first.name and ALL_OF_THEM.search(task.words) is not None
        if symbol == first or (same and (every or _is_joined(task, symbol, first))):
            places = (NamedPlace(symbol.qualified, "function"),)
            mention = f"{symbol.path}:{symbol.qualified}"
            edits[mention] = ExactTask("keyword_only", ", ".join(names), "parameter", "", "", places, mention)
    if edits:
        yield list(edits.values())


def _functions(task: TaskMentions) -> Iterator[tuple[Symbol, list[str]]]:
    """The functions that a task mentions, with their parameters: those first whose parameters it names as well."""
    symbols = [s for m in task.functions() if m.is_code for s in m.symbols] or described_functions(task)
    symbols = symbols or [s for m in task.functions() for s in m.symbols]
    found = [(s, parameters_of(s, task.sources)) for s in symbols]
    found.sort(key=lambda pair: -len(_said(task, pair[0], pair[1])))
    yield from (pair for pair in found if pair[1])


def _in_files(task: TaskMentions, cue: int) -> Iterator[tuple[Symbol, list[str]]]:
    """The one function of a file that has a parameter of the name that a task gives."""
    names = [m.name for m in task.unknown if m.sentence == cue]
    inside = [s for m in task.files for s in task.sources.outline(m.path) if s.kind in ("function", "method")]
    found = [(s, said) for s in inside if (said := [n for n in names if n in parameters_of(s, task.sources)])]
    yield from found if len(found) == 1 else []


_BETWEEN = re.compile(
    r"[`()\s]*(?:,|as well as|ainsi que|,? ?(?:and|et))\s*(?:(?:on|in|of|for|to|dans|de|sur|pour|a)\s+)?[`\s]*"
)
"""What stands between the functions of a list."""


def _is_joined(task: TaskMentions, symbol: Symbol, first: Symbol) -> bool:
    """Whether a task names two functions in one list."""
    mentions = sorted(task.functions(), key=lambda m: m.start)
    lists: list[list[Mention]] = []
    for mention in mentions:
        last = lists[-1][-1] if lists else None
        if last is not None and _BETWEEN.fullmatch(task.words[last.end : mention.start]):
            lists[-1].append(mention)
        else:
            lists.append([mention])
    return any(all(any(s in m.symbols for m in listed) for s in (first, symbol)) for listed in lists)


def _said(task: TaskMentions, symbol: Symbol, known: Sequence[str]) -> list[str]:
    """The parameters that a task names, in its order."""
    own = {m.start for m in task.definitions if symbol in m.symbols}
    places = {
        name: [m.start() for m in re.finditer(rf"(?<![\w.]){re.escape(name)}(?!\w)", task.text) if m.start() not in own]
        for name in known
    }
    return sorted((name for name in known if places[name]), key=lambda name: places[name][0])


def _by_name(task: TaskMentions, symbol: Symbol, known: Sequence[str], cue: int) -> list[str]:
    """The parameters of a function that shall be keyword-only: those of the sentence that says so, else the first."""
    behind, rest = _AFTER.search(task.text), _REST.search(task.words)
    start, end = task.sentences[cue]
    inside = [n for n in _said(task, symbol, known) if is_written(n, re.sub(r"\([^()]*\)", "", task.text[start:end]))]
    said = inside or _said(task, symbol, known)[:1]
    if rest and behind is not None and behind["name"] in known:
        return list(known[known.index(behind["name"]) + 1 :])
    kept = [m["name"] for m in _ALL_BUT.finditer(task.text) if m["name"] in known]
    if rest and kept:
        return [name for name in known if name not in kept]
    return [name for name in said if name not in kept]


_MANDATORY = re.compile(
    r"\b(?:required|mandatory|no longer optional|obligatoires?|"
    r"(?:no|without|drop\w*|los\w+|remov\w+) (?:an? |the |its |their )?defaults?)\b|"
    r"\b(?:drop|remov\w+|supprim\w+|enlev\w+|retir\w+) (?:the |le )?[`\"']?= ?[\w.\"']+"
)


def required_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The parameters of a function that a task may want always given.

    Args:
        task: with its mentions.
    """
    if not task.asks(_MANDATORY):
        return
    optional = [(s, [n for n in _said(task, s, known) if _has_default(n, s, task)]) for s, known in _functions(task)]
    found = [(symbol, names) for symbol, names in optional if names]
    every = ALL_OF_THEM.search(task.words) is not None
    alike = [(s, n) for s, n in found if (s.name, n) == (found[0][0].name, found[0][1])]
    meant = alike if every else found[:1]
    if meant:
        yield [edit for symbol, names in meant for edit in _required(task, symbol, names)]


def _required(task: TaskMentions, symbol: Symbol, names: Sequence[str]) -> Iterator[ExactTask]:
    """The edits that make parameters of a function mandatory, and keyword-only where the task says so as well."""
    named = _BY_NAME.search(task.words) and not all(_is_keyword_only(n, symbol, task) for n in names)
    places = (NamedPlace(symbol.qualified, "function"),)
    for kind in ("require_parameter", *(("keyword_only",) if named else ())):
        yield ExactTask(kind, ", ".join(names), "parameter", "", "", places, f"{symbol.path}:{symbol.qualified}")


def _has_default(name: str, symbol: Symbol, task: TaskMentions) -> bool:
    """Whether a parameter has a default, as the first lines of its function say."""
    text = task.sources.workspace.index.lines(symbol.path, symbol.start_line, symbol.end_line) or ""
    return re.search(rf"(?<!\w){re.escape(name)}\s*(?::[^=,()]*(?:\[[^\]]*\])?[^=,()]*)?=(?!=)", text) is not None


def _is_keyword_only(name: str, symbol: Symbol, task: TaskMentions) -> bool:
    """Whether a parameter stands behind the `*` of its function."""
    text = task.sources.workspace.index.lines(symbol.path, symbol.start_line, symbol.end_line) or ""
    return re.search(rf"[(,]\s*\*(?:\w+[^,()]*)?,[^)]*?(?<!\w){re.escape(name)}(?!\w)", text) is not None


def order_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The order that a task may want the parameters of a function in.

    Args:
        task: with its mentions.
    """
    if not task.asks(_ORDER):
        return
    found: list[tuple[Symbol, ExactTask]] = []
    for symbol, known in _functions(task):
        order = _order(task, symbol, known)
        if order is None or order == list(known):
            continue
        name, position = single_move(known, order) or (", ".join(order), "listed")
        places = (NamedPlace(symbol.qualified, symbol.kind),)
        mention = f"{symbol.path}:{symbol.qualified}"
        extra = {"position": position}
        found.append((symbol, ExactTask("reorder_parameter", name, "parameter", "", "", places, mention, extra=extra)))
    joined = [edit for symbol, edit in found if symbol == found[0][0] or _is_joined(task, symbol, found[0][0])]
    if len(joined) > 1:
        yield joined
        return
    yield from ([edit] for _, edit in found)


def _order(task: TaskMentions, symbol: Symbol, known: Sequence[str]) -> list[str] | None:
    """The order of the parameters in a task, None where it says none."""
    written = _written_order(task.text, known)
    if written is not None:
        return written
    said = _placed(task, symbol, known)
    first, second, last = (said.get(where) for where in ("first", "second", "last"))
    if first is not None or last is not None:
        front = [name for name in (first, second) if name is not None]
        rest = [name for name in known if name not in front and name != last]
        return [*front, *rest, *([last] if last is not None else [])]
    beside = _beside(task, known)
    if beside is not None:
        return beside
    if not task.intent and not _SWAP.search(task.words):
        return None
    named = _said(task, symbol, known)
    if len(named) != _TWO:
        named = list(known) if len(known) == _TWO else _pair(task.words, known)
    swapped = dict(zip(named, named[::-1], strict=True)) if len(named) == _TWO else {}
    return [swapped.get(name, name) for name in known] if swapped else None


def _pair(words: str, known: Sequence[str]) -> list[str]:
    """The two parameters that words mean by their place, [] for none."""
    if re.search(r"\blast two\b|\bdeux derni\w+", words):
        return list(known[-2:])
    return list(known[:2]) if re.search(r"\bfirst two\b|\bdeux premi\w+", words) else []


def _written_order(text: str, known: Sequence[str]) -> list[str] | None:
    """The last list in parentheses that has all parameters in another order."""
    for inside in reversed(re.findall(r"\(([^()]*)\)", text)):
        names = [part.strip().split(":")[0].split("=")[0].strip("`*. ") for part in inside.split(",")]
        names = [name for name in names if name not in ("self", "cls")]
        if sorted(names) == sorted(known) and names != list(known):
            return names
    return None


def _placed(task: TaskMentions, symbol: Symbol, known: Sequence[str]) -> dict[str, str]:
    """Which parameter shall be first, second or last, by its name or by words that describe it."""
    found: dict[str, str] = {}
    for match in _PLACED.finditer(task.text):
        name = _parameter_meant(match["words"], symbol, known)
        where = match["where"].lower()
        if name:
            found.setdefault(_WHERE.get(where, where), name)
    return found


def _parameter_meant(words: str, symbol: Symbol, known: Sequence[str]) -> str:
    """The parameter that words name or describe, '' for none or several."""
    last = words.replace("`", "").split()
    for word in reversed(last):
        if word in known:
            return word
    wanted = terms_of(" ".join(w.lower() for w in last if len(w) > 2))
    types = dict(re.findall(r"(\w+)\s*:\s*([\w.\[\]| ]+)", symbol.signature))
    fits = [n for n in known if any(terms & (name_parts(n) | name_parts(types.get(n, ""))) for terms in wanted)]
    near = fits or [n for n in known if any(_begin_alike(word.lower(), n.lower()) for word in last if len(word) > 2)]
    return near[0] if len(near) == 1 else ""


def _begin_alike(word: str, name: str) -> bool:
    """Whether a word is short for a name, or the name for the word."""
    return word.startswith(name) or name.startswith(word)


_NEIGHBOUR = re.compile(
    r"(?P<where>right after|just after|after|behind|before|in front of|ahead of|next to|apres|avant|devant)\s+"
    r"(?:the\s+|le\s+|la\s+)?[`']?(?P<name>[A-Za-z_]\w*)"
)


def _beside(task: TaskMentions, known: Sequence[str]) -> list[str] | None:
    """The order where one parameter is to stand before or after another."""
    for match in _NEIGHBOUR.finditer(task.text):
        if match["name"] not in known:
            continue
        others = [n for n in known if n != match["name"] and is_written(n, task.text[: match.start()])]
        if len(others) != 1:
            continue
        rest = [n for n in known if n != others[0]]
        at = rest.index(match["name"]) + (
            match["where"] not in ("before", "in front of", "ahead of", "avant", "devant")
        )
        return [*rest[:at], others[0], *rest[at:]]
    return None
