from solution import caesar


def test_hidden_1():
    assert caesar("Hello, World!", 13) == "Uryyb, Jbeyq!"


def test_hidden_2():
    assert caesar("bcd", -1) == "abc"


def test_hidden_3():
    assert caesar("a", 27) == "b"
