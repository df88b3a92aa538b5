"""Which blocks of a reply may be carried out: what they write stands in the task or beside the lines. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.agents.editing.exact.wording.task_tokens import Token, folded
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of as task_tokens
from repopilot.agents.editing.search_replace.alignment import REMOVING, with_indentation, with_left_out, with_repeated
from repopilot.agents.editing.search_replace.blocks import SearchReplaceBlock
from repopilot.agents.editing.search_replace.excerpts import LineExcerpt
from repopilot.code.languages import is_test_path
from repopilot.index.tokens import tokens_of

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SEVERAL = re.compile(
    r"\b(?:also|both|too|as well|everywhere|(?:in|to|for|from) (?:all|each|every)|two|three|same (?:for|goes|in)|"
    r"aussi|partout|deux|trois|chaque|and (?:in|to|for|from|its|the|then|use)|et (?:dans|de|du|la|le))\b"
)
_AND = re.compile(rf"{_SEVERAL.pattern}|\b(?:and|et)\b|[,;]")
_BOUNDED = re.compile(
    r"\b(?:stays?|remains?|keeps?|untouched|unchanged|only|don't (?:touch|change)|leave|rest\w*|garde\w*|inchang\w+|"
    r"seulement|touche\w*)\b"
)
"""What a task says about what is not to change."""
_ABBREVIATION = 4
"""Letters."""
_NUMBERS = {
    "0": re.compile(r"\b(?:zero|negative|positive|empty|nothing|null|n[ée]gati\w+|positi\w+|vide)\b", re.I),
    "1": re.compile(r"\b(?:one|single|once|first|last|une?|premi[eè]re?|derni[eè]re?)\b", re.I),
    "2": re.compile(r"\b(?:two|twice|double|half|deux|moiti[ée]|second)\b", re.I),
}
"""Words that stand for numbers."""
_FENCE = re.compile(r"\s*```\w*\s*")
"""A line that ends or begins the reply's code, not a line of the file."""
_SAME_PLACE = 15
"""Lines; what is added once isn't added again so near."""
_MOST_UNCHANGED = 2
"""Blocks that write the same lines again; a model that has begun to copy goes on copying."""


@dataclass(frozen=True, slots=True)
class LineReplacement:
    """Lines of a file that are replaced, counted from 0, the end exclusive."""

    path: str
    first: int
    last: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def _changes_something(made: LineReplacement) -> bool:
    return [x.strip() for x in made.old if x.strip()] != [x.strip() for x in made.new if x.strip()]


def _is_useful(made: LineReplacement, task: str, wanted: Sequence[str]) -> bool:
    """Whether something is changed that the task speaks of, and nothing is lost that it only names."""
    old, new = (Counter(_TOKEN.findall(_plain("\n".join(lines)))) for lines in (made.old, made.new))
    lost = {token for token in old - new if token not in new}
    if not wanted and not REMOVING.search(folded(task)) and lost & _quoted(task):
        return False
    changed = {token for token in (new - old) + (old - new) if token[0].isalnum() or token[0] == "_"}
    given = {_plain(t.inner) for t in task_tokens(task) if t.kind in ("quoted", "literal")}
    if not changed or given & set(new - old) or any(code in _text_added(made) for code in wanted):
        return True
    return any(tokens_of(token) & tokens_of(task) for token in changed)


def _quoted(task: str) -> set[str]:
    """The words of the longer texts that a task quotes."""
    quoted = [t.inner for t in task_tokens(task) if t.kind == "quoted" and " " in t.inner]
    return {word for text in quoted for word in re.findall(r"\w+", text)}


def _copies(made: LineReplacement, excerpts: Sequence[LineExcerpt]) -> bool:
    """Whether all that is added stands among the lines shown of the file already, and nothing goes."""
    shown = {line.strip() for e in excerpts if e.path == made.path for line in e.lines}
    added = [line.strip() for line in _added(made) if line.strip()]
    return bool(added) and set(made.old) <= set(made.new) and set(added) <= shown


def new_code(task: str, excerpts: Sequence[LineExcerpt]) -> list[str]:
    """The names, values and texts of a task that none of the lines shown has: what is likely to be written.

    Args:
        task: on one line.
        excerpts: what the model is shown.
    """
    shown = _plain("\n".join(line for excerpt in excerpts for line in excerpt.lines))
    tokens = [t for t in task_tokens(task) if t.kind in ("name", "quoted", "literal") and not t.is_path]
    texts = dict.fromkeys(_plain(_written(t)) for t in tokens if not _is_prose(t))
    known = f"{shown}\n{' '.join(shown.split())}"  # texts of documents are wrapped
    return [t for t in texts if t and not re.search(rf"(?<!\w){re.escape(t)}(?!\w)", known)]


def _plain(text: str) -> str:
    """A text with its whole numbers written one way: `0644` and `0o644`, `1_000` and `1000` are the same."""
    return re.sub(r"(?<=\d)_(?=\d)", "", re.sub(r"\b0[oO]?([0-7]{2,})\b", r"0o\1", text))


def _written(token: Token) -> str:
    """How a piece of a task would stand in code: of a qualified name the last part, of an entry the value."""
    text = token.inner.strip("\"'«»“”` ").removesuffix("()").rstrip(".")
    entry = re.fullmatch(r"['\"]?[\w-]+['\"]?\s*[:=]\s*(\S+)", text)
    text = entry[1].strip("\"'") if entry is not None else text
    return text.rpartition(".")[2] if token.kind == "name" else text


def _is_prose(token: Token) -> bool:
    """Whether a piece is an abbreviation of the language, as CLI or RFC."""
    return (
        token.kind == "name" and token.inner.isalpha() and token.inner.isupper() and len(token.inner) <= _ABBREVIATION
    )


def replacements(
    blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], task: str
) -> list[LineReplacement]:
    """What the blocks of a reply replace: the first useful one, and further ones as far as the task goes on.

    Lines that a block leaves out though the task removes nothing stay.

    Args:
        blocks: of the reply.
        excerpts: what the model was shown.
        task: on one line.
    """
    wanted = new_code(task, excerpts)
    several = _SEVERAL.search(folded(task)) is not None
    bounded = _BOUNDED.search(folded(task)) is not None
    found: list[LineReplacement] = []
    for block in blocks:
        made = _replacement(block, excerpts, task)
        if made is None or not _changes_something(made):
            continue
        if not _is_useful(made, task, wanted) or _copies(made, excerpts):
            break
        if found and not _goes_further(made, found, wanted, several=several, bounded=bounded):
            break
        if not any(_overlap(made, other) or _repeats(made, other) for other in found):
            found.append(made)
    return found


def is_finished(blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], task: str) -> bool:
    """Whether no further block can belong to the task: the last one does not, or all is written that one thing needs.

    Args:
        blocks: the reply so far.
        excerpts: what the model was shown.
        task: on one line.
    """
    made = replacements(blocks, excerpts, task)
    if not made or made == replacements(blocks[:-1], excerpts, task):
        return bool(made)
    wanted = new_code(task, excerpts)
    words = folded(task)
    single = not _AND.search(words) or (_BOUNDED.search(words) is not None and not _SEVERAL.search(words))
    return bool(wanted) and single and not unwritten(made, wanted)


def is_hopeless(blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], task: str) -> bool:
    """Whether no block that follows could be used: one is not about the task, or the reply goes round in circles.

    Args:
        blocks: the reply so far.
        excerpts: what the model was shown.
        task: on one line.
    """
    if not blocks or replacements(blocks, excerpts, task):
        return False
    made = [each for block in blocks if (each := _replacement(block, excerpts, task)) is not None]
    if any(_changes_something(each) for each in made):
        return True  # a useless block ends the reading of a reply
    return len(blocks) >= _MOST_UNCHANGED or blocks[-1] in blocks[:-1]


def _goes_further(
    made: LineReplacement, found: Sequence[LineReplacement], wanted: Sequence[str], *, several: bool, bounded: bool
) -> bool:
    """Whether a further block belongs to the task: it writes what the task gives, and that isn't all done yet or may be
    wanted at several places."""
    if is_test_path(made.path) and not is_test_path(found[0].path) and not several:
        return False
    if not wanted:
        return several
    adds = any(code in _text_added(made) for code in wanted)
    near = not bounded and made.path == found[0].path
    return adds and (several or near or unwritten(found, wanted) != [])


def unwritten(made: Sequence[LineReplacement], wanted: Sequence[str]) -> list[str]:
    """Which of the code that is wanted no replacement adds.

    Args:
        made: what is replaced.
        wanted: of `new_code`.
    """
    written = "\n".join(_text_added(each) for each in made)
    return [code for code in wanted if code not in written]


def invented(made: Sequence[LineReplacement], task: str, known: Callable[[str, str], bool]) -> list[str]:
    """The names and numbers that replacements write and that neither the task nor the repository has.

    Args:
        made: what is replaced.
        task: what was asked for.
        known: whether a file, or the repository, has a name.
    """
    words, written = tokens_of(task), set(re.findall(r"\w+", _plain(task)))
    written |= {digit for digit, said in _NUMBERS.items() if said.search(task)}
    found = []
    for each in made:
        old = set(re.findall(r"\w+", _plain("\n".join(each.old))))
        for token in dict.fromkeys(re.findall(r"\w+", _text_added(each))):
            if token in old or token in written or (tokens_of(token) and tokens_of(token) <= words):
                continue
            if token[0].isdigit() or not known(each.path, token):
                found.append(token)
    return found


def _replacement(block: SearchReplaceBlock, excerpts: Sequence[LineExcerpt], task: str) -> LineReplacement | None:
    """What a block replaces; None where its lines aren't among those shown, or several times."""
    size = len(block.old)
    found = []
    for excerpt in excerpts:
        for at in range(len(excerpt.lines) - size + 1):
            if excerpt.path == block.path and excerpt.lines[at : at + size] == block.old:
                found.append((excerpt.first + at, excerpt.lines[at + size :]))
    if len(found) != 1:
        return None
    first, below = found[0]
    own = tuple(line for line in block.new if line in block.old or not _FENCE.fullmatch(line))
    new = with_indentation(block.old, own)
    old = with_repeated(block.old, new, below)
    return LineReplacement(block.path, first, first + len(old), old, with_left_out(old, new, task))


def _added(made: LineReplacement) -> list[str]:
    return [line for line in made.new if line not in made.old]


def _text_added(made: LineReplacement) -> str:
    return _plain("\n".join(_added(made)))


def _overlap(one: LineReplacement, other: LineReplacement) -> bool:
    return one.path == other.path and one.first < other.last and other.first < one.last


def _repeats(one: LineReplacement, other: LineReplacement) -> bool:
    """Whether what one adds has been added near to it already."""
    added = {line.strip() for line in _added(one) if len(line.strip()) > 2}
    near = one.path == other.path and abs(one.first - other.first) < _SAME_PLACE
    return near and bool(added) and added <= {line.strip() for line in _added(other)}
