"""Which size of the model suits a machine, and what the speed of one size says about the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.llm.speed import sizing
from repopilot.llm.speed.model_speed import SIZES, Speed, estimate
from repopilot.llm.weights import models

SMALL, LARGER, THREE, SEVEN = SIZES
GIB = 1024.0
"""Memory is given in MB."""
MANY, FEW = 8, 2

rates = st.floats(0.1, 10_000)
speeds = st.builds(Speed, rates, rates)
measured = st.dictionaries(st.sampled_from(SIZES), speeds)
memories = st.none() | st.floats(100, 200_000)


def test_two_quiet_cores_take_the_size_that_answers_in_about_ten_seconds():
    choice = sizing.choose_size({SMALL: Speed(188, 45)}, 24 * GIB, FEW)
    assert choice.wanted == LARGER and 9 < choice.speed(LARGER).answer_seconds() < 13
    assert "about 10 s" in choice.reason
    assert sizing.next_size(choice, LARGER, [SMALL, LARGER]) == THREE


@pytest.mark.parametrize(
    ("speed", "gigabytes", "wanted", "reason"),
    [
        (Speed(60, 15), 24, SMALL, "fastest size"),
        (Speed(2000, 200), 24, SEVEN, "the largest size that answers"),
        (Speed(2000, 200), 8, THREE, "fits in 8 GB"),
        (Speed(2000, 200), 3, SMALL, "fits in 3 GB"),
    ],
)
def test_speed_and_memory_decide(speed, gigabytes, wanted, reason):
    choice = sizing.choose_size({SMALL: speed}, gigabytes * GIB, FEW)
    assert choice.wanted == wanted and reason in choice.reason


def test_without_a_measurement_cores_and_memory_decide():
    assert sizing.choose_size({}, 16 * GIB, MANY).wanted == LARGER
    assert sizing.choose_size({}, 4 * GIB, MANY).wanted == SMALL
    assert sizing.choose_size({}, 16 * GIB, FEW).wanted == SMALL
    assert sizing.choose_size({"llama3.2:3b": Speed(500, 90)}, 16 * GIB, FEW).wanted == SMALL


def test_a_size_that_turns_out_slower_than_estimated_is_not_taken_again():
    choice = sizing.choose_size({SMALL: Speed(188, 45), LARGER: Speed(40, 8)}, 24 * GIB, FEW)
    assert choice.wanted == SMALL


@pytest.mark.slow
@given(measured, memories, st.integers(1, 64))
def test_the_choice_is_a_size_that_fits_or_the_smallest(known, memory, cores):
    choice = sizing.choose_size(known, memory, cores)
    assert choice.wanted == SMALL or sizing.fits(choice.wanted, memory)
    if known:
        assert choice.wanted == SMALL or choice.speed(choice.wanted).answer_seconds() <= sizing.LONGEST_ANSWER_S


@pytest.mark.slow
@given(speeds, st.floats(1, 20), memories)
def test_a_faster_machine_gets_no_smaller_model(speed, factor, memory):
    slow = sizing.choose_size({SMALL: speed}, memory, FEW)
    fast = sizing.choose_size({SMALL: Speed(speed.prompt * factor, speed.generation * factor)}, memory, FEW)
    assert SIZES.index(fast.wanted) >= SIZES.index(slow.wanted)


@pytest.mark.slow
@given(measured, st.sampled_from(SIZES))
def test_an_estimate_keeps_what_was_measured(known, name):
    found = estimate(name, known)
    assert (found is None) == (not known)
    assert name not in known or found == known[name]


@pytest.mark.slow
@given(st.sampled_from(SIZES), speeds)
def test_larger_sizes_are_slower(source, speed):
    found = [estimate(size, {source: speed}).answer_seconds() for size in SIZES]
    assert found == sorted(found) and len(set(found)) == len(SIZES)


@pytest.mark.slow
@given(measured, memories, st.sets(st.sampled_from(SIZES), min_size=1), st.sampled_from([*SIZES, "llama3.2:3b"]))
def test_what_is_offered_is_missing_and_fits(known, memory, installed, answering):
    choice = sizing.choose_size(known, memory, FEW)
    offered = sizing.next_size(choice, answering, installed)
    assert offered is None or offered not in {answering, *installed}
    assert offered in (None, SMALL) or sizing.fits(offered, memory)


@pytest.mark.slow
@given(st.sampled_from([*SIZES, "mistral"]))
def test_every_size_has_its_place_in_the_order(wanted):
    order = sizing.by_preference(wanted)
    assert order[0] == wanted and set(SIZES) <= set(order) and len(order) == len(set(order))


def test_a_prompt_is_as_long_as_the_time_allows():
    assert Speed(100, 20).prompt_tokens_within(6) == 600


def test_every_size_can_be_downloaded_and_its_memory_is_known():
    assert all(models.KNOWN[size].memory_mb == sizing.MEMORY_MB[size] for size in SIZES)
    assert [size for size in SIZES if models.KNOWN[size].on_request] == [THREE, SEVEN]
