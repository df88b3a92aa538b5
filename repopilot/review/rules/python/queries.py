"""Queries put together from text in Python: LDAP filters, and which SQL statements are safe although put together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.taint import built, safe
from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, on_tree
from repopilot.review.rules.rule import Match, Rule

_LDAP = re.compile(
    r"^\s*\(.*\(?\b(uid|cn|sn|ou|dc|mail|member|memberOf|memberUid|sAMAccountName|userPrincipalName|objectClass|"
    r"givenName|displayName|\w+)\s*[~<>]?=\*?\0",
    re.S,
)
_LDAP_WORD = re.compile(r"\b(uid|cn|objectClass|sAMAccountName|memberOf|memberUid|userPrincipalName|mail)=|^\([&|!]")


def unsafe_statement(tree: PythonTree, line: int) -> bool:
    """Whether an SQL statement at a line contains a value that may come from outside; True, too, where there is no such
    statement, so that another tool's finding stands."""
    found = [
        (node, parts)
        for node in tree.of(ast.JoinedStr, ast.BinOp, ast.Call)
        if node.lineno <= line <= (node.end_lineno or node.lineno)
        and (parts := built(node)) is not None
        and re.search(r"(?i)\b(select|insert|update|delete|with)\b", parts[0])
    ]
    return not found or any(not safe(tree, hole, tree.scope(n)) for n, (_, holes) in found for hole in holes)


def _ldap_filters(tree: PythonTree) -> Iterator[Match]:
    """LDAP filters with values in them."""
    ldap = any("ldap" in name for name in _modules(tree))
    for node in tree.of(ast.JoinedStr, ast.BinOp, ast.Call):
        if isinstance(tree.parents.get(node), ast.BinOp) or (parts := built(node)) is None:
            continue
        text, holes = parts
        scope = tree.scope(node)
        is_filter = _LDAP.search(text) and text.rstrip().endswith(")") and (_LDAP_WORD.search(text) or ldap)
        if is_filter and not all(safe(tree, h, scope) for h in holes):
            yield at(node)


def _modules(tree: PythonTree) -> set[str]:
    names = {n.name for node in tree.of(ast.Import) for n in node.names}
    return names | {node.module or "" for node in tree.of(ast.ImportFrom)}


RULES = (
    Rule(
        "ldap-injection",
        "security",
        "high",
        PYTHON,
        on_tree(_ldap_filters),
        bad="def f(c, name):\n    return c.search('dc=x', '(&(objectClass=user)(cn=%s))' % name)\n",
        good="def f(c, name):\n    name = escape_filter_chars(name)\n"
        "    return c.search('dc=x', f'(&(objectClass=user)(cn={name}))')\n",
        cwe=90,
    ),
)
