"""What is stored of a file is what was found in it; batches and progress lose nothing."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.code.file_analysis import defined_in
from repopilot.code.split import analyse
from repopilot.index.build.instant import _batches
from repopilot.index.build.progress import PhaseProgress
from repopilot.index.lexical import terms_of
from repopilot.index.storage import codec
from repopilot.types import SourceFile

PYTHON = '''
import os
from .shop import Cart as Basket, price

class Cart(Basket):
    """Holds things."""

    def total(self, *, rate=1.0):
        return sum(price(item) * rate for item in self.items)

def main():
    print(Cart().total(), os.environ)
'''
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=300),
    st.lists(
        st.sampled_from([*PYTHON.split("\n"), "", "x" * 9000, "é名\t", "}", '"""', "\x85", "\x0c"]), max_size=40
    ).map("\n".join),
)


def stored(text, language="python", kind="code"):
    file = SourceFile("a/b.py", len(text), "hash", language, kind)
    analysis = analyse(file.path, text, language, kind)
    row = codec.encode(file, text, analysis)
    info = codec.FileInfo(row.path, row.hash, row.language, row.kind, row.size, row.lines, row.parsed, row.chunk_count)
    return analysis, row, info


@pytest.mark.slow
@given(TEXTS, st.sampled_from([("python", "code"), ("javascript", "code"), ("markdown", "doc"), ("toml", "config")]))
@settings(max_examples=150, deadline=None)
def test_a_row_gives_back_what_was_found(text, sort):
    analysis, row, info = stored(text, *sort)
    assert codec.text_of(row.text) == text
    assert tuple(codec.chunks_of(row.path, row.language, row.chunks, text)) == analysis.chunks
    symbols = codec.symbols_of(row.path, row.symbols)
    assert tuple(symbols) == analysis.symbols
    again = codec.uses_of(info, symbols, row.uses)
    assert (again.uses, again.imports, again.package) == (analysis.uses, analysis.imports, analysis.package)
    assert again.references == analysis.references
    names = [[s.name for s in defined_in(chunk, analysis.symbols)] for chunk in analysis.chunks]
    terms = [terms_of(chunk, found) for chunk, found in zip(analysis.chunks, names, strict=True)]
    assert codec.terms_from(row.path, row.language, row.terms) == terms
    assert row.digests == b"".join(codec.digest(chunk.text) for chunk in analysis.chunks)
    assert row.chunk_count == len(analysis.chunks)


def test_names_are_stored_as_distinct_checksums():
    analysis, row, _ = stored(PYTHON + "\nprint(price, price)\n")
    used = np.frombuffer(row.used, np.uint32).tolist()
    assert sorted(used) == sorted({codec.checksum(r.name) for r in analysis.references})
    assert codec.checksum("Cart") in np.frombuffer(row.defined, np.uint32)


@pytest.mark.slow
@given(st.lists(st.integers(0, 600_000), max_size=600), st.integers(1, 8))
def test_batches_hold_every_file_once_in_order(sizes, count):
    files = [SourceFile(f"{n}.py", size, "", "python", "code") for n, size in enumerate(sizes)]
    batches = list(_batches(files, sum(sizes), count))
    assert [file for batch in batches for file in batch] == files
    assert all(batches)
    assert all(len(batch) <= 200 for batch in batches)
    assert all(sum(file.size for file in batch[:-1]) < 256 << 10 for batch in batches)


@pytest.mark.parametrize(("total", "steps"), [(0, []), (3, [1, 1, 1]), (10, [4])])
def test_the_progress_of_a_phase_begins_and_ends(total, steps):
    seen = []
    phase = PhaseProgress(seen.append, "parsing", total)
    for step in steps:
        phase.advance(step, "detail")
    phase.finish()
    assert (seen[0].done, seen[0].total, seen[0].remaining_s) == (0, total, None)
    assert seen[-1].done == seen[-1].total == max(total, sum(steps))
    assert all(earlier.done <= later.done for earlier, later in itertools.pairwise(seen))
