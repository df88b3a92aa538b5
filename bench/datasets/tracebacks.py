"""Stack trace → frame at fault: traces in the format of each language, made from call chains of the repository.

The answer is the function of the innermost frame that lies in the repository. A chain begins at a function that raises
and goes up through lines that call it by its name, where only one function has that name. Paths are those of another
machine. Frames of third-party libraries lie outside and, in some, inside; some paths have moved, some lines have too.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from bench.datasets.functions import Function, functions_in
from bench.datasets.repository import sources
from repopilot.code.languages import language_of

WANTED, LONGEST_CHAIN, SHORTEST_NAME = 30, 5, 4
MOVED, DRIFTED, INSIDE = 0.15, 0.2, 0.35
"""The shares of traces with moved paths, with lines off by one or two, and with library frames inside the fault."""
_CALL = re.compile(r"\b([A-Za-z_]\w{3,})[!?]?\s*(?:<[\w, ]*>)?\(")
_RAISE = re.compile(r"\b(?:raise|throw|panic!|bail!|panic|abort|Errorf|errors\.New|unreachable!|assert!?|Err)\b")
_RAISED = re.compile(r"\b(?:raise|throw new|throw)\s+([A-Z][\w.:\\]+)")
_TEXT = re.compile(r"""(["'`])((?:(?!\1).){8,120})\1""")
_PLACEHOLDER = re.compile(r"%[-\w.]*[a-zA-Z]|\$?\{[^{}]*\}|#\{[^{}]*\}")
_VALUES = ("None", "42", "foo", "/tmp/x", "0", "bar")
_ROOTS = ("/home/ci/build", "/srv/app", "/Users/marta/src", "/opt/service/current", "C:\\work")
_ERRORS = {
    "python": ("ValueError", "RuntimeError", "TypeError", "KeyError", "AttributeError"),
    "java": ("java.lang.IllegalStateException", "java.lang.IllegalArgumentException", "java.lang.NullPointerException"),
    "csharp": ("System.InvalidOperationException", "System.ArgumentException", "System.NullReferenceException"),
    "ruby": ("ArgumentError", "RuntimeError", "NoMethodError"),
    "php": ("InvalidArgumentException", "RuntimeException", "TypeError"),
    "javascript": ("TypeError", "Error", "RangeError"),
}
_MESSAGES = ("unexpected value", "index out of range", "cannot read property of undefined", "invalid argument")
_LIBRARY = {
    "python": ("/usr/lib/python3.11/site-packages/werkzeug/serving.py", "/usr/lib/python3.11/threading.py"),
    "javascript": ("/srv/node_modules/koa-compose/index.js", "node:internal/modules/cjs/loader.js"),
    "java": ("NativeMethodAccessorImpl.java", "ThreadPoolExecutor.java"),
    "go": ("/usr/local/go/src/runtime/asm_amd64.s", "/usr/local/go/src/net/http/server.go"),
    "rust": ("/rustc/90c541806f/library/core/src/ops/function.rs", "/rustc/90c541806f/library/std/src/rt.rs"),
    "ruby": ("/usr/lib/ruby/gems/3.2.0/gems/rack-2.2.8/lib/rack/handler.rb", "/usr/lib/ruby/3.2.0/logger.rb"),
    "php": ("/srv/vendor/symfony/http-kernel/HttpKernel.php", "/srv/vendor/phpunit/phpunit/src/TestCase.php"),
    "c": ("/build/glibc-2.36/csu/libc-start.c", "/build/glibc-2.36/nptl/pthread_create.c"),
    "csharp": ("/_/src/libraries/System.Private.CoreLib/src/System/Threading/Tasks/Task.cs", "/_/src/Host.cs"),
}
_ALIKE = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame as printed; `function` is what it can be looked up by, None of a library."""

    path: str
    line: int
    name: str
    code: str
    function: Function | None


def tracebacks(tree: Path) -> list[dict]:
    """The traces of a laid out tree: {"query", "gold": [[path, first line, last line]]}."""
    found = [f for path, text in sources(tree) for f in functions_in(path, text)]
    known = [f for f in found if _family(f) in _FORMATS and len(f.text) < 20_000]
    callers = calls(known)
    leaves = [f for f in known if f.leaf and f.last > f.first]
    raising = [f for f in leaves if _fault_line(f)[1]]
    rng = random.Random(11)
    chosen = rng.sample(raising, min(WANTED * 2 // 3, len(raising)))
    rest = [f for f in leaves if f not in chosen and f.last - f.first >= 3]
    chosen += rng.sample(rest, min(WANTED - len(chosen), len(rest)))
    return [trace(chain(function, callers, rng), rng) for function in chosen]


def calls(known: Iterable[Function]) -> dict[Function, list[tuple[Function, int]]]:
    """For each function of a name that no other has, the functions that call it, with the line of the call."""
    by_name = defaultdict(list)
    for function in known:
        by_name[_family(function), function.name].append(function)
    unique = {key: same[0] for key, same in by_name.items() if len(same) == 1 and len(key[1]) >= SHORTEST_NAME}
    callers: dict[Function, list[tuple[Function, int]]] = defaultdict(list)
    for function in known:
        for number, line in enumerate(function.text.split("\n")[1:], start=function.first + 1):
            called = [unique.get((_family(function), name), function) for name in _CALL.findall(line)]
            for other in called:
                if other != function:
                    callers[other].append((function, number))
    return callers


def chain(fault: Function, callers: dict, rng: random.Random) -> list[Frame]:
    """The frames of the repository from the fault up."""
    line, _ = _fault_line(fault)
    frames, function = [_frame(fault, line or rng.randint(min(fault.first + 1, fault.last), fault.last))], fault
    while len(frames) < LONGEST_CHAIN and callers.get(function):
        function, number = rng.choice(callers[function])
        if function in [frame.function for frame in frames]:
            break
        frames.append(_frame(function, number))
    return frames


def trace(frames: Sequence[Frame], rng: random.Random) -> dict:
    """The text of a trace as another machine printed it, and the function at fault."""
    fault = frames[0].function
    assert fault is not None
    family = _family(fault)
    raised = _RAISED.search(_fault_line(fault)[1])
    error = (raised[1] if raised else rng.choice(_ERRORS.get(family, ("error",))), _message(fault, rng))
    gold = [fault.path, fault.first, fault.last]
    if rng.random() < DRIFTED:
        shift = rng.choice((-2, -1, 1, 2))
        frames = [replace(frame, line=max(1, frame.line + shift)) for frame in frames]
    root, moved = rng.choice(_ROOTS), rng.random() < MOVED
    printed = [replace(frame, path=_elsewhere(frame.path, root, moved)) for frame in frames]
    outside = [_library(path, rng) for path in _LIBRARY[family]][: rng.randint(0, 2)]
    inside = [_library(_LIBRARY[family][0], rng)] if rng.random() < INSIDE else []
    return {"query": _FORMATS[family]([*inside, *printed, *outside], error), "gold": [gold]}


def _frame(function: Function, line: int) -> Frame:
    lines = function.text.split("\n")
    return Frame(function.path, line, function.qualified, lines[min(line - function.first, len(lines) - 1)], function)


def _library(path: str, rng: random.Random) -> Frame:
    return Frame(path, rng.randint(20, 900), rng.choice(("run", "handle", "invoke")), "return handler(request)", None)


def _elsewhere(path: str, root: str, moved: bool) -> str:
    """The path on another machine; a moved file has lost its outermost folder and is in another."""
    parts = path.split("/")
    found = [root, "legacy", *parts[1:]] if moved and len(parts) > 2 else [root, *parts]
    return ("\\" if root.startswith("C:") else "/").join(found)


def _family(function: Function) -> str:
    language = language_of(function.path) or ""
    return _ALIKE.get(language, language)


def _fault_line(function: Function) -> tuple[int, str]:
    """The first line that raises, with its text; 0 and '' where none does."""
    for number, line in enumerate(function.text.split("\n")[1:], start=function.first + 1):
        if _RAISE.search(line) and not line.lstrip().startswith(("#", "//", "*", "///")):
            return number, line
    return 0, ""


def _message(function: Function, rng: random.Random) -> str:
    """The message of the line that raises, with its placeholders filled in; a common one where there is none."""
    line, _ = _fault_line(function)
    lines = function.text.split("\n")[line - function.first :][:3] if line else []
    found = _TEXT.search(" ".join(lines))
    message = found[2] if found else rng.choice(_MESSAGES)
    return _PLACEHOLDER.sub(lambda _: rng.choice(_VALUES), message)


def _python(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    body = [
        f'  File "{f.path}", line {f.line}, in {f.name.rpartition(".")[2]}\n    {f.code.strip()}'
        for f in reversed(frames)
    ]
    return "\n".join(["Traceback (most recent call last):", *body, f"{error[0]}: {error[1]}"])


def _javascript(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    return "\n".join([f"{error[0]}: {error[1]}", *(f"    at {f.name} ({f.path}:{f.line}:15)" for f in frames)])


def _java(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    body = [f"\tat {_java_name(f)}({f.path.rpartition('/')[2]}:{f.line})" for f in frames]
    return "\n".join([f'Exception in thread "main" {error[0]}: {error[1]}', *body])


def _java_name(frame: Frame) -> str:
    if frame.function is None:
        return f"java.base/jdk.internal.reflect.{frame.path.partition('.')[0]}.{frame.name}"
    package = re.sub(r"^.*?(?:src/main/java/|src/)", "", frame.function.path).split("/")[:-1]
    return ".".join([*package, "$".join(frame.name.split(".")[:-1]), frame.name.rpartition(".")[2]])


def _go(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    body = [f"example.com/app/{f.name}(0xc000124000)\n\t{f.path}:{f.line} +0x1d" for f in frames]
    return "\n".join([f"panic: {error[1]}", "", "goroutine 1 [running]:", *body])


def _rust(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    own = next(f for f in frames if f.function)
    body = [
        f"  {number:2}: {f.name.replace('.', '::')}\n             at {f.path}:{f.line}:9"
        for number, f in enumerate(frames)
    ]
    head = f"thread 'main' panicked at {own.path}:{own.line}:9:\n{error[1]}\nstack backtrace:"
    return "\n".join([head, *body])


def _ruby(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    rows = [f"{f.path}:{f.line}:in `{f.name.rpartition('.')[2]}'" for f in frames]
    return "\n".join([f"{rows[0]}: {error[1]} ({error[0]})", *(f"\tfrom {row}" for row in rows[1:])])


def _php(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    # PHP prints with each function the line that it was called from
    rows = [f"#{n} {f.path}({f.line}): {i.name.replace('.', '->')}()" for n, (i, f) in enumerate(pairwise(frames))]
    head = f"PHP Fatal error:  Uncaught {error[0]}: {error[1]} in {frames[0].path}:{frames[0].line}\nStack trace:"
    return "\n".join([head, *rows, f"#{len(rows)} {{main}}\n  thrown in {frames[0].path} on line {frames[0].line}"])


def _c(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    rows = [
        f"    #{n} 0x55d0c0ffee{n:02x} in {f.name.replace('.', '::')} {f.path}:{f.line}:7" for n, f in enumerate(frames)
    ]
    return "\n".join([f"==4242==ERROR: AddressSanitizer: SEGV on unknown address: {error[1]}", *rows])


def _csharp(frames: Sequence[Frame], error: tuple[str, str]) -> str:
    rows = [f"   at {f.name}(Object state) in {f.path}:line {f.line}" for f in frames]
    return "\n".join([f"Unhandled exception. {error[0]}: {error[1]}", *rows])


_FORMATS: dict[str, Callable[[Sequence[Frame], tuple[str, str]], str]] = {
    "python": _python,
    "javascript": _javascript,
    "java": _java,
    "go": _go,
    "rust": _rust,
    "ruby": _ruby,
    "php": _php,
    "c": _c,
    "csharp": _csharp,
}
