"""Values that are set without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.edited import edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.sources import ByteEdit, spliced
from repopilot.agents.editing.exact.values.literals import OldValue, is_string, scaled, value_text
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.workspace import Workspace

FILES = {
    "pkg/__init__.py": "",
    "pkg/config.py": '''"""Settings."""

import os
from dataclasses import dataclass, field

MAX_RETRIES = 3  # tried that often
LEVEL = "INFO"
HOST = os.environ.get("HOST", "localhost")
VERBOSE: bool = False
LIMITS = {"connections": 10, "timeout": 5.0}
TWICE = 1
TWICE = 2


@dataclass
class Options:
    depth: int = field(default=4)
    width: int = 80


class Client:
    retries = 2

    def __init__(self, base_url, redirects=False, *, timeout: float = 5.0, proxy: str | None):
        self.base = base_url
        self.pool_size = 8

    def get(self, url, timeout=10):
        return url


class Other:
    def get(self, url, timeout=3):
        return url
''',
    "pkg/dos.py": b"\xef\xbb\xbfLIMIT = 1\r\nOTHER = 2\r\n\tx = 3",
    "pkg/keys.py": 'API_KEY = "sk-ant-api03-Zq8vN2xYp4Lw7Rt6Bk1Mc9Jd3Hs5Fg0AaQwErTyUiOp"\nATTEMPTS = 2\n',
    "tests/test_config.py": "MAX_RETRIES = 9\n",
    "vendor/lib.py": "VENDORED = 1\n",
    "setup.cfg": "[metadata]\nname = demo\n\n[flake8]\nmax-line-length = 88  # wide\nignore = E203\n",
    "pyproject.toml": "[tool.ruff]\nline-length = 100 # wide\n\n[tool.black]\nline-length = 88\n",
    "ci.yml": "on: push\njobs:\n  test:\n    timeout-minutes: 10 # long\n    name: 'all'\n",
    "package.json": '{\n\t"name": "demo",\n\t"scripts": {"test": "jest"},\n\t"private": false\n}\n',
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("values"), FILES)


CONFIG = "pkg/config.py"


@pytest.mark.parametrize(
    ("task", "path", "old", "new"),
    [
        ("raise MAX_RETRIES from 3 to 5", CONFIG, "RETRIES = 3", "RETRIES = 5"),
        ("Please set `MAX_RETRIES` to 7.", CONFIG, "RETRIES = 3", "RETRIES = 7"),
        ("passe MAX_RETRIES de 3 à 5", CONFIG, "RETRIES = 3", "RETRIES = 5"),
        ("double MAX_RETRIES", CONFIG, "RETRIES = 3", "RETRIES = 6"),
        ("increase MAX_RETRIES by 10", CONFIG, "RETRIES = 3", "RETRIES = 13"),
        ("set LEVEL to DEBUG", CONFIG, '"INFO"', '"DEBUG"'),
        ("change LEVEL to 'DEBUG'", CONFIG, '"INFO"', "'DEBUG'"),
        ("set VERBOSE to true", CONFIG, "VERBOSE: bool = False", "VERBOSE: bool = True"),
        ("set the default timeout of Client.get to 30", CONFIG, "timeout=10", "timeout=30"),
        ("set the default of `base_url` to '' in Client.__init__", CONFIG, "self, base_url,", "self, base_url='',"),
        ("change the default of `redirects` to True in Client.__init__", CONFIG, "redirects=False", "redirects=True"),
        (
            "set the default of proxy to None in Client.__init__",
            CONFIG,
            "proxy: str | None",
            "proxy: str | None = None",
        ),
        ("change la valeur par défaut de `timeout` dans Client.get à 12", CONFIG, "timeout=10", "timeout=12"),
        ("set Options.depth to 6", CONFIG, "field(default=4)", "field(default=6)"),
        ("set 'timeout' in LIMITS to 7.5", CONFIG, '"timeout": 5.0', '"timeout": 7.5'),
        ("set pool_size of Client to 16", CONFIG, "pool_size = 8", "pool_size = 16"),
        ("set HOST from 'localhost' to 'example.org'", CONFIG, '"localhost"', "'example.org'"),
        ("set HOST to 'example.org'", CONFIG, '"localhost"', "'example.org'"),
        ("set tool.ruff.line-length to 120", "pyproject.toml", "100 # wide", "120 # wide"),
        ("set line-length in tool.black to 99 in pyproject.toml", "pyproject.toml", "88", "99"),
        ("change max-line-length to 120 in setup.cfg", "setup.cfg", "88  # wide", "120  # wide"),
        ("set timeout-minutes to 20 in ci.yml", "ci.yml", "10 # long", "20 # long"),
        ("set `private` to true in package.json", "package.json", '"private": false', '"private": true'),
        ("set scripts.test to 'vitest' in package.json", "package.json", '"jest"', '"vitest"'),
        ("set VENDORED to 2 in vendor/lib.py", "vendor/lib.py", "= 1", "= 2"),
        ("set timeout of get to 4 @pkg/config.py:Other.get", CONFIG, "timeout=3", "timeout=4"),
    ],
)
def test_a_value_is_set_and_nothing_else(repo: Workspace, task: str, path: str, old: str, new: str) -> None:
    text = FILES[path]
    assert isinstance(text, str) and text.count(old) == 1
    assert texts(edited(repo, task)) == {path: text.replace(old, new)}


@pytest.mark.parametrize(
    "task",
    [
        "set MAX_RETRIES to something reasonable",
        "set TWICE to 3",
        "raise MAX_RETRIES from 3 to 5 and add a test",
        "set up logging to a file",
        "set timeout of get to be 5 when idle",
        "drop the deprecated parameter from Client.get",
        "change the parser to return None on errors",
        "make the client retry",
        "update the README to mention the cache",
        "",
    ],
)
def test_what_is_not_clear_is_left_to_the_model(repo: Workspace, task: str) -> None:
    assert exact_edit(task, repo) is None


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("set `MAX_RETRYS` to 5", "MAX_RETRIES"),
        ("raise MAX_RETRIES from 4 to 5", "is 3"),
        ("set MAX_RETRIES to 5 in pkg/confg.py", "pkg/config.py"),
        ("set `VENDORED` to 2", "VENDORED"),
    ],
)
def test_a_task_that_cannot_be_carried_out_says_why(repo: Workspace, task: str, said: str) -> None:
    with pytest.raises(GenerationFailed, match=said):
        exact_edit(task, repo)


def test_an_ambiguous_place_is_asked_for(repo: Workspace) -> None:
    with pytest.raises(PlaceAmbiguous):
        exact_edit("set the timeout to 30 seconds", repo)
    with pytest.raises(PlaceAmbiguous) as asked:
        exact_edit("set the default timeout of get to 9", repo)
    assert asked.value.choices == ("pkg/config.py:Client.get", "pkg/config.py:Other.get")
    (change,) = edited(repo, f"set the default timeout of get to 9 @{asked.value.choices[0]}").changes
    assert "url, timeout=9" in change.content.partition("class Other")[0]


def test_line_ends_and_byte_order_mark_stay(repo: Workspace) -> None:
    outcome = edited(repo, "set LIMIT to 20")
    assert texts(outcome)["pkg/dos.py"] == "\ufeffLIMIT = 20\r\nOTHER = 2\r\n\tx = 3"


@pytest.mark.parametrize(
    ("task", "new"),
    [
        ("bump version to 2.1.0", "2.1.0"),
        ("passe la version de 1.2.3 à 2.0", "2.0"),
        ("bump the minor version", "1.3.0"),
        ("increment the major version", "2.0.0"),
    ],
)
def test_a_version_is_set_wherever_it_is_declared(tmp_path: Path, task: str, new: str) -> None:
    files: dict[str, str | bytes] = {
        "pyproject.toml": '[project]\nname = "x"\nversion = "1.2.3"  # here\ndependencies = ["y==1.2.3"]\n',
        "x/__init__.py": '"""X."""\n\n__version__ = \'1.2.3\'\n',
        "tests/test_x.py": "__version__ = '1.2.3'\n",
    }
    found = texts(edited(workspace_of(tmp_path, files), task))
    assert found == {
        "pyproject.toml": str(files["pyproject.toml"]).replace('"1.2.3"', f'"{new}"', 1),
        "x/__init__.py": str(files["x/__init__.py"]).replace("1.2.3", new),
    }


def test_secrets_in_the_file_stay(repo: Workspace) -> None:
    new = texts(edited(repo, "set ATTEMPTS to 4"))["pkg/keys.py"]
    assert new == FILES["pkg/keys.py"].replace("= 2", "= 4")


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6), st.sampled_from("*+-"))
def test_scaling_is_arithmetic(old: int, amount: int, by: str) -> None:
    assert (
        int(scaled(str(old), by, str(amount)) or "0") == {"*": old * amount, "+": old + amount, "-": old - amount}[by]
    )


@given(st.text(max_size=30))
def test_a_value_of_a_string_is_a_string_or_unclear(text: str) -> None:
    new = value_text(text, OldValue('"old"', "toml"))
    assert new is None or is_string(new) or not any(c.isspace() for c in new) or new[:1] in "[{"


LINES = st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=6), min_size=1, max_size=6)


@given(LINES, st.booleans(), st.booleans(), st.data())
def test_splicing_changes_only_its_span(lines: list[str], crlf: bool, bom: bool, data: st.DataObject) -> None:
    plain = "\n".join(lines)
    stored = (b"\xef\xbb\xbf" if bom else b"") + plain.replace("\n", "\r\n" if crlf else "\n").encode()
    start = data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    spans = [len(plain[:at].encode()) for at in (start, end)]
    result = spliced(stored, [ByteEdit(*spans, "new\ntext")])
    assert result.removeprefix(b"\xef\xbb\xbf" if bom else b"").decode().replace("\r\n", "\n") == (
        plain[:start] + "new\ntext" + plain[end:]
    )
    lone = result.replace(b"\r\n", b"").count(b"\n")
    assert b"\r\r" not in result and (lone == 0 if crlf and len(lines) > 1 else b"\r" not in result)


@pytest.mark.parametrize(
    ("line", "task", "new"),
    [
        ("TIMEOUT = 10", "set TIMEOUT to 30 seconds", "TIMEOUT = 30"),
        ("TIMEOUT = 10", "set TIMEOUT to 30s", "TIMEOUT = 30"),
        ("TIMEOUT = 60", "set TIMEOUT to 2 minutes", None),
        ("TIMEOUT_MS = 500", "set TIMEOUT_MS to 2 seconds", "TIMEOUT_MS = 2000"),
        ("TIMEOUT = 30000", "set TIMEOUT to 5 seconds", None),
        ("IDLE = 300  # 5 minutes", "raise IDLE to 10 minutes", "IDLE = 600  # 10 minutes"),
        ("min_wait = 3", "raise min_wait to 5 seconds", "min_wait = 5"),
        ("TIMEOUT_S = 2", "set TIMEOUT_S to 500 ms", "TIMEOUT_S = 0.5"),
        ("LIFE = 300  # 5 minutes", "set LIFE to 600", "LIFE = 600  # 10 minutes"),
        ("LIFE = 5 * 60  # 5 minute life", "LIFE should be 2 minutes", "LIFE = 2 * 60  # 2 minute life"),
        ("SIZE = 65536", "raise SIZE to 128 KiB", "SIZE = 131072"),
        ("SIZE = 100_000_000", "raise SIZE to 200 MB", "SIZE = 200_000_000"),
        ("SIZE = 2  # of 2 kinds, see 12", "set SIZE to 3", "SIZE = 3  # of 3 kinds, see 12"),
        ("TIMEOUT_MS = 500", "raise TIMEOUT_MS to 900 ms", "TIMEOUT_MS = 900"),
        ("DELAY = 5  # minutes", "raise DELAY to 9 minutes", "DELAY = 9  # minutes"),
        ('EXPIRES = "10s"', "change EXPIRES to 30 seconds", 'EXPIRES = "30s"'),
        ('EXPIRES = "10m"', "change EXPIRES to 30 seconds", None),
        ("LIMIT = 4", "LIMIT should be 8 entries", "LIMIT = 8"),
    ],
)
def test_a_number_is_set_only_in_its_unit(tmp_path: Path, line: str, task: str, new: str | None) -> None:
    outcome = exact_edit(task, workspace_of(tmp_path, {"pkg/a.py": f"{line}\n"}))
    assert (outcome.changes[0].content if outcome else None) == (f"{new}\n" if new else None)


@pytest.mark.parametrize(
    ("path", "text", "task", "expected"),
    [
        (
            "lib/defaults.js",
            "const defaults = {\n  xsrfName: 'A',\n  retries: 3, // tries\n};\nmodule.exports = defaults;\n",
            "change the xsrfName default to 'B'",
            ("xsrfName: 'A'", "xsrfName: 'B'"),
        ),
        (
            "lib/defaults.js",
            "module.exports = {\n  'retries': 3,\n  nested: { deep: retries() },\n};\n",
            "change the default retries to 5",
            ("'retries': 3", "'retries': 5"),
        ),
        (
            "app/setup.py",
            'def options():\n    return {"max_size": 3, "other": max_size}\n',
            "set max_size to 4",
            ('"max_size": 3', '"max_size": 4'),
        ),
        (
            "app.go",
            'package app\n\nfunc New() *V {\n\treturn &V{keyDelim: ".", on: true}\n}\n',
            'set keyDelim to "::"',
            ('keyDelim: "."', 'keyDelim: "::"'),
        ),
    ],
)
def test_an_entry_that_only_one_literal_has_is_set(tmp_path, path, text, task, expected) -> None:
    repo = workspace_of(tmp_path, {path: text})
    assert texts(exact_edit(task, repo)) == {path: text.replace(*expected)}


@pytest.mark.parametrize(
    ("path", "line", "new"),
    [
        ("a.py", 'size = int(os.environ.get("SIZE", "10"))', "30"),
        ("a.py", "size = given or found.size or 10", "30"),
        ("a.py", "size = given if given is not None else 10", "30"),
        ("a.py", "size = 10 if given is None else given", "30"),
        ("a.py", 'size = getattr(given, "size", 10)', "30"),
        ("a.py", "size = (given or 10)", "30"),
        ("a.py", "size = 10 if strict else 20", None),  # two values, neither is the other's stand-in
        ("a.py", "size = f(given, 10)", None),
        ("a.py", "size = strict and 10", None),
        ("a.js", "const size = options.size || 10", "30"),
        ("a.js", "const size = options.size ?? env.SIZE ?? 10", "30"),
        ("a.js", "const size = options.size !== undefined ? options.size : 10", "30"),
        ("a.js", "const size = a === b ? 10 : c", None),
    ],
)
def test_of_a_value_with_a_fallback_the_fallback_is_set(tmp_path, path: str, line: str, new: str | None) -> None:
    outcome = exact_edit("set size to 30", workspace_of(tmp_path, {path: f"{line}\n"}))
    changed = line.replace("10", new) if new else None
    assert (outcome.changes[0].content if outcome else None) == (f"{changed}\n" if changed else None)


@pytest.mark.parametrize("quote", ["", '"', "`"])
def test_a_described_value_is_the_one_with_the_old_value(tmp_path: Path, quote: str) -> None:
    files = {
        "a.py": 'def begin(config):\n    config.setdefault("CACHE_KEY_PREFIX", "pan_cache_")\n',
        "b.py": 'class B:\n    def __init__(self, key_prefix=""):\n        self.key_prefix = key_prefix\n',
        "c.py": 'class C:\n    def __init__(self, key_prefix=""):\n        self.key_prefix = key_prefix\n',
    }
    task = f"change the default key prefix from {quote}pan_cache_{quote} to {quote}pc_{quote}"
    after = texts(edited(workspace_of(tmp_path, files), task))
    assert after == {"a.py": files["a.py"].replace("pan_cache_", "pc_")}


def test_a_key_has_one_default_wherever_it_is_read(tmp_path: Path) -> None:
    files = {
        "a.py": 'def begin(config):\n    config.setdefault("MAX_AGE_S", 300)\n    config.setdefault("MIN_S", 300)\n',
        "b.py": 'def make(config):\n    return Cache(config.get("MAX_AGE_S", 300))\n',
        "test_a.py": 'def test_age(config):\n    assert config.get("MAX_AGE_S", 300)\n',
        "c.go": 'package c\n\nfunc begin() {\n\tviper.SetDefault("logLevel", "info")\n}\n',
    }
    workspace = workspace_of(tmp_path, files)
    after = texts(edited(workspace, "MAX_AGE_S should default to 600"))
    assert after == {path: files[path].replace('"MAX_AGE_S", 300', '"MAX_AGE_S", 600') for path in ("a.py", "b.py")}
    after = texts(edited(workspace, "logLevel should default to 'warn'"))
    assert after == {"c.go": files["c.go"].replace('"info"', '"warn"')}


@pytest.mark.parametrize(
    ("path", "line", "changed"),
    [
        ("a.js", "const strict = options.strict || false", "const strict = options.strict ?? true"),
        ("a.js", "const strict = options.strict ?? false", "const strict = options.strict ?? true"),
        ("a.py", "strict = given or False", None),
        ("a.py", 'strict = given.get("strict", False)', 'strict = given.get("strict", True)'),
        (
            "a.js",
            "class A {\n  constructor (options) {\n    this.strict = options.strict || false\n  }\n}",
            "class A {\n  constructor (options) {\n    this.strict = options.strict ?? true\n  }\n}",
        ),
    ],
)
def test_what_is_given_still_counts_where_the_fallback_is_true(tmp_path, path, line, changed) -> None:
    outcome = exact_edit("strict should be true by default", workspace_of(tmp_path, {path: f"{line}\n"}))
    assert (outcome.changes[0].content if outcome else None) == (f"{changed}\n" if changed else None)


def test_a_name_that_stands_in_the_code_is_not_denied(tmp_path) -> None:
    repo = workspace_of(tmp_path, {"a.rs": "pub enum Kind { Plain, Orgmode }\nfn f() -> Kind { Kind::Orgmode }\n"})
    assert exact_edit("rename the enum variant Kind::Orgmode to Org", repo) is None
    with pytest.raises(GenerationFailed, match="AbsentName"):
        exact_edit("rename AbsentName to OtherName", repo)


@pytest.mark.parametrize(
    ("task", "old", "new"),
    [
        ("raise the max retries to 5", "MAX_RETRIES = 3", "MAX_RETRIES = 5"),
        ("set the retry limit to 8 attempts", "RETRY_LIMIT = 4", "RETRY_LIMIT = 8"),
        ("raise the max entries to 9", "max_entries = 7", "max_entries = 9"),
    ],
)
def test_words_that_are_the_name_fit_better_than_synonyms(tmp_path, task: str, old: str, new: str) -> None:
    text = "MAX_RETRIES = 3\nRETRY_LIMIT = 4\nmax_entries = 7\nENTRY_LIMIT = 2\nmax = 1\n"
    assert texts(exact_edit(task, workspace_of(tmp_path, {"a.py": text}))) == {"a.py": text.replace(old, new)}
