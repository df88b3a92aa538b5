"""The process in which a repository's own rules run: a request on standard input, a JSON line for each match.

It can be killed at any time, and limits its own memory; nothing of the repository is executed in it.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys

from ast_grep_py import SgRoot

_MEMORY = 2 << 30
_MAX_LINES = 200
"""Matches of one rule in one file."""


def main() -> None:
    """Runs every rule over every file of its languages, and writes `{rule, file, lines}` or `{rule, file, error}`."""
    with contextlib.suppress(ValueError, OSError):  # macOS knows no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    request = json.load(sys.stdin)
    for number, file in enumerate(request["files"]):
        root = SgRoot(file["text"], file["language"]).root()
        for index, rule in enumerate(request["rules"]):
            if file["language"] not in rule["languages"]:
                continue
            answer: dict[str, object] = {"rule": index, "file": number}
            try:
                lines = {node.range().start.line + 1 for node in root.find_all(rule["config"])}
                answer["lines"] = sorted(lines)[:_MAX_LINES]
            except Exception as error:  # whatever ast-grep says of a rule it can't use
                answer["error"] = type(error).__name__
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
