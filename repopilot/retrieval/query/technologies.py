"""Names of technologies and of features that have a name of their own, as questions use them. Pure.

Other words of a question say in the asker's words what the code calls differently; these are what the code calls them
too. A repository that has none of the spellings of one doesn't have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from repopilot.index.tokens import expand, words

_GROUPS = """
    Redis, valkey; Memcached, memcache; MongoDB, mongo, mongoose; PostgreSQL, postgres, psycopg, psql, pgx; SQLite;
    MySQL, mariadb; Cassandra; DynamoDB, dynamo; Elasticsearch, opensearch, elastic search; etcd; Consul; ZooKeeper;
    Neo4j; ClickHouse; InfluxDB; CouchDB; Firebase, firestore; Supabase;
    SQL, sqlite, postgres, mysql, sqlalchemy, database; Kafka; RabbitMQ, amqp, rabbit; MQTT, mosquitto; Celery;
    SQS, aws; ZeroMQ, zmq; Kinesis, aws; NATS; WebSocket, web socket; GraphQL, gql; gRPC, grpc; SOAP;
    XML- RPC, xmlrpc; JSON-RPC, jsonrpc, json rpc; SMTP, sendmail, mailer; IMAP; FTP, sftp; SSH; LDAP, ldaps; SAML;
    OAuth, oauth2, oauth 2; OpenID, oidc; Kerberos, gssapi; JWT, json web token, jsonwebtoken, jose;
    HTTP/3, http3, quic; WebRTC; Server-Sent Events, event source, eventsource, sse;
    TLS, ssl, https, rustls, openssl; mTLS, client certificate, mutual tls, client cert;
    DNS, resolver, getaddrinfo, nslookup; SOCKS, socks5, socks4; Bluetooth; SNMP; telnet; socket, sock, tcp, udp;
    XML, xpath, lxml, libxml, sax; YAML, yml; TOML; CSV, tsv; Protocol Buffers, protobuf, proto, proto3;
    MessagePack, msgpack; Avro; Parquet; BSON; CBOR; Thrift; Excel, xlsx, spreadsheet; PDF; HCL; JSON5; JSONC; SVG;
    Markdown, commonmark; LaTeX; JSON; JSON Schema, jsonschema; JSONPath, json path; BibTeX; RSS; Atom feed, atom;
    Brotli, br; Zstandard, zstd; LZ4; Snappy; bzip2, bz2; LZMA, xz; S3, aws, amazon, minio; AWS, amazon, boto, s3;
    Azure; GCP, google cloud, gcs; Kubernetes, k8s, kubectl, helm; Docker; Terraform; Vault, hashicorp; Heroku;
    Lambda function, aws; Cloudflare; Vercel; Netlify; Prometheus; Grafana; OpenTelemetry, otel; Sentry; StatsD;
    Jaeger; Zipkin; Datadog; Splunk; New Relic, newrelic; Slack; Discord; Telegram; Twilio; Stripe; PayPal; Twitter;
    GitLab; Bitbucket; Jira; Algolia; React; Vue, vuejs; Angular; Svelte; Django; Laravel; Rails, railties;
    Electron; Qt; GTK; OpenGL; Vulkan; jQuery; TypeScript; Webpack; Babel; WebAssembly, wasm; Lua; CUDA, gpu;
    OpenCL; Arduino; Android; Blockchain; Bitcoin; Ethereum; TensorFlow; PyTorch, torch; LLM, language model;
    OpenAI; Selenium; Playwright; Puppeteer; Jupyter, notebook, ipynb; RxJS; circuit breaker, circuitbreaker;
    throttling, throttle, throttler, rate limit, ratelimit, rate limiter, ratelimiter;
    rate limiting, rate limit, ratelimit, rate limiter, ratelimiter, throttle, limitation de débit;
    watch mode, watch, watcher, inotify, fsevent; hot reload, reload, reloader, livereload, hmr;
    two- factor, two factor, totp, otp, 2fa, mfa; captcha; webhook, web hook; cron, crontab, scheduler, schedule;
    dead letter; leaderboard; shopping cart; payment, checkout, billing; invoice; dark mode, dark theme, theme;
    drag and drop, draggable; speech recognition, speech; machine learning, sklearn, torch; neural network, neural;
    face recognition; geolocation, geoip; push notification, notification; service worker, serviceworker;
    single sign-on, single sign on, sso, saml, oidc; connection pool, pool, pooling;
    load balancer, load balancing, balancer, round robin; service discovery; leader election, raft, paxos;
    sharding, shard; two-phase commit; event sourcing; saga; bloom filter;
    skeleton, scaffold, scaffolding, cookiecutter; progress bar, progressbar, progress;
    spell checker, spelling, spellcheck; fuzzy, levenshtein;
    internationalization, i18n, locale, gettext, translation, l10n; telemetry, analytics; licence key, license key;
    incremental parser, streaming parser, incremental, streaming, sax, pull parser, feed;
    admin panel, admin, dashboard; full-text search, full text, fulltext, fts; migration tool, migration, migrate;
    optical character recognition, ocr; QR code, qrcode, qr; barcode; thumbnail; watermark; video, ffmpeg, mp4;
    audio, mp3, wav; emoji; localStorage, local storage, sessionStorage, web storage; IndexedDB;
    ORM, object relational, sqlalchemy, activerecord; undo, undoable; self-update, self update, autoupdate;
    background job, job queue, worker, queue; task queue, job queue, worker, queue; message queue, queue, broker;
    message broker, broker; soft delete; audit log, audit; multi-tenancy, tenant;
    feature flag, feature toggle, featureflag; password reset, reset password;
    pagination, paginate, paginator, page size, per page; long polling; distributed lock, lock;
    distributed tracing, tracing, tracer, span; CORS, cross origin, access control allow; CSRF, xsrf, forgery; HMAC;
    RSA; AES; ChaCha20; SHA-256, sha256, sha2; Argon2; bcrypt; scrypt; PBKDF2; OpenAPI, swagger;
    health check, healthcheck, healthz, liveness; hot key, keybinding, shortcut; daemon mode, daemonize, daemon;
    TUI, curses, ncurses, terminal ui; REPL, readline; weather; currency; exchange rate; holiday calendar, holiday;
    moon phase, lunar; sunrise, sunset; stock price; Base64, b64; Base32; Punycode, idna; UUID, guid; ULID;
    gettext, i18n, translation; HTTP/2, http2, h2; HTTP proxy, proxy; IPv6, ipv6, inet6, ip6;
    Unix domain socket, unix socket, sockaddr; exponential backoff, backoff; schema registry; change stream;
    time travel; cloud sync, sync; autocompletion, autocomplete, completion, complete; SQL injection, sql;
    XSS, cross site scripting, escape; certificate pinning, pinning, pinned, pin; Let's Encrypt, acme;
    snapshot test, snapshot; property-based, hypothesis, quickcheck, fuzz; Pandas, dataframe; NumPy; Hadoop;
    Airflow; GPU, cuda; Raspberry Pi; iOS; Kotlin; Haskell; nginx; gunicorn; uwsgi; HAProxy; Istio; Traefik; Nomad;
    Ansible; Jenkins; Travis; CircleCI; ActiveRecord; Sequelize; Prisma; Hibernate; TypeORM; GORM; jOOQ; Pulsar;
    Beanstalk; Sidekiq; Resque; Tailwind; Storybook; Redux, reducer; MobX; Zustand; Immer; Tkinter; WPF; SwiftUI;
    Unreal; WebGL; WebGPU
"""

SHORT = 4
"""Letters up to which a spelling must be a word of its own; a longer one may be part of one."""


@dataclass(frozen=True, slots=True)
class Technology:
    """Something with a name: as it is written, and the stems of all its spellings."""

    name: str
    spellings: tuple[tuple[str, ...], ...]


def technologies_in(text: str) -> tuple[Technology, ...]:
    """The technologies that a text names, in its order; of names in one another the longest."""
    stems = stems_of(text)
    written = {stem for word in words(text) if word != word.lower() for stem in _word_stems(word)}
    found: list[Technology] = []
    at = 0
    while at < len(stems):
        length, named = next(_named_at(stems, at), (1, None))
        if named is not None and named not in found and (stems[at] not in _CAPITALS or stems[at] in written):
            found.append(named)
        at += length
    return tuple(found)


def stems_of(text: str) -> tuple[str, ...]:
    """The stems of a text's words, those of a compound identifier one after the other."""
    return tuple(stem for word in words(text) for stem in _word_stems(word))


def _word_stems(word: str) -> Iterator[str]:
    # A known name keeps its humps: "GraphQL" is one word, "WebSocket" too.
    tokens = expand(word)
    whole = tokens[:1]
    yield from whole if len(tokens) < 2 or whole in _by_stems() else tokens[1:] or whole


def _named_at(stems: Sequence[str], at: int) -> Iterator[tuple[int, Technology]]:
    for length in range(min(_longest(), len(stems) - at), 0, -1):
        named = _by_stems().get(tuple(stems[at : at + length]))
        if named is not None:
            yield length, named


@cache
def _by_stems() -> Mapping[tuple[str, ...], Technology]:
    """The technologies by the stems of their own name, and of spellings that are no name of another."""
    named = [_technology(group) for group in _GROUPS.replace("\n", ";").split(";") if group.strip()]
    found = {technology.spellings[0]: technology for technology in named}
    for technology in named:
        for spelling in technology.spellings[1:]:
            if len(spelling) > 1 or spelling[0] in _UNAMBIGUOUS:
                found.setdefault(spelling, technology)
    return found


_UNAMBIGUOUS = frozenset(expand(word)[0] for word in "oauth2 oidc grpc k8s throttle 2fa totp protobuf msgpack".split())
"""Spellings of one word that name the technology in a question as well."""


_CAPITALS = frozenset(
    expand(word)[0]
    for word in "react slack stripe vault snappy rails angular discord babel excel soap sentry consul saga atom".split()
)
"""Names that are English words too, and count only with a capital letter."""


@cache
def _longest() -> int:
    return max(map(len, _by_stems()))


def _technology(group: str) -> Technology:
    spellings = [part.strip() for part in group.split(",")]
    stems = (tuple(expand(word.lower())[0] for word in words(spelling)) for spelling in spellings)
    return Technology(spellings[0], tuple(dict.fromkeys(stems)))
