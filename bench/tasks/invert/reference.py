def invert(mapping):
    inverted = {}
    for key in sorted(mapping):
        inverted.setdefault(mapping[key], []).append(key)
    return inverted
