from solution import calculate


def test_visible_1():
    assert calculate("3 4 + 2 *") == 14


def test_visible_2():
    assert calculate("5 1 -") == 4
