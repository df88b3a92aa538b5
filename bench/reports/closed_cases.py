"""The closed half: run at the end only. Each case names the report it is after; its words and code are ours."""

from __future__ import annotations

from bench.reports.kit import (
    C_MAIN,
    CPP_MAIN,
    JAVA_MAIN,
    NODE_MAIN,
    PYTHON_MAIN,
    RUST_MAIN,
    Repository,
    Verdict,
    case,
    edited,
    listed,
    move,
    rename,
    resign,
    sh,
    value,
)


@case("python-rope/rope#288, #291")
def names_behind_an_empty_fstring() -> Verdict:
    files = """
=== main.py
base = "/srv"
made = base + f"" + ""
again = base + "" + f"{base}" f""
print(made, again, base + rf"\\{base}")
"""
    return rename(files, "base", "root_folder", path="main.py", lacks=[("main.py", "base")], may_refuse=False)


@case("python-rope/rope#686")
def class_variable_as_a_default_value() -> Verdict:
    files = """
=== main.py
class Word:
    suffix = "ing"
    table = [suffix] * 2

    def stem(self, end=suffix, more=lambda value=suffix: value):
        return end + more() + self.suffix + Word.table[0]


print(Word().stem())
"""
    return rename(files, "Word.suffix", "ending", lacks=[("main.py", "suffix")], may_refuse=False)


@case("python-rope/rope#832")
def special_method_to_a_plain_name() -> Verdict:
    """Whoever renames `__len__` changes what `len()` does: refused, or the program stays the same."""
    files = """
=== main.py
class Shelf:
    def __init__(self):
        self.books = [1, 2]

    def __len__(self):
        return len(self.books)


print(len(Shelf()), bool(Shelf()))
"""
    return rename(files, "Shelf.__len__", "size")


@case("python-rope/rope#833")
def plain_method_to_a_special_name() -> Verdict:
    files = """
=== main.py
class Sum:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def total(self):
        return bool(self.a + self.b)


s = Sum(0, 0)
print(s.total(), "true" if s else "false")
"""
    return rename(files, "Sum.total", "__bool__")


@case("python-rope/rope#764, #779")
def new_name_is_defined_further_down() -> Verdict:
    files = """
=== main.py
CORE = ["a"]
ALL = CORE + ["b"]


def load(names):
    return [name.upper() for name in names]


def load_all():
    return load(ALL)


print(load(CORE), load_all())
"""
    return rename(files, "CORE", "load_all", path="main.py")


@case("python-rope/rope#270")
def module_known_by_several_names() -> Verdict:
    files = """
=== pkg/__init__.py
=== pkg/io.py
def read_rows(text):
    return text.split()
=== main.py
import pkg.io as io_tools
import pkg.io
from pkg import io as plain, io
from pkg.io import read_rows as rr, read_rows


print(io_tools.read_rows("a b"), pkg.io.read_rows("c"), plain.read_rows("d"))
print(io.read_rows("e"), rr("f"), read_rows("g"))
"""
    return rename(
        files, "read_rows", "split_rows", path="pkg/io.py", lacks=[("main.py", "read_rows")], may_refuse=False
    )


@case("microsoft/pylance-release#2431")
def unreachable_code() -> Verdict:
    files = """
=== main.py
import sys


def scale(value):
    return value * 2


def run(value):
    return scale(value)
    print(scale(1))


if sys.version_info < (3, 0):
    print(scale(3))
if False:
    scale = None

print(run(4))
"""
    return rename(files, "scale", "double", path="main.py", lacks=[("main.py", "scale(")])


@case("facebook/pyrefly#4284")
def variable_bound_twice() -> Verdict:
    files = """
=== main.py
rate = 1
rate = rate + 1
for rate in (rate, rate * 3):
    print(rate)


def taxed(price):
    return price * rate


print(taxed(2), rate)
"""
    return rename(files, "rate", "factor", path="main.py", lacks=[("main.py", "rate")])


@case("astral-sh/ty#3674")
def attribute_in_slots() -> Verdict:
    files = """
=== main.py
class Node:
    __slots__ = ("weight", "name")

    def __init__(self, weight):
        self.weight = weight
        self.name = "n"


node = Node(3)
node.weight += 1
print(node.weight)
"""
    return rename(files, "Node.weight", "mass", listed=["main.py:2"])


@case("astral-sh/ty#2354, DonJayamanne/pythonVSCode#94")
def line_ends_of_windows() -> Verdict:
    made = Repository(
        {
            "main.py": b"from lib import area\r\n\r\n\r\nprint(area(2), '''two\r\nlines''')\r\n",
            "lib.py": b"def area(side):\r\n    return side * side\n\n\nlast = area(1)\r\n",
        }
    )
    before = sh(PYTHON_MAIN, made.root)
    done = made.tool("rename_symbol", name="area", new_name="square", path="lib.py")
    holds = [
        ("lib.py", "def square(side):\r\n    return side * side\n\n\nlast = square(1)\r\n"),
        ("main.py", "square(2), '''two\r\n"),
    ]
    return edited(made, done, run=PYTHON_MAIN, before=before, holds=holds, may_refuse=False)


@case("davidhalter/jedi-vim#444, #545")
def new_name_is_a_word_elsewhere() -> Verdict:
    """`output` is a local variable and a keyword of other functions: nothing is captured, nothing refused."""
    files = """
=== main.py
def output_of(command):
    output = command.upper()
    return output


def out(text, output=True):
    return text if output else ""


print(output_of("a"), out("b"), out("c", output=False))
"""
    return rename(files, "out", "output", path="main.py")


@case("DetachHead/basedpyright#1447")
def overriding_method_named_by_its_subclass() -> Verdict:
    files = """
=== shapes.py
from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self): ...
=== main.py
from shapes import Shape


class Square(Shape):
    def area(self):
        return 4


class Room:
    def area(self):
        return 20


shapes: list[Shape] = [Square()]
print([shape.area() for shape in shapes], Room().area(), Square().area())
"""
    return rename(files, "Square.area", "surface", holds=[("main.py", "Room().area()")])


@case("skylos: duriantaco/skylos#58")
def inner_function_of_a_decorator() -> Verdict:
    files = """
=== deco.py
from functools import wraps


def twice(function):
    @wraps(function)
    def wrapper(*args):
        return function(*args) + function(*args)
    return wrapper


def named(text):
    def wrapper(function):
        function.label = text
        return function
    return wrapper
=== main.py
from deco import named, twice


@named("x")
@twice
def twice_as(wrapper):
    return wrapper + 1


print(twice_as(1), twice_as.label, twice_as.__name__)
"""
    return rename(files, "twice", "doubled", path="deco.py", holds=[("main.py", "@doubled\ndef twice_as")])


@case("python-rope/rope#779 kind: comprehension and lambda")
def name_bound_again_in_small_scopes() -> Verdict:
    files = """
=== main.py
def price(item):
    return len(item)


prices = [price for price in (1, 2)]
by = sorted(["ccc", "a"], key=lambda item: price(item))
nested = (lambda price: price + 1)(5)
if (found := price("abcd")) > 3:
    print(prices, by, nested, found, {price: 1 for price in "x"})


def shadow(price=price):
    return price("ab")


print(shadow(), shadow(price=len))
"""
    return rename(
        files,
        "price",
        "cost",
        path="main.py",
        holds=[("main.py", "[price for price in"), ("main.py", "shadow(price=len)")],
    )


@case("astral-sh/ty#2362")
def parameter_of_a_constructor_given_elsewhere() -> Verdict:
    files = """
=== example.py
class Example:
    def __init__(self, old_name: str) -> None:
        self.old_name = old_name

    def method(self, old_name: str) -> str:
        return f"{self.old_name} {old_name}"
=== main.py
from functools import partial

from example import Example


class More(Example):
    def __init__(self) -> None:
        super().__init__(old_name="more")


made = partial(Example, old_name="part")
print(Example(old_name="a").method("b"), More().old_name, made().method(old_name="c"))
"""
    return resign(files, "Example.__init__", {"rename": {"old_name": "label"}}, holds=[("main.py", "method(old_name=")])


@case("microsoft/PTVS#4429")
def parameter_keeps_its_default() -> Verdict:
    files = '''
=== main.py
def mean(x, y=2, *rest, z: int = 3):
    """The mean of `x` and y."""
    return x * y / (x + y) + z


print(mean(1), mean(1, y=4), mean(2, 3, 4, z=5))
'''
    return resign(
        files, "mean", {"rename": {"y": "other"}}, holds=[("main.py", "other=2, *rest, z: int = 3")], may_refuse=False
    )


@case("microsoft/pylance-release#4234")
def moved_from_below_its_use() -> Verdict:
    files = """
=== main.py
def run():
    total = add_up()
    print(total)


def add_up():
    x = 10
    return x + 20


run()
"""
    holds = [("sums.py", "def add_up"), ("main.py", "from sums import add_up")]
    return move(files, "add_up", "sums.py", path="main.py", holds=holds, may_refuse=False)


@case("microsoft/pylance-release#4002")
def moved_with_its_own_comment_only() -> Verdict:
    files = """
=== words.py
import random

answer = random.choice(["a"])
guess = "c"

# adds two numbers
# and no more
def add(a, b):
    return a + b


# of something else
other = add(1, 2)
=== main.py
from words import add, answer, guess, other

print(add(1, 2), answer, guess, other)
"""
    holds = [("sums.py", "# adds two numbers\n# and no more\ndef add"), ("words.py", "# of something else\n")]
    return move(
        files,
        "add",
        "sums.py",
        path="words.py",
        holds=holds,
        lacks=[("words.py", "# adds"), ("sums.py", "import random")],
    )


@case("microsoft/pylance-release#5973")
def import_needed_where_others_are() -> Verdict:
    files = '''
=== tools.py
import os
import os.path as osp
from sys import version as py


def base(path):
    return os.path.basename(osp.join(path, py[:0] + "x"))


def other():
    return os.sep
=== target.py
"""Documentation."""

from __future__ import annotations

from sys import platform

print(platform[:0])
=== main.py
import target
import tools
from tools import base

print(base("/a"), tools.base("b"), tools.other())
'''
    return move(files, "base", "target.py", path="tools.py", lacks=[("tools.py", "osp")])


@case("JoshuaRamirez/RoslynMcpServer#519 kind: overriding methods")
def parameter_removed_from_a_family() -> Verdict:
    files = """
=== main.py
class Base:
    def save(self, path, force=False):
        return path

    def run(self):
        return self.save("a", force=True)


class Child(Base):
    def save(self, path, force=False):
        return super().save(path, force) + "!"


print(Base().run(), Child().run(), Child().save("b", True))
"""
    return resign(files, "Base.save", {"remove": ["force"]})


@case("microsoft/TypeScript#15787, microsoft/vscode#22133")
def js_shorthand_and_destructuring() -> Verdict:
    files = """
=== package.json
{"type": "module"}
=== total.js
export function total(rows) {
  return rows.reduce((sum, row) => sum + row, 0);
}

export const tools = { total, other: 1 };
=== main.js
import { tools, total } from './total.js';

const { total: again } = tools;
function run({ total }) {
  return total([2]);
}
console.log(total([1]), again([3]), run({ total }), tools.total([4]), Object.keys(tools).join());
"""
    return rename(files, "total", "sumUp", path="total.js", run=NODE_MAIN)


@case("microsoft/TypeScript#19176")
def ts_property_that_is_destructured() -> Verdict:
    files = """
=== src/result.ts
export interface Result {
  amount: number;
}

export function compute(): Result {
  const amount = 5;
  return { amount };
}

export function use(other: { amount: string }): string {
  const { amount } = compute();
  return `${amount} ${other.amount}`;
}
"""
    holds = [
        ("src/result.ts", "total: number"),
        ("src/result.ts", "total: amount };"),
        ("src/result.ts", "{ total: amount } = compute()"),
        ("src/result.ts", "other.amount"),
    ]
    return rename(files, "Result.amount", "total", path="src/result.ts", run=(), holds=holds)


@case("golang/go#47583")
def go_new_name_is_a_local_variable() -> Verdict:
    files = """
=== go.mod
module example.org/p

go 1.21
=== p.go
package p

func Fetch() int { return 1 }

func use() int {
	fetch := 2
	return Fetch() + fetch
}
"""
    lacks = [("p.go", "return fetch() + fetch")]
    return rename(files, "Fetch", "fetch", path="p.go", run=(), lacks=lacks)


@case("rust-lang/rust-analyzer#13498")
def rust_struct_known_by_an_alias() -> Verdict:
    files = """
=== main.rs
mod foo {
    pub struct Test(pub u8);
    pub mod deep {
        pub fn make() -> super::Test { super::Test(2) }
    }
}

use foo::Test as Tester;

struct Test;

impl Test {
    fn n(&self) -> u8 { 7 }
}

fn main() {
    let t: Tester = Tester(1);
    println!("{} {} {}", t.0, foo::deep::make().0, Test.n());
}
"""
    return rename(
        files, "foo.Test", "Sample", run=RUST_MAIN, holds=[("main.rs", "struct Test;"), ("main.rs", "as Tester")]
    )


@case("rust-lang/rust-analyzer#3431, rust-lang/rls#468")
def rust_field_in_shorthand() -> Verdict:
    files = """
=== main.rs
struct Foo {
    size: i32,
}

impl Foo {
    fn new(size: i32) -> Self {
        Self { size }
    }
    fn get(self) -> i32 {
        let Foo { size } = self;
        size
    }
}

fn main() {
    let size = 2;
    let made = Foo { size };
    println!("{} {}", Foo::new(1).get(), made.size + "ab".len() as i32);
}
"""
    return rename(files, "Foo.size", "extent", run=RUST_MAIN)


@case("clangd/clangd#170")
def cpp_using_declaration() -> Verdict:
    files = """
=== main.cpp
#include <cstdio>

namespace geo {
int area(int side) { return side * side; }
}

namespace other {
int area(double) { return 7; }
}

using geo::area;

int main() {
    std::printf("%d %d %d\\n", area(2), geo::area(3), other::area(1.5));
}
"""
    return rename(files, "geo.area", "square", run=CPP_MAIN, holds=[("main.cpp", "other::area(1.5)")])


@case("clangd/clangd#1890, slynch8/10x#57")
def c_macro_of_a_header() -> Verdict:
    files = """
=== limits2.h
#ifndef LIMITS2_H
#define LIMITS2_H
#define TOP(x) ((x) > MOST ? MOST : (x))
#define MOST 10
int clip(int x);
#endif
=== clip.c
#include "limits2.h"
#ifdef MOST
int clip(int x) { return TOP(x); }
#else
int clip(int x) { return x; }
#endif
=== main.c
#include <stdio.h>
#include "limits2.h"
#define TEXT(x) #x
int main(void) {
    struct { int MOST_USED; } s = { MOST };
    printf("%d %d %s\\n", clip(50), s.MOST_USED, "MOST");
    return 0;
}
"""
    return rename(files, "MOST", "HIGHEST", path="limits2.h", run=C_MAIN, holds=[("main.c", '"MOST"')])


@case("eclipse-jdt/eclipse.jdt.core#4704")
def java_method_given_as_a_lambda() -> Verdict:
    files = """
=== Step.java
interface Step {
    int apply(int value);

    default int twice(int value) {
        return apply(apply(value));
    }
}
=== Main.java
import java.util.function.Function;

class Plus implements Step {
    public int apply(int value) {
        return value + 1;
    }
}

public class Main {
    static int run(Step step) {
        return step.apply(1);
    }

    public static void main(String[] args) {
        Function<Integer, Integer> other = v -> v * 3;
        Step plus = new Plus();
        Step method = plus::apply;
        System.out.println(run(v -> v * 2) + " " + run(plus) + " " + method.twice(1) + " " + other.apply(2));
    }
}
"""
    return rename(
        files, "Step.apply", "advance", path="Step.java", run=JAVA_MAIN, holds=[("Main.java", "other.apply(2)")]
    )


@case("DonJayamanne/pythonVSCode#498")
def constructor_used_by_its_class() -> Verdict:
    files = """
=== clock.py
class Clock:
    def __init__(self, hours=0):
        self.hours = hours
=== a.py
from clock import Clock


def by_call():
    return Clock(3)


def by_class_value(kinds=(Clock,)):
    return kinds[0]()


class Later(Clock):
    pass
"""
    return listed(files, "Clock", ["a.py:5", "a.py:8", "a.py:12"], path="clock.py")


@case("DetachHead/basedpyright#1447, scalameta/metals#2676")
def overriding_method_called_through_its_base() -> Verdict:
    files = """
=== shapes.py
class Shape:
    def area(self):
        raise NotImplementedError


class Square(Shape):
    def area(self):
        return 4
=== use.py
from shapes import Shape, Square


def through_base(shapes: list[Shape]):
    return [shape.area() for shape in shapes]


def direct():
    return Square().area()


class Room:
    def area(self):
        return 3


def other():
    return Room().area()
"""
    return listed(files, "Square.area", ["use.py:5", "use.py:9"], path="shapes.py", unlisted=["use.py:18"])


@case("davidhalter/jedi#1311, CoatiSoftware/SourcetrailPythonIndexer#30")
def called_by_super_of_a_second_base() -> Verdict:
    files = """
=== m.py
class Foo:
    def foo(self):
        return 1


class Bar:
    def bar(self):
        return 2


class Baz(Foo, Bar):
    def both(self):
        return super().foo() + super().bar()


def direct(baz: Baz):
    return baz.bar()
"""
    return listed(files, "Bar.bar", ["m.py:13", "m.py:17"], path="m.py")


@case("knostic/OpenAnt#295")
def function_in_a_table_of_handlers() -> Verdict:
    files = """
=== app.py
def handle_get(request):
    return "get"


def handle_put(request):
    return "put"


HANDLERS = {"GET": handle_get, "PUT": handle_put}


def dispatch(mode, request):
    return HANDLERS[mode](request)
"""
    return listed(files, "handle_get", ["app.py:9"], path="app.py")


@case("clay-good/OpenLore#462, knostic/OpenAnt#295 kind: asked in words")
def question_about_a_method_called_by_a_made_name() -> Verdict:
    files = """
=== views.py
class Views:
    def show_list(self):
        return 1

    def show(self, kind):
        return getattr(self, "show_" + kind)()
"""
    made = Repository(files)
    done = made.ask("what calls Views.show_list?")
    sure = "nothing calls" in done.out.lower() or "not used" in done.out.lower() or "no callers" in done.out.lower()
    return Verdict(done.status == 0 and "show_list" in done.out and not sure, sure, done.said)


@case("mikefarah/yq#524, #119, #477")
def yaml_value_before_a_comment() -> Verdict:
    text = '# things\na:\n  b: # inventory\n    c: fly # animal\n    d: "chair"   # furniture\n---\na:\n  x: 1\n'
    return value("c.yml", text, "a.b.d", '"stool"', text.replace('"chair"', '"stool"'))


@case("mikefarah/yq#497")
def yaml_value_that_is_empty() -> Verdict:
    text = "global:\n  image:\n    tag: # must be overridden\n    pullPolicy: IfNotPresent\n"
    made = Repository(f"=== values.yaml\n{text}")
    done = made.tool("set_value", name="global.image.tag", value="1.1.1", path="values.yaml")
    after = made.text("values.yaml")
    right = after == text.replace("tag: #", "tag: 1.1.1 #") or (done.status != 0 and after == text)
    return Verdict(right, not right and done.status == 0, f"{after!r}; said {done.said}")


@case("mikefarah/yq#19")
def yaml_item_text_stays_quoted() -> Verdict:
    text = (
        "services:\n  web:\n    ports:\n     - \"3000\"\n     - '8000:8000'\n    restart: 'no'\n    image: \"web:1\"\n"
    )
    return value("compose.yaml", text, "services.web.restart", "'always'", text.replace("'no'", "'always'"))
