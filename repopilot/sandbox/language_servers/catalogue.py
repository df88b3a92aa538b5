"""The language servers that we know, a row each: where the program is found, how it is started, and the options that
keep it from running anything of the repository: build scripts, macros, plugins, toolchains that it downloads.

A program of the repository itself is never used.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from repopilot import i18n
from repopilot.sandbox.environments.package_install import NODE_MODULES
from repopilot.sandbox.job_spec import MB
from repopilot.sandbox.language_servers import fetched, java_server
from repopilot.sandbox.runners.runner_table import installed_program
from repopilot.settings import Settings


@dataclass(frozen=True, slots=True)
class LanguageServer:
    """One server.

    Attributes:
        name: its usual name.
        ids: LSP's names of its languages, by our names (see `languages.language_of`).
        arguments: command-line arguments.
        options: its initialization options.
        configuration: its settings by section, which it requests.
        variables: environment variables.
        packaged: the program's folder in a Python package; '' where it is a package's script, or in no package.
        toolchain: the language whose tools it starts, of `runner_table.LANGUAGES`; '' for none.
        packages: the language whose installed packages it reads, of `runner_table.LANGUAGES` or Python; '' for none.
        beside: what it reads in its installation, relative to its program's folder.
        overlays: the text of an opened file counts wherever the file is read, not only in questions about the file.
        learns: its answers about a file depend on whether it has read the others yet, so it is asked twice.
        memory: of all its processes, in bytes.
        patience: longest silence allowed, in seconds.
    """

    name: str
    ids: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    packaged: str = ""
    toolchain: str = ""
    packages: str = ""
    overlays: bool = False
    learns: bool = False
    beside: tuple[str, ...] = ()
    memory: int = 3072 * MB
    patience: float = 20.0


_JAVASCRIPT = {"typescript": "typescript", "tsx": "typescriptreact", "javascript": "javascript"}
_TYPESCRIPT_OPTIONS = {"disableAutomaticTypingAcquisition": True, "plugins": [], "disablePushDiagnostics": True}
_GO_VARIABLES = {
    "GOPROXY": "off",
    "GOSUMDB": "off",
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly",
    "GOTELEMETRY": "off",
    "CGO_ENABLED": "0",
    "GOCACHE": "{work}/go-cache",
    "GOPATH": "{work}/go",
}
_RUST_OPTIONS = {
    "cargo": {"buildScripts": {"enable": False}, "noDeps": False},
    "procMacro": {"enable": False},
    "checkOnSave": False,
    "cachePriming": {"enable": False},
}
_RUST_VARIABLES = {
    "CARGO_NET_OFFLINE": "true",
    "RUSTC_WRAPPER": "",
    "RUSTC_WORKSPACE_WRAPPER": "",
    "RUSTUP_TOOLCHAIN": "stable",
}
_JAVA_SETTINGS = {
    "autobuild": {"enabled": False},
    "import": {"gradle": {"enabled": False}, "maven": {"enabled": False}},
    "configuration": {"updateBuildConfiguration": "disabled"},
}

SERVERS: tuple[LanguageServer, ...] = (
    LanguageServer(
        "ty",
        {"python": "python"},
        ("server",),
        {"logLevel": "error"},
        {"ty": {"logLevel": "error"}},
        packages="python",
        overlays=True,
    ),
    LanguageServer(
        "tsc",
        _JAVASCRIPT,
        ("--lsp", "-stdio"),
        _TYPESCRIPT_OPTIONS,
        packages="javascript",
        overlays=True,
        beside=(".",),
    ),
    LanguageServer(
        "clangd",
        {"c": "c", "cpp": "cpp", "objc": "objective-c"},
        (
            "--enable-config=false",
            "--clang-tidy=false",
            "--background-index=false",
            "--pch-storage=memory",
            "--limit-references=0",
            "--limit-results=0",
            "--log=error",
            "-j=2",
        ),
        packaged="clangd/data/bin",
        learns=True,
        beside=("../lib/clang",),
    ),
    LanguageServer("gopls", {"go": "go"}, ("serve",), variables=_GO_VARIABLES, toolchain="go", packages="go"),
    LanguageServer(
        "rust-analyzer",
        {"rust": "rust"},
        (),
        _RUST_OPTIONS,
        {"rust-analyzer": _RUST_OPTIONS},
        _RUST_VARIABLES,
        toolchain="rust",
    ),
    LanguageServer(
        "jdtls",
        {"java": "java"},
        (),
        {"settings": {"java": _JAVA_SETTINGS}},
        {"java": _JAVA_SETTINGS},
        overlays=True,
        beside=("plugins", "configuration", "../plugins", "../configuration", "../Eclipse"),
        patience=60.0,
    ),
)


def server_of(language: str) -> LanguageServer | None:
    """The server of a language, whether it is installed or not; None for none."""
    return next((server for server in SERVERS if language in server.ids), None)


def program_of(server: LanguageServer, outside_of: Path | None, settings: Settings) -> Path | None:
    """The program of a server on this machine: among our own packages, fetched ones, or on the PATH.

    Args:
        server: which one.
        outside_of: the repository, whose programs are never run; None where the program is not going to be run.
        settings: the data directory.
    """
    repository = Path(os.path.realpath(outside_of)) if outside_of is not None else None
    for place in _places(server, settings):
        found = shutil.which(server.name, path=str(place)) if place.is_absolute() else None
        real = Path(os.path.realpath(found)) if found else None
        # A link to a program with another name would be rustup, which downloads the server.
        if real is None or real.name != server.name or not _can_start(server, real):
            continue
        if repository is None or not real.is_relative_to(repository):
            return real
    return None


def tools_of(server: LanguageServer) -> tuple[Path, tuple[Path, ...]] | None:
    """The program of the toolchain that a server needs, and the folders that it reads; None for none."""
    return installed_program(server.toolchain) if server.toolchain else None


def is_package(server: LanguageServer) -> bool:
    """Whether a server can be installed with us, whatever else is on the machine."""
    return server.packaged != "" or fetched.can_be_fetched(server.name)


def how_to_get(server: LanguageServer) -> str:
    """How a user gets a server, as a message."""
    return i18n.message(f"resolve.get.{server.name.replace('-', '_')}")


def _can_start(server: LanguageServer, program: Path) -> bool:
    """Whether the runtime that a server needs is here, too."""
    return "java" not in server.ids or (
        java_server.launcher(program) is not None and java_server.java_home() is not None
    )


def _places(server: LanguageServer, settings: Settings) -> list[Path]:
    """Folders that may contain a server's program, the most reliable first."""
    on_path = list(map(Path, os.get_exec_path()))
    if fetched.can_be_fetched(server.name):  # a program of its name on the PATH is a script, or an older version
        scripts = (shutil.which(server.name, path=str(place)) for place in on_path if place.is_absolute())
        packages = [Path(os.path.realpath(script)).parents[2] for script in scripts if script]
        machine = [place.parent / "lib" / NODE_MODULES for place in on_path]
        return list(fetched.folders_of(settings, [*packages, *machine]))
    if "java" in server.ids:
        return [*java_server.packaged_in(), *on_path]
    wheel = find_spec(server.packaged.split("/")[0]) if server.packaged else None
    ours = [Path(wheel.origin).parent.parent / server.packaged] if wheel and wheel.origin else []
    tools = tools_of(server)
    beside = [tools[0].parent] if tools else []
    return [*ours, *beside, Path(sysconfig.get_path("scripts")), *on_path]
