"""Who may do what in Python's web code: objects of other people, fields nobody should set, addresses and names that the
visitor chooses, and patterns that take for ever."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.regexes import catastrophic
from repopilot.review.rules.python.taint import checked, sources
from repopilot.review.rules.python.tree import (
    Function,
    PythonTree,
    called,
    dotted,
    keyword,
    own,
    parameters,
    text_of,
    words_of,
)
from repopilot.types import Finding

_ALLOWLIST = re.compile(r"allow|permit|editable|whitelist|writable|fields|public|schema|valid|safe", re.I)
_ROUTES = re.compile(r"(^|\.)(route|get|post|put|patch|delete|api_view|login_required|require_\w+|permission_required|"
                     r"jwt_required|websocket)$")  # fmt: skip
_FETCH = re.compile(
    r"(^|\.)(objects\.get|query\.get|query\.get_or_404|get_object_or_404|get_or_404|find_one|find_by_id|get_by_id|"
    r"session\.get|db\.get|query\.filter_by\.first\w*|query\.filter\.first\w*|objects\.filter\.first|"
    r"session\.query\.get|session\.query\.filter\w*\.(first|one)\w*)$|^[A-Z]\w+\.(get|get_by_id|find)$"
)
_RIGHTS = frozenset(
    "owner owned author user users current account tenant organisation organization org team role roles admin staff "
    "permission permissions perm perms can may authorize authorise authorized allowed policy ability member members "
    "check guard scope creator customer principal identity superuser belongs access private visible shared".split()
)
_PRIVATE = frozenset(
    "order invoice document payment message account profile address ticket statement prescription card note "
    "conversation report file upload receipt booking subscription patient record contract letter attachment".split()
)
_INTERNAL = re.compile(r"admin|staff|internal|management|migration|task|command|worker|webhook", re.I)
_HOST = re.compile(r"request\.(host|host_url|url_root|base_url|headers\.get|headers|META|META\.get|url\.hostname)\b")
_LINKS = frozenset(
    "reset password verify verification confirm confirmation invite invitation activation activate magic".split()
)
_UPLOADED = re.compile(
    r"(^|[._])(up\w*|file\w*|f|info|member|entry|attachment\w*|image|photo|avatar|document|part|zinfo|"
    r"request\.files.*|picture|logo)\.filename$"
)
_DOMAIN = re.compile(r"^(https?://)?@?\.?([\w-]+\.)+(com|org|net|io|dev|edu|gov|co|de|uk|eu|app|local|internal|test)$")
_ADDRESSES = frozenset(
    "url uri host hostname origin referer referrer address email mail domain link netloc site".split()
)
_INFLATES = re.compile(r"^(gzip|zlib|bz2|lzma)\.(decompress|open)$")
_RECEIVED = frozenset("upload uploaded request body payload file attachment".split())


def access(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_others_objects, _mass_assignment, _hosts, _headers, _uploads, _domains, _bombs, _patterns):
        yield from check(tree)


def _others_objects(tree: PythonTree) -> Iterator[Finding]:
    """An object fetched by an id from the request and deleted, changed or given out without a look at whose it is."""
    if _INTERNAL.search(tree.code.path):
        return
    for function in tree.functions:
        if not _is_handler(function) or _INTERNAL.search(function.name) or _looks_at_rights(function):
            continue
        nodes = list(own(function))
        for name, fetch in _fetched(tree, function, nodes):
            if use := _misused(nodes, name, words_of(called(fetch)), function):
                yield tree.finding(
                    use,
                    "medium",
                    "security",
                    "missing-owner-check",
                    f"Anyone can reach this by trying ids: whose `{name}` it is isn't checked.",
                )
                break


def _is_handler(function: Function) -> bool:
    return any(_ROUTES.search(dotted(d)) for d in function.decorator_list) or any(
        a.arg in ("request", "req", "current_user", "user") for a in parameters(function)
    )


def _looks_at_rights(function: Function) -> bool:
    """Any word about rights beyond "somebody is logged in"."""
    text = " ".join(ast.unparse(d) for d in function.decorator_list if not re.search(r"login_required", ast.unparse(d)))
    names = [n.attr for n in own(function) if isinstance(n, ast.Attribute)] + [
        n.id for n in own(function) if isinstance(n, ast.Name)
    ]
    names += [k.arg or "" for n in own(function) if isinstance(n, ast.Call) for k in n.keywords]
    names += [text_of(n) or "" for n in own(function) if isinstance(n, ast.Constant) and len(text_of(n) or "") < 30]
    logged_in = {"is_authenticated", "is_anonymous"}
    asked = sum(n in logged_in for n in names)
    about = [n for n in names if n not in logged_in and not n[:1].isupper() and _RIGHTS & set(words_of(n))]
    for _ in range(asked):  # `request.user.is_authenticated` is one look at a user
        user = next((n for n in about if n in ("user", "current_user")), None)
        if user:
            about.remove(user)
    return bool(about) or bool(_RIGHTS - {"user"} & set(words_of(re.sub(r"['\"][^'\"]*['\"]", "", text))))


def _fetched(tree: PythonTree, function: Function, nodes: list[ast.AST]) -> Iterator[tuple[str, ast.Call]]:
    ids = {a.arg for a in parameters(function) if re.search(r"(^|_)(id|pk|uuid|slug|key|number)$", a.arg)}
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(call, ast.Call) or not _FETCH.search(called(call)):
            continue
        given = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
        inside = any("request" in sources(tree, a, function) for a in (*call.args, *(k.value for k in call.keywords)))
        if given & ids or inside:
            yield node.targets[0].id, call


def _misused(nodes: list[ast.AST], name: str, model: list[str], function: Function) -> ast.AST | None:
    """Where the object is deleted or changed; or given out, if it's of a private kind and a log-in is asked for."""
    for node in nodes:
        if isinstance(node, ast.Call):
            method = called(node)
            if method in (f"{name}.delete", f"{name}.save", f"{name}.update") or (
                method.rpartition(".")[2] in ("delete", "remove", "setattr")
                and any(dotted(a) == name for a in node.args)
            ):
                return node
    asks = any("login_required" in dotted(d) for d in function.decorator_list) or any(
        isinstance(n, ast.Attribute) and n.attr == "is_authenticated" for n in nodes)  # fmt: skip
    if asks and _PRIVATE & set(model):
        return next((n for n in nodes if isinstance(n, ast.Return) and n.value is not None
                     and any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(n.value))), None)  # fmt: skip
    return None


def _mass_assignment(tree: PythonTree) -> Iterator[Finding]:
    message = "Every field of the request is taken over, rights too; name those that may be set."
    for call in tree.of(ast.Call):
        name = called(call)
        last = name.rpartition(".")[2]
        spread = [k.value for k in call.keywords if k.arg is None]
        whole = [a for a in call.args if _whole_body(tree, a)] if last in ("update", "update_one", "insert_one") else []
        taken = any("request" in sources(tree, s, tree.scope(call)) for s in spread) and (
            last[:1].isupper() or last in ("create", "update", "filter_by", "update_one", "get_or_create", "insert")
        )
        stored = bool(whole) and bool(
            re.search(r"__dict__|(^|\.)(user|profile|account|db|collection|model|session)\b|_one$", name)
        )
        found = taken or stored or (name == "setattr" and _sets_any_field(tree, call))
        if found and not _lists_fields(tree.function(call)):
            yield tree.finding(call, "medium", "security", "mass-assignment", message)


def _lists_fields(function: Function | None) -> bool:
    """Some name in the function speaks of what is allowed."""
    return function is not None and any(_ALLOWLIST.search(n.id) for n in own(function) if isinstance(n, ast.Name))


def _whole_body(tree: PythonTree, node: ast.expr) -> bool:
    """The request's JSON or form itself, also as the value of {"$set": …}."""
    if isinstance(node, ast.Dict):
        return any(_whole_body(tree, v) for v in node.values)
    if isinstance(node, ast.Name):
        return any(_whole_body(tree, v) for v in tree.assigned.get((tree.scope(node), node.id), []))
    return bool(re.search(r"request\.(json|form|data|get_json|POST)(\.to_dict)?$", dotted(node))) and not isinstance(
        node, ast.Subscript)  # fmt: skip


def _sets_any_field(tree: PythonTree, call: ast.Call) -> bool:
    """`setattr(obj, field, …)` in a loop over what the request holds, with no test of the field."""
    loop = tree.loop(call)
    if loop is None or len(call.args) < 3 or not isinstance(call.args[1], ast.Name):
        return False
    inside = "request" in sources(tree, call.args[1], tree.scope(call))
    tested = any(call.args[1].id in {n.id for n in ast.walk(test.test) if isinstance(n, ast.Name)}
                 for test in tree.of(ast.If) if tree.scope(test) is tree.scope(call))  # fmt: skip
    return inside and not tested


def _hosts(tree: PythonTree) -> Iterator[Finding]:
    """Links in mails that begin with the host the visitor named."""
    for node in tree.of(ast.Attribute, ast.Subscript, ast.Call):
        function = tree.function(node)
        if function is None or not _HOST.search(dotted(node)) or not _LINKS & set(words_of(function.name)):
            continue
        key = " ".join(text_of(n) or "" for n in ast.walk(node) if isinstance(n, ast.Constant))
        if re.search(r"request\.(headers|META)", dotted(node)) and not re.search(
            r"(?i)\b(x-forwarded-)?host\b|HTTP_HOST", key
        ):
            continue
        if not isinstance(tree.parents.get(node), (ast.Attribute, ast.Call)) or isinstance(node, ast.Call):
            yield tree.finding(
                node,
                "medium",
                "security",
                "host-header",
                "The host comes from the visitor's request; take it from the configuration.",
            )


def _headers(tree: PythonTree) -> Iterator[Finding]:
    """The origin of a request given back as the one that is allowed."""
    for node in tree.of(ast.Assign):
        target = node.targets[0]
        if (
            not isinstance(target, ast.Subscript)
            or (text_of(target.slice) or "").lower() != "access-control-allow-origin"
        ):
            continue
        names = [n for n in ast.walk(node.value) if isinstance(n, ast.Name)]
        if "request" in sources(tree, node.value, tree.scope(node)) and not any(
            _tested(tree, node, n.id) for n in names if n.id != "request"
        ):
            yield tree.finding(node, "high", "security", "open-cors", "Every website is told that it may read this.")


def _tested(tree: PythonTree, node: ast.AST, name: str) -> bool:
    return any(isinstance(p, (ast.Compare, ast.Call)) and name in {n.id for n in ast.walk(p) if isinstance(n, ast.Name)}
               for test in tree.of(ast.If, ast.IfExp) if tree.scope(test) is tree.scope(node)
               for p in ast.walk(test.test))  # fmt: skip


def _uploads(tree: PythonTree) -> Iterator[Finding]:
    """Files stored under the name that the one who sent them chose."""
    for call in tree.of(ast.Call):
        if not re.search(r"(^|\.)(save|open|os\.path\.join|Path|joinpath|write_bytes|storage\.save)$", called(call)):
            continue
        for argument in call.args:
            names = [n for n in ast.walk(argument) if isinstance(n, ast.Attribute) and _UPLOADED.search(dotted(n))]
            wrapped = any(isinstance(n, ast.Call) and re.search(r"secure|safe|clean|valid|basename|sanit", called(n))
                          for n in ast.walk(argument))  # fmt: skip
            if names and not wrapped and not checked(tree, call, [argument]):
                yield tree.finding(call, "high", "security", "upload-name",
                                   "The sender chose this name: `../` in it leads out of the folder.")  # fmt: skip
                break


def _domains(tree: PythonTree) -> Iterator[Finding]:
    """`"@example.com" in address`: the text may stand anywhere in it."""
    for node in tree.of(ast.Compare):
        text = text_of(node.left)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In) and text and _DOMAIN.match(text):
            last = dotted(node.comparators[0]).rpartition(".")[2]
            if (
                _ADDRESSES & set(words_of(last))
                and (last.endswith("address") or not last.endswith("s"))
                and isinstance(node.comparators[0], (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
            ):
                yield tree.finding(node, "medium", "security", "incomplete-check",
                                   f"`{text}` may stand anywhere in it; compare the host or the end.")  # fmt: skip


def _bombs(tree: PythonTree) -> Iterator[Finding]:
    """What was received is unpacked whole, however large it becomes."""
    for call in tree.of(ast.Call):
        if _INFLATES.match(tree.called(call)) and call.args and called(call).endswith("decompress"):
            function = tree.function(call)
            given = {a.arg for a in parameters(function)} if function else set()
            head = dotted(call.args[0]).partition(".")[0]
            if (head in given and _RECEIVED & set(words_of(head))) or "request" in sources(
                tree, call.args[0], tree.scope(call)
            ):
                yield tree.finding(
                    call,
                    "medium",
                    "security",
                    "decompression-bomb",
                    "A small upload can unpack to gigabytes; decompress in pieces, up to a limit.",
                )


def _patterns(tree: PythonTree) -> Iterator[Finding]:
    for call in tree.of(ast.Call):
        if not re.match(r"(re|regex)\.(compile|match|search|fullmatch|findall|sub|split|finditer)$", tree.called(call)):
            continue
        pattern = text_of(call.args[0]) if call.args else text_of(keyword(call, "pattern"))
        if pattern and len(pattern) < 500 and catastrophic(pattern):
            yield tree.finding(call, "medium", "security", "slow-pattern",
                               "Repeats within a repeat: some texts take this pattern for ever (ReDoS).")  # fmt: skip
