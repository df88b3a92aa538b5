def caesar(text, shift):
    def move(c):
        if not ("a" <= c.lower() <= "z"):
            return c
        base = ord("a") if c.islower() else ord("A")
        return chr((ord(c) - base + shift) % 26 + base)

    return "".join(map(move, text))
