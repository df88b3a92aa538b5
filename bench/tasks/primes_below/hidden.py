from solution import primes_below


def test_hidden_1():
    assert primes_below(2) == []


def test_hidden_2():
    assert primes_below(3) == [2]


def test_hidden_3():
    assert primes_below(30) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
