"""Secrets: files never read, by name, and values inside text, replaced by `[REDACTED:rule]`. Pure and fast.

A rule is looked at only where one of its key words occurs, so that ordinary text costs a few substring searches.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

_NAMES = re.compile(
    "|".join(
        fnmatch.translate(glob)
        for glob in (
            ".env",
            ".env.*",
            "*.env",
            ".envrc",
            "*.pem",
            "*.key",
            "*.p12",
            "*.pfx",
            "*.jks",
            "*.keystore",
            "*.kdbx",
            "id_rsa*",
            "id_dsa*",
            "id_ecdsa*",
            "id_ed25519*",
            ".npmrc",
            ".pypirc",
            ".netrc",
            "_netrc",
            ".git-credentials",
            "credentials",
            "credentials.*",
            ".htpasswd",
            "*.tfstate",
            "*.tfstate.*",
            "secrets.json",
            "secrets.y*ml",
            "secrets.toml",
            "secrets.ini",
            "secrets.env",
            "secrets.properties",
            ".dockercfg",
            "*.ovpn",
            "*.ppk",
            "*.gpg",
            ".pgpass",
            ".my.cnf",
            "service-account*.json",
            "*.mobileprovision",
        )  # fmt: skip
    ),
    re.IGNORECASE,
)
_HARMLESS_NAMES = re.compile(r"(\.env|\.envrc)\.(example|sample|template|dist|defaults?|tmpl)$|\.pub$|"
                             r"^credentials\.(py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|cs|c|cpp|h|md|rst|html|css|scala|swift)$",
                             re.IGNORECASE)  # fmt: skip
_FOLDERS = frozenset((".aws", ".ssh", ".kube", ".gnupg", ".azure", ".gcloud"))


def secret_name(path: str) -> bool:
    """Whether a file must not be read, judged by its path alone."""
    *folders, name = path.split("/")
    if _FOLDERS.intersection(folders) or path.endswith((".docker/config.json", ".config/gh/hosts.yml")):
        return True
    return bool(_NAMES.match(name)) and not _HARMLESS_NAMES.search(name)


@dataclass(frozen=True, slots=True)
class _Rule:
    """`words` are lower-case literals, one of which every match contains; group 1 (or all) of `pattern` is secret."""

    name: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool] = lambda _: True


_PLACEHOLDER = re.compile(
    r"[<>{}$%]|example|sample|change.?me|your[-_ ]|placeholder|dummy|redacted|xxx|\*\*\*|\.\.\.|^(none|null|true|false|test\w*|"
    r"password\w*|secret\w*|token\w*|todo|n/a|default|foo\w*|bar\w*|value|string|str|undefined|empty)$", re.IGNORECASE)  # fmt: skip
_WORDY = re.compile(r"[a-z]+([-_. :/][a-z]+)*[.:!?]?|[A-Z]+([-_.][A-Z]+)*|[a-z]+([A-Z][a-z]+)+|([A-Z][a-z]+)+")


def _entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def _random(value: str) -> bool:
    """Looks like chance rather than like words, a path, a version or a placeholder."""
    if _PLACEHOLDER.search(value) or _WORDY.fullmatch(value):
        return False
    kinds = sum(bool(re.search(p, value)) for p in ("[a-z]", "[A-Z]", "[0-9]"))
    return kinds >= 2 and _entropy(value) >= 3.0


def _password(value: str) -> bool:
    """A literal someone typed as a password: not a placeholder, not a plain word or a sentence."""
    if _PLACEHOLDER.search(value) or " " in value or _WORDY.fullmatch(value):
        return False
    return bool(re.search(r"[0-9]|[^\w]", value)) and len(set(value)) >= 5


def _rule(name: str, words: str, pattern: str, accept: Callable[[str], bool] | None = None, flags: int = 0) -> _Rule:
    return _Rule(name, tuple(words.split()), re.compile(pattern, flags), accept or (lambda _: True))


_ASSIGN = r"""["']?\s*(?::=|=>|[:=])\s*[rbuf@$]?["'`]([^"'`\s]{%s})["'`]"""
_RULES = (
    _rule("private-key", "-----begin", r"-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"),
    _rule("aws-access-key", "akia asia", r"\b((?:AKIA|ASIA)[0-9A-Z]{16})\b", lambda v: "EXAMPLE" not in v),
    _rule("aws-secret-key", "aws", r"(?i)aws.{0,24}?(?:secret|sk).{0,24}?[=:]\s*[\"']?([A-Za-z0-9/+]{40})\b", _random),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b((?:gh[pousr]_[A-Za-z0-9]{30,255})|github_pat_[A-Za-z0-9_]{40,255})\b"),
    _rule("gitlab-token", "glpat- gldt- glrt- glsoat-", r"\b((?:glpat|gldt|glrt|glsoat)-[A-Za-z0-9_-]{20,})"),
    _rule("slack-token", "xox", r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,})"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})"),
    _rule("discord-webhook", "api/webhooks/", r"discord(?:app)?\.com/api/webhooks/(\d+/[A-Za-z0-9_-]{30,})"),
    _rule("stripe-key", "sk_live_ rk_live_ sk_test_ whsec_", r"\b((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})\b"),
    _rule("google-api-key", "aiza", r"\b(AIza[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])"),
    _rule("google-oauth", "gocspx- ya29.", r"\b(GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{30,})"),
    _rule("openai-key", "sk-", r"\b(sk-(?:proj-|svcacct-|ant-[a-z0-9]+-|or-v1-)?[A-Za-z0-9_-]{32,})", _random),
    _rule("huggingface-token", "hf_", r"\b(hf_[A-Za-z0-9]{30,})\b"),
    _rule("npm-token", "npm_ _authtoken", r"\b(npm_[A-Za-z0-9]{36})\b|_authToken\s*=\s*([A-Za-z0-9_-]{20,})"),
    _rule("pypi-token", "pypi-", r"\b(pypi-[A-Za-z0-9_-]{50,})"),
    _rule("sendgrid-key", "sg.", r"\b(SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64})"),
    _rule("twilio-key", "twilio", r"(?i)twilio[^\n]{0,60}?\b((?:SK|AC)?[0-9a-f]{32})\b"),
    _rule("mailgun-key", "key-", r"\b(key-[0-9a-f]{32})\b"),
    _rule("telegram-token", ":aa", r"\b(\d{8,10}:AA[A-Za-z0-9_-]{32,34})(?![A-Za-z0-9_-])"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"\b(do[opr]_v1_[a-f0-9]{64})\b"),
    _rule("vault-token", "hvs. hvb.", r"\b(hv[sb]\.[A-Za-z0-9_-]{24,})"),
    _rule("azure-key", "accountkey= sharedaccesskey=", r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})"),
    _rule("jwt", "eyj", r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    _rule("url-password", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'`<>{}$]{1,64}:([^\s/@\"'`<>{}$]{3,})@[A-Za-z0-9.\[-]",
          lambda v: not _PLACEHOLDER.search(v) and not v.isdigit()),
    _rule("authorization", "bearer basic", r"(?i)authorization[\"']?\s*[:=,]\s*[\"']?(?:bearer|basic)\s+([A-Za-z0-9+/_.=-]{16,})", _random),
    _rule("password", "passw pwd passphrase", r"(?i)(?:password|passwd|passphrase|\bpwd|_pwd)" + _ASSIGN % "6,128", _password),
    _rule("secret", "secret token api_key apikey api-key access_key auth_key private_key encryption_key client_key",
          r"(?i)(?:secret(?:_?key)?|token|api[_-]?key|access_?key|auth_?key|private_?key|encryption_?key|client_?key)" + _ASSIGN % "12,256", _random),
    _rule("env-secret", "secret= token= password= passwd= api_key= apikey= access_key=",
          r"(?mi)^\s*(?:export\s+|ENV\s+)?[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY)=([^\s\"'`;&|()]{12,256})\s*$", _random),
)  # fmt: skip


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with every secret replaced by `[REDACTED:rule]`, line breaks kept, and the rules that applied, sorted."""
    lower = text.lower()
    applied: set[str] = set()
    for rule in _RULES:
        if not any(word in lower for word in rule.words):
            continue
        changed = rule.pattern.sub(lambda m, rule=rule: _replace(m, rule), text)
        if changed != text:
            applied.add(rule.name)
            text = changed
            lower = text.lower()
    return text, tuple(sorted(applied))


def _replace(match: re.Match[str], rule: _Rule) -> str:
    """The match with its secret group replaced; a secret over several lines keeps its number of lines."""
    group = match.lastindex or 0
    secret = match.group(group)
    if secret.startswith("[REDACTED:") or not rule.accept(secret):
        return match.group()
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    whole = match.group()
    lines = "\n" * secret.count("\n")
    return f"{whole[:start]}[REDACTED:{rule.name}]{lines}{whole[end:]}"
