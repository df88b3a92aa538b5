from solution import rotate


def test_hidden_1():
    assert rotate([], 3) == []


def test_hidden_2():
    assert rotate([1, 2, 3], 7) == [3, 1, 2]


def test_hidden_3():
    assert rotate([1, 2, 3], 0) == [1, 2, 3]
