"""Sentences of comments and docstrings that the code bears out, and those that it refutes."""

from __future__ import annotations

import pytest
from support.shop_workspace import workspace_of

from repopilot.retrieval.places.checked_docs import is_deprecated, said_in, said_of

STORE = '''"""The store."""

from abc import ABC, abstractmethod

import pika


class Shelf:
    """Abstract class of whatever holds goods."""

    def take(self, count):
        """Takes `count` goods off the RabbitMQ, as LegacyCart did."""


class Source(ABC):
    """Abstract base of what sells."""

    @abstractmethod
    def sell(self): ...


class RabbitmqBroker(Source):
    """A broker that talks RabbitMQ by pika.Channel."""

    def sell(self):
        return Shelf()


def put(goods):
    """Inserts goods, of which `goods` and `Shelf` tell more."""


# The MIT License
#
# Permission is hereby granted, free of charge, to any person obtaining a copy.
def lift(): ...
'''
COPIES = '''class Tasks:
    def every(self):
        """Returns all tasks in their order."""
        return self.found

    def insert(self, text):
        """Inserts a text at an index."""
        self.apply(text)

    def format(self, start, length):
        """Inserts a text at an index."""
        self.apply(start, length)

    def clear(self):
        """Clears the tasks."""


class Variables:
    def every(self):
        """Returns all tasks in their order."""
        return self.found


class Queue:
    tasks: list

    def clear(self):
        """Clears the tasks."""
        self.tasks.clear()
'''
OLD = '''import warnings


def gone():
    """Adds two numbers up.

    .. deprecated:: 2.0
    """


def warned():
    """Adds two numbers up."""
    warnings.warn(
        "warned() is deprecated", DeprecationWarning
    )


def partly(old=None):
    """Adds two numbers up."""
    if old:
        warnings.warn("old is deprecated", DeprecationWarning)


class Constructed:
    """Adds numbers up."""

    def __init__(self):
        warnings.warn("Constructed is deprecated", DeprecationWarning)
'''
ATOMS = """/**
 * Adds two numbers up.
 * @deprecated use another
 */
export function former(a, b) { return a + b }

export type Options = {
  /** @deprecated delay is ignored */
  delay: number
}
"""
SEARCH = """pub enum Search {
    /// Reads from standard input.
    Input { folder: PathBuf },
}
"""


@pytest.fixture
def index(tmp_path):
    files = {"store.py": STORE, "copies.py": COPIES, "old.py": OLD, "atoms.ts": ATOMS, "search.rs": SEARCH}
    return workspace_of(tmp_path, files).index


@pytest.mark.parametrize(
    ("name", "is_said"),
    [
        ("Shelf.take", False),  # LegacyCart is gone
        ("Source", True),
        ("RabbitmqBroker", True),  # named after a product; what is imported needn't be defined
        ("put", True),  # a parameter, a class
        ("lift", False),  # a licence
        ("Tasks.every", True),
        ("Variables.every", False),  # copied from the one of tasks
        ("Tasks.insert", True),
        ("Tasks.format", False),  # copied from insert
        ("Tasks.clear", True),
        ("Queue.clear", True),  # it does hold tasks
        ("Search.Input", True),
        ("Search.folder", False),  # the comment is on what it stands in
    ],
)
def test_a_sentence_that_the_code_refutes_is_left_out(index, name, is_said):
    found = next(s for s in index.symbols(name) if s.qualified == name)
    assert bool(said_of(index, found)) == is_said, said_of(index, found)


def test_a_sentence_about_a_file_names_what_exists(index):
    assert said_in(index, "store.py", "Holds every `Shelf` and SHELVES of http://shop.example/theCart.")
    assert not said_in(index, "store.py", "Holds every `Cart`.")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gone", True),
        ("warned", True),
        ("partly", False),
        ("Constructed", True),
        ("former", True),
        ("Options", False),
        ("put", False),
    ],
)
def test_deprecated_is_what_its_comment_or_each_call_says(index, name, expected):
    assert is_deprecated(index, index.symbols(name)[0]) == expected
