"""The buttons of our elements, by name. They answer at once; long work is requested by sending a message instead,
because only then does the browser show its Stop button."""

from __future__ import annotations

import chainlit as cl

from repopilot.ui.answer import answer_view, code_panel, diagram_panel, issue_view, plan_view, search_view, wiki_view
from repopilot.ui.answer.parts import answer_export, downloads
from repopilot.ui.answer.questions import environment_offer
from repopilot.ui.buttons import Handler
from repopilot.ui.changes import file_changes
from repopilot.ui.chat import Chat
from repopilot.ui.conversation import delete_repository, share_repository
from repopilot.ui.hosted_model import use_hosted
from repopilot.ui.overview_card import show_overview
from repopilot.ui.repository_view import handle_button
from repopilot.ui.trace.trace_panel import show_trace


async def _ask_larger(chat: Chat, payload: dict) -> dict:
    """Answer the next question with the given model."""
    name = str(payload.get("model", ""))
    chat.next_model = name if name in chat.process.models.names else ""
    return {}


async def _get_model(chat: Chat, payload: dict) -> dict:
    chat.process.models.start_get(str(payload.get("name", "")))
    return {}


def _opening_button(name: str) -> Handler:
    async def handle(chat: Chat, payload: dict) -> dict:
        return handle_button(chat, name, payload)

    return handle


HANDLERS: dict[str, Handler] = {
    "show_citation": answer_view.show_citation,
    **{name: getattr(code_panel, name) for name in ("open_file", "look_up", "list_files")},
    environment_offer.ACTION: environment_offer.decide,
    "show_trace": show_trace,
    "show_overview": show_overview,
    "show_diagram": diagram_panel.show_diagram,
    "show_wiki": wiki_view.show_wiki,
    "search_wiki": wiki_view.search_wiki,
    "ask_larger": _ask_larger,
    "copy_answer": answer_export.copy_answer,
    "rate": answer_export.rate,
    "open_pull_request": issue_view.open_pull_request,
    "post_review": issue_view.post_review,
    "decide": file_changes.decide,
    "edit_file": file_changes.edit_file,
    "create_change_branch": file_changes.create_change_branch,
    "edit_plan": plan_view.edit_plan,
    "create_plan_branch": plan_view.create_plan_branch,
    "download": downloads.download,
    "get_model": _get_model,
    "use_hosted": use_hosted,
    "delete_repository": delete_repository,
    "share_repository": share_repository,
    "search_again": search_view.search_again,
    "search_open": search_view.search_open,
    "search_lines": search_view.search_lines,
    **{name: _opening_button(name) for name in ("opening_stop", "opening_retry", "opening_token")},
    **{name: _opening_button(name) for name in ("opening_reindex", "opening_confirm", "opening_forget")},
}


async def handle_action(chat: Chat, action: cl.Action) -> dict:
    """Chainlit's callback for every button."""
    chat.leave_closed()
    return await HANDLERS[action.name](chat, action.payload)
