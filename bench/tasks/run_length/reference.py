from itertools import groupby


def run_length(text):
    return "".join(f"{key}{len(list(group))}" for key, group in groupby(text))
