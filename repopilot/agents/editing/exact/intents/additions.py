"""What is to be there as well: an entry of a list, a name that a package exports; and another default."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.exports.python_packages import package_named, top_package
from repopilot.agents.editing.exact.intents.task_mentions import Mention, TaskMentions, place_of
from repopilot.agents.editing.exact.locate import path_named
from repopilot.agents.editing.exact.wording.task_tokens import tokens_of

_EXPORTING = re.compile(
    r"\b(?:(?:re-?)?export\w*|importable|be imported|available|expos\w+|accessible|from the package|at the top level|"
    r"importer directement|top-level)\b"
)
_REMOVING = re.compile(r"\b(?:remov\w+|delet\w+|drop\w*|stop\w*|no longer|supprim\w+|retir\w+|enlev\w+|ne \w+ plus)\b")
_ADDING = re.compile(r"\b(?:add\w*|append\w*|includ\w+|ajout\w+|missing|lacks?|belongs?|put|know|accept|manque)\b")
_DEFAULT = re.compile(r"\b(?:defaults?|par defaut|unless (?:told|given|you)|when not given)\b")
_LIST_OF = re.compile(r"__all__`?\s+(?:in|of|from|de|dans)\s")
"""What names the module whose list is meant."""
_WITHOUT_DOCSTRING = re.compile(
    r"\b(?:no|without|lacks?|needs?|missing|gets?|give|add|write|wants?|deserves?|should (?:have|say|read|be)|put|"
    r"pas de|sans|manque|ajout\w+|donne\w*)\b"
)
_VALUE = re.compile(r"-?\d|True|False|None")
_CONTAINERS = re.compile(r"=\s*(?:[\w.\[\], ]+\()?\s*[\[{(]|=\s*(?:frozenset|set|tuple|list|dict)\(|:=|\{|\[\]")
_PAIR = re.compile(r"[`\"']?(?P<key>[\w.-]+)[`\"']?(?:\s*(?:→|->|=>|=)\s*|:\s*)(?P<value>[`\"']?[\w./-]+[`\"']?)")


def export_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The names that a package shall export.

    Args:
        task: with its mentions.
    """
    if not _EXPORTING.search(task.words) or _REMOVING.search(task.words):
        return
    file = _package_file(task)
    named = (m for m in task.definitions if m.is_code or (file and m.name[:1].isupper()))
    names = [m for m in named if len(m.symbols) == 1 and re.match(r"(?!__)\w+$", m.name)]
    first = min((m.sentence for m in names), default=0)
    names = [m for m in names if m.sentence == first and not _is_example(m, task)]
    package = file or _package_said(task) or ("" if _LIST_OF.search(task.text) else _package_of(names, task))
    if names and package:
        place = NamedPlace(package)
        extra = {"module": "yes"} if package.endswith(".py") and not package.endswith("__init__.py") else {}
        yield [
            ExactTask("export", name, "", places=(place,), extra=extra) for name in dict.fromkeys(m.last for m in names)
        ]


def _package_said(task: TaskMentions) -> str:
    """The first package that a task names as one to import from, or the path of the module; '' for none."""
    found = re.findall(r"(?:from|in|of|by|de|dans|depuis) (?:the )?`?([A-Za-z_]\w*(?:\.\w+)*)`?", task.text)
    for name in found:
        if package_named(name, task.sources) is not None:
            return name
        module = path_named(f"{name.replace('.', '/')}.py", task.sources.workspace.index) if "." in name else None
        if module is not None:
            return module
    return ""


def _package_file(task: TaskMentions) -> str:
    """The `__init__.py` that a task names, or the module where it speaks of `__all__`; '' for none or several."""
    end = ".py" if "__all__" in task.text else "__init__.py"
    found = {m.path for m in task.files if m.path.endswith(end) and m.path in task.sources.workspace.index.files}
    return found.pop() if len(found) == 1 else ""


def _package_of(names: Sequence[Mention], task: TaskMentions) -> str:
    """The outermost package that all of some definitions are in, '' for none or several."""
    found = {top_package(mention.symbols[0].path, task.sources) or "" for mention in names}
    return posixpath.basename(posixpath.dirname(found.pop())) if len(found) == 1 else ""


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
    written = [item for item in items if item[:1] in "\"'`“«"]
    items = written or items  # `OpenAPI 3 knows 'trace'`
    if items:
        yield [ExactTask("add_member", container.name, "", item) for item in dict.fromkeys(items)]


def _is_container(mention: Mention) -> bool:
    symbol = mention.symbols[0]
    return symbol.kind not in ("function", "method") and _CONTAINERS.search(symbol.signature) is not None


def _quoted(key: str) -> str:
    return key if re.fullmatch(r"[\d.]+", key) else f'"{key}"'


def default_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The default that a parameter shall have.

    Args:
        task: with its mentions.
    """
    if not task.asks(_DEFAULT):
        return
    literals = {t.text for t in tokens_of(task.text) if t.kind == "literal" and _VALUE.match(t.text)}
    symbols = ([s for s in m.symbols if s.kind in ("function", "method", "class")] for m in task.functions())
    named = ({(s, n) for s in each for n in task.parameters_said(s, task.text) if n != "default"} for each in symbols)
    found = next((pairs for pairs in named if pairs), set())
    if len(literals) == 1 and len(found) == 1 and not task.fresh:
        symbol, name = found.pop()
        yield [ExactTask("set_default", name, "", literals.pop(), "", place_of(symbol))]


def docstring_readings(task: TaskMentions) -> Iterator[list[ExactTask]]:
    """The docstring that a definition shall have, in quotes.

    Args:
        task: with its mentions.
    """
    texts = [t for t in tokens_of(task.text) if t.kind == "quoted" and not t.is_code and " " in t.inner]
    if "docstring" not in task.words or len(texts) != 1 or not _WITHOUT_DOCSTRING.search(task.words):
        return
    (text,) = texts
    named = [m for m in task.definitions if not text.start <= m.start < text.end and len(m.symbols) == 1]
    paths = {m.symbols[0].path for m in named}
    if len({m.name for m in named}) == 1 and not any(_has_text(path, text.inner, task) for path in paths):
        place = (NamedPlace(paths.pop(), "file"),) if len(paths) == 1 else ()
        yield [ExactTask("docstring", named[0].name, "", text.inner, "", place)]


def _has_text(path: str, text: str, task: TaskMentions) -> bool:
    source = task.sources.get(path)
    return source is not None and text in source.text
