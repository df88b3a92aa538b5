import pytest

from repopilot.code import languages
from repopilot.code.syntax import parse, tags


@pytest.mark.parametrize(
    ("path", "language", "kind"),
    [
        ("a/b.py", "python", "code"),
        ("a.d.ts", "typescript", "code"),
        ("Dockerfile", "dockerfile", "code"),
        ("Dockerfile.dev", "dockerfile", "code"),
        ("CMakeLists.txt", "cmake", "code"),
        ("requirements-dev.txt", "requirements", "config"),
        ("requirements/base.in", "requirements", "config"),
        ("go.mod", "gomod", "config"),
        (".env.example", "ini", "config"),
        ("prisma/schema.prisma", "prisma", "schema"),
        ("db/001.sql", "sql", "schema"),
        ("README", "text", "doc"),
        ("docs/a.MD", "markdown", "doc"),
        ("docs/index.html", "html", "doc"),
        ("app/index.html", "html", "code"),
        ("Makefile", "make", "code"),
    ],
)
def test_path_tells_language_and_kind(path, language, kind):
    assert languages.language_of(path) == language
    assert languages.file_kind(path) == kind


@pytest.mark.parametrize("path", ["a.png", "a", "x/.git", "a.", "archive.tar.gz", "lib.so.1"])
def test_unknown_files_have_no_language(path):
    assert languages.language_of(path) is None


@pytest.mark.slow
def test_more_than_forty_languages_and_every_grammar_loads():
    names = languages.languages()
    assert len(names) >= 40
    with_grammar = [name for name in names if languages.grammar(name)]
    assert len(with_grammar) >= 14
    for name in with_grammar:
        assert parse(b"\n", name, 5) is not None
        assert tags(name) is not None


def test_grammars_that_hang_are_not_allowed():
    assert languages.grammar("cobol") is None
    assert parse(b"x", "cobol", 1) is None


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "test_a.py",
        "a_test.go",
        "src/a.test.ts",
        "types/a.test-d.ts",
        "src/__tests__/a.js",
        "spec/a_spec.rb",
        "a.spec.js",
        "src/test/java/com/A.java",
        "com/ShopTest.java",
        "lib/conftest.py",
        "test/app.js",
        "pkg/tests.py",
        "runtests.py",
        "t/unit/app.py",
        "src/events-test.ts",
        "lib/test-events.js",
        "tests/test-events.ts",
    ],
)
def test_test_paths(path):
    assert languages.is_test_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/test-events.ts",
        "cli/test_routing.go",
        ".github/workflows/test-all.yml",
        "fuzzing/parse.py",
        "src/testify.py",
        "latest.py",
        "contest/a.py",
        "src/attest.ts",
        "protest.go",
        "src/testing.py",
        "src/t/app.py",
    ],
)
def test_not_test_paths(path):
    assert not languages.is_test_path(path)


@pytest.mark.parametrize("path", ["LICENSE-MIT", "MIT-LICENSE", "COPYING.LESSER", "lib/LICENCE.BSD", "UNLICENSE"])
def test_licences_are_texts_whatever_they_are_called(path):
    assert languages.language_of(path) == "text" and languages.is_licence_path(path)
    assert not languages.is_licence_path("licensed") and languages.language_of("license.py") == "python"


def test_languages_are_called_as_their_users_write_them():
    assert [languages.display_name(name) for name in ("rust", "cpp", "typescript")] == ["Rust", "C++", "TypeScript"]


def test_examples_and_docs():
    assert languages.is_example_path("examples/a.py")
    assert languages.is_example_path("_examples/rest/main.go")
    assert languages.is_example_path("fuzzing/afl.c")
    assert not languages.is_example_path("src/example.py")
    assert languages.is_example_path("fuzz/fuzz_targets/parse.rs") and languages.is_example_path("json_fuzzer.cc")
    assert not languages.is_product_path("fuzzing/parse.py") and languages.is_product_path("src/fuzz.py")
    package = "src/main/java/org/springframework/samples/petclinic/tests/Owner.java"
    assert not languages.is_example_path(package) and not languages.is_test_path(package)
    assert languages.is_example_path(f"samples/shop/{package}")
    assert languages.is_doc_path("docs/conf.py")
    assert languages.is_doc_path("README.md")
    assert not languages.is_doc_path("src/docs.py")


@pytest.mark.parametrize(
    ("path", "signature", "public"),
    [
        ("a.c", "static int own(void)", False),
        ("a.c", "inline static int own(void)", False),
        ("a.c", "int statically(void)", True),
        ("a.h", "static inline int own(void)", True),
    ],
)
def test_what_is_static_in_c_is_seen_in_its_file_only(path, signature, public):
    assert languages.is_public("own", signature, path) is public
