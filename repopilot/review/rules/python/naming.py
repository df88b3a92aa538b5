"""Names and messages in Python that say something else than the code does, and leftovers of debugging."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import Function, PythonTree, called, dotted, own, parameters, text_of, words_of
from repopilot.types import Finding

_ASKS = frozenset("is has can should are was needs contains".split())
_READS = _ASKS | frozenset("get count find read compute calculate".split())
_ALSO = frozenset("or and pop create delete remove update save next lock refresh reset clear purge expire".split())
_WRITES = re.compile(
    r"(^|\.)(delete|save|commit|bulk_create|bulk_update|drop|truncate|unlink|rmdir|rmtree|send_mail|delete_one|"
    r"delete_many|insert_one|update_one|os\.remove|shutil\.rmtree)$"
)
_UNITS = {
    "seconds": {"seconds", "secs", "sec"},
    "minutes": {"minutes", "mins"},
    "hours": {"hours", "hrs"},
    "days": {"days"},
    "milliseconds": {"milliseconds", "millis", "ms", "msec"},
    "bytes": {"bytes"},
    "kilobytes": {"kb", "kilobytes", "kib"},
    "megabytes": {"mb", "megabytes", "mib"},
    "cents": {"cents"},
    "euros": {"euros", "eur"},
    "dollars": {"dollars"},
    "meters": {"meters", "metres"},
    "kilometers": {"km", "kilometers", "kilometres"},
    "miles": {"miles"},
    "celsius": {"celsius"},
    "fahrenheit": {"fahrenheit"},
    "degrees": {"degrees"},
    "radians": {"radians"},
}
_CONVERSIONS = {
    ("seconds", "minute"): 60, ("seconds", "hour"): 3600, ("seconds", "day"): 86400, ("seconds", "week"): 604800,
    ("minutes", "hour"): 60, ("minutes", "day"): 1440, ("hours", "day"): 24, ("days", "week"): 7,
}  # fmt: skip
# Names of yes-or-no functions, and a result that turns them round.
_TURNED: tuple[tuple[str, str], ...] = (
    (r"^is_?empty$", r"len\([\w.]+\) (> 0|!= 0|>= 1)|bool\([\w.]+\)|len\([\w.]+\)|[\w.]+ != (\[\]|''|\{\})"),
    (
        r"^(has|contains)_?(items|entries|elements|content|any|rows|data)$|^is_?(not|non)_?empty$",
        r"len\([\w.]+\) (== 0|< 1)|not [\w.]+|[\w.]+ == (\[\]|''|\{\})",
    ),
    (r"^is_?even$", r"\w+ % 2 (== 1|!= 0)|bool\(\w+ % 2\)|\w+ & 1"),
    (r"^is_?odd$", r"\w+ % 2 (== 0|!= 1)|not \w+ % 2"),
    (r"^is_?positive$", r"[\w.]+ (<|<=) 0"),
    (r"^is_?negative$", r"[\w.]+ (>|>=) 0"),
    (r"^is_?none$", r"[\w.]+ is not None"),
    (
        r"^is_?(past|expired|overdue)$",
        r"[\w.]*(expires?|expiry|expires_at|deadline|due)[\w.]* > [\w.]*(now|today)[\w.()]*",
    ),
    (r"^(exists|is_?file)$", r"not os\.path\.(exists|isfile)\(.*\)"),
)
# What a check's message says, and the comparison under which it would be raised wrongly.
_MESSAGES: tuple[tuple[str, tuple[type, ...], bool], ...] = (
    (r"must not be positive|must be negative|can(no|')t be positive", (ast.Lt, ast.LtE), True),
    (r"must not be negative|must be positive|can(no|')t be negative|greater than (0|zero)", (ast.Gt, ast.GtE), True),
    (r"too (long|large|big|high|many|much)|exceeds|at most|above the (limit|maximum)", (ast.Lt, ast.LtE), False),
    (r"too (short|small|low|few|little)|at least|not enough|below the minimum|insufficient", (ast.Gt, ast.GtE), False),
)
_DEBRIS = re.compile(
    r"(?i)\b(x{3,}|got here|i am here|here!|asdf\w*|foo+bar|debug(ging)? ?(me|this|here|xxx)$|wtf|zzz+|blah)\b|"
    r"^(here|debug|xx+|1+|aaa+)\W*\d*$|^[=\-*#!>~]{3,}\s*(here|debug|test|\w*$)|!{3,}|>{4,}|(?-i:^DEBUG\b)"
)
_LOGS = re.compile(
    r"^(print|pprint|pp|pprint\.pprint)$|(^|\.)(log|logger|logging|_log|_logger)\.(debug|info|warning|warn|error|critical)$"
)
_PLAIN_NUMBERS = frozenset({0.5, 0.25, 0.75, 0.1, 0.01, 0.001, 0.9, 0.95, 0.99, 1.5, 0.2, 0.05})


def names(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for function in tree.functions:
        yield from _askers(tree, function)
        yield from _flags(tree, function)
    for check in (_units, _messages, _debris, _magic):
        yield from check(tree)


def _askers(tree: PythonTree, function: Function) -> Iterator[Finding]:
    """A function named as a question or a look-up that writes, answers with no yes or no, or with the opposite."""
    words = words_of(function.name)
    if not words or words[0] not in _READS or _ALSO & set(words[1:]) or function.name.startswith("__"):
        return
    write = next((n for n in own(function) if _writes(function, n)), None)
    if write is not None:
        yield tree.finding(function, "medium", "style", "misleading-name",
                           f"{function.name} sounds as if it only looked, but it changes what is stored.")  # fmt: skip
        return
    returns = [n.value for n in own(function) if isinstance(n, ast.Return) and n.value is not None]
    if words[0] in ("is", "has") and function.returns is None and returns and not tree.function(function):
        odd = [r for r in returns if isinstance(r, (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.JoinedStr))
               or (isinstance(r, ast.Constant) and isinstance(r.value, str) and r.value)]  # fmt: skip
        if odd:
            yield tree.finding(function, "low", "style", "misleading-name",
                               f"{function.name} sounds like yes or no, but gives something else.")  # fmt: skip
    for name, result in _TURNED:
        if len(returns) == 1 and re.match(name, function.name) and re.fullmatch(result, ast.unparse(returns[0])):
            yield tree.finding(function, "medium", "style", "misleading-name", f"{function.name} gives the opposite.")


def _writes(function: Function, node: ast.AST) -> bool:
    given = {a.arg for a in parameters(function)}
    if isinstance(node, ast.Delete):
        return any(isinstance(t, ast.Subscript) and dotted(t) in given for t in node.targets)
    if not isinstance(node, ast.Call):
        return False
    head, _, path = called(node).partition(".")
    if head in given and re.search(r"(^|\.)(clear|remove|reverse|sort)$", path):
        return True
    if not _WRITES.search(called(node)):
        return False
    local = {n.id for n in own(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    fetched = called(node).rpartition(".")[2] in ("delete", "save", "commit")
    return (head not in local or fetched) and "cache" not in called(node) and "tmp" not in called(node)


def _flags(tree: PythonTree, function: Function) -> Iterator[Finding]:
    """Three and more switches by position: nobody can read such a call."""
    spec = function.args
    some = [*spec.posonlyargs, *spec.args]
    defaults = dict(zip([a.arg for a in some][::-1], spec.defaults[::-1], strict=False))
    flags = [a for a in some if (a.annotation is not None and ast.unparse(a.annotation) == "bool")
             or (isinstance(d := defaults.get(a.arg), ast.Constant) and isinstance(d.value, bool))]  # fmt: skip
    if len(flags) >= 3 and not function.decorator_list and not function.name.startswith("__"):
        yield tree.finding(function, "low", "style", "flag-parameters",
                           f"{function.name} takes {len(flags)} switches by position; make them keywords.")  # fmt: skip


def _unit(name: str) -> str:
    last = set(words_of(name.rpartition(".")[2])[-1:])
    return next((unit for unit, spellings in _UNITS.items() if last & spellings), "")


def _units(tree: PythonTree) -> Iterator[Finding]:
    """A name in one unit given a value in another, as it is."""
    pairs = [(dotted(n.targets[0]), n.value, n) for n in tree.of(ast.Assign) if len(n.targets) == 1]
    pairs += [(k.arg or "", k.value, k.value) for c in tree.of(ast.Call) for k in c.keywords]
    for name, value, node in pairs:
        wanted, given = _unit(name), _unit_of(value)
        if wanted and given and wanted != given and {wanted, given} != {"degrees", "celsius"}:
            yield tree.finding(node, "medium", "style", "wrong-unit", f"`{name}` is given {given} as they are.")
        words = [w.rstrip("s") + "s" for w in words_of(name)]
        for (small, large), right in _CONVERSIONS.items():
            named = name.isupper() and words == [small, *({"pers", "ins", "as"} & set(words)), large + "s"]
            if named and isinstance(value, ast.Constant) and value.value != right:
                yield tree.finding(node, "medium", "style", "wrong-unit", f"There are {right} {small} in a {large}.")


def _unit_of(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        method = called(value).rpartition(".")[2]
        return (
            "seconds"
            if method == "total_seconds" or called(value) in ("time.time", "time.monotonic", "time.perf_counter")
            else ""
        )
    return _unit(dotted(value)) if isinstance(value, (ast.Name, ast.Attribute)) else ""


def _messages(tree: PythonTree) -> Iterator[Finding]:
    """`if amount <= 0: raise ValueError("must not be positive")`."""
    for node in tree.of(ast.If):
        test, first = node.test, node.body[0]
        if not (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(first, ast.Raise)
            and first.exc is not None
        ):
            continue
        message = " ".join(
            n.value for n in ast.walk(first.exc) if isinstance(n, ast.Constant) and isinstance(n.value, str)
        )
        zero = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value == 0
        limit = isinstance(test.comparators[0], (ast.Constant, ast.Name, ast.Attribute)) and not isinstance(
            test.left, ast.Constant
        )
        for says, wrong, at_zero in _MESSAGES:
            held = zero if at_zero else limit and _is_limit(test.comparators[0])
            if held and re.search(says, message, re.I) and isinstance(test.ops[0], wrong):
                yield tree.finding(
                    first, "medium", "style", "wrong-message", "The message says the opposite of the check."
                )
                break


def _is_limit(node: ast.expr) -> bool:
    """What a value is held against, rather than the value itself."""
    return isinstance(node, ast.Constant) or bool(
        re.search(r"(?i)max|min|limit|most|least|allowed|required", dotted(node))
    )


def _debris(tree: PythonTree) -> Iterator[Finding]:
    """Messages for the one who was looking for a fault."""
    for call in tree.of(ast.Call):
        if not _LOGS.search(called(call)) or not call.args:
            continue
        first = call.args[0]
        text = text_of(first)
        if isinstance(first, ast.JoinedStr):
            text = next((t for v in first.values if (t := text_of(v))), "")
        if text and _DEBRIS.search(text.strip().removesuffix("%r").removesuffix("%s").strip()):
            yield tree.finding(call, "medium", "style", "debugging-left", "A message from debugging is left.")


def _magic(tree: PythonTree) -> Iterator[Finding]:
    """A limit with decimals in the middle of a condition, without a name."""
    for node in tree.of(ast.Compare):
        number = node.comparators[-1]
        inside = tree.function(node) is not None and isinstance(node.ops[-1], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        if inside and isinstance(number, ast.Constant) and isinstance(number.value, float):
            digits = len(repr(number.value).replace(".", "").strip("0"))
            if digits >= 2 and number.value not in _PLAIN_NUMBERS and number.value >= 0.01:
                yield tree.finding(node, "low", "style", "magic-number", f"What is {number.value}? Give it a name.")
