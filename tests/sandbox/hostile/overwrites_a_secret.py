"""Changes the user's file in place. Contained at: bwrap, landlock."""
from target import SECRET


def attack():
    with open(SECRET, "a") as file:
        file.write("changed")
    return True
