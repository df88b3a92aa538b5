"""Puts tests into their module, with the imports that they need."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence

from repopilot.agents.coding.checks.import_fixer import undefined_names, with_imports
from repopilot.agents.testing.writing.placing import TestPlace
from repopilot.agents.testing.writing.samples import TestDraft
from repopilot.agents.testing.writing.suite import names_in, read_suite, with_import_line, with_test
from repopilot.agents.testing.writing.suite_style import in_quotes_of
from repopilot.code.languages import is_test_path
from repopilot.code.python_ast import parse_python, read_python
from repopilot.index.store import Index
from repopilot.tools.file_change import change, with_line_ends
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_HYPOTHESIS = {"given": "from hypothesis import given", "st": "from hypothesis import strategies as st"}


def assembled(place: TestPlace, drafts: Sequence[TestDraft], index: Index, code: str = "") -> str:
    """The text of the test module with some more tests.

    Args:
        place: where they go.
        drafts: the tests.
        index: tells which file defines a name that has to be imported.
        code: the module under test; what it imports from elsewhere, its tests import in the same way.
    """
    suite, after = place.suite, place.after
    for draft in drafts:
        text = with_test(suite, in_quotes_of(place.suite.text, draft.source), place.owner, after)
        changed = read_suite(text)
        if changed is None:
            continue
        suite = changed
        after = next((t for t in suite.tests if (t.owner, t.name) == (place.owner, draft.name)), None)
    text = with_import_line(suite.text, place.import_line) if place.import_line else suite.text
    used = {name for draft in drafts for name in names_in(parse_python(draft.source))}
    return _with_needed_imports(_with_imports_of(code, text, used), place.path, used, index)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name that no test has yet: the wanted one, or with a number behind it."""
    numbered = (f"{wanted}_{number}" for number in range(2, 99))
    return next(name for name in (wanted, *numbered) if name not in taken)


def module_change(path: str, text: str, workspace: Workspace) -> FileChange:
    """The change of a test module to a new text, with the line ends of the old one."""
    stored = stored_text(path, workspace)
    return change(path, with_line_ends(text, stored) if stored is not None else text, stored)


def _with_imports_of(code: str, text: str, used: Collection[str]) -> str:
    """The text with those imports of the module under test whose names the tests use and lack."""
    module = read_suite(code)
    undefined = undefined_names(read_python(text)) & set(used)
    for name in sorted(undefined):
        source, original = module.bound.get(name, ("", "")) if module else ("", "")
        if source and not source.startswith((".", "__")) and original == name:
            text = with_import_line(text, f"from {source} import {name}")
    return text


def _with_needed_imports(text: str, path: str, used: Collection[str], index: Index) -> str:
    undefined = undefined_names(read_python(text)) & set(used)
    for name in sorted(undefined):
        if name in _HYPOTHESIS:
            text = with_import_line(text, _HYPOTHESIS[name])
        elif name == "pytest" or name in sys.stdlib_module_names:
            text = with_import_line(text, f"import {name}")

    def file_of(name: str) -> str | None:
        return _only(s.path for s in index.symbols(name) if s.qualified == name) if name in undefined else None

    return with_imports(path, text, file_of)


def _only(paths: Iterable[str]) -> str | None:
    found = {path for path in paths if path.endswith(".py") and not is_test_path(path)}
    return next(iter(found)) if len(found) == 1 else None
