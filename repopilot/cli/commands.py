"""The commands of the command line: each takes the parsed arguments and the runtime and returns the exit status."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict
from functools import partial
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from repopilot import i18n
from repopilot.cli.output import (
    emit,
    live_progress,
    say,
    say_json,
    show_answer,
    show_checks,
    show_notes,
    show_places,
    show_steps,
)
from repopilot.errors import ModelError, StorageError, UsageError
from repopilot.i18n import message
from repopilot.i18n.format import short_commit
from repopilot.intents import commands, split_command
from repopilot.runtime import Runtime
from repopilot.types import Intent, Snapshot

if TYPE_CHECKING:
    from repopilot.agents.wiki.folder import PageState
    from repopilot.index.store import Index
    from repopilot.results import Answer, TestReport
    from repopilot.trace import Event, Step
    from repopilot.workspace import Workspace

T = TypeVar("T")


def serve(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Open the chat in the browser, or serve the webhook that code hosts call."""
    if arguments.webhook:
        from repopilot.forge.webhook import serve_webhook

        serve_webhook(runtime)
        return 0
    from repopilot.ui.server.serve import serve as run

    run(runtime.settings, headless=arguments.headless)
    return 0


def password(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Set or remove a name's password for logins; status 1 when there is none to remove."""
    from repopilot.logins.password_file import remove_password, set_password

    if arguments.remove:
        return 0 if remove_password(runtime.settings, arguments.name) else 1
    entered = getpass(i18n.text("cli.password", arguments.language)) if sys.stdin.isatty() else sys.stdin.readline()
    set_password(runtime.settings, arguments.name, entered.rstrip("\n"))
    return 0


def doctor(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Check this machine."""
    from repopilot.checks import check_json, checks

    found = checks(runtime)
    usable = all(c.state != "broken" for c in found)
    emit(
        {"ok": usable, "checks": [check_json(c) for c in found]},
        arguments.json,
        lambda: show_checks(found, arguments.language),
    )
    return 0 if usable else 1


def index(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Index one or many repositories, or export or import an index."""
    if bool(arguments.many) == bool(arguments.source):
        raise UsageError(message("cli.source_or_many"))
    if bool(arguments.ray) != bool(arguments.to) or (arguments.ray and not arguments.many):
        raise UsageError(message("cli.ray_needs"))
    if arguments.many:
        from repopilot.cli.index_many import index_many

        return index_many(_read(arguments.many), arguments, runtime)
    if arguments.rest:
        return _hand_over(arguments, runtime)
    from repopilot.documents import index_document
    from repopilot.openings import fetch_embedder, open_index, open_snapshot
    from repopilot.repo.source import split_token

    with live_progress(arguments.language) as report:
        if arguments.wait:
            fetch_embedder(runtime, report)
        snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        _, token = split_token(arguments.source)
        built = open_index(snapshot, runtime, report, full=arguments.full, wait=arguments.wait or "graph", token=token)
    facts = index_document(snapshot.name, built.commit, built.report)
    notes = [*built.report.notes, *built.report.remarks]
    emit(facts, arguments.json, lambda: say(_indexed(facts, arguments.language)))
    show_notes([*([snapshot.stale] if snapshot.stale else []), *notes], arguments.language)
    return 0


def _hand_over(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """`index export SOURCE FILE`, `index import SOURCE FILE`."""
    from repopilot.index.object_store import fetched, stored
    from repopilot.index.transfer import export_index, import_index
    from repopilot.openings import open_snapshot

    verb = arguments.source
    rest = arguments.rest
    if verb not in ("export", "import") or len(rest) != 2:
        raise UsageError(message("cli.hand_over"))
    arguments.source, place = rest
    if verb == "export":
        snapshot, _ = _opened(arguments, runtime)
        with stored(place) as file:
            facts = export_index(runtime.settings.indexes / snapshot.key, file) | {"file": place}
    else:
        with live_progress(arguments.language) as report:
            snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        folder = runtime.settings.indexes / snapshot.key
        with fetched(place) as file:
            facts = import_index(file, folder, arguments.sha256, snapshot.commit)
    emit(facts, arguments.json, lambda: say("\n".join(f"{name}: {value}" for name, value in facts.items())))
    return 0


def search(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Print the best passages for each query."""
    from repopilot.agents.search.render import search_json
    from repopilot.retrieval.result_page import search_page
    from repopilot.retrieval.skipped_files import lines_with

    if arguments.all:
        return _search_all(arguments, runtime)
    queries = _queries(arguments.query, arguments.queries)
    snapshot, built = _opened(arguments, runtime)
    show_notes(built.notes, arguments.language)
    embedder = runtime.embedders.choose(runtime.settings)
    beyond = partial(lines_with, index=built, snapshot=snapshot, settings=runtime.settings)
    for query in queries:
        found = search_page(built, query, arguments.k, embedder=embedder, beyond=beyond)
        facts = search_json(found)
        if arguments.queries:
            say_json(facts)
        else:
            emit(facts, arguments.json, partial(show_places, found, arguments.language))
        show_notes(found.notes, arguments.language)
    return 0


def grep(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Print every line that matches a pattern."""
    from repopilot.cli.tool_command import run_grep

    return run_grep(arguments, runtime, *_opened(arguments, runtime))


def _search_all(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Print the best passages of every indexed repository."""
    from repopilot.agents.search.render import search_json
    from repopilot.retrieval.search_all import page_of_all

    found = page_of_all(runtime.indexes, " ".join(filter(None, (arguments.source, arguments.query))), arguments.k)
    emit(search_json(found), arguments.json, partial(show_places, found, arguments.language))
    show_notes(found.notes, arguments.language)
    return 0


def context(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Write a context pack for a query, or of whole folders."""
    from repopilot.agents.overview.for_models import pack_for
    from repopilot.retrieval.context_pack import rendered
    from repopilot.retrieval.requested_pack import PackRequest

    if bool(arguments.query) == bool(arguments.folder):
        raise UsageError(message("cli.query_or_folder"))
    snapshot, built = _opened(arguments, runtime)
    show_notes(built.notes, arguments.language)
    request = PackRequest.model_construct(
        query=arguments.query or "",
        folders=arguments.folder or [],
        max_tokens=arguments.max_tokens,
        overview=arguments.overview,
    )
    embedder = runtime.embedders.choose(runtime.settings)
    largest = runtime.settings.max_file_kb << 10
    packed = pack_for(built, snapshot, request, embedder, largest, arguments.format)
    if not arguments.output:
        say(rendered(packed, arguments.format))
        return 0
    _write(Path(arguments.output), rendered(packed, arguments.format))
    if packed.folders:
        facts = {"file": arguments.output, "count": len(packed.excerpts), "tokens": packed.tokens}
        say("\n".join((*packed.tree, *packed.notes, i18n.text("cli.packed", arguments.language, **facts))))
    return 0


def overview(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Say what a repository is."""
    from repopilot.agents.overview.compute import overview_of, with_people
    from repopilot.agents.overview.render import overview_json, overview_markdown

    snapshot, built = _opened(arguments, runtime, wait="graph")
    found = with_people(overview_of(built), snapshot, built.commits)
    emit(overview_json(found), arguments.json, lambda: say(overview_markdown(found, arguments.language)))
    show_notes(built.notes, arguments.language)
    return 0


def wiki(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Write a wiki, or check one; status 1 if a checked page is out of date."""
    from repopilot.agents.wiki.folder import page_counts, wiki_states, write_wiki
    from repopilot.repo.source import parse_source

    snapshot, built = _opened(arguments, runtime, wait="history")
    folder = Path(arguments.to)
    states = wiki_states(built, folder, parse_source(arguments.source).url, snapshot, arguments.language)
    show_notes(built.notes, arguments.language)
    if not arguments.check:
        write_wiki(states, folder)
        _completed(_write_words(states, arguments, snapshot, built, runtime))
    untrue = [page for page in states if page.state != "current"]
    pages = [{"page": page.name, "state": page.state, "files": list(page.files)} for page in untrue]
    facts = {"commit": built.commit, "ok": not untrue, **page_counts(states), "pages": pages}
    emit(facts, arguments.json, lambda: say(_wiki_lines(facts, arguments)))
    return 1 if arguments.check and untrue else 0


async def _write_words(
    states: list[PageState], arguments: argparse.Namespace, snapshot: Snapshot, index: Index, runtime: Runtime
) -> None:
    """Describe how the components work, if the model can use tools; write each page as soon as it is ready."""
    from repopilot.agents.wiki.folder import write_wiki
    from repopilot.agents.wiki.words import pages_with_words
    from repopilot.trace import root
    from repopilot.workspace import open_workspace

    workspace = await open_workspace(index, snapshot, runtime)
    if not workspace.uses_tools:
        return
    async with root(lambda event: None, "wiki") as step:
        async for page in pages_with_words(states, workspace, step):
            write_wiki([page], Path(arguments.to))
            show_notes([message("wiki.wrote_words", page=page.name)], arguments.language)


def _wiki_lines(facts: dict[str, Any], arguments: argparse.Namespace) -> str:
    """The report of a written or checked wiki: the counts, then each page with its state and changed files."""
    form = "wiki.check" if arguments.check else "wiki.done"
    rows = [
        i18n.text(f"{form}.{page['state']}", arguments.language, page=page["page"], files=", ".join(page["files"]))
        for page in facts["pages"]
    ]
    return "\n".join([i18n.text(f"{form}.head", arguments.language, **facts), *(row.rstrip(" :") for row in rows)])


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            message("repo.not_written", path=file, error=reason), message("repo.not_written_hint")
        ) from error


def ask(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Answer a question."""
    from repopilot.agents.all_repositories import answer_all
    from repopilot.documents import ask_document

    said = (arguments.source, arguments.question) if arguments.all else (arguments.question,)
    command, question = split_command(" ".join(filter(None, said)), commands())
    intent = commands().get(command)
    model = None
    if not question and intent is None:
        raise UsageError(message("assistant.empty"))
    if arguments.all:
        work = partial(answer_all, question, runtime, intent=intent or "EXPLAIN")
        done, events = _completed(_traced("ask", question, work))
    else:
        done, events, workspace = _answered(arguments, runtime, question, intent)
        model = workspace.model
    facts = ask_document(done, events, model.name if model else None)
    emit(facts, arguments.json, lambda: show_answer(done, arguments.language))
    if arguments.trace:
        show_steps(events)
    return 0


def route(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Print the intent of questions."""
    from repopilot.documents import route_document
    from repopilot.routing.router import classify

    queries = _queries(arguments.question, arguments.queries)
    for query in queries:
        chosen = route_document(classify(query))
        if arguments.queries:
            say_json(chosen)
        else:
            emit(chosen, arguments.json, partial(_show_route, chosen))
    return 0


def impact(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Report what a change affects."""
    if sum(map(bool, (arguments.targets, arguments.diff, arguments.patch))) != 1:
        raise UsageError(message("cli.impact_targets"))
    patch = _read(arguments.patch) if arguments.patch else None
    from repopilot.agents.impact.agent import impact_of
    from repopilot.agents.impact.impact_report import impact_json, impact_report
    from repopilot.agents.impact.render import impact_markdown
    from repopilot.retrieval.query.parse import reply_language

    async def work(workspace: Workspace, step: Step) -> object:
        if arguments.targets:
            return await impact_of(workspace, step, arguments.targets)
        return await impact_report(workspace, step, diff=arguments.diff, patch=patch)

    report, _, workspace = _worked(arguments, runtime, "impact", work)
    show_notes(workspace.index.notes, arguments.language)
    said = " ".join(arguments.targets)
    language = reply_language(said, runtime.settings) if len(said.split()) > 1 else arguments.language
    emit(impact_json(report), arguments.json, lambda: say(impact_markdown(report, language=language)))
    return 0


def review(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Review files, a change, or a pull request by its address; status 1 for findings from `--fail-on` upwards."""
    from repopilot.forge.items import parse_item, required_item

    item = required_item(arguments.source, "pull") if arguments.post else parse_item(arguments.source)
    if item is not None and item.kind == "pull":
        from repopilot.cli.forge_commands import review_pull_request  # the clients of hosts take long to load

        return review_pull_request(item, arguments, runtime)
    from repopilot.agents.review.agent import report_json, report_markdown, report_sarif, review_snapshot
    from repopilot.agents.review.findings import has_severe
    from repopilot.repo.history import commit_range

    commits = commit_range(arguments.diff) if arguments.diff else None

    async def work(workspace: Workspace, step: Step) -> object:
        return await review_snapshot(workspace, step, commits, arguments.paths)

    report, _, workspace = _worked(arguments, runtime, "review", work)
    show_notes(workspace.index.notes, arguments.language)
    facts = report_sarif(report) if arguments.sarif else report_json(report)
    emit(facts, arguments.json or arguments.sarif, lambda: say(report_markdown(report, language=arguments.language)))
    return int(has_severe(report.findings, arguments.fail_on))


def solve(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Work on an issue; status 1 when there is no change."""
    from repopilot.cli.forge_commands import solve_issue

    return solve_issue(arguments, runtime)


def generate(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Write code for a task; status 1 when there is none."""
    from repopilot.cli.environment_command import note_missing
    from repopilot.documents import generate_document
    from repopilot.repo.patches.apply import apply_changes, write_files

    done, events, workspace = _answered(arguments, runtime, arguments.task, "GENERATE")
    if arguments.apply and workspace.snapshot.root is None:
        raise UsageError(message("cli.apply_to_clone"), message("cli.apply_to_clone_hint"))
    target = workspace.snapshot.root if arguments.apply else Path(arguments.output) if arguments.output else None
    note_missing(done, workspace, arguments.language)
    emit(generate_document(done, events, workspace), arguments.json, lambda: show_answer(done, arguments.language))
    if target is not None and arguments.apply:
        show_notes(apply_changes(target, done.files), arguments.language)
    elif target is not None:
        write_files(target, done.files)
    return 0 if done.files else 1


def tool(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Run one tool on a working copy of the repository."""
    from repopilot.cli.tool_command import run_tool

    return run_tool(arguments, runtime, *_opened(arguments, runtime))


def refine(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Test and repair one Python file; status 1 when no pass is verified."""
    from repopilot.agents.testing.render import repair_json
    from repopilot.agents.testing.repair import RepairRequest, default_test_path, repair
    from repopilot.cli.environment_command import environment_around
    from repopilot.llm.choice.choose import choose

    name = Path(arguments.code).name
    tests = {default_test_path(name): _read(arguments.tests)} if arguments.tests else {}
    code = _read(arguments.code)

    async def work(step: Step) -> TestReport:
        found = await environment_around(Path(arguments.code), arguments, runtime)
        request = RepairRequest(code, tests, arguments.task, name, environment=found)
        return await repair(request, await choose(runtime.settings, runtime.models), runtime.settings, step)

    report, _ = _completed(_traced("refine", arguments.task, work))
    emit(repair_json(report), arguments.json, lambda: say(report.code))
    return 0 if report.genuine else 1


def models(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """List the models, download one, or measure the speed of the answering model (status 1 if that is impossible)."""
    from repopilot.llm.weights.models import available, ensure

    if arguments.action == "measure":
        return _measure_model(arguments, runtime)
    if arguments.action == "list":
        found = [asdict(m) | {"installed": m.path is not None} for m in available(runtime.settings)]
        emit({"models": found}, arguments.json, lambda: say("\n".join(_stored(m, arguments.language) for m in found)))
        return 0
    if not arguments.name:
        raise UsageError(message("cli.which_model"))
    with live_progress(arguments.language) as report:
        path = ensure(arguments.name, runtime.settings, progress=report)
    emit({"name": arguments.name, "path": str(path)}, arguments.json, lambda: say(path))
    return 0


def _measure_model(arguments: argparse.Namespace, runtime: Runtime) -> int:
    from repopilot.llm.choice.choose import calibrate, choose, warm_up
    from repopilot.llm.choice.status import status

    async def work() -> bool:
        model = await choose(runtime.settings, runtime.models)
        if model is None:
            raise ModelError(message("llm.none"), message("llm.pull_weights"))
        await warm_up(model)
        return await calibrate(model, runtime.settings)

    measured = _completed(work())
    found = status(runtime.settings)
    speed = found.speed
    facts = {
        "model": found.name,
        "measured": measured,
        "prompt_tokens_per_s": round(speed.prompt, 1) if speed else None,
        "tokens_per_s": round(speed.generation, 1) if speed else None,
        "answer_s": round(speed.answer_seconds(), 1) if speed else None,
        "next": found.offer.name if found.offer else None,
    }
    text = found.detail if measured else message("cli.not_measurable")
    emit(facts, arguments.json, lambda: say(i18n.translated(text, arguments.language)))
    return 0 if measured else 1


def environment(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Say what a repository's tests need, or build or remove their environment; see cli/environment_command.py."""
    from repopilot.cli.environment_command import environment as run

    return run(arguments, runtime)


def mcp(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Serve the repository tools to an MCP client."""
    from repopilot.mcp.folders import named_folders

    folders = named_folders(arguments.folders)
    if arguments.http:
        from repopilot.mcp.http import run_http

        run_http(runtime, arguments.apply, arguments.port, folders)
        return 0
    from repopilot.mcp.stdio import run

    run(runtime, arguments.apply, folders)
    return 0


def _opened(
    arguments: argparse.Namespace, runtime: Runtime, wait: Literal[False, "history", "graph"] = False
) -> tuple[Snapshot, Index]:
    """The repository of SOURCE and its index, up to date."""
    from repopilot.openings import open_index, open_snapshot

    with live_progress(arguments.language) as report:
        snapshot = open_snapshot(arguments.source, runtime, arguments.ref, report, threading.Event())
        built = open_index(snapshot, runtime, report, wait=wait)
    show_notes([snapshot.stale] if snapshot.stale else [], arguments.language)
    return snapshot, built


def _answered(
    arguments: argparse.Namespace, runtime: Runtime, question: str, forced: Intent | None
) -> tuple[Answer, list[Event], Workspace]:
    from repopilot.assistant import answer

    async def work(workspace: Workspace, step: Step) -> Answer:
        return await answer(question, workspace, step, forced, is_question=True)

    return _worked(arguments, runtime, question, work)


def _worked(
    arguments: argparse.Namespace,
    runtime: Runtime,
    name: str,
    work: Callable[[Workspace, Step], Awaitable[object]],
) -> tuple:
    """Open the repository, run the work in a workspace, return (its result, the trace's events, the workspace)."""
    from repopilot.cli.environment_command import with_packages
    from repopilot.workspace import open_workspace

    snapshot, built = _opened(arguments, runtime)

    async def run() -> tuple:
        workspace = await open_workspace(built, snapshot, runtime)
        if arguments.command == "generate":
            workspace = await with_packages(workspace, arguments)
        return *await _traced(arguments.command, name, lambda step: work(workspace, step)), workspace

    return _completed(run())


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """The result of asynchronous work."""
    import asyncio  # takes longer to import than a search takes

    return asyncio.run(work)


async def _traced(name: str, input: str, work: Callable[[Step], Awaitable]) -> tuple:
    from repopilot.trace import root

    events: list[Event] = []
    async with root(events.append, name, input=input) as step:
        done = await work(step)
    return done, events


def _queries(one: str | None, file: str | None) -> list[str]:
    if (one is None) == (file is None):
        raise UsageError(message("cli.query_or_file"))
    return _lines(file) if file is not None else [one or ""]


def _lines(file: str) -> list[str]:
    queries = []
    for number, line in enumerate(_read(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            queries.append(str(json.loads(line)["query"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(message("cli.bad_line", file=file, number=str(number))) from error
    return queries


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(message("cli.unreadable", file=file, error=error)) from error


def _show_route(chosen: dict[str, object]) -> None:
    say(f"{chosen['intent']}  {chosen['confidence']:.2f}  {chosen['reason']}")


def _stored(model: dict, language: str) -> str:
    where = model["path"] or i18n.text("cli.not_fetched", language)
    return f"{model['name']:22} {model['size'] / 1e6:6.0f} MB  {model['purpose']:10} {where}"


def _indexed(facts: dict, language: str) -> str:
    return i18n.text(
        "cli.indexed",
        language,
        repo=facts["repo"],
        commit=short_commit(facts["commit"]),
        files=facts["files"],
        chunks=facts["chunks"],
        lines=facts["lines"],
        skipped=len(facts["skipped"]),
        seconds=sum(facts["seconds"].values()),
    )
