"""Builds an environment: resolve, check the size, install, publish by one rename. Blocking, resumable.

Nothing of the project is run. Of other packages only wheels are installed, which runs none of their code either, unless
the user allows them to be built.
"""

from __future__ import annotations

import os
import platform
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from repopilot import i18n
from repopilot.code.dependencies.python_project import ProjectDeclaration
from repopilot.errors import EnvironmentFailed, StorageError
from repopilot.sandbox.environments import environment_store as store
from repopilot.sandbox.environments.environment_store import EnvironmentFacts
from repopilot.sandbox.environments.resolution import PackageResolution, resolve
from repopilot.sandbox.environments.uv import UvRun, index_variables, run_uv, too_large
from repopilot.sandbox.job_spec import MB
from repopilot.sandbox.processes import disk_use
from repopilot.settings import Settings
from repopilot.types import Environment, LeftOut, OnProgress, Progress

_POLL_S = 0.3
_READ_AND_SEARCH = 0o055


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """An environment to build.

    Attributes:
        project: what it declares.
        settings: data directory and limits.
        allow_builds: packages without a wheel may be built, which runs their code.
        files: texts of files that the project's build would write.
    """

    project: ProjectDeclaration
    settings: Settings
    allow_builds: bool = False
    files: Mapping[str, str] | None = None


def build_environment(request: BuildRequest, progress: OnProgress, cancel: threading.Event) -> Environment:
    """Build the environment of a project, replacing the one for the same declarations.

    Args:
        request: what to build.
        progress: receives how far it is.
        cancel: ends the build once set. What was downloaded is kept for the next one.

    Returns:
        The environment. Requirements that could not be had are in `left_out`.

    Raises:
        EnvironmentFailed: nothing can be built; the message says why.
        StorageError: the data directory can't be used.
        Cancelled: `cancel` was set.
    """
    project, settings = request.project, request.settings
    check_python(project)
    started = time.monotonic()
    key = store.environment_key(project)
    with _building(key, settings) as folder:
        limit = settings.environment_max_mb
        cache = settings.environments_folder / store.CACHE
        run = UvRun(
            folder, cache, settings.environment_timeout_s, limit, cancel, request.allow_builds, index_variables()
        )
        progress(Progress("environment_resolve", 0, 0, ""))
        resolution = resolve(project.requirements, project.constraints, run, progress)
        if resolution.bytes > limit * MB:
            raise too_large(limit, resolution.bytes // MB)
        _install(resolution, run, progress)
        _open_to_readers(folder / store.SITE)
        elsewhere = (LeftOut(line, i18n.message("environments.left_out.elsewhere")) for line in project.elsewhere)
        facts = EnvironmentFacts(
            project.name,
            project.requirements,
            resolution.packages,
            (*resolution.left_out, *elsewhere),
            store.megabytes_of(folder / store.SITE),
            round(time.monotonic() - started, 1),
            resolution.unlocked,
            request.allow_builds,
        )
        store.write_facts(facts, folder)
        _publish(folder, settings.environments_folder / key)
    built = store.load_environment(project, settings, request.files)
    assert built is not None  # published just now
    return built


def check_python(project: ProjectDeclaration) -> None:
    """Raises EnvironmentFailed where the project's bounds exclude the Python that runs us."""
    ours = platform.python_version()
    try:
        fits = not project.python or SpecifierSet(project.python).contains(ours, prereleases=True)
    except InvalidSpecifier:
        return
    if not fits:
        raise EnvironmentFailed(
            i18n.message("environments.python_excluded", wanted=project.python, ours=ours),
            i18n.message("environments.python_excluded_hint"),
        )


@contextmanager
def _building(key: str, settings: Settings) -> Iterator[Path]:
    """An empty folder for one build, which no other process has; removed afterwards unless it was published."""
    top = settings.environments_folder
    folder = top / f"building-{key}"
    try:
        top.mkdir(parents=True, exist_ok=True)
        with FileLock(top / f"{key}.lock", timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except Timeout as error:
        raise EnvironmentFailed(i18n.message("environments.being_built")) from error
    except OSError as error:
        raise StorageError(i18n.message("environments.not_stored", error=error)) from error


def _install(resolution: PackageResolution, run: UvRun, progress: OnProgress) -> None:
    site = run.folder / store.SITE
    site.mkdir()
    expected = max(resolution.bytes, 1)
    with _watched(lambda: progress(_installed(run, expected, len(resolution.packages)))):
        what = ["install", "--target", str(site), "-r", str(resolution.lock)]
        outcome = run_uv([*what, "--compile-bytecode", "--quiet"], run)
    if outcome.status != 0:
        problem = " ".join(outcome.output.split())[:400]
        raise EnvironmentFailed(i18n.message("environments.not_installed", problem=problem))


def _installed(run: UvRun, expected: int, packages: int) -> Progress:
    done = disk_use(run.folder / store.SITE, run.megabytes * MB)
    detail = i18n.message("environments.packages", count=packages)
    return Progress("environment_install", done, max(done, expected), "bytes", detail=detail)


@contextmanager
def _watched(report: Callable[[], None]) -> Iterator[None]:
    """Report every moment, in a thread, while the block runs."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            report()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _open_to_readers(site: Path) -> None:
    """Let the sandbox's user read the packages, whatever this process's mask for new files is."""
    for place, folders, names in os.walk(site):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                mode = os.stat(path).st_mode
                wanted = mode | (_READ_AND_SEARCH if name in folders else _READ_AND_SEARCH & 0o044)
                if wanted != mode:
                    os.chmod(path, wanted)
    os.chmod(site, 0o755)


def _publish(folder: Path, target: Path) -> None:
    folder.chmod(0o755)
    if target.exists():
        replaced = folder.with_name(f"replaced-{folder.name}")
        shutil.rmtree(replaced, ignore_errors=True)
        os.rename(target, replaced)
        os.rename(folder, target)
        shutil.rmtree(replaced, ignore_errors=True)
    else:
        os.rename(folder, target)
