"""Which statements of a long function are written again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.editing.placed.block import LONGEST, changed_block

PYTHON = """class Walker:
    def walk(self, nodes):
        \"\"\"Walk.\"\"\"
        seen = set()
        for item in nodes:
            if item.hidden:
                self.skipped += 1
                continue
            if item.name in seen:
                self.warn("twice")
                continue
            seen.add(item.name)
            first = item.first
            second = item.second
            third = item.third
            self.visit(first)
            self.visit(second)
            self.visit(third)
            self.count += 1
        self.finish(seen)
        return seen
"""
SCRIPT = """class Queue {
  add (task) {
    return new Promise((resolve, reject) => {
      const run = async () => {
        this.pending++

        this.running.set(task, {
          id: task.id,
          started: Date.now()
        })
        this.emit('started', task)
        this.first(task)
        this.second(task)
        this.third(task)
        try {
          resolve(await task())
          this.emit('completed', task)
        } catch (error) {
          reject(error)
          this.emit('failed', error)
        }
      }
      run()
    })
  }
}
"""
GO = """package a

func F(a int) int {
	x, y := 1, 2
	if a > 9 {
		return x
	}
	for i := 0; i < a; i++ {
		y += i
	}
	return y
}
"""


def block(text: str, language: str, first: int, last: int, task: str) -> list[str]:
    lines = text.split("\n")
    start, end = changed_block(lines, first, last, language, task)
    return [line.strip() for line in lines[start:end]]


@pytest.mark.parametrize(
    ("task", "first", "last"),
    [
        ("warn when it was seen twice", "if item.hidden:", "continue"),  # with its neighbour: it is short
        ("hidden ones should be skipped with a note", "if item.hidden:", "continue"),
        ("go backwards over the nodes", "for item in nodes:", "continue"),  # only the head of a long loop
    ],
)
def test_the_statements_that_a_task_is_about(task: str, first: str, last: str) -> None:
    found = block(PYTHON, "python", 3, 21, task)
    assert (found[0], found[-1]) == (first, last)


@pytest.mark.parametrize(
    ("task", "first", "last"),
    [
        ("note the id of the running task's owner", "this.running.set(task, {", "})"),
        ("the error is rejected with its cause", "try {", "}"),
    ],
)
def test_blocks_of_functions_in_an_expression_are_divided(task: str, first: str, last: str) -> None:
    found = block(SCRIPT, "javascript", 2, 25, task)
    assert (found[0], found[-1]) == (first, last)


def test_statements_of_go() -> None:
    assert block(GO, "go", 3, 12, "the loop for i should begin with 1")[-3:] == [
        "for i := 0; i < a; i++ {",
        "y += i",
        "}",
    ]


@given(st.text("abnotwilk efdsruc,", max_size=60))
def test_any_task_gets_a_few_whole_lines(task: str) -> None:
    lines = PYTHON.split("\n")
    start, end = changed_block(lines, 3, 21, "python", task)
    assert 3 <= start < end <= 21 and end - start <= LONGEST + 4
