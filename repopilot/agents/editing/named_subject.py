"""Whether what a task wants changed exists at all. No model is used."""

from __future__ import annotations

import re

from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import not_found
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.placed.target_places import existing_paths
from repopilot.agents.editing.placed.wanted import CodeName, read_task
from repopilot.errors import NameUndefined
from repopilot.retrieval.query.spelling import is_english

_CHANGES = re.compile(
    r"^\W*(?:(?:please|can you|could you|we (?:should|must|need to)|let's|il faut|peux-tu|merci de)\s+)?"
    r"(?:set|change|make|let|raise|lower|increase|decrease|reduce|fix|update|rename|remove|delete|drop|move|bump|turn|"
    r"modify|replace|rewrite|refactor|simplify|annotate|document|sort|limit|cap|"
    r"mets?|mettre|change[rz]?|fais|augmente[rz]?|diminue[rz]?|baisse[rz]?|réduis|corrige[rz]?|renomme[rz]?|"
    r"supprime[rz]?|enlève|retire[rz]?|déplace[rz]?|modifie[rz]?|remplace[rz]?)\b",
    re.I,
)
_OWNED = re.compile(
    r"\b(?:of|in|inside|on|from|class|function|method|constant|de|dans|du|sur|classe|fonction|méthode|constante)\s+"
    r"(?:the\s+|la\s+|le\s+)?(?:class\s+|function\s+|method\s+|classe\s+|fonction\s+|méthode\s+)?`?$",
    re.I,
)
_FIRST = re.compile(r"^\W*(?:\w+\s+)?(?:the\s+|la\s+|le\s+)?`?$", re.I)
_RECEIVES = re.compile(
    r"\b(?:add|ajoute[rz]?)\b.*\b(?:to|à)\s+(?:the\s+|la\s+)?`?$|\b(?:give|donne[rz]?)\s+(?:the\s+|à\s+)?`?$", re.I
)
_COMMAND = re.compile(
    r"^\W*(?:please\s+)?(?:rename|delete|remove|drop|renomme[rz]?|supprime[rz]?|retire[rz]?)\s+(?:the\s+|la\s+|le\s+)?"
    r"(?:(?:class|function|method|constant|module|variable|property|classe|fonction|m[ée]thode|constante)\s+)?"
    r"`?(?P<name>[A-Za-z_][\w.]{2,})`?(?:\s+(?:to|into|as|in|from|en|dans|de)\s+`?[\w./-]+`?)*\W*$",
    re.I,
)
"""A command that can only be about a name, whatever the name looks like."""
_SHOULD = re.compile(r"`?(?:\(\))?(?:'s\s+\w+)?\s+(?:should|must|has to|needs to|ought to|doit|devrait)\b", re.I)


def missing_subject(task: str, sources: Sources) -> NameUndefined | None:
    """The error for a task whose subject the repository doesn't have.

    Args:
        task: as the user wrote it.
        sources: the texts of the repository.

    Returns:
        The error, with the names most like it; None where something that the task names is there, or its subject has
        no name.
    """
    index = sources.workspace.index
    command = _COMMAND.match(task)
    if command is not None:
        name = command["name"].rstrip(".")
        plain = name.islower() and "_" not in name and is_english(name)  # "remove duplicates"
        unknown = not plain and not _is_written(CodeName(name, 0, 0, True), sources) and not _is_file(name, sources)
        return not_found(name, ExactTask("change", name), index) if unknown else None
    names = [name for name in read_task(task).names if re.fullmatch(r"[\w.:#$]+", name.text)]
    if not names or existing_paths(task, index) or any(_is_written(name, sources) for name in names):
        return None
    subject = next((name for name in names if _is_code(name) and _is_subject(task, name)), None)
    return not_found(subject.text, ExactTask("change", subject.text), index) if subject is not None else None


def _is_code(name: CodeName) -> bool:
    """Whether a word can't be one of prose, as a product's name may."""
    return name.quoted or re.search(r"[._]|[a-z\d][A-Z]", name.text) is not None


def _is_written(name: CodeName, sources: Sources) -> bool:
    """Whether a name stands in a file of the repository, or a definition has it in another spelling."""
    owner, *_ = parts = re.split(r"\.|::|#", name.text)
    judged = parts[:1] if owner[:1].isupper() else parts  # of `session.get` the first may be a name for the speaker
    spelt = {_letters(part) for part in judged}
    index = sources.workspace.index
    written = any(index.symbols(part) or sources.mentioning(part) for part in judged)
    return written or any(_letters(defined) in spelt for defined in index.lexical.names)


def _is_file(name: str, sources: Sources) -> bool:
    """Whether a file or folder is called so, with or without its ending."""
    stems = {part.partition(".")[0] for path in sources.workspace.index.files for part in path.split("/")}
    return name.partition(".")[0] in stems


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _is_subject(task: str, name: CodeName) -> bool:
    """Whether a task wants the thing of a name changed, or something that belongs to it."""
    before, found, after = task.partition(name.text)
    stated = _SHOULD.match(after) is not None and _FIRST.match(before) is not None
    changed = _CHANGES.match(task) is not None and (_OWNED.search(before) or _FIRST.match(before))
    return bool(found) and bool(stated or changed or _RECEIVES.search(before))
