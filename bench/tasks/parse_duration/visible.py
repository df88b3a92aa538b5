from solution import parse_duration


def test_visible_1():
    assert parse_duration("1h30m") == 5400


def test_visible_2():
    assert parse_duration("45s") == 45
