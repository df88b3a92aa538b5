"""The lines that the address of a repository names (`…/blob/main/a.py#L10-L20`): opened, and asked about next."""

from __future__ import annotations

import chainlit as cl

from repopilot import i18n
from repopilot.types import Citation, Source
from repopilot.ui.answer.code_panel import show_code
from repopilot.ui.chat import Chat


async def show_subject(chat: Chat, source: Source) -> None:
    """Open the lines of an address, if it names any.

    Args:
        chat: its repository can be asked about.
        source: as the address was read.
    """
    chat.subject = ""
    index = chat.opening.index if chat.opening else None
    if not source.focus or index is None:
        return
    parts = source.focus.split("/")
    # A branch may have slashes: what is before the path belongs to it.
    path = next((p for n in range(len(parts)) if (p := "/".join(parts[n:])) in index.files), "")
    if not path:
        gone = i18n.text("ui.errors.not_indexed", chat.language, path=source.focus)
        await cl.Message(content=gone).send()
        return
    first = source.line or 1
    last = source.last_line or first
    chat.subject = f"{path}:{first}-{last}" if source.line else path
    await cl.Message(content=i18n.text("ui.chat.subject", chat.language, place=chat.subject)).send()
    await show_code(chat, index, Citation(0, path, first, last, index.commit))
