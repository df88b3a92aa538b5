"""Classifies files by their paths: language, kind (code, documentation, configuration, schema), and whether they are
tests or examples. Pure over strings; cheap to import."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

FileKind = Literal["code", "doc", "config", "schema"]

PATHS_CACHED = 1 << 16
"""How many paths the path functions cache: a walk of a large repository calls them for every path in turn."""

TYPESCRIPT = ("typescript", "tsx")
SCRIPTS = ("javascript", *TYPESCRIPT)
COMPONENTS = ("vue", "svelte")  # their files hold scripts
C_FAMILY = ("c", "cpp")
JVM = ("java", "kotlin", "scala")
_FAMILIES = {
    **dict.fromkeys((*SCRIPTS, *COMPONENTS), "js"),
    **dict.fromkeys(C_FAMILY, "c"),
    **dict.fromkeys(JVM, "jvm"),
}

# language: (kind, tree-sitter grammar or "", suffixes and whole file names in lower case)
_LANGUAGES: dict[str, tuple[FileKind, str, str]] = {
    "python": ("code", "python", ".py .pyi .pyw .pyx .pxd .ipynb wscript sconstruct sconscript"),
    "javascript": ("code", "javascript", ".js .mjs .cjs .jsx .es6"),
    "typescript": ("code", "typescript", ".ts .mts .cts"),
    "tsx": ("code", "tsx", ".tsx"),
    "java": ("code", "java", ".java"),
    "kotlin": ("code", "kotlin", ".kt .kts"),
    "go": ("code", "go", ".go"),
    "rust": ("code", "rust", ".rs"),
    "c": ("code", "c", ".c .h"),
    "cpp": ("code", "cpp", ".cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .inl .ipp .tpp .cu .cuh .ino"),
    "csharp": ("code", "csharp", ".cs .csx"),
    "ruby": ("code", "ruby", ".rb .rake .gemspec .ru .rbi gemfile rakefile vagrantfile podfile brewfile fastfile"),
    "php": ("code", "php", ".php .phtml .php5 .inc"),
    "swift": ("code", "swift", ".swift"),
    "scala": ("code", "scala", ".scala .sc .sbt"),
    "bash": ("code", "bash", ".sh .bash .zsh .ksh .bats configure"),
    "fish": ("code", "", ".fish"),
    "powershell": ("code", "", ".ps1 .psm1 .psd1"),
    "batch": ("code", "", ".bat .cmd"),
    "perl": ("code", "", ".pl .pm .t"),
    "lua": ("code", "", ".lua"),
    "r": ("code", "", ".r"),
    "julia": ("code", "", ".jl"),
    "dart": ("code", "", ".dart"),
    "elixir": ("code", "", ".ex .exs"),
    "erlang": ("code", "", ".erl .hrl"),
    "haskell": ("code", "", ".hs .lhs"),
    "ocaml": ("code", "", ".ml .mli"),
    "fsharp": ("code", "", ".fs .fsi .fsx"),
    "clojure": ("code", "", ".clj .cljs .cljc .edn"),
    "lisp": ("code", "", ".lisp .lsp .cl .el .scm .rkt"),
    "groovy": ("code", "", ".groovy .gradle jenkinsfile"),
    "objc": ("code", "", ".m .mm"),
    "zig": ("code", "", ".zig"),
    "nim": ("code", "", ".nim .nims"),
    "d": ("code", "", ".d"),
    "v": ("code", "", ".v .sv .svh .vhd .vhdl"),
    "fortran": ("code", "", ".f .f90 .f95 .f03 .f08 .for"),
    "pascal": ("code", "", ".pas .pp .dpr"),
    "ada": ("code", "", ".adb .ads"),
    "cobol": ("code", "", ".cob .cbl .cpy"),
    "assembly": ("code", "", ".s .asm"),
    "solidity": ("code", "", ".sol"),
    "vb": ("code", "", ".vb .bas"),
    "tcl": ("code", "", ".tcl"),
    "awk": ("code", "", ".awk"),
    "vim": ("code", "", ".vim .vimrc"),
    "crystal": ("code", "", ".cr"),
    "cython": ("code", "", ".pxi"),
    "glsl": ("code", "", ".glsl .vert .frag .hlsl .wgsl .metal"),
    "vue": ("code", "", ".vue"),
    "svelte": ("code", "", ".svelte"),
    "astro": ("code", "", ".astro"),
    "html": ("code", "", ".html .htm .xhtml"),
    "template": (
        "code",
        "",
        ".j2 .jinja .jinja2 .erb .ejs .hbs .mustache .liquid .tmpl .tpl .gohtml .twig .haml .slim .pug .mako",
    ),
    "css": ("code", "", ".css .scss .sass .less .styl"),
    "starlark": ("code", "", ".bzl .star build build.bazel workspace"),
    "make": ("code", "make", ".mk .mak makefile makefile.am gnumakefile"),
    "just": ("code", "", "justfile .just"),
    "cmake": ("code", "", ".cmake cmakelists.txt"),
    "meson": ("code", "", "meson.build meson_options.txt"),
    "nix": ("code", "", ".nix"),
    "dockerfile": ("code", "dockerfile", ".dockerfile dockerfile containerfile"),
    "prisma": ("schema", "", ".prisma"),
    "sql": ("schema", "", ".sql .ddl .psql .mysql .pgsql"),
    "graphql": ("schema", "", ".graphql .gql .graphqls"),
    "protobuf": ("schema", "proto", ".proto"),
    "thrift": ("schema", "", ".thrift .avdl .capnp .fbs"),
    "markdown": ("doc", "", ".md .markdown .mdx .mkd .qmd .rmd"),
    "rst": ("doc", "", ".rst"),
    "asciidoc": ("doc", "", ".adoc .asciidoc"),
    "org": ("doc", "", ".org"),
    "tex": ("doc", "", ".tex"),
    "text": (
        "doc",
        "",
        ".txt .text readme license licence copying authors contributors changelog changes notice "
        "news todo install maintainers codeowners",
    ),
    "json": ("config", "", ".json .jsonc .json5 .webmanifest .babelrc .eslintrc .prettierrc"),
    "yaml": ("config", "", ".yaml .yml .clang-format .clang-tidy"),
    "toml": ("config", "", ".toml pipfile"),
    "ini": (
        "config",
        "",
        ".ini .cfg .conf .properties .editorconfig .flake8 .pylintrc .gitmodules .npmrc .env.example .env.sample "
        ".coveragerc .gitattributes",
    ),
    "gomod": ("config", "", "go.mod go.work"),
    "requirements": ("config", "", ".in requirements.txt constraints.txt procfile manifest.in"),
    "xml": ("config", "", ".xml .xsd .xsl .xslt .csproj .fsproj .vbproj .props .targets .plist .resx .pom"),
    "hcl": ("config", "hcl", ".tf .tfvars .hcl .nomad"),
    "jsonnet": ("config", "", ".jsonnet .libsonnet .cue .dhall"),
}


_BY_KEY = {key: language for language, (_, _, keys) in _LANGUAGES.items() for key in keys.split()}
_SUFFIXES = {key: language for key, language in _BY_KEY.items() if key.startswith(".")}
_NAMES = {key: language for key, language in _BY_KEY.items() if not key.startswith(".")}
_INTERPRETER = re.compile(
    r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+|\w+=\S*[ \t]+)*(?:\S*/)?)?(?P<program>[A-Za-z]+(?:-[A-Za-z]+)*)"
)
_INTERPRETERS = {
    program: language
    for language, programs in {
        "python": "python pypy ipython uv pipx",
        "bash": "sh bash dash ash zsh ksh bats",
        "javascript": "node nodejs bun",
        "typescript": "deno ts-node tsx",
        "ruby": "ruby jruby",
        "php": "php",
        "perl": "perl",
        "lua": "lua luajit",
        "fish": "fish",
        "powershell": "pwsh powershell",
        "r": "rscript",
        "julia": "julia",
        "awk": "awk gawk mawk",
        "tcl": "tclsh wish expect",
        "make": "make",
        "groovy": "groovy",
    }.items()
    for program in programs.split()
}
_LICENCE = re.compile(r"(?:\w+-)?(?:licen[cs]e|copying|unlicense)(?:[.-][\w-]+)*", re.I)
_REQUIREMENTS = re.compile(r"(^|[-_./])(requirements|constraints)[^/]*\.(txt|in)$")
_TEST_FOLDER = re.compile(
    r"^(?:testing|t)/|(^|/)(tests?|specs?|__tests__|e2e|testdata|test_data|test-utils|unittests?|cypress)/"
    r"|(^|/)src/(?-i:\w+Test|testFixtures)/",
    re.I,
)
_TEST_NAME = re.compile(
    r"(^|/)(test_[^/]*|tests|conftest)\.py$|[_-]tests?\.\w+$|[._-]spec\.\w+$|\.test(?:-d)?\.\w+$|(^|/)test[_-][^/]*\.(?!([cm]?ts|tsx|ya?ml|go)$)\w+$|"
    r"(^|/)(run_?)?tests?\.(?!go$)\w+$|[_-]unittest\.\w+$|\.cy\.[jt]sx?$",
    re.IGNORECASE,
)
_TEST_CAMEL = re.compile(
    r"(^|/)(Test[A-Z]\w*|\w*[a-z0-9](Tests?|Spec|IT|TestCase))\.(java|kt|kts|cs|scala|swift|php|groovy|cpp|cc|h|m)$"
)
_EXAMPLE = re.compile(
    r"(^|/)_*(examples?|samples?|demos?|tutorials?|cookbook|playground|docs_src|benchmarks?|bench|"
    r"fuzz(ing|ers?|[_-]targets?)?)/|_fuzzer\.\w+$",
    re.I,
)
_MAIN_SOURCES = re.compile(r"^(.*/)?src/main/[^/]+/")
"""Where Maven and Gradle expect a product's code: the folders below are package names, even those called `test` or
`example`."""
_DOC_FOLDER = re.compile(r"(^|/)(docs?|documentation|website|man|wiki)/", re.IGNORECASE)


@lru_cache(maxsize=PATHS_CACHED)
def language_of(path: str) -> str | None:
    """The language of a file by its name; None for an unknown name, whose file is not read.

    Whole names (`Dockerfile`) come first, then the longest suffix (`.env.example` before `.example`).
    """
    name = path.rsplit("/", 1)[-1].lower()
    if name in _NAMES:
        return _NAMES[name]
    if _REQUIREMENTS.search(path.lower()):
        return "requirements"
    at = name.find(".")
    while at >= 0:
        language = _SUFFIXES.get(name[at:])
        if language:
            return language
        at = name.find(".", at + 1)
    if is_licence_path(name):
        return "text"
    return "dockerfile" if name.startswith(("dockerfile.", "containerfile.")) else None


def is_licence_path(path: str) -> bool:
    """Whether a path is that of a licence's text by its usual names: `LICENSE-MIT`, `MIT-LICENSE`, `COPYING.LESSER`."""
    return _LICENCE.fullmatch(path.rpartition("/")[2]) is not None


_DISPLAY_NAMES = {
    "awk": "AWK",
    "cmake": "CMake",
    "cobol": "COBOL",
    "cpp": "C++",
    "csharp": "C#",
    "css": "CSS",
    "fsharp": "F#",
    "glsl": "GLSL",
    "graphql": "GraphQL",
    "hcl": "HCL",
    "html": "HTML",
    "javascript": "JavaScript",
    "objc": "Objective-C",
    "ocaml": "OCaml",
    "php": "PHP",
    "powershell": "PowerShell",
    "protobuf": "Protocol Buffers",
    "sql": "SQL",
    "tsx": "TSX",
    "typescript": "TypeScript",
    "vb": "Visual Basic",
    "vim": "Vim script",
}
"""Names other than the capitalised key."""


def language_of_script(first_line: str) -> str | None:
    """The language of a file whose first line says which program runs it (`#!/usr/bin/env python3`); else None."""
    found = _INTERPRETER.match(first_line)
    return _INTERPRETERS.get(found["program"].lower()) if found else None


def language_in(path: str, text: str) -> str | None:
    """The language of a file by its name, or by the program that its first line names; None for none."""
    return language_of(path) or language_of_script(text[:200].split("\n", 1)[0])


def suffix_of(name: str) -> str:
    """The file suffix of a programming language, given its label on a code block (`js`, `javascript`); else ''."""
    language = name if name in _LANGUAGES else _SUFFIXES.get(f".{name}", "")
    kind, _, keys = _LANGUAGES.get(language, ("doc", "", ""))
    return next((key for key in keys.split() if key.startswith(".")), "") if kind == "code" else ""


def display_name(language: str) -> str:
    """A language as its users write it: `C++` for `cpp`."""
    return _DISPLAY_NAMES.get(language, language.capitalize())


def family(language: str) -> str:
    """The family of a language; languages of one family can refer to each other's definitions."""
    return _FAMILIES.get(language, language)


def languages() -> tuple[str, ...]:
    """The names of all known languages."""
    return tuple(_LANGUAGES)


def grammar(language: str) -> str | None:
    """The tree-sitter grammar of a language; None for languages that are split by lines.

    An allow-list on purpose: some of the bundled grammars (COBOL) never return on ordinary input.
    """
    return _LANGUAGES.get(language, ("code", "", ""))[1] or None


def reads_symbols(language: str) -> bool:
    """Whether a language's definitions are read: by a grammar or, in a schema, line by line."""
    kind, parser, _ = _LANGUAGES.get(language, ("code", "", ""))
    return bool(parser) or kind == "schema"


def folder_is_module(language: str) -> bool:
    """Whether the files of one folder are one module, as the packages of Java and Go are."""
    return language in (*JVM, "csharp", "go")


def file_kind(path: str) -> FileKind:
    """The kind of a file: code, documentation, configuration or schema. Unknown languages count as code."""
    language = language_of(path)
    if language == "html" and _DOC_FOLDER.search(path):
        return "doc"
    return _LANGUAGES[language][0] if language else "code"


@lru_cache(maxsize=1 << 14)
def is_product_path(path: str) -> bool:
    """Whether a path belongs to the product itself: no test, example, benchmark or documentation."""
    return not (is_test_path(path) or is_example_path(path) or is_doc_path(path))


def dotted(name: str) -> str:
    """A qualified name in dots, whatever its language's notation: `Class::member`, `Class#member`, `object->member`."""
    return re.sub(r"::|->|#(?=\w)", ".", name)


@lru_cache(maxsize=1 << 14)
def is_test_path(path: str) -> bool:
    """Whether a test runner of some language collects a file by its path, or its folder holds tests. Names like
    `test-events.ts` don't count: TypeScript's runners don't collect them, and the module may be about tests."""
    if main := _MAIN_SOURCES.match(path):
        return bool(_TEST_FOLDER.search(main[1] or ""))
    return is_named_as_test(path) or bool(_TEST_FOLDER.search(path))


def is_named_as_test(path: str) -> bool:
    """Whether the name of a file says that it tests; not each file in a folder of tests has such a name."""
    return bool(_TEST_NAME.search(path) or _TEST_CAMEL.search(path))


def is_example_path(path: str) -> bool:
    """Whether a path is that of an example, sample, demonstration, benchmark or fuzz target."""
    main = _MAIN_SOURCES.match(path)
    return bool(_EXAMPLE.search(main[1] or "" if main else path))


def is_doc_path(path: str) -> bool:
    """Whether a path is that of documentation, by its language or its folder."""
    return file_kind(path) == "doc" or bool(_DOC_FOLDER.search(path))


def is_public(symbol: str, signature: str, path: str) -> bool:
    """Whether a definition can be named from outside its file, by its language's conventions.

    Args:
        symbol: its qualified name.
        signature: as far as it is known.
        path: its file.
    """
    if is_test_path(path):
        return False
    parts = symbol.split(".")
    language = language_of(path)
    if language == "go":
        return all(part[:1].isupper() for part in parts)
    if language == "rust" and signature:
        return signature.startswith("pub")
    if language == "c" and not path.endswith(".h"):
        return not re.match(r"(?:inline\s+)?static\b", signature)
    if language in (*JVM, "csharp", "swift", "php"):
        return not re.search(r"\b(private|fileprivate)\b", signature)
    return not any(part.startswith(("_", "#")) and not part.startswith("__") for part in parts)
