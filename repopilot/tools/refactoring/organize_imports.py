"""The tool that sorts the imports of a Python file and removes unused ones. An unused import stays where another file
takes the name from here, the import has side effects, or a comment explains it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from repopilot.code.import_effects import defines_fixture, has_effects, is_standard, run_at_import
from repopilot.code.languages import language_of
from repopilot.code.python_ast import parse_python
from repopilot.code.source_positions import replaced
from repopilot.errors import UsageError
from repopilot.i18n import Message, message
from repopilot.tools import result_types
from repopilot.tools.file_change import safe_path, syntax_error, with_final_newline, with_line_ends
from repopilot.tools.refactoring.python_imports import Bound, ModuleText, plain, stem
from repopilot.tools.refactoring.refactored import finished
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.verifying.edit_check import faults, observed
from repopilot.tools.working_copy import WorkingCopy

RUFF_S = 30
_EVALUATES = re.compile(r"\b(?:eval|exec|globals|vars)\s*\(")


class OnePath(Arguments):
    """A file."""

    path: str = Field(description="the file")


@in_thread
def organize_imports(arguments: OnePath, context: ToolContext) -> ToolResult:
    """Sort the imports of a Python file and remove those that nothing uses and nobody needs. After edits that
    change what it uses."""
    copy = context.working_copy
    path = arguments.path
    text = copy.text(path)  # refuses a path that leads outside
    path = safe_path(path)
    if text is None or language_of(path) != "python":
        raise UsageError(message("refactor_tools.no_python_file", path=path))
    if syntax_error(path, text) is not None:
        raise UsageError(message("refactor_tools.no_parse", path=path))
    module = ModuleText(path, plain(text))
    unused = _unused(module, copy)
    said = {bound.alias: _needed(bound, module, unused, copy) for bound in unused}
    kept = {alias: why for alias, why in said.items() if why is not None}
    kept |= _missed_elsewhere([bound for bound in unused if bound.alias not in kept], module, copy)
    new = _without(module, [bound for bound in unused if bound.alias not in kept], copy)
    rows = [message("refactor_tools.import_kept", line=a.lineno, name=a.name, why=why) for a, why in kept.items()]
    try:
        done = finished(copy, {path: _as_before(new, text)}, (), ())
    except UsageError as error:
        raise UsageError(error.message, "\n".join(rows) or error.hint) from error
    return replace(done, text="\n".join([done.text, *rows]))


def _as_before(new: str, old: str) -> str:
    return with_final_newline(with_line_ends(new, old), old)


def _unused(module: ModuleText, copy: WorkingCopy) -> list[Bound]:
    """The imported names that the linter would remove."""
    said = json.loads(_ruff(module, copy, module.text, "--select=F401", "--output-format=json"))
    places = {(each["location"]["row"], each["location"]["column"]) for each in said if each["fix"]}
    lines = module.text.split("\n")

    def place(alias: ast.alias) -> tuple[int, int]:
        before = lines[alias.lineno - 1].encode()[: alias.col_offset]
        return alias.lineno, len(before.decode()) + 1

    return [bound for bound in module.imports if place(bound.alias) in places]


def _ruff(module: ModuleText, copy: WorkingCopy, text: str, *options: str) -> str:
    fixed = ["--quiet", "--no-cache", "--exit-zero", f"--stdin-filename={module.path}", "-"]
    command = [sys.executable, "-m", "ruff", "check", *options, *fixed]
    try:
        given = text.encode()
        folder = copy.root()
        done = subprocess.run(command, input=given, capture_output=True, cwd=folder, timeout=RUFF_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(message("refactor_tools.ruff", problem=str(error))) from error
    return done.stdout.decode()


def _without(module: ModuleText, gone: Sequence[Bound], copy: WorkingCopy) -> str:
    """The text without some imported names, and sorted."""
    edits = []
    for node in {id(bound.node): bound for bound in gone}.values():
        aliases = [bound.alias for bound in gone if bound.node is node.node]
        edits += module.without(node.node, aliases, node.body)
    new = _ruff(module, copy, replaced(module.text, edits), "--select=I", "--fix")
    return new if module.text.startswith("\n") else new.lstrip("\n")


def _needed(bound: Bound, module: ModuleText, unused: Sequence[Bound], copy: WorkingCopy) -> Message | None:
    """Why an import that its file doesn't use has to stay; None where it may go."""
    start, end = module.line_span(bound.node)
    if "#" in module.text[start:end]:
        return message("refactor_tools.import_comment")
    place = _named_in_text(bound, module, copy)
    if place:
        return message("refactor_tools.import_used", place=place)
    reader = _Modules(copy)
    files = reader.files(module, bound.module)
    if any(defines_fixture(reader.tree(file), bound.alias.name) for file in files):
        return message("refactor_tools.import_fixture")
    gone = {each.alias for each in unused}
    again = any(each.alias not in gone and each.module == bound.module for each in module.imports)
    if again or bound.typing or is_standard(bound.module):
        return None
    unknown = not files and isinstance(bound.node, ast.Import)
    if unknown or any(reader.has_effects(file) for file in {*files, *reader.files(module, bound.whole)}):
        return message("refactor_tools.import_effects", module=bound.module.lstrip("/"))
    return None


def _named_in_text(bound: Bound, module: ModuleText, copy: WorkingCopy) -> str:
    """Where a string names an import: a string that is evaluated here, or `module.name` elsewhere; '' for nowhere."""
    evaluated = _EVALUATES.search(module.text) is not None
    last = stem(module.path).rpartition("/")[2]
    for one in copy.resolver.occurrences(_word(bound)):
        if one.kind != "text" or (one.span.path == module.path and not evaluated):
            continue
        before = (copy.resolver.text(one.span.path) or "")[: one.span.start]
        if one.span.path == module.path or before.endswith((f"{last}.", f"{last}:")):
            return f"{one.span.path}:{one.line}"
    return ""


def _missed_elsewhere(gone: Sequence[Bound], module: ModuleText, copy: WorkingCopy) -> dict[ast.alias, Message]:
    """The imports whose removal changes what something in the repository means, each with the reason to keep it."""
    kept: dict[ast.alias, Message] = {}
    text = copy.text(module.path) or ""
    before = observed(copy, {_word(bound) for bound in gone}, [module.path])
    while gone:
        copy.edit({module.path: _as_before(_without(module, gone, copy), text)})
        lines = {f"{one.path}:{one.line}": _words(copy, one.path, one.line) for one in faults(copy, before)}
        copy.undo(1)
        missed = {bound.alias: place for place, words in lines.items() for bound in gone if _word(bound) in words}
        if lines and not missed:
            missed = dict.fromkeys((bound.alias for bound in gone), next(iter(lines)))
        if not missed:
            break
        kept |= {alias: message("refactor_tools.import_used", place=place) for alias, place in missed.items()}
        gone = [bound for bound in gone if bound.alias not in missed]
    return kept


def _word(bound: Bound) -> str:
    return bound.name.partition(".")[0]


def _words(copy: WorkingCopy, path: str, number: int) -> Collection[str]:
    lines = (copy.text(path) or "").split("\n")
    return re.findall(r"\w+", lines[number - 1]) if 0 < number <= len(lines) else ()


@dataclass
class _Modules:
    """Looks up the repository's modules by their names in imports."""

    copy: WorkingCopy

    def tree(self, path: str) -> ast.Module:
        """A module's tree, an empty one where it doesn't parse."""
        try:
            return parse_python(plain(self.copy.text(path)))
        except SyntaxError:
            return ast.Module([], [])

    def files(self, module: ModuleText, name: str) -> list[str]:
        """The files that a module's import may mean."""
        last = name.replace("/", ".").rpartition(".")[2]
        paths = (p for p in self.copy.paths() if p.endswith(".py") and stem(p).rpartition("/")[2] == last)
        return [path for path in paths if path != module.path and module.means(name, path)]

    def has_effects(self, path: str) -> bool:
        """Whether importing a file has side effects, by itself or through its imports."""
        seen = {path}
        waiting = [path]
        while waiting:
            here = waiting.pop()
            tree = self.tree(here)
            if has_effects(tree):
                return True
            module = ModuleText(here, plain(self.copy.text(here)) if tree.body else "")
            run = {ast.dump(node) for node in run_at_import(tree)}
            names = {b.module for b in module.imports if ast.dump(b.node) in run}
            names |= {b.whole for b in module.imports if ast.dump(b.node) in run}
            found = {file for name in names for file in self.files(module, name)} - seen
            seen |= found
            waiting += found
        return False


TOOLS = (Tool("organize_imports", OnePath, "edit", organize_imports, result_types.Refactored),)
