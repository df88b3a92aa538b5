"""Passwords on command lines where no name stands beside them: `7z a -p…`, `sqlplus me/…@db`, `vault login …`.

The table is by program; options with a telling name (`--password …`) are left to `key_names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from repopilot.redaction.bounded_pattern import compile_bounded
from repopilot.redaction.randomness import is_password, looks_random

_VALUE = (
    r"""(?:"(?P<double>[^"\n]{4,200})"|'(?P<single>[^'\n]{4,200})'|(?P<bare>[^\s"'|;<>()`\\][^\s"'|;<>`\\]{3,200}))"""
)
_ARGS = r"(?:[^\n|;&]|\\\n){0,240}?"
_USER = r"[\w.@\\/-]{1,64}"
_BEFORE_VALUE: dict[str, str] = {
    "7z |7za |7zr |rar |unrar ": rf"{_ARGS}\s-p",
    "zip |unzip ": rf"{_ARGS}\s(?:-P|--password)\s+",
    "keytool |jarsigner ": rf"{_ARGS}\s-(?:src|dest)?(?:store|key)pass\s+",
    "apksigner ": rf"{_ARGS}\s--(?:ks|key)-pass\s+(?:pass:)?",
    "openssl ": (
        r"(?:passwd\s+(?:-\w+\s+)+|"
        rf"{_ARGS}\s-(?:pass|passin|passout|k|password)\s+[\"']?(?:pass:)?(?!pass:|file:|env:|stdin))"
    ),
    "signtool ": rf"{_ARGS}\s/p\s+",
    "security ": rf"(?:import{_ARGS}\s-P\s+|(?:create-keychain|unlock-keychain){_ARGS}\s-p\s+|set-key{_ARGS}\s-k\s+)",
    "smbclient |rpcclient |smbget |winexe ": rf"{_ARGS}\s-U\s*[\"']?[^\s%\"']{{1,64}}%",
    "snmpget|snmpwalk|snmpbulk|snmpset|snmptrap": rf"{_ARGS}\s-[cAX]\s+",
    "vault |cargo ": r"login\s+(?:-method=\w+\s+)?",
    "sqlcmd |bcp |osql |tsql |mosquitto_|ipmitool ": rf"{_ARGS}\s-P\s*",
    "cqlsh |plink |pscp ": rf"{_ARGS}\s-pw?\s+",
    "ldapsearch |ldapadd |ldapmodify |ldapdelete |ldappasswd |ldapwhoami ": rf"{_ARGS}\s-w\s+",
    "sqlplus |sqlldr |expdp |impdp |rman ": rf"{_ARGS}(?<=\s)[\"']?{_USER}/(?=[^\s@/]{{4,64}}(?:@|\s|$))",
    "rabbitmqctl ": rf"(?:-\S+\s+)*(?:add_user|change_password|authenticate_user)\s+[\"']?{_USER}[\"']?\s+",
    "htpasswd ": rf"{_ARGS}-\w*b\w*\s+(?:\S+\s+){{1,2}}",
    "mc alias |mc config host ": r"(?:set|add)\s+\S+\s+\S+\s+\S+\s+",
    "mongo |mongosh |mongodump |mongorestore |mongoimport |mongoexport ": rf"{_ARGS}\s-p\s*",
    "redis-cli ": rf"{_ARGS}\s-a\s*",
    "lftp |ncftp": rf"{_ARGS}\s(?:-u\s+[\"']?{_USER},|-p\s+)",
    "docker login|podman login|oc login|cf login|az login|az acr login|helm registry login|skopeo |twine upload": (
        rf"{_ARGS}\s(?:-p\s+|--creds[ =]{_USER}:)"
    ),
    "useradd |usermod ": rf"{_ARGS}\s-p\s+",
    "net user ": rf"{_USER}\s+",
    "dscl ": rf"{_ARGS}-passwd\s+\S+\s+",
    "ssh-keygen ": rf"{_ARGS}\s-N\s+",
    "composer config|poetry config": rf"{_ARGS}(?:http-basic\.\S+\s+{_USER}\s+|\S*token\S*\s+)",
    "bundle config": rf"{_ARGS}\s{_USER}:",
    "nuget setapikey |nuget push ": rf"(?:{_ARGS}-apikey\s+)?",
    "wpa_passphrase ": r"\S+\s+",
    "curl ": (
        rf"{_ARGS}\s(?:(?:-b|--cookie)\s+[\"']?[\w.-]{{1,40}}=(?=[^\s;'\"-]{{16}})|(?:--pass|--proxy-pass|--oauth2-bearer)\s+)"
    ),
    "jq ": rf"{_ARGS}--arg\s+\w*(?:pass|pw|token|secret|key)\w*\s+",
    "psexec ": rf"{_ARGS}\s-p\s+",
    "xfreerdp ": rf"{_ARGS}\s/p:",
    "sshpass ": r"(?:-v\s+)?-p\s*",
    "gpg |gpg2 ": rf"{_ARGS}--passphrase[ =]",
}
_BEFORE = {anchor: before for anchors, before in _BEFORE_VALUE.items() for anchor in anchors.split("|")}
ANCHORS = tuple(_BEFORE)


@cache
def _pattern(anchor: str) -> re.Pattern[str]:
    """An anchor's pattern, compiled where it occurs for the first time."""
    flags = re.IGNORECASE if anchor.startswith(("net ", "nuget ", "psexec")) else 0
    return compile_bounded(rf"\w{{0,12}}+\s?{_BEFORE[anchor]}{_VALUE}", flags)


def command_passwords(text: str, at: int, anchor: str) -> Iterator[tuple[int, int, str]]:
    """The password among the arguments of a command.

    Args:
        text: any text.
        at: where one of `ANCHORS` stands in it.
        anchor: the one that stands there.

    Yields:
        Start, end and the rule's name.
    """
    if text[max(0, at - 1) : at].isalnum():
        return
    match = _pattern(anchor).match(text, at + len(anchor) - 1)
    if match is None:
        return
    group = next(name for name, value in match.groupdict().items() if value is not None)
    if is_argument(match[group]):
        yield *match.span(group), "password"


def is_argument(value: str) -> bool:
    """Whether an argument in the place of a password is one, and not a variable, an option or a path."""
    return (is_password(value) or looks_random(value)) and not value.startswith(("$", "-", "%", "{", "@"))
