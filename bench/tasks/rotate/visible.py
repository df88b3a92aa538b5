from solution import rotate


def test_visible_1():
    assert rotate([1, 2, 3, 4], 1) == [4, 1, 2, 3]


def test_visible_2():
    assert rotate([1, 2, 3], -1) == [2, 3, 1]
