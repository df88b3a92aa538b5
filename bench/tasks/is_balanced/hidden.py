from solution import is_balanced


def test_hidden_1():
    assert is_balanced("") is True


def test_hidden_2():
    assert is_balanced("([)]") is False


def test_hidden_3():
    assert is_balanced("((") is False


def test_hidden_4():
    assert is_balanced(")") is False
