"""Builds an environment: resolve, check the size, install, publish by one rename. Blocking, resumable.

No code of the project runs. Other packages are installed only from wheels, so that none of their code runs either,
unless the user allows builds.
"""

from __future__ import annotations

import platform
import sys
import threading
import time

from repopilot import i18n
from repopilot.errors import EnvironmentFailed
from repopilot.project.python_project import ProjectDeclaration
from repopilot.sandbox.environments import environment_store as store
from repopilot.sandbox.environments.environment_store import EnvironmentFacts
from repopilot.sandbox.environments.installer_run import too_large
from repopilot.sandbox.environments.named_interpreter import Interpreter, fits, interpreter_for
from repopilot.sandbox.environments.publication import building, check_size, open_to_readers, publish, watched
from repopilot.sandbox.environments.resolution import PackageResolution, resolve
from repopilot.sandbox.environments.uv import UvRun, index_variables, run_uv
from repopilot.sandbox.job_spec import MB
from repopilot.sandbox.usage.processes import disk_use
from repopilot.settings import Settings
from repopilot.types import Environment, LeftOut, OnProgress, Progress


def build_environment(
    project: ProjectDeclaration,
    settings: Settings,
    progress: OnProgress,
    cancel: threading.Event,
    *,
    allow_builds: bool = False,
) -> Environment:
    """Build the environment of a project, replacing the one for the same declarations.

    Args:
        project: the project's declarations.
        settings: data directory and limits.
        progress: called with the progress.
        cancel: ends the build once set. What was downloaded is kept for the next one.
        allow_builds: packages without a wheel may be built, which runs their code.

    Returns:
        The environment. Requirements that could not be installed are in `left_out`.

    Raises:
        EnvironmentFailed: nothing can be built; the message says why.
        StorageError: the data directory can't be used.
        Cancelled: `cancel` was set.
    """
    other = interpreter_for(project.python)
    check_python(project, other)
    started = time.monotonic()
    key = store.environment_key(project)
    with building(key, settings) as folder:
        limit = settings.environment_max_mb
        run = UvRun(
            folder,
            settings=settings,
            cancel=cancel,
            allow_builds=allow_builds,
            variables=index_variables(),
            as_of=project.as_of,
            python=str(other.program) if other else sys.executable,
        )
        progress(Progress("environment_resolve", 0, 0, ""))
        resolution = resolve(project.requirements, project.constraints, run, progress)
        if resolution.bytes > limit * MB:
            raise too_large(limit, resolution.bytes // MB)
        _install(resolution, run, progress)
        check_size(folder / store.SITE, limit)
        open_to_readers(folder / store.SITE)
        elsewhere = (LeftOut(line, i18n.message("environments.left_out.elsewhere")) for line in project.elsewhere)
        facts = EnvironmentFacts(
            project.name,
            project.requirements,
            resolution.packages,
            (*resolution.left_out, *elsewhere),
            store.megabytes_of(folder / store.SITE),
            round(time.monotonic() - started, 1),
            resolution.unlocked,
        )
        store.write_facts(facts, folder)
        publish(folder, settings.environments_folder / key)
    built = store.load_environment(project, settings)
    assert built is not None  # published just now
    return built


def check_python(project: ProjectDeclaration, other: Interpreter | None) -> None:
    """Raises EnvironmentFailed where the project's bounds exclude the Python that runs us, and there is no other."""
    ours = platform.python_version()
    if other is None and not fits(project.python, ours):
        raise EnvironmentFailed(
            i18n.message("environments.python_excluded", wanted=project.python, ours=ours),
            i18n.message("environments.python_excluded_hint"),
        )


def _install(resolution: PackageResolution, run: UvRun, progress: OnProgress) -> None:
    site = run.folder / store.SITE
    site.mkdir()
    expected = max(resolution.bytes, 1)
    with watched(lambda: progress(_installed(run, expected, len(resolution.packages)))):
        what = ["install", "--target", str(site), "-r", str(resolution.lock)]
        outcome = run_uv([*what, "--compile-bytecode", "--quiet"], run)
    if outcome.status != 0:
        problem = " ".join(outcome.output.split())[:400]
        raise EnvironmentFailed(i18n.message("environments.not_installed", problem=problem))


def _installed(run: UvRun, expected: int, packages: int) -> Progress:
    done = disk_use(run.folder / store.SITE, run.settings.environment_max_mb * MB)
    detail = i18n.message("environments.packages", count=packages)
    return Progress("environment_install", done, max(done, expected), "bytes", detail=detail)
