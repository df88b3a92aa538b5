"""How many tokens servers elsewhere may get in a day: counted in a file, by all processes of a data directory."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from repopilot import i18n
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

    def check(self) -> None:
        """Raises ModelError where today's tokens are spent. Blocking."""
        spent = self._spent()
        if spent >= self.most:
            raise ModelError(
                i18n.message("llm.budget_spent", spent=spent, most=self.most), i18n.message("llm.budget_hint")
            )

    def spend(self, tokens: int) -> None:
        """Count tokens. Blocking. Raises OSError where the file can't be written."""
        with FileLock(self.home / f"{NAME}.lock", timeout=10):
            self._file.write_text(json.dumps({"day": _today(), "tokens": self._spent() + tokens}))

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
