"""Taint analysis: whether values of a Python function come from outside, from the code itself, or from outside but
checked.

It is local to one function, so that a reader can verify a finding there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import COMPREHENSIONS, PythonTree, called, dotted, names_in, text_of

_OUTSIDE = re.compile(
    r"(^|\.)request\.(args|form|json|values|files|GET|POST|data|query_params|cookies|headers|params|body|get_json|"
    r"path_params|match_info|query|FILES|COOKIES|META|POST|url|referrer|rel_url)\b|^input$|^sys\.argv"
)
_CLEANED = re.compile(
    r"(^|[._])(secure_filename|escape\w*|quote\w*|sanitize\w*|clean\w*|validate\w*|basename|int|float|bool|len|UUID|"
    r"uuid\.UUID|safe_\w+|isoformat|Identifier|slugify|hexdigest)$|(_safe|_escaped)$"
)
_LOOKUPS = frozenset({"get", "pop", "setdefault", "index", "count"})
_GUARDS = re.compile(
    r"(^|[._])(startswith|endswith|match|fullmatch|search|isalnum|isdigit|isidentifier|is_relative_to|commonpath|"
    r"commonprefix|realpath|resolve|urlparse|urlsplit|isdecimal)$|safe|allow|valid|check|verify|permitted|trusted"
)
# Functions whose result contains their arguments; the results of other calls are unknown.
_PASSES = re.compile(
    r"(^|\.)(str|bytes|list|tuple|set|dict|join|format|format_map|replace|urljoin|unquote\w*|b64decode|urlsafe_b64decode|"
    r"loads|Path|PurePath|joinpath|decode|encode|concat|text|Template|expanduser|abspath|normpath|copy|reversed|sorted|"
    r"next|iter|or_|dumps|BytesIO|StringIO|strip|lower|build_url|urlunparse|fromhex|unhexlify)$"
)
_PURE = frozenset(
    {"strip", "rstrip", "lstrip", "lower", "upper", "removesuffix", "removeprefix", "replace", "splitlines", "title"}
)
_TABLE = re.compile(r"(__tablename__|__table__|db_table|_meta\.\w+|\.[A-Z][A-Z0-9_]+)$")


def sources(tree: PythonTree, node: ast.AST, scope: ast.AST, depth: int = 0) -> set[str]:
    """The places outside of the program that the value of an expression may come from.

    Args:
        tree: the file.
        node: the expression.
        scope: the function or module whose assignments are followed, up to three in a row.
        depth: how many have been followed.

    Returns:
        Among "request", "input" and "sys.argv". A value looked up under a key from outside is not itself from outside.
    """
    if not tree.mentions_outside:
        return set()
    if isinstance(node, ast.Call) and (_CLEANED.search(called(node)) or _typed(node)):
        return set()
    if isinstance(node, (ast.Call, ast.Attribute, ast.Subscript, ast.Name)):
        name = dotted(node)
        if found := _OUTSIDE.search(name):
            return {"input" if name == "input" else "sys.argv" if "argv" in found[0] else "request"}
    if isinstance(node, ast.Name) and depth < 3:
        values = [*tree.assigned.get((scope, node.id), []), *_unpacked(tree, scope, node.id)]
        return {s for value in values for s in sources(tree, value, scope, depth + 1)}
    return {s for child in _inputs(node) for s in sources(tree, child, scope, depth)}


def _typed(node: ast.Call) -> bool:
    """`request.args.get("n", type=int)`."""
    return any(k.arg == "type" and dotted(k.value) in ("int", "float", "bool") for k in node.keywords)


def _inputs(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression whose values are in its value."""
    if isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Compare):
        return
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKUPS:
        yield node.func.value
        yield from node.args[1:]
    elif isinstance(node, ast.Call) and not _PASSES.search(called(node)):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
    else:
        yield from ast.iter_child_nodes(node)


def _unpacked(tree: PythonTree, scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """What loops assign to a name; the collection stands for its items."""
    for loop in tree.of(ast.For, ast.AsyncFor):
        if tree.scope(loop) is scope and name in names_in(loop.target):
            yield loop.iter


def checked(tree: PythonTree, call: ast.Call, arguments: list[ast.expr]) -> bool:
    """Whether a function may validate the arguments of a call.

    Args:
        tree: the file.
        call: the call in that function.
        arguments: those of its arguments that matter.

    Returns:
        True if a condition tests their values against a list, by a prefix, by a pattern, or by a function whose name
        suggests it. A condition may also repeat an argument, as in
        `if is_safe(request.args["next"]): redirect(request.args["next"])`.
    """
    repeated = {ast.dump(a) for a in arguments if not isinstance(a, (ast.Constant, ast.Name))}
    scope = tree.scope(call)
    names = {n for a in arguments for n in names_in(a)} - {"request", "self", "os"}
    names |= {n for name in names for v in tree.assigned.get((scope, name), []) for n in names_in(v)} - {
        "request",
        "os",
    }
    names |= {
        target
        for (where, target), values in tree.assigned.items()
        if where is scope and any(names_in(v) & names for v in values)
    }
    for node in tree.of(ast.If, ast.IfExp, ast.Assert, ast.While):
        if tree.scope(node) is scope and any(_guards(part, names, repeated) for part in ast.walk(node.test)):
            return True
    return any(
        _GUARDS.search(called(c)) and "valid" in called(c) and names & names_in(c)
        for c in tree.of(ast.Call)
        if tree.scope(c) is scope
    )


def _guards(part: ast.AST, names: set[str], repeated: set[str]) -> bool:
    if isinstance(part, ast.Compare):
        plain = isinstance(part.comparators[0], ast.Constant) and part.comparators[0].value in (None, "")
        return not plain and bool(names_in(part) & names)
    if not isinstance(part, ast.Call) or not _GUARDS.search(called(part)):
        return False
    return bool(names_in(part) & names) or any(ast.dump(a) in repeated for a in part.args)


def built(node: ast.AST) -> tuple[str, list[ast.expr]] | None:
    """A string built from parts: its text with `\\0` for each inserted value, and the values; None for other nodes."""
    if isinstance(node, ast.JoinedStr):
        holes = [p.value for p in node.values if isinstance(p, ast.FormattedValue)]
        return "".join(text_of(p) or "\0" for p in node.values), holes
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and (text := text_of(node.left)) is not None:
        holes = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        return re.sub(r"%(\(\w+\))?[\d.]*[a-z]", "\0", text.replace("%%", "%")), holes
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [built(side) or _piece(side) for side in (node.left, node.right)]
        text, holes = "".join(p[0] for p in parts), [h for p in parts for h in p[1]]
        return (text, holes) if text.strip("\0") else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = text_of(node.func.value)
        holes = [*node.args, *(k.value for k in node.keywords)]
        return None if text is None else (re.sub(r"\{[^{}]*\}", "\0", text), holes)
    return None


def _piece(node: ast.expr) -> tuple[str, list[ast.expr]]:
    text = text_of(node)
    return ("\0", [node]) if text is None else (text, [])


def safe(tree: PythonTree, node: ast.expr, scope: ast.AST, depth: int = 0) -> bool:
    """Whether a value provably comes from the code itself.

    Args:
        tree: the file.
        node: the expression.
        scope: the function or module whose assignments are followed, up to four in a row.
        depth: how many have been followed.

    Returns:
        True for a literal, a number, placeholders, a choice among literals, or a name that is checked against a list.
    """
    if isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and _CLEANED.search(called(node))):
        return True
    if isinstance(node, ast.Name):
        return depth < 4 and _safe_name(tree, node, scope, depth)
    if isinstance(node, ast.Attribute):
        return bool(_TABLE.search(dotted(node)))
    if isinstance(node, ast.Subscript):
        return _literals(tree, node.value) or safe(tree, node.value, scope, depth)
    if isinstance(node, ast.IfExp):
        return safe(tree, node.body, scope, depth) and safe(tree, node.orelse, scope, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(safe(tree, side, scope, depth) for side in (node.left, node.right))
    if isinstance(node, (ast.List, ast.Tuple, ast.BinOp, ast.BoolOp, ast.JoinedStr, ast.FormattedValue)):
        return all(
            safe(tree, child, scope, depth) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
        )
    if isinstance(node, COMPREHENSIONS) and not isinstance(node, ast.DictComp):
        return safe(tree, node.elt, scope, depth)
    return isinstance(node, ast.Call) and _safe_call(tree, node, scope, depth)


def _safe_call(tree: PythonTree, node: ast.Call, scope: ast.AST, depth: int) -> bool:
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if method == "join":
        return all(safe(tree, a, scope, depth) for a in node.args)
    if method == "get" and owner is not None and _literals(tree, owner):
        return all(safe(tree, a, scope, depth) for a in node.args[1:])
    return method in _PURE and owner is not None and safe(tree, owner, scope, depth)


def _safe_name(tree: PythonTree, node: ast.Name, scope: ast.AST, depth: int) -> bool:
    if node.id.isupper() or _listed(tree, node, scope):
        return True
    values = tree.assigned.get((scope, node.id)) or list(_unpacked(tree, scope, node.id))
    if not values:  # a loop of a comprehension, or a constant of the module
        loops = [g.iter for g in _generators(tree, node) if node.id in names_in(g.target)]
        values = loops or tree.assigned.get((tree.nodes[0], node.id), [])
    grown = any(
        isinstance(n, ast.AugAssign) and dotted(n.target) == node.id and not safe(tree, n.value, scope, depth + 1)
        for n in tree.of(ast.AugAssign)
        if tree.scope(n) is scope
    )
    return bool(values) and not grown and all(safe(tree, v, scope, depth + 1) for v in values)


def _generators(tree: PythonTree, node: ast.AST) -> Iterator[ast.comprehension]:
    for above in tree.ancestors(node):
        yield from getattr(above, "generators", ())


def _listed(tree: PythonTree, node: ast.Name, scope: ast.AST) -> bool:
    """`if name not in ALLOWED: raise`, `if name in (…): use(name)`, or a pattern that must match all of it."""
    for test in tree.of(ast.If):
        if tree.scope(test) is not scope:
            continue
        leaves = isinstance(test.body[-1], (ast.Raise, ast.Return, ast.Continue))
        inside = any(test is above for above in tree.ancestors(node))
        for part in ast.walk(test.test):
            operator = part.ops[0] if isinstance(part, ast.Compare) and dotted(part.left) == node.id else None
            if (leaves and isinstance(operator, ast.NotIn)) or (inside and isinstance(operator, ast.In)):
                return True
            if (
                isinstance(part, ast.Call)
                and called(part).rpartition(".")[2]
                in (
                    "fullmatch",
                    "isidentifier",
                    "isalnum",
                )
                and node.id in names_in(part)
                and (leaves or inside)
            ):
                return True
    return False


def _literals(tree: PythonTree, node: ast.expr) -> bool:
    """A dict or list whose values are literals, or a constant by its name."""
    if isinstance(node, ast.Name):
        values = tree.values(node, node.id)
        return node.id.isupper() or (bool(values) and all(_literals(tree, v) for v in values))
    if isinstance(node, ast.Dict):
        return all(isinstance(v, ast.Constant) for v in node.values)
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(isinstance(v, ast.Constant) for v in node.elts)
    return isinstance(node, ast.Attribute) and node.attr.isupper()
