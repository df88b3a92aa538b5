from solution import compare_versions


def test_hidden_1():
    assert compare_versions("1.0", "1") == 0


def test_hidden_2():
    assert compare_versions("1.0.1", "1") == 1


def test_hidden_3():
    assert compare_versions("0", "0.0.1") == -1
