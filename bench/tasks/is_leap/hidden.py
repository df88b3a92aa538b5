from solution import is_leap


def test_hidden_1():
    assert is_leap(1900) is False


def test_hidden_2():
    assert is_leap(2000) is True
