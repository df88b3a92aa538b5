from solution import spiral


def test_hidden_1():
    assert spiral([]) == []


def test_hidden_2():
    assert spiral([[1, 2, 3]]) == [1, 2, 3]


def test_hidden_3():
    assert spiral([[1], [2], [3]]) == [1, 2, 3]


def test_hidden_4():
    assert spiral([[1, 2], [3, 4], [5, 6]]) == [1, 2, 4, 6, 5, 3]
