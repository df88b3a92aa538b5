"""Queries put together from text in Python: clauses of SQL, filters of LDAP, scripts of MongoDB, XPath and the like;
and which SQL statements that look put together are safe after all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.taint import built, safe, sources
from repopilot.review.rules.python.tree import PythonTree, called, dotted, keyword, text_of, words_of
from repopilot.types import Finding

_STATEMENT = re.compile(
    r"(?is)\s*(select\s.*\sfrom\s|insert\s+into\s|update\s.*\sset\s|delete\s+from\s|with\s+\w+\s+as\s*\()"
)
_CLAUSE_NAMES = frozenset(
    "clause clauses condition conditions where wheres filter filters sql query statement stmt predicate predicates "
    "criteria constraints parts restrictions having order".split()
)
# What comes before a hole in a piece of SQL.
_CLAUSE = re.compile(
    r"(?s)(\b(?:WHERE|AND|OR|ORDER BY|GROUP BY|HAVING|SET|VALUES|FROM|JOIN|BETWEEN)\s[^\0]*|^\s*[\w.\"]+\s*)"
    r"(=|<>|!=|<=?|>=?|\b(?:NOT\s+)?(?:I?LIKE|like|ilike|IN|in)\b)\s*\(?\s*(E?'%*|\"%*|%+)?\0"
    r"|\b(ORDER BY|GROUP BY|LIMIT|OFFSET)\s+\0"
)
_RUNS_SQL = re.compile(
    r"(^|\.)(execute|executemany|raw|text|read_sql\w*|fetch|fetchrow|fetchall|fetch_all|fetch_one|extra|"
    r"query|from_statement)$"
)
_LDAP = re.compile(
    r"^\s*\(.*\(?\b(uid|cn|sn|ou|dc|mail|member|memberOf|memberUid|sAMAccountName|userPrincipalName|objectClass|"
    r"givenName|displayName|\w+)\s*[~<>]?=\*?\0",
    re.S,
)
_LDAP_WORD = re.compile(r"\b(uid|cn|objectClass|sAMAccountName|memberOf|memberUid|userPrincipalName|mail)=|^\([&|!]")
_XPATH = re.compile(r"(//?[\w*:]+|^\.?//?.*)\[[^\]]*['\"]?\0|^\.?//.*\0")
_JQL = re.compile(r"(?i)\b(project|assignee|status|reporter|issuetype|text|summary|key)\s*(=|~|!=|in)\s*\(?['\"]?\0")
_SCRIPTS = frozenset({"$where", "$function", "$accumulator"})


def queries(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_clauses, _filters, _mongo):
        yield from check(tree)


def unsafe_statement(tree: PythonTree, line: int) -> bool:
    """Whether an SQL statement that begins or ends at a line has a hole that something unknown fills. True too when
    no such statement is found there: then there is nothing to take back."""
    found = [
        (node, parts)
        for node in tree.of(ast.JoinedStr, ast.BinOp, ast.Call)
        if node.lineno <= line <= (node.end_lineno or node.lineno) and (parts := built(node)) is not None
        and re.search(r"(?i)\b(select|insert|update|delete|with)\b", parts[0])
    ]  # fmt: skip
    return not found or any(not safe(tree, hole, tree.scope(n)) for n, (_, holes) in found for hole in holes)


def _clauses(tree: PythonTree) -> Iterator[Finding]:
    """Pieces of SQL with values in them, kept under a name that says so."""
    for value in _kept(tree):
        parts = built(value)
        if parts is None or _STATEMENT.match(parts[0]) or not (match := _CLAUSE.search(parts[0])):
            continue
        worded = re.search(r"\b(WHERE|AND|LIKE|ILIKE|ORDER BY|GROUP BY|HAVING|JOIN|LIMIT|OFFSET|IN)\b|=\s*'", parts[0])
        scope = tree.scope(value)
        runs = any(_RUNS_SQL.search(called(c)) for c in tree.of(ast.Call) if tree.scope(c) is scope)
        hole = parts[1][min(parts[0][: match.end()].count("\0") - 1, len(parts[1]) - 1)] if parts[1] else None
        if hole is not None and (worded or runs) and not safe(tree, hole, scope):
            yield tree.finding(
                value,
                "high",
                "security",
                "sql-clause",
                "A value is written into a piece of SQL; put a placeholder there, pass it on.",
            )


def _kept(tree: PythonTree) -> Iterator[ast.expr]:
    """What is assigned, added or appended to names like `where` and `clauses`."""
    for node in tree.of(ast.Assign, ast.AugAssign):
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if _CLAUSE_NAMES & set(words_of(dotted(target))):
            yield node.value
    for call in tree.of(ast.Call):
        owner, _, method = called(call).rpartition(".")
        if method in ("append", "extend", "insert") and call.args and _CLAUSE_NAMES & set(words_of(owner)):
            last = call.args[-1]
            yield last
            if isinstance(last, (ast.List, ast.Tuple)):
                yield from last.elts


def _filters(tree: PythonTree) -> Iterator[Finding]:
    """LDAP filters, XPath and JQL with values in them."""
    ldap = any("ldap" in name for name in _modules(tree))
    for node in tree.of(ast.JoinedStr, ast.BinOp, ast.Call):
        if isinstance(tree.parents.get(node), ast.BinOp) or (parts := built(node)) is None:
            continue
        text, holes = parts
        scope = tree.scope(node)
        if not holes or all(safe(tree, h, scope) for h in holes):
            continue
        if _LDAP.search(text) and text.rstrip().endswith(")") and (_LDAP_WORD.search(text) or ldap):
            yield tree.finding(node, "high", "security", "ldap-injection",
                               "A value is written into an LDAP filter; escape it by escape_filter_chars.")  # fmt: skip
        elif _XPATH.search(text) and _is_argument(tree, node, r"(^|\.)(xpath|XPath|findall|iterfind|find)$"):
            if "'\0" in text or '"\0' in text:
                yield tree.finding(node, "medium", "security", "xpath-injection",
                                   "A value is written into an XPath; pass it as a variable.")  # fmt: skip
        elif _JQL.search(text) and _is_argument(tree, node, r"search_issues$|jql$|enhanced_jql$"):
            yield tree.finding(node, "medium", "security", "query-injection", "A value is written into a query.")


def _modules(tree: PythonTree) -> set[str]:
    names = {n.name for node in tree.of(ast.Import) for n in node.names}
    return names | {node.module or "" for node in tree.of(ast.ImportFrom)}


def _is_argument(tree: PythonTree, node: ast.expr, callee: str) -> bool:
    """An argument of such a call, on the spot or through a name."""
    above = tree.parents.get(node)
    above = tree.parents.get(above) if isinstance(above, ast.keyword) else above
    if isinstance(above, ast.Call):
        return bool(re.search(callee, called(above)))
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
        name = above.targets[0].id
        return any(re.search(callee, called(c)) and any(dotted(a) == name for a in c.args)
                   for c in tree.of(ast.Call) if tree.scope(c) is tree.scope(node))  # fmt: skip
    return False


def _mongo(tree: PythonTree) -> Iterator[Finding]:
    """Scripts for MongoDB that are put together, and filters that take what a request's JSON holds, operators too."""
    for node in tree.of(ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            script = text_of(key) in _SCRIPTS and not isinstance(value, (ast.Constant, ast.Dict))
            if script and not safe(tree, value, tree.scope(node)):
                yield tree.finding(
                    value,
                    "high",
                    "security",
                    "nosql-injection",
                    "A script for the database is put together from values; compare fields.",
                )
    for call in tree.of(ast.Call):
        if not re.search(
            r"\.(find|find_one|update_one|delete_one|update_many|delete_many|count_documents)$", called(call)
        ):
            continue
        query = call.args[0] if call.args else keyword(call, "filter")
        values = query.values if isinstance(query, ast.Dict) else [query] if query is not None else []
        if any(_raw_json(tree, v) for v in values):
            yield tree.finding(
                call,
                "medium",
                "security",
                "nosql-injection",
                "What JSON holds may be an operator such as {'$ne': null}; make it a text first.",
            )


def _raw_json(tree: PythonTree, node: ast.expr) -> bool:
    """A value of a request's JSON, itself or through a name; not one that a call has converted."""
    if isinstance(node, ast.Name):
        values = tree.assigned.get((tree.scope(node), node.id), [])
        return any(not isinstance(v, ast.Name) and _raw_json(tree, v) for v in values)
    text = dotted(node)
    return bool(re.search(r"(^|\.)request\.(json|get_json)", text)) and "request" in sources(
        tree, node, tree.scope(node)
    )
