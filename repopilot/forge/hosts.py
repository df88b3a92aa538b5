"""Which client speaks to the host of an issue or pull request, and with which token."""

from __future__ import annotations

from repopilot.forge.contents import Forge
from repopilot.forge.items import ForgeItem
from repopilot.repo.remote.credentials import HostToken, token_for
from repopilot.settings import Settings


def forge_of(item: ForgeItem, settings: Settings, token: HostToken | None = None) -> Forge:
    """The client for an item. Reaches nothing yet.

    Args:
        item: an issue or a pull request.
        settings: the address of the API, and tokens by host.
        token: one that was typed; it goes before those of the settings.

    Raises:
        UsageError: the setting of the tokens can't be read.
    """
    api = item.api(settings.forge_api)
    secret = token_for(item.host, settings.git_token, token) or token_for(api, settings.git_token, token)
    if item.forge == "gitlab":
        from repopilot.forge.gitlab import GitLabItem

        return GitLabItem(item, api, secret)
    from repopilot.forge.github import GitHubItem

    return GitHubItem(item, api, secret)
