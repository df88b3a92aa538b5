"""Renames in Python: the program does what it did, or the rename is refused, or what it leaves is listed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from support.shop_workspace import offline, open_workspace
from tools.test_tools import opened, refusal

from repopilot.resolve.families import ties_of


class Case(NamedTuple):
    """Files, what is renamed, and what happens: `same`, the program prints the same and nothing is left; `refused`, and
    the message says where; or `left`, and the result says where."""

    files: dict[str, str]
    name: str
    new: str
    outcome: str = "same"
    where: str = ""
    gone: bool = True


def one(code: str, name: str, new: str, outcome: str = "same", where: str = "", *, gone: bool = True) -> Case:
    """A case of one file."""
    return Case({"main.py": code}, name, new, outcome, where, gone)


CASES = {
    "imported as itself, which exports it": Case(
        {
            "main.py": "import pkg\nfrom pkg import tool\n\nprint(tool(), pkg.tool())\n",
            "pkg/__init__.py": "from .kit import tool as tool\n",
            "pkg/kit.py": "def tool():\n    return 1\n",
        },
        "pkg/kit.py:tool",
        "gadget",
    ),
    "imported as itself from outside": one(
        "from os import sep as sep\n\nprint(sep)\n", "sep", "mark", "refused", "sep"
    ),
    "members of parameters that no fixture is known for": Case(
        {
            "main.py": """\
import ast
print(len(ast.parse(open("test_shelf.py").read()).body))
""",
            "shelf.py": """\
class Shelf:
    def append(self, item):
        return [item]
""",
            "conftest.py": """\
import pytest
from shelf import Shelf

@pytest.fixture
def shelf():
    return Shelf()
""",
            "test_shelf.py": """\
import pytest

@pytest.fixture(name="pile")
def its_pile(shelf: list):
    return shelf

@pytest.mark.parametrize("shelf", [[], [1]])
def test_given(shelf):
    shelf.append(1)

class TestOwn:
    @pytest.fixture
    def shelf(self, shelf):
        shelf.append(2)
        return []

    def test_own(self, shelf):
        shelf.append(3)
""",
        },
        "shelf.py:Shelf.append",
        "put",
        "left",
        "(2):\ntest_shelf.py:9 shelf.append(1)\ntest_shelf.py:14 shelf.append(2)",
    ),
    "use in a notebook": Case(
        {
            "main.py": "def load(path):\n    return [path]\n\n\nprint(load('a'))\n",
            "explore.ipynb": '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [],\n'
            ' "source": ["from main import load\\n", "rows = load(1)"]}],\n "metadata": {}, "nbformat": 4}\n',
        },
        "load",
        "read",
        "left",
        "explore.ipynb:2 ",
    ),
    "use in code that is half written": Case(
        {
            "main.py": "class Queue:\n    def push(self, item):\n        return item\n\n\nprint(Queue().push(1))\n",
            "half.py": "from main import Queue\n\ndef half(\n    q = Queue()\n    q.push(1\n",
        },
        "Queue.push",
        "put",
        "left",
        "half.py:5 q.push(1",
    ),
    "member of what a fixture gives": Case(
        {
            "conftest.py": """\
import pytest
from shelf import Shelf

@pytest.fixture
def shelf():
    yield Shelf()

@pytest.fixture
def pile():
    return []
""",
            "shelf.py": """\
class Shelf:
    def append(self, item):
        return [item]

class Log:
    def append(self, item):
        return None
""",
            "test_shelf.py": """\
def test_append(shelf, pile):
    pile.append(1)
    assert shelf.append(1) == pile

class TestShelf:
    def test_twice(self, shelf):
        assert [shelf.append(n) for n in (1, 2)] == [[1], [2]]
""",
            "main.py": """\
import ast
print(len(ast.parse(open("test_shelf.py").read()).body), hasattr(__import__("shelf").Log, "append"))
""",
        },
        "shelf.py:Shelf.append",
        "put",
        gone=False,
    ),
    "decorator": one(
        """\
import functools

def logged(f):
    @functools.wraps(f)
    def inner(*args):
        return "log", f(*args)
    return inner

@logged
def add(a, b):
    return a + b

print(add(1, 2), logged(max)(3, 4))
""",
        "logged",
        "traced",
    ),
    "decorator with arguments on a method": one(
        """\
def repeat(times):
    def around(f):
        return lambda *a: [f(*a) for _ in range(times)]
    return around

class Bell:
    @repeat(2)
    def ring(self):
        return "ding"

    both = repeat(3)(lambda: "dong")

print(Bell().ring(), Bell.both())
""",
        "repeat",
        "again",
    ),
    "nested class": one(
        """\
class Outer:
    class Inner:
        size = 3

        def grow(self):
            return Outer.Inner.size + self.size

    inner = Inner()
    made = [Inner for _ in range(2)][:0] if False else Inner

print(Outer.Inner().grow(), Outer.inner.size, Outer.made.size)
""",
        "Outer.Inner",
        "Core",
        gone=False,
    ),
    "attribute of a nested class": one(
        """\
class Outer:
    class Inner:
        size = 3

        def grow(self):
            return Outer.Inner.size + self.size

class Other:
    size = 9

print(Outer.Inner().grow(), Outer.Inner.size, Other.size, Other().size)
""",
        "Outer.Inner.size",
        "width",
        gone=False,
    ),
    "f-strings within f-strings": one(
        """\
def unit():
    return "m"

class Rule:
    def length(self):
        return 4

rule = Rule()
print(f"{f'{rule.length()}'}{unit()} {f'{rule.length():>{rule.length()}}'} {rule.length()=}".replace("length", "size"))
""",
        "Rule.length",
        "size",
        gone=False,
    ),
    "star import with __all__": Case(
        {
            "shop/__init__.py": "from shop.prices import *\nfrom shop.prices import __all__\n",
            "shop/prices.py": "__all__ = ['price'] + ['tax']\n\n\ndef price():\n    return 1\n\n\ndef tax():\n"
            "    return 2\n",
            "main.py": "import shop\nfrom shop import *\n\nprint(price(), tax(), shop.price(), shop.prices.price())\n",
        },
        "shop/prices.py:price",
        "cost",
        gone=False,
    ),
    "star import of a name with the new name": Case(
        {
            "a.py": "def load():\n    return 'a'\n",
            "b.py": "def fetch():\n    return 'b'\n",
            "main.py": "from a import *\nfrom b import *\n\nprint(load(), fetch())\n",
        },
        "load",
        "fetch",
        "refused",
        "main.py:4",
    ),
    "circular imports": Case(
        {
            "ping.py": "import pong\n\n\ndef hit(n):\n    return n and pong.back(n - 1)\n",
            "pong.py": "import ping\n\n\ndef back(n):\n    return n and ping.hit(n - 1)\n",
            "main.py": "import ping\nfrom ping import hit as strike\n\nprint(ping.hit(3), strike(2))\n",
        },
        "hit",
        "serve",
    ),
    "names in other alphabets": one(
        """\
class Größe:
    def länge(self):
        return "ä"

größe = Größe()
print(größe.länge(), f"{größe.länge()} è {größe.länge()}", [größe.länge for größe in [größe]][0]())
""",
        "Größe.länge",
        "长度",
    ),
    "a name as long as another's part": one(
        "def run():\n    return 1\n\n\ndef rerun():\n    return run() + 1\n\n\n"
        "run_all = [run, rerun]\nprint([f() for f in run_all])\n",
        "run",
        "go",
        gone=False,
    ),
    "same name as a builtin": one(
        """\
def filter(rows):
    return [row for row in rows if row]

def apply(rows):
    return filter(rows), list(map(bool, rows))

print(apply([0, 1]))
""",
        "filter",
        "select",
    ),
    "to the name of a builtin that is used": one(
        """\
def count(rows):
    return sum(1 for _ in rows)

def twice(rows):
    return count(rows) + len(rows)

print(twice([1, 2]))
""",
        "count",
        "len",
        "refused",
        "main.py:5",
    ),
    "metaclass": one(
        """\
class Registry(type):
    def make(cls, n):
        return cls() if n else None

    def __new__(mcs, name, bases, body, label=""):
        kind = super().__new__(mcs, name, bases, body)
        kind.label = label
        return kind

class Thing(metaclass=Registry, label="x"):
    pass

print(type(Thing.make(1)).__name__, Thing.label)
""",
        "Registry.make",
        "build",
    ),
    "slots": one(
        """\
class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __repr__(self):
        return f"{self.x},{self.y}"

p = Point(1, y=2)
p.x += 4
print(p, p.x)
""",
        "Point.x",
        "left",
        gone=False,
    ),
    "enum members": one(
        """\
from enum import Enum, auto

class Colour(Enum):
    RED = auto()
    BLUE = auto()

    def warm(self):
        return self is Colour.RED or self == type(self).RED

def named(colour: Colour):
    match colour:
        case Colour.RED:
            return 1
        case _:
            return 2

print(Colour.RED.warm(), named(Colour.RED), named(Colour.BLUE), [c.value for c in Colour])
""",
        "Colour.RED",
        "CRIMSON",
    ),
    "enum member by its name": one(
        """\
from enum import Enum

class Colour(Enum):
    RED = "r"

print(Colour["RED"].value, Colour.RED.value)
""",
        "Colour.RED",
        "CRIMSON",
        "left",
        "main.py:6",
    ),
    "async methods": one(
        """\
import asyncio

class Client:
    async def get(self, key):
        return key

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

class Fake(Client):
    async def get(self, key):
        return 2 * await super().get(key)

async def main():
    async with Fake() as client:
        print(await client.get("a"), {}.get("a", 3), await asyncio.gather(*(Client().get(k) for k in "xy")))

asyncio.run(main())
""",
        "Client.get",
        "fetch",
        "left",
        "main.py:19",
    ),
    "closures and nonlocal": one(
        """\
def counter():
    total = 0
    def add(n):
        nonlocal total
        total += n
        return total
    return add

total = 5
add = counter()
print(add(1), add(2), total)
""",
        "total",
        "whole",
        gone=False,
    ),
    "to a name that a closure binds": one(
        """\
def helper():
    return 1

def outer():
    found = 2
    def inner():
        return helper() + found
    return inner()

print(outer())
""",
        "helper",
        "found",
        "refused",
        "main.py:7",
    ),
    "class attribute through an instance": one(
        """\
class Conf:
    limit = 3

    def over(self, n):
        return n > self.limit

    @classmethod
    def wide(cls):
        cls.limit = 10
        return cls.limit

class Strict(Conf):
    limit = 1

print(Conf().over(2), Strict().over(2), Conf().limit, Conf.wide(), Strict.limit)
""",
        "Conf.limit",
        "most",
    ),
    "attribute set in several methods": one(
        """\
class Job:
    def __init__(self):
        self.state = "new"

    def start(self):
        self.state, self.tries = "on", 1
        return self

    def stop(self):
        del self.state

class Late(Job):
    def start(self):
        super().start()
        self.state = "late"
        return self

print(Job().state, Job().start().state, Late().start().state)
""",
        "Job.state",
        "phase",
        "left",
        "main.py:18",
    ),
    "super chains": one(
        """\
class A:
    def path(self):
        return ["A"]

class B(A):
    def path(self):
        return ["B", *super().path()]

class C(A):
    def path(self):
        return ["C", *super(C, self).path()]

class D(B, C):
    def path(self):
        return ["D", *super().path(), *A.path(self)]

print(D().path(), [k.path(k()) for k in (B, C)])
""",
        "A.path",
        "way",
    ),
    "mixins": one(
        """\
class Loud:
    def say(self):
        return super().say().upper()

class Person:
    def say(self):
        return "hi"

class Shouter(Loud, Person):
    pass

print(Shouter().say(), Person().say())
""",
        "Person.say",
        "speak",
    ),
    "multiple inheritance of one name": one(
        """\
class Left:
    def go(self):
        return "l"

class Right:
    def go(self):
        return "r"

class Both(Left, Right):
    pass

class Apart:
    def go(self):
        return "a"

print(Both().go(), Right().go(), Apart().go())
""",
        "Right.go",
        "move",
        gone=False,
    ),
    "multiple inheritance below an overriding class": one(
        """\
class Top:
    def go(self):
        return "t"

class Left(Top):
    def go(self):
        return "l" + super().go()

class Right:
    def go(self):
        return "r"

class Both(Left, Right):
    pass

class Apart:
    def go(self):
        return "a"

print(Both().go(), Right().go(), Top().go(), Apart().go())
""",
        "Right.go",
        "move",
        gone=False,
    ),
    "to a name that a subclass has": one(
        """\
class Base:
    def run(self):
        return 1

class Child(Base):
    def start(self):
        return 2

print(Child().run(), Child().start())
""",
        "Base.run",
        "start",
        "refused",
        "main.py:",
    ),
    "conditional imports": Case(
        {
            "fast.py": "def pack(x):\n    return x\n",
            "slow.py": "def pack(x):\n    return x\n",
            "main.py": "import sys\n\nif sys.version_info > (3, 0):\n    from fast import pack\nelse:\n"
            "    from slow import pack\n\nprint(pack(1))\n",
        },
        "fast.py:pack",
        "bundle",
        gone=False,
    ),
    "type comments": one(
        "class Box:\n    pass\n\n\ndef wrap(n):\n    # type: (int) -> Box\n"
        "    return Box()\n\n\nx = wrap(1)  # type: Box\nprint(type(x) is Box)\n",
        "Box",
        "Crate",
        gone=False,
    ),
    "doctest": one(
        '''\
def area(w):
    """The area.

    >>> area(2)
    4
    """
    return w * w

import doctest
print(doctest.testmod().failed, area(3))
''',
        "area",
        "surface",
        gone=False,
    ),
    "two definitions of one name": one(
        """\
def pick(x):
    return x

first = pick

def pick(x):
    return x + 1

print(first(1), pick(1))
""",
        "pick",
        "choose",
    ),
    "a function that an if defines twice": one(
        """\
import sys

if sys.platform == "win32":
    def home():
        return "w"
else:
    def home():
        return "u"

print(home() in "wu")
""",
        "home",
        "base",
    ),
    "an import within a function that has the old name": Case(
        {
            "kit.py": "def tool():\n    return 1\n",
            "main.py": "def use():\n    from kit import tool\n    return tool()\n\n\ndef tool():\n"
            "    return 2\n\n\nprint(use(), tool())\n",
        },
        "kit.py:tool",
        "device",
        gone=False,
    ),
    "except and with names": one(
        """\
from contextlib import nullcontext

error = "outer"

def read():
    try:
        raise ValueError("inner")
    except ValueError as error:
        text = str(error)
    with nullcontext(3) as handle:
        pass
    return text, handle

print(read(), error)
""",
        "error",
        "fault",
        gone=False,
    ),
    "typed dict": one(
        """\
from typing import TypedDict

class Row(TypedDict):
    name: str
    size: int

def show(row: Row):
    return row["name"] * row["size"]

row: Row = {"name": "a", "size": 2}
print(show(row), show(Row(name="b", size=1)))
""",
        "Row.size",
        "count",
        "left",
        "main.py:10",
    ),
    "named tuple": one(
        """\
from typing import NamedTuple

class Pair(NamedTuple):
    left: int
    right: int = 0

    def total(self):
        return self.left + self.right

pair = Pair(left=1)._replace(left=4)
first, second = pair
match pair:
    case Pair(left=n):
        print(n)
print(pair.left, pair.total(), first)
""",
        "Pair.left",
        "head",
    ),
    "dataclass that derives": one(
        """\
from dataclasses import dataclass, field, replace

@dataclass
class Base:
    width: int = field(default=1)

@dataclass
class Box(Base):
    depth: int = 2

    def size(self):
        return self.width * self.depth

box = Box(width=3, depth=2)
print(box.size(), replace(box, width=5).size(), Base(width=7).width)
""",
        "Base.width",
        "breadth",
    ),
    "getattr and friends": one(
        """\
class Plan:
    def step(self):
        return 1

plan = Plan()
if hasattr(plan, "step"):
    print(getattr(plan, "step")(), getattr(plan, "step", None)())
setattr(plan, "step", lambda: 2)
print(plan.step())
""",
        "Plan.step",
        "phase",
    ),
    "getattr of something unknown": one(
        """\
class Plan:
    def step(self):
        return 1

def ask(thing):
    return getattr(thing, "step")()

print(ask(Plan()))
""",
        "Plan.step",
        "phase",
        "left",
        "main.py:6",
    ),
    "partial and keywords": one(
        """\
from functools import partial

def area(width, height):
    return width * height

double = partial(area, 2)
print(double(height=3), list(map(area, [1], [2])), (lambda f: f(1, 2))(area))
""",
        "area",
        "surface",
    ),
    "overloads": one(
        """\
from typing import overload

@overload
def pick(x: int) -> int: ...
@overload
def pick(x: str) -> str: ...
def pick(x):
    return x

print(pick(1), pick("a"))
""",
        "pick",
        "choose",
    ),
    "property with setter and deleter in a hierarchy": one(
        """\
class Base:
    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self._level = value

    @level.deleter
    def level(self):
        del self._level

class Child(Base):
    @Base.level.getter
    def level(self):
        return super().level + 1

child = Child()
child.level = 3
print(child.level)
del child.level
""",
        "Base.level",
        "grade",
        gone=False,
    ),
    "a variable of a comprehension": one(
        """\
row = 9

def rows(table):
    return [row for row in table if (row and row > 1)], {row: row for row in table}, row

print(rows([1, 2]), (lambda row: row)(1))
""",
        "row",
        "line",
        gone=False,
    ),
    "exception class": Case(
        {
            "errors.py": "class Failed(Exception):\n    pass\n",
            "main.py": "import errors\nfrom errors import Failed as Oops\n\ntry:\n"
            "    raise errors.Failed('x')\nexcept (KeyError, Oops) as e:\n"
            "    print(type(e) is errors.Failed)\n",
        },
        "Failed",
        "Broken",
    ),
    "type checking import and text annotations": Case(
        {
            "model.py": "class User:\n    name = 'u'\n",
            "main.py": "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING, cast\n\n"
            "if TYPE_CHECKING:\n"
            "    from model import User\n\n\ndef label(user: User, more: 'dict[str, User] | None' = None) -> str:\n"
            "    return cast('User', user).name\n\n\nimport model\n\nprint(label(model.User()))\n",
        },
        "User",
        "Person",
    ),
    "generic class": one(
        """\
from typing import Generic, TypeVar

T = TypeVar("T")

class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self

print(Stack[int]().push(1).push(2).items)
""",
        "Stack.push",
        "put",
    ),
    "an override of a library's method": one(
        """\
import json

class Encoder(json.JSONEncoder):
    def default(self, o):
        return list(o)

print(json.dumps({1, 2}, cls=Encoder))
""",
        "Encoder.default",
        "fallback",
        "left",
        "json/encoder.py",
    ),
    "to the name of a library's method": one(
        "class Bag(list):\n    def tally(self):\n        return len(self)\n\n\n"
        "print(Bag([1]).tally(), Bag([1, 1]).count(1))\n",
        "Bag.tally",
        "count",
        "refused",
        "main.py:6",
    ),
    "callbacks in a dict and as default": one(
        """\
def draw(x):
    return x

TABLE = {"draw": draw}

def run(name, f=draw, *, g=lambda: draw):
    return TABLE[name](1), f(2), g()(3)

print(run("draw"))
""",
        "draw",
        "paint",
        gone=False,
    ),
    "global in several functions": one(
        """\
def start():
    global state
    state = 1

def stop():
    global state
    del state

def show():
    return state

state = 0
start()
print(show(), state)
stop()
""",
        "state",
        "phase",
    ),
    "a package's submodule of the same name": Case(
        {
            "pkg/__init__.py": "from pkg.load import load\n",
            "pkg/load.py": "def load():\n    return 1\n",
            "main.py": "import pkg\nfrom pkg import load\nfrom pkg.load import load as again\n\n"
            "print(load(), again())\n",
        },
        "pkg/load.py:load",
        "fetch",
        gone=False,
    ),
    "relative imports": Case(
        {
            "app/__init__.py": "",
            "app/core.py": "def make():\n    return 1\n",
            "app/sub/__init__.py": "from ..core import make\n",
            "app/sub/deep.py": "from . import make\nfrom .. import core\n\n\ndef go():\n"
            "    return make(), core.make()\n",
            "main.py": "from app.sub.deep import go\n\nprint(go())\n",
        },
        "app/core.py:make",
        "create",
    ),
    "half-written code beside it": Case(
        {
            "kit.py": "def tool():\n    return 1\n",
            "main.py": "from kit import tool\n\nprint(tool())\n",
            "draft.py": "from kit import tool\n\ndef half(\n    tool(\n",
        },
        "kit.py:tool",
        "device",
        "left",
        "draft.py",
    ),
    "a class that patches itself": one(
        """\
class Base:
    pass

def hello(self):
    return "hello"

Base.hello = hello
print(Base().hello())
""",
        "hello",
        "greet",
        gone=False,
    ),
    "singledispatch": one(
        """\
from functools import singledispatch

@singledispatch
def show(x):
    return "?"

@show.register
def _(x: int):
    return "int"

@show.register(str)
def show_text(x):
    return "str"

print(show(1), show("a"), show(None))
""",
        "show",
        "render",
        gone=False,
    ),
    "cached property and private names": one(
        """\
from functools import cached_property

class Page:
    def __secret(self):
        return 1

    @cached_property
    def body(self):
        return self.__secret() + Page.__secret(self)

page = Page()
print(page.body, page.__dict__["body"])
""",
        "Page.body",
        "content",
        "left",
        "main.py:12",
    ),
    "a class that begins with a static method": one(
        """\
class Box:
    @staticmethod
    def made(size):
        return Box(size)

    def __init__(self, size):
        self.size = size

    def twice(self):
        return self.size * 2

print(Box.made(2).twice())
""",
        "Box.size",
        "count",
        gone=False,
    ),
    "a static method under another decorator": one(
        """\
import functools

class Box:
    def __init__(self, size):
        self.size = size

    @functools.lru_cache
    @staticmethod
    def of(other):
        return other.size

class Bag:
    size = 7

print(Box.of(Bag), Box(2).size)
""",
        "Box.size",
        "count",
        "left",
        "main.py:10",
    ),
    "a name of one letter in all places": one(
        """\
def f(x, *, f=None):
    return x if f is None else f(x)

class f_:
    f = staticmethod(f)

print(f(1), f(2, f=f), f_.f(3), f_().f(4), f"{f(5)}")
""",
        "f",
        "g",
        gone=False,
    ),
    "walrus in a comprehension in a class method": one(
        """\
class Scan:
    last = None

    def all(self, rows):
        found = [last for row in rows if (last := row) > 1]
        return found, last, self.last

print(Scan().all([1, 2, 3]))
""",
        "Scan.last",
        "latest",
        gone=False,
    ),
    "to a private name that is used outside": one(
        "class Box:\n    def size(self):\n        return 1\n\n\nprint(Box().size())\n",
        "Box.size",
        "__size",
        "refused",
        "main.py:6",
    ),
    "a private name of a class and of its subclass": one(
        """\
class Base:
    def __work(self):
        return 1

    def run(self):
        return self.__work()

class Child(Base):
    def __work(self):
        return 2

    def both(self):
        return self.__work(), self.run()

print(Child().both())
""",
        "Base.__work",
        "__labour",
        gone=False,
    ),
    "a special method": one(
        "class Box:\n    def __len__(self):\n        return 1\n\n\nprint(len(Box()))\n",
        "Box.__len__",
        "length",
        "refused",
        "__len__",
    ),
    "a name that is put together": one(
        """\
class Shell:
    def do_stop(self):
        return "stopped"

    def run(self, command):
        return getattr(self, f"do_{command}")()

print(Shell().run("stop"))
""",
        "Shell.do_stop",
        "halt",
        "left",
        "main.py:6",
    ),
    "a name that is put together behind a fixed end": one(
        """\
class Shell:
    def stop_all(self):
        return "stopped"

    def run(self, command):
        wanted = f"{command}_all"
        return getattr(self, wanted)()

print(Shell().run("stop"))
""",
        "Shell.stop_all",
        "halt",
        "left",
        "main.py:6",
    ),
    "a name that is put together from a text over two lines": one(
        r"""
class Shell:
    def do_stop(self):
        return "stopped"

    def run(self, command):
        return getattr(self, "do_\
" + command)()

print(Shell().run("stop"))
""",
        "Shell.do_stop",
        "halt",
        "left",
        "main.py:7",
    ),
    "a name that is put together with a character by its number": one(
        r"""
class Shell:
    def do_stop(self):
        return "stopped"

    def run(self, command):
        return getattr(self, "\x64o\137%s" % command)()

print(Shell().run("stop"))
""",
        "Shell.do_stop",
        "halt",
        "left",
        "main.py:7",
    ),
    "a name that is put together from texts side by side": one(
        r"""
class Shell:
    def do_stop(self):
        return "stopped"

    def run(self, command):
        return getattr(self, 'do' '_' + command)()

print(Shell().run("stop"))
""",
        "Shell.do_stop",
        "halt",
        "left",
        "main.py:7",
    ),
    "a name that is put together by a sum": one(
        """\
class Shell:
    def stop_all(self):
        return "stopped"

    def run(self, command):
        wanted = command + "_all"
        return getattr(self, wanted)()

print(Shell().run("stop"))
""",
        "Shell.stop_all",
        "halt",
        "left",
        "main.py:6",
    ),
    "a name that is put together by a percent sign": one(
        """\
class Shell:
    def stop_all(self):
        return "stopped"

    def run(self, command):
        wanted = "%s_all" % command
        return getattr(self, wanted)()

print(Shell().run("stop"))
""",
        "Shell.stop_all",
        "halt",
        "left",
        "main.py:6",
    ),
    "a name that is put together by format": one(
        """\
class Shell:
    def stop_all(self):
        return "stopped"

    def run(self, command):
        wanted = "{}_all".format(command)
        return getattr(self, wanted)()

print(Shell().run("stop"))
""",
        "Shell.stop_all",
        "halt",
        "left",
        "main.py:6",
    ),
    "a global that is put together": one(
        """\
def load_json():
    return "json"

def load(kind):
    return globals()[f"load_{kind}"]()

print(load("json"))
""",
        "load_json",
        "read",
        "left",
        "main.py:5",
    ),
    "a name that is put together and can't be this one": one(
        """\
class Shell:
    def stop(self):
        return "stopped"

    def do_stop(self):
        return self.stop()

    def run(self, command):
        return getattr(self, "do_" + command)()

print(Shell().run("stop"))
""",
        "Shell.stop",
        "halt",
        gone=False,
    ),
    "a script without a suffix": Case(
        {
            "kit.py": "def tool():\n    return 1\n",
            "bin/run": "#!/usr/bin/env python3\nfrom kit import tool\n\nprint(tool())\n",
            "main.py": "import runpy\n\nrunpy.run_path('bin/run')\n",
        },
        "kit.py:tool",
        "device",
    ),
    "a parameter": one(
        "def area(width, height=1):\n    return width * height\n\n\nwidth = 3\n"
        "print(area(width=width), area(2, height=4))\n",
        "area.width",
        "breadth",
        gone=False,
    ),
    "a word of a script in another language": Case(
        {
            "kit.py": "class Jar:\n    def set(self, x):\n        return x\n",
            "main.py": "from kit import Jar\n\nprint(Jar().set(1))\n",
            "check.sh": "#!/bin/sh\nset -e\n",
        },
        "kit.py:Jar.set",
        "put",
        gone=False,
    ),
    "an entry point": Case(
        {
            "app/__init__.py": "",
            "app/cli.py": "def run():\n    print('ran')\n",
            "main.py": "from app.cli import run\n\nrun()\n",
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n\n[project.scripts]\napp = "app.cli:run"\n',
        },
        "app/cli.py:run",
        "start",
        "left",
        "pyproject.toml:6",
    ),
    "a template": Case(
        {
            "page.html": "<p>{{ user.full_name }}</p>\n",
            "main.py": "class User:\n    def full_name(self):\n        return 'a'\n\n\nprint(User().full_name())\n",
        },
        "main.py:User.full_name",
        "whole_name",
        "left",
        "page.html:1",
    ),
    "a method of a class set by a function": one(
        """\
import types

class Box:
    def size(self):
        return 1

box = types.SimpleNamespace(size=lambda: 2)
print(Box().size(), box.size())
""",
        "Box.size",
        "extent",
        "left",
        "main.py:8",
    ),
    "a method to an attribute that a method sets": one(
        """\
class Sum:
    def __init__(self):
        self.total = 1

    def add(self):
        return self.total

print(Sum().add())
""",
        "Sum.add",
        "total",
        "refused",
        "main.py:",
    ),
}


def printed(folder: Path) -> str:
    """What the program prints."""
    command = [sys.executable, "-B", "main.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.sampled(12)
async def test_the_program_is_the_same_or_the_rename_is_refused_or_what_is_left_is_listed(tmp_path: Path, case: Case):
    folder = tmp_path / "it"
    for path, text in case.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    before = printed(folder)
    async with opened(open_workspace(folder, offline(tmp_path / "home"))) as tools:
        path, _, name = case.name.rpartition(":")
        arguments = {"name": name, "new_name": case.new, "path": path or next(iter(case.files))}
        if case.outcome == "refused":
            said = await refusal(tools, "rename_symbol", **arguments)
            assert case.where in said and not tools.copy.changes()
            return
        done = await tools("rename_symbol", **arguments)
        for change in tools.copy.changes():
            (folder / change.path).write_text(change.content)
    if case.outcome == "left":
        assert not done.data["done"] and case.where in done.text
        return
    assert done.data["done"], done.text
    assert printed(folder) == before
    old = name.rpartition(".")[2]
    assert not case.gone or not any(old in (folder / p).read_text() for p in case.files if f"{old}.py" not in p)


USED = {"kit.py": "def tool():\n    return 1\n", "main.py": "from kit import tool\n\nprint(tool())\n"}


def written(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.slow
async def test_names_are_qualified_by_modules_and_in_any_notation(tmp_path: Path):
    code = "class Bell:\n    def ring(self):\n        return 1\n\n\ndef ring():\n    return 2\n"
    files = {f"kit/{name}.py": code for name in ("loud", "mute")}
    async with opened(open_workspace(written(tmp_path / "it", files), offline(tmp_path / "home"))) as tools:
        await tools("rename_symbol", name="kit.loud.ring", new_name="kit.loud.ring_once")
        await tools("rename_symbol", name="mute.Bell::ring", new_name="Bell::clang")
        assert {path: tools.copy.text(path) for path in files} == {
            "kit/loud.py": code.replace("def ring()", "def ring_once()"),
            "kit/mute.py": code.replace("def ring(self)", "def clang(self)"),
        }
        said = await refusal(tools, "rename_symbol", name="loud.Bell.ring", new_name="Horn.clang")
        assert "'Horn.clang' is not a valid identifier" in said
        assert "No symbol 'loud.clang'" in await refusal(tools, "rename_symbol", name="loud.clang", new_name="rung")


@pytest.mark.slow
async def test_without_a_server_nothing_is_renamed_that_others_may_mean(tmp_path: Path):
    async with opened(open_workspace(written(tmp_path / "it", USED), offline(tmp_path / "home"))) as tools:
        assert tools.copy.resolver.engine("kit.py") == "ty"
        tools.copy.close()
        said = await refusal(tools, "rename_symbol", name="tool", new_name="device", path="kit.py")
        assert "main.py:1 from kit import tool" in said and not tools.copy.changes()


@pytest.mark.slow
async def test_without_a_server_overriding_methods_are_not_left_behind(tmp_path: Path):
    code = "class A:\n    def f(self):\n        return 1\n\n\nclass B(A):\n    def f(self):\n        return 2\n"
    async with opened(open_workspace(written(tmp_path / "it", {"m.py": code}), offline(tmp_path / "home"))) as tools:
        assert tools.copy.resolver.engine("m.py") == "ty"
        tools.copy.close()
        said = await refusal(tools, "rename_symbol", name="A.f", new_name="g")
        assert "m.py:7 def f(self):" in said and not tools.copy.changes()


@pytest.mark.slow
async def test_a_file_that_changes_on_disk_meanwhile_is_not_taken_back(tmp_path: Path):
    folder = written(tmp_path / "it", USED)
    async with opened(open_workspace(folder, offline(tmp_path / "home"))) as tools:
        await asyncio.to_thread(tools.copy.resolver.meanings, "tool")
        (folder / "main.py").write_text("from kit import tool\n\nprint(tool() + 1)\n")
        await tools("rename_symbol", name="tool", new_name="device", path="kit.py")
        assert tools.copy.text("main.py") == "from kit import device\n\nprint(device() + 1)\n"


async def test_renaming_reads_a_local_folder_where_it_lies(tmp_path: Path):
    """Copying a large repository takes longer than all the rest."""
    folder = written(tmp_path / "it", USED)
    async with opened(open_workspace(folder, offline(tmp_path / "home"))) as tools:
        await tools("rename_symbol", name="tool", new_name="device", path="kit.py")
        assert await asyncio.to_thread(lambda: tools.copy.resolver.root) == folder
        await tools("create_file", path="more.py", content="import kit\n")
        copied = await asyncio.to_thread(lambda: tools.copy.resolver.root)
        assert (copied / "more.py").exists() and not (folder / "more.py").exists()
        uses = [one.span.path for one in await asyncio.to_thread(tools.copy.resolver.occurrences, "device")]
        assert sorted(set(uses)) == ["kit.py", "main.py"]


@pytest.mark.slow
async def test_renaming_in_python_asks_nothing_about_other_languages(tmp_path: Path):
    other = "impl Clone for Box { fn clone(&self) -> Box { self.clone() } }\n"
    files = {"kit.py": "class Kit:\n    def clone(self):\n        return Kit().clone()\n", "box.rs": other}
    async with opened(open_workspace(written(tmp_path / "it", files), offline(tmp_path / "home"))) as tools:
        done = await tools("rename_symbol", name="Kit.clone", new_name="copied")
        assert done.data["files"] == ["kit.py"] and not done.data["unsure_count"]
        ties = await asyncio.to_thread(ties_of, tools.copy.resolver, "clone", "python")
        assert {span.path for spans in ties.classes().values() for span in spans} == set()


@pytest.mark.slow
async def test_what_an_edit_leaves_behind_is_said_by_check(tmp_path: Path):
    async with opened(open_workspace(written(tmp_path / "it", USED), offline(tmp_path / "home"))) as tools:
        await tools("replace_symbol", path="kit.py", name="tool", code="def device():\n    return 1\n")
        done = await tools("check")
        assert any(row["path"] == "main.py" for row in done.data["new"]) and "main.py" in done.text
        await tools("replace_text", path="main.py", old="tool", new="device", count=2)
        assert not (await tools("check")).data["new"]
