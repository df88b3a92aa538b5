"""Cuts what RepoPilot uses out of GitHub's published OpenAPI description, as JSON Schema.

    python tests/support/openapi_extract.py package/generated/api.github.com.json

It comes in the npm package @octokit/openapi (MIT). GitLab's is CC BY-SA, and calls most of what a reply has a string:
`openapi_gitlab.json` is written by hand, of names and types alone, and says itself how theirs was read.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

OPERATIONS = {
    "/user": "get",
    "/repos/{}/{}": "get",
    "/repos/{}/{}/installation": "get",
    "/app/installations/{}/access_tokens": "post",
    "/repos/{}/{}/statuses/{}": "post",
    "/repos/{}/{}/check-runs": "post",
    "/repos/{}/{}/check-runs/{}": "patch",
    "/repos/{}/{}/pulls/{}/reviews/{}": "put",
    "/repos/{}/{}/forks": "post",
    "/repos/{}/{}/branches/{}": "get",
    "/repos/{}/{}/git/refs": "post",
    "/repos/{}/{}/issues/{}": "get",
    "/repos/{}/{}/issues/{}/comments": "get post",
    "/repos/{}/{}/issues/{}/events": "get",
    "/repos/{}/{}/collaborators/{}/permission": "get",
    "/repos/{}/{}/issues/comments/{}": "patch",
    "/repos/{}/{}/pulls": "get post",
    "/repos/{}/{}/pulls/{}": "get",
    "/repos/{}/{}/pulls/{}/files": "get",
    "/repos/{}/{}/pulls/{}/comments": "get post",
    "/repos/{}/{}/pulls/comments/{}": "patch",
}
KEPT = {"type", "properties", "required", "items", "enum", "oneOf", "anyOf", "allOf", "additionalProperties", "$ref"}


def extract(described: dict) -> dict:
    """The operations as {"verb path": {query, body, replies}}, and the schemas they refer to."""
    operations, missing = {}, []
    paths = {re.sub(r"{\w+}", "{}", path): each for path, each in described["paths"].items()}
    for path, verb in ((path, verb) for path, verbs in OPERATIONS.items() for verb in verbs.split()):
        if (found := paths.get(path, {}).get(verb)) is None:
            missing.append(f"{verb} {path}")
            continue
        parameters = [
            _resolved(described, each) for each in [*paths[path].get("parameters", ()), *found.get("parameters", ())]
        ]
        operations[f"{verb} {path}"] = {
            "query": {each["name"]: _schema(each["schema"]) for each in parameters if each["in"] == "query"},
            "body": _content(described, found.get("requestBody", {})),
            "replies": {status: _content(described, reply) for status, reply in found["responses"].items()},
        }
    info = described["info"]
    return {
        "source": "the npm package @octokit/openapi",
        "title": info["title"],
        "version": info["version"],
        "licence": info["license"]["name"],
        "not described": missing,
        "operations": operations,
        "components": {"schemas": _needed(described, operations)},
    }


def _content(described: dict, part: dict) -> Any:
    """The JSON schema of a request body or reply; None for none."""
    content = _resolved(described, part).get("content") or {}
    found = next((value for kind, value in content.items() if kind.endswith("json")), None)
    return _schema(found["schema"]) if found and "schema" in found else None


def _resolved(described: dict, part: dict) -> dict:
    for step in part.get("$ref", "#").split("/")[1:]:
        described = described[step]
    return described if "$ref" in part else part


def _schema(found: Any) -> Any:
    """A schema of OpenAPI 3.0 as one of JSON Schema, without what describes it to people."""
    if not isinstance(found, dict):
        return found
    kept = {key: _inner(key, value) for key, value in found.items() if key in KEPT}
    if not found.get("nullable"):
        return kept
    if "enum" in kept:
        kept["enum"] = [*kept["enum"], None]
    if isinstance(kept.get("type"), str):
        return {**kept, "type": [kept["type"], "null"]}
    return {"anyOf": [kept, {"type": "null"}]}


def _inner(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _schema(each) for name, each in value.items()}
    if key in ("oneOf", "anyOf", "allOf"):
        return [_schema(each) for each in value]
    return _schema(value) if key in ("items", "additionalProperties") else value


def _needed(described: dict, part: Any) -> dict:
    """The schemas that a part refers to, and those that these refer to."""
    needed: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        for name in _references(waiting.pop()) - needed.keys():
            needed[name] = _schema(described["components"]["schemas"][name])
            waiting.append(needed[name])
    return dict(sorted(needed.items()))


def _references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"].rpartition("/")[2]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*map(_references, part.values()))
    return set().union(*map(_references, part)) if isinstance(part, list) else set()


if __name__ == "__main__":
    made = extract(json.loads(Path(sys.argv[1]).read_text()))
    target = Path(__file__).with_name("openapi_github.json")
    target.write_text(json.dumps(made, indent=None, separators=(",", ":")).replace("},", "},\n") + "\n")
    print(f"{target}: {len(made['operations'])} operations; not described: {made['not described']}")
