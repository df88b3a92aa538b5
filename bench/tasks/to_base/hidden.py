from solution import to_base


def test_hidden_1():
    assert to_base(0, 2) == "0"


def test_hidden_2():
    assert to_base(-5, 2) == "-101"


def test_hidden_3():
    assert to_base(8, 8) == "10"
