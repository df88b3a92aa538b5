"""Mounts and makes devices. Contained at: bwrap, landlock, limits."""
import ctypes
import os
import stat


def attack():
    libc = ctypes.CDLL(None)
    try:
        os.mknod(os.path.join(os.environ["TMPDIR"], "disk"), 0o666 | stat.S_IFBLK, os.makedev(254, 0))
        return True
    except OSError:
        return libc.mount(b"proc", b"/tmp", b"proc", 0, None) == 0
