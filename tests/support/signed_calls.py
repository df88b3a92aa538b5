"""Calls of a host to the webhook, signed with the tests' secret."""

import hashlib
import hmac

SECRET = "a secret of the tests"


def headers(body, id="d1", secret=SECRET):
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": id, "X-GitHub-Event": "pull_request"}
