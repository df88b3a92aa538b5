from solution import merge_intervals


def test_visible_1():
    assert merge_intervals([(1, 3), (2, 5), (8, 9)]) == [(1, 5), (8, 9)]
