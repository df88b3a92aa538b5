from solution import gcd


def test_hidden_1():
    assert gcd(0, 5) == 5


def test_hidden_2():
    assert gcd(0, 0) == 0


def test_hidden_3():
    assert gcd(-4, 6) == 2
