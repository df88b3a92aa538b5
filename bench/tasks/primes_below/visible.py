from solution import primes_below


def test_visible_1():
    assert primes_below(10) == [2, 3, 5, 7]
