"""Runs tests with Maven or Gradle in a copy of a repository, and converts their XML reports to a line of JSON for each
test. The code under test could forge these reports, so they are never trusted alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from repopilot.sandbox.inside import maven_poms
else:  # beside this file
    sys.path.insert(0, str(Path(__file__).parent))
    import maven_poms

_REPORTS = re.compile(r"/(?:surefire-reports|test-results/[^/]+)/TEST-[^/]+\.xml$")
_SOURCES = (".java", ".kt", ".groovy", ".scala")
_BUILDS = {"maven": ("pom.xml",), "gradle": ("build.gradle", "build.gradle.kts")}
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)", re.M)
_FRAME = re.compile(r"\bat (?:[\w.@-]+/)?([\w.$]+)\.[\w$<>]+\([\w$]+\.\w+:(\d+)\)")
_COMPILER = re.compile(r"(\.(?:java|kt)):\[?(\d+)[,:]\d+\]?")
_ADVICE = " -> [Help"
"""Ends Maven's account of an error: advice on its own options follows."""
_TOLD = re.compile(r"^\[ERROR\]|^e: |error: |^\* What went wrong|^> |^Execution failed")
_MOST_LINES = 40
_LONGEST = 20_000


def main(arguments: Sequence[str]) -> int:
    """Run the tests. Arguments: the file to write, the tool, its command and options as JSON, then paths of tests."""
    report, tool, command, *tests = arguments
    files = [*_files()]
    sources = _sources(files)
    for path in files:
        if _REPORTS.search(path):
            os.unlink(path)
        elif tool == "maven" and os.path.basename(path) == maven_poms.POM:
            text = Path(path).read_text("utf-8", "replace")
            Path(path).write_text(maven_poms.reduced(text), "utf-8")
    status, told = _run([*json.loads(command), *_chosen(tool, tests)])
    found = [test for path in sorted(_files()) if _REPORTS.search(path) for test in _tests(path, sources)]
    if status and not any(test["outcome"] == "failed" for test in found):
        problem = "\n".join(told) or f"exit status {status}"
        found.append(
            {"file": _BUILDS[tool][0], "name": "", "outcome": "failed", "message": problem[:2000], "stack": problem}
        )
    lines = [*map(json.dumps, found), json.dumps({"end": True})]
    Path(report).write_text("\n".join(lines), "utf-8")
    return status


def _files() -> Iterator[str]:
    for folder, _, names in os.walk("."):
        yield from (os.path.join(folder, name)[2:] if folder != "." else name for name in names)


def _chosen(tool: str, tests: Sequence[str]) -> list[str]:
    """The options that select some tests and the modules that contain them."""
    modules: dict[str, list[str]] = {}
    for test in tests:
        folders = (str(folder) for folder in PurePosixPath(test).parents)
        module = next((each for each in folders if any(Path(each, name).is_file() for name in _BUILDS[tool])), ".")
        name = PurePosixPath(test).stem
        modules.setdefault(module, []).append(_package(test) + name if tool == "gradle" else name)
    if tool == "gradle":
        tasks = {module: ":" + "".join(f"{part}:" for part in PurePosixPath(module).parts) for module in modules}
        chosen = [(f"{tasks[module]}test", *(f"--tests={name}" for name in names)) for module, names in modules.items()]
        return [word for words in chosen for word in words] or ["test"]
    if not tests:
        return ["test"]
    names = ",".join(f"{name},{name}$*" for found in modules.values() for name in found)
    limited = () if "." in modules else ("-pl", ",".join(modules), "-am")
    return ["test", f"-Dtest={names}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", *limited]


def _package(path: str) -> str:
    """The package prefix of a file's class names: Gradle accepts simple names only since 4.7."""
    named = _PACKAGE.search(Path(path).read_text("utf-8", "replace")) if Path(path).is_file() else None
    return f"{named[1]}." if named else ""


def _run(command: Sequence[str]) -> tuple[int, list[str]]:
    """Run a program and pass its output on; returns its status, and the first lines about errors."""
    told: list[str] = []
    advised = False
    top = f"{os.getcwd()}/"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as child:
        assert child.stdout
        for raw in child.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n").replace(f"file://{top}", "").replace(top, "")
            print(line, flush=True)
            if _TOLD.search(line) and len(told) < _MOST_LINES and not advised:
                advised = _ADVICE in line
                line = line.partition(_ADVICE)[0]
                told.append(_COMPILER.sub(r"\1:\2", line.removeprefix("[ERROR] ").replace("[ERROR]", ""))[:500])
    return child.returncode, list(filter(None, dict.fromkeys(told)))


def _sources(files: Sequence[str]) -> dict[str, list[str]]:
    """Source files by their names without the suffix."""
    found: dict[str, list[str]] = {}
    for path in files:
        if path.endswith(_SOURCES):
            found.setdefault(PurePosixPath(path).stem, []).append(path)
    return found


def _tests(report: str, sources: dict[str, list[str]]) -> Iterator[dict[str, object]]:
    """The tests of one report."""
    try:
        suite = ElementTree.parse(report).getroot()
    except (ElementTree.ParseError, OSError):
        yield {"file": report, "name": "", "outcome": "failed", "message": "not a report of tests", "stack": ""}
        return
    module = re.split(r"(?:^|/)(?:target|build)/", report)[0]
    for case in suite.iter("testcase"):
        class_ = case.get("classname") or suite.get("name") or ""
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        skipped = case.find("skipped") is not None
        text = (
            "" if problem is None else f"{problem.get('type', '')}: {problem.get('message', '')}\n{problem.text or ''}"
        )
        yield {
            "file": _source(class_, sources, module) or class_,
            "name": case.get("name", ""),
            "outcome": "failed" if problem is not None else "skipped" if skipped else "passed",
            "seconds": float(re.sub(r"[^\d.]", "", case.get("time", "")) or 0),
            "message": "" if problem is None else problem.get("message") or problem.get("type", ""),
            "stack": _placed(text, sources, module)[:_LONGEST],
        }


def _source(class_: str, sources: dict[str, list[str]], module: str) -> str:
    """The path of the file of a class; '' for one from outside the repository."""
    name = "/" + class_.partition("$")[0].replace(".", "/")
    named = sources.get(name.rpartition("/")[2], ())
    found = [path for path in named if f"/{path}".rpartition(".")[0].endswith(name)]
    return next((path for path in found if path.startswith(f"{module}/")), found[0] if found else "")


def _placed(text: str, sources: dict[str, list[str]], module: str) -> str:
    """A stack trace with the paths of the repository's files in its frames."""

    def placed(frame: re.Match[str]) -> str:
        path = _source(frame[1], sources, module)
        return f"at {frame[1]} ({path}:{frame[2]})" if path else frame[0]

    return _FRAME.sub(placed, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
