"""The small shop, indexed once, as a workspace for agents whose model is a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.index_case import WORKERS, build_index
from support.scripted_models import scripted_model
from support.small_repo import lay_out

from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.workspace import Workspace


@pytest.fixture(scope="session")
def shop_workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The shop without a model and without vectors."""
    settings = Settings(
        home=tmp_path_factory.mktemp("home"), ollama_url="", embedded=False, auto_download=False, dense=False
    )
    folder: Path = lay_out(tmp_path_factory.mktemp("shop"))
    snapshot = open_source(parse_source(str(folder)), settings)
    return Workspace(snapshot, build_index(snapshot, settings), settings, workers=WORKERS)


@pytest.fixture
def shop_with(shop_workspace: Workspace) -> Callable[..., Workspace]:
    """The shop with a model that replies what the function of the messages says."""

    def with_model(reply: Callable, **changes: object) -> Workspace:
        return replace(shop_workspace, model=scripted_model(reply), **changes)

    return with_model
