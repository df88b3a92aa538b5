"""The computed answers, by the form of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.command_answers import answer_command
from repopilot.agents.explain.forms.dependency_answers import answer_dependency
from repopilot.agents.explain.forms.history_answers import answer_history
from repopilot.agents.explain.forms.known_symbols import dotted
from repopilot.agents.explain.forms.overview_answers import answer_overview
from repopilot.agents.explain.forms.recognise import Form, recognise
from repopilot.agents.explain.forms.relations import answer_call_path, answer_relation
from repopilot.i18n import Language
from repopilot.index.store import Index
from repopilot.index.tokens import expand
from repopilot.resolve.uses.call_graph import missing_in_file
from repopilot.retrieval.query.asked import Command, History, Manifest, Relation
from repopilot.retrieval.search import Results
from repopilot.workspace import Workspace

_BY_FORM: Mapping[str, Callable[[Form, Inquiry], CodeAnswer | None]] = {
    "path": answer_call_path,
    **dict.fromkeys(get_args(Relation), answer_relation),
    **dict.fromkeys(get_args(History), answer_history),
    **dict.fromkeys(get_args(Command), answer_command),
    **dict.fromkeys(get_args(Manifest), answer_dependency),
}


def answer_by_code(question: str, results: Results, workspace: Workspace, language: Language) -> CodeAnswer | None:
    """Answer a question from symbols, code graph, manifests and history alone.

    Args:
        question: as the user asked it.
        results: what the search found for it.
        workspace: the repository.
        language: the language to answer in.

    Returns:
        The answer; None where the question has no known form or is a stack trace, or the code doesn't hold the answer.

    Raises:
        IndexFailed: the index is damaged.
    """
    if results.query.kind == "traceback":
        return None
    inquiry = Inquiry(question, results, workspace, language)
    if missing := missing_in_file(question, workspace.index):
        return CodeAnswer("missing", i18n.translated(missing.message, language), (), sure=True)
    form = form_of(question, workspace.index)
    if form:
        return _BY_FORM[form.kind](form, inquiry)
    return answer_overview(inquiry) if results.query.kind == "overview" else None


def form_of(question: str, index: Index) -> Form | None:
    """The form of a question that code answers, about names that the repository has; None for none."""
    return recognise(question, lambda name, coded: _is_known(name, coded, index))


def _is_known(name: str, coded: bool, index: Index) -> bool:
    """Whether a name is a definition or a file; one that is written like code need only occur."""
    if index.symbols(name) or index.files_named(name):
        return True
    return coded and _occurs(name, index)


def _occurs(name: str, index: Index) -> bool:
    """Whether the last part of a name occurs in the text of any file."""
    parts = expand(dotted(name).rpartition(".")[2])
    token = index.lexical.tokens.get(parts[0]) if parts else None
    return token is not None and len(index.lexical.fields["body"].of(token)[0]) > 0
