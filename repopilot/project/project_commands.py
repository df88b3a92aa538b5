"""Commands that a project's files offer: scripts, targets, tasks, and those in documentation and CI. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.code.source_positions import line_at
from repopilot.project.manifest import read_manifest

Purpose = Literal["test", "lint", "build", "install", "start", "docs", "bench"]
Origin = Literal["documentation", "script", "ci", "convention"]


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """A command as one would type it. `runs` is what a script or target does, '' where that is unknown; `heading` the
    section of documentation it stands in, with the sentence before it."""

    command: str
    origin: Origin
    path: str
    line: int
    runs: str = ""
    heading: str = ""


_SCRIPTS = r"(?:\./)?(?:scripts?|bin|tools|ci|\.ci)/"
_AT = r"(?<![\w.-])"
"""Where the name of a program begins; it isn't the end of another name."""
_JS = r"(?:npm|yarn|pnpm|bun)(?: run)?"
_MAKE = r"(?:make|just|task|rake|bundle exec rake|nox -s|tox -e|hatch run|inv(?:oke)?|mage|doit|poe)"
_DOCS = r"(?:docs?|documentation|html|site)(?:[-_:](?:build|dev|html|serve))?"
LINTERS = (
    r"ruff|flake8|pylint|mypy|pyright|black|eslint|prettier|xo|golangci-lint|go vet|gofmt|cargo (?:clippy|fmt)|"
    r"rubocop|phpcs|phpstan|php-cs-fixer|psalm|clang-format|clang-tidy|biome|isort|stylelint|staticcheck|"
    r"mix (?:format|credo)|dotnet format|standardrb|swiftlint|luacheck|oxlint"
)
"""The names of linters and formatters, as a pattern."""
COMMANDS: dict[Purpose, re.Pattern[str]] = {
    "test": re.compile(
        rf"{_AT}(?:pytest|py\.test|tox|nox|go test|cargo (?:n?test|nextest)|{_JS} (?:test\S*|t\b)|jest|mocha|vitest|"
        rf"{_MAKE} (?:\S+ )*?\S*(?:tests?|check|specs?)\b\S*|unittest|mvnw? (?:\S+ )*(?:test|verify)|"
        rf"gradlew? (?:\S+ )*(?:test|check)|"
        r"rspec|ctest|meson test|ninja (?:\S+ )*test|phpunit|"
        r"composer (?:run )?(?:run-script )?test\S*|dotnet test|(?:swift|sbt|mix|bazel|dub|zig build) test|"
        r"manage\.py test|minitest)\b(?![-/])|"
        r"\b(?:python3?|node|ruby|php|perl|bash|sh) (?:-m )?[\w./-]*tests?(?![\w-])|"
        rf"(?:^|\s){_SCRIPTS}\S*(?:test|check)\S*|^(?:bundle exec )?rake$|\bruby\b.*\btest"
    ),
    "lint": re.compile(
        rf"{_AT}(?:{LINTERS}|pre-commit run|"
        rf"{_MAKE} \S*(?:lint|check|fmt|format|style)\S*|{_JS} \S*(?:lint|check|format|style)\S*|"
        r"gradlew? (?:\S+ )*(?:spotless|checkstyle|detekt|ktlint)\w*|"
        r"mvnw? (?:\S+ )*(?:spotless|checkstyle):\w+)\b(?!/)|"
        rf"(?:^|\s){_SCRIPTS}\S*(?:lint|check|format)\S*"
    ),
    "build": re.compile(
        rf"^(?:make|make all|rake|ninja)$|(?:^|\s)\./configure\b|(?:^|[\s/])(?:autogen\.sh|autoreconf)\b|"
        rf"{_AT}(?:cmake|cargo build|go build|{_JS} build\S*|"
        rf"mvnw? (?:\S+ )*(?:package|compile|install)|"
        rf"gradlew? (?:\S+ )*(?:build|assemble)|dotnet build|python3? -m build|{_MAKE} \S*build\S*|"
        r"meson (?:setup|compile|build)|mix compile|"
        rf"hatch build|poetry build|gem build|zig build|swift build|sbt compile)\b|(?:^|\s){_SCRIPTS}\S*build\S*"
    ),
    "install": re.compile(
        rf"{_AT}(?:pip3? install|pipx install|uv (?:add|pip install|tool install|sync)|poetry (?:add|install)|"
        r"conda install|"
        r"(?:npm|pnpm|yarn|bun) (?:i|install|add)|cargo (?:install|add)|go (?:get|install)|gem install|"
        r"bundle (?:add|install)|"
        r"(?:apt(?:-get)?|brew|choco|dnf|port|scoop|vcpkg|winget|yum|zypper) (?:-\S+ )*install|composer require|"
        rf"dotnet add|make install|cmake --install|pacman -S|apk add|nix-env)\b|"
        rf"(?:^|\s){_SCRIPTS}\S*install\S*"
    ),
    "start": re.compile(
        rf"{_AT}(?:{_JS} (?:start|dev|serve)\S*|docker(?:-| )compose up|docker run|cargo run|go run|dotnet run|"
        rf"mvnw? (?:\S+ )*\S+:run|gradlew? (?:\S+ )*(?:run|bootRun)|"
        rf"python3? -m \w\S*|uvicorn|gunicorn|flask run|manage\.py runserver|rails s(?:erver)?|"
        rf"rackup|{_MAKE} (?:run|start|serve|dev)\S*)\b|"
        rf"(?:^|\s){_SCRIPTS}\S*(?:start|serve|run)\S*"
    ),
    "docs": re.compile(
        rf"{_AT}(?:mkdocs|sphinx-build|(?:{_MAKE}|{_JS}) (?:\S+[-_:])?{_DOCS}(?!\S)|cargo doc|rdoc|yard|"
        rf"typedoc|javadoc(?!\.)|doxygen)\b|"
        rf"(?:^|\s){_SCRIPTS}\S*doc(?:s|umentation)?(?![a-z])\S*"
    ),
    "bench": re.compile(
        rf"{_AT}(?:cargo bench|go test (?:\S+ )*-bench\S*|{_MAKE} \S*bench\S*|{_JS} \S*bench\S*|hyperfine|asv)\b|"
        rf"(?:^|\s){_SCRIPTS}\S*bench\S*"
    ),
}
"""Patterns of the commands of each purpose."""
NAMES: dict[Purpose, re.Pattern[str]] = {
    "test": re.compile(r"^(?:run[-_:])?(?:tests?|check|spec|specs)(?:$|[-_:.])|[-_:](?:tests?|specs?)$", re.I),
    "lint": re.compile(rf"lint|^(?:fmt|format|style|typecheck|types|check|{LINTERS})", re.I),
    "build": re.compile(r"^(?:build|compile|all|dist|package)(?:$|[-_:])", re.I),
    "install": re.compile(r"^(?:install|setup|bootstrap|develop|deps)(?:$|[-_:])", re.I),
    "start": re.compile(r"^(?:start|run|serve|dev|server|up)(?:$|[-_:])", re.I),
    "docs": re.compile(rf"^(?:(?:build|make)[-_:])?{_DOCS}$", re.I),
    "bench": re.compile(r"bench", re.I),
}
"""Patterns of the names of scripts, targets and tasks of each purpose."""

_SHELL = frozenset(
    ["", "sh", "bash", "shell", "console", "zsh", "text", "sh-session", "shell-session", "cmd", "powershell"]
)
_FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*\{?\.?([\w-]*)")
_DIRECTIVE = re.compile(r"( *)\.\. ([\w-]+)::[^\S\n]*([\w-]*)")
"""A directive of reStructuredText; the lines indented below it are its options and its body."""
_COMMAND_DIRECTIVES = frozenset(["code-block", "code", "sourcecode", "prompt", "parsed-literal"])
_HEADING = re.compile(r"^(#{1,6}|={1,5})\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"([=~^\"'*+#-])\1{2,}\s*$")
"""The line below a heading."""
_NO_COMMAND = re.compile(
    r"\s*(?:[#@<>{(\[\"'`]|//|:[\w-]+:|(?:[*+-]|\d+[.)])\s|(?:import|from|def|class|const|let|var|use|func|fn)\s)|[^\s\"']*\("
)
"""The beginnings of lines among commands that are code."""
_INLINE = re.compile(r"(?<!:)``?([^`\n]{3,120})``?(_?)")
"""Code within a line; in reStructuredText, a link has an underscore behind it, a role a colon before it."""


_LAUNCHED = re.compile(
    r"^(?:(?:sudo|npx|bunx|uvx|(?:uv|poetry|pdm|hatch) run|bundle exec|(?:npm|pnpm|yarn|bun) exec)\s+(?:--?\S+\s+)*)+"
)
"""What launches the program of a command."""
_READ_BY = {
    "make": r"(?:gnu)?makefile(?:\.(?:am|in))?|configure(?:\.ac|\.in)?|cmakelists\.txt|meson\.build",
    "cmake": r"cmakelists\.txt",
    "cargo": r"cargo\.toml",
    "go": r"go\.mod",
    "just": r"\.?justfile",
    "mvn": r"pom\.xml",
    "gradle": r"(?:build|settings)\.gradle(?:\.kts)?",
    "nox": r"noxfile\.py",
    "pre-commit": r"\.pre-commit-config\.yaml",
    "rails": r"gemfile",
    "rake": r"rakefile(?:\.rb)?",
    "tox": r"tox\.(?:ini|toml)|pyproject\.toml|setup\.cfg",
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), r"package\.json"),
}
"""The names of the files, at least one of which a program needs, in small letters."""


def is_possible(command: str, paths: Collection[str], names: Collection[str]) -> bool:
    """Whether the repository has what a command runs: the file that its program reads, or the folder it lies in.

    What packagers, other projects or other versions do is no command of this one.

    Args:
        command: as one would type it.
        paths: the folders of the repository.
        names: the names of its files, in small letters.
    """
    folder, _, program = _LAUNCHED.sub("", command, 1).partition(" ")[0].removeprefix("./").rpartition("/")
    if not folder and program in _READ_BY:
        return any(re.fullmatch(_READ_BY[program], name) for name in names)
    return not folder or folder in paths or folder.startswith(("/", "~")) or "/bin" in folder


def is_read(path: str) -> bool:
    """Whether `commands_in` reads files of this path."""
    return _reader(path) is not None


def commands_in(path: str, text: str) -> list[ProjectCommand]:
    """The commands that a file offers; [] for a file of no known kind."""
    reader = _reader(path)
    return list(reader(path, text)) if reader else []


def _reader(path: str) -> Callable[[str, str], Iterator[ProjectCommand]] | None:
    name = path.rsplit("/", 1)[-1].lower()
    if name.startswith("testing") and "/" in path:
        # Inside a folder of documentation, it tells users how to test their own code.
        return None
    if re.match(r"(?:gnu)?makefile$", name) or path == "Makefile.am":
        return _targets
    if re.search(r"(^|/)\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml$", path) or name in (
        ".gitlab-ci.yml",
        ".travis.yml",
    ):
        return _ci
    if re.match(
        r"(?:readme|contributing|install|installation|development|developing|hacking|testing|get(?:ting)?[-_]started|"
        r"quick[-_]?start)\b",
        name,
    ):
        return (
            _documentation
            if name.endswith((".md", ".rst", ".txt", ".adoc", ".markdown", ".mdx")) or "." not in name
            else None
        )
    if re.match(_SCRIPTS.replace(r"(?:\./)?", ""), path) and "." not in name:
        return _script_file
    return _toml if path == ".cargo/config.toml" else _READERS.get(name)


def _script_file(path: str, text: str) -> Iterator[ProjectCommand]:
    if text.startswith("#!"):
        yield ProjectCommand(path, "script", path, 1)


def _json_scripts(path: str, text: str) -> Iterator[ProjectCommand]:
    manifest = read_manifest(path, text)
    start = max(0, text.find('"scripts"'))
    folder = path.rpartition("/")[0]
    inside = f"cd {folder} && " if folder else ""
    for name, runs in manifest.scripts.items() if manifest is not None else ():
        line = line_at(text, max(0, text.find(f'"{name}"', start + 9)))
        run = "composer" if path.endswith("composer.json") else "npm" if name in ("test", "start") else "npm run"
        yield ProjectCommand(f"{inside}{run} {name}", "script", path, line, runs)


def _targets(path: str, text: str) -> Iterator[ProjectCommand]:
    lines = text.split("\n")
    folder = path.rpartition("/")[0]
    for number, line in enumerate(lines, 1):
        found = re.match(r"([A-Za-z][\w./-]*)(?:\s+[\w./-]+)*\s*::?(?!=)([^=]*)$", line)
        # What ends like a file is one, and automake has steps of its own that nobody asks for.
        if found and not re.search(r"\.\w+$|-(?:hook|local)$", found[1]):
            recipe = [row.strip().lstrip("@-") for row in lines[number : number + 6]]
            runs = next((row for row in recipe if row and not row.startswith(("#", "echo "))), "")
            has_recipe = number < len(lines) and lines[number].startswith("\t")
            make = f"make -C {folder}" if folder else "make"
            yield ProjectCommand(f"{make} {found[1]}", "script", path, number, runs if has_recipe else found[2].strip())


_RAKE_TASK = re.compile(
    r"\s*(Rake|Minitest|RSpec::Core|RuboCop)::(?:Rake|Test)Task\.(?:new|create)\b(?:\s*\(?\s*[:\"'](\w+))?"
)
_RAKE_NAMES = {"Rake": "test", "Minitest": "test", "RSpec::Core": "spec", "RuboCop": "rubocop"}
"""The names of the tasks that libraries make, where the Rakefile gives none."""


def _rakefile(path: str, text: str) -> Iterator[ProjectCommand]:
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"\s*(?:task|multitask)\s*\(?\s*[:\"']?(\w+(?::\w+)*)[\"']?\s*(?:=>|:)?\s*(.*)", line)
        if found:
            name = "" if found[1] == "default" else f" {found[1].strip(':')}"
            yield ProjectCommand(f"rake{name}", "script", path, number, found[2].strip() if not name else "")
        made = _RAKE_TASK.match(line)
        if made:
            yield ProjectCommand(f"rake {made[2] or _RAKE_NAMES[made[1]]}", "script", path, number)
        if re.match(r"\s*require [\"']bundler/gem_tasks[\"']", line):
            yield from (ProjectCommand(f"rake {name}", "script", path, number) for name in ("build", "install"))


_NAMED = {
    "justfile": (re.compile(r"^@?([A-Za-z][\w-]*)[^:=\n]*:(?!=)", re.M), "just {0}"),
    "noxfile.py": (re.compile(r"^@(?:nox\.)?session[^\n]*\n(?:@[^\n]*\n)*def (\w+)", re.M), "nox -s {0}"),
    **dict.fromkeys(
        ("taskfile.yml", "taskfile.yaml"), (re.compile(r"^ {2}([a-z][\w:-]*):[^\S\n]*$", re.M), "task {0}")
    ),
}
"""By file name: the pattern of the names of its tasks, and the command that starts a task."""


def _named(path: str, text: str) -> Iterator[ProjectCommand]:
    folder, _, name = path.rpartition("/")
    pattern, form = _NAMED[name.lower()]
    form = f"cd {folder} && {form}" if folder else form
    for found in pattern.finditer(text, max(0, text.find("\ntasks:"))):  # a Taskfile's variables come before
        yield ProjectCommand(form.format(found[1]), "script", path, line_at(text, found.start(1)))


_TABLES = (
    ("tool", "tox", "env", "tox -e {0}"),
    ("tool", "poe", "tasks", "poe {0}"),
    ("tool", "pdm", "scripts", "pdm run {0}"),
    ("tool", "taskipy", "tasks", "task {0}"),
    ("tool", "hatch", "envs", "default", "scripts", "hatch run {0}"),
    ("alias", "cargo {0}"),
)
"""The tables of TOML files whose keys name tasks, and the command that starts a task."""


def _toml(path: str, text: str) -> Iterator[ProjectCommand]:
    data = toml_tables(text)
    if path.endswith("tox.toml"):
        data = {"tool": {"tox": data}}
    if "tox" in table(data.get("tool")):
        yield ProjectCommand("tox", "script", path, line_at(text, max(0, text.find("[tool.tox"))))
    for *keys, form in _TABLES:
        for name, task in reduce(lambda inside, key: table(inside.get(key)), keys, data).items():
            at = re.search(rf"^[^#\n=]*\b{re.escape(name)}\b", text, re.M)
            line = line_at(text, at.end()) if at else 1
            yield ProjectCommand(form.format(name), "script", path, line, _task(task))


def _task(task: object) -> str:
    """What a task of a table runs: a command, its words, or the first of several commands."""
    told = table(task).get("commands") or table(task).get("cmd") or task
    while isinstance(told, list) and told and isinstance(told[0], list):
        told = told[0]
    return " ".join(map(str, told)) if isinstance(told, list) else told if isinstance(told, str) else ""


def _tox(path: str, text: str) -> Iterator[ProjectCommand]:
    found = re.search(r"^[^\S\n]*commands\s*=\s*(\S.*|\n\s+\S.*)", text, re.M)
    if found:
        yield ProjectCommand("tox", "script", path, line_at(text, found.start(1)), found[1].strip())
    for named in re.finditer(r"^\[testenv:([\w.-]+)\]", text, re.M):
        yield ProjectCommand(f"tox -e {named[1]}", "script", path, line_at(text, named.start()))


def _cmake(path: str, text: str) -> Iterator[ProjectCommand]:
    for found in re.finditer(r"^[^\S\n]*add_custom_target\s*\(\s*(\w[\w-]*)([^)]*)", text, re.M | re.I):
        runs = " ".join(found[2].replace("${CMAKE_CTEST_COMMAND}", "ctest").split())
        line = line_at(text, found.start(1))
        yield ProjectCommand(f"cmake --build . --target {found[1]}", "script", path, line, runs[:120])
        yield ProjectCommand(f"make {found[1]}", "script", path, line, runs[:120])


_RUNS = re.compile(
    r"^(?P<indent> *)(?:- +)?(?:run|script|install|before_script)[^\S\n]*:[^\S\n]*(?P<style>[|>][-+]?)?[^\S\n]*"
    r"(?P<line>.*)(?:\n|\Z)(?P<block>(?:(?P=indent) +\S.*(?:\n|\Z)|[^\S\n]*\n)*)",
    re.M,
)
"""What a step of CI runs: a line, or a block, `>` before which makes one command of it."""
_ITEM = re.compile(r"^(?P<indent> *)- .*\n(?:(?P=indent) .*(?:\n|\Z)|[^\S\n]*\n)*", re.M)
_ELSEWHERE = re.compile(r"^[ -]*working-directory[^\S\n]*:[^\S\n]*+(?![\"'./]*\s*$)", re.M)
_ROW = re.compile(r"\S(?:[^\n]|(?<=[\\|&])\n)*")
"""A command of a block with the lines that it goes on in."""


def _ci(path: str, text: str) -> Iterator[ProjectCommand]:
    away = [item.span() for item in _ITEM.finditer(text) if _ELSEWHERE.search(item[0])]
    for found in _RUNS.finditer(text):
        if any(start <= found.start("line") < end for start, end in away):
            continue
        if found["line"]:
            yield ProjectCommand(_unquoted(found["line"].strip()), "ci", path, line_at(text, found.start("line")))
            continue
        is_folded = (found["style"] or "").startswith(">")
        for row in re.finditer(r"\S[\s\S]*", found["block"]) if is_folded else _ROW.finditer(found["block"]):
            command = re.sub(r"^- (?:[|>][-+]? )?", "", " ".join(row[0].replace("\\\n", " ").split()))
            yield ProjectCommand(command, "ci", path, line_at(text, found.start("block") + row.start()))


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _documentation(path: str, text: str) -> Iterator[ProjectCommand]:
    heading = ""
    before = ""
    fence = ""
    shell = False
    below = -1  # the indentation of a directive that shows no commands
    for number, line in enumerate(text.split("\n"), 1):
        below = _below(line, below)
        mark = None if path.endswith(".rst") else _FENCE.match(line)
        if mark and (not fence or mark[2].startswith(fence)):
            fence, shell = ("", False) if fence else (mark[2], mark[3].lower() in _SHELL)
            continue
        title = None if fence else _HEADING.match(line)
        if title or (before and not fence and _UNDERLINE.match(line)):
            heading = title[2] if title else before
            before = ""
            continue
        context = f"{heading}. {before}"
        indented = not fence and below < 0 and re.match(r"(?: {4}|\t)\S|\s*\$ \S", line) is not None
        if (fence and shell) or indented:
            command = re.sub(r"^[^\S\n]*[$>%] ?|\s+# .*", "", line).strip()
            if command and not _NO_COMMAND.match(command):
                yield ProjectCommand(command, "documentation", path, number, heading=context)
        elif not fence:
            code = (found for found in _INLINE.finditer(line) if not found[2])
            for inline in (found for found in code if not _NO_COMMAND.match(found[1])):
                yield ProjectCommand(
                    inline[1].strip().lstrip("$ "), "documentation", path, number, heading=f"{heading}. {line}"
                )
            before = before if _DIRECTIVE.match(line) else line.strip() or before


def _below(line: str, below: int) -> int:
    """How far the directive around a line is indented; -1 where there is none, or its body may be commands."""
    directive = _DIRECTIVE.match(line)
    if directive:
        shows_commands = directive[2] in _COMMAND_DIRECTIVES and directive[3].lower() in _SHELL
        return -1 if shows_commands else len(directive[1])
    ended = line.strip() and len(line) - len(line.lstrip()) <= below
    return -1 if ended else below


_READERS: dict[str, Callable[[str, str], Iterator[ProjectCommand]]] = {
    "package.json": _json_scripts,
    "composer.json": _json_scripts,
    "justfile": _named,
    "rakefile": _rakefile,
    "tox.ini": _tox,
    "noxfile.py": _named,
    "taskfile.yml": _named,
    "taskfile.yaml": _named,
    "pyproject.toml": _toml,
    "tox.toml": _toml,
    "cmakelists.txt": _cmake,
}
