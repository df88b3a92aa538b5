import pytest
from solution import mask_email


def test_hidden_1():
    assert mask_email("b@x.y") == "b@x.y"


def test_hidden_2():
    with pytest.raises(ValueError):
        mask_email("nobody")


def test_hidden_3():
    with pytest.raises(ValueError):
        mask_email("@x")


def test_hidden_4():
    with pytest.raises(ValueError):
        mask_email("a@b@c")
