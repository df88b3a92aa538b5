"""Progress on a terminal is one line, whatever the terminal's width."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

import pytest

from repopilot.cli.output import live_progress, within
from repopilot.types import Progress

LONG = Progress("parsing", 120, 3400, "files", detail="a/very/long/path/" * 12 + "日本語" * 20)


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_a_line_never_wraps(columns, monkeypatch):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with live_progress("en") as report:
            report(LONG)
        terminal.flush()
        written = os.read(ours, 1 << 16).decode()
    os.close(ours)
    (line,) = filter(None, re.split(r"\r\x1b\[K", written))
    assert line.startswith("parsing"[: columns - 1]) and columns - 3 <= _columns_of(line) < columns


def _columns_of(line):
    return sum(2 if character in "日本語" else 1 for character in line)


@pytest.mark.slow
def test_columns_are_counted_not_characters():
    assert within("日本語", 5) == "日本" and within("e\u0301e\u0301", 1) == "e\u0301" and within("abc", 3) == "abc"
