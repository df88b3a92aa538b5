"""For schemathesis: what it asks is asked of the repository that the environment names."""

import os

import schemathesis


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and "source" in body:
        body["source"] = os.environ["ASKED_REPOSITORY"]
    return body
