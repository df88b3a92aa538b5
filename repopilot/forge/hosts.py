"""Which client speaks to the host of an issue or pull request, and with which token."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.forge.items import ForgeItem, parse_item
from repopilot.repo.remote.credentials import token_for
from repopilot.repo.remote.network import check
from repopilot.settings import Settings

if TYPE_CHECKING:
    from repopilot.forge.github import GitHubItem
    from repopilot.forge.gitlab import GitLabItem

Forge: TypeAlias = "GitHubItem | GitLabItem"
"""A host, for one issue or pull request. Every method blocks, and raises ForgeError, or SourceError where the host
may not be contacted."""


def forge_of(item: ForgeItem, settings: Settings) -> Forge:
    """The client for an item. It contacts nothing yet: its first request checks the address, and raises SourceError for
    one that may not be contacted.

    Args:
        item: an issue or a pull request.
        settings: the address of the API, tokens by host, and which hosts may be contacted.

    Raises:
        UsageError: the setting of the tokens or that of the API can't be read.
    """
    api = item.api(settings.forge_api)
    if "://" not in api or not parse_item(f"{api}/owner/name/pull/1"):
        raise UsageError(i18n.message("forge.api_setting", value=api[:200]), i18n.message("forge.api_setting_hint"))
    secret = token_for(item.host, settings.git_token) or token_for(api, settings.git_token)

    def allowed() -> str:
        """The token to send, after checking the address like a clone's; an address that the owner set is trusted."""
        own = {"allow_http": True, "allow_private_hosts": True} if settings.forge_api else {}
        if own and (settings.allow_http or api.startswith("https:")):
            return secret
        return secret if check(api, settings.model_copy(update=own)).confidential else ""

    if item.forge == "gitlab":
        from repopilot.forge.gitlab import GitLabItem

        return GitLabItem(item, api, allowed)
    from repopilot.forge.github import GitHubItem

    return GitHubItem(item, api, allowed)
