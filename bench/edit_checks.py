"""Whether changed files do what a task of bench/data/edits asks, and break nothing else: hidden check, tests, syntax.

Everything runs in a fresh copy of the tree, in subprocesses with a time limit, with the packages of the repository's
own environment.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repopilot.code.languages import is_test_path, language_of
from repopilot.code.syntax import parse
from repopilot.repo.patches.apply import write_files
from repopilot.types import FileChange

CHECK_S, TESTS_S, PARSE_S = 60, 400, 10
TAIL = 2000
_CHANGELOG = re.compile(r"(^|/)(change|history|news|changes|changelog\.d)", re.I)


@dataclass(frozen=True, slots=True)
class Tools:
    """How a repository's checks and tests are run.

    Attributes:
        tests: the command before the names of the test files, () where they can't be run.
        environment: the folder of its virtual environment, or the one that holds `node_modules`; None for neither.
    """

    tests: tuple[str, ...] = ()
    environment: Path | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a change.

    Attributes:
        parses: no changed file has a syntax error that it did not have before.
        elsewhere: changed files in which the task has no business.
        right: the hidden check passes.
        tests_pass: the repository's tests of that code pass.
        output: the end of what the failing program said.
    """

    parses: bool
    elsewhere: tuple[str, ...]
    right: bool
    tests_pass: bool
    output: str = ""

    @property
    def resolved(self) -> bool:
        """Whether the change does what the task asks and breaks nothing else."""
        return self.parses and not self.elsewhere and self.right and self.tests_pass


def checked(task: Mapping, changes: Sequence[FileChange], tree: Path, tools: Tools) -> Checked:
    """Check the files that somebody wrote for a task.

    Args:
        task: in the form of bench/data/edits/README.md.
        changes: the new, changed and deleted files.
        tree: the repository as it was.
        tools: of the repository.

    Returns:
        What became of it. The task's test files are those of the reference, whatever the changes make of them.
    """
    elsewhere = tuple(c.path for c in changes if not _allowed(c.path, task["files"]))
    parses = all(_parses(c, tree) for c in changes if c.change != "deleted")
    with _copy(tree, tools) as folder:
        write_files(folder, changes)
        _overlay_tests(folder, task, tree)
        right, output = _check_passes(folder, task, tools)
        tests_pass = right and parses
        if tests_pass:
            tests_pass, output = _tests_pass(folder, task["tests"], tools)
    return Checked(parses, elsewhere, right, tests_pass, "" if right and tests_pass else output[-TAIL:])


def reference_changes(task: Mapping, tree: Path) -> tuple[FileChange, ...]:
    """The files of a task's reference patch, applied to the tree."""
    with _copy(tree, Tools()) as folder:
        _apply(folder, task["reference"])
        return tuple(_change(path, folder, tree) for path in patched_paths(task["reference"]))


def patched_paths(patch: str) -> list[str]:
    """The files that a unified diff touches, in order."""
    found = re.findall(r"^(?:(?:---|\+\+\+) [ab]/|rename (?:from|to) )(.+)$", patch, re.M)
    return list(dict.fromkeys(found))


def changed_lines(patch: str, path: str) -> list[int]:
    """The lines of a file before a unified diff that it removes, or that stand before what it adds."""
    found, current, line = [], "", 0
    for text in patch.splitlines():
        if text.startswith("--- "):
            current = text.removeprefix("--- ").removeprefix("a/")
        elif match := re.match(r"@@ -(\d+)", text):
            line = int(match[1])
        elif text[:1] in "+-" and not text.startswith("+++ ") and current == path:
            found.append(line if text[0] == "-" else line - 1)
        line += text[:1] in " -" and not text.startswith("--- ")
    return found


def _change(path: str, folder: Path, tree: Path) -> FileChange:
    if not (folder / path).exists():
        return FileChange(path, "deleted", "", "")
    return FileChange(path, "modified" if (tree / path).exists() else "added", "", _text(folder / path))


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _apply(folder: Path, patch: str) -> None:
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=folder, input=patch, text=True, capture_output=True, env=_variables(folder))
    if done.returncode:
        raise ValueError(f"the reference does not apply: {done.stderr}")


def _overlay_tests(folder: Path, task: Mapping, tree: Path) -> None:
    """Put the tests as the reference leaves them: deleting a test makes nothing pass."""
    named = [test.partition("::")[0] for test in task["tests"]]
    patched = [path for path in patched_paths(task["reference"]) if is_test_path(path)]
    with _copy(tree, Tools()) as other:
        _apply(other, task["reference"])
        for place in {other / path for path in (*named, *patched)}:
            for file in (place, *place.rglob("*")):
                if file.is_file():
                    target = folder / file.relative_to(other)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)


def _allowed(path: str, patterns: Iterable[str]) -> bool:
    """Tests and the change log may always be touched: a careful developer does."""
    free = is_test_path(path) or _CHANGELOG.search(path)
    return bool(free) or any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def _parses(change: FileChange, tree: Path) -> bool:
    language = language_of(change.path)
    if language is None or not _has_error(change.content, language):
        return True
    before = tree / change.path
    return before.is_file() and _has_error(_text(before), language)


def _has_error(text: str, language: str) -> bool:
    if language == "python":
        try:
            compile(text, "changed", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return True
        return False
    parsed = parse(text.encode("utf-8", "replace"), language, PARSE_S)
    return parsed is not None and parsed.root_node.has_error


@contextmanager
def _copy(tree: Path, tools: Tools) -> Iterator[Path]:
    """A copy of the tree without its history, with the packages of a Node environment where there is one."""
    with tempfile.TemporaryDirectory(prefix="edits-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
        if tools.environment is not None and (tools.environment / "node_modules").is_dir():
            (copy / "node_modules").symlink_to(tools.environment / "node_modules")
        yield copy


def _check_passes(folder: Path, task: Mapping, tools: Tools) -> tuple[bool, str]:
    if not task["check"]:
        return _tests_pass(folder, [task["failing"]], tools)
    interpreter = {"python": _python(tools), "plain": sys.executable, "node": "node"}[task["interpreter"]]
    return _runs([interpreter, "-"], folder, CHECK_S, task["check"])


def _python(tools: Tools) -> str:
    return str(tools.environment / "bin" / "python") if tools.environment else sys.executable


def _tests_pass(folder: Path, tests: Sequence[str], tools: Tools) -> tuple[bool, str]:
    if not tests or not tools.tests:
        return True, ""
    program, *rest = tools.tests
    started = {"pytest": [_python(tools), "-m", "pytest"], "node": ["node"]}
    return _runs([*started.get(program, [f"node_modules/.bin/{program}"]), *rest, *tests], folder, TESTS_S)


def _runs(command: Sequence[str], folder: Path, seconds: float, text: str = "") -> tuple[bool, str]:
    """Whether a program ends well within its time, and what it said. Its children end with it."""
    started = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=_variables(folder),
        start_new_session=True,
    )
    try:
        output, _ = started.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        output, _ = started.communicate()
        return False, f"{output}\nstopped after {seconds} s"
    return started.returncode == 0, output


def _variables(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    sources = os.pathsep.join(str(place) for place in (folder / "src", folder))
    return {
        **kept,
        "HOME": str(folder.parent),
        "PYTHONPATH": sources,
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
