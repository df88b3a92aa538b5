"""Ask a question over HTTP, and print the answer as it comes.

python docs/api_client.py http://127.0.0.1:8000 TOKEN /path/to/repository "what calls parse_config?"
"""

from __future__ import annotations

import json
import sys

import httpx


def main() -> None:
    """Stream one answer."""
    address, token, source, question = sys.argv[1:]
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    body = {"source": source, "question": question}
    with httpx.stream("POST", f"{address}/api/v1/ask", json=body, headers=headers, timeout=None) as reply:
        if reply.is_error:
            error = json.loads(reply.read())["error"]
            sys.exit(f"{error['message']} {error['hint']}".strip())
        kind = ""
        for line in reply.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                show(kind, json.loads(value))


def show(kind: str, document: dict) -> None:
    """One event."""
    if kind == "progress":
        print(f"… {document['phase']} {document['done']}/{document['total']}", file=sys.stderr)
    elif kind == "step" and "name" in document:
        print(f"… {document['name']}", file=sys.stderr)
    elif kind == "done":
        print(document["answer"])
        for each in document["citations"]:
            print(f"  [{each['number']}] {each['path']}:{each['start_line']}-{each['end_line']}")
    elif kind == "error":
        sys.exit(f"{document['error']['message']} {document['error']['hint']}".strip())


if __name__ == "__main__":
    main()
