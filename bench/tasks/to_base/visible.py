from solution import to_base


def test_visible_1():
    assert to_base(10, 2) == "1010"


def test_visible_2():
    assert to_base(255, 16) == "ff"
