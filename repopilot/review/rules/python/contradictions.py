"""Docstrings and comments in Python that contradict the code beside them: numbers, parameters, results, directions.
Only what the text itself proves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import Function, PythonTree, blocks, called, dotted, own, parameters
from repopilot.types import Finding

_WORDS = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {
    "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100, "once": 1, "twice": 2}  # fmt: skip
_UNITS = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|milliseconds?|ms|times|attempts?|retries|tries|items?|entries|"
    r"rows|characters?|chars|bytes?|kb|mb|gb|percent|%|results|records|pages?|workers|threads|connections|digits|lines)"
)
_CLAIM = re.compile(rf"(?<![\w.\-/])(\d+(?:\.\d+)?|{'|'.join(_WORDS)})[ -]?({_UNITS})(?!\w)", re.I)
_UNSURE = re.compile(
    r"\b(e\.g|for example|such as|was|were|used to|instead|plus|todo|fixme|usually|often|between|test)\b|~|\d\s*-\s*\d|"
    rf"\b(about|roughly|approximately|more than|less than|at least|at most|up to|first|last|per|within|over|under)\s+"
    rf"(the\s+)?(\d|{'|'.join(_WORDS)})",
    re.I,
)
_FACTORS = (
    1,
    60,
    3600,
    86400,
    1000,
    1024,
    24,
    7,
    1440,
    604800,
    1 << 20,
    1 << 30,
    100,
    8,
    60000,
    3600000,
    10,
    10**6,
    10**9,
)
_TRIES = re.compile(rf"(?<![\w.])(\d+|{'|'.join(_WORDS)})\s+(?:times|attempts|retries|tries)\b", re.I)
_RETURNS = re.compile(
    r"(?m)^\s*(Returns? (True|False|whether|the|a|an|the number|None if)\b|:returns?:|:rtype: (?!None))", re.I
)
_GIVEN = re.compile(r"(?m)^\s*:param\s+(?:[\w.\[\], |]+\s+)?\*{0,2}(\w+)\s*:")
_DEFAULT = re.compile(
    r"(?m)^\s*(?::param\s+(?:\w+\s+)?)?`{0,2}(\w+)`{0,2}\s*(?:\([^)]*\))?\s*:[^\n]*?\b(?:default(?:s to| is|:)|"
    r"by default)\s*:?\s*"
    r"`{0,2}(-?\d+(?:\.\d+)?|True|False|None)\b(?![.\w])",
    re.I,
)

# What the first sentence says, what the code then must not hold, and what would make it right. All on words.
_OPPOSITES: tuple[tuple[str, str, str], ...] = (
    (
        r"\brounded up\b|\brounds? up\b",
        r"\b(round|floor|int)\(|//",
        r"ceil|-\(-|- ?-|// ?-|\+ ?\w+ ?- ?1|ROUND_UP|divmod|%",
    ),
    (r"\brounded down\b|\brounds? down\b", r"\b(round|ceil)\(", r"floor|int\(|//|ROUND_DOWN|ROUND_FLOOR|trunc"),
    (r"\blower[- ]?case(d|s)?\b", r"\.upper\(", r"\.lower\(|casefold"),
    (r"\bupper[- ]?case(d|s)?\b", r"\.lower\(", r"\.upper\("),
    (
        r"\b(the )?(largest|highest|biggest|maximum|longest|newest|latest|most recent)\b[^.]*",
        r"\bmin\(",
        r"\bmax\(|sort|reverse|nlargest",
    ),
    (
        r"\b(the )?(smallest|lowest|minimum|shortest|oldest|earliest)\b[^.]*",
        r"\bmax\(",
        r"\bmin\(|sort|reverse|nsmallest|abs",
    ),
    (
        r"\bdescending\b|\b(newest|largest|highest|latest|longest|most recent|biggest) first\b",
        r"\bsorted\(|\.sort\(",
        r"reverse|-|desc|\[::-1\]|reversed|nlargest|most_common|cmp|key=|inverse",
    ),
    (r"\bascending\b|\b(oldest|smallest|lowest|earliest|shortest) first\b", r"reverse=True", r"-|reversed|\[::-1\]"),
    (r"\bsum of\b|\btotal of\b", r"\b(max|min|mean|average)\(", r"\bsum\(|\+|reduce|total|count"),
    (r"\b(average|mean) (of|value|price|length|number|time)\b", r"\bsum\(", r"/|mean|average|avg|median|statistics"),
    (r"\bin minutes\b", r"\breturn [^\n]*total_seconds\(\)$", r"/|60"),
    (r"\bin milliseconds\b", r"\breturn [^\n]*total_seconds\(\)$", r"\*|1000"),
)


def contradictions(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    yield from _comments(tree)
    for function in tree.functions:
        text = ast.get_docstring(function)
        if text:
            for check in (_parameters, _defaults, _tries, _results, _directions, _in_place):
                yield from check(tree, function, text)


def _finding(tree: PythonTree, line: int, what: str) -> Finding:
    return tree.finding(line, "low", "style", "stale-comment", what)


def _value(word: str) -> float:
    return float(_WORDS[word.lower()]) if word.lower() in _WORDS else float(word)


def _comments(tree: PythonTree) -> Iterator[Finding]:
    """`# wait for ten seconds` over a statement whose only number is another one."""
    lines = tree.code.safe.split("\n")
    starts = {s.lineno: s for block in blocks(tree) for s in block}
    for number, line in enumerate(lines, 1):
        head, mark, comment = line.partition("#")
        claims = _CLAIM.findall(comment) if mark and '"' not in head and "'" not in head else []
        if len(claims) != 1 or len(re.findall(r"\d+", comment)) > 1 or _UNSURE.search(comment):
            continue
        statement = starts.get(number) if head.strip() else starts.get(number + 1)
        block = not head.strip() and number > 1 and lines[number - 2].strip().startswith("#")
        used = _numbers(statement) if statement is not None and not block else []
        if len(used) == 1 and used[0] > 1 and not _fits(_value(claims[0][0]), used[0]):
            yield _finding(tree, number, f"The comment says {claims[0][0]} {claims[0][1]}, the code {used[0]:g}.")


def _numbers(statement: ast.stmt) -> list[float]:
    """The numbers in a statement, for a compound one in its head."""
    heads = [getattr(statement, name) for name in ("iter", "test") if hasattr(statement, name)]
    if not heads and hasattr(statement, "body"):
        return []
    parts = heads or [statement]
    return [n.value for part in parts for n in ast.walk(part) if isinstance(n, ast.Constant)
            and isinstance(n.value, int | float) and not isinstance(n.value, bool)]  # fmt: skip


def _fits(said: float, used: float) -> bool:
    """The same number, in some other unit, one more or less, or as a share of hundred."""
    near = {said, said + 1, said - 1, 1 - said / 100, 1 + said / 100}
    return any(abs(n * f - used) < 1e-9 * max(1, used) or abs(n / f - used) < 1e-9 for n in near for f in _FACTORS)


def _parameters(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """`:param name:` of a parameter there isn't (ruff reads the other styles)."""
    names = {a.arg for a in [*parameters(function), *filter(None, (function.args.vararg, function.args.kwarg))]}
    if function.args.kwarg or (not names and not _GIVEN.search(text)):
        return
    names |= {"self", "cls"}
    for name in _GIVEN.findall(text):
        if name not in names:
            yield _finding(tree, _line_of(function, f"param.*{name}", tree), f"There is no parameter `{name}`.")


def _line_of(function: Function, pattern: str, tree: PythonTree) -> int:
    """The line of the docstring that matches, else that of its beginning."""
    doc = function.body[0]
    lines = tree.code.safe.split("\n")
    return next(
        (n for n in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1) if re.search(pattern, lines[n - 1])),
        doc.lineno,
    )


def _defaults(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """`size: … defaults to 10` where the default is another literal."""
    spec = function.args
    given = dict(zip([a.arg for a in [*spec.posonlyargs, *spec.args]][::-1], spec.defaults[::-1], strict=False))
    given |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    for name, said in _DEFAULT.findall(text):
        default = given.get(name)
        if (
            isinstance(default, ast.Constant)
            and default.value is not None
            and not isinstance(default.value, str | bytes)
        ):
            if said.title() in ("True", "False", "None"):
                differs = str(default.value) != said.title()
            else:
                differs = isinstance(default.value, bool) or float(said) != default.value
            if differs:
                yield _finding(
                    tree, _line_of(function, rf"{name}.*{said}", tree), f"`{name}` defaults to {default.value!r}."
                )


def _tries(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """ "Tries three times" over the function's one `range(5)`, or a parameter `retries=5`."""
    claims = _TRIES.findall(text)
    if len(claims) != 1 or _UNSURE.search(text.partition("\n\n")[0]):
        return
    ranges = [n.args[-1] for n in own(function) if isinstance(n, ast.Call) and called(n) == "range" and len(n.args) < 3]
    said = _value(claims[0])
    numbers = [r.value for r in ranges if isinstance(r, ast.Constant) and isinstance(r.value, int)]
    if len(ranges) == 1 and numbers and abs(numbers[0] - said) > 1:
        yield _finding(
            tree, _line_of(function, claims[0], tree), f"The docstring says {claims[0]}, the code {numbers[0]}."
        )


def _results(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """A docstring that speaks of a result where the function never gives one."""
    nodes = list(own(function))
    gives = any(isinstance(n, ast.Return) and n.value is not None for n in nodes)
    other = any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Raise)) for n in nodes)
    body = function.body[1:]
    stub = not body or all(
        isinstance(s, (ast.Pass, ast.Expr)) and (isinstance(s, ast.Pass) or isinstance(s.value, ast.Constant))
        for s in body
    )
    claim = re.match(r"(Returns? (True|False|whether|the \w+|an? \w+)\b)", text)
    if claim and not gives and not other and not stub and not function.decorator_list and function.name != "__init__":
        yield _finding(tree, function.body[0].lineno, f"The docstring says “{claim[1]}”, but nothing is returned.")


def _directions(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """ "Rounded up" over `round()`, "newest first" over a plain `sorted()`: short functions only."""
    body = function.body[1:]
    if not body or (function.end_lineno or 0) - body[0].lineno > 14:
        return
    code = "\n".join(ast.unparse(s) for s in body)
    first = re.split(r"[.;]\s|\n\n", text)[0]
    for says, wrong, right in _OPPOSITES:
        match = re.search(says, first, re.I)
        if (
            match
            and re.search(wrong, code, re.M)
            and not re.search(right, code)
            and len(re.findall(wrong, code, re.M)) == 1
        ):
            yield _finding(
                tree, function.body[0].lineno, f"The docstring says “{match[0].strip()[:40]}”, the code does otherwise."
            )
            return


def _in_place(tree: PythonTree, function: Function, text: str) -> Iterator[Finding]:
    """ "A new list", "without changing it", over a function that changes its parameter and gives it back."""
    says = re.search(
        r"\b(returns? an? (new|sorted|modified|filtered|changed)? ?(copy|new \w+)|without (changing|modifying|"
        r"mutating)|"
        r"(doesn't|does not) (change|modify|mutate))\b",
        text,
        re.I,
    )
    if not says:
        return
    given = {a.arg for a in parameters(function)}
    nodes = list(own(function))
    set_anew = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    changes = {"append", "extend", "sort", "reverse", "insert", "pop", "remove", "clear", "update", "add", "setdefault"}
    changed = {dotted(n.func.value) for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
               and n.func.attr in changes}  # fmt: skip
    changed |= {dotted(n) for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, (ast.Store, ast.Del))}
    returned = {n.value.id for n in nodes if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)}
    for name in (changed & given & returned) - set_anew:
        yield _finding(
            tree, function.body[0].lineno, f"The docstring says “{says[0]}”, but `{name}` itself is changed."
        )
