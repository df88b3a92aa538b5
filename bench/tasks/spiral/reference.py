def spiral(rows):
    rows, result = [list(row) for row in rows], []
    while rows:
        result += rows.pop(0)
        rows = [list(row) for row in zip(*rows, strict=True)][::-1]
    return result
