"""Faults in workflows of GitHub Actions, and of hosts with the same format: untrusted code or text, exposed secrets.

A workflow is recognized by its content: YAML with jobs and steps. It is parsed into a tree with line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import yaml

from repopilot.agents.review.rules.rule import Match, Rule
from repopilot.code.file_version import Code
from repopilot.types import Severity

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PRIVILEGED = frozenset({"pull_request_target", "workflow_run"})
"""Events that strangers can trigger, and whose workflows have secrets and may write."""
_OPEN_TO_ANYBODY = _PRIVILEGED | frozenset(
    "issues issue_comment discussion discussion_comment pull_request_comment pull_request_review "
    "pull_request_review_comment fork watch gollum".split()
)
_HEAD = re.compile(
    r"github\.event\.pull_request\.head\.|github\.head_ref|refs/pull/|github\.event\.number\b|"
    r"github\.event\.workflow_run\.(?:head_|pull_requests)|github\.event\.pull_request\.(?:number|merge_commit_sha)"
)
_FETCHED_HEAD = re.compile(r"\bgh\s+pr\s+checkout\b|\bgit\s+(?:fetch|pull)\b[^\n]*\bpull/")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STRANGERS = re.compile(
    r"\bgithub\.head_ref\b|\bgithub\.event\.(?:"
    r"(?:issue|discussion|pull_request)\.(?:title|body)\b|"
    r"(?:comment|review|review_comment|discussion_comment)\.body\b|"
    r"pull_request\.head\.(?:ref|label)\b|pull_request\.head\.repo\.(?:default_branch|description|homepage)\b|"
    r"pages\.\*?\.?page_name\b|workflow_run\.(?:head_branch|display_title)\b|"
    r"(?:workflow_run\.)?(?:head_commit|commits\.\*)\.(?:message|(?:author|committer)\.(?:name|email))\b)|"
    r"\btojson\(\s*github(?:\.event(?:\.(?:issue|comment|pull_request|discussion|review|head_commit))?)?\s*\)",
    re.IGNORECASE,
)
_TRUTH = re.compile(r"[=!]=|[<>]|\b(?:contains|startsWith|endsWith)\(|^\s*!")
_SECRET = re.compile(r"\bsecrets\.\w+|\bsecrets\.\*|\btojson\(\s*secrets\s*\)", re.IGNORECASE)
_SENDS = re.compile(
    r"(?:^|[|;&(`\s])(?:curl|wget|nc|ncat|http|https|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s", re.M
)
_CREDENTIAL = re.compile(
    r"(?:-H|--header|-u|--user|-Headers)[= ]*(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S+)|--oauth2-bearer[= ]*\S+",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:^|\s)[\"']?$")
_DATA = re.compile(r"(?:^|\s)(?:-d|-F|-T|--data[\w-]*|--form[\w-]*|--json|--upload-file|--\w+-data|-Body)[= ]+[\"']?$")
"""What stands before an argument that is sent as data; `_ADDRESS` stands before one that is itself an address, such as
a webhook's."""
_SECURE = re.compile(r"https://[\w.-]+")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a workflow, and the line of the file in which it begins."""

    value: str
    line: int

    def line_of(self, at: int) -> int:
        """The line of the file in which a character of the text stands."""
        return self.line + self.value.count("\n", 0, at)


@dataclass(frozen=True)
class _Step:
    """A step of a job with the variables that it, its job and the workflow set to secrets."""

    uses: str = ""
    ref: _Text | None = None
    scripts: tuple[_Text, ...] = ()
    secret_names: frozenset[str] = frozenset()
    guarded: bool = False


@dataclass(frozen=True)
class _Workflow:
    """The events that start a workflow, and its steps."""

    events: frozenset[str]
    steps: tuple[_Step, ...]


def _read(code: Code) -> _Workflow | None:
    """A file as a workflow or composite action; None for other YAML, and for text that isn't YAML."""
    if "steps" not in code.safe:
        return None
    try:
        root = yaml.compose(code.safe, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    whole = _mapping(root)
    jobs = _mapping(whole.get("jobs")) or {"": whole.get("runs")}  # a composite action
    lines = code.safe.split("\n")
    steps = [step for job in jobs.values() for step in _steps(_mapping(job), _secrets_in(whole.get("env")), lines)]
    return _Workflow(_events(whole.get("on")), tuple(steps)) if steps else None


def _mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _events(node: yaml.Node | None) -> frozenset[str]:
    if isinstance(node, yaml.ScalarNode):
        return frozenset({node.value})
    names = [each.value for each in _items(node) if isinstance(each, yaml.ScalarNode)]
    return frozenset(names) | _mapping(node).keys()


def _scalar(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _text(node: yaml.Node | None, lines: list[str]) -> _Text | None:
    if not isinstance(node, yaml.ScalarNode):
        return None
    first = node.start_mark.line + 1
    if node.style in ("|", ">"):
        first += 1
        while first <= len(lines) and not lines[first - 1].strip():
            first += 1
    return _Text(node.value, first)


def _secrets_in(env: yaml.Node | None) -> frozenset[str]:
    """The variables of an `env` that hold secrets."""
    return frozenset(name for name, value in _mapping(env).items() if _SECRET.search(_inside(_scalar(value))))


def _inside(text: str) -> str:
    """The expressions of a text."""
    return " ".join(_plain(found[1]) for found in _EXPRESSION.finditer(text))


def _plain(expression: str) -> str:
    """An expression with `a['b']` and `a[0]` as `a.b` and `a.*`."""
    return re.sub(r"\[\s*\d+\s*\]", ".*", re.sub(r"\[\s*'([\w-]+)'\s*\]", r".\1", expression))


def _steps(job: dict[str, yaml.Node], outer: frozenset[str], lines: list[str]) -> Iterator[_Step]:
    guarded = _guards(job)
    names = outer | _secrets_in(job.get("env"))
    for node in _items(job.get("steps")):
        step = _mapping(node)
        given = _mapping(step.get("with"))
        uses = _scalar(step.get("uses"))
        script = given.get("script") if uses.startswith("actions/github-script@") else None
        scripts = [text for each in (step.get("run"), script) if (text := _text(each, lines)) is not None]
        ref = _text(given.get("ref"), lines) if uses.startswith("actions/checkout@") else None
        yield _Step(uses, ref, tuple(scripts), names | _secrets_in(step.get("env")), guarded or _guards(step))


def _guards(part: dict[str, yaml.Node]) -> bool:
    """Whether a condition or an environment restricts who can start it: a label, the author's role, an approval."""
    return "environment" in part or bool(
        re.search(
            r"author_association|\.labels?\b|github\.actor|\.user\.login|head\.repo\.(?:full_name|fork)",
            _scalar(part.get("if")),
        )
    )


def _on_workflow(check: Callable[[_Workflow], Iterable[Match]]) -> Callable[[Code], Iterable[Match]]:
    def find(code: Code) -> Iterable[Match]:
        workflow = _read(code)
        return () if workflow is None else check(workflow)

    return find


def _checkouts(workflow: _Workflow) -> Iterator[Match]:
    """The code of a stranger's pull request, checked out where secrets are."""
    events = workflow.events & _PRIVILEGED
    if not events:
        return
    for step in workflow.steps:
        severity: Severity = "medium" if step.guarded else "high"
        values = {"event": min(events)}
        if step.ref and _HEAD.search(_plain(step.ref.value)):
            yield Match(step.ref.line, values, severity=severity)
        for text in step.scripts:
            if found := _FETCHED_HEAD.search(text.value):
                yield Match(text.line_of(found.start()), values, severity=severity)


def _injections(workflow: _Workflow) -> Iterator[Match]:
    """Text that anybody can write, put into a script before the shell reads it."""
    severity: Severity = "high" if workflow.events & _OPEN_TO_ANYBODY else "medium"
    for text in (text for step in workflow.steps for text in step.scripts):
        for found in _EXPRESSION.finditer(text.value):
            expression = _plain(found[1])
            name = _STRANGERS.search(expression)
            if name and not _TRUTH.search(expression):
                yield Match(text.line_of(found.start()), {"name": name[0]}, severity=severity)


def _sent_secrets(workflow: _Workflow) -> Iterator[Match]:
    """Secrets in what a command sends. Credentials for an encrypted address count only where an expression puts them
    into the script, not where they come from a variable."""
    for step in workflow.steps:
        variables = "|".join(map(re.escape, sorted(step.secret_names)))
        held = re.compile(rf"\$(?:env:)?(?:\{{(?:{variables})\b[^}}]*\}}|(?:{variables})\b)") if variables else None
        for text in step.scripts:
            yield from _sent(text, held)


def _sent(text: _Text, held: re.Pattern[str] | None) -> Iterator[Match]:
    for start, command in _commands(text.value):
        if not _SENDS.search(command):
            continue
        secure = _SECURE.search(command) and not re.search(r"\bhttp://", command)
        rest = _CREDENTIAL.sub(lambda found: " " * len(found[0]), command)
        written = [f for f in _EXPRESSION.finditer(command) if _SECRET.search(_plain(f[1]))]
        kept = list(held.finditer(command)) if held else []
        for found in sorted((*written, *kept), key=lambda each: each.start()):
            inside = rest[found.start()] == " "
            address = not inside and _is_address(command[: found.start()])
            as_credential = address or bool(secure and inside)
            if as_credential and found in kept:
                continue
            variant = "credential" if as_credential else "sent"
            yield Match(text.line_of(start + found.start()), {}, variant, "low" if as_credential else "high")
            break


def _is_address(before: str) -> bool:
    """Whether what follows begins an argument that isn't sent as data."""
    argument = before.removesuffix('"').removesuffix("'")
    whole = argument.count('"') % 2 == 0 and argument.count("'") % 2 == 0
    return whole and bool(_ADDRESS.search(before)) and not _DATA.search(before)


def _commands(script: str) -> Iterator[tuple[int, str]]:
    """The commands of a script, each with its offset; a backslash or backtick at a line's end continues the line."""
    for found in re.finditer(r"(?:[^\n\\`]|[\\`]\n|[\\`])+", script):
        yield found.start(), found[0]


_STEPS = "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
_CHECKOUT = "      - uses: actions/checkout@v4\n"

RULES = (
    Rule(
        "untrusted-checkout",
        "security",
        "high",
        ("yaml",),
        _on_workflow(_checkouts),
        bad=f"on: pull_request_target\n{_STEPS}{_CHECKOUT}        with:\n"
        "          ref: ${{ github.event.pull_request.head.sha }}\n      - run: make test\n",
        good=f"on: pull_request\n{_STEPS}{_CHECKOUT}        with:\n"
        "          ref: ${{ github.event.pull_request.head.sha }}\n      - run: make test\n",
        cwe=829,
    ),
    Rule(
        "workflow-injection",
        "security",
        "high",
        ("yaml",),
        _on_workflow(_injections),
        bad=f'on: issues\n{_STEPS}      - run: |\n          echo "${{{{ github.event.issue.title }}}}"\n',
        good=f"on: issues\n{_STEPS}      - env:\n          TITLE: ${{{{ github.event.issue.title }}}}\n"
        '        run: echo "$TITLE" ${{ github.event.issue.number }}\n',
        cwe=94,
    ),
    Rule(
        "secret-in-command",
        "security",
        "high",
        ("yaml",),
        _on_workflow(_sent_secrets),
        bad=f'on: push\n{_STEPS}      - run: curl "https://example.com/?key=${{{{ secrets.KEY }}}}"\n',
        good=f"on: push\n{_STEPS}      - env:\n          KEY: ${{{{ secrets.KEY }}}}\n"
        '        run: curl -H "Authorization: Bearer $KEY" https://example.com/deploy\n',
        cwe=522,
    ),
)
