"""What is to be there as well: an entry of a list, a name that a package exports; and another default."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.intents.task_mentions import Mention, TaskMentions
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of

_EXPORTING = re.compile(
    r"\b(?:(?:re-?)?export\w*|importable|be imported|available|expos\w+|accessible|from the package|at the top level|"
    r"importer directement|top-level)\b"
)
_REMOVING = re.compile(r"\b(?:remov\w+|delet\w+|drop\w*|stop\w*|no longer|supprim\w+|retir\w+|enlev\w+|ne \w+ plus)\b")
_ADDING = re.compile(r"\b(?:add\w*|append\w*|includ\w+|ajout\w+|missing|lacks?|belongs?|put|know|accept|manque)\b")
_DEFAULT = re.compile(r"\b(?:defaults?|par defaut|unless (?:told|given|you)|when not given)\b")
_VALUE = re.compile(r"-?\d|True|False|None")
_CONTAINERS = re.compile(r"=\s*(?:[\w.\[\], ]+\()?\s*[\[{(]|=\s*(?:frozenset|set|tuple|list|dict)\(|:=|\{|\[\]")
_PAIR = re.compile(r"[`\"']?(?P<key>[\w.-]+)[`\"']?\s*(?:→|->|=>|:|=)\s*(?P<value>[`\"']?[\w./-]+[`\"']?)")


def export_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The names that a package shall export.

    Args:
        task: with its mentions.
    """
    if not _EXPORTING.search(task.words) or _REMOVING.search(task.words):
        return
    index = task.sources.workspace.index
    packages = _packages(task)
    names = [m for m in task.definitions if m.is_code and len(m.symbols) == 1 and re.match(r"(?!__)\w+$", m.name)]
    first = min((m.sentence for m in names), default=0)
    names = [m for m in names if m.sentence == first and not _is_example(m, task)]
    roots = {path for m in names for path in _roots(m.symbols[0].path, index.files)}
    package = packages or list(roots) if len(packages or roots) == 1 else []
    if names and package:
        place = NamedPlace(package[0])
        yield [ExactTask("export", name, "", places=(place,)) for name in dict.fromkeys(m.last for m in names)]


def _packages(task: TaskMentions) -> list[str]:
    """The packages that a task names as those to import from."""
    index = task.sources.workspace.index
    known = {p.rpartition("/")[0].rpartition("/")[2] for p in index.files if p.endswith("/__init__.py")}
    found = re.findall(r"(?:from|in|of|by|de|dans|depuis) (?:the )?`?([A-Za-z_]\w*)`?", task.text)
    return list(dict.fromkeys(name for name in found if name in known))[:1]


def _roots(path: str, files) -> Iterator[str]:
    """The outermost package that a file is in."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        if "/".join([*parts[:depth], "__init__.py"]) in files:
            yield parts[depth - 1]
            return


def _is_example(mention: Mention, task: TaskMentions) -> bool:
    return re.search(r"\b(?:like|as|comme|beside|next to)\s+`?$", task.words[: mention.start]) is not None


def entry_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The entries that a list or table of the code shall have as well.

    Args:
        task: with its mentions.
    """
    adding = _ADDING.search(task.words)
    containers = [m for m in task.definitions if m.is_code and len(m.symbols) == 1 and _is_container(m)]
    if adding is None or len({m.last for m in containers}) != 1:
        return
    sentence = task.sentence_of(adding.start())
    start, end = task.sentences[sentence]
    text = task.text[start:end]
    container = containers[0]
    pair = _PAIR.search(re.sub(rf"\b{re.escape(container.name)}\s*:", "", text))
    if pair is not None:
        key, value = pair["key"], pair["value"].strip("`")
        yield [ExactTask("add_member", container.name, "", f"{_quoted(key)}: {value}")]
        yield [ExactTask("add_member", container.name, "", f"{key}: {value}")]
        return
    items = [
        t.code for t in tokens_of(text) if t.kind == "literal" or (t.kind == "quoted" and t.inner != container.name)
    ]
    items = [item for item in items if item.strip("`") != container.name]
    if items:
        yield [ExactTask("add_member", container.name, "", item) for item in dict.fromkeys(items)]


def _is_container(mention: Mention) -> bool:
    return _CONTAINERS.search(mention.symbols[0].signature) is not None


def _quoted(key: str) -> str:
    return key if re.fullmatch(r"[\d.]+", key) else f'"{key}"'


def default_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The default that a parameter shall have.

    Args:
        task: with its mentions.
    """
    if not _DEFAULT.search(task.words):
        return
    literals = {t.text for t in tokens_of(task.text) if t.kind == "literal" and _VALUE.match(t.text)}
    new = [m for m in task.unknown if not task.sources.mentioning(m.last)]
    named = ({(s, n) for s in m.symbols for n in task.parameters_said(s, task.text)} for m in task.functions())
    found = next((pairs for pairs in named if pairs), set())
    if len(literals) == 1 and len(found) == 1 and not new:
        symbol, name = found.pop()
        places = (NamedPlace(symbol.qualified, "function"), NamedPlace(symbol.path, "file"))
        yield [ExactTask("set_default", name, "", literals.pop(), "", places)]
