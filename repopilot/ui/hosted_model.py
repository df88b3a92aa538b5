"""The first screen's button for a model of a remote service; its address and key stay in memory."""

from __future__ import annotations

import asyncio
import re

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.servers import openai_api
from repopilot.llm.servers.address import is_loopback, without_credentials
from repopilot.settings import Settings
from repopilot.ui.buttons import button
from repopilot.ui.chat import Chat

SERVICES = (
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://api.mistral.ai/v1",
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "https://api.groq.com/openai/v1",
    "https://api.together.xyz/v1",
)
"""Suggested addresses; any other service with the same protocol works as well."""
ANSWER_S = 15.0
MODELS_SHOWN = 500
_KEY = re.compile("[!-~]{0,500}")


def hosted_props(chat: Chat) -> dict | None:
    """What the first screen offers: {services: addresses, used: the one in use, '' for none}; None if the user may not
    choose the model."""
    if not _may_choose(chat):
        return None
    url = chat.process.models.settings.llm_url
    return {"services": list(SERVICES), "used": without_credentials(url) if url else ""}


@button
async def use_hosted(chat: Chat, payload: dict) -> dict:
    """Use a model of a service from now on, in every chat; with an empty address, the model set at the start again.

    Args:
        chat: where the button was pressed.
        payload: {url, key, model: '' to list the models}.

    Returns:
        {models: names} to choose from, {} once a model is used, or {error}.
    """
    url, key, name = (str(payload.get(part, "")).strip() for part in ("url", "key", "model"))
    models = chat.process.models
    if not _may_choose(chat):
        raise ModelError(i18n.message("llm.hosted.not_here"))
    if not url:
        started = chat.process.runtime.settings
        await models.prefer(llm_url=started.llm_url, llm_key=started.llm_key, llm_model=started.llm_model)
        return {}
    url = _checked(url, key, chat.settings)
    base, names = await asyncio.to_thread(openai_api.find_models, url, key, ANSWER_S)
    if not name and len(names) != 1:
        return {"models": sorted(names)[:MODELS_SHOWN]}
    await asyncio.to_thread(openai_api.check_model, base, key, name or names[0], ANSWER_S)
    await models.prefer(llm_url=base, llm_key=key, llm_model=name or names[0])
    return {}


def _may_choose(chat: Chat) -> bool:
    """Whether this user may choose the model, which receives the code of everybody who works with the process."""
    return not chat.owner and "llm_url" not in chat.process.runtime.settings.model_fields_set


def _checked(url: str, key: str, settings: Settings) -> str:
    """Check and normalize an API's address: plain HTTP only on loopback or with `allow_http`. Raises ModelError."""
    plain = url.startswith("http://") and (is_loopback(url) or settings.allow_http)
    if not (plain or url.startswith("https://")) or re.search(r"[\s,@?#]", url):
        shown = without_credentials(url)[:200]
        raise ModelError(i18n.message("llm.hosted.no_address", url=shown), i18n.message("llm.hosted.no_address_hint"))
    if not _KEY.fullmatch(key):
        raise ModelError(i18n.message("llm.hosted.no_key"), i18n.message("llm.hosted.no_key_hint"))
    return url.rstrip("/").removesuffix("/chat/completions")
