from solution import digit_sum


def test_hidden_1():
    assert digit_sum(0) == 0


def test_hidden_2():
    assert digit_sum(-45) == 9
