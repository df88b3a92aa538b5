from solution import caesar


def test_visible_1():
    assert caesar("abc", 1) == "bcd"


def test_visible_2():
    assert caesar("xyz", 3) == "abc"
