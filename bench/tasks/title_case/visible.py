from solution import title_case


def test_visible_1():
    assert title_case("the lord of the rings") == "The Lord of the Rings"
