from solution import count_vowels


def test_hidden_1():
    assert count_vowels("") == 0


def test_hidden_2():
    assert count_vowels("AEIOU aeiou") == 10


def test_hidden_3():
    assert count_vowels("yes sky") == 1
