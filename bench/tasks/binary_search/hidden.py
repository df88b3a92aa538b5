from solution import binary_search


def test_hidden_1():
    assert binary_search([], 1) == -1


def test_hidden_2():
    assert binary_search([2, 2, 2], 2) == 0


def test_hidden_3():
    assert binary_search([1, 2, 2, 3], 2) == 1
