"""A package index on disk: wheels made by hand, and those of installed packages packed again."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def pack_installed(folder: Path, names: tuple[str, ...] = PYTEST) -> None:
    """Write wheels of packages that are installed here, all of pure Python."""
    for name in names:
        found = distribution(name)
        with zipfile.ZipFile(folder / f"{name}-{found.version}-py3-none-any.whl", "w") as wheel:
            for path in found.files or ():
                if ".." not in path.parts and "__pycache__" not in path.parts:
                    wheel.write(path.locate(), str(path))


def write_wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str], requires: tuple[str, ...] = ()
) -> None:
    """Write a wheel with some files."""
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {r}" for r in requires)]
    info = f"{name}-{version}.dist-info"
    own = {
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    texts = {**files, **own}
    record = "".join(f"{path},,\n" for path in (*texts, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in {**texts, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)


def write_index(folder: Path) -> Path:
    """Make an index (PEP 503) of the packages in a folder, and return its folder."""
    top = folder / "simple"
    for path in folder.iterdir():
        if path.is_file():
            page = top / path.name.partition("-")[0].replace("_", "-").lower() / "index.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            before = page.read_text() if page.exists() else "<!DOCTYPE html>"
            page.write_text(f'{before}<a href="../../{path.name}">{path.name}</a>')
    return top
