from solution import group_anagrams


def test_visible_1():
    assert group_anagrams(["eat", "tan", "tea", "nat", "bat"]) == [["eat", "tea"], ["tan", "nat"], ["bat"]]
