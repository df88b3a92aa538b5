"""Files that are never read, by their names. Pure."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

from repopilot.redaction.redact import redacted

_PATHS_CACHED = 1 << 17
"""As many paths as the largest repositories have files."""
_GLOBS = (
    ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx id_rsa* id_dsa* id_ecdsa* id_ed25519* "
    ".npmrc .pypirc .netrc _netrc .git-credentials credentials credentials.* .htpasswd *.tfstate *.tfstate.* "
    "secrets.json secrets.y*ml secrets.toml secrets.ini secrets.env secrets.properties .dockercfg *.ovpn *.ppk *.gpg "
    ".pgpass pgpass.conf .my.cnf .mylogin.cnf service-account*.json *.mobileprovision *auth-user-pass "
    "*auth-user-pass.txt chap-secrets pap-secrets ipsec.secrets userlist.txt sasl_passwd *.nmconnection shadow "
    "shadow.bak shadow- shadow~ gshadow master.passwd .vault-token .vault_pass .vault-pass .vault_pass.txt "
    ".vault_password vault_password vault_password.txt vault-password vault-password.txt .passwd-s3fs .s3cfg .boto "
    ".msmtprc .fetchmailrc .esmtprc .authinfo .smbcredentials .cifs .cifscredentials .ftpconfig sftp-config.json "
    ".remote-sync.json recentservers.xml sitemanager.xml .bash_history .zsh_history .mysql_history .psql_history "
    ".rediscli_history .dbshell .terraformrc terraform.rc .gem_credentials kubeconfig *.kubeconfig htpasswd *.htpasswd "
    ".htdigest application_default_credentials.json *.agekey jenkins.plugins.publish_over_ssh.*.xml credentials.xml "
    "secring.skr *.kdb *.psafe3 proftpdpasswd .tugboat"
)
_EXACT = frozenset(glob for glob in _GLOBS.split() if "*" not in glob)
_WILDCARDS = re.compile("|".join(fnmatch.translate(glob) for glob in _GLOBS.split() if "*" in glob))
_HARMLESS_NAMES = re.compile(
    r"(\.env|\.envrc)\.(example|sample|template|dist|defaults?|tmpl)$|\.pub$|"
    r"^credentials\.(py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|cs|c|cpp|h|md|rst|html|css|scala|swift)$"
)
_FOLDERS = frozenset((".aws", ".ssh", ".kube", ".gnupg", ".azure", ".gcloud"))
_ENDINGS = (".docker/config.json", ".config/gh/hosts.yml")


@lru_cache(maxsize=_PATHS_CACHED)
def secret_name(path: str) -> bool:
    """Whether a file must not be read, judged by its path alone: by its name, or because the path holds a secret."""
    folded = path.casefold()
    *folders, name = folded.split("/")
    if _FOLDERS.intersection(folders) or folded.endswith(_ENDINGS):
        return True
    if (name in _EXACT or _WILDCARDS.match(name)) and not _HARMLESS_NAMES.search(name):
        return True
    return redacted(path) != path
