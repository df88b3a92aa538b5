"""Opening repositories over real smart HTTP, from servers that behave and from those that don't."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.git_server import GitServer, commit, git, publish
from support.hostile import processes_with
from support.waiting import until

from repopilot.errors import Cancelled, CredentialsNeeded, SourceError, StorageError
from repopilot.openings import PREWARM_FROM_OBJECTS, open_snapshot
from repopilot.repo.clone import clone_dir, clone_lock, fetch_limits
from repopilot.repo.read import read
from repopilot.repo.remote import network
from repopilot.repo.remote.credentials import HostToken, host_of
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.walk import walk
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot


def opened(server: GitServer, options: Settings, page: str = "", **more) -> Snapshot:
    return open_source(parse_source(f"{server.url}/demo.git{page}"), options, **more)


def texts(snapshot: Snapshot, options: Settings) -> dict[str, object]:
    return {file.path: text for file, text in read(snapshot, walk(snapshot, options)[0])}


@pytest.mark.slow
def test_a_clone_is_bare_shallow_and_readable(server: GitServer, work: Path, options: Settings) -> None:
    seen: list[Progress] = []
    snapshot = opened(server, options, progress=seen.append)
    assert snapshot.commit == git(work, "rev-parse", "HEAD")
    assert (snapshot.name, snapshot.ref, snapshot.stale) == ("demo", "main", None)
    assert texts(snapshot, options)["src/app.py"] == "def run():\n    return 2\n"
    assert snapshot.git_dir is not None
    assert git(snapshot.git_dir, "rev-list", "--count", "--all") == "1"
    assert "promisor" not in (snapshot.git_dir / "config").read_text()
    assert {"Receiving objects", "Cloned"} <= {p.phase for p in seen}
    assert any("iB" in p.detail or "bytes" in p.detail for p in seen)


@pytest.mark.slow
def test_opening_again_fetches_what_is_new_even_after_a_forced_push(
    server: GitServer, work: Path, options: Settings
) -> None:
    first = opened(server, options)
    git(work, "reset", "-q", "--hard", "HEAD~2")
    commit(work, {"src/new.py": "NEW = 1\n"}, "rewritten")
    publish(work, server.folder)
    second = opened(server, options)
    assert second.key == first.key
    assert second.commit == git(work, "rev-parse", "HEAD")
    assert set(texts(second, options)) == {"src/new.py", "src/app.py", "README.md"}
    assert texts(first, options)["src/app.py"] == "def run():\n    return 2\n"


@pytest.mark.slow
def test_branch_with_slashes_tag_and_commit(server: GitServer, work: Path, options: Settings) -> None:
    git(work, "tag", "-a", "v1", "-m", "one", "HEAD~1")
    git(work, "branch", "feature/x/y", "HEAD~2")
    publish(work, server.folder)
    branch = opened(server, options, "/tree/feature/x/y/src")
    assert (branch.ref, branch.subdir) == ("feature/x/y", "src")
    assert list(texts(branch, options)) == ["src/app.py"]
    tag = opened(server, options, "/tree/v1")
    assert tag.commit == git(work, "rev-parse", "HEAD~1")
    first = git(work, "rev-parse", "HEAD~2")
    assert opened(server, options, f"/commit/{first}").commit == first
    assert len({branch.key, tag.key, opened(server, options).key}) == 3


@pytest.mark.slow
def test_a_server_that_cannot_filter_is_asked_without(server: GitServer, options: Settings) -> None:
    server.refuse_filter = True
    seen: list[Progress] = []
    assert "src/app.py" in texts(opened(server, options, progress=seen.append), options)
    assert any("refuses a partial clone" in p.phase for p in seen)


@pytest.mark.slow
def test_large_files_stay_on_the_server(server: GitServer, work: Path, options: Settings) -> None:
    commit(work, {"data.json": os.urandom(1_200_000).hex()[:1_200_000]}, "large")
    publish(work, server.folder)
    snapshot = opened(server, options)
    assert snapshot.git_dir is not None
    stored = sum(f.stat().st_size for f in snapshot.git_dir.rglob("*") if f.is_file())
    assert stored < 200_000
    assert [s.reason for s in walk(snapshot, options)[1] if s.path == "data.json"] == [
        "too large, left out of the clone"
    ]


@pytest.mark.slow
def test_a_token_is_sent_and_stored_nowhere(server: GitServer, options: Settings) -> None:
    server.token = "t0ps3cret-value"
    with pytest.raises(CredentialsNeeded) as refused:
        opened(server, options, token=HostToken(host_of(server.url), "wr0ng-token"))
    snapshot = opened(server, options, token=HostToken(host_of(server.url), server.token))
    assert snapshot.stale is None
    assert "wr0ng-token" not in str(refused.value)
    for file in options.home.rglob("*"):
        assert not file.is_file() or server.token.encode() not in file.read_bytes()
    assert server.token not in repr(snapshot)
    assert "credentials" in (opened(server, options).stale or "")


@pytest.mark.slow
def test_a_known_clone_without_its_server_is_stale_but_usable(server: GitServer, options: Settings) -> None:
    first = opened(server, options)
    server.status = 500
    again = opened(server, options)
    assert (again.commit, again.key, again.ref) == (first.commit, first.key, first.ref)
    assert "internal error" in (again.stale or "")
    assert texts(again, options) == texts(first, options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (404, SourceError, "no repository at"),
        (401, CredentialsNeeded, "asks for credentials"),
        (403, CredentialsNeeded, "asks for credentials"),
        (500, SourceError, "internal error"),
        (200, SourceError, "not a git repository"),
    ],
)
def test_a_servers_refusal_is_explained(server, options, status: int, kind: type, says: str) -> None:
    server.status = status
    with pytest.raises(kind, match=says):
        opened(server, options)
    assert not list(options.repos.glob("*.git")) and not list(options.repos.glob("*partial*"))


@pytest.mark.slow
def test_a_redirect_is_not_followed(server: GitServer, options: Settings) -> None:
    server.redirect = server.url + "/elsewhere"
    with pytest.raises(SourceError, match="redirects this address"):
        opened(server, options)
    assert not any("elsewhere" in request for request in server.requests)


@pytest.mark.slow
def test_an_address_that_needs_git_at_its_end(server: GitServer, options: Settings) -> None:
    server.redirect_bare = True
    snapshot = open_source(parse_source(server.url + "/demo"), options)
    assert "src/app.py" in texts(snapshot, options)


@pytest.mark.slow
def test_unknown_repository_and_ref(server: GitServer, options: Settings) -> None:
    with pytest.raises(SourceError, match="no repository at"):
        open_source(parse_source(server.url + "/nope.git"), options)
    with pytest.raises(SourceError, match=r"no branch, tag or commit “nope”. Branches: main"):
        opened(server, options, "/tree/nope")
    with pytest.raises(SourceError, match=r"no (such )?branch, tag or commit"):
        opened(server, options, "/commit/" + "0" * 40)


@pytest.mark.slow
def test_an_empty_repository(server: GitServer, options: Settings) -> None:
    git(server.folder, "init", "-q", "--bare", "empty.git")
    with pytest.raises(SourceError, match="no commit yet"):
        open_source(parse_source(server.url + "/empty.git"), options)


@pytest.mark.slow
def test_a_stalled_server_is_given_up(server: GitServer, options: Settings) -> None:
    server.stall.set()
    with pytest.raises(SourceError, match="did not finish in time"):
        opened(server, options.model_copy(update={"clone_timeout_s": 1.0}))
    assert not list(options.repos.glob("*partial*"))


@pytest.mark.slow
def test_cancelling_ends_git_and_leaves_nothing(server: GitServer, options: Settings) -> None:
    server.stall.set()
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    with pytest.raises(Cancelled):
        opened(server, options, cancel=cancel)
    assert not list(options.repos.glob("*partial*"))
    server.stall.clear()
    assert opened(server, options).stale is None


@pytest.mark.slow
def test_two_at_once_share_one_clone(server: GitServer, options: Settings) -> None:
    found: list[Snapshot] = []
    threads = [threading.Thread(target=lambda: found.append(opened(server, options))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len({s.commit for s in found}) == 1
    assert len(list(options.repos.glob("*.git"))) == 1


def test_waiting_for_another_process_can_be_cancelled(options: Settings) -> None:
    where = clone_dir("https://h.example/x", options)
    cancel = threading.Event()
    seen: list[Progress] = []
    with clone_lock(where, fetch_limits(options)):
        threading.Timer(0.3, cancel.set).start()
        with pytest.raises(Cancelled), clone_lock(where, fetch_limits(options, seen.append, cancel)):
            pytest.fail("the lock was given twice")
    assert any("Waiting" in p.phase for p in seen)


@pytest.mark.slow
def test_a_clone_too_large_or_a_home_that_cannot_be_written(server: GitServer, work: Path, options: Settings) -> None:
    blocked = options.model_copy(update={"home": work / "README.md"})
    with pytest.raises(StorageError, match="data directory"):
        opened(server, blocked)


@pytest.mark.slow
def test_disk_full(server: GitServer, options: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    usage = shutil.disk_usage(options.home.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(StorageError, match="full"):
        opened(server, options)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0", "0.1.2.3"),
        *("100.64.0.1", "192.0.0.8", "192.0.0.9", "192.0.2.1", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1"),
        *("[::]", "[::1]", "[::7f00:1]", "[::808:808]", "[::ffff:127.0.0.1]", "[::ffff:0:7f00:1]", "[::ffff:8.8.8.8]"),
        *("[64:ff9b::7f00:1]", "[64:ff9b::808:808]", "[64:ff9b:1::a00:1]"),
        *("[100::1]", "[2001::7f00:1]", "[2001:db8::1]"),
        *("[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:6440:1::1]", "[fc00::1]", "[fd00::1]", "[fe80::1]", "[fec0::1]"),
        *("[feff::1]", "[ff02::1]", "[5f00::1]", "[3fff::1]"),
    ],
)
def test_private_addresses_are_refused(address: str, options: Settings) -> None:
    strict = options.model_copy(update={"allow_private_hosts": False})
    with pytest.raises(SourceError, match="private network"):
        network.check(f"http://{address}/x.git", strict)


@pytest.mark.parametrize("address", ["140.82.121.4", "[2606:50c0:8000::154]", "[2400::1]", "[2002:8c52:7904::1]"])
def test_public_addresses_are_allowed(address: str, options: Settings) -> None:
    assert network.check(f"https://{address}/x.git", options.model_copy(update={"allow_private_hosts": False}))


def test_localhost_by_name_is_refused_and_public_names_are_pinned(options: Settings, monkeypatch) -> None:
    strict = options.model_copy(update={"allow_private_hosts": False})
    with pytest.raises(SourceError, match="private network"):
        network.check("https://localhost/x.git", strict)
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: [(0, 0, 0, "", ("93.184.216.34", 443))])
    assert network.check("https://h.example/x.git", strict).pins == ("h.example:443:93.184.216.34",)


def test_plain_http_and_unknown_hosts(options: Settings) -> None:
    with pytest.raises(SourceError, match="unencrypted"):
        network.check("http://127.0.0.1/x", options.model_copy(update={"allow_http": False}))
    with pytest.raises(SourceError, match="can't be found"):
        network.check("https://no-such-host.invalid/x", options)


OPEN = f"""
import sys
sys.path[:] = {sys.path}
from pathlib import Path
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
options = {{"allow_http": True, "allow_private_hosts": True, "git_token": ""}}
open_source(parse_source(sys.argv[1]), Settings(_env_file=None, home=Path(sys.argv[2]), **options))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there git is started directly")
def test_git_ends_with_a_process_that_is_killed(server: GitServer, options: Settings) -> None:
    server.stall.set()
    with subprocess.Popen([sys.executable, "-c", OPEN, f"{server.url}/demo.git", options.home]) as opening:
        until(lambda: processes_with(f"git-dir={options.home}", wait=False) or opening.poll() is not None)
        assert opening.poll() is None
        opening.kill()
    left = processes_with(str(options.home))
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert not left
    server.stall.clear()
    assert not opened(server, options).stale


@pytest.mark.slow
@pytest.mark.parametrize("files", [0, PREWARM_FROM_OBJECTS])
def test_processes_start_during_the_first_clone_of_a_large_repository(
    server: GitServer, work: Path, tmp_path: Path, options: Settings, files: int
) -> None:
    commit(work, {f"many/{number}.txt": f"{number}\n" for number in range(files)} | {"last.txt": ""})
    publish(work, tmp_path / "served", "large.git")
    with Runtime(options) as runtime:
        open_snapshot(f"{server.url}/large.git", runtime, None, lambda progress: None, threading.Event())
        first = runtime.workers.take()
        first.close()
    assert ("repopilot.code.preload" in first.process.args[-1]) is (files > 0)
