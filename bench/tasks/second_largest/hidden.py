from solution import second_largest


def test_hidden_1():
    assert second_largest([]) is None


def test_hidden_2():
    assert second_largest([7, 7]) is None


def test_hidden_3():
    assert second_largest([-1, -5, -3]) == -3
