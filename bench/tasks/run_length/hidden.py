from solution import run_length


def test_hidden_1():
    assert run_length("") == ""


def test_hidden_2():
    assert run_length("zzzzzzzzzzzz") == "z12"
