"""Asks the model for one test function at a time: the `def` line is written by code, the model writes its body."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from repopilot.agents.testing.writing.aims import Aim
from repopilot.agents.testing.writing.behaviours import single_behaviours
from repopilot.agents.testing.writing.placing import TestPlace
from repopilot.agents.testing.writing.subjects import TestSubject
from repopilot.agents.testing.writing.suite import SuiteTest, names_in, shape_of
from repopilot.agents.testing.writing.suite_style import in_unittest_style
from repopilot.code.mutation.mutants import functions_of
from repopilot.code.python_ast import parse_python, parses
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.prompts import delimiter, render, sanitized
from repopilot.redaction.redact import redact
from repopilot.trace import Step

REPLY_TOKENS = 160
_STOP = ("\n```", "\ndef ", "\nclass ", "\n@", "\n\n\n", "\nif __name__")
_TEMPERATURE, _LATER_TEMPERATURE = 0.4, 0.9
_MOST_LINES, _HEAD, _TAIL = 70, 45, 15
_MOST_FIXTURES = 4


@dataclass(frozen=True, slots=True)
class TestDraft:
    """A test that may be kept.

    Attributes:
        name: of the function.
        source: without indentation; a method has `self`.
        origin: who wrote it: the `model`, or code from a `doctest` of the subject.
        aim: what it is to check, in words for the trace.
        expected: the value the model expected where code has filled in the observed one, '' for none.
    """

    __test__ = False

    name: str
    source: str
    origin: Literal["model", "doctest"] = "model"
    aim: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A test to write: of what, where, what it checks, its name, the seed of the sampling, and what the user wrote."""

    subject: TestSubject
    place: TestPlace
    aim: Aim
    name: str
    seed: int = 0
    wish: str = ""


async def sample(request: SampleRequest, model: Model, step: Step) -> list[TestDraft]:
    """Ask the model for one test.

    Args:
        request: what to write.
        model: writes it.
        step: the reply is streamed into a child of it.

    Returns:
        The test, several where it checks several things; none where the reply holds no test that calls the subject.

    Raises:
        ModelError: the model failed.
    """
    from llama_index.core.llms import ChatMessage

    head = head_of(request.name, request.place)
    temperature = _LATER_TEMPERATURE if request.seed else _TEMPERATURE
    options = ChatOptions(REPLY_TOKENS, temperature, stop=_STOP, seed=request.seed, prefix=f"```python\n{head}\n")
    message = ChatMessage(role="user", content=prompt_of(request))
    async with step.child("write", "llm", f"{request.name}: {request.aim.wording}") as writing:
        reply = await chat(model, [message], writing, options)
    source = test_in(reply, head)
    parts = single_behaviours(source) if source else []
    parts = [part for part in parts if calls(part, request.subject) and not internals(part, request)]
    telling = [without_unused(part, request.place.fixtures) for part in parts]
    if request.place.is_unittest:
        telling = [in_unittest_style(part) for part in telling]
    names = [request.name, *(f"{request.name}_{number}" for number in range(2, len(telling) + 1))]
    return [
        TestDraft(name, renamed(text, name), aim=request.aim.wording)
        for name, text in zip(names, telling, strict=False)
    ]


def head_of(name: str, place: TestPlace) -> str:
    """The `def` line of a new test."""
    fixtures = () if place.is_unittest else place.fixtures[:_MOST_FIXTURES]
    return f"def {name}({', '.join([*(['self'] if place.owner else []), *fixtures])}):"


def prompt_of(request: SampleRequest) -> str:
    """What the model reads; all but its end is the same for every aim of a subject."""
    subject, place = request.subject, request.place
    code = shown_code(subject.shown, subject.symbol)
    mark = delimiter(code)
    lines = redact(place.suite.text)[0].split("\n")
    tests = "\n\n".join(textwrap.dedent("\n".join(lines[t.first - 1 : t.last])) for t in place.examples)
    examples = render("write_one_test_examples", mark=mark, tests=sanitized(tests, mark)) if tests else ""
    usable = [subject.top if place.import_line else place.call.partition(".")[0], "pytest", *_useful_names(place)]
    return render(
        "write_one_test",
        path=subject.path,
        mark=mark,
        code=sanitized(code, mark),
        examples=examples,
        usable=", ".join(f"`{name}`" for name in dict.fromkeys(usable)),
        style=_style(place),
        aim=request.aim.wording,
        call=place.call,
        wish=f" The user wrote: {sanitized(request.wish, mark)[:300]}" if request.wish else "",
    )


def shown_code(text: str, symbol: str) -> str:
    """The definition as the model reads it: a method below its class's head and `__init__`, a long one shortened."""
    tree = parse_python(text)
    lines = text.split("\n")
    parts: list[str] = []
    owner = symbol.rpartition(".")[0]
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    whole = next((c for c in classes if c.name == symbol), None)
    if whole is not None:
        return _shortened(lines[whole.lineno - 1 : whole.end_lineno])
    around = next((c for c in classes if owner and c.name == owner.rpartition(".")[2]), None)
    if around is not None:
        parts.append(lines[around.lineno - 1])
        if not symbol.endswith(".__init__"):
            parts += [_lines_of(f, lines, 20) for f in functions_of(tree, f"{owner}.__init__")]
    parts += [_lines_of(function, lines, _MOST_LINES) for function in functions_of(tree, symbol)]
    return "\n".join(parts)


def test_in(reply: str, head: str) -> str:
    """The test function of a reply that goes on from its `def` line, or begins with it again; '' for none."""
    text = re.split(r"^[^\S\n]*```", re.sub(r"\A\s*```\w*\n", "", reply), maxsplit=1, flags=re.M)[0]
    name = head.removeprefix("def ").partition("(")[0]
    again = re.search(rf"^def {re.escape(name)}\(.*?\).*?:[ \t]*\n", text, re.M | re.S)
    body = _body(text[again.end() :] if again else text)
    while body and not parses(f"{head}\n" + "\n".join(body)):
        body.pop()
    return f"{head}\n" + "\n".join(body).rstrip() + "\n" if body else ""


def calls(source: str, subject: TestSubject) -> bool:
    """Whether a test uses the subject."""
    names = names_in(parse_python(source))
    return subject.name in names or (subject.name.startswith("__") and subject.top in names)


def internals(source: str, request: SampleRequest) -> frozenset[str]:
    """Private names of the code that a test uses and its module doesn't: such a test repeats how the code works."""
    known = {name for test in request.place.suite.tests for name in test.names} | {request.subject.name}
    used = names_in(parse_python(source)) - known - set(request.place.suite.bound)
    return frozenset(name for name in used if name.startswith("_") and not name.startswith("__"))


def renamed(source: str, name: str) -> str:
    """The test under another name."""
    return re.sub(r"\Adef \w+", f"def {name}", source)


def without_unused(source: str, fixtures: Collection[str]) -> str:
    """The test without the fixtures that its body doesn't use."""
    function = parse_python(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    used = {n.id for statement in function.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    wanted = [a.arg for a in function.args.args if a.arg not in fixtures or a.arg in used]
    head, _, body = source.partition("\n")
    return f"{head.partition('(')[0]}({', '.join(wanted)}):\n{body}"


def is_copy(source: str, tests: Collection[SuiteTest], others: Collection[TestDraft]) -> bool:
    """Whether a test says the same as another one, but for its name."""
    shape = shape_of(source)
    return any(test.shape == shape for test in tests) or any(shape_of(other.source) == shape for other in others)


def _style(place: TestPlace) -> str:
    if place.is_unittest:
        return " The test is a method of a `unittest.TestCase`: it uses `self.assertEqual` and `self.assertRaises`."
    fixtures = ", ".join(f"`{name}`" for name in place.fixtures[:_MOST_FIXTURES])
    return f" Fixtures that the test takes: {fixtures}." if fixtures else ""


def _useful_names(place: TestPlace) -> Iterator[str]:
    """What the neighbouring tests use of the names that the module binds."""
    used = {name for test in place.examples for name in test.names}
    yield from (name for name in place.suite.bound if name in used)


def _lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str], most: int) -> str:
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return _shortened(lines[first - 1 : function.end_lineno], most)


def _shortened(lines: list[str], most: int = _MOST_LINES) -> str:
    if len(lines) <= most:
        return "\n".join(lines)
    head = min(_HEAD, most - 5)
    return "\n".join([*lines[:head], "    # …", *(lines[-_TAIL:] if most > _HEAD else [])])


def _body(text: str) -> list[str]:
    """The lines of a function's body, indented by four; what follows the function is cut off."""
    lines = text.expandtabs(4).split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return []
    first = lines[0]
    if first[:1].strip() and any(line.startswith("    ") for line in lines[1:2]) and not first.rstrip().endswith(":"):
        lines[0] = f"    {first}"
    if not lines[0][:1].strip():
        ends = [number for number, line in enumerate(lines) if line[:1].strip() and line[0] not in ")]}"]
        lines = lines[: ends[0]] if ends else lines
    return textwrap.indent(textwrap.dedent("\n".join(lines)), "    ").rstrip().split("\n")
