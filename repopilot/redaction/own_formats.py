"""Formats of secrets that the vendored list (`known_formats.json`) lacks or finds only beside certain words."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from repopilot.redaction.bounded_pattern import bounded
from repopilot.redaction.command_lines import is_argument
from repopilot.redaction.key_names import is_user_and_password
from repopilot.redaction.randomness import (
    is_bare_password,
    is_made_up,
    is_name_of_secret,
    is_password,
    is_placeholder,
    is_words_and_number,
    looks_random,
)


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """`pattern` is matched from where an anchor begins, or found from `before` characters before it; its last group (or
    all) is the secret, if `accept` agrees."""

    name: str
    anchors: tuple[str, ...]
    pattern: str
    accept: Callable[[str], bool]
    before: int = 0


def _format(
    name: str, anchors: str, pattern: str, accept: Callable[[str], bool] = lambda _: True, before: int = 0
) -> SecretFormat:
    return SecretFormat(name, tuple(anchors.split("|")), bounded(pattern), accept, before)


def _is_url_password(value: str) -> bool:
    if is_placeholder(value) or is_name_of_secret(value) or "%(" in value:
        return False
    return not re.match(r"\d{1,5}(?:/|$)", value)


def _is_user_token(value: str) -> bool:
    return len(value) >= 16 and looks_random(value)


def _has_private_key(value: str) -> bool:
    """Whether base64 holds a private key in PEM."""
    try:
        return b"PRIVATE KEY" in base64.b64decode(value[:120])
    except binascii.Error:
        return False


def _is_random_password(value: str) -> bool:
    return is_bare_password(value) and looks_random(value) and any(map(str.isdigit, value))


def _is_basic(value: str) -> bool:
    return looks_random(value) or is_user_and_password(value)


_START = r"(?<![A-Za-z0-9])"
OWN_FORMATS = (
    _format(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY[A-Z ]{0,20}-----"
        r"(?s:.{0,20000}?-----END [A-Z0-9 ]{0,40}-----|.{0,20000})",
    ),
    _format("private-key", "private-lines:", r"Private-Lines: \d{1,3}\n((?:[A-Za-z0-9+/=]{1,80}\n?){1,200})"),
    _format(
        "private-key",
        "ls0tls1crudjtib",
        r"LS0tLS1CRUdJTiB(?:[A-Za-z0-9+/]|\\?\s{1,8}){60,8000}={0,2}",
        _has_private_key,
    ),
    _format("private-key", '"d"|"k"', r'"[dk]"\s*:\s*"([A-Za-z0-9_-]{22,700})"', looks_random),
    _format("ntlm-hash", "tlrmtvntuaa", _START + r"TlRMTVNTUAA[A-Za-z0-9+/]{20,2000}={0,2}"),
    _format("azure-key", "jqqj99", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,40}={0,2}", before=53),
    _format("azure-key", "azdo", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", before=77),
    _format("salesforce-token", "00d", _START + r"00D[A-Za-z0-9]{12,15}![\w.]{60,120}"),
    _format("okta-token", "ssws ", r"(?i)ssws ([\w-]{40,44})"),
    _format("nuget-key", "oy2", _START + r"oy2[a-z0-9]{43}(?!\w)"),
    _format("alibaba-key", "ltai", _START + r"LTAI[A-Za-z0-9]{12,24}\b"),
    _format("twitter-token", "aaaaaaaaaaaaaaaaaaaaa", _START + r"A{21,30}[A-Za-z0-9%+/=]{50,150}"),
    _format("age-key", "age-secret-key-", r"(?i)AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,2000}"),
    _format(
        "aws-access-key",
        "akia|asia|abia|acca|a3t",
        _START + r"(?:AKIA|ASIA|ABIA|ACCA|A3T[0-9A-Z])[0-9A-Z]{16}\b",
        lambda v: "EXAMPLE" not in v,
    ),
    _format(
        "aws-secret-key",
        "aws|secretaccesskey|secret_access_key",
        r"(?i)(?:aws.{0,24}?(?:secret|sk)|secret_?access_?key).{0,24}?[=:,>\s]\s*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        looks_random,
    ),
    _format("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", _START + r"gh[pousr]_[A-Za-z0-9]{30,255}\b"),
    _format("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,255}\b"),
    _format(
        "gitlab-token", "gl", _START + r"gl(?:pat|dt|rt|ptt|soat|cbt|ft|imt|agent|oas|rtr|ffct)-[A-Za-z0-9_.-]{20,400}"
    ),
    _format(
        "slack-token", "xox|xapp-|xwfp-", _START + r"(?:xox[abceoprs](?:\.xox[bp])?|xapp|xwfp)-[A-Za-z0-9-]{10,400}"
    ),
    _format(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,400})",
    ),
    _format("discord-webhook", "/api/webhooks/", r"/api/webhooks/(\d+/[A-Za-z0-9_-]{30,400})"),
    _format(
        "teams-webhook",
        "webhook.office.com|outlook.office.com/webhook",
        r"(?:webhook\.office\.com|outlook\.office\.com/webhook)/(?:webhookb2/)?([\w@-]{4,}/IncomingWebhook/[\w/-]{32,200})",
    ),
    _format("stripe-key", "sk_live_|rk_live_|sk_test_|rk_test_", _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,400}\b"),
    _format("stripe-key", "whsec_", _START + r"whsec_[A-Za-z0-9+/]{24,400}={0,2}"),
    _format("google-api-key", "aiza", _START + r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _format(
        "google-oauth", "gocspx-|ya29.", _START + r"(?:GOCSPX-[A-Za-z0-9_-]{20,400}|ya29\.[A-Za-z0-9_.-]{30,2000})"
    ),
    _format("google-oauth", "1//0", _START + r"1//0[A-Za-z0-9_-]{40,200}", looks_random),
    _format(
        "openai-key", "sk-", r"(?<![A-Za-z0-9-])sk-(?:proj-|svcacct-|ant-[a-z0-9]+-|or-v1-)?[\w-]{32,400}", looks_random
    ),
    _format("huggingface-token", "hf_|api_org_", _START + r"(?:hf|api_org)_[A-Za-z0-9]{30,400}\b"),
    _format("npm-token", "npm_", _START + r"npm_[A-Za-z0-9]{36}\b"),
    _format(
        "npm-token",
        "_authtoken",
        r"_authToken\s*=\s*[\"']?([A-Za-z0-9_.=+/-]{16,400})",
        lambda v: not is_placeholder(v),
    ),
    _format("pypi-token", "pypi-", _START + r"pypi-[A-Za-z0-9_-]{50,400}"),
    _format("sendgrid-key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _format("twilio-key", "twilio", r"(?i)twilio[^\n]{0,60}?\b((?:SK|AC)?[0-9a-f]{32})\b"),
    _format("mailgun-key", "key-", _START + r"key-[0-9a-f]{32}\b"),
    _format("telegram-token", ":aa", r"(?<=\d{8}):AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    _format("shopify-token", "shpat_|shpca_|shppa_|shpss_", _START + r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    _format("digitalocean-token", "dop_v1_|doo_v1_|dor_v1_", _START + r"do[opr]_v1_[a-f0-9]{64}\b"),
    _format("vault-token", "hvs.|hvb.|hvr.", _START + r"hv[sbr]\.[A-Za-z0-9_-]{24,400}"),
    _format("azure-key", "accountkey=|sharedaccesskey=", r"(?i)\w+key=([A-Za-z0-9+/]{40,88}={0,2})"),
    _format(
        "sas-signature",
        "sig=",
        r"(?i)(?<![a-z])sig=([A-Za-z0-9%+/_-]{32,200}(?:=|%3D){0,2})",
        lambda v: not is_placeholder(v),
    ),
    _format("jwt", "eyj", _START + r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,2000}"),
    _format(
        "url-password",
        "://",
        r"://[^\s:/@\"'`<>{}$]{0,64}:([^\s/@\"'`<>{}\]]{3,128}|[^\s@\"'`<>{}\]]{6,128})@(?=[A-Za-z0-9.\[$-])",
        _is_url_password,
    ),
    _format(
        "url-password", "://", r"://([A-Za-z0-9_-]{16,200})(?::x-oauth-basic|:)?@(?=[A-Za-z0-9.-]+)", _is_user_token
    ),
    _format(
        "url-password", "jdbc:oracle", r"(?i)jdbc:oracle:\w+:[\w.$-]{1,64}/([^\s/@\"'`<>]{3,128})@", _is_url_password
    ),
    _format("bearer", "bearer", r"(?i)bearer[\s:]+([A-Za-z0-9+/_.~=-]{16,2000})", looks_random),
    _format(
        "authorization",
        "authorization|private-token|x-api-key|x-auth-token|x-vault-token|x-access-token",
        r"(?i)(?:(?:proxy-)?authorization|private-token|x-[a-z-]+-(?:token|key))[\"']?\]?\s*[:=,]?\s*[rbuf]?[\"'`]?"
        r"(?:(?:token|apikey|api-key|digest|splunk|key|genie[kK]ey|bot|sso-key)\s+)?([A-Za-z0-9+/_.:~=-]{16,2000})",
        looks_random,
    ),
    _format("basic-authorization", "basic", r"(?i)basic[\s:]+([A-Za-z0-9+/]{12,400}={0,2})(?![\w/+])", _is_basic),
    _format(
        "password",
        "identified",
        r"(?i)identified\s+(?:with\s+[\"'`\w]+\s+)?(?:by|as)\s+(?:password\s+)?[\"']([^\"'\n]{4,200})[\"']",
        lambda v: not is_placeholder(v),
    ),
    _format("password", "-p |-w ", r"""(?<=\s)-[pPwW] ["']?([^\s"'/:]{8,100})""", _is_random_password),
    _format("password", "identified by", r"(?i)identified by ([^\s\"';]{6,64})", is_bare_password),
    _format(
        "password",
        "securestring",
        r"""(?i)securestring\s+(?:-(?:string|asplaintext|force)\s+){0,3}(?:\\?["'])?([^\s"'$\\-][^\s"'\\]{5,127})""",
        is_password,
    ),
    _format("password", "/user:", r"(?i)/user:\S{1,80}[ \t]{1,4}([^\s\"'/]{6,64})", is_bare_password),
    # lines of configuration files whose values have no `=` or `:` before them
    _format(
        "password",
        "enable secret|enable password|snmp-server community|pre-shared-key|key-string|tacacs-server|radius-server|"
        "neighbor ",
        r"(?:enable (?:secret|password)(?: level \d+)?|snmp-server community|key-string|"
        r"(?:tacacs|radius)-server .{0,60}?key|"
        r"pre-shared-key(?: address \S+)?(?: key)?|neighbor \S+ password) (?:[0-9] )?(\S{4,100})",
        is_argument,
    ),
    _format(
        "password",
        "username ",
        r"(?im)^[ \t]*username \S{1,64} (?:privilege \d+ )?(?:password|secret) (?:[0-9] )?([^\s\"',;]{4,100})",
        is_argument,
        20,
    ),
    _format(
        "password", "rootpw|d-i passwd/", r"(?:rootpw|d-i passwd/\S+ password)(?:\s+--\w+)*\s+(\S{4,200})", is_argument
    ),
    _format(
        "password",
        "chpasswd:",
        r"chpasswd:(?:\n?[ \t-]{0,20}\w{1,20}: *+\w{0,20}\|?){0,3}\n\s{1,20}+-?\s{0,4}[\w.-]{1,32}:(\S{4,200})",
        is_argument,
    ),
    _format("password", "login=", r"login=[\w.@-]{1,64}:([^\s\"']{4,100})", is_argument),
    _format(
        "password", "user ", r"user [\w-]{1,64} (?:on|off|reset|nopass|[~+-])[^\n]{0,60}?>(\S{4,100})", is_argument
    ),
    _format(
        "password",
        "ftp",
        r"ftp\b[^\n]{0,120}<<[^\n]{0,40}\n(?:[^\n]{0,80}\n){0,3}?\s*user \S{1,64} ([^\s\"']{4,100})",
        is_argument,
    ),
    _format(
        "password",
        "assword:",
        r"""assword:[^\n]{0,12}\n\s*send(?:_user|ln)?\s+(?:--\s+)?["']?([^\s"']{4,100}?)(?:\\[rn])+""",
        is_argument,
    ),
    _format(
        "password",
        "where",
        r"""(?i)=\s*["']([^"'\n]{6,200})["']\s+where\s+[\w`".]{1,40}\s*=\s*["'][\w.-]{0,40}(?:passw|secret|token|api_?key|_key)\w*["']""",
        is_argument,
        220,
    ),
    _format(
        "password",
        ").type(|.send_keys(|.sendkeys(|.fill(|.setvalue(",
        r"""(?i)(?:passw|pwd|passphrase|mot_?de_?passe)[^\n]{0,60}?\)?\.(?:type|send_?keys|fill|setvalue)\(\s*["'`]([^"'`\n]{6,100})["'`]""",
        is_argument,
        90,
    ),
    _format("password", ".tochararray(", r"""["']([^"'\n]{6,100})["']\.toCharArray\(""", is_bare_password, 110),
    _format("password", "userpwd", r"""(?i)userpwd\s*,\s*["'][\w.@-]{1,64}:([^"'\n]{4,100})["']""", is_argument),
    _format(
        "password",
        "provider :",
        r"""provider :\w{2,40},\s*["'][^"'\n]{1,100}["'],\s*["']([^"'\n]{8,200})["']""",
        looks_random,
    ),
    _format(
        "api-key",
        "?key=|&key=|?apikey=|&apikey=|?appid=|&appid=|&amp;key=",
        r"[?&](?:amp;)?\w{3,6}=([\w.~-]{20,200})",
        looks_random,
    ),
    _format(
        "password",
        "login:|login -|login is|logins:|credentials:|account:",
        r"(?i)\w++(?:\s+is)?\s*[:-]?\s*[`*\"']*[\w.@-]{1,40}[`*\"']*\s*(?:/|:|,| and )\s*[`*\"']*"
        r"([^\s`*\"',;/)]{6,64})",
        lambda v: is_made_up(v) or is_words_and_number(v) or (looks_random(v) and any(map(str.isdigit, v))),
    ),
    _format(
        "session-cookie",
        "cookie",
        r"""(?i)cookie\b["']?\s*[:=,]?\s*["'`]?(?:[\w.-]{1,40}=[^;\s"']{0,15};\s*){0,4}[\w.-]{1,40}=([^;,\s"'`]{16,400})""",
        looks_random,
    ),
    _format("password", "<master>", r"(?i)<master>([^<\s]{6,200})</master>", is_bare_password),
    _format("password", "@tcp(|@unix(", r"[\w.-]{1,32}:([^\s:@/\"'`]{4,64})@(?:tcp|unix)\(", is_password, 100),
    _format("password", ":5432:|:*:*:", r"(?m)^[\w.*-]+:[\d*]+:[\w.*-]+:[\w.*-]+:(\S{6,100})$", is_bare_password, 80),
    _format("mailchimp-key", "-us", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\w)", before=33),
    _format("atlassian-token", "atatt3|atctt3|atbb", r"(?:ATATT3|ATCTT3|ATBB)[A-Za-z0-9_=-]{28,400}", looks_random),
    _format("notion-token", "secret_|ntn_", _START + r"(?:secret|ntn)_[A-Za-z0-9]{40,64}(?!\w)", looks_random),
    _format("figma-token", "figd_", _START + r"figd_[A-Za-z0-9_-]{30,200}", looks_random),
    _format("postman-key", "pmak-", _START + r"PMAK-[A-Za-z0-9-]{40,120}", looks_random),
    _format(
        "password",
        "set password for",
        r"(?i)set password for [^=\n]{1,80}=\s*(?:password\s*\(\s*)?'([^'\n]{4,200})'",
        is_password,
    ),
    _format(
        "password",
        "curl |wget |http ",
        r"""(?:curl|wget|https?)\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user|-a|--auth)[ =]?"""
        r"""["']?[^\s:"'$<]{1,64}:([^\s"'<]{4,128})""",
        lambda v: is_password(v) and not v.startswith("$"),
    ),
    _format(
        "password",
        "mysql|mariadb",
        r"""(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?\s-p["']?([^\s"'$<-][^\s"'<]{4,100})""",
        is_bare_password,
    ),
    _format(
        "password",
        "echo |printf ",
        r"""(?:echo|printf)\s+(?:-\w\s+|["']%s(?:\\n)?["']\s+)?["']?(?:[\w.-]{1,32}:)?([^\s"'|]{6,100})["']?\s*\|\s*"""
        r"""(?:sudo\s+(?:-\w+\s+)*-S|(?:sudo\s+)?(?:chpasswd|passwd|smbpasswd|cryptsetup|kinit|gpg2?|openssl|su)\b|"""
        r"""(?:docker|podman|helm registry|gh auth|oras|crane auth|npm|az acr|vault|doctl registry)\s+login)""",
        is_password,
    ),
    _format(
        "password-hash",
        "$1$|$2a$|$2b$|$2x$|$2y$|$5$|$6$|$7$|$y$|$apr1$|$argon2|{ssha|{sha|{smd5}|{crypt}|pbkdf2_sha|pbkdf2:sha|scrypt:|scram-sha-",
        r"\$(?:1|5|6|7|y|apr1)\$(?:rounds=\d+\$|[\w./]{2,12}\$)?[\w./]{0,32}\$[\w./]{20,90}|\$2[abxy]\$\d\d\$[\w./]{50,60}"
        r"|\$argon2id?\$[\w=,$+/]{30,300}|\{(?:SSHA|SHA|SMD5|CRYPT)\d{0,3}\}[\w+/.$=]{16,200}"
        r"|(?:pbkdf2_sha\d+|pbkdf2:sha\d+|scrypt)[$:][\d:]+\$[\w+/.=]{2,64}\$[\w+/=]{24,200}"
        r"|(?i:SCRAM-SHA-\d+)\$\d+:[\w+/=]{8,64}\$[\w+/=:]{40,200}",
    ),
    _format("password-hash", "md5", r"(?<![\w-])md5[0-9a-f]{32}(?!\w)", before=0),
    _format(
        "token",
        "akab-|bedrock-api-key-|bbdc-|cfat_|cfut_|cfk_|dnkey-|igqv|llx-|pmat-|sntrys_|tvly-|cosmo_|"
        "dckr_|ops_eyj|phc_|phx_|rpa_|nfp_|sbp_|r8_|dp.|nrak-|nraa-|nrii-|nriq-|nrjs-|live_",
        _START + r"(?:akab-[a-z0-9]{16}-[a-z0-9]{16}|bedrock-api-key-[\w=+/-]{16,400}|BBDC-[\w+/]{30,80}"
        r"|cf(?:at|ut|k)_\w{40,80}"
        r"|dnkey-[A-Z0-9]{20,40}-[A-Z0-9]{40,80}|IGQV\w{60,300}|llx-[\w-]{40,80}|PMAT-[A-Z0-9]{20,40}|sntrys_[\w+/=]{60,400}"
        r"|tvly-(?:dev-)?\w{20,60}|cosmo_[0-9a-f]{32}|dckr_(?:pat|oat)_[\w-]{20,40}|ops_eyJ[\w=-]{60,2000}|ph[cx]_\w{40,60}"
        r"|rpa_\w{40,60}|nfp_\w{36,60}|sbp_[0-9a-f]{40}|r8_\w{37,40}"
        r"|dp\.(?:st|ct|pt|sa|said|scim|audit)\.(?:[a-z0-9\-_]{2,35}\.)?[A-Za-z0-9]{40,44}|NR(?:AK|AA|II|IQ|JS)-[\w-]{18,40}"
        r"|live_\d{6,12}_\w{28,32})",
        looks_random,
    ),
    _format(
        "ansible-vault",
        "$ansible_vault;",
        r"\$ANSIBLE_VAULT;[\d.]+;\w+(?:;\w+)?\s*\n((?:[ \t]*[0-9a-f]{20,100}\n?){1,200})",
    ),
)
