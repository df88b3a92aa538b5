"""The daily token budget for remote servers, counted in a file by all processes that share a data directory."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from repopilot import i18n
from repopilot.disk import replace_file
from repopilot.errors import ModelError

NAME = "tokens.json"


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The budget of a data directory.

    Attributes:
        home: the data directory.
        most: tokens a day, read and written.
    """

    home: Path
    most: int

    def take(self, tokens: int) -> None:
        """Count the tokens of a prompt before it is sent, so that concurrent calls keep to the limit. Blocking.

        Raises:
            ModelError: too few of today's tokens are left.
            OSError: the file can't be written.
        """
        with self._lock():
            spent = self._spent()
            if spent + tokens > self.most:
                facts = {"spent": spent, "most": self.most, "tokens": tokens}
                raise ModelError(i18n.message("llm.budget_spent", **facts), i18n.message("llm.budget_hint"))
            self._count(spent + tokens)

    def spend(self, tokens: int) -> None:
        """Count tokens; negative ones are given back. Blocking. Raises OSError where the file can't be written."""
        with self._lock():
            self._count(max(0, self._spent() + tokens))

    def _lock(self) -> FileLock:
        return FileLock(self.home / f"{NAME}.lock", timeout=10)

    def _count(self, tokens: int) -> None:
        # A count that is cut off would read as nothing spent.
        replace_file(self._file, json.dumps({"day": _today(), "tokens": tokens}).encode())

    @property
    def _file(self) -> Path:
        return self.home / NAME

    def _spent(self) -> int:
        try:
            kept = json.loads(self._file.read_text())
            return int(kept["tokens"]) if kept["day"] == _today() else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0  # nothing was counted yet


def _today() -> str:
    return time.strftime("%Y-%m-%d")
