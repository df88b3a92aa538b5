from solution import gcd


def test_visible_1():
    assert gcd(12, 18) == 6
