from solution import merge_intervals


def test_hidden_1():
    assert merge_intervals([]) == []


def test_hidden_2():
    assert merge_intervals([(5, 6), (1, 2), (2, 4)]) == [(1, 4), (5, 6)]


def test_hidden_3():
    assert merge_intervals([(1, 10), (2, 3)]) == [(1, 10)]
