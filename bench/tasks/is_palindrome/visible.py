from solution import is_palindrome


def test_visible_1():
    assert is_palindrome("Never odd or even") is True


def test_visible_2():
    assert is_palindrome("abc") is False
