"""Reads the list of users and the password file. Contained at: bwrap, landlock."""


def attack():
    for path in ("/etc/passwd", "/etc/shadow", "/etc/hostname"):
        try:
            return open(path).read()
        except OSError:
            continue
    return False
