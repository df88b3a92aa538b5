"""The real small models, fetched once per user and reused by every test marked `model`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import platformdirs

from repopilot.llm.weights import models
from repopilot.settings import Settings

SMALL = "qwen2.5-coder:0.5b"


@cache
def model_home() -> Path:
    """A data directory (`Settings(home=…)`, REPOPILOT_HOME) whose `models/` holds the real 0.5B and MiniLM.

    Shared between runs: keep indexes and clones elsewhere, or use `model_settings`.
    """
    home = Path(platformdirs.user_cache_dir("repopilot-tests"))
    settings = Settings(home=home)
    for name in (SMALL, "minilm"):
        models.ensure(name, settings)
    return home


def model_settings(home: Path, **options: object) -> Settings:
    """Settings with the real models, everything else below `home` (a test's own folder); Ollama is not asked."""
    home.mkdir(parents=True, exist_ok=True)
    link = home / "models"
    if not link.exists():
        link.symlink_to(model_home() / "models", target_is_directory=True)
    return Settings(**{"home": home, "ollama_url": "", "llm_model": SMALL, "threads": 2, **options})
