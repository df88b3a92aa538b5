"""Recognises tasks that code can carry out exactly, and carries them out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.comment_changes import only_comments
from repopilot.agents.editing.exact.command_line.option_changes import change_option, is_declared
from repopilot.agents.editing.exact.command_line.option_wishes import option_wish
from repopilot.agents.editing.exact.config_members import add_entry, delete_entry, remove_entry, remove_entry_line
from repopilot.agents.editing.exact.definitions.annotating import annotate, annotate_defaults
from repopilot.agents.editing.exact.definitions.basing import change_bases
from repopilot.agents.editing.exact.definitions.decorating import add_decorator, remove_decorator
from repopilot.agents.editing.exact.definitions.deprecating import deprecate, deprecation_wish
from repopilot.agents.editing.exact.definitions.documenting import write_docstring
from repopilot.agents.editing.exact.definitions.raised_instead import raise_instead
from repopilot.agents.editing.exact.definitions.statement_adding import add_definition_text
from repopilot.agents.editing.exact.deletion import uses_in_code
from repopilot.agents.editing.exact.deletion_companions import companions_of, without_companions
from repopilot.agents.editing.exact.described import described_value
from repopilot.agents.editing.exact.described_lists import described_entry
from repopilot.agents.editing.exact.described_quantities import described_quantity
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.exports.exporting import export, unexport
from repopilot.agents.editing.exact.exports.said_exports import said_exports
from repopilot.agents.editing.exact.files.file_deleting import delete_file
from repopilot.agents.editing.exact.fragments.code_replacing import replace_code
from repopilot.agents.editing.exact.grounded import grounded_edits
from repopilot.agents.editing.exact.grounded_shapes import (
    misspelt_names,
    misspelt_text,
    paired_renames,
    reordered_parameters,
    replaced_text,
    replaced_word,
)
from repopilot.agents.editing.exact.import_editing import change_import
from repopilot.agents.editing.exact.import_hoisting import hoist_import
from repopilot.agents.editing.exact.import_style import change_import_style
from repopilot.agents.editing.exact.intents.command import command_of
from repopilot.agents.editing.exact.intents.likely_edits import likely_edits
from repopilot.agents.editing.exact.lines.adding_lines import add_line, entry_to_log
from repopilot.agents.editing.exact.lines.comment_lines import add_comment
from repopilot.agents.editing.exact.lines.entry_sorting import sort
from repopilot.agents.editing.exact.lines.removing_sections import remove_section, section_removal
from repopilot.agents.editing.exact.locate import dotted, path_named
from repopilot.agents.editing.exact.manifests.classifiers import change_classifiers, classifier_wish
from repopilot.agents.editing.exact.manifests.dependency_lists import add_dependency, remove_dependency
from repopilot.agents.editing.exact.manifests.project_fields import project_field
from repopilot.agents.editing.exact.manifests.requiring import require_version
from repopilot.agents.editing.exact.moves.moving import rename_file
from repopilot.agents.editing.exact.moves.relocating import move
from repopilot.agents.editing.exact.parameters.constructor_options import add_constructor_option
from repopilot.agents.editing.exact.parameters.handed_on import hand_on
from repopilot.agents.editing.exact.parameters.reshaping import reshape
from repopilot.agents.editing.exact.parameters.signatures import change_signature
from repopilot.agents.editing.exact.renaming import rename
from repopilot.agents.editing.exact.sources import (
    Patch,
    Sources,
    by_line,
    merge,
    outcome,
    overlapping,
    written_by_program,
)
from repopilot.agents.editing.exact.text_replacing import replace_text
from repopilot.agents.editing.exact.values.value_setting import set_value
from repopilot.agents.editing.exact.values.version_bump import bump_version
from repopilot.agents.editing.exact.wholly_read import wholly_read
from repopilot.agents.editing.exact.wording.constraints import requests_only, without_constraints
from repopilot.agents.editing.exact.wording.plain_wording import plain_task
from repopilot.agents.editing.exact.wording.pronouns import takes_out_something_else
from repopilot.agents.editing.exact.wording.reading import on_one_line, read_task
from repopilot.agents.editing.exact.wording.remarks import without_imports_from_there
from repopilot.agents.editing.exact.wording.task_tokens import folded, tokens_of
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.code.languages import file_kind
from repopilot.errors import GenerationFailed, NameUndefined, PlaceAmbiguous
from repopilot.workspace import Workspace

_KINDS: dict[str, Callable[[ExactTask, Sources], Patch | None]] = {
    "rename": rename,
    "set_value": set_value,
    "set_default": set_value,
    "add_import": change_import,
    "remove_import": change_import,
    "remove_unused_imports": change_import,
    "import_style": change_import_style,
    "hoist_import": hoist_import,
    "add_member": add_entry,
    "remove_member": remove_entry,
    "replace_text": replace_text,
    "change_message": replace_text,
    "delete": delete_entry,
    "delete_file": delete_file,
    "remove_line": remove_entry_line,
    "remove_section": remove_section,
    "rename_parameter": change_signature,
    "add_parameter": change_signature,
    "remove_parameter": change_signature,
    "keyword_only": reshape,
    "positional_only": reshape,
    "require_parameter": reshape,
    "reorder_parameter": reshape,
    "rename_file": rename_file,
    "move": move,
    "bump_version": bump_version,
    "export": export,
    "unexport": unexport,
    "replace_code": replace_code,
    "add_decorator": add_decorator,
    "remove_decorator": remove_decorator,
    "add_base": change_bases,
    "remove_base": change_bases,
    "change_base": change_bases,
    "add_line": add_line,
    "add_comment": add_comment,
    "docstring": write_docstring,
    "add_definition_text": add_definition_text,
    "sort": sort,
    "annotate": annotate,
    "annotate_defaults": annotate_defaults,
    "require_version": require_version,
    "project_field": project_field,
    "add_dependency": add_dependency,
    "remove_dependency": remove_dependency,
    "deprecate": deprecate,
    "option_default": change_option,
    "option_help": change_option,
    "option_alias": change_option,
    "option_rename": change_option,
    "option_required": change_option,
    "option_optional": change_option,
    "option_choice": change_option,
    "add_classifier": change_classifiers,
    "remove_classifier": change_classifiers,
    "constructor_option": add_constructor_option,
    "raise_instead": raise_instead,
    "hand_on": hand_on,
}


_MANDATORY = re.compile(r"\b(?:mandatory|required|obligatoires?)\b", re.I)
"""What wants more of a parameter than that it is passed by name."""
_USED = re.compile(
    r"\b(?:and|then|et)\s+(?:then\s+|also\s+)?(?:us(?:e|es|ed|ing)|appl\w+|honou?rs?|respects?|utilise\w*)[\s-]+"
    r"(?:it|that|them|this|l[ea]s?)\b|\bwhich (?:is|are) (?:then )?(?:used|applied)\b",
    re.I,
)
"""What wants a new parameter to do something."""
_OTHER_KIND = re.compile(
    r"\b(?:turn\w*|mak\w+|convert\w*|transform\w*|chang\w+)\b.*\b(?:into|to|en) (?:an? |une? )?(?:\w+ )?"
    r"(?:function|method|class|property|constant|generator|dataclass|enum\w*|fonction|m[ée]thode|classe|propri[ée]t[ée])\b",
    re.I,
)
"""What wants more than another name for something."""
_MORE_WANTED = (
    (_USED, {"add_parameter", "change_signature"}),
    (_OTHER_KIND, {"rename"}),
    (_MANDATORY, {"keyword_only"}),
)
"""What wants more than edits of some kinds alone."""
_OF_COMMENTS = re.compile(
    r"\b(?:comment\w*|doc\w*|typo\w*|spell\w*|misspel\w*|help|usage|todo|fixme|faute|orthograph\w*)\b", re.I
)
_BEHAVES = re.compile(
    r"\b(?P<name>[A-Za-z_][\w.]*)`?(?:\(\))?(?: (?:should|must|ought to|has to|needs to|doit|devrait))? (?:now )?"
    r"(?:says?|returns?|prints?|gives?|rais\w+|shows?|reports?|writes?|logs?|emits?|produces?|yields?|displays?|"
    r"dire|di[st]|renvo\w+|affich\w+|retourn\w+|donne\w*|lev\w+|lève\w*)\b",
    re.I,
)


def exact_edit(task: str, workspace: Workspace) -> EditOutcome | None:
    """Carry out a task that needs no model.

    Args:
        task: as the user wrote it, in English or French. `@path:Symbol` in it says which place is meant.
        workspace: the repository.

    Returns:
        The changes; None where the task isn't clearly one of those that code can do.

    Raises:
        PlaceAmbiguous: several places fit the task.
        GenerationFailed: the task is one of those, but can't be carried out: it names nothing that exists, or its
            result would not be valid.
    """
    unconditional = _IF_UNUSED.sub("", task)
    if unconditional != task:
        return _if_unused(exact_edit(unconditional, workspace))
    sources = Sources(workspace)
    text = plain_task(on_one_line(task))
    of_option = option_wish(text)
    if of_option and is_declared(of_option[0].name, sources):  # its name is also that of a parameter
        return _together([of_option], sources)
    likely = likely_edits(text, sources)
    result, problem = _first_made(next(likely), text, sources)
    if result is None:
        result, unread = _as_read(task, workspace)
        problem = unread or problem
        if result is None and (problem is None or isinstance(problem, NameUndefined)):
            result, unsaid = _first_made(next(likely), text, sources)
            problem = problem or unsaid
    if result is None and problem is not None:
        raise problem
    misses = result is not None and (
        _misses_behaviour(task, result, workspace)
        or _misses_import(task, result)
        or _deletes_subject(task, result)
        or any(more.search(task) and {edit.kind for edit in result.edits} <= kinds for more, kinds in _MORE_WANTED)
    )
    if result is None or misses:
        return None
    notes = (
        *(i18n.message("exact.named_unchanged", path=path) for path in _unchanged_files(task, result, workspace)),
        *(i18n.message("exact.generated_changed", path=path) for path in _generated_files(result, sources)),
    )
    return replace(result, notes=(*result.notes, *notes))


_NOBODY = r"(?:nothing|nobody|no ?one|no (?:code|caller)s?|rien|personne)\b(?:\s+(?:else|other|ne))*\s+(?:l['’])?"
_USES = r"(?:us|need|call|import|referenc|depend|utilis|appel)\w*(?:\s+(?:on|to))?(?:\s+(?:it|them))?"
_IS_NOT = r"(?:it|that|they|this|c)['’ ]?(?:is|s|are|re|est)\s+(?:(?:really|indeed|in fact|actually)\s+)?"
_USED_BY = r"(?:un|inu|(?:not|never|no longer)\s)(?:us|need|call|import|referenc|tilis)\w*"
_IF_UNUSED = re.compile(
    rf",?\s+(?:if|when|as long as|provided|si)\s+(?:{_NOBODY}{_USES}|{_IS_NOT}{_USED_BY})"
    r"(?:\s+(?:anymore|any more|any longer|anywhere|at all|plus))*",
    re.I,
)
"""The condition that nothing uses what is to be deleted."""


def _if_unused(result: EditOutcome | None) -> EditOutcome | None:
    """A deletion where nothing refers to what it deletes; None for no deletion.

    Raises:
        GenerationFailed: something does.
    """
    deleted = [edit for edit in result.edits if edit.kind == "delete"] if result is not None else []
    if result is None or not deleted:
        return None
    for used in uses_in_code(result.open_references):
        names = ", ".join(dict.fromkeys(str(edit.place) for edit in deleted))
        raise GenerationFailed(i18n.message("exact.still_used", name=names, path=used.path, line=used.line))
    return result


def _generated_files(result: EditOutcome, sources: Sources) -> list[str]:
    """The changed files that a program writes, or that are a copy of someone else's: the task names them."""
    found = ((change.path, sources.get(change.path)) for change in result.changes)
    return [path for path, source in found if source is not None and written_by_program(source)]


def _unchanged_files(task: str, result: EditOutcome, workspace: Workspace) -> list[str]:
    """The files that a task names, and that an edit neither changes nor leaves to the user."""
    text = plain_task(on_one_line(task))
    staying = without_constraints(text)[1]
    named = (path_named(token.inner, workspace.index) for token in tokens_of(text) if token.is_path)
    touched = {change.path for change in result.changes} | {reference.path for reference in result.open_references}
    return [p for p in dict.fromkeys(named) if p is not None and p not in touched and p not in staying]


_Made = tuple[EditOutcome | None, GenerationFailed | None]
"""An edit, else why it can't be made where that is all that a task can mean."""


def _first_made(readings: Sequence[Sequence[ExactTask]], text: str, sources: Sources) -> _Made:
    """The edit of the first reading of a task that can be carried out, with a note that says how it was read; else why
    the one thing that it can mean can't be done, or which of several places has to be chosen."""
    staying = without_constraints(text)[1]
    problems: list[GenerationFailed] = []
    for edits in readings:
        try:
            result = _together([[edit] for edit in edits], sources)
        except GenerationFailed as error:
            problems += [error] if _is_said(edits[0], error, sources) else []
            continue
        if result is not None and _leaves(staying, result):
            command = command_of(edits)
            notes = () if _words(text) == _words(command) else (i18n.message("exact.read_as", sentence=command),)
            return replace(result, notes=(*notes, *result.notes)), None
    sure = len(readings) == 1 and len(problems) == 1 and not isinstance(problems[0], NameUndefined)
    return None, problems[0] if sure else None


def _is_said(edit: ExactTask, error: GenerationFailed, sources: Sources) -> bool:
    """Whether the user is told why an edit can't be made, or asked which of several functions or classes is meant."""
    if not isinstance(error, PlaceAmbiguous):
        return edit.kind in _SAID_IF_IMPOSSIBLE
    return all(s.kind in ("function", "method", "class") for s in sources.workspace.index.symbols(dotted(edit.name)))


def _words(text: str) -> str:
    """A text without quotes and signs, to be compared."""
    return re.sub(r"[^\w.]+", " ", folded(text)).strip(" .")


_SAID_IF_IMPOSSIBLE = frozenset(
    "move rename rename_file rename_parameter remove_parameter reorder_parameter keyword_only require_parameter".split()
)
"""Kinds of edits that a model wouldn't do better where code finds why they can't be done."""


def _deletes_subject(task: str, result: EditOutcome) -> bool:
    """Whether a definition is deleted for a pronoun where the task doesn't say that nobody needs it: `f() prints an
    empty line, take it out`."""
    return takes_out_something_else(task) and any(edit.kind in ("delete", "delete_file") for edit in result.edits)


def _misses_import(task: str, result: EditOutcome) -> bool:
    """Whether a task goes on about a move, `b.py should import it from there`, and that file doesn't."""
    _, files = without_imports_from_there(plain_task(on_one_line(task)))
    names = [edit.place for edit in result.edits if edit.kind == "move"]
    return bool(names) and not all(_imports_one(names, path, result) for path in files)


def _as_read(task: str, workspace: Workspace) -> _Made:
    """The edit that the rules of the wording find in a task."""
    try:
        return _worded(task, workspace), None
    except PlaceAmbiguous:
        raise
    except GenerationFailed as error:
        return None, error


def _worded(task: str, workspace: Workspace) -> EditOutcome | None:
    """The edit that a task asks for, as it stands, without what it says beside, or as a rename."""
    sources = Sources(workspace)
    read = wholly_read(task, sources)
    result = _carried_out(read, sources) if read else None
    if result is not None or read:
        return result
    whole = plain_task(on_one_line(task))
    rest, companions = without_companions(whole)
    if companions:
        return _deleted_together(rest, companions, sources)
    result = _exact_edit(task, workspace)
    if result is not None:
        return result
    rest, staying = without_constraints(whole)
    request, said = requests_only(rest)
    placed = f"{request.rstrip('.!? ')} in `{said[0]}`" if len(said) == 1 and said[0] not in request else whole
    for text, about in ((rest, ()), (request, said), (placed, said)):
        result = _exact_edit(text, workspace) if text != task else None
        if result is not None and _leaves(staying, result) and _is_about(about, result):
            return result
    return _moved(whole, workspace)


def _deleted_together(task: str, companions: dict[str, str], sources: Sources) -> EditOutcome | None:
    """The deletion of a definition, and of what a task wants deleted with it; None for any other task."""
    request, _ = requests_only(without_constraints(task)[0])
    clauses = read_task(request)
    name = next((edit.name for meanings in clauses for edit in meanings if edit.kind == "delete"), "")
    more = companions_of(dotted(name), companions, sources) if len(clauses) == 1 and name else None
    try:
        return _together([*clauses, *([edit] for edit in more)], sources) if more else None
    except GenerationFailed:
        return None


def _carried_out(edits: Sequence[ExactTask], sources: Sources) -> EditOutcome | None:
    """The edit that a task certainly asks for, None where the code has no place for it."""
    try:
        return _together([[edit] for edit in edits], sources)
    except GenerationFailed:
        return None


def _moved(task: str, workspace: Workspace) -> EditOutcome | None:
    """A move that a task goes on about, which is so where the code uses it."""
    rest, files = without_imports_from_there(task)
    result = _exact_edit(rest, workspace) if files else None
    return result if result is not None and all(edit.kind == "move" for edit in result.edits) else None


def _imports_one(names: Sequence[str], path: str, result: EditOutcome) -> bool:
    """Whether a changed file imports one of some names anew, or their module."""
    added = "\n".join(
        line
        for change in result.changes
        if f"/{change.path}".endswith(f"/{path}")
        for line in change.diff.split("\n")
        if line[:1] == "+"
    )
    defines = re.search(r"^\+\s*(?:def|class)\b", added, re.M) is not None
    return not defines and any(_whole_name(name).search(added) for name in names)


def _misses_behaviour(task: str, result: EditOutcome, workspace: Workspace) -> bool:
    """Whether a text is replaced in comments alone where a task says what a function shall say: `f should say "a"`."""
    if _OF_COMMENTS.search(task) or not all(edit.kind == "change_text" for edit in result.edits):
        return False
    subjects = (match["name"].rpartition(".")[2] for match in _BEHAVES.finditer(task))
    known = any(s.kind in ("function", "method") for name in subjects for s in workspace.index.symbols(name))
    return known and only_comments(result.changes, workspace.index)


def _is_about(names: Sequence[str], result: EditOutcome) -> bool:
    """Whether the changed files hold the names in which a task says why."""
    texts = [f"{change.path}\n{change.content}\n{change.diff}" for change in result.changes]
    return all(any(_whole_name(name.rpartition(".")[2]).search(text) for text in texts) for name in names)


def _leaves(names: Sequence[str], result: EditOutcome) -> bool:
    """Whether an edit changes no use of names that the task says it shall leave alone."""
    lines = [line for change in result.changes for line in change.diff.split("\n") if line[:3] not in ("+++", "---")]
    gone, new = ("\n".join(line for line in lines if line.startswith(sign)) for sign in "-+")
    return all(len(found.findall(gone)) == len(found.findall(new)) for found in map(_whole_name, names))


def _whole_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _exact_edit(task: str, workspace: Workspace) -> EditOutcome | None:
    sources = Sources(workspace)
    plain = plain_task(on_one_line(task))
    problem: GenerationFailed | None = None
    try:  # `f(b, a)` for `f(a, b)` is no text to be replaced
        shaped = [*reordered_parameters(task, sources, written=True), *section_removal(task, sources)]
        shaped += [
            *entry_to_log(task),
            *classifier_wish(plain),
            *deprecation_wish(plain),
            *paired_renames(task),
            *misspelt_names(task, sources),
            *misspelt_text(task, sources),
        ]
        result = _together([[edit] for edit in shaped], sources) or _together(
            [[*replaced_text(task, sources)]], sources
        )
        result = result or _together(read_task(task), sources)
    except PlaceAmbiguous:
        raise
    except GenerationFailed as error:
        problem, result = error, None
    if result is not None:
        return result
    words = ([edit] for edit in replaced_word(task, sources))
    for edits in (said_exports(task, sources), *grounded_edits(task, sources), *words):
        try:
            result = _together([[edit] for edit in edits], sources)
        except GenerationFailed:  # a guess that the code contradicts
            continue
        if result is not None:
            return result
    result = _described(task, sources)
    if (
        result is None
        and problem is not None
        and not (_is_written(problem, sources) or _is_a_plain_word(problem, task))
    ):
        raise problem
    return result


def _described(task: str, sources: Sources) -> EditOutcome | None:
    """The edit of an entry of lists, or of a number, that a task describes in words."""
    text = on_one_line(task)
    patch = described_entry(plain_task(text), sources) or described_quantity(text, sources)
    return outcome(patch, sources) if patch is not None and not overlapping(patch) else None


def _is_a_plain_word(problem: GenerationFailed, task: str) -> bool:
    """Whether another value is expected of what has only one word of the task as its name: of `CONNECTION` for `a
    connection should queue up to 128`."""
    message = problem.message
    if not isinstance(message, i18n.Message) or message.key != "exact.other_value":
        return False
    name = str(message.values["name"]).rpartition(".")[2]
    return "_" not in name and not _whole_name(name).search(task)


def _is_written(problem: GenerationFailed, sources: Sources) -> bool:
    """Whether what no definition is called stands in the code all the same: then it isn't for these rules."""
    name = dotted(problem.name).rpartition(".")[2] if isinstance(problem, NameUndefined) else ""
    return bool(name) and any(file_kind(path) == "code" for path in sources.mentioning(name))


def sentence_edit(sentence: str, workspace: Workspace) -> EditOutcome | None:
    """Carry out what a sentence asks for in words that the rules of the wording read.

    Args:
        sentence: one edit, as one sentence.
        workspace: the repository.

    Returns:
        The changes; None where the sentence isn't read, or the code contradicts it or leaves it open.
    """
    sources = Sources(workspace)
    try:
        return _together(read_task(sentence), sources) or _described(sentence, sources)
    except GenerationFailed:
        return None


def _together(clauses: Sequence[Sequence[ExactTask]], sources: Sources) -> EditOutcome | None:
    """Carry out all of what is asked for, each in the first of its meanings that fits."""
    whole = Patch()
    for meanings in clauses:
        patch = _first_that_fits(meanings, sources)
        if patch is None:
            return None
        if not _comes_to(whole, patch, sources):
            merge(whole, patch)
    if not clauses or overlapping(whole):
        return None
    return outcome(whole, sources)


def _comes_to(whole: Patch, patch: Patch, sources: Sources) -> bool:
    """Whether a patch only says again what another one does: `require Node 18: set engines.node to >=18`."""
    both = Patch()
    merge(both, whole)
    merge(both, patch)
    if not overlapping(both):
        return False
    first, second = outcome(whole, sources), outcome(patch, sources)
    return first is not None and second is not None and first.changes == second.changes


def _first_that_fits(meanings: Sequence[ExactTask], sources: Sources) -> Patch | None:
    problems: list[GenerationFailed] = []
    for meaning in meanings:
        try:
            named = described_value(meaning, sources) if "description" in meaning.extra else meaning
            patch = _KINDS[named.kind](named, sources) if named is not None and named.kind in _KINDS else None
            if patch is not None and "once" in meaning.extra and len(by_line(patch.replacements, sources)) > 1:
                patch = None
        except GenerationFailed as error:
            problems += [error] if "guess" not in meaning.extra else []
            continue
        if patch is not None:
            return patch
    if problems:
        raise next((p for p in problems if isinstance(p, PlaceAmbiguous)), problems[0])
    return None


def carry_out(task: ExactTask, sources: Sources) -> EditOutcome | None:
    """Carry out a task whose parts are known.

    Args:
        task: the task.
        sources: the files.

    Returns:
        The changes; None where the task isn't clearly one of its kind.

    Raises:
        PlaceAmbiguous: several places fit the task.
        GenerationFailed: it can't be carried out, or its result would not be valid.
    """
    return _together([[task]], sources)
