from solution import roman


def test_visible_1():
    assert roman(4) == "IV"


def test_visible_2():
    assert roman(12) == "XII"
