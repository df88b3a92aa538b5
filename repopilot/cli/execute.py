"""Runs the command of parsed arguments: signals, the runtime, and errors as messages and exit status."""

from __future__ import annotations

import argparse
import io
import logging
import os
import signal
import sys

from pydantic import ValidationError

from repopilot import disk, i18n
from repopilot.cli import commands
from repopilot.cli.output import say
from repopilot.errors import Cancelled, RepoPilotError, UsageError
from repopilot.i18n import message, reason
from repopilot.redaction.log_records import log_to_stderr
from repopilot.runtime import Runtime
from repopilot.settings import Settings


def execute(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    _write_every_character()
    log_to_stderr(logging.DEBUG if arguments.verbose else logging.WARNING)
    arguments.language = "en"
    if arguments.run != "serve":  # `serve` handles signals itself
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with SIGINT ignored
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        with Runtime(_settings(arguments)) as runtime:
            arguments.language = runtime.settings.language or "en"
            status = getattr(commands, arguments.run)(arguments, runtime)
        if not sys.stdout.closed:  # an MCP session closes it
            sys.stdout.flush()  # a failing write of buffered output is reported here, not at interpreter exit
        return status
    except ValidationError as error:
        problems = "; ".join(f"REPOPILOT_{'.'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors())
        return _failed(message("cli.invalid_setting", problems=problems), 2, arguments.language)
    except UsageError as error:
        return _failed(reason(error), 2, arguments.language)
    except (Cancelled, KeyboardInterrupt):
        return _failed(message("cli.stopped"), 130, arguments.language)
    except RepoPilotError as error:
        return _failed(reason(error), 1, arguments.language)
    except BrokenPipeError:
        # The reader of our output (head, less) has closed the pipe: not an error to report.
        sys.stderr.close()
        return 1
    except OSError as error:
        if not disk.is_full(error):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards the rest of the output
        return _failed(reason(error), 1, arguments.language)


def _write_every_character() -> None:
    """Write UTF-8 to pipes and files even if the system's encoding is a smaller one (Windows); replace characters that
    a terminal can't show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def _settings(arguments: argparse.Namespace) -> Settings:
    """The settings. `--commands`, or calling the tool `run_command` by hand, counts as consent to commands."""
    agreed = getattr(arguments, "commands", False) or (arguments.run == "tool" and arguments.name == "run_command")
    return Settings().with_commands() if agreed else Settings()


def _interrupt(*_: object) -> None:
    """End as after Ctrl+C, with everything temporary removed."""
    signal.raise_signal(signal.SIGINT)


def _failed(problem: str, status: int, language: str) -> int:
    say(i18n.text("cli.error", language, message=i18n.translated(problem, language)), file=sys.stderr)
    return status
