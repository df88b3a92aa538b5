"""The first sentence of a definition's documentation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.places.doc_summary import LONGEST, doc_summary, head_summary


@pytest.mark.parametrize(
    ("lines", "start", "said"),
    [
        (["def f():", '    """Counts the ripe fruit. Slowly."""'], 1, "Counts the ripe fruit."),
        (
            ["// Total sums up prices, e.g. of a cart.", "// Not taxes.", "func Total() {", "}"],
            3,
            "Total sums up prices, e.g. of a cart.",
        ),
        (
            ["/**", " * Reads {@link Cart} from <b>disk</b>.", " * @param path the file", " */", "void read() {}"],
            5,
            "Reads Cart from disk.",
        ),
        (["/**", "\tHow often to retry.", "", "\t@default 2", "*/", "retry = 2;"], 6, "How often to retry."),
        (["/* Frees a tree. */", "void free_tree(Tree *tree);"], 2, "Frees a tree."),
        (["#include <stdio.h>", "int main() {", "}"], 2, ""),
        (["/**", " * Counts words.", " */", "//@Immutable", "class Words {"], 5, "Counts words."),
        (["// @Immutable", "class Words {"], 2, ""),
        (["/// Returns the limit", "fn limit() {}"], 2, "Returns the limit"),
        (["# @!attribute [r] ports", "attr_reader :ports"], 2, ""),
        (["x = 1"], 1, ""),
        (
            ["def take(", "    n,  # how many", "):  # pragma: no cover", '    """Takes an item."""'],
            1,
            "Takes an item.",
        ),
        (
            ["/**", " * A [Till] of a [shop][Shop.open].", " */", "// No type for it: see below.", "interface Till"],
            5,
            "A Till of a shop.",
        ),
        (["# Reads [`Till`](till.md) and rows[0] of [1].", "def read():"], 2, "Reads `Till` and rows[0] of [1]."),
        (
            ['/// <summary>The value of a <see cref="T:Shop.Till"/>.</summary>', "class Value {}"],
            2,
            "The value of a Shop.Till.",
        ),
        (["/** {@inheritdoc} */", "public function run()"], 2, ""),
        (["// DB is a database.", *["// More of it."] * 30, "type DB struct {"], 32, "DB is a database."),
        (["// DB is a database.", *["// More of it."] * 200, "type DB struct {"], 202, ""),
    ],
)
def test_the_sentence(lines, start, said):
    assert doc_summary(lines, start, len(lines)) == said


@pytest.mark.slow
@given(st.lists(st.text(max_size=300), min_size=1, max_size=20), st.data())
def test_any_text_gives_one_short_line(lines, data):
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    said = doc_summary(lines, start, end)
    assert len(said) <= LONGEST and "\n" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('# -*- coding: utf-8 -*-\n"""Counts the ripe fruit. Slowly."""\n', "Counts the ripe fruit."),
        ("# ruff: noqa\n# fmt: off\nimport fruit\n", ""),
        ("# Command-line tool of growers\nimport fruit\n", "Command-line tool of growers"),
        ("/* eslint-disable no-console, @fruit/no-any */\nimport fruit\n", ""),
        ("/* eslint-disable */\nimport fruit\n", ""),
        ("// @ts-nocheck\n\n/* Routes requests\n * to handlers. */\n", "Routes requests to handlers."),
        ("# Copyright by the growers\n# Licence: MIT\n\n# Reads what growers set.\n", "Reads what growers set."),
        ('"""Copyright (c) the growers and others."""\n', ""),
        ("#!/bin/sh\n# Runs the tests in a loop.\nset -e\n", "Runs the tests in a loop."),
        ("-- Reads what growers set\nlocal x = 1\n", "Reads what growers set"),
        ("# --------\n# ---- Fruit ----\n\n# Reads what growers set.\n", "Reads what growers set."),
        ("# Reads what growers set.\n" + "# It is about fruit.\n" * 30, "Reads what growers set."),
        ("//go:build fruit\n// +build fruit\n\n// Package fruit is ripe.\npackage fruit\n", "Package fruit is ripe."),
        ("//go:build fruit\n\npackage fruit\n", ""),
        ("// ReSharper disable MergeCast\n\nnamespace Shop;\n", ""),
        ("/* Licence: MIT */\n/* For details: NOTICE.txt */\n\n#include <a.h>\n", ""),
        ("/* Licence: MIT */\n/*\n * Counts the fruit.\n */\n", "Counts the fruit."),
        ("import fruit\n# Not at the head of the file.\n", ""),
    ],
)
def test_what_a_file_says_of_itself_at_its_head(text, said):
    assert head_summary(text) == said


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["#a: b\n\n" * 100_000, "#" + "-" * 100_000 + " (a", "# a" + " " * 100_000 + "b", "/*" + "\n" * 100_000 + "*/ a"],
)
def test_no_head_takes_long(text):
    assert head_summary(text) == ""


@given(st.text("#/*\"' abc:=-\n", max_size=80))
def test_the_head_of_any_file_is_read(text):
    assert "\n" not in head_summary(text)
