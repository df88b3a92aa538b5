from solution import word_counts


def test_hidden_1():
    assert word_counts("") == {}


def test_hidden_2():
    assert word_counts("Hm... hm? , don't") == {"hm": 2, "don't": 1}
