"""The routes that `public/repopilot.js` requests: the list of chats, the status line, the completion of names. They
are for the page, not an interface for other programs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any

import chainlit as cl
from chainlit.auth import get_current_user
from fastapi import Depends, HTTPException
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.middleware import Middleware
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from repopilot import i18n
from repopilot.errors import StorageError
from repopilot.release import release
from repopilot.ui.chat import Process
from repopilot.ui.chats.chat_list import TITLE_LENGTH, ListedChat, change, listed, remove
from repopilot.ui.chats.chat_store import ThreadKey, load
from repopilot.ui.error_text import error_line
from repopilot.ui.frame.chat_export import as_benchmark, as_json, as_markdown
from repopilot.ui.frame.completion import completions
from repopilot.ui.frame.health import health_props
from repopilot.ui.frame.sidebar import sidebar_props
from repopilot.ui.repository.registry import Opening

PREFIX = "/repopilot"
User = Annotated[cl.User | None, Depends(get_current_user)]


class ChatChange(BaseModel):
    """What a chat gets: another title, or its place among the pinned ones."""

    title: Annotated[str, Field(max_length=TITLE_LENGTH, min_length=1)] | None = None
    pinned: bool | None = None


def install_frame(server: ModuleType, process: Process) -> None:
    """Add the routes to Chainlit's, in front of its catch-all route, and the release to its help page.

    Args:
        server: the module `chainlit.server`.
        process: what all chats share.
    """
    routes = server.router.routes
    catch_all = next(at for at, route in enumerate(routes) if route.path.endswith("/{full_path:path}"))
    base = routes[catch_all].path.removesuffix("/{full_path:path}") + PREFIX

    async def chats(user: User, search: str = "", lang: str = "") -> JSONResponse:
        found = await _stored(lambda: listed(process.database, _owner(user), search.strip()), lang)
        return JSONResponse(sidebar_props(found, i18n.supported(lang)))

    async def change_chat(thread: str, wanted: ChatChange, user: User, lang: str = "") -> JSONResponse:
        await _find(thread, user, lang)
        facts = wanted.model_dump(exclude_none=True)
        await _stored(lambda: change(process.database, thread, _owner(user), **facts), lang)
        return JSONResponse({})

    async def delete_chat(thread: str, user: User, lang: str = "") -> JSONResponse:
        await _stored(lambda: remove(process.database, thread, _owner(user)), lang)
        return JSONResponse({})

    async def export_chat(thread: str, user: User, form: str = "markdown", lang: str = "") -> Response:
        chat = await _find(thread, user, lang)
        key = ThreadKey(thread, chat.repository, _owner(user))
        said = (await _stored(lambda: load(process.database, key), lang)).exchanges
        if form == "json":
            return Response(as_json(chat, said), media_type="application/json")
        if form == "benchmark":
            return Response(as_benchmark(chat, said), media_type="application/jsonl")
        return Response(as_markdown(chat, said), media_type="text/markdown")

    async def health(user: User, repo: str = "", lang: str = "") -> JSONResponse:
        opening = _opening(process, repo, _owner(user))
        language = i18n.supported(lang)
        return JSONResponse(await asyncio.to_thread(health_props, opening, process, language))

    async def complete(user: User, repo: str = "", text: str = "", kind: str = "mention") -> JSONResponse:
        opening = _opening(process, repo, _owner(user))
        index = opening.index if opening else None
        if index is None:
            return JSONResponse([])
        return JSONResponse(await asyncio.to_thread(lambda: completions(index, text[:200], mention=kind == "mention")))

    async def _find(thread: str, user: cl.User | None, lang: str) -> ListedChat:
        found = await _stored(lambda: listed(process.database, _owner(user), thread=thread), lang)
        if not found:
            raise HTTPException(404, i18n.text("ui.errors.conversation_gone", i18n.supported(lang)))
        return found[0]

    _say_release(server)
    table: tuple[tuple[str, Callable[..., Any], str], ...] = (
        ("/chats", chats, "GET"),
        ("/chats/{thread}", change_chat, "POST"),
        ("/chats/{thread}", delete_chat, "DELETE"),
        ("/chats/{thread}/export", export_chat, "GET"),
        ("/health", health, "GET"),
        ("/complete", complete, "GET"),
    )
    routes[catch_all:catch_all] = [APIRoute(base + path, work, methods=[method]) for path, work, method in table]


def _say_release(server: ModuleType) -> None:
    """Append the version and the commit to the help page."""
    written: Callable[[str, str], str | None] = server.get_markdown_str

    def page(root: str, language: str) -> str:
        return f"{written(root, language) or ''}\n\nRepoPilot {i18n.translated(release(), language)}"

    vars(server)["get_markdown_str"] = page


def mount(server: ModuleType, path: str, application: Callable[..., Any]) -> None:
    """Serve another application below a path, in front of Chainlit's routes and behind the access checks.

    Args:
        server: the module `chainlit.server`.
        path: below the root path.
        application: an ASGI application.
    """
    routes = server.router.routes
    catch_all = next(at for at, route in enumerate(routes) if route.path.endswith("/{full_path:path}"))
    base = routes[catch_all].path.removesuffix("/{full_path:path}")
    mounted = Mount(base + path, application)
    # The application must get every path below, even one with a newline, because it checks the token.
    mounted.path_regex = re.compile(mounted.path_regex.pattern, re.DOTALL)
    server.app.user_middleware.append(Middleware(_Mounted, mounted))


@dataclass(frozen=True, slots=True)
class _Mounted:
    """ASGI middleware: passes requests below the path of `mount` to it."""

    app: ASGIApp
    mount: Mount

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match, of_mount = self.mount.matches(scope)
        if match is Match.FULL:
            await self.mount.handle({**scope, **of_mount}, receive, send)
        else:
            await self.app(scope, receive, send)


def _owner(user: cl.User | None) -> str:
    return user.identifier if user else ""


def _opening(process: Process, repo: str, owner: str) -> Opening | None:
    """The login's opening of the repository that a page's address names."""
    return next(iter(process.openings.named(repo, owner)), None)


async def _stored(work: Callable[[], Any], lang: str) -> Any:
    try:
        return await asyncio.to_thread(work)
    except StorageError as error:
        raise HTTPException(503, error_line(error, i18n.supported(lang))) from error
