"""Secrets in Python code that can be guessed, or found out by timing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.tree import (
    FUNCTIONS,
    PYTHON,
    PythonTree,
    at,
    called,
    dotted,
    on_tree,
    text_of,
    words_of,
)
from repopilot.review.rules.rule import Match, Rule

_RANDOM = re.compile(
    r"^(random|numpy\.random|np\.random)\.(choices?|randint|randrange|random|sample|getrandbits|shuffle|uniform|randbytes)$"
    r"|^uuid\.uuid1$"
)
# Words of names that mean a secret, alone or together.
_SECRET_WORDS = frozenset("token secret password passwd passphrase otp nonce csrf salt pin passcode totp jwt".split())
_SECRET_PAIRS = frozenset(
    "api key|session id|session key|reset code|invite code|secret key|signing key|private key|encryption key|"
    "auth code|access code|access key|verification code|confirmation code|activation code|activation key|"
    "license key|recovery code|recovery codes|backup code|backup codes|voucher code|coupon code|gift code|magic link|"
    "one time|login code|security code|reset key|reset link|invitation code|session token|invite link|referral code|"
    "promo code|client secret|cookie value".split("|")
)
# A `code` is a secret where a function is about one of these.
_SECRET_CONTEXTS = frozenset(
    "invite invitation invitations reset verify verification login signin auth authentication activation activate "
    "confirm confirmation register registration password voucher coupon giftcard gift recovery mfa otp sms twofactor "
    "factor challenge session apikey credential credentials".split()
)
_VALUES = frozenset("code codes key keys digits link id value string chars characters number result alphabet".split())
_CREDENTIAL = re.compile(
    r"(password|passwd|secret|signature|hmac|mac|api_?key|csrf_?token|auth_?token|access_?token|private_key|"
    r"reset_?token|session_?token|webhook_?token|bearer_?token|hub_signature|token_hash|password_hash|otp|pin_?code)$",
    re.I,
)
_EXPECTED = re.compile(
    r"expected|stored|valid|correct|actual|provided|supplied|given|hexdigest|computed|calculated", re.I
)
_CONFIGURED = re.compile(
    r"^(settings|config|current_app\.config|app\.config|os\.environ|os\.getenv|conf|self\.settings|"
    r"self\.config)\b"
)
_REQUEST = re.compile(r"\brequest\.(args|form|json|values|headers|cookies|GET|POST|data|query_params|META|COOKIES)\b")


def _is_secret(name: str) -> bool:
    words = words_of(name)
    pairs = {f"{a} {b}" for a, b in pairwise(words)}
    return bool(_SECRET_WORDS & set(words)) or bool(_SECRET_PAIRS & pairs)


def _names_around(tree: PythonTree, node: ast.AST) -> list[str]:
    """What the value of an expression is called: targets, keywords and keys around it."""
    labels: list[str] = []
    for above in tree.ancestors(node):
        if isinstance(above, FUNCTIONS):
            break
        if isinstance(above, ast.keyword):
            labels.append(above.arg or "")
        elif isinstance(above, ast.Assign):
            labels += [dotted(t).rpartition(".")[2] for t in above.targets]
            labels += [
                str(t.slice.value)
                for t in above.targets
                if isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Constant)
            ]
        elif isinstance(above, ast.AugAssign | ast.AnnAssign):
            labels.append(dotted(above.target).rpartition(".")[2])
    return labels


def _names_a_secret(tree: PythonTree, node: ast.AST) -> bool:
    """The value is a secret by its own name, or by that of the function that makes it."""
    labels = _names_around(tree, node)
    if any(_is_secret(label) for label in labels):
        return True
    function = tree.function(node)
    if function is None:
        return False
    own_words = set(words_of(function.name))
    if _is_secret(function.name) and not own_words & {"tokens", "tokenize", "mask", "count"}:
        return True
    returned = any(isinstance(a, ast.Return) for a in tree.ancestors(node))
    named = any(_VALUES & set(words_of(label)) for label in labels)
    return bool(own_words & _SECRET_CONTEXTS) and (named or returned)


def _weak_random(tree: PythonTree) -> Iterator[Match]:
    for call in tree.of(ast.Call):
        name = tree.called(call)
        owner, _, method = name.rpartition(".")
        constructors = [called(v) for v in tree.values(call, owner) if isinstance(v, ast.Call)] if owner else []
        generator = "random.Random" in constructors and _RANDOM.match(f"random.{method}")
        if (_RANDOM.match(name) or generator) and _names_a_secret(tree, call):
            yield at(call, name=name)


def _predictable_tokens(tree: PythonTree) -> Iterator[Match]:
    """A token computed from the time and values that others know too."""
    for node in tree.of(ast.Assign, ast.Return):
        if node.value is None:
            continue
        targets = [dotted(t) for t in node.targets] if isinstance(node, ast.Assign) else []
        function = tree.function(node)
        named = any(_is_secret(t) for t in targets) or (
            not targets and function is not None and _is_secret(function.name)
        )
        text = ast.unparse(node.value) if named else ""
        timed = re.search(r"\btime\.time(_ns)?\(|\btime\(\)|\bdatetime\.(now|utcnow)\(|\bgetpid\(|\bnow\(\)", text)
        hashed = re.search(
            r"\b(md5|sha1|sha256|sha512|sha224|sha384|blake2b|uuid3|uuid5|b64encode|hash)\(|^str\(|^f['\"]", text
        )
        keyed = re.search(r"secret|urandom|uuid4|hmac|signing|private|random|jwt\.|sign\(|key|encode_token", text, re.I)
        if timed and hashed and not keyed:
            yield at(node)


def _timed_comparisons(tree: PythonTree) -> Iterator[Match]:
    """Secrets compared by `==`, whose duration tells how much of them was right."""
    for node in tree.of(ast.Compare):
        sides = [node.left, *node.comparators]
        if len(sides) != 2 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        constant = any(isinstance(s, (ast.Constant, ast.List, ast.Tuple, ast.Dict)) for s in sides)
        if not constant and _is_timed(tree, sides) and not _is_harmless(tree, node, sides):
            yield at(node)


def _is_timed(tree: PythonTree, sides: list[ast.expr]) -> bool:
    names = [_final_name(s) for s in sides]
    credential = [bool(_CREDENTIAL.search(n)) for n in names]
    outside = [_is_from_request(tree, s) for s in sides]
    configured = [bool(_CONFIGURED.match(dotted(s))) for s in sides]
    mac = [_is_mac(tree, s) for s in sides]
    tokens = all("token" in n.lower() for n in names) and any(_EXPECTED.search(n) for n in names)
    if any(mac) or tokens or all(credential):
        return True
    for one, other in ((0, 1), (1, 0)):
        if credential[one] and (outside[other] or configured[other] or _EXPECTED.search(names[other]) or outside[one]):
            return True
        if outside[one] and "token" in names[other].lower().split("_"):
            return True
    return False


def _is_from_request(tree: PythonTree, node: ast.expr) -> bool:
    """Whether a value is read from a request, here or where the name was assigned."""
    return any(_REQUEST.search(ast.unparse(value)) for value in _written(tree, node))


def _written(tree: PythonTree, node: ast.expr) -> list[ast.expr]:
    """An expression, or the values that its function assigns to it where it is a name."""
    return tree.assigned.get((tree.scope(node), node.id), []) if isinstance(node, ast.Name) else [node]


def _final_name(node: ast.expr) -> str:
    """The telling part of a name: the last attribute, or the key of a lookup."""
    if isinstance(node, ast.Subscript) and (key := text_of(node.slice)):
        return key.replace("-", "_")
    if isinstance(node, ast.Call):
        method = called(node).rpartition(".")[2]
        if method == "get" and node.args and (key := text_of(node.args[0])):
            return key.replace("-", "_")
        return (
            _final_name(node.func.value)
            if method in ("encode", "strip", "hexdigest", "lower") and isinstance(node.func, ast.Attribute)
            else method
        )
    return dotted(node).rpartition(".")[2]


def _is_mac(tree: PythonTree, node: ast.expr) -> bool:
    """Computed by HMAC, here or where the name was assigned."""
    calls = (value for value in _written(tree, node) if isinstance(value, ast.Call))
    return any(re.search(r"\bhmac\.(new|digest)\b", ast.unparse(call)) for call in calls)


def _is_harmless(tree: PythonTree, node: ast.Compare, sides: list[ast.expr]) -> bool:
    """A form's confirmation, a query's column, a file's format: nothing an attacker could time."""
    names = [_final_name(s).lower() for s in sides]
    if any(
        "confirm" in n or "repeat" in n or n in ("password1", "password2", "new_password", "old_password")
        for n in names
    ):
        return True
    formats = [
        n
        for s, n in zip(sides, names, strict=True)
        if isinstance(s, ast.Attribute | ast.Name) and _final_name(s).isupper()
    ]
    if any(not re.search("secret|token|key|password", n) for n in formats):
        return True
    if all(re.search(r"(?i)function|method|protocol|type|func", n) for n in names):
        return True
    above = tree.parents.get(node)
    return isinstance(above, ast.Call) and called(above).rpartition(".")[2] in (
        "filter",
        "where",
        "and_",
        "or_",
        "filter_by",
        "having",
        "join",
        "exclude",
    )


RULES = (
    Rule(
        "weak-random",
        "security",
        "high",
        PYTHON,
        on_tree(_weak_random),
        bad="import random\ndef new_token():\n    return random.randint(1, 9)\n",
        good="import random\ndef pick_color(colors):\n    return random.choice(colors)\n",
        cwe=338,
    ),
    Rule(
        "predictable-token",
        "security",
        "high",
        PYTHON,
        on_tree(_predictable_tokens),
        bad="import hashlib, time\ndef f(u):\n    now = time.time()\n"
        "    u.session_token = hashlib.md5(str(time.time()).encode()).hexdigest()\n",
        good="import secrets\ndef f(u):\n    u.session_token = secrets.token_hex(16)\n",
        cwe=340,
    ),
    Rule(
        "timing-attack",
        "security",
        "medium",
        PYTHON,
        on_tree(_timed_comparisons),
        bad="def f(signature, expected_signature):\n    return signature == expected_signature\n",
        good="def f(password, confirm_password):\n    return password == confirm_password\n",
        cwe=208,
    ),
)
