from solution import unique


def test_visible_1():
    assert unique([1, 2, 1, 3]) == [1, 2, 3]


def test_visible_2():
    assert unique([[1], [1], [2]]) == [[1], [2]]
