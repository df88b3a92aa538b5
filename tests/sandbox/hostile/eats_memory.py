"""Takes ever more memory, and uses it. Contained at: bwrap, landlock, limits."""


def attack():
    kept = []
    try:
        while True:
            kept.append(bytearray(b"x" * (64 << 20)))
    except MemoryError:
        return sum(map(len, kept)) > 1.2 * (1 << 30)
