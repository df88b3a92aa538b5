"""Data of strangers: whatever is wrong with it is one kind of error, and no reader of a manifest ends with another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.formats.data_formats import from_json, from_toml
from repopilot.code.formats.yaml_document import from_yaml
from repopilot.code.python_ast import parse_expression, parse_python
from repopilot.project.manifest import read_manifest
from repopilot.project.project_version import declared_version
from repopilot.project.python_project import read_project

DEEP, DIGITS = "[" * 5_000, "9" * 5_000
MANIFESTS = "package.json pyproject.toml Cargo.toml composer.json setup.cfg setup.py".split()


@pytest.mark.slow
@pytest.mark.parametrize("read", [from_json, from_toml, from_yaml])
@pytest.mark.parametrize(
    "text", [DEEP, "a = " + DEEP, "{" * 20_000, f"a: {DIGITS}", f"a = {DIGITS}", DIGITS, "2001-99-99", "&a [*a"]
)
def test_what_cannot_be_read_is_a_value_error(read, text: str) -> None:
    try:
        read(text)
    except ValueError:
        return


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", '"a b"', "'a'", "a "])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[{}]]", "x = {{ {} = 1 }}", "[t]\nx = 1\n{} = 1"])
def test_a_key_of_toml_with_ten_thousands_of_parts_is_refused_unread(name: str, form: str) -> None:
    many = ".".join([name] * 200_000)
    with pytest.raises(ValueError, match="parts"):
        from_toml(form.format(many))
    few = ".".join([f"b{number}" for number in range(90)])
    assert from_toml(f'text = "{"a." * 90}"\n{few} = 1')["text"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a" * 900_000, "a." * 99 + "\n", '"' * 900_000, "a " * 400_000, "a" + " " * 900_000])
def test_a_text_without_such_a_key_is_looked_through_once(text: str) -> None:
    with pytest.raises(ValueError):
        from_toml(text)


def test_what_yaml_merges_does_not_double_with_every_line() -> None:
    lines = ["a0: &a0 {k: 1}", *(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
    assert from_yaml("\n".join([*lines, "packages: [web]"]))["packages"] == ["web"]


@pytest.mark.parametrize("parse", [parse_python, parse_expression])
@pytest.mark.parametrize(
    "text", ["(" * 500, "-" * 200_000 + "1", "a" + ".a" * 100_000, "x\0y", "'\ud800'", "1 +", DIGITS]
)
def test_what_python_cannot_parse_is_a_syntax_error(parse, text: str) -> None:
    with pytest.raises(SyntaxError):
        parse(text)


@pytest.mark.slow
@given(
    st.sampled_from(MANIFESTS),
    st.text(max_size=200) | st.sampled_from([DEEP, DIGITS, '{"dependencies": 3}', '{"a": [[]]}']),
)
def test_any_text_may_call_itself_a_manifest(path: str, text: str) -> None:
    read_manifest(path, text)
    read_project(lambda asked: text if asked == path else None)


def test_a_long_number_is_no_version() -> None:
    files = {"pyproject.toml": f'[project]\nname = "shop"\ndependencies = ["a=={DIGITS}"]\n', "VERSION": DIGITS}
    assert declared_version("shop", files.get) == ""
    read_project(files.get)


@pytest.mark.slow
def test_requirements_that_go_on_for_a_megabyte_are_bounded_work() -> None:
    read_project(lambda path: "48\n" * 100_000 if path.endswith(".txt") else None)
