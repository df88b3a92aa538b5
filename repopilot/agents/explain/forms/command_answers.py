"""Answers how the project is installed, built, started, tested and checked, from the files that say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from repopilot import i18n
from repopilot.agents.explain.forms.code_answer import CitedPlaces, CodeAnswer, Inquiry
from repopilot.agents.explain.forms.recognise import Form
from repopilot.agents.overview.best_commands import ranked_commands
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.own_code import BUILD_FILES
from repopilot.code.languages import file_kind, language_of
from repopilot.index.store import Index
from repopilot.project import project_commands
from repopilot.project.project_commands import ProjectCommand, Purpose


def answer_command(form: Form, inquiry: Inquiry) -> CodeAnswer | None:
    """Answer how to install, build, start, test or check the project: the commands of the documentation first.

    None where the best match is the project's own code: the question is about what that code does.
    """
    if any(_is_product_code(hit.chunk.path, inquiry.index) for hit in inquiry.results.hits[:1]):
        return None
    purpose = cast(Purpose, form.kind)
    found = ranked_commands(inquiry.index, overview_of(inquiry.index).entry_points, purpose)
    return _told(inquiry, purpose, found) if found else None


def _is_product_code(path: str, index: Index) -> bool:
    is_code = file_kind(path) == "code" and language_of(path) not in BUILD_FILES
    return is_code and index.is_own(path) and not project_commands.is_read(path)


def _told(inquiry: Inquiry, purpose: Purpose, commands: Sequence[ProjectCommand]) -> CodeAnswer:
    sure = commands[0].origin != "convention"
    language = inquiry.language
    cited = CitedPlaces(inquiry.index)
    rows = []
    for command in commands:
        runs = f" (`{command.runs[:120].replace('`', '')}`)" if command.runs else ""
        rows.append(f"`{command.command}`{runs} {cited.cite(command.path, command.line)}")
    key = f"forms.commands.{purpose}" if sure else "forms.commands.convention"
    text = i18n.text(key, language, command=rows[0], path=commands[0].path)
    if len(rows) > 1:
        others = [f"- {row}: `{c.path}`" for row, c in zip(rows[1:], commands[1:], strict=True)]
        text = "\n".join([text, "", i18n.text("forms.commands.others", language), *others])
    return CodeAnswer("run", text, cited.places, sure)
