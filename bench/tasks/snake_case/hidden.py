from solution import snake_case


def test_hidden_1():
    assert snake_case("") == ""


def test_hidden_2():
    assert snake_case("aBC") == "a_b_c"


def test_hidden_3():
    assert snake_case("plain") == "plain"
