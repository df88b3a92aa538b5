"""Small repositories in five languages: what imports, calls, inherits, tests and stores what."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.code import languages
from repopilot.code.graph.build import link_graph
from repopilot.code.graph.graph import Edge, Graph, callees, callers, dependents, find, shortest_path
from repopilot.code.split import analyse
from repopilot.project.manifest import read_manifest


def _graph(files: dict[str, str]) -> Graph:
    ordered = sorted(files.items())
    analyses = [analyse(p, t, languages.language_of(p) or "", languages.file_kind(p)) for p, t in ordered]
    manifests = [m for p, t in files.items() if (m := read_manifest(p, t))]
    return link_graph(analyses, manifests)


def _edges(graph: Graph, kind: Edge) -> dict[tuple[str, str], float]:
    def name(node: int) -> str:
        found = graph.nodes[node]
        return found.name if found.kind in ("file", "package") else f"{found.path}:{found.name}"

    return {
        (name(int(s)), name(int(t))): round(float(c), 2)
        for s, t, k, c in zip(graph.sources, graph.targets, graph.kinds, graph.confidence, strict=True)
        if k == kind
    }


PYTHON = {
    "src/shop/__init__.py": "from .basket import Basket as Cart\n",
    "src/shop/basket.py": (
        "from . import prices\nfrom .store.base import Base\n\n\nclass Basket(Base):\n"
        "    def total(self):\n        return prices.price_of(self.lines())\n\n"
        "    def lines(self):\n        return []\n"
    ),
    "src/shop/prices.py": "def price_of(x):\n    return _round(x)\n\n\ndef _round(x):\n    return x\n",
    "src/shop/store/__init__.py": "",
    "src/shop/store/base.py": "class Base:\n    def save(self):\n        pass\n",
    "src/shop/cli.py": (
        "import shop\nfrom shop import Cart\n\n\ndef main(cart: Cart):\n    shop.Cart().total()\n    cart.save()\n"
        "    unknown.total()\n"
    ),
    "tests/test_basket.py": "from shop.basket import Basket\n\n\ndef test_total():\n    assert Basket().total() == 0\n",
}


def test_python():
    graph = _graph(PYTHON)
    assert _edges(graph, Edge.IMPORTS) == {
        ("src/shop/__init__.py", "src/shop/basket.py"): 0.9,
        ("src/shop/basket.py", "src/shop/prices.py"): 0.9,
        ("src/shop/basket.py", "src/shop/__init__.py"): 0.9,
        ("src/shop/basket.py", "src/shop/store/base.py"): 0.9,
        ("src/shop/cli.py", "src/shop/__init__.py"): 0.9,
        ("tests/test_basket.py", "src/shop/basket.py"): 0.9,
    }
    calls = _edges(graph, Edge.CALLS)
    assert calls["src/shop/basket.py:Basket.total", "src/shop/prices.py:price_of"] == 0.9
    assert calls["src/shop/basket.py:Basket.total", "src/shop/basket.py:Basket.lines"] == 0.95
    assert calls["src/shop/prices.py:price_of", "src/shop/prices.py:_round"] == 0.95
    # Through the re-export in __init__, renamed.
    assert calls["src/shop/cli.py:main", "src/shop/basket.py:Basket"] == 0.9
    # By the type of the parameter, whose base class has it.
    assert calls["src/shop/cli.py:main", "src/shop/store/base.py:Base.save"] == 0.9
    assert _edges(graph, Edge.INHERITS) == {("src/shop/basket.py:Basket", "src/shop/store/base.py:Base"): 0.9}
    assert _edges(graph, Edge.TESTS)["tests/test_basket.py", "src/shop/basket.py"] == 0.95


def test_a_relative_import_at_the_top_of_the_repository():
    graph = _graph(
        {"__init__.py": "", "basket.py": "from . import prices\n", "prices.py": "def price_of(x):\n    return x\n"}
    )
    assert ("basket.py", "prices.py") in _edges(graph, Edge.IMPORTS)


def test_a_module_of_the_library_is_not_the_one_of_its_name_in_the_same_package():
    files = {
        "threading.py": "def run():\n    return 1\n",
        "worker.py": "import threading\nimport till\n",
        "till.py": "",
    }
    package = _graph({f"shop/{path}": text for path, text in {"__init__.py": "", **files}.items()})
    assert {b for a, b in _edges(package, Edge.IMPORTS) if a == "shop/worker.py"} == {"shop/till.py"}
    scripts = _graph({f"shop/{path}": text for path, text in files.items()})
    assert ("shop/worker.py", "shop/threading.py") in _edges(scripts, Edge.IMPORTS)


@pytest.mark.slow
def test_javascript_and_typescript():
    graph = _graph(
        {
            "package.json": '{"name": "@shop/root"}',
            "packages/pay/package.json": '{"name": "@shop/pay"}',
            "packages/pay/src/index.ts": "export function charge(x: number) { return x; }\n",
            "lib/app.js": "const { price } = require('./prices');\nconst app = module.exports = {};\n"
            "app.total = function total() { return price(1); };\n",
            "lib/prices/index.js": "exports.price = function (x) { return x; };\n",
            "src/view.tsx": "import { charge } from '@shop/pay';\nimport app from '../lib/app.js';\n"
            "export const View = () => { charge(1); app.total(); };\n",
            "src/view.test.tsx": "import { View } from './view';\nit('renders', () => { View(); });\n",
        }
    )
    assert set(_edges(graph, Edge.IMPORTS)) == {
        ("lib/app.js", "lib/prices/index.js"),
        ("src/view.tsx", "packages/pay/src/index.ts"),
        ("src/view.tsx", "lib/app.js"),
        ("src/view.test.tsx", "src/view.tsx"),
    }
    calls = _edges(graph, Edge.CALLS)
    assert calls["lib/app.js:app.total", "lib/prices/index.js:price"] == 0.9
    assert calls["src/view.tsx:View", "packages/pay/src/index.ts:charge"] == 0.9
    assert calls["src/view.tsx:View", "lib/app.js:app.total"] == 0.9
    assert calls["src/view.test.tsx", "src/view.tsx:View"] == 0.9
    assert _edges(graph, Edge.TESTS)["src/view.test.tsx", "src/view.tsx"] == 0.95


def test_go():
    graph = _graph(
        {
            "go.mod": "module example.com/shop\n",
            "shop.go": 'package shop\n\nimport "example.com/shop/pay"\n\ntype Basket struct{}\n\n'
            "func (b *Basket) Total() int { return b.lines() + pay.Fee() + helper() }\n",
            "lines.go": "package shop\n\nfunc (b *Basket) lines() int { return 1 }\n\nfunc helper() int { return 2 }\n",
            "pay/pay.go": "package pay\n\nfunc Fee() int { return 3 }\n",
            "shop_test.go": "package shop\n\nfunc TestTotal(t *testing.T) { b := Basket{}; b.Total() }\n",
        }
    )
    calls = _edges(graph, Edge.CALLS)
    assert calls["shop.go:Basket.Total", "lines.go:Basket.lines"] == 0.9
    assert calls["shop.go:Basket.Total", "lines.go:helper"] == 0.9
    assert calls["shop.go:Basket.Total", "pay/pay.go:Fee"] == 0.9
    assert _edges(graph, Edge.IMPORTS) == {("shop.go", "pay/pay.go"): 0.9}
    assert _edges(graph, Edge.TESTS)["shop_test.go", "shop.go"] == 0.95


STORES = {
    "store/store.go": "package store\n\ntype Store interface {\n\tLoad(key string) (string, error)\n"
    "\tSave(key, value string, more ...any) error\n}\n\n"
    "type Closer interface {\n\tStore\n\tShut(ctx context.Context) error\n}\n",
    "cache/memory.go": "package cache\n\ntype Memory struct{}\n\n"
    "func (m *Memory) Load(key string) (found string, err error) { return }\n",
    "cache/more.go": "package cache\n\n"
    "func (m *Memory) Save(key string, value string, more ...interface{}) error { return nil }\n\n"
    "type Disk struct {\n\tMemory\n}\n\nfunc (d *Disk) Shut(c context.Context) error { return nil }\n\n"
    'type Other struct{}\n\nfunc (o Other) Load(key int) (string, error) { return "", nil }\n\n'
    "func (o Other) Save(key, value string, more ...any) error { return nil }\n",
}


def test_types_of_go_implement_interfaces_by_their_methods():
    graph = _graph(STORES)
    found = {
        (one.partition(":")[2], other.partition(":")[2]): c for (one, other), c in _edges(graph, Edge.INHERITS).items()
    }
    assert found == {
        ("Closer", "Store"): 0.95,
        ("Disk", "Memory"): 0.9,
        **dict.fromkeys(
            (("Memory", "Store"), ("Disk", "Store"), ("Disk", "Closer"), ("Disk.Shut", "Closer.Shut")), 0.6
        ),
        **dict.fromkeys((("Memory.Load", "Store.Load"), ("Memory.Save", "Store.Save")), 0.6),
    }
    assert find(graph, "Disk.Load") == find(graph, "Memory.Load")


def test_methods_of_go_that_are_not_exported_implement_nothing_of_another_package():
    own = "package a\n\ntype Seal interface {\n\tseal()\n}\n\ntype One struct{}\n\nfunc (One) seal() {}\n"
    graph = _graph({"a/a.go": own, "b/b.go": "package b\n\ntype Two struct{}\n\nfunc (Two) seal() {}\n"})
    assert {one for one, _ in _edges(graph, Edge.INHERITS)} == {"a/a.go:One", "a/a.go:One.seal"}


def test_a_selector_in_go_is_no_function_of_the_package():
    graph = _graph(
        {
            "shop.go": "package shop\n\nfunc Watch() { b.Watch() }\n\nfunc (b *Basket) Watch() {}\n",
            "shop_test.go": "package shop\n\nfunc TestWatch(t *testing.T) { basket().Watch(); Watch() }\n",
        }
    )
    calls = _edges(graph, Edge.CALLS)
    assert {pair for pair in calls if pair[0].startswith("shop_test")} == {
        ("shop_test.go:TestWatch", "shop.go:Watch"),
        ("shop_test.go:TestWatch", "shop.go:Basket.Watch"),
    }
    assert ("shop.go:Watch", "shop.go:Basket.Watch") in calls


def test_java():
    graph = _graph(
        {
            "src/main/java/com/shop/Basket.java": "package com.shop;\nimport com.pay.Card;\n"
            "public class Basket extends Base { int total(Card card) { return card.fee() + Prices.of(1); } }\n",
            "src/main/java/com/shop/Base.java": "package com.shop;\nabstract class Base {}\n",
            "src/main/java/com/shop/Prices.java": "package com.shop;\n"
            "class Prices { static int of(int x) { return x; } }\n",
            "src/main/java/com/pay/Card.java": "package com.pay;\npublic class Card { int fee() { return 1; } }\n",
            "src/main/java/com/pay/Cash.java": "package com.pay;\npublic class Cash { int fee() { return 0; } }\n",
            "src/test/java/com/shop/BasketTest.java": "package com.shop;\n"
            "class BasketTest { void t() { new Basket(); } }\n",
        }
    )
    base = "src/main/java/com/"
    calls = _edges(graph, Edge.CALLS)
    # Two classes have `fee`; the parameter's type decides.
    assert calls[f"{base}shop/Basket.java:Basket.total", f"{base}pay/Card.java:Card.fee"] == 0.9
    assert calls[f"{base}shop/Basket.java:Basket.total", f"{base}shop/Prices.java:Prices.of"] == 0.9
    assert _edges(graph, Edge.INHERITS) == {(f"{base}shop/Basket.java:Basket", f"{base}shop/Base.java:Base"): 0.9}
    assert _edges(graph, Edge.IMPORTS) == {(f"{base}shop/Basket.java", f"{base}pay/Card.java"): 0.9}
    assert _edges(graph, Edge.TESTS)["src/test/java/com/shop/BasketTest.java", f"{base}shop/Basket.java"] == 0.95


def test_a_parameter_hides_a_definition_of_its_name():
    graph = _graph(
        {
            "a.py": "def prompt():\n    pass\n\n\ndef chat(prompt, *, limit=1):\n    return prompt\n\n\n"
            "def other():\n    return prompt()\n",
            "b.js": "function draw(shape) { return shape; }\nfunction shape() {}\nfunction all() { return shape(); }\n",
        }
    )
    linked = {**_edges(graph, Edge.CALLS), **_edges(graph, Edge.USES)}
    assert set(linked) == {("a.py:other", "a.py:prompt"), ("b.js:all", "b.js:shape")}


def test_an_import_inside_a_function_holds_there_alone():
    graph = _graph(
        {
            "a.py": "def run():\n    pass\n",
            "b.py": "def run():\n    pass\n",
            "c.py": "def run():\n    pass\n",
            "use.py": (
                "from c import run\n\n\ndef one():\n    from a import run\n\n    def inner():\n        return run()\n\n"
                "    return inner\n\n\ndef two():\n    from b import run\n\n    return run()\n\n\n"
                "def three():\n    return run()\n"
            ),
        }
    )
    assert set(_edges(graph, Edge.CALLS)) == {
        ("use.py:one.inner", "a.py:run"),
        ("use.py:two", "b.py:run"),
        ("use.py:three", "c.py:run"),
    }


def test_the_later_of_two_imports_in_one_scope_counts():
    graph = _graph(
        {
            "fast.py": "def run():\n    pass\n",
            "slow.py": "def run():\n    pass\n",
            "use.py": (
                "try:\n    from fast import run\nexcept ImportError:\n    from slow import run\n\n\n"
                "def one():\n    return run()\n"
            ),
        }
    )
    assert ("use.py:one", "slow.py:run") in _edges(graph, Edge.CALLS)


def test_rust():
    graph = _graph(
        {
            "Cargo.toml": '[package]\nname = "the-shop"\n',
            "src/lib.rs": "pub mod basket;\nmod prices;\n",
            "src/basket.rs": "use crate::prices::{self, round};\n\npub struct Basket;\n\n"
            "impl Basket {\n pub fn total(&self) -> u32 { round(prices::of(self.lines())) }\n"
            " fn lines(&self) -> u32 { 1 }\n}\n",
            "src/prices.rs": "pub fn of(x: u32) -> u32 { x }\npub fn round(x: u32) -> u32 { x }\n",
            "tests/basket.rs": "use the_shop::basket::Basket;\n\n#[test]\nfn total() { Basket.total(); }\n",
        }
    )
    assert set(_edges(graph, Edge.IMPORTS)) == {
        ("src/lib.rs", "src/basket.rs"),
        ("src/lib.rs", "src/prices.rs"),
        ("src/basket.rs", "src/prices.rs"),
        ("tests/basket.rs", "src/basket.rs"),
    }
    calls = _edges(graph, Edge.CALLS)
    assert calls["src/basket.rs:Basket.total", "src/prices.rs:of"] == 0.9
    assert calls["src/basket.rs:Basket.total", "src/prices.rs:round"] == 0.9
    assert calls["src/basket.rs:Basket.total", "src/basket.rs:Basket.lines"] == 0.95
    assert ("tests/basket.rs", "src/basket.rs") in _edges(graph, Edge.TESTS)


def test_members_of_a_type_of_another_package():
    graph = _graph(
        {
            "go.mod": "module example.com/web\n",
            "context.go": 'package web\n\nimport "example.com/web/render"\n\ntype Render struct{}\n\n'
            "func (r Render) Write(text string) {}\n\nfunc Show(r render.Render) { r.Write() }\n",
            "render/render.go": "package render\n\ntype Render interface {\n\tWrite()\n}\n",
        }
    )
    calls = _edges(graph, Edge.CALLS)
    assert calls["context.go:Show", "render/render.go:Render.Write"] == 0.9
    assert ("context.go:Show", "context.go:Render.Write") not in calls


def test_members_of_a_declared_field():
    reader = "package shop;\n\nclass {0} {{\n  String read() {{ return null; }}\n}}\n"
    graph = _graph(
        {
            "Tokeniser.java": reader.format("Tokeniser"),
            "Socket.java": reader.format("Socket"),
            "Builder.java": "package shop;\n\nclass Builder {\n  private Tokeniser tokeniser;\n\n"
            "  void step() { tokeniser.read(); }\n}\n",
        }
    )
    calls = {pair: c for pair, c in _edges(graph, Edge.CALLS).items() if pair[0] == "Builder.java:Builder.step"}
    assert calls == {("Builder.java:Builder.step", "Tokeniser.java:Tokeniser.read"): 0.9}


@pytest.mark.slow
def test_constants_of_ruby_are_those_of_the_innermost_module():
    graph = _graph(
        {
            "lib/shop/site.rb": "module Shop\n  class Site\n    def build(pages)\n"
            "      Renderer.new(pages).run\n    end\n  end\nend\n",
            "lib/shop/renderer.rb": "module Shop\n  class Renderer < Base\n    def initialize(pages)\n    end\n\n"
            "    def run\n      finish(1)\n    end\n  end\nend\n",
            "lib/shop/base.rb": "module Shop\n  class Base\n    def finish(count)\n    end\n  end\nend\n",
            "lib/other.rb": "class Renderer\n  def initialize(pages)\n  end\n\n  def run\n  end\nend\n"
            "class Site\n  def finish\n  end\nend\n",
        }
    )
    calls = {pair: c for pair, c in _edges(graph, Edge.CALLS).items() if pair[0].startswith("lib/shop")}
    assert calls == {
        ("lib/shop/site.rb:Shop.Site.build", "lib/shop/renderer.rb:Shop.Renderer.initialize"): 0.9,
        ("lib/shop/site.rb:Shop.Site.build", "lib/shop/renderer.rb:Shop.Renderer.run"): 0.9,
        ("lib/shop/renderer.rb:Shop.Renderer.run", "lib/shop/base.rb:Shop.Base.finish"): 0.9,
    }


def test_derived_functions_of_rust_give_an_object_of_their_type():
    graph = _graph(
        {
            "Cargo.toml": '[package]\nname = "shop"\n',
            "src/main.rs": "use shop::cmd::Cmd;\n\nfn main() { Cmd::parse().run(); }\n",
            "src/lib.rs": "pub mod cmd;\npub mod other;\n",
            "src/cmd.rs": "pub struct Cmd;\nimpl Cmd {\n pub fn run(&self) {}\n}\n",
            "src/other.rs": "pub struct Other;\nimpl Other {\n pub fn run(&self) {}\n}\n",
            "tests/data/Cargo.toml": '[package]\nname = "shop"\n',  # a copy that tests read
        }
    )
    assert _edges(graph, Edge.CALLS) == {("src/main.rs:main", "src/cmd.rs:Cmd.run"): 0.9}


def test_ambiguous_names_share_their_confidence_and_are_counted():
    graph = _graph(
        {
            "a.py": "class A:\n    def run(self): pass\n",
            "b.py": "class B:\n    def run(self): pass\n",
            "c.py": "def go(x):\n    x.run()\n",
        }
    )
    calls = _edges(graph, Edge.CALLS)
    assert calls["c.py:go", "a.py:A.run"] == calls["c.py:go", "b.py:B.run"] == 0.2
    assert graph.unresolved == {"run": 1}


def test_tables_are_reached_from_models_and_from_sql():
    graph = _graph(
        {
            "schema.prisma": "model User {\n  id Int\n  posts Post[]\n}\n\nmodel Post {\n  id Int\n}\n",
            "models.py": "class Person(Base):\n    __tablename__ = 'people'\n    id = Column(Integer)\n",
            "db.py": "def load(db):\n    return db.execute('SELECT * FROM people')\n",
            "view.py": "from models import Person\n\n\ndef show():\n    return Person()\n",
            "api.ts": "export function list() { return prisma.user.findMany(); }\n",
        }
    )
    (people,) = [n for n in find(graph, "people") if graph.nodes[n].kind == "table"]
    assert {graph.nodes[link.node].name for link in callers(graph, people)} == {"load", "Person"}
    reached = {graph.nodes[n].name: d for n, (d, _, _) in dependents(graph, [people]).items()}
    assert reached["show"] == 2
    (user,) = find(graph, "User")
    assert {graph.nodes[link.node].name for link in callers(graph, user)} == {"list", "Post"} - {"Post"}
    assert {graph.nodes[link.node].name for link in callees(graph, user)} == {"Post"}


def test_questions():
    graph = _graph(PYTHON)
    (price,) = find(graph, "price_of")
    assert [graph.nodes[link.node].name for link in callers(graph, price)] == ["Basket.total"]
    assert find(graph, "src/shop/prices.py:price_of") == [price]
    assert find(graph, "Basket.total") == find(graph, "total")
    assert find(graph, "nothing") == [] == find(graph, "src/shop/prices.py:nothing")
    assert find(graph, "src/shop/store/__init__.py:nothing") == []  # a file that defines nothing
    reached = {graph.nodes[n].name: d for n, (d, _, _) in dependents(graph, [price], depth=3).items()}
    assert reached["Basket.total"] == 1
    assert reached["main"] == 2
    (main,) = find(graph, "main")
    assert [graph.nodes[n].name for n in shortest_path(graph, main, find(graph, "_round")[0])] == [
        "main",
        "Basket.total",
        "price_of",
        "_round",
    ]
    assert shortest_path(graph, price, main) == []
    assert shortest_path(graph, price, price) == [price]


def test_cycles_end():
    graph = _graph({"a.py": "import b\n\n\ndef f():\n    b.g()\n", "b.py": "import a\n\n\ndef g():\n    a.f()\n"})
    (f,) = find(graph, "f")
    assert {graph.nodes[n].name for n in dependents(graph, [f], depth=9)} == {"g"}


def test_a_name_defined_five_times_is_found_five_times():
    graph = _graph({f"m{i}.py": "def same():\n    pass\n" for i in range(5)})
    assert {graph.nodes[n].path for n in find(graph, "same")} == {f"m{i}.py" for i in range(5)}


def test_nothing():
    graph = link_graph([])
    assert (len(graph.nodes), len(graph.sources)) == (0, 0)
    assert find(graph, "x") == []


@pytest.mark.parametrize("module", ["", ".", "..", "....x", "a" * 300, "\x00", "a::b::", "::"])
@pytest.mark.parametrize("suffix", ["py", "js", "go", "rs", "java", "c", "rb", "php"])
def test_odd_imports_mean_nothing(module, suffix):
    text = {
        "py": f"from {module} import x\n",
        "js": f"import x from '{module}';\n",
        "go": f'import "{module}"\n',
        "rs": f"use {module}::x;\n",
        "java": f"import {module};\n",
        "c": f'#include "{module}"\n',
        "rb": f"require_relative '{module}'\n",
        "php": f"<?php use {module};\n",
    }[suffix]
    graph = _graph({f"d/a.{suffix}": text, f"d/b.{suffix}": ""})
    assert all(0 <= n < len(graph.nodes) for n in graph.targets.tolist())


NAMES = st.sampled_from(["a", "b", "run", "Base"])
LINES = st.one_of(
    NAMES.map(lambda n: f"def {n}(x):\n    return x.{n}()\n"),
    NAMES.map(lambda n: f"class {n}(Base):\n    def run(self):\n        self.{n}()\n"),
    NAMES.map(lambda n: f"from .{n} import *\n"),
    NAMES.map(lambda n: f"import {n}\n{n}.run()\n"),
)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.dictionaries(NAMES.map(lambda n: f"{n}.py"), st.lists(LINES, max_size=6).map("".join)))
def test_any_repository_gives_a_sound_graph(files):
    graph = _graph(files)
    assert len(graph.sources) == len(graph.targets) == len(graph.kinds) == len(graph.confidence)
    assert ((graph.confidence > 0) & (graph.confidence <= 1)).all()
    for node in range(len(graph.nodes)):
        assert all(graph.sources[graph.forward[1][i]] == node for i in range(*graph.forward[0][node : node + 2]))
        dependents(graph, [node], depth=4)
    again = _graph(files)
    assert (graph.targets == again.targets).all()


OWNERS_AND_WORKERS = {
    "py": {
        "queue.py": (
            "from workers import Pool\n\n\nclass Queue:\n    def start(self):\n        return Pool(self, 2)\n\n"
            "    def take(self):\n        pass\n"
        ),
        "other.py": "class Other:\n    def take(self):\n        pass\n",
        "workers.py": (
            "class Base:\n    def __init__(self, queue):\n        self.queue = queue\n\n\n"
            "class Worker(Base):\n    def __init__(self, queue, size):\n        super().__init__(queue)\n\n"
            "    def loop(self):\n        self.queue.take()\n\n\n"
            "class Pool:\n    worker = Worker\n\n    def __init__(self, queue, size):\n        self.queue = queue\n\n"
            "    def grow(self):\n        return self.worker(size=1, queue=self.queue)\n"
        ),
    },
    "js": {
        "queue.js": (
            "import { Worker } from './workers.js'\nexport class Queue {\n  start() { return new Worker(this, 2) }\n"
            "  take() {}\n}\n"
        ),
        "other.js": "export class Other {\n  take() {}\n}\n",
        "workers.js": (
            "export class Worker {\n  constructor(queue, size) {\n    this.queue = queue\n  }\n"
            "  loop() { this.queue.take() }\n}\n"
        ),
    },
    "rb": {
        "queue.rb": "class Queue\n  def start\n    Worker.new(self, 2)\n  end\n\n  def take\n  end\nend\n",
        "other.rb": "class Other\n  def take\n  end\nend\n",
        "workers.rb": (
            "class Worker\n  def initialize(queue, size)\n    @queue = queue\n  end\n\n"
            "  def loop\n    @queue.take\n  end\nend\n"
        ),
    },
}


@pytest.mark.parametrize("suffix", OWNERS_AND_WORKERS)
def test_parameters_without_a_type_have_that_of_the_values_passed(suffix):
    calls = _edges(_graph(OWNERS_AND_WORKERS[suffix]), Edge.CALLS)
    found = {target: c for (source, target), c in calls.items() if source == f"workers.{suffix}:Worker.loop"}
    assert found == {f"queue.{suffix}:Queue.take": 0.7}


@pytest.mark.parametrize(("path", "known"), [("more.py", False), ("tests/test_more.py", True)])
def test_values_of_several_types_tell_nothing_unless_tests_pass_them(path, known):
    more = "from workers import Pool\nfrom other import Other\n\n\ndef start():\n    Pool(Other(), 1)\n"
    calls = _edges(_graph({**OWNERS_AND_WORKERS["py"], path: more}), Edge.CALLS)
    assert (calls.get(("workers.py:Worker.loop", "queue.py:Queue.take")) == 0.7) is known


def test_a_value_passed_on_to_itself_tells_nothing():
    code = "def walk(node):\n    node.visit()\n    walk(node)\n\n\nclass A:\n    def visit(self):\n        pass\n"
    calls = _edges(_graph({"a.py": code}), Edge.CALLS)
    assert calls[("a.py:walk", "a.py:A.visit")] == 0.6
