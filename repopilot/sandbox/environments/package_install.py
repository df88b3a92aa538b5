"""Installs a repository's JavaScript, Rust, Go or Java dependencies into a folder of ours. Blocking.

The package manager works in that folder, on copies of manifest and lock file: it sees neither the repository's scripts
nor its configuration. Package scripts are disabled, so that no package's code runs.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.code.formats.data_formats import table
from repopilot.errors import EnvironmentFailed
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.sandbox import stage, supervise
from repopilot.sandbox.environments import environment_store as store
from repopilot.sandbox.environments import maven_repository as maven
from repopilot.sandbox.environments.environment_store import EnvironmentFacts
from repopilot.sandbox.environments.installer_run import run_installer
from repopilot.sandbox.environments.publication import building, check_size, open_to_readers, publish, watched
from repopilot.sandbox.environments.uv import CACHE
from repopilot.sandbox.job_spec import MB
from repopilot.sandbox.output.bounded_json import json_of
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.junit import local_repository
from repopilot.sandbox.usage.processes import disk_use
from repopilot.settings import Settings
from repopilot.types import InstalledPackages, LeftOut, OnProgress, Progress

NODE_MODULES = "node_modules"
PACKAGE_NAME = re.compile(r"(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*")
VENDOR = "vendor"
GO_CACHE = "go"
CARGO_CONFIGURATION = "config.toml"
_FORM = 1
_LONGEST_PROBLEM = 500
_NOT_TRANSFERRED = re.compile(r"Could not transfer artifact (\S+) from/to \S+ \((\S+?)\)")
"""An artifact, and the address from which Maven couldn't fetch it."""
_UNREACHED = re.compile(r"\bE(?:NOTFOUND|AI_AGAIN|CONNREFUSED|NETUNREACH|TIMEDOUT)\b")
_UNLOCKED = frozenset(("--no-package-lock", "--no-lockfile"))
_PNPM_LOCK = "pnpm-lock.yaml"


@dataclass(frozen=True, slots=True)
class _Installer:
    """How a language's packages are installed.

    Attributes:
        program: name of the package manager's program.
        folder: the name of the folder with the packages.
        commands: gives the argument lists to try in turn, by declaration and working folder; none where `steps`
            installs.
        variables: gives environment variables, by working folder.
        installed: gives `name@version` of the installed packages.
        written: gives the files that the program reads, texts by path.
        steps: gives the argument lists to run before, in order, each with whether it must succeed.
    """

    program: str
    folder: str
    commands: Callable[[PackageDeclaration, Path], Sequence[Sequence[str]]]
    variables: Callable[[Path], Mapping[str, str]]
    installed: Callable[[Path], Sequence[str]]
    written: Callable[[PackageDeclaration], Mapping[str, str]] = lambda declaration: declaration.files
    steps: Callable[[PackageDeclaration, Path], Iterable[tuple[Sequence[str], bool]]] = lambda declaration, folder: ()


def packages_key(declaration: PackageDeclaration) -> str:
    """The key, among the environments on disk, of a language's declared packages."""
    content = [_FORM, declaration.language, sorted(declaration.files.items()), platform.system(), platform.machine()]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


def load_packages(declaration: PackageDeclaration, settings: Settings) -> InstalledPackages | None:
    """The packages installed for the current declaration; None where there are none."""
    key = packages_key(declaration)
    folder = settings.environments_folder / key
    if store.read_facts(folder) is None:
        return None
    lock = folder / "Cargo.lock"
    files = {"Cargo.lock": lock.read_text("utf-8")} if declaration.language == "rust" and lock.is_file() else {}
    return InstalledPackages(key, folder / _installer(declaration).folder, files)


def install_packages(
    declaration: PackageDeclaration, settings: Settings, progress: OnProgress, cancel: threading.Event
) -> InstalledPackages:
    """Install the packages of one language, replacing what was installed for the same declaration.

    Args:
        declaration: the packages that the language declares.
        settings: data directory and limits.
        progress: called with the progress.
        cancel: ends the installation once set. What was downloaded is kept for the next one.

    Returns:
        The packages.

    Raises:
        EnvironmentFailed: they can't be installed; the message says why.
        StorageError: the data directory can't be used.
        Cancelled: `cancel` was set.
    """
    installer = _installer(declaration)
    program = shutil.which(installer.program)
    if program is None:
        raise EnvironmentFailed(
            i18n.message("environments.no_installer", program=installer.program),
            i18n.message("sandbox.install_program", program=installer.program),
        )
    started = time.monotonic()
    key = packages_key(declaration)
    with building(key, settings) as folder:
        _write(installer.written(declaration), folder)
        variables = installer.variables(folder)
        run = partial(
            run_installer, variables=variables, folder=folder, settings=settings, cancel=cancel, starts_in=folder
        )
        with watched(lambda: progress(_moment(folder, settings))):
            locked = _install(installer, program, declaration, folder, run)
        packages = folder / installer.folder
        packages.mkdir(exist_ok=True)  # missing where nothing was declared
        check_size(packages, settings.environment_max_mb)
        open_to_readers(packages)
        facts = EnvironmentFacts(
            declaration.name,
            declaration.requirements,
            tuple(installer.installed(folder)),
            tuple(LeftOut(name, i18n.message("environments.left_out.elsewhere")) for name in declaration.elsewhere),
            store.megabytes_of(packages),
            round(time.monotonic() - started, 1),
            unlocked=not locked,
        )
        store.write_facts(facts, folder)
        publish(folder, settings.environments_folder / key)
    built = load_packages(declaration, settings)
    assert built is not None  # published just now
    return built


def installer_name(declaration: PackageDeclaration) -> str:
    """The program that fetches the declared packages on this machine."""
    return _installer(declaration).program


def _installer(declaration: PackageDeclaration) -> _Installer:
    if declaration.language == "javascript" and declaration.lock == _PNPM_LOCK and shutil.which("pnpm"):
        return _INSTALLERS["pnpm"]
    return _INSTALLERS[declaration.language]


def _write(files: Mapping[str, str], folder: Path) -> None:
    for path, text in files.items():
        pure = PurePosixPath(path)
        if not pure.is_absolute() and ".." not in pure.parts:
            stage.write(folder, path, text)


def _install(
    installer: _Installer,
    program: str,
    declaration: PackageDeclaration,
    folder: Path,
    run: Callable[[Sequence[str]], supervise.RunOutcome],
) -> bool:
    """Run all steps, then the commands until one succeeds. Returns whether the lock file's versions were kept; the last
    of several commands doesn't keep them. Raises EnvironmentFailed where a required step or every command fails."""
    for arguments, required in installer.steps(declaration, folder):
        outcome = run([program, *arguments])
        if outcome.status and required:
            raise _not_installed(installer, outcome.output)
    commands = installer.commands(declaration, folder)
    if not commands:
        return True
    problem = ""
    unreached = False
    for number, arguments in enumerate(commands, 1):
        loose = not declaration.lock or not _UNLOCKED.isdisjoint(arguments)
        if unreached and not loose:  # the lock file names the same host
            continue
        outcome = run([program, *arguments])
        if outcome.status == 0:
            if installer.folder == VENDOR:
                (folder / CARGO_CONFIGURATION).write_text(_cargo_configuration(outcome.output, folder))
            kept = number < len(commands) and _UNLOCKED.isdisjoint(arguments)
            return kept or number == 1 or not declaration.lock
        problem = problem or outcome.output
        unreached = unreached or _UNREACHED.search(outcome.output) is not None
        if unreached and loose:
            break
    raise _not_installed(installer, problem)


def _not_installed(installer: _Installer, output: str) -> EnvironmentFailed:
    if missed := _NOT_TRANSFERRED.search(output):
        return EnvironmentFailed(
            i18n.message("environments.maven_unreached", address=missed[2], artifact=missed[1]),
            i18n.message("environments.maven_hint", repository=str(local_repository())),
        )
    return EnvironmentFailed(
        i18n.message("environments.not_installed", problem=_in_one_line(output)),
        i18n.message("environments.installer_hint", program=installer.program),
    )


def _moment(folder: Path, settings: Settings) -> Progress:
    return Progress("environment_install", disk_use(folder, settings.environment_max_mb * MB), 0, "bytes")


def _in_one_line(output: str) -> str:
    """A package manager's output from its first error on, without warnings and references to its log."""
    lines = [line.strip() for line in plain(output, 20_000).splitlines()]
    lines = [line for line in lines if line and "complete log" not in line and not line.startswith("warning")]
    first = next((number for number, line in enumerate(lines) if "error" in line.lower()), 0)
    return " ".join(lines[first:])[:_LONGEST_PROBLEM]


def _npm(declaration: PackageDeclaration, folder: Path) -> Sequence[Sequence[str]]:
    # No git: the repository would choose the addresses. The registry is the user's choice.
    quiet = ("--no-audit", "--no-fund", "--no-progress", "--color=false", "--no-update-notifier")
    options = (
        "--ignore-scripts",
        "--include=dev",
        "--git=git-is-not-used",
        "--cache",
        str(_cache(folder, "npm")),
        *quiet,
    )
    dated = ("--before", declaration.as_of) if declaration.as_of else ()
    anew = ("install", *options)
    conflicting = "--force"  # accepts conflicting peer dependencies, too
    loose = (*anew, "--no-package-lock")
    locked = declaration.lock in ("package-lock.json", "npm-shrinkwrap.json")
    first = [("ci", *options), (*anew, *dated), (*anew, *dated, conflicting)] if locked else []
    names = (requirement.rpartition("@")[0] for requirement in declaration.requirements)
    if locked and not all(f'"{name}"' in declaration.files[declaration.lock] for name in names):
        first = first[1:]  # `ci` refuses a lock file that lacks a requirement, such as a Node that we added
    return list(dict.fromkeys([*first, (*loose, *dated), (*loose, *dated, conflicting), (*loose, conflicting)]))


def _pnpm(declaration: PackageDeclaration, folder: Path) -> Sequence[Sequence[str]]:
    flat = ("--config.node-linker=hoisted", "--package-import-method=copy", "--ignore-workspace")
    options = ("--ignore-scripts", "--reporter=append-only", "--store-dir", str(_cache(folder, "pnpm")), *flat)
    return [("install", lock, *options) for lock in ("--frozen-lockfile", "--no-frozen-lockfile", "--no-lockfile")]


def _cargo(declaration: PackageDeclaration, folder: Path) -> Sequence[Sequence[str]]:
    vendor = ("vendor", "--versioned-dirs", "--manifest-path", str(folder / "Cargo.toml"))
    place = str(folder / VENDOR)
    return [(*vendor, "--locked", place), (*vendor, place)] if declaration.lock else [(*vendor, place)]


def _cargo_configuration(output: str, folder: Path) -> str:
    """The configuration that cargo prints, with the packages' final folder."""
    start = output.find("[source.")
    text = output[start:] if start >= 0 else ""
    return text.replace(str(folder), str(folder.with_name(folder.name.removeprefix("building-"))))


def _cache(folder: Path, name: str) -> Path:
    return folder.parent / CACHE / name


def _npm_packages(folder: Path) -> Sequence[str]:
    listed = folder / NODE_MODULES / ".package-lock.json"
    found = table(table(json_of(listed.read_bytes())).get("packages")) if listed.is_file() else {}
    return [f"{path.rpartition('node_modules/')[2]}@{table(entry).get('version')}" for path, entry in found.items()]


def _named_by_folders(folder: Path) -> Sequence[str]:
    """Packages installed by pnpm, which keeps no list of them."""
    top = folder / NODE_MODULES
    manifests = [*top.glob("[!.]*/package.json"), *top.glob("@*/*/package.json")]
    data = [table(json_of(path.read_bytes())) for path in sorted(manifests)]
    return [f"{each.get('name')}@{each.get('version')}" for each in data]


def _vendored(folder: Path) -> Sequence[str]:
    place = folder / VENDOR
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def _go_modules(folder: Path) -> Sequence[str]:
    cache = folder / GO_CACHE / "cache" / "download"
    return sorted(path.name for path in cache.rglob("*.zip"))


_INSTALLERS = {
    "javascript": _Installer("npm", NODE_MODULES, _npm, lambda folder: {}, _npm_packages),
    "pnpm": _Installer("pnpm", NODE_MODULES, _pnpm, lambda folder: {"CI": "true"}, _named_by_folders),
    "rust": _Installer(
        "cargo",
        VENDOR,
        _cargo,
        lambda folder: {
            "CARGO_HOME": str(_cache(folder, "cargo")),
            "CARGO_TERM_COLOR": "never",
            "CARGO_NET_RETRY": "1",
        },
        _vendored,
    ),
    "go": _Installer(
        "go",
        GO_CACHE,
        lambda declaration, folder: [("mod", "download")],
        lambda folder: {"GOMODCACHE": str(folder / GO_CACHE), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"},
        _go_modules,
    ),
    "java": _Installer(
        "mvn",
        maven.REPOSITORY,
        lambda declaration, folder: (),
        lambda folder: {},
        maven.installed,
        maven.files_of,
        maven.steps,
    ),
}
