def flatten(items):
    result = []
    for item in items:
        result += flatten(item) if isinstance(item, list) else [item]
    return result
