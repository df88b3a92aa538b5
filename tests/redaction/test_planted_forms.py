"""Secrets in the forms of `bench/planted_secrets.py` disappear, whatever their value, and nothing else does."""

import random

import pytest

from bench.planted_secrets import FORMS, Form, leaked, missed, password
from bench.unseen_secrets import FORMS as UNSEEN
from bench.varied_secrets import FORMS as VARIED
from repopilot.redaction.redact import MARK, redact

SEEDS = range(5)


@pytest.mark.parametrize("form", FORMS, ids=[form.path for form in FORMS])
def test_planted_forms_disappear(form: Form) -> None:
    for seed in SEEDS:
        value = form.draw(random.Random(f"{seed}{form.path}"))
        text = f"first line\n{form.text.format(value)}last line\n"
        after, rules = redact(text)
        assert not leaked(value, after)
        assert rules and MARK in after
        assert after.startswith("first line\n") and after.endswith("last line\n")
        assert after.count("\n") == text.count("\n")
        assert redact(after) == (after, ())


@pytest.mark.slow
def test_of_all_forms_at_least_98_percent_disappear() -> None:
    every = (*FORMS, *UNSEEN, *VARIED)
    assert len(every) > 450
    assert len(missed(every, seed=21)) <= 0.02 * 3 * len(every)


def test_only_the_value_is_redacted() -> None:
    assert redact("DB_PASSWORD=xK9#mQ2vLp7w # of the shop\n")[0] == "DB_PASSWORD=[REDACTED:password] # of the shop\n"
    assert redact('login("ann", "xK9#mQ2vLp7w", retry=3)')[0] == 'login("ann", "[REDACTED:password]", retry=3)'


@pytest.mark.slow
def test_what_was_redacted_stays_as_it_is() -> None:
    for form in (*FORMS, *UNSEEN, *VARIED):
        after = redact(form.text.format(form.draw(random.Random(form.path))))[0]
        assert redact(after) == (after, ())


IN_CONTEXT = [
    # beside the name only on another line, in another argument or cell
    "  DEPLOY_TOKEN:\n    value: {}\n    description: of the job\n",
    'android:name="maps.API_KEY"\n    android:value="{}" />\n',
    "<key>BACKUP_PASSPHRASE</key>\n<string>{}</string>\n",
    "curl_easy_setopt(curl, CURLOPT_USERPWD, 'me:{}');\n",
    "login,mail,password\nann,ann@shop.org,{}\n",
    "| Host | Password |\n| --- | --- |\n| db1 | {} |\n",
    "INSERT INTO users (id, name, password) VALUES (1, 'ann', 'x'), (2, 'bob', '{}');\n",
    "COPY users (id, password) FROM stdin;\n1\t{}\n\\.\n",
    '"jwt": {{\n  "issuer": "shop",\n  "key": "{}"\n}}\n',
    # on a command line
    "7z a -p{} backup.7z data/\n",
    "keytool -genkey -keystore a.jks -storepass {} -alias a\n",
    "sqlplus shop/{}@//db:1521/X\n",
    "smbclient //files/share -U 'DOMAIN\\me%{}'\n",
    "rabbitmqctl add_user worker {}\n",
    "printf '%s' '{}' | podman login -u me --password-stdin r.org\n",
    # in lines of configuration
    "username admin privilege 15 password 0 {}\n",
    "chpasswd:\n  list: |\n    root:{}\n",
]


@pytest.mark.parametrize("text", IN_CONTEXT)
def test_values_are_told_by_their_statement(text: str) -> None:
    for seed in SEEDS:
        value = password(random.Random(seed))
        after = redact(text.format(value))[0]
        assert not leaked(value, after), after
        assert after.count("\n") == text.format("").count("\n")


NOT_IN_CONTEXT = [
    '"js-tokens@npm:^3.0.0 || ^4.0.0, js-tokens@npm:^4.0.0":\n',
    '"attributes.#(key=\\"server.address\\").value.3.stringValue": "127.0.0.1:8000",\n',
    "this.withToken('access-token-1234')\n",
    "'secret_json' => 'encrypted-secret-json-string2',\n",
    "CREATE TABLE users (password VARCHAR_IGNORECASE(500) NOT NULL)\n",
    'fmt.Errorf("must contain both username and password keys", secret.Name)\n',
    "token: 2022-03-15T14:46:52.889Z\n",
    "curl -b 'a=whoami1; b=http://127.0.0.1' http://localhost/\n",
    "name,token,count\nalpha,beta,gamma2\n",
    "INSERT INTO tokens VALUES (1, 'article', 'noun-phrase', 3);\n",
    'const key = "item.children.0.label";\n',
    "zip -r archive.zip build/ && unzip -P\n",
    "id: 1\naccount: signals37\n",
    'create_database("a", collation: "utf8mb4_bin") # password\n',
    '"js-tokens": {"version": "4.0.0", "integrity": "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifc=="}\n',
    "jwt (2.10.1) sha256=e6424ae1d813f63e761a04d6284e10e7ec531d6f701917fadcd0d9b2deaf1cc5\n",
]


@pytest.mark.parametrize("text", NOT_IN_CONTEXT)
def test_what_stands_in_the_statement_of_a_name_is_left_alone(text: str) -> None:
    assert redact(text) == (text, ())
