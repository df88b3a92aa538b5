"""Moves and imports: the program does what it did, or the edit is refused, or what it leaves is listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edit_outcomes import EditCase as Case
from support.edit_outcomes import holds

CASES = {
    "named in texts for type checkers": Case(
        {
            "p/__init__.py": "",
            "p/a.py": """\
import typing
from types import TracebackType

T = typing.TypeVar("T", bound="Transport")
A = typing.TypeVar("A", bound="Other")


def made(kind: "Transport") -> "typing.Optional[Transport]":
    return typing.cast("Transport", kind)


class Transport:
    def __enter__(self: T) -> T:
        return self

    def __exit__(self, kind: "typing.Optional[type]", value: object, trace: "TracebackType") -> None:
        print("closed")


class Other:
    def made(self: A, trace: TracebackType) -> A:
        return self
""",
            "main.py": """\
from p.a import Transport, made

with Transport() as it:
    print(type(made(it)).__name__)
""",
        },
        "move_symbol",
        {"name": "Transport", "to_path": "p/b.py"},
    ),
    "its module is imported from the package above": Case(
        {
            "p/__init__.py": "",
            "p/a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
            "p/sub/__init__.py": "",
            "p/sub/use.py": "from .. import a\n\nprint(a.f(), a.g())\n",
            "main.py": "import p.sub.use\n",
        },
        "move_symbol",
        {"name": "f", "to_path": "p/b.py"},
    ),
    "a module is named through its package": Case(
        {
            "p/__init__.py": "",
            "p/a.py": "def f():\n    return 1\n",
            "p/use.py": "import p.a\n",
            "main.py": "import p\nimport p.use\n\nprint(p.a.f())\n",
        },
        "move_file",
        {"path": "p/a.py", "new_path": "p/b.py"},
    ),
    "named in a text that runs": Case(
        {
            "a.py": """\
import functools

SIZE = 3


@functools.singledispatch
def made(kind: "Transport"): ...


class Transport:
    size = SIZE
""",
            "main.py": "from a import Transport\n\nprint(Transport.size)\n",
        },
        "move_symbol",
        {"name": "Transport", "to_path": "b.py"},
        "refused",
        "SIZE from a.py",
    ),
    "decorated": Case(
        {
            "tools.py": """\
import functools


def loud(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args).upper()
    return call


# says hello
@loud
def hello(name):
    return 'hi ' + name
""",
            "greet.py": """\
'''Greetings.'''

BYE = 'bye'
""",
            "main.py": """\
import tools
from tools import hello

print(hello('a'), tools.hello('b'))
""",
        },
        "move_symbol",
        {"name": "hello", "to_path": "greet.py"},
    ),
    "alias": Case(
        {
            "inner/__init__.py": "",
            "inner/one.py": """\
def f1():
    return 1


RATE = 5
""",
            "inner/two.py": """\
def f2():
    return 2
""",
            "main.py": """\
from inner import two
from inner import one as utils


def a():
    return two.f2()


def b():
    return utils.f1()


def c():
    return utils.RATE


print(a(), b(), c())
""",
        },
        "move_symbol",
        {"name": "RATE", "to_path": "inner/two.py"},
    ),
    "typing": Case(
        {
            "app/__init__.py": "",
            "app/views.py": """\
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.models import User


def label(user: User) -> str:
    return user.name


def other():
    return 1
""",
            "app/text.py": """\
from __future__ import annotations


def strip(x):
    return x.strip()
""",
            "app/models.py": """\
from app.text import strip


class User:
    name = strip(' a ')
""",
            "main.py": """\
from app.views import label
from app.models import User

print(label(User()))
""",
        },
        "move_symbol",
        {"name": "label", "to_path": "app/text.py"},
    ),
    "optional": Case(
        {
            "codec.py": """\
try:
    import no_such_json as json
except ImportError:
    import json


def dump(value):
    return json.dumps(value)


def load(text):
    return json.loads(text)
""",
            "main.py": """\
from codec import dump, load

print(dump([1]), load('2'))
""",
        },
        "move_symbol",
        {"name": "dump", "to_path": "out.py"},
    ),
    "local": Case(
        {
            "a.py": """\
def lazy():
    from b import job, other
    return job() + other()


def again():
    import b
    return b.job()
""",
            "b.py": """\
import a


def job():
    return 1


def other():
    return len(a.__name__)
""",
            "main.py": """\
import a

print(a.lazy(), a.again())
""",
        },
        "move_symbol",
        {"name": "job", "to_path": "c.py"},
    ),
    "param": Case(
        {
            "mod.py": """\
def parse(text):
    return text.upper()


def rest():
    return 0
""",
            "main.py": """\
import mod


def run(parse):
    return mod.parse(parse) + str(mod.rest())


print(run('a'))
""",
        },
        "move_symbol",
        {"name": "parse", "to_path": "reader.py"},
    ),
    "reexp": Case(
        {
            "pkg/__init__.py": """\
from .core import build, rest

__all__ = ['build', 'rest']
""",
            "pkg/core.py": """\
__all__ = ['build', 'rest']


def build():
    return 'b'


def rest():
    return 'r'
""",
            "pkg/star.py": """\
from .core import *


def use():
    return build() + rest()
""",
            "main.py": """\
import pkg
from pkg import build
from pkg.star import use

print(pkg.build(), build(), use())
""",
        },
        "move_symbol",
        {"name": "build", "to_path": "pkg/make.py"},
    ),
    "state": Case(
        {
            "state.py": """\
level = 1


def raise_level():
    global level
    level += 1
    return level
""",
            "main.py": """\
import state

state.raise_level()
print(state.level)
""",
        },
        "move_symbol",
        {"name": "level", "to_path": "settings.py"},
        "refused",
        "state.py:5",
    ),
    "overloads": Case(
        {
            "a.py": """\
from typing import overload


@overload
def pick(a: int) -> int: ...
@overload
def pick(a: str) -> str: ...
def pick(a):
    return a


def rest():
    return 1
""",
            "main.py": """\
from a import pick, rest
print(pick(1), rest())
""",
        },
        "move_symbol",
        {"name": "pick", "to_path": "b.py", "path": "a.py"},
    ),
    "cond def": Case(
        {
            "a.py": """\
import sys

if sys.version_info > (3, 0):
    def f():
        return 3
else:
    def f():
        return 2
""",
            "main.py": """\
from a import f
print(f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "a.py:3",
    ),
    "try def": Case(
        {
            "a.py": """\
try:
    from fastx import f
except ImportError:
    def f():
        return 2
""",
            "main.py": """\
from a import f
print(f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "a.py:1",
    ),
    "name clash need": Case(
        {
            "a.py": """\
def helper():
    return 'a'


def f():
    return helper()
""",
            "b.py": """\
def helper():
    return 'b'


def g():
    return helper()
""",
            "main.py": """\
from a import f
from b import g
print(f(), g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "b.py:1",
    ),
    "builtin clash": Case(
        {
            "a.py": """\
def f(x):
    return len(x)
""",
            "b.py": """\
def len(x):
    return 99
""",
            "main.py": """\
from a import f
import b
print(f([1]), b.len(1))
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "b.py:1",
    ),
    "shadow builtin by need": Case(
        {
            "a.py": """\
from c import open


def f(x):
    return open(x)
""",
            "b.py": """\
def g(x):
    return open(x).read()
""",
            "c.py": """\
def open(x):
    return 'my'
""",
            "main.py": """\
from a import f
from b import g
print(f('x'), len(g('main.py')) > 0)
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "b.py:1",
    ),
    "uses state": Case(
        {
            "a.py": """\
count = 0


def bump():
    global count
    count += 1


def show():
    return count
""",
            "main.py": """\
from a import bump, show
bump()
print(show())
""",
        },
        "move_symbol",
        {"name": "show", "to_path": "b.py", "path": "a.py"},
        "refused",
        "a.py:5",
    ),
    "mutable shared ok": Case(
        {
            "a.py": """\
cache = {}


def put(k):
    cache[k] = 1


def show():
    return cache
""",
            "main.py": """\
from a import put, show
put(1)
print(show())
""",
        },
        "move_symbol",
        {"name": "show", "to_path": "b.py", "path": "a.py"},
    ),
    "needs own, used": Case(
        {
            "a.py": """\
X = 3


def f():
    return X


def g():
    return f()
""",
            "main.py": """\
from a import g
print(g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "uses X from",
    ),
    "still used": Case(
        {
            "a.py": """\
def f():
    return 1


def g():
    return f()
""",
            "main.py": """\
from a import g, f
import a
print(g(), f(), a.f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "circle by need": Case(
        {
            "pkg/__init__.py": "",
            "pkg/models.py": """\
from pkg.text import strip


class User:
    name = strip(' a ')
""",
            "pkg/text.py": """\
def strip(x):
    return x.strip()
""",
            "pkg/views.py": """\
from pkg.models import User


def label():
    return User.name
""",
            "main.py": """\
from pkg.views import label
print(label())
""",
        },
        "move_symbol",
        {"name": "label", "to_path": "pkg/text.py", "path": "pkg/views.py"},
        "refused",
        "pkg/models.py",
    ),
    "relative in body": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
def f():
    from . import c
    from .c import K
    return c.K + K
""",
            "pkg/c.py": "K = 2\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/b.py": "Z = 1\n",
            "main.py": """\
from pkg.a import f
from pkg.sub.b import Z
print(f(), Z)
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/sub/b.py", "path": "pkg/a.py"},
    ),
    "alias import as": Case(
        {
            "a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
from a import (
    f as ff,  # one
    g,
)
print(ff(), g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "dotted import": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
import pkg.a
print(pkg.a.f(), pkg.a.g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/b.py", "path": "pkg/a.py"},
    ),
    "dotted import sole": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
def f():
    return 1
""",
            "main.py": """\
import pkg.a
print(pkg.a.f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/b.py", "path": "pkg/a.py"},
    ),
    "name taken module alias": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
from pkg import a
b = 5
print(a.f(), a.g(), b)
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/b.py", "path": "pkg/a.py"},
    ),
    "try import user": Case(
        {
            "a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
try:
    from a import f, g
except ImportError:
    f = g = None
print(f(), g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "typing user": Case(
        {
            "a.py": """\
class T:
    x = 1
""",
            "main.py": """\
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from a import T
    import a


def f(t: T, u: 'a.T') -> 'T':
    return t


print(f(1, 2))
""",
        },
        "move_symbol",
        {"name": "T", "to_path": "b.py", "path": "a.py"},
    ),
    "to a module with another import of __future__": Case(
        {
            "a.py": """\
from __future__ import annotations


class T:
    def same(self, other: T) -> T:
        return other
""",
            "b.py": '"""Holds what is moved."""\nfrom __future__ import division\n\nX = 1 / 2\n',
            "main.py": "from a import T\nfrom b import X\n\nprint(T().same(X))\n",
        },
        "move_symbol",
        {"name": "T", "to_path": "b.py", "path": "a.py"},
    ),
    "to a module whose annotations are not evaluated": Case(
        {
            "a.py": """\
from __future__ import annotations


class T:
    def same(self, other: T) -> T:
        return other
""",
            "b.py": "from __future__ import division, annotations\n\nX = 1 / 2\n",
            "main.py": """\
from a import T
from b import X

print(T().same(X), open("b.py").read().count("annotations"))
""",
        },
        "move_symbol",
        {"name": "T", "to_path": "b.py", "path": "a.py"},
    ),
    "target imported it": Case(
        {
            "a.py": """\
def f():
    return 1
""",
            "b.py": """\
from a import f

X = f()


def g():
    return f() + X
""",
            "main.py": """\
from b import g
from a import f
print(g(), f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "target main guard": Case(
        {
            "a.py": """\
def f():
    return 1
""",
            "main.py": """\
import a


def run():
    return a.f()


if __name__ == '__main__':
    print(run())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "main.py", "path": "a.py"},
    ),
    "patch text": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
def f():
    return 1
""",
            "pkg/use.py": """\
from pkg import a


def go():
    return a.f()
""",
            "test_use.py": """\
from unittest import mock
from pkg import a, use


def test_go():
    with mock.patch('pkg.a.f', return_value=3):
        assert use.go() == 3
    with mock.patch.object(a, 'f', return_value=4):
        assert use.go() == 4


def test_monkey(monkeypatch):
    monkeypatch.setattr(a, 'f', lambda: 5)
    assert use.go() == 5
    monkeypatch.setattr('pkg.a.f', lambda: 6)
    assert use.go() == 6
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/b.py", "path": "pkg/a.py"},
    ),
    "entry point": Case(
        {
            "pkg/__init__.py": "",
            "pkg/cli.py": """\
def main():
    return 1


def rest():
    return 2
""",
            "pyproject.toml": """\
[project]
name = 'x'
[project.scripts]
x = 'pkg.cli:main'
""",
            "docs/use.md": "Call `pkg.cli.main`.\n",
            "main.py": """\
import tomllib, importlib
m, f = tomllib.load(open('pyproject.toml', 'rb'))['project']['scripts']['x'].split(':')
print(getattr(importlib.import_module(m), f)())
""",
        },
        "move_symbol",
        {"name": "main", "to_path": "pkg/run.py", "path": "pkg/cli.py"},
        "left",
        "docs/use.md:1",
    ),
    "decorator register": Case(
        {
            "app.py": """\
routes = {}


def route(p):
    def deco(f):
        routes[p] = f
        return f
    return deco
""",
            "views.py": """\
import app


@app.route('/')
def home():
    return 'h'
""",
            "main.py": """\
import app
import views
print(sorted(app.routes))
""",
        },
        "move_symbol",
        {"name": "home", "to_path": "pages.py", "path": "views.py"},
        "left",
        "views.py",
    ),
    "file const": Case(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": """\
from pathlib import Path


def here():
    return Path(__file__).parent.name
""",
            "main.py": """\
from pkg.a import here
print(here())
""",
        },
        "move_symbol",
        {"name": "here", "to_path": "lib.py", "path": "pkg/a.py"},
        "left",
        "pkg/a.py",
    ),
    "namespace": Case(
        {
            "app/a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "app/b.py": """\
from app.a import g


def h():
    return g()
""",
            "main.py": """\
from app.a import f
from app.b import h
print(f(), h())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "app/c.py", "path": "app/a.py"},
    ),
    "namespace needs": Case(
        {
            "app/a.py": """\
X = 1


def f():
    return X


def g():
    return 2
""",
            "app/b.py": """\
from app.a import g


def h():
    return g()
""",
            "main.py": """\
from app.a import f
from app.b import h
print(f(), h())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "app/b.py", "path": "app/a.py"},
    ),
    "needed import also taken by other": Case(
        {
            "a.py": """\
import json


def f(x):
    return json.dumps(x)


def g():
    return 1
""",
            "main.py": """\
from a import f, json
import a
print(f(1), json.loads('2'), a.json.loads('3'))
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "attr set": Case(
        {
            "a.py": """\
def f():
    return f.n


f.n = 3
""",
            "main.py": """\
from a import f
print(f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "a.py:5",
    ),
    "assign from outside": Case(
        {
            "a.py": """\
LEVEL = 1


def show():
    return LEVEL
""",
            "main.py": """\
import a
a.LEVEL = 5
print(a.show())
""",
        },
        "move_symbol",
        {"name": "LEVEL", "to_path": "b.py", "path": "a.py"},
        "refused",
        "main.py:2",
    ),
    "star needs": Case(
        {
            "c.py": """\
def h():
    return 1
""",
            "a.py": """\
from c import *


def f():
    return h()
""",
            "main.py": """\
from a import f
print(f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
        "refused",
        "a.py:1",
    ),
    "init source": Case(
        {
            "pkg/__init__.py": """\
from .core import g


def f():
    return g()
""",
            "pkg/core.py": """\
def g():
    return 2
""",
            "main.py": """\
import pkg
from pkg import f
print(f(), pkg.f(), pkg.g())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/extra.py", "path": "pkg/__init__.py"},
    ),
    "crlf": Case(
        {
            "a.py": "import os\r\n\r\n\r\ndef f():\r\n    return os.sep\r\n\r\n\r\ndef g():\r\n    return 2\r\n",
            "main.py": "\ufefffrom a import f, g\r\nprint(f(), g())\r\n",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "two functions local imports": Case(
        {
            "a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
def one():
    import a
    return a.f()


def two():
    import a
    return a.g() + a.f()


print(one(), two())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "semi": Case(
        {
            "a.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": "import sys; from a import f, g; print(f(), g())\n",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "a.py"},
    ),
    "reexport chain": Case(
        {
            "pkg/__init__.py": "from .core import f\n",
            "pkg/core.py": """\
def f():
    return 1
""",
            "pkg/use.py": """\
import pkg


def g():
    return pkg.f()
""",
            "main.py": """\
from pkg.use import g
import pkg.core
print(g(), pkg.core.f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "pkg/new.py", "path": "pkg/core.py"},
    ),
    "string ann": Case(
        {
            "a.py": """\
class T:
    x = 1
""",
            "main.py": """\
import typing
import a


def f(u: 'a.T') -> 'list[a.T]':
    return u


print([v.__name__ if isinstance(v, type) else str(v).replace('b.T', 'a.T') for v in typing.get_type_hints(f).values()])
""",
        },
        "move_symbol",
        {"name": "T", "to_path": "b.py", "path": "a.py"},
        "left",
        "main.py:9",
    ),
    "loud": Case(
        {
            "t.py": """\
import functools


def loud(f):
    @functools.wraps(f)
    def c(*a):
        return f(*a).upper()
    return c


@loud
def f():
    return 'a'
""",
            "main.py": """\
import t
print(t.f())
""",
        },
        "move_symbol",
        {"name": "f", "to_path": "b.py", "path": "t.py"},
    ),
    "basic": Case(
        {
            "pkg/__init__.py": "from .tools import f\n",
            "pkg/tools.py": """\
from . import nails
from .nails import K


def f():
    return nails.K + K
""",
            "pkg/nails.py": "K = 1\n",
            "main.py": """\
from pkg import tools
import pkg.tools
import pkg.tools as t
from pkg.tools import f as g
import pkg
print(tools.f(), pkg.tools.f(), t.f(), g(), pkg.f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "subpackage": Case(
        {
            "pkg/__init__.py": "from .tools import f\n",
            "pkg/tools.py": """\
from . import nails
from .nails import K


def f():
    return nails.K + K
""",
            "pkg/nails.py": "K = 1\n",
            "main.py": """\
from pkg import tools, nails
import pkg.tools
print(tools.f(), pkg.tools.f(), nails.K)
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/inner/kit.py"},
    ),
    "param same name": Case(
        {
            "tools.py": """\
def f(x):
    return x
""",
            "main.py": """\
import tools


def go(tools):
    return tools + 1


print(go(1), tools.f(2))
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "kit.py"},
    ),
    "new name taken": Case(
        {
            "tools.py": """\
def f(x):
    return x
""",
            "main.py": """\
import tools
kit = 3
print(kit, tools.f(2))
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "kit.py"},
    ),
    "to package": Case(
        {
            "tools.py": """\
def f(x):
    return x
""",
            "lib/__init__.py": "",
            "main.py": """\
import tools
import tools as tt
from tools import f
print(tools.f(2), tt.f(3), f(4))
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "lib/kit.py"},
    ),
    "strings": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def f(x):
    return x
""",
            "main.py": """\
import importlib
d = {'tools': 1}
print(importlib.import_module('pkg.tools').f(1), d['tools'])
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "top strings": Case(
        {
            "tools.py": """\
def f(x):
    return x
""",
            "main.py": """\
import importlib
d = {'tools': 1}
print(importlib.import_module('tools').f(1), d['tools'])
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "kit.py"},
    ),
    "pyproject": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def main():
    return 1
""",
            "pyproject.toml": """\
[project]
name='x'
[project.scripts]
x = 'pkg.tools:main'
[tool.y]
path = 'pkg/tools.py'
""",
            "Makefile": """\
run:
	python -m pkg.tools
""",
            "main.py": """\
import tomllib, importlib
m, f = tomllib.load(open('pyproject.toml', 'rb'))['project']['scripts']['x'].split(':')
print(getattr(importlib.import_module(m), f)())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
        "left",
        "pyproject.toml:6",
    ),
    "mock": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "test_a.py": """\
from unittest import mock
from pkg import tools


def test_a():
    with mock.patch('pkg.tools.f', return_value=2):
        assert tools.f() == 2
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "try typing": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
class T:
    x = 1
""",
            "main.py": """\
from typing import TYPE_CHECKING
try:
    from pkg import tools
except ImportError:
    tools = None
if TYPE_CHECKING:
    from pkg.tools import T


def f(t: 'T', u: 'tools.T'):
    return t


print(f(tools.T.x, 1))
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
        "left",
        "main.py:14",
    ),
    "package attr": Case(
        {
            "pkg/__init__.py": "from . import tools\n",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
import pkg
print(pkg.tools.f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "init exports module": Case(
        {
            "pkg/__init__.py": """\
from . import tools
from .tools import f

__all__ = ['tools', 'f']
""",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
from pkg import tools
print(tools.f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "file use": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
from pathlib import Path
HERE = Path(__file__).parent.name
""",
            "main.py": """\
from pkg.tools import HERE
print(HERE)
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "lib/kit.py"},
        "left",
        "pkg/tools.py",
    ),
    "star import": Case(
        {
            "pkg/__init__.py": "from .tools import *\n",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
from pkg import f
print(f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/_kit.py"},
    ),
    "multi": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "pkg/b.py": "K = 1\n",
            "lib/__init__.py": "",
            "main.py": """\
from pkg import (
    b,
    tools,
)
print(tools.f(), b.K)
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "lib/kit.py"},
    ),
    "bad ident": Case(
        {
            "tools.py": """\
def f():
    return 1
""",
            "main.py": """\
import tools
print(tools.f())
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "my-kit.py"},
        "refused",
        "my-kit",
    ),
    "dotted other package": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "pkg/b.py": "K = 1\n",
            "lib/__init__.py": "",
            "main.py": """\
import pkg.tools
import pkg.b
print(pkg.tools.f(), pkg.b.K)
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "lib/kit.py"},
    ),
    "module to package": Case(
        {
            "tools.py": """\
from other import K


def f():
    return K
""",
            "other.py": "K = 1\n",
            "main.py": """\
import tools
print(tools.f())
""",
        },
        "move_file",
        {"path": "tools.py", "new_path": "tools/__init__.py"},
    ),
    "src root": Case(
        {
            "src/pkg/__init__.py": "",
            "src/pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
import sys
sys.path.insert(0, 'src')
from pkg.tools import f
print(f())
""",
        },
        "move_file",
        {"path": "src/pkg/tools.py", "new_path": "src/pkg/sub/kit.py"},
    ),
    "getattr": Case(
        {
            "pkg/__init__.py": "from . import tools\n",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
import pkg
print(getattr(pkg, 'tools').f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
    ),
    "relative import_module": Case(
        {
            "pkg/__init__.py": "",
            "pkg/tools.py": """\
def f():
    return 1
""",
            "main.py": """\
import importlib
print(importlib.import_module('.tools', 'pkg').f())
""",
        },
        "move_file",
        {"path": "pkg/tools.py", "new_path": "pkg/kit.py"},
        "left",
        "main.py:2",
    ),
    "plain": Case(
        {
            "main.py": """\
import sys
import os
import json

print(os.sep, json.dumps(1))
""",
        },
        "organize_imports",
        {"path": "main.py"},
    ),
    "reexport": Case(
        {
            "util.py": """\
import sys
import os
from lib import f, g

X = os.sep
""",
            "lib.py": """\
def f():
    return 1


def g():
    return 2
""",
            "main.py": """\
from util import f, X
import util
print(f(), X, util.sys.byteorder)
""",
        },
        "organize_imports",
        {"path": "util.py"},
    ),
    "fixtures": Case(
        {
            "fix.py": """\
import pytest


@pytest.fixture
def ledger():
    return 1
""",
            "test_a.py": """\
import os
from fix import ledger


def test_a(ledger):
    assert ledger
""",
        },
        "organize_imports",
        {"path": "test_a.py"},
    ),
    "conftest": Case(
        {
            "fix.py": """\
import pytest


@pytest.fixture
def ledger():
    return 1
""",
            "conftest.py": """\
import os
from fix import ledger
""",
            "test_a.py": """\
def test_a(ledger):
    assert ledger
""",
        },
        "organize_imports",
        {"path": "conftest.py"},
    ),
    "effects": Case(
        {
            "reg.py": "items = []\n",
            "plug.py": """\
import reg

reg.items.append(1)
""",
            "main.py": """\
import sys
import plug
import reg
import os
print(reg.items)
""",
        },
        "organize_imports",
        {"path": "main.py"},
    ),
    "patched": Case(
        {
            "use.py": """\
import os
import helper
from helper import f


def go():
    return helper.f()
""",
            "helper.py": """\
def f():
    return 1
""",
            "test_a.py": """\
from unittest import mock
import use


def test_a():
    with mock.patch('use.f'):
        assert use.go() == 1
""",
        },
        "organize_imports",
        {"path": "use.py"},
    ),
    "eval": Case(
        {
            "main.py": """\
import math
import os

print(eval('math.pi'))
""",
        },
        "organize_imports",
        {"path": "main.py"},
    ),
    "same": Case(
        {
            "main.py": """\
import os

print(os.sep)
""",
        },
        "organize_imports",
        {"path": "main.py"},
        "refused",
        "Nothing differs",
    ),
    "try": Case(
        {
            "main.py": """\
try:
    import tomllib
except ImportError:
    tomllib = None
import os
print(tomllib is None)
""",
        },
        "organize_imports",
        {"path": "main.py"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.sampled(12)
async def test_the_program_does_what_it_did_or_is_left_alone_or_the_places_are_told(tmp_path: Path, case: Case):
    await holds(tmp_path, case)
