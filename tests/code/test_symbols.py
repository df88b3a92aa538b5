"""Each language's sample against its outline, written down in samples/outlines.txt and read by a person."""

from pathlib import Path

import pytest

from repopilot.code import languages
from repopilot.code.file_analysis import FileAnalysis
from repopilot.code.receivers import receiver as receiver_before
from repopilot.code.split import analyse

SAMPLES = Path(__file__).parent / "samples"


def _expected() -> dict[str, list[str]]:
    sections = (SAMPLES / "outlines.txt").read_text().strip().split("\n\n")
    return {s.split(":")[0].removeprefix("# "): s.split("\n")[1:] for s in sections}


def _analyse(name: str) -> FileAnalysis:
    return analyse(name, (SAMPLES / name).read_text(), languages.language_of(name) or "", "code")


def _used(analysis: FileAnalysis, kind: str) -> str:
    return " ".join(
        (f"{u.receiver}." if u.receiver else "") + u.name + (f"<{u.scope}>" if u.scope else "")
        for u in analysis.uses
        if u.kind == kind
    )


def _outline(analysis: FileAnalysis) -> list[str]:
    symbols = [f"{s.kind} {s.qualified} {s.start_line}-{s.end_line} | {s.signature}" for s in analysis.symbols]
    used = [f"{kind}: {_used(analysis, kind)}" for kind in ("call", "inherit")]
    imports = []
    for found in analysis.imports:
        names = ", ".join(name if name == local else f"{name} as {local}" for name, local in found.names)
        imports.append(
            f"import {found.module}" + (f" ({names})" if names else "") + (f" as {found.alias}" if found.alias else "")
        )
    return symbols + used + imports


@pytest.mark.parametrize("name", sorted(_expected()))
def test_outline(name):
    analysis = _analyse(name)
    assert analysis.parsed
    assert _outline(analysis) == [line.rstrip("\n") for line in _expected()[name]]


def test_every_sample_has_an_outline():
    missing = sorted(p.name for p in SAMPLES.iterdir() if p.suffix != ".txt" and p.name not in _expected())
    outlines = ("\n".join([f"# {name}: {languages.language_of(name)}", *_outline(_analyse(name))]) for name in missing)
    assert not missing, "read these, correct the queries, and add them to outlines.txt:\n\n" + "\n\n".join(outlines)


def test_every_language_with_a_grammar_has_a_sample():
    sampled = {languages.language_of(name) for name in _expected()}
    assert sampled == {name for name in languages.languages() if languages.grammar(name)}


def test_references_have_kind_and_scope():
    references = {(r.name, r.kind, r.scope) for r in _analyse("shop.py").references}
    assert {
        ("price_of", "import", ""),
        ("price_of", "call", "Basket.total"),
        ("Base", "inherit", "Basket"),
        ("LIMIT", "use", "Basket.pay.check"),
    } <= references


def _symbols(text: str, language: str) -> list[str]:
    return [s.qualified for s in analyse("lib/x", text, language, "code").symbols]


@pytest.mark.parametrize(
    ("text", "language", "symbols"),
    [
        ("module.exports = function createApp() {}\n", "javascript", ["createApp"]),
        ("module.exports = function () {}\n", "javascript", ["x"]),
        ("exports.a = exports.b = function () {};\n", "javascript", ["a", "b"]),
        ("exports.tag = makeTag({});\nmodule.exports.b = 1;\nmodule.exports = { b };\n", "javascript", ["tag", "b"]),
        ("this.run = () => 1;\n", "javascript", ["run"]),
        ("const x = require('y');\nconst z = 1;\n", "javascript", ["z"]),
        ("a = 1\na = 2\n", "python", ["a"]),
        ("impl fmt::Display for Foo { fn fmt(&self) {} }\n", "rust", ["Foo.fmt"]),
        ("func (s *Stack[T]) Push(x T) {}\n", "go", ["Stack.Push"]),
        ("void A::B::run() {}\n", "cpp", ["A.B.run"]),
        ("app.routes.add = function () {};\n", "javascript", ["app.routes.add"]),
        ("type (\n\tA struct{}\n\tB interface{}\n)\n", "go", ["A", "B"]),
        ("#ifndef A_H\n#define A_H\nint run(int);\nchar **names(void);\n#endif\n", "c", ["A_H", "run", "names"]),
        ('extern "C" {\nint run(void);\n}\nvoid f() { Box box(size()); }\n', "cpp", ["run", "f"]),
        ("typedef int (*handler)(int);\ntypedef char *text;\n", "c", ["handler", "text"]),
        ("class Card\n  define_method(:charge) { 1 }\nend\n", "ruby", ["Card", "Card.charge"]),
        ("typedef struct { int x, *y; } point;\nint verbose;\n", "c", ["point", "point.x", "point.y", "verbose"]),
        ("typedef struct node { struct node *next; } node;\n", "c", ["node", "node", "node.next"]),
        ("type Size = { wide: number } | { deep: number };\n", "typescript", ["Size", "Size.wide", "Size.deep"]),
        (
            "class Cart { constructor(private limit: number, n: number) {} }\n",
            "typescript",
            ["Cart", "Cart.constructor", "Cart.limit"],
        ),
        ("case class Pair(left: Int)\nclass Box(val n: Int, m: Int)\n", "scala", ["Pair", "Pair.left", "Box", "Box.n"]),
        ("protocol Named { var name: String { get } }\n", "swift", ["Named", "Named.name"]),
    ],
)
def test_special_definitions(text, language, symbols):
    assert _symbols(text, language) == symbols


def test_headers_of_c_plus_plus_are_distinguished_from_c():
    analysis = analyse("a.h", "class A {\npublic:\n  void run();\n};\n", "c", "code")
    assert analysis.parsed
    assert [s.qualified for s in analysis.symbols] == ["A", "A.run"]
    assert analyse("a.h", "int run(void);\n", "c", "code").language == "c"
    analysis = analyse("a.h", "struct A {\n  virtual int run() const { return 0; }\n};\n", "c", "code")
    assert (analysis.language, [s.qualified for s in analysis.symbols]) == ("cpp", ["A", "A.run"])


def test_syntax_errors_are_noted_and_the_rest_is_read():
    analysis = analyse(
        "a.py", "def good():\n    pass\n\ndef bad(:\n    x =\n\nclass Fine:\n    pass\n", "python", "code"
    )
    assert not analysis.parsed
    assert analysis.notes == ("syntax errors",)
    assert {"good", "Fine"} <= {s.name for s in analysis.symbols}


@pytest.mark.parametrize(
    ("before", "receiver"),
    [
        ("a.b.", "a.b"),
        ("x = self.items?.first.", "self.items.first"),
        ("std::vector::", "std.vector"),
        ("node->next->", "node.next"),
        ("App\\Models\\", "App\\Models"),
        ("table:", "table"),
        ("call().", "call()"),
        ("a.call(f(x), 1).", "a.call()"),
        ("a[0](1).", ")"),
        ("a - b > ", ""),
        ("x:::", ")"),
        ("w" * 200 + ".", "w" * 79),
    ],
)
def test_receivers_are_read_backwards_from_the_name(before, receiver):
    data = before.encode()
    assert receiver_before(data, len(data)) == receiver


@pytest.mark.parametrize(
    ("language", "text", "signature"),
    [
        ("python", "class A:\n    def f(self):  # quick\n        # and short\n        return 1\n", "def f(self)"),
        (
            "java",
            "class A {\n  @Override // as others do\n  public int f() { return 1; }\n}\n",
            "@Override public int f()",
        ),
    ],
)
def test_a_signature_has_no_comments(language, text, signature):
    symbol = next(s for s in analyse("a", text, language, "code").symbols if s.name == "f")
    assert symbol.signature == signature


def test_a_long_signature_is_kept_whole_without_its_comments():
    names = [f"parameter_number_{n}" for n in range(30)]
    text = "def f(\n" + "".join(f"    {name}=None,  # noqa: ARG001\n" for name in names) + "):\n    pass\n"
    (symbol,) = analyse("a.py", text, "python", "code").symbols
    assert symbol.signature == "def f( " + " ".join(f"{name}=None," for name in names) + " )"
    assert symbol.signature.startswith(symbol.short_signature[:-1]) and len(symbol.short_signature) == 200
    assert symbol.short_signature.endswith("…")
