"""The open half: for development. Each case names the report it is after; its words and code are ours."""

from __future__ import annotations

from bench.reports.kit import (
    CPP_MAIN,
    JAVA_MAIN,
    NODE_MAIN,
    RUST_MAIN,
    Repository,
    Verdict,
    case,
    listed,
    move,
    rename,
    resign,
    value,
)


@case("microsoft/pyright#221")
def augmented_assignments() -> Verdict:
    files = """
=== state.py
hits = 0
names = []


def note(name):
    global hits
    hits += 1
    names.append(name)
    return hits
=== main.py
import state

state.note("a")
state.hits += 10
state.note("b")
print(state.hits, state.names)
"""
    return rename(files, "hits", "visits", path="state.py", lacks=[("main.py", "hits"), ("state.py", "hits")])


@case("microsoft/vscode-python#8926")
def keyword_of_the_same_name_stays() -> Verdict:
    files = """
=== main.py
host = "example.org"
settings = dict(host=host, other=f"{host}")
line = "{host}!".format(host=host)


def connect(*, host):
    return host


print(settings["host"], line, connect(host=host))
"""
    return rename(files, "host", "server_name", path="main.py", holds=[("main.py", "dict(host=server_name")])


@case("microsoft/pyright#9171, microsoft/pylance-release#6538")
def field_of_a_named_tuple() -> Verdict:
    files = """
=== main.py
from typing import NamedTuple


class Point(NamedTuple):
    across: int
    down: int = 0


one = Point(across=3)
two = one._replace(across=4)
match two:
    case Point(across=value):
        print(value, one.across, two._asdict() == {"across": 4, "down": 0})
"""
    return rename(files, "Point.across", "x", listed=["main.py:13"])


@case("microsoft/pylance-release#5386")
def key_of_a_typed_dict() -> Verdict:
    files = """
=== main.py
from typing import TypedDict


class Movie(TypedDict):
    title: str
    year: int


def show(movie: Movie) -> str:
    return movie["title"] + str(movie.get("title"))


print(show({"title": "a", "year": 1}), show(Movie(title="b", year=2)))
"""
    return rename(files, "Movie.title", "label", listed=["main.py:10"])


@case("microsoft/vscode-python#5914")
def words_that_hold_the_name() -> Verdict:
    files = """
=== pkg/__init__.py
=== pkg/valid.py
class Tool:
    def __init__(self, val):
        self.val = val

    def validate(self):
        return self.val.evaluate()
=== pkg/eval.py
class Val:
    val = "class"

    def evaluate(self):
        return self.val
=== main.py
from pkg.eval import Val
from pkg.valid import Tool

interval = {"val": Tool(Val())}
print(interval["val"].val.val, interval["val"].validate())
"""
    return rename(
        files, "Tool.val", "value", holds=[("pkg/eval.py", 'val = "class"'), ("main.py", '["val"].value.val')]
    )


@case("DonJayamanne/pythonVSCode#579")
def function_named_as_one_of_a_library() -> Verdict:
    files = """
=== main.py
import json
from json import loads as parse_text


def loads(text):
    return json.loads(text) + parse_text(text)


class Reader:
    def loads(self, text):
        return json.loads(text)


reader = Reader()
print(loads("1"), reader.loads("2"), getattr(json, "loads")("3"))
"""
    return rename(
        files, "loads", "read_twice", path="main.py", holds=[("main.py", "json.loads(text) + parse_text(text)")]
    )


@case("davidhalter/jedi#1311")
def super_of_the_second_base() -> Verdict:
    files = """
=== main.py
class Reads:
    def open(self):
        return "r"


class Writes:
    def close(self):
        return "w"


class File(Reads, Writes):
    def both(self):
        return super().open() + super().close() + Writes.close(self)


print(File().both(), File().close())
"""
    return rename(files, "Writes.close", "shut", lacks=[("main.py", "close")])


@case("microsoft/python-language-server#645")
def class_used_as_a_base_elsewhere() -> Verdict:
    files = """
=== models/__init__.py
from .base import Model as Model

__all__ = ["Model"]
=== models/base.py
class Model:
    registry: "dict[str, type[Model]]" = {}

    def __init_subclass__(cls) -> None:
        Model.registry[cls.__name__] = cls
=== main.py
import models
from models.base import Model


class User(Model):
    pass


class Admin(User, models.Model):
    pass


print(sorted(Model.registry), isinstance(Admin(), models.Model))
"""
    return rename(
        files, "Model", "Record", path="models/base.py", lacks=[("main.py", "Model")], listed=["models/__init__.py:3"]
    )


@case("DonJayamanne/pythonVSCode#498")
def class_with_a_factory_and_its_own_name() -> Verdict:
    files = """
=== main.py
from __future__ import annotations


class Clock:
    def __init__(self, hours: int = 0) -> None:
        self.hours = hours

    @classmethod
    def noon(cls) -> Clock:
        return cls(12)

    def later(self) -> "Clock":
        return type(self)(self.hours + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clock) and other.hours == self.hours


clocks = {"Clock": Clock}
print(Clock.noon().later().hours, clocks["Clock"]().hours, Clock() == Clock(0))
"""
    return rename(files, "Clock", "Watch", holds=[("main.py", '"Clock": Watch')])


@case("codellm-devkit/codeanalyzer-python#215, n24q02m/crg#331")
def method_called_by_a_made_name() -> Verdict:
    files = """
=== main.py
class Index:
    def index_pdf(self, data):
        return "pdf " + data

    def index_doc(self, data):
        return "doc " + data

    def index(self, kind, data):
        return getattr(self, f"index_{kind}")(data)


print(Index().index("pdf", "a"), Index().index("doc", "b"))
"""
    return rename(files, "Index.index_pdf", "read_pdf", listed=["main.py:9"])


@case("vitali87/code-graph-rag#699")
def property_with_setter_and_deleter() -> Verdict:
    files = """
=== main.py
class Tank:
    def __init__(self):
        self._level = 1

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = value

    @level.deleter
    def level(self):
        self._level = 0


class Game:
    level = 7


tank = Tank()
tank.level += 2
print(tank.level, Game.level)
del tank.level
print(tank.level, Tank.level.fget(tank))
"""
    return rename(files, "Tank.level", "height", holds=[("main.py", "Game.level"), ("main.py", "@height.deleter")])


@case("microsoft/pyright#9171 kind: members of an enumeration")
def member_of_an_enumeration() -> Verdict:
    files = """
=== colours.py
from enum import Enum


class Colour(Enum):
    RED = 1
    GREEN = 2

    @property
    def warm(self):
        return self is Colour.RED
=== main.py
from colours import Colour

RED = "text"


def say(colour):
    match colour:
        case Colour.RED:
            return "warm"
        case _:
            return "cold"


print(say(Colour.RED), Colour.RED.warm, Colour["RED"] is Colour(1), RED)
"""
    return rename(files, "Colour.RED", "CRIMSON", holds=[("main.py", 'RED = "text"')], listed=["main.py:14"])


@case("names in other alphabets: microsoft/pylance-release#1069 kind")
def name_in_another_alphabet() -> Verdict:
    files = """
=== главный.py
def größe(текст: str) -> int:
    return len(текст)
=== main.py
from главный import größe

print(größe("日本"), f"{größe('é')}", {"größe": 1})
"""
    return rename(files, "größe", "länge", path="главный.py", holds=[("main.py", '{"größe": 1}')], may_refuse=False)


@case("microsoft/pylance-release#4136")
def moved_behind_a_line_with_a_comment() -> Verdict:
    files = """
=== source.py
LIMIT = 2


def used():
    return LIMIT
=== target.py
a = 1  # type: ignore
# the end
=== main.py
import source
import target

print(source.used(), target.a)
"""
    holds = [("target.py", "a = 1  # type: ignore\n"), ("target.py", "LIMIT = 2\n")]
    return move(files, "LIMIT", "target.py", path="source.py", holds=holds)


@case("microsoft/pylance-release#7137")
def class_moved_away_from_its_base() -> Verdict:
    """The new file imports the base from where it was; what was below the class imports it from there: a circle."""
    files = """
=== zoo/__init__.py
=== zoo/animals.py
class Animal:
    legs = 4


class Dog(Animal):
    pass


class Beagle(Dog):
    pass
=== main.py
from zoo.animals import Animal, Beagle, Dog

print(Beagle().legs, Beagle.__mro__[1] is Dog, issubclass(Dog, Animal))
"""
    return move(files, "Dog", "zoo/dog.py", path="zoo/animals.py")


@case("microsoft/pylance-release#7138")
def names_of_annotations_move_along() -> Verdict:
    files = """
=== animals.py
from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable


class Animal:
    def compare(self, other: Self, more: Iterable[Self] = ()) -> Self:
        return other


def count(things: Iterable[int]) -> int:
    return sum(things)
=== main.py
import typing
from animals import Animal, count

print(type(Animal().compare(Animal())).__name__, count([1]))
"""
    holds = [("creature.py", "Self"), ("creature.py", "TYPE_CHECKING")]
    return move(files, "Animal", "creature.py", path="animals.py", holds=holds, lacks=[("animals.py", "Self")])


@case("vitali87/code-graph-rag#2080")
def move_that_makes_a_circle() -> Verdict:
    files = """
=== low.py
def helper():
    return "low"


def entry():
    return helper() + "!"


ENTRY = entry()
=== high.py
from low import ENTRY, helper


def show():
    return ENTRY + helper()
=== main.py
from high import show

print(show())
"""
    return move(files, "helper", "high.py", path="low.py")


@case("spylang/spy#570 kind: parameters beside *args and **kwargs")
def parameter_added_before_the_rest() -> Verdict:
    files = """
=== main.py
def log(level, *parts, sep=" ", **extra):
    return level + sep.join(parts) + str(extra)


def relay(*args, **kwargs):
    return log(*args, **kwargs)


print(log("i", "a", "b"), log("w", sep="-", user=1), relay("e", "x", sep="+"))
"""
    change: dict[str, object] = {"add": [{"name": "prefix", "default": "''", "keyword_only": True}]}
    return resign(files, "log", change, holds=[("main.py", "prefix=''")])


@case("python-rope/rope#204, google/clusterfuzz#4407")
def parameters_in_another_order() -> Verdict:
    files = """
=== main.py
def post(url, data=None, timeout=3):
    return (url, data, timeout)


given = {"data": 7}
print(post("a"), post("b", 1), post("c", 1, 2), post("d", timeout=4), post("e", **given), post(*["f", 9]))
"""
    return resign(files, "post", {"order": ["timeout", "data"]}, listed=["main.py:6"])


@case("microsoft/TypeScript#22979")
def js_default_export_behind_a_barrel() -> Verdict:
    files = """
=== package.json
{"type": "module"}
=== parser.js
const parser = (text) => text.split(',');
export default parser;
=== index.js
export { default } from './parser.js';
export { default as parser } from './parser.js';
=== main.js
import anything, { parser } from './index.js';
import { parser as own } from './own.js';

console.log(anything('a,b'), parser('c'), own);
=== own.js
export const parser = 'own';
"""
    holds = [("index.js", "export { default } from"), ("own.js", "const parser = 'own'")]
    return rename(files, "parser", "splitter", path="parser.js", run=NODE_MAIN, holds=holds)


@case("microsoft/TypeScript#44167, #7708")
def ts_exported_under_another_name() -> Verdict:
    files = """
=== src/shape.ts
type Shape = { side: number };
const make = (): Shape => ({ side: 1 });
export { Shape as Figure, make };
export type { Shape as Form };
=== src/again.ts
import { Figure, make } from './shape';
export { Figure, make };
export const one: Figure = make();
"""
    holds = [
        ("src/shape.ts", "export { Box as Figure, make }"),
        ("src/shape.ts", "(): Box"),
        ("src/again.ts", "{ Figure, make }"),
    ]
    return rename(files, "Shape", "Box", path="src/shape.ts", run=(), holds=holds, lacks=[("src/shape.ts", "Shape")])


@case("golang/go#43616, golang/go#45199")
def go_embedded_type() -> Verdict:
    files = """
=== go.mod
module example.org/p

go 1.21
=== p.go
package p

// engine drives.
type engine struct{ power int }

type Car struct {
	engine
	Name string
}

var car = Car{engine: engine{power: 3}}

// Power of it.
func Power() int { return car.engine.power + car.power }

func engineName(engine string) string { return engine }
"""
    holds = [
        ("p.go", "type motor struct"),
        ("p.go", "\tmotor\n"),
        ("p.go", "Car{motor: motor{power: 3}}"),
        ("p.go", "car.motor.power"),
        ("p.go", "func engineName(engine string) string { return engine }"),
    ]
    return rename(files, "engine", "motor", path="p.go", run=(), holds=holds)


@case("golang/go#65098, golang/go#54217")
def go_method_of_an_interface() -> Verdict:
    files = """
=== go.mod
module example.org/p

go 1.21
=== store.go
package p

import "os"

type Store interface {
	Close() error
}

type disk struct{ file *os.File }

func (d disk) Close() error { return d.file.Close() }

func shut(s Store) error { return s.Close() }
"""
    holds = [
        ("store.go", "\tRelease() error"),
        ("store.go", "func (d disk) Release()"),
        ("store.go", "d.file.Close()"),
        ("store.go", "s.Release()"),
    ]
    return rename(files, "Store.Close", "Release", path="store.go", run=(), holds=holds)


@case("rust-lang/rust-analyzer#14014, #4517")
def rust_method_of_a_trait_beside_a_field() -> Verdict:
    files = """
=== main.rs
trait Weighs {
    fn weight(&self) -> u8;
    fn twice(&self) -> u8 { self.weight() * 2 }
}

struct Stone {
    weight: u8,
}

impl Weighs for Stone {
    fn weight(&self) -> u8 { self.weight }
}

struct Air;

impl Air {
    fn weight(&self) -> u8 { 0 }
}

fn main() {
    let s = Stone { weight: 3 };
    println!("{} {} {} {}", s.weight(), s.twice(), Weighs::weight(&s), Air.weight());
}
"""
    holds = [("main.rs", "    weight: u8,"), ("main.rs", "Air.weight()")]
    return rename(files, "Weighs.weight", "mass", run=RUST_MAIN, holds=holds)


@case("MaskRay/ccls#909, clangd/clangd#706")
def cpp_virtual_method() -> Verdict:
    files = """
=== shape.h
#pragma once
struct Shape {
    virtual ~Shape() = default;
    virtual int sides() const { return 0; }
};
struct Box : Shape {
    int sides() const override { return 4; }
};
struct Party {
    int sides() const { return 2; }
};
=== main.cpp
#include <cstdio>
#include "shape.h"

static int count(const Shape& s) { return s.sides(); }

int main() {
    Box b;
    Party p;
    std::printf("%d %d %d %d\\n", count(b), b.sides(), b.Shape::sides(), p.sides());
}
"""
    return rename(files, "Shape.sides", "edges", run=CPP_MAIN, holds=[("main.cpp", "p.sides()")])


@case("slynch8/10x#57")
def cpp_class_with_constructors_elsewhere() -> Verdict:
    files = """
=== widget.h
#pragma once
class Widget {
public:
    Widget();
    explicit Widget(int size);
    ~Widget();
    int size() const;
private:
    int size_;
};
=== widget.cpp
#include "widget.h"
Widget::Widget() : Widget(1) {}
Widget::Widget(int size) : size_(size) {}
Widget::~Widget() {}
int Widget::size() const { return size_; }
=== main.cpp
#include <cstdio>
#include "widget.h"
int main() {
    Widget one, *two = new Widget(5);
    std::printf("%d %d Widget\\n", one.size(), two->size());
    two->~Widget();
}
"""
    return rename(files, "Widget", "Control", path="widget.h", run=CPP_MAIN)


@case("eclipse-jdt/eclipse.jdt.ui#3141, apache/netbeans#7670")
def java_component_of_a_record() -> Verdict:
    files = """
=== Point.java
record Point(int x, int y) {
    static int count = 15;

    Point {
        if (x < 0) {
            throw new IllegalArgumentException("x");
        }
    }

    Point moved(int x) {
        return new Point(x() + x, y);
    }
}
=== Main.java
public class Main {
    static int x() {
        return 9;
    }

    public static void main(String[] args) {
        Point point = new Point(1, 2).moved(3);
        System.out.println(point.x() + " " + x() + " " + Point.count);
    }
}
"""
    return rename(files, "Point.x", "across", path="Point.java", run=JAVA_MAIN)


@case("dotnet/roslyn#50450, #1195")
def csharp_property_of_a_record_and_nameof() -> Verdict:
    files = """
=== Person.cs
namespace People;

public record Person(string Name, int Age)
{
    public string Label => $"{Name} {nameof(Name)}";
}

public class City
{
    public string Name { get; set; } = "";
}
=== Use.cs
namespace People;

public static class Use
{
    public static string Both(Person p, City c) => p.Name + c.Name
        + (p with { Name = "x" }).Name + new Person(Name: "y", Age: 1).Name;
}
"""
    holds = [
        ("Use.cs", "p.Title + c.Name"),
        ("Use.cs", "with { Title ="),
        ("Use.cs", "new Person(Title:"),
        ("Person.cs", "nameof(Title)"),
    ]
    return rename(files, "Person.Name", "Title", path="Person.cs", run=(), holds=holds)


@case("cajasmota/grafel#1709")
def function_in_a_list_of_steps() -> Verdict:
    files = """
=== steps.py
def create_order(context):
    return context


def validate(context):
    return context
=== saga.py
import steps

STEPS = [(steps.create_order, 1), (steps.validate, 2)]


def run(context):
    for step, _ in STEPS:
        context = step(context)
    return context
"""
    return listed(files, "create_order", ["saga.py:3"], path="steps.py")


@case("n24q02m/crg#331")
def function_given_to_threads_and_partials() -> Verdict:
    files = """
=== work.py
def heavy(x):
    return x


def light(x):
    return x
=== use.py
import asyncio
from functools import partial

from work import heavy


async def threaded():
    return await asyncio.to_thread(heavy, 1)


def partly():
    return partial(heavy, 2)


def mapped():
    return list(map(heavy, [1]))
"""
    return listed(files, "heavy", ["use.py:8", "use.py:12", "use.py:16"], path="work.py")


@case("peteromallet/desloppify#191")
def ts_function_used_as_a_value() -> Verdict:
    files = """
=== src/time.ts
export function toError(reason: unknown): Error {
  return new Error(String(reason));
}

export function readLength(url: string): number {
  return url.length;
}

export const fail = (reason: unknown) => Promise.reject(toError(reason));
=== src/use.ts
import { readLength } from './time';

interface Options { read?: (url: string) => number }

export function run(options: Options) {
  const read = options.read ?? readLength;
  return { mutationFn: readLength, value: read('a') };
}
"""
    return listed(files, "readLength", ["src/use.ts:6", "src/use.ts:7"], path="src/time.ts")


@case("vitali87/code-graph-rag#699")
def property_read_as_an_attribute() -> Verdict:
    files = """
=== config.py
from functools import cached_property


class Config:
    @property
    def debug(self):
        return True

    @cached_property
    def table(self):
        return {}
=== use.py
from config import Config


class App:
    def __init__(self, config: Config):
        self.config = config

    def run(self):
        if self.config.debug and not self.config.table:
            return 1


class Log:
    debug = 0


def other(log: Log):
    return log.debug
"""
    return listed(files, "Config.debug", ["use.py:9"], path="config.py", unlisted=["use.py:18"])


@case("knostic/OpenAnt#298")
def c_function_behind_a_pointer() -> Verdict:
    files = """
=== ops.c
struct ops { int (*open)(int); int (*close)(int); };

static int dev_open(int n) { return n; }
static int dev_close(int n) { return -n; }

static const struct ops table = { .open = dev_open, .close = dev_close };
static int (*all[])(int) = { dev_open, dev_close };

int run(int n) { return table.open(n) + all[0](n); }
"""
    return listed(files, "dev_open", ["ops.c:6", "ops.c:7"], path="ops.c")


@case("DeusData/codebase-memory-mcp#2128")
def class_named_in_settings_only() -> Verdict:
    """A class that only a configuration names by its dotted path is not without users."""
    files = """
=== app/__init__.py
=== app/middleware.py
class AuditMiddleware:
    def __call__(self, request):
        return request
=== app/settings.py
MIDDLEWARE = ["app.middleware.AuditMiddleware"]
=== pyproject.toml
[project]
name = "demo"
version = "1"

[project.entry-points."demo.plugins"]
audit = "app.middleware:AuditMiddleware"
"""
    made = Repository(files)
    done = made.impact("app/middleware.py:AuditMiddleware")
    named = "app/settings.py:1" in done.out
    return Verdict(named, not named, done.said)


@case("mikefarah/yq#1029, kislyuk/yq#126")
def yaml_value_behind_an_anchor() -> Verdict:
    text = "a: &cool cat  # the first\nb: *cool\nlist: [*cool, 'cat']\n"
    return value("c.yaml", text, "a", "dog", text.replace("&cool cat", "&cool dog"))


@case("python-poetry/tomlkit#392, pelletier/go-toml#156")
def toml_value_in_an_indented_table() -> Verdict:
    text = (
        '[Publisher]\n   [Publisher.Specs]\n       Protocol = "v5"\n       Port = 1166\n'
        "       Period = 20 # seconds\n#       Port = 1616\n\n[Reader.Specs]\nPeriod = 30\n"
    )
    return value("c.toml", text, "Publisher.Specs.Period", "25", text.replace("= 20 #", "= 25 #"))


@case("tox-dev/toml-fmt#390")
def toml_value_below_a_commented_one() -> Verdict:
    text = (
        "[tool.hatch]\n# version.source = { a = \"[x]\" }\nversion.source = 'vcs'\r\n"
        'version.raw-options = { local_scheme = "none" }  # be able\n'
    )
    return value(
        "pyproject.toml",
        text,
        "tool.hatch.version.raw-options.local_scheme",
        '"node"',
        text.replace('"none"', '"node"'),
    )
