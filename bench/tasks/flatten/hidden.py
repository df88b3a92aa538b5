from solution import flatten


def test_hidden_1():
    assert flatten([]) == []


def test_hidden_2():
    assert flatten([[], [[]]]) == []


def test_hidden_3():
    assert flatten([(1, 2), [3]]) == [(1, 2), 3]
