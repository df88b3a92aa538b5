from solution import word_counts


def test_visible_1():
    assert word_counts("The cat. The dog!") == {"the": 2, "cat": 1, "dog": 1}
