def snake_case(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
