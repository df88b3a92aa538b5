from solution import second_largest


def test_visible_1():
    assert second_largest([3, 1, 2]) == 2


def test_visible_2():
    assert second_largest([5, 5, 4]) == 4
