from solution import moving_average


def test_hidden_1():
    assert moving_average([1], 2) == []


def test_hidden_2():
    assert moving_average([4, 8], 1) == [4, 8]


def test_hidden_3():
    assert moving_average([3, 3, 3], 3) == [3]
