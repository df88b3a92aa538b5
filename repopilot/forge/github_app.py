"""A GitHub App: it works where it is installed, with tokens of that installation, under its own name."""

from __future__ import annotations

from pathlib import Path

from github import Auth, GithubIntegration
from github.GithubException import GithubException

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.forge.connection import ATTEMPTS, TIMEOUT_S, Again
from repopilot.forge.host_errors import explained
from repopilot.forge.items import PUBLIC_API, ForgeItem
from repopilot.repo.remote.credentials import HostToken, host_of, setting_with
from repopilot.settings import Settings


def as_app(settings: Settings, item: ForgeItem) -> Settings:
    """The settings with a token of the app's installation on an item's repository, valid for an hour, for the API and
    for git. They stay as they are where they name no app, and for another host. Blocking.

    Args:
        settings: the app with its key, and the address of the API where it isn't that of github.com.
        item: an issue or pull request.

    Raises:
        UsageError: the app's key can't be read.
        ForgeError: it isn't installed on the repository, or the host refuses.
    """
    api = settings.forge_api.rstrip("/") or PUBLIC_API
    if not settings.github_app or item.api(settings.forge_api) != api:  # other hosts get nothing that the key signs
        return settings
    try:
        key = Path(settings.github_app_key).expanduser().read_text("ascii")
    except (OSError, ValueError) as error:
        raise UsageError(i18n.message("forge.app_key", error=str(error)), i18n.message("forge.app_key_hint")) from error
    secret = _Installation(item, api, settings.github_app, key).token()
    # On github.com the address of a clone has another host than the API.
    host = host_of("https://github.com" if api == PUBLIC_API else api)
    return settings.model_copy(update={"git_token": setting_with(settings.git_token, HostToken(host, secret))})


@explained(lambda error: (error.status, error.message) if isinstance(error, GithubException) else (0, ""))
class _Installation:
    """The app where it is installed on the repository of an item."""

    def __init__(self, item: ForgeItem, api: str, app: str, key: str) -> None:
        self._item = item
        self._api = api
        self._app = app
        self._key = key

    def token(self) -> str:
        """A new token of the installation. Raises ForgeError, UsageError."""
        try:
            auth = Auth.AppAuth(self._app, self._key)
            auth.create_jwt()
        except Exception as error:  # the library that reads the key raises many kinds
            hint = i18n.message("forge.app_key_hint")
            raise UsageError(i18n.message("forge.app_key", error=str(error)), hint) from error
        retry = Again(**ATTEMPTS)
        with GithubIntegration(auth=auth, base_url=self._api, timeout=TIMEOUT_S[1], retry=retry) as app:
            found = app.get_repo_installation(*self._item.project.split("/", 1))
            return str(app.get_access_token(found.id).token)
