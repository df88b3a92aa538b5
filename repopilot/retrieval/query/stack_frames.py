"""Finds stack frames in pasted text, of the languages below, and plain `path.ext:line`. Pure.

Python (chained, and as pytest prints them), JavaScript, Java and Kotlin, C#, Go, Rust, Ruby, PHP, and C and C++ as gdb
and the sanitizers print them. A text is read line by line, of each line a bounded part, so reading takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

MOST_FRAMES = 50
LONGEST_LINE = 800
"""Characters of a line that are read; no frame that names a file is longer."""

_PATH = r"(?:[A-Za-z]:[\\/])?"
"""The drive of a Windows path, whose colon is not that before a line number."""
_PYTHON = re.compile(
    r'\bFile "(?P<path>[^"]{1,400})", line (?P<line>\d{1,7})(?:,? in (?P<function>\S+))?'
    # loggers, faulthandler and asyncio leave out quotes or commas
    r"|<FrameSummary file (?P<path_2>[^,]{1,400}), line (?P<line_2>\d{1,7}) in (?P<function_2>[^\s>]+)"
)
_PY_FILE = rf"(?P<path>(?:~[\\/]|{_PATH})[^\s:()|│]{{1,400}}\.pyw?)"
_PYTEST = re.compile(
    rf"[\s│|>]*(?:File )?{_PY_FILE}:(?P<line>\d{{1,7}})(?:(?::|,)? in (?P<function>[^\s(]{{1,200}})"
    r"|: (?:(?:\w{1,60}\.){0,9}[A-Z]\w{0,200}(?:: .*)?)?$)"
)
"""Lines as pytest prints them, IPython (`File ~/a.py:3, in f(x)`) and Rich (in a frame of lines)."""
_DEBUGGER = re.compile(rf"[\s>]*{_PY_FILE}\((?P<line>\d{{1,7}})\)(?P<function>[\w<>]{{1,200}})\(")
"""`> /srv/app.py(3)f()`, of pdb, ipdb and `where`."""
_SENTRY = re.compile(rf"\s*{_PY_FILE} in (?P<function>\S{{1,200}}) at line (?P<line>\d{{1,7}})\b")
_PROFILER = re.compile(rf"[\s\d.%]*(?P<function>[\w<>.]{{1,200}}) \({_PY_FILE}:(?P<line>\d{{1,7}})\)\s*$")
"""`f (app.py:3)`, of py-spy; the innermost comes first."""
_CELL = re.compile(
    rf"^{_PY_FILE} in (?P<function>[^\s(]{{1,200}})\([^\n]{{0,400}}\n(?:[^\n]{{0,400}}\n){{0,8}}?"
    r"-+> ?(?P<line>\d{1,7})\b",
    re.M,
)
"""`~/app.py in f(x)` and, some lines below, the marked line: an older IPython."""
_JAVA = re.compile(
    r"\s*at (?P<function>[\w.$<>/@\-]{1,300})"
    rf"\((?P<path>{_PATH}[^:()]{{1,400}}\.(?:java|kts?|scala|groovy)):(?P<line>\d{{1,7}})\)"
)
_URL = r"(?:file://|webpack(?:-internal)?://|https?://[^/\s()]{1,200})?"
_COLUMN = r"(?:\?[^():]{0,200})?:(?P<line>\d{1,7}):\d{1,7}"
_SCRIPT = re.compile(
    rf"\s*at (?:async )?(?P<function>[^()]{{1,300}}) \({_URL}(?P<path>/?{_PATH}[^():]{{1,400}}\.\w{{1,5}}){_COLUMN}\)"
)
_SCRIPT_BARE = re.compile(rf"\s*at (?:async )?{_URL}(?P<path>/?{_PATH}[^\s():]{{1,400}}\.\w{{1,5}}){_COLUMN}")
_SHARP = re.compile(r"\s*(?:at|à) (?P<function>[^()]{1,400})\(")
_SHARP_FILE = re.compile(r".*?\) (?:in|dans) (?P<path>.{1,400}):(?:line|ligne) (?P<line>\d{1,7})\s*$")
_GO_CALL = re.compile(
    r"\s*(?:created by )?(?P<function>[\w./*()\-\[\]@~]{1,400}?)(?:\([^()]{0,400}\)| in goroutine \d+)?$"
)
_GO = re.compile(rf"\s+(?P<path>{_PATH}[^:]{{1,400}}\.(?:go|s)):(?P<line>\d{{1,7}})")
_RUST_HEAD = re.compile(
    rf".{{0,200}}?panicked at (?:'.{{0,400}}', )?(?P<path>{_PATH}[^:,']{{1,400}}\.rs):(?P<line>\d{{1,7}})"
)
_RUST_CALL = re.compile(r"\s*\d{1,4}: (?:0x[0-9a-f]{1,16} - )?(?P<function>.{1,400})$")
_RUST = re.compile(rf"\s*at (?P<path>{_PATH}[^:()]{{1,400}}\.rs):(?P<line>\d{{1,7}})")
_RUBY = re.compile(
    rf"\s*(?:\d{{1,4}}: )?(?:from )?(?P<path>{_PATH}[^:]{{1,400}}\.(?:rb|rake|ru|erb|gemspec)):(?P<line>\d{{1,7}})"
    r":in [`'](?P<function>[^'`]{1,200})'"
)
_PHP = re.compile(r"\s*#\d{1,4} (?P<path>[^()]{1,400}\.\w{1,5})\((?P<line>\d{1,7})\): (?P<function>[^()]{1,300})")
_PHP_HEAD = re.compile(
    rf" (?:in|at) (?P<path>{_PATH}[^:\s][^:]{{0,400}}\.(?:php|phtml|inc|module))"
    r"(?::| on line )(?P<line>\d{1,7})\)?\s*$"
)
_PHP_ERROR = re.compile(r"error|exception|uncaught|warning|notice|deprecated|\bNext \w", re.I)
_C = re.compile(r"\s*#\d{1,4}\s{1,4}(?:0x[0-9a-f]{1,16} in )?(?P<function>[^\s(]{1,300})(?=[ (])")
_C_FILE = re.compile(rf"(?P<path>{_PATH}[^\s:()]{{1,400}}\.\w{{1,5}}):(?P<line>\d{{1,7}})(?::\d{{1,7}})?")
_PLAIN = re.compile(r"(?:^|[\s(\[\"'`])(?P<path>[\w./\\@~+-]{1,300}\.[A-Za-z]\w{0,7}):(?P<line>\d{1,7})\b", re.M)

_ESCAPED = re.compile(r"\\n(?=(?: |\\t)*(?:\|\s*)?(?:File |at |\S{1,300}\.go:)|[ ]{4}|\w[\w./]{0,200}[(:]|$)", re.M)
"""The line ends of a trace inside a line of JSON or a literal."""
_CONTAINER = re.compile(r"[\w.-]{1,60}\s{1,20}\|(?=\s|$) ?")
_OF_A_TRACE = re.compile(
    r"[ \t>|+^~│╭╰\[{}]|#\d|E {2}|-+>|(?:_ ){2}|[=_─-]{2}|<ipython|\(I?Pdb\)|Cell In|\S+\(.*\)$|panic|exit status|"
    r"Traceback|.{0,80}(?:\bgoroutine \d|\S(?:Error|Exception)\b|[Ee]rror: |most recent call)|FAILED |[A-Z]{4,}\b|"
    r"\d{4}-\d\d-\d\d|Caused by|During handling|The above exception|Thread \S+ \("
)
"""Lines beside the frames: source, marks, headings, messages, records of a log."""
_MESSAGE_BESIDE = re.compile(r"\S+(?:: .*)?$|.*\S+\.\S+: ")
"""A message directly before or after a frame."""
_FIRST_CALL_FIRST = re.compile(r"most recent call first", re.I)
_CAUSE = re.compile(r"\s*(?:Caused by: |Next [\w\\]{1,200}(?:: | in ))")
_LAST_CALL_LAST = "most recent call last"
_CLOSURES = re.compile(
    r"\{\{?closure(?:[:#][^{}]{0,200})?\}?\}|\[as [^\]]{0,200}\]"
    r"|<(?:anonymous|locals|lambda|module|listcomp|genexpr|dictcomp|main|top \(required\))>"
)
_WRAPPED = re.compile(r"^(?:block|rescue|ensure|rescue in block)(?: \(\d+ levels\))? in ")
_GENERATED = re.compile(r"<(?P<method>\w+)>(?:[a-z]__|g__)[\w|]*(?:\.MoveNext)?")
_LAMBDA = re.compile(r"\blambda\$(?P<method>\w+)\$\d+")
_ARGUMENTS = re.compile(r"<[^<>]{0,200}>|\[[^\[\]]{0,200}\]|`\d+|\(\*?(?=\w)|[()]|^(?:async|new|static) ")
_CONSTRUCTOR = re.compile(r"\.(?:<(?:cl)?init>|\.c?ctor)$")
_PART = re.compile(r"[\w!?=$]+")
_NO_NAME = re.compile(r"func\d+|fm|\d+|h[0-9a-f]{16}")
_JVM = (".java", ".kt", ".scala", ".groovy")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack trace, as printed: `path` may be absolute, of another machine, or a bare file name."""

    path: str
    line: int
    function: str = ""

    @property
    def suffixes(self) -> Iterator[str]:
        """The ends of the path, longest first; for Java, folders are derived from the class name."""
        parts = [part for part in self.path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if len(parts) == 1 and self.path.endswith(_JVM):
            package = self.function.rpartition("/")[2].split(".")[:-2]
            parts = [*package, *parts]
        for start in range(len(parts)):
            yield "/".join(parts[start:])

    @property
    def names(self) -> tuple[str, ...]:
        """The identifiers of the function, outermost scope first, without closures, generics and arguments."""
        text = _WRAPPED.sub("", self.function.strip())
        if text.endswith("<anonymous>"):
            return ()
        text = _LAMBDA.sub(r"\g<method>", _GENERATED.sub(r"\g<method>", text))
        text = _ARGUMENTS.sub("", _CLOSURES.sub("", _CONSTRUCTOR.sub("", text))).partition("<")[0]
        found = _PART.findall(text.replace("$", ".") if self.path.endswith(_JVM) else text)
        while found and _NO_NAME.fullmatch(found[-1]):
            found.pop()
        return tuple(found)


def frames(text: str) -> tuple[Frame, ...]:
    """The frames of every stack trace in a text, innermost first, each once, at most MOST_FRAMES.

    Of chained exceptions the last one printed comes first; those of C# are printed the other way around.
    """
    lines = [line for line in _lines(text) if line.strip()]
    found: list[Frame] = []
    for read, last_first in _FORMATS:
        blocks = _blocks(lines, read)
        if (last_first and not _FIRST_CALL_FIRST.search(text)) or (read is _ruby and _LAST_CALL_LAST in text):
            blocks = [block[::-1] for block in blocks]
        for block in reversed(blocks):
            found += block
    return _unique(found)


def places(text: str) -> tuple[Frame, ...]:
    """The mentions of `path.ext:line` in a text, each once, at most MOST_FRAMES; they need not be stack frames."""
    return _unique(_frame(match) for match in _PLAIN.finditer(text))


def _lines(text: str) -> list[str]:
    """The lines of a text; also those of a trace that stands in one line as an escaped string, and
    without the container's name that `docker compose logs` puts before each."""
    if "\\n" in text:
        text = _ESCAPED.sub("\n", text).replace('\\"', '"').replace("\\t", "\t")
    text = _CELL.sub(r'File "\g<path>", line \g<line>, in \g<function>\n', text)
    return [_CONTAINER.sub("", line[:LONGEST_LINE]) for line in text.splitlines()]


def without_traces(text: str) -> str:
    """A text without its stack traces: the part before the first and the part after the last; '' if there is nothing
    else."""
    lines = _lines(text)
    before = ["", *lines]
    marked = [n for n, line in enumerate(lines) if any(read(line, before[n]) for read, _ in _FORMATS)]
    if not marked:
        return text
    first = _end_of_trace(lines, marked[0], -1)
    last = _end_of_trace(lines, marked[-1], 1)
    return "\n".join(lines[:first] + lines[last + 1 :])


def _end_of_trace(lines: Sequence[str], at: int, step: int) -> int:
    """The last line of a trace in one direction from a frame."""
    end = at
    beside = True
    while 0 <= (at := at + step) < len(lines):
        line = lines[at]
        if not line.strip():
            beside = False
        elif _OF_A_TRACE.match(line) or (beside and _MESSAGE_BESIDE.match(line)):
            end = at
        else:
            break
    return end


def without_frame(line: str) -> str:
    """A line of a stack trace without its frame, for the rest that it says, such as an error message."""
    line = line[:LONGEST_LINE]
    for pattern in (_RUBY, _RUST_HEAD):
        if match := pattern.match(line):
            return line[match.end() :]
    if match := _PHP_HEAD.search(line):
        return line[: match.start()]
    return "" if any(read(line, "") for read, _ in _FORMATS) else line


Reader = Callable[[str, str], Frame | None]
"""Gives the frame of a line; the line before may name its function."""


def _blocks(lines: Sequence[str], read: Reader) -> list[list[Frame]]:
    """The frames in one format, as printed, with a list for each exception of a chain."""
    blocks: list[list[Frame]] = [[]]
    before = ""
    for line in lines:
        if _CAUSE.match(line):
            blocks.append([])
        if frame := read(line, before):
            blocks[-1].append(frame)
        before = line
    return [_called_from(block) for block in blocks] if read is _php else blocks


def _called_from(block: Sequence[Frame]) -> list[Frame]:
    """PHP prints with each place the function called there, so the next place names the function that contains it."""
    following = [*block, Frame("", 0)][1:]
    return [replace(frame, function=next_.function) for frame, next_ in zip(block, following, strict=True)]


def _line(pattern: re.Pattern[str], mark: str) -> Reader:
    def read(line: str, _: str) -> Frame | None:
        match = pattern.match(line) if mark in line else None
        return _frame(match) if match else None

    return read


def _call_before(pattern: re.Pattern[str], call: re.Pattern[str], mark: str, required: bool = False) -> Reader:
    """Reads a format that prints the function on the line before the file; if `required`, only with a function."""

    def read(line: str, before: str) -> Frame | None:
        match = pattern.match(line) if mark in line else None
        function = call.match(before) if match else None
        if match is None or (function is None and required):
            return None
        return replace(_frame(match), function=function["function"].strip() if function else "")

    return read


def _python(line: str, _: str) -> Frame | None:
    match = _PYTHON.search(line) if ", line " in line else None
    if match is None:
        return None
    path, number, function = match.groups()[:3] if match["path"] else match.groups()[3:]
    return Frame(path, int(number), function or "")


def _script(line: str, _: str) -> Frame | None:
    match = (_SCRIPT.match(line) or _SCRIPT_BARE.match(line)) if "at " in line else None
    return _frame(match) if match else None


def _sharp(line: str, _: str) -> Frame | None:
    start = _SHARP.match(line)
    rest = _SHARP_FILE.match(line, start.end()) if start else None
    return Frame(rest["path"].strip(), int(rest["line"]), start["function"].strip()) if start and rest else None


def _php(line: str, _: str) -> Frame | None:
    if match := _PHP.match(line):
        return _frame(match)
    match = _PHP_HEAD.search(line) if "thrown in" not in line and _PHP_ERROR.search(line) else None
    return _frame(match) if match else None


def _c(line: str, _: str) -> Frame | None:
    start = _C.match(line)
    if not start:
        return None
    location = _C_FILE.fullmatch(line.rsplit(None, 1)[-1])
    return Frame(location["path"], int(location["line"]), start["function"]) if location else None


_ruby = _line(_RUBY, ":in ")
_FORMATS: tuple[tuple[Reader, bool], ...] = (
    (_python, True),
    (_line(_PYTEST, ".py"), True),
    (_line(_DEBUGGER, ".py"), True),
    (_line(_SENTRY, " at line "), True),
    (_line(_PROFILER, ".py:"), False),
    (_line(_JAVA, "at "), False),
    (_sharp, False),
    (_line(_RUST_HEAD, "panicked at"), False),
    (_call_before(_RUST, _RUST_CALL, ".rs:"), False),
    (_script, False),
    (_call_before(_GO, _GO_CALL, ":", required=True), False),
    (_ruby, False),
    (_php, False),
    (_c, False),
)
"""The readers, and whether a format prints the innermost frame last."""


def _frame(match: re.Match[str]) -> Frame:
    groups = match.groupdict()
    return Frame(groups["path"], int(groups["line"]), (groups.get("function") or "").strip())


def _unique(found: Iterable[Frame]) -> tuple[Frame, ...]:
    """Each place once; if it is printed twice, with the function that either of the two names."""
    first: dict[tuple[str, int], Frame] = {}
    for frame in found:
        known = first.setdefault((frame.path, frame.line), frame)
        if not known.function and frame.function:
            first[frame.path, frame.line] = frame
    return tuple(first.values())[:MOST_FRAMES]
