from solution import title_case


def test_hidden_1():
    assert title_case("") == ""


def test_hidden_2():
    assert title_case("A TALE IN AN INN") == "A Tale in an Inn"
