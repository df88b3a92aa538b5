"""The modules whose use shows that code deals with a subject: of the languages themselves and of well-known libraries.
Pure.

An entry stands for a module with all below it, or for one name of a module (`crypto.createHmac`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from repopilot.code.languages import C_FAMILY, COMPONENTS, JVM, SCRIPTS

Subject = Literal["concurrency", "stored-data", "security"]

_JAVASCRIPT: Mapping[Subject, str] = {
    "concurrency": "worker_threads cluster async_hooks p-limit p-queue bullmq piscina comlink rxjs",
    "stored-data": "sqlite better-sqlite3 sqlite3 pg postgres mysql mysql2 mongodb mongoose redis ioredis knex"
    " sequelize typeorm drizzle-orm @prisma kysely level idb dexie bun:sqlite @mikro-orm @neondatabase @clickhouse"
    " @libsql @planetscale @supabase",
    "security": "crypto.createHmac crypto.createCipheriv crypto.createDecipheriv crypto.createSign"
    " crypto.createVerify crypto.randomBytes crypto.scrypt crypto.pbkdf2 crypto.timingSafeEqual tls bcrypt"
    " bcryptjs argon2 jsonwebtoken jose passport helmet csurf next-auth @auth iron-session dompurify"
    " isomorphic-dompurify sanitize-html xss @noble node-forge tweetnacl libsodium-wrappers oauth4webapi"
    " openid-client better-auth @simplewebauthn",
}
_JVM: Mapping[Subject, str] = {
    "concurrency": "java.util.concurrent java.lang.Thread kotlinx.coroutines scala.concurrent reactor.core"
    " io.reactivex akka.actor org.apache.pekko cats.effect zio",
    "stored-data": "java.sql javax.sql javax.persistence jakarta.persistence org.hibernate org.springframework.data"
    " org.springframework.jdbc org.jooq org.mybatis redis.clients io.lettuce com.mongodb androidx.room"
    " org.jetbrains.exposed slick doobie",
    "security": "java.security.KeyStore java.security.KeyPairGenerator java.security.SecureRandom"
    " java.security.Signature java.security.cert javax.crypto javax.net.ssl javax.security"
    " org.springframework.security io.jsonwebtoken com.auth0 org.bouncycastle jakarta.security com.nimbusds",
}
_C: Mapping[Subject, str] = {
    "concurrency": "pthread.h threads.h stdatomic.h semaphore.h sched.h thread mutex shared_mutex"
    " condition_variable atomic future stop_token latch barrier semaphore coroutine uv.h ev.h event2 omp.h tbb"
    " boost/asio boost/thread dispatch",
    "stored-data": "sqlite3.h libpq-fe.h mysql.h mysql lmdb.h leveldb rocksdb hiredis db.h gdbm.h mongoc",
    "security": "openssl sodium.h mbedtls gnutls gcrypt.h wolfssl crypt.h sys/random.h security argon2.h"
    " tomcrypt.h seccomp.h sys/capability.h",
}
_WITH_HEADERS = (*C_FAMILY, "objc")
_MODULES: Mapping[str, Mapping[Subject, str]] = {
    "python": {
        "concurrency": "asyncio threading multiprocessing concurrent.futures queue _thread contextvars trio anyio"
        " gevent eventlet twisted celery dramatiq rq ray",
        "stored-data": "sqlite3 dbm shelve sqlalchemy psycopg psycopg2 asyncpg aiosqlite pymysql MySQLdb"
        " mysql.connector pymongo motor redis peewee tortoise django.db sqlmodel alembic duckdb chromadb plyvel"
        " lmdb pylibmc pymemcache memcache",
        "security": "hashlib.pbkdf2_hmac hashlib.scrypt hmac secrets ssl getpass cryptography OpenSSL Crypto nacl"
        " jwt jose bcrypt argon2 passlib itsdangerous authlib oauthlib certifi truststore keyring"
        " django.contrib.auth django.middleware.csrf flask_login fastapi.security starlette.authentication"
        " werkzeug.security bleach nh3 defusedxml google.auth paramiko",
    },
    "go": {
        "concurrency": "sync golang.org/x/sync",
        "stored-data": "database/sql gorm.io github.com/jmoiron/sqlx go.etcd.io/bbolt github.com/jackc/pgx"
        " github.com/lib/pq github.com/redis github.com/go-redis go.mongodb.org github.com/dgraph-io/badger"
        " github.com/mattn/go-sqlite3 modernc.org/sqlite github.com/syndtr/goleveldb github.com/cockroachdb/pebble"
        " entgo.io",
        "security": "crypto/aes crypto/cipher crypto/ecdsa crypto/ed25519 crypto/hmac crypto/rsa crypto/subtle"
        " crypto/tls crypto/x509 golang.org/x/crypto golang.org/x/oauth2 github.com/golang-jwt"
        " github.com/coreos/go-oidc github.com/lestrrat-go github.com/go-jose filippo.io/age",
    },
    "rust": {
        "concurrency": "std::sync std::thread core::sync tokio async_std smol futures rayon crossbeam parking_lot"
        " dashmap flume async_channel arc_swap once_cell::sync",
        "stored-data": "rusqlite sqlx diesel redis mongodb sled sea_orm tokio_postgres rocksdb redb heed",
        "security": "rustls ring openssl native_tls argon2 bcrypt scrypt hmac aes aes_gcm chacha20poly1305"
        " ed25519_dalek x25519_dalek rsa jsonwebtoken subtle zeroize secrecy oauth2 webpki",
    },
    "csharp": {
        "concurrency": "System.Threading System.Collections.Concurrent System.Reactive",
        "stored-data": "System.Data Microsoft.EntityFrameworkCore Microsoft.Data Dapper Npgsql MongoDB"
        " StackExchange.Redis NHibernate LiteDB",
        "security": "System.Security Microsoft.AspNetCore.Authentication Microsoft.AspNetCore.Authorization"
        " Microsoft.AspNetCore.Identity Microsoft.AspNetCore.DataProtection Microsoft.IdentityModel"
        " System.Net.Security",
    },
    "ruby": {
        "concurrency": "thread monitor async concurrent concurrent-ruby sidekiq celluloid",
        "stored-data": "active_record sequel pg mysql2 sqlite3 redis mongoid pstore dalli",
        "security": "openssl bcrypt jwt devise securerandom rbnacl omniauth rack/protection",
    },
    "php": {
        "concurrency": "Amp React Swoole parallel",
        "stored-data": "PDO Doctrine Illuminate\\Database Predis MongoDB",
        "security": "Illuminate\\Auth Illuminate\\Hashing Illuminate\\Encryption Symfony\\Component\\Security"
        " Firebase\\JWT phpseclib League\\OAuth2",
    },
    **dict.fromkeys((*SCRIPTS, *COMPONENTS), _JAVASCRIPT),
    **dict.fromkeys((*JVM, "groovy"), _JVM),
    **dict.fromkeys(_WITH_HEADERS, _C),
}
_BELOW = (".", "/", "::", "\\")


def entry_of(subject: Subject, language: str, used: str) -> str:
    """The module of a subject that something imported belongs to, '' for none.

    Args:
        subject: the subject.
        language: the language of the code.
        used: a module, or a name of one (`threading.Lock`), as imports write it.
    """
    entries = _MODULES.get(language, {}).get(subject, "").split()
    marks = "/" if language in _WITH_HEADERS else _BELOW
    below = {entry: tuple(f"{entry}{mark}" for mark in marks) for entry in entries}
    return next((entry for entry, starts in below.items() if used == entry or used.startswith(starts)), "")
