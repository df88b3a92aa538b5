from solution import is_leap


def test_visible_1():
    assert is_leap(2024) is True


def test_visible_2():
    assert is_leap(2023) is False
