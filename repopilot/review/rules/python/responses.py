"""What Python's web code puts into its answers: text from outside as HTML or as a header; and keys and permissions that
are written into the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.taint import built, sources
from repopilot.review.rules.python.tree import PythonTree, called, dotted, keyword
from repopilot.types import Finding

_ANSWERS = re.compile(r"(^|\.)(HttpResponse|make_response|Response|HTMLResponse|PlainResponse)$")
_ROUTES = re.compile(r"(^|\.)(route|get|post|put|patch|delete)$")
_KEYED = re.compile(r"(^|\.)(Fernet|AES\.new|hmac\.new|jwt\.encode|AESGCM|ChaCha20Poly1305|URLSafeTimedSerializer|"
                    r"URLSafeSerializer|TimestampSigner|Signer)$")  # fmt: skip
_MAKES = re.compile(r"^os\.(makedirs|mkdir|open|mkfifo)$|(^|\.)mkdir$")


def answers(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_html, _headers, _keys, _permissions):
        yield from check(tree)


def _html(tree: PythonTree) -> Iterator[Finding]:
    """HTML put together with text from a request, and given back."""
    for node in tree.of(ast.Call, ast.Return):
        value = node.value if isinstance(node, ast.Return) else node.args[0] if node.args else None
        if isinstance(node, ast.Call) and not _ANSWERS.search(called(node)):
            continue
        function = tree.function(node)
        routed = function is not None and any(_ROUTES.search(dotted(d)) for d in function.decorator_list)
        if isinstance(node, ast.Return) and not routed:
            continue
        parts = built(_meant(tree, value)) if value is not None else None
        if (
            parts
            and re.search(r"<\w", parts[0])
            and any("request" in sources(tree, h, tree.scope(node)) for h in parts[1])
        ):
            yield tree.finding(
                node,
                "high",
                "security",
                "cross-site-scripting",
                "Text from outside is written into the page as it is; escape it, or use a template.",
            )


def _meant(tree: PythonTree, value: ast.expr) -> ast.expr:
    """The one value a name was given."""
    values = tree.assigned.get((tree.scope(value), value.id), []) if isinstance(value, ast.Name) else []
    return values[0] if len(values) == 1 else value


def _headers(tree: PythonTree) -> Iterator[Finding]:
    """A header put together with text from a request."""
    for node in tree.of(ast.Assign):
        target = node.targets[0]
        is_header = isinstance(target, ast.Subscript) and re.search(
            r"(^|\.)(headers|resp|response|res|r)$", dotted(target)
        )
        parts = built(_meant(tree, node.value)) if is_header else None
        if parts and any("request" in sources(tree, h, tree.scope(node)) for h in parts[1]):
            yield tree.finding(
                node,
                "medium",
                "security",
                "header-injection",
                "Text from outside becomes part of a header; quote it, and keep line breaks out.",
            )


def _keys(tree: PythonTree) -> Iterator[Finding]:
    """A key that is a literal where it is used, or in the constant that is."""
    for call in tree.of(ast.Call):
        if not _KEYED.search(called(call)):
            continue
        at = 1 if called(call).endswith("jwt.encode") else 0
        given = call.args[at] if len(call.args) > at else keyword(call, "key")
        values = tree.values(call, given.id) if isinstance(given, ast.Name) else [given]
        if any(isinstance(v, ast.Constant) and isinstance(v.value, str | bytes) and len(v.value) > 5 for v in values):
            yield tree.finding(call, "high", "security", "hard-coded-key", "The key is written into the code.")


def _permissions(tree: PythonTree) -> Iterator[Finding]:
    """Files and folders that every user of the machine may change."""
    for call in tree.of(ast.Call):
        mode = keyword(call, "mode") if _MAKES.search(tree.called(call)) else None
        if isinstance(mode, ast.Constant) and isinstance(mode.value, int) and mode.value & 0o002:
            yield tree.finding(call, "medium", "security", "open-permissions",
                               "Every user of the machine may write here.")  # fmt: skip
