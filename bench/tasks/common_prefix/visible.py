from solution import common_prefix


def test_visible_1():
    assert common_prefix(["flower", "flow", "flight"]) == "fl"
