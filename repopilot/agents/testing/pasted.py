"""Code in a message: Python is tested and repaired on its own, as `repopilot refine` does with a file. Code that no
test verifies, and code in other languages, is checked by parser, linters and rules."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from repopilot import i18n
from repopilot.agents.follow_up import own_words
from repopilot.agents.review.agent import review_text
from repopilot.agents.review.findings import weight_order
from repopilot.agents.review.report import counts_text, finding_lines, notes_text
from repopilot.agents.testing import candidates, demonstration
from repopilot.agents.testing.render import failure_list, point_list, run_points
from repopilot.agents.testing.repair import RepairRequest, default_test_path, repair
from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.languages import language_of, suffix_of
from repopilot.code.python_ast import DEFINITIONS, parses, read_python
from repopilot.code.source_positions import rows_of
from repopilot.code.split import analysed
from repopilot.foreign_text import fenced
from repopilot.index.store import Index
from repopilot.results import Answer, Explanation, TestReport
from repopilot.retrieval.query.parse import parse, reply_language
from repopilot.trace import Step
from repopilot.workspace import Workspace

_BEGINS = re.compile(r"(?:async def|def|class|import|from) |@\w|\w+ *=")
_MOST_BEGINNINGS = 50
_PYTHON = ".py"
_SAYS_SOMETHING = 2
"""The minimum number of content words of a question that is about more than the code in it."""
_DESCRIBES = 6
"""A wish of more words than these says what the code is for."""


@dataclass(frozen=True, slots=True)
class PastedCode:
    """Code of a message.

    Attributes:
        wish: the message without the code.
        code: the module.
        name: the name of its file, as the tests import it.
        tests: texts of test files by path, none where the message has no tests.
    """

    wish: str
    code: str
    name: str = "solution.py"
    tests: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_all(self) -> bool:
        """Whether the message says hardly anything besides the code, and so is about the code alone."""
        return own_words(self.wish) < _SAYS_SOMETHING

    def read(self) -> FileAnalysis:
        """What the code defines and imports."""
        return analysed(self.name, self.code)


def pasted_code(message: str) -> PastedCode | None:
    """The code in a message that defines something: in fences, or Python at its end; None without any.

    Python that parses and defines functions or classes is preferred, with its tests kept apart; else the fences of the
    first language that one names are taken, whether their code parses or not.
    """
    return _python(message) or _fenced_code(message)


def _fenced_code(message: str) -> PastedCode | None:
    suffixed = [(suffix_of(language), block) for language, block in candidates.fenced_blocks(message)]
    suffix = next((suffix for suffix, _ in suffixed if suffix), "")
    code = "\n".join(block for of, block in suffixed if of == suffix)
    found = PastedCode(candidates.without_blocks(message).strip(), code, f"solution{suffix}")
    read = found.read() if suffix else None
    return found if read and (read.symbols or not read.parsed) else None


def _python(message: str) -> PastedCode | None:
    wish, blocks = _blocks(message)
    code = ""
    tests = ""
    for block in blocks:
        defined = _definitions(block)
        names = [name for name in defined if not name.startswith(("test", "Test"))]
        own = [name for name in defined if name not in names]
        tests += f"{candidates.without_definitions(block, names).strip()}\n" if own else ""
        code += f"{candidates.without_definitions(block, own).strip()}\n" if names else ""
    if not candidates.public_names(code):
        return None
    if not tests:
        return PastedCode(wish, code)
    module = _imported(tests, code)
    name = f"{module.replace('.', '/')}.py" if module else "solution.py"
    missing = "" if module else f"from solution import {', '.join(candidates.public_names(code))}\n"
    return PastedCode(wish, code, name, {default_test_path(name): missing + tests})


def stands_alone(pasted: PastedCode, index: Index) -> bool:
    """Whether pasted code has nothing to do with the repository: that has none of its definitions in the same language,
    none of the modules that it imports, and none of the names in the rest of the message. Blocking."""
    if pasted.code == demonstration.CODE:
        return True
    said = parse(pasted.wish)
    capitals = (word for word in re.findall(r"\w+", pasted.wish)[1:] if word != word.lower())
    if said.paths or any(index.symbols(name) for name in (*said.names, *capitals)):
        return False
    read = pasted.read()
    imported = [f"/{each.module.strip('./').replace('.', '/')}" for each in read.imports]
    if any(f"/{path}".partition(module)[2][:1] in ("/", ".") for path in index.files for module in imported):
        return False
    own = {symbol.qualified for symbol in read.symbols if symbol.kind != "variable"}
    own |= {*candidates.public_names(pasted.code)}
    there = (symbol for name in own for symbol in index.symbols(name) if symbol.qualified == name)
    return not any(language_of(symbol.path) == read.language for symbol in there)


async def check_pasted(question: str, workspace: Workspace, step: Step) -> Answer:
    """Say what parser, linters and rules find in code of a message, without running it.

    Args:
        question: holds the code.
        workspace: its settings.
        step: each analyser is a step below it.

    Returns:
        The answer, an Explanation by code.
    """
    pasted = pasted_code(question)
    assert pasted is not None
    language = reply_language(pasted.wish, workspace.settings)
    text = f"{i18n.text('testing.pasted.only_checked', language)}\n\n{await _findings(pasted, workspace, step)}"
    await step.answer(text)
    return Answer(text, result=Explanation("code", lead=text))


async def repair_pasted(pasted: PastedCode, workspace: Workspace, step: Step) -> Answer:
    """Run the tests of pasted code, and repair it while they fail.

    Args:
        pasted: the code; without tests a model writes some.
        workspace: its model writes the candidates.
        step: each attempt is a child.

    Returns:
        The answer with the code; its `result` is a TestReport.

    Raises:
        SandboxError: nothing can be run.
    """
    language = reply_language(pasted.wish, workspace.settings)
    environment = await asyncio.to_thread(workspace.current_environment)
    task = pasted.wish if len(pasted.wish.split()) > _DESCRIBES else ""
    recorded = demonstration.REPAIRED if pasted.code == demonstration.CODE else ""
    if pasted.name.endswith(_PYTHON):
        request = RepairRequest(
            pasted.code, pasted.tests, task, pasted.name, language=language, environment=environment, recorded=recorded
        )
        report = await repair(request, workspace.model, workspace.settings, step)
    else:
        report = TestReport(stopped_because=i18n.message("testing.pasted.not_python"))
    checked = "" if report.genuine else await _findings(pasted, workspace, step)
    text = _text(pasted, report, checked, language)
    await step.answer(text)
    return Answer(text, result=report)


async def _findings(pasted: PastedCode, workspace: Workspace, step: Step) -> str:
    """What parser, linters and rules find in the code, in Markdown."""
    language = reply_language(pasted.wish, workspace.settings)
    report = await review_text(workspace, step, pasted.name, pasted.code.rstrip())
    rows = [
        row
        for finding in sorted(report.findings, key=weight_order)
        for row in finding_lines(finding, report, {}, language)
    ]
    counted = counts_text(report, language)
    found = f"{i18n.text('testing.pasted.checks', language)} {counted[:1].lower()}{counted[1:]}"
    return "\n\n".join(filter(None, (found, "\n".join(rows), notes_text(report, language))))


def _blocks(message: str) -> tuple[str, list[str]]:
    """The message without its Python code, and the code."""
    fenced = candidates.python_blocks(message)
    if fenced:
        return candidates.without_blocks(message).strip(), [block for block in fenced if parses(block)]
    lines = rows_of(message)
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    for number in begins[:_MOST_BEGINNINGS]:
        block = "\n".join(lines[number:]) + "\n"
        if parses(block) and candidates.public_names(block):
            return "\n".join(lines[:number]).strip(), [block]
    return message, []


def _definitions(code: str) -> list[str]:
    return [node.name for node in read_python(code).body if isinstance(node, DEFINITIONS)]


def _imported(tests: str, code: str) -> str:
    """The module from which tests import what the code defines, '' for none."""
    names = {*candidates.public_names(code)}
    return next((module for module, imported in candidates.imports(tests) if imported & names), "")


def _text(pasted: PastedCode, report: TestReport, checked: str, language: str) -> str:
    """The results of the attempts, the code and its diff, the tests where a model wrote them, and what the checks
    found."""
    parts = [point_list(run_points(report, language, pasted=True)), *_attempts(report, language)]
    parts.append("\n".join(failure_list(report, language)))
    code = report.code or pasted.code
    if code != pasted.code:
        rows = difflib.unified_diff(rows_of(pasted.code), rows_of(code), lineterm="", n=2)
        shown = "\n".join(list(rows)[2:])
        parts += [
            i18n.text("testing.pasted.repaired", language),
            fenced(shown, "diff"),
            fenced(code.rstrip(), "python"),
        ]
    if report.tests and not report.protected:
        parts.append(i18n.text("testing.pasted.tests", language))
        parts += [fenced(text.rstrip(), "python") for text in report.tests.values()]
    parts.append(checked)
    if not report.run and pasted.name.endswith(_PYTHON):
        parts.append(i18n.text("testing.pasted.add_tests", language))
    parts.append(i18n.text("testing.pasted.alone" if report.run else "testing.pasted.not_written", language))
    return "\n\n".join(filter(None, parts))


def _attempts(report: TestReport, language: str) -> list[str]:
    rows = []
    for each in report.iterations:
        counts = {"passed": each.run.passed, "failed": each.run.failed + each.run.errors} if each.run else {}
        key = "testing.pasted.attempt" if each.run else "testing.pasted.not_run"
        said = {
            "number": each.number,
            "why": i18n.translated(each.why, language),
            "problem": i18n.translated(each.problem, language),
        }
        rows.append(f"- {i18n.text(key, language, **counts, **said)}")
    why = i18n.translated(report.stopped_because, language)
    stopped = (
        i18n.text("testing.pasted.stopped", language, why=why) if why and report.run and not report.genuine else ""
    )
    return ["\n".join(rows), stopped]
