from bisect import bisect_left


def binary_search(items, wanted):
    place = bisect_left(items, wanted)
    return place if place < len(items) and items[place] == wanted else -1
