"""JUnit and TestNG by Maven or Gradle, without network (inside/java_tests.py)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from repopilot import i18n
from repopilot.errors import SandboxError
from repopilot.project.node_project import NodeProject
from repopilot.project.package_declarations import PackageDeclaration
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import REPORT, RunPlan
from repopilot.types import InstalledPackages

_CHECKS = ("checkstyle", "enforcer", "jacoco", "pmd", "spotbugs", "rat", "license", "spring-javaformat")
_MEMORY = "-Xmx768m -XX:+UseSerialGC -XX:-UsePerfData -Duser.home={work} -Djava.io.tmpdir={work}"

_SUREFIRE = "org.apache.maven.surefire"
_VARIABLE = re.compile(r"\$\{(?:user\.home|env\.(\w+))\}")
_LITERAL = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_FROM_ANYWHERE = "-Daether.enhancedLocalRepository.trackingFilename=not-tracked"
"""Maven takes an artifact from any mirror: the sandbox has no settings that name mirrors."""


def maven_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Maven."""
    maven = _program("mvn", Path.home() / ".m2", "wrapper/dists/apache-maven-*/**/bin/mvn")
    options = ["-B", "-o", "-fae", "-DtrimStackTrace=false", *(f"-D{name}.skip" for name in _CHECKS)]
    return _program_of(plan, "maven", maven, options)


def gradle_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Gradle, in the wrapper's version where the user has it."""
    version = plan.project.scripts.get("wrapper", "*")
    gradle = _program("gradle", Path.home() / ".gradle", f"wrapper/dists/gradle-{version}-*/*/gradle-*/bin/gradle")
    return _program_of(plan, "gradle", gradle, ["--offline", "--no-daemon", "--console=plain", "--continue"])


def by_gradle(project: NodeProject) -> bool:
    """Whether a project is built by Gradle."""
    return project.scripts.get("test") == "gradle"


def own_artifacts(declaration: PackageDeclaration) -> InstalledPackages | None:
    """The user's own artifact repository if it has everything that a project declares, else None.

    Args:
        declaration: of a Maven or Gradle project; Gradle's needs can't be known without running the build.
    """
    if by_gradle(declaration.node):
        cache = (Path.home() / ".gradle" / "caches").resolve()
        return InstalledPackages("", cache) if (cache / "modules-2").is_dir() else None
    return None if lacking_artifacts(declaration) else InstalledPackages("", local_repository())


def lacking_artifacts(declaration: PackageDeclaration) -> tuple[str, ...]:
    """The artifacts that a Maven project declares and the user's own repository lacks, as declared."""
    repository = local_repository()
    wanted = {each: re.split("[:@]", each) for each in (_SUREFIRE, *declaration.requirements)}
    named = {each: parts for each, parts in wanted.items() if all(map(_LITERAL.fullmatch, parts))}
    return tuple(
        each for each, (group, *rest) in named.items() if not repository.joinpath(*group.split("."), *rest).is_dir()
    )


def local_repository() -> Path:
    """The user's own artifact repository: the folder in their Maven settings, else the default folder."""
    home = Path.home()
    settings = home / ".m2" / "settings.xml"
    try:
        root = ElementTree.parse(settings).getroot() if settings.is_file() else ElementTree.Element("settings")
    except ElementTree.ParseError:  # Maven will report it
        root = ElementTree.Element("settings")
    named = next((each.text or "" for each in root if each.tag.rpartition("}")[2] == "localRepository"), "")
    folder = _VARIABLE.sub(lambda found: os.environ.get(found[1], "") if found[1] else str(home), named.strip())
    return Path(folder or home / ".m2" / "repository").resolve()


def _program(name: str, home: Path, wrapped: str) -> Path:
    """A program that the repository's wrapper once fetched for the user, else the installed one."""
    found = sorted(home.glob(wrapped))
    program = str(found[-1]) if found else shutil.which(name)
    if program is None:
        raise SandboxError(
            i18n.message("sandbox.no_program", program=name), i18n.message("sandbox.install_program", program=name)
        )
    return Path(os.path.realpath(program))


def _program_of(plan: RunPlan, tool: str, program: Path, options: list[str]) -> SandboxProgram:
    java = plan.program.parent.parent
    artifacts = f"-Dmaven.repo.local={plan.packages} {_FROM_ANYWHERE}" if plan.packages else ""
    variables = {
        "JAVA_HOME": str(java),
        "LD_LIBRARY_PATH": str(java / "lib"),  # otherwise found through /proc, which some levels lack
        "MAVEN_SKIP_RC": "1",
        "MAVEN_OPTS": f"{_MEMORY} {artifacts}",
        "MAVEN_ARGS": "-o",
        "MAVEN_USER_HOME": str(Path.home() / ".m2"),
        "GRADLE_OPTS": _MEMORY,
        "GRADLE_USER_HOME": "{work}/gradle",
        "PATH": f"{java / 'bin'}:{program.parent}:/usr/bin:/bin",
    }
    if plan.packages:
        variables["GRADLE_RO_DEP_CACHE"] = str(plan.packages)
    command = json.dumps([str(program), *options])
    arguments = (sys.executable, "-s", "-B", "{inside}/java_tests.py", REPORT, tool, command, *plan.tests)
    return SandboxProgram(arguments, variables, REPORT, tuple(read_by(java, program.parent.parent)))


def read_by(*homes: Path) -> Iterator[Path]:
    """The folders of installations, and the targets of settings that are links, as in Debian."""
    for home in homes:
        yield home
        settings = (home / "conf", *(home / "conf").rglob("*"))
        yield from (Path(os.path.realpath(place)) for place in settings if place.is_symlink())
