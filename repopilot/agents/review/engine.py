"""The analysers of each domain, run concurrently as visible steps. A failing one is reported, the others continue."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from repopilot import disk, i18n
from repopilot.agents.review import linters
from repopilot.agents.review.findings import DOMAINS, MEASURED, new_and_old
from repopilot.agents.review.rules import registry
from repopilot.agents.review.scope import ReviewTarget
from repopilot.code.file_version import Code
from repopilot.code.languages import is_product_path
from repopilot.redaction.redact import MARK, PROMISED, rules_in
from repopilot.sandbox.linter_runs import AnalyserFailed
from repopilot.trace import Step
from repopilot.types import Finding, Severity

log = logging.getLogger(__name__)

Run = Callable[[Sequence[Code]], list[Finding]]


@dataclass(frozen=True, slots=True)
class Analyser:
    """A named source of findings in one domain. `run` is sync and may raise AnalyserFailed."""

    name: str
    domain: str
    run: Run


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """What one or several analysers found.

    Attributes:
        new: findings that the change introduced.
        old: findings that were there before it.
        notes: messages that say which analysers failed, and why.
        silenced: findings that the change introduced and that its author suppresses with a comment.
    """

    new: list[Finding]
    old: list[Finding]
    notes: list[str]
    silenced: list[Finding] = field(default_factory=list)


def secrets(codes: Sequence[Code]) -> list[Finding]:
    """Secrets written into files, by the patterns that also keep them out of the index."""
    return [finding for code in codes if code.safe != code.text for finding in _secrets_of(code)]


def _secrets_of(code: Code) -> Iterator[Finding]:
    lenient = not is_product_path(code.path)
    for number, (raw, safe) in enumerate(zip(code.text.split("\n"), code.safe.split("\n"), strict=False), 1):
        rules = [rule for rule in rules_in(safe) if MARK not in raw]
        if not rules:
            continue
        known = rules[0] not in (*PROMISED, "bearer")
        severity: Severity = "medium" if lenient else "critical" if known else "high"
        message = i18n.message("review.secret_in_file", kind=rules[0])
        yield code.finding(number, severity, "security", f"secret-{rules[0]}", message, "secrets")


_ELSEWHERE = re.compile(
    r"(?:#|//|/\*|--)[ \t]*(?P<mark>(?:type|pyright):[ \t]*ignore|mypy:[ \t]*ignore-errors|pylint:[ \t]*disable|"
    r"@ts-ignore|@ts-nocheck|@ts-expect-error|eslint-disable(?:-next-line|-line)?|nolint|NOSONAR|noinspection|"
    r"shellcheck[ \t]+disable|rubocop:disable|phpcs:ignore|nosemgrep|gitleaks:allow|checkov:skip|tfsec:ignore)\b"
)
"""Comments that silence tools which don't run here."""


def silenced_elsewhere(codes: Sequence[Code]) -> list[Finding]:
    """Comments that silence tools other than ours; only those tools can tell what they would report."""
    return [
        replace(
            code.finding(number, "low", "style", mark, i18n.message("review.silences", mark=mark), "comment"),
            silenced=True,
        )
        for code in codes
        for number, line in enumerate(code.safe.split("\n"), 1)
        for found in _ELSEWHERE.finditer(line)
        for mark in [" ".join(found["mark"].split())]
    ]


SECRETS = Analyser("secrets", "security", secrets)
ANALYSERS = (
    Analyser("bandit", "security", linters.bandit),
    SECRETS,
    Analyser("silenced", "style", silenced_elsewhere),
    Analyser("rules", "security", partial(registry.find, domain="security")),
    Analyser("ruff", "performance", linters.ruff_speed),
    Analyser("rules", "performance", partial(registry.find, domain="performance")),
    Analyser("ruff", "style", linters.ruff_style),
    Analyser("rules", "style", partial(registry.find, domain="style")),
)


async def analyse(domain: str, targets: Sequence[ReviewTarget], step: Step) -> AnalysisResult:
    """Run all analysers of one domain concurrently.

    Args:
        domain: one of DOMAINS.
        targets: the files under review.
        step: the step of the domain; each analyser gets a step below it.

    Returns:
        Their findings and notes together. A failing analyser is noted, not raised.
    """
    assert domain in DOMAINS
    wanted = [a for a in ANALYSERS if a.domain == domain and _applies(a, targets)]
    parts = await asyncio.gather(*(_run_in_step(analyser, targets, step) for analyser in wanted))
    return AnalysisResult(
        *([item for part in parts for item in getattr(part, name)] for name in ("new", "old", "notes", "silenced"))
    )


def _applies(analyser: Analyser, targets: Sequence[ReviewTarget]) -> bool:
    if analyser.name == "rules":
        return any(registry.rules_for(t.new.language, analyser.domain) for t in targets)
    return analyser.name in ("secrets", "silenced") or any(t.new.language == "python" for t in targets)


async def _run_in_step(analyser: Analyser, targets: Sequence[ReviewTarget], step: Step) -> AnalysisResult:
    """One analyser in a step of its own. When it fails, the step and a note say so."""
    try:
        async with step.child(analyser.name, "tool", i18n.message("format.file", count=len(targets))) as running:
            new, old = await asyncio.to_thread(run_on, analyser, targets)
            running.note(findings=len(new), pre_existing=len(old))
            silenced = [finding for finding in new if finding.silenced]
            return AnalysisResult([f for f in new if not f.silenced], [f for f in old if not f.silenced], [], silenced)
    except AnalyserFailed as error:
        note = i18n.message(
            "review.analyser_failed", name=analyser.name, domain=analyser.domain, why=i18n.reason(error)
        )
    except Exception as error:  # a failing analyser must not discard the findings of the others
        note = i18n.message("review.analyser_failed", name=analyser.name, domain=analyser.domain, why=_why(error))
    step.degrade(note)
    return AnalysisResult([], [], [note])


def _why(error: Exception) -> str:
    if disk.is_full(error):  # the temporary folder's disk, where tools get copies of the code
        return i18n.message("errors.disk_is_full")
    log.error("an analyser broke", exc_info=error)
    return i18n.message("review.analyser_broke", error=type(error).__name__)


def run_on(analyser: Analyser, targets: Sequence[ReviewTarget]) -> tuple[list[Finding], list[Finding]]:
    """Run one analyser on the new versions, and on old versions where they tell which findings are new."""
    found = analyser.run([target.new for target in targets])
    changed = {target.new.path: target.changed for target in targets}
    unsure = {
        f.path
        for f in found
        if (lines := changed.get(f.path)) is not None and (f.line not in lines or f.rule in MEASURED)
    }
    old = [target.old for target in targets if target.old is not None and target.new.path in unsure]
    before = analyser.run(old) if old else []
    return new_and_old(found, before, changed)
