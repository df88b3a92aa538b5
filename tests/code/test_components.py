"""The scripts of Vue and Svelte components are read as the programs they are, at the component's lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shop_workspace import shop_workspace

from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.formats.components import script_of
from repopilot.code.split import analyse

VUE = """\
<script lang="ts">
export const CURRENCY: string = 'EUR'
</script>
<!-- <script>function hidden() {}</script> -->
<script setup lang="ts" generic="T extends Map<string, number>">
import { addItem } from './cart'

function addToCart(price: number) {
  addItem(price, '<script>')
}
</script>

<template>
  <button @click="addToCart(3)">Été {{ CURRENCY }}</button>
</template>

<style scoped>
.a { color: red }
</style>
"""
SVELTE = """\
<script context="module">
  export const prerender = true
</script>

<script>
  let open = false
  function toggleCard() {
    open = !open
  }
</script>

{#if open && 1 < 2}<p on:click={() => toggleCard()}>it's open</p>{/if}
"""


def analysed(path: str, text: str) -> FileAnalysis:
    return analyse(path, text, path.rpartition(".")[2], "code")


def lines_of(found: FileAnalysis) -> dict[str, tuple[int, int]]:
    return {s.name: (s.start_line, s.end_line) for s in found.symbols}


def test_vue_scripts_have_their_symbols_imports_and_uses() -> None:
    found = analysed("src/App.vue", VUE)
    assert found.language == "typescript" and found.parsed and not found.notes
    assert lines_of(found) == {"CURRENCY": (2, 2), "addToCart": (8, 10)}
    assert [(i.module, i.line) for i in found.imports] == [("./cart", 6)]
    assert ("addItem", 9) in {(r.name, r.line) for r in found.references}
    assert next(s.signature for s in found.symbols if s.name == "addToCart") == "function addToCart(price: number)"


def test_svelte_scripts_have_their_symbols() -> None:
    found = analysed("src/Card.svelte", SVELTE)
    assert found.language == "javascript" and found.parsed
    assert {"toggleCard": (7, 9), "prerender": (2, 2)}.items() <= lines_of(found).items()


@pytest.mark.parametrize(("path", "text"), [("App.vue", VUE), ("Card.svelte", SVELTE)])
def test_template_and_style_stay_in_the_chunks(path: str, text: str) -> None:
    found = analysed(path, text)
    held = {n for chunk in found.chunks for n in range(chunk.start_line, chunk.end_line + 1)}
    assert held >= {n for n, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert {chunk.language for chunk in found.chunks} == {path.rpartition(".")[2]}
    assert all(line in "\n".join(c.text for c in found.chunks) for line in text.split("\n"))


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("<script>", "javascript"),
        ("<script setup lang='tsx'>", "tsx"),
        ("<SCRIPT LANG=ts\n  setup>", "typescript"),
        ('<script type="text/typescript">', "typescript"),
        ('<script type="module">', "javascript"),
        ('<script type="application/ld+json">', None),
        ('<script lang="coffee">', None),
        ("<scripts>", None),
    ],
)
def test_the_tag_tells_the_language(tag: str, language: str | None) -> None:
    found = script_of(f"{tag}\nfunction a() {{}}\n</script>\n")
    assert (found.language if found else None) == language


def test_the_widest_language_of_two_scripts_is_parsed() -> None:
    found = script_of("<script>\nlet a\n</script>\n<script lang=ts>\nlet b: string\n</script>")
    assert found is not None and found.language == "typescript"


def test_a_component_without_scripts_or_with_an_open_one_is_split_by_lines() -> None:
    for text in ("<template><p/></template>\n", "<script>\nfunction a() {}\n"):
        found = analysed("a.vue", text)
        assert found.symbols == () and found.parsed and found.chunks


@given(st.lists(st.sampled_from(["<script>", "</script>", "<!--", "-->", "é\n", '"', "\n", "let a", "<script "])))
def test_every_line_keeps_its_number_and_its_columns(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = script_of(text)
    if found is not None:
        assert [len(line) for line in found.text.split("\n")] == [len(line) for line in text.split("\n")]
        assert all(new in (old, " ") for new, old in zip(found.text, text, strict=True))


@pytest.mark.parametrize("text", ["<script " * 100_000, '<script "' * 100_000, "<!--" * 200_000, "<script>" * 100_000])
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    assert script_of(text) is None  # quadratic, it takes longer than a test may


@pytest.mark.slow
def test_a_component_is_found_and_linked_like_a_module(tmp_path: Path) -> None:
    extra = {"web/App.vue": VUE, "web/cart.ts": "export function addItem(price: number, name: string) {}\n"}
    index = shop_workspace(tmp_path, extra).index
    assert [(s.path, s.start_line) for s in index.symbols("addToCart")] == [("web/App.vue", 8)]
    assert "web/App.vue" in {r.path for r in index.references("addItem")}
