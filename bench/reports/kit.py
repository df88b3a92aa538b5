"""What the cases share: small git repositories, the product's commands, and the judgement of what they left.

A case is right where the edit was made and the program means what it meant, or where the product refused or listed the
places that it left. It is broken silently where the command ended with 0, named nothing, and the program is another.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PYTHON_MAIN = (sys.executable, "-B", "main.py")
NODE_MAIN = ("node", "main.js")
C_MAIN = ("sh", "-c", "gcc -o main.out *.c && ./main.out; rm -f main.out")
CPP_MAIN = ("sh", "-c", "g++ -o main.out *.cpp && ./main.out; rm -f main.out")
RUST_MAIN = ("sh", "-c", "rustc -A warnings -o main.out main.rs && ./main.out; rm -f main.out")
JAVA_MAIN = ("sh", "-c", "javac -d /tmp/classes-$$ *.java && java -cp /tmp/classes-$$ Main; rm -rf /tmp/classes-$$")
_LIMIT_S = 180
_SHOWN = 300
_PLACE = re.compile(r"\S\.\w+:\d")


class Verdict(NamedTuple):
    """The judgement of a case; `silent` where the product broke the program without a word."""

    right: bool
    silent: bool
    why: str


class Case(NamedTuple):
    """A case with the public report it is after."""

    name: str
    source: str
    run: Callable[[], Verdict]


class Done(NamedTuple):
    """What a command left."""

    status: int
    out: str
    error: str

    @property
    def said(self) -> str:
        """All that it said, on one line, cut."""
        return " ".join(f"{self.out} {self.error}".split())[:_SHOWN]


@dataclass(slots=True)
class Product:
    """The installation that is tried: its interpreter, and the folder of its data."""

    python: str = sys.executable
    home: str = ""

    def command(self, *words: str) -> Done:
        """Run `repopilot` with these words."""
        root = str(Path(self.python).absolute().parents[2])
        return sh((self.python, "-m", "repopilot", *words), root, self._environment())

    def _environment(self) -> dict[str, str]:
        offline = {"EMBEDDED": "false", "OLLAMA_URL": "", "AUTO_DOWNLOAD": "false", "LANGUAGE": "en", "HOME": self.home}
        return {f"REPOPILOT_{name}": value for name, value in offline.items()}


PRODUCT = Product()
CASES: list[Case] = []


def case(source: str) -> Callable[[Callable[[], Verdict]], Callable[[], Verdict]]:
    """Add a case. `source` names the report as `owner/name#number`."""

    def add(run: Callable[[], Verdict]) -> Callable[[], Verdict]:
        CASES.append(Case(run.__name__, source, run))
        return run

    return add


def sh(command: Sequence[str], folder: str | Path, environment: dict[str, str] | None = None) -> Done:
    """Run a program; one that takes too long ends with 124."""
    given = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    try:
        got = subprocess.run(command, cwd=folder, env=given, capture_output=True, timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        return Done(124, "", f"more than {_LIMIT_S} s")
    return Done(got.returncode, got.stdout.decode("utf-8", "replace"), got.stderr.decode("utf-8", "replace"))


class Repository:
    """A git repository made of one text: each file below a line `=== path`."""

    def __init__(self, files: str | dict[str, bytes]) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="case-"))
        for path, content in (_parts(files) if isinstance(files, str) else files).items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        author = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*author, "commit", "-q", "-m", "start")):
            sh(("git", *words), self.root)

    def text(self, path: str) -> str:
        """A file as it is now; '' where there is none."""
        file = self.root / path
        return file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""

    @property
    def diff(self) -> str:
        """What differs from the commit."""
        return sh(("git", "diff", "-U0"), self.root).out

    def tool(self, name: str, /, **arguments: object) -> Done:
        """Call a tool of the product and have its edit written."""
        given = {key: value for key, value in arguments.items() if value != ""}
        words = [f"--{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given.items()]
        return PRODUCT.command("tool", str(self.root), name, "--apply", *words)

    def impact(self, target: str) -> Done:
        """The report of what depends on a symbol."""
        return PRODUCT.command("impact", str(self.root), target, "--json")

    def ask(self, question: str) -> Done:
        """The answer to a question."""
        return PRODUCT.command("ask", str(self.root), question, "--json")


def _parts(text: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for part in text.split("=== ")[1:]:
        path, _, content = part.partition("\n")
        found[path.strip()] = content.encode()
    return found


@dataclass(frozen=True, slots=True)
class Expected:
    """What an edit must leave.

    Attributes:
        holds: (path, text) that must stand after the edit.
        lacks: (path, text) that mustn't.
        listed: places that, named in the reply, make an edit right that leaves them.
        may_refuse: whether to refuse is right, too.
    """

    holds: Sequence[tuple[str, str]] = ()
    lacks: Sequence[tuple[str, str]] = ()
    listed: Sequence[str] = ()
    may_refuse: bool = True


def edited(
    made: Repository, done: Done, run: Sequence[str] = (), before: Done | None = None, **expectations: Any
) -> Verdict:
    """Judge an edit.

    Args:
        made: the repository after the edit.
        done: what the command said.
        run: the program that must print what it printed before the edit.
        before: what it printed.
        expectations: what else, as `Expected` has it.
    """
    expected = Expected(**expectations)
    if done.status:
        right = expected.may_refuse and not made.diff and bool(done.error.strip())
        return Verdict(right, False, f"refused{' half-way' if made.diff else ''}: {done.said}")
    if not made.diff:
        return Verdict(False, False, f"nothing was edited: {done.said}")
    after = sh(run, made.root) if run else None
    same = after is None or before is None or (after.status, after.out) == (before.status, before.out)
    gone = [f"{path} lacks {text!r}" for path, text in expected.holds if text not in made.text(path)]
    left = [f"{path} has {text!r}" for path, text in expected.lacks if text in made.text(path)]
    named = bool(expected.listed) and all(place in done.out for place in expected.listed)
    why = "; ".join([*gone, *left, *([] if same or after is None else [f"prints {after.said}"]), f"said {done.said}"])
    ok = (same and not gone and not left) or named
    return Verdict(ok, not ok and not _PLACE.search(done.out), why)


def rename(
    files: str, name: str, new: str, path: str = "", run: Sequence[str] = PYTHON_MAIN, **expectations: Any
) -> Verdict:
    """Rename a symbol and judge the edit; arguments as `edited` takes them."""
    made = Repository(files)
    before = sh(run, made.root) if run else None
    done = made.tool("rename_symbol", name=name, new_name=new, path=path)
    return edited(made, done, run=run, before=before, **expectations)


def move(
    files: str, name: str, to_path: str, path: str = "", run: Sequence[str] = PYTHON_MAIN, **expectations: Any
) -> Verdict:
    """Move a symbol and judge the edit."""
    made = Repository(files)
    before = sh(run, made.root) if run else None
    done = made.tool("move_symbol", name=name, to_path=to_path, path=path)
    return edited(made, done, run=run, before=before, **expectations)


def resign(
    files: str, name: str, change: dict[str, object], run: Sequence[str] = PYTHON_MAIN, **expectations: Any
) -> Verdict:
    """Change a signature and judge the edit."""
    made = Repository(files)
    before = sh(run, made.root) if run else None
    done = made.tool("change_signature", name=name, **change)
    return edited(made, done, run=run, before=before, **expectations)


def value(path: str, text: str, name: str, new: str, expected: str) -> Verdict:
    """Set a value in a data file, whose every other byte must stay."""
    made = Repository(f"=== {path}\n{text}")
    done = made.tool("set_value", name=name, value=new, path=path)
    right = done.status == 0 and made.text(path) == expected
    return Verdict(right, done.status == 0 and not right, f"{made.text(path)!r}; said {done.said}")


def listed(files: str, name: str, places: Sequence[str], path: str, unlisted: Sequence[str] = ()) -> Verdict:
    """Judge what two commands say of a symbol: `references` names every place (`path:line`), `impact` its file."""
    made = Repository(files)
    references = made.tool("references", name=name)
    impact = made.impact(f"{path}:{name}")
    missing = [place for place in places if place not in references.out]
    files_missing = sorted({place.partition(":")[0] for place in places} - _depending(impact.out))
    wrong = [place for place in unlisted if place in references.out]
    why = f"references lack {missing}, have {wrong}; impact lacks {files_missing}; {references.said} | {impact.said}"
    return Verdict(not (missing or files_missing or wrong), bool(missing or files_missing), why)


def _depending(report: str) -> set[str]:
    """The files that an impact report names for more than having changed together."""
    try:
        found = json.loads(report)
    except ValueError:
        return set()
    paths: set[str] = set()
    parts = [part for key, part in found.items() if key not in ("ranked", "co_changed")]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            paths |= {str(part["path"])} if "path" in part else set()
            parts += part.values()
        elif isinstance(part, list):
            parts += part
    return paths
