from solution import transpose


def test_hidden_1():
    assert transpose([]) == []


def test_hidden_2():
    assert transpose([[1]]) == [[1]]


def test_hidden_3():
    assert transpose([[1], [2]]) == [[1, 2]]
