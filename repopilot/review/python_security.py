"""Security faults in Python that bandit has no rule for: data from a request that ends in a dangerous place, and habits
that give secrets away. Local to one function, so that what is found can be seen on the spot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.python_tree import PythonTree, called, dotted, is_constant, keyword, names_in
from repopilot.types import Finding, Severity

_OUTSIDE = re.compile(
    r"(^|\.)request\.(args|form|json|values|files|GET|POST|data|query_params|cookies|headers|params|body|get_json|"
    r"path_params|match_info|query)\b|^input$|^sys\.argv"
)
_CLEANED = re.compile(
    r"(secure_filename|escape|quote|sanitize|clean|validate|basename|int|float|bool|len|UUID|safe_join)$"
)
_SECRET = re.compile(
    r"(password|passwd|secret|signature|hmac|digest|api_?key|csrf_?token|auth_?token|access_?token|private_key)$", re.I
)
_EXPECTED = re.compile(r"expected|stored|valid|correct|actual|provided|supplied|given|hexdigest", re.I)
_SENSITIVE = re.compile(r"token|secret|passw|api_?key|otp|salt|nonce|session_?id|csrf|reset_?code", re.I)
_RIGHTS = re.compile(
    r"^(is_(admin|staff|superuser|authenticated|owner|authorized)|has_perm\w*|can_\w+|check_permission)$"
)

# sink → (rule, severity, what may happen)
_SINKS: tuple[tuple[re.Pattern[str], str, Severity, str], ...] = (
    (re.compile(r"^(open|io\.open|os\.(remove|unlink|rename|rmdir|listdir|makedirs)|shutil\.\w+|send_file|FileResponse|"
                r"(pathlib\.)?Path|os\.path\.join|codecs\.open)$"),
     "path-traversal", "high", "A path from outside reaches the file system: `../` leads out of the folder."),
    (re.compile(r"^(requests|httpx)\.(get|post|put|delete|head|patch|request)$|urlopen$|^aiohttp\.\w+\.get$"),
     "ssrf", "high", "An address from outside is fetched by the server, internal ones included."),
    (re.compile(r"(^|\.)(redirect|RedirectResponse|HttpResponseRedirect)$"),
     "open-redirect", "medium", "A redirect goes to an address from outside, which helps phishing."),
    (re.compile(r"(^|\.)(render_template_string|Template|from_string)$"),
     "template-injection", "critical", "Text from outside becomes a template and can run code."),
    (re.compile(r"(^|\.)(Markup|mark_safe|HTMLResponse|format_html)$"),
     "cross-site-scripting", "high", "Text from outside is marked as safe HTML."),
    (re.compile(r"^(os\.(system|popen|exec\w+)|subprocess\.\w+|commands\.getoutput)$"),
     "shell-injection", "critical", "Text from outside reaches a command."),
    (re.compile(r"^(eval|exec|__import__|importlib\.import_module|compile)$"),
     "code-injection", "critical", "Text from outside is run as code."),
    (re.compile(r"^(pickle|cPickle|dill|marshal|shelve|joblib|cloudpickle)\.(loads?|open)$"),
     "unsafe-deserialisation", "critical", "Data from outside is unpickled, which can run code."),
    (re.compile(r"(^|\.)(execute|executemany|executescript|raw|text)$"),
     "sql-injection", "critical", "Text from outside is part of an SQL statement; pass it as a parameter."),
    (re.compile(r"^(re\.(compile|match|search|fullmatch|findall|sub))$"),
     "regex-injection", "low", "A pattern from outside can take for ever (ReDoS)."),
)  # fmt: skip


def security(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_flows, _comparisons, _randomness, _switches, _leaks, _asserts, _mass_assignment):
        yield from check(tree)


def _found(tree: PythonTree, node: ast.AST, severity: Severity, rule: str, message: str) -> Finding:
    return tree.code.finding(node.lineno, severity, "security", rule, message, "checks")  # type: ignore[attr-defined]


def _flows(tree: PythonTree) -> Iterator[Finding]:
    """Calls whose argument comes from a request, from the command line or the keyboard, unless it was cleaned."""
    for call in tree.of(ast.Call):
        name = called(call)
        for pattern, rule, severity, message in _SINKS:
            if not pattern.search(name):
                continue
            arguments = [*call.args[:1], *(k.value for k in call.keywords)] if rule == "sql-injection" else call.args
            if any(_tainted(tree, a, tree.scope(call)) for a in arguments):
                own = rule in ("path-traversal", "regex-injection") and _only_typed(tree, call)
                if not own:
                    yield _found(tree, call, severity, rule, message)
            break


def _only_typed(tree: PythonTree, call: ast.Call) -> bool:
    """Paths and patterns that the user of a command line typed are his own business."""
    sources = {s for a in call.args for s in _sources(tree, a, tree.scope(call), 0)}
    return bool(sources) and sources <= {"input", "sys.argv"}


def _tainted(tree: PythonTree, node: ast.expr, scope: ast.AST) -> bool:
    return bool(_sources(tree, node, scope, 0))


def _sources(tree: PythonTree, node: ast.AST, scope: ast.AST, depth: int) -> set[str]:
    """Where from outside the value of an expression may come, through up to three assignments."""
    if isinstance(node, ast.Call) and _CLEANED.search(called(node)):
        return set()
    if isinstance(node, (ast.Call, ast.Attribute, ast.Subscript, ast.Name)):
        name = dotted(node)
        if found := _OUTSIDE.search(name):
            return {"input" if name == "input" else "sys.argv" if "argv" in found[0] else "request"}
    if isinstance(node, ast.Name) and depth < 3:
        values = tree.assigned.get((scope, node.id), [])
        return {s for value in values for s in _sources(tree, value, scope, depth + 1)}
    return {s for child in ast.iter_child_nodes(node) for s in _sources(tree, child, scope, depth)}


def _comparisons(tree: PythonTree) -> Iterator[Finding]:
    """Secrets compared by `==`, which tells by its time how much of them was right."""
    for node in tree.of(ast.Compare):
        sides = [dotted(s).rpartition(".")[2] for s in (node.left, *node.comparators)]
        constant = any(isinstance(s, ast.Constant) for s in (node.left, *node.comparators))
        if len(sides) != 2 or constant or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        secret = [bool(_SECRET.search(s)) or s == "hexdigest" for s in sides]
        both = all(secret) or (any(secret) and any(_EXPECTED.search(s) for s in sides))
        token = all("token" in s.lower() for s in sides) and any(_EXPECTED.search(s) for s in sides)
        if (both or token) and not any("confirm" in s or "len" in s or s in ("password1", "password2") for s in sides):
            yield _found(tree, node, "medium", "timing-attack",
                         "The time of == tells how much of a secret fits; use hmac.compare_digest.")  # fmt: skip


def _randomness(tree: PythonTree) -> Iterator[Finding]:
    for call in tree.of(ast.Call):
        if not re.match(
            r"random\.(choice|choices|randint|randrange|random|sample|getrandbits|shuffle|uniform)$", called(call)
        ):
            continue
        around = [
            a
            for a in tree.ancestors(call)
            if isinstance(a, (ast.Assign, ast.FunctionDef, ast.AsyncFunctionDef, ast.keyword))
        ]
        labels = [a.name for a in around if hasattr(a, "name")] + [
            str(a.arg) for a in around if isinstance(a, ast.keyword)
        ]
        labels += [dotted(t) for a in around if isinstance(a, ast.Assign) for t in a.targets]
        if any(_SENSITIVE.search(label) for label in labels):
            yield _found(tree, call, "high", "weak-random",
                         "A secret value comes from `random`, which can be predicted; use `secrets`.")  # fmt: skip


_OFF = re.compile(r"^(SESSION_COOKIE_SECURE|SESSION_COOKIE_HTTPONLY|CSRF_COOKIE_SECURE|WTF_CSRF_ENABLED|"
                  r"SECURE_SSL_REDIRECT)$")  # fmt: skip


def _switches(tree: PythonTree) -> Iterator[Finding]:
    """Protections that are switched off by an argument, a setting or a decorator."""
    for call in tree.of(ast.Call):
        yield from _switched_off(tree, call)
    for node in tree.of(ast.Assign):
        for target in node.targets:
            name = dotted(target).rpartition(".")[2]
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                name = str(target.slice.value)
            if _OFF.match(name) and is_constant(node.value, False):
                yield _found(tree, node, "medium", "protection-off", f"{name} is switched off.")
            if (name == "check_hostname" and is_constant(node.value, False)) or dotted(node.value) == "ssl.CERT_NONE":
                yield _found(tree, node, "high", "tls-off", "The certificate of the other side is not checked.")
    for function in tree.functions:
        if any(dotted(d).endswith("csrf_exempt") for d in function.decorator_list):
            yield _found(tree, function, "medium", "csrf-off", f"{function.name} gives up the protection against CSRF.")


def _switched_off(tree: PythonTree, call: ast.Call) -> Iterator[Finding]:
    name = called(call)
    if name.endswith("jwt.decode") or name == "jwt.decode":
        options = keyword(call, "options")
        text = ast.unparse(options) if options else ""
        if is_constant(keyword(call, "verify"), False) or re.search(r"verify_signature'?\"?\]?:? ?=?\s*False", text):
            yield _found(tree, call, "high", "unverified-token", "The signature of the token is not verified.")
    if name.endswith("set_cookie"):
        for flag in ("secure", "httponly"):
            if is_constant(keyword(call, flag), False):
                yield _found(tree, call, "medium", "insecure-cookie", f"The cookie is set with {flag}=False.")
    origins = keyword(call, "allow_origins") or keyword(call, "origins")
    if (
        origins is not None
        and "'*'" in ast.unparse(origins)
        and (
            is_constant(keyword(call, "allow_credentials"), True)
            or is_constant(keyword(call, "supports_credentials"), True)
        )
    ):
        yield _found(tree, call, "high", "open-cors", "Any website may call this with the user's credentials.")
    if name.endswith("XMLParser") and is_constant(keyword(call, "resolve_entities"), True):
        yield _found(tree, call, "medium", "xml-entities", "External entities are resolved (XXE).")
    if re.search(r"(^|\.)AES\.new$", name) and any(dotted(a).endswith("MODE_ECB") for a in call.args):
        yield _found(tree, call, "high", "ecb-mode", "ECB shows equal blocks as equal; use GCM.")
    fast = re.match(r"hashlib\.(md5|sha1|sha224|sha256|sha384|sha512)$", name)
    if fast and call.args and any(re.search(r"passw|passphrase", n, re.I) for n in _all_names(call.args[0])):
        yield _found(tree, call, "high", "fast-password-hash",
                     "A password is hashed by a fast function; use scrypt, bcrypt or argon2.")  # fmt: skip


def _all_names(node: ast.AST) -> set[str]:
    return names_in(node) | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _leaks(tree: PythonTree) -> Iterator[Finding]:
    """Secrets in logs, and tracebacks in answers."""
    for call in tree.of(ast.Call):
        name = called(call)
        if not re.search(r"(^|\.)(log|logger|logging|_log|_logger)\.\w+$|^print$", name):
            continue
        values = [n for a in call.args for n in ast.walk(a) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))]
        for value in values:
            last = dotted(value).rpartition(".")[2]
            if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
                last = str(value.slice.value)
            if re.search(
                r"(^|_)(password|passwd|secret|secret_key|api_?key|access_token|auth_token|private_key)$", last, re.I
            ):
                yield _found(tree, call, "medium", "secret-logged", f"The secret `{last}` is written to the log.")
                break
    for node in tree.of(ast.Return):
        if node.value is not None and re.search(r"traceback\.format_exc\(", ast.unparse(node.value)):
            yield _found(tree, node, "medium", "traceback-shown", "The traceback is given to the caller.")


def _asserts(tree: PythonTree) -> Iterator[Finding]:
    if "test" in tree.code.path:
        return
    for node in tree.of(ast.Assert):
        for part in ast.walk(node.test):
            name = dotted(part).rpartition(".")[2] if isinstance(part, (ast.Attribute, ast.Name, ast.Call)) else ""
            if _RIGHTS.match(name):
                yield _found(tree, node, "high", "assert-as-check", "Rights are checked by assert, which -O removes.")
                break


def _mass_assignment(tree: PythonTree) -> Iterator[Finding]:
    for call in tree.of(ast.Call):
        spread = [k.value for k in call.keywords if k.arg is None]
        name = called(call).rpartition(".")[2]
        if any("request" in _sources(tree, s, tree.scope(call), 0) for s in spread) and (
            name[:1].isupper() or name in ("create", "update", "filter_by", "update_one")
        ):
            yield _found(
                tree, call, "medium", "mass-assignment", "Every field of the request is taken over, rights too."
            )
