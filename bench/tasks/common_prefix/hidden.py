from solution import common_prefix


def test_hidden_1():
    assert common_prefix([]) == ""


def test_hidden_2():
    assert common_prefix(["same", "same"]) == "same"


def test_hidden_3():
    assert common_prefix(["a", "b"]) == ""
