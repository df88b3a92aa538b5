"""Forms in which secrets stand outside of code as much as in it: CI, infrastructure, systems, logs, notes, notebooks.

The half of 393 forms that the rules have learnt from; the other half is kept closed. Before that 72.8 % of the secrets
of this half were redacted, and 69.0 % of those of the closed one. `python -m bench.varied_secrets [seed]` prints what
gets through.
"""

from __future__ import annotations

import base64
import json
import random
import sys

from bench.planted_secrets import (
    ALNUM,
    DIGITS,
    HEX,
    Draw,
    Form,
    base64_key,
    main,
    of,
    user_and_password,
    uuid,
)

PRINTABLE = "!#%()*+,-./:;=?@[]^_{|}~"
WORDS = (
    "harbor lantern marble orchid velvet copper meadow falcon winter pepper saddle bronze thunder willow canyon garnet "
    "puzzle magnet rocket timber violet walnut anchor beacon candle dragon ember forest glacier hammer island jungle "
    "kettle lemon mirror needle ocean pirate quartz raven silver temple valley wizard yellow zephyr"
).split()


def made_up(rng: random.Random, signs: str = "!#%*?+-_.@&^~") -> str:
    """A password as people make it: words, some letters written as digits, a number and a sign."""
    first, second = (word.capitalize() if rng.random() < 0.7 else word for word in rng.sample(WORDS, 2))
    number, sign = str(rng.randrange(10, 9999)), rng.choice(signs)
    return rng.choice(
        (
            f"{first}{sign}{number}",
            f"{first.translate(str.maketrans('aeo', '430'))}{number}{sign}{second[:3]}",
            f"{of(ALNUM, 4)(rng)}{sign}{rng.choice(DIGITS)}{of(ALNUM, 4)(rng)}{sign}",
            f"{first}{second}{number}{sign}",
        )
    )


def url_password(rng: random.Random) -> str:
    """A made-up password that needs no escape in a URL."""
    return made_up(rng, "-_.~!")


def word_and_number(rng: random.Random) -> str:
    """A word with a number of two to four digits."""
    return rng.choice(WORDS) + str(rng.randrange(10, 2030))


def phrase(rng: random.Random) -> str:
    """Three words and a number, with hyphens."""
    return "-".join([*rng.sample(WORDS, 3), str(rng.randrange(2, 99))])


def json_web_token(rng: random.Random) -> str:
    """A signed token with a subject."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": of(HEX, 12)(rng), "iat": rng.randrange(10**9, 2 * 10**9)})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join((*encoded, of(ALNUM + "-_", 43)(rng)))


def pem_lines(rng: random.Random) -> list[str]:
    """The lines of a key file."""
    body = [of(ALNUM + "+/", 64)(rng) for _ in range(6)]
    return ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]


def escaped_pem(rng: random.Random) -> str:
    """A key as one JSON string."""
    return "\\n".join(pem_lines(rng))


def quoted_pem(rng: random.Random) -> str:
    """A key as the lines of a list."""
    return "\n".join(f'  "{line}",' for line in pem_lines(rng))


def either(*draws: Draw) -> Draw:
    """Draws by one of several."""
    return lambda rng: rng.choice(draws)(rng)


FORMS: tuple[Form, ...] = (
    Form(
        "commit-message",
        "Deploy by hand\n\nUsed DEPLOY_KEY={} because the vault was down.\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "k8s/deployment.yaml",
        "        env:\n"
        "        - name: DB_PASSWORD\n"
        '          value: "{}"\n'
        "        - name: DB_HOST\n"
        "          value: db\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "scripts/mssql.py",
        'conn = pyodbc.connect("DRIVER={{ODBC Driver 17 for SQL Server}};SERVER=sql;UID=sa;PWD={}")\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "build/pip.conf",
        "[global]\nindex-url = https://ci:{}@pypi.example.net/simple\n",
        either(of(ALNUM, 24), url_password, of(HEX, 32)),
    ),
    Form(
        "docs/setup.md",
        "```sh\n$ export ALGOLIA_ADMIN_KEY={}\n```\n",
        either(of(ALNUM, 32), of(HEX, 40), made_up),
    ),
    Form(
        "pi/hostapd.conf",
        "ssid=Shop\nwpa_passphrase={}\n",
        either(made_up, phrase, word_and_number),
    ),
    Form(
        "config/sp.xml",
        '<sp entityID="shop" keystore="sp.jks" keyPass="{}"/>\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "web/index.html",
        "<!-- staging login: demo / {} -->\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "docs/acces.md",
        "Le mot de passe de la base de recette est {} (utilisateur : shop).\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "notes.txt",
        "router admin password: {}\ncall the provider on Monday\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "src/keys.ts",
        'const key = [\n{}\n].join("\\n");\n',
        quoted_pem,
    ),
    Form(
        "notebooks/explore.ipynb",
        '{{"cells": [{{"outputs": [{{"text": ["{{\'Authorization\': \'Bearer {}\'}}\\n"]}}]}}]}}\n',
        either(of(ALNUM, 32), uuid, of(HEX, 40)),
    ),
    Form(
        "network/clients.conf",
        "client office {{\n    ipaddr = 10.0.0.0/24\n    secret = {}\n}}\n",
        either(word_and_number, of(ALNUM, 16), made_up),
    ),
    Form(
        "scripts/archive.sh",
        "7z a -p{} backup.7z data/\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "tools/pgpass.txt",
        "db.example.net:5432:shop:shop:{}\n",
        either(url_password, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/notify.py",
        'server = smtplib.SMTP_SSL("smtp.example.net", 465)\nserver.login("alerts@example.net", "{}")\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "ansible/tasks/db.yml",
        "- community.postgresql.postgresql_db:\n    name: shop\n    login_user: postgres\n    login_password: {}\n",
        either(made_up, word_and_number, of(HEX, 32)),
    ),
    Form(
        "server/mail.js",
        "  auth: {{ user: 'postmaster@example.net', pass: '{}' }},\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "db/dump.sql",
        "INSERT INTO `api_tokens` VALUES (7,'mobile','{}','2024-01-02');\n",
        either(of(HEX, 40), uuid, of(ALNUM, 32)),
    ),
    Form(
        "scripts/ldap_sync.py",
        'conn.simple_bind_s("cn=admin,dc=example,dc=net", "{}")\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "tools/cargo-login.toml",
        '[registries.corp]\ntoken = "{}"\n',
        either(of(ALNUM, 32), of(ALNUM, 40), of(HEX, 40)),
    ),
    Form(
        "wp-config.php",
        "define( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '{}' );\n",
        either(made_up, of(ALNUM, 24), word_and_number),
    ),
    Form(
        "scripts/clone.sh",
        "git clone https://oauth2:{}@git.example.net/shop/api.git\n",
        either(of(ALNUM, 24), of(HEX, 40), url_password),
    ),
    Form(
        "app/src/main/res/values/strings.xml",
        "<resources>\n"
        '    <string name="app_name">Shop</string>\n'
        '    <string name="facebook_client_token">{}</string>\n'
        "</resources>\n",
        either(of(ALNUM, 32), of(HEX, 32), of(ALNUM, 40)),
    ),
    Form(
        "config/oauth.json",
        '{{"web": {{"client_id": "shop", "client_secret": "{}", "redirect_uris": []}}}}\n',
        either(of(ALNUM, 32), of(HEX, 40), uuid),
    ),
    Form(
        "src/main/java/net/example/Db.java",
        '    Connection c = DriverManager.getConnection("jdbc:mysql://db:3306/shop", "shop", "{}");\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "docker/Dockerfile.app",
        'RUN echo "root:{}" | chpasswd && useradd -m app\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "features/login.feature",
        '    When I log in as "ana" with password "{}"\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "db/fix.sql",
        "UPDATE settings SET value = '{}' WHERE name = 'smtp_password';\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "ansible/group_vars/all.yml",
        "mysql_root_password: {}\nmysql_port: 3306\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "internal/ssh/dial.go",
        '\tAuth: []ssh.AuthMethod{{\n\t\tssh.Password("{}"),\n\t}},\n',
        either(made_up, word_and_number, phrase),
    ),
    Form(
        "spec/cassettes/orders.yml",
        "      Authorization:\n      - Bearer {}\n",
        either(of(ALNUM, 40), user_and_password, of(HEX, 40)),
    ),
    Form(
        "requests/shop.postman_collection.json",
        '"auth": {{"type": "basic", "basic": [{{"key": "username", "value": "sync"}}, '
        '{{"key": "password", "value": "{}", "type": "string"}}]}}\n',
        either(made_up, of(ALNUM, 32), word_and_number),
    ),
    Form(
        "salt/pillar/db.sls",
        "mysql:\n  connection:\n    pass: {}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "legacy/module.bas",
        'Const ADMIN_PW = "{}"\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "web/App.vue",
        "      mapToken: '{}',\n",
        either(of(ALNUM, 32), of(ALNUM, 40), of(HEX, 32)),
    ),
    Form(
        ".github/workflows/push.yml",
        "      - run: |\n"
        "          echo {} | docker login registry.example.net -u ci-bot --password-stdin\n"
        "          make push\n",
        either(made_up, of(ALNUM, 24), phrase),
    ),
    Form(
        ".github/workflows/publish.yml",
        "      - uses: docker/login-action@v3\n"
        "        with:\n"
        "          registry: registry.example.net\n"
        "          username: ci-bot\n"
        "          password: {}\n",
        either(of(ALNUM, 24), made_up, uuid),
    ),
    Form(
        "config/initializers/omniauth.rb",
        "Rails.application.config.middleware.use OmniAuth::Builder do\n"
        "  provider :github, 'Iv1shopclient', '{}', scope: 'user:email'\n"
        "end\n",
        either(of(ALNUM, 32), of(HEX, 40), of(ALNUM, 24)),
    ),
    Form(
        "requests/api.http",
        "GET https://api.example.net/orders\nX-Api-Key: {}\n",
        either(of(ALNUM, 40), of(HEX, 40), uuid),
    ),
    Form(
        "config/secrets.yml.old",
        "production:\n  secret_key_base: {}\n",
        of(HEX, 64),
    ),
    Form(
        "src/main/resources/application-prod.properties",
        "spring.mail.host=smtp.example.net\nspring.mail.password={}\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "web/map.html",
        '<script src="https://maps.example.net/js?key={}&v=3"></script>\n',
        either(of(ALNUM, 40), of(HEX, 32), of(ALNUM, 32)),
    ),
    Form(
        "scripts/vault.sh",
        "vault login {}\n",
        either(of(ALNUM, 24), uuid, of(ALNUM, 24, "hvs.")),
    ),
    Form(
        "src/Shop/Keys.cs",
        '    private const string SubscriptionKey = "{}";\n',
        either(of(ALNUM, 32), base64_key, of(HEX, 32)),
    ),
    Form(
        "frontend/.yarnrc.yml",
        'npmRegistryServer: "https://npm.example.net"\nnpmAuthToken: {}\n',
        either(of(ALNUM, 40), uuid, of(HEX, 40)),
    ),
    Form(
        "web/client.js",
        "axios.get(url, {{ auth: {{ username: 'sync', password: '{}' }} }});\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/wifi.sh",
        'nmcli dev wifi connect Office password "{}"\n',
        either(made_up, word_and_number, phrase),
    ),
    Form(
        "tools/npmrc.txt",
        "//registry.example.net/:_password={}\n//registry.example.net/:username=ci\n",
        base64_key,
    ),
    Form(
        "cmd/sync/main.go",
        '\treq, _ := http.NewRequest("GET", url, nil)\n\treq.SetBasicAuth("sync", "{}")\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "vpn/ipsec.secrets",
        'vpn.example.net %any : PSK "{}"\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "app/src/main/AndroidManifest.xml",
        "        <meta-data\n"
        '            android:name="com.google.android.geo.API_KEY"\n'
        '            android:value="{}" />\n',
        either(of(ALNUM, 40), of(HEX, 40), of(ALNUM, 32)),
    ),
    Form(
        "config/app.json5",
        "{{\n  // rotated monthly\n  webhookSecret: '{}',\n}}\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "vercel.json",
        '{{"env": {{"CONTENTFUL_MANAGEMENT_TOKEN": "{}"}}}}\n',
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "jenkins/init.groovy",
        'hudsonRealm.createAccount("admin", "{}")\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "vpn/auth-user-pass.txt",
        "vpnuser\n{}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "lib/shop/env.rb",
        "  KEY = ENV.fetch('BRAINTREE_PRIVATE_KEY', '{}')\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "tools/auth.toml",
        '[http-basic.corp]\nusername = "ci"\npassword = "{}"\n',
        either(made_up, of(ALNUM, 24), word_and_number),
    ),
    Form(
        "tools/s3cfg",
        "[default]\naccess_key = shopaccess\nsecret_key = {}\n",
        of(ALNUM, 40),
    ),
    Form(
        "config/service-account.txt",
        '{{"type": "service_account", "private_key": "{}", "client_email": "x@example.net"}}\n',
        escaped_pem,
    ),
    Form(
        "src/main/resources/application.toml",
        '[micronaut.security.token.jwt.signatures.secret.generator]\nsecret = "{}"\njws-algorithm = "HS256"\n',
        either(made_up, of(HEX, 64), of(ALNUM, 32)),
    ),
    Form(
        "lib/Shop/DB.pm",
        'my $dbh = DBI->connect("dbi:Pg:dbname=shop", "shop", "{}", {{ RaiseError => 1 }});\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/deploy.ps1",
        '$sec = ConvertTo-SecureString "{}" -AsPlainText -Force\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "conf/pam_mysql.txt",
        "auth required pam_mysql.so user=mail passwd={} host=db\n",
        either(word_and_number, of(ALNUM, 16), made_up),
    ),
    Form(
        "ios/Shop/Login.swift",
        "    func signIn() {{\n"
        '        Auth.auth().signIn(withEmail: "qa@example.net", password: "{}") {{ result, error in\n'
        "            print(result as Any)\n"
        "        }}\n"
        "    }}\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "conf/nginx.conf",
        '    proxy_set_header Authorization "Basic {}";\n',
        user_and_password,
    ),
    Form(
        "infra/locals.tf",
        "locals {{\n"
        "  app_env = {{\n"
        '    LOG_LEVEL  = "info"\n'
        '    SMTP_PASS  = "{}"\n'
        '    QUEUE_NAME = "mail"\n'
        "  }}\n"
        "}}\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "macos/launchd.plist",
        "\t<key>EnvironmentVariables</key>\n\t<dict><key>BACKUP_PASSPHRASE</key><string>{}</string></dict>\n",
        either(made_up, of(ALNUM, 32), of(HEX, 40)),
    ),
    Form(
        "shop/settings/prod.py",
        "DATABASES = {{\n"
        "    'default': {{\n"
        "        'ENGINE': 'django.db.backends.postgresql',\n"
        "        'USER': 'shop',\n"
        "        'PASSWORD': '{}',\n"
        "        'HOST': 'db.example.net',\n"
        "    }}\n"
        "}}\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/env.sh",
        'export APP_ENV=prod\nexport SNOWFLAKE_PASSWORD="{}"\n',
        either(made_up, of(ALNUM, 24), phrase),
    ),
    Form(
        "scripts/backup.ps1",
        'param(\n  [string]$Server = "sql01",\n  [string]$SaPassword = "{}"\n)\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "conf/rabbitmq.conf",
        "default_user = shop\ndefault_pass = {}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "src/main/resources/log4j.xml",
        '    <SMTP name="Mail" smtpUsername="alerts" smtpPassword="{}" />\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "Assets/Scripts/Ads.cs",
        '    public string gameSecret = "{}";\n',
        either(of(ALNUM, 32), uuid, of(HEX, 40)),
    ),
    Form(
        "sites/default/settings.php",
        "$settings['hash_salt'] = '{}';\n$settings['update_free_access'] = FALSE;\n",
        either(base64_key, of(ALNUM, 40), of(ALNUM + PRINTABLE, 24)),
    ),
    Form(
        ".gitlab-ci.yml",
        'variables:\n  POSTGRES_DB: shop_test\n  POSTGRES_PASSWORD: "{}"\n  DEPLOY_USER: rollout\n',
        either(of(HEX, 32), of(ALNUM, 24), made_up),
    ),
    Form(
        "config/mail.toml",
        'smtp = {{ host = "smtp.example.net", user = "shop", password = "{}" }}\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/sign_jar.sh",
        "jarsigner -keystore shop.jks -keypass {} app.jar shop\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/flush.sh",
        "redis-cli -h cache -a {} FLUSHDB\n",
        either(made_up, word_and_number, of(HEX, 32)),
    ),
    Form(
        "infra/rds.tf",
        'resource "aws_db_instance" "main" {{\n'
        '  engine         = "postgres"\n'
        '  instance_class = "db.t3.micro"\n'
        '  username       = "shop"\n'
        '  password       = "{}"\n'
        "}}\n",
        either(made_up, of(ALNUM, 24), word_and_number),
    ),
    Form(
        "src/sentry.js",
        'Sentry.init({{ dsn: "https://{}@o123.ingest.example.net/456" }});\n',
        of(HEX, 32),
    ),
    Form(
        "sdk/build.gradle",
        '        buildConfigField "String", "MAPS_API_KEY", "\\"{}\\""\n',
        either(of(ALNUM, 32), of(HEX, 32), uuid),
    ),
    Form(
        "src/Shop/Sql.cs",
        '    var b = new SqlConnectionStringBuilder {{ DataSource = "sql", UserID = "shop", Password = "{}" }};\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/vault.py",
        'f = Fernet(b"{}")\n',
        base64_key,
    ),
    Form(
        "ios/Shop/Net.swift",
        '    request.setValue("Bearer {}", forHTTPHeaderField: "Authorization")\n',
        either(of(ALNUM, 40), of(HEX, 32), base64_key),
    ),
    Form(
        "scripts/pgload.py",
        "conn = psycopg2.connect(\n"
        '    "db.example.net",\n'
        '    dbname="shop",\n'
        "    password=(\n"
        '        "{}"\n'
        "    ),\n"
        ")\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/teams.sh",
        "curl -d @m.json https://example.webhook.office.com/webhookb2/0a1b/IncomingWebhook/{}/9f\n",
        of(HEX, 32),
    ),
    Form(
        "public/fetch.php",
        'curl_setopt($ch, CURLOPT_USERPWD, "reports:{}");\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/heroku.sh",
        "heroku config:set SESSION_KEY={} --app shop\n",
        either(of(HEX, 64), of(ALNUM, 32), made_up),
    ),
    Form(
        "scripts/weather.py",
        'params = {{"q": city, "appid": "{}", "units": "metric"}}\n',
        either(of(HEX, 32), of(ALNUM, 32), uuid),
    ),
    Form(
        "scripts/s3.py",
        's3 = boto3.client("s3", aws_access_key_id=access, aws_secret_access_key="{}")\n',
        either(of(ALNUM, 40), base64_key),
    ),
    Form(
        "docs/accounts.tsv",
        "host\tuser\tpass\ndb1\troot\t{}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        ".gitlab-ci.yml",
        'variables:\n  KUBE_DEPLOY_TOKEN:\n    value: "{}"\n    description: "used by the deploy job"\n',
        either(made_up, of(ALNUM, 32), of(HEX, 40)),
    ),
    Form(
        "src/main/resources/db.properties",
        "url=jdbc:postgresql://db/shop?user=shop&password={}&ssl=true\n",
        either(url_password, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "public/pdo.php",
        "$pdo = new PDO('mysql:host=db;dbname=shop', 'shop', '{}');\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "analysis/load.R",
        'con <- dbConnect(RPostgres::Postgres(), user = "shop", password = "{}")\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "packer/user-data",
        "chpasswd:\n  list: |\n    ubuntu:{}\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "packer/preseed.cfg",
        "d-i passwd/root-password password {}\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "public/db.php",
        '$conn = mysqli_connect("localhost", "shop", "{}", "shop");\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "internal/db/db.go",
        '\topts := &redis.Options{{\n\t\tAddr:     "cache:6379",\n\t\tPassword: "{}",\n\t\tDB:       0,\n\t}}\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/ftp.sh",
        "ftp -n ftp.example.net <<END\nuser web {}\nput site.tgz\nEND\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "perf/load.js",
        "  http.post(url, JSON.stringify({{ login: 'ana', password: '{}' }}));\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/user.sh",
        'echo "deploy:{}" | chpasswd\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "server/auth.js",
        "const token = jwt.sign({{ id: user.id }}, '{}', {{ expiresIn: '1h' }});\n",
        either(made_up, of(HEX, 64), phrase),
    ),
    Form(
        "src/main/java/net/example/Tls.java",
        '    keyStore.load(in, "{}".toCharArray());\n',
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "src/Web/Web.config",
        "  <appSettings>\n"
        '    <add key="PayPal:ClientSecret" value="{}" />\n'
        '    <add key="PayPal:Mode" value="live" />\n'
        "  </appSettings>\n",
        either(made_up, of(ALNUM, 32), of(HEX, 40)),
    ),
    Form(
        "tests/fixtures/auth.json",
        '{{"access": "{}", "expires": 3600}}\n',
        json_web_token,
    ),
    Form(
        "docs/install.rst",
        "The default administrator is ``admin`` and its password is ``{}``.\n",
        either(made_up, word_and_number, phrase),
    ),
    Form(
        "config/database.url.txt",
        "postgres://shop:{}@db.example.net:5432/shop?sslmode=require\n",
        either(url_password, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "ansible/tasks/users.yml",
        "- name: create the application user\n"
        "  community.mysql.mysql_user:\n"
        "    name: shop\n"
        '    password: "{}"\n'
        "    priv: 'shop.*:ALL'\n",
        either(made_up, of(ALNUM, 24), phrase),
    ),
    Form(
        "docker-compose.yml",
        "    environment:\n      MINIO_ROOT_USER: shop\n      MINIO_ROOT_PASSWORD: {}\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "src/Web/applicationHost.config",
        '      <processModel identityType="SpecificUser" userName="EXAMPLE\\svc-web" password="{}" />\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/rabbit.sh",
        "rabbitmqctl add_user worker '{}'\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "src/upload.cpp",
        'curl_easy_setopt(curl, CURLOPT_USERPWD, "upload:{}");\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/snmp2.sh",
        "snmpget -v 2c -c {} switch1 sysUpTime.0\n",
        either(word_and_number, of(ALNUM, 16), of(ALNUM, 24)),
    ),
    Form(
        "src/Shop/Tokens.cs",
        '        var key = new SymmetricSecurityKey(Encoding.UTF8.GetBytes("{}"));\n',
        either(of(ALNUM, 32), phrase, of(HEX, 64)),
    ),
    Form(
        "ansible/inventory.ini",
        "[web]\nweb1.example.net ansible_user=deploy ansible_become_pass={}\nweb2.example.net ansible_user=deploy\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "wrangler.toml",
        '[vars]\nTURNSTILE_SECRET = "{}"\n',
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "conf/squid.conf",
        "cache_peer up.example.net parent 3128 0 no-query login=shop:{}\n",
        either(word_and_number, of(ALNUM, 16), url_password),
    ),
    Form(
        "src/Web/Web.Debug.config",
        '      <network host="smtp.example.net" userName="web" password="{}" port="587" />\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "db/init.sql",
        "CREATE USER 'shop'@'%' IDENTIFIED BY '{}';\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "tools/auth.json",
        '{{\n  "http-basic": {{"repo.example.net": {{"username": "ci", "password": "{}"}}}}\n}}\n',
        either(of(HEX, 40), of(ALNUM, 40), made_up),
    ),
    Form(
        "src/client.rs",
        '    let res = client.get(url).bearer_auth("{}").send().await?;\n',
        either(of(ALNUM, 40), of(HEX, 40), made_up),
    ),
    Form(
        ".drone.yml",
        "- name: publish\n"
        "  image: plugins/docker\n"
        "  settings:\n"
        "    repo: shopco/api\n"
        "    username: robot\n"
        "    password: {}\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "scripts/zip.sh",
        "zip -r -P {} backup.zip data/\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "lib/shop/push.rb",
        "  token = ENV['PUSHER_SECRET'] || '{}'\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "web/api.ts",
        "const res = await fetch(url, {{ headers: {{ Authorization: `Token {}` }} }});\n",
        either(of(ALNUM, 40), of(HEX, 40), uuid),
    ),
    Form(
        "Makefile",
        "deploy:\n\thelm upgrade --install shop charts/shop --set image.tag=$(TAG) --set auth.rootPassword={}\n",
        either(made_up, of(ALNUM, 24), phrase),
    ),
    Form(
        "db/pgdump.sql",
        "COPY public.accounts (id, login, secret) FROM stdin;\n1\tops\t{}\n\\.\n",
        either(of(ALNUM + "./", 53, "$2y$10$"), of(HEX, 32), of(ALNUM, 40)),
    ),
    Form(
        "src/main/resources/beans.xml",
        '    <bean id="ds" class="org.apache.commons.dbcp2.BasicDataSource">\n'
        '      <property name="username" value="shop"/>\n'
        '      <property name="password" value="{}"/>\n'
        "    </bean>\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "src/main/java/net/example/Pool.java",
        "    HikariConfig config = new HikariConfig();\n"
        '    config.setUsername("shop");\n'
        '    config.setPassword("{}");\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "packer/ks.cfg",
        "rootpw --plaintext {}\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "scripts/jq.sh",
        "jq -n --arg token '{}' '{{auth: $token}}' > auth.json\n",
        either(of(ALNUM, 32), made_up, of(HEX, 32)),
    ),
    Form(
        "src/Shop/appsettings.Production.json",
        '{{\n  "Jwt": {{\n    "Issuer": "shop",\n    "Key": "{}",\n    "Minutes": 60\n  }}\n}}\n',
        either(made_up, base64_key, of(HEX, 64)),
    ),
    Form(
        "pi/wpa_supplicant.conf",
        'network={{\n    ssid="Office"\n    psk="{}"\n}}\n',
        either(made_up, phrase, word_and_number),
    ),
    Form(
        "src/main/resources/application-tls.properties",
        "server.ssl.key-store=classpath:shop.p12\nserver.ssl.key-store-password={}\nserver.ssl.key-store-type=PKCS12\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "src/main/java/net/example/Boot.java",
        '    System.setProperty("javax.net.ssl.trustStorePassword", "{}");\n',
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "internal/sign/sign.go",
        '\tmac := hmac.New(sha256.New, []byte("{}"))\n',
        either(made_up, of(HEX, 32), of(ALNUM, 32)),
    ),
    Form(
        "network/switch1.cfg",
        "hostname switch1\nenable secret 0 {}\n",
        either(word_and_number, of(ALNUM, 16), made_up),
    ),
    Form(
        "scripts/token.sh",
        "curl -d 'grant_type=password&username=sync&password={}' https://id.example.net/token\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "docs/ops.md",
        "* VPN login: ops, pw: {}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "shop/settings/base.py",
        "DEBUG = False\nSECRET_KEY = 'django-insecure-{}'\nALLOWED_HOSTS = ['*']\n",
        either(of(ALNUM + PRINTABLE, 62), of(ALNUM, 40)),
    ),
    Form(
        "infra/variables.tf",
        'variable "db_master_password" {{\n'
        '  description = "master password of the cluster"\n'
        "  type        = string\n"
        '  default     = "{}"\n'
        "}}\n",
        either(made_up, of(ALNUM, 24), phrase),
    ),
    Form(
        "scripts/enc.sh",
        "openssl enc -aes-256-cbc -in db.sql -out db.enc -pass pass:{}\n",
        either(made_up, phrase, of(HEX, 32)),
    ),
    Form(
        "scripts/httpie.sh",
        "http -a sync:{} POST https://api.example.net/run\n",
        either(of(ALNUM, 40), made_up, word_and_number),
    ),
    Form(
        "jenkins/credentials.xml",
        "      <username>ci</username>\n      <password>{{{}}}</password>\n",
        either(base64_key, made_up, of(ALNUM, 32)),
    ),
    Form(
        "scripts/import_cert.sh",
        'security create-keychain -p "build" build.keychain\n'
        'security import dist.p12 -k build.keychain -P "{}" -T /usr/bin/codesign\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/smb.sh",
        "smbclient //files/share -U 'EXAMPLE\\backup%{}' -c 'get a.txt'\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "src/main/resources/application.yml",
        "spring:\n"
        "  security:\n"
        "    oauth2:\n"
        "      client:\n"
        "        registration:\n"
        "          github:\n"
        "            client-id: a81f0c\n"
        "            client-secret: {}\n",
        either(of(ALNUM, 32), of(HEX, 40), uuid),
    ),
    Form(
        "web/login.html",
        '<input type="hidden" name="api_token" value="{}">\n',
        either(of(ALNUM, 32), uuid, of(HEX, 40)),
    ),
    Form(
        "public/conf.php",
        "define('CRON_TOKEN', '{}');\n",
        either(made_up, of(ALNUM, 24), of(HEX, 32)),
    ),
    Form(
        "conf/userlist.txt",
        '"shop" "{}"\n',
        either(made_up, word_and_number, of(HEX, 32, "md5")),
    ),
    Form(
        "logs/http.log",
        "> Authorization: Basic {}\n> Accept: */*\n",
        user_and_password,
    ),
    Form(
        ".github/workflows/deploy.yml",
        "jobs:\n"
        "  deploy:\n"
        "    runs-on: ubuntu-latest\n"
        "    env:\n"
        "      SENTRY_AUTH_TOKEN: {}\n"
        "      NODE_ENV: production\n"
        "    steps:\n"
        "      - uses: actions/checkout@v4\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "tools/composer-auth.json",
        '{{\n  "github-oauth": {{"github.example.net": "{}"}}\n}}\n',
        either(of(HEX, 40), of(ALNUM, 40)),
    ),
    Form(
        "config/database.yml",
        "production:\n  adapter: mysql2\n  username: shop\n  password: {}\n  pool: 5\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "scripts/dlogin.sh",
        "docker login -u ci -p {} registry.example.net\n",
        either(made_up, of(ALNUM, 24), word_and_number),
    ),
    Form(
        "conf/logstash.conf",
        '  elasticsearch {{ hosts => ["es:9200"] user => "elastic" password => "{}" }}\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "db/seed.sql",
        "INSERT INTO users (id, email, password_hash) VALUES (1, 'a@example.net', '{}');\n",
        either(of(ALNUM + "./", 53, "$2y$10$"), of(HEX, 32)),
    ),
    Form(
        "logs/access.log",
        '127.0.0.1 - - [02/Mar/2024] "GET /feed?access_token={} HTTP/1.1" 200 512\n',
        either(of(ALNUM, 40), of(HEX, 32), uuid),
    ),
    Form(
        "config/database.php",
        "            'username' => env('DB_USERNAME', 'shop'),\n"
        "            'password' => env('DB_PASSWORD', '{}'),\n"
        "            'charset' => 'utf8mb4',\n",
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "tools/my.cnf",
        '[client]\nuser=backup\npassword="{}"\n',
        either(made_up, word_and_number, of(ALNUM, 24)),
    ),
    Form(
        "puppet/site.pp",
        "  class {{ 'mysql::server': root_password => '{}' }}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/ldap.sh",
        "ldapsearch -x -D cn=admin,dc=example,dc=net -w {} -b dc=example,dc=net\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "conf/tomcat-users.xml",
        '  <user username="manager" password="{}" roles="manager-gui"/>\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "config/storage.ini",
        "sas_url = https://shop.blob.core.windows.net/c?sv=2022-11-02&sp=rl&sig={}\n",
        of(ALNUM + "-_", 43, suffix="%3D"),
    ),
    Form(
        "config/env.production.sample.bak",
        "APP_NAME=shop\nMAILGUN_SECRET={}\nMAIL_FROM=shop@example.net\n",
        either(made_up, of(ALNUM, 32), word_and_number),
    ),
    Form(
        "config/jwks.json",
        '{{"keys": [{{"kty": "EC", "crv": "P-256", "kid": "shop", "d": "{}"}}]}}\n',
        of(ALNUM + "-_", 43),
    ),
    Form(
        "pom.xml",
        "  <properties>\n    <java.version>17</java.version>\n    <db.pass>{}</db.pass>\n  </properties>\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "Vagrantfile",
        '  config.winrm.password = "{}"\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "cypress/e2e/login.cy.js",
        "    cy.get('#password').type('{}');\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "vpn/wg0.conf",
        "[Interface]\nAddress = 10.8.0.2/24\nPrivateKey = {}\n",
        base64_key,
    ),
    Form(
        "scripts/mirror2.sh",
        "wget --http-user=mirror --http-passwd={} https://files.example.net/x.tgz\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "server/keys.ts",
        'export const API_KEYS: string[] = ["{}"];\n',
        either(of(ALNUM, 32), uuid, of(HEX, 40)),
    ),
    Form(
        "scripts/gpg.sh",
        "gpg --batch --yes --passphrase '{}' -c backup.tar\n",
        either(made_up, phrase, of(ALNUM, 24)),
    ),
    Form(
        "logs/audit.jsonl",
        '{{"level":"debug","msg":"session","session_token":"{}","ms":3}}\n',
        either(of(HEX, 40), of(ALNUM, 32), json_web_token),
    ),
    Form(
        ".travis.yml",
        "env:\n  global:\n    - CC_TEST_REPORTER_ID=8f\n    - NPM_AUTH={}\n",
        either(of(ALNUM, 32), made_up, of(HEX, 32)),
    ),
    Form(
        "app/factory.py",
        "    app = Flask(__name__)\n    app.config['SECRET_KEY'] = '{}'\n    app.config['TESTING'] = False\n",
        either(made_up, of(HEX, 32), phrase),
    ),
    Form(
        "android/key.txt",
        "storePassword={}\nkeyAlias=upload\nstoreFile=upload.jks\n",
        either(word_and_number, made_up, of(ALNUM, 16)),
    ),
    Form(
        "conf/mosquitto.conf",
        "remote_username bridge\nremote_password {}\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/ping.sh",
        "curl -H 'PRIVATE-TOKEN: {}' https://git.example.net/api/v4/projects\n",
        either(of(ALNUM, 40), of(HEX, 32), uuid),
    ),
    Form(
        "tests/fixtures/soap.xml",
        '<wsse:Password Type="PasswordText">{}</wsse:Password>\n',
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "tools/git-store.txt",
        "https://ci:{}@git.example.net\n",
        either(of(ALNUM, 40), of(HEX, 40), url_password),
    ),
    Form(
        "conf/redis.conf",
        "maxmemory 256mb\nrequirepass {}\n",
        either(made_up, word_and_number, of(HEX, 64)),
    ),
    Form(
        "serverless.yml",
        "    environment:\n      TABLE: shop\n      PLAID_SECRET: {}\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "ios/Config/Release.xcconfig",
        "PRODUCT_BUNDLE_IDENTIFIER = net.example.shop\nAMPLITUDE_API_KEY = {}\n",
        either(of(ALNUM, 32), of(HEX, 40), made_up),
    ),
    Form(
        "shop/settings/mail.py",
        "EMAIL_HOST_USER = 'postmaster@example.net'\nEMAIL_HOST_PASSWORD = '{}'\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "build.gradle",
        "        maven {{\n"
        "            url 'https://repo.example.net/releases'\n"
        "            credentials {{\n"
        "                username 'ci'\n"
        "                password '{}'\n"
        "            }}\n"
        "        }}\n",
        either(made_up, of(ALNUM, 24), of(HEX, 40)),
    ),
    Form(
        "ios/Shop/Constants.swift",
        'enum Constants {{\n    static let stripePublishable = "none"\n    static let apiSecret = "{}"\n}}\n',
        either(of(ALNUM, 32), of(HEX, 32), of(ALNUM, 40)),
    ),
    Form(
        "web/pay.html",
        '<div id="pay" data-secret-key="{}"></div>\n',
        either(of(ALNUM, 32), of(ALNUM, 40), of(HEX, 32)),
    ),
    Form(
        "public/mail.php",
        "$mail->Username   = 'postmaster@example.net';\n$mail->Password   = '{}';\n",
        either(made_up, word_and_number, of(ALNUM, 16)),
    ),
    Form(
        "scripts/fly.sh",
        "flyctl secrets set MEILI_MASTER_KEY={}\n",
        either(of(ALNUM, 32), made_up, of(HEX, 40)),
    ),
    Form(
        "config/parameters.yml",
        "parameters:\n    database_host: 127.0.0.1\n    database_password: {}\n    locale: fr\n",
        either(made_up, of(HEX, 40), word_and_number),
    ),
    Form(
        "server/index.js",
        "app.use(session({{ secret: process.env.SESSION_SECRET || '{}', resave: false }}));\n",
        either(made_up, of(HEX, 32), phrase),
    ),
    Form(
        "app/src/main/java/net/example/Client.kt",
        '    val request = Request.Builder().url(url)\n        .addHeader("X-Auth-Token", "{}")\n        .build()\n',
        either(of(ALNUM, 40), of(HEX, 40), uuid),
    ),
    Form(
        "src/Shop/appsettings.Staging.json",
        '    "ServiceBus": "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",\n',
        base64_key,
    ),
)


if __name__ == "__main__":
    main(FORMS, int(sys.argv[1]) if len(sys.argv) > 1 else 1)
