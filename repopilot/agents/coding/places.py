"""Which files a task is about: named in it, meant by a follow-up, or found by the exploration. No model is used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.exploration import Exploration
from repopilot.code.languages import file_kind, is_test_path, language_of
from repopilot.index.store import Index
from repopilot.results import Turn
from repopilot.tools.file_change import safe_path
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange, Symbol
from repopilot.workspace import Workspace

LARGE_LINES = 200
"""Files with more lines are not rewritten in full: symbols are replaced in them."""
MOST_TARGETS = 3

_PATH = re.compile(
    r"@?(?P<path>(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9})(?![\w/(])|"
    r"(?<!\w)(?P<bare>Makefile|Dockerfile)\b"
)
_NOT_PATHS = re.compile(
    r"^(?:e\.g|i\.e|etc\.|v?\d|www\.|node\.js|next\.js|vue\.js|express\.js|socket\.io|"
    r"self\.|this\.)",
    re.I,
)
_NEW = re.compile(
    r"\b(?:new (?:file|module|script|class|page|component|endpoint)|create|write|generate|scaffold|draft|"
    r"cree|créer?|ecris|écris|génère|nouveau|nouvelle)\b",
    re.I,
)
_FOLLOW_UP = re.compile(
    r"\b(?:it|its|that|this|those|them|same|also|instead|again|undo|shorter|the last|previous|ça|cela|le même|"
    r"aussi)\b|"
    r"^\W*(?:and|now|also|et|maintenant|no|but|with|without)\b",
    re.I,
)
_NOT_IN_NAMES = frozenset(
    "a an the for of to in on with and or that which please write create make generate new add script function class "
    "un une le la".split()
)
_LANGUAGE_SUFFIX = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "java": "java",
    "kotlin": "kt",
    "go": "go",
    "golang": "go",
    "rust": "rs",
    "ruby": "rb",
    "php": "php",
    "bash": "sh",
    "shell": "sh",
    "haskell": "hs",
    "swift": "swift",
    "scala": "scala",
    "sql": "sql",
    "html": "html",
    "css": "css",
    "lua": "lua",
    "perl": "pl",
    "dockerfile": "Dockerfile",
}


@dataclass(frozen=True, slots=True)
class EditTarget:
    """A file to write.

    Attributes:
        path: where it is or will be.
        stored: its text in the snapshot, None for a new file.
        raw: the text to change: the stored one, or the last generated version.
        shown: `raw` as a model may read it, with secrets redacted and LF line ends.
        outline: its symbols.
    """

    path: str
    stored: str | None
    raw: str
    shown: str
    outline: tuple[Symbol, ...] = ()

    @property
    def large(self) -> bool:
        """Whether symbols are replaced in it, instead of all its text."""
        return self.shown.count("\n") > LARGE_LINES


def named_paths(task: str, index: Index) -> list[str]:
    """Paths in the task: those of the index, also by an ending that only one file has; new ones as they are written.

    Raises:
        GenerationFailed: a path leads out of the repository.
    """
    found = []
    for match in _PATH.finditer(task):
        written = (match["path"] or match["bare"]).lstrip("@")
        if _NOT_PATHS.match(written) or (language_of(written) is None and written not in index.files):
            continue
        if task[: match.start()].endswith("../"):
            written = f"../{written}"
        written = safe_path(written)
        endings = [p for p in index.files if p == written or p.endswith("/" + written)]
        found.append(written if written in index.files or len(endings) != 1 else endings[0])
    return list(dict.fromkeys(found))


def choose(task: str, workspace: Workspace, found: Exploration | None) -> list[EditTarget]:
    """Choose the files to write.

    Args:
        task: what to write or change.
        workspace: the repository and the conversation.
        found: the exploration of the task, None for none.

    Returns:
        At least one and at most MOST_TARGETS: the files that the task names, else those of the last answer for a
        follow-up, else the best hit's file, else a new file named after the task.

    Raises:
        GenerationFailed: a path leads out of the repository, or its file is no text.
    """
    last = last_files(workspace.turns)
    named = named_paths(task, workspace.index)
    if named:
        paths = named[:MOST_TARGETS]
    elif last and (_FOLLOW_UP.search(task) or len(task.split()) <= 8):
        paths = [f.path for f in last if f.change != "deleted"][:MOST_TARGETS]
    else:
        paths = [_from_hits(task, workspace.index, found) or new_path(task, workspace.index)]
    drafts = {f.path: f.content for f in last}
    targets = [load(path, workspace, drafts.get(path)) for path in paths]
    large = [t for t in targets if t.large]
    return large[:1] or targets


def last_files(turns: Sequence[Turn]) -> tuple[FileChange, ...]:
    """The files of the newest answer that had any."""
    return next((t.files for t in reversed(turns) if t.files), ())


def load(path: str, workspace: Workspace, draft: str | None = None) -> EditTarget:
    """Read the texts of a target.

    Args:
        path: the file, which need not exist.
        workspace: the repository.
        draft: the last generated version, None for none.

    Returns:
        The target.

    Raises:
        GenerationFailed: the file is no text.
    """
    stored = stored_text(path, workspace)
    if draft is not None:
        return EditTarget(path, stored, draft, draft.replace("\r\n", "\n"))
    shown = workspace.index.text(path)
    if stored is None:
        return EditTarget(path, None, "", "")
    plain = stored.removeprefix("\ufeff").replace("\r\n", "\n")
    outline = tuple(workspace.index.outline(path)) if shown is not None else ()
    return EditTarget(path, stored, stored, shown if shown is not None else plain, outline)


def new_path(task: str, index: Index) -> str:
    """A path for a file that the task does not name: a slug of its words, in the task's or repository's language."""
    words = [w for w in re.findall(r"[a-z0-9]+", task.lower()) if w not in _NOT_IN_NAMES and w not in _LANGUAGE_SUFFIX]
    asked = next((_LANGUAGE_SUFFIX[w] for w in re.findall(r"[a-z]+", task.lower()) if w in _LANGUAGE_SUFFIX), "")
    if asked == "Dockerfile":
        return asked
    name = "_".join(words[:4]) or "generated"
    return f"{name}.{asked or _main_suffix(index)}"


def _from_hits(task: str, index: Index, found: Exploration | None) -> str:
    """The file of the best hit that is code (or a document, when the task is about documentation)."""
    if found is None or (_NEW.match(task.strip()) and not _mentions_symbol(task, index)):
        return ""
    documents = re.search(r"\b(?:readme|docs?|documentation|changelog)\b", task, re.I) is not None
    for hit in found.results.hits:
        path = hit.chunk.path
        if (file_kind(path) == "doc") == documents and not is_test_path(path):
            return path
    return ""


def _mentions_symbol(task: str, index: Index) -> bool:
    words = re.findall(r"[A-Za-z_][\w.]{2,}", task)
    return any(index.symbols(w) for w in words if "_" in w or "." in w or re.search(r"[a-z][A-Z]", w))


def _main_suffix(index: Index) -> str:
    counted: dict[str, int] = {}
    for path in index.files:
        if file_kind(path) == "code" and "." in path:
            suffix = path.rpartition(".")[2]
            counted[suffix] = counted.get(suffix, 0) + 1
    return max(counted, key=lambda s: counted[s]) if counted else "py"
