"""Async Python code that waits needlessly: calls that block the event loop, and awaits one after the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.loops import in_steps, targets
from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, called, dotted, names_in, on_tree
from repopilot.review.rules.rule import Match, Rule

_BLOCKS = re.compile(
    r"^(shutil\.(copy\w*|move|rmtree|make_archive|unpack_archive)|sqlite3\.connect|psycopg2?\.connect|pymysql\.connect|"
    r"MySQLdb\.connect|smtplib\.SMTP(_SSL)?|socket\.(create_connection|gethostbyname|getaddrinfo)|bcrypt\.(hashpw|checkpw)|"
    r"hashlib\.(scrypt|pbkdf2_hmac)|pandas\.read_\w+|ftplib\.FTP|zipfile\.ZipFile|tarfile\.open|boto3\.(client|resource)|"
    r"subprocess\.(check_output|check_call|call|getoutput)|os\.popen|urllib\.request\.urlretrieve)$"
)
_PATH_IO = re.compile(r"^(read_text|write_text|read_bytes|write_bytes)$")
_BLOCKING_CLIENTS = re.compile(
    r"^(requests\.(Session|session)|httpx\.Client|urllib3\.PoolManager|smtplib\.SMTP(_SSL)?)$"
)
_VERBS = re.compile(
    r"^(get|fetch|load|download|request|retrieve|lookup|resolve|scrape|crawl|check|ping|post|find|enrich|geocode|"
    r"translate|query|call)(_|$)"
)
_ORDERED = re.compile(
    r"(^|[._])(db|conn|connection|cursor|cur|session|tx|transaction|ws|websocket|socket|queue|lock|semaphore|pipe|"
    r"pipeline|redis|pool|reader|writer|stream|page|browser|ctx|context|channel|self)$"
)


def _blocking_calls(tree: PythonTree) -> Iterator[Match]:
    for call in tree.of(ast.Call):
        if not isinstance(tree.scope(call), ast.AsyncFunctionDef) or isinstance(tree.parents.get(call), ast.Await):
            continue
        name = tree.called(call)
        owner, _, method = name.rpartition(".")
        known = _BLOCKS.match(name) or (_PATH_IO.match(method) and _is_path(tree, call))
        if known or (owner and _is_blocking_client(tree, call, owner)):
            yield at(call, name=name)


def _is_path(tree: PythonTree, call: ast.Call) -> bool:
    """On `Path(…)` itself or a name made by it; other libraries' paths are awaited."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
    values = tree.values(call, owner.id) if isinstance(owner, ast.Name) else [owner]
    made = [tree.called(n) for v in values for n in ast.walk(v) if isinstance(n, ast.Call)]
    return any(
        m in ("pathlib.Path", "Path") and tree.imported.get("Path", "pathlib.Path") == "pathlib.Path" for m in made
    )


def _is_blocking_client(tree: PythonTree, call: ast.Call, owner: str) -> bool:
    """A method that talks, of a name that was made by a blocking client."""
    if called(call).rpartition(".")[2] not in ("get", "post", "put", "patch", "delete", "head", "request", "sendmail",
                                               "send_message", "login"):  # fmt: skip
        return False
    made = [v for v in tree.values(call, owner) if isinstance(v, ast.Call)]
    made += [item.context_expr for node in tree.of(ast.With) for item in node.items
             if item.optional_vars is not None and dotted(item.optional_vars) == owner
             and isinstance(item.context_expr, ast.Call)]  # fmt: skip
    return any(_BLOCKING_CLIENTS.match(tree.called(m)) for m in made)


def _sequential_awaits(tree: PythonTree) -> Iterator[Match]:
    """Awaits in a loop none of which needs the result of another."""
    seen: set[ast.AST] = set()
    for node in tree.of(ast.Await):
        loop = tree.loop(node)
        if not isinstance(loop, ast.For | ast.ListComp | ast.DictComp | ast.SetComp) or loop in seen:
            continue
        if _is_fetch(node) and _independent(tree, node, loop):
            seen.add(loop)
            yield at(node)


def _is_fetch(node: ast.Await) -> bool:
    call = node.value
    if not isinstance(call, ast.Call):
        return False
    owner, _, method = called(call).rpartition(".")
    return bool(_VERBS.match(method)) and not _ORDERED.search(owner)


def _independent(tree: PythonTree, node: ast.Await, loop: ast.AST) -> bool:
    """The call needs the loop's own variable and nothing an earlier turn left behind, and no turn ends the loop."""
    if in_steps(tree, loop) or not names_in(node.value) & targets(loop):
        return False
    inside = list(ast.walk(loop))
    if any(isinstance(n, ast.Break | ast.Return | ast.Yield | ast.AsyncWith | ast.AsyncFor) for n in inside):
        return False
    if any(isinstance(n, ast.Await) and n is not node and not _reads_answer(n) for n in inside):
        return False
    grown = {dotted(n.target) for n in inside if isinstance(n, ast.AugAssign)}
    stored = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - targets(loop)
    before = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in stored
              and n.lineno <= node.lineno}  # fmt: skip
    first = {name: min(n.lineno for n in inside if isinstance(n, ast.Name) and n.id == name
                       and isinstance(n.ctx, ast.Store)) for name in before}  # fmt: skip
    carried = {name for name in before if first[name] >= node.lineno}
    return not names_in(node.value) & (grown | carried)


def _reads_answer(node: ast.Await) -> bool:
    """`await response.json()` belongs to the request before it."""
    return isinstance(node.value, ast.Call) and called(node.value).rpartition(".")[2] in (
        "json", "text", "read", "content", "body", "aread")  # fmt: skip


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
    Rule(
        id="await-in-loop",
        domain="performance",
        severity="low",
        languages=PYTHON,
        find=on_tree(_sequential_awaits),
        bad="async def f(api, ids):\n    return [await api.fetch_user(i) for i in ids]\n",
        good="async def f(ws, xs):\n    for x in xs:\n        await ws.send(x)\n",
    ),
)
