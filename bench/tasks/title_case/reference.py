def title_case(text):
    small = {"a", "an", "the", "of", "in"}
    words = text.lower().split(" ")
    return " ".join(w if w in small and i else w.capitalize() for i, w in enumerate(words))
