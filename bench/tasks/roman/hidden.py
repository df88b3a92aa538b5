from solution import roman


def test_hidden_1():
    assert roman(1994) == "MCMXCIV"


def test_hidden_2():
    assert roman(3999) == "MMMCMXCIX"


def test_hidden_3():
    assert roman(40) == "XL"
