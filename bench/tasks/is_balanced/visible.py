from solution import is_balanced


def test_visible_1():
    assert is_balanced("(a[b]{c})") is True


def test_visible_2():
    assert is_balanced("(]") is False
