"""The bearer token of a request (RFC 6750)."""

from __future__ import annotations

import hmac


def has_token(authorization: str, token: str) -> bool:
    """Whether a request sends the token, compared in constant time. Pure.

    Args:
        authorization: the header, '' for none.
        token: the expected token.
    """
    scheme, _, given = authorization.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), token.encode())
