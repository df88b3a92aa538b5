"""Secrets: files that are never read, by name, and values in text, replaced by `[REDACTED:rule]`. Pure and fast.

A rule's pattern is tried only where one of its anchors (lower-case literals) occurs, so that ordinary text costs a few
substring searches.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from repopilot.code.languages import PATHS_CACHED

_GLOBS = (
    ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx id_rsa* id_dsa* id_ecdsa* id_ed25519* "
    ".npmrc .pypirc .netrc _netrc .git-credentials credentials credentials.* .htpasswd *.tfstate *.tfstate.* "
    "secrets.json secrets.y*ml secrets.toml secrets.ini secrets.env secrets.properties .dockercfg *.ovpn *.ppk *.gpg "
    ".pgpass .my.cnf service-account*.json *.mobileprovision"
)
_NAMES = re.compile("|".join(fnmatch.translate(glob) for glob in _GLOBS.split()), re.IGNORECASE)
_HARMLESS_NAMES = re.compile(
    r"(\.env|\.envrc)\.(example|sample|template|dist|defaults?|tmpl)$|\.pub$|"
    r"^credentials\.(py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|cs|c|cpp|h|md|rst|html|css|scala|swift)$",
    re.IGNORECASE,
)
_FOLDERS = frozenset((".aws", ".ssh", ".kube", ".gnupg", ".azure", ".gcloud"))


@lru_cache(maxsize=PATHS_CACHED)
def secret_name(path: str) -> bool:
    """Whether a file must not be read, judged by its path alone."""
    *folders, name = path.split("/")
    if _FOLDERS.intersection(folders) or path.endswith((".docker/config.json", ".config/gh/hosts.yml")):
        return True
    return bool(_NAMES.match(name)) and not _HARMLESS_NAMES.search(name)


@dataclass(frozen=True, slots=True)
class _Rule:
    """`pattern` is matched from where an anchor begins; its group 1 (or all) is the secret, if `accept` agrees."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool]


_PLACEHOLDER = re.compile(
    r"[<>{}$%]|example|sample|change.?me|your[-_ ]|placeholder|dummy|redacted|xxx|\*\*\*|\.\.\.|"
    r"^(none|null|true|false|test\w*|pass|guest|user|pw|password\w*|secret\w*|token\w*|todo|n/a|default|foo\w*|bar\w*|value|"
    r"string|str|undefined|empty)$",
    re.IGNORECASE,
)
_WORD_LIKE = re.compile(
    r"[a-z]+([-_. :/][a-z]+)*[.:!?]?|[A-Z]+([-_.][A-Z]+)*|[a-z]+([A-Z][a-z]+)+|([A-Z][a-z]+)+|"
    r"[A-Z][a-z]*(-[A-Z][a-z]*)+|https?://.*"
)


def _entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _looks_random(value: str) -> bool:
    """Whether a value looks random, not like words, a path, a version or a placeholder."""
    if _PLACEHOLDER.search(value) or _WORD_LIKE.fullmatch(value):
        return False
    kinds = sum(bool(re.search(p, value)) for p in ("[a-z]", "[A-Z]", "[0-9]"))
    return kinds >= 2 and _entropy(value) >= 3.0


def _is_password(value: str) -> bool:
    """Whether a literal was typed as a password: not a placeholder, not a plain word or a sentence."""
    if _PLACEHOLDER.search(value) or _WORD_LIKE.fullmatch(value) or re.match(r"[.~]{0,2}/[\w.-]+/", value):
        return False
    return bool(re.search(r"[0-9]|[^\w]", value)) and len(set(value)) >= 5


def _is_url_password(value: str) -> bool:
    return not _PLACEHOLDER.search(value) and not value.isdigit()


def _rule(name: str, anchors: str, pattern: str, accept: Callable[[str], bool] = lambda _: True) -> _Rule:
    return _Rule(name, tuple(anchors.split(" ")), re.compile(pattern), accept)


_START = r"(?<![A-Za-z0-9])"
_VALUE = r"""\w{0,20}["']?\]?\s*(?::=|=>|[:=])\s*[rbuf@$]?["'`]([^"'`\s]{%s})["'`]"""
_RULES = (
    _rule(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY[A-Z ]{0,20}-----"
        r"(?s:.{0,20000}?-----END [A-Z ]{0,40}-----|.{0,20000})",
    ),
    _rule("aws-access-key", "akia asia", _START + r"(?:AKIA|ASIA)[0-9A-Z]{16}\b", lambda v: "EXAMPLE" not in v),
    _rule(
        "aws-secret-key",
        "aws",
        r"(?i)aws.{0,24}?(?:secret|sk).{0,24}?[=:]\s*[\"']?([A-Za-z0-9/+]{40})\b",
        _looks_random,
    ),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _START + r"gh[pousr]_[A-Za-z0-9]{30,255}\b"),
    _rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,255}\b"),
    _rule("gitlab-token", "glpat- gldt- glrt-", _START + r"gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,400}"),
    _rule("slack-token", "xox", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,400}"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,400})"),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/(\d+/[A-Za-z0-9_-]{30,400})"),
    _rule("stripe-key", "sk_live_ rk_live_ sk_test_", _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,400}\b"),
    _rule("stripe-key", "whsec_", _START + r"whsec_[A-Za-z0-9]{24,400}\b"),
    _rule("google-api-key", "aiza", _START + r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _rule("google-oauth", "gocspx- ya29.", _START + r"(?:GOCSPX-[A-Za-z0-9_-]{20,400}|ya29\.[A-Za-z0-9_-]{30,400})"),
    _rule(
        "openai-key",
        "sk-",
        r"(?<![A-Za-z0-9-])sk-(?:proj-|svcacct-|ant-[a-z0-9]+-|or-v1-)?[\w-]{32,400}",
        _looks_random,
    ),
    _rule("huggingface-token", "hf_", _START + r"hf_[A-Za-z0-9]{30,400}\b"),
    _rule("npm-token", "npm_", _START + r"npm_[A-Za-z0-9]{36}\b"),
    _rule("npm-token", "_authtoken", r"_authToken\s*=\s*([A-Za-z0-9_-]{20,400})"),
    _rule("pypi-token", "pypi-", _START + r"pypi-[A-Za-z0-9_-]{50,400}"),
    _rule("sendgrid-key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _rule("twilio-key", "twilio", r"(?i)twilio[^\n]{0,60}?\b((?:SK|AC)?[0-9a-f]{32})\b"),
    _rule("mailgun-key", "key-", _START + r"key-[0-9a-f]{32}\b"),
    _rule("telegram-token", ":aa", r"(?<=\d{8}):AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", _START + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _START + r"do[opr]_v1_[a-f0-9]{64}\b"),
    _rule("vault-token", "hvs. hvb.", _START + r"hv[sb]\.[A-Za-z0-9_-]{24,400}"),
    _rule("azure-key", "accountkey= sharedaccesskey=", r"(?i)\w+key=([A-Za-z0-9+/]{40,88}={0,2})"),
    _rule("jwt", "eyj", _START + r"eyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{10,400}"),
    _rule(
        "url-password",
        "://",
        r"://[^\s:/@\"'`<>{}$]{1,64}:([^\s/@\"'`<>{}$\]]{3,128})@[A-Za-z0-9.\[-]",
        _is_url_password,
    ),
    _rule("bearer", "bearer", r"(?i)bearer\s+([A-Za-z0-9+/_.=-]{20,400})", _looks_random),
    _rule("basic-authorization", "basic", r"(?i)basic\s+([A-Za-z0-9+/]{16,400}={0,2})(?![\w/+])", _looks_random),
    _rule("password", "passw pwd passphrase", r"(?i)(?:passw(?:or)?d|pwd|passphrase)" + _VALUE % "6,128", _is_password),
    _rule("secret", "secret token", r"(?i)(?:secret|token)" + _VALUE % "12,256", _looks_random),
    _rule(
        "api-key",
        "api_key apikey api-key access_key accesskey auth_key private_key encryption_key client_key",
        r"(?i)(?:api|access|auth|private|encryption|client)[_-]?key" + _VALUE % "12,256",
        _looks_random,
    ),
    _rule(
        "env-secret",
        "secret= token= password= passwd= api_key= apikey= access_key=",
        r"(?:SECRET|TOKEN|PASSW(?:OR)?D|API_?KEY|ACCESS_KEY)=([^\s\"'`;&|(),]{12,256})\s*(?:\n|\Z)",
        _looks_random,
    ),
)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace every secret in `text` by `[REDACTED:rule]`.

    Returns:
        The text, with its line breaks unchanged, and the names of the rules that applied, sorted.
    """
    spans = sorted(_spans(text), key=lambda span: span[0])  # stable: the earlier rule names a secret
    if not spans:
        return text, ()
    pieces: list[str] = []
    applied: set[str] = set()
    at = 0
    for start, end, name in spans:
        if start < at:
            continue
        lines = "\n" * text.count("\n", start, end)  # line numbers must stay true
        pieces += [text[at:start], f"[REDACTED:{name}]{lines}"]
        applied.add(name)
        at = end
    return "".join([*pieces, text[at:]]), tuple(sorted(applied))


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    lower = text.lower()
    if len(lower) != len(text):  # some letters grow when lowered; positions must not shift
        lower = "".join(c.lower() if c.isascii() else c for c in text)
    for rule in _RULES:
        for anchor in rule.anchors:
            at = lower.find(anchor)
            while at >= 0:
                after = at + 1
                match = rule.pattern.match(text, at)
                if match and rule.accept(secret := match[match.lastindex or 0]) and not secret.startswith("[REDACTED:"):
                    yield *match.span(match.lastindex or 0), rule.name
                    after = match.end()
                at = lower.find(anchor, after)
