from solution import unique


def test_hidden_1():
    assert unique([]) == []


def test_hidden_2():
    assert unique([{"a": 1}, {"a": 1}]) == [{"a": 1}]
