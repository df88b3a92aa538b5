from solution import snake_case


def test_visible_1():
    assert snake_case("camelCase") == "camel_case"


def test_visible_2():
    assert snake_case("CamelCase") == "camel_case"
