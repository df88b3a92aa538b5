from solution import group_anagrams


def test_hidden_1():
    assert group_anagrams([]) == []


def test_hidden_2():
    assert group_anagrams(["a", "a"]) == [["a", "a"]]
