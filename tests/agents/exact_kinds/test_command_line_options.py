"""Options of a command line that are changed without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import GenerationFailed
from repopilot.workspace import Workspace

PARSER = """import argparse


def make_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pan', '-p', default='wok', help='which pan to use (default: wok)')
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help='only say what would be done',
    )
    parser.add_argument('--heat', type=int, default=3)
    parser.add_argument('--style', choices=['plain', 'fancy'])
    parser.add_argument('--out')
    return parser


def main():
    args = make_parser().parse_args()
    if args.dry_run:
        print('nothing done for --dry-run, see --dry-run-help')


class Field:
    def __init__(self, help=None, default=None):
        self.help, self.default = help, default
"""
CLICK = """import click


@click.command()
@click.option("-t", "--time-limit", default=5, show_default=True)
@click.option("--colour", type=click.Choice(["red", "blue"]))
def cook(time_limit, colour): ...
"""
FILES: dict[str, str | bytes] = {
    "parser.py": PARSER,
    "cook.py": CLICK,
    "README.md": "Use `--dry-run` first, and --time-limit.\n",
    "Makefile": "all:\n\tcp --out here\n",
    "CHANGELOG.md": "# 1.0\n\n- Add --dry-run.\n",
    "test_parser.py": "def test_it(run):\n    run('--dry-run')\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("options"), FILES)


@pytest.mark.parametrize(
    ("task", "added"),
    [
        (
            "--pan should default to grill",
            "parser.add_argument('--pan', '-p', default='grill', help='which pan to use (default: grill)')",
        ),
        ("set the default of `--heat` to 4", "parser.add_argument('--heat', type=int, default=4)"),
        ("raise the default of --time-limit from 5 to 10", '@click.option("-t", "--time-limit", default=10, '),
        ("--out should default to out.txt", "parser.add_argument('--out', default='out.txt')"),
        ('change the help of --dry-run to "say what would be done"', "help='say what would be done',"),
        ('the help for --heat should read "how hot"', "default=3, help='how hot')"),
        ("add a short option -n for --dry-run", "'-n',"),
        ("add -o as a short form for --out", "parser.add_argument('--out', '-o')"),
        ("give --colour the short form -c", '@click.option("-c", "--colour",'),
        ("add --color as an alias for --colour", '@click.option("--colour", "--color",'),
        ("make --out required", "parser.add_argument('--out', required=True)"),
        ("--style should also accept bold", "choices=['plain', 'fancy', 'bold'])"),
        ('add "green" to the choices of --colour in cook.py', 'type=click.Choice(["red", "blue", "green"]))'),
    ],
)
def test_an_option_is_changed(repo: Workspace, task: str, added: str) -> None:
    new = [line for line in changed_lines(edited(repo, task)) if line[0] == "+"]
    assert len(new) == 1
    assert added in new[0]


def test_the_constant_is_changed_that_only_the_option_uses(tmp_path: Path) -> None:
    text = (
        "import click\n\nPAN_HELP = (\n    'Which pan '\n    'to use.'\n)\nHEAT = 3\nHOT = HEAT * 2\n\n\n"
        "@click.command()\n@click.option('--pan', help=PAN_HELP)\n@click.option('--heat', default=HEAT)\n"
        "def cook(pan, heat): ...\n"
    )
    workspace = workspace_of(tmp_path, {"cook.py": text})
    new = texts(edited(workspace, "change the help of --pan to 'A pan.'"))["cook.py"]
    assert "\nPAN_HELP = 'A pan.'\n" in new and "help=PAN_HELP" in new
    assert "default=4" in texts(edited(workspace, "--heat should default to 4"))["cook.py"]


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("--all of boil should default to 3", '+@click.option("--all", default=3)'),
        ("make --pan of the fry command optional", '+@click.option("--pan")'),
        ("change the help of --all for fry to 'All pans'", '+@click.option("--all", help="All pans")'),
        ("--deep of soak should default to 2", '+soaking.add_argument("--deep", default=2)'),
    ],
)
def test_the_command_tells_which_of_several_options_is_meant(tmp_path: Path, task: str, line: str) -> None:
    text = """import click


@click.command()
@click.option("--all")
def boil(all): ...


@click.command()
@click.option("--all")
@click.option("--pan", required=True)
def fry(all, pan): ...


def parsers(commands):
    soaking = commands.add_parser("soak")
    soaking.add_argument("--deep", default=1)
    drying = commands.add_parser("dry")
    drying.add_argument("--deep", default=1)
"""
    outcome = edited(workspace_of(tmp_path, {"cook.py": text}), task)
    assert [row for row in changed_lines(outcome) if row[0] == "+"] == [line]


def test_a_renamed_option_keeps_its_variable(repo: Workspace) -> None:
    new = texts(edited(repo, "rename the option --dry-run to --simulate"))
    assert set(new) == {"parser.py", "README.md", "test_parser.py"}
    assert "        '--simulate',\n        action='store_true',\n" in new["parser.py"]
    assert "        dest='dry_run',\n    )" in new["parser.py"]
    assert "for --simulate, see --dry-run-help" in new["parser.py"]
    new = texts(edited(repo, "--time-limit should be called --limit"))
    assert '@click.option("-t", "--limit", "time_limit", default=5, show_default=True)' in new["cook.py"]


def test_what_may_be_the_option_of_another_program_is_left_open(repo: Workspace) -> None:
    outcome = edited(repo, "rename --out to --target")
    assert [row for row in changed_lines(outcome) if row[0] == "+"] == ["+parser.add_argument('--target', dest='out')"]
    assert [(r.path, r.text) for r in outcome.open_references] == [("Makefile", "cp --out here")]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("--heat should default to 3", "already"),
        ("add a short option -p for --out", "already"),
        ("rename --out to --pan", "already"),
        ("--style should also accept fancy", "already"),
    ],
)
def test_what_is_so_already_is_said(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, repo)


@pytest.mark.parametrize(
    "task",
    [
        'change the help of --nowhere to "here"',
        "set the default of --nowhere to 3",
        "make --pan required",
        "--dry-run should default to yes please",
    ],
)
def test_no_parameter_is_taken_for_an_option(repo: Workspace, task: str) -> None:
    try:
        assert exact_edit(task, repo) is None
    except GenerationFailed as error:
        assert "--nowhere" in str(error)


def test_an_option_that_two_programs_declare_is_left_to_the_user(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.py": PARSER, "b.py": PARSER}
    workspace = workspace_of(tmp_path, files)
    assert exact_edit("--heat should default to 4", workspace) is None
    assert set(texts(edited(workspace, "--heat should default to 4 in b.py"))) == {"b.py"}
