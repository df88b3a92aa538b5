"""Fetches servers from a package registry, with the same consent as the packages that a repository's tests need."""

from __future__ import annotations

import json
import platform
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from repopilot.project.package_declarations import PackageDeclaration
from repopilot.sandbox.environments.package_install import install_packages, load_packages
from repopilot.settings import Settings
from repopilot.types import OnProgress

_TYPESCRIPT = "7.0.2"
_PACKAGE = PackageDeclaration(
    "javascript",
    "typescript-language-server",
    (),
    (f"typescript@{_TYPESCRIPT}",),
    files={"package.json": json.dumps({"private": True, "dependencies": {"typescript": _TYPESCRIPT}})},
)
"""The only server that is in a registry: `tsc`, fetched with the packages of JavaScript."""
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def fetch_servers(languages: Iterable[str], settings: Settings, progress: OnProgress, cancel: threading.Event) -> None:
    """Fetch the missing servers of languages that have one in a registry. Blocking.

    Args:
        languages: those of a repository's package declarations, whose user consents.
        settings: data directory and limits.
        progress: called with the progress.
        cancel: ends the installation once set.

    Raises:
        EnvironmentFailed: a server can't be installed.
        StorageError: the data directory can't be used.
        Cancelled: `cancel` was set.
    """
    if "javascript" in languages and load_packages(_PACKAGE, settings) is None:
        install_packages(_PACKAGE, settings, progress, cancel)


def can_be_fetched(server: str) -> bool:
    """Whether a server is in a registry."""
    return server == "tsc"


def folders_of(settings: Settings, modules: Iterable[Path]) -> tuple[Path, ...]:
    """The folders in which the program of the registry's server may be: there is a package for each kind of machine.

    Args:
        settings: the data directory.
        modules: folders of the machine's own packages, which come last.
    """
    packages = load_packages(_PACKAGE, settings)
    kind = f"@typescript/typescript-{sys.platform}-{_MACHINES.get(platform.machine().lower(), '')}"
    places = (*((packages.folder,) if packages is not None else ()), *modules)
    return tuple(place / inner / kind / "lib" for place in places for inner in (".", "typescript/node_modules"))
