def transpose(rows):
    return [list(column) for column in zip(*rows, strict=True)]
