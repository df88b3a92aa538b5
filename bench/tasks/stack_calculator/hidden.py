import pytest
from solution import calculate


def test_hidden_1():
    assert calculate("7") == 7


def test_hidden_2():
    with pytest.raises(ValueError):
        calculate("+")


def test_hidden_3():
    with pytest.raises(ValueError):
        calculate("1 2")


def test_hidden_4():
    with pytest.raises(ValueError):
        calculate("")
