"""What is run in a sandbox and under which limits. Each level turns a SandboxJob into a command."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from repopilot.project.pytest_options import PytestOptions
from repopilot.sandbox.usage.processes import own_tasks
from repopilot.types import Environment

INSIDE = Path(__file__).parent / "inside"
MB = 1024 * 1024
TEMPORARY = "tmp"
"""The folder for temporary files. As outside the sandbox, the home folder isn't inside it."""
COPY = "repo"
"""The folder, in the writable one, of a program's copy of the code."""
KEPT = "kept"
"""The folder, in the writable one, of files that an earlier run left for a program."""
_FLAGS = ("-s", "-P", "-B")  # not -I, which also ignores PYTHONHASHSEED; the environment is replaced anyway
_PATIENCE = 3
_START_S = 3.0
MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
"""A Python project has one of these files in its top folder."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one run, for all its processes together.

    Attributes:
        seconds: wall time.
        memory: proportional set size plus the memory that kernel_memory.py counts, in bytes.
        file: the largest file, in bytes.
        disk: everything written to the work folder, in bytes.
        processes: processes and threads at one time; the kernel counts both alike.
        output: standard output and error, in bytes.
        descriptors: open files per process.
    """

    seconds: float = 30.0
    memory: int = 1024 * MB
    file: int = 64 * MB
    disk: int = 256 * MB
    processes: int = 64
    output: int = 64 * MB
    descriptors: int = 256

    def resources(self, others: int | None) -> dict[str, int]:
        """The limits set for each process.

        Args:
            others: tasks of the same user outside the run, since the kernel counts by user; None where unknown.
        """
        limits = {
            "data": self.memory,
            "fsize": self.file,
            "nofile": self.descriptors,
            "cpu": int(self.seconds) * 4 + 10,
        }
        return limits if others is None else {**limits, "nproc": others + self.processes}


@dataclass(frozen=True, slots=True)
class SandboxProgram:
    """A program that a job runs instead of pytest, in a writable copy of the code. `{root}` stands for the copy's
    folder, `{work}` for its parent folder, `{inside}` for the folder of our own programs.

    Attributes:
        arguments: the program's path and its arguments.
        variables: environment variables besides those of every run; PWD sets the folder that it starts in.
        report: the file it writes its report to, '' where its output is the report.
        readable: folders outside the repository that it reads.
        serves: it is a server on standard input and output and reads the original code: `{root}` is the code's own
            folder.
        links: symbolic links to make before it starts, targets by path.
        caches: unless None, the report is the files changed in the copy, except in folders with these names.
    """

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    report: str = ""
    readable: tuple[Path, ...] = ()
    serves: bool = False
    links: Mapping[str, str] = field(default_factory=dict)
    caches: tuple[str, ...] | None = None

    def seen_from_inside(self, mounts: Mounts) -> dict[str, object]:
        """The program as inside/bootstrap.py reads it, with folders in place of the placeholders."""
        copy = f"{mounts.work}/{COPY}"
        folders = {"{root}": mounts.root if self.serves else copy, "{work}": mounts.work, "{inside}": mounts.inside}

        def filled(text: str) -> str:
            for name, folder in folders.items():
                text = text.replace(name, folder)
            return text

        return {
            "arguments": [filled(argument) for argument in self.arguments],
            "variables": {name: filled(value) for name, value in self.variables.items()},
            "folder": copy,
            "report": filled(self.report),
            "links": {filled(link): target for link, target in self.links.items()},
            "caches": self.caches,
        }


@dataclass(frozen=True, slots=True)
class SandboxJob:
    """One start of the sandboxed interpreter.

    Attributes:
        root: the folder of the code under test, read-only inside.
        work: an empty writable folder beside it.
        tests: paths relative to `root`.
        nonce: written with every line of the report.
        in_repository: the current folder is `root`, else `work`.
        probe: replaces the tests by an attempt to escape: {"secret", "forbidden"}, two paths that must be out of reach.
        limits: bounds of the run.
        environment: what the tests need, None for our own packages.
        left_out: ids of tests that are not run.
        options: the project's own pytest options, for a job with an environment.
        program: run instead of pytest.
        keeps: `work` has a folder `KEPT`, whose contents are read afterwards.
        writable: pytest runs in a writable copy of the code, as a program does.
    """

    root: Path
    work: Path
    tests: tuple[str, ...] = ()
    nonce: str = ""
    in_repository: bool = False
    probe: Mapping[str, str] = field(default_factory=dict)
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    environment: Environment | None = None
    left_out: tuple[str, ...] = ()
    options: PytestOptions | None = None
    program: SandboxProgram | None = None
    keeps: bool = False
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Mounts:
    """The paths of a job's folders as seen from inside."""

    root: str
    work: str
    inside: str


def patience(seconds: float) -> float:
    """Time limit for tests that took `seconds` the last time: several times that, plus start-up; a change may cause an
    endless loop. 0 where the time is unknown."""
    return _PATIENCE * seconds + _START_S if seconds else 0.0


def host_mounts(job: SandboxJob) -> Mounts:
    """The folders under their own paths, for levels without a file system of their own."""
    return Mounts(root=os.path.realpath(job.root), work=os.path.realpath(job.work), inside=str(INSIDE))


def document(job: SandboxJob, level: str, mounts: Mounts, channel: int | None) -> bytes:
    """The job as the line of JSON that inside/bootstrap.py reads.

    Args:
        job: what to run.
        level: the isolation level.
        mounts: the folders as seen from inside.
        channel: the file descriptor of the report, None for a server.
    """
    root = f"{mounts.work}/{COPY}" if job.writable else mounts.root
    folders = dict.fromkeys([*(str(Path(test).parent) for test in job.tests), *_packages_of(job)])
    options = job.options or PytestOptions({})
    plugins = job.environment.plugins if job.environment else ()
    searched = [root, f"{root}/src", *(f"{root}/{folder}" for folder in folders if folder != ".")]
    searched += [f"{root}/{folder}" for folder in options.python_path]
    return (
        json.dumps(
            {
                "level": level,
                "limits": job.limits.resources(_others(level)),
                "others": _others(level) or 0,
                "channel": channel,
                "nonce": job.nonce,
                "root": root,
                "copied": mounts.root if job.writable else "",
                "cwd": root if job.in_repository else mounts.work,
                "scratch": f"{mounts.work}/pytest",
                "tests": [f"{root}/{test}" for test in job.tests],
                "import": searched,
                "packages": packages(job),
                "plugins": list(dict.fromkeys((*plugins, *options.plugins))),
                "left_out": list(job.left_out),
                "options": [*options.arguments(plugins), f"--import-mode={_import_mode(job, options)}"],
                "probe": dict(job.probe),
                "program": job.program.seen_from_inside(mounts) if job.program else None,
                "read": [
                    *readable(job),
                    *system(),
                    mounts.root,
                    mounts.inside,
                    "/dev/urandom",
                    "/dev/random",
                    "/dev/zero",
                ],
                "write": [mounts.work, "/dev/null"],
                "own": [mounts.work],
            }
        ).encode()
        + b"\n"
    )


def _packages_of(job: SandboxJob) -> list[str]:
    """Folders above the tests that have a manifest of their own in a larger repository, each with its `src`."""
    above = dict.fromkeys(str(folder) for test in job.tests for folder in Path(test).parents[:-1])
    own = [folder for folder in above if any((job.root / folder / name).is_file() for name in MANIFESTS)]
    return [path for folder in own for path in (folder, f"{folder}/src")]


def _import_mode(job: SandboxJob, options: PytestOptions) -> str:
    """How pytest imports the tests: as the project does, unless two test modules would then get the same name."""
    tops: dict[str, Path] = {}
    for test in job.tests:
        top = (job.root / test).with_suffix("")
        while (top.parent / "__init__.py").is_file():
            top = top.parent
        if tops.setdefault(top.name, top) != top:
            return "importlib"
    return options.import_mode


def _others(level: str) -> int | None:
    """Tasks of the run's user outside the run: 0 where the run has its own user or user namespace, None where
    unknown."""
    if level == "bwrap" or os.geteuid() == 0:
        return 0
    return own_tasks() if sys.platform == "linux" else None


def python(job: SandboxJob) -> tuple[str, ...]:
    """The command that starts the job's interpreter. In a job with an environment, our packages must not be
    importable."""
    environment = job.environment
    if environment is None:
        return (sys.executable, *_FLAGS)
    return (str(environment.interpreter or sys.executable), *_FLAGS, *(("-S",) if environment.packages else ()))


def packages(job: SandboxJob) -> list[str]:
    """Folders that become importable inside: the environment's or, without one, the folder of pytest."""
    if job.environment is not None:
        return [os.path.realpath(folder) for folder in job.environment.packages]
    spec = find_spec("pytest")
    assert spec and spec.origin  # a dependency
    return [str(Path(spec.origin).parent.parent)]


def readable(job: SandboxJob) -> list[str]:
    """The folders of the job's interpreter and of all packages."""
    environment = job.environment
    if job.program is not None:
        return _outermost([*_own_interpreter(), *(os.path.realpath(folder) for folder in job.program.readable)])
    if environment is None:
        return _outermost([*_own_interpreter(), *packages(job)])
    folders = [*packages(job), *(str(folder) for folder in environment.readable)]
    if environment.interpreter is None:
        folders += _own_interpreter()
    return _outermost(folders)


def _own_interpreter() -> list[str]:
    executable = Path(sys.executable)
    paths = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        str(executable.parent),
        str(executable.resolve().parent),
    ]
    real = [os.path.realpath(path) for path in paths]
    return [path for path in (*paths, *real) if path != "/"]


def system() -> list[str]:
    """System files that programs need to start: libraries, the linker's cache, time zones; no files of a user."""
    names = (
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/sbin",
        "/nix/store",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/localtime",
        "/etc/mime.types",
        "/etc/alternatives",
    )
    return [name for name in names if os.path.exists(name)]


def environment(mounts: Mounts) -> dict[str, str]:
    """The environment of the program inside; it inherits nothing. The hash seed is fixed, so that runs are
    repeatable."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": mounts.work,
        "TMPDIR": f"{mounts.work}/{TEMPORARY}",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": f"{mounts.work}/hypothesis",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _outermost(paths: list[str]) -> list[str]:
    """The paths that are not inside another one, in order."""
    unique = list(dict.fromkeys(paths))
    return [path for path in unique if not any(path != other and path.startswith(other + "/") for other in unique)]
