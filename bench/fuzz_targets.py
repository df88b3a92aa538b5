"""What the fuzzer feeds: everything that reads text of a repository, of a user or of a model.

A target takes the path and the bytes of a file, which need not fit, and a random generator for what else it chooses.
It may raise RepoPilotError; any other exception is a fault.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from pydantic import BaseModel

from repopilot.agents.coding.blocks import read_blocks
from repopilot.agents.coding.checks.preserve import leaves_out
from repopilot.agents.coding.new_definition import definition_in
from repopilot.agents.coding.typed_commands import read_command
from repopilot.agents.explain.prose import complete_sentences, sentences_of_json
from repopilot.agents.explain.sentence_check import ClaimContext, check_sentence
from repopilot.agents.follow_up import resolve
from repopilot.agents.review.rules import registry
from repopilot.agents.testing import candidates
from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.file_version import code
from repopilot.code.graph.build import link_graph
from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.errors import RepoPilotError
from repopilot.foreign_text import without_surrogates
from repopilot.index.build.instant import BuildRun, build_instant
from repopilot.index.storage.codec import encode
from repopilot.index.store import Index
from repopilot.llm import structured
from repopilot.llm.tool_calls import calls_in_text
from repopilot.project import manifest, project_commands
from repopilot.project.lock_files import locked_versions
from repopilot.project.package_declarations import read_packages
from repopilot.project.project_version import declared_version
from repopilot.project.pytest_options import read_pytest_options
from repopilot.project.python_project import read_project
from repopilot.redaction.redact import redact
from repopilot.repo.history import commits
from repopilot.repo.patches import patch
from repopilot.repo.read import read, text_of
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.query.stack_frames import frames, places
from repopilot.retrieval.search import search
from repopilot.routing.router import classify
from repopilot.runtime import Runtime
from repopilot.sandbox.controls import inversion
from repopilot.sandbox.controls.mutants import line_mutants, mutants
from repopilot.sandbox.runners.runner_table import RUNNERS
from repopilot.sandbox.verdict import read_report
from repopilot.settings import Settings
from repopilot.tools import file_change
from repopilot.tools.set_value import sites_in
from repopilot.types import Excerpt, Skip, Snapshot, SourceFile
from repopilot.workspace import Workspace

Read = Callable[[str, bytes, Random], object]

SUFFIXES = (
    "py js ts tsx go rs java kt rb php c h cpp cs swift scala md rst toml json yaml sql proto graphql html css sh"
).split()


@dataclass(frozen=True, slots=True)
class Target:
    """What is fed: the function, and what its inputs begin as.

    Attributes:
        read: is called with each input.
        folders: of texts below `bench/data/fuzz`.
        suffixes: of files of real repositories.
        names: of such files.
    """

    read: Read
    folders: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _text(data: bytes) -> str:
    """A text as JSON, a socket or an argument brings it, behind the boundary where it is made valid."""
    try:
        return without_surrogates(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _file_text(path: str, data: bytes) -> str | None:
    """A file's text as the index reads it, None for one that it doesn't."""
    found = text_of(path, data)
    return None if isinstance(found, Skip) else redact(found)[0]


def _analysed(path: str, data: bytes) -> FileAnalysis | None:
    text = _file_text(path, data)
    return None if text is None else analyse(path, text, language_of(path) or "", file_kind(path))


def _other_path(path: str, random: Random) -> str:
    """The path, now and then with the ending of another language."""
    return path if random.random() < 0.8 else f"{path.rpartition('.')[0] or 'x'}.{random.choice(SUFFIXES)}"


def _split(path: str, data: bytes, random: Random) -> None:
    path = _other_path(path, random)
    text = _file_text(path, data)
    if text is not None:
        kind, language = file_kind(path), language_of(path) or ""
        analysis = analyse(path, text, language, kind)
        covered = {n for c in analysis.chunks for n in range(c.start_line, c.end_line + 1)}
        missing = [n for n, line in enumerate(text.split("\n"), 1) if line.strip() and n not in covered]
        assert not missing, f"no chunk has lines {missing[:5]}"
        encode(SourceFile(path, len(data), hashlib.sha1(data).hexdigest(), language, kind), text, analysis)


def _graph(path: str, data: bytes, random: Random) -> None:
    """Files that import one another: the input, itself under other names, and an ordinary one."""
    found = [_analysed(f"{folder}{path}", data) for folder in ("", "lib/", "lib/inner/")]
    found.append(_analysed("lib/__init__.py", b"from .inner import *\nfrom lib import lib\nimport lib.inner.x as y\n"))
    files = [each for each in found if each is not None]
    text = _text(data)
    manifests = [m for name in ("package.json", "go.mod", "Cargo.toml") if (m := manifest.read_manifest(name, text))]
    link_graph(files, manifests)


def _manifests(path: str, data: bytes, random: Random) -> None:
    text = _text(data)
    name = random.choice(_MANIFESTS) if random.random() < 0.5 else path
    manifest.read_manifest(name, text)
    project_commands.commands_in(name, text)
    locked_versions(text)

    def of_any(asked: str) -> str | None:
        return text if asked == name or random.random() < 0.3 else None

    read_project(of_any)
    read_pytest_options(of_any)
    declared_version("shop", of_any)
    read_packages(of_any, lambda folder: frozenset((name, *_MANIFESTS)))


_MANIFESTS = (
    "package.json pyproject.toml Cargo.toml go.mod pom.xml composer.json Gemfile setup.cfg setup.py tox.ini noxfile.py "
    "requirements.txt pytest.ini Makefile README.md .travis.yml Cargo.lock package-lock.json "
    "build.gradle mix.exs shop.csproj pubspec.yaml justfile Taskfile.yml Dockerfile compose.yaml tasks.py"
).split()


def _patch(path: str, data: bytes, random: Random) -> None:
    text = _text(data)
    try:
        diffs = patch.parse_patch(text)
    except RepoPilotError:
        return
    for diff in diffs:
        patch.added_lines(diff)


def _citations(path: str, data: bytes, random: Random) -> None:
    text = _text(data)
    half = random.randint(0, len(text))
    complete_sentences(text[:half], ended=False)
    earlier: list[str] = []
    for sentence in islice(complete_sentences(text, ended=True), 30):
        checked = check_sentence(sentence, ClaimContext(_EXCERPTS), earlier)
        assert isinstance(checked, str) or 1 <= checked.lines[0] <= checked.lines[1] <= 60, checked
        earlier.append(sentence)
    sentences_of_json(text)


class _Shape(BaseModel):
    path: str
    line: int = 0
    reasons: list[str] = []
    score: float = 0.0


def _replies(path: str, data: bytes, random: Random) -> None:
    text = _text(data)
    structured.parse(text, _Shape)
    structured.named(text, ["yes", "no", "Cart.add"])
    read_blocks(text)
    calls_in_text(text, ["read", "finish"])
    with suppress(RepoPilotError):
        safe = file_change.safe_path(text.partition("\n")[0])
        assert not Path(safe).is_absolute() and ".." not in Path(safe).parts
    leaves_out(file_change.change("shop.py", text, _SHOP["shop.py"]))
    file_change.unified("shop.py", _SHOP["shop.py"], text)
    definition_in(text, "Cart", "shop.py", "python")
    _program(text)


def _program(reply: str) -> None:
    program = candidates.code_in_reply(reply)
    candidates.problem_of(program, ["discount"])
    candidates.signatures(program)
    candidates.replace_function(_SHOP["shop.py"], "Cart.add", program)
    candidates.function_at(reply, 3)


def _tasks(path: str, data: bytes, random: Random) -> None:
    """What is read out of a task, and values set in a file of any content."""
    task = _text(data[:4_000])
    with suppress(RepoPilotError):
        read_command(task)
    list(sites_in(_other_path(path, random), _text(data)))


def _questions(path: str, data: bytes, random: Random) -> None:
    text = _text(data[: random.choice((300, 3_000, 40_000))])
    parse(text)
    frames(text)
    places(text)
    classify(text)
    resolve(text, ())
    search(_shop().index, text)


def _tests(path: str, data: bytes, random: Random) -> None:
    """What is made of a repository's code to judge its tests."""
    text = _text(data)
    _inverted(text)
    lines = range(1, text.count("\n") + 2)
    line_mutants(text, _other_path(path, random), lines, 5)
    for symbol in candidates.function_names(text)[:3]:
        mutants(text, symbol, 5)


def _inverted(text: str) -> None:
    try:
        inversion.expected_tests(text)
        file = inversion.parse_tests(text)
    except SyntaxError:
        return
    inversion.invert(file, list(file.units)[:9], Random(0))


def _reports(path: str, data: bytes, random: Random) -> None:
    for runner in RUNNERS:
        runner.read(data, "/work")
    for outcome in read_report(data, "n" * 32).outcomes:
        assert outcome.id is not None


def _review(path: str, data: bytes, random: Random) -> None:
    path = _other_path(path, random)
    text = _file_text(path, data)
    if text is not None:
        made = code(path, text[:8_000], language_of(path) or "")
        for domain in ("security", "performance", "style"):
            registry.find([made], domain)


def _redaction(path: str, data: bytes, random: Random) -> None:
    text = _text(data)
    once, _ = redact(text)
    redact(once)


def _git(path: str, data: bytes, random: Random) -> None:
    """A tree and a commit, byte by byte as a hostile server could send them, listed and read."""
    git_dir = _bare()
    blob = _object(git_dir, b"blob", data[:2_000])
    names = [name for name in data.split(b"\n")[:12] if name] or [b"a.py"]
    rows = [random.choice(_MODES) + b" " + name.replace(b"\0", b"")[:300] + b"\0" + blob for name in names]
    tree = _object(git_dir, b"tree", b"".join(rows if random.random() < 0.9 else [data]))
    person = random.choice(
        (b"A <a@b> 1 +0000", b"A <a@b> 99999999999999999999 +9999", b"A", b"", data[:50].replace(b"\n", b""))
    )
    text = b"tree %b\nauthor %b\ncommitter %b\n\n%b" % (tree.hex().encode(), person, person, data[:3_000])
    commit = _object(git_dir, b"commit", text).hex()
    snapshot = Snapshot(key="x", name="x", commit=commit, git_dir=git_dir)
    files, _ = walk(snapshot, _settings())
    assert not any(part in ("", ".", "..") or part.lower() == ".git" for f in files for part in f.path.split("/")), (
        files
    )
    for _ in read(snapshot, files):
        pass
    commits(snapshot, 5)


_MODES = (b"100644", b"100755", b"120000", b"40000", b"160000", b"100664", b"0", b"777777", b"x")


def _object(git_dir: Path, kind: bytes, data: bytes) -> bytes:
    """Store a loose object, valid or not; returns its id."""
    whole = b"%b %d\0%b" % (kind, len(data), data)
    digest = hashlib.sha1(whole, usedforsecurity=False)
    folder = git_dir / "objects" / digest.hexdigest()[:2]
    folder.mkdir(exist_ok=True)
    (folder / digest.hexdigest()[2:]).write_bytes(zlib.compress(whole, 1))
    return digest.digest()


@cache
def _bare() -> Path:
    git_dir = Path(mkdtemp(prefix="repopilot-fuzz-"))
    (git_dir / "objects").mkdir()
    (git_dir / "refs").mkdir()
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    return git_dir


@cache
def _settings() -> Settings:
    home = Path(mkdtemp(prefix="repopilot-fuzz-"))
    return Settings(
        _env_file=None, home=home, ollama_url="", embedded=False, dense=False, auto_download=False, workers=1
    )  # type: ignore[call-arg]


@cache
def _shop() -> Workspace:
    """A small indexed repository."""
    root = Path(mkdtemp(prefix="repopilot-fuzz-"))
    for name, text in _SHOP.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    snapshot = open_source(parse_source(str(root)), _settings())
    return Workspace(snapshot, _indexed(snapshot), _settings())


def _indexed(snapshot: Snapshot) -> Index:
    runtime = _runtime()
    run = BuildRun(snapshot, _settings(), runtime.indexes, runtime.workers, lambda progress: None, threading.Event())
    return build_instant(run)


@cache
def _runtime() -> Runtime:
    return Runtime(_settings())


def prepare(target: str) -> None:
    """Do what a target needs once, before limits are set."""
    if target in ("patches", "tasks", "edited", "questions"):
        _shop()


_DATA = Path(__file__).parent / "data" / "fuzz"


def _texts(folder: str) -> dict[str, str]:
    """The files of a folder beside this module, by path."""
    root = _DATA / folder
    return {str(file.relative_to(root)): file.read_text("utf-8") for file in sorted(root.rglob("*.*"))}


_SHOP = _texts("shop")
_TASKS = tuple((_DATA / "tasks.txt").read_text("utf-8").splitlines())
_EXCERPTS = (
    Excerpt(1, "shop.py", 1, _SHOP["shop.py"].count("\n"), "Cart", _SHOP["shop.py"].rstrip("\n")),
    Excerpt(2, "shop.py", 20, 60, "discount", "\n".join(f"line {n} = cart[{n}]" for n in range(41))),
)

TARGETS: dict[str, Target] = {
    "split": Target(_split, suffixes=tuple(SUFFIXES)),
    "graph": Target(
        _graph,
        suffixes=("py", "js", "ts", "tsx", "go", "rs", "java", "php", "c", "cpp", "cs", "rb", "json", "mod", "toml"),
    ),
    "manifests": Target(_manifests, ("shop",), names=tuple(_MANIFESTS)),
    "patches": Target(_patch, ("patches",)),
    "citations": Target(_citations, ("citations",), suffixes=("md",)),
    "replies": Target(_replies, ("replies",), suffixes=("py", "md")),
    "tasks": Target(_tasks, ("tasks", "shop"), suffixes=("py", "js", "go", "rs", "toml", "json", "yaml")),
    "questions": Target(_questions, ("questions", "tasks")),
    "tests": Target(_tests, suffixes=("py", "js", "ts", "go", "rs")),
    "reports": Target(_reports, ("reports",)),
    "review": Target(_review, suffixes=("py", "js", "ts", "tsx", "go", "rs", "java", "rb", "php", "c", "cs")),
    "redaction": Target(_redaction, suffixes=tuple(SUFFIXES)),
    "git": Target(_git, ("git",)),
}


def corpus(target: str, files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """What inputs of a target begin as: its own texts, and those of the files that it reads.

    Args:
        target: a key of TARGETS.
        files: path and content of the files of real repositories.
    """
    wanted_by = TARGETS[target]
    own = [each for folder in wanted_by.folders for each in _texts(folder).items()]
    own += [("task.txt", task) for task in _TASKS if "tasks" in wanted_by.folders]
    endings = tuple(f".{suffix}" for suffix in wanted_by.suffixes)
    return [(path, text.encode()) for path, text in own] + [
        (path, data)
        for path, data in files
        if (endings and path.endswith(endings)) or path.rpartition("/")[2] in wanted_by.names
    ]
