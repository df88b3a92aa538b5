"""Calls of a host to the webhook, signed with the tests' secret."""

import hashlib
import hmac
import time

SECRET = "a secret of the tests"


def headers(body, id="d1", secret=SECRET):
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": id, "X-GitHub-Event": "pull_request"}


def until(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert what()
