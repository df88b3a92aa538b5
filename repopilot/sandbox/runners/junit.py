"""JUnit and TestNG by Maven or Gradle, without network (inside/java_tests.py)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from repopilot import i18n
from repopilot.code.dependencies.node_project import NodeProject
from repopilot.code.dependencies.package_declarations import PackageDeclaration
from repopilot.errors import SandboxError
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import RunPlan
from repopilot.types import InstalledPackages

_REPORT = "{work}/java-report.jsonl"
_CHECKS = ("checkstyle", "enforcer", "jacoco", "pmd", "spotbugs", "rat", "license", "spring-javaformat")
_MEMORY = "-Xmx768m -XX:+UseSerialGC -XX:-UsePerfData -Duser.home={work} -Djava.io.tmpdir={work}"

_LITERAL = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_FROM_ANYWHERE = "-Daether.enhancedLocalRepository.trackingFilename=not-tracked"
"""Maven takes an artifact whatever mirror it came from: the sandbox has no settings that name one."""


def maven_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan by Maven."""
    maven = _program("mvn", Path.home() / ".m2", "wrapper/dists/apache-maven-*/**/bin/mvn")
    options = ["-B", "-o", "-fae", "-DtrimStackTrace=false", *(f"-D{name}.skip" for name in _CHECKS)]
    options += [f"-Dmaven.repo.local={plan.packages}", _FROM_ANYWHERE] if plan.packages else []
    return _program_of(plan, "maven", maven, options)


def gradle_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan by Gradle: the version of its wrapper where the user has it."""
    version = plan.project.scripts.get("wrapper", "*")
    gradle = _program("gradle", Path.home() / ".gradle", f"wrapper/dists/gradle-{version}-*/*/gradle-*/bin/gradle")
    return _program_of(plan, "gradle", gradle, ["--offline", "--no-daemon", "--console=plain", "--continue"])


def by_gradle(project: NodeProject) -> bool:
    """Whether a project is built by Gradle."""
    return project.scripts.get("test") == "gradle"


def own_artifacts(declaration: PackageDeclaration) -> InstalledPackages | None:
    """The user's own repository of artifacts where it has what a project asks for, None where it lacks some.

    Args:
        declaration: of a project of Maven or Gradle; what Gradle needs can't be told without running the build.
    """
    if by_gradle(declaration.node):
        cache = (Path.home() / ".gradle" / "caches").resolve()
        return InstalledPackages("", cache) if (cache / "modules-2").is_dir() else None
    repository = (Path.home() / ".m2" / "repository").resolve()
    wanted = [tuple(re.split("[:@]", each)) for each in declaration.requirements]
    named = [parts for parts in wanted if len(parts) == 3 and all(map(_LITERAL.fullmatch, parts))]
    there = (repository.joinpath(*group.split("."), name, version).is_dir() for group, name, version in named)
    surefire = (repository / "org/apache/maven/surefire").is_dir()
    return InstalledPackages("", repository) if surefire and all(there) else None


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
    variables = {
        "JAVA_HOME": str(java),
        "LD_LIBRARY_PATH": str(java / "lib"),  # found by /proc otherwise, which not every level has
        "MAVEN_SKIP_RC": "1",
        "MAVEN_OPTS": _MEMORY,
        "GRADLE_OPTS": _MEMORY,
        "GRADLE_USER_HOME": "{work}/gradle",
        "PATH": f"{java / 'bin'}:/usr/bin:/bin",
    }
    if plan.packages:
        variables["GRADLE_RO_DEP_CACHE"] = str(plan.packages)
    command = json.dumps([str(program), *options])
    arguments = (sys.executable, "-s", "-B", "{inside}/java_tests.py", _REPORT, tool, command, *plan.tests)
    return SandboxProgram(arguments, variables, _REPORT, tuple(_read_by(java, program.parent.parent)))


def _read_by(*homes: Path) -> Iterator[Path]:
    """The folders of installations, and their settings where these are links, as in Debian."""
    for home in homes:
        yield home
        settings = (home / "conf", *(home / "conf").rglob("*"))
        yield from (Path(os.path.realpath(place)) for place in settings if place.is_symlink())
