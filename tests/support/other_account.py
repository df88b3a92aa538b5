"""Another local account: a Python program that gives up root's before it does anything."""

import json
import os
import subprocess
import sys

import pytest

ACCOUNT = 65533
"""Neither ours nor the one that stands for accounts without an id (65534)."""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")
_LEAVE = f"import os\nos.setgroups([]); os.setgid({ACCOUNT}); os.setuid({ACCOUNT})\n"


def start(program: str, *arguments: object) -> subprocess.Popen:
    """Start a program of that account, with pipes for its input and output, as text."""
    # Modules are imported before: the interpreter may be where that account can't read.
    command = [sys.executable, "-I", "-c", "import encodings.idna, http.client, json, socket, sys\n" + _LEAVE + program]
    return subprocess.Popen(
        [*command, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
    )


def fetch(port: int, *requests: dict) -> list[tuple[int, str]]:
    """Send HTTP requests as that account: dictionaries with `method`, `path` and `headers`; gives status and body."""
    program = (
        "for each in json.load(sys.stdin):\n"
        "    there = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=200)\n"
        "    there.request(each.get('method', 'GET'), each['path'], each.get('body'), each.get('headers', {}))\n"
        "    answer = there.getresponse()\n"
        "    print(json.dumps([answer.status, answer.read().decode('utf-8', 'replace')]))\n"
    )
    with start(program, port) as running:
        out, _ = running.communicate(json.dumps(requests))
    assert running.returncode == 0
    return [tuple(json.loads(line)) for line in out.splitlines()]
