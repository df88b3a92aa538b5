"""The analysers that are programs of their own: ruff, bandit. Each raises AnalyserFailed when it is missing or
breaks."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate

from repopilot.agents.review.replacements import replacement
from repopilot.code.file_version import Code
from repopilot.code.formats.notebook import is_notebook
from repopilot.code.languages import is_test_path
from repopilot.code.source_positions import Replacement, replaced
from repopilot.sandbox.linter_runs import copies_of_python, program_json, ruff_items
from repopilot.types import Finding, ReplacedLines, Severity

_STYLE = (
    "F,E401,E7,E9,W605,B,PLE,PLW0120,PLW0127,PLW0128,PLW0129,PLW0131,PLW0133,PLW0177,PLW0245,PLW0602,PLW0604,PLW0711,"
    "PLW1501,PLW1508,PLW1509,PLR0124,PLR0133,RUF006,RUF016,RUF018,"
    "N801,N804,N805,T100,SIM101,SIM115,SIM201,SIM202,SIM208,SIM220,SIM221,PIE794,PIE796,PT015,LOG009,LOG015,G010,"
    "TRY203,TRY401,PGH005,YTT,"
    "PLR1714,PLR1704,PLR1711,PLR5501,SIM103,SIM110,SIM114,SIM118,SIM210,SIM211,SIM212,SIM222,SIM223,RET501,"
    "RET502,RET503,PLW0108,PLW0603,DOC102,G003,DTZ003,DTZ004,TRY002,"
    "A001,S110,S112,PLR0913,PLR0915,PLR1702,RUF034"
)
"""Without rules that fire on most programs (ERA001, E501, FBT001, FBT002, N802, PLR2004, PLW2901, T201): `bench.review`
finds as much without them, and they need no filters."""
_STYLE_IGNORED = "PLE0704,B008,B010,B009,B019,B028,B904,B905,B011,B027,B017,B024,F403,B033"
_SPEED = (
    "PERF101,PERF102,PERF401,PERF402,PERF403,C400,C401,C402,C403,C404,C405,C409,C410,C411,C413,C414,C416,C417,C418,"
    "C419,RUF015,RUF017,PLR1733,PLR1736,FURB129,FURB132,FURB192,PLC0206,PLC0208,B019,"
    "C901,ASYNC210,ASYNC212,ASYNC220,ASYNC221,ASYNC222,ASYNC230,ASYNC240,ASYNC250,ASYNC251"
)
_SPEED_IGNORED = "C408"
_RUFF_OPTIONS = (
    "--target-version=py313",
    "--config=lint.pylint.max-args=10",
    "--config=lint.pylint.max-statements=80",
    "--config=lint.pylint.max-nested-blocks=5",
)
_HIGH = ("F821", "F822", "F823", "F70", "F50", "PLE", "E9", "invalid-syntax", "LOG009", "YTT")
_MEDIUM = (
    "B006 B012 B015 B018 B020 B021 B023 B025 B026 B029 B030 B031 B032 B035 B039 B909 E721 E722 F402 F601 F631 F632 "
    "F811 F702 W605 RUF006 RUF016 RUF017 RUF018 ASYNC T100 SIM115 SIM220 SIM221 PLW0129 PLW0133 PLW0177 PLR0124 "
    "PLW0711 PLW1509 PLW0131 N804 N805 TRY203 PIE794 PIE796 PT015 PERF402 B015 S110 S112 RUF034"
).split()

# Bandit's tests that fire on most programs, or on their imports: too many false alarms to be worth reading; and B608,
# which takes any concatenated SQL for an injection.
_NOISE = "B101,B311,B403,B404,B405,B406,B407,B408,B409,B410,B411,B412,B413,B415,B603,B607,B608,B112,B110"
_SECURITY_SEVERITY: dict[str, Severity] = {
    "B102": "high",
    "B103": "medium",
    "B104": "medium",
    "B105": "medium",
    "B106": "medium",
    "B107": "medium",
    "B108": "low",
    "B113": "low",
    "B201": "high",
    "B202": "high",
    "B301": "medium",
    "B306": "medium",
    "B307": "high",
    "B310": "low",
    "B311": "low",
    "B314": "low",
    "B324": "medium",
    "B501": "high",
    "B506": "high",
    "B602": "high",
    "B605": "high",
    "B609": "high",
    "B701": "high",
    "B703": "medium",
    "B614": "medium",
}
_NO_FAULT_IN_CELLS = frozenset("B018 E402 E703 F704 F811 PLE1142 PLW0127 T201".split())
"""No faults in a notebook: a cell's last value is displayed, and every cell may import and await."""
_BUILT_IN = re.compile(r"Undefined name `(?:display|get_ipython|exit|quit|In|Out|_\d*)`")
_UNTRUSTED = ("request.", "input(", "sys.argv", "params[", "flask.request")


def ruff_style(codes: Sequence[Code]) -> list[Finding]:
    """Certain faults and doubtful habits in Python, by ruff; unreadable files by its parser."""
    return _ruff(codes, _STYLE, _STYLE_IGNORED, "style")


def ruff_speed(codes: Sequence[Code]) -> list[Finding]:
    """Needless work in Python, by ruff."""
    return [f for f in _ruff(codes, _SPEED, _SPEED_IGNORED, "performance") if f.rule != "invalid-syntax"]


def _ruff(codes: Sequence[Code], select: str, ignore: str, domain: str) -> list[Finding]:
    options = [*_RUFF_OPTIONS, f"--select={select}", f"--ignore={ignore}"]

    def run(some: Sequence[Code], more: Sequence[str]) -> list[Finding]:
        return _ruff_findings(some, [*options, *more], domain)

    return _with_silenced(codes, re.compile(r"noqa|ruff:", re.I), run, "--ignore-noqa")


def _with_silenced(
    codes: Sequence[Code],
    mark: re.Pattern[str],
    run: Callable[[Sequence[Code], Sequence[str]], list[Finding]],
    heedless: str,
) -> list[Finding]:
    """A tool's findings, including those that the authors' comments suppress, marked as silenced.

    Args:
        codes: the files.
        mark: matches such comments.
        run: runs the tool on files, with additional options.
        heedless: the option that makes the tool ignore such comments.
    """
    found = run(codes, ())
    known = {(f.path, f.line, f.rule) for f in found}
    marked = [code for code in codes if mark.search(code.text)]
    more = run(marked, (heedless,)) if marked else ()
    return [*found, *(replace(f, silenced=True) for f in more if (f.path, f.line, f.rule) not in known)]


def _ruff_findings(codes: Sequence[Code], options: Sequence[str], domain: str) -> list[Finding]:
    by_file: dict[Code, list[Finding]] = defaultdict(list)
    for code, item in ruff_items(codes, options):
        by_file[code].append(_ruff_finding(code, item, domain))
    return [finding for code, found in by_file.items() for finding in found if not _right_in_cells(code, finding)]


def _right_in_cells(code: Code, finding: Finding) -> bool:
    """Whether a finding is no fault because its file is a notebook."""
    excused = finding.rule in _NO_FAULT_IN_CELLS or _BUILT_IN.search(finding.message) is not None
    return excused and is_notebook(code.path)


def _ruff_finding(code: Code, item: dict, domain: str) -> Finding:
    rule = item.get("code") or "invalid-syntax"
    line = (item.get("location") or {}).get("row") or 1
    found = code.finding(line, _ruff_severity(rule), domain, rule, _sentence(item["message"]), "ruff")
    return replace(found, replacement=_mended(code, line, item.get("fix") or {}))


def _mended(code: Code, number: int, fix: dict) -> ReplacedLines | None:
    """The lines after ruff's safe fix; None for any other fix, and where it leaves the line of the finding alone."""
    edits = fix.get("edits", ())
    if fix.get("applicability") != "safe" or not edits:
        return None
    rows = [edit["location"]["row"] for edit in edits]
    first = min(rows)
    last = max(*rows, *(end["row"] - (end["column"] == 1) for end in (edit["end_location"] for edit in edits)))
    old = code.text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in old), initial=0))

    def offset(place: dict) -> int:
        return starts[place["row"] - 1] + place["column"] - 1

    made = (Replacement(offset(edit["location"]), offset(edit["end_location"]), edit["content"]) for edit in edits)
    new = replaced(code.text, made).split("\n")
    end = len(new) - len(old) + last
    mended = new[first - 1 : end]
    others_stay = new[end:] == old[last:] and mended != [""]
    return replacement(code.text, first, last, "\n".join(mended)) if others_stay and first <= number <= last else None


def _ruff_severity(rule: str) -> Severity:
    if rule.startswith(_HIGH):
        return "high"
    return "medium" if rule.startswith(tuple(_MEDIUM)) else "low"


def bandit(codes: Sequence[Code]) -> list[Finding]:
    """Security faults in Python, by bandit; those that mention untrusted input are critical."""
    return _with_silenced(codes, re.compile("nosec", re.I), _bandit_findings, "--ignore-nosec")


def _bandit_findings(codes: Sequence[Code], more: Sequence[str]) -> list[Finding]:
    findings = []
    for copies in copies_of_python(codes):
        options = ["-q", "-f", "json", "--exit-zero", "--ini", os.devnull, "-s", _NOISE, *more]
        report = program_json("bandit", [*options, "--", *copies])
        for item in report.get("results", ()):
            code = copies.get(item["filename"])
            if code is not None and not is_test_path(code.path) and not _is_placeholder(item):
                findings.append(_bandit_finding(code, item))
    return findings


def _bandit_finding(code: Code, item: dict) -> Finding:
    rule = item["test_id"]
    line = item["line_number"]
    default: Severity = "high" if item["issue_severity"] == "HIGH" else "medium"
    severity = "low" if item["issue_severity"] == "LOW" else default
    if item["issue_severity"] != "LOW" or rule in ("B105", "B106", "B107"):
        severity = _SECURITY_SEVERITY.get(rule, severity)
    if severity == "high" and any(mark in item.get("code", "") for mark in _UNTRUSTED):
        severity = "critical"
    return code.finding(line, severity, "security", rule, _sentence(item["issue_text"]), "bandit")


def _is_placeholder(item: dict) -> bool:
    """A "password" that is only the name of a setting's default, or a word of a grammar."""
    if item["test_id"] not in ("B105", "B106", "B107"):
        return False
    value = item["issue_text"].partition("'")[2].removesuffix("'")
    named = re.fullmatch(r"[a-z]+([_.:-][a-z]+)+|[A-Z]+([_-][A-Z]+)+|/[\w/.-]*", value)  # a code, a key, a path
    telling = re.search(r"secret|change|default|admin|dev|insecure|test|pass", value, re.I) and "_" not in value
    return (
        len(value) < 5
        or value == "None"
        or not re.search(r"[A-Za-z]{3}|\d{4}", value)
        or " " in value
        or bool(named and not telling)
    )


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else text + "."
