def common_prefix(words):
    length = 0
    for letters in zip(*words, strict=False):
        if len(set(letters)) > 1:
            break
        length += 1
    return words[0][:length] if words else ""
