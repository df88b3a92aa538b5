"""Our own elements (`public/elements/*.jsx`) in a chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

import chainlit as cl
from chainlit.session import WebsocketSession

from repopilot.foreign_text import visible_values

EXACT = frozenset({"id", "key", "answer", "query", "folders", "filters", "draft", "path", "address"})
"""Props that elements send back, so they stay as they are. Paths have no hidden characters; see
`foreign_text.is_plain_name`."""


def element(name: str, props: dict, *, display: Literal["inline", "side"] = "inline", id: str = "") -> cl.CustomElement:
    """Make an element to send with a message.

    Args:
        name: of its file, without `.jsx`.
        props: a JSON-serializable value.
        display: in the message, or in the side panel.
        id: of the element; '' for a new one.

    Returns:
        The element. Its URL keeps Chainlit from writing another file at every update.
    """
    shown = visible_values(props, EXACT)
    created = cl.CustomElement(name=name, props=shown, display=display, url=f"/public/elements/{name}.jsx")
    if id:
        created.id = id
    return created


async def update(shown: cl.CustomElement, props: dict) -> None:
    """Give new props to an element on the page; nothing is sent when they are the same."""
    props = visible_values(props, EXACT)
    if props != shown.props:
        shown.props = props
        await cl.context.emitter.send_element(shown.to_dict())


async def show_aside(name: str, props: dict) -> None:
    """Show an element in the side view in place of the current one: a second would appear below the first."""
    before = cl.user_session.get("aside")
    if before is not None and before.name != name:
        # The page keeps the code of an element by its id: another element needs another id.
        await before.remove()
    aside = element(name, props, display="side", id=f"{name}-{cl.context.session.id}")
    cl.user_session.set("aside", aside)
    await aside.send(for_id="")
    if title := props.get("words", {}).get("title"):
        await cl.ElementSidebar.set_title(title)


def poll_props(
    shown: cl.CustomElement, props: Callable[[], dict], every_s: float, until: Callable[[], bool] = lambda: False
) -> None:
    """Update an element regularly while the browser's session exists.

    Args:
        shown: the element, already sent.
        props: gives its current props; it is called in a thread.
        every_s: seconds between two updates.
        until: whether to end after the next update.
    """
    polling = asyncio.create_task(_poll(shown, props, every_s, until, cl.context.session.id))
    # The event loop has only weak references to its tasks.
    cl.user_session.set("polling", [*(cl.user_session.get("polling") or ()), polling])


async def _poll(
    shown: cl.CustomElement, props: Callable[[], dict], every_s: float, until: Callable[[], bool], session_id: str
) -> None:
    done = False
    while not done and WebsocketSession.get_by_id(session_id) is not None:
        done = until()
        await update(shown, await asyncio.to_thread(props))
        await asyncio.sleep(every_s)
