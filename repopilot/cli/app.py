"""The command line: its arguments and exit status. execute.py runs a command, the commands are in commands.py.

`--json` writes one JSON document to standard output; progress and logs go to standard error. Exit status 0 ok,
1 failed, 2 invalid arguments, 130 stopped by the user.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence

_GC_THRESHOLD = 10_000
"""New objects before garbage is looked for. Python's own 700 make imports, which leave none, about a
twentieth slower."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. Without a command, open the chat in the browser."""
    arguments, options = parser().parse_known_args(argv)
    if options and arguments.run != "tool":
        parser().parse_args(argv)  # reports the unknown options, and exits
    arguments.options = options
    gc.set_threshold(_GC_THRESHOLD)
    from repopilot.cli.execute import execute  # slow to import, and `--help` and `--version` don't need it

    return execute(arguments)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line; the documentation lists its commands."""
    root_parser = argparse.ArgumentParser(
        prog="repopilot",
        description="Chat with a git repository on your own machine. Without a command: open the chat in the browser.",
    )
    root_parser.add_argument("--version", action=_Version, nargs=0, help="the version and the commit")
    root_parser.add_argument("-v", "--verbose", action="store_true", help="log to standard error")
    root_parser.set_defaults(run="serve", headless=False, webhook=False)
    commands = root_parser.add_subparsers(dest="command", metavar="COMMAND")

    _web_commands(commands)
    _command(commands, "doctor", "check this machine, and say how to fix what is missing")

    _index_command(commands)

    _search_commands(commands)
    _context_command(commands)

    _command(commands, "overview", "what a repository is: purpose, entry points, components, commands", source=True)

    wiki = _command(commands, "wiki", "write a wiki of a repository as Markdown, and keep it true", source=True)
    wiki.add_argument("--to", metavar="FOLDER", required=True, help="the folder of its pages")
    wiki.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")

    ask = _command(commands, "ask", "ask a question", source=True)
    ask.add_argument("question", nargs="?", metavar="QUESTION")
    ask.add_argument("--all", action="store_true", help="ask all indexed repositories; SOURCE is then the question")
    ask.add_argument("--trace", action="store_true", help="show every step")

    route = _command(commands, "route", "which agent a question goes to")
    route.add_argument("question", nargs="?", metavar="QUESTION")
    route.add_argument("--queries", metavar="FILE.jsonl", help='one {"query": …} per line')

    impact = _command(commands, "impact", "what a change touches", source=True)
    impact.add_argument("targets", nargs="*", metavar="PATH[:SYMBOL]|WISH")
    impact.add_argument("--diff", metavar="A..B|A...B")
    impact.add_argument("--patch", metavar="FILE")

    _review_command(commands)

    generate = _command(commands, "generate", "write code for a task", source=True)
    generate.add_argument("task", metavar="TASK")
    generate.add_argument("--apply", action="store_true", help="write the files into the local folder SOURCE")
    generate.add_argument("-o", "--output", metavar="DIR", help="write the files below DIR")
    _no_environment(generate)
    _commands(generate)

    _toolbox_commands(commands)

    refine = _command(commands, "refine", "test and repair one Python file in the sandbox")
    refine.add_argument("code", metavar="CODE.py")
    refine.add_argument("--tests", metavar="TESTS.py")
    refine.add_argument("--task", default="", metavar="TEXT")
    _no_environment(refine)

    environment = _command(commands, "environment", "the packages that a repository's tests need", source=True)
    environment.add_argument("--build", action="store_true", help="fetch and install them, outside of the repository")
    environment.add_argument(
        "--allow-build-scripts", action="store_true", help="build packages without a wheel, which runs their code"
    )
    environment.add_argument("--remove", action="store_true", help="remove what was installed for the repository")

    models = _command(commands, "models", "the models on this machine")
    models.add_argument("action", choices=["list", "pull", "measure"])
    models.add_argument("name", nargs="?", metavar="NAME")
    return root_parser


class _Version(argparse.Action):
    """Prints the version; asks git for the commit only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from repopilot import __version__
        from repopilot.release import commit

        print(f"{__version__}, commit {commit() or 'unknown'}")
        parser.exit()


def _no_environment(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-environment", action="store_true", help="don't fetch the packages that the repository's tests need"
    )


def _commands(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--commands", action="store_true", help="let the model run commands of the repository in the sandbox"
    )


def _review_command(commands: argparse._SubParsersAction) -> None:
    review = _command(commands, "review", "what is wrong with a change or with files", source=True)
    review.add_argument("paths", nargs="*", metavar="PATH")
    review.add_argument("--diff", metavar="A..B|A...B")
    review.add_argument("--sarif", action="store_true", help="SARIF 2.1 instead of JSON")
    severities = ("low", "medium", "high", "critical")
    review.add_argument("--fail-on", choices=severities, help="exit with 1 if a finding is at least this severe")
    review.add_argument("--post", action="store_true", help="comment on the pull request; SOURCE is its address")


def _index_command(commands: argparse._SubParsersAction) -> None:
    index = _command(commands, "index", "index a repository, hand its index over as a file, or index many")
    index.add_argument("source", nargs="?", metavar="SOURCE", help="an https URL or a local path; or export, or import")
    index.add_argument(
        "rest", nargs="*", metavar="SOURCE FILE", help="for export and import; FILE may be s3://… or https://…"
    )
    index.add_argument("--ref", metavar="REF", help="branch, tag or commit")
    index.add_argument("--many", metavar="LIST", help="a file with one SOURCE per line")
    index.add_argument(
        "--ray", metavar="ADDRESS", help="index the LIST on a Ray cluster: auto, local, HOST:6379, ray://HOST:10001"
    )
    index.add_argument(
        "--to", metavar="FOLDER", help="for --ray: a shared folder or s3://… where the workers publish the indexes"
    )
    index.add_argument("--full", action="store_true", help="rebuild from nothing")
    index.add_argument("--sha256", default="", metavar="HASH", help="the hash that the imported file must have")
    index.add_argument(
        "--wait", action="store_true", help="compute the vectors of all passages, too, and wait for everything"
    )


def _search_commands(commands: argparse._SubParsersAction) -> None:
    search = _command(commands, "search", "ranked passages for a query", source=True)
    search.add_argument("query", nargs="?", metavar="QUERY")
    search.add_argument("--queries", metavar="FILE.jsonl", help='one {"query": …} per line')
    search.add_argument("--all", action="store_true", help="search all indexed repositories; SOURCE is then the query")
    search.add_argument("-k", type=_positive, default=10, metavar="N", help="how many hits (10)")

    grep = _command(commands, "grep", "every line that matches a pattern, counted", source=True)
    grep.add_argument("pattern", metavar="PATTERN", help="a Python regular expression")
    grep.add_argument("-F", "--fixed-strings", action="store_true", help="the pattern is plain text")
    grep.add_argument("-i", "--ignore-case", action="store_true", help="ignore case")
    grep.add_argument("-g", "--glob", default="*", metavar="GLOB", help="only files that match; * matches folders, too")
    grep.add_argument("-m", "--most", type=_positive, metavar="N", help="list at most N lines; all are counted")


def _context_command(commands: argparse._SubParsersAction) -> None:
    context = _command(commands, "context", "a context pack for a query, or of whole folders", source=True, json=False)
    context.add_argument("query", nargs="?", default="", metavar="QUERY")
    context.add_argument(
        "--folder",
        action="append",
        metavar="PATH",
        help="instead of a query: all files of this folder, in full; . for all folders",
    )
    context.add_argument(
        "--max-tokens", type=_positive, metavar="N", help="limit for the whole pack (4000; for folders, none)"
    )
    context.add_argument("--overview", action="store_true", help="begin with ten lines on what the repository is")
    context.add_argument("--format", choices=["markdown", "xml", "json"], default="markdown")
    context.add_argument("-o", "--output", metavar="FILE")


def _toolbox_commands(commands: argparse._SubParsersAction) -> None:
    solve = _command(commands, "solve", "work on an issue of GitHub or GitLab, or on the review of a pull request")
    solve.add_argument("issue", metavar="ISSUE_URL", help="the address of the issue, or of the pull request")
    solve.add_argument(
        "--ask-there", action="store_true", help="if there is no change, comment on the issue what is unclear"
    )
    solve.add_argument(
        "--open-pull",
        action="store_true",
        help="push the change and open a pull request, from a fork if need be; for a pull request, push to its branch",
    )

    _no_environment(solve)
    _commands(solve)

    tool = _command(commands, "tool", "run one tool of the toolbox by hand", source=True)
    tool.allow_abbrev = False  # `--a` is an option of a tool, not `--apply`
    tool.epilog = "What the tool takes follows as options: repopilot tool . read --path src/app.py --start 1 --end 40"
    tool.add_argument("name", metavar="NAME", help="the tool, such as search, read or replace_text")
    tool.add_argument("--apply", action="store_true", help="write what it changed into the local folder SOURCE")

    mcp = _command(commands, "mcp", "serve the toolbox to an MCP client on standard input, or over HTTP", json=False)
    mcp.add_argument("--http", action="store_true", help="serve streamable HTTP on loopback; prints address and token")
    mcp.add_argument("--port", type=int, default=8765, metavar="N", help="the port for --http (8765; 0: a free one)")
    mcp.add_argument("--apply", action="store_true", help="let the tool `apply` write into git work trees")
    mcp.add_argument(
        "folders", nargs="*", metavar="FOLDER", help="clients may name only local folders in these, or in their roots"
    )


def _web_commands(commands: argparse._SubParsersAction) -> None:
    serve = _command(commands, "serve", "open the chat in the browser", json=False)
    serve.add_argument("--headless", action="store_true", help="don't open a browser window")
    serve.add_argument(
        "--webhook",
        action="store_true",
        help="instead of the chat: review pull requests and work on issues when their host calls",
    )

    password = _command(commands, "password", "set a name's password for logins (REPOPILOT_LOGIN=password)", json=False)
    password.add_argument(
        "name", metavar="NAME", help="the login name; the password is asked for, or read from standard input"
    )
    password.add_argument("--remove", action="store_true", help="remove the name: it can no longer log in")


def _command(
    commands: argparse._SubParsersAction, name: str, help: str, *, source: bool = False, json: bool = True
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    parser.set_defaults(run=name)
    if source:
        parser.add_argument("source", metavar="SOURCE", help="an https URL or a local path")
        parser.add_argument("--ref", metavar="REF", help="branch, tag or commit")
    if json:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
