"""A name that exists, and what it shall be called instead."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.intents.misspellings import MISSPELT
from repopilot.agents.editing.exact.intents.task_mentions import (
    ALL_OF_THEM,
    Mention,
    TaskMentions,
    parameters_of,
    place_of,
)
from repopilot.agents.editing.exact.locate import dotted
from repopilot.agents.editing.exact.renaming import METHODS
from repopilot.agents.editing.exact.sources import word_pattern
from repopilot.code.languages import file_kind, is_test_path
from repopilot.types import Symbol

_NAMING = re.compile(
    r"\bre-?nam\w+|\bcalled\b|\bnam(?:e|es|ed|ing)\b|\bcall (?:it|that|this|them|the \w+)\b|\bspelled\b|\bspelt\b|"
    r"\bmisspel\w+|\btypo\b|\brenomm\w+|\bappell?(?:er|e|ee|ent|ez|era|erait)\b|\bnomm\w+|\bnoms?\b|\bbaptis\w+|\borthograph\w*|\bfaute\b|snake_case|"
    r"camelcase|\bbecomes?\b|\bdevien\w+|\bdevenir\b|->|→"
)
_NAME = re.compile(r"\bnames?\b|\bnoms?\b")
"""What speaks of a name, but of a new one only where that stands beside it."""
_RENAME = re.compile(r"\b(?:re-?nam\w+|renomm\w+)\b")
_LINKS = r"(?:it|that|them|this|just|simply|rather|plutot|desormais|something|like|to|as|en|into|la|le|l')"
_BEFORE_NEW = re.compile(
    rf"(?:\b(?:call(?:ed)?|nam(?:e|ed)|renam(?:e|ed)|renomm\w+|appell?(?:er|e|ee|ent|ez|era|erait)|nomm\w+|"
    rf"baptis\w+)(?:[ -]{_LINKS})*"
    r"|(?:new )?name|nom|spelled|spelt|becomes?|devient|devenir|->|→)[\s,:]*(?:la |le |the )?[`\"'«“]?\s?$"
)
_NEW_THING = re.compile(
    r"\b(?:an?|another|new|optional|une?|nouvel\w*|autre)\s+(?:[\w-]+\s+){0,3}"
    r"(?:(?:called|named|nomm\w+|appel\w+)\s*)?[:`\"']*$"
)
"""What names something that is to be added."""
_INTO = re.compile(r"(?:\b(?:to|into|as|en|be|is)|->|→)\s+(?:just |simply |plain )?[`\"'«“]?\s?$")
_OTHER_WISH = re.compile(
    r"\b(?:required|mandatory|obligatoires?|use[sd]?|using|utilis\w+|set|sets|setting|defaults?|returns?|rais\w+|"
    r"throws?|add\w*|creat\w+|implement\w*|introduc\w+|writ\w+|logs?|"
    r"prints?|sends?|convert\w*|compar\w+|pass\w*|switch\w*|bump\w*|updat\w+|upgrad\w+|mov\w+|belongs?|inherit\w*|"
    r"subclass\w*|deriv\w+|extend\w*|wrap\w*|annotat\w+|types?|typed|import\w*|calls?|alias\w*|ajout\w+|renvo\w+|"
    r"retourn\w+|lev\w+|cre\w+|pass\w+|deplac\w+|herit\w+)\b"
)
"""What else may be wanted of what exists with a name that doesn't."""
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_ALIKE = 0.7
"""How alike names are of which one is surely the other's new form."""
_NEAR = 40
"""Characters around a name in which it is said what it is."""
_SHORTEST = 3
"""Letters of a new name that could be a word of prose."""
_NO_NAMES = frozenset("only too instead here there everywhere again seulement aussi ici partout".split())
_OTHER_ROLE = re.compile(
    r"\b(?:like|as|beside|unlike|next to|similar to|match\w*|comme|avec|with|used by|by|par|that|which|qui|que|whose|"
    r"than|to match)\s+(?:the\s+|la\s+|le\s+)?`?$|"
    r"\b(?:field|method|parameter|attribute|property|member|argument|champ|methode|parametre|attribut|propriete)\w*"
    r"\s+(?:of|in|on|de|du|dans)\s+(?:the\s+|la\s+|le\s+|class\s+)?`?$"
)
"""What stands before a name that is only spoken of."""
_PLACE = re.compile(
    r"[`)\"'\s]*(?:[a-z]+\s+){0,2}(?:in|of|from|inside|to|by|on|for|dans|de|du|des|par|a)\s+(?:the\s+|la\s+|le\s+)?"
    r"(?:function\s+|class\s+|method\s+|fonction\s+|classe\s+|methode\s+)?[`\"']?"
)
"""What stands between a thing and where it is."""
_PARAMETER = re.compile(r"\b(?:param\w*|arg(?:ument)?s?|kwargs?|keyword)\b")
_ATTRIBUTE = re.compile(r"\b(?:attributes?|fields?|attributs?|champs?)\b")
_VARIABLE = re.compile(r"\b(?:variables?|locals?|locale)\b")
_MODULE = re.compile(r"\b(?:modules?|files?|fichiers?)\b(?!-)")
_ORDINALS = {
    "first": 0, "premier": 0, "1st": 0, "second": 1, "deuxieme": 1, "2nd": 1, "third": 2, "troisieme": 2, "3rd": 2,
    "fourth": 3, "quatrieme": 3, "last": -1, "dernier": -1,
}  # fmt: skip
_NTH = re.compile(
    rf"\b(?P<nth>{'|'.join(_ORDINALS)})\s+(?:positional\s+)?(?:param\w*|arg\w*)|"
    rf"(?:param\w*|arg\w*)\s+(?P<apres>{'|'.join(_ORDINALS)})\b"
)
_BETWEEN = re.compile(
    rf"[`)\"'\s,]*(?:(?:should|must|could|can|had better|doit|devrait|peut|be|to|s'|simply|just|rather|→|->|"
    rf"{_LINKS}|called|named|renamed|appeler|nommer|devenir|become|becomes|devient)[\s`\"'«]*)+$"
)
"""What may stand between the old and the new name where one follows the other."""


@dataclass(frozen=True, slots=True)
class _New:
    """A new name, and where it begins as the task writes it in full."""

    name: str
    at: int


def rename_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The renames that a task may ask for, likeliest first.

    Args:
        task: with its mentions.
    """
    files = _renamed_file(task)
    if files is not None:
        yield [files]
        return
    pairs = _pairs(task)
    if len(pairs) > 1:
        yield [ExactTask("rename", old.name, "", new.name) for old, new in pairs]
        return
    new = _new_name(task)
    if new is None:
        return
    sentence = task.sentence_of(new.at)
    old = [m for m in _old_names(task, new, sentence) if _may_be_misspelt(m, new, task)]
    words = " ".join(task.sentence(n) for n in sorted({sentence, *(m.sentence for m in old[:1])}))
    parameters = list(_of_parameter(task, new.name, words))
    if parameters or _is_parameter(task, old):
        same = [edit for edit in parameters if edit.name == parameters[0].name]
        yield from [same] if same else _everywhere(task, old[0].last, new.name)
        return
    if old:
        yield from _of_mention(old[0], new, words, task)


def _of_mention(mention: Mention, new: _New, words: str, task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The rename of a module, of a definition, of fields of one name, or of a variable.

    Args:
        mention: what is renamed.
        new: its new name.
        words: the sentences that say so, folded.
        task: with its mentions.
    """
    fields = {s.qualified for s in mention.symbols if s.kind == "attribute"}
    if mention.path:
        if _MODULE.search(words):
            yield [_renamed_module(mention, new)]
    elif len(fields) > 1:
        yield [ExactTask("rename", field, "", new.name) for field in sorted(fields)]
    elif len(mention.symbols) > 1 and ALL_OF_THEM.search(words) and all(s.kind in METHODS for s in mention.symbols):
        if mention.symbols[0].path.endswith((".py", ".pyi")):
            yield [ExactTask("rename", s.qualified, "", new.name, "", place_of(s)[1:]) for s in mention.symbols]
        else:
            yield [ExactTask("rename", mention.last, "", new.name, extra={"all": "yes"})]
    elif mention.symbols:
        places = tuple(NamedPlace(p, "file") for p in _paths_of(mention, task))
        meant = _of_kind_said(mention, task)
        place = f"{meant.path}:{meant.qualified}" if meant is not None else ""
        edit = ExactTask("rename", mention.name, "", new.name, "", places, place)
        file = _new_file(mention, task) if _MODULE.search(words) else None
        yield [edit, file] if file is not None else [edit]
    else:
        yield from ([edit] for edit in _of_variable(task, mention.name, new.name))


def _renamed_file(task: TaskMentions) -> ExactTask | None:
    """The rename of the one file that a task names to the one path beside it that doesn't exist."""
    known = task.sources.workspace.index.files
    paths = [m for m in task.files if "." in posixpath.basename(m.name)]
    old, new = ([m for m in paths if (m.path in known) is there] for there in (True, False))
    if len(old) > 1 and len(new) == 1:  # the others only have to follow
        old = [m for m in old if m.end <= new[0].start and _BETWEEN.match(task.words[m.end : new[0].start])]
    if len(old) != 1 or len(new) != 1 or old[0].start > new[0].start or not task.asks(_NAMING):
        return None
    return ExactTask("rename_file", old[0].name, "file", new[0].name)


def _pairs(task: TaskMentions) -> list[tuple[Mention, Mention]]:
    """Several old names, each with its new one: directly before it, or so like it as no other; [] for anything else."""
    if len(task.fresh) < 2 or not task.asks(_NAMING):
        return []
    found = [
        (old, new)
        for new in task.fresh
        for old in task.definitions
        if old.end <= new.start and _BETWEEN.match(task.words[old.end : new.start])
    ]
    if tuple(new for _, new in found) == task.fresh:
        return found
    alike = [(_most_alike(new, task.definitions), new) for new in task.fresh if task.definitions]
    sure = all(_likeness(old, new) >= _ALIKE for old, new in alike)
    return alike if sure and len({old.last for old, _ in alike}) == len(task.fresh) else []


def _most_alike(new: Mention, known: Sequence[Mention]) -> Mention:
    """The name that a new one is most like, first of all one that is a part of it."""
    return max(known, key=lambda old: (old.last in new.last, _likeness(old, new)))


def _likeness(old: Mention, new: Mention) -> float:
    return difflib.SequenceMatcher(None, old.last.lower().strip("_"), new.last.lower().strip("_")).ratio()


def _new_name(task: TaskMentions) -> _New | None:
    """The one name that follows words of naming and that nothing has."""
    index = task.sources.workspace.index
    passed = {n for m in task.functions() for s in m.symbols for n in parameters_of(s, task.sources)}
    unknown = [m for m in task.unknown if not task.is_kept(m) and len(m.last) > 1 and m.last not in passed]
    unknown = [m for m in unknown if not _NAMING.fullmatch(m.name.lower())]
    scored: dict[str, tuple[int, _New]] = {}
    for match in _IDENTIFIER.finditer(task.text):
        own = next((m for m in unknown if m.start <= match.start() < m.end), None)
        if index.symbols(match[0]) or match[0] in passed or (own is not None and own.last != match[0]):
            continue
        at = own.start if own is not None else match.start()
        score = _fit(task, own, at, match.end())
        if score > scored.get(match[0], (0, None))[0]:
            scored[match[0]] = (score, _New(match[0], at))
    fresh = {m.last for m in unknown if m in task.fresh} | {name for name, (score, _) in scored.items() if score >= 4}
    if len(fresh) > 1:  # two new names are of two renames, or of something new
        return None
    best = max((score for score, _ in scored.values()), default=0)
    found = [new for score, new in scored.values() if score == best]
    return found[0] if len(found) == 1 and best >= 2 else None


def _fit(task: TaskMentions, own: Mention | None, at: int, end: int) -> int:
    """How well a name fits as the new one, by the words before it; 0 for not at all."""
    before = task.words[:at]
    direct, into = _BEFORE_NEW.search(before) is not None, _INTO.search(before) is not None
    sentence = task.sentence(task.sentence_of(at))
    asked = bool(task.intent)
    spoken = direct or _NAMING.search(_NAME.sub("", sentence)) is not None
    if not spoken and (not asked or _OTHER_WISH.search(sentence)):
        return 0
    if not asked and _NEW_THING.search(before):
        return 0
    joined = _RENAME.search(sentence) is not None and any(
        m.is_code and m.end <= at and _BETWEEN.fullmatch(task.words[m.end : at]) for m in task.definitions
    )
    plain = (direct or joined) and end - at >= _SHORTEST and _ends_phrase(task.text, end)
    word = task.text[at:end]
    plain = plain and word.lower() not in _NO_NAMES and (joined or asked or not task.sources.mentioning(word))
    if own is None and not plain:
        return 0
    fresh = own is not None and own in task.fresh
    return 3 * (direct or joined) + 2 * into + 2 * (own is not None) + (asked and fresh)


def _ends_phrase(text: str, at: int) -> bool:
    """Whether a plain word is the last of its phrase, as a name would be."""
    return re.match(
        r"[`\"'»”]?\s*(?:$|[,;:!()]|\.(?!\w)|(?:in|throughout|everywhere|instead|there|dans|partout)\b)", text[at:]
    ) is not None  # fmt: skip


def _old_names(task: TaskMentions, new: _New, sentence: int) -> list[Mention]:
    """What may be renamed, likeliest first."""
    files = task.files if _MODULE.search(task.words) else ()
    known = [m for m in (*task.definitions, *files, *task.unknown) if _may_be_old(m, new, task)]
    strong = [m for m in known if m.is_code] or known
    strong = [m for m in strong if not _is_place(m, strong, task)]
    return sorted(strong, key=lambda m: (-_old_score(m, new, task, sentence), m.start))


def _may_be_old(mention: Mention, new: _New, task: TaskMentions) -> bool:
    if mention.last == new.name or mention.start == new.at or task.is_kept(mention):
        return False
    if _OTHER_ROLE.search(task.words[: mention.start]):
        return False
    return bool(mention.symbols or mention.path in task.sources.workspace.index.files) or (
        not mention.path and bool(task.sources.mentioning(mention.last))
    )


def _may_be_misspelt(mention: Mention, new: _New, task: TaskMentions) -> bool:
    """Whether a name is nearly the new one, where a task speaks of a misspelt name without asking for a rename."""
    if not MISSPELT.search(task.words) or _RENAME.search(task.words):
        return True
    return _likeness(mention, Mention(new.name, new.at, new.at, mention.sentence)) >= _ALIKE


def _is_place(mention: Mention, others: Sequence[Mention], task: TaskMentions) -> bool:
    """Whether a mention only says where the one before it is."""
    before = [m for m in others if m.end <= mention.start]
    return bool(before) and _PLACE.fullmatch(task.words[before[-1].end : mention.start]) is not None


def _old_score(mention: Mention, new: _New, task: TaskMentions, sentence: int) -> float:
    """How likely a mention is what is renamed: it stands before the new name, is like it, or is in its sentence."""
    joined = mention.end <= new.at and _BETWEEN.match(task.words[mention.end : new.at]) is not None
    alike = _likeness(mention, Mention(new.name, new.at, new.at, sentence))
    before = mention.sentence == sentence and mention.start < new.at
    return 3 * joined + 2 * alike + 0.6 * before + 0.4 * (mention.start < new.at)


def _of_parameter(task: TaskMentions, new: str, words: str) -> Iterator[ExactTask]:
    """The rename of a parameter that is named as one, or told by its position."""
    nth = _NTH.search(words)
    if nth is None and not _PARAMETER.search(words):
        return
    for function in task.functions():
        for symbol in function.symbols:
            if symbol.kind == "class" and _ATTRIBUTE.search(words):  # the parameter follows its attribute
                continue
            known = parameters_of(symbol, task.sources)
            said = [n for n in task.parameters_said(symbol, task.text) if n != new]
            if not said and nth is not None and known:
                position = _ORDINALS[nth["nth"] or nth["apres"]]
                said = known[position : position + 1 or None]
            for name in said[:1]:
                yield ExactTask("rename_parameter", name, "parameter", new, "", place_of(symbol))


def _is_parameter(task: TaskMentions, old: Sequence[Mention]) -> bool:
    """Whether a task calls what is renamed a parameter."""
    return bool(old) and re.search(rf"{_PARAMETER.pattern}\s+[`\"']?$", task.words[: old[0].start]) is not None


def _everywhere(task: TaskMentions, name: str, new: str) -> Iterator[list[ExactTask]]:
    """The rename of a parameter in all functions that have it, where these are in one file."""
    index = task.sources.workspace.index
    found = [
        symbol
        for path in task.sources.mentioning(name)
        if file_kind(path) == "code" and not is_test_path(path)
        for symbol in index.outline(path)
        if symbol.kind in ("function", "method") and name in parameters_of(symbol, task.sources)
    ]
    if len({symbol.path for symbol in found}) == 1:
        yield [
            ExactTask(
                "rename_parameter", name, "parameter", new, "", (NamedPlace(s.qualified), NamedPlace(s.path, "file"))
            )
            for s in found
        ]


def _of_variable(task: TaskMentions, name: str, new: str) -> Iterator[ExactTask]:
    """The rename of a variable in a function that the task names, or of what isn't in the index."""
    for place in _functions_with(name, task):
        yield ExactTask("rename", name, "variable", new, "", (place,))
    if not _VARIABLE.search(task.words):
        yield ExactTask("rename", name, "", new)


def _functions_with(name: str, task: TaskMentions) -> Iterator[NamedPlace]:
    """The functions that a task mentions and that have a name in them."""
    pattern = word_pattern(name)
    for mention in task.functions():
        for symbol in mention.symbols:
            text = task.sources.workspace.index.lines(symbol.path, symbol.start_line, symbol.end_line) or ""
            if pattern.search(text.encode()):
                yield NamedPlace(symbol.qualified, "function")


def _paths_of(mention: Mention, task: TaskMentions) -> Sequence[str]:
    """The files that a task names beside one of several definitions."""
    named = {m.path for m in task.files}
    return [path for path in named if len(mention.symbols) > 1 and any(s.path == path for s in mention.symbols)]


def _of_kind_said(mention: Mention, task: TaskMentions) -> Symbol | None:
    """Of several definitions of a name the one that the task calls a function, or a method; None for no such."""
    near = task.words[max(0, mention.start - _NEAR) : mention.end + _NEAR]
    if len(mention.symbols) < 2 or ("method" in near) == ("function" in near):
        return None
    kind = "method" if "method" in near else "function"
    found = [s for s in mention.symbols if s.kind == kind]
    return found[0] if len(found) == 1 else None


def _new_file(mention: Mention, task: TaskMentions) -> ExactTask | None:
    """The rename of the file of a definition to the one new path that the task gives."""
    fresh = [m.path for m in task.files if m.path not in task.sources.workspace.index.files]
    paths = {s.path for s in mention.symbols}
    return ExactTask("rename_file", paths.pop(), "file", fresh[0]) if len(fresh) == len(paths) == 1 else None


def _renamed_module(mention: Mention, new: _New) -> ExactTask:
    """The rename of a module, by its full name where the task gives that, so that texts can follow."""
    if "." in dotted(mention.name) and mention.path.endswith(".py"):
        owner = dotted(mention.name).rpartition(".")[0]
        return ExactTask("rename_file", dotted(mention.name), "module", f"{owner}.{new.name}")
    folder, name = posixpath.split(mention.path)
    return ExactTask(
        "rename_file", mention.path, "file", posixpath.join(folder, f"{new.name}{posixpath.splitext(name)[1]}")
    )
