"""Our own elements (`public/elements/*.jsx`) in a chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import chainlit as cl
from chainlit.session import WebsocketSession

CODE_VIEW = "code-view"


def element(name: str, props: dict, *, display: str = "inline", id: str = "") -> cl.CustomElement:
    """An element to send with a message. The address keeps Chainlit from writing a file at every update."""
    made = cl.CustomElement(name=name, props=props, display=display, url=f"/public/elements/{name}.jsx")
    if id:
        made.id = id
    return made


async def update(shown: cl.CustomElement, props: dict) -> None:
    """New props for an element that is already shown; nothing is sent when they are the same."""
    if props != shown.props:
        shown.props = props
        await cl.context.emitter.send_element(shown.to_dict())


async def show_aside(name: str, props: dict) -> None:
    """Open the side view with an element. One per chat, with one id: a second would be shown below the first."""
    aside = element(name, props, display="side", id=f"{CODE_VIEW}-{cl.context.session.id}")
    await aside.send(for_id="")


def poll_props(shown: cl.CustomElement, props: Callable[[], dict], every_s: float) -> None:
    """Keep an element up to date as long as the browser's session exists. `props` runs in a thread."""
    following = asyncio.create_task(_follow(shown, props, every_s, cl.context.session.id))
    cl.user_session.set("following", [*(cl.user_session.get("following") or ()), following])


async def _follow(shown: cl.CustomElement, props: Callable[[], dict], every_s: float, session_id: str) -> None:
    while WebsocketSession.get_by_id(session_id) is not None:
        await update(shown, await asyncio.to_thread(props))
        await asyncio.sleep(every_s)
