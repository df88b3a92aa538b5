"""Parses what the user pasted: a repository's address on any git host, its shorthand, or a local path. No network."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import SplitResult, unquote, urlsplit

from repopilot import i18n
from repopilot.errors import SourceError, SourceMalformed, SourceRefused, UsageError
from repopilot.repo.remote.credentials import HostToken, host_of
from repopilot.types import Source

_SHORTHAND = re.compile(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]{0,38})/(?P<name>[A-Za-z0-9_.-]{1,100}?)(?:@(?P<ref>\S+))?")
_SCP = re.compile(r"(?P<user>[\w.-]+)@(?P<host>[A-Za-z0-9.-]+):(?P<path>[^\s:]+)")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_LINE = re.compile(r"L(?P<line>\d+)(?:C\d+)?(?:-L?(?P<last>\d+)(?:C\d+)?)?")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LOCAL_START = ("/", "./", "../", "~", ".\\", "..\\")
# Hosts that redirect a repository's address without `.git`, or that accept it with and without.
_FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org")
_SCHEME_HINTS = {"file": "give_folder_path", "ssh": "give_https_and_token", "git": "give_https"}
_PAGES = ("tree", "blob", "raw", "blame", "commits", "commit", "pull", "pulls", "merge_requests", "src")


def parse_source(text: str) -> Source:
    """The repository that `text` names. Credentials inside an address are dropped (see `split_token`).

    In tree and blob addresses the branch is taken to be one path segment; a branch with slashes is resolved
    against the remote's branches when the repository is opened. An existing local path wins over `owner/name`.

    Raises:
        UsageError: the text is empty.
        SourceError: it can't be a repository; the message says why.
    """
    text, _ = split_token(text)
    text = reachable_path(_unwrap(text))
    if not text:
        raise UsageError(i18n.message("repo.none_given"), i18n.message("repo.expected"))
    _refuse_dangerous(text)
    if _SCHEME.match(text):
        return _from_url(text)
    if text.startswith(_LOCAL_START) or _DRIVE.match(text) or _exists(text):
        return _from_path(text)
    if scp := _SCP.fullmatch(text):
        return _from_url(f"https://{scp['host']}/{scp['path'].lstrip('/')}")
    if short := _SHORTHAND.fullmatch(text):
        return _from_shorthand(short)
    if re.match(r"(www\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/\S+$", text):
        return _from_url("https://" + text)
    kind = SourceMalformed if re.search(r"[\t ]", text) else SourceError  # one word may be a path that doesn't exist
    raise _invalid("neither_address_nor_path", kind=kind, text=_shorten(text))


def reachable_path(text: str, is_mounted: Callable[[str], bool] = os.path.isdir) -> str:
    """A Windows path as WSL mounts it, below `/mnt`; any other text as it is.

    Args:
        text: as pasted, such as `C:\\Users\\me\\project`.
        is_mounted: whether the folder exists where WSL mounts the drive; on Windows itself it doesn't.
    """
    mount = f"/mnt/{text[:1].lower()}"
    if not _DRIVE.match(text) or not is_mounted(mount):
        return text
    return str(PurePosixPath(mount, *PureWindowsPath(text).parts[1:]))


def looks_like_source(text: str) -> bool:
    """Whether a chat message is a repository rather than a question: one single token, or an existing path."""
    text = reachable_path(_unwrap(text))
    if not text or "\n" in text or len(text) > 2000:
        return False
    if (text.startswith(_LOCAL_START) or _DRIVE.match(text)) and _exists(text):
        return True
    if re.search(r"\s", text):
        return False
    if re.match(r"(https?|git|ssh|file|ext)://", text, re.I) or _SCP.fullmatch(text):
        return True
    if text.removeprefix("www.").startswith(tuple(f"{forge}/" for forge in _FORGES)):
        return True
    return bool(_SHORTHAND.fullmatch(text)) and not re.search(r"\.[a-z]{1,4}$", text.removesuffix(".git"))


def split_token(text: str) -> tuple[str, HostToken | None]:
    """`text` without the user and password of its address, and these as a token, bound to the address's host.

    The token of `https://user:password@host/…` is `user:password`, since some hosts check a token's user, too. If only
    one of the two is given, it is the token.
    """
    text = text.strip()
    scheme = _SCHEME.match(text)
    if not scheme:
        return text, None
    rest = text[scheme.end() :]
    authority, slash, path = rest.partition("/")
    credentials, at, host = authority.rpartition("@")
    if not at:
        return text, None
    address = f"{scheme.group()}{host}{slash}{path}"
    return address, _bound_to(address, unquote(credentials.strip(":")))


def _bound_to(address: str, secret: str) -> HostToken | None:
    try:
        return HostToken(host_of(address), secret) if secret else None
    except ValueError:
        # Not an address: parsing it reports the error.
        return None


def _unwrap(text: str) -> str:
    """Without the quotes or brackets people paste around an address, and without `git clone` before it."""
    text = text.strip()
    text = re.sub(r"^git\s+clone\s+(?!-)", "", text)
    for start, end in ("<>", '""', "''", "``"):
        if len(text) > 1 and text[0] == start and text[-1] == end:
            text = text[1:-1].strip()
    return text


def _refuse_dangerous(text: str) -> None:
    if "\0" in text or "\n" in text or "\r" in text:
        raise _invalid("control_characters")
    if text.startswith("-"):
        raise _invalid("option", text=_shorten(text))
    if _is_network_folder(text):
        raise _invalid("network_folder", "network_folder_hint", kind=SourceRefused)
    if _HELPER.match(text):
        raise _invalid("remote_helper", kind=SourceRefused)
    scheme = _SCHEME.match(text)
    if not scheme or scheme["scheme"].lower() in ("https", "http"):
        return
    name = scheme["scheme"].lower()
    raise _invalid("unsupported_scheme", _SCHEME_HINTS.get(name, "expected"), kind=SourceRefused, scheme=name)


def _is_network_folder(text: str) -> bool:
    return text.startswith("\\\\") or (os.name == "nt" and text.startswith("//"))


def _exists(text: str) -> bool:
    try:
        return not _is_network_folder(text) and Path(text).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _from_path(text: str) -> Source:
    try:
        path = Path(text).expanduser().resolve()
        exists = path.exists()
    except (OSError, RuntimeError) as error:
        raise SourceError(i18n.message("repo.path_unreadable", path=_shorten(text), error=error)) from error
    if not exists:
        raise _invalid("no_such_path", "check_spelling", kind=SourceError, path=_shorten(str(path)))
    if not path.is_dir():
        raise _invalid("path_is_file", "path_is_file_hint", kind=SourceError, path=_shorten(str(path)))
    return Source(name=path.name or str(path), path=path)


def _from_shorthand(match: re.Match[str]) -> Source:
    name = match["name"].removesuffix(".git")
    if name in ("", ".", ".."):
        raise _invalid("neither_address_nor_path", text=match.group())
    ref = match["ref"]
    if ref is not None:
        check_ref(ref)
    return Source(name=f"{match['owner']}/{name}", url=f"https://github.com/{match['owner']}/{name}.git", ref=ref)


def check_ref(ref: str) -> None:
    """Raise SourceError for what git refuses as a branch, tag, commit or revision, or would take for an option."""
    if not ref or ref.startswith("-") or re.search(r"[\x00-\x20\x7f?*\[\\:]|\.\.|@\{", ref):
        raise SourceError(i18n.message("repo.invalid_ref", ref=_shorten(ref)))


def _from_url(text: str) -> Source:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _invalid("invalid_address", text=_shorten(text), error=error) from error
    host = (parts.hostname or "").removeprefix("www.")
    if not host or re.search(r"[^a-z0-9.:_-]", host):
        raise _invalid("invalid_host", text=_shorten(text))
    segments = [unquote(s) for s in parts.path.split("/") if s]
    if not segments or any(s in (".", "..") or re.search(r"[\x00-\x1f]", s) for s in segments):
        raise _invalid("no_repository_named", text=_shorten(text), host=host)
    repository, view = _split_view(host, segments)
    netloc = f"[{host}]" if ":" in host else host
    netloc = f"{netloc}:{port}" if port else netloc
    scheme = "https" if host in _FORGES else parts.scheme.lower()
    path = "/".join(repository)
    if host in _FORGES and not path.endswith(".git"):
        path += ".git"
    source = Source(name="/".join(repository[-2:]).removesuffix(".git"), url=f"{scheme}://{netloc}/{_quote(path)}")
    return _with_view(source, view, parts)


def _quote(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9/._~@+-]", lambda m: "".join(f"%{b:02X}" for b in m.group().encode()), path)


def _split_view(host: str, segments: list[str]) -> tuple[list[str], list[str]]:
    """The segments of the repository's own path, and those of a page inside it (`tree/main/src`, `pull/3`, …)."""
    if "-" in segments[2:]:  # GitLab: group/subgroup/name/-/tree/…
        at = segments.index("-", 2)
        return segments[:at], segments[at + 1 :]
    for at, segment in enumerate(segments[1:], 1):
        if segments[at - 1].endswith(".git"):
            return segments[:at], segments[at:]
        if at > 1 and segment in _PAGES and (host in _FORGES or len(segments) > at + 1):
            return segments[:at], segments[at:]
    if host in ("github.com", "codeberg.org", "bitbucket.org"):  # two segments; the rest is some page: issues, wiki, …
        return segments[:2], []
    return segments, []


def _with_view(source: Source, view: list[str], parts: SplitResult) -> Source:
    kind, rest = (view[0], view[1:]) if view else ("", [])
    if not rest:
        return source
    if kind in ("pull", "pulls") and rest[0].isdigit():
        return replace(source, ref=f"refs/pull/{rest[0]}/head")
    if kind == "merge_requests" and rest[0].isdigit():
        return replace(source, ref=f"refs/merge-requests/{rest[0]}/head")
    if kind == "src" and rest[0] in ("branch", "tag", "commit"):  # Gitea and Forgejo
        rest = rest[1:]
    if kind not in ("tree", "blob", "raw", "blame", "commits", "commit", "src") or not rest:
        return source
    check_ref(rest[0])
    inside = "/".join(rest[1:])
    line = _LINE.fullmatch(parts.fragment)
    if line or kind in ("blob", "raw", "blame"):
        first, last = (int(line["line"]), int(line["last"] or line["line"])) if line else (None, None)
        return replace(source, ref=rest[0], focus=inside or None, line=first, last_line=last)
    return replace(source, ref=rest[0], subdir=inside if kind in ("tree", "src") else "")


def _invalid(
    problem: str, hint: str = "expected", /, kind: type[SourceError] = SourceMalformed, **values: object
) -> SourceError:
    """The error for a text that can't be opened: keys of the catalogue below `repo`."""
    return kind(i18n.message(f"repo.{problem}", **values), i18n.message(f"repo.{hint}"))


def _shorten(text: str, length: int = 120) -> str:
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable if len(printable) <= length else printable[: length - 1] + "…"
