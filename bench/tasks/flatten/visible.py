from solution import flatten


def test_visible_1():
    assert flatten([1, [2, [3, 4]], 5]) == [1, 2, 3, 4, 5]


def test_visible_2():
    assert flatten(["ab", ["c"]]) == ["ab", "c"]
