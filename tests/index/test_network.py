"""Indexing and searching vectors opens no connection, in this process or in its workers."""

import subprocess
import sys

import pytest
from support.index_case import many, write

CODE = f"""
import os, sys
sys.path[:] = {sys.path}
asked = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        asked.append((event, arguments[1:]))

sys.addaudithook(watch)
from pathlib import Path
from support.index_case import WordEmbedder, build_index, settings, snapshot
from repopilot.index.vectors import vectors_of
embedder = WordEmbedder()
index = build_index(snapshot(Path(sys.argv[1])), settings(Path(sys.argv[2])), embedder)
assert vectors_of(index, embedder).nearest(index, embedder.embed(["def"])[0], 3)
print(asked)
"""


@pytest.mark.slow
def test_no_connection_is_opened(tmp_path):
    root = write(tmp_path / "shop", many(20))
    # strace would also see what native code does; where it is missing, Python's own audit hook has to do.
    command = [sys.executable, "-c", CODE, str(root), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
