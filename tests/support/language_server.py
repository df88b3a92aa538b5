"""A language server that speaks LSP over its pipes and behaves as a test wants. It knows `func NAME` and `func (TYPE)
NAME` in files of Go: a name means the first such line, and is implemented there."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

PROGRAM = r'''#!{python} -IS
import json, mmap, os, re, socket, sys, time
from urllib.parse import unquote

NUMBERS = iter(range(10**6))
REPLIES = {{}}
DOCUMENTS = {{}}
ROOT = ""


def behaviour():
    with open(__file__, encoding="utf-8") as file:
        return file.read().rpartition("# ")[2]


def send(message):
    body = json.dumps({{"jsonrpc": "2.0", **message}}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while (line := sys.stdin.buffer.readline()) != b"\r\n":
        if not line:
            sys.exit(0)
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))


def ask(method, params):
    """Ask the client, and give its answer."""
    number = f"own {{next(NUMBERS)}}"
    send({{"id": number, "method": method, "params": params}})
    while number not in REPLIES:
        message = receive()
        if "method" in message:
            handle(message)
        else:
            REPLIES[message["id"]] = message["result"]
    return REPLIES[number]


def texts():
    found = {{}}
    for place, _, names in os.walk(ROOT):
        for name in names:
            if name.endswith(".go"):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    found["file://" + os.path.join(place, name)] = file.read()
    return {{**found, **DOCUMENTS}}


def definition(params):
    text = DOCUMENTS[params["textDocument"]["uri"]]
    line = text.split("\n")[params["position"]["line"]].encode("utf-16-le")
    at = len(line[: 2 * params["position"]["character"]].decode("utf-16-le"))
    name = re.match(r"\w+", line.decode("utf-16-le")[at:])[0]
    for uri, text in sorted(texts().items()):
        for number, row in enumerate(text.split("\n")):
            if found := re.search(rf"func (?:\(\w+\) )?({{name}})\b", row):
                start, end = (len(row[: i].encode("utf-16-le")) // 2 for i in found.span(1))
                span = {{"start": {{"line": number, "character": start}}, "end": {{"line": number, "character": end}}}}
                return [{{"targetUri": uri, "targetRange": span, "targetSelectionRange": span}}]
    return None


def escape():
    """What it can do outside of its folder, and in it."""
    tries = {{
        "write": lambda: open(ROOT + "/written", "w"),
        "connect": lambda: socket.create_connection(("127.0.0.1", int(behaviour().split()[1])), 2),
        "read": lambda: open(behaviour().split()[2]),
    }}
    could = []
    for name, attempt in tries.items():
        try:
            attempt()
            could.append(name)
        except OSError:
            pass
    nowhere = {{"line": 0, "character": 0}}
    return {{"uri": "could:" + ",".join(could), "range": {{"start": nowhere, "end": nowhere}}}}


def odd():
    places = [{{"line": -1, "character": 0}}, {{"line": 0, "character": True}}, {{"line": "0"}}]
    spans = [3, [], {{"end": 5}}, *({{"start": place, "end": place}} for place in places)]
    return [7, None, {{}}, {{"uri": 3}}, *({{"uri": "file:///x", "range": span}} for span in spans)]


def handle(message):
    global ROOT
    method, params, number = message.get("method"), message.get("params"), message.get("id")
    now = behaviour()
    if method == "initialize":
        ROOT = unquote(params["rootUri"].removeprefix("file://"))
        if now == "mute":
            return
        send({{"id": number, "result": {{"capabilities": {{"definitionProvider": True}}}}}})
    elif method == "textDocument/didOpen":
        DOCUMENTS[params["textDocument"]["uri"]] = params["textDocument"]["text"]
    elif method == "textDocument/didChange":
        DOCUMENTS[params["textDocument"]["uri"]] = params["contentChanges"][0]["text"]
    elif method == "textDocument/didClose":
        DOCUMENTS.pop(params["textDocument"]["uri"], None)
    elif number is None:
        return
    elif now == "die":
        os._exit(3)
    elif now == "hang":
        return
    elif now == "deaf":
        time.sleep(60)
    elif now == "nonsense":
        sys.stdout.buffer.write(b"panic: nil map\n\n" * 9)
        sys.stdout.buffer.flush()
    elif now == "endless":
        sys.stdout.buffer.write(b"Content-Length: 99999999999999\r\n\r\n")
        sys.stdout.buffer.flush()
    elif now == "no object":
        sys.stdout.buffer.write(b"Content-Length: 2\r\n\r\n[]")
        sys.stdout.buffer.flush()
    elif now == "greedy":
        kept = mmap.mmap(-1, 400 << 20)
        for _ in range(400):
            kept.write(bytes(1 << 20))
        time.sleep(60)
    elif now == "demanding":
        edit = ask("workspace/applyEdit", {{"edit": {{"changes": {{}}}}}})
        options = ask("workspace/configuration", {{"items": [{{"section": "nothing"}}, {{"section": "nothing"}}]}})
        ask("window/workDoneProgress/create", {{"token": 1}})
        span = definition(params)[0]["targetRange"]
        send({{"id": number, "result": {{"uri": f"told:{{edit}}{{options}}", "range": span}}}})
    elif now.startswith("escape"):
        send({{"id": number, "result": escape()}})
    elif now == "packages":
        beside = os.path.dirname(ROOT) + "/node_modules/"
        seen = [name for name in ("a/index.d.ts", "@s/b/index.d.ts", "member/a.go") if os.path.isfile(beside + name)]
        seen += os.listdir(os.environ["GOMODCACHE"]) if "GOMODCACHE" in os.environ else []
        span = dict.fromkeys(("start", "end"), {{"line": 0, "character": 0}})
        send({{"id": number, "result": {{"uri": "sees:" + ",".join(seen), "range": span}}}})
    elif now == "refuse":
        send({{"id": number, "error": {{"code": -32801, "message": "content modified"}}}})
    else:
        send({{"id": number, "result": odd() if now == "odd" else definition(params)}})


while True:
    handle(receive())
# {behaviour}'''


FAILING = r"""#!{python} -IS
import json, os, subprocess, sys

HOW, METHOD, AFTER = "{how}", "{method}", {after}
real = subprocess.Popen([os.path.join(os.path.dirname(__file__), "real", "ty"), *sys.argv[1:]], stdin=subprocess.PIPE)
count = 0
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()) != b"\r\n":
        if not line:
            sys.exit(0)
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    body = sys.stdin.buffer.read(length)
    count += json.loads(body).get("method") == METHOD
    if count > AFTER:
        if HOW == "die":
            real.kill()
            sys.exit(3)
        if HOW == "nonsense":
            sys.stdout.buffer.write(b"panic: nil map\n\n" * 9)
            sys.stdout.buffer.flush()
        continue
    real.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (length, body))
    real.stdin.flush()
"""


def install_failing(folder: Path, how: str, method: str, after: int = 0) -> Path:
    """Write a server of Python that works until it is asked something for the n-th time.

    Args:
        folder: where.
        how: what it does then, and whenever it is started again: `die`, `hang`, or talk `nonsense`.
        method: what it is asked.
        after: how often it answers.
    """
    (folder / "real").mkdir(parents=True)
    shutil.copy2(Path(sysconfig.get_path("scripts")) / "ty", folder / "real" / "ty")
    program = folder / "ty"
    program.write_text(FAILING.format(python=sys.executable, how=how, method=method, after=after))
    program.chmod(0o755)
    return program


def install(folder: Path, name: str, behaviour: str = "") -> Path:
    """Write the server as a program.

    Args:
        folder: where, to be put on the PATH.
        name: of the server that it stands for.
        behaviour: what it does wrong, '' for nothing.
    """
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(PROGRAM.format(python=sys.executable, behaviour=behaviour))
    program.chmod(0o755)
    return program
