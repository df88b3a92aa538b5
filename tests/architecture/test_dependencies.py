"""What is installed is locked with hashes, its licences are listed and allowed, and the documents of it are current."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def dependencies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", ROOT / "docs" / "dependencies.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["dependencies"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", ".ci/uv.txt"])
def test_every_requirement_is_pinned_with_hashes_and_names_no_registry(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    pinned = re.findall(r"^\S+==\S+.*\\\n\s+--hash=sha256:[0-9a-f]{64}", text, re.M)
    assert len(pinned) == len(re.findall(r"^[A-Za-z0-9]", text, re.M)) > 0
    assert "://" not in text and "--index-url" not in text


@pytest.mark.parametrize("file", [".ci/setup.sh", "Dockerfile"])
def test_nothing_is_installed_without_its_hash(file: str) -> None:
    installs = re.findall(r"pip install[^\n]*-r [^\n]*", (ROOT / file).read_text("utf-8"))
    assert installs and all("--require-hashes" in line for line in installs)


@pytest.mark.slow
def test_the_licences_are_listed_and_allowed(dependencies: ModuleType) -> None:
    assert (ROOT / "docs" / "licences.md").read_text("utf-8") == dependencies.licences(), "run `make docs`"
    known = dependencies.known_licences()
    unfit = [p.name for p in dependencies.locked() if not dependencies.allowed(known[p.name, p.version])]
    assert unfit == [], "no licence that is known to suit: see ALLOWED in docs/dependencies.py"


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-2.0-or-later", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-only OR GPL-3.0-only", False),
        ("?", False),
    ],
)
def test_which_licences_are_allowed(dependencies: ModuleType, expression: str, fits: bool) -> None:
    assert dependencies.allowed(expression) is fits


@pytest.mark.slow
def test_the_bill_of_materials_is_complete_and_repeatable(dependencies: ModuleType, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "dependencies.py"), "sbom", str(tmp_path / "sbom.json")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    document = json.loads((tmp_path / "sbom.json").read_text("utf-8"))
    assert document == json.loads(json.dumps(dependencies.sbom()))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    references = [component["bom-ref"] for component in document["components"]]
    assert len(set(references)) == len(references) == len(dependencies.locked())
    for component in document["components"]:
        assert component["hashes"] and component["licenses"] and component["purl"].startswith("pkg:pypi/")
    every = {*references, document["metadata"]["component"]["bom-ref"]}
    assert {row["ref"] for row in document["dependencies"]} == every
    assert all(set(row["dependsOn"]) <= every for row in document["dependencies"])


@pytest.mark.slow
def test_advisories_out_of_reach_are_said_and_no_failure() -> None:
    offline = {**os.environ, "UV_OFFLINE": "1", "UV_NO_CACHE": "1"}
    done = subprocess.run([sys.executable, str(ROOT / ".ci" / "audit.py")], env=offline, capture_output=True, text=True)
    assert done.returncode == 0 and "not reachable" in done.stdout
