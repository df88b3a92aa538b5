from solution import invert


def test_hidden_1():
    assert invert({}) == {}


def test_hidden_2():
    assert invert({"z": 0, "y": 0}) == {0: ["y", "z"]}
