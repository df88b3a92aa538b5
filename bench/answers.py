"""Answers: how often they are right, by model, on questions with checkable gold, and when the reader sees what.

    python -m bench.answers QUESTIONS_DIR TREES_DIR [--models none 0.5b 1.5b …] [--json OUT] [--home DIR] [--most N]
                            [--only NAME …]

QUESTIONS_DIR holds NAME.jsonl (see bench/data/answers/README.md), TREES_DIR/NAME the repository. `--home` is a data
directory with the models installed, which also keeps the indexes for the next run; `--most` takes the first N
questions of each repository. A model is `none`, a size of the built-in family, a known name, or a GGUF file.

right: the text matches the gold, and an unanswerable question is answered with "not here"; right_lead: the text
above the evidence alone does; place: a gold place is among those unfolded; wrong_supported: a model wrote, cites,
and is not right in the lead; wrong_by_code: code answered by the question's form and the text is not right; broken: a
sentence of the lead is; false_absent: "not here" to an answerable question; not_explained: routed to another agent.
Seconds count from the question to the evidence, the first sentence, and the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path

from bench.answer_scores import SHARES, grouped, scored, summary
from repopilot import trace
from repopilot.assistant import answer
from repopilot.errors import RepoPilotError
from repopilot.llm.choice import choose
from repopilot.llm.model import Model
from repopilot.llm.resources import ModelResources
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Explanation
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.workspace import Workspace

FAMILY = "qwen2.5-coder"
_EVIDENCE_STEP = "read"


def main() -> None:
    arguments = _arguments()
    settings = Settings(home=arguments.home) if arguments.home else Settings()
    settings = settings.model_copy(update={"ollama_url": "", "llm_url": ""})
    with Runtime(settings) as runtime:
        cases = list(_cases(arguments, runtime))
        runs = {model: asyncio.run(_run(model, cases, settings)) for model in arguments.models}
    for model, rows in runs.items():
        _print_tables(model, rows)
    if arguments.json:
        arguments.json.write_text(json.dumps({m: _document(rows) for m, rows in runs.items()}, indent=1), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--models", nargs="+", default=["none"])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    return parser.parse_args()


def _cases(arguments: argparse.Namespace, runtime: Runtime) -> Iterator[tuple[str, Workspace, list[dict]]]:
    """The repositories: name, a workspace without a model, and the questions."""
    for file in sorted(arguments.questions.glob("*.jsonl")):
        if arguments.only and file.stem not in arguments.only:
            continue
        questions = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        snapshot = open_source(parse_source(str(arguments.trees / file.stem)), runtime.settings)
        index = open_index(snapshot, runtime, lambda progress: None)
        embedder = runtime.embedders.choose(runtime.settings)
        workspace = Workspace(snapshot, index, runtime.settings, embedder=embedder)
        yield file.stem, workspace, questions[: arguments.most or None]


async def _run(name: str, cases: Sequence[tuple[str, Workspace, list[dict]]], settings: Settings) -> list[dict]:
    """Ask every question of every repository. The replies of one run are not those of another."""
    resources = ModelResources()
    try:
        model = await chosen_model(name, settings, resources)
        rows = []
        for repository, workspace, questions in cases:
            await _asked("What is the purpose of this?", replace(workspace, model=None))  # warms the index
            for question in questions:
                given = await _asked(question["question"], replace(workspace, model=model))
                rows.append({"repository": repository, **question, **given, **scored(question, given)})
                print(f"{name} {repository} {len(rows)}", end="\r", file=sys.stderr)
        return rows
    finally:
        resources.close()


async def chosen_model(name: str, settings: Settings, resources: ModelResources) -> Model | None:
    """The model of that name, warmed up; None for `none`."""
    if name == "none":
        return None
    known = f"{FAMILY}:{name}" if name[:1].isdigit() else name
    model = await choose.choose(settings.model_copy(update={"llm_model": known}), resources)
    if model is None or (model.name != known and not known.endswith(".gguf")):
        raise SystemExit(f"{known} is not installed in {settings.home}")
    await choose.warm_up(model)
    return model


async def _asked(question: str, workspace: Workspace) -> dict:
    """The answer to a question as bench/answer_scores.py takes it, and its seconds."""
    events: list[tuple[float, trace.Event]] = []
    began = time.perf_counter()
    try:
        async with trace.root(lambda event: events.append((time.perf_counter() - began, event)), "bench") as step:
            done = await answer(question, workspace, step)
    except RepoPilotError as error:
        done = Answer(f"{type(error).__name__}: {error}")
    return {**_given(done), **_seconds(events)}


def _given(done: Answer) -> dict:
    result = done.result if isinstance(done.result, Explanation) else None
    lead = result.lead if result else done.text
    return {
        "text": done.text,
        "lead": lead,
        "origin": result.origin if result else "",
        "code_form": result.form if result else "",
        "intent": done.route.intent if done.route else "",
        "cites": any(f"[{citation.number}]" in lead for citation in done.citations),
        "places": [[e.path, e.start_line, e.end_line] for e in done.evidence],
        "evidence_text": "\n".join(line for e in done.evidence for _, line in e.lines),
        "degraded": list(done.degraded),
        "route": asdict(done.route) if done.route else {},
    }


def _seconds(events: Sequence[tuple[float, trace.Event]]) -> dict[str, float | None]:
    """Seconds to the end of the step that notes the evidence, to the first text of an answer, and to the end."""
    started = {e.id: e for _, e in events if isinstance(e, trace.Started)}
    evidence = (s for s, e in events if isinstance(e, trace.Finished) and started[e.id].name == _EVIDENCE_STEP)
    written = (
        s for s, e in events if isinstance(e, trace.Streamed) and started[e.id].kind == "answer" and e.text.strip()
    )
    return {"evidence_s": next(evidence, None), "first_sentence_s": next(written, None), "end_s": events[-1][0]}


def _document(rows: Sequence[Mapping]) -> dict:
    return {"summary": summary(rows), "questions": rows}


def _print_tables(model: str, rows: Sequence[Mapping]) -> None:
    print(f"model {model}")
    print("\n".join(f"  {key:24s} {value}" for key, value in summary(rows).items()))
    for by in ("language", "form", "repository"):
        groups = list(grouped(rows, itemgetter(by)))
        names = ("questions", *SHARES)
        print(f"\n  {by:14s} " + " ".join(f"{name[:13]:>13s}" for name in names))
        for name, found in groups:
            shown = ("-" if found[key] is None else found[key] for key in names)
            print(f"  {name:14s} " + " ".join(f"{value:>13}" for value in shown))


if __name__ == "__main__":
    main()
