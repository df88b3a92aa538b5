"""Joining passages into places, and the statements that matter in them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.file_analysis import defined_in
from repopilot.code.split import analyse
from repopilot.index.lexical import LexicalIndex, terms_of
from repopilot.index.tokens import expand, words
from repopilot.retrieval.places.ranked_places import (
    LONGEST,
    MOST_LINES,
    MOST_RANGES,
    Passages,
    joined,
    matching_lines,
    statements,
)

LONG = "\n".join(f"        total += price_{n}" for n in range(70))
SHOP = f'''class Cart:
    """What a customer wants to buy."""

    def add(self, item):
        self.items.append(item)

    def total(self):
        total = 0
{LONG}
        return total

    def shipping(self, country):
        if country not in COUNTRIES:
            raise UnknownCountry(country)
        return RATES[country]
'''


def indexed(text=SHOP):
    analysis = analyse("shop.py", text, "python", "code")
    chunks = analysis.chunks
    terms = (terms_of(chunk, [s.name for s in defined_in(chunk, analysis.symbols)]) for chunk in chunks)
    return LexicalIndex.build(terms), chunks


def places(lexical, ranked, count=10, outer=False):
    passages = Passages(lexical.file_of, lexical.spans, lexical.group_of)
    return joined(passages, ranked, count, outer)


def spans(lexical, ranked, count=10, outer=False):
    return [(place.start, place.end) for place in places(lexical, ranked, count, outer)]


def test_rows_know_their_lines_and_their_outermost_definition():
    lexical, chunks = indexed()
    assert lexical.spans.tolist() == [[c.start_line, c.end_line] for c in chunks]
    assert len(set(lexical.group_of.tolist())) == 1


def test_neighbours_become_one_place_with_the_rank_of_the_better_one():
    lexical, chunks = indexed()
    assert len(chunks) == 4
    total, shipping = chunks[2], chunks[3]
    assert spans(lexical, [3, 0]) == [(shipping.start_line, shipping.end_line), (1, 2)]
    found = places(lexical, [3, 2], 10, outer=True)
    assert [(p.start, p.end, p.rows) for p in found] == [(total.start_line, shipping.end_line, [3, 2])]


def test_members_of_one_class_are_one_place_where_that_is_wanted():
    lexical, chunks = indexed()
    first, last = chunks[1], chunks[3]
    assert len(spans(lexical, [3, 1])) == 2
    assert spans(lexical, [3, 1], outer=True) == [(first.start_line, last.end_line)]


def test_a_joined_place_does_not_take_a_rank_of_its_own():
    lexical, _ = indexed()
    assert len(spans(lexical, [2, 3], count=1, outer=True)) == 1


@pytest.mark.slow
@given(st.permutations(range(12)), st.integers(1, 12), st.booleans())
def test_places_are_bounded_and_hold_every_row_once(order, count, outer):
    text = "\n\n".join(f"def f{n}():\n" + "    step()\n" * 30 for n in range(12))
    lexical, _ = indexed(text)
    found = places(lexical, order, count, outer)
    rows = [row for place in found for row in place.rows]
    assert len(found) <= count and len(rows) == len(set(rows))
    assert all(place.end - place.start < LONGEST for place in found)
    assert all(place.start <= lexical.spans[row][0] <= lexical.spans[row][1] <= place.end
               for place in found for row in place.rows)  # fmt: skip


def weights(text):
    return {token: 1.0 for word in words(text) for token in expand(word)}


def test_the_statements_that_answer_come_first():
    lines = SHOP.split("\n")
    ((start, end), *_) = matching_lines(SHOP, 1, weights("unknown country raised"))
    assert (start, end) == (lines.index("            raise UnknownCountry(country)") + 1,) * 2
    assert matching_lines(SHOP, 1, weights("database")) == ()
    assert matching_lines(SHOP, 101, weights("append"))[0][0] == 105


def test_a_call_over_several_lines_is_one_statement():
    text = "limits = Limits(\n    largest=10,\n    smallest=1,\n)\nrun(limits)"
    assert statements(text.split("\n")) == [(0, 4), (4, 5)]
    assert matching_lines(text, 1, weights("smallest")) == ((1, 4),)


@pytest.mark.slow
@given(st.text(alphabet="ab c([{}])\n:", max_size=200), st.integers(1, 50))
def test_ranges_lie_inside_the_text(text, first):
    count = text.count("\n") + 1
    found = matching_lines(text, first, weights("a b c"))
    assert len(found) <= MOST_RANGES
    assert all(first <= start <= end < first + count and end - start < MOST_LINES for start, end in found)
    spans = statements(text.split("\n"))
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
