"""What a host's published OpenAPI description says of requests and replies: GitHub's as `openapi_extract.py` cut it,
GitLab's as it was written down from theirs, which is too large and under another licence to be cut."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent
ERROR = ("message", "errors", "documentation_url", "url", "status")
FIRST = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "null": None}


class Description:
    """One host's.

    Args:
        host: `github` or `gitlab`.
    """

    def __init__(self, host: str) -> None:
        self.found = json.loads((FOLDER / f"openapi_{host}.json").read_text())
        self.paths = [(*name.split(), each) for name, each in self.found["operations"].items()]

    def operation(self, verb: str, path: str) -> dict | None:
        """What is described of a request, by its path as it was sent."""
        for known, template, operation in self.paths:
            if known == verb.lower() and re.fullmatch(template.replace("{}", "[^/]+"), path):
                return operation
        return None

    def request_problems(self, operation: dict, query: Mapping[str, str], body: dict) -> list[str]:
        """What a request has that isn't described."""
        problems = []
        for name, value in query.items():
            schema = operation["query"].get(name)
            typed = int(value) if value.isdigit() else {"true": True, "false": False}.get(value.lower(), value)
            problems += [f"?{name} is not described"] if schema is None else self._problems(schema, typed)
        if operation["body"] is None:
            return [*problems, *(["a body is not described"] if body else [])]
        return [*problems, *self._problems({**operation["body"], "unevaluatedProperties": False}, body)]

    def whole(self, operation: dict, status: int, reply: Any) -> Any:
        """A reply with all that the host always sends, as empty as the description allows."""
        return self._filled(self._reply(operation, status), reply)

    def reply_problems(self, operation: dict, status: int, reply: Any) -> list[str]:
        """What a reply has that isn't described, or lacks."""
        schema = self._reply(operation, status)
        if isinstance(reply, list) and "items" in (schema or {}):
            schema = {"type": "array", "items": {**schema["items"], "unevaluatedProperties": False}}
        elif isinstance(reply, dict):
            schema = {**(schema or {}), "unevaluatedProperties": False}
        return self._problems(schema, reply)

    def _reply(self, operation: dict, status: int) -> dict:
        """The schema of a reply; of errors that aren't described that of any error."""
        described = operation["replies"].get(str(status))
        return described or {"type": "object", "required": ["message"], "properties": {name: {} for name in ERROR}}

    def _problems(self, schema: dict, value: Any) -> list[str]:
        validator = Draft202012Validator({**schema, "components": self.found["components"]})
        return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]

    def _filled(self, schema: dict, given: Any) -> Any:
        """`given`, with what is required of it and missing."""
        schema = self._chosen(schema, given)
        if isinstance(given, list):
            return [self._filled(schema.get("items", {}), each) for each in given]
        if not isinstance(given, dict):
            return given
        made = dict(given)
        for name, each in schema.get("properties", {}).items():
            if name in made:
                made[name] = self._filled(each, made[name])
            elif name in schema.get("required", ()):
                made[name] = self._least(each)
        return made

    def _least(self, schema: dict) -> Any:
        """The emptiest value of a schema."""
        if not self._problems(schema, None):
            return None
        schema = self._chosen(schema, {})
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        return self._filled(schema, {}) if kind == "object" else FIRST[kind if isinstance(kind, str) else kind[0]]

    def _chosen(self, schema: dict, given: Any) -> dict:
        """A schema without references and choices: of several the first that takes such a value."""
        if "$ref" in schema:
            return self._chosen(self.found["components"]["schemas"][schema["$ref"].rpartition("/")[2]], given)
        for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            chosen = self._chosen(each, given)
            if chosen.get("type") in ("object", None) or not isinstance(given, dict):
                return {**chosen, **{key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}}
        merged = dict(schema)
        for part in (self._chosen(each, given) for each in schema.get("allOf", ())):
            merged["type"] = part.get("type", merged.get("type"))
            merged["properties"] = {**merged.get("properties", {}), **part.get("properties", {})}
            merged["required"] = [*merged.get("required", ()), *part.get("required", ())]
        return merged
