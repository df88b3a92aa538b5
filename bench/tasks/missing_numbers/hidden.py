from solution import missing_numbers


def test_hidden_1():
    assert missing_numbers([]) == []


def test_hidden_2():
    assert missing_numbers([5]) == []


def test_hidden_3():
    assert missing_numbers([10, 7]) == [8, 9]
