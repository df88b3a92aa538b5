"""Which repositories were opened last, kept over restarts. Addresses carry no credentials."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from repopilot.settings import Settings

KEPT = 6
log = logging.getLogger(__name__)


def recent(settings: Settings) -> list[dict]:
    """[{name, address}], newest first; [] where nothing readable is kept."""
    try:
        found = json.loads(_file(settings).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    entries = found if isinstance(found, list) else []
    return [e for e in entries if isinstance(e, dict) and isinstance(e.get("address"), str) and e.get("name")][:KEPT]


def remember(settings: Settings, name: str, address: str) -> None:
    """Put a repository first. A full or read-only disk loses nothing but this convenience, and is logged."""
    entries = [{"name": name, "address": address}]
    entries += [entry for entry in recent(settings) if entry["address"] != address]
    file = _file(settings)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(entries[:KEPT], ensure_ascii=False, indent=1), "utf-8")
        draft.replace(file)
    except OSError as error:
        log.warning("recently opened repositories are not kept: %s", error)


def _file(settings: Settings) -> Path:
    return settings.home / "recent.json"
