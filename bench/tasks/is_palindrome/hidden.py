from solution import is_palindrome


def test_hidden_1():
    assert is_palindrome("") is True


def test_hidden_2():
    assert is_palindrome("A man, a plan, a canal: Panama!") is True


def test_hidden_3():
    assert is_palindrome("1a2") is False
