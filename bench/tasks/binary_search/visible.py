from solution import binary_search


def test_visible_1():
    assert binary_search([1, 3, 5, 7], 5) == 2


def test_visible_2():
    assert binary_search([1, 3], 4) == -1
