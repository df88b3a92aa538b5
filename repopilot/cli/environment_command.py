"""`repopilot environment`: what a repository's tests need, and the environment built for it."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repopilot import i18n
from repopilot.agents.testing.missing import modules_missing
from repopilot.cli.output import emit, live_progress, say, show_notes
from repopilot.i18n.format import duration
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.project.python_project import ProjectDeclaration
from repopilot.project_environment import (
    TestPackages,
    declared_packages,
    declared_project,
    fetch,
    fetch_for_tests,
)
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Answer
from repopilot.runtime import Runtime
from repopilot.sandbox.environments.environment_store import (
    EnvironmentFacts,
    environment_key,
    list_environments,
    read_facts,
    remove_environment,
)
from repopilot.sandbox.environments.package_install import installer_name, packages_key
from repopilot.sandbox.language_servers.fetched import fetch_servers
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.junit import by_gradle, lacking_artifacts, local_repository
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.settings import Settings
from repopilot.types import Environment
from repopilot.workspace import Workspace, usable_environment, with_test_packages

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
"""A Python project has one of these files in its top folder."""


def environment(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Say what a repository's tests need; build or remove its environment. Status 1 where there is none to remove."""
    from repopilot.openings import open_snapshot

    settings = runtime.settings
    with live_progress(arguments.language) as report:
        snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        declared = declared_project(snapshot)
        others = declared_packages(snapshot)
        key = environment_key(declared)
        keys = [key, *map(packages_key, others)]
        removed = [remove_environment(each, settings) for each in keys] if arguments.remove else []
        if arguments.build:
            python = declared if declared.files or not others else None  # nothing declared: pytest alone
            wanted = TestPackages(python, others)
            cancel = threading.Event()
            fetch(wanted, settings, report, cancel, allow_builds=arguments.allow_build_scripts)
            fetch_servers((each.language for each in others), settings, report, cancel)
    facts = _facts(declared, key, settings) | {"packages": [_package_facts(each, settings) for each in others]}
    facts |= {"removed": any(removed)} if arguments.remove else {}
    emit(facts, arguments.json, lambda: _show(facts, arguments.language))
    return 1 if arguments.remove and not any(removed) else 0


async def with_packages(workspace: Workspace, arguments: argparse.Namespace) -> Workspace:
    """The workspace with the packages its tests need: fetched, with progress on standard error, unless refused."""
    if arguments.no_environment:
        return workspace
    with live_progress(arguments.language) as report:
        workspace = await with_test_packages(workspace, report)
    show_notes(workspace.fetch_problems, arguments.language)
    return workspace


class _Alone:
    """Stands in for a project's files when only one Python file is tested."""

    files = ("test_it.py",)

    def text(self, path: str) -> str | None:
        return None


async def environment_around(file: Path, arguments: argparse.Namespace, runtime: Runtime) -> Environment | None:
    """The environment of the project that a file lies in, fetched as by `with_packages`; None without a manifest."""
    settings = runtime.settings
    folders = file.resolve().parents
    top = next((folder for folder in folders if any((folder / name).is_file() for name in MANIFESTS)), None)
    if top is None:
        return None
    snapshot = open_source(parse_source(str(top)), settings)
    if not arguments.no_environment:
        with live_progress(arguments.language) as report:
            problems = await fetch_for_tests(snapshot, _Alone(), settings, report)
        show_notes(problems, arguments.language)
    return usable_environment(snapshot, settings)


def note_missing(answer: Answer, workspace: Workspace, language: str) -> None:
    """Say on standard error when an environment would help the tests of an answer."""
    missing = modules_missing(answer, workspace.index.files)
    if missing and workspace.environment is None and workspace.settings.environments != "never":
        count = len(declared_project(workspace.snapshot).requirements)
        note = i18n.message("cli.environment.would_help", modules=", ".join(missing), count=count)
        show_notes([note], language)


def _facts(project: ProjectDeclaration, key: str, settings: Settings) -> dict[str, object]:
    from repopilot.sandbox.environments.uv import index_name

    stored = list_environments(settings)
    return {
        "project": project.name,
        "version": project.version,
        "python": project.python,
        "declared_in": list(project.files),
        "requirements": list(project.requirements),
        "locked": len(project.constraints),
        "elsewhere": list(project.elsewhere),
        "index": index_name(),
        "interpreter": settings.test_python,
        "key": key,
        "built": asdict(stored[key]) if key in stored else None,
        "stored": [{"key": name, "project": f.project, "megabytes": f.megabytes} for name, f in stored.items()],
    }


def _package_facts(declaration: PackageDeclaration, settings: Settings) -> dict[str, object]:
    key = packages_key(declaration)
    built = read_facts(settings.environments_folder / key)
    return {
        "language": declaration.language,
        "project": declaration.name,
        "declared_in": list(declaration.declared_in),
        "requirements": list(declaration.requirements),
        "elsewhere": list(declaration.elsewhere),
        "lock": declaration.lock,
        "installer": installer_name(declaration),
        "missing_programs": list(missing_programs([declaration.language])),
        "own_repository": _own_repository(declaration),
        "key": key,
        "built": asdict(built) if built else None,
    }


def _own_repository(declaration: PackageDeclaration) -> dict[str, object] | None:
    """The user's local Maven repository, and the needed artifacts it lacks; None for other projects."""
    if declaration.language != "java" or by_gradle(declaration.node):
        return None
    return {"folder": str(local_repository()), "lacking": list(lacking_artifacts(declaration))}


def _show(facts: Mapping[str, Any], language: str) -> None:
    def tell(key: str, **values: object) -> None:
        say(i18n.text(f"cli.environment.{key}", language, **values))

    requirements = facts["requirements"]
    files = facts["declared_in"]
    others = facts["packages"]
    if requirements:
        tell("needs", count=len(requirements), files=", ".join(files), requirements=", ".join(requirements))
    elif not others:
        tell("needs_nothing")
    built = facts["built"]
    if facts.get("removed"):
        tell("removed")
    elif built:
        _show_built(EnvironmentFacts(**built), tell, language)
    elif requirements:
        tell("not_built", index=facts["index"])
    for each in others:
        _show_packages(each, tell, language)
    for entry in facts["stored"]:
        say(f"{entry['key']}  {plain(entry['project'], 80):24} {entry['megabytes']:8.1f} MB")


def _show_packages(facts: Mapping[str, Any], tell: Callable[..., None], language: str) -> None:
    """Print the packages declared for a language other than Python, and whether they are installed."""
    files, requirements = (plain(", ".join(facts[key])) for key in ("declared_in", "requirements"))
    key = "packages" if requirements else "packages_none"
    tell(key, files=files, count=len(facts["requirements"]), requirements=requirements)
    for program in facts["missing_programs"]:
        tell("program_missing", program=program)
    if facts["built"]:
        _show_built(EnvironmentFacts(**facts["built"]), tell, language)
    elif requirements:
        own = facts["own_repository"]
        if own and not own["lacking"]:
            tell("own", folder=own["folder"])
            return
        if own:
            tell("lacking", folder=own["folder"], names=plain(", ".join(own["lacking"])))
        tell("not_installed", program=facts["installer"])


def _show_built(built: EnvironmentFacts, tell: Callable[..., None], language: str) -> None:
    took = duration(built.seconds, language)
    tell("built", count=len(built.packages), megabytes=built.megabytes, duration=took)
    if built.unlocked:
        tell("unlocked")
    for entry in built.left_out:
        name, reason = (entry["requirement"], entry["reason"]) if isinstance(entry, dict) else ("", "")
        tell("left_out", requirement=name, reason=i18n.translated(reason, language))
