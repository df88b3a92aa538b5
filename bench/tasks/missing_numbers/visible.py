from solution import missing_numbers


def test_visible_1():
    assert missing_numbers([1, 4, 2]) == [3]
