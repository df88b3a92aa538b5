"""Protections that Python's web code lacks or switches off: of fields, file names, cookies, tokens, origins, rights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.code.languages import is_test_path
from repopilot.review.rules.python.taint import checked, sources
from repopilot.review.rules.python.tree import (
    PYTHON,
    Function,
    PythonTree,
    at,
    called,
    dotted,
    is_constant,
    keyword,
    on_tree,
    own,
    text_of,
)
from repopilot.review.rules.rule import Match, Rule

_ALLOWLIST = re.compile(r"allow|permit|editable|whitelist|writable|fields|public|schema|valid|safe", re.I)
_STORES = re.compile(r"__dict__|(^|\.)(user|profile|account|db|collection|model|session)\b|_one$")
_BODY = re.compile(r"request\.(json|form|data|get_json|POST)(\.to_dict)?$")
_CREATES = frozenset({"create", "update", "filter_by", "update_one", "get_or_create", "insert"})
_UPLOADED = re.compile(
    r"(^|[._])(up\w*|file\w*|f|info|member|entry|attachment\w*|image|photo|avatar|document|part|zinfo|"
    r"request\.files.*|picture|logo)\.filename$"
)
_SAVES = re.compile(r"(^|\.)(save|open|os\.path\.join|Path|joinpath|write_bytes|storage\.save)$")
_CLEANS = re.compile(r"secure|safe|clean|valid|basename|sanit")
_LOGIN_COOKIE = re.compile(
    r"(^|[_-])(session|sessionid|sid|token|auth|jwt|remember|remember_me|refresh|access)($|[_-])", re.I
)
_RIGHTS = re.compile(
    r"^(is_(admin|staff|superuser|authenticated|owner|authorized)|has_perm\w*|can_\w+|check_permission)$"
)


def _mass_assignment(tree: PythonTree) -> Iterator[Match]:
    """Every field of a request written to an object or a row."""
    for call in tree.of(ast.Call):
        found = _spreads_request(tree, call) or _stores_body(tree, call) or _sets_any_field(tree, call)
        if found and not _lists_fields(tree.function(call)):
            yield at(call)


def _spreads_request(tree: PythonTree, call: ast.Call) -> bool:
    """`User(**request.json)`."""
    spread = [k.value for k in call.keywords if k.arg is None]
    method = called(call).rpartition(".")[2]
    creates = method[:1].isupper() or method in _CREATES
    return creates and any("request" in sources(tree, s, tree.scope(call)) for s in spread)


def _stores_body(tree: PythonTree, call: ast.Call) -> bool:
    """`user.__dict__.update(request.json)`."""
    name = called(call)
    takes = name.rpartition(".")[2] in ("update", "update_one", "insert_one")
    return takes and bool(_STORES.search(name)) and any(_is_body(tree, a) for a in call.args)


def _is_body(tree: PythonTree, node: ast.expr) -> bool:
    """The request's JSON or form itself, also as the value of {"$set": …}."""
    if isinstance(node, ast.Dict):
        return any(_is_body(tree, v) for v in node.values)
    if isinstance(node, ast.Name):
        return any(_is_body(tree, v) for v in tree.assigned.get((tree.scope(node), node.id), []))
    return bool(_BODY.search(dotted(node))) and not isinstance(node, ast.Subscript)


def _sets_any_field(tree: PythonTree, call: ast.Call) -> bool:
    """`setattr(obj, field, …)` in a loop over what the request holds, with no test of the field."""
    loop = tree.loop(call) if called(call) == "setattr" else None
    if loop is None or len(call.args) < 3 or not isinstance(call.args[1], ast.Name):
        return False
    field = call.args[1].id
    tests = (test for test in tree.of(ast.If) if tree.scope(test) is tree.scope(call))
    tested = any(isinstance(n, ast.Name) and n.id == field for test in tests for n in ast.walk(test.test))
    return not tested and "request" in sources(tree, call.args[1], tree.scope(call))


def _lists_fields(function: Function | None) -> bool:
    """Whether a name in the function suggests a list of what is allowed."""
    return function is not None and any(_ALLOWLIST.search(n.id) for n in own(function) if isinstance(n, ast.Name))


def _upload_names(tree: PythonTree) -> Iterator[Match]:
    """Files stored under the name that their sender chose."""
    for call in tree.of(ast.Call):
        if _SAVES.search(called(call)) and any(_is_sent_name(tree, call, a) for a in call.args):
            yield at(call)


def _is_sent_name(tree: PythonTree, call: ast.Call, argument: ast.expr) -> bool:
    parts = list(ast.walk(argument))
    named = any(isinstance(n, ast.Attribute) and _UPLOADED.search(dotted(n)) for n in parts)
    cleaned = any(isinstance(n, ast.Call) and _CLEANS.search(called(n)) for n in parts)
    return named and not cleaned and not checked(tree, call, [argument])


def _open_origins(tree: PythonTree) -> Iterator[Match]:
    """Every website allowed to read answers: with credentials, or by repeating the origin that asks."""
    for call in tree.of(ast.Call):
        origins = keyword(call, "allow_origins") or keyword(call, "origins")
        credentials = (keyword(call, "allow_credentials"), keyword(call, "supports_credentials"))
        if origins is not None and "'*'" in ast.unparse(origins) and any(is_constant(c, True) for c in credentials):
            yield at(call)
    for node in tree.of(ast.Assign):
        target = node.targets[0]
        header = text_of(target.slice) or "" if isinstance(target, ast.Subscript) else ""
        if header.lower() == "access-control-allow-origin" and _repeats_origin(tree, node):
            yield at(node)


def _repeats_origin(tree: PythonTree, node: ast.Assign) -> bool:
    names = [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name) and n.id != "request"]
    outside = "request" in sources(tree, node.value, tree.scope(node))
    return outside and not any(_is_tested(tree, node, name) for name in names)


def _is_tested(tree: PythonTree, node: ast.AST, name: str) -> bool:
    tests = (test.test for test in tree.of(ast.If, ast.IfExp) if tree.scope(test) is tree.scope(node))
    parts = (p for test in tests for p in ast.walk(test) if isinstance(p, (ast.Compare, ast.Call)))
    return any(isinstance(n, ast.Name) and n.id == name for p in parts for n in ast.walk(p))


def _insecure_cookies(tree: PythonTree) -> Iterator[Match]:
    """Cookies without a protection: those that log a user in also where it is only not mentioned."""
    for call in tree.of(ast.Call):
        if called(call).endswith("set_cookie") and (flag := _missing_flag(call)):
            yield at(call, flag=flag)


def _missing_flag(call: ast.Call) -> str:
    key = text_of(call.args[0] if call.args else keyword(call, "key")) or ""
    if "csrf" in key.lower():
        return ""  # a script of the page has to read this one
    for flag in ("secure", "httponly"):
        if is_constant(keyword(call, flag), False):
            return flag
    if any(k.arg is None for k in call.keywords) or not _LOGIN_COOKIE.search(key):
        return ""
    return next((flag for flag in ("httponly", "secure") if keyword(call, flag) is None), "")


def _unverified_tokens(tree: PythonTree) -> Iterator[Match]:
    """JSON web tokens that are read without a check of their signature or age."""
    for call in tree.of(ast.Call):
        name = called(call)
        if name.endswith("get_unverified_claims"):
            yield at(call, "signature")
        elif name.endswith("jwt.decode"):
            yield from _unverified_decoding(call)


def _unverified_decoding(call: ast.Call) -> Iterator[Match]:
    options = keyword(call, "options")
    text = ast.unparse(options) if options else ""
    if is_constant(keyword(call, "verify"), False) or re.search(r"verify_signature'?\"?\]?:? ?=?\s*False", text):
        yield at(call, "signature")
    if re.search(r"verify_exp'?\"?\]?:? ?=?\s*False", text):
        yield at(call, "age", severity="medium")
    if re.search(r"['\"]none['\"]", ast.unparse(call), re.I):
        yield at(call, "unsigned")


def _xml_entities(tree: PythonTree) -> Iterator[Match]:
    """An XML parser that resolves external entities."""
    for call in tree.of(ast.Call):
        if called(call).endswith("XMLParser") and is_constant(keyword(call, "resolve_entities"), True):
            yield at(call)


def _asserted_rights(tree: PythonTree) -> Iterator[Match]:
    """Rights checked by `assert`, outside of tests."""
    for node in () if is_test_path(tree.code.path) else tree.of(ast.Assert):
        parts = (p for p in ast.walk(node.test) if isinstance(p, (ast.Attribute, ast.Name, ast.Call)))
        if any(_RIGHTS.match(dotted(part).rpartition(".")[2]) for part in parts):
            yield at(node)


RULES = (
    Rule(
        "mass-assignment",
        "security",
        "medium",
        PYTHON,
        on_tree(_mass_assignment),
        bad="def f(request):\n    return User(**request.json)\n",
        good="def f(request, user):\n    for k, v in request.json.items():\n        if k in ('name', 'mail'):\n"
        "            setattr(user, k, v)\n",
        cwe=915,
    ),
    Rule(
        "upload-name",
        "security",
        "high",
        PYTHON,
        on_tree(_upload_names),
        bad="import os\ndef f(request):\n    file = request.files['f']\n"
        "    file.save(os.path.join('/up', file.filename))\n",
        good="import os\ndef f(request):\n    file = request.files['f']\n"
        "    file.save(os.path.join('/up', secure_filename(file.filename)))\n",
        cwe=22,
    ),
    Rule(
        "open-cors",
        "security",
        "high",
        PYTHON,
        on_tree(_open_origins),
        bad="def f(request, r):\n    r.headers['Access-Control-Allow-Origin'] = request.headers['Origin']\n",
        good="def f(request, r):\n    origin = request.headers['Origin']\n    if origin in ORIGINS:\n"
        "        r.headers['Access-Control-Allow-Origin'] = origin\n",
        cwe=942,
    ),
    Rule(
        "insecure-cookie",
        "security",
        "medium",
        PYTHON,
        on_tree(_insecure_cookies),
        bad="def f(r, t):\n    r.set_cookie('session', t)\n",
        good="def f(r, t):\n    r.set_cookie('session', t, secure=True, httponly=True)\n"
        "    r.set_cookie('language', 'fr')\n",
        cwe=1004,
    ),
    Rule(
        "unverified-token",
        "security",
        "high",
        PYTHON,
        on_tree(_unverified_tokens),
        bad="import jwt\ndef f(t):\n    return jwt.decode(t, options={'verify_signature': False})\n",
        good="import jwt\ndef f(t, key):\n    return jwt.decode(t, key, algorithms=['HS256'])\n",
        cwe=347,
    ),
    Rule(
        "xml-entities",
        "security",
        "medium",
        PYTHON,
        on_tree(_xml_entities),
        bad="parser = etree.XMLParser(resolve_entities=True)\n",
        good="parser = etree.XMLParser(resolve_entities=False)\n",
        cwe=611,
    ),
    Rule(
        "assert-as-check",
        "security",
        "high",
        PYTHON,
        on_tree(_asserted_rights),
        bad="def f(user):\n    assert user.is_admin\n    return 1\n",
        good="def f(user):\n    assert user.name\n    if not user.is_admin:\n        raise Denied\n",
        cwe=617,
    ),
)
