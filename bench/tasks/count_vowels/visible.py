from solution import count_vowels


def test_visible_1():
    assert count_vowels("Hello") == 2


def test_visible_2():
    assert count_vowels("rhythm") == 0
