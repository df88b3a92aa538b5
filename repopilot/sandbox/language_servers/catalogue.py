"""The language servers that we know, a row each: where the program is found, how it is started, and the options that
keep it from running anything of the repository: build scripts, macros, plugins, toolchains that it downloads.

A program of the repository itself is never used.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from repopilot.sandbox.job_spec import MB


@dataclass(frozen=True, slots=True)
class LanguageServer:
    """One server.

    Attributes:
        name: as its users call it.
        ids: the languages that it knows, as `languages.language_of` names them, and as LSP does.
        arguments: of the program.
        options: what it is told when it is started.
        configuration: its options by section, which it asks for.
        variables: of its environment.
        packaged: the folder of the program in a Python package, '' where it is a script of one or none.
        memory: of all its processes, in bytes.
        patience: how long it may say nothing, in seconds.
    """

    name: str
    ids: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    packaged: str = ""
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
    LanguageServer("ty", {"python": "python"}, ("server",), {"logLevel": "error"}, {"ty": {"logLevel": "error"}}),
    LanguageServer("tsc", _JAVASCRIPT, ("--lsp", "-stdio"), _TYPESCRIPT_OPTIONS),
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
    ),
    LanguageServer("gopls", {"go": "go"}, ("serve",), variables=_GO_VARIABLES),
    LanguageServer(
        "rust-analyzer", {"rust": "rust"}, (), _RUST_OPTIONS, {"rust-analyzer": _RUST_OPTIONS}, _RUST_VARIABLES
    ),
    LanguageServer(
        "jdtls",
        {"java": "java"},
        ("-data", "{work}/jdtls"),
        {"settings": {"java": _JAVA_SETTINGS}},
        {"java": _JAVA_SETTINGS},
        patience=60.0,
    ),
)


def server_of(language: str) -> LanguageServer | None:
    """The server of a language, whether it is installed or not; None for none."""
    return next((server for server in SERVERS if language in server.ids), None)


def program_of(server: LanguageServer, outside_of: Path, folders: Iterable[Path] = ()) -> Path | None:
    """The program of a server on this machine: among our own packages, in further folders, or on the PATH.

    Args:
        server: which one.
        outside_of: the repository, whose programs are never run.
        folders: looked through first.
    """
    wheel = find_spec(server.packaged.split("/")[0]) if server.packaged else None
    origin = [Path(wheel.origin).parent.parent / server.packaged] if wheel and wheel.origin else []
    places = [*folders, *origin, Path(sysconfig.get_path("scripts")), *map(Path, os.get_exec_path())]
    for place in places:
        found = shutil.which(server.name, path=str(place)) if place.is_absolute() else None
        real = Path(os.path.realpath(found)) if found else None
        if real is not None and not real.is_relative_to(os.path.realpath(outside_of)):
            return real
    return None
