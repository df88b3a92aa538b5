"""Calls in async Python code that block the event loop, beyond those that ruff knows (ASYNC2xx)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, called, dotted, on_tree
from repopilot.review.rules.rule import Match, Rule

_BLOCKS = re.compile(
    r"^(shutil\.(copy\w*|move|rmtree|make_archive|unpack_archive)|sqlite3\.connect|psycopg2?\.connect|pymysql\.connect|"
    r"MySQLdb\.connect|smtplib\.SMTP(_SSL)?|socket\.(create_connection|gethostbyname|getaddrinfo)|bcrypt\.(hashpw|checkpw)|"
    r"hashlib\.(scrypt|pbkdf2_hmac)|pandas\.read_\w+|ftplib\.FTP|zipfile\.ZipFile|tarfile\.open|boto3\.(client|resource)|"
    r"subprocess\.(check_output|check_call|call|getoutput)|os\.popen|urllib\.request\.urlretrieve)$"
)
_BLOCKING_CLIENTS = re.compile(
    r"^(requests\.(Session|session)|httpx\.Client|urllib3\.PoolManager|smtplib\.SMTP(_SSL)?)$"
)


def _blocking_calls(tree: PythonTree) -> Iterator[Match]:
    for call in tree.of(ast.Call):
        if not isinstance(tree.scope(call), ast.AsyncFunctionDef) or isinstance(tree.parents.get(call), ast.Await):
            continue
        name = tree.called(call)
        owner = name.rpartition(".")[0]
        if _BLOCKS.match(name) or (owner and _is_blocking_client(tree, call, owner)):
            yield at(call, name=name)


def _is_blocking_client(tree: PythonTree, call: ast.Call, owner: str) -> bool:
    """Whether a call sends a request through an object of a blocking HTTP client."""
    if called(call).rpartition(".")[2] not in (
        "get",
        "post",
        "put",
        "patch",
        "delete",
        "head",
        "request",
        "sendmail",
        "send_message",
        "login",
    ):
        return False
    clients = [v for v in tree.values(call, owner) if isinstance(v, ast.Call)]
    clients += [
        item.context_expr
        for node in tree.of(ast.With)
        for item in node.items
        if item.optional_vars is not None
        and dotted(item.optional_vars) == owner
        and isinstance(item.context_expr, ast.Call)
    ]
    return any(_BLOCKING_CLIENTS.match(tree.called(c)) for c in clients)


RULES = (
    Rule(
        id="blocking-call",
        domain="performance",
        severity="medium",
        languages=PYTHON,
        find=on_tree(_blocking_calls),
        bad="import shutil\nasync def f(a, b):\n    shutil.copy(a, b)\n",
        good="import asyncio\nimport shutil\nasync def f(a, b):\n    await asyncio.to_thread(shutil.copy, a, b)\n",
    ),
)
