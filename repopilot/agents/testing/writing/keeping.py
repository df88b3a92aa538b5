"""Decides which tests are kept: those that pass, and each of which notices a fault that no kept one does. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from repopilot.agents.testing.writing.mutation_run import KillMatrix
from repopilot.agents.testing.writing.samples import TestDraft

MOST_KEPT = 3


@dataclass(frozen=True, slots=True)
class Kept:
    """A test that is kept, and the numbers of the mutants on which it fails."""

    draft: TestDraft
    caught: frozenset[int]


def keep(
    drafts: Sequence[TestDraft],
    matrix: KillMatrix,
    owner: str,
    already: Collection[Kept] = (),
    known: Collection[int] = (),
) -> tuple[list[Kept], dict[str, str]]:
    """Choose among tests.

    Args:
        drafts: the tests that were run.
        matrix: what came of it.
        owner: their class, '' for none.
        already: tests that are kept in any case.
        known: mutants that tests of the repository notice already.

    Returns:
        The tests kept, with those kept already, and by name the reason why each other one isn't (the key of a message).
    """
    kept, reasons = list(already), {}
    known = set(known).union(*(each.caught for each in kept))
    passing: list[Kept] = []
    for draft in drafts:
        test = (owner, draft.name)
        if test not in matrix.passed:
            reasons[draft.name] = "fails"
        elif matrix.measured and not matrix.caught.get(test):
            reasons[draft.name] = "notices_nothing"
        else:
            passing.append(Kept(draft, matrix.caught.get(test, frozenset())))
    while passing:
        best = max(passing, key=lambda each: (len(each.caught - known), not each.draft.expected))
        passing.remove(best)
        new = best.caught - known
        if len(kept) < MOST_KEPT and (new or not kept):
            kept.append(best)
            known |= best.caught
        else:
            reasons[best.draft.name] = "nothing_more"
    return kept, reasons
