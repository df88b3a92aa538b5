from solution import mask_email


def test_visible_1():
    assert mask_email("anna@example.org") == "a***@example.org"
