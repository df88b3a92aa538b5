"""All tools that look at the working copy with the edits so far. Here: how definitions are used, and the past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.index.store import Index
from repopilot.repo import history as past
from repopilot.resolve.uses import call_graph
from repopilot.tools import result_types
from repopilot.tools.definitions import find_definition
from repopilot.tools.looking import lookup
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver


class Related(Arguments):
    """A definition, and how far from it to look."""

    name: str = Field(description=lookup.NAME)
    depth: int = Field(1, description="how many hops to follow, 1 to 5")


class PastOf(Arguments):
    """Whose past."""

    path: str = Field("", description="a file; empty for the whole repository")
    name: str = Field("", description="a definition, whose file is meant")
    limit: int = Field(10, ge=1, le=100, description="the most commits")


class CallPath(Arguments):
    """Two ends of a path."""

    start: str = Field(description=lookup.NAME)
    end: str = Field(description=lookup.NAME)


@in_thread
def references(arguments: Related, context: ToolContext) -> ToolResult:
    """List every place where a name is used, with its line. Before you change or remove it."""
    return _related(context, arguments, call_graph.references)


@in_thread
def callers(arguments: Related, context: ToolContext) -> ToolResult:
    """List which definitions call, use or inherit from one, sure and unsure apart. To see whom a change concerns."""
    return _related(context, arguments, call_graph.callers)


@in_thread
def callees(arguments: Related, context: ToolContext) -> ToolResult:
    """List what a definition itself calls, uses or inherits from. To see what it relies on."""
    return _related(context, arguments, call_graph.callees)


@in_thread
def call_path(arguments: CallPath, context: ToolContext) -> ToolResult:
    """Show how one definition reaches another through calls, uses and imports, when you know both ends."""
    steps = call_graph.call_path(_index(context), arguments.start, arguments.end)
    text = "\n".join(map(str, steps)) or message("tools.no_path", start=arguments.start, end=arguments.end)
    return ToolResult(text, {"steps": list(map(asdict, steps))})


@in_thread
def history(arguments: PastOf, context: ToolContext) -> ToolResult:
    """List the last commits, of a file or of a definition's file: when, who, what. For why code is as it is."""
    rows = _commits(arguments, context)
    text = "\n".join(f"{row['sha'][:10]} {row['date']} {row['author']}: {row['subject']}" for row in rows)
    return ToolResult(text or message("look_tools.no_history"), {"commits": rows})


def _commits(arguments: PastOf, context: ToolContext) -> list[dict[str, str]]:
    workspace = context.workspace
    path = arguments.path
    if arguments.name:
        path = find_definition(context.working_copy, arguments.name, path).path
    elif path and path not in workspace.index.files:
        raise UsageError(message("tools.unknown_file", path=path))
    known = workspace.index.commits or past.commits(workspace.snapshot, workspace.settings.history_commits)
    found = [c for c in past.follow_renames(known) if not path or path in c.paths][: arguments.limit]
    authors = past.commit_authors(workspace.snapshot, [commit.sha for commit in found])
    return [
        {
            "sha": commit.sha,
            "date": datetime.fromtimestamp(commit.at, UTC).date().isoformat(),
            "author": authors.get(commit.sha, ""),
            "subject": commit.subject,
        }
        for commit in found
    ]


def _related(
    context: ToolContext, arguments: Related, find: Callable[[Index, str, int, Resolver], call_graph.Relations]
) -> ToolResult:
    """Places related to a definition, sure and unsure ones apart."""
    workspace = context.working_copy.workspace
    index = workspace.index
    name = arguments.name
    found = find(index, name, arguments.depth, workspace.resolver)
    sure = [each for each in found.places if each.sure]
    unsure = [each for each in found.places if not each.sure]
    uses = find is not call_graph.callees
    rows: list[str] = [lookup.join_rows([each.row(uses=uses) for each in sure])] if sure else []
    if not sure:
        nothing = call_graph.unused(index, name, found.usage) if uses else message("tools.uses_nothing", name=name)
        rows.append(nothing)
    if unsure:
        listed = lookup.join_rows([each.row(uses=uses) for each in unsure])
        rows += [message("look_tools.unsure", count=len(unsure)), listed]
    rows += list(found.usage.notes) if found.usage is not None else []
    data = {"sure": list(map(asdict, sure)), "unsure": list(map(asdict, unsure))}
    return ToolResult(joined(rows, "\n"), data)


def _index(context: ToolContext) -> Index:
    return context.working_copy.workspace.index


TOOLS = (
    *lookup.TOOLS,
    Tool("references", Related, "look", references, result_types.RelatedPlaces),
    Tool("callers", Related, "look", callers, result_types.RelatedPlaces),
    Tool("callees", Related, "look", callees, result_types.RelatedPlaces),
    Tool("call_path", CallPath, "look", call_path, result_types.CallSteps),
    Tool("history", PastOf, "look", history, result_types.Commits),
)
