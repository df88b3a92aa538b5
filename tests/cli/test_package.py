"""The package as somebody installs it: a wheel, outside the checkout, with everything the browser needs inside."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import waiting
from support.app import running

from repopilot import __version__

ROOT = Path(__file__).resolve().parents[2]
UV = str(Path(sys.executable).with_name("uv"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package from a wheel, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    build = [UV, "build", "-q", "--wheel", "--no-build-isolation", "--python", sys.executable]
    subprocess.run([*build, "-o", folder / "dist", ROOT], check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    target = folder / "site"
    options = ["--no-deps", "--link-mode=copy", "--python", sys.executable, "--target", target]
    subprocess.run([UV, "pip", "install", "-q", *options, wheel], check=True)
    return target


@pytest.mark.slow
def test_the_installed_package_serves_its_page(installed: Path, tmp_path: Path) -> None:
    with running(tmp_path, root=installed, auto_download="false", embedded="false") as app:
        assert (tmp_path / "data" / "app" / __version__ / "chainlit_app.py").exists()
        assert "RepoPilot" in waiting.get(app.url).text
        for name in ("elements/IndexProgress.jsx", "theme.json", "repopilot.css", "favicon.svg"):
            assert waiting.get(f"{app.url}/public/{name}").status_code == 200
        translation = waiting.get(f"{app.url}/project/translations", params={"language": "en-US"})
        assert translation.json()["translation"]
    assert not list(installed.rglob(".files")), "an installed package is not written to"


@pytest.mark.slow
def test_the_command_says_its_version(installed: Path) -> None:
    program = installed / "bin" / "repopilot"
    done = subprocess.run(
        [sys.executable, program, "--version"], env={"PYTHONPATH": str(installed)}, capture_output=True, text=True
    )
    described = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == f"{__version__}, commit {described.stdout.strip()}"


@pytest.mark.slow
def test_a_package_without_commit_says_so_even_inside_of_another_repository(installed: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    shutil.copytree(
        installed / "repopilot", tmp_path / "lib" / "repopilot", ignore=shutil.ignore_patterns("commit.txt")
    )
    said = [sys.executable, "-m", "repopilot", "--version"]
    done = subprocess.run(said, cwd=tmp_path / "lib", env={}, capture_output=True, text=True)
    assert done.stdout.strip() == f"{__version__}, commit unknown"
