from solution import run_length


def test_visible_1():
    assert run_length("aaab") == "a3b1"


def test_visible_2():
    assert run_length("abba") == "a1b2a1"
