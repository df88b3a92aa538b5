import pytest
from solution import chunks


def test_hidden_1():
    assert chunks([], 3) == []


def test_hidden_2():
    assert chunks([1], 5) == [[1]]


def test_hidden_3():
    with pytest.raises(ValueError):
        chunks([1], 0)
