"""Forms in which secrets stand in files, with values drawn at random, and how many of them redaction finds.

`python -m bench.planted_secrets [seed]` prints what got through. A form is a file's path, a text with `{}` for the
secret, and how its value is drawn. `bench/unseen_secrets.py` has as many forms that were written after the rules,
`bench/varied_secrets.py` some of other kinds of files.
"""

from __future__ import annotations

import base64
import random
import string
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from repopilot.redaction.redact import redact
from repopilot.redaction.secret_paths import secret_name

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
HEX = "0123456789abcdef"
SIGNS = "!#%^*+?~@=_-."
Draw = Callable[[random.Random], str]


class Form(NamedTuple):
    """One form: a file with `{}` in the place of the secret, whose other braces are doubled."""

    path: str
    text: str
    draw: Draw


def of(alphabet: str, length: int, prefix: str = "", suffix: str = "") -> Draw:
    """Draws `length` characters of an alphabet between a prefix and a suffix."""
    return lambda rng: prefix + "".join(rng.choice(alphabet) for _ in range(length)) + suffix


def password(rng: random.Random) -> str:
    """A password as a generator makes it: 14 letters and digits with two signs."""
    chars = [rng.choice(ALNUM) for _ in range(11)] + [rng.choice(DIGITS), rng.choice(UPPER), rng.choice(LOWER)]
    for at in rng.sample(range(3, 13), 2):
        chars[at] = rng.choice(SIGNS[:8])
    return "".join(chars)


def plain(rng: random.Random) -> str:
    """A password of 12 to 16 letters and digits."""
    return "".join(rng.choice(ALNUM) for _ in range(rng.randint(11, 15))) + rng.choice(DIGITS)


def typed(rng: random.Random) -> str:
    """A password that a person makes up: a word with a capital, a year and a sign."""
    word = rng.choice(("Meadow", "Falcon", "Harbour", "Winter", "Copper", "Lantern", "Juniper", "Violet"))
    return word + rng.choice(("Rider", "Stone", "Gate", "Lake", "")) + str(rng.randint(1950, 2031)) + rng.choice("!?#*")


def encoded(draw: Draw) -> Draw:
    """The base64 of a value."""
    return lambda rng: base64.b64encode(draw(rng).encode()).decode()


def user_and_password(rng: random.Random) -> str:
    """The base64 of `user:password`."""
    return base64.b64encode(f"svc{rng.randint(10, 99)}:{password(rng)}".encode()).decode()


def uuid(rng: random.Random) -> str:
    """A random UUID."""
    digits = "".join(rng.choice(HEX) for _ in range(32))
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))


token = of(ALNUM, 32)
hexadecimal = of(HEX, 40)
base64_key = of(ALNUM + "+/", 43, suffix="=")

FORMS: tuple[Form, ...] = (
    # YAML, unquoted and quoted
    Form("config/app.yml", "database:\n  user: app\n  password: {}\n  pool: 5\n", password),
    Form("config/app2.yaml", "db_password: {}  # rotate me\n", plain),
    Form("config/quoted.yaml", 'smtp:\n  pass: "{}"\n', password),
    Form("ansible/vars.yml", "vault_api_token: {}\n", token),
    Form("ansible/list.yml", "users:\n  - name: deploy\n    password: '{}'\n", typed),
    Form("k8s/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  db: {}\n", encoded(plain)),
    Form("k8s/string.yaml", "kind: Secret\nstringData:\n  whatever: {}\ntype: Opaque\n", plain),
    Form("k8s/deployment.yaml", "env:\n  - name: DB_PASSWORD\n    value: {}\n", password),
    Form("k8s/quoted_env.yaml", 'env:\n- name: API_TOKEN\n  value: "{}"\n', token),
    Form("docker-compose.yml", "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: {}\n", plain),
    Form("compose.list.yml", "    environment:\n      - MYSQL_ROOT_PASSWORD={}\n", password),
    Form(".github/workflows/ci.yml", "      env:\n        NPM_TOKEN: {}\n", token),
    # INI, properties, TOML, env-like
    Form("setup.ini", "[db]\npassword = {}\n", password),
    Form("conf/app.cfg", "[api]\nsecret_key={}\n", token),
    Form("application.properties", "spring.datasource.password={}\n", plain),
    Form("gradle.properties", "signing.keyPassword={}\n", typed),
    Form("settings.toml", 'api_key = "{}"\n', token),
    Form("env.txt", "export SESSION_SECRET={}\n", token),
    Form("deploy.conf", "requirepass {}\n", plain),
    Form("docs/npmrc.txt", "//registry.example.org/:_authToken={}\n", of(ALNUM, 36)),
    Form("docs/npmrc2.txt", "_auth={}\n", user_and_password),
    Form("docs/netrc.txt", "machine git.internal login deploy password {}\n", plain),
    Form("docs/pypirc.txt", "[pypi]\nusername = __token__\npassword = {}\n", of(ALNUM + "_-", 90, "pypi-")),
    # Docker
    Form("Dockerfile", "FROM debian\nENV DB_PASSWORD {}\nRUN true\n", plain),
    Form("Dockerfile.eq", "FROM debian\nENV API_SECRET={}\n", token),
    Form("Dockerfile.arg", "ARG NEXUS_PASSWORD={}\n", password),
    Form("docker/auth.json", '{{"auths": {{"r.internal": {{"auth": "{}"}}}}}}\n', user_and_password),
    # XML
    Form("pom-settings.xml", "<server>\n  <id>nexus</id>\n  <password>{}</password>\n</server>\n", plain),
    Form("web.config", '<add key="SmtpPassword" value="{}" />\n', plain),
    Form("beans.xml", '<property name="password" value="{}"/>\n', password),
    Form("strings.xml", '<string name="api_key">{}</string>\n', token),
    Form("app.config", '<add name="Db" connectionString="Server=s;User Id=sa;Password={};" />\n', plain),
    # URLs and connection strings
    Form("urls.py", 'REDIS = "redis://:{}@cache.internal:6379/0"\n', plain),
    Form("urls2.py", 'DB = "postgresql://app:{}@db.internal/app"\n', plain),
    Form("amqp.js", "const url = 'amqp://svc:{}@mq.internal:5672';\n", plain),
    Form("Jdbc.java", 'String u = "jdbc:mysql://h:3306/d?user=a&password={}&useSSL=true";\n', plain),
    Form("JdbcSql.java", 'String u = "jdbc:sqlserver://h;databaseName=d;user=sa;password={};";\n', plain),
    Form("odbc.cs", 'var c = "Driver={{ODBC 17}};Server=s;Uid=sa;Pwd={};";\n', plain),
    Form("sas.py", 'u = "https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={}"\n', of(ALNUM, 43, suffix="%3D")),
    Form(
        "storage.cs",
        '"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}"\n',
        of(ALNUM + "+/", 86, suffix="=="),
    ),
    Form("bus.py", '"Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={}"\n', base64_key),
    Form("git.sh", "git clone https://{}@github.com/o/r.git\n", of(ALNUM, 40)),
    Form("query.http", "GET https://h.internal/x?access_token={}&b=1\n", token),
    # defaults
    Form("env.py", 'PASSWORD = os.getenv("DB_PASSWORD", "{}")\n', password),
    Form("env2.py", 'KEY = os.environ.get("API_KEY", "{}")\n', token),
    Form("env.js", "const s = process.env.JWT_SECRET || '{}';\n", token),
    Form("env.ts", 'const p = process.env.DB_PASSWORD ?? "{}";\n', password),
    Form("env.rb", "secret = ENV.fetch('SECRET_KEY_BASE', '{}')\n", of(HEX, 64)),
    Form("env.php", "'password' => env('DB_PASSWORD', '{}'),\n", password),
    Form("env.sh", 'PASS="${{DB_PASSWORD:-{}}}"\n', plain),
    Form("Value.java", '@Value("${{db.password:{}}}") String p;\n', plain),
    Form("env.rs", 'let p = env::var("DB_PASSWORD").unwrap_or("{}".into());\n', password),
    Form("args.py", 'parser.add_argument("--password", type=str, default="{}")\n', password),
    Form("vars.tf", 'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}\n', password),
    # calls
    Form("smtp.py", 'server.login("robot@internal.org", "{}")\n', password),
    Form("auth.py", 'requests.get(url, auth=("svc", "{}"))\n', password),
    Form("basic.py", 'auth = HTTPBasicAuth("svc", "{}")\n', plain),
    Form("Conn.java", 'DriverManager.getConnection(url, "sa", "{}");\n', plain),
    Form("pdo.php", "$db = new PDO('mysql:host=h', 'root', '{}');\n", password),
    Form("set.kt", 'config.setPassword("{}")\n', password),
    Form("kw.py", 'connect(host="h", user="u", passwd="{}")\n', typed),
    Form("go.go", 'password := "{}"\n', password),
    Form("typed.py", 'api_token: str = "{}"\n', token),
    Form("typed.ts", "const clientSecret: string = '{}';\n", token),
    Form("map.js", "headers['X-Api-Key'] = '{}';\n", of(HEX, 32)),
    Form("conf.json", '{{"db": {{"password": "{}"}}}}\n', password),
    Form("pair.json", '{{"name": "API_SECRET", "value": "{}"}}\n', token),
    Form("define.php", "define('AUTH_KEY', '{}');\n", of(ALNUM, 48)),
    Form("lower.py", 'password = "{}"\n', of("bcdfghjklmnpqrstvwxz", 14)),
    # SQL
    Form("users.sql", "CREATE USER app WITH PASSWORD '{}';\n", password),
    Form("alter.sql", "ALTER USER 'a'@'%' IDENTIFIED BY '{}';\n", password),
    Form("role.sql", "ALTER ROLE app ENCRYPTED PASSWORD '{}';\n", plain),
    # command lines
    Form("run.sh", "mysqldump -u root -p{} shop > x.sql\n", plain),
    Form("run2.sh", "tool --password {} --verbose\n", plain),
    Form("run3.sh", "tool --api-token={} push\n", token),
    Form("curl.sh", "curl -u deploy:{} https://h.internal/\n", plain),
    Form("curl2.sh", 'curl -H "Authorization: Bearer {}" https://h.internal/\n', token),
    Form("pg.sh", "PGPASSWORD={} psql -h db -U app\n", plain),
    Form("kubectl.sh", "kubectl create secret generic x --from-literal=password={}\n", plain),
    Form("sshpass.sh", "sshpass -p '{}' ssh root@h\n", plain),
    # prefixes of tokens
    Form("t1.py", 'x = "{}"\n', of(ALNUM, 36, "ghp_")),
    Form("t2.py", 'x = "{}"\n', of(ALNUM, 20, "glpat-")),
    Form("t3.py", 'x = "{}"\n', of(HEX, 40, "sbp_")),
    Form("t4.md", "Use {} for it.\n", of(ALNUM + "_-", 26, "dckr_pat_", "x")),
    Form("t5.txt", "{}\n", of(ALNUM, 24, "sk_live_")),
    Form("t6.env.md", "KEY={}\n", of(ALNUM + "-_", 93, "sk-ant-api03-", "AA")),
    Form("t7.txt", "AGE-SECRET-KEY-{}\n", of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, "1")),
    Form("t8.js", "const k = '{}';\n", of(ALNUM, 34, "hf_")),
    Form("t9.rb", "k = '{}'\n", of(ALNUM + "_-", 43, "tgp_v1_")),
    Form("t10.go", 'k := "{}"\n', of(ALNUM, 32, "glsa_", "_a1b2c3d4")),
    Form("t11.txt", "{}\n", of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16, "AKIA")),
    Form("t12.py", 'aws_secret_access_key = "{}"\n', of(ALNUM + "/+", 40)),
    Form("t13.txt", "token xoxb-{}\n", of(DIGITS, 12, "", "-abcDEFghiJKLmnoPQRstuVWX")),
    Form("t14.py", '"{}"\n', lambda r: f"eyJ{of(ALNUM, 20)(r)}.eyJ{of(ALNUM, 40)(r)}.{of(ALNUM, 43)(r)}"),
    Form("t15.txt", "hvs.{}\n", of(ALNUM, 90)),
    Form("t16.py", 'API_KEY = "{}"\n', uuid),
    # prose and commit-like texts
    Form("NOTES.md", "The password is {} until Monday.\n", plain),
    Form("CHANGELOG.md", "- rotate the token {} of staging\n", of(HEX, 40)),
)


def missed(forms: Sequence[Form], seed: int, each: int = 3) -> list[tuple[Form, str, str]]:
    """The planted secrets that are left: (form, value, text after redaction). Files that are never read leave none."""
    rng = random.Random(seed)
    found = []
    for form in forms:
        for _ in range(each):
            value = form.draw(rng)
            if secret_name(form.path):
                continue
            after = redact(f"first line\n{form.text.format(value)}last line\n")[0]
            if leaked(value, after):
                found.append((form, value, after))
    return found


def leaked(value: str, text: str) -> bool:
    """Whether a secret, or most of it, is in a text."""
    size = max(6, len(value) * 2 // 3)
    return any(value[at : at + size] in text for at in range(len(value) - size + 1))


def main(forms: Sequence[Form], seed: int) -> None:
    """Print what got through."""
    left = missed(forms, seed)
    for form, value, after in left:
        print(form.path, value, repr(after), sep="\t")
    print(f"{len(left)} of {3 * len(forms)} of {len(forms)} forms got through")


if __name__ == "__main__":
    main(FORMS, int(sys.argv[1]) if len(sys.argv) > 1 else 1)
