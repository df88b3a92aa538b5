"""Which kind of secret the name of a variable, option, field or function promises."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Promise(Enum):
    """What a name says of its value."""

    PASSWORD = "password"
    SECRET = "secret"
    KEY = "api-key"
    AUTH = "basic-authorization"


_PASSWORD = re.compile(
    r"(?:\w*(?:pas?s?w(?:or)?d|psw?r?d|psswr?d|psswo?rd|pswo?rd|passwd|pword|passphrase|passcode|pwd|kennwort|passwort|"
    r"contrasen[ai]|senha)s?|(?:\w{2,8})?psk|(?:\w{2,12})?psw|(?:db|user|admin|root|my|sa|any)?pw|motdepasse|mdp|"
    r"(?:db|user|usr|smtp|root|ssh|my|mysql|pg|ftp|mail|email|admin|redis|require|login|keystore|truststore|store|auth)?pass|"
    r"passe|masterauth)$"
)
_SECRET = re.compile(r"(?:\w*(?:secret|token|credential|cred)s?|sig|pepper)$")
_KEY = re.compile(
    r"(?:\w*(?:api|access|auth|private|priv|encryption|encrypt|client|secret|signing|sign|signature|master|licen[cs]e|app|"
    r"application|account|storage|shared|service|session|cookie|consumer|deploy|deployment|webhook|jwt|hmac|crypto|aes|"
    r"cipher|subscription|function|host|admin|write|server|root|ssh|vault|instrumentation|ingest|integration|partner|"
    r"merchant|security|sas|rsa|fernet|csrf|token|project|publishable|user|bot|live|prod|production|test|sandbox))"
    r"key(?:base)?s?$|(?:github|gitlab|azure|gh|gl|git|ado|devops|personal|jira|npm)pat$"
)
_ALONE = frozenset(("salt", "bearer", "jwt", "hmac", "license", "licence", "appid", "dsn"))
"""Names of values that are drawn at random, as keys are."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NO_SECRET = frozenset(
    "url uri path paths file filename files dir folder name names id ids type types length len size regex regexp "
    "pattern label placeholder field fields param params parameter header prefix suffix expiry expires expire "
    "expired expiration ttl version class algorithm algo alg selector message msg error errors count limit max "
    "min policy policies rule rules validator validators validation strength format generator provider manager "
    "service store ring handler helper factory hint help title description link page form input column columns "
    "attribute attr index usage scope scopes issuer audience endpoint location host port grant kind status state "
    "timeout interval method mode flag enabled required optional missing invalid valid row rows ref arn alias "
    "symbol pos position offset line start end stream iterator list map dict cache bucket lexer parser event "
    "events code codes press down up board word words stroke frame space binding bindings template checker check "
    "hasher hashers encoder match matches pair pairs".split()
)
"""Words that show that a name stands for something about a secret, not for the secret itself."""
_PUBLIC = frozenset(
    "public pub primary foreign sort cache partition lookup dict hash map object composite unique".split()
)


@lru_cache(maxsize=1 << 14)
def promise_of(name: str) -> Promise | None:
    """The kind of secret that a name such as `db.password`, `API_KEY` or `setToken` promises; None where it promises
    none."""
    words = [word.lower() for part in re.split(r"[_.$\-]+", name) for word in _WORDS.findall(part)]
    joined = [
        (words[n - 1] if n and word in ("key", "keys", "word", "words", "phrase", "pass", "pat") else "") + word
        for n, word in enumerate(words)
    ]
    for number in range(len(words) - 1, -1, -1):
        if words[number] in _NO_SECRET:
            return None
        found = _promise_of_word(joined[number], words[number], name)
        if found is not None:
            public = _PUBLIC if found is Promise.KEY and "key" in words[number] else {"public"}
            return None if public.intersection(words[:number]) else found
    return None


def _promise_of_word(joined: str, word: str, name: str) -> Promise | None:
    if _PASSWORD.match(joined) or _PASSWORD.match(word):
        return Promise.PASSWORD
    if _SECRET.match(word):
        return Promise.SECRET
    if word in _ALONE or _KEY.match(joined) or (word == "key" and re.fullmatch(r"[A-Z][A-Z0-9_]{2,40}_KEY", name)):
        return Promise.KEY
    return Promise.AUTH if word in ("auth", "oauth") else None
