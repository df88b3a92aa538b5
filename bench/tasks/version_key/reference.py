def compare_versions(one, other):
    a, b = [int(x) for x in one.split(".")], [int(x) for x in other.split(".")]
    size = max(len(a), len(b))
    a, b = a + [0] * (size - len(a)), b + [0] * (size - len(b))
    return (a > b) - (a < b)
