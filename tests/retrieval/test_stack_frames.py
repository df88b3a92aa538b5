"""Stack frames in the formats of each language: paths of other systems, order, chained exceptions, hostile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.retrieval.query.stack_frames import MOST_FRAMES, Frame, frames, without_frame, without_traces

FORMATS = {
    "python on Windows, with markers": (
        'Traceback (most recent call last):\n  File "C:\\work\\main.py", line 3, in <module>\n    run(x)\n    ^^^^^^\n'
        '  File "C:\\work\\shop\\my cart.py", line 17, in total\n    raise EmptyCart\nEmptyCart',
        [("C:\\work\\shop\\my cart.py", 17, "total"), ("C:\\work\\main.py", 3, "<module>")],
    ),
    "python, an exception while another is handled": (
        'Traceback (most recent call last):\n  File "/a/low.py", line 1, in low\n    x\nKeyError: 1\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "/a/main.py", line 2, in main\n    y\n'
        '  File "/a/high.py", line 3, in high\n    raise Wrapped from error\nWrapped: 1',
        [("/a/high.py", 3, "high"), ("/a/main.py", 2, "main"), ("/a/low.py", 1, "low")],
    ),
    "an exception group": (
        '  + Exception Group Traceback (most recent call last):\n  |   File "/a/b.py", line 4, in b\n  |     raise G',
        [("/a/b.py", 4, "b")],
    ),
    "pytest": (
        "    def test_total():\n>       total([])\n\ntests/test_cart.py:5: \n_ _ _ _ _\n\n"
        "    def total(items):\n>       raise EmptyCart\nE       shop.cart.EmptyCart\n\nshop/cart.py:17: EmptyCart",
        [("shop/cart.py", 17, ""), ("tests/test_cart.py", 5, "")],
    ),
    "pytest, short": (
        "tests/test_cart.py:5: in test_total\n    total([])\nshop/cart.py:17: in total\n    raise EmptyCart\n"
        "E   EmptyCart",
        [("shop/cart.py", 17, "total"), ("tests/test_cart.py", 5, "test_total")],
    ),
    "pytest, a line each": (
        "/srv/shop/cart.py:17: shop.cart.EmptyCart: no items in it",
        [("/srv/shop/cart.py", 17, "")],
    ),
    "a log's record with the container's name": (
        "web_1  | 2026-01-02 ERROR shop: failed\nweb_1  | Traceback (most recent call last):\n"
        'web_1  |   File "/app/shop/cart.py", line 17, in total\nweb_1  |     raise EmptyCart',
        [("/app/shop/cart.py", 17, "total")],
    ),
    "a log's record as JSON": (
        '{"level": "error", "exc": "Traceback (most recent call last):\\n  File \\"/app/main.py\\", line 3, in main\\n'
        '    total([])\\n  File \\"/app/cart.py\\", line 17, in total\\n    raise EmptyCart\\nEmptyCart"}',
        [("/app/cart.py", 17, "total"), ("/app/main.py", 3, "main")],
    ),
    "loguru": (
        '> File "/srv/main.py", line 3, in main\n    total([])\n    └ <function total at 0x7f>\n\n'
        '  File "/srv/cart.py", line 17, in total\n    raise EmptyCart',
        [("/srv/cart.py", 17, "total"), ("/srv/main.py", 3, "main")],
    ),
    "pdb and its where": (
        "  /usr/lib/python3.12/bdb.py(600)run()\n-> exec(cmd, globals, locals)\n  /srv/main.py(3)<module>()\n"
        "-> total([])\n> /srv/shop/cart.py(17)total()\n-> raise EmptyCart\n(Pdb)",
        [
            ("/srv/shop/cart.py", 17, "total"),
            ("/srv/main.py", 3, "<module>"),
            ("/usr/lib/python3.12/bdb.py", 600, "run"),
        ],
    ),
    "pdb on Windows": ("> c:\\work\\shop\\cart.py(17)total()->None", [("c:\\work\\shop\\cart.py", 17, "total")]),
    "IPython": (
        "EmptyCart                                 Traceback (most recent call last)\nCell In[3], line 1\n"
        "----> 1 total([])\n\nFile ~/shop/cart.py:17, in total(items)\n     16 if not items:\n"
        "---> 17     raise EmptyCart",
        [("~/shop/cart.py", 17, "total")],
    ),
    "an older IPython": (
        "<ipython-input-3-1f> in <module>\n----> 1 total([])\n\n~/shop/cart.py in total(items)\n "
        "    15 def total(items):\n     16     if not items:\n---> 17         raise EmptyCart\n",
        [("~/shop/cart.py", 17, "total")],
    ),
    "Sentry": (
        "EmptyCart: no items\n  shop/main.py in main at line 3\n  shop/cart.py in total at line 17\n",
        [("shop/cart.py", 17, "total"), ("shop/main.py", 3, "main")],
    ),
    "Rich": (
        "╭──── Traceback (most recent call last) ────╮\n│ /srv/main.py:3 in <module>       │\n│ ❱ 3 total([])   │\n"
        "│ /srv/shop/cart.py:17 in total                 │\n╰────╯\nEmptyCart",
        [("/srv/shop/cart.py", 17, "total"), ("/srv/main.py", 3, "<module>")],
    ),
    "faulthandler, the first call first": (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n"
        '  File "/srv/cart.py", line 17 in total\n  File "/srv/main.py", line 3 in main',
        [("/srv/cart.py", 17, "total"), ("/srv/main.py", 3, "main")],
    ),
    "py-spy": (
        'Thread 12 (active): "MainThread"\n    total (shop/cart.py:17)\n    main (main.py:3)',
        [("shop/cart.py", 17, "total"), ("main.py", 3, "main")],
    ),
    "asyncio": (
        "  <FrameSummary file /srv/shop/cart.py, line 17 in total>",
        [("/srv/shop/cart.py", 17, "total")],
    ),
    "go's race detector": (
        "WARNING: DATA RACE\nRead at 0x00c0 by goroutine 7:\n  example.com/shop.Total()\n"
        "      /srv/shop/cart.go:17 +0x44",
        [("/srv/shop/cart.go", 17, "example.com/shop.Total")],
    ),
    "node on Windows": (
        "Error: no\n    at new Cart (C:\\work dir\\src\\cart.ts:7:15)\n    at Cart.pay [as run] (file:///C:/work/pay.mjs:9:1)\n"
        "    at async C:\\work\\main.js:3:5",
        [
            ("C:\\work dir\\src\\cart.ts", 7, "new Cart"),
            ("/C:/work/pay.mjs", 9, "Cart.pay [as run]"),
            ("C:\\work\\main.js", 3, ""),
        ],
    ),
    "a browser": (
        "TypeError: no\n    at total (http://localhost:5173/src/cart.ts?t=17:7:15)\n    at webpack:///./src/main.js:4:2",
        [("/src/cart.ts", 7, "total"), ("/./src/main.js", 4, "")],
    ),
    "java, with its cause": (
        "java.lang.RuntimeException: outer\n\tat com.shop.Server.run(Server.java:9)\n"
        "Caused by: java.io.IOException: inner\n\tat com.shop.Cart$Item.total(Cart.java:42) ~[shop.jar:1.0]\n"
        "\t... 1 more",
        [("Cart.java", 42, "com.shop.Cart$Item.total"), ("Server.java", 9, "com.shop.Server.run")],
    ),
    "kotlin": (
        "java.lang.IllegalStateException\n\tat com.shop.CartKt.total(Cart.kt:4)",
        [("Cart.kt", 4, "com.shop.CartKt.total")],
    ),
    "c#": (
        "Unhandled exception. System.InvalidOperationException: no\n"
        "   at Shop.Cart.<RunAsync>d__5.MoveNext() in C:\\my work\\Cart.cs:line 12\n"
        "   at Shop.Main.Run[T](String a, Func`2 b) in /srv/Main.cs:line 3\n   at System.Threading.Thread.Start()",
        [("C:\\my work\\Cart.cs", 12, "Shop.Cart.<RunAsync>d__5.MoveNext"), ("/srv/Main.cs", 3, "Shop.Main.Run[T]")],
    ),
    "c# in French": (
        "   à Shop.Cart.Total(Int32 a) dans C:\\w\\Cart.cs:ligne 12",
        [("C:\\w\\Cart.cs", 12, "Shop.Cart.Total")],
    ),
    "go": (
        "panic: no\n\ngoroutine 7 [running]:\nexample.com/shop.(*Cart[...]).Total(0xc0, {0x1, 0x2})\n"
        "\tC:\\work\\cart.go:42 +0x1d\nmain.main.func1()\n\t/src/main.go:9 +0x2\ncreated by main.main in goroutine 1\n"
        "\t/src/main.go:5 +0x3",
        [
            ("C:\\work\\cart.go", 42, "example.com/shop.(*Cart[...]).Total"),
            ("/src/main.go", 9, "main.main.func1"),
            ("/src/main.go", 5, "main.main"),
        ],
    ),
    "rust": (
        "thread 'main' panicked at C:\\work\\src\\cart.rs:17:9:\nout of bounds\nstack backtrace:\n"
        "   0: <shop::Cart as shop::Pay>::total\n             at C:\\work\\src\\cart.rs:17:9\n"
        "   1: shop::main::{{closure}}\n             at ./src/main.rs:4:5",
        [
            ("C:\\work\\src\\cart.rs", 17, "<shop::Cart as shop::Pay>::total"),
            ("./src/main.rs", 4, "shop::main::{{closure}}"),
        ],
    ),
    "ruby 3.4": (
        "C:/app/cart.rb:3:in 'Shop::Cart#total': no items (RuntimeError)\n\tfrom C:/app/main.rb:9:in 'block in run'",
        [("C:/app/cart.rb", 3, "Shop::Cart#total"), ("C:/app/main.rb", 9, "block in run")],
    ),
    "ruby, innermost last": (
        "Traceback (most recent call last):\n\t1: from main.rb:9:in `run'\n"
        "cart.rb:3:in `total': no items (RuntimeError)",
        [("cart.rb", 3, "total"), ("main.rb", 9, "run")],
    ),
    "php prints the function called at a place": (
        "PHP Fatal error:  Uncaught TypeError: no in C:\\app\\cart.php:30\nStack trace:\n"
        "#0 C:\\app\\shop.php(41): Shop\\Cart->total()\n#1 C:\\app\\index.php(7): Shop\\Shop::run(Array)\n#2 {main}\n"
        "  thrown in C:\\app\\cart.php on line 30",
        [
            ("C:\\app\\cart.php", 30, "Shop\\Cart->total"),
            ("C:\\app\\shop.php", 41, "Shop\\Shop::run"),
            ("C:\\app\\index.php", 7, ""),
        ],
    ),
    "gdb": (
        "#0  0x00007f in cart::total (items=0x0, n=3) at src/cart.c:12\n#1  main () at /srv/src/main.c:4",
        [("src/cart.c", 12, "cart::total"), ("/srv/src/main.c", 4, "main")],
    ),
    "a sanitizer": (
        "==4==ERROR: AddressSanitizer: SEGV\n    #0 0x55d0 in total C:\\work\\src\\cart.c:12:7\n"
        "    #1 0x55d1 in shop::Cart<int, char>::run(int, char*) /srv/src/run.cc:9:3\n"
        "    #2 0x7f in main (/srv/a.out+0x12)",
        [("C:\\work\\src\\cart.c", 12, "total"), ("/srv/src/run.cc", 9, "shop::Cart<int,")],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_frames_come_innermost_first_with_their_functions(name):
    text, expected = FORMATS[name]
    assert [(frame.path, frame.line, frame.function) for frame in frames(text)] == expected


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_left_beside_a_trace_alone_and_a_request_is(name):
    trace, _ = FORMATS[name]
    rest = without_traces(f"why does the nightly job stop?\n\n{trace}\n\nplease look at it")
    assert rest.split() == "why does the nightly job stop? please look at it".split()


@pytest.mark.parametrize(
    ("function", "path", "names"),
    [
        ("example.com/app/Context.Negotiate", "a.go", ("Context", "Negotiate")),
        ("main.(*Cart[...]).Total.func1.2", "a.go", ("Cart", "Total")),
        ("<shop::Cart as shop::Pay>::total::{{closure}}", "a.rs", ("total",)),
        ("shop::total::h0123456789abcdef", "a.rs", ("shop", "total")),
        ("Shop.Cart.<RunAsync>d__5.MoveNext", "a.cs", ("Cart", "RunAsync")),
        ("Shop.Cart`1..ctor", "a.cs", ("Shop", "Cart")),
        ("com.shop.Cart$Item.<init>", "Cart.java", ("Cart", "Item")),
        ("com.shop.Cart.lambda$total$0", "Cart.java", ("Cart", "total")),
        ("block (2 levels) in Shop::Cart#empty?", "a.rb", ("Cart", "empty?")),
        ("new Cart", "a.js", ("Cart",)),
        ("Cart.pay [as run]", "a.js", ("Cart", "pay")),
        ("Object.<anonymous>", "a.js", ()),
        ("Shop\\Cart->{closure}", "a.php", ("Shop", "Cart")),
        ("shop::Cart<int,", "a.cc", ("shop", "Cart")),
        ("<module>", "a.py", ()),
        ("", "a.py", ()),
    ],
)
def test_the_names_of_a_function_without_generics_and_closures(function, path, names):
    assert Frame(path, 1, function).names[-2:] == names


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("app.rb:3:in `total': no items (RuntimeError)", ": no items (RuntimeError)"),
        ("PHP Fatal error:  Uncaught TypeError: no in /app/cart.php:30", "PHP Fatal error:  Uncaught TypeError: no"),
        ("EmptyCart: nothing to pay", "EmptyCart: nothing to pay"),
        ("    at total (/srv/cart.js:3:1)", ""),
    ],
)
def test_what_a_line_says_besides_its_frame(line, rest):
    assert without_frame(line) == rest


PIECES = st.sampled_from(
    [
        ' File "',
        '", line 3',
        "at ",
        " (",
        ")",
        ":12",
        ":3:4",
        "/a/b.py",
        "C:\\x.cs",
        ":line 4",
        "#0 ",
        " in ",
        "0x1f",
        "\n",
        "panicked at ",
        "from ",
        ":in `",
        "'",
        "a.rb",
        "\t",
        "x.go",
        "<",
        ">",
        "[",
        "$",
        "Next X: ",
        "Caused by: ",
        "é",
        "名",
    ]
)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_can_be_read(text):
    found = frames(text)
    assert len(found) <= MOST_FRAMES
    assert len({(frame.path, frame.line) for frame in found}) == len(found)
    for frame in found:
        assert frame.path and frame.line >= 0
        assert all(frame.names)
        assert list(frame.suffixes)[-1:] != [""]


@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        " ",
        "(",
        "at (",
        "at a(",
        ") in ",
        "a in /x",
        "error in /x",
        "#0 ",
        "#0 a (",
        "a.b.c/",
        "panicked at '",
        ":1",
        "\n\t",
        "<",
        "[",
        "from a.rb:",
        "(a",
        "at a.js:1",
        'File "',
        "C:\\",
        "x.py:1: in ",
        "\n#0 x in y(",
        "\nf(x)\n\ta.go:",
    ],
)
def test_a_long_text_of_one_kind_can_be_read(unit):
    """Two hundred thousand characters; a pattern that backtracks without bounds would not come to an end."""
    assert len(frames(unit * (200_000 // len(unit)))) <= MOST_FRAMES
