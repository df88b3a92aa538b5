from solution import compare_versions


def test_visible_1():
    assert compare_versions("1.2", "1.10") == -1


def test_visible_2():
    assert compare_versions("2.0", "1.9.9") == 1
