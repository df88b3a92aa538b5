"""A package index: wheels made by hand, and those of installed packages packed again, on disk or served."""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler
from importlib.metadata import distribution
from pathlib import Path

from support.loopback import LoopbackServer

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


@contextmanager
def serve_index(folder: Path, times: Mapping[str, str], other: str) -> Iterator[str]:
    """Serve the packages in a folder as an index that says when they came (PEP 700).

    Args:
        folder: of the wheels.
        times: by their names.
        other: of all others.

    Yields:
        Its address.
    """

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object, **more: object) -> None:
            super().__init__(*arguments, directory=str(folder), **more)  # type: ignore[arg-type]

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            if not self.path.startswith("/simple/"):
                super().do_GET()
                return
            name = self.path.strip("/").rpartition("/")[2]
            wheels = [path.name for path in folder.glob(f"{name.replace('-', '_')}-*.whl")]
            files = [{"filename": w, "url": f"/{w}", "hashes": {}, "upload-time": times.get(w, other)} for w in wheels]
            document = {"meta": {"api-version": "1.1"}, "name": name, "files": files}
            self.send_response(200 if wheels else 404)
            self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

    server = LoopbackServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    finally:
        server.shutdown()
        server.server_close()
