"""What runs natively on Windows: paths, line ends, and folders that are deleted whole."""

import ntpath
import os
import posixpath
import stat
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest
from support import git_server
from support.app import ROOT

from repopilot import disk
from repopilot.errors import SourceRefused
from repopilot.repo.local import folder_head, run_git
from repopilot.repo.read import native_path, regular_bytes
from repopilot.repo.source import looks_like_source, parse_source, reachable_path


@pytest.mark.parametrize("path", ["a.py", "src/app/main.py", "src/app dir/é.py"])
def test_a_path_of_a_repository_is_written_as_the_system_writes_it(path):
    found = native_path(r"C:\Users\me\project", path, ntpath)
    assert PureWindowsPath(found) == PureWindowsPath(r"C:\Users\me\project") / path and "/" not in found
    assert ntpath.dirname(found) == str(PureWindowsPath(found).parent), "so that it compares with the real folder"
    assert native_path("C:\\", path, ntpath) == str(PureWindowsPath("C:\\", path))
    assert native_path("/home/me", path, posixpath) == f"/home/me/{path}"


@pytest.mark.parametrize("path", ["D:/x.py", "D:x.py", "/x.py", "//server/share/x.py", r"\\server\share\x.py"])
def test_a_path_that_leads_to_another_drive_or_server_is_none(path):
    assert native_path(r"C:\Users\me\project", path, ntpath) == ""


@pytest.mark.parametrize("path", ["con", "src/aux.c", "NUL.tar.gz", "a/Com1 .py", "lpt¹", "conout$", "a.py:hidden"])
def test_a_name_that_windows_takes_for_a_device_or_a_stream_is_no_file(path):
    assert native_path(r"C:\Users\me\project", path, ntpath) == ""
    assert native_path("/home/me", path, posixpath) == f"/home/me/{path}", "elsewhere it is a file as any other"


@pytest.mark.parametrize("path", ["console.py", "auxiliary/null.c", "com10", "nullable", ".con", "prn_"])
def test_a_name_that_only_resembles_one_is_a_file(path):
    assert native_path(r"C:\p", path, ntpath)


def test_a_path_is_read_with_the_line_ends_that_it_has(tmp_path, monkeypatch):
    options = []
    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)  # Windows opens as text without it
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, flags: options.append(flags) or opened(path, flags & ~0x8000))
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\x1a\r\n")
    assert regular_bytes(str(tmp_path), "a.txt") == b"one\r\ntwo\x1a\r\n" and options[0] & 0x8000


@pytest.mark.slow
def test_the_path_of_a_place_is_printed_where_the_output_has_another_encoding(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text('def Ωmega():\n    """→ ✓ 😀."""\n', "utf-8")
    quiet = {"REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false", "REPOPILOT_AUTO_DOWNLOAD": "false"}
    env = os.environ | quiet | {"PYTHONIOENCODING": "cp1252", "REPOPILOT_HOME": str(tmp_path / "home")}
    for option in ([], ["--json"]):
        command = [sys.executable, "-m", "repopilot", "search", str(tmp_path / "code"), "Ωmega", *option]
        done = subprocess.run(command, env=env, capture_output=True)
        assert done.returncode == 0 and "→ ✓ 😀" in done.stdout.decode("utf-8"), done.stderr


def test_wsl_reaches_a_path_of_windows_below_mnt(tmp_path):
    def mounted(folder):
        return folder == "/mnt/c"

    assert reachable_path(r"C:\Users\me\my project", mounted) == "/mnt/c/Users/me/my project"
    assert reachable_path("c:/Users/me", mounted) == "/mnt/c/Users/me"
    for other in (r"D:\x", "C:", "c:relative", "https://github.com/o/r", "/home/me", "", "abc:\\x"):
        assert reachable_path(other, mounted) == other
    assert reachable_path(r"C:\Users", lambda folder: False) == r"C:\Users", "on Windows itself"


def test_a_folder_of_windows_is_a_path_and_a_network_folder_is_never_asked_for():
    for text in ("C:\\no\\such\\folder", "C:/no/such/folder"):
        with pytest.raises(Exception, match="does not exist"):
            parse_source(text)
    for text in (r"\\server\share\project", "\\\\server/share"):
        assert not looks_like_source(text)
        with pytest.raises(SourceRefused, match="Network folders"):
            parse_source(text)


@pytest.mark.slow
def test_line_ends_of_windows_are_no_change_where_git_writes_them(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    git_server.commit(work, {"a.txt": "one\ntwo\n"})
    settings = '[core]\n\tautocrlf = true\n[filter "lfs"]\n\tclean = touch ran\n\trequired = true\n'
    (home / ".gitconfig").write_text(settings)
    (work / ".git" / "info" / "attributes").write_text("*.txt filter=lfs\n")
    (work / "a.txt").unlink()
    git_server.git(work, "-c", "core.autocrlf=true", "checkout", "--", "a.txt")  # as git on Windows writes it
    assert (work / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    os.utime(work / "a.txt", (1, 1))  # its content has to be compared
    assert not folder_head(work)[0].endswith("dirty")
    (work / "a.txt").write_bytes(b"one\r\nthree\r\n")
    changed = run_git(work, "diff", "--no-ext-diff", "HEAD")
    assert b"-two\n+three\n" in changed and b"\r" not in changed and not list(tmp_path.rglob("ran"))
    run_git(work, "config", "core.autocrlf", "false")
    assert b"+one\r\n" in run_git(work, "diff", "--no-ext-diff", "HEAD"), (
        "the repository's own setting goes before the user's"
    )


def test_a_tree_is_deleted_with_files_that_may_only_be_read(tmp_path, monkeypatch):
    unlink = os.unlink

    def as_windows(path, *, dir_fd=None):
        if not os.stat(path, dir_fd=dir_fd).st_mode & stat.S_IWRITE:
            raise PermissionError(13, "Access is denied", path)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", as_windows)
    pack = tmp_path / "clone.git" / "objects" / "pack" / "pack-1.pack"
    pack.parent.mkdir(parents=True)
    pack.write_bytes(b"PACK")
    pack.chmod(0o444)
    assert disk.remove_tree(tmp_path / "clone.git") is None and not (tmp_path / "clone.git").exists()
    assert disk.remove_tree(tmp_path / "absent") is None


def test_what_is_in_use_is_left_and_said_and_the_rest_goes(tmp_path, monkeypatch):
    unlink = os.unlink

    def as_windows(path, *, dir_fd=None):
        if Path(path).name == "open.db":
            raise PermissionError(13, "The process cannot access the file", path)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", as_windows)
    (tmp_path / "index").mkdir()
    for name in ("a", "open.db", "z"):
        (tmp_path / "index" / name).write_text("x")
    error = disk.remove_tree(tmp_path / "index")
    assert error is not None and os.listdir(tmp_path / "index") == ["open.db"]


POSIX_ONLY = """
import importlib, os, pkgutil, signal, sys
import repopilot
PAGE = ("repopilot.ui", "repopilot.sandbox.inside", "repopilot.__main__")  # the page; what runs inside of the sandbox
every = [each.name for each in pkgutil.walk_packages(repopilot.__path__, "repopilot.")]
names = [each for each in every if not each.startswith(PAGE)]
for name in names:  # so that other packages are loaded as they are on this system
    importlib.import_module(name)
for name in [each for each in sys.modules if each.partition(".")[0] == "repopilot"]:
    del sys.modules[name]
for name in ("fcntl", "grp", "pwd", "pty", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "geteuid", "getuid", "getegid", "getgid", "getpgid", "killpg", "mkfifo", "nice", "setpriority",
             "setsid", "statvfs", "sysconf", "uname", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "sched_getaffinity"):
    vars(os).pop(name, None)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGXCPU"):
    vars(signal).pop(name, None)
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.mark.slow
def test_no_module_needs_what_windows_lacks_to_be_imported():
    done = subprocess.run([sys.executable, "-c", POSIX_ONLY], capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 300, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.thorough
def test_nothing_that_windows_lacks_is_used_outside_of_the_sandbox(tmp_path):
    """Typeshed knows what each system has: os.geteuid, os.killpg, signal.SIGKILL, fcntl, resource, … Other packages
    are left unread, which is most of the time."""
    command = ["-m", "mypy", "--platform", "win32", "--cache-dir", str(tmp_path), "--no-error-summary"]
    command += ["--no-site-packages", "--ignore-missing-imports", "--no-warn-unused-ignores"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "repopilot/sandbox/" in done.stdout, "the check sees what Windows lacks"
    lacking = [line for line in done.stdout.splitlines() if "has no attribute" in line and "? has no" not in line]
    used = [line for line in lacking if not line.startswith("repopilot/sandbox/")]
    assert used == [], "no level of isolation works there, so the sandbox alone may"
