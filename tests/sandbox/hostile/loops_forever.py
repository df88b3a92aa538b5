"""Never ends. Contained at: bwrap, landlock, limits."""


def attack():
    while True:
        pass
