"""Options, commands, environment variables and routes that code declares, in many languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.declared.command_line import commands, of_command, options, unshared
from repopilot.code.declared.declaration import LineNumbers, closing, without_comments
from repopilot.code.declared.environment import documented_variables, environment_variables
from repopilot.code.declared.routes import routes

OPTIONS = {
    "python": ("p.add_argument('-v', '--verbose',\n    help='say more')\n", [("--verbose", "-v", "say more", 1)]),
    "go": (
        'import "github.com/spf13/pflag"\ncmd.Flags().StringP("out", "o", "a.txt", "where to write")\n',
        [("--out", "-o", "where to write", 2)],
    ),
    "rust": (
        "struct Args {\n    /// Search hidden files\n    #[arg(long, short = 'H')]\n    pub hidden_files: bool,\n"
        "    #[arg(skip)]\n    rest: u8,\n}\n",
        [("--hidden-files", "-H", "Search hidden files", 3)],
    ),
    "javascript": (
        "const {program} = require('commander');\nprogram.option('-p, --port <n>', 'to listen on');\n",
        [("--port", "-p", "to listen on", 2)],
    ),
    "ruby": ("opts.on('-q', '--quiet', 'say less') { }\n", [("--quiet", "-q", "say less", 1)]),
    "java": ('@Option(names = {"-f", "--file"}, description = "to read")\n', [("--file", "-f", "to read", 1)]),
    "c": ('#include <getopt.h>\n  {"all", no_argument, 0, 0},\n', [("--all", "", "", 2)]),
    "cmake": ('option(WITH_TESTS "Build the tests" ON)\n', [("WITH_TESTS", "", "Build the tests", 1)]),
}
READS = {
    "python": "import os\nos.environ['A']\nos.getenv('B')\nNAME = 'C'\nos.environ.get(NAME)\n# os.environ['NOT']\n",
    "javascript": "process.env.A || process.env['B'];\n// process.env.NOT\nprocess.env.C\n",
    "go": 'os.Getenv("A")\nos.LookupEnv("B")\nconst key = "C"\nos.Getenv(key)\n',
    "rust": 'env::var("A")\nstd::env::var_os("B")\nenv!("C")\n',
    "ruby": "ENV['A']\nENV.fetch('B')\nENV.key?(\"C\")\n",
    "java": 'System.getenv("A"); System.getenv("B");\nSystem.getenv("C");\n',
    "c": 'getenv("A"); secure_getenv("B"); getenv( "C" );\n',
    "csharp": 'Environment.GetEnvironmentVariable("A");B();\nEnvironment.GetEnvironmentVariable("B");\n'
    'Environment.GetEnvironmentVariable("C");\n',
}
ROUTES = {
    ("python", "a.py"): ("@app.get('/a')\n@bp.route('/b', methods=['POST'])\n", [("/a", "GET", 1), ("/b", "POST", 2)]),
    ("javascript", "a.js"): (
        "app.get('/a', f);\ncache.get('/x');\nrouter.post(`/b`, g);\n",
        [("/a", "GET", 1), ("/b", "POST", 3)],
    ),
    ("go", "a.go"): ('r.GET("/a", f)\nmux.HandleFunc("/b", g)\n', [("/a", "GET", 1), ("/b", "", 2)]),
    ("ruby", "config/routes.rb"): ("get '/a', to: 'x#y'\nresources :bs\n", [("/a", "GET", 1), ("bs", "", 2)]),
    ("ruby", "app.rb"): ("get '/a' do\nend\nget '/x'\n", [("/a", "GET", 1)]),
    ("java", "A.java"): ('@GetMapping("/a")\n@PostMapping(value = "/b")\n', [("/a", "GET", 1), ("/b", "POST", 2)]),
    ("rust", "a.rs"): (
        '.route("/a", get(f).post(g))\n#[delete("/b")]\n',
        [("/a", "GET, POST", 1), ("/b", "DELETE", 2)],
    ),
}


def test_help_is_shown_without_its_escapes() -> None:
    text = 'Arg::new("runs").long("runs").help(\n    "Perform \\"NUM\\" runs \\\n      at most.\\nNo more.")'
    assert [d.help for d in options("a.rs", text, "rust")] == ['Perform "NUM" runs at most. No more.']


@pytest.mark.parametrize("language", OPTIONS)
def test_options(language: str) -> None:
    text, expected = OPTIONS[language]
    assert [(d.name, d.form, d.help, d.line) for d in options("a", text, language)] == expected


def test_options_belong_to_their_commands() -> None:
    text = "import click\n\n@cli.command('pick')\n@click.option('--ripe/--green')\ndef pick_command():\n    '''x'''\n"
    assert [(d.name, d.form, d.owner) for d in options("a.py", text, "python")] == [("--ripe", "--green", "pick")]
    assert [d.name for d in commands("a.py", text, "python")] == ["pick"]


SHARED = {
    "decorators": """
import click
from .elsewhere import config_options
verbose = click.option("--verbose")
_both = (click.option("--in"), click.option("--out"))
def io(fn):
    for option in _both:
        fn = verbose(option(fn))
    return fn
@cli.command()
@io
@config_options(1)
@click.pass_context
@click.option("--ripe")
def pick(): ...
@cli.command()
@click.option("--raw")
def eat(): ...
""",
    "parsers": """
def deep(parser):
    parser.add_argument("--verbose")
def shared(parser):
    group = parser.add_argument_group("x")
    group.add_argument("--in")
    deep(group)
    config_options(parser)
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--out")
def main():
    p = sub.add_parser("pick", parents=[common])
    shared(p)
    p.add_argument("--ripe")
    if x:
        p = sub.add_parser("eat")
        p.add_argument("--raw")
""",
}


@pytest.mark.parametrize("way", SHARED)
def test_options_that_commands_share_belong_to_each(way: str) -> None:
    declared = options("a.py", SHARED[way], "python")
    found, elsewhere = of_command("pick", declared)
    assert sorted(d.name for d in found) == ["--in", "--out", "--ripe", "--verbose"]
    assert {d.owner for d in found} == {"pick"}
    assert elsewhere == ["@config_options"]
    assert [d.name for d in of_command("eat", declared)[0]] == ["--raw"]
    assert sorted(d.name for d in unshared(declared)) == ["--in", "--out", "--raw", "--ripe", "--verbose"]


def test_options_of_typer_belong_to_their_commands() -> None:
    text = "import typer\n@app.command()\ndef pick(a: str, b: int = typer.Option(1, '-b', '--basket', help='x'),\n"
    text += "    ripe: Annotated[bool, typer.Option(help='y')] = False): ...\n"
    found = [(d.name, d.form, d.help, d.owner) for d in options("a.py", text, "python")]
    assert found == [("--basket", "-b", "x", "pick"), ("--ripe", "", "y", "pick")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "sub.add_parser('add', help='x')\nsub.add_parser('drop')\n"),
        ("go", 'import "cobra"\n&Command{Use: "add [x]", Short: "x"}\n&Command{Use: "drop"}\n'),
        ("rust", "#[derive(Subcommand)]\nenum C {\n    /// x\n    Add { a: u8 },\n    Drop,\n}\n"),
        ("javascript", "import yargs from 'yargs';\nyargs.command('add <x>', 'x').command('drop')\n"),
        ("ruby", "class A < Thor\n  desc 'add X', 'x'\n  desc 'drop', 'y'\n"),
    ],
)
def test_commands(language: str, text: str) -> None:
    assert [d.name for d in commands("a", text, language)] == ["add", "drop"]


@pytest.mark.parametrize("language", READS)
def test_environment_variables(language: str) -> None:
    found = list(environment_variables("a", READS[language], language))
    assert [d.name for d in found] == ["A", "B", "C"]
    lines = READS[language].split("\n")
    assert all(
        d.name in lines[d.line - 1] or "key" in lines[d.line - 1].lower() or "NAME" in lines[d.line - 1] for d in found
    )


def test_a_copy_of_the_environment_is_read_like_itself() -> None:
    text = "import os\nclass A:\n    _environ = os.environ\n    def f(self):\n        self._environ.get('B_C')\n"
    text += "        return 'NO_X' in self._environ or 'Y' not in os.environ\n"
    assert [d.name for d in environment_variables("a.py", text, "python")] == ["B_C", "NO_X", "Y"]
    assert not list(environment_variables("a.py", "def app(environ):\n    return 'HTTP_X' in environ\n", "python"))


def test_a_servers_environ_is_not_the_environment() -> None:
    assert not list(environment_variables("a.py", "def app(environ):\n    environ['PATH_INFO']\n", "python"))


def test_names_read_through_a_function() -> None:
    text = "int = lambda { |key| ENV[key].to_i }\nint.call('SHOP_LIMIT', 3)\n"
    assert [(d.name, d.line) for d in environment_variables("a.rb", text, "ruby")] == [("SHOP_LIMIT", 2)]


def test_documented_variables() -> None:
    text = "Colours.\n\nThe environment\nvariable [`LS_COLORS`](x) counts, `$HOME_DIR` too.\n\n`NOT_HERE`.\n"
    assert [(d.name, d.line) for d in documented_variables("a.md", text)] == [("LS_COLORS", 4), ("HOME_DIR", 4)]


@pytest.mark.parametrize("case", ROUTES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_routes(case: tuple[str, str]) -> None:
    text, expected = ROUTES[case]
    assert [(d.name, d.form, d.line) for d in routes(case[1], text, case[0])] == expected


@given(st.text(max_size=200), st.sampled_from(sorted(OPTIONS)))
def test_any_text_can_be_read(text: str, language: str) -> None:
    last = text.count("\n") + 1
    sample = OPTIONS[language][0]
    for part in (text, text + sample, sample[: len(text)] + text):
        read = [*options("a", part, language), *commands("a", part, language), *routes("a", part, language)]
        read += environment_variables("a", part, language)
        assert all(1 <= d.line <= max(last, part.count("\n") + 1) for d in read)


@given(st.text(max_size=100))
def test_lines_are_numbered_from_one(text: str) -> None:
    numbers = LineNumbers(text)
    assert all(numbers.at(at) == text.count("\n", 0, at) + 1 for at in range(len(text)))


@given(st.text(alphabet="()[]{}'\"` a\n\\", max_size=80))
def test_the_closing_bracket_lies_in_the_text(text: str) -> None:
    for at, character in enumerate(text):
        if character in "([{":
            assert at < closing(text, at) <= len(text)


@given(st.text(max_size=200), st.sampled_from(["python", "go"]))
def test_what_is_blanked_keeps_its_lines(text: str, language: str) -> None:
    plain = without_comments(text, language)
    assert len(plain) == len(text) and plain.count("\n") == text.count("\n")
