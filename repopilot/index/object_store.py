"""Files by their address: a path, or a URL of an object store (`s3://`, `gs://`, `az://`) or web server (`https://`)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

from repopilot.errors import StorageError, UsageError
from repopilot.i18n import message

OPTIONS: dict[str, Any] = {
    "client_options": {"allow_http": True, "timeout": "300s", "connect_timeout": "10s"},
    "retry_config": {"max_retries": 3, "retry_timeout": timedelta(minutes=1)},
}
"""`allow_http` is for self-hosted stores, whose address is in AWS_ENDPOINT_URL."""


def is_url(place: str) -> bool:
    """Whether a place is a URL, not a path."""
    return "://" in place


@contextmanager
def opened(place: str) -> Iterator[IO[bytes]]:
    """A file opened for reading; a URL is fetched only as far as it is read.

    Raises:
        OSError: a path can't be read.
        StorageError: a URL can't be read.
    """
    if not is_url(place):
        with open(place, "rb") as file:
            yield file
        return
    with _store(place) as (obstore, store, name):
        yield cast(IO[bytes], obstore.open_reader(store, name))


@contextmanager
def fetched(place: str) -> Iterator[Path]:
    """A file on this machine: the one at a path, or a copy that is deleted after the block. Raises StorageError."""
    if not is_url(place):
        yield Path(place)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder, "fetched")
        with _store(place) as (obstore, store, name), target.open("wb") as file:
            for block in obstore.get(store, name):
                file.write(block)
        yield target


@contextmanager
def stored(place: str) -> Iterator[Path]:
    """Where to write a file for a place: the path itself, or a temporary file that is uploaded at the end of the block
    and replaces the object as a whole. Raises StorageError."""
    if not is_url(place):
        yield Path(place)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder, "stored")
        yield target
        with _store(place) as (obstore, store, name):
            obstore.put(store, name, target)


@contextmanager
def _store(place: str) -> Iterator[tuple[ModuleType, Any, str]]:
    """The library, the store that a URL names, and the name of the object in it; turns their errors into ours."""
    try:
        import obstore
        import obstore.store
        from obstore.exceptions import BaseError
    except ImportError as error:
        raise UsageError(message("index.object_store_extra"), message("index.object_store_extra_hint")) from error
    base, _, name = place.rpartition("/")
    try:
        yield obstore, obstore.store.from_url(base, **OPTIONS), name
    except (BaseError, ValueError, OSError) as error:
        said = " ".join(str(error).split())[:300]
        raise StorageError(
            message("index.object_store_failed", place=place, error=said), message("index.object_store_failed_hint")
        ) from error
