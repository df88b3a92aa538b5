"""Secrets are found; what only looks like one is left alone."""

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.redaction.command_lines import ANCHORS, command_passwords
from repopilot.redaction.own_formats import OWN_FORMATS
from repopilot.redaction.redact import redact
from repopilot.redaction.secret_paths import secret_name

_RANDOM = random.Random(7)


def made(alphabet: str, length: int) -> str:
    """A value made at run time, so that no secret-like literal stands in this file."""
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
PLANTED = [
    ("aws-access-key", "AKIA" + made(string.ascii_uppercase + string.digits, 16), "key = {}"),
    ("aws-secret-key", made(ALNUM + "/+", 40), "aws_secret_access_key = {}"),
    ("github-token", "ghp_" + made(ALNUM, 36), "token: {}"),
    ("github-token", "github_pat_" + made(ALNUM, 60), "x={}"),
    ("gitlab-token", "glpat-" + made(ALNUM, 20), "git clone with {}"),
    ("slack-token", "xoxb-" + made(string.digits, 12) + "-" + made(ALNUM, 24), "'{}'"),
    (
        "slack-webhook",
        "T" + made(ALNUM, 8) + "/B" + made(ALNUM, 8) + "/" + made(ALNUM, 24),
        "https://hooks.slack.com/services/{}",
    ),
    ("stripe-key", "sk_live_" + made(ALNUM, 24), 'stripe.api_key = "{}"'),
    ("google-api-key", "AIza" + made(ALNUM, 35), '"{}"'),
    ("openai-key", "sk-proj-" + made(ALNUM, 48), "OPENAI={}"),
    ("huggingface-token", "hf_" + made(ALNUM, 34), "login('{}')"),
    ("npm-token", "npm_" + made(ALNUM, 36), "{}"),
    ("pypi-token", "pypi-" + made(ALNUM, 80), "password = {}"),
    ("sendgrid-key", "SG." + made(ALNUM, 22) + "." + made(ALNUM, 43), "{}"),
    ("jwt", "eyJ" + made(ALNUM, 20) + ".eyJ" + made(ALNUM, 40) + "." + made(ALNUM, 43), "cookie={}"),
    ("url-password", "hUn7er" + made(ALNUM, 6), "postgres://app:{}@db.internal:5432/app"),
    ("bearer", made(ALNUM, 32), '"Authorization": "Bearer {}"'),
    ("password", "hunter" + made(string.digits, 4) + "!", 'DB_PASSWORD = "{}"'),
    ("secret", made(ALNUM, 32), "client_secret: '{}'"),
    ("api-key", made(ALNUM, 32), 'apiKey = "{}",'),
    ("authorization", made(HEX, 32), "headers['x-api-key'] = '{}'"),
    ("secret", made(ALNUM, 32), "export SESSION_SECRET={}\n"),
    ("azure-key", made(ALNUM, 86) + "==", "AccountName=a;AccountKey={};"),
    ("vault-token", "hvs." + made(ALNUM, 30), "{}"),
    ("mailgun-key", "key-" + made(HEX, 32), "{}"),
    ("digitalocean-token", "dop_v1_" + made(HEX, 64), "{}"),
    ("telegram-token", ":AA" + made(ALNUM, 33), "bot 123456789{}"),
]
DECOYS = [
    "def f(password):\n    log.info('length %s', len(password))\n",
    'password = password.encode("latin1")',
    "'password' => env('DB_PASSWORD'),",
    "pass `--max-columns 0` to the program",
    "$conf[\\CURLOPT_SSLCERTPASSWD] = $cert[1];",
    "http -a user:password :8080/message",
    'password: "urn:k8s:secret:my-secret:bindpassword"',
    '"http://127.0.0.1:8080/api/routers/router1@file"',
    "auth', array('user', 'pass', 'Basic|Digest')",
    "PublicKeyToken=b77a5c561934e089",
    "xsrfHeaderName: 'X-XSRF-TOKEN',",
    "'password' => ['string', 'max:10'],",
    "token = token1",
    'password = getpass.getpass("Password 2: ")',
    'kind: Secret\nstringData:\n  host: "demo-db"\n  port: "5432"\n',
    'password = "password"',
    'password = os.environ["DB_PASSWORD"]',
    'token = "<your token here>"',
    "PASSWORD=changeme",
    'api_key = "YOUR_API_KEY"',
    'secret = "example-secret-value"',
    "password: ${DB_PASSWORD}",
    'token_type = "bearer"',
    'integrity "sha512-' + made(ALNUM + "+/", 86) + '=="',
    f'"hash": "{made(HEX, 64)}"',
    f"commit {made(HEX, 40)}",
    'id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"',
    'tokenizer = "bert-base-uncased"',
    'SECRET_KEY = "dev"',
    'token = "access_token_url_parameter"',
    "def get_password(self, password=None):",
    'pwd = "/usr/local/lib/x"',
    'HEADER = "X-Auth-Token"',
    'token_url = "https://example.org/oauth2/token"',
    "https://user:pass@host/x",
    'assert token == "abc"',
    'label = "API key:"',
    'key = "access_key_id"',
    "max_tokens=4096",
    'secret_name = "my-secret"',
    "the basic idea is simple",
    "Bearer token authentication",
    'class TokenBucket: rate = "10/second"',
    'tokens = ["IDENT", "NUMBER"]',
    '"publicKey": "projects/a/locations/b"',
]


@pytest.mark.parametrize(("rule", "secret", "around"), PLANTED, ids=[f"{n}-{p[0]}" for n, p in enumerate(PLANTED)])
def test_planted_secrets_disappear(rule: str, secret: str, around: str) -> None:
    line = around.format(secret)
    text, rules = redact(f"first\n{line}\nlast\n")
    assert secret not in text
    assert rule in rules
    assert text.splitlines()[0] == "first" and text.splitlines()[-1] == "last"


@pytest.mark.parametrize("decoy", DECOYS)
def test_decoys_stay(decoy: str) -> None:
    assert redact(decoy) == (decoy, ())


def test_private_keys_keep_their_line_count() -> None:
    body = "\n".join(made(ALNUM, 64) for _ in range(5))
    text, rules = redact(f"a\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nz\n")
    assert rules == ("private-key",)
    assert body[:20] not in text
    assert text.splitlines()[8] == "z"
    assert redact("-----BEGIN PRIVATE KEY-----\n" + body)[1] == ("private-key",)


@pytest.mark.slow
@given(st.text(), st.sampled_from([p for p in PLANTED if p[2] == "{}"]), st.text())
def test_redaction_is_stable(before: str, planted: tuple[str, str, str], after: str) -> None:
    once, _ = redact(f"{before}\n {planted[1]}\n{after}")
    assert planted[1] not in once
    assert redact(once)[0] == once
    assert once.count("\n") == before.count("\n") + after.count("\n") + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "aws",
        "secret",
        "password=",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----\n",
        "://a:b",
        "password=(",
        "password: a.b(",
        "kind: secret\ndata:\n",
        "pw,pw\n",
        "mosquitto_",
        "<secret_access_key>",
        "chpasswd:" + " " * 50,
        "password\tpassword\tb\n",
        "insert into t values ('a'),(",
        "jwt: {\nkey: aaaaaaaa",
        "ftp <<a\n",
    ],
)
@pytest.mark.sampled(6)
def test_hostile_repetition_ends(piece: str) -> None:
    text, _ = redact(piece * (200_000 // len(piece)))
    assert len(text) <= 200_000 + len(piece)


@pytest.mark.parametrize("space", [" ", "\t", "\n", " \n"])
@pytest.mark.parametrize("name", ["secret", "password", "api_key", "authorization", "kind: secret"])
def test_white_space_beside_a_name_takes_no_time(name: str, space: str) -> None:
    text = f'"""Gives a {name}' + space * 24_000  # cubic, 24,000 spaces took a minute
    assert redact(text) == (text, ())


def test_a_value_in_an_aligned_column_is_found() -> None:
    text = f"password{' ' * 30}= 'Tr0ub4dor&3x'\n"
    assert "Tr0ub4dor" not in redact(text)[0]


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        (".env", True),
        ("a/.env.production", True),
        (".env.example", False),
        ("id_rsa", True),
        ("a/key.pem", True),
        ("id_rsa.pub", False),
        (".aws/config", True),
        ("home/.ssh/known_hosts", True),
        ("infra/prod.tfstate", True),
        ("credentials.json", True),
        ("src/credentials.py", False),
        (".npmrc", True),
        ("secrets.yaml", True),
        ("src/secrets.py", False),
        ("keyboard.py", False),
        ("docs/env.md", False),
        (".docker/config.json", True),
    ],
)
def test_secret_names(path: str, secret: bool) -> None:
    assert secret_name(path) is secret


@pytest.mark.parametrize("rule", ["-" * 150, "#" * 190, "- " * 90, "*/;+" * 45])
def test_a_line_drawn_before_a_password_is_read_at_once(rule: str) -> None:
    assert "hunter2" not in redact(f"{rule} x password: hunter2!xyz9\n{rule} password: hunter2!xyz9\n")[0]


def test_every_pattern_that_is_compiled_late_compiles() -> None:
    assert all(re.compile(own.pattern) for own in OWN_FORMATS)
    assert all(list(command_passwords(f"{anchor} x", 0, anchor)) == [] for anchor in ANCHORS)
