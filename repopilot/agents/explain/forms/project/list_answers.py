"""Answers which options, commands, environment variables and routes there are: complete lists with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.changelog import is_changelog
from repopilot.agents.explain.forms.project.cited_places import CitedPlaces
from repopilot.agents.explain.forms.project.list_question import FORM_WORDS, ListKind, ListQuestion, list_question
from repopilot.agents.explain.forms.project.question_subject import Subject, subject_of
from repopilot.code.declared import command_line, environment, routes
from repopilot.code.declared.declaration import BUILD, Declaration
from repopilot.code.languages import is_doc_path, is_test_path
from repopilot.index.store import Index

MOST_CITED = 40
"""Things of a list with a citation of their own; the rest is counted."""
_MOST_NAMED = 60
_MOST_FILES = 400
_LEAST, _SURE = 0.4, 0.6
_NEAR = 0.6
_CLEAR_LEAD = 1.25
_AROUND = 3


def answer_list(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer which options, commands, environment variables or routes there are, or which one serves a purpose.

    Args:
        inquiry: the question.

    Returns:
        The list, complete or saying how much is left out; None for other questions, and where there are none.
    """
    asked = list_question(inquiry.question)
    if asked is None or asked.kind == "members":
        return None
    known = inquiry.index.derived(_DECLARED[asked.kind])
    if not known:
        return None
    owned, elsewhere = _of_owner(known, inquiry.question)
    declared = owned or _outside_builds(command_line.unshared(known))
    subject = subject_of(inquiry.results.query, inquiry.index.lexical, _form_words(declared))
    if asked.single:
        return _about(inquiry, asked, declared, subject) if subject else None
    if not subject or _is_whole(subject, inquiry.workspace.snapshot.name):
        return _all(inquiry, asked.kind, declared, elsewhere)
    return _about(inquiry, asked, declared, subject) or _all(inquiry, asked.kind, declared, elsewhere, sure=False)


def _outside_builds(declared: Sequence[Declaration]) -> Sequence[Declaration]:
    """Without the options of the build, unless there are no others."""
    return [d for d in declared if d.owner != BUILD] or declared


def _form_words(declared: Sequence[Declaration]) -> re.Pattern[str]:
    """What a question says about its form: also the command whose options are asked for, once they are chosen."""
    owners = {d.owner for d in declared}
    if len(owners) > 1 or not (owner := owners.pop()):
        return FORM_WORDS
    return re.compile(rf"{FORM_WORDS.pattern}|\b{re.escape(owner)}\b", re.I)


def _is_whole(subject: Subject, name: str) -> bool:
    """Whether a subject is nothing but the name of the project."""
    return subject.share(name) >= 1.0


def _of_owner(declared: Sequence[Declaration], question: str) -> tuple[list[Declaration], list[str]]:
    """What belongs to the command that a question names, and what may add more to it from elsewhere."""
    words = set(question.lower().replace("`", " ").replace("?", " ").replace(",", " ").split())
    owners = list(dict.fromkeys(d.owner for d in declared if d.owner.lower() in words))
    found = [command_line.of_command(owner, declared) for owner in owners]
    return [d for options, _ in found for d in options], [name for _, names in found for name in names]


def _files_with(index: Index, words: Iterable[str]) -> list[str]:
    """The source files outside tests, examples and documentation that hold one of some index tokens."""
    lexical = index.lexical
    numbers: set[int] = set()
    for token in words:
        known = lexical.tokens.get(token)
        if known is not None:
            numbers.update(lexical.file_of[lexical.fields["body"].of(known)[0]].tolist())
    skipped = lexical.role("test") | lexical.role("example") | lexical.role("doc") | lexical.role("vendored")
    paths = [lexical.files[n] for n in sorted(numbers) if not skipped[n]]
    return [path for path in paths if index.files[path].kind == "code" and not is_doc_path(path)][:_MOST_FILES]


def _read(
    index: Index, words: Iterable[str], reader: Callable[[str, str, str], Iterable[Declaration]]
) -> tuple[Declaration, ...]:
    return tuple(
        item
        for path in _files_with(index, words)
        for item in reader(path, index.text(path) or "", index.files[path].language)
    )


def _options(index: Index) -> tuple[Declaration, ...]:
    return _read(index, command_line.WORDS, command_line.options)


def _commands(index: Index) -> tuple[Declaration, ...]:
    return _read(index, command_line.WORDS, command_line.commands)


def _environment(index: Index) -> tuple[Declaration, ...]:
    read = _read(index, environment.WORDS, environment.environment_variables)
    documents = [
        p for p, info in index.files.items() if info.kind == "doc" and not is_test_path(p) and not is_changelog(p)
    ]
    told = (v for p in documents[:_MOST_FILES] for v in environment.documented_variables(p, index.text(p) or ""))
    return (*read, *told)


def _routes(index: Index) -> tuple[Declaration, ...]:
    return _read(index, routes.WORDS, routes.routes)


_DECLARED: dict[ListKind, Callable[[Index], tuple[Declaration, ...]]] = {
    "options": _options,
    "commands": _commands,
    "environment": _environment,
    "routes": _routes,
}


def _unique(declared: Iterable[Declaration]) -> list[Declaration]:
    """Each thing once, where it is declared first; the same option of two commands twice."""
    found: dict[tuple[str, str, str], Declaration] = {}
    for item in declared:
        found.setdefault((item.name, item.owner, item.form), item)
    return list(found.values())


def _row(item: Declaration, cited: CitedPlaces) -> str:
    spelled = ", ".join(f"`{name}`" for name in filter(None, (item.name, *item.form.split(", "))))
    helped = f": {item.help}" if item.help else ""
    return f"{spelled}{helped} {cited.cite(item.path, item.line)}"


def _all(
    inquiry: Inquiry,
    kind: ListKind,
    declared: Iterable[Declaration],
    elsewhere: Sequence[str] = (),
    *,
    sure: bool = True,
) -> CodeAnswer:
    items = _unique(d for d in declared if not _is_told(inquiry, d)) or _unique(declared)
    told = [d for d in _unique(declared) if d.name not in {item.name for item in items}]
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    owners = {item.owner for item in items}
    rows = [i18n.text(f"project_forms.lists.{kind}", language, count=len(items))]
    for item in items[:MOST_CITED]:
        prefix = f"`{item.owner}` " if len(owners) > 1 and item.owner else ""
        rows.append(f"- {prefix}{_row(item, cited)}")
    rest = [f"`{item.name}`" for item in items[MOST_CITED : MOST_CITED + _MOST_NAMED]]
    left_out = max(0, len(items) - MOST_CITED - _MOST_NAMED)
    if rest:
        rows.append(f"- {', '.join(rest)}")
    if left_out:
        rows.append(i18n.text("project_forms.left_out", language, count=left_out))
    if told:
        names = ", ".join(f"`{item.name}` {cited.cite(item.path, item.line)}" for item in told[:_MOST_NAMED])
        rows.append("\n" + i18n.text("project_forms.lists.documented", language, names=names))
    if elsewhere:
        names = ", ".join(f"`{name}`" for name in elsewhere)
        rows.append("\n" + i18n.text("project_forms.lists.added_elsewhere", language, names=names))
    return CodeAnswer("list", "\n".join(rows), cited.places, sure and not elsewhere, left_out)


def _is_told(inquiry: Inquiry, item: Declaration) -> bool:
    """Whether only documentation names a thing: that may be an example."""
    return inquiry.index.files[item.path].kind == "doc"


def _about(
    inquiry: Inquiry, asked: ListQuestion, declared: Sequence[Declaration], subject: Subject
) -> CodeAnswer | None:
    """The things that a question's further words fit, and the names of the others."""
    items = _unique(declared)
    scored = sorted(
        ((_fit(inquiry.index, item, subject), n, item) for n, item in enumerate(items)), key=lambda r: (-r[0], r[1])
    )
    best = scored[0][0]
    if best < _LEAST:
        return None
    near = [row for row in scored if row[0] >= _NEAR * best]
    if asked.single:
        clear = len(scored) == 1 or scored[1][0] * _CLEAR_LEAD <= best
        return _fitting(inquiry, asked, [row[2] for row in near[: 1 if clear else 3]], [], clear and best >= _SURE)
    chosen = [item for _, _, item in sorted(near, key=lambda row: row[1])]
    others = [item for _, _, item in scored[len(near) :]]
    return _fitting(inquiry, asked, chosen[:MOST_CITED], others, best >= _SURE)


def _fit(index: Index, item: Declaration, subject: Subject) -> float:
    """How much of the subject a thing's name, its help and the lines around it hold."""
    own = f"{item.name} {item.form} {item.help} {item.owner}"
    around = index.lines(item.path, item.line - _AROUND, item.line + _AROUND) or ""
    told = 0.7 if item.help else 0.4
    return told * subject.share(own) + (1 - told) * subject.share(f"{own} {item.path} {around}")


def _fitting(
    inquiry: Inquiry, asked: ListQuestion, chosen: Sequence[Declaration], others: Sequence[Declaration], sure: bool
) -> CodeAnswer:
    language, cited = inquiry.language, CitedPlaces(inquiry.index)
    if len(chosen) == 1:
        rows = [i18n.text("project_forms.lists.one", language, row=_row(chosen[0], cited))]
    else:
        rows = [i18n.text("project_forms.lists.fitting", language, count=len(chosen))]
        rows += [f"- {_row(item, cited)}" for item in chosen]
    named = list(dict.fromkeys(f"`{item.name}`" for item in others))
    left_out = max(0, len(named) - _MOST_NAMED)
    if named:
        values = {"names": ", ".join(named[:_MOST_NAMED]), "count": len(named)}
        rows += ["", i18n.text(f"project_forms.lists.others_{asked.kind}", language, **values)]
    if left_out:
        rows.append(i18n.text("project_forms.left_out", language, count=left_out))
    return CodeAnswer("list", "\n".join(rows), cited.places, sure, left_out)
