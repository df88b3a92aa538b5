"""Results of commands as JSON: the same documents on the command line and from the API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from repopilot import i18n
from repopilot.index.build_report import BuildReport
from repopilot.redaction.shown_diff import shown_diff
from repopilot.results import Answer, Generation, Sentence, TestReport
from repopilot.tools.registry import Tool, ToolResult
from repopilot.trace import Event, tree
from repopilot.types import Citation, Evidence, FileChange, Route
from repopilot.workspace import Workspace


def ask_document(done: Answer, events: Iterable[Event], model: str | None) -> dict:
    """An answer: route, answer, sentences, evidence, citations, degraded, model, steps; parts, where it has several."""
    parts = [{"wish": each.wish, "route": route_document(each.route), "done": each.done} for each in done.parts]
    return {
        "route": route_document(done.route),
        "answer": done.text,
        "sentences": [sentence_document(each) for each in done.sentences],
        "evidence": [evidence_document(each) for each in done.evidence],
        "citations": [citation_document(each) for each in done.citations],
        "degraded": list(done.degraded),
        "model": model,
        "steps": tree(events),
        **({"parts": parts} if parts else {}),
    }


def generate_document(done: Answer, events: Iterable[Event], workspace: Workspace) -> dict:
    """A change: files, answer, degraded, the fields of `generation_json`, environment, steps."""
    from repopilot.agents.generate.render import generation_json

    result = Generation(tests=done.result) if isinstance(done.result, TestReport) else done.result
    result = result if isinstance(result, Generation) else Generation()
    return {
        "files": [asdict(each) for each in done.files],
        "answer": done.text,
        "degraded": list(done.degraded),
        **generation_json(result),
        "environment": environment_of(workspace),
        "steps": tree(events),
    }


def environment_of(workspace: Workspace) -> dict[str, object]:
    """What the tests of a repository could use: requirements, packages, megabytes, seconds, left_out, problems."""
    from repopilot.project_environment import environment_document, needed_packages

    packages = needed_packages(workspace.snapshot, workspace.index, workspace.settings)
    return environment_document(packages, workspace.settings, workspace.fetch_problems)


def index_document(name: str, commit: str, report: BuildReport) -> dict:
    """A build of an index: repo, commit, and the report without its notes."""
    facts = asdict(report)
    return {"repo": name, "commit": commit, **{k: v for k, v in facts.items() if k not in ("notes", "remarks")}}


def tool_document(tool: Tool, given: dict, result: ToolResult, changes: Sequence[FileChange], *, applied: bool) -> dict:
    """A call of a tool: tool, arguments, text, data, changes (diffs without secrets in their context), applied."""
    return {
        "tool": tool.name,
        "arguments": given,
        "text": result.text,
        "data": result.data,
        "changes": [{"path": c.path, "change": c.change, "diff": shown_diff(c.diff, c.content)} for c in changes],
        "applied": applied,
    }


def route_document(chosen: Route | None) -> dict[str, object]:
    """A route: intent, confidence, tier, reason; empty for none."""
    if chosen is None:
        return {}
    names = ("intent", "confidence", "tier", "reason")
    return {name: getattr(chosen, name) for name in names}


def evidence_document(place: Evidence) -> dict[str, object]:
    """A place of the evidence, with its repository and commit where several were searched."""
    names = ("number", "path", "start_line", "end_line", "symbol", "lines")
    origin = place.origin
    of = {"repository": origin.repository, "commit": origin.commit} if origin else {}
    return {**{name: getattr(place, name) for name in names}, **of}


def sentence_document(sentence: Sentence) -> dict[str, object]:
    """A sentence of an answer, whether it is checked, and why."""
    why = i18n.translated(sentence.why, "en")
    return {"text": sentence.text, "status": sentence.status, "why": why, "places": list(sentence.places)}


def citation_document(citation: Citation) -> dict[str, object]:
    """A citation, with its repository where several were searched."""
    facts = {name: value for name, value in asdict(citation).items() if name != "origin"}
    return {**facts, "repository": citation.origin.repository} if citation.origin else facts


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """The document with plain values: lists for tuples, texts for paths and messages."""
    return json.loads(json.dumps(document, default=str))
