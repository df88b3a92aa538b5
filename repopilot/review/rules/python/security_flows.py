"""Security faults in Python that bandit has no rule for: data from a request that ends in a dangerous place, and
protections that are switched off."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.taint import checked, sources
from repopilot.review.rules.python.tree import PythonTree, called, dotted, is_constant, keyword, names_in, text_of
from repopilot.types import Finding, Severity

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
    (re.compile(r"^(re\.(compile|match|search|fullmatch|findall|sub|split|finditer))$"),
     "regex-injection", "low", "A pattern from outside can take for ever (ReDoS)."),
)  # fmt: skip
_NAMED = frozenset({"url", "location", "redirect_to", "pattern", "source", "sql", "statement", "query"})
_CHECKABLE = frozenset({"path-traversal", "ssrf", "open-redirect", "code-injection", "shell-injection"})
_FIRST_ONLY = frozenset({"sql-injection", "regex-injection", "ssrf", "open-redirect", "template-injection"})


def security(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_flows, _switches, _asserts):
        yield from check(tree)


def _flows(tree: PythonTree) -> Iterator[Finding]:
    """Calls whose argument comes from a request, from the command line or the keyboard, unless it was cleaned or
    held against what is allowed."""
    for call in tree.of(ast.Call):
        name = tree.called(call)
        for pattern, rule, severity, message in _SINKS:
            if not pattern.search(name):
                continue
            first = rule in _FIRST_ONLY
            arguments = [*call.args[:1], *(k.value for k in call.keywords if k.arg in _NAMED)] if first else call.args
            tainted = [a for a in arguments if sources(tree, a, tree.scope(call))]
            own = rule in ("path-traversal", "regex-injection", "ssrf") and _only_typed(tree, call)
            may_pass = rule in _CHECKABLE and checked(tree, call, tainted)
            if tainted and not own and not may_pass:
                yield tree.finding(call, severity, "security", rule, message)
            break


def _only_typed(tree: PythonTree, call: ast.Call) -> bool:
    """Paths, patterns and addresses that the user of a command line typed are his own business."""
    found = {s for a in call.args for s in sources(tree, a, tree.scope(call))}
    return bool(found) and found <= {"input", "sys.argv"}


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
                yield tree.finding(node, "medium", "security", "protection-off", f"{name} is switched off.")
            if (name == "check_hostname" and is_constant(node.value, False)) or dotted(node.value) == "ssl.CERT_NONE":
                yield tree.finding(
                    node, "high", "security", "tls-off", "The certificate of the other side is not checked."
                )
    for function in tree.functions:
        if any(dotted(d).endswith("csrf_exempt") for d in function.decorator_list):
            yield tree.finding(
                function, "medium", "security", "csrf-off", f"{function.name} gives up the protection against CSRF."
            )


_LOGIN_COOKIE = re.compile(
    r"(^|[_-])(session|sessionid|sid|token|auth|jwt|remember|remember_me|refresh|access)($|[_-])", re.I
)


def _switched_off(tree: PythonTree, call: ast.Call) -> Iterator[Finding]:
    name = called(call)
    if name.endswith("jwt.decode") or name == "jwt.decode":
        options = keyword(call, "options")
        text = ast.unparse(options) if options else ""
        if is_constant(keyword(call, "verify"), False) or re.search(r"verify_signature'?\"?\]?:? ?=?\s*False", text):
            yield tree.finding(
                call, "high", "security", "unverified-token", "The signature of the token is not verified."
            )
        if re.search(r"verify_exp'?\"?\]?:? ?=?\s*False", text):
            yield tree.finding(call, "medium", "security", "unverified-token", "Expired tokens are accepted.")
        if re.search(r"['\"]none['\"]", ast.unparse(call), re.I):
            yield tree.finding(call, "high", "security", "unverified-token", "Unsigned tokens are accepted.")
    if name.endswith("get_unverified_claims"):
        yield tree.finding(call, "high", "security", "unverified-token", "The signature of the token is not verified.")
    if name.endswith("set_cookie") and (flag := _open_cookie(call)):
        yield tree.finding(call, "medium", "security", "insecure-cookie", f"The cookie is set without {flag}.")
    origins = keyword(call, "allow_origins") or keyword(call, "origins")
    if (
        origins is not None
        and "'*'" in ast.unparse(origins)
        and (
            is_constant(keyword(call, "allow_credentials"), True)
            or is_constant(keyword(call, "supports_credentials"), True)
        )
    ):
        yield tree.finding(
            call, "high", "security", "open-cors", "Any website may call this with the user's credentials."
        )
    if name.endswith("XMLParser") and is_constant(keyword(call, "resolve_entities"), True):
        yield tree.finding(call, "medium", "security", "xml-entities", "External entities are resolved (XXE).")
    if re.search(r"(^|\.)AES\.new$", name) and any(dotted(a).endswith("MODE_ECB") for a in call.args):
        yield tree.finding(call, "high", "security", "ecb-mode", "ECB shows equal blocks as equal; use GCM.")
    fast = re.match(r"hashlib\.(md5|sha1|sha224|sha256|sha384|sha512)$", name)
    kept = [n for a in tree.ancestors(call) if isinstance(a, ast.Assign) for t in a.targets for n in _all_names(t)]
    given = _all_names(call.args[0]) if call.args else set()
    hashed = [*kept, *(n for n in given if "hash" not in n.lower())]
    if fast and any(re.search(r"passw|passphrase", n, re.I) for n in hashed):
        yield tree.finding(call, "high", "security", "fast-password-hash",
                     "A password is hashed by a fast function; use scrypt, bcrypt or argon2.")  # fmt: skip


def _open_cookie(call: ast.Call) -> str:
    """The protection a cookie is set without; for those that log a user in also when it's only not mentioned."""
    for flag in ("secure", "httponly"):
        if is_constant(keyword(call, flag), False):
            return flag
    key = text_of(call.args[0] if call.args else keyword(call, "key")) or ""
    if any(k.arg is None for k in call.keywords) or not _LOGIN_COOKIE.search(key) or "csrf" in key.lower():
        return ""
    return next((flag for flag in ("httponly", "secure") if keyword(call, flag) is None), "")


def _all_names(node: ast.AST) -> set[str]:
    return names_in(node) | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _asserts(tree: PythonTree) -> Iterator[Finding]:
    if "test" in tree.code.path:
        return
    for node in tree.of(ast.Assert):
        for part in ast.walk(node.test):
            name = dotted(part).rpartition(".")[2] if isinstance(part, (ast.Attribute, ast.Name, ast.Call)) else ""
            if _RIGHTS.match(name):
                yield tree.finding(
                    node, "high", "security", "assert-as-check", "Rights are checked by assert, which -O removes."
                )
                break
