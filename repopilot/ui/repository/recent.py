"""The repositories opened last, stored across restarts. Addresses carry no credentials."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from repopilot.settings import Settings

STORED = 6
log = logging.getLogger(__name__)


def recent(settings: Settings) -> list[dict]:
    """[{name, address}], newest first; [] where nothing is stored or it can't be read."""
    try:
        found = json.loads(_file(settings).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    entries = found if isinstance(found, list) else []
    return [e for e in entries if isinstance(e, dict) and isinstance(e.get("address"), str) and e.get("name")][:STORED]


def remember(settings: Settings, name: str, address: str) -> None:
    """Put a repository first in the list of recent ones. A full or read-only disk is logged, not raised.

    Args:
        settings: the data directory.
        name: of the repository.
        address: to open it by.
    """
    entries = [{"name": name, "address": address}]
    entries += [entry for entry in recent(settings) if entry["address"] != address]
    file = _file(settings)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(entries[:STORED], ensure_ascii=False, indent=1), "utf-8")
        draft.replace(file)
    except OSError as error:
        log.warning("recently opened repositories can't be stored: %s", error)


def _file(settings: Settings) -> Path:
    return settings.home / "recent.json"
