"""RepoPilot started inside a stranger's clone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from repopilot.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_start_folder_sets_no_option(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("REPOPILOT_LLM_URL=http://192.0.2.1:9\nREPOPILOT_ACCESS=open\n")
    read = "import json; from repopilot.settings import Settings; print(json.dumps(Settings().model_dump(mode='json')))"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REPOPILOT_")} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", read], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    assert (found["llm_url"], found["access"]) == (defaults["llm_url"], defaults["access"])
