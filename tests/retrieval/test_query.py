"""What a query is taken for: kinds, filters, phrases, stack frames, languages, and bounds on hostile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.query.parse import HEAD, MOST_TERMS, TAIL, Filters, parse
from repopilot.retrieval.query.stack_frames import Frame

KINDS = {
    "overview": [
        "what is this project?",
        "how is it structured?",
        "how do I run it?",
        "how does it work?",
        "what's this for?",
        "How do I install it?",
        "give me an overview of this repository",
        "explain the project structure",
        "à quoi sert ce dépôt ?",
        "comment lancer ce projet ?",
        "comment ce projet est-il organisé ?",
        "quelle est l'architecture du projet ?",
    ],
    "symbol": [
        "where is make_context implemented?",
        "Context.invoke",
        "parse()",
        "où est défini `Blueprint` ?",
        "what raises BadParameter?",
    ],
    "path": ["src/flask/app.py", "what does src/flask/app.py do?"],
    "natural": [
        "How is the request context pushed?",
        "what does the package loader do?",
        "what does walk do?",
        "how does partition work?",
        "what is the structure of the tree nodes?",
        "où sont vérifiés les jetons ?",
        "the",
        "???",
        "",
        "你好世界",
        "a.*b[",
        "TypeError: cannot unpack non-iterable NoneType object",
        "which tables reference users?",
        "quelles sont les clés étrangères de la table orders ?",
    ],
    "task": [
        "Fix the return value of add_completion_class",
        "fix(router): handle trailing slash",
        "Add overview of the code",
        "Cookies in redirects\n\n* keep them\n* test it",
    ],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_a_query_has_its_kind(kind, text):
    assert parse(text).kind == kind


def test_filters_are_taken_out_of_the_text():
    query = parse('file:src/*.py lang:Python kind:function symbol:Cart.add path:"my dir/x.py" discount')
    assert query.filters == Filters(("src/*.py", "my dir/x.py"), ("python",), ("function",), ("Cart.add",))
    assert set(query.terms) == {"discount"}
    assert query.names[0] == "Cart.add"


def test_what_only_looks_like_a_filter_stays_text():
    query = parse("fix: file: handle is closed twice")
    assert not query.filters
    assert "close" in query.terms


def test_quoted_phrases_in_several_kinds_of_quotes():
    assert parse('where does "no such command" come from, or « pas de commande » ?').phrases == (
        "no such command",
        "pas de commande",
    )


def test_common_words_weigh_nothing_and_words_of_change_half():
    assert dict(parse("How do we update the session cookie?").terms) == {"session": 1.0, "cooki": 1.0, "updat": 0.5}


def test_identifiers_give_themselves_and_their_parts():
    terms = parse("why is parseHTTPHeader slow").terms
    assert {"parsehttpheader", "pars", "http", "header"} <= terms.keys()
    assert terms["http"] > terms["slow"]


def test_the_scope_of_a_conventional_commit():
    assert parse("feat(router)!: drop regex routes").scope == "router"
    assert parse("KeyError: (x): y").scope == ""


@pytest.mark.parametrize(
    ("text", "tests", "docs"),
    [
        ("where are the tests of the router?", True, False),
        ("quels tests couvrent le parseur ?", True, False),
        ("session tests", True, False),
        ("what does the documentation say about sessions?", False, True),
        ("que dit la documentation sur les sessions ?", False, True),
        ("how does the session cookie work?", False, False),
        ("Fix failing tests", False, False),
        ("Use a list instead of a tuple so that the tests pass on Windows as well", False, False),
    ],
)
def test_questions_about_tests_and_documentation(text, tests, docs):
    query = parse(text)
    assert (query.wants_tests, query.wants_docs) == (tests, docs)


def test_french_is_recognised_and_translated():
    query = parse("comment est géré le délai d'attente des requêtes ?")
    assert query.language == "fr"
    assert {"handl", "timeout", "request"} <= query.terms.keys()
    assert query.terms["request"] == 1.0
    assert parse("how are request timeouts handled?").language == "en"


TRACEBACKS = {
    "python": (
        'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\n    run()\n'
        '  File "/srv/app/shop/cart.py", line 17, in total\n    raise EmptyCart\nshop.cart.EmptyCart: nothing to pay',
        [Frame("/srv/app/shop/cart.py", 17, "total"), Frame("/srv/app/main.py", 3, "<module>")],
    ),
    "javascript": (
        "TypeError: x is undefined\n    at Router.handle (/srv/lib/router/index.js:177:13)\n"
        "    at async file:///srv/app.mjs:5:1\n    at node:internal/main:1:2",
        [Frame("/srv/lib/router/index.js", 177, "Router.handle"), Frame("/srv/app.mjs", 5)],
    ),
    "java": (
        'Exception in thread "main" java.lang.NullPointerException\n\tat com.shop.Cart.total(Cart.java:42)\n'
        "\tat java.base/java.lang.Thread.run(Thread.java:833)",
        [Frame("Cart.java", 42, "com.shop.Cart.total"), Frame("Thread.java", 833, "java.base/java.lang.Thread.run")],
    ),
    "go": (
        "panic: runtime error\n\ngoroutine 1 [running]:\nmain.(*Cart).Total(0xc000)\n\t/src/shop/cart.go:42 +0x1d\n",
        [Frame("/src/shop/cart.go", 42, "main.(*Cart).Total")],
    ),
    "rust": (
        "thread 'main' panicked at src/cart.rs:17:9:\nout of bounds\n   3: shop::total\n       at ./src/main.rs:4:5",
        [Frame("src/cart.rs", 17), Frame("./src/main.rs", 4, "shop::total")],
    ),
    "ruby": (
        "app.rb:3:in `total': no items (RuntimeError)\n\tfrom main.rb:9:in `run'",
        [Frame("app.rb", 3, "total"), Frame("main.rb", 9, "run")],
    ),
}


@pytest.mark.parametrize("name", TRACEBACKS)
def test_tracebacks_give_their_frames_innermost_first(name):
    text, frames = TRACEBACKS[name]
    query = parse(text)
    assert query.kind == "traceback"
    assert list(query.frames) == frames


def test_the_words_of_a_traceback_are_those_of_the_error():
    terms = parse(TRACEBACKS["python"][0]).terms
    assert {"emptycart", "pay", "total"} <= terms.keys()
    assert "srv" not in terms


def test_the_message_beside_the_place_of_an_error_counts():
    ruby = "app.rb:3:in `total': basket is empty (RuntimeError)\n\tfrom main.rb:9:in `run'"
    php = "PHP Fatal error:  Uncaught TypeError: basket is empty in C:\\app\\cart.php:3\nStack trace:\n#0 {main}"
    for text in (ruby, php):
        assert {"basket", "empti"} <= parse(text).terms.keys()


def test_a_question_about_a_line_is_not_a_traceback():
    for text in ("what happens in src/cart.php:12", "why does\n    cart.go:12\nfail?", "look at shop/cart.py:12: why?"):
        assert parse(text).kind != "traceback"


def test_a_java_frame_names_its_package_folder():
    frame = Frame("Cart.java", 42, "com.shop.Cart.total")
    assert list(frame.suffixes) == ["com/shop/Cart.java", "shop/Cart.java", "Cart.java"]


@pytest.mark.parametrize("unit", ["word ", "(", '"x', "/a", "a.", "at ", "é", "名", "a_b(c) ", "\n* ", 'File "'])
def test_of_a_very_long_query_head_and_tail_are_read(unit):
    query = parse(unit * (200_000 // len(unit)))
    assert len(query.terms) <= MOST_TERMS
    assert f"{HEAD:,}" in query.notes[0] and f"{TAIL:,}" in query.notes[0]


@pytest.mark.slow
@given(st.text(max_size=400))
def test_any_text_can_be_parsed(text):
    query = parse(text)
    assert query.text == text
    assert all(weight > 0 for weight in query.terms.values())
    assert parse(text) == query


@pytest.mark.parametrize("unit", ["\n", " \n", " "])
def test_a_subject_with_thousands_of_blank_lines_below_is_no_commit_message(unit):
    # An ambiguous pattern would try every way of sharing the blank lines out and take ten seconds.
    assert parse("retries of the client" + unit * 9000).kind == "natural"
