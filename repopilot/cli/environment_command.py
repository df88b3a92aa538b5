"""`repopilot environment`: what a repository's tests need, and the environment built for it."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Mapping
from dataclasses import asdict

from repopilot import i18n
from repopilot.agents.testing.missing import modules_missing
from repopilot.cli.output import emit, live_progress, show_notes
from repopilot.errors import EnvironmentFailed
from repopilot.i18n.format import duration
from repopilot.project_environment import DeclaredProject, declared_project
from repopilot.results import Answer
from repopilot.runtime import Runtime
from repopilot.sandbox.environments.environment_store import (
    EnvironmentFacts,
    environment_key,
    list_environments,
    remove_environment,
)
from repopilot.settings import Settings
from repopilot.workspace import Workspace


def environment(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Say what a repository's tests need; build or remove its environment. Status 1 where there is none to remove."""
    from repopilot.sandbox.environments.environment_build import BuildRequest, build_environment
    from repopilot.workspace import open_snapshot

    settings = runtime.settings
    with live_progress(arguments.language) as report:
        snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        declared = declared_project(snapshot)
        key = environment_key(declared.project)
        removed = arguments.remove and remove_environment(key, settings)
        if arguments.build:
            request = BuildRequest(declared.project, settings, arguments.allow_build_scripts, declared.files)
            build_environment(request, report, threading.Event())
    facts = _facts(declared, key, settings) | ({"removed": removed} if arguments.remove else {})
    emit(facts, arguments.json, lambda: _show(facts, arguments.language))
    return 1 if arguments.remove and not removed else 0


def build_if_allowed(arguments: argparse.Namespace, runtime: Runtime) -> None:
    """Build the environment of a repository where the user has consented in advance; what fails is said as a note."""
    from repopilot.sandbox.environments.environment_build import BuildRequest, build_environment
    from repopilot.workspace import open_snapshot

    settings = runtime.settings
    if settings.environments != "always" or settings.test_python:
        return
    with live_progress(arguments.language) as report:
        snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        declared = declared_project(snapshot)
        if not declared.project.files or environment_key(declared.project) in list_environments(settings):
            return
        try:
            build_environment(BuildRequest(declared.project, settings, files=declared.files), report, threading.Event())
        except EnvironmentFailed as error:
            show_notes([i18n.reason(error)], arguments.language)


def note_missing(answer: Answer, workspace: Workspace, language: str) -> None:
    """Say on standard error when an environment would help the tests of an answer."""
    missing = modules_missing(answer, workspace.index.files)
    if missing and workspace.environment is None and workspace.settings.environments != "never":
        count = len(declared_project(workspace.snapshot).project.requirements)
        note = i18n.message("cli.environment.would_help", modules=", ".join(missing), count=count)
        show_notes([note], language)


def _facts(declared: DeclaredProject, key: str, settings: Settings) -> dict[str, object]:
    from repopilot.sandbox.environments.uv import index_name

    project = declared.project
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


def _show(facts: Mapping[str, object], language: str) -> None:
    def say(key: str, **values: object) -> None:
        print(i18n.text(f"cli.environment.{key}", language, **values))

    requirements, files = facts["requirements"], facts["declared_in"]
    assert isinstance(requirements, list) and isinstance(files, list)
    if requirements:
        say("needs", count=len(requirements), files=", ".join(files), requirements=", ".join(requirements))
    else:
        say("needs_nothing")
    built = facts["built"]
    if facts.get("removed"):
        say("removed")
    elif isinstance(built, dict):
        _show_built(EnvironmentFacts(**built), say, language)
    else:
        say("not_built", index=facts["index"])
    stored = facts["stored"]
    assert isinstance(stored, list)
    for entry in stored:
        print(f"{entry['key']}  {entry['project']:24} {entry['megabytes']:8.1f} MB")


def _show_built(built: EnvironmentFacts, say: object, language: str) -> None:
    assert callable(say)
    took = duration(built.seconds, language)
    say("built", count=len(built.packages), megabytes=built.megabytes, duration=took)
    if built.unlocked:
        say("unlocked")
    for entry in built.left_out:
        name, reason = (entry["requirement"], entry["reason"]) if isinstance(entry, dict) else ("", "")
        say("left_out", requirement=name, reason=i18n.said(reason, language))
