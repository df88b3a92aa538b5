from solution import digit_sum


def test_visible_1():
    assert digit_sum(123) == 6
