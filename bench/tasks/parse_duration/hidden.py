import pytest
from solution import parse_duration


def test_hidden_1():
    assert parse_duration("2h5s") == 7205


def test_hidden_2():
    with pytest.raises(ValueError):
        parse_duration("")


def test_hidden_3():
    with pytest.raises(ValueError):
        parse_duration("5x")


def test_hidden_4():
    with pytest.raises(ValueError):
        parse_duration("10")
